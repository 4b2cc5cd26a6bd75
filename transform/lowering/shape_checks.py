"""Checks of annotations as calls of run-time functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.struct_infos import OBJECT
from rlx.solver.order import free_shape_vars
from rlx.solver.order.demands import FEW, repeats_too_much
from rlx.solver.order.subtype import says_nothing
from rlx.transform.lowering.emitter import COPY, Emitter, number, packed
from rlx.transform.lowering.heap import EQUAL_HEAP, EQUAL_NUMBER, NOTHING, STORE
from rlx.transform.lowering.heap_values import HeapValues
from rlx.transform.lowering.passes import PassError
from rlx.transform.lowering.signatures import function_type

_PLACE = 100
"""Characters that a refusal gives to the value and its annotation."""


class _Waiting(NamedTuple):
    """Comparisons of a shape of ``rank`` dimensions that wait for numbers."""

    value: ast.Expr
    rank: int
    dims: Sequence[tuple[int, tir.PrimExpr]]
    where: str


class _WaitingScalar(NamedTuple):
    """A comparison of a scalar that waits for a number."""

    value: ast.Expr
    found: tir.PrimExpr
    where: str


_Step = tuple[int, int]
_PASS: _Step = (NOTHING, 0)
"""The step of a dimension that is not compared."""


class ShapeChecks:
    """Emits the checks of one function.

    Checks that read no number from the heap, or store one, are emitted immediately; the others are
    emitted by :meth:`finish`.

    Parameters
    ----------
    emitter
        The emitter of the calls.
    heap
        The heap with the numbers.
    renamed
        The emitted variables for the variables of the function.
    module
        The module, which defines the devices in types.

    Attributes
    ----------
    types_functions
        Whether a check against a function type was emitted.
    """

    def __init__(
        self,
        emitter: Emitter,
        heap: HeapValues,
        renamed: Mapping[ast.Var, ast.Var],
        module: ast.IRModule,
    ) -> None:
        self._emitter, self._heap, self._renamed = emitter, heap, renamed
        self._module = module
        self._waiting: list[_Waiting | _WaitingScalar] = []
        self._functions: list[tuple[ast.Expr, ast.FuncStructInfo, str]] = []
        self.types_functions = False

    def check(
        self,
        value: ast.Expr,
        info: ast.StructInfo,
        where: str,
        proved: bool,
        *,
        typed: bool = True,
    ) -> None:
        """Compare a value with an annotation. Raises PassError if the annotation repeats the tuples
        in it so often that its checks would be far more than its parts.

        Parameters
        ----------
        where
            The description of the value in the message of a failing check.
        proved
            Whether the check is proved: then only the numbers of shape variables are stored.
        typed
            Whether the type of the value says which tuples are in it.
        """
        if repeats_too_much(info):
            place = where if len(where) <= _PLACE else f"{where[:_PLACE]} …"
            raise PassError(
                f"VMShapeLower: {place}: its tuples stand for each other's fields so often that the"
                f" checks would be more than {FEW:,}; pass fewer fields, or cast to R.Object"
            )
        self._compare(value, info, where, proved, typed)

    def _compare(
        self, value: ast.Expr, info: ast.StructInfo, where: str, proved: bool, typed: bool
    ) -> None:
        match info:
            case ast.TensorStructInfo():
                self._tensor(value, info, where, proved)
            case ast.ShapeStructInfo(values=dims):
                if not proved:
                    rank = info.ndim if dims is None else len(dims)
                    self._call("vm.builtin.check_shape_info", value, number(rank), where=where)
                self.dims(value, dims or (), where, proved)
            case ast.PrimStructInfo(dtype=kind, value=found):
                if not proved:
                    name = "vm.builtin.check_prim_value_info"
                    self._call(name, value, ast.DataTypeImm(kind), where=where)
                if found is not None:
                    self._scalar(value, found, where, proved)
            case ast.TupleStructInfo(fields=infos):
                if not proved:
                    count = number(len(infos))
                    self._call("vm.builtin.check_tuple_info", value, count, where=where)
                further = [
                    k for k, f in enumerate(infos) if not isinstance(f, ast.ObjectStructInfo)
                ]
                if further and not typed:
                    objects = ast.TupleStructInfo((OBJECT,) * len(infos))
                    value = self._emitter.emit(packed(COPY, value, info=objects), "fields")
                for k in further:
                    part = self._emitter.emit(ast.TupleGetItem(value, k), "field")
                    self._compare(part, infos[k], f"{where}, field {k}", proved, typed)
            case ast.FuncStructInfo() if not proved:
                self._call("vm.builtin.check_func_info", value, where=where)
                if not says_nothing(info):
                    self._functions.append((value, info, where))

    def _call(self, name: str, *args: ast.Expr, where: str) -> None:
        self._emitter.effect(packed(name, *args, ast.StringImm(where)))

    def _tensor(
        self, value: ast.Expr, info: ast.TensorStructInfo, where: str, proved: bool
    ) -> None:
        shape = info.shape
        dims = shape.values if isinstance(shape, ast.ShapeExpr) else ()
        if not proved:
            rank = len(dims) if isinstance(shape, ast.ShapeExpr) else info.ndim
            kind = ast.DataTypeImm(info.dtype)
            self._call("vm.builtin.check_tensor_info", value, number(rank), kind, where=where)
            if info.vdevice is not None:
                device = (ast.StringImm(info.vdevice.target), number(info.vdevice.index))
                self._call("relax.run.check_device", value, *device, where=where)
            if isinstance(shape, ast.Var):
                held = self._renamed.get(shape, shape)
                self._call("relax.run.check_held_shape", value, held, where=where)
        self.dims(value, dims, where, proved)

    def dims(self, value: ast.Expr, dims: Sequence[tir.PrimExpr], where: str, proved: bool) -> None:
        """Compare the dimensions of a tensor or a shape; the parameters are those of
        :meth:`check`.
        """
        now: list[_Step] = []
        rest: list[tuple[int, tir.PrimExpr]] = []
        for axis, dim in enumerate(dims):
            step = _PASS
            if isinstance(dim, tir.Var) and not self._heap.stored(dim):
                step = (STORE, self._heap.define(dim))
            elif isinstance(dim, tir.IntImm) and not proved:
                step = (EQUAL_NUMBER, dim.value)
            elif not isinstance(dim, tir.IntImm) and not proved:
                rest.append((axis, dim))
            now.append(step)
        if set(now) - {_PASS}:
            self._match_shape(value, now, where)
        if rest:
            self._waiting.append(_Waiting(value, len(dims), rest, where))

    def _scalar(self, value: ast.Expr, found: tir.PrimExpr, where: str, proved: bool) -> None:
        if isinstance(found, tir.Var) and not self._heap.stored(found):
            self._match_scalar(value, (STORE, self._heap.define(found)), where)
        elif not proved:
            self._waiting.append(_WaitingScalar(value, found, where))

    def finish(self) -> None:
        """Emit the remaining comparisons, which need numbers from the heap."""
        for waiting in self._waiting:
            match waiting:
                case _WaitingScalar(value, found, where):
                    self._heap.compute([found])
                    self._match_scalar(value, self._equal(found), where)
                case _Waiting(value, rank, dims, where):
                    self._heap.compute([dim for _, dim in dims])
                    steps = {axis: self._equal(dim) for axis, dim in dims}
                    program = [steps.get(axis, _PASS) for axis in range(rank)]
                    self._match_shape(value, program, where)
        self._waiting.clear()
        for value, info, where in self._functions:
            sizes = tuple(free_shape_vars(info))
            held = self._heap.shape(ast.ShapeExpr(sizes)) if sizes else ast.ShapeExpr(())
            text = ast.StringImm(function_type(info, sizes, self._module))
            self._call("relax.run.check_function", value, text, held, where=where)
            self.types_functions = True
        self._functions.clear()

    def _equal(self, dim: tir.PrimExpr) -> _Step:
        """The step that compares with a number, which is known or in the heap."""
        if isinstance(dim, tir.IntImm):
            return EQUAL_NUMBER, dim.value
        return EQUAL_HEAP, self._heap.place(dim)

    def _match_shape(self, value: ast.Expr, program: Sequence[_Step], where: str) -> None:
        steps = [number(item) for step in program for item in step]
        count = number(len(program))
        self._call("vm.builtin.match_shape", value, self._heap.var, count, *steps, where=where)

    def _match_scalar(self, value: ast.Expr, step: _Step, where: str) -> None:
        steps = map(number, step)
        self._call("vm.builtin.match_prim_value", value, self._heap.var, *steps, where=where)
