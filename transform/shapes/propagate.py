"""Shape propagation from callees to callers, by substitution and by functions that compute only
shapes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import Expr, GlobalVar, IRModule, StructInfo, TensorStructInfo
from rlx.grammar.nodes.node import changed
from rlx.grammar.nodes.struct_infos import held_shape
from rlx.grammar.nodes.visit import bindings, called_globals, callees_first
from rlx.solver.order.substitute import dimensions
from rlx.transform.shapes.shape_functions import ShapeFunction, shape_function, written_shape
from rlx.transform.shapes.specialise import is_open, says_more, specialised
from rlx.transform.visitors.mutator import ExprMutator


class Stronger(ExprMutator):
    """Makes every annotation as precise as possible, callees before their callers."""

    strengthens = True

    def in_order(self, functions: Mapping[GlobalVar, ast.Function]) -> Iterable[GlobalVar]:
        return callees_first({gv: called_globals(f) for gv, f in functions.items()})

    def visit_var_binding(self, binding: ast.VarBinding) -> None:
        if isinstance(binding.value, ast.Function):
            super().visit_var_binding(binding)
            return
        value = self.visit_expr(binding.value)
        known = changed(binding, var=self.visit_var_def(binding.var))
        new = self.builder.frame.rebind(known, value, self.place)
        if new is not binding.var:
            self.replace_var(binding.var, new)


class _Propagated(Stronger):
    """Asks for each call of a module's function what its body yields for these arguments."""

    def __init__(self) -> None:
        self.shape_functions: dict[GlobalVar, ShapeFunction | None] = {}
        self.cast: set[Expr] = set()

    def visit_global_function(self, gv: GlobalVar, function: ast.Function) -> None:
        casts = (b for b in bindings(function) if isinstance(b, ast.MatchCast))
        self.cast = {
            b.value
            for b in casts
            if held_shape(b.struct_info) is not None or not is_open(b.struct_info)
        }
        super().visit_global_function(gv, function)

    def visit_var_binding(self, binding: ast.VarBinding) -> None:
        super().visit_var_binding(binding)
        call, var = binding.value, self.visit_expr(binding.var)
        if not (isinstance(call, ast.Call) and isinstance(call.op, GlobalVar)):
            return
        known = self.builder.struct_info(var)
        if not (isinstance(var, ast.Var) and is_open(known)) or binding.var in self.cast:
            return
        args = [self.visit_expr(arg) for arg in call.args]
        found = specialised(self.builder, call.op, args)
        unknown = isinstance(found, TensorStructInfo) and dimensions(found) is None
        shaped = isinstance(known, TensorStructInfo) and dimensions(known) is not None
        if not shaped and (unknown or found is None or not says_more(self.builder, found, known)):
            found = self.by_shape_function(call.op, args) or found
        if found is not None and says_more(self.builder, found, known):
            output = type(var) is ast.Var
            cast = self.builder.frame.cast(var, found, var.name_hint, self.place, output)
            self.replace_var(binding.var, cast)

    def by_shape_function(self, gv: GlobalVar, args: list[Expr]) -> StructInfo | None:
        """The struct info of a result by a call of the function's shape function, which is emitted."""
        if gv not in self.shape_functions:
            function = self.builder.lookup_func(gv)
            made = None
            if isinstance(function, ast.Function):
                made = shape_function(function) or written_shape(self.builder, function)
            self.shape_functions[gv] = made and made.added_to(self.builder, gv)
        made = self.shape_functions[gv]
        return None if made is None else made.called(self.builder, args)


def propagate_shapes(module: IRModule) -> IRModule:
    """Propagate shapes from callees to their callers.

    Annotations become as precise as derivation allows. If a signature is too imprecise, the shapes
    of the arguments are substituted into the body of the function. If the shape of the result
    depends only on shapes, its computation becomes a function that callers call. Results of these
    two methods are asserted by casts.

    Raises
    ------
    BuildError
        If the module has errors.
    """
    return _Propagated()(module)
