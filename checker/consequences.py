"""What follows from an error beside it: where a statement could not be read, nobody knows what it
would have bound; and of a shape with an unbound variable nothing can be proved.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence

from rlx.grammar.diagnostic import Diagnostic
from rlx.grammar.function_bodies import AFTER_RETURN
from rlx.grammar.kept_text import kept_names
from rlx.grammar.relax_statements import NO_CLASS

_NAMES = frozenset(["WF01-escape", "WF02-undefined"])
"""What is said of a name behind the statement that would have bound or exported it."""
_DIMENSIONS = frozenset(
    [
        *("WF04-unbound", "WF05-unbound", "WF06-unbound"),
        *("WF14-unbound", "WF15-unbound", "WF16-unbound"),
    ]
)
"""What is said of a shape variable, which casts and parameters bind anywhere in a function."""
_OBLIGATION = "OBL-"
"""The beginning of the codes of what an operator asks of shapes."""
_QUOTED = re.compile(r"'(\w+)'")
_WORD = re.compile(r"\w+")
_LINE = re.compile(r"^([ \t]*)(?:(@[^\n]*ir_module|class\b)|@[ \t]*\w)", re.MULTILINE)
"""A line that a class or a function begins with."""
_CAST = "match_"
"""A part of the words for what binds shape variables."""
_READ = ("is not defined", "is not declared")
"""How errors end that lose no statement."""
_TARGET = re.compile(r"[ \t]*[A-Za-z_]\w*[ \t]*(?:=(?!=)|:[^\n]*? = )")
"""What a line begins with whose statement binds a name, as far as the `=`."""
_DECLARED = re.compile(r"^[ \t]*([A-Za-z_]\w*)[ \t]*=[ \t]*T\.")
"""A line that declares a shape variable."""


def without_consequences(text: str, diagnostics: Sequence[Diagnostic]) -> list[Diagnostic]:
    """The diagnostics without those that follow from a mistake reported beside them.

    Parameters
    ----------
    text
        The text that the spans point into.
    diagnostics
        All that was found, in any order.
    """
    starts, heads = _outline(text)
    functions: dict[int, list[Diagnostic]] = {}
    for found in diagnostics:
        if found.severity == "error" and found.span is not None:
            functions.setdefault(bisect_right(starts, found.span[0]), []).append(found)
    dropped: set[int] = set()
    if heads:
        dropped.update(map(id, _without_class(text, heads, functions.values())))
    for errors in functions.values():
        if len(errors) > 1:
            dropped.update(map(id, _following(text, errors)))
    dropped.update(map(id, _of_unbound(starts, diagnostics)))
    return [found for found in diagnostics if id(found) not in dropped]


def _following(text: str, errors: list[Diagnostic]) -> Iterable[Diagnostic]:
    """Those of the errors in one function that follow from others."""
    syntax = [d for d in errors if d.code == "PARSE"]
    lost = sorted(
        _start(d) for d in syntax if not d.message.endswith(_READ) and not _binds(text, _start(d))
    )
    unknown = any(
        d.code == "WF14-variable" or (d.code == "PARSE" and not _binds(text, _start(d), _CAST))
        for d in errors
    )
    declared = {name for d in syntax for name in _DECLARED.findall(_line_of(text, _start(d)))}
    excused: set[str] = set()
    signature: set[tuple[int, int] | None] = set()
    for found in sorted(errors, key=_start):
        if found.code in _DIMENSIONS and (
            unknown or declared.intersection(_QUOTED.findall(found.message))
        ):
            yield found
        elif found.code == "D15-result" and any(d.message == AFTER_RETURN for d in syntax):
            yield found  # another statement was meant to return
        elif found.code in _NAMES or (found.code == "PARSE" and found.message.endswith(_READ[0])):
            # Each statement that was not read may have bound one name.
            excused.add(found.message)
            if len(excused) <= bisect_right(lost, _start(found)):
                yield found
        elif found.code == "WF06-unbound":  # a place that binds nothing is one mistake
            if found.span in signature:
                yield found
            signature.add(found.span)


def _of_unbound(starts: list[int], diagnostics: Sequence[Diagnostic]) -> Iterable[Diagnostic]:
    """The warnings and notes on operands that name a shape variable of which an error in the same
    function says that it is not bound.
    """
    unbound = {
        (bisect_right(starts, _start(found)), name)
        for found in diagnostics
        if found.code in _DIMENSIONS
        for name in _QUOTED.findall(found.message)
    }
    for found in diagnostics if unbound else ():
        if found.severity != "error" and found.code.startswith(_OBLIGATION):
            function = bisect_right(starts, _start(found))
            if any((function, word) in unbound for word in _WORD.findall(found.message)):
                yield found


def _binds(text: str, at: int, unless: str | None = None) -> bool:
    """Whether a mistake at an offset leaves no doubt which name its statement binds: it stands
    behind the `=`, in a line that closes its brackets.

    The reader gives that name a meaning; no other one is lost. A line that holds ``unless`` may
    have bound more.
    """
    start = text.rfind("\n", 0, at) + 1
    line = _line_of(text, at)
    target = _TARGET.match(line)
    if target is None or at < start + target.end() or (unless is not None and unless in line):
        return False
    if " = " in line[target.end() :]:  # the end of a line is missing
        return False
    return all(line.count(a) == line.count(b) for a, b in ("()", "[]", "{}"))


def _without_class(
    text: str, heads: list[tuple[int, int]], functions: Iterable[list[Diagnostic]]
) -> Iterable[Diagnostic]:
    """What is said of the name of a class whose head could not be read."""
    errors = [d for found in functions for d in found if d.code == "PARSE"]
    for start, end in heads:
        if any(start <= _start(d) < end for d in errors):
            words = {found.name for found in kept_names(text, start, end)}
            for found in errors:
                name = found.message.removesuffix(" is not defined").strip("'")
                if _start(found) >= end and (name in words or found.message == NO_CLASS):
                    yield found


def _line_of(text: str, at: int) -> str:
    """The line in which an offset stands."""
    end = text.find("\n", at)
    return text[text.rfind("\n", 0, at) + 1 : end if end >= 0 else len(text)]


def _start(found: Diagnostic) -> int:
    return found.span[0] if found.span is not None else 0


def _outline(text: str) -> tuple[list[int], list[tuple[int, int]]]:
    """Where the functions begin that stand in no other one, and the heads of classes: what stands
    between the line of a class, or of its decorator, and its first function.
    """
    starts: list[int] = []
    heads: list[tuple[int, int]] = []
    column: int | None = None
    begun: int | None = None
    for found in _LINE.finditer(text):
        if found[2]:
            column = None
            begun = found.start() if begun is None else begun
        elif column is None or len(found[1]) <= column:
            column = len(found[1])
            starts.append(found.start())
            if begun is not None:
                heads.append((begun, found.start()))
                begun = None
    return starts, heads
