"""Bindings that break one rule, inserted between the steps of a legal program."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rlx.generate.calls.pattern import parse
from rlx.generate.calls.template import Template
from rlx.generate.near.building import FLOAT, Step, hide, put, relu, some, threes
from rlx.generate.near.foreign_calls import FOREIGN_CALLS
from rlx.generate.near.operands import OPERANDS
from rlx.generate.near.prim_calls import PRIM_CALLS
from rlx.generate.programs.builder import FunctionBuilder
from rlx.generate.programs.choices import Choices
from rlx.generate.programs.dims import const, tensor
from rlx.generate.programs.operators import arguments
from rlx.generate.tir.function import prim_func
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import DataType, dtype
from rlx.grammar.nodes.struct_infos import OBJECT
from rlx.operators.registry import every_name, lookup


def _broken() -> Mapping[str, list[tuple[str, str]]]:
    found: dict[str, list[tuple[str, str]]] = {}
    for name in every_name():
        operator = lookup(f"relax.{name}")
        assert operator is not None
        for line in operator.broken.strip().splitlines():
            code, _, arguments = line.strip().partition(": ")
            found.setdefault(code, []).append((name, arguments))
    return found


BROKEN = _broken()
"""The names of operators and patterns of their arguments, by the premise that fails."""


def broken_call(code: str, builder: FunctionBuilder, choices: Choices) -> None:
    """A call that breaks an obligation of its operator."""
    name, text = choices.pick(BROKEN[code])
    pattern = parse(text)
    kinds: dict[str, DataType] = {g: FLOAT if g in "ft" else dtype("int64") for g in pattern.groups}
    args = tuple(slots[0] for slots in pattern.args)
    attrs = tuple((key, slots[0]) for key, slots in pattern.attrs)
    template = Template(ast.op(f"relax.{name}"), args, attrs, kinds, OBJECT, True)
    hide(builder, arguments(builder, choices, template, {}))


# ---------------------------------------------------------------------- names and scopes


def undefined(builder: FunctionBuilder, choices: Choices) -> None:
    hide(builder, relu(ast.Var("nowhere")))


def twice(builder: FunctionBuilder, choices: Choices) -> None:
    x = some(builder, choices, 3)
    var = hide(builder, relu(x))
    put(builder, ast.VarBinding(var, relu(x)))


def itself(builder: FunctionBuilder, choices: Choices) -> None:
    var = ast.Var(builder.name("bad"), tensor((const(3),), FLOAT))
    put(builder, ast.VarBinding(var, relu(var)))


def no_global(builder: FunctionBuilder, choices: Choices) -> None:
    hide(builder, ast.Call(ast.GlobalVar("nowhere"), ()))


def early(builder: FunctionBuilder, choices: Choices) -> None:
    later = ast.Var(builder.name("bad"), tensor((const(3),), FLOAT))
    hide(builder, relu(later))
    put(builder, ast.VarBinding(later, some(builder, choices, 3)))


def out_of_branch(builder: FunctionBuilder, choices: Choices) -> None:
    x, inside = some(builder, choices, 3), ast.Var(builder.name("bad"))
    block = ast.BindingBlock((ast.VarBinding(inside, relu(x)),))
    condition = ast.PrimValue(tir.IntImm(1, dtype("bool")))
    hide(builder, ast.If(condition, ast.SeqExpr((block,), inside), ast.SeqExpr((), x)))
    hide(builder, relu(inside))


def escapes(builder: FunctionBuilder, choices: Choices) -> None:
    local = _dataflow(builder, choices, lambda x: relu(x))
    hide(builder, relu(local))


def bound_outside(builder: FunctionBuilder, choices: Choices) -> None:
    var = ast.DataflowVar(builder.name("lv"))
    builder.body.bindings(False).append(ast.VarBinding(var, some(builder, choices, 3)))


def _dataflow(
    builder: FunctionBuilder, choices: Choices, make: Callable[[ast.Expr], ast.Expr]
) -> ast.DataflowVar:
    """A dataflow variable bound in a block of its own."""
    x = some(builder, choices, 3)
    local = ast.DataflowVar(builder.name("lv"))
    builder.body.bindings(True).append(ast.VarBinding(local, make(x)))
    return local


def branch_in_dataflow(builder: FunctionBuilder, choices: Choices) -> None:
    condition = ast.PrimValue(tir.IntImm(1, dtype("bool")))
    _dataflow(builder, choices, lambda x: ast.If(condition, ast.SeqExpr((), x), ast.SeqExpr((), x)))


def captures(builder: FunctionBuilder, choices: Choices) -> None:
    local = _dataflow(builder, choices, relu)
    inner = ast.Var(builder.name("bad"))
    block = ast.BindingBlock((ast.VarBinding(inner, relu(local)),))
    function = ast.Function((), ast.SeqExpr((block,), inner))
    builder.body.bindings(True).append(ast.VarBinding(ast.Var(builder.name("bad")), function))


def free_dimension(builder: FunctionBuilder, choices: Choices) -> None:
    hide(builder, ast.ShapeExpr((tir.Var("z"), const(2))))


def operator_as_value(builder: FunctionBuilder, choices: Choices) -> None:
    hide(builder, ast.op("relax.nn.relu"))


def annotated(info: Callable[[], ast.StructInfo]) -> Step:
    """A variable under an annotation that is wrong by itself."""

    def step(builder: FunctionBuilder, choices: Choices) -> None:
        hide(builder, some(builder, choices, 3), info())

    return step


def parameter(info: Callable[[], ast.StructInfo]) -> Step:
    """A parameter of a closure under an annotation that is wrong by itself."""

    def step(builder: FunctionBuilder, choices: Choices) -> None:
        three = threes()
        given, unused = ast.Var(builder.name("a"), three), ast.Var(builder.name("bad"), info())
        hide(builder, ast.Function((given, unused), ast.SeqExpr((), given), three))

    return step


def named(
    first: Callable[[], ast.StructInfo],
    then: Callable[[ast.Var], ast.StructInfo],
    swapped: bool = False,
) -> Step:
    """A closure of two parameters, of which the annotation of the second names the first."""

    def step(builder: FunctionBuilder, choices: Choices) -> None:
        n, annotation = tir.Var(builder.name("n")), first()
        if isinstance(annotation, ast.PrimStructInfo):
            n = tir.Var(n.name, annotation.dtype)
            annotation = ast.PrimStructInfo(n.dtype, n)
        of_tensor = isinstance(annotation, ast.TensorStructInfo)
        scalar = isinstance(annotation, ast.PrimStructInfo) or of_tensor
        one = ast.Var(n.name, annotation, shape_var=n if scalar else None)
        two = ast.Var(builder.name("bad"), then(one))
        params = (two, one) if swapped else (one, two)
        bound = () if of_tensor or not scalar else (n,)
        three = threes()
        given = ast.Var(builder.name("a"), three)
        function = ast.Function((given, *params), ast.SeqExpr((), given), three, shape_vars=bound)
        hide(builder, function)

    return step


def dimension_of(var: ast.Var) -> ast.StructInfo:
    """A tensor of as many elements as a scalar says."""
    assert var.shape_var is not None
    return ast.TensorStructInfo(ast.ShapeExpr((var.shape_var,)), FLOAT, 1)


def shape_of(var: ast.Var) -> ast.StructInfo:
    """A tensor of the shape that a variable holds."""
    return ast.TensorStructInfo(var, FLOAT, 1)


def cast_to(info: Callable[[], ast.StructInfo]) -> Step:
    """A cast to what is wrong by itself."""

    def step(builder: FunctionBuilder, choices: Choices) -> None:
        wrong = info()
        shape = isinstance(wrong, ast.ShapeStructInfo)
        value = ast.ShapeExpr((const(3),)) if shape else some(builder, choices, 3)
        unknown = hide(builder, value, OBJECT)
        put(builder, ast.MatchCast(ast.Var(builder.name("bad")), unknown, wrong))

    return step


def squeezed(builder: FunctionBuilder, choices: Choices) -> None:
    two = tir.Add(builder.shape_vars[0], const(2))
    x = builder.fresh(choices, FLOAT, (const(3), tir.interned(two)), False)
    hide(builder, ast.Call(ast.op("relax.squeeze"), (x,), {"axis": (1,)}))


def computed_axis(builder: FunctionBuilder, choices: Choices) -> None:
    size = builder.shape_vars[0]  # of numbers alone, Python would compute the axis
    attrs: dict[str, object] = {"axes": (tir.Sub(size, size),), "begin": (0,), "end": (2,)}
    hide(builder, ast.Call(ast.op("relax.strided_slice"), (some(builder, choices, 3, 4),), attrs))


def asserted(builder: FunctionBuilder, choices: Choices) -> None:
    """Put the assertion into an impure closure, where it is legal by itself."""
    x, given = some(builder, choices), ast.Var(builder.name("a"), tensor((const(3),), FLOAT))
    call = ast.Call(ast.op("relax.assert_op"), (x,), {"format": "no"})
    block = ast.BindingBlock((ast.VarBinding(ast.Var("_"), call),))
    hide(builder, ast.Function((given,), ast.SeqExpr((block,), given), None, False))


def lanes(builder: FunctionBuilder, choices: Choices) -> None:
    hide(builder, ast.PrimValue(tir.Cast(dtype("int32x4"), tir.IntImm(1))))


def without_tuple(builder: FunctionBuilder, choices: Choices) -> None:
    x = some(builder, choices, 3)
    wrapped = hide(builder, ast.Tuple((x,)))
    name = builder.module.name("tir")
    builder.module.functions[name] = prim_func(choices, [threes()], [threes()])
    hide(builder, ast.Call(ast.op("relax.call_tir"), (name, wrapped), sinfo_args=(threes(),)))


def undeclared_device(builder: FunctionBuilder, choices: Choices) -> None:
    info = tensor((const(3),), FLOAT)
    there = ast.TensorStructInfo(info.shape, FLOAT, 1, ast.VDevice("cuda", 7))
    hide(builder, some(builder, choices, 3), there)


# ---------------------------------------------------------------------- derivation


def condition(builder: FunctionBuilder, choices: Choices) -> None:
    x = some(builder, choices, 3)
    hide(builder, ast.If(x, ast.SeqExpr((), x), ast.SeqExpr((), x)))


def annotation(builder: FunctionBuilder, choices: Choices) -> None:
    hide(builder, some(builder, choices, 3), tensor((const(4),), FLOAT))


def cast(builder: FunctionBuilder, choices: Choices) -> None:
    x = some(builder, choices, 3)
    put(builder, ast.MatchCast(ast.Var(builder.name("bad")), x, tensor((const(4),), FLOAT)))


def cast_annotation(builder: FunctionBuilder, choices: Choices) -> None:
    x, one = some(builder, choices, 3), tensor((const(3),), FLOAT)
    var = ast.Var(builder.name("bad"), tensor((const(4),), FLOAT))
    put(builder, ast.MatchCast(var, x, one))


def no_tuple(builder: FunctionBuilder, choices: Choices) -> None:
    shape = hide(builder, ast.ShapeExpr((const(3),)))
    hide(builder, ast.TupleGetItem(shape, 0))


def no_field(builder: FunctionBuilder, choices: Choices) -> None:
    pair = hide(builder, ast.Tuple((some(builder, choices, 3),)))
    hide(builder, ast.TupleGetItem(pair, 2))


def no_operator(builder: FunctionBuilder, choices: Choices) -> None:
    hide(builder, ast.Call(ast.op("relax.nowhere"), (some(builder, choices, 3),)))


def no_function(builder: FunctionBuilder, choices: Choices) -> None:
    shape = hide(builder, ast.ShapeExpr((const(3),)))
    hide(builder, ast.Call(shape, ()))


def impure(builder: FunctionBuilder, choices: Choices) -> None:
    x = some(builder, choices, 3)
    call = ast.Call(ast.op("relax.print"), (x,), {"format": "{}"})
    builder.body.bindings(True).append(ast.VarBinding(ast.DataflowVar(builder.name("lv")), call))


def bindings_differ(builder: FunctionBuilder, choices: Choices) -> None:
    n = tir.Var("same")
    infos = (tensor((n,), FLOAT), tensor((n,), FLOAT))
    params = (ast.Var("a", infos[0]), ast.Var("b", infos[1]))
    function = ast.Function(params, ast.SeqExpr((), params[0]), infos[0], None, {}, (n,))
    callee = hide(builder, function)
    given = (some(builder, choices, 3), some(builder, choices, 4))
    hide(builder, ast.Call(callee, given))


def result(builder: FunctionBuilder, choices: Choices) -> None:
    info = tensor((const(3),), FLOAT)
    param = ast.Var("a", info)
    body = ast.SeqExpr((), param)
    hide(builder, ast.Function((param,), body, tensor((const(4),), FLOAT)))


def places(builder: FunctionBuilder, choices: Choices) -> None:
    builder.module.placed = True
    devices = ("llvm", 0), ("llvm", 1)
    shape = ast.ShapeExpr((const(3),))
    builder.module.devices = devices
    infos = [ast.TensorStructInfo(shape, FLOAT, 1, ast.VDevice(*d)) for d in devices]
    x, y = (builder.parameter(info, 0).expr for info in infos)
    hide(builder, ast.Call(ast.op("relax.add"), (x, y)))


def opaque_and_closure() -> ast.StructInfo:
    """A function annotation that is of both kinds."""
    return ast.FuncStructInfo((), OBJECT, True, "default")


STEPS: dict[str, Step] = {
    "WF01-escape": escapes,
    "WF01-bind": bound_outside,
    "WF02-undefined": undefined,
    "WF02-twice": twice,
    "WF02-self": itself,
    "WF02-global": no_global,
    "WF03-before": early,
    "WF03-scope": out_of_branch,
    "WF05-unbound": free_dimension,
    "WF05-dtype": named(lambda: ast.PrimStructInfo(dtype("int32")), dimension_of),
    "WF06-order": named(lambda: ast.PrimStructInfo(dtype("int64")), dimension_of, swapped=True),
    "D17-dimension": named(lambda: tensor((const(3),), FLOAT), dimension_of),
    "D17-shape": named(lambda: OBJECT, shape_of),
    "D17-rank": named(lambda: ast.ShapeStructInfo(None, 2), shape_of),
    "WF07-if": branch_in_dataflow,
    "WF09-value": operator_as_value,
    "WF10-rank": parameter(lambda: ast.TensorStructInfo(ast.ShapeExpr((const(3),)), FLOAT, 2)),
    "WF11-capture": captures,
    "WF14-unbound": annotated(lambda: tensor((tir.Var("z"),), FLOAT)),
    "WF14-expression": parameter(lambda: ast.TensorStructInfo(ast.PrimValue(const(3)), FLOAT, 1)),
    "WF14-variable": parameter(lambda: ast.TensorStructInfo(ast.Var("nowhere"), FLOAT, 1)),
    "WF14-rank": cast_to(lambda: ast.TensorStructInfo(ast.ShapeExpr((const(3),)), FLOAT, 2)),
    "WF15-unbound": annotated(lambda: ast.ShapeStructInfo((tir.Add(tir.Var("z"), const(1)),), 1)),
    "WF15-rank": cast_to(lambda: ast.ShapeStructInfo((const(3),), 2)),
    "WF16-unbound": annotated(lambda: ast.PrimStructInfo(dtype("int64"), tir.Var("z"))),
    "WF17-both": parameter(opaque_and_closure),
    "WF18-lanes": lanes,
    "WF19-dtype": parameter(lambda: ast.PrimStructInfo(dtype("handle"))),
    "WF20-handle": parameter(lambda: tensor((const(3),), dtype("handle"))),
    "WF20-lanes": parameter(lambda: tensor((const(3),), dtype("float32x4"))),
    "WF20-bits": parameter(lambda: tensor((const(3),), dtype("int7"))),
    "WF22-dtype": parameter(lambda: ast.PrimStructInfo(dtype("int32"), const(3))),
    "WF23-form": without_tuple,
    "WF24-vdevice": undeclared_device,
    "D09-condition": condition,
    "D11-annotation": annotation,
    "D11-cast": cast,
    "D11-cast-annotation": cast_annotation,
    "D12-tuple": no_tuple,
    "D12-index": no_field,
    "D14-operator": no_operator,
    "D14-callee": no_function,
    "D14-impure": impure,
    "D14-binding": bindings_differ,
    "D15-result": result,
    "OBL-squeeze-one": squeezed,
    "OBL-slices-axes": computed_axis,
    "OBL-assert-bool": asserted,
    **PRIM_CALLS,
    **FOREIGN_CALLS,
    **OPERANDS,
    "OBL-place-vdevice": places,
}
"""The step that makes each premise fail."""
