"""Extraction of the part of a function that computes the shape of its result from shapes only."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from rlx.checker.normalize import normalize_function
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import Expr, GlobalVar, ShapeStructInfo, StructInfo, TensorStructInfo
from rlx.grammar.nodes.node import Record, replace
from rlx.grammar.nodes.rewrite import Rewriter
from rlx.grammar.nodes.struct_infos import OBJECT, held_shape
from rlx.grammar.nodes.visit import bindings, expressions
from rlx.grammar.stack import recursion_room
from rlx.operators.registry import lookup
from rlx.solver.order import free_shape_vars
from rlx.solver.order.substitute import dimensions
from rlx.transform.arguments import operands
from rlx.transform.builder.builder import BlockBuilder


class ShapeFunction(Record):
    """A function that computes the shape of another function's result.

    Attributes
    ----------
    function
        The function; its parameters are the shapes of parameters of the other function.
    positions
        The positions of these parameters in the other function.
    result
        The struct info of the other function's result, without the shape.
    """

    function: ast.Function | GlobalVar
    positions: tuple[int, ...]
    result: TensorStructInfo

    def added_to(self, builder: BlockBuilder, gv: GlobalVar) -> ShapeFunction:
        """Add the function to a module; return it with its name there."""
        assert isinstance(self.function, ast.Function)
        name = builder.add_func(self.function, f"{gv.name_hint}_shape")
        return replace(self, function=name)

    def called(self, builder: BlockBuilder, args: Sequence[Expr]) -> StructInfo | None:
        """Emit a call for these arguments of the other function; return the struct info of the
        result.
        """
        from rlx.transform.op import shape_of

        shapes = []
        for at in self.positions:
            info = builder.struct_info(args[at])
            shapes.append(
                args[at] if isinstance(info, ShapeStructInfo) else builder.emit(shape_of(args[at]))
            )
        shape = builder.emit(self.function(*shapes), "shape")
        found = self.result
        return TensorStructInfo(shape, found.dtype, found.ndim, found.vdevice)


def shape_function(function: ast.Function) -> ShapeFunction | None:
    """The computation of the shape of a function's result; None if the result is not a variable or
    its shape depends on more than shapes.
    """
    function = normalize_function(function)
    body = function.body
    assert isinstance(body, ast.SeqExpr)
    values = {b.var: b for b in bindings(function) if isinstance(b, ast.VarBinding)}
    found = _shape_of_result(body, values)
    if found is None:
        return None
    shape, result = found
    params = {param: at for at, param in enumerate(function.params)}
    needed = _slice(shape, values, params)
    if needed is None:
        return None
    kept = [b for block in body.blocks for b in block.bindings if b in needed]
    return _made(function, shape, result, [b for b in kept if isinstance(b, ast.VarBinding)])


def written_shape(builder: BlockBuilder, function: ast.Function) -> ShapeFunction | None:
    """The computation of the shape of a function's result from dimensions that its signature and
    casts of its parameters bind; None if the shape has others.
    """
    function = normalize_function(function)
    body = function.body
    assert isinstance(body, ast.SeqExpr)
    result = _info_of_result(builder, function)
    if not isinstance(result, TensorStructInfo) or not isinstance(result.shape, ast.ShapeExpr):
        return None
    origin = {param: param for param in function.params}
    shapes = {p: made for p in function.params if (made := _shape_parameter(p)) is not None}
    known = set(function.shape_vars)
    casts: list[ast.Binding] = []
    for binding in (b for block in body.blocks for b in block.bindings):
        assert isinstance(binding, ast.VarBinding | ast.MatchCast)
        param = origin.get(binding.value) if isinstance(binding.value, ast.Var) else None
        if param is None:
            continue
        if binding.var is not None:
            origin[binding.var] = param
        target = _shape_in(binding.struct_info) if isinstance(binding, ast.MatchCast) else None
        if isinstance(binding, ast.MatchCast) and target is not None and param in shapes:
            bound = known | set(binding.shape_vars)
            if bound.issuperset(free_shape_vars(target)):
                known = bound
                var = ast.Var(f"{param.name_hint}_dims", target)
                casts.append(ast.MatchCast(var, shapes[param], target, binding.shape_vars))
    if not known.issuperset(free_shape_vars(result)):
        return None
    computed = replace(
        function,
        params=tuple(shapes.values()),
        body=ast.SeqExpr((ast.BindingBlock(tuple(casts)),), result.shape),
        ret_struct_info=None,
        attrs={"private": True},
    )
    positions = tuple(at for at, param in enumerate(function.params) if param in shapes)
    return ShapeFunction(computed, positions, result)


def _info_of_result(builder: BlockBuilder, function: ast.Function) -> StructInfo | None:
    """The struct info of a result inside its function."""
    body = function.body
    assert isinstance(body, ast.SeqExpr)
    state = builder.derivation()
    outer = state.enter()
    state.bind_shape_vars(function.shape_vars)
    for param in function.params:
        state.bind(param, param.struct_info_annotation or OBJECT)
    with recursion_room():
        state.info(body)
    state.leave(outer)
    return state.info_of.get(body.body)


def _shape_in(info: StructInfo) -> ShapeStructInfo | None:
    """The shape that a cast asks for."""
    match info:
        case ShapeStructInfo(values=tuple()):
            return info
        case TensorStructInfo(shape=ast.ShapeExpr(values=values)):
            return ShapeStructInfo(values, len(values))
    return None


def _shape_of_result(
    body: ast.SeqExpr, values: dict[ast.Var, ast.VarBinding]
) -> tuple[ast.Var, TensorStructInfo] | None:
    """The variable that holds the shape of the result, and what else is known of that."""
    leaf = body.body
    while isinstance(leaf, ast.Var):
        infos: list[StructInfo] = []
        if leaf.struct_info_annotation is not None:
            infos.append(leaf.struct_info_annotation)
        value = values[leaf].value if leaf in values else None
        if isinstance(value, ast.Call):
            infos += value.sinfo_args
        for info in infos:
            shape = held_shape(info)
            if shape is not None and isinstance(info, TensorStructInfo):
                return shape, info
        if not isinstance(value, ast.Var):
            break
        leaf = value
    return None


def _slice(
    shape: ast.Var, values: dict[ast.Var, ast.VarBinding], params: dict[ast.Var, int]
) -> set[ast.Binding] | None:
    """The bindings that a shape needs; None where one of them needs the elements of a tensor, or
    may have effects.
    """
    needed: set[ast.Binding] = set()
    stack = [shape]
    while stack:
        var = stack.pop()
        if var in params:
            if not isinstance(var.struct_info_annotation, ShapeStructInfo):
                return None
            continue
        binding = values.get(var)
        if binding is None or not _of_shapes(binding.value):
            return None
        if binding not in needed and not _asks_shape(binding.value, params):
            stack += [e for e in expressions(binding.value) if isinstance(e, ast.Var)]
        needed.add(binding)
    return needed


def _asks_shape(value: Expr, params: Collection[ast.Var]) -> bool:
    """Whether it is the shape of a parameter."""
    if isinstance(value, ast.Call) and value.op_name == "relax.shape_of":
        return operands(value)[0] in params
    return False


def _of_shapes(value: Expr) -> bool:
    if not isinstance(value, ast.Call):
        return isinstance(
            value, ast.Var | ast.ShapeExpr | ast.PrimValue | ast.Tuple | ast.TupleGetItem
        )
    operator = lookup(value.op_name)
    return operator is not None and operator.pure


def _made(
    function: ast.Function, shape: ast.Var, result: TensorStructInfo, kept: list[ast.VarBinding]
) -> ShapeFunction:
    renamed: dict[ast.Var, ast.Var] = {}
    positions: list[int] = []
    params: list[ast.Var] = []
    for at, param in enumerate(function.params):
        made = _shape_parameter(param)
        if made is not None:
            renamed[param] = made
            positions.append(at)
            params.append(made)
    change = _OfShapes(renamed)
    block = ast.BindingBlock(tuple(b for binding in kept for b in change.var_binding(binding)))
    body = ast.SeqExpr((block,), change.expr(shape))
    made_function = replace(
        function,
        params=tuple(params),
        body=body,
        ret_struct_info=None,
        attrs={"private": True},
    )
    return ShapeFunction(made_function, tuple(positions), result)


def _shape_parameter(param: ast.Var) -> ast.Var | None:
    """The parameter for the shape of another one, if that has one."""
    match param.struct_info_annotation:
        case ShapeStructInfo() as info:
            return ast.Var(param.name_hint, info)
        case TensorStructInfo() as info:
            dims = dimensions(info)
            ndim = info.ndim if dims is None else len(dims)
            return ast.Var(f"{param.name_hint}_shape", ShapeStructInfo(dims, ndim))
    return None


class _OfShapes(Rewriter):
    """Bindings in which the shape of a parameter is a parameter."""

    def __init__(self, shapes: dict[ast.Var, ast.Var]) -> None:
        super().__init__()
        self._shapes = shapes

    def define(self, var: ast.Var) -> ast.Var:
        made = ast.Var(var.name_hint, var.struct_info_annotation)
        self.renamed[var] = made
        return made

    def var(self, var: ast.Var) -> Expr:
        return self._shapes.get(var) or self.renamed.get(var, var)

    def call(self, call: ast.Call) -> Expr:
        if _asks_shape(call, self._shapes):
            (tensor,) = operands(call)
            return self._shapes[tensor]  # type: ignore[index]
        return super().call(call)
