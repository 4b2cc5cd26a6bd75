"""Forms that few kernels have: native code gives what the evaluator gives, or refuses them by name."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from rlx.grammar.nodes.equal import structural_equal
from rlx.grammar.print.printer import print_module
from rlx.grammar.read.parser import parse
from rlx.semantics import native
from rlx.semantics.faults import FaultStop, Stop, UnsupportedStop
from rlx.semantics.tir import evaluate
from tests.semantics.tir.programs import of_body

PARAMETERS = ", ".join(
    f'{name}: T.Buffer((8,), "{kind}")'
    for name, kind in (
        ("x", "float32"),
        ("h", "float16"),
        ("k", "int32"),
        ("b", "bool"),
        ("z", "float32"),
        ("w", "int32"),
    )
)
VALUES: dict[str, np.ndarray[Any, Any]] = {
    "x": np.array([0.0, -0.0, 1.5, -2.5, 1e-40, np.inf, -np.inf, np.nan], np.float32),
    "h": np.array([0.0, 6e-8, 1.5, -2.5, 65504, np.inf, -np.inf, np.nan], np.float16),
    "k": np.array([0, 1, -1, 7, 31, -(2**31), 2**31 - 1, 5], np.int32),
    "b": np.array([True, False] * 4),
    "z": np.zeros(8, np.float32),
    "w": np.zeros(8, np.int32),
}
FLOATS = (
    *(
        "T.fma(x[i], x[7 - i], T.float32(3))",
        "T.nextafter(x[i], T.float32(9))",
        "T.ldexp(x[i], k[i] % 9)",
    ),
    *('T.infinity("float32")', 'T.min_value("float32")', 'T.max_value("float32")', "T.fabs(x[i])"),
    *(
        "T.copysign(x[i], x[7 - i])",
        "T.trunc(x[i])",
        "T.nearbyint(x[i])",
        "T.round(x[i])",
        "T.floor(x[i])",
    ),
    *(
        "T.Cast('float32', T.nextafter(h[i], T.float16(9)))",
        "T.Cast('float32', T.fma(h[i], h[i], h[i]))",
    ),
    *(
        "T.if_then_else(T.likely(k[i] < 6), x[i], T.float32(2))",
        "T.Select(b[i], x[i], T.float32(-0.0))",
    ),
    *(  # limits, of which the other operand may be NaN
        "T.Select(T.float32(0) < x[i] or T.isnan(x[i]), x[i], T.float32(0))",
        "T.Select(x[i] < T.float32(1.5) or T.isnan(x[i]), x[i], T.float32(1.5))",
        "T.Select(x[i] > T.float32('nan') or T.isnan(x[i]), x[i], T.float32('nan'))",
        "T.Cast('float32', T.Select(h[i] > T.float16(0) or T.isnan(h[i]), h[i], T.float16(0)))",
        "T.Select(x[i] < T.float32(1.5) or T.isnan(x[7 - i]), x[i], T.float32(1.5))",
    ),
    *(
        "T.Cast('float32', T.uint64(18446744073709551615))",
        "T.Cast('float32', b[i])",
        "T.float32('-inf')",
    ),
    *(
        "T.Div(k[i], 4)",
        "T.reinterpret('float32', k[i])",
        "T.pow(x[i], T.float32(0.5))",
        "T.pow(x[i], T.float32(2))",
        "T.Cast('float32', T.pow(h[i], T.float16(0.5)))",
        "T.Cast('float32', T.pow(T.Cast('float64', x[i]), T.float64(0.5)))",
        "T.pow(x[i], T.Cast('float32', T.Cast('float16', 0.5)))",
        "T.tvm_thread_invariant(x[i])",
    ),
)
WHOLE = (
    *(
        "T.popcount(k[i])",
        "T.clz(k[i])",
        "T.Cast('int32', T.isnan(x[i]))",
        "T.Cast('int32', T.isinf(h[i]))",
    ),
    *(
        "T.Cast('int32', T.isnan(k[i]))",
        "T.Cast('int32', T.isfinite(k[i]))",
        "T.Cast('int32', T.isinf(k[i]))",
    ),
    *(
        "T.abs(k[i])",
        "T.fabs(k[i])",
        "T.floor(k[i])",
        "T.round(k[i])",
        "T.bitwise_not(k[i])",
        "~k[i]",
    ),
    *(
        'T.min_value("int32")',
        'T.max_value("int32")',
        'T.infinity("int32")',
        "T.shift_right(k[i], 3)",
    ),
    *(
        "T.Cast('int32', T.Cast('int8', k[i]))",
        "T.Cast('int32', T.Cast('uint8', k[i]))",
        "T.truncmod(k[i], 4)",
    ),
    *(
        "T.Cast('int32', b[i]) + 1",
        "T.Cast('int32', not b[i])",
        "T.Cast('int32', b[i] and k[i] > 1)",
    ),
    *(
        "w[T.Cast('uint64', i)]",
        "k[T.Cast('int32', T.Cast('uint64', i) + T.uint64(1)) % 8]",
        "T.likely(k[i])",
    ),
    *("T.popcount(T.Cast('uint8', k[i]))", "T.clz(T.Cast('int64', k[i]))", "T.max_value('uint8')"),
)
STATEMENTS = (
    "for i in T.serial(0, 8, step=3):\n    z[i] = x[i]",
    "for i in T.serial(8):\n    if T.likely(i < 4):\n        z[i] = x[i + 4]",
    "for i in range(8):\n    if T.likely(i * 3 < 8):\n        z[i * 3] = x[i * 3]",
    "for i in range(8):\n    with T.sblock('b'):\n        v = T.axis.opaque(8, i)\n        z[v] = x[v]",
    "for i in range(8):\n    with T.sblock('b'):\n        v = T.axis.scan(8, i)\n        z[v] = x[v]",
    "for i in range(2, 8):\n    with T.sblock('b'):\n        v = T.axis.spatial((2, 8), i)\n        z[v] = x[v]",
    "for i, j in T.grid(4, 2):\n    with T.sblock('b'):\n        v, r = T.axis.remap('SR', [i, j])\n        with T.init():\n            w[v] = 1\n        w[v] = w[v] + k[v * 2 + r] % 5",
    "for i in range(8):\n    t: T.let[T.uint64] = T.Cast('uint64', i)\n    z[t] = x[T.uint64(7) - t]",
    "for i in T.unroll(8):\n    z[i] = x[i]",
    "for i in T.vectorized(8):\n    z[i] = x[i]",
    "for i in T.parallel(8):\n    z[i] = x[i]",
    "i = T.alloc_buffer((1,), 'int32')\ni[0] = 0\nwhile i[0] < 8:\n    w[i[0]] = i[0] * 2\n    i[0] = i[0] + 1",
    "assert k[0] == 0, 'zero'\nw[0] = 3",
    "assert k[0] == 1, 'one'\nw[0] = 3",
    "w[0] = k[8]",
    "w[k[2]] = 1",
    "for i in range(8): z[i] = x[T.if_then_else(k[i] < 0, k[i] + 8, k[i])]",
    (
        "for i in range(8): w[i] = k[i] % 13 - 8\n"
        "for i in range(8): z[i] = x[T.if_then_else(w[i] < 0, w[i] + 8, w[i])]"
    ),
    "w[0] = 7 // k[0]",
    "for i in range(k[3]):\n    w[i] = i",
    "for i in range(k[2]):\n    w[i] = i",
    "with T.attr(0, 'pragma_something', 1):\n    w[0] = 5",
    "T.evaluate(0)\nw[1] = 5",
    (
        "t = T.alloc_buffer((2, 4), 'float32', layout=T.TileLayout(T.S[(4, 2):(1, 4)]))\n"
        "for i in range(8): t[i // 4, i % 4] = x[i]\nfor i in range(8): z[i] = t[i // 4, i % 4]"
    ),
    (
        "t = T.alloc_buffer((8,), 'int32', layout=T.TileLayout(T.S[(8,):(1 @ laneid,)]))\n"
        "t[0] = 1\nw[0] = t[0]"
    ),
)


def ending(run: Any) -> str:
    try:
        run()
    except Stop as stop:
        return f"{type(stop).__name__} {stop.code}"
    return "returned"


def both(body: str) -> tuple[str, str]:
    """The ends of the evaluator and of native code; they write the same if both return."""
    func = of_body(PARAMETERS, body)
    mine, theirs = ([array.copy() for array in VALUES.values()] for _ in range(2))
    with np.errstate(all="ignore"):
        wanted = ending(lambda: evaluate(func, theirs))
    got = ending(lambda: native.compile(func)(mine))
    if got == wanted == "returned":
        for a, b in zip(mine, theirs, strict=True):
            np.testing.assert_allclose(a.astype(float), b.astype(float), rtol=3e-7)
            assert (
                np.array_equal(np.signbit(a.astype(float)), np.signbit(b.astype(float)))
                or np.isnan(a).any()
            )
    return wanted, got


@pytest.mark.parametrize("expression", [*FLOATS, *WHOLE])
def test_expressions(expression: str) -> None:
    target = "z" if expression in FLOATS else "w"
    wanted, got = both(f"for i in range(8): {target}[i] = {expression}")
    assert got in (wanted, f"{UnsupportedStop.__name__} E-native-construct"), (wanted, got)


@pytest.mark.parametrize("body", STATEMENTS)
def test_statements(body: str) -> None:
    wanted, got = both(body)
    refused = f"{UnsupportedStop.__name__} E-native-construct"
    faults = re.compile(rf"{FaultStop.__name__} E-")
    assert got in (wanted, refused) or (faults.match(got) and faults.match(wanted)), (wanted, got)


def test_a_layout_of_an_argument_is_not_supported() -> None:
    """Only the caller knows where its memory is."""
    said = 'x: T.Buffer((2, 4), "float32", layout=T.TileLayout(T.S[(4, 2):(1, 4)]))'
    func = of_body(said, "x[0, 0] = T.float32(1)")
    array = np.zeros((2, 4), np.float32)
    with pytest.raises(UnsupportedStop, match="has a layout of its own"):
        evaluate(func, [array])
    with pytest.raises(UnsupportedStop, match="buffer with a layout of its own"):
        native.compile(func)
    text = f"@T.prim_func\ndef f({said}):\n    x[0, 0] = T.float32(1)\n"
    (module,) = parse(text).modules
    (again,) = parse(print_module(module)).modules
    assert structural_equal(module, again)
