"""TIR01 to TIR10: each premise fails somewhere, and holds in what is next to it."""

from __future__ import annotations

from textwrap import dedent, indent

import pytest

from rlx.checker.check import check_text

HEAD = """@T.prim_func(s_tir=True)
def f(a: T.Buffer((8, 16), "float32"), b: T.Buffer((8, 16), "float32"), n: T.int64, h: T.handle):
"""
REMAP = 'for i, j in T.grid(8, 16):\n    with T.sblock("x"):\n        vi, vj = T.axis.remap("SS", [i, j])\n'


def body(text: str) -> str:
    """A PrimFunc with this body."""
    return HEAD + indent(dedent(text).strip(), "    ") + "\n"


def in_block(text: str) -> str:
    """A body with this in a block whose iterators are `vi` and `vj`."""
    return REMAP + indent(dedent(text).strip(), "        ")


def test_the_largest_number_of_bfloat16_is_what_tvm_takes_for_it() -> None:
    text = body('b[0, 0] = T.Cast("float32", T.bfloat16(-3.4028234663852886e+38))')
    assert not codes(text)


def codes(text: str, path: str = "f.rlx") -> list[str]:
    return [d.code for d in check_text(text, path).diagnostics]


INIT = """for i in range(9):
    with T.sblock("x"):
        v = T.axis.spatial(9, i)
        with T.init():
            b[v, 0] = T.float32(0)
        b[0, 0] = a[0, 0]"""

FAILS: dict[str, list[str]] = {
    "TIR01-undefined": [
        "c = T.match_buffer(hh, (4,))\nb[0, 0] = c[0]",
        "b[0, 0] = c[0, 0]",
        "q[0, 0] = a[0, 0]",
        "b[0, 0] = a[k, 0]",
        "b[0, 0] = foo(a[0, 0])",
        'T.evaluate(T.call_packed("f", q.data))',
        'c = T.decl_buffer((128,), "float32", data=q.data)\nb[0, 0] = c[0]',
        in_block("T.reads(q[vi, vj])\nb[vi, vj] = a[vi, vj]"),
        "b[0, 0] = a[0, 0] + c[0, 0] * c[1, 1]",
        'c = T.alloc_buffer((m,), "float32")\nb[0, 0] = c[0]',
    ],
    "TIR01-scope": [
        "for i in range(8):\n    b[i, 0] = a[i, 0]\nb[i, 1] = a[0, 0]",
        "for i in range(8):\n    x: T.float32 = a[i, 0]\nb[0, 0] = x",
        "if n > 0:\n    x: T.float32 = a[0, 0]\nb[0, 1] = x",
        'b[0, 0] = c[0]\nc = T.alloc_buffer((8,), "float32")',
        REMAP + "        b[vi, vj] = a[vi, vj]\n    b[vi, 0] = T.float32(0)",
    ],
    "TIR01-twice": [
        'c = T.alloc_buffer((8,), "float32")\nc = T.alloc_buffer((8,), "float32")\nc[0] = a[0, 0]',
        'b = T.alloc_buffer((8,), "float32")\nb[0] = a[0, 0]',
        "n = T.int64(3)\nb[0, 0] = a[n, 0]",
        "x: T.let = a[0, 0]\nx: T.let = a[0, 1]\nb[0, 0] = x",
        "x = a[0, 0]\nx: T.float32 = a[0, 1]\nb[0, 0] = x",
    ],
    "TIR02-rank": [
        "b[0] = a[0, 0]",
        "b[0, 0, 0] = a[0, 0]",
        "b[0, 0] = a[0, 0, 0]",
        in_block("T.reads(a[vi, vj, 0])\nb[vi, vj] = a[vi, vj]"),
    ],
    "TIR02-index": [
        "b[0, 0] = a[0, T.float32(1)]",
        "b[T.float32(0), 0] = a[0, 0]",
        "b[T.exp(a[0, 0]), 0] = a[0, 0]",
    ],
    "TIR02-dimension": [
        'c = T.alloc_buffer((4.5,), "float32")\nc[0] = a[0, 0]',
        'c = T.decl_buffer((T.float32(2), 2), "float32", data=a.data)\nb[0, 0] = c[0, 0]',
        'c = T.alloc_buffer((n * 2.0,), "float32")\nc[0] = a[0, 0]',
    ],
    "TIR03-unknown": [
        "b[0, 0] = T.exq(a[0, 0])",
        "for i in T.seriel(8):\n    b[i, 0] = a[i, 0]",
        'with T.sblok("x"):\n    b[0, 0] = a[0, 0]',
        "T.nosuch()",
        'T.evaluate(T.call_intrin("int32", "f", more=T.nosuch(1)))',
        'T.evaluate(T.call_intrin("int32", "f", more=[1, T.nosuch(1)]))',
        'T.evaluate(T.call_intrin("int32", "f", more=(1, [T.nosuch(1)])))',
        'with T.sblock("x"):\n    v = T.axis.spatialy(8, 0)\n    b[v, 0] = a[0, 0]',
    ],
    "TIR03-arity": [
        "b[0, 0] = T.exp(a[0, 0], a[0, 1])",
        "b[0, 0] = T.exp()",
        "b[0, 0] = T.min(a[0, 0], a[0, 1], a[0, 2])",
        "b[0, 0] = T.max(a[0, 0])",
    ],
    "TIR04-number": [
        "b[0, 0] = a",
        "b[0, 0] = a + a",
        "b[0, 0] = a[0]",
        "b[0, 0] = a[a, 0]",
        "b[0, 0] = T.exp(a)",
        'b[0, 0] = T.exp("x")',
        "T.evaluate(a)",
        'c = T.decl_buffer((128,), "float32", data=a)\nb[0, 0] = c[0]',
    ],
    "TIR04-buffer": [
        "x: T.let[T.int64] = n + 1\nx[0] = n",
        "b[0, 0] = n[0]",
        "n[0] = a[0, 0]",
        "for i in range(8):\n    b[i, 0] = i[0]",
        "b[0, 0] = T.float32(1)[0]",
        "b[0, 0] = (a[0, 0] + 1)[0]",
        "for i in range(T.int64(4)[0:1]):\n    b[i, 0] = a[0, 0]",
        "b[0, 0] = T.float32(a)[0, 0]",
    ],
    "TIR04-attribute": [
        "T.evaluate(a.data.foo)",
        "T.evaluate(a[0, 0].astype())",
        "a[0, 0].dtype",
        "a.data()",
        "a.strides[0] = 1",
        "b[0, 0] = a.shape.foo",
        "n.offset_of([0])",
    ],
    "TIR04-region": [
        in_block("T.reads(a)\nb[vi, vj] = a[vi, vj]"),
        in_block("T.writes(vi)\nb[vi, vj] = a[vi, vj]"),
    ],
    "TIR04-integer": ["b[0, 0] = a[0, 0] & a[0, 1]", "b[0, 0] = a[0, 0] // T.float32(2)"],
    "TIR04-zero": ['b[0, 0] = T.Cast("float32", n // 0)', 'b[0, 0] = T.Cast("float32", n % 0)'],
    "TIR15-range": [
        'b[0, 0] = T.Cast("float32", T.int8(128))',
        'b[0, 0] = T.Cast("float32", T.uint8(-1))',
        "b[0, 0] = a[0, T.int32(2147483648)]",
    ],
    "TIR15-finite": [
        "b[0, 0] = T.float32(1e39)",
        "b[0, 0] = a[0, 0] * 1e39",
        'b[0, 0] = T.Cast("float32", T.float16(-1e6))',
        'b[0, 0] = T.Cast("float32", T.bfloat16(1e39))',
    ],
    "TIR15-shift": ['b[0, 0] = T.Cast("float32", n << 64)', 'b[0, 0] = T.Cast("float32", n >> -1)'],
    "TIR15-extreme": [
        'b[0, 0] = T.Cast("float32", T.infinity("int32"))',
        'b[0, 0] = T.Cast("float32", T.max_value("bool"))',
        'b[0, T.Ramp(0, 1, 4)] = T.min_value("float32x4")',
    ],
    "TIR16-count": [
        'c = T.alloc_buffer((4294967296, 4294967296), "int8")\nb[0, 0] = a[0, 0]',
        'c = T.alloc_buffer((n * 4294967296, 2147483648), "int8")\nb[0, 0] = a[0, 0]',
    ],
    "TIR04-cast": [
        'b[0, 0] = T.Cast("handle", a[0, 0])',
        'b[0, T.Ramp(0, 1, 4)] = T.Cast("float32x8", T.Broadcast(n, 4))',
        'b[0, T.Ramp(0, 1, 4)] = T.Cast("float32", T.Broadcast(n, 4))',
    ],
    "TIR05-type": [
        "b[0, 0] = T.int32(1)",
        'b[0, 0] = T.Cast("float16", a[0, 0])',
        "b[0, 0] = a[0, 0] < a[0, 1]",
    ],
    "TIR05-lanes": [
        "b[0, 0] = T.Broadcast(T.float32(1), 4)",
        "b[0, T.Ramp(0, 1, 4)] = T.float32(1)",
        "b[0, T.Ramp(0, 1, 4)] = T.Broadcast(T.float32(1), 8)",
    ],
    "TIR06-bool": [
        'assert n, "x"\nb[0, 0] = a[0, 0]',
        "if n and n > 2:\n    b[0, 0] = a[0, 0]",
        "b[0, 0] = T.Select(n, a[0, 0], a[0, 1])",
        "b[0, 0] = T.if_then_else(n, a[0, 0], a[0, 1])",
        "b[0, 0] = T.Select(not n, a[0, 0], a[0, 1])",
        in_block("T.where(i + j)\nb[vi, vj] = a[vi, vj]"),
    ],
    "TIR07-kind": [REMAP.replace('"SS"', '"SX"') + "        b[vi, vj] = a[vi, vj]"],
    "TIR07-remap": [REMAP.replace("[i, j]", "[n, j]") + "        b[vi, vj] = a[vi, vj]"],
    "TIR07-loop": [in_block("b[vi, j] = a[i, vj]")],
    "TIR07-integer": [
        'for i in range(8):\n    with T.sblock("x"):\n        v = T.axis.spatial(T.float32(8), i)\n        b[v, 0] = a[v, 0]',
        'with T.sblock("x"):\n    v = T.axis.spatial(8, a[0, 0])\n    b[v, 0] = a[v, 0]',
        'with T.sblock("x"):\n    v = T.axis.spatial(n > 3, 0)\n    b[v, 0] = a[v, 0]',
        'with T.sblock("x"):\n    v = T.axis.spatial(True, 0)\n    b[v, 0] = a[v, 0]',
    ],
    "TIR07-domain": [
        'for i in range(8):\n    with T.sblock("x"):\n        v = T.axis.spatial(7, i)\n        b[v, 0] = a[v, 0]',
        'for i in range(8):\n    with T.sblock("x"):\n        v = T.axis.spatial(8, i - 1)\n        b[0, v + 1] = a[0, v + 1]',
        'for i, j in T.grid(2, 4):\n    with T.sblock("x"):\n        v = T.axis.spatial(8, i * 5 + j)\n        b[v // 2, 0] = a[0, 0]',
    ],
    "TIR07-parallel": [
        f'for i in T.{kind}(8):\n    with T.sblock("x"):\n        v = T.axis.reduce(8, 7 - i)\n        b[0, 0] = b[0, 0] + a[v, 0]'
        for kind in ("parallel", "vectorized")
    ],
    "TIR08-integer": [
        "for i in range(a[0, 0]):\n    b[0, 0] = a[0, 0]",
        "for i, j in T.grid(8.0, 4):\n    b[0, 0] = a[0, 0]",
        "for i in range(8.0):\n    b[i, 0] = a[i // 2, 0]",
        REMAP.replace("(8,", "(8.0,") + "        b[vi, vj] = a[vi, vj]",
    ],
    "TIR10-type": [
        "x: T.let[T.float32] = n\nb[0, 0] = x",
        "x: T.let[T.int64] = 1\nb[x, 0] = a[0, 0]",
    ],
    "TIR11-range": [
        "b[0, 16] = a[0, 0]",
        "b[0, 0] = a[-1, 0]",
        "for i in range(8):\n    b[i, 0] = a[i + 1, 0]",
        "for i in range(8):\n    b[i, 0] = a[7 - i, i * 3]",
        "for i in range(1, 9):\n    b[i, 0] = a[0, 0]",
        "for i, j in T.grid(8, 16):\n    b[j, i] = a[i, j]",
        "for i in range(8):\n    b[i, 0] = T.exp(a[i // 2 * 3, 0])",
        "x: T.let[T.int32] = 20\nb[0, x] = a[0, 0]",
        "if a[0, 16] > T.float32(0):\n    b[0, 0] = a[0, 0]",
        "b[0, 0] = T.if_then_else(a[8, 0] > T.float32(0), a[0, 0], a[0, 1])",
        in_block("b[vi, vj + 1] = a[vi, vj]"),
        'for i in range(9):\n    with T.sblock("x"):\n        v = T.axis.spatial(9, i)\n        b[v, 0] = a[0, 0]',
        INIT,
        'with T.launch_thread("threadIdx.x", 8) as t:\n    b[t, 16] = a[t, 0]',
    ],
    "TIR14-shape": [
        in_block("c = T.match_buffer(a[vi, 0:15], (16,))\nb[vi, vj] = c[0]"),
        in_block("c = T.match_buffer(a[vi, vj:vj + 2], (1, 3))\nb[vi, vj] = c[0, 0]"),
        in_block("c = T.match_buffer(a[0:2, vj], (1,))\nb[vi, vj] = c[0]"),
    ],
    "TIR12-writes": [
        in_block("T.reads(a[vi, vj])\nT.writes()\nb[vi, vj] = a[vi, vj]"),
        in_block("T.reads(a[vi, vj])\nT.writes(a[vi, vj])\nb[vi, vj] = a[vi, vj]"),
    ],
    "TIR12-reads": [
        in_block("T.reads()\nT.writes(b[vi, vj])\nb[vi, vj] = a[vi, vj]"),
        in_block(
            "T.reads()\nT.writes(b[vi, vj])\nfor k in range(2):\n    b[vi, vj] = T.exp(a[vi, k])"
        ),
    ],
}
WARNINGS = {"TIR05-type", "TIR07-domain", "TIR07-parallel", "TIR12-writes", "TIR12-reads"}

HOLDS = [
    'for i in T.parallel(8):\n    with T.sblock("x"):\n        v = T.axis.spatial(9, i + 1)\n        b[v - 1, 0] = a[v - 1, 0]',
    'for i in range(8):\n    with T.sblock("x"):\n        v = T.axis.spatial(7, i)\n        T.where(i < 7)\n        b[v, 0] = a[v, 0]',
    'for i in T.thread_binding(8, thread="threadIdx.x"):\n    with T.sblock("x"):\n        v = T.axis.reduce(8, i)\n        b[0, 0] = b[0, 0] + a[v, 0]',
    in_block(
        "s = T.int32()\nc = T.match_buffer(a[vi, 0:16], (16,), strides=[s])\nb[vi, vj] = c[0]"
    ),
    in_block("b[vi, vj] = a[vi, vj]"),
    in_block("T.where(i + j < 9)\nT.reads(a[vi, vj])\nT.writes(b[vi, vj])\nb[vi, vj] = a[vi, vj]"),
    in_block("T.reads(a[vi])\nb[vi, vj] = a[vi, vj]"),
    "for i in range(8):\n    b[i, 0] = a[i, 0]\nfor i in range(8):\n    b[i, 1] = a[i, 0]",
    "for i in range(8):\n    for i in range(4):\n        b[i, 0] = a[i, 0]",
    "for n in range(8):\n    b[n, 0] = a[n, 0]",
    'c = T.alloc_buffer((8,), "float32")\nc[0] = a[0, 0]\nb[0, 0] = c[0]',
    'c = T.alloc_buffer((1,), "int32")\nc = 3\nb[c[0], 0] = a[0, 0]',
    'c = T.decl_buffer((128,), "float32", data=a.data)\nb[0, 0] = c[3]',
    'c = T.Buffer((128,), "float32", data=a.data)\nb[0, 0] = c[3]',
    "b[0, T.Ramp(0, 1, 4)] = T.Broadcast(T.float32(1), 4)",
    "b[0, T.Ramp(0, 1, 4)] = T.Select(not (T.Ramp(0, 1, 4) < T.Broadcast(n, 4)), T.Broadcast(T.float32(1), 4), T.Broadcast(T.float32(0), 4))",
    "b[0, 0:4] = a[0, 0:4]",
    "b[0, 0] = 1",
    "b[0, 0] = T.if_then_else(n > 0, a[0, 0], 0)",
    "x = a[0, 0]\nif n > 0:\n    x: T.let = a[0, 1]\n    b[0, 0] = x\nx = a[0, 2]\nb[0, 1] = x",
    "x: T.let[T.int64] = n + 1\nb[x, 0] = a[0, 0]",
    'b[0, 0] = T.Cast("float32", T.popcount(n))',
    "b[0, 0] = T.exp(a[0, 0]) / T.sqrt(a[0, 1])",
    "b[0, 0] = T.Let(x + x, where={x: a[0, 0]})",
    'T.evaluate(T.call_packed("f", a.data))',
    "if n:\n    b[0, 0] = a[0, 0]",
    'for t in T.thread_binding(8, "threadIdx.x"):\n    b[t, 0] = a[t, 0]',
    'for i in range(8):\n    with T.sblock("x"):\n        v = T.axis.remap("S", [i])\n        b[v, 0] = a[v, 0]',
    'for i in range(8):\n    with T.sblock("x"):\n        T.axis.spatial(8, i)\n        b[0, 0] = a[0, 0]',
    'with T.launch_thread("threadIdx.x", 8) as t:\n    b[t, 0] = a[t, 0]',
    "for i in range(8):\n    if i < 7:\n        b[i, 0] = a[i + 1, 0]",
    "for i in range(8):\n    b[i, 0] = T.if_then_else(i < 7, a[i + 1, 0], T.float32(0))",
    "for i in range(8):\n    b[i, 0] = T.Select(i < 7, a[i + 1, 0], T.float32(0))",
    "if n < 8:\n    b[n + 8, 0] = a[0, 0]",
    "while n < 0:\n    b[8, 0] = a[0, 0]",
    "for i in range(0):\n    b[8, 0] = a[0, 0]",
    "for i in range(n):\n    b[8, 0] = a[0, 0]",
    'assert n < 0, "n"\nb[8, 0] = a[0, 0]',
    "for i in range(8):\n    for j in range(i):\n        b[j + 1, 0] = a[i, 0]",
    "for i in range(8):\n    b[i - i % 8, 0] = a[(i + 9) % 8, 0]",
    in_block("T.where(i < 7)\nb[vi + 1, vj] = a[vi, vj]"),
    in_block("T.reads()\nT.writes()\nb[vi, vj] = a[vi, vj]"),
    in_block("T.reads(a[vi, vj])\nT.writes(b[vi, vj])\nb[vi, vj] = b[vi, vj] + a[vi, vj]"),
    in_block(
        "T.reads()\nT.writes(b[vi, vj])\nb[vi, vj] = T.if_then_else(a[vi, vj] > T.float32(0), b[vi, 0], b[0, vj])"
    ),
]

OPAQUE = [
    "x = mystery(a)\nb[x, 0] = a[0, 0]",
    "y, z = other[0], other[1]\nb[y, z] = a[0, 0]",
    "b[0, 0] = a[*[0, 0]]",
    "for i, j in T.grid(*a.shape):\n    b[i, 0] = a[i, 0]",
]


@pytest.mark.parametrize(
    ("code", "text"), [(code, text) for code, texts in FAILS.items() for text in texts]
)
def test_a_premise_fails_once(code: str, text: str) -> None:
    found = [d for d in check_text(body(text), "f.rlx").diagnostics if d.severity != "note"]
    assert [d.code for d in found] == [code]
    assert found[0].span is not None
    assert found[0].severity == ("warning" if code in WARNINGS else "error")


@pytest.mark.parametrize("text", HOLDS)
def test_the_rules_hold(text: str) -> None:
    assert codes(body(text)) == []


@pytest.mark.parametrize(
    ("shapes", "determined"),
    [
        (["n, k + 1", "n"], False),
        (["n, k + 1", "k"], True),
        (["n * k", "n // k"], False),
        (["k + 1, k - 1", "n"], False),
        (["n, 4", "n"], True),
    ],
)
@pytest.mark.parametrize("passed", [False, True])
def test_arguments_determine_the_shapes(shapes: list[str], determined: bool, passed: bool) -> None:
    first, second = shapes
    numbers = "n: T.int64, k: T.int64" if passed else ""
    ways = "" if passed else "    n = T.int64()\n    k = T.int64()\n"
    text = (
        f"@T.prim_func\ndef f(a: T.handle, b: T.handle, {numbers}):\n{ways}"
        f'    A = T.match_buffer(a, ({first}), "int8")\n'
        f'    B = T.match_buffer(b, ({second},), "int8")\n    T.evaluate(0)\n'
    ).replace("(n * k)", "(n * k,)")
    assert (codes(text) == []) == (determined or passed)
    assert set(codes(text)) <= {"TIR17-alone"}


@pytest.mark.parametrize("text", OPAQUE)
def test_text_that_is_not_understood_may_bind_names(text: str) -> None:
    found = set(codes(body(text)))
    assert found <= {"PARSE-opaque", "TIR01-undefined"}
    if "mystery" not in text and "other" not in text:
        assert found == {"PARSE-opaque"}


def test_what_is_stored_to_a_buffer_that_python_made() -> None:
    """The helper is outside of the function; what the statement reads is known all the same."""
    helper = "def local(kind):\n    return T.alloc_buffer((1,), kind)\n\n"
    for value, wanted in (("a[0, 0]", []), ("1 + a[n, n, n]", ["TIR02-rank"])):
        text = (
            helper
            + "from tvm.script import tirx as T\n"
            + body(f'c = local("float32")\nfor i in range(8):\n    c[0] = {value}')
        )
        assert [code for code in codes(text, "f.py") if code != "PARSE-opaque"] == wanted


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("b[0, 0] = T.exq(a[0, 0])", "`T.exp`"),
        ("bias = a[0, 0]\nb[0, 0] = bais", "'bias'"),
        ("for row in range(8):\n    b[row, 0] = a[rwo, 0]", "'row'"),
    ],
)
def test_a_misspelt_name_is_suggested(text: str, hint: str) -> None:
    [found] = [d for d in check_text(body(text), "f.rlx").diagnostics if d.is_error]
    assert found.help is not None and hint in found.help


SYNTAX = [
    "for i, j in T.grid(8):\n    b[i, j] = a[i, j]",
    "for i, j in range(8):\n    b[i, j] = a[i, j]",
    "for i in T.serial():\n    b[i, 0] = a[i, 0]",
    "for i in T.thread_binding(8):\n    b[i, 0] = a[i, 0]",
    "for i in a:\n    b[0, 0] = a[0, 0]",
    REMAP.replace('"SS"', '"SSS"') + "        b[vi, vj] = a[vi, vj]",
    'with T.sblock("x"):\n    v = T.axis.spatial(0)\n    b[v, 0] = a[v, 0]',
    'with T.sblock("x"):\n    T.axis.spatial(8)\n    b[0, 0] = a[0, 0]',
    in_block("T.reads(a[vi, vj])\nT.reads(a[vi, vj])\nb[vi, vj] = a[vi, vj]"),
    "T.reads(a[0, 0])\nb[0, 0] = a[0, 0]",
    "v = T.axis.spatial(8, 0)\nb[v, 0] = a[v, 0]",
    'c = T.match_buffer(a[0:8, 0:8], (8, 8), "float32")\nb[0, 0] = c[0, 0]',
    "T.evaluate()",
    'b[0, 0] = T.Cast(a[0, 0], "float32")',
    'b[0, 0] = "x"',
    'b[0, 0] = T.Cast("float32", n / 2)',
    "b[0, 0] = a[0, 0] ** 2",
    "b[0, 0] = T.Select(T.bool(6), a[0, 0], a[0, 1])",
    "c = T.reads(a[0, 0])\nb[0, 0] = a[0, 0]",
    "for i in T.exp(n):\n    b[i, 0] = a[i, 0]",
    "b[0, 0] = T.serial(a[0, 0])",
    'with T.likely("x"):\n    b[0, 0] = a[0, 0]',
    'with T.reads("x"):\n    b[0, 0] = a[0, 0]',
    "for i in range(8):\n    b[i, 0] = a[i, 0]\n      b[i, 1] = a[i, 0]",
]


@pytest.mark.parametrize("text", SYNTAX)
def test_what_no_version_reads_is_a_syntax_error(text: str) -> None:
    found = [d for d in check_text(body(text), "f.rlx").diagnostics if d.is_error]
    assert [d.code for d in found] == ["PARSE"]


CAPTURED = """
WIDTH = 16

def make(scale):
    @T.prim_func(s_tir=True)
    def f(a: T.Buffer((8,), "float32"), b: T.Buffer((8,), "float32")):
        for i in range(8):
            b[i] = a[i] * scale + T.float32(WIDTH) + nothing
    return f

@R.function
def g(nothing: R.Object) -> R.Object:
    return nothing
"""


def test_a_python_file_lends_its_names() -> None:
    found = [d for d in check_text(CAPTURED, "f.py").diagnostics if d.is_error]
    assert [d.code for d in found] == ["TIR01-undefined"]
    assert "'nothing'" in found[0].message


PRIVATE = """@I.ir_module
class M:
    @T.prim_func(private=True)
    def k(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
        for i in range(4):
            y[i] = x[i] + T.float32(1)
    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        r = R.call_packed("k", x, y)
        return y
"""


def test_a_private_primfunc_is_no_external_function() -> None:
    [found] = check_text(PRIVATE, "f.rlx").diagnostics
    assert (found.code, found.severity) == ("TIR09-private", "warning")
    assert codes(PRIVATE.replace("(private=True)", "")) == []
    assert codes(PRIVATE.replace('"k", x', '"other", x')) == []


SYMBOLIC = """@T.prim_func
def f(x: T.handle, y: T.handle):
    n, m = T.int64(), T.int64()
    a = T.match_buffer(x, (n, m))
    b = T.match_buffer(y, (n + 4, m))
    for i in range(n):
        b[{}, {}] = a[{}, {}]
"""


@pytest.mark.parametrize(
    ("places", "wrong"),
    [
        (("i", "0", "i", "0"), None),
        (("i + 4", "m - 1", "n - 1 - i", "0"), None),
        (("i", "0", "i + 1", "0"), "n for i = n - 1"),
        (("i + 5", "0", "i", "0"), "n + 4 for i = n - 1"),
        (("i", "0", "n - i", "0"), "n for i = 0"),
        (("i", "m", "i", "0"), "m"),
        (("i", "0", "0 - i - 1", "0"), "-1 for i = 0"),
        (("i", "m", "i", "1"), "m"),
        (("i", "0", "i", "1"), None),  # in range where m is 2
        (("i", "i", "i", "0"), None),
        (("i", "0", "i * 2", "0"), None),  # n = 1
    ],
)
def test_indices_are_out_of_range_for_all_sizes(places: tuple[str, ...], wrong: str | None) -> None:
    found = check_text(SYMBOLIC.format(*places), "f.rlx").diagnostics
    assert [d.code for d in found] == (["TIR11-range"] if wrong else [])
    assert wrong is None or f" is {wrong}, but the extent" in found[0].message


MARKED = """@T.prim_func(s_tir=True)
def f(a: T.Buffer((8,), "float32")):
    c = T.sblock_alloc_buffer((8,))
    with T.sblock("root"):
        a[0] = c[1]
"""


def test_a_function_with_blocks_is_marked() -> None:
    assert codes(MARKED) == []
    [found] = check_text(MARKED.replace("(s_tir=True)", ""), "f.rlx").diagnostics
    assert (found.code, found.severity) == ("TIR13-mark", "warning")
    assert "T.sblock_alloc_buffer" in found.message
    # 0.24 has the words, and no mark.
    old = MARKED.replace("(s_tir=True)", "").replace("sblock", "block")
    assert "TIR13-mark" not in codes(old)
    unmarked, relax = (
        MARKED.replace("(s_tir=True)", ""),
        "\n@R.function\ndef g(x: R.{}):\n    return x\n",
    )
    assert "TIR13-mark" not in codes(unmarked + relax.format("Object"))
    assert "TIR13-mark" in codes(unmarked + relax.format("Shape") + "# R.Object, out_sinfo=\n")


@pytest.mark.parametrize("word", ["out_sinfo", "sinfo_args", "other"])
@pytest.mark.parametrize("use", ["(w, w)", "w[0]", "(w,)", "w == w", "w or w", "w + w", "{w: w}"])
def test_a_variable_is_no_keyword_that_only_old_versions_have(word: str, use: str) -> None:
    unmarked = MARKED.replace("(s_tir=True)", "")
    head = f"\n@R.function\ndef g({word}: R.Shape):\n    "
    assert "TIR13-mark" in codes(f"{unmarked}{head}return {use.replace('w', word)}\n")
    call = f'y = R.call_packed("f", {word}, {word}=R.Tuple())\n    return y\n'
    assert ("TIR13-mark" in codes(unmarked + head + call)) is (word == "other")


def test_a_handle_has_one_buffer() -> None:
    text = """@T.prim_func
def f(x: T.handle):
    a = T.match_buffer(x, (4,))
    b = T.match_buffer(x, (4,))
    b[0] = a[0]
"""
    [found] = check_text(text, "f.rlx").diagnostics
    assert found.code == "PARSE"
    assert "'x' is already matched to 'a'" in found.message


LENT = """
def make(heads):
    width = 8

    @T.prim_func
    def f(x: T.handle, y: T.Buffer((8,), "int32"), n: T.int32):
        a = T.match_buffer(x, (n, heads), "float32")
        for i in T.serial((n * heads + width - 1) // width):
            for j in T.serial(width):
                row: T.int32 = (i * width + j) // heads
                column: T.let[T.int32] = (i * width + j) % heads
                y[0] = row + column
    return f
"""


def test_a_number_that_python_lends_has_no_type_of_its_own() -> None:
    assert [d.code for d in check_text(LENT, "f.py").diagnostics if d.severity != "note"] == []


def test_a_shape_that_python_gives_has_an_unknown_rank() -> None:
    text = """\
from tvm.script import tirx as T

def make(swapped, k, n):
    @T.prim_func(s_tir=True)
    def f(b: T.handle):
        B = T.match_buffer(b, swapped(k, n), "float32")
        B[0, 0] = 1.0
"""
    found = check_text(text, "f.py").diagnostics
    assert [d.message for d in found if d.severity != "note"] == []


@pytest.mark.parametrize("name", ["m", "g", "Module"])
def test_names_of_the_module_are_no_names_of_a_body(name: str) -> None:
    """A TypeVar is bound by the buffers that have it as a dimension, a function is no number."""
    text = f"""m = TypeVar("m")
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def f(b: T.Buffer((8,), "int64")):
        b[0] = {name}
    @T.prim_func(s_tir=True)
    def g(b: T.Buffer((m,), "int64")):
        b[0] = m
"""
    (found,) = check_text(text).diagnostics
    assert found.code == "TIR01-undefined"
    assert ("TypeVar" in str(found.help)) == (name == "m")


@pytest.mark.parametrize("line", ["b[0, 0] = a(0) + a(1)", "b[0, 0] = a(0)\nb[0, 1] = a[0, 1]"])
def test_a_buffer_that_is_called_is_one_mistake(line: str) -> None:
    found = check_text(body(line), "f.rlx").errors
    assert [d.message for d in found] == ["the buffer 'a' cannot be called"]
