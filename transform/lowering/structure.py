"""Passes on the structure of functions: normal form, blocks, purity, closures, symbols."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rlx.checker.derive import derive
from rlx.checker.normalize import normalize
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import IRModule
from rlx.grammar.nodes.node import changed, replace
from rlx.grammar.nodes.rewrite import Rewriter
from rlx.grammar.nodes.struct_infos import OBJECT
from rlx.grammar.nodes.visit import expressions, free_vars, sequences, struct_infos
from rlx.solver.order import free_shape_vars
from rlx.solver.order import free_vars as vars_of_info
from rlx.solver.order.erase import erase
from rlx.transform.lowering.emitter import operator_name
from rlx.transform.lowering.passes import ModulePass
from rlx.transform.mentioned import mentioned_sizes


class Normalize(ModulePass):
    """Every intermediate result gets a name (NF1 to NF5)."""

    def apply(self, module: IRModule) -> IRModule:
        """The module in normal form."""
        return normalize(module)


class ToNonDataflow(ModulePass):
    """Dataflow blocks become ordinary blocks, and their variables ordinary variables."""

    def apply(self, module: IRModule) -> IRModule:
        """The module without dataflow blocks."""
        return _Undataflow().module(module)


class _Undataflow(Rewriter):
    def struct_info(self, info: ast.StructInfo) -> ast.StructInfo:
        if type(info) is ast.TensorStructInfo and type(info.shape) in _NO_VAR:
            return info
        return super().struct_info(info)

    def define(self, var: ast.Var) -> ast.Var:
        if not isinstance(var, ast.DataflowVar):
            return super().define(var)
        info = var.struct_info_annotation
        new = None if info is None else self.struct_info(info)
        made = ast.Var(var.name_hint, new, var.annotation_span, var.span, var.shape_var)
        self.renamed[var] = made
        return made

    def block(self, block: ast.BindingBlock) -> ast.BindingBlock:
        made = super().block(block)
        if isinstance(made, ast.DataflowBlock):
            return ast.BindingBlock(made.bindings, made.span)
        return made


_NO_VAR = frozenset({ast.ShapeExpr, type(None)})
"""Tensor shapes that are not given by a Relax variable."""


class RemovePurityChecking(ModulePass):
    """Functions get ``relax.force_pure``; calls that only promise purity become plain calls."""

    def apply(self, module: IRModule) -> IRModule:
        """The module with ``relax.force_pure`` on every function that is declared pure."""
        functions = {
            name: _forced(f) if isinstance(f, ast.Function) else f
            for name, f in module.functions.items()
        }
        forced = replace(module, functions=functions)
        if not _PROMISING & {operator_name(e) for e in expressions(module)}:
            return forced
        return _Unwrapped().module(forced)


def _forced(function: ast.Function) -> ast.Function:
    if function.is_pure is False or function.attrs.get("relax.force_pure"):
        return function
    return replace(function, attrs={**function.attrs, "relax.force_pure": True})


_PROMISING = frozenset(
    {"relax.call_pure_packed", "relax.call_inplace_packed", "relax.invoke_pure_closure"}
)
"""Operators that declare their callees pure."""


class _Unwrapped(Rewriter):
    def call(self, call: ast.Call) -> ast.Expr:
        made = super().call(call)
        assert isinstance(made, ast.Call)
        name = operator_name(made)
        if name in ("relax.call_pure_packed", "relax.call_inplace_packed"):
            attrs = {k: v for k, v in made.attrs.items() if k != "inplace_indices"}
            return ast.Call(made.args[0], made.args[1:], made.sinfo_args, attrs, span=made.span)
        if name == "relax.invoke_pure_closure":
            return replace(made, op=ast.op("relax.invoke_closure"))
        return made


class LambdaLift(ModulePass):
    """Local functions become global; captured values are passed as the last arguments."""

    def apply(self, module: IRModule) -> IRModule:
        """The module without local functions."""
        lifted: dict[ast.GlobalVar, ast.Function | tir.PrimFunc] = {}
        names = {gv.name_hint for gv in module.functions}
        module = normalize(module)
        relax = [f for f in module.functions.values() if isinstance(f, ast.Function)]
        if not any(local_functions(function) for function in relax):
            return module
        infos = derive(module).info
        for name, function in module.functions.items():
            if isinstance(function, ast.Function):
                lifter = _Lifter(name.name_hint, names, infos)
                lifted[name] = lifter.function(function)
                lifted.update(lifter.made)
            else:
                lifted[name] = function
        if all(lifted.get(gv) is f for gv, f in module.functions.items()):
            return module
        return replace(module, functions=lifted)


class _Lifter(Rewriter):
    """Lifts the local functions of one function, inner ones first.

    Attributes
    ----------
    made
        The functions that were lifted.
    """

    def __init__(self, outer: str, names: set[str], infos: Mapping[Any, ast.StructInfo]) -> None:
        super().__init__()
        self._outer, self._names, self._infos = outer, names, infos
        self.made: dict[ast.GlobalVar, ast.Function | tir.PrimFunc] = {}
        self._shapes: list[tir.Var] = []
        self._closures: dict[ast.Var, ast.Function] = {}

    def function(self, function: ast.Function) -> ast.Function:
        known = self._shapes
        self._shapes = [*known, *function.shape_vars]
        try:
            return super().function(function)
        finally:
            self._shapes = known

    def match_cast(self, binding: ast.MatchCast) -> tuple[ast.Binding, ...]:
        self._shapes = [*self._shapes, *binding.shape_vars]
        return super().match_cast(binding)

    def var_binding(self, binding: ast.VarBinding) -> tuple[ast.Binding, ...]:
        if binding.var.shape_var is not None:
            self._shapes = [*self._shapes, binding.var.shape_var]
        if not isinstance(binding.value, ast.Function):
            return super().var_binding(binding)
        value = self._lift(binding.value, binding.var)
        if isinstance(value, ast.Call):
            self._closures[binding.var] = binding.value
        var = replace(binding.var, struct_info_annotation=None, annotation_span=None)
        self.renamed[binding.var] = var
        return (replace(binding, var=var, value=value),)

    def expr(self, expr: ast.Expr) -> ast.Expr:
        if isinstance(expr, ast.Function):
            return self._lift(expr, None)
        return super().expr(expr)

    def call(self, call: ast.Call) -> ast.Expr:
        """A call of a closure says what it gives, which is not known of closures."""
        function = self._closures.get(call.op) if isinstance(call.op, ast.Var) else None
        made = super().call(call)
        if function is None:
            return made
        assert isinstance(made, ast.Call)
        pure = function.is_pure is not False
        op = ast.op("relax.invoke_pure_closure" if pure else "relax.invoke_closure")
        result = _result(function, self._shapes)
        return ast.Call(op, (made.op, ast.Tuple(made.args)), (result,), span=made.span)

    def _lift(self, function: ast.Function, var: ast.Var | None) -> ast.Expr:
        captured = list(_captured(function, var))
        shapes = _shapes(function, [self._known(v) for v in captured], self._shapes)
        name = self._fresh(var.name_hint if var is not None else "lambda")
        target = ast.GlobalVar(name)
        trailing: list[ast.Expr] = list(captured)
        params = [ast.Var(v.name_hint, self._known(v)) for v in captured]
        if shapes:
            trailing.append(ast.ShapeExpr(tuple(shapes)))
            params.append(ast.Var("shapes", ast.ShapeStructInfo(tuple(shapes), len(shapes))))
        inner = _Lifter(self._outer, self._names, self._infos)
        inner._shapes = shapes
        inner.renamed.update(zip(captured, params, strict=False))
        inside: ast.Expr = function.body
        if var is not None and any(used is var for used in expressions(function)):
            # It calls itself: inside it is made anew, from what it was given.
            again = ast.Var(var.name_hint, None)
            given = ast.Tuple(tuple(params[: len(captured)]) + tuple(trailing[len(captured) :]))
            inner.renamed[var] = again
            if trailing:
                inner._closures[again] = function
            itself = ast.VarBinding(again, _closure(target, given) if trailing else target)
            seq = function.body
            assert isinstance(seq, ast.SeqExpr)
            inside = replace(seq, blocks=(ast.BindingBlock((itself,)), *seq.blocks))
        body = replace(function, body=inside)
        made = inner.function(body)
        self.made.update(inner.made)
        bound = tuple(dict.fromkeys((*shapes, *made.shape_vars)))
        attrs = {k: v for k, v in made.attrs.items() if k != "global_symbol"} | {"private": True}
        self.made[target] = replace(
            made, params=(*made.params, *params), shape_vars=bound, attrs=attrs, name_span=None
        )
        if not trailing:
            return target
        # What is outside may have been replaced already.
        outside = tuple(self.expr(value) for value in trailing)
        return _closure(target, ast.Tuple(outside))

    def _known(self, var: ast.Var) -> ast.StructInfo | None:
        """What is known of a variable that is captured.

        A dimension that nothing declares, as that of the distinct elements of a tensor, has no name
        in another function.
        """
        info = var.struct_info_annotation or self._infos.get(var)
        return None if info is None else erase(info, frozenset(), frozenset(self._shapes))

    def _fresh(self, wanted: str) -> str:
        base = f"{self._outer}_{wanted}"
        name, count = base, 0
        while name in self._names:
            count += 1
            name = f"{base}_{count}"
        self._names.add(name)
        return name


def _result(function: ast.Function, around: list[tir.Var]) -> ast.StructInfo:
    """What a local function gives, as far as it can be said where it is called."""
    info = function.ret_struct_info
    return OBJECT if info is None else erase(info, frozenset(), frozenset(around))


def _closure(target: ast.GlobalVar, given: ast.Tuple) -> ast.Call:
    return ast.Call(ast.op("relax.make_closure"), (target, given))


def _captured(function: ast.Function, var: ast.Var | None) -> Iterator[ast.Var]:
    held = (v for info in struct_infos(function) for v in vars_of_info(info))
    for used in dict.fromkeys((*free_vars(function), *held)):
        if used is not var:
            yield used


def _shapes(
    function: ast.Function, captured: list[ast.StructInfo | None], around: list[tir.Var]
) -> list[tir.Var]:
    """The outer shape variables that a function or a captured variable's struct info mentions."""
    used = set(mentioned_sizes(function))
    for info in captured:
        used.update(() if info is None else free_shape_vars(info))
    return [v for v in dict.fromkeys(around) if v in used]


class AttachGlobalSymbol(ModulePass):
    """Give every function its name as global symbol."""

    def apply(self, module: IRModule) -> IRModule:
        """The module without private functions."""
        functions = {name: _public(f, name.name_hint) for name, f in module.functions.items()}
        return replace(module, functions=functions)


def _public(function: ast.Function | tir.PrimFunc, name: str) -> ast.Function | tir.PrimFunc:
    attrs = {k: v for k, v in function.attrs.items() if k != "private"}
    attrs.setdefault("global_symbol", name)
    return changed(function, attrs=attrs)


def dataflow_blocks(function: ast.Function) -> bool:
    """Whether a function in normal form has dataflow blocks."""
    return any(
        type(block) is ast.DataflowBlock
        for inner in sequences(function)
        if type(inner) is ast.SeqExpr
        for block in inner.blocks
    )


def local_functions(function: ast.Function) -> bool:
    """Whether a function in normal form has local functions."""
    return any(type(i) is ast.Function and i is not function for i in sequences(function))
