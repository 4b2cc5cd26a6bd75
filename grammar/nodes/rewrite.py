"""Functional rewriting: changed parts become new nodes, and unchanged parts are shared.

A pass is a subclass of :class:`Rewriter` that overrides the methods for the nodes it changes.
Variables are objects, so a variable whose annotation changes becomes a new variable, and its uses
are replaced.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeVar

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import Binding, BindingBlock, Expr, StructInfo, TupleStructInfo
from rlx.grammar.nodes.node import Node, changed, fields, replace, same
from rlx.grammar.nodes.tir import PrimExpr
from rlx.grammar.stack import recursion_room

N = TypeVar("N", bound=Node)

_ACTIONS: dict[type[Expr], str] = {
    ast.Var: "var",
    ast.DataflowVar: "var",
    ast.Call: "call",
    ast.SeqExpr: "sequence",
    ast.Tuple: "tuple",
    ast.TupleGetItem: "tuple_get_item",
    ast.If: "if_",
    ast.Function: "function",
    ast.ShapeExpr: "shape",
    ast.PrimValue: "prim_value",
    ast.ExternFunc: "extern_func",
}
"""The method for each kind of expression with parts; other expressions are returned unchanged."""


class Rewriter:
    """Rebuilds modules, functions and expressions.

    By default, every method rewrites the parts of a node in the order of evaluation, and returns
    the node itself if nothing changed. The recursion is as deep as expressions are nested, which in
    normal form is the nesting of functions and branches; the length of blocks is not limited.

    Attributes
    ----------
    renamed
        The new variables of the variables replaced so far.
    """

    def __init__(self) -> None:
        self.renamed: dict[ast.Var, ast.Var] = {}

    _actions: ClassVar[dict[type[Expr], Callable[[Any, Any], Expr]]]

    def __init_subclass__(cls) -> None:
        """Look up the methods of a class once: they are called for every expression."""
        super().__init_subclass__()
        cls._actions = {kind: getattr(cls, name) for kind, name in _ACTIONS.items()}

    # ------------------------------------------------------------ wholes

    def module(self, module: ast.IRModule) -> ast.IRModule:
        """A module with its Relax functions rewritten; PrimFuncs are kept."""
        with recursion_room():
            return module.map_relax_functions(lambda _, function: self.function(function))

    def function(self, function: ast.Function) -> ast.Function:
        """A function: parameters, then the body, then the result annotation."""
        return function.map_children(self.part, self.define)

    def expr(self, expr: Expr) -> Expr:
        """Any expression."""
        action = self._actions.get(type(expr))
        return expr if action is None else action(self, expr)

    # ------------------------------------------------------------ variables

    def define(self, var: ast.Var) -> ast.Var:
        """A variable at its binding; a new one if its annotation changes."""
        info = var.struct_info_annotation
        if info is None:
            return var
        new = self.struct_info(info)
        if new is info:
            return var
        other = replace(var, struct_info_annotation=new)
        self.renamed[var] = other
        return other

    def var(self, var: ast.Var) -> Expr:
        """A use of a variable."""
        return self.renamed.get(var, var)

    # ------------------------------------------------------------ sequences

    def sequence(self, seq: ast.SeqExpr) -> Expr:
        """Blocks and body; a block without bindings is removed, and the adjacent blocks are
        merged.
        """
        blocks = same(seq.blocks, map(self.block, seq.blocks))
        if blocks is not seq.blocks:
            blocks = joined(blocks)
        return changed(seq, blocks=blocks, body=self.expr(seq.body))

    def block(self, block: BindingBlock) -> BindingBlock:
        """A block; each binding may become none or several."""
        bindings: list[Binding] = []
        for binding in block.bindings:
            bindings += self.binding(binding)
        return changed(block, bindings=same(block.bindings, bindings))

    def binding(self, binding: Binding) -> tuple[Binding, ...]:
        """The replacement of a binding."""
        if isinstance(binding, ast.MatchCast):
            return self.match_cast(binding)
        assert isinstance(binding, ast.VarBinding)
        return self.var_binding(binding)

    def var_binding(self, binding: ast.VarBinding) -> tuple[Binding, ...]:
        """A variable binding; a local function may mention itself, so its variable is defined
        first.
        """
        if isinstance(binding.value, ast.Function):
            var = self.define(binding.var)
            return (changed(binding, var=var, value=self.function(binding.value)),)
        return (self.inside(binding),)

    def match_cast(self, binding: ast.MatchCast) -> tuple[Binding, ...]:
        """A cast."""
        return (self.inside(binding),)

    # ------------------------------------------------------------ expressions

    def inside(self, node: N) -> N:
        """Any node, with its parts rewritten."""
        return node.map_children(self.part, self.define)

    def _expression(self, expr: Any) -> Expr:
        found: Expr = expr.map_children(self.part, self.define)
        return found

    call = tuple = tuple_get_item = if_ = shape = prim_value = extern_func = _expression

    def part(self, node: Node) -> Node:
        """A part of a node, by the method for its kind."""
        if isinstance(node, Expr):
            return self.expr(node)
        if isinstance(node, PrimExpr):
            return self.prim_expr(node)
        return self.struct_info(node) if isinstance(node, StructInfo) else self.inside(node)

    # ------------------------------------------------------------ annotations

    def struct_info(self, info: StructInfo) -> StructInfo:
        """An annotation: its dimensions and values, and those of its parts.

        A tuple that occurs several times in an annotation is rewritten once.
        """
        if type(info) is not TupleStructInfo or not info.fields:
            new = info.map_children(self.part)
            shape = new.shape if isinstance(new, ast.TensorStructInfo) else None
            if new is not info and isinstance(shape, ast.ShapeExpr):
                return changed(new, ndim=len(shape.values))
            return new
        if self._tuples is None:
            self._tuples = {}
            try:
                return info.map_children(self.part)
            finally:
                self._tuples = None
        done = self._tuples
        found = done.get(info)
        if found is None:
            found = done[info] = info.map_children(self.part)
        return found

    _tuples: dict[StructInfo, StructInfo] | None = None
    """The tuples of the current annotation that were rewritten; None between annotations."""

    def prim_expr(self, expr: PrimExpr) -> PrimExpr:
        """An integer expression: a dimension, a value, an argument."""
        return expr


Rewriter.__init_subclass__()  # for the class itself, too


def joined(blocks: tuple[BindingBlock, ...]) -> tuple[BindingBlock, ...]:
    """The nonempty blocks, with adjacent blocks of the same kind merged (NF4)."""
    kept: list[BindingBlock] = []
    for block in blocks:
        if not block.bindings:
            continue
        if kept and type(kept[-1]) is type(block):
            kept[-1] = replace(kept[-1], bindings=kept[-1].bindings + block.bindings)
        else:
            kept.append(block)
    return tuple(kept)


_WHOLE = (ast.Op, ast.GlobalVar)


def rebuild(root: Any, change: Callable[[Node], Node]) -> Any:
    """A copy of ``root``; ``change`` is called with every node before its parts are visited.

    Variables are replaced like other nodes, so ``change`` must return the same replacement at each
    use.
    """
    made: dict[int, tuple[Any, Any]] = {}

    def copy(value: Any) -> Any:
        if isinstance(value, tuple):
            parts = tuple(copy(v) for v in value)
            return same(value, parts)
        if isinstance(value, Mapping):
            items = {copy(k): copy(v) for k, v in value.items()}
            kept = items.keys() == value.keys() and all(value[k] is v for k, v in items.items())
            return value if kept else items
        if not isinstance(value, Node) or isinstance(value, _WHOLE):
            return value
        if id(value) not in made:
            # The original is kept beside its copy: its address must not be given away.
            made[id(value)] = (value, node(change(value)))
        return made[id(value)][1]

    def node(value: Node) -> Node:
        return changed(value, **{key: copy(part) for key, part in fields(value)})

    return copy(root)
