"""Lines of every form, right and wrong: how they are printed, and what is said of which part of them.

`RLX_UPDATE_SNAPSHOTS=1 pytest tests/grammar/parse/test_forms.py` writes the snapshots anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rlx.grammar.equal import first_difference
from rlx.grammar.parser import parse
from rlx.grammar.printer import print_module
from tests.snapshots import assert_entries

SNAPSHOTS = Path(__file__).parent / "snapshots"

RELAX = """\
@R.function
def main(x: R.Tensor((n, 4), "float32"), s: R.Shape([n, 4]), t: R.Tuple(R.Tensor, R.Shape), p: R.Prim("int64"), c: R.Tensor((), "bool"), o: R.Any):
    k = T.int64()
    LINE
    return x
"""
KERNEL = """\
@T.prim_func
def f(a: T.handle, B: T.Buffer((8, 16), "float32"), C: T.Buffer((16,), "int32"), q: T.int64, v: T.float32):
    n = T.int32()
    A = T.match_buffer(a, (n, 8), "float32")
    LINE
"""

LINES = r"""
y = x
y: R.Tensor = R.add(x, x)
y = R.const(1.5, "float16")
y = R.const([[1, 2], [3, 4]], "int8")
y = R.const([[1, 2], [3]], "int8")
y = R.const([], "int8")
y = R.const(True)
y = R.const(-7)
y = R.const("text")
y = R.const(b"bytes", "int8")
y = R.shape([n, k * 2 + 1, 3])
y = R.shape((n, 4))
y = R.shape(n)
y = R.prim_value(3)
y = R.prim_value(n // 2)
y = R.prim_value(2.5)
y = R.prim_value(True)
y = R.str("a\tb\x41\101\u00e9")
y = R.str(3)
y = R.dtype("float32")
y = R.dtype("floot")
y = R.reshape(x, (n * 4,))
y = R.reshape(x, "no shape")
y = R.add(x, R.const(1, "float32"))
y = x + x
y = x - x * x
y = -x
y = x / x
y = x // x
y = x % x
y = x ** x
y = x @ x
y = x < x
y = x < x < x
y = x == x
y = not x
y = ~x
y = x and c
y = x << x
y = 1 + x
y = x + 1
y = p + 1
y = p * 2 - 3
y = p < 4
y = n + 1
y = (x, s)
y = ()
y = (x,)
y = t[0]
y = t[1]
y = t[-1]
y = t[n]
y = t["a"]
y = t[0:1]
y = t[0, 1]
y = (x, s)[0]
y = (x, s)[-2]
y = (x, s)[5]
y = x[0]
y, z = t
y, z = R.split(x, 2, axis=1)
y: R.Tensor, z = t
y = z = x
y = R.add(x)
y = R.add(x, x, x)
y = R.add(x, x1=x)
y = R.add(x, x, axis=0)
y = R.sum(x, axis=[0, 1], keepdims=True)
y = R.sum(x, axis=0, axis=1)
y = R.sum(x, *[0])
y = R.astype(x, "int8")
y = R.astype(x, dtype="R.int8")
y = R.nn.relu(x)
y = R.nn.rellu(x)
y = relu(x)
y = R.call_tir(f, (x,), out_sinfo=R.Tensor((n, 4), "float32"))
y = R.call_tir(f, x, R.Tensor((n, 4), "float32"))
y = R.call_tir(f, (x,), out_sinfo=[R.Tensor((n,), "int8"), R.Tensor((4,), "int8")], tir_vars=R.shape([n]))
y = R.call_tir(f)
y = R.call_packed("f", x, sinfo_args=R.Tensor(ndim=2))
y = R.call_packed("f", x, sinfo_args=(R.Tensor(ndim=2), R.Shape))
y = R.call_packed(f, x)
y = R.call_pure_packed("f", x, sinfo_args=R.Any)
y = R.call_dps_packed("f", (x,), R.Tensor((n,), "int8"))
y = R.call_inplace_packed("f", x, inplace_indices=[0], sinfo_args=R.Tensor)
y = R.call_py_func("f", x, out_sinfo=R.Tensor)
y = R.ExternFunc("f")
y = R.ExternFunc("f", R.Callable((R.Tensor,), R.Tensor, False))
y = R.ExternFunc(f)
y = R.match_cast(x, R.Tensor((k, 4), "float32"))
y = R.match_cast(x)
y = R.match_cast(R.Tensor, x)
R.match_cast(s, R.Shape([n, k]))
y = R.assert_op(c, x, format="text {}")
R.print(x, format="x is {}")
y = R.null_value()
y = R.zeros((n, 4), "float32")
y = R.hint_on_device(x, R.cpu())
y = R.to_vdevice(x, "llvm:0")
y = R.to_vdevice(x, I.vdevice("llvm"))
y: R.Tensor((n, 4), "float32", "cuda:1") = x
y: R.Tensor((n, 4), "float32", 7) = x
y: R.Tensor((n, 4), vdevice="no where") = x
y: R.Tensor("float32", ndim=2) = x
y: R.Tensor(ndim=-1) = x
y: R.Tensor(ndim=n) = x
y: R.Tensor((n,), ndim=1) = x
y: R.Tensor((n, "k + 1", 3 * 2), dtype="int8") = x
y: R.Tensor((1.5,)) = x
y: R.Tensor(s, "float32") = x
y: R.Shape = s
y: R.Shape(ndim=2) = s
y: R.Shape((n, 4)) = s
y: R.Shape([]) = s
y: R.Prim("int64") = p
y: R.Prim(value=n) = p
y: R.Prim() = p
y: R.Prim("float32", 3) = p
y: R.Tuple = t
y: R.Tuple() = t
y: R.Tuple(R.Tensor, R.Tuple(R.Shape)) = t
y: R.Tuple([R.Tensor]) = t
y: R.Callable = o
y: R.Callable((R.Tensor, R.Shape), R.Any, True) = o
y: R.Callable((R.Tensor,), R.Any, purity=False) = o
y: R.Callable((R.Tensor,), R.Any, purity=3) = o
y: R.Callable(derive_func="f") = o
y: R.Object = o
y: R.Tensr = x
y: int = x
m = T.int64()
m = T.int32()
m: T.int64 = n + 1
R.func_attr({"a": 1, "b": [1, "two", 3.5], "c": True})
R.func_attr(3)
R.output(x)
pass
assert c
del x
import numpy
for i in range(3):
while c:
with R.dataflow():
lambda a: a
y = [a for a in t]
y = x if c else x
y = (
y = x)
y = 0x1F + 0b11 + 0o17
y = 1e400
y = 99999999999999999999999
y = x.shape
y = x.astype("int8")
y = x.foo(3)
y = f"{x}"
y = await x
y = R.
y =
"""

STATEMENTS = r"""
B[0, 0] = T.float32(1)
B[0, 0] = 1
B[q, 1] = v * 2.0 - -v
B[0] = 1.0
B[0, 0] += 1.0
B[0, 0] -= v
C[n] = T.Cast("int32", v)
C[0] = T.int32(3.7)
C[0] = T.int32("3")
C[0] = T.int8(300)
C[0] = T.min(n, 3) + T.max(n, 4, 5)
C[0] = T.truncdiv(n, 2) + T.truncmod(n, 2) + T.floordiv(n, 2) + n % 3 + n // 3
C[0] = T.Div(n, 2)
C[0] = T.Select(n < 3, 1, 2)
C[0] = T.if_then_else(n < 3, 1, 2)
C[0] = T.if_then_else(n < 3, 1)
C[0] = 1 if n < 3 else 2
C[0] = T.shift_left(n, 1) | n & 3 ^ 2
C[0] = ~n
C[0] = not n < 3
C[0] = n << 2 >> 1
C[0] = n < 3 and n > 1 or n == 2
C[0] = 1 < n < 3
C[0] = T.bool(True)
C[0] = T.exp(v)
C[0] = T.likely(n < 3)
C[0] = T.call_extern("int32", "f", n, v)
C[0] = T.call_packed("f", n)
C[0] = T.Let(n + 1, where={n: 3})
C[0] = C[C[1]]
C[T.int64(3)] = 0
C[0:4] = 0
C[0:8:2] = T.Broadcast(0, 4)
C[T.Ramp(0, 1, 4)] = T.Broadcast(1, 4)
C = 3
x = n + 1
x: T.int32 = n + 1
x: T.let[T.int32] = n + 1
x: T.handle = a
x = "text"
x = T.float32(0)
x: T.float32
x: T.float32[4]
x = T.local_scalar("int32")
x = T.alloc_buffer((4,), "int32", scope="local")
x = T.alloc_buffer((4,), "int32", scope=3)
x = T.allocate([4], "int32", "global")
x = T.decl_buffer((4,), "int32")
x = T.decl_buffer((4,))
x = T.Buffer((4,), "int32", data=C.data)
x = T.var("int32")
x = T.env_thread("threadIdx.x")
x, y = T.grid(3, 4)
x, y = n, 3
T.evaluate(n)
T.evaluate(T.call_extern("int32", "f"))
T.func_attr({"global_symbol": "f", "tir.noalias": True})
T.func_attr(n)
T.attr(C, "name", n)
T.attr(C.data, "pragma", 1)
T.launch_thread("threadIdx.x", 32)
assert n < 3, "message"
assert n < 3
return
return n
pass
T.ret(n)
for i in range(n): C[i] = i
for i in range(2, 8): C[i] = i
for i in range(0, 8, 2): C[i] = i
for i in T.serial(4): C[i] = i
for i in T.serial(1, 4, annotations={"a": 1}): C[i] = i
for i in T.parallel(T.int64(0), 4): pass
for i in T.vectorized(4): C[i] = 0
for i in T.unroll(n): C[i] = 0
for i in T.thread_binding(8, thread="threadIdx.x"): C[i] = 0
for i in T.thread_binding(0, 8, "blockIdx.x"): C[i] = 0
for i, j in T.grid(8, 16): B[i, j] = v
for i, j in T.grid(8): B[i, j] = v
for i in T.grid(8, 16): B[i, i] = v
for i in C: pass
for i in range(v): pass
while n < 3: C[0] = 1
if n < 3: C[0] = 1
with T.block("b"): T.reads(C[0]); T.writes(C[0:4]); C[0] = 1
with T.block("b"): i = T.axis.spatial(8, n); C[i] = 1
with T.block("b"): i, j = T.axis.remap("SR", [n, n]); C[i] = 1
with T.block("b"): i, j = T.axis.remap("S", [n, n]); C[i] = 1
with T.block("b"): i = T.axis.remap("SS", n); C[i] = 1
with T.block("b"): i = T.axis.reduce(T.int64(8), n)
with T.block("b"): i = T.axis.spatial((2, 8), n)
with T.block("b"): i = T.axis.spatial(8)
with T.block("b"): T.where(n < 3); C[0] = 1
with T.block("b"): T.block_attr({"a": 1}); C[0] = 1
with T.block(): C[0] = 1
with T.init(): C[0] = 1
with T.LetStmt(n + 1) as z: C[0] = z
with T.attr(C, "a", 1): C[0] = 1
with T.allocate([4], "int32") as z: pass
with T.launch_thread("threadIdx.x", 4) as z: C[z] = 1
with 3: pass
D = T.match_buffer(C[0:4], (4,), "int32")
D = C[0:4]
C[0] = R.add(n, n)
C[0] = unknown_name
C[0] = T.unknown_name(n)
C[0] = [1, 2]
C[0] = {}
C[0] = lambda: 3
C[0] = f"{n}"
C[0] = 1e999
B[0, 0] = T.float16(2.5) + T.float64("inf") + T.float32("nan")
B[0, 0] = v.astype("float16")
C[0] = n.astype("int8")
C[0] = T.reinterpret("int32", v)
C[0] = T.address_of(B[0, 0])
C[0] = T.tvm_access_ptr(T.type_annotation("float32"), C.data, 0, 4, 1)
"""

TEXTS = {
    "a class without decorator": "class M:\n    @R.function\n    def f(x: R.Tensor):\n        return x\n",
    "a function without decorator": "def f(x: R.Tensor):\n    y = R.exp(x)\n    return y\n",
    "two functions of one name": "@R.function\ndef f(x: R.Any):\n    return x\n\n@R.function\ndef f(x: R.Any):\n    return x\n",
    "module in a module": "@I.ir_module\nclass M:\n    @I.ir_module\n    class N:\n        @R.function\n        def f():\n            return ()\n",
    "kernel in a function": "@R.function\ndef f(x: R.Any):\n    @T.prim_func\n    def g(a: T.handle):\n        pass\n    return x\n",
    "local function": "@R.function\ndef f(x: R.Any):\n    @R.function\n    def g(y: R.Any) -> R.Any:\n        return y\n    z = g(x)\n    return z\n",
    "default": "@R.function\ndef f(x: R.Any = 3, *, y: R.Any):\n    return x\n",
    "no return": "@R.function\ndef f(x: R.Any):\n    y = x\n",
    "return twice": "@R.function\ndef f(x: R.Any):\n    return x\n    return x\n",
    "private and impure": "@R.function(private=True, pure=False)\ndef f(x: R.Any):\n    R.print(x)\n    return x\n",
    "unknown option": "@R.function(privat=True)\ndef f(x: R.Any):\n    return x\n",
    "branches": '@R.function\ndef f(c: R.Tensor((), "bool"), x: R.Any):\n    if c:\n        y = x\n    else:\n        with R.dataflow():\n            z = x\n            R.output(z)\n        y = z\n    return y\n',
    "branch without value": '@R.function\ndef f(c: R.Tensor((), "bool"), x: R.Any):\n    if c:\n        pass\n    else:\n        y = x\n    return y\n',
    "branch alone": '@R.function\ndef f(c: R.Tensor((), "bool"), x: R.Any):\n    if c:\n        y = x\n    return x\n',
    "branches that return": '@R.function\ndef f(c: R.Tensor((), "bool"), x: R.Any):\n    if c:\n        return x\n    else:\n        return x\n',
    "two names": '@R.function\ndef f(c: R.Tensor((), "bool"), x: R.Any):\n    if c:\n        y = x\n    else:\n        z = x\n    return y\n',
    "dataflow in dataflow": "@R.function\ndef f(x: R.Any):\n    with R.dataflow():\n        with R.dataflow():\n            y = x\n            R.output(y)\n        R.output(y)\n    return y\n",
    "dataflow without output": "@R.function\ndef f(x: R.Any):\n    with R.dataflow():\n        y = x\n    return x\n",
    "unknown output": "@R.function\ndef f(x: R.Any):\n    with R.dataflow():\n        y = x\n        R.output(z)\n    return x\n",
    "global infos": '@I.ir_module\nclass M:\n    I.module_attrs({"a": 1, "b": "c"})\n    I.module_global_infos({"vdevice": [I.vdevice("llvm"), I.vdevice({"kind": "cuda", "arch": "sm_80"}, 1, "shared")]})\n    @R.function\n    def f(x: R.Tensor((4,), "int8", "llvm:0")):\n        return x\n',
    "Python around": 'n = 4\nSHAPE = (n, 2 ** 3)\nKIND = "float" + "32"\n\n@R.function\ndef f(x: R.Tensor(SHAPE, KIND)):\n    y = R.zeros((n * 2, n << 1), KIND)\n    return y\n',
    "captured": "import other\n\n@R.function\ndef f(x: R.Tensor((other.N,), other.kind())):\n    y = other.make(x)[0].part\n    return y\n",
    "pyfunc": "@I.ir_module\nclass M:\n    @I.pyfunc\n    def g(self, x):\n        return x.cpu()\n\n    @R.function\n    def f(x: R.Any):\n        return x\n",
    "tabs and comments": "@R.function  # one\ndef f(x: R.Any):  # two\n\t# three\n\ty = x  # four\n\n\treturn y\n# five\n",
    "continued lines": '@R.function\ndef f(\n    x: R.Tensor(\n        (4,),\n        "int8",\n    ),\n):\n    y = \\\n        R.exp(\n            x  # inside\n        )\n    return y\n',
    "indentation": "@R.function\ndef f(x: R.Any):\n    y = x\n      z = y\n   w = z\n    return y\n",
    "unknown signs": "@R.function\ndef f(x: R.Any):\n    y = x ? x\n    z = $x\n    return y\n",
    "open string": '@R.function\ndef f(x: R.Any):\n    y = R.str("abc)\n    return y\n',
    "nothing": "",
    "type parameters": '@R.function\ndef f(x: R.Tensor(("a", "b * 2"), "int8"), y: R.Shape(["a", "b"])) -> R.Tensor(("a + b",), "int8"):\n    a = T.int64()\n    b = T.int64()\n    z: R.Tensor((a + b,), "int8") = R.zeros((a + b,), "int8")\n    return z\n',
}


def told(text: str) -> str:
    """What is said, with the line and the words that it is said of; the print of what was read."""
    parsed = parse(text)
    lines = []
    for found in parsed.diagnostics:
        start, end = found.span or (0, 0)
        where = f"{text.count(chr(10), 0, start) + 1}:{text[start:end]!r}"
        lines.append(f"{found.severity}[{found.code}] {found.message} at {where}")
        lines += [f"  help: {found.help}"] * bool(found.help)
        if found.edit:
            lines.append(f"  edit: {found.edit.text!r}")
    if not any(found.is_error for found in parsed.diagnostics):
        lines += [print_module(module) for module in parsed.modules]
    return "\n".join(line.replace("\n## ", "\n ## ") for line in lines)


def entries(frame: str, lines: str) -> Iterator[tuple[str, str]]:
    """A line of each form; of what is printed only that which the frame alone does not print."""
    plain = set(told(frame.replace("    LINE\n", "")).splitlines())
    for line in lines.strip().splitlines():
        said = told(frame.replace("LINE", line)).splitlines()
        yield line, "\n".join(each for each in said if each not in plain)


@pytest.mark.parametrize(
    ("name", "frame", "lines"),
    [("relax-lines", RELAX, LINES), ("kernel-lines", KERNEL, STATEMENTS)],
)
def test_what_is_read_of_a_line(name: str, frame: str, lines: str) -> None:
    assert_entries(SNAPSHOTS / f"{name}.txt", list(entries(frame, lines)))


def test_what_is_read_of_a_text() -> None:
    assert_entries(SNAPSHOTS / "texts.txt", [(name, told(text)) for name, text in TEXTS.items()])


def test_buffers_among_the_attributes_of_a_block() -> None:
    """TVM's legalised products name the buffers whose layout is free."""
    text = """
@T.prim_func(private=True, s_tir=True)
def copied(a: T.Buffer((2,), "float32"), b: T.Buffer((2,), "float32")):
    for i in range(2):
        with T.sblock("B"):
            v = T.axis.spatial(2, i)
            T.sblock_attr({"layout_free_placeholders": [a, b], "number": 1})
            b[v] = a[v]
"""
    parsed = parse(text)
    assert not parsed.diagnostics
    shown = str(parsed.modules[0])
    assert 'T.sblock_attr({"layout_free_placeholders": [a, b], "number": 1})' in shown
    assert first_difference(parse(shown).modules[0], parsed.modules[0]) is None
