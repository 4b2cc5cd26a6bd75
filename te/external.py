"""Tensors that a statement fills, and scans over earlier elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import INT32, DataType
from rlx.grammar.nodes.equal import structural_equal
from rlx.grammar.nodes.node import Node
from rlx.grammar.nodes.python_places import spelt, type_name
from rlx.grammar.nodes.rewrite import rebuild
from rlx.te.errors import fail, here
from rlx.te.intrinsics import if_then_else
from rlx.te.rebuild import Rebuild
from rlx.te.scalar import Scalar, kind_of, scalar
from rlx.te.tensor import Operation, Read, Tensor, described_by, shape_of

Buffers = Sequence[tir.Buffer]
Fill = Callable[[Buffers, Buffers], tuple[tuple[tir.Buffer, ...], tir.Stmt]]
"""Called with the buffers of the read tensors and of the results; returns work buffers and the
statement. Their shapes use the variables of the generated PrimFunc.
"""


class External(Operation):
    """Tensors that a statement fills.

    Attributes
    ----------
    read
        The tensors that the statement reads.
    fill
        Makes the statement.
    outputs
        The shape and the element type of each tensor.
    """

    read: tuple[Tensor, ...]  # type: ignore[misc]
    fill: Fill  # type: ignore[misc]
    outputs: tuple[tuple[tuple[Scalar, ...], DataType], ...]  # type: ignore[misc]

    @property
    def num_outputs(self) -> int:
        """The number of tensors that it computes."""
        return len(self.outputs)

    @property
    def input_tensors(self) -> list[Tensor]:
        """The distinct tensors that it reads."""
        return list(dict.fromkeys(self.read))

    def output(self, index: int) -> Tensor:
        """One of its tensors."""
        return Tensor(self, index, self.name, *self.outputs[index])


def external(shape: Any, read: Sequence[Tensor], fill: Fill, name: str, dtype: DataType) -> Tensor:
    """A tensor that a statement fills.

    Nothing is proved about the statement. It must store every element, and an out-of-bounds read
    stops the run. The tensor is read like any other tensor.
    """
    outputs = ((tuple(shape), dtype),)
    op = External(name, (), (), (), None, here(), None, "", {}, tuple(read), fill, outputs)
    return op.output(0)


@spelt
def extern(
    shape: Any,
    inputs: Sequence[Tensor],
    fcompute: Callable[[Buffers, Buffers], Any],
    name: str = "extern",
    dtype: Any = None,
    tag: str = "",
    attrs: dict[str, object] | None = None,
) -> Any:
    """Tensors that a statement or an external function fills.

    Nothing is proved about it: it must store every element.

    Parameters
    ----------
    shape
        The shape of the tensor, or a list of shapes; a list of one shape is one tensor, too.
    inputs
        The tensors that it reads.
    fcompute
        Called with the buffers of the inputs and of the results when a PrimFunc is made; returns a
        statement, or a call as of :func:`call_packed`.
    dtype
        The element type, or a list of them; by default that of all inputs.
    tag, attrs
        A word, and annotations of its block, for tools that read them.

    Returns
    -------
    Tensor or tuple of Tensor

    Raises
    ------
    TensorExpressionError
        If an input is not a tensor, or the element type is not clear.
    """
    several = isinstance(shape, tuple | list) and any(isinstance(s, tuple | list) for s in shape)
    shapes = [shape_of(each) for each in (shape if several else [shape])]
    inputs = _listed(inputs)
    if dtype is None:
        kinds = {each.dtype for each in inputs}
        if len(kinds) != 1:
            fail(f"{name}: the inputs do not have one element type: give dtype=")
        given: list[Any] = [*kinds] * len(shapes)
    else:
        given = list(dtype) if isinstance(dtype, tuple | list) else [dtype] * len(shapes)
    if len(given) != len(shapes):
        fail(f"{name}: {len(shapes)} shapes, but {len(given)} element types")

    def fill(read: Buffers, out: Buffers) -> tuple[tuple[tir.Buffer, ...], tir.Stmt]:
        made = fcompute(read, out)
        made = made.node if isinstance(made, Scalar) else made
        if isinstance(made, tir.PrimExpr):
            made = tir.Evaluate(made)
        if not isinstance(made, tir.Stmt):
            fail(f"{name}: expected a statement or a call, found {type(made).__name__}", place)
        return (), made

    place = here()
    outputs = tuple(zip(shapes, map(kind_of, given), strict=True))
    said = described_by(tag, attrs)
    op = External(name, (), (), (), None, place, None, *said, tuple(inputs), fill, outputs)
    made = tuple(op.output(k) for k in range(len(outputs)))
    return made if len(made) > 1 else made[0]


def call_packed(name: str, *args: Any) -> Scalar:
    """A call of an external function, for :func:`extern`; buffers are passed as arrays."""
    found = tuple(_array(a) if isinstance(a, tir.Buffer) else _plain(a) for a in args)
    return Scalar(tir.Call("call_packed", (tir.StringImm(name), *found)), INT32)


def _plain(given: Any) -> tir.PrimExpr:
    return tir.StringImm(given) if isinstance(given, str) else scalar(given).node


def _array(buffer: tir.Buffer) -> tir.PrimExpr:
    shape = tir.Call("tvm_stack_make_shape", buffer.shape)
    kind, zero = buffer.dtype, tir.IntImm(0, INT32)
    element = tir.FloatImm(0.0, kind) if kind.is_float else tir.IntImm(0, kind)
    data, rank = tir.OpaqueExpr(f"{buffer.name}.data"), tir.IntImm(len(buffer.shape), INT32)
    return tir.Call("tvm_stack_make_array", (data, shape, zero, rank, element, zero))


def extern_primfunc(input_tensors: Sequence[Tensor], primfunc: tir.PrimFunc, **kwargs: Any) -> Any:
    """Tensors that the body of a PrimFunc fills.

    Parameters
    ----------
    input_tensors
        The tensors for the buffers that it reads, in the order of its parameters.
    **kwargs
        As those of :func:`extern`: ``name``, ``tag``, ``attrs``.

    Raises
    ------
    TensorExpressionError
        If the buffers that it reads do not have the shapes of the tensors.
    """
    if not isinstance(primfunc, tir.PrimFunc):
        fail(f"expected a PrimFunc, found {type(primfunc).__name__}")
    input_tensors = _listed(input_tensors)
    buffers = [primfunc.buffer_map[p] for p in primfunc.params if p in primfunc.buffer_map]
    written, loaded = _touched(primfunc.body)
    outs = [b for b in buffers if b in written and b not in loaded]
    if not outs:
        outs = [b for b in buffers if b in written][-1:]
    ins = [b for b in buffers if b in loaded and b not in outs]
    if not outs or len(ins) != len(input_tensors):
        fail(f"the PrimFunc reads {len(ins)} buffers, but {len(input_tensors)} tensors are given")
    sizes: dict[tir.Var, tir.PrimExpr] = {}
    for buffer, tensor in zip(ins, input_tensors, strict=True):
        dims = [dim.node for dim in tensor.shape]
        if len(dims) != len(buffer.shape):
            fail(f"{buffer.name} has {len(buffer.shape)} axes, {tensor.name} has {len(dims)}")
        for want, have in zip(buffer.shape, dims, strict=True):
            if isinstance(want, tir.Var):
                want = sizes.setdefault(want, have)
            if not structural_equal(want, have):
                fail(f"{buffer.name} and {tensor.name} have different shapes: {want} and {have}")

    def fcompute(read: Buffers, out: Buffers) -> tir.Stmt:
        place: dict[Node, Node] = dict(zip((*ins, *outs), (*read, *out), strict=True))
        for old, new in zip((*ins, *outs), (*read, *out), strict=True):
            place |= {
                a: b for a, b in zip(old.shape, new.shape, strict=True) if isinstance(a, tir.Var)
            }
        made = rebuild(primfunc.body, lambda node: place.get(node, node))
        assert isinstance(made, tir.Stmt)
        return made

    shapes = [tuple(scalar(tir.substitute(dim, sizes)) for dim in b.shape) for b in outs]
    kinds = [b.dtype for b in outs]
    return extern(shapes, input_tensors, fcompute, dtype=kinds, **kwargs)


def _touched(body: tir.Stmt) -> tuple[set[tir.Buffer], set[tir.Buffer]]:
    """The buffers that a statement stores to, and those that it loads from."""
    written: set[tir.Buffer] = set()
    loaded: set[tir.Buffer] = set()

    def seen(node: Node) -> Node:
        if isinstance(node, tir.BufferStore):
            written.add(node.buffer)
        elif isinstance(node, tir.BufferLoad):
            loaded.add(node.buffer)
        return node

    rebuild(body, lambda node: seen(node))
    return written, loaded


@spelt
def scan(
    init: Tensor | Sequence[Tensor],
    update: Tensor | Sequence[Tensor],
    state_placeholder: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor] | None = None,
    name: str = "scan",
    tag: str = "",
    attrs: dict[str, object] | None = None,
) -> Any:
    """Tensors whose elements are computed from elements with smaller first indices.

    Parameters
    ----------
    init
        The first elements, as many as its first dimension.
    update
        The others, computed from elements of ``state_placeholder``.
    state_placeholder
        A placeholder for each result, of its shape.
    inputs
        The other tensors that the scan reads; they need not be given.
    tag, attrs
        As those of :func:`rlx.te.compute`.

    Examples
    --------
    >>> from rlx import te
    >>> X = te.placeholder((8, "n"), name="X")
    >>> state = te.placeholder((8, "n"), name="state")
    >>> first = te.compute((1, "n"), lambda _, i: X[0, i])
    >>> following = te.compute((8, "n"), lambda t, i: state[t - 1, i] + X[t, i])
    >>> total = te.scan(first, following, state)

    Raises
    ------
    TensorExpressionError
        If the numbers of tensors differ, or an update is a reduction or reads the state through
        another tensor.
    """
    one = isinstance(update, Tensor)
    first, then, state = map(_listed, (init, update, state_placeholder))
    if not len(first) == len(then) == len(state):
        fail(f"{name}: {len(first)} initial values, {len(then)} updates, {len(state)} states")
    place = here()
    if any(each.op.reduction is not None or not each.op.axes for each in then):
        fail(f"{name}: an update is a tensor of te.compute without a reduction", place)
    axes, extents = then[0].op.axes, then[0].op.extents
    made = [
        Tensor(then[0].op, k, name if one else f"{name}_v{k}", t.shape, t.dtype)
        for k, t in enumerate(then)
    ]
    results = {s.op: m for s, m in zip(state, made, strict=True)}

    def load(read: Read, at: tuple[Scalar, ...]) -> Scalar:
        return results.get(read.tensor.op, read.tensor)(*at)

    bodies: list[tir.PrimExpr] = []
    index = [Scalar(axis, axis.dtype) for axis in axes]
    for begin, each, holds in zip(first, then, state, strict=True):
        for other in (begin, holds):
            if other.dtype != each.dtype or other.ndim != each.ndim:
                fail(
                    f"{name}: {other.name} and {each.name} have other element types or axes", place
                )
        if len(each.op.axes) != len(axes):
            fail(f"{name}: {then[0].name} and {each.name} have other axes", place)
        through = [t for t in each.op.input_tensors if any(s.op in _reached(t) for s in state)]
        if any(t.op not in results for t in through):
            fail(f"{name}: {each.name} reads the state through {through[0].name}", place)
        own = dict(zip(each.op.axes, index, strict=True))
        value = Rebuild(own, load, canonical=False)(each.op.bodies[each.index])
        bodies.append(if_then_else(index[0] < begin.shape[0], begin(*index), value).node)
    said = described_by(tag, attrs)
    op = Operation(name, axes, extents, tuple(bodies), None, place, 0, *said)
    for each in made:
        each.op = op
    return made[0] if one else tuple(made)


def _listed(given: Tensor | Sequence[Tensor]) -> list[Tensor]:
    found = [given] if isinstance(given, Tensor) else given
    if not isinstance(found, list | tuple):
        fail(f"expected tensors in a list, found {type_name(found)}")
    for each in found:
        if not isinstance(each, Tensor):
            fail(f"expected tensors, found {type_name(each)}")
    return [*found]


def _reached(tensor: Tensor) -> set[Operation]:
    """The operations that a tensor is computed from, with its own."""
    found: set[Operation] = set()
    pending = [tensor.op]
    while pending:
        op = pending.pop()
        if op not in found:
            found.add(op)
            pending += [each.op for each in op.input_tensors]
    return found
