"""Changes to a finished module that break one rule of signatures, modules or normal form."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rlx.generate.programs.dims import const, tensor
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import (
    Call,
    DataflowBlock,
    Function,
    GlobalVar,
    IRModule,
    SeqExpr,
    StructInfo,
    Var,
    VarBinding,
)
from rlx.grammar.nodes.dtype import dtype
from rlx.grammar.nodes.node import replace

Change = Callable[[IRModule], IRModule]
FLOAT = dtype("float32")


def _main(module: IRModule) -> tuple[GlobalVar, Function]:
    for name, function in module.relax_functions.items():
        if name.name_hint == "main":
            return name, function
    raise AssertionError("a module has an entry")


def _with(module: IRModule, **changes: object) -> IRModule:
    """The module with some fields of its entry changed."""
    name, function = _main(module)
    return _add(module, name, replace(function, **changes))


def _add(module: IRModule, name: GlobalVar, function: Function) -> IRModule:
    return replace(module, functions={**module.functions, name: function})


def _body(function: Function) -> SeqExpr:
    assert isinstance(function.body, SeqExpr)
    return function.body


def result_unbound(module: IRModule) -> IRModule:
    return _with(module, ret_struct_info=tensor((tir.Var("z"),), FLOAT))


def parameter_unbound(module: IRModule) -> IRModule:
    _, function = _main(module)
    param = Var("bad", tensor((tir.Mul(tir.Var("z"), const(2)),), FLOAT))
    return _with(module, params=(*function.params, param))


def _recursive(module: IRModule, ret: StructInfo | None, dataflow: bool) -> IRModule:
    """With a function that calls itself."""
    name = GlobalVar("again")
    info = tensor((const(3),), FLOAT)
    param, found = Var("x", info), Var("r")
    kind = DataflowBlock if dataflow else ast.BindingBlock
    body = SeqExpr((kind((VarBinding(found, Call(name, (param,))),)),), found)
    return _add(module, name, Function((param,), body, ret, None, {"private": True}))


def recursion_in_dataflow(module: IRModule) -> IRModule:
    return _recursive(module, tensor((const(3),), FLOAT), True)


def recursion_without_result(module: IRModule) -> IRModule:
    return _recursive(module, None, False)


def possible_recursion(module: IRModule) -> IRModule:
    """A function that is a value is called in a dataflow block of the function that it may be."""
    name, attrs = GlobalVar("again"), {"private": True}
    info = tensor((const(3),), FLOAT)
    f, x, r = Var("f", ast.FuncStructInfo((info,), info)), Var("x", info), Var("r")
    block = DataflowBlock((VarBinding(r, Call(f, (x,))),))
    module = _add(module, name, Function((f, x), SeqExpr((block,), r), info, None, attrs))
    y, pair = Var("y", info), Var("pair")
    held = ast.BindingBlock((VarBinding(pair, ast.Tuple((name, y))),))
    return _add(module, GlobalVar("held"), Function((y,), SeqExpr((held,), y), info, None, attrs))


def no_entry(module: IRModule) -> IRModule:
    return replace(_with(module, attrs={"private": True}), bare=False)


def other_symbol(module: IRModule) -> IRModule:
    return _with(module, attrs={"global_symbol": "elsewhere"})


def forced(module: IRModule) -> IRModule:
    attrs = {"global_symbol": "main", "relax.force_pure": True}
    return _with(module, attrs=attrs, is_pure=False)


def unchecked(module: IRModule) -> IRModule:
    """A lowered function in which a value of unknown shape stands where a shape is promised."""
    x = Var("x", ast.TensorStructInfo(None, FLOAT, 1))
    attrs: dict[str, object] = {"private": True, "relax.force_pure": True}
    function = Function((x,), SeqExpr((), x), tensor((const(3),), FLOAT), None, attrs)
    return _add(module, GlobalVar("lowered"), function)


def two_devices(module: IRModule) -> IRModule:
    """Tensors of two devices behind one operator that does not look at devices."""
    devices = tuple(("I.vdevice", "llvm", k, "global") for k in range(2))
    infos = {"vdevice": devices}
    shape = ast.ShapeExpr((const(3),))
    here, there = (ast.TensorStructInfo(shape, FLOAT, 1, ast.VDevice("llvm", k)) for k in range(2))
    plain = tensor((const(3),), FLOAT)
    x, y, z = Var("x", here), Var("y", there), Var("z", plain)
    bindings = tuple(
        VarBinding(Var(f"r{k}"), Call(ast.op("relax.add"), (a, z))) for k, a in enumerate((x, y))
    )
    body = SeqExpr((ast.BindingBlock(bindings),), bindings[0].var)
    moved = _add(
        module, GlobalVar("moved"), Function((x, y, z), body, None, None, {"private": True})
    )
    return replace(moved, global_infos=infos)


MODULES: Mapping[str, Change] = {
    "WF04-unbound": result_unbound,
    "WF06-unbound": parameter_unbound,
    "WF07-recursion": recursion_in_dataflow,
    "WF07-possible": possible_recursion,
    "WF08-annotation": recursion_without_result,
    "WF12-entry": no_entry,
    "WF13-name": other_symbol,
    "WF21-pure": forced,
    "D15-unchecked": unchecked,
    "VDEV-propagate-agree": two_devices,
}
"""By the premise that fails, the change that makes it fail."""


def nested(module: IRModule) -> IRModule:
    def value(x: Var) -> ast.Expr:
        inner = Call(ast.op("relax.nn.relu"), (x,))
        return Call(ast.op("relax.nn.relu"), (inner,))

    return _first(module, value)


def sequence_as_value(module: IRModule) -> IRModule:
    return _first(module, lambda x: SeqExpr((), x))


def _first(module: IRModule, value: Callable[[Var], ast.Expr]) -> IRModule:
    """With a binding in front of all others."""
    _, function = _main(module)
    x = Var("bad", tensor((const(3),), FLOAT))
    body = _body(function)
    block = ast.BindingBlock((VarBinding(Var("worse"), value(x)),))
    blocks = body.blocks
    if blocks and type(blocks[0]) is ast.BindingBlock:
        block = ast.BindingBlock((*block.bindings, *blocks[0].bindings))
        blocks = blocks[1:]
    made = SeqExpr((block, *blocks), body.body)
    return _with(module, params=(*function.params, x), body=made)


def bare_body(module: IRModule) -> IRModule:
    x = Var("x", tensor((const(3),), FLOAT))
    attrs: dict[str, object] = {"private": True}
    return _add(module, GlobalVar("bare"), Function((x,), x, None, None, attrs))


def call_as_result(module: IRModule) -> IRModule:
    _, function = _main(module)
    body = _body(function)
    call = Call(ast.op("relax.zeros"), (ast.ShapeExpr((const(2),)),), {"dtype": "float32"})
    return _with(module, body=SeqExpr(body.blocks, call), ret_struct_info=None)


def empty_block(module: IRModule) -> IRModule:
    _, function = _main(module)
    body = _body(function)
    ends_in_dataflow = bool(body.blocks) and isinstance(body.blocks[-1], DataflowBlock)
    kind = ast.BindingBlock if ends_in_dataflow else DataflowBlock
    return _with(module, body=SeqExpr((*body.blocks, kind(())), body.body))


def neighbours(module: IRModule) -> IRModule:
    _, function = _main(module)
    body = _body(function)
    pairs = [(VarBinding(Var(f"bad{k}"), ast.ShapeExpr((const(k),))),) for k in range(2)]
    blocks = body.blocks
    kind = DataflowBlock if blocks and type(blocks[-1]) is ast.BindingBlock else ast.BindingBlock
    return _with(module, body=SeqExpr((*blocks, *(kind(p) for p in pairs)), body.body))


def without_form(module: IRModule) -> IRModule:
    def value(x: Var) -> ast.Expr:
        out = tensor((const(3),), FLOAT)
        callee = ast.ExternFunc("test.copy")
        return Call(ast.op("relax.call_dps_packed"), (callee, x), sinfo_args=(out,))

    return _first(module, value)


FORMS: Mapping[str, Change] = {
    "NF1-nested": nested,
    "NF2-place": sequence_as_value,
    "NF3-body": bare_body,
    "NF3-result": call_as_result,
    "NF4-empty": empty_block,
    "NF4-neighbours": neighbours,
    "NF5-form": without_form,
}
"""Changes to a module in normal form, by the premise of normal form that fails."""
