"""Calls of T., R. and I. with a mistake are reported where TVM 0.27 refuses them, and their keywords are read as TVM reads them."""

from __future__ import annotations

import pytest
import tvm_ffi

from rlx.checker.check import check_text
from rlx.grammar.print.formatting import format_text
from rlx.grammar.read.parser import parse

from .dialect_law import attempt
from .misuse import IMPORTS, reported

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
        "x[0, 0] = abs(x[0, 0])",
        "x[0, 0] = max(x[0, 0], x[0, 1])",
        "k[0] = int(x[0, 0])",
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
        "k = x",
        "k[:] = x[0, 0]",
        "x += x",
        "x[0][0] = T.float32(1)",
        "x[0, 0] = [1, 2]",
        "x[0, 0] = lambda v: v",
        "x[0, 0] = x.size",
        "k[0] = len(x)",
        "k[0], k[1] = 1, 2",
        "y = None",
        "y: int = 3",
        "[1, 2]",
        "return None",
        "for i in [0, 1]:\n        k[i] = 1",
        "for i, i in T.grid(4, 4):\n        k[i] = 1",
        "for i, in T.grid(4):\n        k[i] = 1",
        "for i in T.grid(4, 4):\n        k[i] = 1",
        "for i in T.grid(4, 4):\n        k[0] = i",
        "for i in T.grid(4, 4):\n        k[i[2]] = 1",
        "for i in T.grid():\n        k[0] = 1",
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
        "y = R.tuple([3, 3], x)",
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
        'for i in T.serial(4, dtype="uint32"):\n        k[i] = 1',
        'for i, j in T.grid(2, 2, dtype="uint32"):\n        k[i] = 1',
        "for i, j in T.grid((1, 3), 2):\n        k[i] = 1",
        "for i in T.grid(4, 4):\n        x[i] = T.float32(1)",
        "for i in T.grid(4, 4):\n        x[i[0], i[-1]] = x[i[1], 0]",
        "for i in range(4):\n        y = k\n        y[i] = 1",
        "x[0, 0] = T.pow(b, 2.5)",
        "x[0, 0] = T.pow(2, x[0, 1])",
        "x[0, 0:4:2] = T.Broadcast(T.float32(1), 2)",
    ],
)
def test_both_read_keywords(statement: str) -> None:
    text = PRIM.format(statement)
    assert attempt(text)[0] is not None
    assert reported(text) == (False, False)


def test_a_power_of_an_integer_and_a_float_is_one_of_floats() -> None:
    """Read as TVM reads it: the integer is cast."""
    text = PRIM.format("x[0, 0] = T.pow(b, 2.5)")
    ours = str(parse(text).modules[0])
    assert tvm_ffi.structural_equal(attempt(ours)[0], attempt(text)[0])


def test_a_slice_that_is_a_value_is_written_as_a_vector() -> None:
    """TVM 0.27 reads a slice as a region: a target refuses it, and the formatter writes a ramp."""
    text = PRIM.format("x[0, 0:4] = x[1, 0:4]")
    assert attempt(text)[0] is None
    assert not check_text(IMPORTS + text, "a.py", "0.27").ok
    written = format_text(text, "a.rlx", "0.27").text
    assert written is not None
    assert attempt(written)[0] is not None


@pytest.mark.parametrize(
    "text",
    [
        '@R.function\ndef f(x: R.Tensor((n,), "float32")):\n    return x\n',
        "@R.function\ndef f(x: R.Tensor((4,), float32)):\n    return x\n",
        '@R.function\ndef f(x: R.Tensor(("n",), "float32"), y: R.Tensor((n,))):\n    return x\n',
        "@R.function\ndef f(x):\n    return x\n",
        '@R.function\ndef f(x: R.Prim("int64", 3)):\n    return x\n',
        '@R.function\ndef f(x: Tensor((4,), "float32")):\n    return x\n',
        '@T.prim_func\ndef f(a: T.handle):\n    x = T.match_buffer(a, (n,), "float32")\n    x[0] = 1.0\n',
        RELAX.format("y = cls.f(x)"),
        RELAX.replace("(x: R", "(self, x: R").format("y = x"),
    ],
)
def test_a_target_tells_of_names_that_python_does_not_know(text: str) -> None:
    """TVM reads a text that is not a Python file as Python, too."""
    assert attempt(text)[0] is None
    assert any(d.severity != "note" for d in check_text(text, "a.rlx", "0.27").diagnostics)
