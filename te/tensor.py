"""Tensors as expressions: placeholders, and tensors computed element by element."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from types import FunctionType
from typing import Any

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import INT32, INT64, DataType, fits
from rlx.grammar.nodes.node import Record, complete, replace
from rlx.grammar.nodes.python_places import spelt
from rlx.te.errors import Place, fail, here
from rlx.te.intrinsics import if_then_else
from rlx.te.reduction import ALONE, ReduceAxis, Reduced, Reduction
from rlx.te.scalar import Scalar, cast, kind_of, scalar

_INDEX: ContextVar[DataType] = ContextVar("index type", default=INT32)
"""The type of plain numbers in dimensions and bounds."""
_TAG: ContextVar[str] = ContextVar("tag", default="")
_DIMENSIONS: dict[str, Scalar] = {}


@contextmanager
def indices_of(kind: DataType) -> Iterator[None]:
    """Set the type of plain numbers in dimensions inside the ``with`` statement; Relax uses 64
    bits.
    """
    token = _INDEX.set(kind)
    try:
        yield
    finally:
        _INDEX.reset(token)


@contextmanager
def tag_scope(tag: str) -> Iterator[None]:
    """Give the tensors that are made inside the ``with`` statement, or the decorated function, a
    tag.

    Raises
    ------
    TensorExpressionError
        If one of them has a tag of its own, or another scope is open.
    """
    if not isinstance(tag, str):
        fail(f"tag: expected a text, found {type(tag).__name__}")
    if _TAG.get():
        fail("tags do not nest")
    token = _TAG.set(tag)
    try:
        yield
    finally:
        _TAG.reset(token)


def described_by(tag: str, attrs: Mapping[str, object] | None) -> tuple[str, Mapping[str, object]]:
    """The tag and the annotations of a new tensor. Raises TensorExpressionError if the scope has
    another tag, or they are none.
    """
    around = _TAG.get()
    if not isinstance(tag, str):
        fail(f"tag: expected a text, found {type(tag).__name__}")
    if attrs is not None and not isinstance(attrs, Mapping):
        fail(f"attrs: expected annotations by name, found {type(attrs).__name__}")
    if tag and around:
        fail("tags do not nest")
    return tag or around, dict(attrs or {})


class Read(tir.BufferLoad):
    """An element of a tensor in a tensor expression.

    Attributes
    ----------
    tensor
        The tensor that is read.
    place
        The line that reads it.
    """

    tensor: Tensor  # type: ignore[misc]
    place: Place | None  # type: ignore[misc]


class Operation(Record):
    """The origin of tensors: a placeholder or a computation.

    Attributes
    ----------
    name
        The name of its block and its buffers.
    axes, extents
        The index variables of the elements, and their extents.
    bodies
        One expression for each output; none for a placeholder.
    reduction
        The reduction, if the elements are results of one.
    place
        The line that made it.
    along
        The axis of a scan, in which an element reads the one before it.
    tag
        A word for the user's own rules.
    attrs
        What its blocks are annotated with; ``layout_free_placeholders`` lists parameters whose
        layout may change.
    """

    __slots__ = ("_nodes", "_reads")

    name: str
    axes: tuple[tir.Var, ...] = ()
    extents: tuple[Scalar, ...] = ()
    bodies: tuple[tir.PrimExpr, ...] = ()
    reduction: Reduction | None = None
    place: Place | None = None
    along: int | None = None
    tag: str = ""
    attrs: Mapping[str, object] = {}

    @property
    def axis(self) -> tuple[ReduceAxis, ...]:
        """The axes of the elements, with their ranges."""
        ranges = zip(self.axes, self.extents, strict=True)
        return tuple(ReduceAxis(var, cast(end.dtype, 0), end) for var, end in ranges)

    @property
    def reduce_axis(self) -> tuple[ReduceAxis, ...]:
        """The axes of the reduction."""
        return () if self.reduction is None else self.reduction.axes

    @property
    def body(self) -> tuple[Scalar, ...]:
        """One element for each output; of a reduction, the elements that it combines."""
        if self.reduction is not None:
            return self.reduction.sources
        return tuple(Scalar(each, tir.type_of(each)) for each in self.bodies)

    @property
    def num_outputs(self) -> int:
        """The number of tensors that it computes."""
        return len(self.bodies if self.reduction is None else self.reduction.sources)

    @property
    def nodes(self) -> list[tir.PrimExpr]:
        """The distinct nodes of its expressions, operands first."""
        found: list[tir.PrimExpr] | None = getattr(self, "_nodes", None)
        if found is None:  # they are asked for again and again
            found = tir.postorder(*self.expressions())
            complete(self, _nodes=found)
        return found

    @property
    def input_tensors(self) -> list[Tensor]:
        """The distinct tensors that it reads, in the order of the reads."""
        found: list[Tensor] | None = getattr(self, "_reads", None)
        if found is None:
            read = [node.tensor for node in self.nodes if type(node) is Read]
            # A scan reads itself.
            found = list(dict.fromkeys([tensor for tensor in read if tensor.op is not self]))
            complete(self, _reads=found)
        return found

    def expressions(self) -> Iterator[tir.PrimExpr]:
        """All its expressions."""
        yield from self.bodies
        if self.reduction is not None:
            yield from (s.node for s in self.reduction.sources)
            yield from (s.node for s in self.reduction.init)
            if self.reduction.where is not None:
                yield self.reduction.where.node


class Tensor:
    """A tensor: a placeholder, or computed element by element.

    Attributes
    ----------
    shape
        Its dimensions, as scalars: ``A.shape[0] * 2`` is one.
    dtype
        Its element type.
    op, index
        The operation that computes it, and the index among its outputs.
    value
        The Relax value that it represents, for a tensor of :func:`rlx.te.te_tensor`.
    """

    __slots__ = ("buffer", "dtype", "index", "op", "shape", "value")

    def __init__(
        self,
        op: Operation,
        index: int,
        name: str,
        shape: Sequence[Scalar],
        dtype: DataType,
        value: ast.Expr | None = None,
    ) -> None:
        self.op, self.index, self.dtype, self.value = op, index, dtype, value
        self.shape = tuple(shape)
        self.buffer = tir.Buffer(name, tuple(dim.node for dim in self.shape), dtype)

    @property
    def name(self) -> str:
        """The name of its buffer."""
        return self.buffer.name

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    def __getitem__(self, indices: Any) -> Scalar:
        given = indices if isinstance(indices, tuple) else (indices,)
        return self(*given)

    def __call__(self, *indices: Any) -> Scalar:
        """The element at indices.

        Raises
        ------
        TensorExpressionError
            If there are not as many as the tensor has axes, or one is no integer.
        """
        if len(indices) != self.ndim:
            axes = f"{self.ndim} {'axis' if self.ndim == 1 else 'axes'}"
            fail(f"{self.name} has {axes}, but {len(indices)} indices are given")
        found = [self._index(each) for each in indices]
        return Scalar(Read(self.buffer, tuple(found), None, self, here()), self.dtype)

    def _index(self, given: Any) -> tir.PrimExpr:
        index = scalar(given)
        if not index.dtype.is_integer:
            fail(f"an index of {self.name} is {index} of type {index.dtype}, expected an integer")
        return index.node

    def _unindexed(self, _: object) -> Any:
        fail(f"expected an element, found the tensor {self.name}: index it, as in A[i, j]")

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _unindexed
    __truediv__ = __rtruediv__ = __floordiv__ = __mod__ = __pow__ = __rpow__ = _unindexed
    __lt__ = __le__ = __gt__ = __ge__ = _unindexed

    def __iter__(self) -> Iterator[Any]:
        fail(f"the tensor {self.name} is not iterable: index it, as in A[i, j]")

    def __repr__(self) -> str:
        shape = ", ".join(map(str, self.shape))
        return f"Tensor({self.name}: ({shape}{',' * (self.ndim == 1)}), {self.dtype})"


@spelt
def var(name: str, dtype: str = "int64") -> Scalar:
    """A shape variable of 64 bits, as in Relax."""
    kind = kind_of(dtype)
    return Scalar(tir.Var(name, kind), kind)


def dimension(value: Any) -> Scalar:
    """A dimension: a number, a variable, an expression, or a name, which always denotes the same
    variable. Raises TensorExpressionError if it is none of these, not an integer, or negative.
    """
    if isinstance(value, str):
        if not value.isidentifier():
            fail(f"expected the name of a dimension, found {value!r}")
        return _DIMENSIONS.setdefault(value, var(value))
    found = scalar(value)
    if type(found.node) is tir.Var and found.dtype is INT64:
        return found
    if isinstance(value, int) and not isinstance(value, bool):
        kind = _INDEX.get()
        fitting = kind if fits(value, kind) else INT64
        found = Scalar(tir.IntImm(value, fitting), fitting)
    if not found.dtype.is_integer:
        fail(f"expected an integer as dimension, found {found} of type {found.dtype}")
    if found.value is not None and found.value < 0:
        fail(f"expected a dimension of at least 0, found {found.value}")
    return found


def shape_of(given: Any) -> tuple[Scalar, ...]:
    """The dimensions of a shape: a tuple, one dimension, or a Relax shape."""
    if isinstance(given, ast.ShapeExpr):
        given = given.values
    if isinstance(given, Iterable) and not isinstance(given, str):
        return tuple(dimension(dim) for dim in given)
    return (dimension(given),)


@spelt
def placeholder(shape: Any, dtype: str | DataType = "float32", name: str = "placeholder") -> Tensor:
    """An input tensor.

    Parameters
    ----------
    shape
        Numbers, variables (:func:`var`), expressions of these, or names of variables.

    Raises
    ------
    TensorExpressionError
        If a dimension is not an integer, or the element type is invalid.
    """
    if dtype is None:
        fail(f"the placeholder {name} needs an element type, as in dtype='float32'")
    kind = kind_of(dtype)
    return Tensor(
        Operation(buffer_name(name), place=here()), 0, buffer_name(name), shape_of(shape), kind
    )


def buffer_name(name: object) -> str:
    """A name, with ``_`` for what no name of a text has: ``conv.out`` is ``conv_out``."""
    found = re.sub(r"\W", "_", name) if isinstance(name, str) else ""
    if not found.isidentifier():
        fail(f"expected a name such as 'A', found {name!r}")
    return found


@spelt
def compute(
    shape: Any,
    fcompute: Callable[..., Any],
    name: str = "compute",
    tag: str = "",
    attrs: Mapping[str, object] | None = None,
    varargs_names: Sequence[str] | None = None,
) -> Any:
    """A tensor whose elements a function computes.

    Parameters
    ----------
    shape
        As that of :func:`placeholder`.
    fcompute
        Called once with a variable for each axis; returns the element, or a tuple of elements for
        several outputs. The axes get the names of its parameters.
    tag, attrs
        A word, and annotations of its blocks, for tools that read them.
    varargs_names
        The names of the axes that ``*indices`` takes.

    Returns
    -------
    Tensor or tuple of Tensor

    Raises
    ------
    TensorExpressionError
        If the function does not take one index for each axis, or does not return elements.
    """
    place = here()
    dims = shape_of(shape)
    word = buffer_name(name)
    if not callable(fcompute):
        fail(f"expected a function of indices, found {type(fcompute).__name__}", place)
    axes = [
        tir.Var(axis, dim.dtype)
        for axis, dim in zip(
            _axes(fcompute, len(dims), word, place, varargs_names), dims, strict=True
        )
    ]
    result = fcompute(*(Scalar(axis, axis.dtype) for axis in axes))
    several = isinstance(result, tuple | list)
    values = list(result) if isinstance(result, tuple | list) else [result]
    if not values:
        fail(f"the function of {word} gives no elements", place)
    reduction = _reduction(values, word, place)
    said = described_by(tag, attrs)
    if reduction is not None:
        op = Operation(word, tuple(axes), dims, (), reduction, place, None, *said)
        kinds = [value.dtype for value in reduction.sources]
        several = reduction.several
    else:
        elements = [scalar(value) for value in values]
        bodies = tuple(e.node for e in elements)
        op = Operation(word, tuple(axes), dims, bodies, None, place, None, *said)
        kinds = [element.dtype for element in elements]
    tensors = tuple(
        Tensor(op, k, each, dims, kind)
        for k, (each, kind) in enumerate(zip(output_names(word, len(kinds)), kinds, strict=True))
    )
    if several:
        return tensors
    (alone,) = tensors
    return alone


def output_names(name: str, count: int) -> list[str]:
    """The names of the outputs of an operation."""
    return [name] if count == 1 else [f"{name}_v{k}" for k in range(count)]


@spelt
def running(
    shape: Any,
    fcompute: Callable[..., Any],
    axis: int,
    fcombine: Callable[[Scalar, Scalar], Any],
    name: str = "running",
) -> Tensor:
    """A scan along an axis: each element combines the one before it with a value.

    Parameters
    ----------
    shape, fcompute
        As those of :func:`compute`; the function returns the values to combine.
    axis
        The axis of the scan; its first element is the first value.
    fcombine
        Combines the previous element with a value; the result has the value's type.

    Examples
    --------
    >>> from rlx import te
    >>> A = te.placeholder(("n",), "float32", name="A")
    >>> total = te.running(A.shape, lambda i: A[i], 0, lambda a, b: a + b, name="total")

    Raises
    ------
    TensorExpressionError
        As :func:`compute` does; or if there is no such axis.
    """
    plain = compute(shape, fcompute, name)
    if isinstance(plain, tuple) or plain.op.reduction is not None:
        fail(f"{name}: a scan needs exactly one value for each element")
    if isinstance(axis, bool) or not isinstance(axis, int) or not 0 <= axis < plain.ndim:
        fail(f"{name} has {plain.ndim} axes; axis {axis!r} is out of range")
    if not callable(fcombine):
        fail(f"fcombine: expected a function of two elements, found {type(fcombine).__name__}")
    old, kind = plain.op, plain.dtype
    made = Tensor(old, 0, plain.name, plain.shape, kind)
    at = [Scalar(axis_var, axis_var.dtype) for axis_var in old.axes]
    (plainly,) = old.bodies
    value = Scalar(plainly, kind)
    before = made(*(i - 1 if k == axis else i for k, i in enumerate(at)))
    joined = cast(kind, fcombine(before, value))
    body = if_then_else(at[axis] > 0, joined, value).node
    made.op = replace(old, bodies=(body,), along=axis)
    return made


def _reduction(values: list[Any], name: str, place: Place | None) -> Reduction | None:
    """The reduction that a function gave, alone; several outputs are one reduction of tuples."""
    found = [value.reduction if isinstance(value, Reduced) else None for value in values]
    first = next((each for each in found if each is not None), None)
    if first is None:
        return None
    if len(found) != len(first.sources) or any(each is not first for each in found):
        fail(f"{name}: {ALONE}", place)
    return first


def _axes(
    function: Callable[..., Any],
    count: int,
    name: str,
    place: Place | None,
    others: Sequence[str] | None,
) -> list[str]:
    """The names of the axes; a function with ``*indices`` takes any number."""
    if others is None and type(function) is FunctionType and _is_simple(function, count):
        return list(function.__code__.co_varnames[:count])
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return [f"i{k}" for k in range(count)]
    plain = [
        p.name
        for p in parameters
        if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty
    ]
    rest = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    alone = any(p.kind is p.KEYWORD_ONLY and p.default is p.empty for p in parameters)
    if alone or len(plain) > count or (len(plain) < count and not rest):
        takes = f"{len(plain)} {'index' if len(plain) == 1 else 'indices'}"
        axes = f"{count} {'axis' if count == 1 else 'axes'}"
        fail(f"{name} has {axes}, but its function takes {takes}", place)
    if rest and others is not None:
        if len(others) != count - len(plain):
            fail(f"{name}: {len(others)} names for {count - len(plain)} axes", place)
        return plain + [buffer_name(each) for each in others]
    return plain + [f"i{k}" for k in range(len(plain), count)]


def _is_simple(function: FunctionType, count: int) -> bool:
    """Whether a function takes exactly so many arguments, none by default or by keyword."""
    code = function.__code__
    variable = code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    wraps = hasattr(function, "__wrapped__") or function.__defaults__ is not None
    return code.co_argcount == count and not (code.co_kwonlyargcount or variable or wraps)


@spelt
def reduce_axis(dom: Any, name: str = "rv") -> ReduceAxis:
    """An axis for a reduction.

    Parameters
    ----------
    dom
        The first value and the exclusive end: ``(0, n)``; or only the extent.

    Raises
    ------
    TensorExpressionError
        If it is not a pair of integers.
    """
    if isinstance(name, int | Scalar):
        fail(f"expected both bounds as a pair: te.reduce_axis(({dom}, {name}))")
    bounds = tuple(dom) if isinstance(dom, tuple | list) else (0, dom)
    if len(bounds) != 2:
        fail(f"expected a first value and an exclusive end, found {len(bounds)} bounds")
    low, high = map(_bound, bounds)
    kind = INT64 if INT64 in (low.dtype, high.dtype) else low.dtype
    return ReduceAxis(tir.Var(buffer_name(name), kind), cast(kind, low), cast(kind, high))


def _bound(given: Any) -> Scalar:
    if isinstance(given, str):
        return dimension(given)
    found = scalar(given)
    if isinstance(given, int) and not isinstance(given, bool):
        return Scalar(tir.IntImm(given, _INDEX.get()), _INDEX.get())
    if not found.dtype.is_integer:
        fail(f"expected an integer as bound, found {found} of type {found.dtype}")
    return found
