"""All that the prover says of questions that were picked because each shows a mistake which the others do not.

`RLX_UPDATE_SNAPSHOTS=1 pytest tests/solver/arith/test_same_picked.py` writes the digests anew, and
`python -m tests.mutants.sharpen tests.solver.arith.test_same_picked 4000 300 --room solver` picks more of them.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rlx.grammar import tir
from rlx.grammar.dtype import dtype
from rlx.grammar.printer import show as shown
from rlx.grammar.tir import PrimExpr
from rlx.solver import (
    Context,
    Prover,
    Relation,
    Verdict,
    explain,
    intervals,
    normal_form,
    prim_exprs,
    prove,
    to_smtlib,
)
from rlx.solver.api import question
from rlx.solver.context import divisors
from rlx.solver.definedness import defined
from rlx.solver.evaluate import UndefinedError, evaluate
from rlx.solver.question_parser import parse, show
from rlx.solver.verdict import Proved, Refuted
from tests.snapshots import assert_picked
from tests.solver.arith.random_questions import question as pool

__all__ = ["pool"]

PARTS = 20
POINTS = (0, 1, -1, 2, 3, -5, 7, 12, 255, -(1 << 31), (1 << 63) - 1)
"""Values of the first variable of an expression that is evaluated; the others have the next ones."""


def said(ask: Callable[[], object]) -> str:
    """An answer, or the words of what was raised."""
    try:
        return _text(ask())
    except (ValueError, TypeError, IndexError, UndefinedError) as error:
        return f"{type(error).__name__}: {error}"


def _text(answer: object) -> str:
    match answer:
        case Proved(means=means, divisors=found):
            return f"{answer} | {means} | {[show(d) for d in found]} | {answer.proved}"
        case Refuted(values=values, means=means, overflow=overflow):
            named = [f"{var.name}: {var.dtype} = {value}" for var, value in values.items()]
            where = None if overflow is None else show(overflow)
            return f"{answer} | {means} | {named} | {where} | {answer.counterexample}"
        case Verdict():
            return f"{answer} | {answer.status} {answer.unknown} {answer.counterexample}"
        case Relation(assumption=found):
            told = "" if found is None else show(found)
            few = (answer.kind, answer.counterexample, answer.witness, answer.zero_saves)
            return f"{few} {told} {answer.reason}"
        case PrimExpr():
            return f"{show(answer)} | {shown(answer)} | {tir.type_of(answer)}"
    return str(answer)


def answers(text: str) -> str:
    """All that is kept of a question."""
    return f"{told(text)}\n{work(text)}"


def work(text: str) -> str:
    """What is left of the work that a question may take, and how it was found, which is the same on every machine."""
    asked = json.loads(text)
    if not isinstance(asked.get("goal"), str) or asked.get("style") is not None:
        return ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            prover, condition = question(**asked)
        except (ValueError, TypeError):
            return ""
    return "\n".join(_left(prover, ask) for ask in (condition, tir.Not(condition)))


def _left(prover: Prover, condition: PrimExpr) -> str:
    said(lambda: prover.always(condition))
    session = prover._sessions.get(prover.context.state)
    if session is None:
        return "none"
    left = session.work
    lent = None
    if left._lent is not None:
        borrower, fuel = left._lent
        lent = (fuel, borrower.fuel)
    return f"{left.fuel} {left.smt} {left.share} {lent}"


def told(text: str) -> str:
    """All that is said of a question."""
    asked = json.loads(text)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        if "steps" in asked:
            lines = list(_of_steps(asked))
        else:
            lines = list(_of_question(asked))
    return "\n".join([*lines, *(str(each.message) for each in warned)])


def _of_question(asked: dict[str, Any]) -> Iterator[str]:
    style = asked.pop("style", None)
    goal = _tvm(asked.pop("tvm"), {}) if "tvm" in asked else asked.pop("goal")
    given: dict[str, Any] = asked
    if "assume" in given and isinstance(given["assume"], list):
        known: dict[str, Any] = {}
        given["assume"] = [_tvm(e, known) if isinstance(e, list) else e for e in given["assume"]]
    yield said(lambda: prove(goal, **given))
    yield said(lambda: explain(goal, **given))
    for each in ("purified", "raw", "split") if style is None else (style,):
        yield said(partial(to_smtlib, goal, **{**given, "style": each}))
    try:
        prover, condition = question(goal, **given)
    except (ValueError, TypeError):
        return
    yield from of_condition(prover, condition)
    yield str(sorted(prover.statistics.means.items()))


def of_condition(prover: Prover, condition: PrimExpr) -> Iterator[str]:
    """What a prover says of a condition and its parts."""
    yield said(lambda: condition)
    yield said(lambda: prover.always(condition))
    yield said(lambda: prover.tried(condition))
    yield said(lambda: prover.never(condition))
    yield said(lambda: prover.assumption(condition))
    yield said(lambda: prover.simplify(condition))
    yield from of_expression(condition)
    if isinstance(condition, tir.Comparison):
        yield said(lambda: prover.relate(condition.a, condition.b))
        yield said(lambda: prover.equal(condition.a, condition.b))
        for side in (condition.a, condition.b):
            yield said(partial(prover.simplify, side))
            yield said(partial(_limits, prover, side))


def _limits(prover: Prover, side: PrimExpr) -> str:
    """The smallest and the largest value of an expression, as far as bounds tell."""
    session = prover._session()
    (expanded,) = prim_exprs.expand([side])
    if prim_exprs.stranger(prim_exprs.topological(expanded)) is not None:
        return "strange"
    engine = session.question(tir.EQ(expanded, prim_exprs.ZERO)).engine()
    try:
        poly = normal_form.polynomial(engine, expanded)
        return f"{intervals.interval(engine, poly)} {intervals.nonneg(engine, poly)}"
    except ArithmeticError as error:
        return str(error)


def of_expression(expr: PrimExpr) -> Iterator[str]:
    """What an expression is, without a prover: its parts, and its values."""
    (expanded,) = prim_exprs.expand([expr])
    yield said(lambda: prim_exprs.lazily(expanded))
    yield said(lambda: defined(expanded))
    yield said(lambda: [show(d) for d in divisors([expanded])])
    yield said(lambda: prim_exprs.weight(expr))
    used = prim_exprs.variables([expr])
    for at in range(len(POINTS)):
        values = {var: POINTS[(at + 4 * place) % len(POINTS)] for place, var in enumerate(used)}
        yield said(partial(evaluate, expr, values))
        yield said(partial(evaluate, expr, values, int64=True))


def _of_steps(asked: dict[str, Any]) -> Iterator[str]:
    """What is said while a context changes."""
    variables = {name: tir.Var(name, dtype(kind)) for name, kind in asked["types"].items()}
    prover = Prover(Context(), asked["int64"])
    for word, *given in asked["steps"]:
        yield said(partial(_step, prover, variables, word, given))
    state = prover.context.state
    yield str([(var.name, limits) for var, limits in state.ranges.items()])
    yield str([show(fact) for fact in state.facts])
    yield str([(var.name, show(expr)) for var, expr in state.definitions.items()])
    yield str(sorted(prover.statistics.means.items()))


def _step(prover: Prover, variables: dict[str, tir.Var], word: str, given: list[Any]) -> object:
    context = prover.context
    match word, given:
        case "declare", [name, low, high]:
            context.declare(variables.setdefault(name, tir.Var(name)), low, high)
            return None
        case "define", [name, text]:
            var = variables.setdefault(name, tir.Var(name))
            context.define(var, parse(text, variables))
            return None
        case "assume", [text]:
            context.assume(parse(text, variables))
            return None
        case "copy", []:
            prover.context = context.copy()
            return None
        case (("push" | "pop"), []):
            return getattr(context, word)()
        case "relate", [pairs]:
            read = [(parse(a, variables), parse(b, variables)) for a, b in pairs]
            each = (said(partial(prover.equal, a, b)) for a, b in read)
            return "\n".join([said(lambda: prover.relate_all(read)), *each])
        case "simplify", [text]:
            return prover.simplify(parse(text, variables))
    condition = parse(given[0], variables)
    return "\n".join(of_condition(prover, condition))


def _tvm(tree: list[Any], known: dict[str, Any]) -> Any:
    """A stand-in for an expression of TVM: its attributes, under the name of its class."""
    name, kind, *below = tree
    if name in ("Var", "SizeVar"):
        key = f"{below[0]} {kind}"
        if key not in known:
            known[key] = _node(name, kind, name_hint=below[0])
        return known[key]
    if not below or not isinstance(below[0], list):
        return _node(name, kind, value=below[0] if below else 0)
    operands = [_tvm(each, known) for each in below]
    match name:
        case "asobject":
            return _node("EqualOp", kind, asobject=lambda: operands[0])
        case "Select":
            return _node(name, kind, **dict(zip(_CHOICE, operands, strict=True)))
        case "Call":
            op = SimpleNamespace(name="tir.if_then_else")
            return _node(name, kind, args=operands, op=op)
        case "Cast":
            return _node(name, kind, value=operands[0])
    return _node(name, kind, **dict(zip("ab", operands, strict=False)))


_CHOICE = ("condition", "true_value", "false_value")


def _node(name: str, kind: str, **fields: Any) -> Any:
    made = type(name, (SimpleNamespace,), {"__hash__": object.__hash__})(**fields)
    if kind:
        made.dtype = kind
    return made


@pytest.mark.parametrize("part", range(PARTS))
def test_picked_questions(part: int) -> None:
    assert_picked(Path(__file__).parent, part, PARTS, told)


@pytest.mark.parametrize("part", range(PARTS))
def test_the_work_of_picked_questions(part: int) -> None:
    assert_picked(Path(__file__).parent, part, PARTS, work, "picked_work.txt")
