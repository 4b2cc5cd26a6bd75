"""Puts a mistake into functions that are loaded already, by exchanging their code."""

from __future__ import annotations

import gc
import os
from functools import cache
from itertools import zip_longest
from types import CodeType, FunctionType

OPTIMIZED = 1
"""The flag of code with fast locals: that of functions, not of modules and classes."""


def _plain(code: CodeType) -> CodeType:
    """A code without what is nested in it."""
    consts = tuple(None if isinstance(c, CodeType) else c for c in code.co_consts)
    return code.replace(co_consts=consts, co_linetable=b"", co_exceptiontable=b"")


def _nested(code: CodeType) -> list[CodeType]:
    return [c for c in code.co_consts if isinstance(c, CodeType)]


def _same(old: CodeType, new: CodeType) -> bool:
    """Whether two codes do the same, and what is nested in them, too."""
    if _plain(old) != _plain(new) or old.co_exceptiontable != new.co_exceptiontable:
        return False
    pairs = zip_longest(_nested(old), _nested(new))
    return all(a is not None and b is not None and _same(a, b) for a, b in pairs)


def changed(old: CodeType, new: CodeType) -> list[tuple[CodeType, CodeType]] | None:
    """The functions whose code differs, old and new; nothing if a module or class itself differs.

    Such a change shows only in a module that is loaded anew.
    """
    if old.co_flags & OPTIMIZED:
        if _same(old, new):
            return []
        return [(old, new)] if old.co_freevars == new.co_freevars else None
    if _plain(old) != _plain(new) or len(_nested(old)) != len(_nested(new)):
        return None
    found = []
    for a, b in zip(_nested(old), _nested(new), strict=True):
        inner = changed(a, b)
        if inner is None:
            return None
        found += inner
    return found


def _within(old: CodeType, new: CodeType) -> list[tuple[CodeType, CodeType]]:
    """A code and those nested in it, old and new, as far as they correspond."""
    found = [(old, new)]
    for a, b in zip(_nested(old), _nested(new), strict=False):
        if a.co_qualname == b.co_qualname and a.co_freevars == b.co_freevars:
            found += _within(a, b)
    return found


class Functions:
    """The functions that are loaded, by file, name and first line of their code."""

    def __init__(self) -> None:
        self.found: dict[tuple[str, str, int], list[FunctionType]] = {}
        for thing in gc.get_objects():
            if type(thing) is FunctionType:
                self.found.setdefault(_key(thing.__code__), []).append(thing)

    def patch(self, pairs: list[tuple[CodeType, CodeType]]) -> bool:
        """Exchange the code of functions; whether each of the changed ones was there."""
        here = all(_key(old) in self.found for old, _ in pairs)
        for old, new in pairs:
            for inner, other in _within(old, new):
                for function in self.found.get(_key(inner), ()):
                    function.__code__ = other
        return here


def _key(code: CodeType) -> tuple[str, str, int]:
    return _real(code.co_filename), code.co_qualname, code.co_firstlineno


@cache
def _real(path: str) -> str:
    """A file's own path: the rooms are loaded through links."""
    return os.path.realpath(path)
