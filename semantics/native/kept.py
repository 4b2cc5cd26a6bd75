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
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import TypeVar, cast

from rlx.semantics.native import compiler

T = TypeVar("T")

SMALLEST, LARGEST = 8_000, 1 << 25
"""The bytes of an input that is worth a file, and of a file that is not too much."""


def kept(kind: str, given: object, make: Callable[[], T]) -> T:
    """The result of ``make`` for an input: from the cache, or made and put there.

    The result of a small or a very large input is not kept, and neither is one without a
    persistent form. Raises whatever ``make`` raises.

    Parameters
    ----------
    kind
        Which function of the input it is.
    given
        The whole input.
    """
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
            return cast(T, _read(found))
    made = make()
    form = _written(made)
    if form is None or len(form) > LARGEST:
        return made
    with suppress(compiler.NoCompiler):
        compiler.keep(name, form)
    # As later processes get it: what is kept of it in turn has one name then.
    return cast(T, _read(form))


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
