"""Steps that rest on nothing else: questions to the prover, premises that fail."""

from __future__ import annotations

from collections.abc import Sequence

from rlx.checker.why import values
from rlx.checker.why.recorder import RuleApplication
from rlx.checker.why.step import Step
from rlx.grammar.diagnostic import Diagnostic
from rlx.grammar.nodes import tir
from rlx.grammar.nodes.ast import StructInfo
from rlx.grammar.print.show import show
from rlx.operators.parameters import Parameter
from rlx.spec import premise_rule


def question(record: RuleApplication) -> Step:
    verdict = values.verdict_of(record.result)
    goal = values.question_text(record.name, record.arguments)
    step = Step("question", goal, title=verdict)
    step.details = values.reasons(record.result)
    return step


def failed_premise(diagnostic: Diagnostic) -> Step:
    details = [*diagnostic.notes]
    example = values.example_text(diagnostic.counterexample or {})
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
    """How the rule's inference writes a premise, or its conclusion where the code is the rule's."""
    rule = premise_rule(code)
    if rule is None or rule.block is None:
        return ""
    if code == rule.identifier:
        return rule.block.conclusion
    return next((text for label, text in rule.block.premises if label == code), "")


def sentence(code: str) -> str:
    """What a premise demands."""
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
