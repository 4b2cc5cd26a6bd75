"""Tensor expressions over every operator, type and corner: LAW: what is folded is what evaluation gives; the rest is what it was.

`RLX_UPDATE_SNAPSHOTS=1 pytest` writes the digests anew.
"""

from __future__ import annotations

import operator
import random
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rlx.semantics.tir import evaluate
from rlx.transform import te
from rlx.transform.te.check import check_reads, written_once
from rlx.transform.te.graph import operations
from tests.snapshots import assert_digest

SNAPSHOT = Path(__file__).parent / "snapshots" / "expressions.txt"
TYPES = ("int8", "uint8", "int32", "int64", "float16", "float32", "float64", "bool", "bfloat16")
NUMBERS = (0, 1, 2, -1, 3, 7, -128, 127, 255, 256, 0.0, 0.5, -1.0, 1 << 31, True, False)
TWO: dict[str, Callable[[Any, Any], Any]] = {
    **{
        name: getattr(operator, name)
        for name in (
            *("add", "sub", "mul", "truediv", "floordiv", "mod", "lt", "le", "gt", "ge", "eq"),
            *("ne", "lshift", "rshift", "and_", "or_", "xor"),
        )
    },
    **{
        f"te.{name}": getattr(te, name)
        for name in (
            *("truncdiv", "truncmod", "floordiv", "floormod", "ceildiv", "minimum", "maximum"),
            *("power", "fmod", "atan2", "all", "any", "sum", "prod", "max", "min"),
        )
    },
}
ONE: dict[str, Callable[[Any], Any]] = {
    **{name: getattr(operator, name) for name in ("neg", "pos", "invert", "index", "truth")},
    **{
        name: getattr(te, name)
        for name in (
            *(
                "abs",
                "acos",
                "acosh",
                "asin",
                "asinh",
                "atan",
                "atanh",
                "ceil",
                "cos",
                "cosh",
                "erf",
            ),
            *(
                "exp",
                "floor",
                "isfinite",
                "isinf",
                "isnan",
                "log",
                "log1p",
                "log2",
                "log10",
                "round",
            ),
            *("nearbyint", "rsqrt", "sigmoid", "sin", "sinh", "sqrt", "tan", "tanh", "trunc"),
            *("min_value", "max_value", "infinity", "all", "any"),
        )
    },
    **{f"cast {kind}": partial(te.cast, kind) for kind in TYPES},
}


def said(build: Callable[[], Any]) -> str:
    """What an expression becomes, or what is said of it."""
    try:
        return repr(build())
    except te.TensorExpressionError as error:
        return f"error: {error.message} {error.counterexample or ''}"
    except (OverflowError, TypeError) as error:  # Python's own, in words that change
        return type(error).__name__


def operands(kind: str) -> list[Any]:
    """A variable and constants of a type."""
    found = [te.var("x", kind)]
    for number in NUMBERS:
        try:
            found.append(te.const(number, kind))
        except (te.TensorExpressionError, ValueError):
            continue
    return found


@pytest.mark.parametrize("name", TWO)
def test_two_operands(name: str) -> None:
    pick, lines = random.Random(name), []
    for kind in TYPES:
        for left in operands(kind):
            for right in (*pick.sample(operands(pick.choice(TYPES)), 2), pick.choice(NUMBERS)):
                lines.append(said(partial(TWO[name], left, right)))
                lines.append(said(partial(TWO[name], right, left)))
    assert_digest(SNAPSHOT, f"two {name}", "\n".join(lines))


@pytest.mark.parametrize("name", ONE)
def test_one_operand(name: str) -> None:
    given = [
        *(each for kind in TYPES for each in operands(kind)),
        *NUMBERS,
        *TYPES,
        "float33",
        None,
    ]
    assert_digest(SNAPSHOT, f"one {name}", "\n".join(said(partial(ONE[name], x)) for x in given))


FOLDED: tuple[str, ...] = (
    "add",
    "sub",
    "mul",
    "floordiv",
    "mod",
    "lt",
    "le",
    "gt",
    "ge",
    "eq",
    "ne",
)
FOLDED += ("te.truncdiv", "te.truncmod", "te.minimum", "te.maximum")


@pytest.mark.parametrize("kind", ["int8", "uint8", "int32", "int64"])
def test_what_is_folded_is_what_evaluation_gives(kind: str) -> None:
    """A constant on either side, or on both, changes no value; the ends of a type wrap as they do in a run."""
    ends = np.iinfo(kind)
    numbers = np.array([ends.min, ends.min + 1, 0, 1, 2, 3, ends.max - 1, ends.max], kind)
    if ends.min < 0:
        numbers = np.append(numbers, np.array([-1, -2, -3], kind))
    a, b = (te.placeholder((len(numbers) ** 2,), kind, name) for name in "AB")
    left, right = (side.ravel() for side in np.meshgrid(numbers, numbers, indexing="ij"))
    for name in FOLDED:
        divides = name in DIVISIONS
        wanted = _values(name, a, b, left, right)
        for at, number in enumerate(map(int, numbers)):
            if divides and not number:
                continue
            constant = te.const(number, kind)
            first, second = left == numbers[at], right == numbers[at]
            got = _values(name, constant, b, left, right)
            assert (got[first] == wanted[first]).all(), (name, number, "left")
            got = _values(name, a, constant, left, right)
            assert (got[second] == wanted[second]).all(), (name, number, "right")


DIVISIONS = ("floordiv", "mod", "te.truncdiv", "te.truncmod")


def _values(name: str, one: Any, other: Any, left: Any, right: Any) -> Any:
    """The results of an operator, one or both operands of which are tensors; nothing is divided by zero."""
    tensors = [each for each in (one, other) if isinstance(each, te.Tensor)]

    def body(i: Any) -> Any:
        a, b = (each[i] if isinstance(each, te.Tensor) else each for each in (one, other))
        if name in DIVISIONS and isinstance(other, te.Tensor):
            b = te.if_then_else(b == 0, te.const(1, str(b.dtype)), b)
        return TWO[name](a, b)

    out = te.compute(tensors[0].shape, body, name="C")
    result = np.zeros(left.shape, str(out.dtype))
    pairs = ((one, left), (other, right))
    arrays = [array for each, array in pairs if isinstance(each, te.Tensor)]
    evaluate(te.create_prim_func([*tensors, out], "int64"), [*arrays, result])
    return result


N, M = te.var("n"), te.var("m")


class Maker:
    """Random tensor expressions: reads near the borders, conditions, reductions, several outputs, tensors between."""

    def __init__(self, seed: int) -> None:
        self.pick = random.Random(seed)
        shapes = [(N, M), (N,), (4, M), (N, 4), (3,), ()]
        kinds = ("float32", "int64", "int8", "float64", "bool")
        self.inputs = [
            te.placeholder(self.pick.choice(shapes), self.pick.choice(kinds), name)
            for name in ("A", "B", "C")
        ]
        self.tensors = list(self.inputs)
        self.extents: dict[str, str] = {}

    def index(self, axes: list[Any], dim: Any) -> Any:
        """An index into a dimension: mostly near one that is inside."""
        fitting = [axis for axis in axes if self.extents.get(str(axis)) == str(dim)]
        if not fitting and self.pick.random() < 0.9:
            return te.maximum(te.minimum(self.pick.choice([0, 1, *axes]), dim - 1), 0)
        axis = self.pick.choice(fitting or axes or [te.const(0, "int64")])
        whole = [t for t in self.tensors if t.ndim == 1 and str(t.dtype) == "int64"]
        match self.pick.randrange(24):
            case 0:
                return axis + self.pick.choice([-1, 1, 2])
            case 1:
                return dim - 1 - axis
            case 2:
                return te.maximum(te.minimum(axis, dim - 1), 0)
            case 3:
                return self.pick.choice([0, 1, -1, 2])
            case 4 if whole:
                return self.pick.choice(whole)[te.minimum(axis, 0)]
            case 5:
                return te.floormod(axis, te.maximum(dim, 1))
        return axis

    def element(self, axes: list[Any], depth: int = 2) -> Any:
        """A scalar over the axes."""
        match self.pick.randrange(7 if depth else 3):
            case 0:
                return te.const(
                    self.pick.choice([0, 1, 2, 0.5]), self.pick.choice(["float32", "int64"])
                )
            case 1 | 2 | 3:
                tensor = self.pick.choice(self.tensors)
                return tensor(*(self.index(axes, dim) for dim in tensor.shape))
            case 4:
                known = self.condition(axes)
                return te.if_then_else(
                    known, self.element(axes, depth - 1), self.element(axes, depth - 1)
                )
        use = self.pick.choice([operator.add, operator.mul, operator.sub, te.maximum, te.minimum])
        other = self.element(axes, depth - 1)
        if self.pick.random() < 0.8:
            other = te.cast("int64", other)
        return use(te.cast("float32", self.element(axes, depth - 1)), other)

    def condition(self, axes: list[Any]) -> Any:
        """Something that may hold of the axes."""
        axis = self.pick.choice(axes) if axes else N
        one = [axis > 0, axis + 1 < N, axis < M, axis >= 1, axis < 4]
        join = self.pick.choice([te.all, te.any])
        return join(*self.pick.sample(one, self.pick.choice([1, 1, 2])))

    def reduced(self, axes: list[Any]) -> Any:
        """A reduction over one axis or two."""
        ends = [(0, M), (0, N), (1, N), (0, 3), (0, 0), (2, 5), 4]
        over = []
        for name in ("k", "l")[: self.pick.choice([1, 1, 2])]:
            end = self.pick.choice(ends)
            over.append(te.reduce_axis(end, name))
            self.extents[name] = str(end[1] if isinstance(end, tuple) else end)
        given = self.element([*axes, *over], 1)
        where = self.condition([*axes, *over]) if self.pick.random() < 0.3 else None
        init = self.pick.choice([None, None, None, 1, 2.5])
        if self.pick.random() < 0.2:
            return ARGMAX((over[0] + 0, given), axis=over, where=where)
        reducer = self.pick.choice([te.sum, te.prod, te.max, te.min])
        return reducer(given, axis=over, where=where, init=init)

    def text(self) -> str:
        """The PrimFunc, and what was not proved of it."""
        for name in ("T", "U", "V")[: self.pick.choice([1, 2, 3])]:
            shape = self.pick.choice([(N, M), (N,), (M, N), (), (4,)])
            body = self.pick.choice([self.element, self.element, self.reduced])
            self.extents.update((f"i{k}", str(dim)) for k, dim in enumerate(shape))
            made = te.compute(shape, lambda *i, body=body: body(list(i)), name)
            self.tensors += list(made) if isinstance(made, tuple) else [made]
        outputs = self.tensors[-1:] if self.pick.random() < 0.8 else self.tensors[3:]
        open_ = [
            (str(each.read), each.axis, each.reason) for each in check_reads(operations(outputs))
        ]
        identities = self.pick.random() < 0.5
        made = te.create_prim_func(
            [*self.inputs, N, M, *outputs],
            self.pick.choice(["int64", "int32", None]),
            store_identities=identities,
        )
        return f"{open_}\n{written_once(made)}\n{made}"


def _larger(a: Any, b: Any) -> Any:
    return te.if_then_else(a[1] >= b[1], a[0], b[0]), te.if_then_else(a[1] >= b[1], a[1], b[1])


ARGMAX = te.comm_reducer(
    _larger, lambda *kinds: (te.const(-1, kinds[0]), te.min_value(kinds[1])), "argmax"
)


class Text(str):
    __repr__ = str.__str__


def shown(seed: int) -> Text:
    """The text of a random expression, which is its own representation."""
    return Text(Maker(seed).text())


@pytest.mark.parametrize("part", range(20))
def test_random_expressions(part: int) -> None:
    texts = [said(partial(shown, seed)) for seed in range(part * 10, part * 10 + 10)]
    assert_digest(SNAPSHOT, f"random {part}", "\n\n".join(texts))
