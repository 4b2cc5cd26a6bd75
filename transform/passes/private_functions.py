"""Small passes on the private functions of a module: inlining, parameters, results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import Any

from rlx.checker.normalize import normalize
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Expr, GlobalVar, IRModule, StructInfo
from rlx.grammar.nodes.equal import structural_equal
from rlx.grammar.nodes.node import changed, replace
from rlx.grammar.nodes.rewrite import Rewriter
from rlx.grammar.nodes.struct_infos import binding_positions
from rlx.grammar.nodes.tir import PrimExpr
from rlx.grammar.nodes.unused_names import Names
from rlx.grammar.nodes.visit import (
    bindings,
    bound_vars,
    called_globals,
    evaluated,
    reached_functions,
    struct_infos,
)
from rlx.solver.order import bind, free_shape_vars, free_vars, subtype
from rlx.solver.prover import Prover
from rlx.transform.lowering.passes import ModulePass
from rlx.transform.passes.common_subexpressions import writes
from rlx.transform.passes.dead_code import dead_code
from rlx.transform.passes.parameters import WithValues, functions_as_values
from rlx.transform.passes.simple import CanonicalizeBindings, DeadCodeElimination, without_unreached
from rlx.transform.visitors.mutator import ExprMutator
from rlx.transform.visitors.uses import uses

Functions = dict[GlobalVar, ast.Function]
Kept = dict[GlobalVar, list[int]]
"""The positions of the parameters, or fields of the result, that stay."""
Dims = dict[GlobalVar, list[tir.Var]]
"""The shape variables that are passed as shapes."""
_FORCED = frozenset(["relax.force_pure"])
"""With this attribute, calls with effects may stand in a pure function."""


def private_functions(module: IRModule) -> Functions:
    """The private functions that are called by name only."""
    values = functions_as_values(module)
    return {gv: f for gv, f in _private(module).items() if gv not in values}


def _private(module: IRModule) -> Functions:
    return {gv: f for gv, f in module.relax_functions.items() if f.attrs.get("private")}


def cleaned(module: IRModule) -> IRModule:
    """The module without copies, unused values, and private functions that nothing reaches."""
    return DeadCodeElimination().apply(CanonicalizeBindings().apply(_reached(module)))


def _reached(module: IRModule) -> IRModule:
    return without_unreached(module, tuple(module.functions.keys() - _private(module).keys()))


class InlinePrivateFunctions(ModulePass):
    """Replace calls of private functions by their bodies; then remove the functions, copies and
    unused bindings.

    Recursive functions, those that are declared pure by ``relax.force_pure``, functions with branches
    that are called in dataflow blocks, and calls whose arguments are not proved to be of the
    parameters' types stay.
    """

    def apply(self, module: IRModule) -> IRModule:
        """The module with bodies in place of calls."""
        whole = normalize(module)
        normal = _reached(whole)  # unreached functions may use one as a value
        private = private_functions(normal)
        relax = normal.relax_functions
        circles = {
            gv for gv, f in private.items() if gv in reached_functions(called_globals(f), relax)
        }
        plain = {
            gv: f
            for gv, f in private.items()
            if gv not in circles and not _names_dimensions(f) and not _FORCED & f.attrs.keys()
        }
        made = _Inline(plain, writes(normal))(normal)
        if made is whole:
            return module
        canonical = cleaned(made)
        # A function that was passed to another one may be called by name now.
        more = private_functions(canonical).keys() - private.keys()
        return self.apply(canonical) if more else canonical


class _Inline(ExprMutator):
    def __init__(self, functions: Functions, writes: bool) -> None:
        self._functions, self._writes = functions, writes

    def visit_var_binding(self, binding: ast.VarBinding) -> None:
        before = self._frame.bindings()
        count = len(before)
        found = self._inlined(binding.value)
        if found is None:
            super().visit_var_binding(binding)
        elif isinstance(found, ast.Var) and self._holds(binding.var, found):
            self.replace_var(binding.var, found)
        else:
            emitted = self._frame.bindings()
            is_new = len(emitted) > (count if emitted is before else 0)
            last = emitted[-1] if is_new else None
            if (
                isinstance(last, ast.VarBinding)
                and last.var is found
                and not isinstance(last.value, ast.Function)  # whose parameters are bound already
            ):
                emitted.pop()  # the value is bound directly to the variable that leaves the block
                found = last.value
            self.rebind(binding, found)

    def _holds(self, var: ast.Var, value: ast.Var) -> bool:
        """Whether a variable may replace the variable that a call is bound to."""
        local = type(var) is ast.DataflowVar or type(value) is not ast.DataflowVar
        said = var.struct_info_annotation
        same = said is None or structural_equal(said, self.builder.struct_info(value))
        return local and same and var.shape_var is None

    def _inlined(self, value: Expr) -> Expr | None:
        """The result of an inlined call, whose bindings are emitted; None if the call stays."""
        if not isinstance(value, ast.Call) or not isinstance(value.op, GlobalVar):
            return None
        function = self._functions.get(value.op)
        if function is None or len(function.params) != len(value.args):
            return None
        block = self._frame.block is not None or self._frame.in_dataflow
        body = function.body
        assert isinstance(body, ast.SeqExpr)
        if block and (function.is_pure is False or _branches(function)):
            return None
        call = self.visit_expr(value)
        assert isinstance(call, ast.Call)
        dims = self._dims(function, call)
        if dims is None:
            return None
        args = call.args
        if self._writes:  # a constant that is overwritten is one tensor, wherever it is used
            new, emit = (ast.Constant, ast.Tuple), self.builder.emit
            args = tuple(emit(arg) if isinstance(arg, new) else arg for arg in args)
        copy = _Copy(dict(zip(function.params, args, strict=True)), dims)
        for inner in body.blocks:
            dataflow = isinstance(inner, ast.DataflowBlock) and not block
            with self.builder.dataflow() if dataflow else nullcontext():
                for each in inner.bindings:
                    self._emit(copy, each, dataflow and type(each.var) is ast.Var)
        result = copy.expr(body.body)
        if function.ret_struct_info is not None:
            wanted = copy.struct_info(function.ret_struct_info)
            known = self.builder.struct_info(result)
            if not subtype(known, wanted, self.builder.prover).proved:
                return self.builder.emit_match_cast(result, wanted)
        return result

    def _emit(self, copy: _Copy, binding: ast.Binding, leaves: bool) -> None:
        """Emit a binding of the body under a new variable, which may leave its dataflow block."""
        if isinstance(binding, ast.VarBinding):
            value = copy.expr(binding.value)
            inlined = self._inlined(value)
            if isinstance(inlined, ast.Var) and not leaves:
                copy.put(binding.var, inlined)
                return
            emit = self.builder.emit_output if leaves else self.builder.emit
            value = value if inlined is None else inlined
            copy.put(binding.var, emit(value, binding.var.name_hint))
        elif isinstance(binding, ast.MatchCast):
            info = copy.casted(binding)
            var = self.builder.emit_match_cast(copy.expr(binding.value), info)
            if binding.var is not None:
                copy.put(binding.var, self.builder.emit_output(var) if leaves else var)

    def _dims(self, function: ast.Function, call: ast.Call) -> dict[tir.Var, PrimExpr] | None:
        """The dimensions for the shape variables of the signature; None if a parameter's annotation
        may not hold.
        """
        given, prover = [self.builder.struct_info(arg) for arg in call.args], self.builder.prover
        annotated, names, images = _matched(function, given, prover)
        if any(free_vars(info) for _, info in annotated) or not names <= images.keys():
            return None
        dims = {v: image for v, image in images.items() if isinstance(image, PrimExpr)}
        copy = WithValues({}, dims)
        fits = (subtype(given[k], copy.struct_info(w), prover).proved for k, w in annotated)
        return dims if all(fits) else None


def _matched(
    function: ast.Function, given: Sequence[StructInfo], prover: Prover
) -> tuple[list[tuple[int, StructInfo]], frozenset[tir.Var], Mapping[Any, Any]]:
    """The annotations of parameters by position, their shape variables, and the values of these
    variables for the given arguments, as far as they are known.
    """
    infos = [param.struct_info_annotation for param in function.params[: len(given)]]
    annotated = [(k, info) for k, info in enumerate(infos) if info is not None]
    names = frozenset(v for _, info in annotated for v in free_shape_vars(info))
    wanted, found = tuple(info for _, info in annotated), tuple(given[k] for k, _ in annotated)
    return annotated, names, bind(wanted, found, names, prover).mapping


def _branches(function: ast.Function) -> bool:
    """Whether a body has branches or local functions."""
    return any(isinstance(b.value, ast.If | ast.SeqExpr | ast.Function) for b in bindings(function))


def _names_dimensions(function: ast.Function) -> bool:
    """Whether a dimension may be the name of a scalar of the function."""
    vars_ = (*function.params, *(b.var for b in bindings(function)))
    return any(var is not None and var.shape_var is not None for var in vars_)


class _Copy(WithValues):
    """The body of a function with new variables."""

    def put(self, var: ast.Var, value: Expr) -> None:
        """Let a variable of the body be a value."""
        self.values[var] = value

    def casted(self, cast: ast.MatchCast) -> StructInfo:
        """The target of a cast, with new shape variables."""
        fresh = {v: tir.Var(v.name, v.dtype) for v in cast.shape_vars}
        self.dims |= fresh
        return self.struct_info(cast.struct_info)

    def define(self, var: ast.Var) -> ast.Var:
        info = var.struct_info_annotation
        new = None if info is None else self.struct_info(info)
        made = type(var)(var.name_hint, new, var.annotation_span, var.span, var.shape_var)
        self.renamed[var] = made
        return made


class RemoveUnusedParameters(ModulePass):
    """Remove parameters of private functions that their bodies do not use, with their arguments.

    A shape variable that only the annotation of such a parameter tells is passed as a shape. A
    parameter stays if an argument is checked against it at run time, or if a caller does not know
    the dimensions. A parameter that is only passed on to one that goes is found by a second run, as
    by TVM's pass.
    """

    def apply(self, module: IRModule) -> IRModule:
        """The module without these parameters."""
        normal = normalize(module)
        private = private_functions(normal)
        kept: Kept = {}
        passed: Dims = {}
        checked = _Checked(private)
        checked(normal)
        for gv, f in private.items():
            stay, dims = _used(f, checked.checked.get(gv, frozenset()))
            if any((gv, v) in checked.unknown for v in dims):
                stay, dims = _telling(f, stay, set(dims)), []
            if len(stay) < len(f.params):
                kept[gv], passed[gv] = stay, dims
        if not kept:
            return module
        return dead_code(_chosen(normal, kept, {}, passed, checked.dims))


class _Checked(ExprMutator):
    """Collects the parameters whose arguments are checked at a call, the dimensions for the shape
    variables of the signature at each call, and those that some call does not know.
    """

    def __init__(self, functions: Functions) -> None:
        self._functions = functions
        self.checked: dict[GlobalVar, frozenset[int]] = {}
        self.dims: dict[ast.Call, dict[tir.Var, PrimExpr]] = {}
        self.unknown: set[tuple[GlobalVar, tir.Var]] = set()

    def visit_call(self, call: ast.Call) -> Expr:
        made = super().visit_call(call)
        assert isinstance(made, ast.Call)
        gv = made.op
        function = self._functions.get(gv) if isinstance(gv, GlobalVar) else None
        if function is not None:
            assert isinstance(gv, GlobalVar)
            given, prover = (
                [self.builder.struct_info(arg) for arg in made.args],
                self.builder.prover,
            )
            annotated, names, images = _matched(function, given, prover)
            copy = WithValues({}, images)
            doubtful = {
                k
                for k, info in annotated
                if not subtype(given[k], copy.struct_info(info), prover).proved
            }
            self.checked[gv] = self.checked.get(gv, frozenset()) | doubtful
            found = {v: d for v, d in images.items() if isinstance(d, PrimExpr)}
            self.dims[call] = found
            self.unknown.update((gv, v) for v in names if v not in found)
        return made


def _used(function: ast.Function, checked: frozenset[int]) -> tuple[list[int], list[tir.Var]]:
    """The parameters that a function needs, and the shape variables that these do not tell it."""
    counts = uses(function)
    whole = replace(function, params=())
    needed: set[object] = {v for node in evaluated(whole, ast.Expr) for v in tir_vars(node)}
    needed.update(v for info in struct_infos(whole) for v in free_shape_vars(info))
    stay = [
        k
        for k, p in enumerate(function.params)
        if counts[p] or k in checked or p.shape_var is not None
    ]
    told: set[object] = set()
    for k in stay:
        info = function.params[k].struct_info_annotation
        needed |= set(free_shape_vars(info)) if info is not None else set()
        told |= _told(function.params[k])
    shapes = [
        k
        for k, p in enumerate(function.params)
        if isinstance(p.struct_info_annotation, ast.ShapeStructInfo | ast.PrimStructInfo)
        and _told(p) & (needed - told)
    ]
    stay = sorted({*stay, *shapes})
    told = told.union(*(_told(function.params[k]) for k in shapes))
    return stay, [v for v in function.shape_vars if v in needed and v not in told]


def _told(param: ast.Var) -> set[object]:
    """The shape variables that a parameter determines."""
    info = param.struct_info_annotation
    return set() if info is None else set(binding_positions(info))


def _telling(function: ast.Function, stay: list[int], dims: set[tir.Var]) -> list[int]:
    """The parameters that stay, and those that determine the given shape variables."""
    found = []
    for k, param in enumerate(function.params):
        if k in stay or _told(param) & dims:
            dims = dims - _told(param)
            found.append(k)
    return found


def tir_vars(node: ast.Expr) -> tuple[tir.Var, ...]:
    """The shape variables of a shape or a scalar."""
    if isinstance(node, ast.ShapeExpr):
        return tuple(v for dim in node.values for v in tir.free_vars(dim))
    return tuple(tir.free_vars(node.value)) if isinstance(node, ast.PrimValue) else ()


class RemoveUnusedOutputs(ModulePass):
    """Remove fields from the tuples that private functions return, if no caller uses them; then
    remove copies and unused bindings. A single field that is left is returned without a tuple.
    """

    def apply(self, module: IRModule) -> IRModule:
        """The module without these fields."""
        normal = normalize(module)
        called = {c.op for c in evaluated(normal, ast.Call)}
        private = {
            gv: f
            for gv, f in private_functions(normal).items()
            if gv in called and _fields(f) is not None
        }
        asked: dict[GlobalVar, set[int]] = {gv: set() for gv in private}
        for f in normal.relax_functions.values():
            _note(f, asked)
        kept = {
            gv: sorted(asked[gv])
            for gv, f in private.items()
            if gv in asked and len(asked[gv]) < len(_fields(f) or ())
        }
        made = _chosen(normal, {}, kept, {}, {}) if kept else module
        return cleaned(made)


def _fields(function: ast.Function) -> tuple[Expr, ...] | None:
    """The fields of the tuple that a function returns; None if it returns something else."""
    body = function.body
    assert isinstance(body, ast.SeqExpr)
    result: Expr | None = body.body
    values = {b.var: b.value for b in bindings(function) if isinstance(b, ast.VarBinding)}
    while isinstance(result, ast.Var):
        result = values.get(result)
    ret = function.ret_struct_info
    if ret is not None and not isinstance(ret, ast.TupleStructInfo):
        return None
    if not isinstance(result, ast.Tuple):
        count = 0 if ret is None else len(ret.fields)
        return tuple(ast.TupleGetItem(body.body, k) for k in range(count)) or None
    local = next(evaluated(result, ast.DataflowVar), None)
    return result.fields if local is None else None


def _note(function: ast.Function, asked: dict[GlobalVar, set[int]]) -> None:
    """The fields of results that a function asks for; functions whose whole result is used go."""
    results = {
        b.var: b.value.op
        for b in bindings(function)
        if isinstance(b, ast.VarBinding)
        and isinstance(b.value, ast.Call)
        and isinstance(b.value.op, GlobalVar)
        and b.value.op in asked
    }
    fields: Counter[ast.Var] = Counter()
    for each in evaluated(function, ast.TupleGetItem):
        if isinstance(each.tuple_value, ast.Var) and each.tuple_value in results:
            fields[each.tuple_value] += 1
            if results[each.tuple_value] in asked:
                asked[results[each.tuple_value]].add(each.index)
    counts = uses(function)
    seen: Counter[GlobalVar] = Counter()
    for var, gv in results.items():
        seen[gv] += 1
        info = var.struct_info_annotation
        whole = counts[var] != fields[var]
        if whole or (info is not None and not isinstance(info, ast.TupleStructInfo)):
            asked.pop(gv, None)
    for call in evaluated(function, ast.Call):
        if isinstance(call.op, GlobalVar):
            seen[call.op] -= 1
    for gv, count in seen.items():
        if count:  # a call that is no binding's value
            asked.pop(gv, None)


def _chosen(
    module: IRModule,
    params: Kept,
    fields: Kept,
    passed: Dims,
    dims: Mapping[ast.Call, Mapping[tir.Var, PrimExpr]],
) -> IRModule:
    """The module with some parameters, and some fields of the results, of its functions; shape
    variables are passed to them as shapes.
    """
    functions = dict(module.functions)
    for gv, f in module.relax_functions.items():
        head = _head(gv, f, params, fields, passed)
        functions[gv] = _Calls(params, fields, passed, dims).function(head)
    return replace(module, functions=functions)


def _head(
    gv: GlobalVar, function: ast.Function, params: Kept, fields: Kept, passed: Dims
) -> ast.Function:
    stay, keep = params.get(gv), fields.get(gv)
    if stay is not None:
        taken = Names(var.name_hint for var in bound_vars(function))
        shapes = [
            ast.Var(taken.new(f"param_{v.name}"), ast.ShapeStructInfo((v,), 1))
            for v in passed.get(gv, ())
        ]
        given = (*(function.params[k] for k in stay), *shapes)
        infos = [p.struct_info_annotation for p in given]
        left = {v for info in infos if info is not None for v in free_shape_vars(info)}
        dims = tuple(v for v in function.shape_vars if v in left)
        function = replace(function, params=given, shape_vars=dims)
    if keep is None:
        return function
    body, whole, ret = function.body, _fields(function), function.ret_struct_info
    assert isinstance(body, ast.SeqExpr) and whole is not None
    chosen = whole[keep[0]] if len(keep) == 1 else ast.Tuple(tuple(whole[k] for k in keep))
    if isinstance(ret, ast.TupleStructInfo):
        ret = _selected(ret, keep)
    return changed(function, body=changed(body, body=chosen), ret_struct_info=ret)


def _selected(info: ast.TupleStructInfo, keep: list[int]) -> StructInfo:
    """The type of some fields; one alone is no tuple."""
    fields = tuple(info.fields[k] for k in keep)
    return fields[0] if len(fields) == 1 else ast.TupleStructInfo(fields)


class _Calls(Rewriter):
    """Calls of changed functions, and the fields of their results."""

    def __init__(
        self,
        params: Kept,
        fields: Kept,
        passed: Dims,
        dims: Mapping[ast.Call, Mapping[tir.Var, PrimExpr]],
    ) -> None:
        super().__init__()
        self._params, self._fields, self._passed, self._dims = params, fields, passed, dims
        self._results: dict[Expr, list[int]] = {}

    def call(self, call: ast.Call) -> Expr:
        made = super().call(call)
        if not isinstance(call.op, GlobalVar) or call.op not in self._params:
            return made
        assert isinstance(made, ast.Call)
        stay, passed = self._params[call.op], self._passed.get(call.op, ())
        shapes = [ast.ShapeExpr((self._dims[call][v],)) for v in passed]
        args = (*(made.args[k] for k in stay), *shapes)
        return replace(made, args=args, arg_spans=(), spelled={})

    def var_binding(self, binding: ast.VarBinding) -> tuple[ast.Binding, ...]:
        (made,) = super().var_binding(binding)
        value = binding.value
        keep = (
            self._fields.get(value.op)
            if isinstance(value, ast.Call) and isinstance(value.op, GlobalVar)
            else None
        )
        assert isinstance(made, ast.VarBinding)
        if keep is None:
            copied = made.value is not value and isinstance(made.value, ast.Var)
            if copied and (
                type(made.value) is not ast.DataflowVar or type(made.var) is ast.DataflowVar
            ):
                self.renamed[binding.var] = made.value  # type: ignore[assignment]
                return ()
            return (made,)
        var, info = made.var, made.var.struct_info_annotation
        if isinstance(info, ast.TupleStructInfo):
            var = replace(var, struct_info_annotation=_selected(info, keep))
        self.renamed[binding.var] = var
        self._results[binding.var] = keep
        return (replace(made, var=var),)

    def tuple_get_item(self, expr: ast.TupleGetItem) -> Expr:
        made = super().tuple_get_item(expr)
        assert isinstance(made, ast.TupleGetItem)
        keep = self._results.get(expr.tuple_value)
        if keep is None:
            return made
        if len(keep) == 1:
            return made.tuple_value
        return replace(made, index=keep.index(made.index))
