"""A derivation as a tree of lines."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence

from rlx.checker.render.human import paint, without_colours
from rlx.checker.why.step import (
    ERROR,
    HOLDS,
    NOTE,
    WARNING,
    Step,
    every,
    every_part,
    formula,
    reference,
)
from rlx.grammar.diagnostic import Source

NESTING = 12
"""The deepest nesting of steps; an expression further down gets a tree of its own below."""

WIDTH = 120
"""The longest line in which the notes of a step stand beside it; longer ones get lines of their own."""

_MARKS = {HOLDS: "", NOTE: "?", WARNING: "!", ERROR: "✗"}
Theme = Mapping[str, str]

_ASCII = str.maketrans(
    {"│": "|", "├": "|", "└": "`", "─": "-", "✗": "x", "✓": "ok:", "⇒": "=>", "…": "..."}
)


def encodable(line: str, encoding: str | None) -> str:
    """A line in the signs that an encoding has: in those of ASCII where it lacks the others."""
    try:
        line.encode(encoding or "utf-8")
    except UnicodeEncodeError:
        return line.translate(_ASCII)
    return line


def render(
    roots: Sequence[Step],
    source: Source,
    theme: Theme,
    depth: int | None = None,
    limit: int | None = None,
) -> Iterator[str]:
    """The lines of trees, one after the other.

    Parameters
    ----------
    depth
        How many levels below each root are shown; None for all.
    limit
        After so many lines no further tree of what is nested deeply begins, and the last line says
        how many are left out; None for no limit.
    """
    shown: set[int] = set()
    asked = {id(root) for root in roots}
    waiting = deque(roots)
    lines = 0
    while waiting:
        root = waiting.popleft()
        if id(root) in shown:
            continue
        if limit is not None and lines > limit and id(root) not in asked:
            yield ""
            yield paint(theme, "faint", _left_out([root, *waiting], shown))
            return
        if lines:
            yield ""
        tree = _Tree(source, theme, depth, shown)
        for line in tree.lines(root):
            lines += 1
            yield line
        waiting.extendleft(reversed(tree.deferred))


def inferences(roots: Sequence[Step]) -> Iterator[str]:
    """The rules of trees as inferences, each once, in the order in which they come up."""
    from rlx.checker.explain import inference_lines
    from rlx.spec import rules

    used = dict.fromkeys(step.code for step in every(roots) if step.kind == "rule")
    for name in used:
        rule = rules()[name]
        if rule.block is not None:
            yield ""
            yield f"{name} {rule.title}"
            yield from inference_lines(rule.block)


def _left_out(waiting: Sequence[Step], shown: set[int]) -> str:
    derived = (step for step in every_part(waiting) if step.info is not None)
    count = sum(1 for step in derived if id(step) not in shown)
    return (
        f"… and the derivations of {count} more expressions and bindings; "
        "--depth N shows less of each, --format json has all"
    )


class _Tree:
    """The lines of one tree; what is nested too deeply is deferred to trees of its own."""

    def __init__(self, source: Source, theme: Theme, depth: int | None, shown: set[int]) -> None:
        self.source, self.theme, self.depth, self.shown = source, theme, depth, shown
        self.deferred: list[Step] = []

    def lines(self, root: Step) -> Iterator[str]:
        """A tree, without recursion."""
        stack: list[tuple[Step, str, str, int, tuple[int, ...]]] = [(root, "", "", 0, ())]
        while stack:
            first, lead, label, level, above = stack.pop()
            if id(first) in above:
                first = reference(first)
            follow = lead.replace("├─ ", "│  ").replace("└─ ", "   ")
            step = _named(first)
            known = id(step) in self.shown
            self.shown.update((id(first), id(step)))
            below = self._below(step, known, level)
            head = f"{self._gutter(lead)}{self._head(first, step, label, known)}"
            details = [] if known else list(self._details(step))
            if details and step.kind == "rule" and not step.below:
                joined = "  ".join([head, *details])
                if len(without_colours(joined)) <= WIDTH:
                    head, details = joined, []
            yield head
            more = self._gutter(f"{follow}│  " if below else f"{follow}   ")
            yield from (f"{more}{line}" for line in details)
            if step.below and not known and not below:
                yield f"{more}{self._cut(step)}"
            for at, (name, inner) in reversed(list(enumerate(below))):
                branch = "└─ " if at == len(below) - 1 else "├─ "
                stack.append((inner, f"{follow}{branch}", name, level + 1, (*above, id(first))))

    def _below(self, step: Step, known: bool, level: int) -> Sequence[tuple[str, Step]]:
        if known:
            return ()
        if self.depth is not None:
            return () if level >= self.depth else step.below
        if level >= NESTING and step.info is not None and step.below:
            self.shown.discard(id(step))
            self.deferred.append(step)
            return ()
        return step.below

    def _cut(self, step: Step) -> str:
        if self.depth is None:
            return self._faint("… in a tree of its own below")
        failing = _MARKS[step.beneath]
        steps = "1 step" if len(step.below) == 1 else f"{len(step.below)} steps"
        rest = f"… rests on {steps}"
        return self._faint(rest) + (
            f" {paint(self.theme, step.beneath, failing)}" if failing else ""
        )

    def _head(self, first: Step, step: Step, label: str, known: bool) -> str:
        """The line of a step; ``first`` is the variable that stands for it, or the step itself."""
        mark = _MARKS[step.status]
        parts = [paint(self.theme, step.status, mark)] if mark else []
        if label:
            parts.append(self._faint(f"{label}:"))
        match step.kind:
            case "rule":
                parts += self._rule(first, step)
            case "question":
                told = f": {'; '.join(step.details)}" if step.details else ""
                parts.append(f"{step.text}? {step.title}{self._faint(told)}")
            case "premise":
                parts.append(f"{paint(self.theme, step.status, step.code)}: {step.text}")
            case "reference":
                parts.append(f"{step.text}  {self._faint('(the current derivation)')}")
                return " ".join(parts)
            case _:
                parts.append(step.text)
        if known and step.below:
            parts.append(self._faint("(shown above)"))
        return " ".join(parts)

    def _rule(self, first: Step, step: Step) -> Iterator[str]:
        if step.text and step.info is not None:
            yield step.text
        if first is not step:
            yield paint(self.theme, "related", f"[{first.code} {first.title}]")
        yield paint(self.theme, "related", f"[{step.code} {step.title}{self._place(step)}]")
        if step.text and step.info is None:
            yield step.text

    def _details(self, step: Step) -> Iterator[str]:
        match step.kind:
            case "rule":
                told = [*step.details, *(f"{name} = {value}" for name, value in step.values)]
                if told:
                    yield self._faint("; ".join(told))
                if step.held:
                    yield self._faint(f"✓ {', '.join(step.held)}")
            case "premise":
                if step.title:
                    yield self._faint(f"premise: {step.title}")
                if written := formula(step.code):
                    yield self._faint(f"in the rule: {written}")
                yield from step.details

    def _place(self, step: Step) -> str:
        if step.span is None or step.info is None:
            return ""
        line, column = self.source.position(step.span[0])
        return f", {line}:{column}"

    def _gutter(self, lead: str) -> str:
        return paint(self.theme, "gutter", lead)

    def _faint(self, text: str) -> str:
        return paint(self.theme, "faint", text)


def _named(step: Step) -> Step:
    """The step that a variable stands for: both conclude the same, so one line shows both."""
    match step:
        case Step(code="D02", below=[(_, Step(kind="rule") as below)]) if below.text == step.text:
            return below
    return step
