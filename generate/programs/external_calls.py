"""Steps that leave the graph: PrimFuncs, packed functions, closures of the virtual machine."""

from __future__ import annotations

from collections.abc import Sequence

from rlx.generate.programs.builder import FunctionBuilder
from rlx.generate.programs.choices import Choices
from rlx.generate.programs.dims import tensor
from rlx.generate.programs.operators import any_value, operator_call
from rlx.generate.programs.scopes import arguments
from rlx.generate.tir.function import prim_func
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import dtype
from rlx.grammar.nodes.tir import PrimExpr

_KINDS = ("float32", "int64", "float16", "int32")


def _infos(builder: FunctionBuilder, choices: Choices, most: int) -> list[ast.TensorStructInfo]:
    """Tensors whose shapes have dimensions in common, nearly all of one element type."""
    kind = dtype(choices.pick(_KINDS))
    dims = tuple(builder.dim(choices) for _ in range(choices.below(3) + 1))
    infos = [tensor(dims, kind)]
    for _ in range(choices.below(most)):
        cut = choices.below(len(dims))
        other = dtype(choices.pick(_KINDS)) if choices.one_in(3) else kind
        infos.append(tensor(dims[cut:], other))
    return infos


def _prim_func(
    builder: FunctionBuilder,
    choices: Choices,
    inputs: Sequence[ast.TensorStructInfo],
    outputs: Sequence[ast.TensorStructInfo],
) -> tir.PrimFunc:
    return prim_func(choices, inputs, outputs, "rare" in builder.module.options.features)


def call_tir(builder: FunctionBuilder, choices: Choices) -> None:
    """A PrimFunc of its own, called on tensors: plainly, with a gradient, or on the local part of
    shards.
    """
    infos = _infos(builder, choices, 3)
    outs = infos[:1] * (1 + choices.one_in(4))
    name = builder.module.name("tir")
    builder.module.functions[name] = _prim_func(builder, choices, infos, outs)
    args = ast.Tuple(tuple(builder.found(choices, info) for info in infos))
    out = outs[0] if len(outs) == 1 else ast.TupleStructInfo(tuple(outs))
    operator, attrs = "call_tir", {}
    if choices.one_in(8):
        operator, attrs = "call_tir_with_grad", {"te_grad_name": "gradient"}
    elif choices.one_in(16) and "runtime" in builder.module.options.features:
        operator = "dist.call_tir_local_view"
    builder.bind(choices, ast.Call(ast.op(f"relax.{operator}"), (name, args), attrs, (out,)), out)


def call_tir_inplace(builder: FunctionBuilder, choices: Choices) -> None:
    """A PrimFunc that overwrites its first argument, a fresh copy that nothing else uses."""
    (info,) = _infos(builder, choices, 1)
    name = builder.module.name("tir")
    builder.module.functions[name] = _prim_func(builder, choices, [info], [])
    source = builder.found(choices, info)
    copied = builder.bind(choices, ast.Call(ast.op("relax.abs"), (source,)), info)
    call = ast.Call(
        ast.op("relax.call_tir_inplace"),
        (name, ast.Tuple((copied.expr,))),
        {"inplace_indices": (0,)},
        (info,),
    )
    builder.consume(copied)
    builder.bind(choices, call, info)


def packed(builder: FunctionBuilder, choices: Choices) -> None:
    """A packed function that is believed to be pure."""
    (info,) = _infos(builder, choices, 1)
    args: tuple[ast.Expr, ...] = (builder.found(choices, info),)
    match choices.below(4):
        case 0:
            call = _call("call_pure_packed", (ast.ExternFunc("test.same"), *args), info)
        case 1:
            call = _call("call_dps_packed", (ast.ExternFunc("test.copy"), ast.Tuple(args)), info)
        case 2:
            copied = builder.bind(choices, ast.Call(ast.op("relax.abs"), args), info)
            builder.consume(copied)
            indices: dict[str, object] = {"inplace_indices": (0,)}
            function = ast.ExternFunc("test.negate_inplace")
            call = _call("call_inplace_packed", (function, copied.expr), info, indices)
        case _:
            function = ast.ExternFunc("test.same")
            call = _call("call_py_func", (ast.StringImm("same"), ast.Tuple(args)), info)
    builder.bind(choices, call, info)


def _call(
    name: str,
    args: tuple[ast.Expr, ...],
    info: ast.StructInfo,
    attrs: dict[str, object] | None = None,
) -> ast.Call:
    return ast.Call(ast.op(f"relax.{name}"), args, attrs or {}, (info,))


def call_packed(builder: FunctionBuilder, choices: Choices) -> None:
    """A packed function called for what it does; only where effects are allowed."""
    (info,) = _infos(builder, choices, 1)
    args: tuple[ast.Expr, ...] = (builder.found(choices, info),)
    match choices.below(4):
        case 0 | 1:
            args += (any_value(builder, choices),) * choices.below(2)
            builder.bind(
                choices, ast.Call(ast.ExternFunc("test.first"), args, sinfo_args=(info,)), info
            )
        case 2:
            builder.bind(
                choices, ast.Call(ast.ExternFunc("vm.builtin.copy"), args, sinfo_args=(info,)), info
            )
        case _:
            name = builder.module.name("tir")
            builder.module.functions[name] = _prim_func(builder, choices, [info], [info])
            target = builder.bind(choices, ast.Call(ast.op("relax.abs"), args), info)
            given = (*args, target.expr)
            dynamic = ast.Call(ast.op("relax.vm.call_tir_dyn"), (name, ast.Tuple(given)))
            builder.effect(ast.Call(name, given) if choices.one_in(3) else dynamic)


def closures_of_operators(builder: FunctionBuilder, choices: Choices) -> None:
    """``make_closure`` of a function of the module, and its invocation."""
    callees = [c for c in builder.module.callees if c.params and c.pure]
    if not callees:
        operator_call(builder, choices)
        return
    callee = choices.pick(callees)
    info = ast.FuncStructInfo(callee.params, callee.ret, True, None, callee.binders)
    chosen: dict[PrimExpr, PrimExpr] = {v: builder.dim(choices) for v in callee.binders}
    args, ret = arguments(builder, choices, info, chosen)
    cut = choices.below(len(args) + 1)
    made = ast.Call(ast.op("relax.make_closure"), (callee.name, ast.Tuple(args[cut:])))
    closure = builder.bind(choices, made, ast.ObjectStructInfo())
    impure = choices.one_in(2) and not builder.pure and not builder.dataflow
    name = "invoke_closure" if impure else "invoke_pure_closure"
    builder.bind(choices, _call(name, (closure.expr, ast.Tuple(args[:cut])), ret), ret)
