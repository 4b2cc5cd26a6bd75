"""Sorts as TVM legalises them for a CPU: the same values as TVM's, evaluated and in a run of the module."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

import rlx
from rlx.grammar.nodes import tir
from rlx.grammar.read.parser import parse
from rlx.semantics.faults import FaultStop
from rlx.semantics.machine import load
from rlx.semantics.outcome import Returned
from rlx.semantics.tir import evaluate
from rlx.semantics.values import Tensor, TupleValue
from rlx.transform import legalize
from tests.tvm.target import QUICK

DATA = np.array([[3, -1, 2, 3, 0, -1], [5, 5, 5, 1, 9, -7], [0, 0, 0, 0, 0, 0]])
KINDS = ("float32", "float64", "int32", "int64")
CALLS = [
    "R.sort(a, axis=-1, descending=True)",
    "R.sort(a, axis=0)",
    "R.argsort(a, axis=1)",
    "R.argsort(a, axis=0, descending=True)",
    'R.argsort(a, axis=-1, dtype="int64")',
    'R.topk(a, k=2, axis=1, ret_type="both")',
    'R.topk(a, k=3, axis=-1, ret_type="values", largest=False)',
    'R.topk(a, k=2, axis=0, ret_type="indices")',
    'R.topk(a, k=-1, axis=1, ret_type="both", largest=False)',
]
BOXES = np.array(
    [
        [
            [0, 0.9, 0, 0, 1, 1],
            [0, 0.8, 0, 0, 1, 1],
            [1, 0.7, 0, 0, 1, 1],
            [0, 0.6, 2, 2, 3, 3],
            [0, 0.95, 2, 2, 3, 3.1],
            [-1, 0.1, 0, 0, 1, 1],
        ]
    ],
    np.float32,
)


def legalized(expr: str, arrays: list[np.ndarray[Any, Any]]) -> Any:
    """TVM's module of one call, its operators dispatched and legalised for a CPU."""
    params = ", ".join(
        f'{name}: R.Tensor({array.shape}, "{array.dtype}")'
        for name, array in zip("abc", arrays, strict=False)
    )
    text = f"""
@I.ir_module
class Module:
    @R.function
    def main({params}) -> R.Any:
        with R.dataflow():
            y = {expr}
            R.output(y)
        return y
"""
    module = tvm.script.from_source(text)
    with tvm.target.Target("llvm"):
        return relax.transform.LegalizeOps()(relax.backend.DispatchSortScan()(module))


def fields(value: Any) -> list[np.ndarray[Any, Any]]:
    """The arrays of a result of ours or of TVM's."""
    match value:
        case Tensor(data=data):
            return [data]
        case TupleValue(fields=parts):
            return [array for part in parts for array in fields(part)]
    if hasattr(value, "numpy"):
        return [value.numpy()]
    return [array for part in value for array in fields(part)]


def compare(
    expr: str, arrays: list[np.ndarray[Any, Any]], called: str = "tvm.contrib.sort."
) -> None:
    """One call: TVM's virtual machine, our machine with both back ends."""
    module = legalized(expr, arrays)
    text = module.script()
    assert called in text
    machine = relax.VirtualMachine(tvm.compile(module, target=QUICK), tvm.cpu())
    expected = fields(machine["main"](*[tvm.runtime.tensor(array) for array in arrays]))
    [ours] = parse(text).modules
    for backend in ("steps", "native"):
        end = load(ours, backend=backend).run("main", [Tensor(a.copy()) for a in arrays])
        assert isinstance(end, Returned), end
        for a, b in zip(fields(end.value), expected, strict=True):
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("expr", CALLS)
def test_sorts_as_tvm(expr: str) -> None:
    for kind in KINDS if expr == CALLS[0] else KINDS[:1]:
        compare(expr, [DATA.astype(kind)])


@pytest.mark.parametrize(
    "attributes",
    ["iou_threshold=0.5", "iou_threshold=0.3, top_k=3", "iou_threshold=0.5, force_suppress=True"],
)
def test_non_maximum_suppression_as_tvm(attributes: str) -> None:
    count, indices = np.array([5], np.int32), np.arange(6, dtype=np.int32)[None]
    compare(f"R.vision.non_max_suppression(a, b, c, {attributes})", [BOXES, count, indices])


@pytest.mark.parametrize("expr", [*CALLS[:4], CALLS[5], "R.median(a, axis=[1])"])
def test_our_sorts_run_in_tvm(expr: str) -> None:
    """The merge sorts that legalisation makes, compiled by TVM: long lines with NaN, and no line."""
    text = f"""@I.ir_module
class Module:
    @R.function
    def main(a: R.Tensor(("n", "m"), "float32")):
        y = {expr.replace("k=2", "k=-1")}
        return y
"""
    module = rlx.parse(text)
    made = tvm.script.from_source(rlx.show(legalize(module)))
    machine = relax.VirtualMachine(tvm.compile(made, target=QUICK), tvm.cpu())
    for shape in ((5, 100), (100, 3), (0, 3)):
        data = np.random.default_rng(1).integers(0, 9, shape).astype(np.float32)
        data[data == 4] = np.nan
        end = load(module, backend="steps").run("main", [Tensor(data)])
        assert isinstance(end, Returned), end
        for a, b in zip(
            fields(end.value), fields(machine["main"](tvm.runtime.tensor(data))), strict=True
        ):
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(a, b)


UNIQUE = [
    "R.unique(a)",
    "R.unique(a, sorted=False)",
    "R.unique(a, return_index=True, return_inverse=True, return_counts=True)",
    "R.unique(a, sorted=False, return_index=True, return_inverse=True, return_counts=True)",
    "R.unique(a, return_counts=True, axis=0)",
    "R.nonzero(a)",
]


@pytest.mark.parametrize("expr", UNIQUE)
def test_distinct_elements_as_tvm(expr: str) -> None:
    for data in (DATA[:, 0], DATA) if "axis" not in expr else (DATA[[0, 1, 0]],):
        # Of several axes TVM takes wrong elements for unsorted ones, and NumPy 2 keeps the axes of the inverse.
        if data.ndim == 1 or not {"sorted=False", "return_inverse"} & set(
            re.findall(r"\w+(?:=False)?", expr)
        ):
            compare(expr, [np.ascontiguousarray(data, np.int32)], "relax.run.")


CALL = """
@T.prim_func
def f(a: T.Buffer((3,), "float32"), b: T.Buffer((3,), "int32")):
    T.call_packed("tvm.contrib.sort.argsort", T.tvm_stack_make_array(a.data, T.tvm_stack_make_shape(3), 0, 1, T.float32(0), 0), T.tvm_stack_make_array(b.data, T.tvm_stack_make_shape(3), 0, 1, 0, 0), AXIS, T.bool(True))
"""


def run(axis: int, data: np.ndarray[Any, Any], unwritten: list[int]) -> np.ndarray[Any, Any]:
    [func] = parse(CALL.replace("AXIS", str(axis))).modules[0].functions.values()
    assert isinstance(func, tir.PrimFunc)
    out = np.zeros(3, np.int32)
    evaluate(func, [data, out], unwritten=unwritten)
    return out


def test_nan_comes_last_and_what_is_read_was_written() -> None:
    data = np.array([np.nan, 2, 1], np.float32)
    assert run(0, data, [1]).tolist() == [2, 1, 0]
    for axis, unwritten, code in ((1, [1], "E-tir-sort-axis"), (0, [0, 1], "E-tir-unwritten")):
        with pytest.raises(FaultStop) as caught:
            run(axis, data, unwritten)
        assert caught.value.code == code
