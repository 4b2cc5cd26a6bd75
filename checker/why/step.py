"""The tree that answers *why*: steps, each with what it concludes and what it rests on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rlx.grammar.nodes.ast import StructInfo
from rlx.grammar.nodes.node import Span

HOLDS, NOTE, WARNING, ERROR = "holds", "note", "warning", "error"
GRAVITY = (HOLDS, NOTE, WARNING, ERROR)

Below = list[tuple[str, "Step"]]
"""The steps that one rests on, by what they are there: a parameter, ``value``, or nothing."""


class Step:
    """One line of a derivation.

    Attributes
    ----------
    kind
        ``"rule"``: an application of a rule. ``"premise"``: a premise that fails. ``"question"``:
        what the prover was asked. ``"comparison"``: whether a value may stand where another struct
        info is expected. ``"reference"``: a step that stands further up. ``"note"``: what no rule
        says.
    code
        The rule's id, or the premise's code; empty for the other kinds.
    title
        What the rule is called.
    text
        What is concluded, with its values.
    info
        The struct info concluded, of expressions and bindings.
    span
        Where what it is about stands.
    status
        ``"holds"``, or how grave what fails here is: ``"note"``, ``"warning"``, ``"error"``.
    beneath
        How grave the gravest failure further down is.
    values
        What went into the rule, by name.
    held
        The premises of the rule that are asked here and do not fail.
    details
        Further sentences: counterexamples, what would mend it.
    below
        What it rests on.
    """

    __slots__ = (
        *("below", "beneath", "code", "details", "held", "info"),
        *("kind", "span", "status", "text", "title", "values"),
    )

    def __init__(
        self,
        kind: str,
        text: str = "",
        *,
        code: str = "",
        title: str = "",
        span: Span | None = None,
        info: StructInfo | None = None,
        status: str = HOLDS,
        details: Iterable[str] = (),
    ) -> None:
        self.kind, self.code, self.title, self.text = kind, code, title, text
        self.info, self.span, self.status = info, span, status
        self.beneath = HOLDS
        self.values: list[tuple[str, str]] = []
        self.held: tuple[str, ...] = ()
        self.details = tuple(details)
        self.below: Below = []

    def __repr__(self) -> str:
        return f"Step({self.kind} {self.code} {self.text!r})"

    def has(self, label: str, step: Step) -> None:
        """Let this step rest on another one, too."""
        self.below.append((label, step))

    def failed(self, status: str) -> None:
        """Something of that gravity fails here."""
        self.status = graver(self.status, status)


def graver(a: str, b: str) -> str:
    """The graver of two."""
    return max(a, b, key=GRAVITY.index)


def every(roots: Iterable[Step]) -> Iterator[Step]:
    """All steps of trees, each once, one before those it rests on."""
    seen: set[int] = set()
    stack = list(roots)[::-1]
    while stack:
        step = stack.pop()
        if id(step) not in seen:
            seen.add(id(step))
            yield step
            stack.extend(below for _, below in reversed(step.below))


def settle(roots: Iterable[Step]) -> None:
    """Make trees of derivations that run in circles, and say of each step what fails beneath it.

    A step that rests on itself (a function that calls itself) gets a reference in its place.
    """
    done: set[int] = set()
    for root in roots:
        path = [] if id(root) in done else [(root, enumerate(root.below))]
        on_path = {id(root)}
        while path:
            step, rest = path[-1]
            for at, (label, below) in rest:
                if id(below) in on_path:
                    step.below[at] = label, _reference(below)
                elif id(below) not in done:
                    path.append((below, enumerate(below.below)))
                    on_path.add(id(below))
                    break
            else:
                path.pop()
                on_path.discard(id(step))
                done.add(id(step))
                for _, below in step.below:
                    step.beneath = graver(step.beneath, graver(below.status, below.beneath))


def _reference(step: Step) -> Step:
    return Step("reference", step.text, code=step.code, title=step.title, span=step.span)
