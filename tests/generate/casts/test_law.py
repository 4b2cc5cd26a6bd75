"""Eliminated checks change no run, and what is said of casts is true; ``RLX_CASTS=100000`` for the long run."""

from __future__ import annotations

import os
from random import Random
from typing import Any

import numpy as np
import pytest

from rlx.checker.check import Report, check_text
from rlx.checker.dynamic_checks import DynamicCheck, analyse, comparisons
from rlx.checker.dynamic_checks.model import CheckPart
from rlx.grammar.diagnostic import Diagnostic
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.dtype import dtype
from rlx.grammar.nodes.node import replace
from rlx.grammar.read.parser import parse
from rlx.semantics.outcome import CheckFailed, Fault, Outcome, Returned
from rlx.semantics.values import Scalar, ShapeValue, StringValue, Tensor, TupleValue
from tests.generate.casts import law
from tests.generate.casts.law import ends_alike, examine
from tests.generate.casts.programs import program

LEGAL = int(os.environ.get("RLX_CASTS", "60"))


def test_the_law_holds() -> None:
    choose = Random(20)
    legal = casts = removed = 0
    while legal < LEGAL:
        text = program(choose)
        verdict = examine(text, choose)
        assert not verdict.broken, f"{verdict.broken}\n{text}"
        legal += verdict.legal
        casts, removed = casts + verdict.casts, removed + verdict.removed
    assert casts > LEGAL
    assert removed > LEGAL // 2


CASTS = {
    "a dimension": ("R.Tensor(ndim=1)", "R.Tensor((3,))"),
    "a rank": ("R.Tensor", "R.Tensor(ndim=1)"),
    "a shape that a variable holds": ("R.Shape, main1: R.Tensor(ndim=1)", "R.Tensor(main0)"),
    "a scalar": ("R.Object", "T.int64"),
}


@pytest.mark.parametrize("name", CASTS)
def test_the_law_can_be_broken(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A judgement that calls every comparison proved is found out."""
    params, target = CASTS[name]
    value = "main1" if "main1" in params else "main0"
    text = (
        f"@I.ir_module\nclass M:\n    @R.function\n    def main(main0: {params}) -> R.Object:\n"
        f"        y = R.match_cast({value}, {target})\n        return y\n"
    )
    assert not examine(text, Random(1), 40).broken

    def proved(path: Any, premise: str, status: Any, *rest: Any, **more: Any) -> CheckPart:
        return CheckPart(path, premise, "proved" if status == "needed" else status, *rest, **more)

    monkeypatch.setattr(comparisons, "CheckPart", proved)
    assert examine(text, Random(1), 40).broken


ONE_CAST = """\
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor, y: R.Tensor((2,), "float32")) -> R.Object:
        z = R.match_cast({value}, {target})
        return z
"""
NEEDED = ONE_CAST.format(value="x", target='R.Tensor((2,), "float32")')


def test_what_is_lost_with_the_casts_breaks_the_law(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cast that is needed is taken out, or the value with it."""
    uncast = NEEDED.replace('R.match_cast(x, R.Tensor((2,), "float32"))', "x")
    other = NEEDED.replace("return z", "return (z, z)")
    for text in (uncast, other):
        monkeypatch.setattr(law, "eliminate", lambda _, text=text: parse(text).modules[0])
        broken = examine(NEEDED, Random(3), 30).broken
        assert " with all checks, " in broken and " without; arguments " in broken


def test_values_that_are_alike() -> None:
    """The same type, shape and device; of numbers and shapes the same numbers."""
    x, y = (Tensor(np.ones(2, kind)) for kind in ("float32", "int8"))
    values = [x, y, Tensor(np.ones(3, np.float32)), Tensor(x.data, ("cuda", 0)), Scalar(1)]
    values += [Scalar(2), Scalar(1, dtype("int8")), ShapeValue((1,)), ShapeValue((1, 2))]
    values += [TupleValue(()), TupleValue((x,)), TupleValue((x, y)), StringValue("a")]
    for one in values:
        for other in values:
            assert ends_alike(Returned(one), Returned(other)) == (one is other)
    assert ends_alike(Returned(x), Returned(Tensor(np.zeros(2, np.float32))))
    ends: list[Outcome] = [CheckFailed("E", "a", "", (0, 1)), CheckFailed("E", "b", "", (0, 1))]
    ends += [CheckFailed("E", "a", "", (1, 2)), Fault("E", "a", "", (0, 1)), Returned(x)]
    for end in ends:
        assert [ends_alike(end, other) for other in ends] == [other is end for other in ends]


HEAD = "@I.ir_module\nclass M:\n    @R.function\n    def main(x: R.Tensor(ndim=1)) -> R.Object:\n"
LOCAL = "        @R.function\n        def f(a: R.Object) -> R.Object:\n            b = R.match_cast(a, R.Tensor((3,)))\n            return b\n"
ONE = f"{HEAD}        y = R.match_cast(x, R.Tensor((3,)))\n        return y\n"
BEHIND = f"{HEAD}        y = R.match_cast(x, R.Tensor((3,)))\n{LOCAL}        return y\n"
BEFORE = f"{HEAD}{LOCAL}        y = R.match_cast(x, R.Tensor((3,)))\n        return y\n"
CLAIMS: dict[str, tuple[str, dict[str, str], list[str], str]] = {
    "nothing": (ONE, {}, [], ""),
    "impossible without a word": (ONE, {"y": "impossible"}, [], "impossible, and nothing is said: "),
    "impossible": (ONE, {"y": "impossible"}, ["D11-cast", "D11-annotation"], "impossible, but it holds: "),
    "it always fails": (ONE, {}, ["D11-cast"], "it always fails, but it holds: cast of "),
    "it always fails if annotations are right": (ONE, {}, ["D11-cast", "D11-annotation"], ""),
    "redundant": (ONE, {"y": "redundant"}, [], "redundant, but it fails: cast of "),
    "another behind": (BEHIND, {"b": "impossible"}, ["D11-cast", "D11-annotation"], ""),
    "another before": (BEFORE, {"b": "impossible"}, ["D11-cast", "D11-annotation"], "impossible, and nothing is said: "),
}  # fmt: skip


def _name(check: DynamicCheck) -> str:
    """The variable that a cast binds."""
    return check.node.var.name_hint if check.kind == "cast" else ""  # type: ignore[attr-defined]


@pytest.mark.parametrize("claim", CLAIMS)
def test_what_is_said_wrongly(claim: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Judgements that are not true are told, in words."""
    text, statuses, codes, broken = CLAIMS[claim]
    place = text.index("R.Tensor((3,))", text.index("y = "))
    assert not check_text(text).diagnostics

    def claimed(module: ast.IRModule) -> list[DynamicCheck]:
        checks = analyse(module)
        return [replace(c, status=statuses.get(_name(c), c.status)) for c in checks]

    def warned(given: str) -> Report:
        report = check_text(given)
        more = [Diagnostic(code, "warning", "", (place, place + 14)) for code in codes]
        return replace(report, diagnostics=(*report.diagnostics, *more))

    monkeypatch.setattr(law, "analyse", claimed)
    monkeypatch.setattr(law, "check_text", warned)
    verdict = examine(text, Random(1), 40)
    assert verdict.legal
    assert verdict.broken.startswith(broken) if broken else not verdict.broken
    assert (verdict.runs, verdict.casts) == ((0, 0) if broken else (40, verdict.casts))


def test_another_end_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that changes without its checks."""
    other = parse(ONE.replace("return y", "return R.shape([3])")).modules[0]
    monkeypatch.setattr(law, "eliminate", lambda module: other)
    said = examine(ONE, Random(1), 40).broken
    assert said == (
        "a value tensor (3,) float32 = [0.0, 0.0, 0.0] with all checks, a value shape [3] without;"
        " arguments tensor (3,) float32 = [0.0, 0.0, 0.0]"
    )
