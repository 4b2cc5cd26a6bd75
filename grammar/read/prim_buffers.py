"""Buffers and types in parameters and statements of PrimFuncs."""

from __future__ import annotations

from collections.abc import Collection

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import FLOAT32, HANDLE, INT32, SCALAR_NAMES, DataType, dtype
from rlx.grammar.nodes.node import replace
from rlx.grammar.read.entries import Entry, Rejected
from rlx.grammar.read.partial_nodes import Form, Name, Sequence, describe
from rlx.grammar.read.prim_scalars import scalar_buffer
from rlx.grammar.read.reports import ReadContext, Reports
from rlx.grammar.read.source_tokens import on_one_line
from rlx.grammar.suggest import closest, did_you_mean

KEYWORDS = (
    *("shape", "dtype", "data", "strides", "elem_offset", "byte_offset", "scope", "align"),
    *("offset_factor", "buffer_type", "axis_separators", "layout", "allocated_addr", "annotations"),
    *("type", "logical_scope"),
)
"""The keywords that describe a buffer, in one version of TVM or another."""

_LAYOUTS = frozenset(["T.TileLayout", "T.ComposeLayout"])
"""Say where the elements of a buffer stand, on which no statement depends: kept as text."""


class PrimBuffers:
    """Reads descriptions of memory."""

    def __init__(self, context: ReadContext) -> None:
        self.scope = context.scope
        self.coerce = context.coerce
        self.reports = context.reports

    def parameter(self, name: Entry, annotation: Entry) -> tir.Var:
        """`x: T.Buffer((n,), "float32")`, `x: T.handle`, `n: T.int64`"""
        span, value = name.span, annotation.value
        if isinstance(value, Form) and value.head == "T.Buffer":
            buffer = self.buffer(name, value)
            handle = tir.Var(name.value, HANDLE, span)
            self.of_parameters[handle] = buffer
            self.scope.bind(name.value, buffer)
            return handle
        data_type = self.annotated_type(annotation)
        var = tir.Var(name.value, data_type, span, pointee(annotation))
        self.scope.bind(name.value, var)
        self.scope.bound.add(var)
        self.scope.frame.bound.append(var)
        # A dimension written before its parameter (`T.Buffer((n,))`, then `n: T.int64`) is that
        # parameter.
        known = self.scope.shapes.get(name.value)
        if known is not None:
            self.scope.bind(name.value, self.scope.declare_shape_var(name.value, span, data_type))
            return known
        return var

    def bare_parameter(self, name: Entry) -> tir.Var:
        """`x`: a handle, whose buffer is given in the body."""
        var = tir.Var(name.value, HANDLE, name.span)
        self.scope.bind(name.value, var)
        return var

    @property
    def of_parameters(self) -> dict[tir.Var, tir.Buffer]:
        """The buffers of the current function's parameters."""
        return self.scope.function_frame().buffers

    def annotated_type(self, entry: Entry) -> DataType:
        value = entry.value
        if isinstance(value, Form) and value.head.startswith("T."):
            if value.head in ("T.handle", "T.Ptr", "T.let"):
                inner = value.args[0] if value.head == "T.let" and value.args else None
                return HANDLE if inner is None else self.annotated_type(inner)
            return self.coerce.data_type(Entry(value.head[2:], *entry.span))
        if isinstance(value, Name) and value.text in ("int", "float", "bool"):
            words = f"expected the type of a scalar, such as T.int32, found Python's `{value.text}`"
            raise Rejected(words, *entry.span, settled=True)
        if isinstance(value, str):
            words, help = "a type is not written as a string here", f"write `T.{value}`"
            raise Rejected(words, *entry.span, help, certain=True)
        if isinstance(value, Name):
            return self.coerce.data_type(entry, of_scalar=True)
        words = (
            'expected the type of a parameter, such as T.Buffer((n,), "float32"), '
            f"found {describe(value)}"
        )
        raise Rejected(words, *entry.span)

    def buffer(self, name: Entry, form: Form, skip: int = 0) -> tir.Buffer:
        """The buffer described by a form: its shape and type; the rest are attributes."""
        args = form.args[skip:]
        only(self.reports, form, KEYWORDS)
        keywords = dict(form.keywords)
        shape = keywords.pop("shape", None) or (args[0] if args else None)
        data_type = keywords.pop("dtype", None) or (args[1] if len(args) > 1 else None)
        items: list[Entry] = []
        if shape is not None:
            items = shape.value.items if isinstance(shape.value, Sequence) else [shape]
        attrs = {key: self._attribute(value) for key, value in keywords.items()}
        if len(args) > 2:
            attrs["scope"] = self._attribute(args[2])
        return tir.Buffer(
            name.value,
            tuple(self.coerce.prim(item, INT32) for item in items),
            FLOAT32 if data_type is None else self.coerce.data_type(data_type),
            attrs,
            name.span,
        )

    def _attribute(self, entry: Entry) -> object:
        value = entry.value
        if isinstance(value, Form) and value.head in _LAYOUTS:
            return tir.OpaqueExpr(on_one_line(self.coerce.source, entry.span), entry.span)
        if isinstance(value, Name) and "." in value.text:
            return tir.OpaqueExpr(value.text, entry.span)
        if isinstance(value, Sequence):
            return tuple(map(self._part, value.items))
        if isinstance(value, (str, bool, dict)) or value is None:
            return value
        return self._part(entry)

    def _part(self, entry: Entry) -> tir.PrimExpr:
        """A stride or an offset, or a variable without a name for one: `T.int32()`."""
        form = entry.value
        bare = isinstance(form, Form) and not form.args and not form.keywords
        if bare and form.head[2:] in SCALAR_NAMES:
            return tir.Var("", dtype(form.head[2:]), entry.span)
        if isinstance(form, str) and form.isidentifier():  # of 32 bits unless the body says more
            self.scope.shape_var(form, entry.span, INT32)
        return self.coerce.prim(entry, INT32)

    def scalar(self, name: Entry, form: Form) -> tir.Buffer:
        """The buffer of `T.local_scalar("int32")` and similar forms: a scalar without a value."""
        given = form.args[0] if form.args else form.keywords.get("dtype")
        memory = form.args[1] if len(form.args) > 1 else form.keywords.get("scope")
        data_type = FLOAT32 if given is None else self.coerce.data_type(given)
        attrs = {} if memory is None else {"scope": self.coerce.text(memory)}
        return replace(scalar_buffer(name.value, data_type, name.span), attrs=attrs)


def pointee(annotation: Entry | None) -> tuple[str, ...] | None:
    """The words in the type of a pointer: the element type, and the scope."""
    form = None if annotation is None else annotation.value
    if not isinstance(form, Form) or form.head not in ("T.handle", "T.Ptr"):
        return None
    words = [item.value for item in form.args]
    # `T.Ptr[T.float32]` names the element type.
    named = [word.text[2:] if isinstance(word, Name) else word for word in words]
    return tuple(word for word in named if isinstance(word, str)) or None


def declares_size(form: Form) -> bool:
    """Whether a declaration makes a size: `T.SizeVar("n", "int64")`, `T.int64(is_size_var=True)`."""
    given = form.keywords.get("is_size_var")
    return form.head == "T.SizeVar" or (given is not None and given.value is True)


def type_or(value: tir.PrimExpr, default: DataType) -> DataType:
    """The data type of a scalar, or the given one if only the rest of the text determines it."""
    if isinstance(value, (tir.OpaqueExpr, tir.StringImm)):
        return default
    if isinstance(value, tir.Call) and value.dtype is None:
        return default
    return tir.type_of(value)


def only(reports: Reports, form: Form, names: Collection[str]) -> None:
    """Report keywords with other names; the rest of the form is read."""
    for name, value in form.keywords.items():
        if name not in names:
            words = f"{form.head} has no argument {name!r}"
            reports.error(words, value.span, did_you_mean(closest(name, names)))
