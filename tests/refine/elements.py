"""``python -m tests.refine.elements COUNT SEED``: what is proved of rewritten elements, NumPy does not contradict.

A kernel computes one random element; another one the same element after some rewrites, of which many are wrong for integers that
wrap, for NaN, infinities and negative zeros, or for what is not defined everywhere. What is proved bit for bit is computed with
such numbers, and what is proved of real numbers with small floats. The machine is the judge.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from rlx.checker.check import check_text
from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import BOOL, DataType, dtype, fits, limits
from rlx.refine import compare
from tests.refine.element_values import Point
from tests.refine.laws import proofs_alone

KINDS = (
    *(("float32",), ("int32",), ("int8",), ("float32", "int32"), ("float16", "float32")),
    *(("uint8", "int32"), ("int32", "int64"), ("float32", "int8"), ("float64",), ("uint8",)),
    *(("float32", "float64"), ("float64", "int64"), ("float16", "int16"), ("uint32", "int64")),
)
"""The types of an element and its parts."""
LITERALS = {"i": (0, 1, 2, 3, 4, 7, -1, -2, -128), "f": (0.0, -0.0, 1.0, -1.0, 2.0, 0.5, 3.0, 0.1)}
SPECIAL = (
    *(0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -3.0, 0.1, 1e-3, 65504.0, -7e4, 3e38, 1e-40),
    *(np.inf, -np.inf, np.nan),
)
COMPARISONS = (tir.LT, tir.LE, tir.GT, tir.GE, tir.EQ, tir.NE)
OPPOSITE: dict[type[tir.PrimExpr], type[tir.Comparison]] = {
    tir.LT: tir.GE,
    tir.GE: tir.LT,
    tir.GT: tir.LE,
    tir.LE: tir.GT,
    tir.EQ: tir.NE,
    tir.NE: tir.EQ,
}
TURNED: dict[type[tir.PrimExpr], type[tir.Comparison]] = {
    tir.LT: tir.GT,
    tir.GT: tir.LT,
    tir.LE: tir.GE,
    tir.GE: tir.LE,
    tir.EQ: tir.EQ,
    tir.NE: tir.NE,
}
COMMUTATIVE = (tir.Add, tir.Mul, tir.Min, tir.Max, tir.And, tir.Or, tir.EQ, tir.NE)
FUNCTIONS = ("sqrt", "exp", "log", "tanh", "fabs", "floor", "ceil", "trunc", "round")
PLACES = 1_500
"""How many combinations of values an element is computed at."""
LARGEST = 60
"""The most parts of an element that is asked about."""


def number(value: float, kind: DataType) -> tir.PrimExpr:
    """A literal."""
    if kind.is_float:
        return tir.FloatImm(float(value), kind)
    return tir.IntImm(int(value) if fits(int(value), kind) else 1, kind)


def negative(x: tir.PrimExpr) -> tir.PrimExpr:
    """0 - x, which differs from -x if x is 0."""
    return tir.Sub(number(0, tir.type_of(x)), x)


class Elements:
    """Random elements of some types."""

    def __init__(self, rng: random.Random, kinds: Sequence[str]) -> None:
        self._rng, self._kinds = rng, [dtype(kind) for kind in kinds]
        self._leaves = [tir.Var(f"{name}_{kind}", dtype(kind)) for kind in kinds for name in "xyz"]

    def any(self, depth: int) -> tir.PrimExpr:
        """An element of one of the types, or a Boolean."""
        return self.of(self._rng.choice([*self._kinds, BOOL]), depth)

    def of(self, kind: DataType, depth: int) -> tir.PrimExpr:
        """An element of a type."""
        rng = self._rng
        if kind == BOOL:
            return self._condition(depth)
        if depth <= 0:
            if rng.random() < 0.65:
                return rng.choice([leaf for leaf in self._leaves if leaf.dtype == kind])
            return number(rng.choice(LITERALS["f" if kind.is_float else "i"]), kind)
        a, b = (self.of(kind, rng.choice([0, depth - 1])) for _ in "ab")
        shape = rng.choice(["ring", "ring", "choice", "cast", "own", "own"])
        if shape == "ring":
            ring: list[type[tir.Binary]] = [tir.Add, tir.Sub, tir.Mul, tir.Min, tir.Max]
            return rng.choice(ring)(a, b)
        if shape == "choice":
            return tir.Select(self._condition(depth - 1), a, b)
        if shape == "cast":
            sources = [k for k in self._kinds if kind.is_float or not k.is_float]
            return tir.Cast(kind, self.of(rng.choice([*sources, BOOL]), depth - 1))
        if kind.is_float:
            if rng.random() < 0.3:
                return tir.Div(a, b)
            return tir.Call(rng.choice(FUNCTIONS), (a,), kind)
        if rng.random() < 0.6:
            divide = rng.choice([tir.FloorDiv, tir.FloorMod, tir.TruncDiv, tir.TruncMod])
            return divide(a, number(rng.choice([1, 2, 3, 4, 8, -2]), kind))
        if rng.random() < 0.5:
            amount = number(rng.choice([0, 1, 2, 3]), kind)
            return tir.Call(rng.choice(["shift_left", "shift_right"]), (a, amount), kind)
        return tir.Call(rng.choice(["bitwise_and", "bitwise_or", "bitwise_xor"]), (a, b), kind)

    def _condition(self, depth: int) -> tir.PrimExpr:
        rng = self._rng
        shape = rng.choice(["compare", "compare", "compare", "both", "not", "nan"])
        if depth > 0 and shape == "both":
            first, second = (self._condition(depth - 1) for _ in "ab")
            return tir.And(first, second) if rng.random() < 0.5 else tir.Or(first, second)
        if depth > 0 and shape == "not":
            return tir.Not(self._condition(depth - 1))
        kind = rng.choice(self._kinds)
        if shape == "nan" and kind.is_float:
            return tir.Call("isnan", (self.of(kind, depth - 1),), BOOL)
        return rng.choice(COMPARISONS)(self.of(kind, depth - 1), self.of(kind, depth - 1))


def rewrites(e: tir.PrimExpr) -> Iterator[tir.PrimExpr]:
    """Other ways to write an element, right and wrong ones."""
    kind = tir.type_of(e)
    if kind == BOOL:
        yield from (tir.Not(tir.Not(e)), tir.And(e, e), tir.Or(e, e))
        yield from _of_condition(e)
        return
    zero, one, two = (number(n, kind) for n in (0, 1, 2))
    yield from (tir.Add(e, zero), tir.Sub(e, zero), tir.Mul(e, one), tir.Max(e, e))
    yield from (negative(negative(e)), tir.Select(tir.EQ(e, e), e, zero), tir.Min(e, tir.Max(e, e)))
    match e:
        case tir.Binary(a=a, b=b) if isinstance(e, COMMUTATIVE):
            yield type(e)(b, a)
    match e:
        case tir.Add(a=a, b=b):
            yield tir.Sub(a, negative(b))
            if a is b:
                yield tir.Mul(two, a)
            if isinstance(a, tir.Add | tir.Sub):
                yield tir.Add(a.a, type(a)(b, a.b))
        case tir.Sub(a=a, b=b):
            yield from (tir.Add(a, negative(b)), negative(tir.Sub(b, a)))
            yield from ([zero] if a is b else [])
            yield from ([a.a] if isinstance(a, tir.Add) and a.b is b else [])
        case tir.Mul(a=a, b=b):
            if isinstance(b, tir.Add | tir.Sub):
                yield type(b)(tir.Mul(a, b.a), tir.Mul(a, b.b))
            if isinstance(b, tir.IntImm | tir.FloatImm):
                known: dict[float, tir.PrimExpr] = {0: b, 1: a, 2: tir.Add(a, a)}
                yield known.get(b.value, e)
        case tir.Div(a=a, b=b):
            yield tir.Mul(a, tir.Div(one, b))
            yield from ([one] if a is b else [])
            if isinstance(b, tir.FloatImm) and b.value:
                yield tir.Mul(a, number(1 / b.value, kind))
            if isinstance(a, tir.Add | tir.Sub):
                yield type(a)(tir.Div(a.a, b), tir.Div(a.b, b))
        case tir.Min(a=a, b=b) | tir.Max(a=a, b=b):
            least = isinstance(e, tir.Min)
            other, strict, loose = (tir.Max, tir.LT, tir.LE) if least else (tir.Min, tir.GT, tir.GE)
            yield negative(other(negative(a), negative(b)))
            yield from (tir.Select(strict(a, b), a, b), tir.Select(loose(a, b), a, b))
            yield tir.Select(strict(b, a), b, a)
            yield tir.Sub(type(e)(tir.Add(a, one), tir.Add(b, one)), one)
            if isinstance(a, type(e)):
                yield type(e)(a.a, type(e)(a.b, b))
            if isinstance(a, other):
                yield other(type(e)(a.a, b), type(e)(a.b, b))
        case tir.Select(condition=c, true_value=a, false_value=b):
            yield from _of_choice(e, c, a, b)
        case (
            tir.FloorDiv(a=a, b=tir.IntImm(value=n) as b)
            | tir.TruncDiv(a=a, b=tir.IntImm(value=n) as b)
        ):
            yield (tir.TruncDiv if isinstance(e, tir.FloorDiv) else tir.FloorDiv)(a, b)
            yield tir.TruncDiv(tir.Sub(a, tir.FloorMod(a, b)), b)
            less = tir.And(tir.LT(a, zero), tir.NE(tir.TruncMod(a, b), zero))
            yield tir.Sub(tir.TruncDiv(a, b), tir.Select(less, one, zero))
            if n in (1, 2, 4, 8):
                yield tir.Call("shift_right", (a, number(n.bit_length() - 1, kind)), kind)
            if isinstance(a, tir.Mul | tir.Add):
                yield from ([a.a] if isinstance(a, tir.Mul) and a.b is b else [])
                yield tir.Add(type(e)(a.a, b), type(e)(a.b, b))
        case tir.FloorMod(a=a, b=b) | tir.TruncMod(a=a, b=b):
            floors = isinstance(e, tir.FloorMod)
            yield (tir.TruncMod if floors else tir.FloorMod)(a, b)
            yield tir.Sub(a, tir.Mul((tir.FloorDiv if floors else tir.TruncDiv)(a, b), b))
            if isinstance(b, tir.IntImm) and b.value in (2, 4, 8):
                yield tir.Call("bitwise_and", (a, number(b.value - 1, kind)), kind)
        case tir.Cast(value=inner):
            yield from _of_cast(kind, inner)
        case tir.Call():
            yield from _of_call(e, kind)


def _of_choice(
    e: tir.PrimExpr, c: tir.PrimExpr, a: tir.PrimExpr, b: tir.PrimExpr
) -> Iterator[tir.PrimExpr]:
    kind = tir.type_of(e)
    yield tir.Call("if_then_else", (c, a, b), kind)
    yield tir.Select(tir.Not(c), b, a)
    yield tir.Add(tir.Select(c, a, number(0, kind)), tir.Select(c, number(0, kind), b))
    yield tir.Add(tir.Mul(tir.Cast(kind, c), a), tir.Mul(tir.Cast(kind, tir.Not(c)), b))
    match c:
        case tir.LT(a=x, b=y) | tir.GT(a=x, b=y):
            yield tir.Select(OPPOSITE[type(c)](x, y), b, a)
            smaller = isinstance(c, tir.LT)
            yield from ([(tir.Min if smaller else tir.Max)(a, b)] if (x, y) == (a, b) else [])
            yield from ([(tir.Max if smaller else tir.Min)(a, b)] if (x, y) == (b, a) else [])
        case tir.And(a=x, b=y):
            yield tir.Select(x, tir.Select(y, a, b), b)
        case tir.Or(a=x, b=y):
            yield tir.Select(x, a, tir.Select(y, a, b))


def _of_cast(kind: DataType, inner: tir.PrimExpr) -> Iterator[tir.PrimExpr]:
    of = tir.type_of(inner)
    if of == BOOL:
        yield tir.Select(inner, number(1, kind), number(0, kind))
        return
    match inner:
        case tir.Cast(value=x) if tir.type_of(x) == kind:
            yield x
        case tir.Add(a=a, b=b) | tir.Sub(a=a, b=b) | tir.Mul(a=a, b=b) | tir.Min(a=a, b=b):
            yield type(inner)(tir.Cast(kind, a), tir.Cast(kind, b))
        case tir.Select(condition=c, true_value=a, false_value=b):
            yield tir.Select(c, tir.Cast(kind, a), tir.Cast(kind, b))
    for between in map(dtype, ("int8", "int32", "int64", "uint8", "float16", "float32", "float64")):
        if between.is_float == of.is_float and between.is_float == kind.is_float:
            yield tir.Cast(kind, tir.Cast(between, inner))


def _of_call(e: tir.Call, kind: DataType) -> Iterator[tir.PrimExpr]:
    zero = number(0, kind)
    match e:
        case tir.Call(op="if_then_else", args=(c, a, b)):
            yield tir.Select(c, a, b)
        case tir.Call(op="shift_left", args=(a, tir.IntImm(value=n))):
            yield tir.Mul(a, number(2**n, kind))
        case tir.Call(op="shift_right", args=(a, tir.IntImm(value=n))):
            yield from (d(a, number(2**n, kind)) for d in (tir.FloorDiv, tir.TruncDiv))
        case tir.Call(op="bitwise_xor", args=(a, b)):
            both, either = (tir.Call(f"bitwise_{w}", (a, b), kind) for w in ("and", "or"))
            yield tir.Sub(either, both)
        case tir.Call(op="bitwise_or", args=(a, b)):
            yield tir.Sub(tir.Add(a, b), tir.Call("bitwise_and", (a, b), kind))
        case tir.Call(op="sqrt", args=(tir.Mul(a=a, b=b),)) if a is b:
            yield tir.Call("fabs", (a,), kind)
        case tir.Call(op="fabs", args=(a,)):
            yield from (tir.Max(a, negative(a)), tir.Select(tir.LT(a, zero), negative(a), a))
            yield tir.Call("sqrt", (tir.Mul(a, a),), kind)
        case tir.Call(op="exp", args=(tir.Add(a=a, b=b),)):
            yield tir.Mul(tir.Call("exp", (a,), kind), tir.Call("exp", (b,), kind))
        case tir.Call(
            op="exp" | "log" as op, args=(tir.Call(op="exp" | "log" as inner, args=(a,)),)
        ):
            yield from ([a] if op != inner else [])
        case tir.Call(op="tanh", args=(a,)):
            yield negative(tir.Call("tanh", (negative(a),), kind))
        case tir.Call(op="floor", args=(a,)):
            yield negative(tir.Call("ceil", (negative(a),), kind))
            yield tir.Call("trunc", (a,), kind)
        case tir.Call(op="round", args=(a,)):
            yield tir.Call("floor", (tir.Add(a, number(0.5, kind)),), kind)


def _of_condition(e: tir.PrimExpr) -> Iterator[tir.PrimExpr]:
    match e:
        case tir.Not(a=a):
            if isinstance(a, tir.Comparison):
                yield OPPOSITE[type(a)](a.a, a.b)
            if isinstance(a, tir.And | tir.Or):
                yield (tir.Or if isinstance(a, tir.And) else tir.And)(tir.Not(a.a), tir.Not(a.b))
        case tir.Comparison(a=a, b=b):
            kind = tir.type_of(a)
            if kind == BOOL:
                return
            yield from (TURNED[type(e)](b, a), tir.Not(OPPOSITE[type(e)](a, b)))
            yield type(e)(tir.Sub(a, b), number(0, kind))
            yield type(e)(negative(b), negative(a))
            one = number(1, kind)
            if isinstance(e, tir.LT):
                yield from (tir.LE(tir.Add(a, one), b), tir.LE(a, tir.Sub(b, one)))
            if isinstance(e, tir.LE):
                yield from (tir.LT(a, tir.Add(b, one)), tir.Or(tir.LT(a, b), tir.EQ(a, b)))
            if isinstance(e, tir.EQ):
                yield tir.And(tir.LE(a, b), tir.GE(a, b))
        case tir.And(a=a, b=b):
            yield from (tir.And(b, a), tir.Select(a, b, a))
        case tir.Or(a=a, b=b):
            yield from (tir.Or(b, a), tir.Select(a, a, b))
        case tir.Call(op="isnan", args=(a,)):
            yield tir.NE(a, a)


def rewritten(e: tir.PrimExpr, rng: random.Random) -> tir.PrimExpr:
    """An element in which one part is written in another way."""
    at = rng.choice(tir.postorder(e))
    options = [tir.interned(each) for each in rewrites(at)]
    if not options:
        return e
    return tir.interned(tir.fold(e, _rebuilt, {at: rng.choice(options)}))


def _rebuilt(e: tir.PrimExpr, operands: list[tir.PrimExpr]) -> tir.PrimExpr:
    return tir.with_operands(e, operands) if operands else e


def module(e: tir.PrimExpr, variables: Sequence[tir.Var]) -> str:
    """A program whose kernel computes an element of vectors."""
    names = [var.name for var in variables]
    kind = tir.type_of(e)
    read: dict[tir.PrimExpr, tir.PrimExpr] = {
        v: tir.Var(f"{v.name}[v]", v.dtype) for v in variables
    }
    element = tir.fold(e, _rebuilt, read)
    buffers = "".join(f'{v.name}: T.Buffer(("n",), "{v.dtype}"), ' for v in variables)
    tensors = ", ".join(f'{v.name}: R.Tensor(("n",), "{v.dtype}")' for v in variables)
    return f"""
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def kernel({buffers}out: T.Buffer(("n",), "{kind}")):
        for i in range(n):
            with T.sblock("out"):
                v = T.axis.spatial(n, i)
                out[v] = {element}

    @R.function
    def main({tensors}):
        n = T.int64()
        return R.call_tir(Module.kernel, ({", ".join(names)},), out_sinfo=R.Tensor((n,), "{kind}"))
"""


def values(variables: Sequence[tir.Var], rng: random.Random, special: bool) -> dict[tir.Var, Any]:
    """Values of variables, with the ends of their types among them, or small floats."""
    found = {}
    for var in variables:
        if var.dtype.is_float:
            few = SPECIAL if special else [0.0, 1.0, -1.0, 0.5, 2.0, -2.5, 3.25, rng.uniform(-3, 3)]
            kind = str(var.dtype) if special else "float64"
        else:
            low, high = limits(var.dtype)
            near = [n for n in (-128, -3, -2, -1, 0, 1, 2, 3, 7, 100) if low <= n <= high]
            few, kind = [*near, low, low + 1, high - 1, high], str(var.dtype)
        with np.errstate(over="ignore"):
            found[var] = np.array([rng.choice(few) for _ in range(PLACES)]).astype(kind)
    return found


def contradiction(
    before: tir.PrimExpr, after: tir.PrimExpr, level: str, rng: random.Random
) -> str | None:
    """The place where two elements differ that are said to be equal; None if NumPy finds nothing."""
    variables = [v for v in tir.free_vars(before, after)]
    given = values(variables, rng, level == "bitwise")
    point, other = (Point(given, level == "real") for _ in "ab")
    (x, fails), (y, stops) = point.of(before), other.of(after)
    if level == "real":
        fails = fails | point.undefined
        with np.errstate(invalid="ignore"):
            near = abs(y - x) <= 1e-6 * np.maximum(1, abs(x)) if x.dtype.kind == "f" else x == y
        same = near
        fails = fails | (abs(x) > 1e6 if x.dtype.kind == "f" else False)
    else:
        same = (x == y) & (np.signbit(x) == np.signbit(y)) if x.dtype.kind == "f" else x == y
        same = same | (_is_nan(x) & _is_nan(y))
    wrong = ~fails & (stops | ~same)
    if not wrong.any():
        return None
    at = int(np.argmax(wrong))
    shown = ", ".join(f"{var.name} = {found[at]!r}" for var, found in given.items())
    return f"{level}: {before} is {x[at]!r}, {after} is {y[at]!r} at {shown}"


def _is_nan(x: Any) -> Any:
    return np.isnan(x) if x.dtype.kind == "f" else np.zeros(len(x), bool)


def of_elements(count: int, seed: int, answers: Counter[str]) -> Iterator[str]:
    """The pairs that NumPy contradicts, among so many pairs of elements."""
    rng = random.Random(seed)
    for number_of_pair in range(count):
        elements = Elements(rng, rng.choice(KINDS))
        before = after = tir.interned(elements.any(rng.choice([1, 2, 2, 3])))
        for _ in range(rng.choice([1, 1, 2, 3])):
            after = rewritten(after, rng)
        variables = [v for v in tir.free_vars(before, after)]
        if before is after or not variables or len(tir.postorder(after)) > LARGEST:
            continue
        reports = [check_text(module(each, variables)) for each in (before, after)]
        if not all(report.ok for report in reports):
            answers["not legal"] += 1
            continue
        ([one], [other]) = (report.modules for report in reports)
        with proofs_alone():
            found = compare(one, other, floats=("bitwise", "real")[number_of_pair % 2])
        answers[found.level or found.status] += 1
        if found.level is not None:
            wrong = contradiction(before, after, found.level, rng)
            if wrong is not None:
                yield wrong


def main(count: int = 1_000, seed: int = 0) -> int:
    """Print what is contradicted, and how many pairs have which answer."""
    answers: Counter[str] = Counter()
    wrong = 0
    for text in of_elements(count, seed, answers):
        print(text, flush=True)
        wrong += 1
    print(dict(answers), wrong, "contradictions")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
