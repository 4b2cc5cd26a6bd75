"""Printed terms are read with the same meaning: ours here, those of TVM in ``tests/tvm``."""

from __future__ import annotations

import random

import pytest

from benchmarks.prover.random_goals import RandomGoal
from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import dtype
from rlx.grammar.nodes.tir import PrimExpr
from rlx.grammar.print.prim import in_shape
from rlx.solver.question_parser import parse, show
from tests.solver.values import value_at

from .random_questions import CALLS

_CALLS = (("abs", 1), ("ceildiv", 2), ("likely", 1))
_KINDS = ("int4", "int16", "uint1", "uint16", "int64", "uint64", "int32")
POINTS = (-70000, -129, -7, -2, -1, 0, 1, 2, 3, 5, 8, 130, 2**33, 2**63 + 1)


class Written(RandomGoal):
    """Expressions with all that printers write otherwise than the operators of the language."""

    def expression(self) -> PrimExpr:
        """A condition or an integer."""
        rng = self.rng
        draw = rng.random()
        if draw < 0.3:
            return self.comparison(3)
        if draw < 0.4:
            both = tir.And(self.comparison(2), self.comparison(1))
            return tir.Not(tir.Or(self.comparison(1), both))
        if draw < 0.6:
            name, count = rng.choice(_CALLS)
            operands = tuple(self.integer(1) for _ in range(count))
            return tir.Sub(tir.Call(name, operands), self.integer(2))
        if draw < 0.7:
            shift = rng.choice(("shift_left", "shift_right"))
            return tir.Call(shift, (self.integer(2), tir.IntImm(rng.randint(0, 9))))
        if draw < 0.8:
            literal = tir.IntImm(rng.choice((0, 5, 255)), dtype(rng.choice(("uint8", "uint64"))))
            return tir.Cast(dtype(rng.choice(_KINDS)), tir.Mul(self.integer(1), literal))
        if draw < 0.9:
            return tir.Sub(tir.IntImm(0), self.integer(2))
        return self.integer(3)


def agree(one: PrimExpr, other: PrimExpr, variables: list[tir.Var], rng: random.Random) -> bool:
    """Whether two expressions have the same values at some points."""
    points = [{v: rng.choice(POINTS) for v in variables} for _ in range(12)]
    return all(value_at(one, point) == value_at(other, point) for point in points)


@pytest.mark.parametrize("printer", [show, in_shape({}).text], ids=["solver", "grammar"])
def test_what_our_printers_give(printer: object) -> None:
    assert callable(printer)
    for number in range(1500):
        rng = random.Random(number)
        goal = Written(rng)
        expr = goal.expression()
        text = printer(expr)
        read = parse(text, {v.name: v for v in goal.variables})
        assert agree(expr, read, goal.variables, rng), (number, text, show(read))


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("tdiv(n, m)", "truncdiv(n, m)"),
        ("tmod(n, m)", "truncmod(n, m)"),
        ("T.truncdiv(n, m) + T.truncmod(n, T.int64(2))", "truncdiv(n, m) + truncmod(n, 2)"),
        ("T.Div(n, m) + tvm.tirx.Mod(n, m)", "truncdiv(n, m) + truncmod(n, m)"),
        ("floordiv(n, 2) + floormod(n, 2)", "n // 2 + n % 2"),
        ("tvm.tir.floordiv(n, 2) + tirx.FloorMod(n, 2)", "n // 2 + n % 2"),
        ("ceildiv(n, m)", "ceildiv(n, m)"),
        ("tir.ceildiv(n, m)", "ceildiv(n, m)"),
        ("T.min(n, T.max(m, T.int64(3)))", "min(n, max(m, 3))"),
        ("a < b && b < c || !(a < c)", "a < b and b < c or not a < c"),
        ("!a < b", "(not a) < b"),
        ("tirx.all(a < b, b < c, c < 9)", "a < b and b < c and c < 9"),
        ("tir.any(a < b, b < c)", "a < b or b < c"),
        ("tir.EQ(a, b) and tir.Not(tir.LT(a, b))", "a == b and not a < b"),
        ("T.Select(n > m, n, m)", "select(n > m, n, m)"),
        ("T.if_then_else(n > m, n, m)", "if_then_else(n > m, n, m)"),
        ("T.Cast(\"int32\", n) + tirx.Cast('int64', m)", "int32(n) + int64(m)"),
        ("T.int64(5) * T.int32(-3)", "5 * -3"),
        ("T.bool(True)", "True"),
        ("true or false", "True or False"),
        ("T.likely(n > 3)", "likely(n > 3)"),
        ("n << T.int64(2)", "n << 2"),
        ("n + m >> 1 < 3", "n + m >> 1 < 3"),
        (
            "n | m ^ a & b == ~c",
            "n | m ^ a & b == ~c",
        ),
    ],
)
def test_spellings(text: str, meant: str) -> None:
    assert show(parse(text, {})) == meant


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("n = 2", "write == for equality"),
        ("n => 2", "write >= for at least"),
        ("n =< 2", "write <= for at most"),
        ("n <> 2", "write != for inequality"),
        ("n is 2", "write == for equality"),
        ("m if n > 2 else n", "write select"),
        ("min(n) > 2", "expected 2 arguments or more of min, found 1 argument"),
        ("abs(n, m) > 2", "expected 1 argument of abs, found 2 arguments"),
        ("n / 2 == 1", "write // for the quotient rounded down, or truncdiv"),
        ("n ** 2 == 4", "write powers as products"),
        ("n > 1.5", "only integers, not floats"),
        ("n > 1e5", "only integers, not floats"),
        ("n == 0o17", "write numbers in decimal"),
        ("n == 1__0", "write numbers in decimal"),
        ("n == ٣", "write numbers in decimal"),
        ("n > 2 ? 1 : 0", "write select"),
        ("T.float32(2) > n", "found float32: the prover does not support floats"),
        (
            'T.Cast("float32", n) > n',
            "expected an integer type or bool to cast to, found 'float32'",
        ),
        ("T.flordiv(n, 2) == 1", "flordiv with 2 arguments is not known; min, max"),
        ("np.floordiv(n, 2) == 1", "np.floordiv is not known"),
        ("x.shape == 1", "expected the name of a variable, found 'x.shape'"),
    ],
)
def test_what_to_write_instead(text: str, advice: str) -> None:
    with pytest.raises(ValueError, match=advice.replace("*", r"\*").replace("(", r"\(")):
        parse(text, {})


@pytest.mark.parametrize(("name", "count"), [*CALLS.items(), ("select", 3), ("if_then_else", 3)])
@pytest.mark.parametrize("given", range(1, 5))
def test_calls_take_their_number_of_arguments(name: str, count: int, given: int) -> None:
    first = "n > 1" if count == 3 else "n"
    text = f"{name}({', '.join([first, 'm', 'k', '2'][:given])}) == 1"
    several = name.rpartition(".")[2].lower() in ("min", "max")
    if given == count or (several and given > count):
        assert isinstance(parse(text, {}), tir.EQ)
    else:
        with pytest.raises(ValueError, match=f"expected {count} argument"):
            parse(text, {})
