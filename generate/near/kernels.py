"""Changes to the text of a PrimFunc that break one rule of its body."""

from __future__ import annotations

import random

from rlx.grammar.nodes.ast import IRModule
from rlx.grammar.nodes.node import replace
from rlx.grammar.read.parser import parse

KERNEL = """@T.prim_func(private=True, s_tir=True)
def kernel(a: T.Buffer((8, 16), "float32"), b: T.Buffer((8, 16), "float32"), n: T.int64):
    c = T.alloc_buffer((8, 16), "float32")
    for i, j in T.grid(8, 16):
        with T.sblock("scaled"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.where(i < 7)
            T.reads(a[vi, vj])
            T.writes(c[vi, vj])
            c[vi, vj] = T.exp(a[vi, vj]) * T.float32(2)
    for k in range(8):
        with T.sblock("chosen"):
            v = T.axis.spatial(8, k)
            b[v, 0] = T.if_then_else(n > 4, c[v, 1], T.Cast("float32", n // 2))
    assert n > 0, "n is positive"
"""
"""A PrimFunc in which nothing is broken."""

BREAKS: dict[str, tuple[tuple[str, str], ...]] = {
    "TIR01-undefined": (
        ("c[v, 1]", "q[v, 1]"),
        ("T.reads(a[vi, vj])", "T.reads(q[vi, vj])"),
        ("n // 2", "m // 2"),
    ),
    "TIR01-scope": (("n // 2", "vi // 2"), ("assert n", "assert v")),
    "TIR01-twice": (
        ("    assert", '    c = T.alloc_buffer((8, 16), "float32")\n    assert'),
        ("    assert", "    n = T.int64(3)\n    assert"),
    ),
    "TIR02-rank": (
        ("b[v, 0] =", "b[v] ="),
        ("c[v, 1]", "c[v, 1, 0]"),
        ("a[vi, vj])\n", "a[vi, vj, 0])\n"),
    ),
    "TIR02-index": (("c[v, 1]", "c[v, T.float32(1)]"), ("b[v, 0] =", "b[T.float32(0), 0] =")),
    "TIR02-dimension": (("    assert", '    d = T.alloc_buffer((4.0,), "int32")\n    assert'),),
    "TIR03-unknown": (("T.exp(", "T.exq("), ("T.if_then_else(", "T.if_then_elsy(")),
    "TIR03-arity": (
        ("T.exp(a[vi, vj])", "T.exp(a[vi, vj], 2)"),
        ("T.exp(a[vi, vj])", "T.max(a[vi, vj])"),
    ),
    "TIR04-number": (
        ("T.exp(a[vi, vj])", "T.exp(a)"),
        ("c[v, 1]", "c[v]"),
        ("* T.float32(2)", "* a"),
    ),
    "TIR04-buffer": (("c[v, 1]", "n[v]"), ("c[v, 1]", "v[0]")),
    "TIR04-attribute": (("    assert", "    T.evaluate(a.shape.foo)\n    assert"),),
    "TIR04-region": (("T.reads(a[vi, vj])", "T.reads(a)"), ("T.writes(c[vi, vj])", "T.writes(vi)")),
    "TIR04-integer": (
        ("T.exp(a[vi, vj]) * T", "T.exp(a[vi, vj]) // T"),
        ("c[v, 1]", "c[v, 1] & c[v, 2]"),
    ),
    "TIR04-zero": (("n // 2", "n // 0"), ("n // 2", "n % 0")),
    "TIR04-cast": (('T.Cast("float32", n // 2)', 'T.Cast("handle", n // 2)'),),
    "TIR05-type": (
        ("* T.float32(2)", "< T.float32(2)"),
        ("T.exp(a[vi, vj]) * T.float32(2)", 'T.Cast("float16", a[vi, vj])'),
    ),
    "TIR05-lanes": (
        ("* T.float32(2)", "* T.Broadcast(T.float32(2), 4)"),
        ("b[v, 0] =", "b[v, T.Ramp(0, 1, 4)] ="),
    ),
    "TIR06-bool": (("n > 4", "n"), ("n > 0", "n"), ("n > 0", "not n"), ("i < 7", "i + 7")),
    "TIR07-kind": (('"SS"', '"SX"'),),
    "TIR07-remap": (("[i, j]", "[n, j]"),),
    "TIR07-loop": (("T.exp(a[vi, vj])", "T.exp(a[i, vj])"), ("c[v, 1]", "c[k, 1]")),
    "TIR07-integer": (("T.axis.spatial(8, k)", "T.axis.spatial(8, a[k, 0])"),),
    "TIR10-type": (("    assert", "    m: T.let[T.int64] = T.float32(2)\n    assert"),),
    "TIR11-range": (("b[v, 0] =", "b[v, -1] ="), ("b[v, 0] =", "b[v + 1, 0] =")),
    "TIR12-reads": (("T.reads(a[vi, vj])", "T.reads(b[vi, vj])"),),
    "TIR12-writes": (("T.writes(c[vi, vj])", "T.writes(b[vi, vj])"),),
    "TIR14-shape": (
        (
            "T.axis.spatial(8, k)",
            'T.axis.spatial(8, k)\n            d = T.match_buffer(a[0:4, 0:4], (4, 5), "float32")',
        ),
    ),
    "TIR08-integer": (("range(8)", "range(8.0)"), ("T.grid(8,", "T.grid(8.0,")),
}
"""Pieces of the text and their replacements, one of which makes each premise fail."""

TEXT_BREAKS: dict[str, tuple[tuple[str, str], ...]] = {
    "TIR13-mark": (("private=True, s_tir=True", "private=True"),),
}
"""The same for premises about what a text says: a module without its text breaks none of them."""


def broken_kernel(code: str, module: IRModule, rng: random.Random) -> IRModule:
    """The module and a PrimFunc that breaks a rule."""
    old, new = rng.choice(BREAKS[code])
    (made,) = parse(KERNEL.replace(old, new)).modules
    return replace(module, functions={**module.functions, **made.functions})
