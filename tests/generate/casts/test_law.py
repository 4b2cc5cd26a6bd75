"""Eliminated checks change no run, and what is said of casts is true; ``RLX_CASTS=100000`` for the long run."""

from __future__ import annotations

import os
from random import Random

import numpy as np
import pytest

from rlx.checker.check import Report, check_text
from rlx.checker.dynamic_checks import DynamicCheck, analyse
from rlx.checker.dynamic_checks.comparisons import PartJudge
from rlx.generate.casts import __main__ as command
from rlx.generate.casts import examine, law, program
from rlx.generate.casts.__main__ import main
from rlx.generate.casts.law import CastVerdict, ends_alike
from rlx.grammar import ast
from rlx.grammar.diagnostic import Diagnostic
from rlx.grammar.dtype import dtype
from rlx.grammar.node import replace
from rlx.grammar.parser import parse
from rlx.semantics.outcome import CheckFailed, Fault, Outcome, Returned
from rlx.semantics.values import Scalar, ShapeValue, StringValue, Tensor, TupleValue

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


def test_the_command_counts(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--programs", "5", "--seed", "4"]) == 0
    assert ", 5 legal, " in capsys.readouterr().out


def test_the_command_shows_what_breaks_the_law(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of five legal programs two are broken, behind one that is not legal."""
    verdicts = iter(CastVerdict(legal, broken=said) for legal, said in ENDS)
    monkeypatch.setattr(command, "examine", lambda *_: next(verdicts))
    assert main(["--programs", "5"]) == 1
    said = capsys.readouterr()
    assert said.out.startswith("6 programs, 5 legal, ") and said.out.endswith(": 2 unsound\n")
    assert said.err.count("@R.function") >= 2
    assert [line for line in said.err.splitlines() if line in ("here", "there")] == [
        "here",
        "there",
    ]


ENDS = [(False, ""), (True, ""), (True, "here"), (True, ""), (True, "there"), (True, "")]


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
    add = PartJudge._add

    def all_proved(self: PartJudge, path: object, premise: str, status: str, *rest: object) -> None:
        add(self, path, premise, "proved" if status == "needed" else status, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(PartJudge, "_add", all_proved)
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
REDUNDANT = ONE_CAST.format(value="y", target='R.Tensor((2,), "float32")')


@pytest.mark.parametrize(
    ("text", "status", "said"),
    [
        (NEEDED, "impossible", "impossible, and nothing is said"),
        (NEEDED, "redundant", "redundant, but it fails: cast of x; arguments "),
        (REDUNDANT, "impossible", "impossible, and nothing is said"),
        (REDUNDANT, "needed", ""),
    ],
)
def test_a_wrong_status_breaks_the_law(
    text: str, status: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wrongly(module: ast.IRModule) -> list[DynamicCheck]:
        return [replace(c, status=status) if c.kind == "cast" else c for c in analyse(module)]

    assert not examine(text, Random(3), 30).broken
    monkeypatch.setattr(law, "analyse", wrongly)
    monkeypatch.setattr(law, "eliminate", lambda module: module)
    found = examine(text, Random(3), 30)
    assert found.legal and found.broken.startswith(said) and bool(found.broken) == bool(said)


def test_a_warning_of_what_holds_breaks_the_law(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cast that is said to fail always, and an impossible one behind a warning, may not pass."""
    check = check_text

    def warned(text: str) -> Report:
        report = check(text)
        (cast,) = (c for c in analyse(report.modules[0]) if c.kind == "cast")
        told = Diagnostic("D11-cast", "warning", "it always fails", cast.span)
        return replace(report, diagnostics=(*report.diagnostics, told))

    monkeypatch.setattr(law, "check_text", warned)
    assert examine(REDUNDANT, Random(3)).broken.startswith(
        "it always fails, but it holds: cast of y; arguments "
    )


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
