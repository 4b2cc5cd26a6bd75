"""Results of compilation, kept in the cache of compiled kernels for later processes.

A file is named by a digest of all that its content depends on: the input, the source files of rlx,
and the version of Python. It is trusted like the libraries beside it, which are code as well.
"""

from __future__ import annotations

import hashlib
import io
import os
import pickle
import sys
from collections.abc import Callable, Hashable, Iterable
from contextlib import suppress
from functools import cache
from typing import TypeVar, cast

from rlx.semantics.native import compiler

T = TypeVar("T")

SMALLEST, LARGEST = 8_000, 1 << 25
"""The bytes of an input that is worth a file, and of a file that is not too much."""


def kept(
    kind: str,
    given: object,
    make: Callable[[], T],
    parts: Callable[[T], Iterable[Hashable]] = lambda made: (),
) -> T:
    """The result of ``make`` for an input: from the cache, or made and put there.

    The result of a small or a very large input is not kept, and neither is one without a
    persistent form. Raises whatever ``make`` raises.

    Parameters
    ----------
    kind
        Which function of the input it is.
    given
        The whole input.
    parts
        The parts of the result that a tuple of may be an input in turn, in an order of their own.
    """
    written = _named(given)
    if written is None:
        written = _written(given)
        if written is None or not SMALLEST <= len(written) <= LARGEST:
            return make()
    try:
        stamp = _stamp()
        folder = compiler.directory()
    except (compiler.NoCompiler, OSError):
        return make()
    name = f"{hashlib.sha256(f'{kind} {stamp} '.encode() + written).hexdigest()}.made"
    with suppress(compiler.NoCompiler, OSError, *_UNREADABLE):
        found = compiler.content(folder / name)
        if found is not None:
            return _noted(cast(T, _read(found)), name, parts)
    made = make()
    form = _written(made)
    if form is None or len(form) > LARGEST:
        return made
    with suppress(compiler.NoCompiler):
        compiler.keep(name, form)
    # As later processes get it: what is kept of it in turn has one name then.
    return _noted(cast(T, _read(form)), name, parts)


_NAMES: dict[Hashable, str] = {}
"""The names of parts of results: they say all that a part depends on."""
_MOST = 4096


def _noted(made: T, name: str, parts: Callable[[T], Iterable[Hashable]]) -> T:
    """A result, whose parts get names."""
    for at, part in enumerate(parts(made)):
        _NAMES[part] = f"{name} {at}"
    for part in [*_NAMES][: max(0, len(_NAMES) - _MOST)]:
        del _NAMES[part]
    return made


def _named(value: object) -> bytes | None:
    """The names of values that are parts of results; None if one is not. Their persistent form
    takes longer.
    """
    if not isinstance(value, tuple):
        return None
    names = [_NAMES.get(part, "") for part in value]
    return "\n".join(names).encode() if names and all(names) else None


_UNREADABLE = pickle.PickleError, TypeError, AttributeError, ValueError, ImportError, EOFError


def _written(value: object) -> bytes | None:
    """The persistent form of a value; None if it has none."""
    try:
        return pickle.dumps(value, protocol=5)
    except (*_UNREADABLE, RecursionError, NotImplementedError):
        return None


def _read(form: bytes) -> object:
    return pickle.load(io.BytesIO(form))


@cache
def _stamp() -> str:
    """A digest of the version of Python and of the source files of rlx."""
    found = [sys.version]
    folders = [*sys.modules["rlx"].__path__]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.name.endswith(".py"):
                    its = entry.stat()
                    found.append(f"{entry.name} {its.st_size} {its.st_mtime_ns}")
                elif "." not in entry.name and entry.is_dir() and entry.name != "__pycache__":
                    folders.append(entry.path)
    return hashlib.sha256("\n".join(sorted(found)).encode()).hexdigest()
