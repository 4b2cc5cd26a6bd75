"""Invalid operands, and operands with too little struct info for an operator."""

from __future__ import annotations

from rlx.generate.near.building import FLOAT, Step, hide, some
from rlx.generate.programs.builder import FunctionBuilder
from rlx.generate.programs.choices import Choices
from rlx.generate.programs.dims import const
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import Expr, ShapeExpr, TensorStructInfo
from rlx.grammar.nodes.dtype import VOID, dtype


def _call(builder: FunctionBuilder, name: str, *args: Expr, **attrs: object) -> None:
    hide(builder, ast.Call(ast.op(f"relax.{name}"), args, attrs))


def forgotten(info: TensorStructInfo, name: str, **attrs: object) -> Step:
    """A call of an operator on a matrix that only has this annotation."""

    def step(builder: FunctionBuilder, choices: Choices) -> None:
        matrix = hide(builder, some(builder, choices, 3, 4), info)
        _call(builder, name, matrix, **attrs)

    return step


def unknown_elements(builder: FunctionBuilder, choices: Choices) -> None:
    info = TensorStructInfo(ShapeExpr((const(3), const(4))), VOID, 2)
    matrix = hide(builder, some(builder, choices, 3, 4), info)
    _call(builder, "nn.rms_norm", matrix, some(builder, choices, 4), axes=(-1,))


def _indices(builder: FunctionBuilder, choices: Choices, *before: int) -> Expr:
    """Indices whose last axis has a symbolic length."""
    dims = (*map(const, before), builder.shape_vars[0])
    return builder.fresh(choices, dtype("int64"), dims, False)


def unknown_bounds(builder: FunctionBuilder, choices: Choices) -> None:
    begin, two = _indices(builder, choices), some(builder, choices, 2, kind="int64")
    _call(builder, "dynamic_strided_slice", some(builder, choices, 3, 4), begin, two, two)


def unknown_tuples(builder: FunctionBuilder, choices: Choices) -> None:
    data, updates = some(builder, choices, 3, 4), some(builder, choices, 2, 4)
    _call(builder, "scatter_nd", data, _indices(builder, choices, 2), updates)


def written(value: int, kind: str) -> Step:
    """A constant."""

    def step(builder: FunctionBuilder, choices: Choices) -> None:
        hide(builder, ast.Constant(ast.Literal(value, dtype(kind), ())))

    return step


OPERANDS: dict[str, Step] = {
    "D03-element-type": written(0, "handle"),
    "D03-fits": written(300, "uint8"),
    "OBL-known-rank": forgotten(TensorStructInfo(None, FLOAT, -1), "permute_dims", axes=(1, 0)),
    "OBL-known-shape": forgotten(TensorStructInfo(None, FLOAT, 2), "eye_like"),
    "OBL-known-dtype": unknown_elements,
    "OBL-listed-literal": unknown_bounds,
    "OBL-tuples-literal": unknown_tuples,
}
"""The step that makes each premise fail."""
