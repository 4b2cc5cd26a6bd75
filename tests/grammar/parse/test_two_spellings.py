"""Statements of PrimFuncs that TVM spells in two ways: both are the same program."""

from __future__ import annotations

from textwrap import indent

import pytest

from rlx.grammar.nodes.equal import structural_equal
from rlx.grammar.print.printer import print_module
from rlx.grammar.read.parser import parse

FRAME = """
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def f(A: T.Buffer((4, 4), "float32"), B: T.Buffer((4, 4), "float32")):
        for i in range(4):
{body}
"""
SAME = {
    "views": (
        "V = A.view(2, -1)\nB[0, 0] = V[1, 7]",
        "V = T.decl_buffer((2, 8), 'float32', data=A.data)\nB[0, 0] = V[1, 7]",
    ),
    "views of bytes": (
        'V = A.view("int8")\nB[0, 0] = T.Cast("float32", V[1, 15])',
        "V = T.decl_buffer((4, 16), 'int8', data=A.data)\nB[0, 0] = T.Cast('float32', V[1, 15])",
    ),
    "views of wider elements": (
        'V = A.view("float64")\nB[0, 0] = T.Cast("float32", V[1, 1])',
        "V = T.decl_buffer((4, 2), 'float64', data=A.data)\nB[0, 0] = T.Cast('float32', V[1, 1])",
    ),
    "places": (
        "V = T.decl_buffer((4,), 'float32', data=A.ptr_to([1, 0]))\nB[0, 0] = V[1]",
        "V = T.decl_buffer((4,), 'float32', data=T.address_of(A[1, 0]))\nB[0, 0] = V[1]",
    ),
    "places further on": (
        "T.evaluate(T.call_extern('int32', 'f', A.access_ptr('rw', offset=4)))",
        (
            "T.evaluate(T.call_extern('int32', 'f', "
            "T.tvm_access_ptr(T.type_annotation('float32'), A.data, 4, 12, 3)))"
        ),
    ),
    "places in memory with an offset and strides": (
        (
            "with T.sblock():\n"
            "    V = T.match_buffer(A[0:2, 0:4], (2, 4), strides=[4, 1], offset_factor=1)\n"
            "    T.evaluate(T.call_extern('int32', 'f', V.access_ptr('r', offset=3)))"
        ),
        (
            "with T.sblock():\n"
            "    V = T.match_buffer(A[0:2, 0:4], (2, 4), strides=[4, 1], offset_factor=1)\n"
            "    T.evaluate(T.call_extern('int32', 'f', T.tvm_access_ptr("
            "T.type_annotation('float32'), V.data, V.elem_offset + T.int32(3), 5, 1)))"
        ),
    ),
    "choices": (
        "B[0, 0] = A[i, 0] * 2.0 if i < 3 else 0.0 if i < 5 and A[i, 0] > 0.0 else -A[i, 0]",
        (
            "B[0, 0] = T.if_then_else(i < 3, A[i, 0] * 2.0, "
            "T.if_then_else(i < 5 and A[i, 0] > 0.0, 0.0, -A[i, 0]))"
        ),
    ),
    "choices that Python makes": ("B[0, 0] = 1.0 if True else A[9, 9]", "B[0, 0] = 1.0"),
    "operations on bits": (
        "B[i, 0] = T.f32(T.BitwiseAnd(i, 3) + T.LShift(i, 1) + T.BitwiseNot(i))",
        "B[i, 0] = T.f32(T.bitwise_and(i, 3) + T.shift_left(i, 1) + T.bitwise_not(i))",
    ),
    "names of the text": (
        "y = T.meta_var(A[i, 0] + 1.0)\nB[i, 0] = y * y",
        "B[i, 0] = (A[i, 0] + 1.0) * (A[i, 0] + 1.0)",
    ),
    "assertions": (
        'with T.Assert(A[0, 0] < 1.0, "no"):\n    B[0, 0] = 1.0',
        'assert A[0, 0] < 1.0, "no"\nB[0, 0] = 1.0',
    ),
    "types of branches": (
        'B[i, 0] = T.if_then_else(i < 2, A[i, 0], 0.0, dtype="float32")',
        "B[i, 0] = T.if_then_else(i < 2, A[i, 0], 0.0)",
    ),
    "short types": (
        "B[i, 0] = T.f32(2) * T.f32(T.i32(3))",
        "B[i, 0] = T.float32(2) * T.float32(T.int32(3))",
    ),
    "break": (
        "if i > 2:\n    break\nB[i, 0] = 0.0",
        "if i > 2:\n    T.break_loop()\nB[i, 0] = 0.0",
    ),
    "continue": (
        "if i > 2:\n    continue\nB[i, 0] = 0.0",
        "if i > 2:\n    T.continue_loop()\nB[i, 0] = 0.0",
    ),
    "steps": (
        "for j in range(0, 4, 2):\n    B[i, j] = 0.0",
        "for j in T.serial(0, 4, step=2):\n    B[i, j] = 0.0",
    ),
    "a step of one": (
        "for j in range(0, 4, 1):\n    B[i, j] = 0.0",
        "for j in range(4):\n    B[i, j] = 0.0",
    ),
}


@pytest.mark.parametrize("name", SAME)
def test_both_are_the_same(name: str) -> None:
    first, second = (parse(FRAME.format(body=indent(text, " " * 12))) for text in SAME[name])
    assert not first.diagnostics and not second.diagnostics
    assert structural_equal(first.modules[0], second.modules[0])
    again = parse(print_module(first.modules[0], "0.27"))
    assert structural_equal(first.modules[0], again.modules[0])


def test_another_step_is_another_loop() -> None:
    two, three = (
        parse(
            FRAME.format(
                body=f"            for j in range(0, 4, {step}):\n                B[i, j] = 0.0"
            )
        )
        for step in (2, 3)
    )
    assert not structural_equal(two.modules[0], three.modules[0])


@pytest.mark.parametrize("bound,errors", [("", 0), (": int", 0), (": str", 1)])
def test_type_parameters(bound: str, errors: int) -> None:
    text = f'@R.function\ndef f[n{bound}, m](x: R.Tensor((n, m), "float32")):\n    return x\n'
    assert len(parse(text).diagnostics) == errors


def test_functions_that_python_calls_lambda() -> None:
    text = """
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def <lambda>1(A: T.Buffer((2,), "float32"), B: T.Buffer((2,), "float32")):
        for i in range(2):
            B[i] = A[i]

    @R.function
    def main(x: R.Tensor((2,), "float32")):
        cls = Module
        y = R.call_tir(cls.<lambda>1, (x,), out_ty=R.Tensor((2,), "float32"))
        return y
"""
    found = parse(text)
    assert not found.diagnostics
    assert [name.name_hint for name in found.modules[0].functions] == ["<lambda>1", "main"]
    again = parse(print_module(found.modules[0], "0.27"))
    assert structural_equal(found.modules[0], again.modules[0])
