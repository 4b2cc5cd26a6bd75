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
    FuncStructInfo,
    GlobalVar,
    ObjectStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from rlx.grammar.nodes.struct_infos import OBJECT, fields_or_itself
from rlx.grammar.nodes.tir import Buffer, PrimExpr, PrimFunc
from rlx.operators.dim_arithmetic import same
from rlx.operators.site import Site, show, show_shape
from rlx.spec.registry import rule

LITERALS = (ast.StringImm, ast.DataTypeImm)
"""Expressions whose struct info is Object, but that are certainly not functions, tensors, shapes or
tuples.
"""


def declared_result(types: Sequence[StructInfo]) -> StructInfo:
    """The result declared by the type arguments of a call: Object if there are none, a tuple if
    there are several.
    """
    if len(types) == 1:
        return types[0]
    return TupleStructInfo(tuple(types)) if types else OBJECT


def _signature(site: Site, code: str, func: Expr, wanted: str) -> FuncStructInfo | None:
    """What is known of a function that is called; None where not even that it is one is known."""
    info = site.ctx.info(func)
    if isinstance(info, FuncStructInfo):
        return info
    if isinstance(info, ObjectStructInfo) and not isinstance(func, LITERALS):
        return None
    _refuse(site, code, func, wanted)
    return None


def _refuse(site: Site, code: str, func: Expr, wanted: str) -> None:
    shown = show(func) if isinstance(func, LITERALS) else site.shown(0)
    best = declared_result(site.call.sinfo_args)
    site.fail(code, f"{shown} is called, but {wanted} is expected", 0, best)


def _prim_func(site: Site, func: Expr) -> bool:
    return isinstance(func, GlobalVar) and site.ctx.prim_func(func) is not None


@rule("OBL-packed", "obligation")
def packed(site: Site, func: Expr, prim_func: bool = False) -> None:
    """Check that the callee is a packed function or, if ``prim_func`` is set, a PrimFunc."""
    info = _signature(site, "OBL-packed-function", func, "a packed function")
    if info is None:
        if not site.ctx.poisoned(func):
            site.warn("OBL-packed-function", f"{site.shown(0)} may not be a packed function", 0)
    elif info.params is not None and not (prim_func and _prim_func(site, func)):
        _refuse(site, "OBL-packed-function", func, "a packed function")


@rule("OBL-closure", "obligation")
def closure(site: Site, func: Expr, args: Expr, captured: bool = False) -> None:
    """Check that the callee is a function and accepts the arguments.

    ``captured`` means that these are only the last arguments.
    """
    info = _signature(site, "OBL-closure-function", func, "a function")
    given = site.ctx.info(args)
    if info is None or info.params is None or not isinstance(given, TupleStructInfo):
        return
    expected, found = len(info.params), len(given.fields)
    best = OBJECT if captured else declared_result(site.call.sinfo_args)
    if found > expected if captured else found != expected:
        words = (
            f"{show(func)} takes {expected} argument{'s' * (expected != 1)}, but the tuple"
            f" has {found}"
        )
        site.fail("OBL-closure-arity", words, 1, best)
    _accepts(site, info, given.fields, expected - found)


def _accepts(site: Site, function: FuncStructInfo, given: Sequence[StructInfo], first: int) -> None:
    """No argument is certainly of another type than its parameter."""
    from rlx.solver.order import compatibility, instantiate

    assert function.params is not None
    found = (*function.params[:first], *given)
    instance = instantiate(function, found, site.ctx.prover)
    for at, (info, wanted) in enumerate(zip(given, instance.params[first:], strict=True)):
        if compatibility(info, wanted, site.ctx.prover).kind == "incompatible":
            words = f"field {at} of the arguments is {show(info)}, but {show(wanted)} is expected"
            site.fail("OBL-closure-argument", words, 1, declared_result(site.call.sinfo_args))


@rule("OBL-name", "obligation")
def named(site: Site, func: Expr) -> None:
    """Check that the name of a function called by name is a string."""
    if isinstance(func, ast.StringImm):
        return
    if not isinstance(site.ctx.info(func), ObjectStructInfo) or isinstance(func, LITERALS):
        best = declared_result(site.call.sinfo_args)
        site.fail("OBL-name-string", f"{site.shown(0)} is not a name; expected a string", 0, best)
    if not site.ctx.poisoned(func):
        site.warn("OBL-name-string", f"{site.shown(0)} may not be a string", 0)


Pair = tuple[PrimExpr, PrimExpr, str, str]
"""A dimension of the PrimFunc, that of the caller, the location of the latter, and the parameter."""


@rule("OBL-passed", "obligation")
def passed(site: Site, args: Expr) -> None:
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
def trailing(site: Site, tir_vars: object) -> None:
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
    site: Site,
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
    infos = _arguments(site, args)
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
def callee(site: Site, func: Expr) -> PrimFunc | None:
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


def _arguments(site: Site, args: Expr) -> Sequence[StructInfo] | None:
    if isinstance(args, ast.Tuple):
        return [site.ctx.info(arg) for arg in args.fields]
    info = site.ctx.info(args)
    return None if isinstance(info, ObjectStructInfo) else fields_or_itself(info)


def _scalars(site: Site, tir_vars: object) -> Sequence[StructInfo] | None:
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
    site: Site, func: Expr, callee: PrimFunc, inputs: Sequence[int], names: Sequence[str]
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
    found: set[Buffer] = set()
    pending: list[tir.Stmt | None] = [func.body]
    while pending:
        match pending.pop():
            case tir.BufferStore(buffer=buffer):
                found.add(buffer)
            case tir.SeqStmt(stmts=stmts):
                pending.extend(stmts)
            case tir.For(body=body) | tir.While(body=body) | tir.With(body=body):
                pending.append(body)
            case tir.Block(init=init, body=body):
                pending += (init, body)
            case tir.IfThenElse(then_case=then, else_case=otherwise):
                pending += (then, otherwise)
    return frozenset(found)


@rule("OBL-buffers", "obligation")
def count(site: Site, func: Expr, callee: PrimFunc, given: tuple[int, int, int]) -> None:
    """Check that the PrimFunc has one parameter for each argument, result and trailing scalar."""
    if len(callee.params) != sum(given):
        args, out, scalars = given
        trailing = f", with {scalars} tir_vars" if scalars else ""
        site.fail(
            "OBL-buffers-count",
            f"{show(func)} has {len(callee.params)} parameters, but the call passes {args} "
            f"argument{'s' * (args != 1)} and {out} result{'s' * (out != 1)}{trailing}",
            1,
            site.call.sinfo_args[0],
        )


class Matching:
    """Buffers matched with values: the binding of the PrimFunc's variables and the dimensions to
    compare.
    """

    def __init__(self, site: Site, func: Expr) -> None:
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
                (f"{self._told(buffer, value, name)} has elements of {buffer.dtype}"),
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
def jointly(site: Site, func: Expr, matching: Matching) -> None:
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
        if _unbound(dim, matching):
            open_pairs.append((meant, given))
            first_open = first_open or words
        else:
            wrong.equal(meant, given, words)
    if not wrong.settle() or first_open is None:
        return
    if site.ctx.prover.relate_all(open_pairs).kind == "never":
        site.fail("OBL-joint-dims", first_open(), 1, site.call.sinfo_args[0])


def _unbound(dim: PrimExpr, matching: Matching) -> bool:
    return any(v not in matching.binding for v in tir.free_vars(dim))


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
