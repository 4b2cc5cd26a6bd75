"""Lines of PrimFuncs as people write them: what TVM reads is no error, and `rlx fmt` writes what TVM reads as the same."""

from __future__ import annotations

from textwrap import indent

import pytest

pytest.importorskip("tvm")

import tvm_ffi

from rlx.checker.check import check_text
from rlx.grammar.print.formatting import format_text

from .test_printer import read

HEAD = """\
@T.prim_func(s_tir=True)
def f(a: T.handle, C: T.Buffer((16,), "int32"), m: T.int32, q: T.float32, D: T.Buffer((4, 4), "float32"), \
H: T.Buffer((4,), "float16"), b: T.bool):
    n = T.int32()
    A = T.match_buffer(a, (n, 8), "float32")
"""

LINES = [
    "C[0] = 1 if True else 2",
    "C[0] = max(1, 2)",
    "C[0] = len([1,2])",
    "C[0] = [i for i in range(3)][1]",
    "C[0] = (lambda x: x + 1)(m)",
    "C[0] = {'a': 1}['a']",
    "C[0] = (1, 2)[1]",
    "C[0] = int('3')",
    "C[0] = abs(-3)",
    "C[0] = min(m, 3)",
    "C[0] = T.min(m, 3)",
    "C[0] = m if b else 3",
    "x = 3 * 4\nC[0] = x",
    "x: T.int32 = 3\nC[0] = x",
    "x = T.meta_var(3)\nC[x] = x",
    "for i in range(4):\n    if i == 2:\n        continue\n    C[i] = i",
    "for i in range(4):\n    if C[i] > 3:\n        break",
    "while C[0] < 10:\n    C[0] += 1",
    *("C[0] -= 1", "C[0] *= 2", "C[0] //= 2", "C[0] %= 2", "C[0] <<= 1", "C[0] |= 1"),
    *("C[0] = ~m", "C[0] = m ^ 3", "C[0] = m & 7 | 1"),
    "D[0, 0] = q ** 2.0",
    "D[0,0] = T.pow(q, 2.0)",
    "D[0,0] = q / 2",
    "C[0] = m / 2",
    "C[0] = m // 2 % 3",
    "D[0,0] = m",
    "D[0,0] = T.Cast('float32', m)",
    "D[0,0] = T.float32(m)",
    "C[0] = T.int32(q)",
    "H[0] = q",
    "H[0] = T.float16(1)",
    "H[0] = 1",
    "H[0] = 1.5",
    "C[0] = True",
    "C[0] = b",
    "if b:\n    C[0] = 1",
    "if m:\n    C[0] = 1",
    "if m > 3 and not b:\n    C[0] = 1\nelif m < 2 or b:\n    C[0] = 2\nelse:\n    C[0] = 3",
    "assert m > 0, 'positive'",
    "assert m > 0",
    "T.evaluate(T.call_packed('f', m, q))",
    "T.call_packed('f', m)",
    "T.evaluate(T.call_extern('int32', 'g', D.data))",
    "C[0] = T.call_extern('int32', 'g', T.address_of(D[0,0]))",
    "E = T.alloc_buffer((4,), 'float32')\nE[0] = q",
    "E = T.decl_buffer((16,), 'float32', data=D.data)\nE[0] = q",
    "with T.attr(0, 'pragma_x', 1):\n    C[0] = 1",
    "T.attr(0, 'pragma_x', 1)\nC[0] = 1",
    "tx = T.launch_thread('threadIdx.x', 4)\nC[tx] = tx",
    "with T.launch_thread('threadIdx.x', 4) as tx:\n    C[tx] = tx",
    "for i in T.vectorized(4):\n    C[i] = i",
    "for i in T.unroll(1, 4):\n    C[i] = i",
    "for i in T.serial(4, annotations={'a': 1}):\n    C[i] = i",
    "for i, j in T.grid(4, 4):\n    D[i, j] = q",
    "for i in T.thread_binding(4, 'threadIdx.x'):\n    C[i] = i",
    "for i in range(0, 16, 4):\n    C[i] = i",
    "C[T.ramp(0, 1, 4)] = T.broadcast(m, 4)",
    "C[0:4] = T.broadcast(m, 4)",
    "C[0] = T.if_then_else(b, m, 3)",
    "C[0] = T.Select(b, m, 3)",
    "C[0] = T.shift_right(m, 2)",
    "D[0,0] = T.exp(q) + T.sigmoid(q) - T.sqrt(T.abs(q))",
    "D[0,0] = T.max(q, T.float32(0))",
    "D[0,0] = T.reinterpret('float32', m)",
    "C[0] = T.likely(m < 3)",
    "T.evaluate(T.assume(m > 3))",
    "C[0] = T.floordiv(m, 3) + T.truncmod(m, 3) + T.ceildiv(m, 3)",
    "with T.sblock('x'):\n    T.reads()\n    T.writes(C[0])\n    C[0] = 1",
    "with T.sblock():\n    C[0] = 1",
    "with T.sblock(name='x'):\n    C[0] = 1",
    "with T.sblock(f'b{1}'):\n    C[0] = 1",
    "with T.sblock('x', no_realize=True):\n    C[0] = 1",
    "C[0] = T.int64(3)",
    "C[T.int64(0)] = 1",
    "pass",
    "'doc'",
    "...",
    "C[0] = n.astype('int32')",
    "C[0] = (m + 1).astype('int32')",
    "C[0] = D.shape[0]",
    "C[0] = C.shape[0] + 1",
    "x = D\nx[0,0] = q",
    "T.evaluate(D.data)",
    "T.evaluate(0)",
    "C[0] = D[0,0].astype('int32')",
    "x, y = 1, 2\nC[0] = x + y",
    "for i, j in zip([0, 1], [2, 3]):\n    C[i] = j",
    "for i in [0, 1, 2]:\n    C[i] = i",
    "D[0,0] = -q + +1.0",
    "D[0,0] = T.nan('float32')",
    "D[0,0] = T.infinity('float32')",
    "D[0,0] = T.min_value('float32')",
    "D[0,0] = T.float32('inf')",
    "D[0,0] = float('inf')",
    "C[0] = m != 3",
    "C[0] = 0x10",
    "C[0] = 1_000",
    "D[0, 0] = 1e-5",
    "C[m // 4 * 4 + m % 4] = 1",
    "T.tvm_storage_sync('shared')",
    "T.func_attr({'tir.noalias': True, 'x': [1, 2], 'y': 'z'})",
    "x = T.bind(m + 1)\nC[0] = x",
    "x: T.let = m + 1\nC[0] = x",
    "x = T.allocate([4], 'float32', 'global')",
    "return",
    "T.ret(0)",
    "C[0] = not b",
    "C[0] = (m > 3) == b",
    "C[0] = 3 < m < 5",
    "C[0] = T.all(b, m > 3)",
    "C[0] = T.any(b, m > 3)",
    "C[0] = m is None",
    "del m",
    "global g",
    "import os",
    "C[0] = (x := 3)",
    "C[0] = T.bool(True)",
    "C[0] = b + 1",
    "E = T.alloc_shared((4,), 'float32')\nE[0] = q",
    "E = T.alloc_local((4,), 'float32')\nE[0] = q",
    "x = T.local_scalar('int32')\nx = 3",
    "C[0], C[1] = 1, 2",
    "C[0] = T.Cast('int32', T.Cast('int64', m))",
    "C[0] = T.cast(q, 'int32')",
    "C[0] = T.popcount(m)",
    "C[0] = T.clz(m)",
    "D[0,0] = T.fma(q,q,q)",
    "D[0,0] = T.round(q)",
    "D[0,0]=T.tanh(q)*T.erf(q)",
    "T.print_buffer(D)",
]

OTHERS = {"assert m > 0", "...", "T.ret(0)", "T.print_buffer(D)"}
"""What TVM 0.27 refuses, although nothing is said of it here: other versions read it, or it says nothing."""


@pytest.mark.parametrize("line", LINES)
def test_a_line_is_read_as_tvm_reads_it(line: str) -> None:
    text = HEAD + indent(line, "    ") + "\n"
    found = check_text(text).diagnostics
    wrong = [d.message for d in found if d.is_error]
    kept = any(d.code == "PARSE-opaque" for d in found)
    try:
        expected = read(text)
    except Exception:  # noqa: BLE001 - TVM raises many kinds
        assert wrong or kept or line in OTHERS
        return
    assert not wrong
    outcome = format_text(text)
    if outcome.text is None:
        assert kept and "does not understand" in outcome.complaints[0]
    elif outcome.text != text:
        assert tvm_ffi.structural_equal(expected, read(outcome.text))
