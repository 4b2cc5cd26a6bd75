"""Questions about programs that passes ask: variables, uses, calls, derived annotations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from rlx.checker.check import IllFormedError, check_alone
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Expr, GlobalVar, IRModule, StructInfo
from rlx.grammar.nodes.node import Node, replace
from rlx.grammar.nodes.python_places import callable_of, module_of, of_kind
from rlx.grammar.nodes.rewrite import Rewriter
from rlx.grammar.nodes.visit import (
    bindings,
    called_globals,
    circles,
    evaluated,
    struct_infos,
)
from rlx.grammar.nodes.visit import bound_vars as bound_in
from rlx.grammar.nodes.visit import free_vars as free_in
from rlx.operators.registry import lookup
from rlx.solver.order import free_shape_vars
from rlx.solver.order import free_vars as relax_vars


def free_vars(expr: Expr) -> tuple[ast.Var, ...]:
    """The variables that an expression uses and does not bind, in the order of their uses."""
    return free_in(of_kind(expr, Expr, "an expression"))


def bound_vars(expr: Expr) -> tuple[ast.Var, ...]:
    """The variables that an expression binds: parameters, and those of bindings."""
    return tuple(bound_in(of_kind(expr, Expr, "an expression")))


def used_vars(expr: Expr) -> tuple[ast.Var, ...]:
    """The variables that an expression uses, in the order of their uses."""
    return tuple(dict.fromkeys(evaluated(of_kind(expr, Expr, "an expression"), ast.Var)))


def all_vars(expr: Expr) -> tuple[ast.Var, ...]:
    """The variables that an expression binds or uses."""
    return tuple(dict.fromkeys((*bound_vars(expr), *used_vars(expr))))


def all_global_vars(expr: Expr) -> tuple[GlobalVar, ...]:
    """The functions of the module that an expression mentions."""
    return called_globals(of_kind(expr, Expr, "an expression"))


def defined_symbolic_vars(expr: Expr) -> tuple[tir.Var, ...]:
    """The shape variables that a function or another expression binds, in signatures and in casts."""
    binding = evaluated(of_kind(expr, Expr, "an expression"), ast.Function | ast.MatchCast)
    return tuple(dict.fromkeys(var for node in binding for var in node.shape_vars))


def free_symbolic_vars(expr: Expr) -> tuple[tir.Var, ...]:
    """The shape variables that a function or another expression uses and does not bind."""
    bound = set(defined_symbolic_vars(expr))
    infos = (var for info in struct_infos(expr) for var in free_shape_vars(info))
    values = evaluated(expr, ast.ShapeExpr | ast.PrimValue)
    dims = (var for value in values for each in value.children() for var in tir.free_vars(each))  # type: ignore[arg-type]
    return tuple(var for var in dict.fromkeys((*infos, *dims)) if var not in bound)


def name_to_binding(function: ast.Function) -> dict[str, list[ast.Binding]]:
    """The bindings of a function, by the names of their variables."""
    found: dict[str, list[ast.Binding]] = {}
    for binding in bindings(of_kind(function, ast.Function, "a function")):
        if binding.var is not None:
            found.setdefault(binding.var.name_hint, []).append(binding)
    return found


def udchain(block: ast.DataflowBlock) -> dict[ast.Var, list[ast.Var]]:
    """For each variable that a dataflow block uses or binds, the variables whose values use it;
    also in the local functions of the block.
    """
    found: dict[ast.Var, list[ast.Var]] = {}
    for binding in bindings(of_kind(block, ast.DataflowBlock, "a dataflow block")):
        if binding.var is not None:
            found.setdefault(binding.var, [])
            for used in dict.fromkeys(_own_uses(binding.value)):
                found.setdefault(used, []).append(binding.var)
    return found


def _own_uses(value: Expr) -> Iterator[ast.Var]:
    """The variables that a value uses, without those that only the bindings inside it use."""
    stack: list[Node] = [value]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Var):
            yield node
        elif not isinstance(node, ast.Binding | StructInfo):
            stack += reversed(node.children())


def post_order_visit(expr: Expr, function: Callable[[Expr], object]) -> None:
    """Call a function with each expression inside an expression, after the expressions inside it,
    in the order of evaluation.
    """
    callable_of(function, "an expression", 1)
    stack: list[tuple[Node, bool]] = [(of_kind(expr, Expr, "an expression"), False)]
    while stack:
        node, is_done = stack.pop()
        if is_done:
            function(node)  # type: ignore[arg-type]
            continue
        if isinstance(node, Expr):
            stack.append((node, True))
        if not isinstance(node, StructInfo):
            stack += [(child, False) for child in reversed(node.children())]


def detect_recursion(module: IRModule) -> list[list[GlobalVar]]:
    """The groups of functions that call each other, or themselves."""
    functions = module_of(module).relax_functions
    calls = {gv: called_globals(function) for gv, function in functions.items()}
    groups = {id(group): group for group in circles(calls).values()}.values()
    ordered = ([gv for gv in functions if gv in group] for group in groups)
    return [group for group in ordered if len(group) > 1 or group[0] in calls[group[0]]]


def contains_impure_call(expr: Expr, own_name: ast.Var | GlobalVar | None = None) -> bool:
    """Whether an expression calls what may have effects. Local functions count where they are
    called, and the declarations of the module's functions are not known here.

    Parameters
    ----------
    own_name
        The name of the function itself, whose recursive calls do not count.
    """
    own = None if own_name is None else of_kind(own_name, Expr, "the name of a function")
    pure: set[Expr] = set() if own is None else {own}
    for binding in bindings(of_kind(expr, Expr, "an expression")):
        if isinstance(binding.value, ast.Function) and binding.value.is_pure is not False:
            pure.add(binding.var)  # type: ignore[arg-type]
    body = expr.body if isinstance(expr, ast.Function) else expr
    stack: list[Node] = [body]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Call) and not _is_pure(node.op, pure):
            return True
        if not isinstance(node, ast.Function | StructInfo):
            stack += node.children()
    return False


def _is_pure(callee: Expr, pure: set[Expr]) -> bool:
    if isinstance(callee, ast.Op):
        operator = lookup(callee.op_name)
        return operator is not None and operator.pure
    info = callee.struct_info_annotation if isinstance(callee, ast.Var) else None
    if isinstance(info, ast.FuncStructInfo):
        return info.purity
    return isinstance(callee, GlobalVar) or callee in pure


def annotated(module: IRModule) -> IRModule:
    """A module in normal form whose variables have their derived annotations: `var.struct_info` is
    known everywhere.

    Raises
    ------
    IllFormedError
        If the module has errors.
    """
    report = check_alone(module_of(module))
    if not report.ok:
        raise IllFormedError(report)
    return _Annotated(report.info).module(report.modules[0])


class _Annotated(Rewriter):
    def __init__(self, infos: Mapping[Node, StructInfo]) -> None:
        super().__init__()
        self._infos = infos
        self._named: set[tir.Var] = set()
        """The shape variables that the text binds; others have no name."""

    def function(self, function: ast.Function) -> ast.Function:
        self._named.update(defined_symbolic_vars(function))
        return super().function(function)

    def define(self, var: ast.Var) -> ast.Var:
        info = self._infos.get(var)
        if var.struct_info_annotation is not None or info is None:
            return super().define(var)
        local = type(var) is ast.DataflowVar
        if not self._named.issuperset(free_shape_vars(info)) or (relax_vars(info) and not local):
            return var
        other = replace(var, struct_info_annotation=self.struct_info(info))
        self.renamed[var] = other
        return other
