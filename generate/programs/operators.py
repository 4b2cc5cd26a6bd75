"""Steps that call operators, by their templates."""

from __future__ import annotations

from functools import cache

from rlx.checker.lowered.objects import KILLS, TENSOR
from rlx.generate.calls.pattern import (
    Given,
    MadeSlot,
    PrimSlot,
    ShapeSlot,
    Slot,
    TensorSlot,
    TupleSlot,
    element,
)
from rlx.generate.calls.template import Family, Template, literal
from rlx.generate.programs.builder import FunctionBuilder
from rlx.generate.programs.choices import Choices
from rlx.generate.programs.dims import place, place_info, variables
from rlx.generate.programs.plan import Options
from rlx.generate.programs.values import nearest
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Expr
from rlx.grammar.nodes.tir import PrimExpr
from rlx.operators.elementwise import PARTIAL
from rlx.operators.registry import families, lookup

RUNTIME = frozenset({"memory"})
"""Families of operators that programs have only late in a compilation."""
_ON_DEVICES = ("to_vdevice", "hint_on_device")
UNWRITTEN = TENSOR | {"relax.builtin.alloc_tensor"}
"""Operators that return tensors with unwritten elements."""
_UNREADABLE = ("device", "dist.", "hint_on_device")
"""The beginnings of operators whose calls TVM's text leaves out."""

Chosen = dict[PrimExpr, PrimExpr]


def of_templates(name: str) -> bool:
    """Whether calls of an operator follow from what its arguments are: not those that declare their
    result.
    """
    operator = lookup(f"relax.{name}")
    assert operator is not None
    return not any(p.kind == "types" or p.name == "func" for p in operator.parameters)


@cache
def usable(options: Options) -> tuple[str, ...]:
    """The operators that templates are made for, the plainest first."""
    if options.operators:
        return tuple(name for name in options.operators if of_templates(name))
    features = options.features
    wanted = [f for f in families() if f not in RUNTIME or "runtime" in features]
    names = [name for family in wanted for name in families()[family]]
    if "runtime" not in features:
        names = [n for n in names if not n.startswith(_UNREADABLE)]
    if "devices" not in features:
        names = [n for n in names if n not in _ON_DEVICES]
    return tuple(sorted(filter(of_templates, names), key=lambda n: n != "nn.relu"))


@cache
def family(name: str) -> Family:
    """The templates of an operator."""
    operator = lookup(f"relax.{name}")
    assert operator is not None
    return Family(operator)


def operator_call(builder: FunctionBuilder, choices: Choices) -> None:
    """A call of an operator on values that are there or can be made; none where each operator has
    an effect that the place forbids.
    """
    names = usable(builder.module.options)
    if not names:
        return
    at = choices.below(len(names))
    for name in (*names[at:], *names[:at]):
        found = family(name)
        if found.first.pure or not (builder.pure or builder.dataflow):
            bind_call(builder, choices, found)
            return


def bind_call(builder: FunctionBuilder, choices: Choices, found: Family, kept: bool = True) -> Expr:
    """Bind a call made by one of the operator's templates; nothing else uses it if not ``kept``."""
    template = _choose(builder, choices, found)
    chosen: Chosen = {}
    call = arguments(builder, choices, template, chosen)
    if "dst_vdevice" in call.attrs:
        builder.module.placed = True
    info = place_info(template.result, chosen)
    if isinstance(info, ast.TupleStructInfo) and not info.fields:
        builder.effect(call)
        return ast.Tuple(())
    made = builder.bind(choices, call, info)
    if not kept or template.operator.op_name in UNWRITTEN:
        builder.consume(made)  # a program that reads it is not right (MEM-written, MEM-alive)
    return made.expr


def _choose(builder: FunctionBuilder, choices: Choices, found: Family) -> Template:
    """A template, mostly one for a tensor that is there: calls of calls are what passes work on."""
    which, *numbers = (choices.byte() for _ in range(5))
    label = choices.byte()
    if label % 4:
        for value in nearest(builder.frame.made, label)[:_TRIED]:
            assert isinstance(value.info, ast.TensorStructInfo)
            template = found.over(value.info.dtype, value.info.ndim, which, numbers)
            if template is not None:
                return template
    return found.choose(which, numbers)


_TRIED = 4


def arguments(
    builder: FunctionBuilder, choices: Choices, template: Template, chosen: Chosen
) -> ast.Call:
    """A call by a template; ``chosen`` is what its letters stand for, and is added to."""
    args = tuple(_argument(builder, choices, slot, template, chosen) for slot in template.args)
    attrs = {
        name: slot.value
        if isinstance(slot, Given)
        else _argument(builder, choices, slot, template, chosen)
        for name, slot in template.attrs
    }
    return ast.Call(template.operator, args, attrs)


def _argument(
    builder: FunctionBuilder, choices: Choices, slot: Slot, template: Template, chosen: Chosen
) -> Expr:
    match slot:
        case TensorSlot(group=group, dims=dims):
            kind = element(group, template.kinds)
            found = builder.tensor(choices, kind, dims, chosen, _literals(template, group))
            return _inline(builder, choices, found, template)
        case TupleSlot(fields=fields):
            return ast.Tuple(
                tuple(_argument(builder, choices, f, template, chosen) for f in fields)
            )
        case ShapeSlot(dims=dims):
            return ast.ShapeExpr(tuple(_placed(builder, choices, d, chosen) for d in dims))
        case PrimSlot(value=value):
            return ast.PrimValue(_placed(builder, choices, value, chosen))
        case MadeSlot(operator=name):
            kept = template.operator.op_name not in KILLS
            return bind_call(builder, choices, family(name.removeprefix("relax.")), kept)
        case Given(value=value):
            return literal(value)


def _placed(builder: FunctionBuilder, choices: Choices, dim: PrimExpr, chosen: Chosen) -> PrimExpr:
    for var in variables(dim):
        if var not in chosen:
            chosen[var] = builder.dim(choices)
    return place(dim, chosen)


_INDICES = ("i", "j", "int32", "int64")
"""Groups of integers that may be indices."""

_NESTED = ("nn.relu", "negative", "abs")


def _literals(template: Template, group: str) -> bool:
    """Whether a constant may stand there: no index out of bounds, no zero as a divisor, no unordered
    boundaries; TVM asks for variables in some places.
    """
    name = template.operator.op_name
    if group in _INDICES or name == "relax.bucketize" or name.startswith("relax.grad."):
        return False
    return not (name in PARTIAL and element(group, template.kinds).is_integer)


def _may_stand_around(name: str) -> bool:
    """Whether the arguments of an operator may be calls: those that work element by element."""
    return name.removeprefix("relax.") in families()["elementwise"]


def _inline(builder: FunctionBuilder, choices: Choices, found: Expr, template: Template) -> Expr:
    """An argument, sometimes with a call around it: programs need not be in normal form."""
    options = builder.module.options
    if not _may_stand_around(template.operator.op_name) or not choices.one_in(16):
        return found
    if options.operators or "nested" not in options.features:
        return found
    info = next((v.info for v in builder.frame.order if v.expr is found), None)
    if not isinstance(info, ast.TensorStructInfo) or not info.dtype.is_float:
        return found
    return ast.Call(ast.op(f"relax.{choices.pick(_NESTED)}"), (found,))


def any_value(builder: FunctionBuilder, choices: Choices) -> Expr:
    """Some value in scope, a scalar if there is none."""
    values = builder.frame.order
    if not values:
        return ast.PrimValue(tir.IntImm(choices.below(8)))
    return nearest(values, choices.byte())[0].expr
