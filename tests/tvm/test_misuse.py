"""Calls of T., R. and I. with a mistake are reported where TVM 0.27 refuses them, and their keywords are read as TVM reads them."""

from __future__ import annotations

import pytest

from .dialect_law import attempt
from .misuse import reported

PRIM = """@T.prim_func(s_tir=True)
def f(x: T.Buffer((4, 4), "float32"), k: T.Buffer((4,), "int32"), b: T.int32):
    {}
"""
BLOCK = 'with T.sblock("s"):\n        {}\n        k[0] = 1'
RELAX = """@I.ir_module
class Module:
    @R.function
    def f(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        {}
        return x
"""


@pytest.mark.parametrize(
    "statement",
    [
        'with T.sblock("s", foo=1):\n        k[0] = 1',
        'with T.sblock("s") as q:\n        k[0] = 1',
        BLOCK.format("T.sblock_attr({1: 2})"),
        BLOCK.format("v = T.axis.remap('S')"),
        BLOCK.format("v = T.axis.spatial(4, b, foo=1)"),
        "for i in T.serial(8, annotations=3):\n        k[0] = i",
        "for i in T.serial(8, annotations={1: 2}):\n        k[0] = i",
        'tx = T.launch_thread("threadIdx.x", 4, foo=2)',
        'tx = T.launch_thread("threadIdx.x")',
        'T.attr(0, "key")',
        "assert b < 1, 3",
        "T.evaluate(b, foo=1)",
        "x[0, 0] = T.exp(None)",
        "x[0, 0] = T.fma(x[0, 0], x[0, 0], z=[1])",
        'x[0, 0] = T.Cast(["float32"], b)',
        'x[0, 0] = T.max_value("nonsense")',
        'x[0, 0] = T.reinterpret("nonsense", b)',
        'x[0, 0] = T.call_extern("fminf", x[0, 0], x[0, 1])',
        "x[0, 0] = T.broadcast(x[0, 0])",
        "k[0] = T.ramp(b, 1)",
        "x[0, 0] = T.float32([1])",
        'k[0] = T.call_extern("int32", "f", b, foo=1)',
        'y = T.alloc_buffer((4,), "float32", scope=3)',
        'y = T.alloc_buffer((4,), "float32", 3)',
        "T.func_attr({1: 2})",
        "x[0, 0] = T.Select(b > 1, x[0, 1], k[0])",
        "x[0, 0] = T.Select(b > 1, T.float32(1), 1)",
        "k[0] = T.pow(b, 2)",
        "k[0] = T.sin(b)",
        "k[0] = T.abs(b > 1)",
        "k[0] = T.shift_left(b, b > 1)",
        "k[0] = (b > 1) // b",
        "x[0, 0] = T.truncdiv(x[0, 0], x[0, 1])",
        'k[0] = T.max(b, 2, dtype="int32")',
        "x[0, 0] = T.exp(x[0, 0], span=3)",
        "x[0, 0] = T.exp(x[0, 0], span=None)",
        'k[0] = T.max_value("int32", span=3)',
        'A = T.match_buffer(x, None, "float32")',
    ],
)
def test_both_refuse_a_mistake_in_a_prim_func(statement: str) -> None:
    text = PRIM.format(statement)
    assert attempt(text)[0] is None
    assert reported(text)[1]


@pytest.mark.parametrize(
    "statement",
    [
        "R.func_attr({1: 2})",
        "y = R.dtype(None)",
        'y = R.call_pure_packed("f", None, ty_args=R.Object)',
        'y = R.to_vdevice(3, "llvm:0")',
        'I.module_global_infos({"vdevice": [I.vdevice("llvm", 0, 3)]})',
    ],
)
def test_both_refuse_a_mistake_in_a_function(statement: str) -> None:
    text = RELAX.format(statement)
    assert attempt(text)[0] is None
    assert reported(text)[1]


@pytest.mark.parametrize("value", ['"nonsense"', "3", "R.shape([4])"])
def test_a_cast_that_tvm_refuses_is_warned_of(value: str) -> None:
    text = RELAX.format(f'y = R.match_cast({value}, R.Tensor((4,), "float32"))')
    assert attempt(text)[0] is None
    assert reported(text) == (True, False)


@pytest.mark.parametrize("value", ['"text"', "2.5", "R.shape([4])"])
def test_both_cast_a_literal_to_an_object(value: str) -> None:
    text = RELAX.format(f"y = R.match_cast({value}, R.Object)")
    assert attempt(text)[0] is not None
    assert reported(text) == (False, False)


@pytest.mark.parametrize(
    "statement",
    [
        "for i in T.serial(start=4):\n        k[i] = 1",
        "x[0, 0] = T.exp(x=x[0, 0])",
        'x[0, 0] = T.exp(x[0, 0], dtype="float32")',
        "k[0] = T.floordiv(b, 2, span=None)",
        'k[0] = T.ceildiv(b, 2, dtype="int32")',
        "T.evaluate(T.pow(b, x[0, 0]))",
        "x[0, 0] = T.Select(b > 1, T.exp(x[0, 0]), 1.0)",
        "x[0, 0] = T.if_then_else(b > 1, x[0, 0], k[0])",
        "x[0, 0] = T.Select(condition=b < 1, true_value=x[0, 0], false_value=x[0, 1])",
        'x[0, 0] = T.Cast(value=b, dtype="float32")',
        'x[0, 0] = T.call_extern("fminf", x[0, 0], x[0, 1], dtype="float32")',
        'tx = T.launch_thread(extent=4, thread="threadIdx.x")',
        "for i in T.thread_binding(4, 'threadIdx.x'):\n        k[i] = 1",
        'T.attr({"key": 1})',
        'y = T.alloc_buffer(dtype="float32", shape=(4,))',
        BLOCK.format("T.where(predicate=b < 1)"),
    ],
)
def test_both_read_keywords(statement: str) -> None:
    text = PRIM.format(statement)
    assert attempt(text)[0] is not None
    assert reported(text) == (False, False)
