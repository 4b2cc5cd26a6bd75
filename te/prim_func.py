"""PrimFuncs of tensor expressions: a loop nest with a block for each computation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import Any

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import HANDLE, INT32, DataType
from rlx.grammar.nodes.node import Record
from rlx.grammar.nodes.python_places import described, spelt, type_name
from rlx.grammar.nodes.tir_stmts import in_order
from rlx.te.check import check_reads
from rlx.te.errors import fail
from rlx.te.external import External
from rlx.te.graph import computed, operations, unbound
from rlx.te.intrinsics import if_then_else
from rlx.te.linear import simplified
from rlx.te.rebuild import Rebuild
from rlx.te.reduction import Reduction
from rlx.te.scalar import Scalar, cast, kind_of
from rlx.te.tensor import Operation, Read, Tensor, output_names

NO_ALIAS = "tirx.noalias"
LAYOUT_FREE = "layout_free_placeholders"


@spelt
def create_prim_func(
    args: Sequence[Any],
    index_dtype_override: str | None = None,
    *,
    check: bool = True,
    store_identities: bool = False,
) -> tir.PrimFunc:
    """The PrimFunc with placeholders and computed tensors as parameters.

    Parameters
    ----------
    args
        Its parameters in order: tensors, and variables that it takes as numbers. Intermediate
        tensors that are not parameters are allocated in it.
    index_dtype_override
        The type of all indices and dimensions: ``"int64"`` for a PrimFunc that Relax calls.
    check
        Whether to prove that all reads are in bounds.
    store_identities
        Whether the result of a reduction over no elements is the identity: if an axis may be empty,
        the identities are then stored first. In TVM's form such a result is never written.

    Raises
    ------
    TensorExpressionError
        If a tensor that is read is neither a parameter nor computed, a variable is unknown to the
        function, or an index is out of bounds for some sizes: the error then has a counterexample.
    """
    given = list(args) if isinstance(args, list | tuple) else [args]
    flat = [each for arg in given for each in (arg if isinstance(arg, tuple | list) else (arg,))]
    tensors = [each for each in flat if isinstance(each, Tensor)]
    for each in flat:
        if not isinstance(each, Tensor | Scalar):
            fail(f"expected tensors as parameters, found {type_name(each)}")
        if isinstance(each, Scalar) and not isinstance(each.node, tir.Var):
            fail(f"expected a variable as parameter, found {each}")
    if not tensors:
        fail("expected at least one tensor as parameter")
    distinct(tensors)
    ops = operations(tensors)
    for op in ops:
        if not computed(op) and all(t.op is not op for t in tensors):
            fail(f"{op.name} is read, but is not a parameter", op.place)
    if not any(map(computed, ops)):
        fail("nothing is computed: expected a tensor of te.compute among the parameters")
    loose = [v for v in unbound(tensors, ops) if all(each is not v for each in _variables(flat))]
    if loose:
        names = ", ".join(v.name for v in loose)
        fail(f"{names}: no dimension of a parameter is this variable: add it to the parameters")
    if not isinstance(check, bool):
        fail(f"check: expected True or False, found {described(check)}")
    if check:
        check_reads(ops)
    index = None if index_dtype_override is None else kind_of(index_dtype_override)
    if index is not None and not index.is_integer:
        fail(f"expected integers as indices, found {index}")
    return of_operations(flat, ops, index, store_identities)


def distinct(tensors: Sequence[Tensor]) -> None:
    """Raises TensorExpressionError if a tensor occurs twice."""
    if len({(id(t.op), t.index) for t in tensors}) != len(tensors):
        fail("a tensor occurs twice among the parameters")


def of_operations(
    parameters: Sequence[Any],
    ops: Sequence[Operation],
    index: DataType | None,
    store_identities: bool,
) -> tir.PrimFunc:
    """As :func:`create_prim_func`, of parameters of which all is known: the operations that compute
    them, and that they are complete.
    """
    return _Maker(parameters, ops, index, store_identities).function()


def _variables(flat: Iterable[Any]) -> list[tir.Var]:
    return [
        each.node for each in flat if isinstance(each, Scalar) and isinstance(each.node, tir.Var)
    ]


class _Maker:
    """Makes one PrimFunc.

    Attributes
    ----------
    sizes
        What stands for each variable of shapes: the function has its own.
    buffers
        The buffer of each tensor.
    """

    def __init__(
        self,
        parameters: Sequence[Any],
        ops: Sequence[Operation],
        index: DataType | None,
        store_identities: bool,
    ) -> None:
        self.parameters, self.ops, self.index = parameters, ops, index
        self.store_identities = store_identities
        self.sizes: dict[tir.Var, Scalar] = {}
        self.names: set[str] = set()
        self.buffers: dict[tuple[Operation, int], tir.Buffer] = {}
        self.blocks: set[str] = set()

    def function(self) -> tir.PrimFunc:
        """The function."""
        params: list[tir.Var] = []
        buffers: dict[tir.Var, tir.Buffer] = {}
        for each in self.parameters:
            if isinstance(each, Tensor):
                buffer = self._buffer(each)
                handle = tir.Var(buffer.name, HANDLE)
                params.append(handle)
                buffers[handle] = buffer
            else:
                number = self._size(each.node).node
                assert isinstance(number, tir.Var)
                params.append(number)
        allocated = list(self._allocate())
        nests = [nest for op in self.ops if computed(op) for nest in self._nests(op)]
        stmts = [*(tir.AllocBuffer(b, "sblock_alloc_buffer") for b in allocated), *nests]
        attrs: dict[str, object] = {NO_ALIAS: True, "s_tir": True}
        free = {t for op in self.ops for t in op.attrs.get(LAYOUT_FREE, ())}  # type: ignore[attr-defined]
        if free:
            attrs["layout_free_buffers"] = [k for k, t in enumerate(self.parameters) if t in free]
        return tir.PrimFunc(tuple(params), in_order(stmts), None, buffers, attrs)

    # ------------------------------------------------------------ names

    def _named(self, hint: str, taken: set[str]) -> str:
        name = hint
        if name in taken:
            name = next(n for n in (f"{hint}_{k}" for k in count(1)) if n not in taken)
        taken.add(name)
        return name

    def _size(self, var: tir.Var) -> Scalar:
        """The function's own variable for one of a shape."""
        found = self.sizes.get(var)
        if found is None:
            kind = var.dtype if self.index is None else self.index
            new = tir.Var(self._named(var.name, self.names), kind)
            found = self.sizes[var] = Scalar(new, kind)
        return found

    def _dim(self, dim: tir.PrimExpr) -> Scalar:
        if isinstance(dim, tir.Var):
            return self._size(dim)
        index = self.index
        if isinstance(dim, tir.IntImm) and (index is None or dim.dtype.bits <= index.bits):
            kind = index or dim.dtype
            return Scalar(dim if dim.dtype is kind else tir.IntImm(dim.value, kind), kind)
        rebuild = Rebuild(self.sizes, self._load, index)
        for var in tir.free_vars(dim):
            self._size(var)
        return rebuild.as_index(rebuild(dim))

    def _buffer(self, tensor: Tensor) -> tir.Buffer:
        key = (tensor.op, tensor.index)
        found = self.buffers.get(key)
        if found is None:
            name = self._named(tensor.name, self.names)
            shape = tuple(self._shape_dim(dim) for dim in tensor.shape)
            found = self.buffers[key] = tir.Buffer(name, shape, tensor.dtype)
        return found

    def _shape_dim(self, dim: Scalar) -> tir.PrimExpr:
        """A dimension as it was written, with the function's own variables."""
        from rlx.solver.order import substitute_prim

        if dim.value is not None or isinstance(dim.node, tir.Var):
            return self._dim(dim.node).node
        free = tir.free_vars(dim.node)
        known: dict[tir.Var, tir.PrimExpr] = {v: self._size(v).node for v in free}
        if self.index is not None and any(v.dtype != self.index for v in free):
            return self._dim(dim.node).node
        return substitute_prim(dim.node, known)

    def _allocate(self) -> Iterator[tir.Buffer]:
        """Buffers of the tensors that are no parameters."""
        tensors = {(t.op, t.index): t for op in self.ops for t in op.input_tensors}
        tensors |= {(t.op, t.index): t for t in self.parameters if isinstance(t, Tensor)}
        for op in self.ops:
            known = next(tensor for (other, _), tensor in tensors.items() if other is op)
            for index in range(op.num_outputs):
                if (op, index) not in self.buffers:
                    yield self._buffer(tensors.get((op, index)) or _sibling(known, index))

    # ------------------------------------------------------------ statements

    def _nests(self, op: Operation) -> Iterator[tir.Stmt]:
        """The loops of a computation, with its blocks inside; before them those that store
        identities, if need be.
        """
        if isinstance(op, External):
            yield self._filled(op)
            return
        shape = next(b.shape for (other, _), b in self.buffers.items() if other is op)
        spatial = [
            _loop(axis.name, "scan" if k == op.along else "S", None, simplified_dim(dim))
            for k, (axis, dim) in enumerate(zip(op.axes, shape, strict=True))
        ]
        if op.reduction is None:
            names = output_names(op.name, len(op.bodies))
            blocks = [self._plain(op, k, name, spatial) for k, name in enumerate(names)]
            yield _looped(spatial, in_order(blocks))
            return
        reduced = [
            _loop(
                axis.var.name,
                "R",
                self._dim(axis.low.node),
                simplified(self._dim((axis.high - axis.low).node)),
            )
            for axis in op.reduction.axes
        ]
        empty = self.store_identities and any(
            (not isinstance(loop.extent, tir.IntImm) or loop.extent.value <= 0) for loop in reduced
        )
        init, body, axes = self._reduction(op, op.reduction, [*spatial, *reduced])
        if empty:
            first, _, own = self._reduction(op, op.reduction, spatial)
            yield _looped(spatial, self._block(op, f"{op.name}_init", own, None, first))
        block = self._block(op, op.name, axes, init, body)
        yield _looped([*spatial, *reduced], block)

    def _filled(self, op: External) -> tir.Stmt:
        """The block of a statement that fills a tensor, with the buffers it works in."""
        read = [self.buffers[t.op, t.index] for t in op.read]
        out = [self.buffers[op, k] for k in range(op.num_outputs)]
        work, body = op.fill(read, out)
        name = self._named(op.name, self.blocks)
        # TVM cannot see what a call reads and writes, and wants that said.
        region = () if isinstance(body, tir.Evaluate) else None
        return tir.Block(name, (), region, region, None, work, None, body, _annotations(op))

    def _axes(
        self, op: Operation, loops: Sequence[Loop]
    ) -> tuple[tuple[tir.IterVar, ...], dict[tir.Var, Scalar]]:
        """The axes of a block, and what stands in it for the variables of the operation."""
        axes = [
            tir.IterVar(
                tir.Var(f"v_{loop.var.name}", loop.var.dtype), loop.kind, loop.domain, loop.var
            )
            for loop in loops
        ]
        variables = dict(self.sizes)
        reduced = op.reduction.axes if op.reduction is not None else ()
        for var, axis in zip((*op.axes, *(a.var for a in reduced)), axes, strict=False):
            variables[var] = Scalar(axis.var, axis.var.dtype)
        if not axes:
            kind = self.index or INT32
            zero, one = tir.IntImm(0, kind), tir.IntImm(1, kind)
            axes = [tir.IterVar(tir.Var("vi", kind), "S", (zero, one), zero)]
        return tuple(axes), variables

    def _plain(self, op: Operation, index: int, name: str, loops: Sequence[Loop]) -> tir.Stmt:
        """The block that stores an element."""
        axes, variables = self._axes(op, loops)
        rebuild = Rebuild(variables, self._load, self.index)
        buffer = self.buffers[op, index]
        value = cast(buffer.dtype, rebuild(op.bodies[index])).node
        at = tuple(variables[axis].node for axis in op.axes)
        return self._block(op, name, axes, None, tir.BufferStore(buffer, at, value))

    def _reduction(
        self, op: Operation, reduction: Reduction, loops: Sequence[Loop]
    ) -> tuple[tir.Stmt, tir.Stmt, tuple[tir.IterVar, ...]]:
        """The first statement of a reduction, the repeated one, and the axes of its block."""
        axes, variables = self._axes(op, loops)
        several = len(reduction.sources) > 1
        rebuild = Rebuild(variables, self._load, self.index, canonical=not several)
        at = tuple(variables[axis].node for axis in op.axes)
        buffers = [self.buffers[op, k] for k in range(len(reduction.sources))]
        init, body = _reduce(reduction, buffers, at, rebuild)
        return init, body, axes

    def _block(
        self,
        op: Operation,
        name: str,
        axes: tuple[tir.IterVar, ...],
        init: tir.Stmt | None,
        body: tir.Stmt,
    ) -> tir.Stmt:
        unique = self._named(name, self.blocks)
        return tir.Block(unique, axes, None, None, None, (), init, body, _annotations(op))

    def _load(self, read: Read, indices: tuple[Scalar, ...]) -> Scalar:
        buffer = self.buffers[read.tensor.op, read.tensor.index]
        return Scalar(tir.BufferLoad(buffer, tuple(i.node for i in indices)), buffer.dtype)


class Loop(Record):
    """A loop, and the kind of the axis bound to it."""

    var: tir.Var
    kind: str
    low: tir.PrimExpr
    extent: tir.PrimExpr

    @property
    def domain(self) -> tuple[tir.PrimExpr, tir.PrimExpr] | None:
        """The domain of its axis; None if `T.axis.remap` takes it from the loop."""
        return (self.low, self.extent) if self.kind == "scan" else None


def _loop(name: str, kind: str, low: Scalar | None, extent: Scalar) -> Loop:
    start = tir.IntImm(0, extent.dtype) if low is None else low.node
    return Loop(tir.Var(name, extent.dtype), kind, start, extent.node)


def _annotations(op: Operation) -> dict[str, object]:
    """The attributes of the blocks of an operation."""
    return {name: value for name, value in op.attrs.items() if name != LAYOUT_FREE}


def _looped(loops: Sequence[Loop], body: tir.Stmt) -> tir.Stmt:
    for loop in reversed(loops):
        body = tir.For(loop.var, loop.low, loop.extent, "serial", body)
    return body


def simplified_dim(dim: tir.PrimExpr) -> Scalar:
    """A dimension, simplified for the extent of a loop."""
    if isinstance(dim, tir.Var | tir.IntImm):
        return Scalar(dim, dim.dtype)
    return simplified(Scalar(dim, tir.type_of(dim)))


def _sibling(tensor: Tensor, index: int) -> Tensor:
    """Another output of a tensor's operation, which nothing reads."""
    op = tensor.op
    if isinstance(op, External):
        return op.output(index)
    return Tensor(op, index, f"{op.name}_v{index}", tensor.shape, op.body[index].dtype)


def _reduce(
    reduction: Reduction,
    buffers: Sequence[tir.Buffer],
    at: tuple[tir.PrimExpr, ...],
    rebuild: Rebuild,
) -> tuple[tir.Stmt, tir.Stmt]:
    """The statement that a reduction begins with, and the one that it repeats."""
    combiner = reduction.combiner
    begin = reduction.init or combiner.identities
    first = [rebuild(value.node) for value in begin]
    init = _stores(buffers, at, [cast(b.dtype, v) for b, v in zip(buffers, first, strict=True)])
    known = dict(rebuild.variables)
    sources = [rebuild(source.node) for source in reduction.sources]
    if reduction.where is not None:
        holds = rebuild(reduction.where.node)
        sources = [
            if_then_else(holds, source, identity)
            for source, identity in zip(sources, combiner.identities, strict=True)
        ]
    for left, right, buffer, source in zip(
        combiner.left, combiner.right, buffers, sources, strict=True
    ):
        known[left] = Scalar(tir.BufferLoad(buffer, at), buffer.dtype)
        known[right] = source
    join = Rebuild(known, rebuild.load, canonical=rebuild.canonical)
    values = [join(result.node) for result in combiner.results]
    lets: list[tir.Stmt] = []
    if len(buffers) > 1:
        names = [tir.Var(f"v_{b.name}", v.dtype) for b, v in zip(buffers, values, strict=True)]
        lets = [tir.LetStmt(n, value.node) for n, value in zip(names, values, strict=True)]
        values = [Scalar(name, name.dtype) for name in names]
    stores = _stores(buffers, at, [cast(b.dtype, v) for b, v in zip(buffers, values, strict=True)])
    return init, tir.SeqStmt((*lets, *stores.stmts)) if isinstance(stores, tir.SeqStmt) else stores


def _stores(
    buffers: Sequence[tir.Buffer], at: tuple[tir.PrimExpr, ...], values: Sequence[Scalar]
) -> tir.Stmt:
    return in_order([tir.BufferStore(b, at, v.node) for b, v in zip(buffers, values, strict=True)])
