"""Bindings for steps that break a rule; no later step uses them."""

from __future__ import annotations

from collections.abc import Callable

from rlx.generate.programs.builder import FunctionBuilder
from rlx.generate.programs.choices import Choices
from rlx.generate.programs.dims import const, tensor
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import Binding, Expr, StructInfo, TensorStructInfo, Var, VarBinding
from rlx.grammar.nodes.dtype import dtype

Step = Callable[[FunctionBuilder, Choices], None]
FLOAT = dtype("float32")


def hide(builder: FunctionBuilder, value: Expr, annotation: StructInfo | None = None) -> Var:
    """Bind an expression to a variable that no later step uses."""
    var = Var(builder.name("bad"), annotation)
    put(builder, VarBinding(var, value))
    return var


def put(builder: FunctionBuilder, binding: Binding) -> None:
    """Put a binding at the end of the present block."""
    builder.body.bindings(builder.dataflow).append(binding)


def some(builder: FunctionBuilder, choices: Choices, *dims: int, kind: str = "float32") -> Expr:
    """A tensor in scope, of these dimensions."""
    return builder.fresh(choices, dtype(kind), tuple(map(const, dims)), False)


def relu(value: Expr) -> ast.Call:
    """A call of an operator that is content with any tensor."""
    return ast.Call(ast.op("relax.nn.relu"), (value,))


def threes() -> TensorStructInfo:
    """A vector of three."""
    return tensor((const(3),), FLOAT)
