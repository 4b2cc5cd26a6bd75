"""Locations in the user's Python code: the span of the call that makes a node, and errors for
values of wrong kinds.

A node that Python code makes gets the span of the expression that made it, so diagnostics can point
at it as at any text. Only the code object and the offset of the instruction are used, and each
location is computed once.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from itertools import islice
from types import CodeType, FrameType, FunctionType
from typing import ParamSpec, TypeVar

from rlx.grammar.diagnostic import Source
from rlx.grammar.nodes.ast import IRModule
from rlx.grammar.nodes.node import Node

F = TypeVar("F")
N = TypeVar("N")
P = ParamSpec("P")

_WIDTH = 120
"""The length of the blank lines that replace code without a file."""
_PACKAGE = __name__.partition(".")[0]
_INSIDE = f"{_PACKAGE}."


class Place(tuple[int, int]):
    """A span with its text: start and end offset in characters.

    Attributes
    ----------
    source
        The file; for code without a file, blank lines, so that line and column are right.
    """

    source: Source


class MisuseError(TypeError):
    """A Python value of the wrong kind.

    The message begins with ``file:line:column`` of the code that passed it.

    Attributes
    ----------
    message
        The message without the location.
    """

    def __init__(self, message: str, place: Place) -> None:
        super().__init__(located(message, place))
        self.message = message


def located(message: str, place: Place) -> str:
    """A message prefixed with its location."""
    line, column = place.source.position(place[0])
    return f"{place.source.path}:{line}:{column}: error: {message}"


def described(given: object) -> str:
    """A value with its type, in a few words."""
    text = f"{type_name(given)} {given!r}"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def type_name(given: object) -> str:
    """The type of a value, which has the name of one of ours if it is TVM's."""
    kind = type(given)
    whose = "TVM's " if kind.__module__.partition(".")[0] == "tvm" else ""
    return f"{whose}{kind.__name__}"


_SHOWN = 60


def of_kind(given: object, kind: type[N], what: str) -> N:
    """An argument of a function that users call. Raises MisuseError if it is of another kind."""
    if not isinstance(given, kind):
        raise MisuseError(f"expected {what}, found {described(given)}", here())
    return given


def flag(given: object, what: str) -> bool:
    """True or False, an argument of a function that users call. Raises MisuseError if it is
    neither.
    """
    if not isinstance(given, bool):
        raise MisuseError(f"{what}: expected True or False, found {described(given)}", here())
    return given


def listed(given: object, what: str, kind: type[N]) -> tuple[N, ...]:
    """Several values of one kind. Raises MisuseError if they are not in a list or tuple."""
    if not isinstance(given, list | tuple) or not all(isinstance(each, kind) for each in given):
        raise MisuseError(f"expected {what} in a list, found {described(given)}", here())
    return tuple(given)


def callable_of(given: F, arguments: str, count: int) -> F:
    """A user-defined function of so many arguments. Raises MisuseError if it cannot be called with
    them.
    """
    code = given.__code__ if isinstance(given, FunctionType) else None
    if code is not None and code.co_argcount == count and not code.co_kwonlyargcount:
        return given
    from inspect import signature  # which takes long to import

    if not callable(given):
        raise MisuseError(f"expected a function of {arguments}, found {described(given)}", here())
    try:
        taken = signature(given)
    except (TypeError, ValueError):  # a function of C tells nothing
        return given
    try:
        taken.bind(*range(count))
    except TypeError as error:
        name = getattr(given, "__name__", type(given).__name__)
        raise MisuseError(
            f"expected a function of {arguments}, found {name}{taken}: {error}", here()
        ) from None
    return given


def spelt(function: Callable[P, N]) -> Callable[P, N]:
    """A function whose misspelt calls are MisuseErrors, which name the parameter that is meant, or
    all of them, and calls with nodes that have a part of a wrong kind.
    """

    @wraps(function)
    def called(*args: P.args, **keywords: P.kwargs) -> N:
        try:
            return function(*args, **keywords)
        except (TypeError, AttributeError, KeyError) as error:
            wrong = _misspelt(function, args, keywords) if isinstance(error, TypeError) else None
            if wrong is None:
                for each in (*args, *keywords.values()):
                    if isinstance(each, Node) and not isinstance(error, MisuseError):
                        import_module(_BY_HAND).refuse_wrong_parts(each)
                raise
        raise MisuseError(wrong, here())

    return called


_BY_HAND = "rlx.grammar.nodes.by_hand"
"""The module of nodes that Python code makes, by name, because it is above this one."""


def _misspelt(
    function: Callable[..., object], args: tuple[object, ...], keywords: dict[str, object]
) -> str | None:
    """The mistake in the arguments of a call; None if the function can be called with them."""
    from inspect import signature

    from rlx.grammar.suggest import closest, did_you_mean

    taken = signature(function)
    try:
        taken.bind(*args, **keywords)
    except TypeError as error:
        made = function.__qualname__.removesuffix(".__init__").removesuffix(".__call__")
        name = made.rpartition(".")[2]
        names = [each for each in taken.parameters if each != "self"]
        unknown = [each for each in keywords if each not in names]
        if not unknown:
            return f"{name}: {error}; its parameters are {', '.join(names)}"
        free = [each for each in names if each not in keywords]
        word = _OF_TVM.get(unknown[0], unknown[0])
        near = [each for each in free if word in each.split("_") or each in word.split("_")]
        near = [word] if word in free else near
        hint = did_you_mean(near or closest(unknown[0], free)) or f"it has {', '.join(names)}"
        return f"{name} has no parameter {unknown[0]!r}; {hint}"
    return None


_OF_TVM = {"ty": "struct_info", "mod": "module", "ops": "args", "ty_func": "change"}
"""TVM's names of parameters that have another name."""

_places: dict[int, tuple[CodeType, dict[int, Place] | None]] = {}
"""The locations in each code object, by the offset of the instruction; None for code of rlx."""
_sources: dict[str, Source] = {}


def here() -> Place:
    """The location of the innermost running code outside rlx.

    Called by functions that users call, so the frame two levels up is usually theirs.
    """
    frame: FrameType = sys._getframe(2)
    while True:
        _, places = _places.get(id(frame.f_code)) or _noted(frame)
        if places is not None:
            return places.get(frame.f_lasti) or place_of(frame)
        if frame.f_back is None:
            return place_of(frame)
        frame = frame.f_back


def _noted(frame: FrameType) -> tuple[CodeType, dict[int, Place] | None]:
    """Note whose code a frame runs. Python's own stands between `with` statements and rlx."""
    module = frame.f_globals.get("__name__", "")
    inside = module.startswith(_INSIDE) or module == "contextlib"
    found = _places[id(frame.f_code)] = (frame.f_code, None if inside else {})
    return found


def place_of(frame: FrameType) -> Place:
    """The location of the expression that a frame is computing."""
    code, known = _places.get(id(frame.f_code)) or _noted(frame)
    at = frame.f_lasti
    found = None if known is None else known.get(at)
    if found is None:
        found = _place(frame, code, at)
        if known is not None:
            known[at] = found
    return found


def _place(frame: FrameType, code: CodeType, at: int) -> Place:
    nowhere = (None, None, None, None)
    position = next(islice(code.co_positions(), at // 2, None), nowhere)
    first, last, start, end = position
    line = first or 1
    source = _source(frame, code.co_filename, last or line)
    begin = _offset(source, line, start or 0)
    place = Place((begin, max(begin, _offset(source, last or line, end or 0))))
    place.source = source
    return place


def _offset(source: Source, line: int, column: int) -> int:
    """An offset in characters; Python counts columns in bytes."""
    start = source.line_starts[line - 1]
    before = source.line(line).encode()[:column]
    return start + len(before.decode(errors="ignore"))


def _source(frame: FrameType, path: str, lines: int) -> Source:
    found = _sources.get(path)
    if found is None or len(found.line_starts) < lines:
        import linecache

        text = "".join(linecache.getlines(path, frame.f_globals))
        if text.count("\n") + 1 < lines:
            text = (" " * _WIDTH + "\n") * lines
        found = _sources[path] = Source(text, _shown(path))
    return found


def _shown(path: str) -> str:
    """A path as a message says it: relative to the current directory where it lies below."""
    below = os.getcwd() + os.sep
    return path.removeprefix(below)


def module_of(given: object) -> IRModule:
    """A module.

    Raises
    ------
    MisuseError
        If it is not a module.
    """
    if not isinstance(given, IRModule):
        wanted = "a module, for example from rlx.parse(…) or bb.get()"
        reads = ", which rlx.load reads" if type(given).__module__.startswith("tvm.") else ""
        words = f"expected {wanted}; found {described(given)}{reads}"
        raise MisuseError(words, here())
    return given
