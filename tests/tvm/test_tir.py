"""PrimFuncs that TVM makes of operators: TVM's LLVM code and our evaluator give the same values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax, tirx

from rlx.grammar.nodes import tir
from rlx.grammar.read.parser import parse
from rlx.semantics.faults import FaultStop
from rlx.semantics.tir import evaluate
from tests.tvm.target import QUICK

X, Y, V = '("n", 6), "float32"', '("n", 6), "float32"', '(6,), "float32"'
I, J = '("n", 6), "int32"', '("n", 6), "int32"'
S = '("n", 6), "int64"'
IMAGE, KERNEL = '(1, 2, 5, 5), "float32"', '(3, 2, 3, 3), "float32"'

CASES: dict[str, list[str]] = {
    "R.add(a, b)": [X, V],
    "R.divide(a, b)": [X, Y],
    "R.floor_divide(a, b)": [I, J],
    "R.floor_mod(a, b)": [I, J],
    "R.mod(a, b)": [I, J],
    "R.floor_mod(a, b) ": [X, Y],
    "R.power(a, b)": [X, Y],
    "R.bitwise_xor(a, b)": [I, J],
    "R.left_shift(R.bitwise_and(a, R.const(7)), R.const(3))": [I],
    "R.maximum(a, b)": [X, Y],
    "R.less(a, b)": [X, Y],
    "R.where(R.greater(a, b), a, b)": [X, Y],
    "R.exp(a)": [X],
    "R.log(R.abs(a))": [X],
    "R.sqrt(a)": [X],
    "R.rsqrt(R.abs(a))": [X],
    "R.tanh(a)": [X],
    "R.erf(a)": [X],
    "R.sigmoid(a)": [X],
    "R.round(a)": [X],
    "R.ceil(a)": [X],
    "R.trunc(a)": [X],
    "R.clip(a, -1, 1)": [X],
    "R.sign(a)": [X],
    "R.isnan(a)": [X],
    'R.astype(a, "int32")': [X],
    'R.astype(a, "float16")': [X],
    'R.astype(a, "int8")': [I],
    "R.nn.gelu(a)": [X],
    "R.nn.silu(a)": [X],
    "R.nn.softmax(a, axis=-1)": [X],
    "R.nn.log_softmax(a, axis=-1)": [X],
    "R.nn.layer_norm(a, b, c, axes=[-1])": [X, V, V],
    "R.nn.rms_norm(a, b, axes=[-1])": [X, V],
    "R.sum(a, axis=1)": [X],
    "R.mean(a, axis=0, keepdims=True)": ['(3, 6), "float32"'],
    "R.max(a, axis=1)": [X],
    "R.argmax(a, axis=1)": [X],
    "R.matmul(a, b)": [X, '(6, 4), "float32"'],
    "R.permute_dims(a)": [X],
    "R.concat((a, b), axis=0)": [X, V.replace("(6,)", "(2, 6)")],
    "R.strided_slice(a, axes=[1], begin=[1], end=[6], strides=[2])": [X],
    "R.take(a, b, axis=1)": [X, '(3,), "int64"'],
    "R.gather_elements(a, b, axis=1)": [X, S],
    "R.one_hot(a, R.prim_value(1), R.prim_value(0), depth=9)": [S],
    "R.tril(a, 1)": [X],
    "R.flip(a, axis=1)": [X],
    "R.tile(a, (2, 1))": [X],
    "R.repeat(a, 2, axis=1)": [X],
    "R.broadcast_to(a, (n, 6))": [V, X],
    "R.expand_dims(a, axis=1)": [X],
    'R.nn.pad(a, (0, 0, 1, 2), pad_mode="constant", pad_value=2.0)': [X],
    "R.nn.conv2d(a, b, padding=1, strides=2)": [IMAGE, KERNEL],
    "R.nn.max_pool2d(a, pool_size=(2, 2), padding=1)": [IMAGE],
    "R.nn.avg_pool2d(a, pool_size=(2, 2))": [IMAGE],
}


def legalized(expr: str, parameters: list[str]) -> Any:
    """TVM's module of one operator after LegalizeOps."""
    names = "abc"
    params = ", ".join(f"{v}: R.Tensor({p})" for v, p in zip(names, parameters, strict=False))
    text = f"""
@I.ir_module
class Module:
    @R.function
    def main({params}) -> R.Any:
        n = T.int64()
        with R.dataflow():
            y = {expr.strip()}
            R.output(y)
        return y
"""
    module = tvm.script.from_source(text)
    with tvm.target.Target("llvm"):
        return relax.transform.LegalizeOps()(module)


def inputs(func: tir.PrimFunc, n: int) -> list[np.ndarray[Any, Any]]:
    """Arrays for a function: small numbers with a few that are special, indices in range for int64."""
    rng = np.random.default_rng(n)
    made: list[np.ndarray[Any, Any]] = []
    for param in func.params:
        buffer = func.buffer_map[param]
        points = {v: n for dim in buffer.shape for v in tir.free_vars(dim)}
        dims = [_size(dim, points) for dim in buffer.shape]
        kind = str(buffer.dtype)
        if kind == "int64":
            made.append(rng.integers(0, 6, dims))
        elif kind == "int32":
            made.append((rng.integers(1, 60, dims) * rng.choice([-1, 1], dims)).astype(kind))
        else:
            made.append((rng.standard_normal(dims) * 2).astype(kind))
    return made


def _size(dim: tir.PrimExpr, points: dict[tir.Var, int]) -> int:
    from rlx.solver.evaluate import evaluate as number

    return number(dim, points)


def run_tvm(module: Any, name: str, args: Sequence[np.ndarray[Any, Any]]) -> list[Any]:
    """TVM's LLVM code on copies of the arguments."""
    func = module[name].with_attr("global_symbol", name)
    built = tvm.compile(tvm.IRModule({name: func}), target=QUICK)
    tensors = [tvm.runtime.tensor(arg) for arg in args]
    built[name](*tensors)
    return [t.numpy() for t in tensors]


@pytest.mark.parametrize("expr", list(CASES))
def test_primfuncs_of_operators(expr: str) -> None:
    module = legalized(expr, CASES[expr])
    ours = parse(module.script()).modules[0]
    found = 0
    for var, func in ours.prim_funcs.items():
        found += 1
        assert isinstance(module[var.name_hint], tirx.PrimFunc)
        for n in (1, 3):
            args = inputs(func, n)
            expected = run_tvm(module, var.name_hint, args)
            evaluate(func, args, unwritten=[len(args) - 1])
            for a, b in zip(args, expected, strict=True):
                np.testing.assert_allclose(a, b, rtol=2e-6, atol=2e-6)
    assert found


UNORDERED = """
@T.prim_func(s_tir=True)
def f(A: T.Buffer((1,), "float32"), B: T.Buffer((1,), "bool"), C: T.Buffer((1,), "int32")):
    for i in range(1):
        with T.sblock("b"):
            v = T.axis.spatial(1, i)
            B[v] = A[v] != A[v]
            C[v] = T.Cast("int32", A[v])
"""


def test_what_tvm_does_with_nan() -> None:
    """TVM compares NaN with an ordered `!=`, and casts it to whatever the machine makes of it."""
    args = [np.array([np.nan], np.float32), np.zeros(1, bool), np.zeros(1, np.int32)]
    module = tvm.IRModule({"f": tvm.script.from_source(UNORDERED)})
    assert not run_tvm(module, "f", args)[1][0]
    [func] = parse(UNORDERED).modules[0].functions.values()
    assert isinstance(func, tir.PrimFunc)
    with pytest.raises(FaultStop) as caught:
        evaluate(func, args)
    assert caught.value.code == "E-tir-cast-range"
    assert args[1][0]
