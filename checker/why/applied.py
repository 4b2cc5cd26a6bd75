"""Steps for the judgements that a rule applied: comparisons, derivations, errors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from rlx.checker.why import values
from rlx.checker.why.recorder import RuleApplication
from rlx.checker.why.step import (
    ERROR,
    HOLDS,
    NOTE,
    WARNING,
    Step,
    StepsInside,
    changed_nothing,
    every,
    failed_premise,
    question,
    sentence,
)
from rlx.grammar.diagnostic import Diagnostic
from rlx.grammar.nodes.ast import StructInfo
from rlx.grammar.nodes.node import Span
from rlx.grammar.print.show import show
from rlx.solver.order import Compatibility
from rlx.spec import premise_rule, rules

OF_EXPRESSIONS = frozenset(f"D{number:02}" for number in range(2, 17))
"""Rules that give expressions, bindings and PrimFuncs struct info have steps of their own."""

_REWRITES = ("SUBST-", "ERASE-")
"""The rules that rewrite a struct info: worth a line where something changes."""

_EQUATIONS = ("-shape", "-values", "-value")
"""How the premises end that are about dimensions and values being equal."""

_GRAVITY = {"compatible": HOLDS, "possible": WARNING, "incompatible": ERROR}


def rule_step(
    name: str,
    text: str | Callable[[], str],
    span: Span | None = None,
    info: StructInfo | None = None,
) -> Step:
    title = rules()[name].title if name in rules() else ""
    return Step("rule", text, code=name, title=title, span=span, info=info)


def words_and_place(diagnostic: Diagnostic) -> tuple[object, ...]:
    """The words and the place of a diagnostic: a report holds copies of those that rules made."""
    return diagnostic.code, diagnostic.severity, diagnostic.message, diagnostic.span


class Applied:
    """Adds to steps what their rules did.

    Parameters
    ----------
    final
        What the check reported in the end: some of what rules say is taken back.
    """

    def __init__(self, final: Iterable[Diagnostic]) -> None:
        self.final = frozenset(map(words_and_place, final))

    def add(self, step: Step, record: RuleApplication) -> None:
        """Add the questions, comparisons and mistakes of a rule, and the premises that did not
        fail.
        """
        reported = [d for d in record.diagnostics if words_and_place(d) in self.final]
        elsewhere = self._reattributed(record, reported)
        inside = StepsInside(step)
        for inner in _visible(record.inner):
            self._inner(step, inside, inner, elsewhere.get(inner, []), bool(reported))
        for diagnostic in reported:
            if not any(diagnostic in moved for moved in elsewhere.values()):
                self.premise(step, diagnostic)
        failed = {*record.failed, *(d.code for d in reported)}
        step.holds(code for code in _held(record) if code not in failed)

    def _reattributed(
        self, record: RuleApplication, reported: Iterable[Diagnostic]
    ) -> Mapping[RuleApplication, list[Diagnostic]]:
        """Mistakes that a rule inside found before it gave up: the call reports them."""
        found: dict[RuleApplication, list[Diagnostic]] = {}
        for diagnostic in reported:
            rule = premise_rule(diagnostic.code)
            if rule is None:
                continue
            inner = [r for r in record.inner if r.name == rule.identifier]
            if inner:
                found.setdefault(inner[-1], []).append(diagnostic)
        return found

    def _inner(
        self,
        step: Step,
        inside: StepsInside,
        record: RuleApplication,
        reported: Iterable[Diagnostic],
        fails: bool,
    ) -> None:
        """A rule, a question, a comparison or a binding inside of a rule."""
        if record.kind == "binding":
            mapping: Mapping[Any, Any] = getattr(record.result, "mapping", None) or {}
            whose = "callee's " if step.code == "D14" else ""
            for var, image in mapping.items():
                step.takes(f"{whose}{show(var)}", values.value_text(image))
            return
        if record.name.startswith(_REWRITES) and changed_nothing(record):
            return
        found = self._of_record(record, fails)
        if found is None or inside.has(found):
            return
        for diagnostic in reported:
            self.premise(found, diagnostic)
        failed = {d.code for d in reported}
        found.holds(code for code in found.held if code not in failed)
        step.has("", found)
        inside.add(found)

    def _of_record(self, record: RuleApplication, fails: bool) -> Step | None:
        match record.kind:
            case "question":
                return question(record)
            case "comparison":
                return self._comparison(record, fails)
        text = ", ".join(
            f"{name} = {text}" for name, text in values.argument_texts(record.arguments)
        )
        result = values.result_text(record.result)
        step = rule_step(record.name, f"{text} ⇒ {result}" if result else text)
        self.add(step, record)
        return step

    def _comparison(self, record: RuleApplication, fails: bool) -> Step | None:
        """Whether one struct info may stand for another, and which premise of the order says no."""
        result = record.result
        if not isinstance(result, Compatibility):
            return None
        given, wanted = show(record.arguments["a"]), show(record.arguments["b"])
        answer = {"compatible": "fits", "possible": "may fit", "incompatible": "does not fit"}
        text = f"{given} {answer[result.kind]} {wanted}"
        step = Step("comparison", text, code="", title="")
        inside = StepsInside(step)
        for inner in _visible(record.inner):
            self._inner(step, inside, inner, (), fails)
        reason = result.reason
        if reason is not None:
            _withhold(step, reason.code)
            status = _GRAVITY[result.kind] if fails else NOTE
            below = Step("premise", result.message, code=reason.code, status=status)
            below.title = sentence(reason.code)
            step.has("", below)
            step.failed(status)
        return step

    def premise(self, step: Step, diagnostic: Diagnostic) -> None:
        """A premise that fails, with what the checker says about it."""
        step.has("", failed_premise(diagnostic))
        step.failed(diagnostic.severity)


def _held(record: RuleApplication) -> Iterable[str]:
    """The premises that an application says to hold, in the order of the rule.

    The rule of an obligation stops where a premise fails, so all hold if it came to its end; where
    it asks for one of several, it says which.
    """
    rule = rules().get(record.name)
    if rule is None:
        return ()
    ended = record.completed and rule.block is not None and rule.block.judgement == "obligation"
    if ended and not (record.held or record.failed):
        return tuple(rule.premises)
    return tuple(code for code in rule.premises if code in record.held)


def _withhold(step: Step, code: str) -> None:
    """Take back that dimensions are equal: subtyping notes the equations, and they were judged
    later.
    """
    failed = code.replace("COMPAT", "SUB")
    for below in every([step]):
        if failed.startswith("SUB-joint"):
            below.holds([c for c in below.held if not c.endswith(_EQUATIONS)])
        else:
            below.holds([c for c in below.held if c != failed])


def _visible(records: Iterable[RuleApplication]) -> Iterator[RuleApplication]:
    """The events inside of a rule, without those that have their own place in the tree."""
    return (r for r in records if r.name not in OF_EXPRESSIONS)
