"""Constructs without words in 0.27 are written in others, or refused; tests/tvm/test_translated.py asks TVM."""

from __future__ import annotations

import pytest

import rlx
from rlx.grammar.print.formatting import FAILED, format_text

KERNEL = """\
@I.ir_module
class Module:
    @T.prim_func
    def f(a: T.handle, b: T.handle, n: T.int64, m: T.int64):
        A = T.match_buffer(a, (n + 1,), "float32")
        B = T.match_buffer(b, (n,), "float32")
        for i in range(n):
            B[i] = A[i] + T.Cast("float32", m)

    @R.function
    def main(x: R.Tensor(("n + 1",), "float32"), s: R.Shape(["n", "m"])):
        n, m = T.int64(), T.int64()
        cls = Module
        y = R.call_tir(cls.f, (x,), out_sinfo=R.Tensor((n,), "float32"), tir_vars=R.shape([n, m]))
        return y
"""


def function(signature: str, *lines: str) -> str:
    body = "".join([f"    {line}\n" for line in lines])
    return f"@R.function\ndef main({signature}):\n{body}"


def refused(text: str) -> str:
    outcome = format_text(text, version="0.27")
    assert outcome.text is None and outcome.status == FAILED
    return outcome.complaints[0]


def test_trailing_scalars_are_passed_in_front_of_the_results() -> None:
    text = format_text(KERNEL, version="0.27").text or ""
    assert "R.call_tir(cls.f, (x, n, m), out_ty=" in text
    module = rlx.parse(text)
    assert [str(param) for param in module["f"].params] == ["A", "n", "m", "B"]
    assert rlx.check(text).ok
    assert (
        format_text(KERNEL, version="0.25").text
        == format_text(format_text(KERNEL, version="0.25").text or "", version="0.25").text
    )


def test_the_translated_program_runs_as_before() -> None:
    import numpy as np

    inputs = {"x": np.arange(4, dtype="float32"), "s": (3, 5)}
    text = format_text(KERNEL, version="0.27").text or ""
    found = [rlx.run(each, inputs=inputs).numpy().tolist() for each in (KERNEL, text)]
    assert found == [[5.0, 6.0, 7.0]] * 2


def test_a_prim_func_that_is_also_called_directly_keeps_its_parameters_so_it_is_refused() -> None:
    text = KERNEL.replace("        return y", "        R.print(x)\n        return cls.f")
    assert "'f' is also used without R.call_tir" in refused(text)


@pytest.mark.parametrize(
    ("signature", "lines", "written"),
    [
        (
            'k: R.Prim(value="n"), x: R.Tensor(("n",))',
            ["return x"],
            "k: T.int64, x: R.Tensor((k,))",
        ),
        (
            'k: R.Prim("int64")',
            [
                "j = T.int64()",
                "y = R.match_cast(k, R.Prim(value=j))",
                "return R.ones(R.shape([j]), 'int8')",
            ],
            "y: T.int64 = k",
        ),
        (
            'x: R.Tensor(("n",))',
            ["n = T.int64()", "y: R.Prim(value=n) = R.prim_value(n)", "return y"],
            "y: T.int64 = n",
        ),
        (
            'x: R.Tensor((4, 4), "int8")',
            ['return R.matmul(x, x, out_dtype="void")'],
            "R.matmul(x, x)",
        ),
    ],
)
def test_other_words(signature: str, lines: list[str], written: str) -> None:
    text = format_text(function(signature, *lines), version="0.27").text or ""
    assert written in text


@pytest.mark.parametrize(
    "signature",
    ['x: R.Tensor(("n",)), k: R.Prim(value="n")', 'f: R.Callable((R.Prim(value="n"),), R.Object)'],
)
def test_a_scalar_with_its_value_has_no_annotation(signature: str) -> None:
    text = function(signature, "return R.prim_value(1)")
    assert "has no annotation for a scalar with its value, R.Prim(value=n)" in refused(text)
    assert format_text(text, version="0.25").text is not None


def test_void_stays_where_it_leaves_the_type_open() -> None:
    text = function('x: R.Tensor((4, 4), "int8")', 'return R.matmul(x, x, out_dtype="void")')
    assert 'out_dtype="void"' in (format_text(text, version="0.17").text or "")


def test_everything_of_a_distributed_tensor_stays() -> None:
    text = """\
# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class M:
    I.module_global_infos({"mesh": [R.device_mesh([2], I.Range(0, 2))]})
    @R.function
    def foo(
        x: R.DTensor((128, 128), dtype="float32", device_mesh="mesh[0]", placement="S[1]"),
    ) -> R.DTensor((128, 128), dtype="float32", device_mesh="mesh[0]", placement="S[1]"):
        c = R.dist.const(2, R.DTensor((), dtype="float32", device_mesh="mesh[0]", placement="R"))
        y = R.dist.annotate_sharding(x, device_mesh="mesh[0]", placement="S[0]")
        return y
"""
    assert format_text(text).text == text
    assert format_text(text.replace("S[1]", "S[0]", 1)).text != text


def test_pointers_say_what_they_point_to() -> None:
    text = (
        '@T.prim_func\ndef f(a: T.handle("float32", "global"), b: T.handle):\n    T.evaluate(0)\n'
    )
    assert (format_text(text).text or "").endswith(text)
    assert rlx.parse(text) is not None


@pytest.mark.parametrize(
    ("text", "written"),
    [
        (
            """\
@R.function
def main(t: R.Tuple(T.int64, R.Any)):
    k: T.int64 = t[0]
    y = R.match_cast(t[1], R.Tensor((k,)))
    return (y, k)
""",
            ['k: R.Prim("int64") = R.match_cast(t[0], R.Prim(value=k_1))', "R.Tensor((k_1,))"],
        ),
        (
            """\
@R.function
def main(s: T.int64):
    k: T.int64 = R.match_cast(s, T.int64)
    return R.ones(R.shape([k]), "int8")
""",
            ['k: R.Prim("int64") = R.match_cast(s, R.Prim(value=k_1))', "R.shape([k_1])"],
        ),
    ],
)
def test_before_0_26_a_cast_gives_a_dimension_its_number(text: str, written: list[str]) -> None:
    older = format_text(text, version="0.17").text or ""
    assert all(words in older for words in written)
    assert format_text(format_text(older, version="0.27").text or "", version="0.17").text == older


def test_what_a_prim_func_keeps_as_text_may_be_wrapped() -> None:
    text = """\
@T.prim_func
def f(A: T.Buffer((4,), "float32")):
    T.func_attr({"target": T.target({"keys": ["cpu"], "kind": "llvm", "mtriple": "x86_64", "tag": ""})})
    T.evaluate(0)
"""
    wide, narrow = (format_text(text, width=width).text or "" for width in (120, 30))
    assert len(wide.splitlines()) < len(narrow.splitlines())
    assert format_text(narrow, width=120).text == wide
