"""Forms of lowered programs in texts of 2022: `relax.vm.builtin.alloc_storage` and related calls.

They are parsed to the constructs of version 0.27: operators of memory, and calls of run-time
functions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import INT64, dtype
from rlx.grammar.read.entries import Entry, Rejected
from rlx.grammar.read.forms import Arguments, form
from rlx.grammar.read.forms_info import dims
from rlx.grammar.read.partial_nodes import Name, Sequence, unfolded

if TYPE_CHECKING:
    from rlx.grammar.read.reports import ReadContext

_DEVICE = ("device", "runtime_device_index", "virtual_device_index", "device_type")
_UNIT = ast.TupleStructInfo(())


@form("R.vm.builtin.alloc_storage")
def alloc_storage(context: ReadContext, a: Arguments) -> ast.Expr:
    """`relax.vm.builtin.alloc_storage(size=[n * m], device=cpu)`: a number of bytes, or of elements
    of a type.
    """
    size = _shape(context, a.need(0, "size"))
    device = _index(context, a, a.take(1, *_DEVICE))
    kind = _data_type(context, a.take(2, "dtype"), "uint8")
    a.done(3)
    return _operator("relax.vm.alloc_storage", a, size, device, kind, ast.StringImm("global"))


@form("R.vm.builtin.alloc_tensor")
def alloc_tensor(context: ReadContext, a: Arguments) -> ast.Expr:
    """`relax.vm.builtin.alloc_tensor(storage, shape=[n, m], offset=0, dtype="f32")`"""
    storage = context.coerce.expr(a.need(0, "storage"))
    shape = _shape(context, a.need(1, "shape"))
    offset = a.take(2, "offset")
    kind = _data_type(context, a.take(3, "dtype"), "float32")
    a.done(4)
    at = _number(0) if offset is None else context.coerce.expr(offset)
    return _operator("relax.vm.alloc_tensor", a, storage, at, shape, kind, _number(0))


@form("R.vm.builtin.free_storage", "R.vm.builtin.free_tensor")
def free(context: ReadContext, a: Arguments) -> ast.Expr:
    """`relax.vm.builtin.free_tensor(tensor)`"""
    found = context.coerce.expr(a.need(0, "tensor" if a.head.endswith("tensor") else "storage"))
    a.done(1)
    return _operator("relax.vm.kill_object", a, found)


@form("R.vm.builtin.alloc_heap", "R.vm.builtin.alloc_shape_heap")
def alloc_heap(context: ReadContext, a: Arguments) -> ast.Expr:
    """`relax.vm.builtin.alloc_heap(size)`"""
    size = context.coerce.expr(a.need(0, "size"))
    a.done(1)
    args = ast.Tuple((size,))
    callee = ast.ExternFunc("vm.builtin.alloc_shape_heap")
    op = ast.op("relax.call_builtin_with_ctx")
    shape = size.value if isinstance(size, ast.PrimValue) else None
    known = ast.ShapeExpr((shape,)) if shape is not None else None
    return ast.Call(
        op, (callee, args), sinfo_args=(ast.TensorStructInfo(known, INT64, 1),), span=a.span
    )


@form("R.vm.builtin.store_shape", "R.vm.builtin.load_shape")
def heap_shape(context: ReadContext, a: Arguments) -> ast.Expr:
    """`relax.vm.builtin.store_shape(shape, heap, 0, 1)`, with the slots as separate arguments or as
    `indices`.
    """
    storing = a.head.endswith("store_shape")
    count = 1 + storing
    values = [context.coerce.expr(a.need(at, ("shape", "heap")[at - count])) for at in range(count)]
    places = [context.coerce.expr(entry) for entry in _listed(a, count)]
    info = _UNIT if storing else ast.ShapeStructInfo(None, len(places))
    callee = ast.ExternFunc(f"vm.builtin.{a.head.rpartition('.')[2]}")
    return ast.Call(callee, (*values, *places), sinfo_args=(info,), span=a.span)


def _listed(a: Arguments, start: int) -> list[Entry]:
    """The arguments behind the first ones, or those in the list `indices`."""
    given = a.keywords.pop("indices", None)
    rest = a.positional[start:] if given is None else [given]
    a.done(len(a.positional))
    return unfolded(rest)


def _operator(name: str, a: Arguments, *args: ast.Expr) -> ast.Call:
    return ast.Call(ast.op(name), args, span=a.span)


def _number(value: int) -> ast.PrimValue:
    return ast.PrimValue(tir.IntImm(value))


def _shape(context: ReadContext, entry: Entry) -> ast.Expr:
    if isinstance(entry.value, Sequence):
        return ast.ShapeExpr(dims(context, entry.value.items), entry.span)
    return context.coerce.expr(entry)


def _index(context: ReadContext, a: Arguments, entry: Entry | None) -> ast.Expr:
    """The index of a device; `cpu` is that of the first."""
    if entry is None:
        return _number(0)
    named = entry.value if isinstance(entry.value, str) else getattr(entry.value, "text", None)
    if isinstance(entry.value, str | Name):
        if named == "cpu":
            return _number(0)
        raise Rejected(f"{a.head} takes the index of a device, or cpu", *entry.span)
    return context.coerce.expr(entry)


def _data_type(context: ReadContext, entry: Entry | None, default: str) -> ast.Expr:
    if entry is None:
        return ast.DataTypeImm(dtype(default))
    return ast.DataTypeImm(context.coerce.data_type(entry), entry.span)
