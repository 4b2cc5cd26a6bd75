"""Calls of PrimFuncs that break one rule."""

from __future__ import annotations

from rlx.generate.near.building import FLOAT, Step, hide, some, threes
from rlx.generate.programs.builder import FunctionBuilder
from rlx.generate.programs.choices import Choices
from rlx.generate.programs.dims import const, tensor
from rlx.generate.tir.function import prim_func
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Expr, ShapeExpr, StructInfo, TensorStructInfo, Var
from rlx.grammar.nodes.dtype import dtype


def _new(
    builder: FunctionBuilder, choices: Choices, inputs: list[TensorStructInfo]
) -> ast.GlobalVar:
    name = builder.module.name("tir")
    builder.module.functions[name] = prim_func(choices, inputs, inputs[:1])
    return name


def _call_tir(
    builder: FunctionBuilder,
    choices: Choices,
    args: tuple[Expr, ...],
    outs: tuple[StructInfo, ...],
    callee: Expr | None = None,
) -> None:
    name = callee or _new(builder, choices, [tensor((const(3),), FLOAT)])
    hide(builder, ast.Call(ast.op("relax.call_tir"), (name, ast.Tuple(args)), sinfo_args=outs))


def undeclared(builder: FunctionBuilder, choices: Choices) -> None:
    _call_tir(builder, choices, (some(builder, choices, 3),), (threes(), threes()))


def declared_shape(builder: FunctionBuilder, choices: Choices) -> None:
    _call_tir(
        builder, choices, (some(builder, choices, 3),), (ast.ShapeStructInfo((const(3),), 1),)
    )


def callee_variable(builder: FunctionBuilder, choices: Choices) -> None:
    x = some(builder, choices, 3)
    _call_tir(builder, choices, (x,), (threes(),), hide(builder, ShapeExpr((const(1),))))


def callee_function(builder: FunctionBuilder, choices: Choices) -> None:
    name = builder.module.name("plain")
    param = Var("x", threes())
    attrs: dict[str, object] = {"private": True}
    function = ast.Function((param,), ast.SeqExpr((), param), threes(), None, attrs)
    builder.module.functions[name] = function
    _call_tir(builder, choices, (some(builder, choices, 3),), (threes(),), name)


def count(builder: FunctionBuilder, choices: Choices) -> None:
    x = some(builder, choices, 3)
    _call_tir(builder, choices, (x, x, x), (threes(),))


def shape_for_buffer(builder: FunctionBuilder, choices: Choices) -> None:
    _call_tir(builder, choices, (ShapeExpr((const(3),)),), (threes(),))


def buffer_dtype(builder: FunctionBuilder, choices: Choices) -> None:
    _call_tir(builder, choices, (some(builder, choices, 3, kind="float16"),), (threes(),))


def buffer_rank(builder: FunctionBuilder, choices: Choices) -> None:
    _call_tir(builder, choices, (some(builder, choices, 3, 1),), (threes(),))


def joint(builder: FunctionBuilder, choices: Choices) -> None:
    _call_tir(builder, choices, (some(builder, choices, 4),), (threes(),))


def scalar(builder: FunctionBuilder, choices: Choices) -> None:
    name = builder.module.name("tir")
    made = prim_func(choices, [], [threes()])
    extra = tir.Var("factor", dtype("int64"))
    params = (extra, *made.params)
    function = tir.PrimFunc(params, made.body, None, made.buffer_map, made.attrs)
    builder.module.functions[name] = function
    _call_tir(builder, choices, (some(builder, choices, 3),), (threes(),), name)


def inplace(indices: tuple[int, ...], dims: tuple[int, ...] = (3,), kind: str = "float32") -> Step:
    """A call that overwrites its argument, wrongly."""

    def step(builder: FunctionBuilder, choices: Choices) -> None:
        name = builder.module.name("tir")
        builder.module.functions[name] = prim_func(choices, [threes()], [])
        args = ast.Tuple((some(builder, choices, 3),))
        out: StructInfo = tensor(tuple(map(const, dims)), dtype(kind))
        if len(indices) == 2 and indices[0] == indices[1]:
            out = ast.TupleStructInfo((out, out))
        attrs: dict[str, object] = {"inplace_indices": indices}
        hide(builder, ast.Call(ast.op("relax.call_tir_inplace"), (name, args), attrs, (out,)))

    return step


PRIM_CALLS: dict[str, Step] = {
    "OBL-outputs-declared": undeclared,
    "OBL-outputs-tensor": declared_shape,
    "OBL-callee-global": callee_variable,
    "OBL-callee-prim_func": callee_function,
    "OBL-buffers-count": count,
    "OBL-buffer-tensor": shape_for_buffer,
    "OBL-buffer-dtype": buffer_dtype,
    "OBL-buffer-rank": buffer_rank,
    "OBL-joint-dims": joint,
    "OBL-scalar-kind": scalar,
    "OBL-inplace-length": inplace((0, 0, 0)),
    "OBL-inplace-range": inplace((5,)),
    "OBL-inplace-repeated": inplace((0, 0)),
    "OBL-inplace-none": inplace((-1,)),
    "OBL-reuse-dtype": inplace((0,), kind="float16"),
    "OBL-reuse-rank": inplace((0,), (3, 1)),
    "OBL-reuse-shape": inplace((0,), (4,)),
}
"""The step that makes each premise fail."""
