"""Changes to a finished module that break one rule of signatures, modules or normal form."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rlx.generate.programs.dims import const, tensor
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import dtype
from rlx.grammar.nodes.node import replace

Change = Callable[[ast.IRModule], ast.IRModule]
FLOAT = dtype("float32")


def _main(module: ast.IRModule) -> tuple[ast.GlobalVar, ast.Function]:
    for name, function in module.relax_functions.items():
        if name.name_hint == "main":
            return name, function
    raise AssertionError("a module has an entry")


def _with(module: ast.IRModule, **changes: object) -> ast.IRModule:
    """The module with some fields of its entry changed."""
    name, function = _main(module)
    return _add(module, name, replace(function, **changes))


def _add(module: ast.IRModule, name: ast.GlobalVar, function: ast.Function) -> ast.IRModule:
    return replace(module, functions={**module.functions, name: function})


def _body(function: ast.Function) -> ast.SeqExpr:
    assert isinstance(function.body, ast.SeqExpr)
    return function.body


def result_unbound(module: ast.IRModule) -> ast.IRModule:
    return _with(module, ret_struct_info=tensor((tir.Var("z"),), FLOAT))


def parameter_unbound(module: ast.IRModule) -> ast.IRModule:
    _, function = _main(module)
    param = ast.Var("bad", tensor((tir.Mul(tir.Var("z"), const(2)),), FLOAT))
    return _with(module, params=(*function.params, param))


def _recursive(module: ast.IRModule, ret: ast.StructInfo | None, dataflow: bool) -> ast.IRModule:
    """With a function that calls itself."""
    name = ast.GlobalVar("again")
    info = tensor((const(3),), FLOAT)
    param, found = ast.Var("x", info), ast.Var("r")
    kind = ast.DataflowBlock if dataflow else ast.BindingBlock
    body = ast.SeqExpr((kind((ast.VarBinding(found, ast.Call(name, (param,))),)),), found)
    return _add(module, name, ast.Function((param,), body, ret, None, {"private": True}))


def recursion_in_dataflow(module: ast.IRModule) -> ast.IRModule:
    return _recursive(module, tensor((const(3),), FLOAT), True)


def recursion_without_result(module: ast.IRModule) -> ast.IRModule:
    return _recursive(module, None, False)


def possible_recursion(module: ast.IRModule) -> ast.IRModule:
    """A function that is a value is called in a dataflow block of the function that it may be."""
    name, attrs = ast.GlobalVar("again"), {"private": True}
    info = tensor((const(3),), FLOAT)
    f, x, r = ast.Var("f", ast.FuncStructInfo((info,), info)), ast.Var("x", info), ast.Var("r")
    block = ast.DataflowBlock((ast.VarBinding(r, ast.Call(f, (x,))),))
    module = _add(module, name, ast.Function((f, x), ast.SeqExpr((block,), r), info, None, attrs))
    y, pair = ast.Var("y", info), ast.Var("pair")
    held = ast.BindingBlock((ast.VarBinding(pair, ast.Tuple((name, y))),))
    return _add(
        module,
        ast.GlobalVar("held"),
        ast.Function((y,), ast.SeqExpr((held,), y), info, None, attrs),
    )


def no_entry(module: ast.IRModule) -> ast.IRModule:
    return replace(_with(module, attrs={"private": True}), bare=False)


def other_symbol(module: ast.IRModule) -> ast.IRModule:
    return _with(module, attrs={"global_symbol": "elsewhere"})


def forced(module: ast.IRModule) -> ast.IRModule:
    attrs = {"global_symbol": "main", "relax.force_pure": True}
    return _with(module, attrs=attrs, is_pure=False)


def unchecked(module: ast.IRModule) -> ast.IRModule:
    """A lowered function in which a value of unknown shape stands where a shape is promised."""
    x = ast.Var("x", ast.TensorStructInfo(None, FLOAT, 1))
    attrs: dict[str, object] = {"private": True, "relax.force_pure": True}
    function = ast.Function((x,), ast.SeqExpr((), x), tensor((const(3),), FLOAT), None, attrs)
    return _add(module, ast.GlobalVar("lowered"), function)


def two_devices(module: ast.IRModule) -> ast.IRModule:
    """Tensors of two devices behind one operator that does not look at devices."""
    devices = tuple(("I.vdevice", "llvm", k, "global") for k in range(2))
    infos = {"vdevice": devices}
    shape = ast.ShapeExpr((const(3),))
    here, there = (ast.TensorStructInfo(shape, FLOAT, 1, ast.VDevice("llvm", k)) for k in range(2))
    plain = tensor((const(3),), FLOAT)
    x, y, z = ast.Var("x", here), ast.Var("y", there), ast.Var("z", plain)
    bindings = tuple(
        ast.VarBinding(ast.Var(f"r{k}"), ast.Call(ast.op("relax.add"), (a, z)))
        for k, a in enumerate((x, y))
    )
    body = ast.SeqExpr((ast.BindingBlock(bindings),), bindings[0].var)
    moved = _add(
        module, ast.GlobalVar("moved"), ast.Function((x, y, z), body, None, None, {"private": True})
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
"""The change that makes each premise fail."""


def nested(module: ast.IRModule) -> ast.IRModule:
    def value(x: ast.Var) -> ast.Expr:
        inner = ast.Call(ast.op("relax.nn.relu"), (x,))
        return ast.Call(ast.op("relax.nn.relu"), (inner,))

    return _first(module, value)


def sequence_as_value(module: ast.IRModule) -> ast.IRModule:
    return _first(module, lambda x: ast.SeqExpr((), x))


def _first(module: ast.IRModule, value: Callable[[ast.Var], ast.Expr]) -> ast.IRModule:
    """With a binding in front of all others."""
    _, function = _main(module)
    x = ast.Var("bad", tensor((const(3),), FLOAT))
    body = _body(function)
    block = ast.BindingBlock((ast.VarBinding(ast.Var("worse"), value(x)),))
    blocks = body.blocks
    if blocks and type(blocks[0]) is ast.BindingBlock:
        block = ast.BindingBlock((*block.bindings, *blocks[0].bindings))
        blocks = blocks[1:]
    made = ast.SeqExpr((block, *blocks), body.body)
    return _with(module, params=(*function.params, x), body=made)


def bare_body(module: ast.IRModule) -> ast.IRModule:
    x = ast.Var("x", tensor((const(3),), FLOAT))
    attrs: dict[str, object] = {"private": True}
    return _add(module, ast.GlobalVar("bare"), ast.Function((x,), x, None, None, attrs))


def call_as_result(module: ast.IRModule) -> ast.IRModule:
    _, function = _main(module)
    body = _body(function)
    call = ast.Call(ast.op("relax.zeros"), (ast.ShapeExpr((const(2),)),), {"dtype": "float32"})
    return _with(module, body=ast.SeqExpr(body.blocks, call), ret_struct_info=None)


def empty_block(module: ast.IRModule) -> ast.IRModule:
    _, function = _main(module)
    body = _body(function)
    ends_in_dataflow = bool(body.blocks) and isinstance(body.blocks[-1], ast.DataflowBlock)
    kind = ast.BindingBlock if ends_in_dataflow else ast.DataflowBlock
    return _with(module, body=ast.SeqExpr((*body.blocks, kind(())), body.body))


def neighbours(module: ast.IRModule) -> ast.IRModule:
    _, function = _main(module)
    body = _body(function)
    pairs = [(ast.VarBinding(ast.Var(f"bad{k}"), ast.ShapeExpr((const(k),))),) for k in range(2)]
    blocks = body.blocks
    kind = (
        ast.DataflowBlock if blocks and type(blocks[-1]) is ast.BindingBlock else ast.BindingBlock
    )
    return _with(module, body=ast.SeqExpr((*blocks, *(kind(p) for p in pairs)), body.body))


def without_form(module: ast.IRModule) -> ast.IRModule:
    def value(x: ast.Var) -> ast.Expr:
        out = tensor((const(3),), FLOAT)
        callee = ast.ExternFunc("test.copy")
        return ast.Call(ast.op("relax.call_dps_packed"), (callee, x), sinfo_args=(out,))

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
