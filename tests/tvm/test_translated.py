"""Programs of TVM 0.17 as 0.27 reads them: trailing scalars, scalars with values, scalars inside types."""

from __future__ import annotations

import pytest
import tvm_ffi

import rlx
from rlx import te
from rlx.grammar.print.formatting import format_text
from tests.grammar.print.test_translate import KERNEL, function

from .test_printer import read

COMPUTED = """@R.function
def main(x: R.Tensor(("n", 2), "float32"), c: R.Tensor((), "bool")):
    s: R.Shape = R.call_pure_packed("shape", x, sinfo_args=(R.Shape(ndim=2),))
    if c:
        a = R.call_dps_packed("k", (x,), out_sinfo=R.Tensor(s, "float32"))
        y = a
    else:
        b = R.call_dps_packed("k", (x,), out_sinfo=R.Tensor(s, "float32"))
        d = R.call_dps_packed("k", (b,), out_sinfo=R.Tensor(s, "float32"))
        y = d
    return y
"""
TEXTS = [
    KERNEL,
    function('k: R.Prim(value="n"), x: R.Tensor(("n",))', "return x"),
    function('x: R.Tensor((4, 4), "int8")', 'return R.matmul(x, x, out_dtype="void")'),
    function('t: R.Tuple(R.Prim("int64"), R.Object)', "return t"),
    function(
        'f: R.Callable((R.Prim("int64"), R.Object), R.Object)', "return f(R.prim_value(0), f)"
    ),
    '@R.function(pure=False)\ndef main():\n    return R.call_packed("f", sinfo_args=(R.Prim("int64"),))\n',
    (
        "@T.prim_func\ndef f(a: T.handle):\n    n = T.int64(is_size_var=True)\n"
        '    A = T.match_buffer(a, (n,), "float32")\n    A[0] = 1.0\n'
    ),
    function(
        'n: R.Prim("int64")',
        "m = T.int64()",
        "k: R.Prim(value=m) = R.match_cast(n, R.Prim(value=m))",
        "return R.ones(R.shape([m]), 'int8')",
    ),
    '@R.function\ndef main(x: R.Tensor(("n",))) -> R.Prim(value="n"):\n    n = T.int64()\n    y = R.prim_value(n)\n    return y\n',
    function(
        "o: R.Object",
        "m = T.int64()",
        "y = R.match_cast(o, R.Tuple(R.Prim(value=m), R.Object))",
        "return R.ones(R.shape([m]), 'int8')",
    ),
    function('x: R.Tensor((4, 4), "int8")', 'return R.matmul(x, x, "void")'),
    '@R.function(pure=False)\ndef main(f: R.Object, x: R.Tensor((4,))):\n    y = R.call_inplace_packed("f", x, inplace_indices=[0], sinfo_args=(R.Object,))\n    return y\n',
    '@R.function(pure=False)\ndef main(s: R.Object):\n    y = R.vm.alloc_tensor(s, 0, R.shape([4]), "int8", sinfo_args=(R.Tensor((4,), "int8"),))\n    return y\n',
    '@R.func\ndef main(x: R.Tensor[(n, 4), "float32"]):\n    R.call_packed("vm.print", x)\n    return x\n',
    (
        "@I.ir_module\nclass M:\n    @R.function\n    def first(x: R.Tensor(('n',))):\n        return x\n\n"
        "    @R.function\n    def second(o: R.Object):\n        n = T.int64()\n"
        "        y = R.match_cast(o, R.Tensor((n,)))\n        return y\n"
    ),
    COMPUTED,
    function(
        "x: R.Tensor(ndim=2)",
        "n = T.int64()",
        "s: R.Shape(ndim=1) = R.shape([4])",
        "y: R.Tensor((n, n)) = R.match_cast(x, R.Tensor((n, n), 'int8'))",
        "return R.call_dps_packed('k', (y,), out_sinfo=R.Tensor(s, 'int8'))",
    ),
]


@pytest.mark.parametrize("text", TEXTS)
def test_tvm_reads_the_translation(text: str) -> None:
    outcome = format_text(text, version="0.27")
    assert outcome.text is not None, outcome.complaints
    assert read(outcome.text) is not None


def test_tvm_reads_what_emit_te_writes() -> None:
    bb = rlx.BlockBuilder()
    x = rlx.Var("x", 'R.Tensor(("n", "2 * (m // 2)"), "float32")')
    sizes = rlx.Var("sizes", 'R.Shape(["n", "m"])')
    with bb.function("main", [x, sizes]):
        made = bb.emit_te(lambda x: te.compute(x.shape, lambda i, j: x[i, j] + 1.0), x)
        bb.emit_func_output(made)
    assert read(rlx.show(bb.get())) is not None


@pytest.mark.parametrize("text", TEXTS)
def test_a_translation_comes_back(text: str) -> None:
    newer = format_text(text, version="0.27").text
    assert newer is not None
    older = format_text(newer, version="0.17")
    assert older.text is not None, older.complaints
    again = format_text(older.text, version="0.27").text
    assert again is not None
    again = again.replace("(s_tir=True)", "")  # the older text shows its version
    assert tvm_ffi.structural_equal(read(again), read(newer))


def test_a_tuple_that_is_passed_whole_is_refused() -> None:
    text = (
        "@I.ir_module\nclass M:\n    @T.prim_func\n    def k(a: T.Buffer((4,), 'int8'), c: T.Buffer((4,), 'int8')):\n"
        "        c[0] = a[0]\n\n    @R.function\n    def main(t: R.Tuple(R.Tensor((4,), 'int8'))):\n"
        "        cls = M\n        return R.call_tir(cls.k, t, out_sinfo=R.Tensor((4,), 'int8'))\n"
    )
    assert format_text(text, version="0.17").text is not None
    (complaint,) = format_text(text, version="0.27").complaints
    assert "as one tuple" in complaint


def test_kernels_of_older_versions_can_be_scheduled() -> None:
    kernel = (
        "def k(a: T.Buffer((4,), 'int8'), c: T.Buffer((4,), 'int8')) -> None:\n    c[0] = a[0]\n"
    )
    old = f"from tvm.script import tir as T\n\n\n@T.prim_func\n{kernel}"
    new = f"@T.prim_func(s_tir=True)\n{kernel}"
    outcome = format_text(old, version="0.27")
    assert outcome.text is not None, outcome.complaints
    definition = outcome.text[outcome.text.index("@T.prim_func") :]
    assert tvm_ffi.structural_equal(read(definition), read(new))
