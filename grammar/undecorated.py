"""What has no decorator of Relax:
Python functions of a module, which are passed over, and what was meant to have one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator

from rlx.grammar.diagnostic import Diagnostic, Edit
from rlx.grammar.node import Span, replace
from rlx.grammar.outline import logical_lines
from rlx.grammar.suggest import closest, did_you_mean

_PYTHON_FUNCTION = re.compile(r"^([ \t]*)@[ \t]*(?:I\.|ir\.|tvm\.script\.)?pyfunc\b", re.MULTILINE)
_ANNOTATION = re.compile(
    r"([A-Za-z_][\w.]*)\.(?:Tensor|Shape|Tuple|Object|Any|Callable|Prim|DTensor)\b"
)
_HEAD = re.compile(r"(class|def)[ \t]+(\w+)")
MARKS = {"class": "@I.ir_module", "def": "@R.function"}


def without_python_functions(text: str) -> str:
    """The text with every function under ``@I.pyfunc`` blanked,
    so that offsets stay: its body is Python.
    """
    parts: list[str] = []
    at = 0
    for found in _PYTHON_FUNCTION.finditer(text):
        if found.start() < at:
            continue
        end = _end(text, found.end(1), len(found[1].expandtabs(8)))
        blank = re.sub(r"[^\n]", " ", text[found.end(1) : end])
        parts += [text[at : found.end(1)], "pass", blank[4:]]
        at = end
    return "".join((*parts, text[at:]))


def _end(text: str, start: int, width: int) -> int:
    """Where a decorated function whose decorator stands at ``start`` ends."""
    inside, end = False, start
    for begin, stop in logical_lines(text, start):
        line = text.rfind("\n", 0, begin) + 1
        column = len(text[line:begin].expandtabs(8))
        if inside and column <= width:
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
        Gives a name that Python imports as Relax texts write it.
    read
        The definitions that were read; nothing is said about what is inside of them.
    """
    covered = sorted(read)
    decorated, outer = False, None
    for start, end in logical_lines(text, 0):
        if text[start] == "@":
            decorated = True
            continue
        marked, decorated = decorated, False
        head = _HEAD.match(text, start)
        if head is None or any(a <= start < b for a, b in covered):
            continue
        line = text.rfind("\n", 0, start) + 1
        width = start - line
        if outer is not None and width <= outer[0]:
            outer = None
        if head[1] == "class":
            if not marked and re.match(r"class[ \t]+\w+[ \t]*:", text[start:end]):
                outer = (width, head, line)
            continue
        words = {canonical(word) for word in _annotating(text[start:end])}
        if marked or "R" not in words:  # one for PrimFuncs may be a macro
            continue
        if outer is not None:
            yield _report(*outer[1:])
            outer = None
        elif "self" not in text[start:end]:
            yield _report(head, line)


def misplaced(text: str, span: Span) -> Diagnostic:
    """The report on a line at the outer level of a Relax text that is no decorated definition."""
    head = _HEAD.match(text, span[0])
    if head is not None:
        found = undecorated(head[1], head[2], span[0], span[0], "error")
        return replace(found, code="PARSE")
    declared = re.match(r"\w+[ \t]*=[ \t]*(\w+)\(", text[slice(*span)])
    words = closest(declared[1], ["TypeVar"]) if declared is not None else []
    return Diagnostic(
        "PARSE",
        "error",
        "expected a decorated class or function: @I.ir_module, @R.function or @T.prim_func",
        span,
        help=did_you_mean(words),
    )


def _annotating(text: str) -> set[str]:
    return set(_ANNOTATION.findall(text))


def _report(head: re.Match[str], line: int) -> Diagnostic:
    return undecorated(head[1], head[2], line, head.start(), "warning")


def undecorated(kind: str, name: str, line: int, start: int, severity: str) -> Diagnostic:
    """The report on a class or function without decorator, which starts in a line at an offset."""
    mark = MARKS[kind]
    word = "class" if kind == "class" else "function"
    indent = " " * (start - line)
    return Diagnostic(
        "PARSE-decorator",
        severity,
        f"the {word} {name!r} has no decorator, so it is not read as Relax",
        (start, start + len(kind) + 1 + len(name)),
        help=f"write {mark} above it",
        edit=Edit((line, line), f"{indent}{mark}\n"),
    )
