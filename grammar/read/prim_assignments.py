"""Assignments and declarations of PrimFuncs: scalars, variables, buffers, axes of blocks."""

from __future__ import annotations

import ast as python
import math
from collections.abc import Mapping
from typing import Any

from rlx.grammar.dialects import ALLOC_WORDS
from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import HANDLE, INT32, INT64, VOID, DataType, dtype
from rlx.grammar.nodes.node import Span, replace
from rlx.grammar.read.entries import Entry, Rejected
from rlx.grammar.read.partial_nodes import Form, Name, Sequence, describe, flatten
from rlx.grammar.read.prim_bodies import LOOPS, Part, PrimBodies
from rlx.grammar.read.prim_buffers import PrimBuffers, declares_size, pointee, type_or
from rlx.grammar.read.prim_scalars import (
    LOCAL,
    SCALARS,
    VOID_POINTER,
    assignable,
    assigns_lets,
    is_pointer,
    let_annotation,
    no_number,
    offset_type,
    pointer_type,
    scalar_buffer,
    scalar_type,
    scalar_value,
    stored,
)
from rlx.grammar.read.prim_types import value_type
from rlx.grammar.read.python_syntax import expression_of
from rlx.grammar.read.reports import ReadContext


def viewed(expr: tir.OpaqueExpr, names: Mapping[str, Any]) -> tir.Buffer | None:
    """The buffer that a call of `view` gives, which TVM prints for `T.decl_buffer` with the memory
    of another buffer.

    Returns
    -------
    tir.Buffer or None
        None for any other text, and for a buffer with strides or an offset of its own.
    """
    try:
        call = expression_of(expr.text.strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    match call:
        case python.Call(
            func=python.Attribute(value=python.Name(id=name), attr="view"), args=args, keywords=[]
        ):
            base = names.get(name)
        case _:
            return None
    if not isinstance(base, tir.Buffer) or base.attrs.keys() & {"strides", "elem_offset"}:
        return None
    attrs: dict[str, object] = {"data": tir.OpaqueExpr(f"{name}.data", expr.span)}
    kind = args[0].value if len(args) == 1 and isinstance(args[0], python.Constant) else None
    if isinstance(kind, str):
        return _of_type(base, kind, attrs, expr.span)
    shape = _shape(base, args)
    if shape is None:
        return None
    dims = tuple(tir.IntImm(size, INT32, expr.span) for size in shape)
    return tir.Buffer("", dims, base.dtype, attrs, expr.span)


def _of_type(
    base: tir.Buffer, kind: str, attrs: dict[str, object], span: Span | None
) -> tir.Buffer | None:
    """The same memory as elements of another type, of which the last axis has more or fewer."""
    try:
        found = dtype(kind)
    except ValueError:
        return None
    widths = [8 if of.code == "bool" else of.bits for of in (base.dtype, found)]
    wide, narrow = max(widths), min(widths)
    if not base.shape or not narrow or wide % narrow or base.dtype.lanes != found.lanes:
        return None
    *dims, last = base.shape
    ratio = tir.IntImm(wide // narrow, INT32, span)
    if isinstance(last, tir.IntImm):
        size = last.value // ratio.value if widths[1] == wide else last.value * ratio.value
        last = tir.IntImm(size, last.dtype, span)
    elif wide != narrow:
        last = (tir.FloorDiv if widths[1] == wide else tir.Mul)(last, ratio, span)
    return tir.Buffer("", (*dims, last), found, attrs, span)


def _shape(base: tir.Buffer, args: list[python.expr]) -> list[int] | None:
    """The sizes that are given; one of -1 follows from the number of elements."""
    sizes = []
    for arg in args:
        match arg:
            case python.Constant(value=int(size)):
                sizes.append(size)
            case python.UnaryOp(op=python.USub(), operand=python.Constant(value=1)):
                sizes.append(-1)
            case _:
                return None
    if -1 not in sizes:
        return sizes or None
    known = [dim.value for dim in base.shape if isinstance(dim, tir.IntImm)]
    rest = math.prod(size for size in sizes if size != -1)
    if sizes.count(-1) > 1 or len(known) < len(base.shape) or not rest:
        return None
    return [math.prod(known) // rest if size == -1 else size for size in sizes]


NO_VALUES = {*LOOPS, "T.grid", "T.reads", "T.writes", "T.where", "T.func_attr", "T.evaluate"}
DECLARATIONS = {"T.decl_buffer", "T.Buffer", "T.alloc_local", "T.alloc_shared", *ALLOC_WORDS}
VARIABLES = ("T.Var", "T.SizeVar")
"""Make a variable of a name and a type; the text says the name twice."""
_A_SCALAR = object()
"""Marks a form that only makes the value of a scalar."""
AXES = {
    "T.axis.S": "S",
    "T.axis.R": "R",
    "T.axis.spatial": "S",
    "T.axis.reduce": "R",
    "T.axis.scan": "scan",
    "T.axis.opaque": "opaque",
}


class PrimAssignments:
    """Reads `name = value`, `name: annotation` and similar statements in PrimFuncs."""

    def __init__(self, context: ReadContext, buffers: PrimBuffers, bodies: PrimBodies) -> None:
        self.scope = context.scope
        self.coerce = context.coerce
        self.reports = context.reports
        self.text = context.text
        self.buffers = buffers
        self.bodies = bodies

    def assign(self, name: Entry, annotation: Entry | None, value: Entry, span: Span) -> Any:
        """`name = value`, `name: annotation = value`"""
        found = value.value
        if isinstance(found, Form):
            made = self._of_form(name, annotation, found, value.span, span)
            if made is not _A_SCALAR:
                return made
        seen = viewed(found, self.scope.names) if isinstance(found, tir.OpaqueExpr) else None
        if seen is not None and annotation is None:
            return self._declared(name, replace(seen, name=name.value, span=name.span), span)
        if isinstance(found, tir.BufferLoad) and any(
            isinstance(i, (tir.Slice, tir.OpaqueExpr)) for i in found.indices
        ):
            return self._unknown(name, span)
        if isinstance(found, str):
            raise Rejected("a scalar must be a number, not a string", *value.span, certain=True)
        if annotation is None:
            return self._plain(name, value, span)
        return self._annotated(name, annotation, value, span)

    def _unknown(self, name: Entry, span: Span) -> tir.Stmt:
        """A statement kept as text, whose name stands for something of an unknown type."""
        self.scope.bind(name.value, tir.Var(name.value, VOID, name.span))
        return self.bodies.opaque(span)

    def _of_form(
        self, name: Entry, annotation: Entry | None, form: Form, where: Span, span: Span
    ) -> Any:
        """The statement or binding of a form on the right that is more than the value of a scalar."""
        head, word = form.head, form.head.removeprefix("T.")
        match head, form.args:
            case "TypeVar", _:
                return None
            case "T.match_buffer", _:
                return self._match_buffer(name, form, span)
            case "T.axis.remap", [kinds, bindings]:
                return self._remap([name], kinds, bindings, span)
            case _, [extent, binding] if head in AXES:
                return self._axis(name, AXES[head], extent, binding, span)
            case _ if head in AXES:
                words = f"{head} takes an extent and a binding"
                raise Rejected(words, *where, certain=True)
            case _ if head in NO_VALUES:
                raise Rejected(f"{head} has no value", *where, certain=True)
            case _ if head in DECLARATIONS:
                return self._declare_buffer(name, form, span)
            case _ if word in SCALARS:
                buffer = self.buffers.scalar(name, form)
                self.scope.bind(name.value, scalar_value(buffer, name.span))
                return tir.AllocBuffer(buffer, word, span)
            case _ if annotation is not None:
                return _A_SCALAR
            case "T.meta_var" | "I.meta_var", [given]:  # a name of the text alone
                self.scope.bind(name.value, self.coerce.prim(given, INT32))
                return None
            case "T.bind", [given]:
                return self._let(name, None, given, span)
            case (("T.axis.remap" | "T.meta_var" | "I.meta_var" | "T.bind"), _):
                return _A_SCALAR
        if _declares(form):
            return self._declare_variable(name, Entry(form, *where), span)
        return _A_SCALAR

    # ------------------------------------------------------------ scalars

    def _plain(self, name: Entry, value: Entry, span: Span) -> Any:
        """`t = value`: a scalar that can be assigned to again."""
        buffer = assignable(self.scope.names.get(name.value))
        if buffer is not None:
            return stored(buffer, self.coerce.prim(value, buffer.dtype), name.span, span)
        if isinstance(value.value, tir.Buffer):  # another name for it
            self._refuse_known(name)
            self.scope.bind(name.value, value.value)
            return None
        if isinstance(value.value, Sequence):  # a name of the text for its items
            shown = self.text[slice(*value.span)].strip("() ")
            if shown.endswith(".shape") and "," not in shown:
                help = "unpack it, `n, m = A.shape`, or name one extent, `n = A.shape[0]`"
                raise Rejected("TVM binds no name to a shape", *value.span, help, certain=True)
            self.scope.bind(name.value, value.value)
            return self.bodies.opaque(span)
        if assigns_lets(self.text):
            return self._let(name, None, value, span)
        prim = self._number(value, INT32)
        data_type = None if isinstance(prim, tir.OpaqueExpr) else scalar_type(prim)
        if data_type is None:
            return self._unknown(name, span)
        buffer = scalar_buffer(name.value, data_type, name.span)
        self.scope.bind(name.value, scalar_value(buffer, name.span))
        return [tir.AllocBuffer(buffer, LOCAL, span), stored(buffer, prim, name.span, span)]

    def _refuse_known(self, name: Entry) -> None:
        """Refuse a second meaning of a name in one scope."""
        if self.scope.binds_here(name.value):
            words = f"{name.value!r} is already bound in this scope: a buffer cannot be assigned to"
            help = "store its elements in a loop, such as `B[i] = A[i]`"
            raise Rejected(words, *name.span, help=help, certain=True)

    def _annotated(self, name: Entry, annotation: Entry, value: Entry, span: Span) -> Any:
        """`t: T.float32 = value`, `t: T.let[T.float32] = value`"""
        form = annotation.value
        if isinstance(form, (bool, int, float, str)):
            words = f"expected the type of a scalar, such as T.float32, found {describe(form)}"
            raise Rejected(words, *annotation.span, certain=True)
        if isinstance(form, Form | Name) and let_annotation(form):
            inner = self._type_in_let(form, annotation.span)
            if inner is not None:
                self._has_type(inner, value)
            return self._let(name, inner, value, span)
        if assigns_lets(self.text):
            return self._let(name, annotation, value, span)
        data_type = self.buffers.annotated_type(annotation)
        if data_type == HANDLE:
            words, help = "a handle cannot be assigned to", "write T.let[T.handle] for it"
            raise Rejected(words, *span, help=help, certain=True)
        buffer = scalar_buffer(name.value, data_type, name.span)
        prim = self._number(value, data_type)
        self.scope.bind(name.value, scalar_value(buffer, name.span))
        if isinstance(prim, tir.OpaqueExpr):
            return self.bodies.opaque(span)
        return [tir.AllocBuffer(buffer, LOCAL, span), stored(buffer, prim, name.span, span)]

    def _type_in_let(self, form: Form | Name, span: Span) -> Entry | None:
        """The type in the brackets of `T.let[…]`, if there are any."""
        if isinstance(form, Name):
            return None
        if len(form.args) != 1 or self.text[slice(*span)].rstrip()[-1] != "]":
            raise Rejected("T.let takes one type in brackets", *span, certain=True)
        (inner,) = form.args
        of_memory = isinstance(inner.value, Name) and inner.value.text == "T.Buffer"
        if of_memory or isinstance(inner.value, tir.Buffer):
            words = f"expected the type of a scalar, such as T.int32, found {describe(inner.value)}"
            raise Rejected(words, *inner.span, certain=True)
        return inner

    def _has_type(self, annotation: Entry, value: Entry) -> None:
        """Refuse a value of `T.let[…]` that is no number, or another pointer: TVM casts none."""
        wanted_type = self.buffers.annotated_type(annotation)
        if wanted_type != HANDLE:
            prim = self._number(value, INT32)
            found_type = offset_type(prim, self.scope.names)
            if found_type not in (None, wanted_type):
                words = f"the value has the type {found_type}, not {wanted_type}"
                raise Rejected(words, *value.span, f"write `T.let[T.{found_type}]`", certain=True)
            pointer = isinstance(prim, tir.OpaqueExpr) and is_pointer(prim, self.scope.names)
            if pointer or value_type(prim).kind == "region":
                what = "the pointer of a buffer" if pointer else "a region of a buffer"
                words = f"a scalar must be a number, not {what}"
                raise Rejected(words, *value.span, certain=True)
            return
        given = pointee(annotation)
        wanted = VOID_POINTER if given is None else (given[0], (*given, "global")[1])
        prim = self.coerce.prim(value, INT32)
        found = pointer_type(prim, self.scope.names, self.buffers.of_parameters.values())
        if found is None or (found[0] == wanted[0] and found[1] in (None, wanted[1])):
            return
        right = _pointer_text(*found)
        words = f"the value has the type {right}, not {_pointer_text(*wanted)}"
        help = f"write `T.let[{right}]`"
        raise Rejected(words, *annotation.span, help=help, certain=True)

    def _number(self, value: Entry, data_type: DataType) -> tir.PrimExpr:
        prim = self.coerce.prim(value, data_type)
        if isinstance(prim, tir.OpaqueExpr) and not is_pointer(prim, self.scope.names):
            is_buffer = isinstance(value.value, tir.Buffer)
            what = "a buffer" if is_buffer else no_number(prim, self.scope.names)
            if what is not None:
                words = f"a scalar must be a number, not {what}"
                raise Rejected(words, *value.span, certain=True)
        return prim

    def _let(self, name: Entry, annotation: Entry | None, value: Entry, span: Span) -> tir.Stmt:
        """A variable that keeps its value; without an annotation it has the type of that."""
        data_type = None if annotation is None else self.buffers.annotated_type(annotation)
        prim = self.coerce.prim(value, INT32)
        points_to = pointee(annotation)
        if annotation is None and isinstance(prim, tir.OpaqueExpr):
            found = pointer_type(prim, self.scope.names, self.buffers.of_parameters.values())
            if found is not None and found[1] is not None:
                data_type, points_to = HANDLE, (found[0], found[1])
        data_type = scalar_type(prim) if data_type is None else data_type
        kept = isinstance(prim, tir.OpaqueExpr) and not (
            data_type == HANDLE and is_pointer(prim, self.scope.names)
        )
        if data_type is None or kept:
            return self._unknown(name, span)
        var = tir.Var(name.value, data_type, name.span, points_to)
        self.scope.bind(name.value, var)
        return tir.LetStmt(var, prim, span)

    # ------------------------------------------------------------ declarations

    def declare(self, name: Entry, annotation: Entry, span: Span) -> tir.Stmt:
        """`t: T.float32`: a scalar without a value; `t: T.float32[4]`: a local buffer."""
        form = annotation.value
        if not isinstance(form, Form | Name):
            return self.bodies.opaque(span)
        if let_annotation(form):
            help = f"write `{name.value}: T.let[…] = value`"
            raise Rejected("T.let needs a value", *span, help, certain=True)
        items = form.args if isinstance(form, Form) else []
        word = form.head if isinstance(form, Form) else form.text
        data_type = self.buffers.annotated_type(Entry(Name(word), *annotation.span))
        if data_type == HANDLE:
            return self.bodies.opaque(span)
        if items:
            shape = tuple(self.coerce.prim(item, INT32) for item in items)
            buffer = tir.Buffer(name.value, shape, data_type, {}, name.span)
            self.scope.bind(name.value, buffer)
            return tir.AllocBuffer(buffer, "alloc_local", span)
        buffer = scalar_buffer(name.value, data_type, name.span)
        self.scope.bind(name.value, scalar_value(buffer, name.span))
        return tir.AllocBuffer(buffer, LOCAL, span)

    def _declare_variable(self, name: Entry, value: Entry, span: Span) -> Any:
        form: Form = value.value
        self.coerce.refuse_unknown(form.head, value.span)
        try:
            data_type = self._type_of_variable(form)
        except ValueError:
            return self._unknown(name, span)
        self.scope.declare_shape_var(name.value, name.span, data_type, declares_size(form))
        return None

    def _type_of_variable(self, form: Form) -> DataType:
        if form.head == "T.var":  # that of 2022 says no type: it is a dimension's
            return INT64
        if form.head not in VARIABLES:
            return dtype(form.head[2:])
        given = form.args[1] if len(form.args) > 1 else form.keywords.get("dtype")
        return INT32 if given is None else self.coerce.data_type(given)

    def _match_buffer(self, name: Entry, form: Form, span: Span) -> Any:
        source = form.args[0].value if form.args else None
        shape = form.keywords.get("shape") or next(iter(form.args[1:]), None)
        if isinstance(source, (tir.Var, tir.Buffer)) and (shape is None or shape.value is None):
            words = f"T.match_buffer needs the shape of {name.value!r}"
            help = "only a region of a buffer has a shape of its own"
            raise Rejected(words, *span, help, certain=True)
        buffer = self.buffers.buffer(name, form, skip=1)
        self.scope.bind(name.value, buffer)
        if isinstance(source, tir.Var):
            first = self.buffers.of_parameters.setdefault(source, buffer)
            if first is not buffer:
                words = f"{source.name!r} is already matched to {first.name!r}"
                words += (
                    f": a parameter has only one buffer, so {name.value!r} needs another parameter"
                )
                self.reports.error(words, span)
            return None
        if isinstance(source, tir.BufferLoad):
            return tir.MatchBuffer(buffer, source, name.span)
        return self.bodies.opaque(span)

    def _declare_buffer(self, name: Entry, form: Form, span: Span) -> Any:
        made = self._declared(name, self.buffers.buffer(name, form), span, form.head[2:])
        if form.head in ALLOC_WORDS and self.scope.frame.kind == "block":
            return Part("alloc", made, span)
        return made

    def _declared(
        self, name: Entry, buffer: tir.Buffer, span: Span, word: str = "decl_buffer"
    ) -> tir.AllocBuffer:
        self.scope.bind(name.value, buffer)
        return tir.AllocBuffer(buffer, word, span)

    # ------------------------------------------------------------ axes

    def _axis(self, name: Entry, kind: str, domain: Entry, bound: Entry, span: Span) -> Part:
        binding = self.coerce.prim(bound, INT32)
        items = domain.value.items if isinstance(domain.value, Sequence) else []
        if len(items) == 2:
            low, high = (self.coerce.prim(item, INT32) for item in items)
        else:
            high = self.coerce.prim(domain, INT32)
            low = tir.IntImm(0, type_or(high, INT32))
        var = tir.Var(name.value, type_or(binding, type_or(high, INT32)), name.span)
        self.scope.bind(name.value, var)
        return Part("axis", [tir.IterVar(var, kind, (low, high), binding, span)], span)

    def _remap(self, names: list[Entry], spelled: Entry, listed: Entry, span: Span) -> Part:
        """`i, j = T.axis.remap("SR", [k, l])`"""
        kinds = self.coerce.text(spelled)
        bindings = listed.value
        if not isinstance(bindings, Sequence):
            words = "the list of loop variables in T.axis.remap must be a literal"
            if isinstance(bindings, tir.PrimExpr):
                help = f"write `[{self.coerce.text_of(listed.span)}]`"
                raise Rejected(words, *listed.span, help, certain=True)
            raise Rejected(words, *span, kept=True)
        if not len(kinds) == len(bindings.items) == len(names):
            self.reports.error(
                "T.axis.remap needs one kind and one loop variable for each name", span
            )
            for name in names:
                self.scope.bind(name.value, tir.Var(name.value, INT32, name.span))
            return Part("axis", [], span)
        axes: list[tir.IterVar] = []
        for name, kind, item in zip(names, kinds, bindings.items, strict=True):
            binding = self.coerce.prim(item, INT32)
            var = tir.Var(name.value, type_or(binding, INT32), name.span)
            self.scope.bind(name.value, var)
            axes.append(tir.IterVar(var, kind, None, binding, name.span))
        return Part("axis", axes, span)

    # ------------------------------------------------------------ several names

    def unpack(self, names: list[Entry], value: Entry, span: Span) -> Any:
        """`a, b = value`"""
        items: list[Entry] = []
        match value.value:
            case Form(head="T.axis.remap", args=[kinds, bindings]):
                return self._remap(names, kinds, bindings, span)
            case Sequence(items=items):
                pass
        if len(items) != len(names):
            for name in names:
                self.scope.bind(name.value, tir.Var(name.value, VOID, name.span))
            return self.bodies.opaque(span)
        if all(isinstance(item.value, Form) and _declares(item.value) for item in items):
            for name, item in zip(names, items, strict=True):
                self._declare_variable(name, item, span)
            return None
        self._all_new(names)
        pairs = zip(names, items, strict=True)
        return flatten([self.assign(name, None, item, span) for name, item in pairs])

    def _all_new(self, names: list[Entry]) -> None:
        """A tuple of names on the left of `=` binds all of them; none can be assigned to again."""
        for name in names:
            known = assignable(self.scope.names.get(name.value))
            if known and not assigns_lets(self.text):
                words = f"{name.value!r} is already bound, and unpacking binds every name anew"
                help = "assign to one name at a time"
                raise Rejected(words, *name.span, help=help, certain=True)


def _declares(form: Form) -> bool:
    """Whether a form on the right says no more than a type: `T.int32()`, `T.var("int64")`."""
    named = form.head in VARIABLES and isinstance(form.args[0].value if form.args else None, str)
    return form.head.startswith("T.") and (not form.args or form.head == "T.var" or named)


def _pointer_text(element: str, scope: str | None) -> str:
    """The type of a pointer as TVMScript writes it."""
    if scope not in (None, "global"):
        return f'T.handle("{element}", "{scope}")'
    return "T.handle" if element == "void" else f'T.handle("{element}")'
