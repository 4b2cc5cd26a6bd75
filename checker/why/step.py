"""The tree that answers *why*: steps, each with what it concludes and what it rests on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from rlx.checker.derive import message_text
from rlx.checker.why import values
from rlx.checker.why.recorder import RuleApplication
from rlx.grammar.diagnostic import Diagnostic
from rlx.grammar.nodes import tir
from rlx.grammar.nodes.ast import StructInfo
from rlx.grammar.nodes.node import Span
from rlx.grammar.print.show import show
from rlx.operators.parameters import Parameter
from rlx.spec import premise_rule

HOLDS, NOTE, WARNING, ERROR = "holds", "note", "warning", "error"
GRAVITY = (HOLDS, NOTE, WARNING, ERROR)

Below = list[tuple[str, "Step"]]
"""The steps that one rests on, by what they are there: a parameter, ``value``, or nothing."""

Finder = Callable[["Step"], None]
"""Adds to a step what it did not have yet."""


class Step:
    """One line of a derivation. What it rests on, and its words, are found when they are asked for.

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
    details
        Further sentences: counterexamples, what would mend it.
    """

    __slots__ = (
        *("_below", "_beneath", "_find_parts", "_find_rest", "_held", "_status", "_text"),
        *("_values", "code", "details", "info", "kind", "span", "title"),
    )

    def __init__(
        self,
        kind: str,
        text: str | Callable[[], str] = "",
        *,
        code: str = "",
        title: str = "",
        span: Span | None = None,
        info: StructInfo | None = None,
        status: str = HOLDS,
        details: Iterable[str] = (),
    ) -> None:
        self.kind, self.code, self.title = kind, code, title
        self.info, self.span = info, span
        self.details = tuple(details)
        self._text, self._status = text, status
        self._beneath: str | None = None
        self._values: list[tuple[str, str]] = []
        self._held: tuple[str, ...] = ()
        self._below: Below = []
        self._find_parts: Finder | None = None
        self._find_rest: Finder | None = None

    def __repr__(self) -> str:
        return f"Step({self.kind} {self.code} {self.text!r})"

    def later(self, parts: Finder | None, rest: Finder | None = None) -> Step:
        """Let functions add the parts, and the rest, when they are asked for; this step."""
        self._find_parts, self._find_rest = parts, rest
        return self

    def _find(self) -> Step:
        """This step, after everything was found that is its own."""
        assert self.parts is self._below
        find, self._find_rest = self._find_rest, None
        if find is not None:
            find(self)
        return self

    @property
    def text(self) -> str:
        if not isinstance(self._text, str):
            self._text = self._text()
        return self._text

    @property
    def parts(self) -> Below:
        """The derivations of what it is made of, without what its rule compared and asked, unless
        that was found before.
        """
        find, self._find_parts = self._find_parts, None
        if find is not None:
            find(self)
        return self._below

    @property
    def below(self) -> Below:
        return self._find()._below

    @property
    def values(self) -> list[tuple[str, str]]:
        """The values that the rule was applied to, by name."""
        return self._find()._values

    @property
    def held(self) -> tuple[str, ...]:
        """The premises of the rule that are asked here and hold."""
        return self._find()._held

    @property
    def status(self) -> str:
        """``"holds"``, or how grave what fails here is: ``"note"``, ``"warning"``, ``"error"``."""
        return self._find()._status

    @property
    def beneath(self) -> str:
        """The gravest failure further down."""
        if self._beneath is None:
            settle([self])
        assert self._beneath is not None
        return self._beneath

    def has(self, label: str, step: Step) -> None:
        """Let this step rest on another one, too."""
        self._below.append((label, step))

    def takes(self, name: str, value: str) -> None:
        """Let a value go into the rule, once."""
        if (name, value) not in self._values:
            self._values.append((name, value))

    def holds(self, premises: Iterable[str]) -> None:
        """Let these premises hold, and no others."""
        self._held = tuple(premises)

    def failed(self, status: str) -> None:
        """Something of that gravity fails here."""
        self._status = graver(self._status, status)


def graver(a: str, b: str) -> str:
    return max(a, b, key=GRAVITY.index)


def every(roots: Iterable[Step]) -> Iterator[Step]:
    """All steps of trees, each once, one before those it rests on."""
    return _reached(roots, lambda step: step.below)


def every_part(roots: Iterable[Step]) -> Iterator[Step]:
    """The derivations in trees, each once, without what their rules compared and asked."""
    return _reached(roots, lambda step: step.parts)


def _reached(roots: Iterable[Step], inside: Callable[[Step], Below]) -> Iterator[Step]:
    seen: set[int] = set()
    stack = list(roots)[::-1]
    while stack:
        step = stack.pop()
        if id(step) not in seen:
            seen.add(id(step))
            yield step
            stack.extend(below for _, below in reversed(inside(step)))


def settle(roots: Iterable[Step]) -> None:
    """Make trees of derivations that run in circles, and say of each step what fails beneath it.

    A step that rests on itself (a function that calls itself) gets a reference in its place.
    """
    for root in roots:
        path = [] if root._beneath is not None else [(root, enumerate(root.below))]
        on_path = {id(root)}
        while path:
            step, rest = path[-1]
            for at, (label, below) in rest:
                if id(below) in on_path:
                    step.below[at] = label, reference(below)
                elif below._beneath is None:
                    path.append((below, enumerate(below.below)))
                    on_path.add(id(below))
                    break
            else:
                path.pop()
                on_path.discard(id(step))
                step._beneath = HOLDS
                for _, below in step.below:
                    step._beneath = graver(step._beneath, graver(below.status, below.beneath))


def reference(step: Step) -> Step:
    """A reference to a step that stands further up."""
    return Step("reference", step.text, code=step.code, title=step.title, span=step.span)


def question(record: RuleApplication) -> Step:
    verdict = values.verdict_of(record.result)
    goal = values.question_text(record.name, record.arguments)
    step = Step("question", goal, title=verdict)
    step.details = values.reasons(record.result)
    return step


def failed_premise(diagnostic: Diagnostic) -> Step:
    details = [*diagnostic.notes]
    example = message_text.values(diagnostic.counterexample or {})
    if example and not any(example in note for note in details):
        details.append(f"it fails for {example}")
    if diagnostic.help:
        details.append(f"help: {diagnostic.help}")
    step = Step(
        "premise",
        diagnostic.message,
        code=diagnostic.code,
        title=sentence(diagnostic.code),
        span=diagnostic.span,
        status=diagnostic.severity,
        details=details,
    )
    return step


def formula(code: str) -> str:
    """The notation of a premise in the rule's inference, or of its conclusion if the code is the
    rule's.
    """
    rule = premise_rule(code)
    if rule is None or rule.block is None:
        return ""
    if code == rule.identifier:
        return rule.block.conclusion
    return next((text for label, text in rule.block.premises if label == code), "")


def sentence(code: str) -> str:
    """The condition of a premise in words."""
    rule = premise_rule(code)
    return "" if rule is None else rule.premises.get(code, rule.title)


def changed_nothing(record: RuleApplication) -> bool:
    """Whether a rule that rewrites gave back what it was given."""
    given = next((v for v in record.given if isinstance(v, StructInfo)), None)
    result = record.result
    return (
        isinstance(given, StructInfo)
        and isinstance(result, StructInfo)
        and show(given) == show(result)
    )


class StepsInside:
    """The steps inside of one rule, of which some say the same, as of two dimensions."""

    def __init__(self, step: Step) -> None:
        self._waiting: dict[tuple[str, str], list[Step]] = {}
        self._said: dict[tuple[str, str], set[tuple[str, tuple[str, ...]]]] = {}
        for _, below in step.below:
            self.add(below)

    def add(self, step: Step) -> None:
        """Take in a step. It is looked into only if another one of its code is asked about."""
        self._waiting.setdefault((step.kind, step.code), []).append(step)

    def has(self, step: Step) -> bool:
        """Whether one of the steps says the same."""
        kind = step.kind, step.code
        if kind not in self._said and kind not in self._waiting:
            return False
        said = self._said.setdefault(kind, set())
        waiting = self._waiting.pop(kind, [])
        said.update((each.text, tuple(each.details)) for each in waiting if not each.below)
        return not step.below and (step.text, tuple(step.details)) in said


def parameter_name(parameters: Sequence[Parameter], index: int) -> str:
    """The parameter that takes a positional argument."""
    for at, parameter in enumerate(parameters):
        if parameter.variadic:
            return f"{parameter.name}[{index - at}]"
        if at == index:
            return str(parameter.name)
    return f"argument {index}"


def buffer_text(buffer: tir.Buffer) -> str:
    return f"buffer {values.value_text(tuple(buffer.shape)) or '()'} of {buffer.dtype}"
