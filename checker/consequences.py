"""What follows from an error beside it: where a statement could not be read, nobody knows what it
would have bound; and of a shape with an unbound variable nothing can be proved.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence

from rlx.grammar.diagnostic import Diagnostic
from rlx.grammar.nodes.node import Span
from rlx.grammar.read.entries import Token
from rlx.grammar.read.function_bodies import AFTER_RETURN
from rlx.grammar.read.kept_text import kept_names
from rlx.grammar.read.lexer import MEMBER, words_of, words_of_line
from rlx.grammar.read.outline import indentation, logical_lines
from rlx.grammar.read.relax_statements import NO_CLASS

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
_WORD = re.compile(r"\w+")
_OPENS = {"HEAD": "(", "LPAR": "(", "LSQB": "[", "LBRACE": "{"}
_CLOSES = {"RPAR": "(", "RSQB": "[", "RBRACE": "{"}
"""The kind of bracket that a token opens or closes."""
_CAST = "match_"
"""A part of the words for what binds shape variables."""


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
        if found.is_error and found.span is not None:
            functions.setdefault(bisect_right(starts, found.span[0]), []).append(found)
    dropped: set[int] = set()
    if heads:
        dropped.update(map(id, _without_class(text, heads, functions.values())))
    for errors in functions.values():
        if len(errors) > 1:
            dropped.update(map(id, _following(text, errors)))
    dropped.update(map(id, _of_unbound(starts, diagnostics)))
    return [found for found in diagnostics if id(found) not in dropped]


def lost_functions(text: str, errors: Iterable[Span | None]) -> frozenset[str]:
    """The names of functions that a module may lack because of syntax errors: of all functions of
    the text, and the words in the lines of the errors, one of which may have been a head.
    """
    names = {found["name"] for found in _DEFINED.finditer(text)}
    for span in errors:
        if span is None:
            continue
        line = text.rfind("\n", 0, span[0]) + 1
        names.update(_WORD.findall(text, line, text.find("\n", span[1]) + 1 or len(text)))
    return frozenset(names)


_DEFINED = re.compile(rf"\bdef[ \t]+(?P<name>{MEMBER})")


def _following(text: str, errors: list[Diagnostic]) -> Iterable[Diagnostic]:
    """Those of the errors in one function that follow from others."""
    syntax = [d for d in errors if d.code == "PARSE"]
    lost = sorted(_start(d) for d in syntax if not d.unknown and not _binds(text, _start(d)))
    unknown = any(
        d.code == "WF14-variable" or (d.code == "PARSE" and not _binds(text, _start(d), _CAST))
        for d in errors
    )
    declared = {_declared(text, _start(d)) for d in syntax}
    excused: set[tuple[bool, str]] = set()
    signature: set[tuple[int, int] | None] = set()
    for found in sorted(errors, key=_start):
        if found.code in _DIMENSIONS and (unknown or found.unknown in declared):
            yield found
        elif found.code == "D15-result" and any(d.message == AFTER_RETURN for d in syntax):
            yield found  # another statement was meant to return
        elif found.code in _NAMES or (found.code == "PARSE" and found.unknown):
            # Each statement that was not read may have bound one name.
            excused.add((found.code == "WF01-escape", found.unknown))
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
        (bisect_right(starts, _start(found)), found.unknown)
        for found in diagnostics
        if found.code in _DIMENSIONS
    }
    for found in diagnostics if unbound else ():
        if not found.is_error and found.code.startswith(_OBLIGATION):
            function = bisect_right(starts, _start(found))
            if any((function, word) in unbound for word in _WORD.findall(found.message)):
                yield found


def _binds(text: str, at: int, unless: str | None = None) -> bool:
    """Whether a mistake at an offset leaves no doubt which name its statement binds: it stands
    behind the `=`, in a line that closes its brackets.

    The reader gives that name a meaning; no other one is lost. A line that holds ``unless`` may
    have bound more.
    """
    tokens = _line_of(text, at)
    kinds = [token.type for token in tokens]
    opened = Counter(_OPENS[kind] for kind in kinds if kind in _OPENS)
    closed = Counter(_CLOSES[kind] for kind in kinds if kind in _CLOSES)
    if opened != closed or (unless is not None and any(unless in t.value for t in tokens)):
        return False
    signs = [
        token.end
        for number, token in enumerate(tokens)
        if token.type in ("EQUAL", "TARGET") and (number == 0 or _stands_apart(text, token.end))
    ]
    match kinds, signs:
        # A second sign says that the end of a line is missing.
        case ["TARGET", *_] | ["NAME", "COLON", *_], [sign]:
            return sign <= at
    return False


def _stands_apart(text: str, end: int) -> bool:
    """Whether the sign that ends here has a space on both sides."""
    return text.endswith(" =", None, end) and text.startswith(" ", end)


def _declared(text: str, at: int) -> str | None:
    """The shape variable that the line in which an offset stands declares, `n = T.int64()`."""
    match _line_of(text, at):
        case [Token(type="TARGET", value=name), Token(value=word), *_] if word.startswith("T."):
            return str(name)
    return None


def _without_class(
    text: str, heads: list[tuple[int, int]], functions: Iterable[list[Diagnostic]]
) -> Iterable[Diagnostic]:
    """What is said of the name of a class whose head could not be read."""
    errors = [d for found in functions for d in found if d.code == "PARSE"]
    for start, end in heads:
        if any(start <= _start(d) < end for d in errors):
            words = {found.name for found in kept_names(text, start, end)}
            for found in errors:
                if _start(found) >= end and (found.unknown in words or found.message == NO_CLASS):
                    yield found


def _line_of(text: str, at: int) -> tuple[Token, ...]:
    """The tokens of the line in which an offset stands."""
    return words_of_line(text, text.rfind("\n", 0, at) + 1)


def _start(found: Diagnostic) -> int:
    return found.span[0] if found.span is not None else 0


def _outline(text: str) -> tuple[list[int], list[tuple[int, int]]]:
    """Where the functions begin that stand in no other one, and the heads of classes: what stands
    between the line of a class, or of its decorator, and its first function.
    """
    starts: list[int] = []
    heads: list[tuple[int, int]] = []
    column: int | None = None  # of the function that a line may stand in
    headed = False  # whether its head came
    begun: int | None = None
    for start, end in logical_lines(text):
        marked = text[start] == "@"
        if column is not None and not marked and indentation(text, start) <= column:
            if headed:
                column = None
            headed = True
        if not marked and not text.startswith("class", start):
            continue
        words = [token.value for token in words_of(text, (start, end))]
        if words[0] == "class" or (marked and any("ir_module" in word for word in words)):
            column = None
            begun = start if begun is None else begun
        elif not marked or not any(word[:1].isidentifier() for word in words[1:2]):
            continue  # a name such as `classes`, or `@@`
        elif column is None or indentation(text, start) <= column:
            column, headed = indentation(text, start), False
            starts.append(text.rfind("\n", 0, start) + 1)
            if begun is not None:
                heads.append((begun, starts[-1]))
                begun = None
    return starts, heads
