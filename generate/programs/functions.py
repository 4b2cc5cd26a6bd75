"""Whole functions: their parameters, their results, and recursion."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from rlx.generate.programs.builder import Body, Callee, FunctionBuilder, ModuleBuilder
from rlx.generate.programs.choices import Choices
from rlx.generate.programs.dims import free, known_dims, variables, visible
from rlx.generate.programs.values import KnownValue, nearest
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import dtype
from rlx.grammar.nodes.rewrite import Rewriter
from rlx.grammar.nodes.struct_infos import OBJECT
from rlx.grammar.nodes.visit import expressions

# ---------------------------------------------------------------- mentioned shape variables


def mentioned(body: Body) -> set[tir.Var]:
    """The shape variables of all expressions and annotations of a body."""
    found: set[tir.Var] = set()
    for _, bindings in body.blocks:
        for binding in bindings:
            for value in expressions(binding.value):
                _expression(value, found)
            found |= _of_binding(binding)
    return found


def _of_binding(binding: ast.Binding) -> set[tir.Var]:
    found: set[tir.Var] = set()
    if isinstance(binding, ast.MatchCast):
        found |= free(binding.struct_info) - set(binding.shape_vars)
    var = getattr(binding, "var", None)
    if var is not None and var.struct_info_annotation is not None:
        found |= free(var.struct_info_annotation)
    return found


def _expression(value: ast.Expr, found: set[tir.Var]) -> None:
    for prim in _prims(value):
        found.update(variables(prim))
    match value:
        case ast.Call(sinfo_args=infos) if infos:
            for info in infos:
                found |= free(info)
        case ast.SeqExpr(blocks=blocks):
            for block in blocks:
                for binding in block.bindings:
                    found |= _of_binding(binding)
        case ast.Function(params=params, shape_vars=own):
            for param in params:
                if param.struct_info_annotation is not None:
                    found |= free(param.struct_info_annotation) - set(own)


def _prims(value: ast.Expr) -> Iterator[tir.PrimExpr]:
    match value:
        case ast.ShapeExpr(values=values):
            yield from values
        case ast.PrimValue(value=prim):
            yield prim


_KINDS = ("float32", "int64", "float16")


Extra = tuple[int, Callable[[FunctionBuilder, Choices], None]]


def main(
    module: ModuleBuilder, head: Choices, steps: Sequence[bytes], extra: Extra | None = None
) -> None:
    """The function that is entered."""
    builder = FunctionBuilder(module, steps, head)
    if extra is not None:
        builder.take(extra[0])
        extra[1](builder, head)
    builder.take(len(steps))
    name = ast.GlobalVar("main")
    module.functions[name] = finished(builder, head, {"global_symbol": "main"})


def helper(module: ModuleBuilder, head: Choices, steps: Sequence[bytes]) -> None:
    """A function, or two that call each other, for the functions behind it to call."""
    features = module.options.features
    choice = head.below(8)
    if choice == 6 and {"recursion", "symbolic", "if"} <= features:
        recursive(module, head, steps, 1)
    elif choice == 7 and {"mutual", "recursion", "symbolic", "if"} <= features:
        recursive(module, head, steps, 2)
    else:
        builder = FunctionBuilder(module, steps, head)
        builder.take(len(steps))
        name = module.name("f")
        function = finished(builder, head, {"private": True})
        module.functions[name] = function
        publish(module, name, function)


def publish(module: ModuleBuilder, name: ast.GlobalVar, function: ast.Function) -> None:
    """Let later functions call this one."""
    params = tuple(p.struct_info_annotation or OBJECT for p in function.params)
    ret = function.ret_struct_info
    assert ret is not None
    pure = function.is_pure is not False
    module.callees.append(Callee(name, function.shape_vars, params, ret, pure))


def finished(builder: FunctionBuilder, head: Choices, attrs: dict[str, object]) -> ast.Function:
    """The function that has been built, with a result chosen from its values."""
    expr, info = result(builder, head)
    ret = visible(info, set(builder.shape_vars))
    used = _mentioned(builder)
    binders = tuple(v for v in builder.shape_vars if v in used)
    entry = "global_symbol" in attrs
    params = (*_binding_parameter(builder, head, binders, entry), *builder.params)
    # What the result says is the callers' only knowledge; `main` has no callers.
    written = None if "global_symbol" in attrs and head.one_in(4) else ret
    pure = None if builder.pure else False
    body = _Scalars(params).expr(builder.body.sequence(expr))
    return ast.Function(params, body, written, pure, attrs, binders)


class _Scalars(Rewriter):
    """Puts a scalar parameter where its number stands as a value: a text says the same of both."""

    def __init__(self, params: Sequence[ast.Var]) -> None:
        super().__init__()
        self.scalars = {p.shape_var: p for p in params if p.shape_var is not None}

    def prim_value(self, expr: ast.PrimValue) -> ast.Expr:
        """A boxed scalar."""
        found = self.scalars.get(expr.value) if isinstance(expr.value, tir.Var) else None
        return expr if found is None else found


def result(builder: FunctionBuilder, head: Choices) -> tuple[ast.Expr, ast.StructInfo]:
    """The result of a function or a branch: a value, or a tuple of some."""
    values = [v for v in builder.frame.order if not v.local]
    if not values:
        kind = dtype(head.pick(_KINDS))
        expr = builder.tensor(head, kind, (builder.dim(head),), {})
        values = [v for v in builder.frame.order if v.expr is expr]
    if not values:
        return ast.Tuple(()), ast.TupleStructInfo(())
    count = head.below(3)
    if not count or "tuples" not in builder.module.options.features:
        return values[-1].expr, values[-1].info
    chosen: list[KnownValue] = [values[-1]]
    chosen += [nearest(values, head.byte())[0] for _ in range(count)]
    return ast.Tuple(tuple(v.expr for v in chosen)), ast.TupleStructInfo(
        tuple(v.info for v in chosen)
    )


def _mentioned(builder: FunctionBuilder) -> set[tir.Var]:
    """The shape variables of the function that its parameters or its body mention."""
    params = {v for p in builder.params for v in free(p.struct_info_annotation or OBJECT)}
    return params | mentioned(builder.body)


def _binding_parameter(
    builder: FunctionBuilder, head: Choices, binders: Sequence[tir.Var], entry: bool
) -> tuple[ast.Var, ...]:
    """A parameter that binds those shape variables which no other one binds where it first
    occurs.
    """
    missing = list(binders)
    for param in builder.params:
        info = param.struct_info_annotation
        values = None if info is None else known_dims(info)
        alone = tuple(d for d in values or () if isinstance(d, tir.Var))
        others = free(info or OBJECT) - set(alone)
        missing = [v for v in missing if v not in alone or v in others]
        if others & set(missing):
            break
    if not missing:
        return ()
    dims = tuple(missing)
    scalars = "scalars" in builder.module.options.features
    if scalars and entry and head.one_in(3):
        # Not in functions that are called: TVM 0.27 leaves the callee's names in what it infers.
        return tuple(ast.Var(v.name, ast.PrimStructInfo(v.dtype, v), shape_var=v) for v in dims)
    if head.one_in(3):
        return (
            ast.Var(
                builder.name("p"),
                ast.TensorStructInfo(ast.ShapeExpr(dims), dtype("float32"), len(dims)),
            ),
        )
    return (ast.Var(builder.name("s"), ast.ShapeStructInfo(dims, len(dims))),)


def recursive(module: ModuleBuilder, head: Choices, steps: Sequence[bytes], count: int) -> None:
    """Functions that call each other in a circle, with a shape for fuel: ``n`` goes down to 0."""
    names = [module.name("loop") for _ in range(count)]
    rank = head.below(3)
    kind = dtype(head.pick(_KINDS))
    third = max(1, len(steps) // count)
    for number, name in enumerate(names):
        part = steps[number * third : (number + 1) * third]
        builder = FunctionBuilder(module, part, head, grows=False)
        builder.pure = True
        n, m, _ = builder.shape_vars
        builder.shape_vars = binders = (n, m) if rank else (n,)
        fuel = ast.ShapeStructInfo((n,), 1)
        dims = (m, tir.interned(tir.IntImm(4)))[:rank]
        builder.frame.dims = [d for d in builder.frame.dims if {n, *dims}.issuperset(variables(d))]
        info = ast.TensorStructInfo(ast.ShapeExpr(dims), kind, len(dims))
        params = [builder.parameter(fuel, 0), builder.parameter(info, 0)]
        other = names[(number + 1) % count]
        value = _loop(builder, head, other, n, info, params[1].expr)
        body = builder.body.sequence(value)
        function = ast.Function(tuple(builder.params), body, info, None, {"private": True}, binders)
        module.functions[name] = function
    for name in names:
        made = module.functions[name]
        assert isinstance(made, ast.Function)
        publish(module, name, made)


def _loop(
    builder: FunctionBuilder,
    head: Choices,
    callee: ast.GlobalVar,
    n: tir.Var,
    info: ast.TensorStructInfo,
    start: ast.Expr,
) -> ast.Expr:
    """``if n > 0: …; callee(n - 1, x) else: x``"""
    condition = ast.PrimValue(tir.GT(n, tir.IntImm(0)))
    outer = builder.enter()
    builder.take(len(builder.queue))
    fuel = ast.ShapeExpr((tir.interned(tir.Sub(n, tir.IntImm(1))),))
    again = ast.Call(callee, (fuel, builder.found(head, info)))
    value = builder.bind(head, again, info)
    then = builder.leave(outer, value.expr)
    otherwise = ast.SeqExpr((), start)
    return builder.bind(head, ast.If(condition, then, otherwise), info).expr
