"""Assignments in PrimFuncs: mutable scalars and immutable variables.

Since its TIR moved to ``tirx``, TVM reads `t = e` and `t: T.float32 = e` as a mutable scalar, which
is a local buffer of one element; `t: T.let = e` binds an immutable variable. Before, all of them
did.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from itertools import chain
from typing import Any, TypeGuard

from rlx.grammar.dialects import DIALECTS
from rlx.grammar.lines import line_end, line_start
from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import HANDLE, INT32, VOID, DataType
from rlx.grammar.nodes.node import Node, Span, fields
from rlx.grammar.read.comments import comments
from rlx.grammar.read.kept_text import kept_names
from rlx.grammar.read.outline import logical_lines
from rlx.grammar.read.partial_nodes import Form, Name
from rlx.grammar.read.prim_types import value_type
from rlx.grammar.read.source_tokens import long_strings, names_in

LOCAL = "local_scalar"
"""The default allocation of a scalar's memory."""

SCALARS = frozenset([LOCAL, "shared_scalar", "alloc_scalar"])
"""The words that allocate scalars, whose buffers are written by their names only."""

_EARLIER = next(each for each in DIALECTS.values() if not each.mutable_scalars)
"""A version in which all scalars are immutable."""
_BLOCKS = frozenset([_EARLIER.block, _EARLIER.block_attr])


@lru_cache(maxsize=4)
def assigns_lets(text: str) -> bool:
    """Whether a text is from a version in which every assignment binds an immutable variable.

    Its imports, or its words for blocks, determine this. Printed imports are comments.
    """
    if _EARLIER.block in text and not _BLOCKS.isdisjoint(names_in(text, (0, len(text)))):
        return True
    if "tvm.script" not in text:
        return False
    lines = chain(_printed(text), (text[a:b] for a, b in logical_lines(text)))
    return any("tvm.script" in line and _imports_tir(line.lstrip("# ")) for line in lines)


def _printed(text: str) -> Iterator[str]:
    """The comments that may be printed imports."""
    at = text.find("tvm.script")
    while at >= 0:
        line, end = line_start(text, at), line_end(text, at)
        if not any(a < line < b for a, b in long_strings(text)):
            yield from (comment for _, comment in comments(text[line:end]))
        at = text.find("tvm.script", end)


def _imports_tir(line: str) -> bool:
    names = list(names_in(line, (0, len(line))))
    module = f"tvm.script.{_EARLIER.tir_module}"
    if any(name == module or name.startswith(f"{module}.") for name in names):
        return True
    parents = ("tvm.script", "tvm.script.parser")
    return _EARLIER.tir_module in names and "import" in names and any(m in names for m in parents)


def let_annotation(annotation: Form | Name) -> bool:
    """Whether an annotation is `T.let` or `T.let[…]`."""
    return (annotation.head if isinstance(annotation, Form) else annotation.text) == "T.let"


def scalar_type(value: tir.PrimExpr) -> DataType | None:
    """The data type of a scalar or vector; None if unknown."""
    found = value_type(value)
    if found.kind != "number" or found.dtype is None or found.lanes is None:
        return None
    return (
        found.dtype
        if found.lanes == 1
        else DataType(found.dtype.code, found.dtype.bits, found.lanes)
    )


def scalar_buffer(name: str, data_type: DataType, where: Span) -> tir.Buffer:
    """The memory of a mutable scalar."""
    return tir.Buffer(name, (tir.IntImm(1, INT32, where),), data_type, {}, where)


def scalar_value(buffer: tir.Buffer, where: Span) -> tir.BufferLoad:
    """The value of a scalar's name."""
    return tir.BufferLoad(buffer, (tir.IntImm(0, INT32, where),), where)


def assignable(known: Any) -> tir.Buffer | None:
    """The memory that an assignment to a name changes, if the name is a scalar or a buffer of one
    element.
    """
    if isinstance(known, tir.BufferLoad):
        return known.buffer
    if not isinstance(known, tir.Buffer) or len(known.shape) != 1:
        return None
    [size] = known.shape
    return known if isinstance(size, tir.IntImm) and size.value == 1 else None


def stored(buffer: tir.Buffer, value: tir.PrimExpr, where: Span, span: Span) -> tir.BufferStore:
    """The assignment of a value to a scalar."""
    return tir.BufferStore(buffer, (tir.IntImm(0, INT32, where),), value, span)


def memory_scope(stmt: tir.AllocBuffer) -> str | None:
    """The memory scope of an allocation by its word; None if the word does not determine it."""
    found, _, _ = stmt.op.removeprefix("alloc_").partition("_")
    return found if found in ("local", "shared") and "scope" not in stmt.buffer.attrs else None


def scalar_buffers(function: tir.PrimFunc) -> frozenset[tir.Buffer]:
    """The buffers that a text writes by their names only: those of scalars, if they are used as
    scalars.
    """
    found = {
        stmt.buffer
        for stmt in _nodes(function.body, tir.PrimExpr)
        if isinstance(stmt, tir.AllocBuffer) and stmt.op in SCALARS
    }
    if found:
        names = {buffer.name: buffer for buffer in found}
        for node in _nodes(function.body, ()):
            found -= set(_otherwise_used(node, names))
    return frozenset(found)


def _otherwise_used(node: Node, names: Mapping[str, tir.Buffer]) -> Iterator[tir.Buffer]:
    """The buffers that a node uses as a scalar cannot be."""
    match node:
        case tir.BufferLoad(buffer=buffer, indices=at) | tir.BufferStore(buffer=buffer, indices=at):
            [only] = at if len(at) == 1 else (None,)
            if not (isinstance(only, tir.IntImm) and only.value == 0 and only.dtype == INT32):
                yield buffer
        case tir.MatchBuffer(source=source):
            yield source.buffer
        case tir.OpaqueExpr(text=text):
            for found in kept_names(text):
                yield from (names[word] for word in found.name.split(".") if word in names)
        case tir.OpaqueStmt(text=text):
            for found in kept_names(text):
                word, dot, _ = found.name.partition(".")
                if word in names and (dot or found.after == "["):
                    yield names[word]


def _nodes(root: Node, leaves: type | tuple[type, ...]) -> Iterator[Node]:
    """Every node below a statement, but nothing inside of ``leaves``."""
    stack: list[object] = [root]
    while stack:
        value = stack.pop()
        if isinstance(value, Node):
            yield value
            if not isinstance(value, leaves):
                stack.extend(part for name, part in fields(value) if name != "span")
        elif isinstance(value, tuple | list):
            stack.extend(value)
        elif isinstance(value, Mapping):
            stack.extend(value.values())


_NO_NUMBERS = {
    "data": "the pointer of a buffer",
    "dtype": "a data type",
    "name": "a name",
    "scope": "a method",
    "scope()": "the scope of a buffer",
    "span": "a place in the text",
    "strides": "the strides of a buffer",
    "ty": "a type",
}


def no_number(expr: tir.OpaqueExpr, names: Mapping[str, object]) -> str | None:
    """Words for what an attribute of a buffer or a number is, if it is certainly no number."""
    if expr.text.startswith("lambda"):
        return "a function"
    name, _, method = expr.text.partition(".")
    if isinstance(names.get(name), tir.Buffer) and method.startswith(("vstore(", "astype(")):
        return "a store" if method.startswith("vstore") else "a buffer of another type"
    owner, _, word = expr.text.rpartition(".")
    known = names.get(owner.partition("[")[0])
    return _NO_NUMBERS.get(word) if isinstance(known, tir.Buffer | tir.PrimExpr) else None


def is_pointer(expr: tir.OpaqueExpr, names: Mapping[str, object]) -> bool:
    """Whether text is the pointer of a buffer: `A.data`."""
    owner, _, word = expr.text.partition(".")
    return word == "data" and isinstance(names.get(owner), tir.Buffer)


def offset_type(expr: tir.PrimExpr, names: Mapping[str, object]) -> DataType | None:
    """The type of `A.elem_offset`; None for anything else."""
    if not isinstance(expr, tir.OpaqueExpr):
        return None
    owner, _, word = expr.text.partition(".")
    buffer = names.get(owner)
    if word != "elem_offset" or not isinstance(buffer, tir.Buffer):
        return None
    given = buffer.attrs.get(word)
    return scalar_type(given) if isinstance(given, tir.PrimExpr) else index_type(buffer)


def index_type(buffer: tir.Buffer) -> DataType | None:
    """The type of the dimensions of a buffer, in which its elements are counted."""
    return scalar_type(buffer.shape[0]) if buffer.shape else INT32


VOID_POINTER = ("void", "global")
"""The arguments by which `T.handle` says nothing of the memory."""
_POINTERS = frozenset(["tvm_stack_alloca", "handle"])
"""The intrinsics that give pointers without an element type."""


def pointer_type(
    value: tir.PrimExpr, names: Mapping[str, object], parameters: Collection[tir.Buffer]
) -> tuple[str, str | None] | None:
    """The element type and the scope of a pointer; without the scope if only the allocation knows
    it, None for what may be none.
    """
    match value:
        case tir.Var(dtype=known, pointee=words) if known == HANDLE:
            return VOID_POINTER if words is None else (words[0], (*words, "global")[1])
        case tir.OpaqueExpr(text=text) if is_pointer(value, names):
            buffer = names[text.partition(".")[0]]
        case tir.Call(op="address_of", args=(tir.BufferLoad(buffer=buffer), *_)):
            pass
        case tir.Call(op=op, args=args):
            named = any(isinstance(each, tir.StringImm) and each.value == "handle" for each in args)
            return VOID_POINTER if named or op in _POINTERS else None
        case _:
            return None
    assert isinstance(buffer, tir.Buffer)
    scope = buffer.attrs.get("scope", "global" if buffer in parameters else None)
    return str(buffer.dtype), scope if isinstance(scope, str) else None


def is_number_variable(value: object) -> TypeGuard[tir.Var]:
    """Whether a value is a variable that is certainly a number."""
    return isinstance(value, tir.Var) and value.dtype not in (HANDLE, VOID)
