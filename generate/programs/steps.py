"""The kinds of steps, and their frequencies."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from rlx.generate.programs import external_calls, scopes
from rlx.generate.programs.builder import FunctionBuilder
from rlx.generate.programs.choices import Choices
from rlx.generate.programs.dims import known_dims
from rlx.generate.programs.lowered import ranked, run_time_calls
from rlx.generate.programs.operators import any_value, operator_call
from rlx.generate.programs.plan import Options
from rlx.generate.programs.values import KnownValue, nearest
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import VOID, dtype
from rlx.grammar.nodes.struct_infos import OBJECT

Step = Callable[[FunctionBuilder, Choices], None]
EXTERNAL = ast.FuncStructInfo(None, OBJECT, False, "default")
_WRITTEN = (
    ast.FuncStructInfo(None, OBJECT, True, "default"),
    ast.FuncStructInfo(None, OBJECT, False, "empty"),
    ast.FuncStructInfo(None, ast.TensorStructInfo(None, dtype("float32"), 1)),
)
"""Types that a text may declare for a packed function."""


def step(builder: FunctionBuilder, choices: Choices) -> None:
    """Add to a function what a record says."""
    choices.pick(_table(builder.module.options))(builder, choices)


@cache
def _table(options: Options) -> tuple[Step, ...]:
    """The steps that the options allow, each as often as its weight, the plainest first."""
    allowed = [(w, s) for w, feature, s in STEPS if not feature or feature in options.features]
    return tuple(s for weight, s in allowed for _ in range(weight))


def cast(builder: FunctionBuilder, choices: Choices) -> None:
    """A cast to what is true of a value, with new shape variables for some dimensions."""
    values = [
        v
        for key in ("loose", "shape", "object")
        for v in builder.frame.of(key)
        if known_dims(v.truth) is not None or getattr(v.info, "ndim", -1) >= 0
    ]
    values += [v for v in builder.frame.order if v.dims and v not in values]
    if not values:
        operator_call(builder, choices)
        return
    value = nearest(values, choices.byte())[0]
    fresh: list[tir.Var] = []
    dims = known_dims(value.truth)
    if dims is None:
        dims = tuple(_fresh(builder, fresh) for _ in range(getattr(value.info, "ndim", 0)))
    else:
        dims = tuple(_fresh(builder, fresh) if choices.one_in(3) else d for d in dims)
    builder.cast(choices, value, _with(value, dims), fresh)


def _fresh(builder: FunctionBuilder, fresh: list[tir.Var]) -> tir.PrimExpr:
    fresh.append(tir.Var(builder.name("c")))
    return fresh[-1]


def _with(value: KnownValue, dims: tuple[tir.PrimExpr, ...]) -> ast.StructInfo:
    if isinstance(value.truth, ast.TensorStructInfo):
        return ast.TensorStructInfo(ast.ShapeExpr(dims), value.truth.dtype, len(dims))
    return ast.ShapeStructInfo(dims, len(dims))


def loose(builder: FunctionBuilder, choices: Choices) -> None:
    """A value under an annotation that says less."""
    values = builder.frame.order
    if not values:
        operator_call(builder, choices)
        return
    value = nearest(values, choices.byte())[0]
    less = _less(choices, value.info)
    builder.bind(choices, value.expr, value.info, less, value.truth)


def _less(choices: Choices, info: ast.StructInfo) -> ast.StructInfo:
    choice = choices.below(4)
    match info:
        case ast.TensorStructInfo(dtype=kind, ndim=ndim) if choice < 3:
            return (
                ast.TensorStructInfo(None, kind, ndim),
                ast.TensorStructInfo(None, VOID, ndim),
                ast.TensorStructInfo(None, kind, -1),
            )[choice]
        case ast.ShapeStructInfo(ndim=ndim) if choice < 2:
            return ast.ShapeStructInfo(None, ndim)
        case ast.PrimStructInfo(dtype=kind) if choice < 2:
            return ast.PrimStructInfo(kind)
        case ast.TupleStructInfo(fields=fields) if choice < 3:
            return ast.TupleStructInfo(tuple(_less(choices, f) for f in fields))
    return OBJECT


def make_tuple(builder: FunctionBuilder, choices: Choices) -> None:
    """A tuple of values, or a field of one."""
    tuples = builder.frame.of("tuple")
    if tuples and not choices.one_in(3):
        value = nearest(tuples, choices.byte())[0]
        assert isinstance(value.info, ast.TupleStructInfo)
        if value.info.fields:
            index = choices.below(len(value.info.fields))
            info = value.info.fields[index]
            truth = (
                value.truth.fields[index] if isinstance(value.truth, ast.TupleStructInfo) else info
            )
            builder.bind(choices, ast.TupleGetItem(value.expr, index), info, None, truth)
            return
    values = [v for v in builder.frame.order if not isinstance(v.info, ast.FuncStructInfo)]
    if not values:
        operator_call(builder, choices)
        return
    chosen = [nearest(values, choices.byte())[0] for _ in range(1 + choices.below(3))]
    builder.bind(
        choices,
        ast.Tuple(tuple(v.expr for v in chosen)),
        ast.TupleStructInfo(tuple(v.info for v in chosen)),
        None,
        ast.TupleStructInfo(tuple(v.truth for v in chosen)),
    )


def leaf(builder: FunctionBuilder, choices: Choices) -> None:
    """A shape, a scalar, a string or a data type under a name."""
    scalars = "scalars" in builder.module.options.features
    match choices.below(5):
        case 0:
            dims = tuple(builder.dim(choices) for _ in range(1 + choices.below(3)))
            builder.bind(choices, ast.ShapeExpr(dims), ast.ShapeStructInfo(dims, len(dims)))
        case 1 if scalars:
            dim = builder.dim(choices)
            builder.bind(choices, ast.PrimValue(dim), ast.PrimStructInfo(tir.type_of(dim), dim))
        case 2 if scalars:
            builder.bind(choices, ast.StringImm(choices.pick(("a", "", "λ"))), OBJECT)
        case 3 if not builder.dataflow:
            name = choices.pick(("test.same", "test.first"))
            rare = "rare" in builder.module.options.features
            info = choices.pick(_WRITTEN) if rare and choices.one_in(2) else None
            builder.bind(choices, ast.ExternFunc(name, info), info or EXTERNAL)
        case _ if scalars:
            kind = choices.pick(("float32", "int8", "bool"))
            builder.bind(choices, ast.DataTypeImm(dtype(kind)), OBJECT)
        case _:
            operator_call(builder, choices)


def alias(builder: FunctionBuilder, choices: Choices) -> None:
    """Another name for a value."""
    values = builder.frame.order
    if not values:
        operator_call(builder, choices)
        return
    value = nearest(values, choices.byte())[0]
    builder.bind(choices, value.expr, value.info, None, value.truth)


def effect(builder: FunctionBuilder, choices: Choices) -> None:
    """A call that has an effect, where that is allowed."""
    if builder.pure or builder.dataflow:
        operator_call(builder, choices)
        return
    if choices.one_in(2):
        return external_calls.call_packed(builder, choices)
    if choices.one_in(4):
        value = ranked(builder, choices)
        if value is not None:
            return run_time_calls(builder, choices, value)
    values = tuple(any_value(builder, choices) for _ in range(1 + choices.below(2)))
    builder.effect(ast.Call(ast.op("relax.print"), values, {"format": "{}" * len(values)}))


STEPS: tuple[tuple[int, str, Step], ...] = (
    (30, "", operator_call),
    (4, "tuples", make_tuple),
    (4, "match_cast", cast),
    (3, "loose", loose),
    (2, "", leaf),
    (1, "", alias),
    (4, "dataflow", scopes.dataflow),
    (3, "if", scopes.branches),
    (1, "if", scopes.joined),
    (3, "closures", scopes.closure),
    (3, "closures", scopes.call_function),
    (1, "higher_order", scopes.higher_order),
    (1, "closures", external_calls.closures_of_operators),
    (4, "call_tir", external_calls.call_tir),
    (2, "inplace", external_calls.call_tir_inplace),
    (2, "packed", external_calls.packed),
    (3, "impure", effect),
)
"""Weight, the feature that allows it, and the step."""
