"""Definitions without a Relax decorator: Python functions of a module, which are skipped, and
forgotten decorators.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from itertools import islice

from rlx.grammar.diagnostic import Diagnostic, Edit
from rlx.grammar.lexer import words_of
from rlx.grammar.node import Span, replace
from rlx.grammar.outline import HEAD, indentation, logical_lines
from rlx.grammar.source_tokens import names_in
from rlx.grammar.suggest import closest, did_you_mean

_PYTHON_FUNCTION = frozenset(["pyfunc", "I.pyfunc", "ir.pyfunc", "tvm.script.pyfunc"])
_ANNOTATIONS = frozenset(
    ["Tensor", "Shape", "Tuple", "Object", "Any", "Callable", "Prim", "DTensor"]
)
_RELAY = ("def @", "fn (%", "#[version")
_RELAY_HELP = "this looks like a text of Relay: check it by `rlx relay check`"
MARKS = {"class": "@I.ir_module", "def": "@R.function"}


def without_python_functions(text: str) -> str:
    """The text with every function under ``@I.pyfunc`` blanked, because its body is Python; offsets
    are kept.
    """
    parts: list[str] = []
    at = 0
    for start, stop in logical_lines(text):
        if start < at or text[start] != "@":
            continue
        if next(names_in(text, (start + 1, stop)), None) in _PYTHON_FUNCTION:
            end = _end(text, start, indentation(text, start))
            blank = "\n".join([" " * len(line) for line in text[start:end].split("\n")])
            parts += [text[at:start], "pass", blank[4:]]
            at = end
    return "".join((*parts, text[at:]))


def _end(text: str, start: int, width: int) -> int:
    """Where a decorated function whose decorator stands at ``start`` ends."""
    inside, end = False, start
    for begin, stop in logical_lines(text, start):
        if inside and indentation(text, begin) <= width:
            break
        inside = inside or text.startswith(("def ", "def\t", "async "), begin)
        end = stop
    return end


def missing(
    text: str, canonical: Callable[[str], str], read: Collection[Span]
) -> Iterator[Diagnostic]:
    """Classes and functions that look like Relax but have no decorator.

    Parameters
    ----------
    canonical
        Maps an imported Python name to the name in Relax texts.
    read
        The parsed definitions; nothing inside them is reported.
    """
    covered = sorted(read)
    decorated, outer = False, None
    for start, end in logical_lines(text, 0):
        if text[start] == "@":
            decorated = True
            continue
        marked, decorated = decorated, False
        head = HEAD.match(text, start)
        if head is None or any(a <= start < b for a, b in covered):
            continue
        line = text.rfind("\n", 0, start) + 1
        width = start - line
        if outer is not None and width <= outer[0]:
            outer = None
        if head[1] == "class":
            if not marked and [word.type for word in words_of(text, (start, end))][2:3] == [
                "COLON"
            ]:
                outer = (width, (head[1], head[2], line, start))
            continue
        names = set(names_in(text, (start, end)))
        words = {canonical(word) for word in _annotating(names)}
        if marked or "R" not in words:  # one for PrimFuncs may be a macro
            continue
        if outer is not None:
            yield undecorated(*outer[1], "warning")
            outer = None
        elif "self" not in names:
            yield undecorated(head[1], head[2], line, start, "warning")


def misplaced(text: str, span: Span) -> Diagnostic:
    """The diagnostic for a top-level line of a Relax text that is not a decorated definition."""
    head = HEAD.match(text, span[0])
    if head is not None:
        found = undecorated(head[1], head[2], span[0], span[0], "error")
        return replace(found, code="PARSE")
    tokens = list(islice(words_of(text, span), 2))
    declared = [token.type for token in tokens] == ["TARGET", "HEAD"]
    words = closest(tokens[1].value[:-1], ["TypeVar"]) if declared else []
    lines = (*text[:1000].splitlines(), text[slice(*span)])
    relay = any(line.lstrip().startswith(_RELAY) for line in lines)
    help = _RELAY_HELP if relay else did_you_mean(words)
    return Diagnostic(
        "PARSE",
        "error",
        "expected a decorated class or function: @I.ir_module, @R.function or @T.prim_func",
        span,
        help=help,
    )


def _annotating(names: Collection[str]) -> Iterator[str]:
    """What stands before the dot in names such as `R.Tensor`."""
    for name in names:
        module, _, last = name.rpartition(".")
        if module and last in _ANNOTATIONS:
            yield module


def undecorated(kind: str, name: str, line: int, start: int, severity: str) -> Diagnostic:
    """The diagnostic for a class or function without a decorator that starts at an offset in a
    line.
    """
    mark = MARKS[kind]
    word = "class" if kind == "class" else "function"
    indent = " " * (start - line)
    return Diagnostic(
        "PARSE-decorator",
        severity,
        f"the {word} {name!r} has no decorator, so rlx does not read it",
        (start, start + len(kind) + 1 + len(name)),
        help=f"write {mark} above it",
        edit=Edit((line, line), f"{indent}{mark}\n"),
    )
