"""Explicit memory: allocation of storage, tensors in it, and their lifetimes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from rlx.checker.lowered.objects import BYTES
from rlx.checker.normalize import normalize
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import IRModule
from rlx.grammar.nodes.dtype import DataType, dtype
from rlx.grammar.nodes.node import changed, replace
from rlx.grammar.nodes.promises import promised_limits
from rlx.grammar.nodes.visit import sequences
from rlx.semantics.arrays import numpy_type
from rlx.transform.lowering.emitter import UNIT, Emitter, number, operator_name
from rlx.transform.lowering.lifetimes import ALLOCATIONS, KILLS, Lives
from rlx.transform.lowering.passes import ModulePass
from rlx.transform.lowering.planned_piece import (
    Factors,
    PlannedPiece,
    bounded,
    known_from,
)
from rlx.transform.lowering.structure import dataflow_blocks


class StaticPlanBlockMemory(ModulePass):
    """Tensors with disjoint lifetimes share a piece of memory.

    The tensors of a block are in one piece of memory per device, and in another one if a cast of
    the block determines their sizes, or if there are already very many different sizes. With symbolic sizes, the offset of a tensor is the maximum of
    several sums, so it is above the tensors below it for all sizes. The function's attribute
    ``tir_var_upper_bound`` gives upper bounds of shape variables; if a plan relies on one, an
    assertion is inserted before the tensor. Tensors that a block returns, or passes to functions
    that may store them, stay allocations of their own.
    """

    def apply(self, module: IRModule) -> IRModule:
        """The module with ``R.memory.alloc_storage`` and ``R.memory.alloc_tensor``.

        Raises
        ------
        PassError
            If a function has dataflow blocks.
        """
        return _planned(self, module, share=True)


class VMMemoryLower(ModulePass):
    """Allocations become ``R.vm.alloc_storage`` and related calls of the machine.

    Unplanned tensors get their own pieces of memory.
    """

    def apply(self, module: IRModule) -> IRModule:
        """The module without ``R.builtin.alloc_tensor`` and ``R.memory``.

        Raises
        ------
        PassError
            If a function has dataflow blocks.
        """

        def renamed(_: ast.GlobalVar, function: ast.Function) -> ast.Function:
            if not any(map(_RENAMED.__contains__, _operators(function))):
                return function
            return _ToMachine(function).function(function)

        return _planned(self, module, share=False).map_relax_functions(renamed)


def _planned(owner: ModulePass, module: IRModule, share: bool) -> IRModule:
    prim_funcs = module.prim_funcs

    def planned(gv: ast.GlobalVar, function: ast.Function) -> ast.Function:
        if dataflow_blocks(function):
            raise owner.refuse(gv.name_hint, "a dataflow block", "run ToNonDataflow first")
        if share or not ALLOCATIONS.isdisjoint(_operators(function)):
            return _Planner(function, prim_funcs, share).function(function)
        return function

    return normalize(module).map_relax_functions(planned)


def _operators(function: ast.Function) -> Iterator[str]:
    """The operators that bindings of a function in normal form call."""
    for inner in sequences(function):
        for block in inner.blocks if isinstance(inner, ast.SeqExpr) else ():
            for binding in block.bindings:
                name = operator_name(binding.value)
                if name is not None:
                    yield name


class _Allocation:
    """A call of ``R.builtin.alloc_tensor``."""

    def __init__(self, call: ast.Call) -> None:
        shape, kind, index, *_ = call.args
        self.shape = shape
        self.index = index
        self.kind: DataType = kind.value if isinstance(kind, ast.DataTypeImm) else _named(kind)
        self.device = (
            index.value.value
            if (isinstance(index, ast.PrimValue) and isinstance(index.value, tir.IntImm))
            else -1
        )

    @property
    def dims(self) -> tuple[tir.PrimExpr, ...] | None:
        """The dimensions, None where a variable holds the shape."""
        return self.shape.values if isinstance(self.shape, ast.ShapeExpr) else None

    def size(self) -> tuple[int, tuple[tir.PrimExpr, ...]] | None:
        """The bytes, as a number times symbolic factors.

        None if a dimension is negative or not known, or there is none.
        """
        if not self.dims:
            return None
        total = int(numpy_type(self.kind).itemsize)
        factors: list[tir.PrimExpr] = []
        pending = list(reversed(self.dims))
        while pending:
            dim = pending.pop()
            if isinstance(dim, tir.Mul):
                pending += (dim.b, dim.a)
            elif not isinstance(dim, tir.IntImm):
                factors.append(dim)
            elif dim.value < 0:
                return None
            else:
                total *= dim.value
        return total, tuple(factors)


def _named(value: ast.Expr) -> DataType:
    assert isinstance(value, ast.StringImm)
    return dtype(value.value)


class _Planner(Emitter):
    def __init__(
        self, function: ast.Function, prim_funcs: Mapping[ast.GlobalVar, object], share: bool
    ) -> None:
        super().__init__(function)
        self._prim_funcs, self._share = prim_funcs, share
        self._bounds = promised_limits(function)
        # The piece of memory in which each tensor lies, and the byte where it begins.
        self._places: dict[ast.Var, tuple[ast.Expr, ast.Expr]] = {}

    def sequence(self, body: ast.Expr) -> ast.SeqExpr:
        seq = body if isinstance(body, ast.SeqExpr) else ast.SeqExpr((), body)
        rows = [binding for block in seq.blocks for binding in block.bindings]
        lives = Lives(rows, seq.body, self._prim_funcs)
        found = _allocations(rows)
        outside, self.out = self.out, []
        try:
            plan = self._plan(rows, found, lives) if self._share else {}
            ends = _ends(found, lives) if self._share else {}
            for at, binding in enumerate(rows):
                for storage, value in plan.get(at, ()):
                    self.put(ast.VarBinding(storage, value))
                self.binding(binding)
                if operator_name(getattr(binding, "value", None)) not in KILLS:
                    for var in ends.get(at, ()):
                        self.effect(ast.Call(ast.op("relax.memory.kill_tensor"), (var,)))
            blocks = (ast.BindingBlock(tuple(self.out)),) if self.out else ()
            return ast.SeqExpr(blocks, seq.body, seq.body_span, seq.span)
        finally:
            self.out = outside

    def _plan(
        self,
        rows: Sequence[ast.Binding],
        found: Mapping[ast.Var, tuple[int, _Allocation]],
        lives: Lives,
    ) -> dict[int, list[tuple[ast.Var, ast.Call]]]:
        """Lay out the tensors: the pieces of memory that are allocated before each position."""
        made: dict[int, list[tuple[ast.Var, ast.Call]]] = {}
        pieces: dict[tuple[int, int | None], list[PlannedPiece]] = {}
        known = known_from(rows)
        relied: set[tir.Var] = set()
        for var, (at, each) in found.items():
            size = each.size()
            if var in lives.escaping or size is None:
                continue
            count, factors = bounded(size, self._bounds)
            for dim in _promised(size[1], factors):
                if dim not in relied:
                    relied.add(dim)
                    made.setdefault(at, []).append((ast.Var("_", UNIT), self._kept(dim)))
            found_at = [known[v] for f in factors for v in tir.free_vars(f) if v in known]
            since = max(found_at, default=None)
            alike = pieces.setdefault((each.device, since), [])
            if not alike or alike[-1].is_full:
                alike.append(PlannedPiece(each.device))
            alike[-1].add(var, at, lives.last[var], count, factors)
        for piece in chain.from_iterable(pieces.values()):
            storage = ast.Var(self.fresh("storage"))
            size_of, places = piece.laid_out()
            index = number(piece.device)
            args = (size_of, index, ast.StringImm("global"), ast.DataTypeImm(BYTES))
            call = ast.Call(ast.op("relax.memory.alloc_storage"), args)
            made.setdefault(piece.first, []).append((storage, call))
            for var, offset in places:
                self._places[var] = (storage, offset)
        return made

    def _kept(self, dim: tir.Var) -> ast.Call:
        """The assertion that a shape variable keeps its upper bound."""
        most = self._bounds[dim]
        words = f"{dim.name} is {{}}; the attribute tir_var_upper_bound promises at most {most}"
        holds = ast.PrimValue(tir.LE(dim, tir.IntImm(most)))
        return ast.Call(
            ast.op("relax.assert_op"),
            (holds, ast.PrimValue(dim)),
            attrs={"format": words},
        )

    def var_binding(self, binding: ast.VarBinding) -> None:
        value = binding.value
        if operator_name(value) not in ALLOCATIONS:
            super().var_binding(binding)
            return
        assert isinstance(value, ast.Call)
        each, place = _Allocation(value), self._places.get(binding.var)
        kind = ast.DataTypeImm(each.kind)
        if place is not None:
            operator = ast.op("relax.memory.alloc_tensor")
        elif self._share:
            self.put(binding)
            return
        else:
            own = (each.shape, each.index, kind, ast.StringImm("global"))
            storage = self.emit(ast.Call(ast.op("relax.vm.alloc_storage"), own), "storage")
            operator, place = ast.op("relax.vm.alloc_tensor"), (storage, number(0))
        made = ast.Call(operator, (*place, each.shape, kind, each.index))
        self.put(replace(binding, value=made))


def _promised(size: Factors, kept: Factors) -> Iterator[tir.Var]:
    """The shape variables of a size whose bound a plan takes instead of them."""
    for factor in size:
        if not any(factor is other for other in kept):
            yield from tir.free_vars(factor)


def _allocations(rows: Sequence[ast.Binding]) -> dict[ast.Var, tuple[int, _Allocation]]:
    found: dict[ast.Var, tuple[int, _Allocation]] = {}
    for at, binding in enumerate(rows):
        if isinstance(binding, ast.VarBinding) and operator_name(binding.value) in ALLOCATIONS:
            assert isinstance(binding.value, ast.Call)
            found[binding.var] = (at, _Allocation(binding.value))
    return found


def _ends(
    found: Mapping[ast.Var, tuple[int, _Allocation]], lives: Lives
) -> dict[int, list[ast.Var]]:
    """The tensors that nobody uses behind each position."""
    ends: dict[int, list[ast.Var]] = {}
    for var in found:
        if var not in lives.escaping:
            ends.setdefault(lives.last[var], []).append(var)
    return ends


class _ToMachine(Emitter):
    """Renames the operators of memory to those of the machine."""

    def var_binding(self, binding: ast.VarBinding) -> None:
        value = binding.value
        if isinstance(value, ast.Call) and isinstance(value.op, ast.Op):
            self.put(changed(binding, value=_of_machine(value, value.op.op_name)))
        elif isinstance(value, ast.Function):
            self.put(replace(binding, value=_ToMachine(value).function(value)))
        else:
            super().var_binding(binding)


_RENAMED = frozenset(
    f"relax.memory.{name}"
    for name in ("alloc_storage", "alloc_tensor", "kill_storage", "kill_tensor")
)


def _of_machine(call: ast.Call, name: str) -> ast.Call:
    match name, call.args:
        case "relax.memory.alloc_storage", (size, index, scope, _):
            # Its size is in bytes, whatever the type says.
            args: tuple[ast.Expr, ...] = (size, index, ast.DataTypeImm(BYTES), scope)
            return ast.Call(ast.op("relax.vm.alloc_storage"), args, span=call.span)
        case "relax.memory.alloc_tensor", args:
            return ast.Call(ast.op("relax.vm.alloc_tensor"), args, span=call.span)
        case "relax.memory.kill_storage" | "relax.memory.kill_tensor", args:
            return ast.Call(ast.op("relax.vm.kill_object"), args, span=call.span)
    return call
