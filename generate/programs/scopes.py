"""Steps that open scopes: dataflow blocks, branches, closures; and calls of functions."""

from __future__ import annotations

from rlx.generate.programs.builder import FunctionBuilder
from rlx.generate.programs.choices import Choices
from rlx.generate.programs.dims import free, place_info, tensor, visible
from rlx.generate.programs.operators import operator_call
from rlx.generate.programs.values import KnownValue, nearest
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import dtype
from rlx.grammar.nodes.tir import PrimExpr
from rlx.solver import Prover
from rlx.solver.order import lub

_DEEP = 2
_PROVER = Prover()
_KINDS = ("float32", "int64", "float16")


def dataflow(builder: FunctionBuilder, choices: Choices) -> None:
    """A dataflow block of the next steps; the last of them is put out."""
    if builder.dataflow:
        operator_call(builder, choices)
        return
    builder.dataflow = True
    for left in range(choices.below(4), -1, -1):
        builder.output = left == 0 or choices.one_in(4)
        if builder.at < len(builder.queue) and left:
            builder.take(1)
        elif not left:
            operator_call(builder, choices)
    builder.dataflow = builder.output = False
    builder.frame.end_dataflow()


def branches(builder: FunctionBuilder, choices: Choices) -> None:
    """An If; both branches yield a tensor, of one shape or only of one rank."""
    if builder.dataflow or builder.depth >= _DEEP:
        operator_call(builder, choices)
        return
    condition = builder.condition(choices)
    kind = dtype(choices.pick(_KINDS))
    dims = tuple(builder.dim(choices) for _ in range(choices.below(3)))
    info = tensor(dims, kind)
    alike = not choices.one_in(4)
    sequences: list[ast.SeqExpr] = []
    for _ in range(2):
        outer = builder.enter()
        builder.take(choices.below(3))
        expr = builder.found(choices, info)
        if not alike:
            values = builder.frame.of((kind, len(dims)))
            if values:
                expr = nearest(values, choices.byte())[0].expr
        sequences.append(builder.leave(outer, expr))
    whole = info if alike else ast.TensorStructInfo(None, kind, len(dims))
    builder.bind(choices, ast.If(condition, sequences[0], sequences[1]), whole)


def joined(builder: FunctionBuilder, choices: Choices) -> None:
    """An If between two values, alike if possible; its struct info is their least upper bound."""
    values = builder.frame.order
    if builder.dataflow or not values:
        operator_call(builder, choices)
        return
    condition = builder.condition(choices)
    one = nearest(builder.frame.order, choices.byte())[0]
    alike = [v for v in values if type(v.info) is type(one.info) and v is not one]
    other = nearest(alike or values, choices.byte())[0]
    whole = lub(one.info, other.info, _PROVER)
    branch, otherwise = (ast.SeqExpr((), v.expr) for v in (one, other))
    builder.bind(choices, ast.If(condition, branch, otherwise), whole)


def closure(builder: FunctionBuilder, choices: Choices) -> None:
    """A function literal of the next steps."""
    if builder.dataflow or builder.depth >= _DEEP:
        operator_call(builder, choices)
        return
    own: tuple[tir.Var, ...] = ()
    if "symbolic" in builder.module.options.features and choices.one_in(3):
        own = (tir.Var(builder.name("d")),)
    dims = (*own, *(builder.dim(choices) for _ in range(choices.below(3))))
    params = [tensor(dims, dtype(choices.pick(_KINDS)))]
    if choices.one_in(3):
        params.append(tensor(dims, dtype("float32")))
    make_closure(builder, choices, own, params, None, choices.below(4))


def make_closure(
    builder: FunctionBuilder,
    choices: Choices,
    own: tuple[tir.Var, ...],
    params: list[ast.TensorStructInfo],
    wanted: ast.TensorStructInfo | None,
    steps: int,
) -> KnownValue:
    """Bind a function literal; ``wanted`` is the result it must have."""
    outer, pure = builder.enter(), builder.pure
    builder.pure = True
    builder.frame.dims += own
    variables = tuple(ast.Var(builder.name("a"), info) for info in params)
    for var, info in zip(variables, params, strict=True):
        builder.add(choices.byte(), var, info, info)
    outside = builder.frames[-2]
    builder.take(steps)
    expr, yielded = _result(builder, choices, wanted)
    inner = set(builder.frame.dims) - set(outside.dims) - set(own)
    seen = {v for v in free(yielded) if v not in inner}
    ret = visible(yielded, seen)
    builder.pure = pure
    body = builder.leave(outer, expr)
    function = ast.Function(variables, body, ret, None, {}, own)
    var = ast.Var(builder.name("fn"))
    builder.body.bindings(False).append(ast.VarBinding(var, function))
    typed = ast.FuncStructInfo(tuple(params), ret, True, None, own)
    return builder.add(choices.byte(), var, typed, typed)


def _result(
    builder: FunctionBuilder, choices: Choices, wanted: ast.TensorStructInfo | None
) -> tuple[ast.Expr, ast.StructInfo]:
    if wanted is not None:
        return builder.found(choices, wanted), wanted
    values = [v for v in builder.frame.order if isinstance(v.info, ast.TensorStructInfo)]
    return values[-1].expr, values[-1].info


def call_function(builder: FunctionBuilder, choices: Choices) -> None:
    """A call of a closure, or of a function of the module."""
    closures = builder.frame.of("function")
    callees = [
        c for c in builder.module.callees if c.pure or not (builder.pure or builder.dataflow)
    ]
    if closures and (not callees or choices.one_in(2)):
        value = nearest(closures, choices.byte())[0]
        if isinstance(value.info, ast.FuncStructInfo) and value.info.params is not None:
            _call(builder, choices, value.expr, value.info)
            return
    if not callees:
        operator_call(builder, choices)
        return
    callee = choices.pick(callees)
    info = ast.FuncStructInfo(callee.params, callee.ret, callee.pure, None, callee.binders)
    _call(builder, choices, callee.name, info)


def _call(
    builder: FunctionBuilder, choices: Choices, callee: ast.Expr, info: ast.FuncStructInfo
) -> None:
    chosen: dict[PrimExpr, PrimExpr] = {v: builder.dim(choices) for v in info.binders}
    args, ret = arguments(builder, choices, info, chosen)
    builder.bind(choices, ast.Call(callee, args), ret)


def arguments(
    builder: FunctionBuilder,
    choices: Choices,
    info: ast.FuncStructInfo,
    chosen: dict[PrimExpr, PrimExpr],
) -> tuple[tuple[ast.Expr, ...], ast.StructInfo]:
    """Arguments for a call, and its struct info."""
    placed = [place_info(p, chosen) for p in info.params or ()]
    args = tuple(builder.expression(choices, p) for p in placed)
    return args, place_info(info.ret, chosen)


def higher_order(builder: FunctionBuilder, choices: Choices) -> None:
    """A closure that is given to a function of the module, which calls it twice."""
    if builder.dataflow or builder.depth >= _DEEP:
        operator_call(builder, choices)
        return
    info = tensor(tuple(builder.dim(choices) for _ in range(choices.below(3))), dtype("float32"))
    name = _twice(builder, choices, info.ndim)
    given = make_closure(builder, choices, (), [info], info, choices.below(3))
    call = ast.Call(name, (given.expr, builder.found(choices, info)))
    builder.bind(choices, call, info)


def _twice(builder: FunctionBuilder, choices: Choices, rank: int) -> ast.GlobalVar:
    """A function that takes a closure; its shape variables are bound by the tensor that it takes
    first.
    """
    name = builder.module.name("twice")
    dims = tuple(tir.Var(hint) for hint in "nmk"[:rank])
    info = tensor(dims, dtype("float32"))
    x, f = ast.Var("x", info), ast.Var("f", ast.FuncStructInfo((info,), info))
    once, again = ast.Var("once"), ast.Var("again")
    bindings = (
        ast.VarBinding(once, ast.Call(f, (x,))),
        ast.VarBinding(again, ast.Call(f, (once,))),
    )
    body = ast.SeqExpr((ast.BindingBlock(bindings),), again)
    function = ast.Function((f, x), body, info, None, {"private": True}, dims)
    builder.module.functions[name] = function
    return name
