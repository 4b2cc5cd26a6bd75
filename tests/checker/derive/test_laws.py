"""Laws that hold of every derivation, on generated programs."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import given

from rlx.checker.check import check_module
from rlx.checker.derive import derive, known_infos
from rlx.generate import modules
from rlx.grammar.diagnostic import Source
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Expr, StructInfo
from rlx.grammar.nodes.node import Node, replace, walk
from rlx.grammar.nodes.rewrite import Rewriter
from rlx.grammar.print.show import show
from rlx.solver.order import free_shape_vars, free_vars
from rlx.solver.order.erase import erase


def written_dimensions(module: ast.IRModule) -> frozenset[tir.Var]:
    """The shape variables that a module binds; derivation names others, as of `R.unique`."""
    nodes = list(walk(module))
    binders = (n for n in nodes if isinstance(n, ast.Function | ast.MatchCast))
    scalars = (n.shape_var for n in nodes if isinstance(n, ast.Var) and n.shape_var is not None)
    return frozenset(var for each in binders for var in each.shape_vars).union(scalars)


def check_scope(
    info: Mapping[Node, StructInfo],
    expr: Expr,
    variables: frozenset[ast.Var],
    shapes: frozenset[tir.Var],
) -> None:
    """Every variable bound in an expression is described by what is in scope where it is bound."""

    match expr:
        case ast.Function(params=params, body=body, shape_vars=own):
            shapes = shapes.union(p.shape_var for p in params if p.shape_var is not None)
            check_scope(info, body, variables.union(params), shapes.union(own))
        case ast.If(true_branch=then, false_branch=other):
            check_scope(info, then, variables, shapes)
            check_scope(info, other, variables, shapes)
        case ast.SeqExpr(blocks=blocks):
            outside = (variables, shapes)
            for binding in (b for block in blocks for b in block.bindings):
                assert isinstance(binding, (ast.VarBinding, ast.MatchCast))
                check_scope(info, binding.value, variables, shapes)
                if isinstance(binding, ast.MatchCast):
                    shapes = shapes.union(binding.shape_vars)
                if binding.var is None:
                    continue
                if binding.var.shape_var is not None:
                    shapes = shapes | {binding.var.shape_var}
                variables = variables | {binding.var}
                assert shapes.issuperset(free_shape_vars(info[binding.var]))
                assert variables.issuperset(free_vars(info[binding.var]))
            assert outside[1].issuperset(free_shape_vars(info[expr]))
            assert outside[0].issuperset(free_vars(info[expr]))


@given(modules())
def test_struct_info_mentions_only_what_is_in_scope(module: ast.IRModule) -> None:
    written = written_dimensions(module)
    info = {
        node: erase(found, frozenset(n for n in walk(module) if isinstance(n, ast.Var)), written)
        for node, found in derive(module).info.items()
    }
    for gv, function in module.relax_functions.items():
        assert not free_shape_vars(info[gv])
        check_scope(info, function, frozenset(), frozenset())


@given(modules())
def test_without_proofs_the_struct_infos_are_the_same(module: ast.IRModule) -> None:
    derived, known = derive(module).info, known_infos(module)
    assert derived.keys() == known.keys()
    assert [show(info) for info in derived.values()] == [show(info) for info in known.values()]


class Annotating(Rewriter):
    """Annotates every variable with what was derived for it."""

    def __init__(self, info: Mapping[Node, StructInfo], module: ast.IRModule) -> None:
        super().__init__()
        self.info = info
        self.scope = (
            frozenset(n for n in walk(module) if isinstance(n, ast.Var)),
            written_dimensions(module),
        )

    def define(self, var: ast.Var) -> ast.Var:
        info = self.info.get(var)
        if info is None or var.struct_info_annotation is not None:
            return super().define(var)
        said = self.struct_info(erase(info, *self.scope))
        made = self.renamed[var] = replace(var, struct_info_annotation=said)
        return made


@given(modules())
def test_annotating_with_what_was_derived_adds_nothing(module: ast.IRModule) -> None:
    annotated = Annotating(derive(module).info, module).module(module)
    assert check_module(annotated, Source("annotated", "")).diagnostics == ()
