"""Tensor expressions in a builder: the document's programs, conversions, names, shared functions."""

from __future__ import annotations

import re
import runpy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rlx
from rlx import te
from rlx.grammar.nodes import ast, tir
from rlx.transform import CallTIRRewrite, RemovePurityChecking, Sequential, ToNonDataflow


def plus_one(x: Any) -> Any:
    return te.compute(x.shape, lambda *i: x(*i) + 1.0, name="B")


def built(params: list[ast.Var], *steps: Any) -> ast.IRModule:
    """A module whose function applies functions of a builder and the last value, one after the other."""
    bb = rlx.BlockBuilder()
    with bb.function("main", params):
        value: Any = params[0]
        for step in steps:
            value = step(bb, value)
        bb.emit_func_output(value)
    module = bb.get()
    assert rlx.check(module).ok
    return module


def prim_funcs(module: ast.IRModule) -> dict[str, tir.PrimFunc]:
    return {gv.name_hint: f for gv, f in module.prim_funcs.items()}


def test_the_document_s_dynamic_shape() -> None:
    x = rlx.Var("x", 'R.Tensor(("n", "2 * (m // 2)"), "float32")')
    sizes = rlx.Var("s", 'R.Shape(["n", "m"])')
    module = built([x, sizes], lambda bb, v: bb.emit_te(plus_one, v))
    (function,) = prim_funcs(module).values()
    assert [p.name for p in function.params] == ["x", "m", "B"]
    assert "R.call_tir(cls.plus_one, (x, m), out_ty=" in str(module)
    lower = Sequential([ToNonDataflow(), RemovePurityChecking(), CallTIRRewrite()])
    lowered = lower(module)
    assert re.search(r"cls\.plus_one\(x, m, \w+\)", str(lowered))
    for each in (module, lowered):
        out = rlx.run(each, inputs={"x": np.ones((3, 4), np.float32), "s": (3, 5)}).numpy()
        assert out.tolist() == np.full((3, 4), 2).tolist()


def test_te_tensor_and_emit_of_a_tensor() -> None:
    """``x + 1`` in Relax, then an expression over its tensor, as the document writes it."""
    n, m = rlx.dim("n"), rlx.dim("m")
    x = rlx.Var(
        "x", ast.TensorStructInfo(ast.ShapeExpr((n, m)), rlx.grammar.nodes.dtype.FLOAT32, 2)
    )

    def double(bb: rlx.BlockBuilder, value: Any) -> Any:
        tensor = te.te_tensor(value)
        return bb.emit(te.compute((n, m), lambda i, j: tensor[i, j] * 2, name="B"))

    module = built([x], lambda bb, v: bb.emit(v + 1), double)
    out = rlx.run(module, inputs={"x": np.ones((2, 3), np.float32)}).numpy()
    assert out.tolist() == [[4.0] * 3] * 2


def test_equal_functions_are_one_and_names_do_not_clash() -> None:
    x = rlx.Var("x", 'R.Tensor(("n", 4), "float32")')

    def other(x: Any) -> Any:
        return te.compute(x.shape, lambda *i: x(*i) * 3.0, name="B")

    other.__name__ = "plus_one"
    steps = [lambda bb, v: bb.emit_te(plus_one, v)] * 3 + [lambda bb, v: bb.emit_te(other, v)]
    module = built([x], *steps)
    assert list(prim_funcs(module)) == ["plus_one", "plus_one1"]
    out = rlx.run(module, inputs={"x": np.ones((1, 4), np.float32)}).numpy()
    assert out.tolist() == [[12.0] * 4]


def test_arguments_are_converted() -> None:
    pair = rlx.Var(
        "p", 'R.Tuple(R.Tensor(("n", "m"), "float32"), R.Tensor(("n",), "float32"), R.Shape(["m"]))'
    )
    seen: list[Any] = []

    def scaled(parts: Any, factor: Any, shape: Any, number: Any, words: str) -> Any:
        seen.append((parts, factor, shape, number, words))
        first, second, _ = parts
        return te.compute(shape, lambda i, j: first[i, j] * second[i] * factor * number)

    def step(bb: rlx.BlockBuilder, value: Any) -> Any:
        n, m = bb.shape_vars["n"], bb.shape_vars["m"]
        number = ast.PrimValue(tir.FloatImm(3.0))
        return bb.emit_te(scaled, value, 2.0, ast.ShapeExpr((n, m)), number, words="plain")

    module = built([pair], step)
    parts, factor, shape, number, words = seen[0]
    assert [type(part) for part in parts] == [te.Tensor, te.Tensor, tuple]
    assert (factor, number.value, words, len(shape)) == (2.0, 3.0, "plain", 2)
    given = (np.ones((2, 3), np.float32), np.full(2, 5, np.float32), (3,))
    assert rlx.run(module, inputs={"p": given}).numpy().tolist() == [[30.0] * 3] * 2


def test_several_outputs() -> None:
    x = rlx.Var("x", 'R.Tensor(("n",), "float32")')

    def both(x: Any) -> Any:
        total = te.reduce_axis((0, x.shape[0]), name="k")
        return plus_one(x), te.compute((), lambda: te.sum(x[total], axis=total), name="S")

    module = built([x], lambda bb, v: bb.emit_te(both, v))
    first, second = rlx.run(module, inputs={"x": np.arange(3, dtype=np.float32)}).numpy()
    assert (first.tolist(), second.tolist()) == ([1, 2, 3], 3)
    _, nothing = rlx.run(module, inputs={"x": np.zeros(0, np.float32)}).numpy()
    assert nothing.tolist() == 0


def test_the_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path("examples/tensor_expressions.py", run_name="__main__")
    said = capsys.readouterr().out
    assert "no problems" in said
    assert "cls.silu" in said


def test_what_goes_wrong_names_the_line_and_leaves_the_builder_usable() -> None:
    x = rlx.Var("x", 'R.Tensor(("n",), "float32")')
    y = rlx.Var("y", "R.Tensor(ndim=1)")
    bb = rlx.BlockBuilder()
    with bb.function("main", [x, y]):
        with pytest.raises(te.TensorExpressionError, match="read outside: the index i \\+ 1"):
            bb.emit_te(lambda a: te.compute(a.shape, lambda i: a[i + 1]), x)
        with pytest.raises(te.TensorExpressionError, match="as result; found int"):
            bb.emit_te(lambda a: 3, x)
        with pytest.raises(te.TensorExpressionError, match="expected a computed tensor"):
            bb.emit_te(lambda a: a, x)
        with pytest.raises(te.TensorExpressionError, match="neither an argument nor a te_tensor"):
            loose = te.placeholder(x.struct_info_annotation.shape, name="P")  # type: ignore[union-attr]
            bb.emit_te(lambda: te.compute(loose.shape, lambda i: loose[i]))
        with pytest.raises(te.TensorExpressionError, match="is not known"):
            bb.emit_te(plus_one, y)
        with pytest.raises(te.TensorExpressionError, match=r"plus_one\(x.*missing a required"):
            bb.emit_te(plus_one)
        with pytest.raises(te.TensorExpressionError, match="too many positional arguments"):
            bb.emit_te(plus_one, x, x)
        with pytest.raises(te.TensorExpressionError, match="are no tensors, int 3: AttributeError"):
            bb.emit_te(plus_one, 3)
        with pytest.raises(AttributeError, match="nothing"):  # the user's own mistake, at its line
            bb.emit_te(lambda a: a.nothing, x)
        bb.emit_func_output(bb.emit_te(plus_one, x))
    assert rlx.check(bb.get()).ok


def test_numbers_and_arrays_of_numpy() -> None:
    x = rlx.Var("x", 'R.Tensor((2,), "float32")')

    def scaled(a: Any, b: Any, factor: Any) -> Any:
        return te.compute(a.shape, lambda i: (a[i] + b[i]) * factor)

    values = np.array([3.0, 5.0], np.float32)
    module = built(
        [x],
        lambda bb, v: bb.emit_te(scaled, v, values, np.float32(0.5)),
        lambda bb, v: bb.emit(values + v * np.float32(2)),
    )
    out = rlx.run(module, inputs={"x": np.ones(2, np.float32)}).numpy()
    assert out.tolist() == [7.0, 11.0]


def test_a_scalar_that_is_known_at_run_time() -> None:
    x = rlx.Var("x", 'R.Tensor((3,), "float32")')
    times = rlx.Var("times", "T.int64")

    def scaled(data: te.Tensor, factor: te.Scalar) -> Any:
        return te.compute(data.shape, lambda i: data[i] * factor.astype("float32"))

    module = built([x, times], lambda bb, value: bb.emit_te(scaled, value, times))
    result = rlx.run(module, inputs={"x": np.array([1, 2, 3], "float32"), "times": 5})
    assert result.numpy().tolist() == [5, 10, 15]


def test_names_and_attributes() -> None:
    x = rlx.Var("x", 'R.Tensor((3,), "float32")')
    options = {"name_hint": "y", "primfunc_name_hint": "kernel", "primfunc_attrs": {"fast": 1}}
    module = built([x], lambda bb, value: bb.emit_te(plus_one, value, **options))
    assert "y: " in rlx.show(module)
    assert prim_funcs(module)["kernel"].attrs["fast"] == 1


def test_a_scan_needs_its_first_row() -> None:
    """TVM's own example reads row 0 of `m` rows, which is only wrong where there are none."""
    m, n = te.var("m"), te.var("n")
    x = te.placeholder((m, n), "float32", "X")
    state = te.placeholder((m, n), "float32", "state")
    first = te.compute((1, n), lambda _, i: x[0, i])
    update = te.compute((m, n), lambda t, i: state[t - 1, i] + x[t, i])
    assert te.create_prim_func([x, te.scan(first, update, state, [x])]).params
    with pytest.raises(te.TensorExpressionError, match="X is read outside"):
        te.create_prim_func([x, te.compute((n,), lambda i: x[1, i])])


def test_bits_of_a_number_and_an_element() -> None:
    x = te.placeholder((4,), "int32", "x")
    module = rlx.BlockBuilder()
    given = rlx.Var("x", 'R.Tensor((4,), "int32")')

    def bits(data: te.Tensor) -> Any:
        return te.compute(
            data.shape, lambda i: (6 & data[i]) + (1 | data[i]) + (3 ^ data[i]) + (1 << data[i])
        )

    assert x.dtype == "int32" and x.shape[0] == 4
    with module.function("main", [given]):
        module.emit_func_output(module.emit_te(bits, given))
    values = np.array([0, 1, 2, 7], "int32")
    result = rlx.run(module.get(), inputs={"x": values}).numpy()
    assert np.array_equal(result, (6 & values) + (1 | values) + (3 ^ values) + (1 << values))


def kernels() -> dict[str, Callable[[te.Tensor], Any]]:
    """Kernels that are legal because of how they are made, and others."""
    axis = te.reduce_axis((0, 4), name="k")
    return {
        "sum": lambda x: te.compute((x.shape[0],), lambda i: te.sum(x[i, axis], axis=axis)),
        "guarded": lambda x: te.compute(
            (x.shape[0] + 1, 4), lambda i, j: te.if_then_else(i < x.shape[0], x[i, j], 0.0)
        ),
        "flat": lambda x: te.compute((x.shape[0] * 4,), lambda i: x[i // 4, i % 4]),
        "two": lambda x: te.compute(x.shape, lambda i, j: (x[i, j] + 1.0, te.exp(x[i, j]))),
        "divided": lambda x: te.compute(
            x.shape, lambda i, j: x[i, j] * (i // (j + 1)).astype("float32")
        ),
        "shifted": lambda x: te.compute(x.shape, lambda i, j: (i << j).astype("float32")),
        "filled": lambda x: te.extern(
            (4,), [x], lambda ins, outs: te.call_packed("f", ins[0], outs[0]), dtype="float32"
        ),
    }


def test_what_the_builder_does_not_check_again_is_legal() -> None:
    x = rlx.Var("x", 'R.Tensor(("n", 4), "float32")')
    bb = rlx.BlockBuilder()
    with bb.function("main", [x]):
        made = [bb.emit_te(f, x, primfunc_name_hint=name) for name, f in kernels().items()]
        bb.emit_func_output(made)
    report = rlx.check(bb.get())
    assert report.ok and not report.diagnostics, report.diagnostics


def test_each_use_of_a_value_is_a_parameter_as_in_tvm() -> None:
    x = rlx.Var("x", 'R.Tensor(("n", 4), "float32")')
    bb = rlx.BlockBuilder()
    with bb.function("main", [x]):
        product = bb.emit_te(
            lambda a, b: te.compute(a.shape, lambda i, j: a[i, j] * b[i, j], name="product"), x, x
        )
        bb.emit_func_output(product)
    assert "(x, x)" in rlx.show(bb.get())
