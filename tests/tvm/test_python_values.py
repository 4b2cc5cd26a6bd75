"""Expressions of Python on Relax values: an error where TVM 0.27 fails, and none where it computes them as Python does."""

from __future__ import annotations

import pytest

from rlx.checker.check import check_text

from .dialect_law import attempt

DEFINITION = """n = TypeVar("n")
@R.function
def f(x: R.Tensor((4,), "float32"), c: R.Tensor((), "bool"), s: R.Shape([n])):
    y = {}
    return x
"""
KERNEL = """@T.prim_func
def f(A: T.Buffer((4, 4), "float32"), B: T.Buffer((4,), "float32"), n: T.int32):
    {}
"""
IMPORTS = (
    "from typing import TypeVar\nfrom tvm.script import ir as I, relax as R, tirx as T\nK = True\n"
)


def has_error(value: str, around: str = DEFINITION) -> bool:
    return bool(check_text(IMPORTS + around.format(value), "a.py").errors)


@pytest.mark.parametrize(
    "value",
    [
        "x if c else x",
        "R.zeros((n if c else 5,), 'float32')",
        "x if n > 2 else x",
        "R.add(x, x) if R.equal(x, x) else x",
        "sum([x, x])",
        "max(x, x)",
        "abs(x)",
        "float(x)",
        "any([x])",
        "sum(x for i in range(2))",
        "(z := x)",
        "R.add(z := x, z)",
        "await x",
        "R.shape(tuple(i for i in (2, 2)))",
        "x\n    y: int = 3",
        "x\n    y: bool = True",
        "x\n    ...",
        "x\n    lambda z: z",
        "len(x)",
        "(x, None)",
        "None\n    return y",
        "int\n    return y",
        "R.add(x, print)",
        "R.astype(x, float)",
        "R.zeros((2,), dtype=int)",
        "R.sum(x, axis=int)",
        "x\n    z: R.Tensor((2,), T.float32) = x",
        "R.zeros((int(n),), 'float32')",
        "R.zeros((max(n, 3),), 'float32')",
        "x\n    R.func_attr({'a': [unknown]})",
    ],
)
def test_tvm_fails(value: str) -> None:
    module, _ = attempt(DEFINITION.format(value))
    assert module is None
    assert has_error(value)


@pytest.mark.parametrize(
    "value",
    [
        "[R.add(x, x) for i in range(3)]",
        "x if True else R.add(x, x)",
        "R.zeros((n if n > 2 else 5,), 'float32')",
        "R.reshape(x, [i for i in (2, 2)])",
        "R.zeros((max(2, 3),), 'float32')",
        "len([x, x])",
        'f"{4}"',
        "(x for i in [1])",
        "{x}",
        "int",
        "None\n    z = R.sum(x, axis=y)",
        "{i: x for i in [1]}",
        "x is None",
        "R.add(x, x) if x is not None else x",
        "x\n    if x is None:\n        z = R.add(x, x)\n    elif x is not None:\n        z = x\n    else:\n        z = x",
        '{"a": 1}',
        '{"a": x}\n    z = R.add(x, y["a"])',
        'R.add(x, {"a": x}["a"])',
        'R.add(**{"x1": x, "x2": x})',
        "R.concat(tuple(x for i in range(2)))",
        "x\n    a, b, = x, x",
        "x\n    (a, b) = x, x",
        "x\n    R.func_attr({'a': [len([1]), n]})",
    ],
)
def test_tvm_reads(value: str) -> None:
    module, reason = attempt(DEFINITION.format(value))
    assert module is not None, reason
    assert not has_error(value)


@pytest.mark.parametrize(
    "statement",
    [
        "B[0] = A[0, 0][1]",
        "B[0] = A[0][1]",
        "B[0] = A[0, 0].sum()",
        "B[0] = A.dtype",
        "B[0] = A.data",
        "B[0] = A.shape",
        "B[0] = B[:]",
        "B[0] = 1j",
        "B[0] = ...",
        'B[0] = f"{n}"',
        "B[0] = B[::2]",
        "B[0] = B[0] @ B[1]",
        "B[0] = B()",
        "B()",
        "for i in range(A.shape[2]): B[i] = A[i, 0]",
        "for i in 4: B[i] = A[i, 0]",
        "with A: B[0] = A[0, 0]",
        "def g(): pass",
        "yield n",
        "assert n > 0",
        "C = T.alloc_buffer((4,), T.float32)",
        "C = T.alloc_buffer((4,), float)",
        "B[0] = T.Cast(T.float32, n)",
        "B[0] = A[0, 0].astype(float)",
        "n.sum()",
        "x = n.foo",
        "B[n.foo] = 0",
        "x = (n + 1).item()",
        "x = n.astype('int64').foo",
        "x = n[0]",
        "x = A.data[0]",
        "x = A.dtype",
        "x: T.int32 = B.name",
        "B[0] = n.ty",
        "B[0] = A.scope()",
        "B.shape[0] = 3",
        "B.shape[0] += 3",
        "n += 1",
        "for i in range(4): i += 1",
        "x: T.let[T.int32] = 1\n    x += 1",
        "A[0, 0].dtype",
        "n.dtype",
        "A.data()",
        "T.evaluate(A.data.foo)",
        "T.evaluate(A.shape.foo)",
        "T.evaluate(A[0:2, 0])",
        "T.evaluate({1})",
        "T.evaluate((y := n))",
        "T.evaluate(A[0, 0].astype())",
        "T.evaluate(A.access_ptr('q'))",
        "A.strides[0] = 1",
        "x: T.float32 = B",
        "foo()",
        "...",
        "[a, b] = A[0, 0] + A[1, 1]",
        "vk = T.axis.reduce(16, *4 + n)",
        "a, b = n",
        "C = T.alloc_buffer((4,), dtype=_)",
        "T.func_attr({'a': [unknown]})",
        "T.evaluate(unknown.name)",
        "unknown += 1",
        "C = T.decl_buffer((4, 4), data=A.data, strides=[unknown, 1])",
        "with T.sblock('s'): T.sblock_attr({'a': unknown}); B[0] = 1.0",
        "x: T.let[T.handle] = A.data",
        "x: T.let[T.handle('float32', 'shared')] = A.data",
        "x: T.let[T.handle] = T.address_of(A[0, 0])",
        "x: T.let[T.int32] = A.data",
        "x: T.let[T.int32] = A.strides",
        "B = A + B",
        "C = -A",
        "x = A.shape",
        "x: T.let[T.float32] = A[0]",
        "for i, j, in T.grid(4, 4, 4): A[i, j] = 1.0",
        "for i, (j, k) in T.grid(4, 4): A[i, 0] = 1.0",
        "for i, in T.grid(4): B[i] = 1.0",
        "x: T.let[T.handle] = T.call_packed('f', n)",
        "x: T.let = A.dtype",
        "x: T.let = A.strides",
        "x = A[0, :] * 2.0",
        "x = A == B",
        "x = T.exp(A)",
        "B[0] = T.max(A, A)",
        "T.evaluate(T.if_then_else(n > 0, A.data, B.data))",
        "x: T.let[T.int64] = A.elem_offset",
        "x: T.let[T.int32, 3] = n",
        "x: T.let[A] = n",
        "x: T.let[T.int32]",
        "x: T.let() = n",
        "with T.Let(n + 1, where={n: 1}): B[0] = 1.0",
        "with T.Let(n, where={}): B[0] = 1.0",
        "with T.attr(A.data, n, 1): B[0] = 1.0",
        "with T.launch_thread(n, 4): B[0] = 1.0",
        "for i in A.shape: B[0] = 1.0",
        "T.func_name('k')",
        "T.buffer_store(B, 'a', [0])",
        "T.buffer_store(A, 1.0, [0])",
        "C = T.alloc_buffer((4,), dtype=n)",
        "C = T.match_buffer(n, (4,))",
        "C = T.decl_buffer((16,), 'float32', data=n)",
        "x = B.ptr_to(0)",
        "x = B.vload([0, 0])",
        "x = B.scope",
        "T.evaluate(B.vstore([0], T.float32(1)))",
        "T.evaluate(B.dtype)",
        "T.evaluate(B.astype('int32'))",
        "T.evaluate(n.astype(3))",
        "T.evaluate(T.Range(0, 4))",
        "T.evaluate(T.Add(n, B[0]))",
        "T.evaluate(T.Mul(n, T.int64(3)))",
        "T.evaluate(T.Ramp(n, 1, n))",
        "T.evaluate(T.int64(99999999999999999999))",
        "T.evaluate(b'a')",
        "B[0] = 1.0 if n else 2.0",
        "B[0]: T.float32 = 1.0",
    ],
)
def test_tvm_refuses_in_a_kernel(statement: str) -> None:
    module, _ = attempt(KERNEL.format(statement))
    assert module is None
    assert has_error(statement, KERNEL)


@pytest.mark.parametrize(
    "statement",
    [
        "for i in range(A.shape[0]): B[i] = A[i, A.shape[-1] - 1]",
        "for i, j in T.grid(*A.shape): A[i, j] = B[j]",
        "C = T.alloc_buffer(A.shape, A.dtype)",
        "for i in range(4):\n        if n > 3:\n            break\n        B[i] = A[i, 0]",
        "while n > 0:\n        continue",
        'assert n > 0, "positive"',
        "x: T.int32 = n",
        "B[0] = A[0, 0].astype('float32')",
        "x = A.data",
        "x = A.elem_offset",
        "x = n\n    x += 1",
        "for i in range(4):\n        n += 1",
        "B[0] = n.equal(3)",
        "B[0] = B[0].equal(1.0)",
        "n.same_as(n)",
        "T.evaluate(A.access_ptr('r'))",
        "T.evaluate(A.offset_of([0, 0])[0])",
        "C = B.view('int32')\n    T.evaluate(C[0])",
        "T.evaluate(n.name)",
        "for i, j, in T.grid(4, 4): A[i, j] = 1.0",
        "for (i, j) in T.grid(4, 4): A[i, j] = 1.0",
        "for [i, j] in T.grid(4, 4): A[i, j] = 1.0",
        "x: T.let[T.handle('float32')] = A.data",
        "x: T.let = A.data\n    y: T.let[T.handle('float32')] = x",
        "x = n + 1\n    y = x * A.elem_offset",
        "T.evaluate(T.Let(n + 1, where={n: 1}))",
        "x: T.let[T.int32] = T.call_packed('f', n)",
        "x = A[0, 0] == B[0]",
        "x = T.exp(B[0])",
        "with T.sblock('b'):\n        T.reads(A[0, :])\n        B[0] = A[0, 0]",
        "x: T.let[T.int32] = A.elem_offset",
        "x: T.let[n] = n",
        "x = T.address_of(n)",
        "x = B.ptr_to([0])",
        "T.buffer_store(B, 1.0, [0])",
        "T.evaluate(B.name)",
        "T.evaluate(T.Mul(n, 3))",
        "C = T.decl_buffer((16,), data=A.data)",
    ],
)
def test_tvm_reads_in_a_kernel(statement: str) -> None:
    module, reason = attempt(KERNEL.format(statement))
    assert module is not None, reason
    assert not has_error(statement, KERNEL)
