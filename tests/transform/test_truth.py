"""Judgements of checks beside the checks themselves (E-cast) on random values.

Every judgement that the analysis makes (casts, entries at each call, results, annotations) is recorded with what
was guaranteed of the values. Values that keep the guarantee are then made at random and checked: a part said to
be proved never fails, a check said to be impossible always does, and a counterexample is one.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pytest

from rlx.checker.check import check_text
from rlx.checker.dynamic_checks import CheckPart, analyse
from rlx.checker.dynamic_checks.comparisons import PartJudge
from rlx.checker.normalize import normalize
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import StructInfo
from rlx.grammar.nodes.equal import first_difference
from rlx.grammar.nodes.node import replace
from rlx.grammar.print.printer import print_module
from rlx.semantics.cast import CastFailed, check
from rlx.semantics.machine import load
from rlx.semantics.outcome import Fault
from rlx.semantics.values import Scalar, ShapeValue, StringValue, Tensor, TupleValue, Value
from rlx.solver.evaluate import UndefinedError, evaluate
from rlx.solver.order import free_shape_vars
from rlx.transform.dynamic_checks import eliminate
from tests.generate.casts.programs import program

from .programs import CLEAN, report

TRIALS = 25
Point = dict[tir.Var, int]
PREMISES = {
    "fields": "fields",
    "kind": "kind",
    "rank": "rank",
    "dtype": "dtype",
    "device": "device",
}


class Recorded:
    """One judgement: what was asked, what was known, what was answered."""

    def __init__(
        self,
        judgement: PartJudge,
        founds: Sequence[StructInfo | None],
        wanteds: Sequence[StructInfo],
        parts: list[list[CheckPart]],
    ) -> None:
        prover = judgement.prover
        self.founds, self.wanteds, self.parts = founds, wanteds, parts
        self.contradictory = judgement.contradictory
        self.binders = judgement.binders
        self.facts = prover.context.state.facts
        self.range_of = prover.context.state.range_of
        self.aliases = dict(prover.aliases)  # type: ignore[attr-defined]
        infos = [info for info in (*founds, *wanteds) if info is not None]
        mentioned = [v for info in infos for v in free_shape_vars(info)]
        said = [*self.facts, *self.aliases.values()]
        self.variables = list(dict.fromkeys([*mentioned, *self.aliases, *tir.free_vars(*said)]))

    def points(self, choose: random.Random) -> Iterator[Point]:
        """Numbers that keep what is known of the variables."""
        for trial in range(TRIALS):
            most = 3 if trial % 2 else 9
            point = {v: self._number(v, most, choose) for v in self.variables}
            if self.holds(point):
                yield point

    def holds(self, point: Point) -> bool:
        """Whether a point, with the variables that stand for others set, keeps what is known."""
        try:
            for var, image in self.aliases.items():
                point[var] = evaluate(image, point)
            return all(evaluate(fact, point) for fact in self.facts)
        except UndefinedError:
            return False

    def counterexamples(self, choose: random.Random) -> Iterator[Point]:
        """The points at which a part is said to fail, where names tell the variables apart."""
        if len({v.name for v in self.variables}) < len(self.variables):
            return
        for part in (part for parts in self.parts for part in parts):
            if part.counterexample is not None:
                random_point = {v: self._number(v, 9, choose) for v in self.variables}
                point = {v: part.counterexample.get(v.name, random_point[v]) for v in random_point}
                if self.holds(point):
                    yield point

    def _number(self, var: tir.Var, most: int, choose: random.Random) -> int:
        low, _ = self.range_of(var)
        assert low in (None, 0)
        return choose.randint(-most if low is None else 0, most)


class Unmakeable(Exception):
    """No value has this type: a dimension is negative, or has no number."""


def make(info: StructInfo | None, like: StructInfo, point: Point, choose: random.Random) -> Value:
    """A value of an annotation; where it says nothing, one that may be like another."""
    if info is None or isinstance(info, ast.ObjectStructInfo):
        info = like if choose.random() < 0.7 else choose.choice(_ANY)
        point = {v: choose.randint(0, 4) for v in free_shape_vars(info)}
    if isinstance(info, ast.ObjectStructInfo):
        return StringValue("text")
    makers: dict[type, Callable[..., Value]] = {
        ast.TensorStructInfo: _tensor,
        ast.ShapeStructInfo: _shape,
        ast.PrimStructInfo: _scalar,
        ast.TupleStructInfo: _tuple,
    }
    if type(info) not in makers:
        raise Unmakeable
    return makers[type(info)](info, like, point, choose)


_ANY = (
    ast.ObjectStructInfo(),
    ast.TensorStructInfo(),
    ast.ShapeStructInfo(),
    ast.TupleStructInfo((ast.TensorStructInfo(),)),
)


def _sizes(
    dims: tuple[tir.PrimExpr, ...] | None, ndim: int, point: Point, choose: random.Random
) -> tuple[int, ...]:
    if dims is None:
        rank = ndim if ndim >= 0 else choose.randint(0, 3)
        return tuple(choose.randint(0, 4) for _ in range(rank))
    try:
        return tuple(evaluate(dim, point, int64=True) for dim in dims)
    except UndefinedError as error:
        raise Unmakeable from error


def _tensor(
    info: ast.TensorStructInfo, like: StructInfo, point: Point, choose: random.Random
) -> Value:
    if isinstance(info.shape, ast.Var):
        raise Unmakeable
    dims = info.shape.values if isinstance(info.shape, ast.ShapeExpr) else None
    sizes = _sizes(dims, info.ndim, point, choose)
    other = str(like.dtype) if isinstance(like, ast.TensorStructInfo) else "void"
    kind = choose.choice([other, "int32"]) if info.dtype.is_void else str(info.dtype)
    if min(sizes, default=0) < 0:
        raise Unmakeable
    device = (info.vdevice.target, info.vdevice.index) if info.vdevice else None
    return Tensor(np.broadcast_to(np.zeros((), "int8" if kind == "void" else kind), sizes), device)


def _shape(
    info: ast.ShapeStructInfo, like: StructInfo, point: Point, choose: random.Random
) -> Value:
    return ShapeValue(_sizes(info.values, info.ndim, point, choose))


def _scalar(
    info: ast.PrimStructInfo, like: StructInfo, point: Point, choose: random.Random
) -> Value:
    if info.value is None or isinstance(info.value, tir.FloatImm):
        return Scalar(choose.randint(-3, 5), info.dtype)
    return Scalar(_sizes((info.value,), 1, point, choose)[0], info.dtype)


def _tuple(
    info: ast.TupleStructInfo, like: StructInfo, point: Point, choose: random.Random
) -> Value:
    likes = like.fields if isinstance(like, ast.TupleStructInfo) else info.fields
    return TupleValue(
        tuple(
            make(field, likes[at] if at < len(likes) else field, point, choose)
            for at, field in enumerate(info.fields)
        )
    )


def judgements(module: ast.IRModule) -> list[Recorded]:
    """Everything that is judged while a module is analysed."""
    recorded: list[Recorded] = []

    class Recorder(PartJudge):
        def judge(
            self, founds: Sequence[StructInfo | None], wanteds: Sequence[StructInfo]
        ) -> list[list[CheckPart]]:
            parts = super().judge(founds, wanteds)
            recorded.append(Recorded(self, list(founds), list(wanteds), parts))
            return parts

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rlx.checker.dynamic_checks.analysis.PartJudge", Recorder)
        analyse(module)
    return recorded


def said_of(failure: CastFailed, case: Recorded) -> CheckPart | None:
    """The judgement of the part that a check found broken."""
    path = failure.path
    at = 0
    if len(case.wanteds) > 1:
        at, path = int(path[0].removeprefix("argument ")), path[1:]
    premise = failure.code.removeprefix("E-cast-")
    for part in case.parts[at]:
        if part.path == path and (part.premise == premise or premise == "undefined"):
            return part
    return None


def confirm(case: Recorded, choose: random.Random) -> int:
    """Check random values; how many could be made."""
    every = [part for parts in case.parts for part in parts]
    impossible = case.contradictory or any(part.status == "impossible" for part in every)
    made = 0
    for point in case.points(choose):
        try:
            values = [
                make(found, wanted, point, choose)
                for found, wanted in zip(case.founds, case.wanteds, strict=True)
            ]
        except Unmakeable:
            continue
        made += 1
        known = {v: n for v, n in point.items() if v not in case.binders}
        try:
            check(values, case.wanteds, known)
        except CastFailed as failure:
            part = said_of(failure, case)
            assert part is not None, (failure, every)
            assert part.status in ("needed", "impossible"), (failure, part)
        else:
            assert not impossible, (values, every)
    for point in case.counterexamples(choose):
        made += fails(case, point, choose)
    return made


def fails(case: Recorded, point: Point, choose: random.Random) -> bool:
    """Whether values could be made at a counterexample; then they fail."""
    try:
        values = [
            make(found, wanted, point, choose)
            for found, wanted in zip(case.founds, case.wanteds, strict=True)
        ]
    except Unmakeable:
        return False
    with pytest.raises(CastFailed):
        check(values, case.wanteds, {v: n for v, n in point.items() if v not in case.binders})
    return True


@pytest.mark.parametrize("name", CLEAN)
def test_judgements_of_programs(name: str) -> None:
    choose = random.Random(name)
    for module in report(name).modules:
        for case in judgements(module):
            confirm(case, choose)


def test_judgements_of_random_casts() -> None:
    """And what is left without the casts that are redundant is normal, legal, and reads back."""
    choose = random.Random(5)
    legal = 0
    while legal < 25:
        found = check_text(program(choose))
        if not found.ok:
            continue
        legal += 1
        (module,) = found.modules
        for case in judgements(module):
            confirm(case, choose)
        once = eliminate(module)
        assert eliminate(once) is once
        assert normalize(once) is once
        again = check_text(print_module(once))
        assert first_difference(once, again.modules[0]) is None
        # A cast to less that is gone shows what is certainly wrong; before, that was a doubt.
        doubts = {d.code for d in found.diagnostics if d.severity == "warning"} - {"D11-cast"}
        assert again.ok or doubts


def test_the_comparison_can_fail() -> None:
    """A part that is wrongly said to be proved, and a check wrongly said to be impossible, are found out."""
    text = (
        "@R.function\n"
        'def main(x: R.Tensor(("n", 4), "float32")):\n'
        '    y = R.match_cast(x, R.Tensor((4, 4), "float32"))\n'
        "    return y\n"
    )
    (module,) = check_text(text).modules
    case = next(c for c in judgements(module) if any(p.counterexample for p in c.parts[0]))
    assert confirm(case, random.Random(0))
    (point,) = case.counterexamples(random.Random(0))
    assert fails(case, point, random.Random(0))
    lied = [[_with_status(p, "proved") for p in case.parts[0]]]
    case.parts = lied
    with pytest.raises(AssertionError):
        confirm(case, random.Random(0))
    case.contradictory = True
    with pytest.raises(AssertionError):
        confirm(case, random.Random(0))


def _with_status(part: CheckPart, status: str) -> CheckPart:
    return replace(part, status=status)


def test_a_fault_stays_where_it_was() -> None:
    """An expression in place of a variable keeps the location of the expression around it."""
    text = (
        "@R.function\n"
        'def main(a: R.Prim("int64")):\n'
        "    n = T.int64()\n"
        "    b = R.match_cast(a, R.Prim(value=n))\n"
        "    return R.shape([3 + a % n, n // 2])\n"
    )
    (module,) = check_text(text).modules
    for each in (module, eliminate(module)):
        end = load(each).run("main", [Scalar(0)])
        assert isinstance(end, Fault) and end.code == "E-prim-divide"
        assert end.span is not None and text[slice(*end.span)] == "a % n"
