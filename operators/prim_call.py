"""Checks of a call against its PrimFunc: allowed arguments, and agreement of buffers with arguments
and declared results.

A PrimFunc binds its shape variables to the dimensions of its buffers; all dimensions of all buffers
are checked together under one binding.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import lru_cache, partial
from typing import NoReturn

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import (
    Expr,
    GlobalVar,
    ObjectStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from rlx.grammar.nodes.tir import Buffer, PrimExpr, PrimFunc
from rlx.grammar.nodes.visit import evaluated
from rlx.grammar.wording import counted
from rlx.operators.callee import LITERALS, arguments, declared_result
from rlx.operators.dim_arithmetic import same
from rlx.operators.operator_call import OperatorCall, show, show_shape
from rlx.spec.registry import rule

Pair = tuple[PrimExpr, PrimExpr, str, str]
"""A dimension of the PrimFunc, that of the caller, the location of the latter, and the parameter."""


@rule("OBL-passed", "obligation")
def passed(site: OperatorCall, args: Expr) -> None:
    """Check that the arguments of a PrimFunc are tensors, scalars and shapes."""
    info = site.ctx.info(args)
    parts = info.fields if isinstance(info, TupleStructInfo) else ()
    fields = args.fields if isinstance(args, ast.Tuple) else (None,) * len(parts)
    func = site.call.args[0]
    prim_func = site.ctx.prim_func(func) if isinstance(func, GlobalVar) else None
    for at, (part, field) in enumerate(zip(parts, fields, strict=True)):
        name = _named(prim_func, args, at)
        literal = isinstance(field, LITERALS)
        if isinstance(part, ObjectStructInfo) and not literal:
            if not site.ctx.poisoned(args if field is None else field):
                words = f"{name} is {show(part)}, which may not be a tensor"
                site.warn("OBL-passed-kind", words, 1)
        elif literal or not isinstance(part, (TensorStructInfo, PrimStructInfo, ShapeStructInfo)):
            shown = show(field) if literal and field is not None else show(part)
            words = f"{name} is {shown}, expected a tensor, a scalar or a shape"
            site.fail("OBL-passed-kind", words, 1, declared_result(site.call.sinfo_args))


@rule("OBL-trailing", "obligation")
def trailing(site: OperatorCall, tir_vars: object) -> None:
    """Check that trailing scalars are a shape or a tuple of scalars."""
    if tir_vars is None:
        return
    info = site.ctx.info(tir_vars) if isinstance(tir_vars, Expr) else None
    if isinstance(info, TupleStructInfo):
        scalars = all(isinstance(f, (PrimStructInfo, ObjectStructInfo)) for f in info.fields)
    else:
        unknown = isinstance(info, ObjectStructInfo) and not isinstance(tir_vars, LITERALS)
        scalars = unknown or isinstance(info, ShapeStructInfo)
    if not scalars:
        found = repr(tir_vars) if info is None else show(info)
        words = f"tir_vars is {found}, expected a shape or a tuple of scalars"
        site.fail("OBL-trailing-kind", words, 2, declared_result(site.call.sinfo_args))


def agreement(
    site: OperatorCall,
    func: Expr,
    args: Expr,
    out: Sequence[TensorStructInfo],
    tir_vars: object,
    overwritten: Collection[int] = (),
) -> None:
    """Check a call against the signature of the PrimFunc, if it is one of the module.

    ``overwritten`` has the positions of the arguments that results overwrite.
    """
    prim_func = callee(site, func)
    infos = arguments(site, args)
    if prim_func is None or infos is None:
        return
    scalars = _scalars(site, tir_vars)
    if scalars is None:
        return
    values: list[StructInfo] = [*infos, *out, *scalars]
    names = [_named(prim_func, args, k) for k in range(len(infos))]
    names += [f"result {k}" if len(out) > 1 else "the result" for k in range(len(out))]
    names += [f"tir_vars[{k}]" for k in range(len(scalars))]
    count(site, func, prim_func, (len(infos), len(out), len(scalars)))
    untouched(site, func, prim_func, [k for k in range(len(infos)) if k not in overwritten], names)
    matching = Matching(site, func)
    results = range(len(infos), len(infos) + len(out))
    for at, (param, value) in enumerate(zip(prim_func.params, values, strict=False)):
        buffer = prim_func.buffer_map.get(param)
        if at in results and isinstance(value, TensorStructInfo) and buffer is not None:
            matching.declared(buffer, value, names[at])
        matching.match(param, buffer, value, names[at])
    jointly(site, func, matching)


@rule("OBL-callee", "obligation")
def callee(site: OperatorCall, func: Expr) -> PrimFunc | None:
    """Check that the callee of ``call_tir`` is a PrimFunc of the module, and return it; None if
    unknown.
    """
    if not isinstance(func, GlobalVar):
        site.fail(
            "OBL-callee-global",
            f"{show(func)} is not a global PrimFunc",
            0,
            declared_result(site.call.sinfo_args),
        )
    found = site.ctx.prim_func(func)
    if found is None and site.ctx.global_info(func) is not None:
        site.fail(
            "OBL-callee-prim_func",
            f"{func.name_hint} is a Relax function, not a PrimFunc",
            0,
            declared_result(site.call.sinfo_args),
        )
    return found


def _scalars(site: OperatorCall, tir_vars: object) -> Sequence[StructInfo] | None:
    """The trailing scalars; None where their number is not known."""
    if tir_vars is None:
        return ()
    if isinstance(tir_vars, Expr):
        info = site.ctx.info(tir_vars)
        if isinstance(info, ShapeStructInfo) and info.values is not None:
            return [PrimStructInfo(tir.type_of(value), value) for value in info.values]
        if isinstance(info, TupleStructInfo):
            return info.fields
    return None


def _named(callee: PrimFunc | None, args: Expr, k: int) -> str:
    """An argument: by its own name if it is a variable, or by that of its parameter."""
    field = args.fields[k] if isinstance(args, ast.Tuple) else None
    if isinstance(field, ast.Var):
        return field.name_hint
    if callee is None or k >= len(callee.params):
        return f"argument {k}"
    return f"the argument {_parameter(callee, callee.params[k])}"


def _parameter(callee: PrimFunc, param: tir.Var) -> str:
    """The name of a parameter, which is that of its buffer."""
    buffer = callee.buffer_map.get(param)
    return repr(param.name if buffer is None else buffer.name)


@rule("OBL-untouched", "obligation")
def untouched(
    site: OperatorCall, func: Expr, callee: PrimFunc, inputs: Sequence[int], names: Sequence[str]
) -> None:
    """Check that the PrimFunc of a pure call stores only to results."""
    written = stored(callee)
    for k in inputs:
        buffer = callee.buffer_map.get(callee.params[k]) if k < len(callee.params) else None
        if buffer in written:
            site.warn(
                "OBL-untouched-store",
                (
                    f"{show(func)} stores to {buffer.name}, which is {names[k]}: to change an"
                    " argument, use R.call_tir_inplace"
                ),
                1,
            )


@lru_cache(maxsize=1024)
def stored(func: PrimFunc) -> frozenset[Buffer]:
    return frozenset(store.buffer for store in evaluated(func.body, tir.BufferStore))


@rule("OBL-buffers", "obligation")
def count(site: OperatorCall, func: Expr, callee: PrimFunc, given: tuple[int, int, int]) -> None:
    """Check that the PrimFunc has one parameter for each argument, result and trailing scalar."""
    if len(callee.params) != sum(given):
        args, out, scalars = given
        trailing = f", with {scalars} tir_vars" if scalars else ""
        site.fail(
            "OBL-buffers-count",
            f"{show(func)} has {len(callee.params)} parameters, but the call passes"
            f" {counted(args, 'argument')} and {counted(out, 'result')}{trailing}",
            1,
            site.call.sinfo_args[0],
        )


class Matching:
    """Buffers matched with values: the binding of the PrimFunc's variables and the dimensions to
    compare.
    """

    def __init__(self, site: OperatorCall, func: Expr) -> None:
        self.site, self.func = site, func
        self.binding: dict[tir.Var | ast.Var, PrimExpr | Expr] = {}
        self.bound_at: dict[tir.Var, str] = {}
        self.pairs: list[Pair] = []

    def match(self, param: tir.Var, buffer: Buffer | None, value: StructInfo, name: str) -> None:
        """Compare a parameter with its argument."""
        if isinstance(value, ObjectStructInfo):
            return
        if buffer is None:
            self._scalar(param, value, name)
        else:
            self._buffer(buffer, value, name)

    @rule("OBL-scalar", "obligation")
    def _scalar(self, param: tir.Var, value: StructInfo, name: str) -> None:
        """A scalar is passed for a scalar; a handle without a buffer takes anything."""
        if isinstance(value, PrimStructInfo):
            if value.value is not None:
                self._dim(param, value.value, name, param.name)
        elif param.dtype.code != "handle":
            self._fail(
                "OBL-scalar-kind",
                f"{name} is {show(value)}, but {param.name} of {show(self.func)} is a scalar",
            )

    @rule("OBL-buffer", "obligation")
    def _buffer(self, buffer: Buffer, value: StructInfo, name: str) -> None:
        """A tensor is passed for a buffer, with its element type and its rank."""
        if not isinstance(value, TensorStructInfo):
            self._fail("OBL-buffer-tensor", f"{self._told(buffer, value, name)} is a buffer")
        if value.dtype != buffer.dtype and not value.dtype.is_void:
            self._fail(
                "OBL-buffer-dtype",
                f"{self._told(buffer, value, name)} has elements of {buffer.dtype}",
            )
        rank, dims = self.site.rank(value), self.site.dims(value)
        if rank is not None and rank != len(buffer.shape):
            self._fail(
                "OBL-buffer-rank",
                f"{self._told(buffer, value, name)} has the shape {show_shape(buffer.shape)}",
            )
        for k, (dim, given) in enumerate(zip(buffer.shape, dims or (), strict=False)):
            self._dim(dim, given, f"axis {k} of {name}", buffer.name)

    @rule("OBL-allocated", "obligation")
    def declared(self, buffer: Buffer, result: TensorStructInfo, name: str) -> None:
        """Check that a result of a PrimFunc has an element type."""
        if result.dtype.is_void:
            words = (
                f"the element type of {name} is not declared, but {buffer.name} has"
                f" elements of {buffer.dtype}"
            )
            self._fail("OBL-allocated-dtype", words)

    def told(self, var: tir.Var) -> str:
        """The value of a variable, and the location of its binding, for messages."""
        image = self.binding.get(var)
        return "free" if image is None else f"{show(image)} ({self.bound_at[var]})"

    def _told(self, buffer: Buffer, value: StructInfo, name: str) -> str:
        return f"{name} is {show(value)}, but {buffer.name} of {show(self.func)}"

    def _fail(self, code: str, message: str) -> NoReturn:
        self.site.fail(code, message, 1, self.site.call.sinfo_args[0])

    def _dim(self, dim: PrimExpr, given: PrimExpr, where: str, param: str) -> None:
        if type(dim) is tir.Var:
            bound = self.binding.get(dim)
            if bound is None:
                self.binding[dim] = given
                self.bound_at[dim] = where
            if bound is None or bound is given:
                return
        if same(dim, given):
            self.site.ctx.discharged += 1
        else:
            self.pairs.append((dim, given, where, param))


@rule("OBL-joint", "obligation")
def jointly(site: OperatorCall, func: Expr, matching: Matching) -> None:
    """Check that all dimensions equal the caller's under one binding of the PrimFunc's
    variables.
    """
    from rlx.solver.order import substitute_prim

    open_pairs: list[tuple[PrimExpr, PrimExpr]] = []
    first_open: Callable[[], str] | None = None
    wrong = site.together("OBL-joint-dims", 1)
    for dim, given, where, param in matching.pairs:
        meant = substitute_prim(dim, matching.binding) if matching.binding else dim
        assert isinstance(meant, PrimExpr)
        fits = f"{param} of {show(func)}"
        words = partial(_message, fits, (dim, meant), (given, where), matching)
        if any(v not in matching.binding for v in tir.free_vars(dim)):
            open_pairs.append((meant, given))
            first_open = first_open or words
        else:
            wrong.equal(meant, given, words)
    if not wrong.settle() or first_open is None:
        return
    if site.ctx.prover.relate_all(open_pairs).kind == "never":
        site.fail("OBL-joint-dims", first_open(), 1, site.call.sinfo_args[0])


def _message(
    fits: str, asked: tuple[PrimExpr, PrimExpr], found: tuple[PrimExpr, str], matching: Matching
) -> str:
    """A dimension of the caller's against that of the PrimFunc, and where the latter's variables
    come from.
    """
    (dim, meant), (given, where) = asked, found
    wanted = show(dim)
    if isinstance(dim, tir.Var):
        wanted = f"{wanted} = {matching.told(dim)}"
    elif dim is not meant and not same(dim, meant):
        places = [f"{show(v)} is {matching.told(v)}" for v in tir.free_vars(dim)]
        wanted = f"{wanted} = {show(meant)}, where {' and '.join(places)}"
    place = f"along {where}" if where.startswith("axis ") else f"for {where}"
    return f"{show(given)} {place} does not fit {fits}, which requires {wanted}"
