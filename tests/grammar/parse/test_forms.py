"""LAW: a line of any form is refused where it is wrong, or printed as a text that means the same."""

from __future__ import annotations

from collections.abc import Iterator

from rlx.grammar.nodes.equal import first_difference
from rlx.grammar.print.printer import print_module
from rlx.grammar.read.parser import parse

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


def forms() -> Iterator[tuple[str, str]]:
    """Each line, and the text in which it stands."""
    for frame, lines in ((RELAX, LINES), (KERNEL, STATEMENTS)):
        for line in lines.strip().splitlines():
            yield line, frame.replace("LINE", line)


def test_a_line_is_refused_where_it_is_wrong_or_read_as_it_is_printed() -> None:
    for line, text in forms():
        parsed = parse(text)
        wrong = [found for found in parsed.diagnostics if found.is_error]
        for found in wrong:
            assert found.span is not None
            # What is missing is missing in the next line.
            assert text.index(line) <= found.span[0] <= text.index(line) + len(line) + 10, line
        if not wrong:
            (module,) = parsed.modules
            printed = print_module(module)
            (again,) = parse(printed).modules
            assert print_module(again) == printed, line


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
