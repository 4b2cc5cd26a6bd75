"""Lambda lifting: local functions become functions of the module.

What a local function captured becomes its last parameters. Where it is used only as a callee, its
calls pass that. Where it is a value, the value is a closure, which holds it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from rlx.checker.derive import known_infos
from rlx.checker.derive.naming import scalars
from rlx.checker.dynamic_checks.uses import Survey
from rlx.checker.normalize import normalize
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Expr, IRModule, StructInfo
from rlx.grammar.nodes.node import replace
from rlx.grammar.nodes.rewrite import Rewriter
from rlx.grammar.nodes.struct_infos import OBJECT, binding_positions
from rlx.grammar.nodes.unused_names import Names
from rlx.grammar.nodes.visit import bindings, evaluated, expressions, free_vars, struct_infos
from rlx.grammar.stack import recursion_room
from rlx.solver.order import free_shape_vars, shape_vars_in
from rlx.solver.order import free_vars as vars_of_info
from rlx.solver.order.erase import erase
from rlx.transform.lowering.passes import ModulePass
from rlx.transform.lowering.signatures import kept_signature
from rlx.transform.lowering.structure import local_functions


class LambdaLift(ModulePass):
    """Local functions become global; captured values are passed as the last arguments."""

    def apply(self, module: IRModule) -> IRModule:
        """The module without local functions."""
        return _lifted(normalize(module), closures=True)


def lambda_lifting(module: IRModule) -> IRModule:
    """Convert local functions that are used only as callees to private functions of the module.

    Captured values are passed as arguments. A function that is used as a value is not changed.
    """
    normal = normalize(module)
    lifted = _lifted(normal, closures=False)
    return module if lifted is normal else lifted


def _lifted(module: IRModule, *, closures: bool) -> IRModule:
    """A module in normal form without its local functions, or without those that are only called."""
    has_local = any(map(local_functions, module.relax_functions.values()))
    if not has_local and not (closures and _untyped(module)):
        return module
    infos = known_infos(module)
    types = {gv: infos.get(function) for gv, function in module.functions.items()}
    names = Names((gv.name_hint for gv in module.functions), "_")
    functions: dict[ast.GlobalVar, ast.Function | tir.PrimFunc] = {}
    with recursion_room():
        for gv, function in module.functions.items():
            functions[gv] = function
            if isinstance(function, ast.Function) and has_local:
                prefix = f"{gv.name_hint}_" if closures else ""
                callees = _callees(function)
                called = _only_called(function, callees, closures)
                signed = frozenset(scalars(function))
                task = _Task(prefix, names, infos, callees, called, signed, closures, {}, types)
                functions[gv] = _Lifter(task).function(function)
                functions.update(task.made)
    if has_local and len(functions) == len(module.functions):
        return module
    lifted = replace(module, functions=functions)
    if not closures:
        return lifted
    kept = {  # later passes remove the code from which their types are derived
        gv: kept_signature(gv, function, lifted, types[gv])
        for gv, function in _untyped(lifted).items()
    }
    return replace(lifted, functions={**functions, **kept})


def _untyped(module: IRModule) -> dict[ast.GlobalVar, ast.Function]:
    """The functions that are used as values, and whose results are not annotated."""
    values = Survey(module).as_values
    return {
        gv: function
        for gv, function in module.relax_functions.items()
        if gv in values and function.ret_struct_info is None
    }


def _callees(function: ast.Function) -> set[ast.Var]:
    """The variables that are used only as callees."""
    used = Counter(expr for expr in expressions(function) if isinstance(expr, ast.Var))
    called = Counter(expr.op for expr in expressions(function) if isinstance(expr, ast.Call))
    return {var for var, times in used.items() if times == called[var]}


def _only_called(function: ast.Function, callees: set[ast.Var], closures: bool) -> set[ast.Var]:
    """The local functions that are used only as callees, and whose calls can pass their captured
    values: no scalar that is also a shape variable, and no closure, whose type would be lost.
    """
    held = {
        binding.var: free_vars(binding.value)
        for binding in bindings(function)
        if isinstance(binding, ast.VarBinding) and isinstance(binding.value, ast.Function)
    }
    found = {
        var
        for var, captured in held.items()
        if var in callees and all(v.shape_var is None for v in captured)
    }
    while closures:
        holding = {var for var in found if any(v in held and v not in found for v in held[var])}
        if not holding:
            break
        found -= holding
    return found


class _Task(NamedTuple):
    """The lifting of one function of the module.

    Attributes
    ----------
    prefix, names
        How the names of lifted functions begin; the names of the module.
    infos
        What is known of each variable.
    callees
        The variables that are used only as callees.
    called
        Those of local functions among them whose calls pass what was captured.
    signed
        The shape variables that may be negative.
    closures
        Whether the other local functions become closures.
    made
        The functions that were lifted, inner ones first.
    types
        The derived types of functions, to which those of the lifted ones are added.
    """

    prefix: str
    names: Names
    infos: Mapping[Any, StructInfo]
    callees: set[ast.Var]
    called: set[ast.Var]
    signed: frozenset[tir.Var]
    closures: bool
    made: dict[ast.GlobalVar, ast.Function]
    types: dict[ast.GlobalVar, StructInfo | None]


Lifted = tuple[ast.GlobalVar, tuple[Expr, ...]]
"""A lifted function, and the last arguments of its calls, as they stand in the given program."""


class _Lifter(Rewriter):
    """Lifts the local functions of one function."""

    def __init__(self, task: _Task) -> None:
        super().__init__()
        self._task = task
        self._shapes: list[tir.Var] = []
        self._lifted: dict[ast.Var, Lifted] = {}
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
        var, function = binding.var, binding.value
        if var.shape_var is not None:
            self._shapes = [*self._shapes, var.shape_var]
        if isinstance(function, ast.Function) and var in self._task.called:
            self._lifted[var] = self._lift(function, var)
            return ()
        if not isinstance(function, ast.Function) or not self._task.closures:
            return super().var_binding(binding)
        value = self._closure(function, var)
        plain = replace(var, struct_info_annotation=None, annotation_span=None)
        self.renamed[var] = plain
        if not isinstance(value, ast.Call):
            return (replace(binding, var=plain, value=value),)
        return self._named(var, plain, value, function)

    def _named(
        self, var: ast.Var, plain: ast.Var, value: ast.Call, function: ast.Function
    ) -> tuple[ast.Binding, ...]:
        """Bind a closure. Its type is not known; where it is more than a callee, it is cast to it."""
        if var in self._task.callees:
            self._closures[var] = function
            return (ast.VarBinding(plain, value),)
        info = self._known(var)
        assert info is not None
        made = type(plain)(f"{plain.name_hint}_closure", None)
        return ast.VarBinding(made, value), ast.MatchCast(plain, made, info)

    def expr(self, expr: Expr) -> Expr:
        if isinstance(expr, ast.Function) and self._task.closures:
            return self._closure(expr, None)
        return super().expr(expr)

    def call(self, call: ast.Call) -> Expr:
        made = super().call(call)
        if not isinstance(call.op, ast.Var):
            return made
        assert isinstance(made, ast.Call)
        if call.op in self._lifted:
            target, further = self._lifted[call.op]
            args = (*made.args, *map(self.expr, further))
            return replace(made, op=target, args=args, arg_spans=())
        function = self._closures.get(call.op)
        if function is None:
            return made
        # The call of a closure states its result, since closures have no known type.
        pure = function.is_pure is not False
        op = ast.op("relax.invoke_pure_closure" if pure else "relax.invoke_closure")
        result = function.ret_struct_info
        known = OBJECT if result is None else erase(result, frozenset(), frozenset(self._shapes))
        return ast.Call(op, (made.op, ast.Tuple(made.args)), sinfo_args=(known,), span=made.span)

    def _closure(self, function: ast.Function, var: ast.Var | None) -> Expr:
        """A lifted function as a value."""
        target, further = self._lift(function, var)
        if not further:
            return target
        # The captured variables may have been replaced already.
        return _closure(target, tuple(map(self.expr, further)))

    def _lift(self, function: ast.Function, var: ast.Var | None) -> Lifted:
        """Add a function to the module; `var` is the name by which it may call itself."""
        captured, sizes = self._captured(function, var)
        infos = {v: self._known(v) for v in captured}
        for info in infos.values():
            sizes.update(() if info is None else free_shape_vars(info))
        shapes = [v for v in dict.fromkeys(self._shapes) if v in sizes]
        alone = {v for info in infos.values() if info is not None for v in binding_positions(info)}
        wanted = var.name_hint if var is not None else "lambda"
        target = ast.GlobalVar(self._task.names.new(f"{self._task.prefix}{wanted}"))
        self._task.types[target] = self._task.infos.get(function)
        passed = [v for v in shapes if v not in alone]
        # Scalars come first: they may be dimensions of the others.
        scalars = [v for v in passed if v in self._task.signed]
        inside = [ast.Var(v.name_hint, infos[v]) for v in captured]
        further: list[Expr] = [*map(ast.PrimValue, scalars), *captured]
        params = [ast.Var(v.name, ast.PrimStructInfo(v.dtype, v)) for v in scalars] + inside
        if lengths := tuple(v for v in passed if v not in self._task.signed):
            further.append(ast.ShapeExpr(lengths))
            params.append(ast.Var("shapes", ast.ShapeStructInfo(lengths, len(lengths))))
        inner = _Lifter(self._task)
        inner._shapes = shapes
        inner._lifted.update(self._lifted)
        inner.renamed.update(zip(captured, inside, strict=True))
        body = function.body
        if var is not None and var in self._task.called:
            inner._lifted[var] = target, tuple(further)
        elif var is not None and any(used is var for used in expressions(function)):
            # It calls itself: inside, the closure is made anew from the parameters.
            again = ast.Var(var.name_hint, None)
            inner.renamed[var] = again
            own = dict[Expr, Expr](zip(captured, inside, strict=True))
            given = tuple([own.get(each, each) for each in further])
            if given:
                itself = inner._named(var, again, _closure(target, given), function)
                if var in inner._closures:
                    inner._closures[again] = function
            else:
                itself = (ast.VarBinding(again, target),)
            assert isinstance(body, ast.SeqExpr)
            body = replace(body, blocks=(ast.BindingBlock(itself), *body.blocks))
        made = inner.function(replace(function, body=body))
        attrs = {k: v for k, v in made.attrs.items() if k != "global_symbol"} | {"private": True}
        self._task.made[target] = replace(
            made,
            params=(*made.params, *params),
            shape_vars=tuple(dict.fromkeys((*shapes, *made.shape_vars))),
            attrs=attrs,
            name_span=None,
        )
        return target, tuple(further)

    def _captured(
        self, function: ast.Function, var: ast.Var | None
    ) -> tuple[list[ast.Var], set[tir.Var]]:
        """The variables and shape variables that a function captures; for a lifted function that it
        calls, those that the call passes.
        """
        held = (v for info in struct_infos(function) for v in vars_of_info(info))
        captured: dict[ast.Var, None] = {}
        binders = evaluated(function, ast.Function | ast.MatchCast)
        sizes = shape_vars_in(function).keys() - {v for each in binders for v in each.shape_vars}
        for used in dict.fromkeys((*free_vars(function), *held)):
            _, further = self._lifted.get(used, (None, (used,)))
            for value in further:
                if isinstance(value, ast.Var):
                    captured[value] = None
                elif isinstance(value, ast.PrimValue):
                    sizes.update(tir.free_vars(value.value))
                else:
                    assert isinstance(value, ast.ShapeExpr)
                    sizes.update(v for dim in value.values for v in tir.free_vars(dim))
        return [v for v in captured if v is not var], sizes

    def _known(self, var: ast.Var) -> StructInfo | None:
        """The struct info of a captured variable.

        A dimension that nothing declares, as that of the distinct elements of a tensor, has no name
        in another function.
        """
        info = var.struct_info_annotation or self._task.infos.get(var)
        return None if info is None else erase(info, frozenset(), frozenset(self._shapes))


def _closure(target: ast.GlobalVar, given: tuple[Expr, ...]) -> ast.Call:
    return ast.Call(ast.op("relax.make_closure"), (target, ast.Tuple(given)))
