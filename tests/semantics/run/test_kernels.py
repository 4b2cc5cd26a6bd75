"""A PrimFunc runs by itself: with its buffers and numbers, for what it leaves in the buffers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import rlx
from rlx.commands import compare, run, step

RELU_OF_PRODUCT = """
@T.prim_func
def product(A: T.Buffer((4, 3), "float32"), B: T.Buffer((3, 5), "float32"), C: T.Buffer((4, 5), "float32")):
    Y = T.alloc_buffer((4, 5), "float32")
    for i, j, k in T.grid(4, 5, 3):
        with T.sblock("Y"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                Y[vi, vj] = T.float32(0)
            Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
    for i, j in T.grid(4, 5):
        with T.sblock("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = T.max(Y[vi, vj], T.float32(0))
"""
SCALED = """
@T.prim_func
def scaled(a: T.handle, s: T.float32, n: T.int32, m: T.int32, b: T.handle):
    A = T.match_buffer(a, (n, m * 2), "float32")
    B = T.match_buffer(b, (n, m * 2), "float32")
    for i, j in T.grid(n, m * 2):
        B[i, j] = A[i, j] * s
"""
NUMBERS = """
@T.prim_func
def first(A: T.Buffer((8,), "float32"), s: T.float32, n: T.int32, B: T.Buffer((8,), "float32")):
    for i in range(n):
        B[i] = A[i] * s
"""


def test_a_kernel_with_buffers_alone() -> None:
    random = np.random.default_rng(0)
    a, b = (random.standard_normal(shape).astype(np.float32) for shape in ((4, 3), (3, 5)))
    for backend in ("native", "steps"):
        outcome = rlx.run(
            RELU_OF_PRODUCT, inputs=[a, b, np.full((4, 5), 7, np.float32)], backend=backend
        )
        np.testing.assert_allclose(outcome.numpy(), np.maximum(a @ b, 0), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("backend", ["native", "steps"])
def test_numbers_stand_anywhere_among_the_parameters(backend: str) -> None:
    a, b = np.arange(8, dtype=np.float32), np.full(8, -1, np.float32)
    outcome = rlx.run(NUMBERS, inputs={"n": 3, "s": 2.5, "A": a, "B": b}, backend=backend)
    assert outcome.numpy().tolist() == [0.0, 2.5, 5.0, -1, -1, -1, -1, -1]
    assert b.tolist() == [-1] * 8  # the caller's array is not overwritten
    assert rlx.run(NUMBERS, inputs=[a, 2.5, 3, b]).numpy().tolist() == outcome.numpy().tolist()


def test_sizes_among_the_numbers_are_those_of_the_buffers() -> None:
    a = np.ones((3, 8), np.float32)
    outcome = rlx.run(SCALED, inputs={"n": 3, "m": 4, "s": 0.5, "A": a})
    assert outcome.numpy().tolist() == (a * 0.5).tolist()
    assert rlx.run(SCALED, inputs={"s": 0.5}).numpy().shape == (2, 4)  # n and m are made up


def test_a_prim_func_that_python_made() -> None:
    """As ``tvm.compile`` takes one; `overwrite` leaves the result where it is written."""
    a = rlx.te.placeholder(("n",), "float32", name="a")
    twice = rlx.te.compute(a.shape, lambda i: a[i] * 2.0, name="twice")
    kernel = rlx.te.create_prim_func([a, twice])
    given, result = np.arange(3, dtype=np.float32), np.zeros(3, np.float32)
    assert rlx.check(kernel).ok
    rlx.run(kernel, inputs=[given, result], overwrite=True)
    assert result.tolist() == [0, 2, 4]
    thrice = rlx.te.compute(a.shape, lambda i: a[i] * 3.0, name="thrice")
    assert rlx.refines(kernel, kernel).proved
    assert rlx.refines(kernel, rlx.te.create_prim_func([a, thrice])).refuted


def test_several_written_buffers_are_a_tuple_and_regions_count_as_their_buffers() -> None:
    text = """
@T.prim_func
def both(A: T.Buffer((4,), "int32"), B: T.Buffer((4,), "int32"), C: T.Buffer((4,), "int32")):
    for i in range(4):
        with T.sblock("all"):
            vi = T.axis.spatial(4, i)
            D = T.match_buffer(B[vi:vi + 1], (1,), "int32", offset_factor=1)
            D[0] = A[vi] + 1
            C[vi] = A[vi] * A[vi]
"""
    outcome = rlx.run(text, inputs={"A": [1, 2, 3, 4], "B": [0] * 4, "C": [0] * 4})
    assert [array.tolist() for array in outcome.numpy()] == [[2, 3, 4, 5], [1, 4, 9, 16]]


def test_buffers_of_one_name_are_two_parameters() -> None:
    text = """
@T.prim_func
def f(a: T.handle, b: T.handle):
    A = T.match_buffer(a, (4,), "float32")
    A = T.match_buffer(b, (4,), "float32")
    for i in range(4):
        A[i] = 1.0
"""
    assert rlx.run(text, inputs=[np.zeros(4, np.float32)] * 2).numpy().tolist() == [1.0] * 4
    assert rlx.refines(text, text.replace("1.0", "2.0")).refuted


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, other = tmp_path / "kernels.rlx", tmp_path / "other.rlx"
    path.write_text(RELU_OF_PRODUCT + NUMBERS, encoding="utf-8")
    given = ["--input", "n=2", "--input", "s=3.0", "--input", "A=iota", "--input", "B=ones"]
    assert run.main([str(path), "--entry", "first", *given]) == 0
    assert "first returned\nfloat32(8)\n  [0. 3. 1. 1. 1. 1. 1. 1.]" in capsys.readouterr().out
    assert run.main([str(path), "--entry", "first", "--backend", "vm", *given]) == 0
    assert "[0. 3. 1. 1. 1. 1. 1. 1.]" in capsys.readouterr().out
    assert step.main([str(path), "--entry", "product"]) == 0
    assert "E-call-tir-inplace" in capsys.readouterr().out
    other.write_text(path.read_text("utf-8").replace("A[i] * s", "A[i] + s"), encoding="utf-8")
    assert compare.main([str(path), str(path), "--entry", "first", *given]) == 0
    assert compare.main([str(path), str(other), "--entry", "first", *given]) == 1
    assert "differ" in capsys.readouterr().out
    assert run.main([str(path), "--entry", "frist"]) == 2
    assert "product, first; did you mean 'first'?" in capsys.readouterr().err
    for backend in ("native", "vm"):
        assert run.main([str(path), "--backend", backend]) == 2  # neither is called main
        assert "functions that can be called: product, first" in capsys.readouterr().err


def test_relax_functions_come_first() -> None:
    """A module with one of them has one function that is called without a name."""
    text = f"""
@I.ir_module
class Module:
{RELU_OF_PRODUCT.replace(chr(10), chr(10) + "    ")}
    @R.function
    def answer() -> R.Prim("int64"):
        return R.prim_value(42)
"""
    assert rlx.run(text).numpy() == 42
    assert rlx.run(text, entry="product").numpy().shape == (4, 5)


def test_a_handle_that_is_no_buffer_is_told() -> None:
    text = "@T.prim_func\ndef opened(h: T.handle, n: T.int64):\n    T.evaluate(n)\n"
    with pytest.raises(
        rlx.SubjectError,
        match="'opened' cannot be called by itself: it writes no buffer, takes a handle",
    ):
        rlx.run(text)
