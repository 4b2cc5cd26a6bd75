"""Wrapped numbers differ from the exact ones: indices, bounds and extents of random integer
expressions.

Native code reasons about exact sums. Each function here computes in narrow or mixed types, whose results leave them, and uses what
it gets as an index, as a guard, as an extent or as a bound of a loop.
"""

from __future__ import annotations

import random
from functools import partial
from pathlib import Path
from textwrap import indent
from typing import Any

import numpy as np
import pytest

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import HANDLE, INT64, dtype
from rlx.semantics import native
from rlx.semantics.faults import FaultStop, OutOfFuelStop, UnsupportedStop
from rlx.semantics.tir import evaluate
from tests.semantics.native.sanitised.batch import PLAIN, SHIPPED, Build, Case, run
from tests.semantics.native.sanitised.compare import difference, wanted
from tests.semantics.tir.programs import of_body, prim_func

TYPES = ("int8", "uint8", "int16", "int32", "uint32", "int64")
USES = (
    "z[i] = x[{e}]",
    "k: T.let[T.{t}] = {e}\nz[i] = x[k]",
    "with T.sblock('b'):\n    k = T.axis.spatial(4, {e})\n    z[i] = x[k]",
    "if {e} <= {f} and {f} < 4:\n    z[i] = x[{f}]",
    "if not {e} > {f}:\n    z[i] = x[{e}]",
    "z[i] = T.if_then_else({e} >= 0 and {e} < 4, x[{e}], 0)",
    "for j in range({e}, {f}):\n    if i < 3: z[j] = x[i]",
    "t = T.alloc_buffer(({e},), 'int32')\nfor j in range({f}): t[j] = 1",
    "z[T.Select({f} > 2, {e}, {f})] = x[0]",
    "z[T.if_then_else({f} > 2, {e}, {f})] = x[0]",
)


class Wrapping:
    """Integer expressions over a loop variable and scalars of all types, near the limits of the types."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.pick = self.rng.choice
        self.kind = self.pick(TYPES)

    def leaf(self) -> str:
        kind = self.kind if self.rng.random() < 0.7 else self.pick(TYPES)
        bits = int(kind.lstrip("uint"))
        edge = (1 << self.pick((bits - 1, bits - 2, bits // 2))) - self.pick((0, 1))
        signed = not kind.startswith("u")
        edge = min(edge, (1 << (bits - signed)) - 1)
        number = self.pick((0, 1, 2, 3, edge, edge, -1 * signed, -edge * signed))
        value = f"T.{kind}({number})"
        return self.pick((value, value, "i", "i", f"T.Cast('{kind}', i)", "n", f"s_{kind}"))

    def value(self, depth: int) -> str:
        if not depth:
            return self.leaf()
        a, b = self.value(depth - 1), self.value(self.rng.randrange(depth))
        sign = self.pick(
            ("+", "-", "*", "*", "*", "*", "//", "%", "min", "max", "truncdiv", "Cast")
        )
        if sign == "Cast":
            return f"T.Cast('{self.pick(TYPES)}', {a})"
        if sign.isalpha():
            return f"T.{sign}({a}, {b})"
        return f"({a} {sign} {b})"

    def small(self, value: str) -> str:
        """An expression that has few values if nothing in it wraps."""
        three, zero = f"T.{self.kind}(3)", f"T.{self.kind}(0)"
        forms = ("{v}", "T.min({v}, 3)", "T.max(T.min({v}, 3), 0)", "T.max(T.min({v}, {a}), {z})")
        more = ("{v} % 4", "{v} + T.int64(0)", "T.min({v} + T.int64(0), {a})", "{v} - {v} + 1")
        return self.pick((*forms, *more)).format(v=value, a=three, z=zero)

    def case(self) -> Case:
        """A function and its arguments."""
        e, f = self.value(self.pick((1, 1, 2, 3))), self.value(self.pick((0, 0, 1)))
        e = self.small(e)
        use = self.pick(USES).format(e=e, f=f, t=self.pick(TYPES))
        scalars = ", ".join(f"s_{kind}: T.{kind}" for kind in TYPES)
        buffers = (
            'x: T.Buffer((4,), "int32"), z: T.Buffer((40,), "int32"), y: T.Buffer(("n",), "int8")'
        )
        lines = use.replace("\n", "\n    ")
        func = of_body(f"{buffers}, {scalars}", f"for i in range(T.{self.kind}(5)):\n    {lines}")
        args: list[Any] = [
            np.arange(4, dtype=np.int32),
            np.zeros(40, np.int32),
            np.zeros(3, np.int8),
        ]
        numbers = [self._number(kind) for kind in TYPES]
        return Case(func, [*args, *numbers], use)

    def _number(self, kind: str) -> int:
        limits = np.iinfo(kind)
        return int(self.pick((0, 1, 2, 3, limits.max, limits.min, limits.max - 1, limits.max // 2)))


@pytest.mark.parametrize(("build", "seed"), [(PLAIN, 0), (SHIPPED, 270)])
def test_what_wraps_is_used_as_it_is(build: Build, seed: int, tmp_path: Path) -> None:
    cases = [Wrapping(seed + number).case() for number in range(60)]
    expected = [wanted(case) for case in cases]
    found = run(cases, tmp_path / "b", [16] * len(cases), build, ())
    wrong = [
        f"{case.label}\n{case.args[3:]}\n{said}"
        for case, answer, ending in zip(cases, found, expected, strict=True)
        if (said := difference(case, answer, ending)) is not None
    ]
    assert not wrong, "\n\n".join(wrong)
    assert sum(ending.ending == "returned" for ending in expected) > len(cases) // 6


LARGE = "4611686018427387904"
OVERFLOWS = {
    "an extent of a parameter": (
        f'x: T.Buffer(("n",), "int8"), z: T.Buffer(("n * {LARGE}",), "int8")',
        "for i in range(n): z[i] = x[i]",
        ((4,), (0,)),
        "E-tir-argument",
    ),
    "an extent of memory": (
        'x: T.Buffer(("n",), "int8")',
        f't = T.alloc_buffer((n * T.int64({LARGE}),), "int8")\nfor i in range(n): t[i] = x[i]',
        ((4,),),
        "E-tir-bounds",
    ),
    "two extents": (
        'x: T.Buffer(("n", 0), "int8"), z: T.Buffer(("n * n",), "int8")',
        "for i in range(T.min(n, 4)): z[i] = T.int8(1)",
        ((1 << 32, 0), (0,)),
        "E-tir-argument",
    ),
}


@pytest.mark.parametrize("name", OVERFLOWS)
@pytest.mark.parametrize("disjoint", [True, False])
def test_an_extent_that_overflows_has_no_elements_behind_it(
    name: str, disjoint: bool, tmp_path: Path
) -> None:
    parameters, body, shapes, code = OVERFLOWS[name]
    memory = np.ones(8, np.int8)
    args = [
        memory[:4] if not disjoint and shape == (4,) else np.ones(shape, np.int8)
        for shape in shapes
    ]
    case = Case(of_body(parameters, body), args, name)
    for build in (PLAIN, SHIPPED):
        # every fifth case is generated for arguments that overlap
        [*_, found] = run([case] * 5, tmp_path / "b", [16] * 5, build, ())
        assert found.ending == wanted(case).ending == code


@pytest.mark.parametrize(
    ("bounds", "values"),
    [
        ("T.int8(126), T.int8(126) + T.int8(1)", [126]),
        ("T.int32(2147483646), T.int32(2147483647)", [2147483646]),
        ("T.int64(9223372036854775806), T.int64(9223372036854775807)", [(1 << 63) - 2]),
    ],
)
def test_a_loop_at_the_limit_of_its_type_runs_to_it(
    bounds: str, values: list[int], tmp_path: Path
) -> None:
    func = of_body(
        'z: T.Buffer((2,), "int64")', f"for i in range({bounds}): z[0] = T.Cast('int64', i)"
    )
    case = Case(func, [np.zeros(2, np.int64)], bounds)
    [found] = run([case], tmp_path / "b", [16], PLAIN, ())
    assert found.arrays[0][0] == wanted(case).arrays[0][0] == values[-1]


def test_a_loop_beyond_the_limit_of_its_type_goes_on_with_the_smallest(tmp_path: Path) -> None:
    var = tir.Var("i", dtype("int32"))
    buffer = tir.Buffer("z", (tir.IntImm(2),), INT64)
    store = tir.BufferStore(buffer, (tir.IntImm(0),), tir.Cast(INT64, var))
    first = tir.IntImm((1 << 31) - 1, dtype("int32"))
    loop = tir.For(var, first, tir.IntImm(2, dtype("int32")), "serial", store)
    func = tir.PrimFunc((handle := tir.Var("h", HANDLE),), loop, None, {handle: buffer}, {})
    case = Case(func, [np.zeros(2, np.int64)], "beyond")
    for build in (PLAIN, SHIPPED):
        [found] = run([case], tmp_path / "b", [16], build, ())
        assert found.arrays[0][0] == wanted(case).arrays[0][0] == -(1 << 31)


def test_what_a_predicate_leaves_out_costs_no_fuel() -> None:
    func = of_body(
        'x: T.Buffer((64,), "int8")',
        "for i in range(8):\n"
        "    with T.sblock('b'):\n"
        "        v = T.axis.spatial(8, i)\n"
        "        T.where(v < 1)\n"
        "        for j in range(8): x[j] = T.int8(1)",
    )
    for run_it in (native.compile(func), partial(evaluate, func)):
        run_it([np.zeros(64, np.int8)], fuel=16)
        with pytest.raises(OutOfFuelStop):
            run_it([np.zeros(64, np.int8)], fuel=15)


def test_a_dimension_fits_the_type_of_its_variable() -> None:
    head = "n = T.{t}()\nx = T.match_buffer(p, (n,), 'int8')\nfor i in range(n): x[i] = T.int8(1)"
    for kind in ("int8", "uint8", "bool"):
        func = prim_func(
            f"@T.prim_func\ndef f(p: T.handle):\n{indent(head.format(t=kind), '    ')}"
        )
        with pytest.raises((FaultStop, UnsupportedStop)) as caught:
            native.compile(func)([np.zeros(300, np.int8)])
        assert caught.value.code in ("E-tir-argument", "E-native-construct")
        with pytest.raises(FaultStop, match=r"300|does not fit"):
            evaluate(func, [np.zeros(300, np.int8)])
