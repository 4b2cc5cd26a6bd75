"""Calls of packed functions, closures, names and devices that break one rule."""

from __future__ import annotations

from rlx.generate.near.building import FLOAT, Step, hide, relu, some, threes
from rlx.generate.programs.builder import FunctionBuilder
from rlx.generate.programs.choices import Choices
from rlx.generate.programs.dims import const
from rlx.generate.tir.function import prim_func
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import Expr, StructInfo, TensorStructInfo, Var
from rlx.grammar.nodes.dtype import VOID


def _call(builder: FunctionBuilder, name: str, args: tuple[Expr, ...], *types: StructInfo) -> Var:
    return hide(builder, ast.Call(ast.op(f"relax.{name}"), args, sinfo_args=types))


def _function(builder: FunctionBuilder) -> Var:
    """A local function of a vector of three."""
    param = Var("a", threes())
    return hide(builder, ast.Function((param,), ast.SeqExpr((), param), threes()))


def _kernel(builder: FunctionBuilder, choices: Choices, outputs: bool = True) -> ast.GlobalVar:
    name = builder.module.name("tir")
    results = [threes()] if outputs else []
    builder.module.functions[name] = prim_func(choices, [threes()], results)
    return name


def not_packed(builder: FunctionBuilder, choices: Choices) -> None:
    x = some(builder, choices, 3)
    _call(builder, "call_pure_packed", (x, x), threes())


def not_stated(builder: FunctionBuilder, choices: Choices) -> None:
    _call(builder, "call_pure_packed", (ast.ExternFunc("f"), some(builder, choices, 3)))


def no_closure(builder: FunctionBuilder, choices: Choices) -> None:
    x = some(builder, choices, 3)
    _call(builder, "invoke_pure_closure", (x, ast.Tuple((x,))), threes())


def too_many_captured(builder: FunctionBuilder, choices: Choices) -> None:
    x = some(builder, choices, 3)
    _call(builder, "make_closure", (_function(builder), ast.Tuple((x, x))))


def wrong_captured(builder: FunctionBuilder, choices: Choices) -> None:
    x = some(builder, choices, 4)
    _call(builder, "make_closure", (_function(builder), ast.Tuple((x,))))


def no_name(builder: FunctionBuilder, choices: Choices) -> None:
    x = some(builder, choices, 3)
    _call(builder, "call_py_func", (x, ast.Tuple((x,))), threes())


def tuple_passed(builder: FunctionBuilder, choices: Choices) -> None:
    inner = ast.Tuple((some(builder, choices, 3),))
    _call(builder, "call_tir", (_kernel(builder, choices), ast.Tuple((inner,))), threes())


def tensor_trailing(builder: FunctionBuilder, choices: Choices) -> None:
    x = some(builder, choices, 3)
    _call(builder, "call_tir", (_kernel(builder, choices), ast.Tuple((x,)), x), threes())


def private_symbol(builder: FunctionBuilder, choices: Choices) -> None:
    symbol = ast.ExternFunc(_kernel(builder, choices).name_hint)
    _call(builder, "call_pure_packed", (symbol, some(builder, choices, 3)), threes())


def stored_to(builder: FunctionBuilder, choices: Choices) -> None:
    """A call of a PrimFunc that stores to its first argument, and to nothing else."""
    name, x = builder.module.name("tir"), some(builder, choices, 3)
    builder.module.functions[name] = prim_func(choices, [threes(), threes()], [])
    _call(builder, "call_tir", (name, ast.Tuple((x,))), threes())


def declares(info: TensorStructInfo) -> Step:
    """A call whose result is declared as that."""

    def step(builder: FunctionBuilder, choices: Choices) -> None:
        args = ast.Tuple((some(builder, choices, 3),))
        _call(builder, "call_tir", (_kernel(builder, choices), args), info)

    return step


def moved_to(device: Expr) -> Step:
    """A transfer to something."""

    def step(builder: FunctionBuilder, choices: Choices) -> None:
        _call(builder, "to_vdevice", (some(builder, choices, 3), device))

    return step


def hinted(builder: FunctionBuilder, choices: Choices) -> None:
    _call(builder, "hint_on_device", (some(builder, choices, 3), ast.PrimValue(const(3))))


def no_tuple(builder: FunctionBuilder, choices: Choices) -> None:
    held = hide(builder, ast.Tuple((some(builder, choices, 3),)))
    _call(builder, "invoke_pure_closure", (_function(builder), held), threes())


def overwrites_otherwise(builder: FunctionBuilder, choices: Choices) -> None:
    """A packed function that writes a shape over a tensor."""
    args = (ast.ExternFunc("f"), some(builder, choices, 3))
    attrs: dict[str, object] = {"inplace_indices": (0,)}
    yields = (ast.ShapeStructInfo((const(3),), 1),)
    hide(builder, ast.Call(ast.op("relax.call_inplace_packed"), args, attrs, yields))


def used_again(builder: FunctionBuilder, choices: Choices) -> None:
    name = _kernel(builder, choices, False)
    x = hide(builder, relu(some(builder, choices, 3)))
    op = ast.op("relax.call_tir_inplace")
    attrs: dict[str, object] = {"inplace_indices": (0,)}
    hide(builder, ast.Call(op, (name, ast.Tuple((x,))), attrs, (threes(),)))
    hide(builder, relu(x))


FOREIGN_CALLS: dict[str, Step] = {
    "OBL-packed-function": not_packed,
    "OBL-stated-result": not_stated,
    "OBL-closure-function": no_closure,
    "OBL-closure-arity": too_many_captured,
    "OBL-closure-argument": wrong_captured,
    "OBL-name-string": no_name,
    "OBL-passed-kind": tuple_passed,
    "OBL-untouched-store": stored_to,
    "OBL-trailing-kind": tensor_trailing,
    "OBL-outputs-shape": declares(TensorStructInfo(None, FLOAT, 1)),
    "OBL-allocated-dtype": declares(TensorStructInfo(ast.ShapeExpr((const(3),)), VOID, 1)),
    "OBL-vdevice-kind": moved_to(ast.PrimValue(const(3))),
    "OBL-vdevice-declared": moved_to(ast.StringImm("cuda:7")),
    "OBL-hint-device": hinted,
    "OBL-written-tuple": no_tuple,
    "OBL-kept-info": overwrites_otherwise,
    "TIR09-private": private_symbol,
    "USE-overwritten-after": used_again,
}
"""The step that makes each premise fail."""
