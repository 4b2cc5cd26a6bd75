"""Nodes that Python code makes: parts of wrong kinds, and shape variables that are left out."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TypeVar

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Expr, StructInfo
from rlx.grammar.nodes.node import Node, changed, fields, nodes_in
from rlx.grammar.nodes.python_places import MisuseError, described, here
from rlx.grammar.nodes.rewrite import Rewriter
from rlx.grammar.nodes.struct_infos import bind_callable, binding_positions
from rlx.grammar.stack import recursion_room

WITH_BLOCKS = frozenset([ast.Function, ast.If, ast.SeqExpr])
"""The kinds of expressions that have blocks inside."""

N = TypeVar("N", bound=Expr | ast.Binding)

_WORDS: dict[str, str] = {
    "Expr": "an expression, such as a variable or rlx.const(1)",
    "PrimExpr": "a scalar, such as rlx.dim('n'); rlx.op.shape([n, 2]) takes numbers, too",
    "StructInfo": "an annotation, such as rlx.Var('x', 'R.Object').struct_info",
    "Literal": "the data of a constant; rlx.const(…) makes a constant",
}


def refuse_wrong_parts(root: Node) -> None:
    """Raise MisuseError if a node, or one inside of it, has a part of a wrong kind."""
    stack, seen = [root], {root}
    while stack:
        node = stack.pop()
        inside: list[Node] = []
        for name, value in fields(node):
            kind, is_optional = _kind(type(node)._kinds[name])
            for part in value if isinstance(value, tuple) else (value,):
                if kind is None or (part is None and is_optional):
                    inside += nodes_in(part)
                elif isinstance(part, kind):
                    inside.append(part)
                else:
                    wanted = _WORDS.get(kind.__name__, f"a node {kind.__name__}")
                    words = f"{name} of {type(node).__name__}: expected {wanted}"
                    raise MisuseError(f"{words}; found {described(part)}", here())
        stack += [each for each in inside if each not in seen]
        seen.update(inside)


def _kind(annotation: str) -> tuple[type[Node] | None, bool]:
    """The class of nodes that a field holds, None if it may hold others; whether it may be None."""
    [word] = re.findall(r"^(?:tuple\[)?([\w.]+)", annotation)
    module = tir if word.startswith("tir.") else ast
    found = getattr(module, word.removeprefix("tir."), None) or getattr(tir, word, None)
    is_node = isinstance(found, type) and issubclass(found, Node)
    return found if is_node else None, annotation.endswith("None")


def alone_in(infos: Iterable[StructInfo]) -> tuple[tir.Var, ...]:
    """The shape variables that appear alone in annotations, each once."""
    found = (dim for info in infos for dim in binding_positions(info))
    return tuple(dict.fromkeys(dim for dim in found if type(dim) is tir.Var))


def with_shape_vars(node: N, known: Iterable[tir.Var] = ()) -> N:
    """An expression or a binding whose functions and casts say which shape variables they bind:
    those that appear alone in them and are not ``known`` there.
    """
    binding = _Binding(known)
    with recursion_room():
        if isinstance(node, Expr):
            return binding.expr(node)  # type: ignore[return-value]
        [made] = binding.binding(node)
    return made  # type: ignore[return-value]


class _Binding(Rewriter):
    def __init__(self, known: Iterable[tir.Var]) -> None:
        super().__init__()
        self._known = {*known}

    def _bound(self, node: ast.Function | ast.MatchCast, infos: Iterable[StructInfo]) -> Node:
        """The node with its shape variables, which are known from there on."""
        infos = [*infos]
        new = [v for v in alone_in(infos) if v not in self._known and v not in node.shape_vars]
        self._known |= {*new, *node.shape_vars}
        for info in infos:
            bind_callable(info, self._known)
        return changed(node, shape_vars=(*node.shape_vars, *new)) if new else node

    def function(self, function: ast.Function) -> ast.Function:
        around, self._known = self._known, {*self._known}
        infos = (p.struct_info_annotation for p in function.params)
        made = self._bound(function, [info for info in infos if info is not None])
        assert isinstance(made, ast.Function)
        made = changed(made, body=self.expr(made.body))
        self._known = around
        return made

    def sequence(self, seq: ast.SeqExpr) -> Expr:
        around, self._known = self._known, {*self._known}
        made = super().sequence(seq)
        self._known = around
        return made

    def var_binding(self, binding: ast.VarBinding) -> tuple[ast.Binding, ...]:
        if type(binding.value) in WITH_BLOCKS:
            return (changed(binding, value=self.expr(binding.value)),)
        return (binding,)

    def match_cast(self, binding: ast.MatchCast) -> tuple[ast.Binding, ...]:
        return (self._bound(binding, [binding.struct_info]),)  # type: ignore[return-value]

    def call(self, call: ast.Call) -> Expr:
        return call
