"""Rewriting of functions in normal form: each binding may become none, one or several."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from rlx.checker.normalize import keep_as_normal
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.node import replace
from rlx.grammar.nodes.unused_names import Names
from rlx.grammar.nodes.visit import sequences

UNIT = ast.TupleStructInfo(())
COPY = "vm.builtin.copy"
"""Returns its argument, so that a call of it may say more of the type than is known."""


class Emitter:
    """Rewrites a function binding by binding; subclasses define what a binding becomes.

    Blocks become one block without dataflow. The branches of an ``If`` are walked like bodies.

    Attributes
    ----------
    out
        The bindings emitted so far in the current sequence.
    """

    def __init__(self, function: ast.Function) -> None:
        self.out: list[ast.Binding] = []
        self._names = Names(_names(function))

    def function(self, function: ast.Function) -> ast.Function:
        """The function with its body rewritten.

        The parts of an emitted value must be leaves, so that the function is in normal form again.
        """
        made = replace(function, body=self.sequence(function.body))
        keep_as_normal(made)
        return made

    def sequence(self, body: ast.Expr) -> ast.SeqExpr:
        """A body or a branch, rewritten to a sequence."""
        outside, self.out = self.out, []
        try:
            self.enter()
            seq = body if isinstance(body, ast.SeqExpr) else ast.SeqExpr((), body)
            for block in seq.blocks:
                for binding in block.bindings:
                    self.binding(binding)
            result = self.result(seq.body)
            blocks = (ast.BindingBlock(tuple(self.out)),) if self.out else ()
            return ast.SeqExpr(blocks, result, seq.body_span, seq.span)
        finally:
            self.out = outside
            self.leave()

    def enter(self) -> None:
        """Called at the start of each body and branch."""

    def leave(self) -> None:
        """Called at the end of each body and branch."""

    def result(self, body: ast.Expr) -> ast.Expr:
        """The result of a body or a branch."""
        return body

    def binding(self, binding: ast.Binding) -> None:
        """Emit what a binding becomes."""
        if type(binding) is ast.VarBinding:
            self.var_binding(binding)
        else:
            self.out.append(binding)

    def var_binding(self, binding: ast.VarBinding) -> None:
        """Emit what ``var = value`` becomes."""
        value = binding.value
        if isinstance(value, ast.If):
            self.put(replace(binding, value=self.branches(value)))
        else:
            self.put(binding)

    def branches(self, value: ast.If) -> ast.If:
        """An ``If`` with its branches rewritten."""
        return replace(
            value,
            true_branch=self.sequence(value.true_branch),
            false_branch=self.sequence(value.false_branch),
        )

    def put(self, binding: ast.Binding) -> None:
        """Emit a binding unchanged."""
        self.out.append(binding)

    def fresh(self, name: str) -> str:
        """An unused name in the function."""
        return self._names.new(name)

    def emit(
        self, value: ast.Expr, name: str = "lv", info: ast.StructInfo | None = None
    ) -> ast.Var:
        """Bind a value to a new variable."""
        var = ast.Var(self.fresh(name), info)
        self.put(ast.VarBinding(var, value))
        return var

    def effect(self, value: ast.Expr) -> None:
        """Emit a call whose result is not used."""
        self.put(ast.VarBinding(ast.Var("_", UNIT), value))


def _names(function: ast.Function) -> Iterator[str]:
    for inner in sequences(function):
        if isinstance(inner, ast.Function):
            yield from (param.name_hint for param in inner.params)
        else:
            variables = (b.var for block in inner.blocks for b in block.bindings)
            yield from (var.name_hint for var in variables if var is not None)


def packed(name: str, *args: ast.Expr, info: ast.StructInfo = UNIT) -> ast.Call:
    """A call of a packed function by its name."""
    return ast.Call(ast.ExternFunc(name), args, sinfo_args=(info,))


@lru_cache(4096)
def number(value: int) -> ast.PrimValue:
    """A boxed integer."""
    from rlx.grammar.nodes.tir import IntImm

    return ast.PrimValue(IntImm(value))


def operator_name(value: Any) -> str | None:
    """The name of the called operator; None if the expression is not a call of an operator."""
    if type(value) is ast.Call:
        op = value.op
        if type(op) is ast.Op:
            return op.op_name
    return None
