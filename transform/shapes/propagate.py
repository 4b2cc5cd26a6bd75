"""Shape propagation from callees to callers, by substitution and by functions that compute only
shapes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from rlx.checker.normalize import normalize_function
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import (
    Expr,
    GlobalVar,
    IRModule,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
)
from rlx.grammar.nodes.node import Record, changed, replace
from rlx.grammar.nodes.rewrite import Rewriter
from rlx.grammar.nodes.struct_infos import OBJECT, held_shape, of_the_value
from rlx.grammar.nodes.visit import bindings, called_globals, callees_first, expressions
from rlx.grammar.stack import recursion_room
from rlx.operators.registry import lookup
from rlx.solver.order import bind, compatibility, erase, free_shape_vars, free_vars, substitute
from rlx.solver.order.substitute import dimensions
from rlx.transform.arguments import operands
from rlx.transform.builder.builder import BlockBuilder
from rlx.transform.visitors.mutator import ExprMutator

# Extraction of the part of a function that computes the shape of its result from shapes only.


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
    """What is known of a result inside its function."""
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


# The result of a function for arguments that are more precise than its signature.


def is_open(info: StructInfo) -> bool:
    """Whether a shape, a rank or an element type is unknown."""
    for part in of_the_value(info):
        match part:
            case TensorStructInfo(dtype=dtype):
                if dtype.is_void or dimensions(part) is None:
                    return True
            case ShapeStructInfo(values=None) | ast.ObjectStructInfo():
                return True
    return False


def says_more(builder: BlockBuilder, found: StructInfo, known: StructInfo) -> bool:
    """Whether one struct info is more precise than another."""
    narrower = compatibility(found, known, builder.prover).compatible
    return narrower and not compatibility(known, found, builder.prover).compatible


def specialised(builder: BlockBuilder, gv: GlobalVar, args: Sequence[Expr]) -> StructInfo | None:
    """The struct info of a function's body for these arguments, in the caller's variables; None if
    unknown.

    The dimensions of the arguments are substituted for those of the parameters.
    """
    function = builder.lookup_func(gv)
    if not isinstance(function, ast.Function) or len(function.params) != len(args):
        return None
    function = normalize_function(function)
    state = builder.derivation()
    in_scope = set(builder.shape_vars.values())
    infos = [erase(builder.struct_info(arg), (), in_scope) for arg in args]
    wanted = [param.struct_info_annotation for param in function.params]
    annotated = [(w, i) for w, i in zip(wanted, infos, strict=True) if w is not None]
    images = bind(
        tuple(w for w, _ in annotated),
        tuple(i for _, i in annotated),
        function.shape_vars,
        state.prover,
    ).mapping
    state.shape_vars |= in_scope
    outer = state.enter()
    state.bind_shape_vars(function.shape_vars)
    mapping: dict[Any, Any] = {}
    for var in function.shape_vars:
        image = images.get(var)
        if isinstance(image, tir.PrimExpr):
            state.prover.alias(var, image)
            mapping[var] = image
    for param, info, said in zip(function.params, infos, wanted, strict=True):
        state.bind(param, _better(info, said, mapping, state.prover))
    with recursion_room():
        found = substitute(state.info(function.body), mapping)
    state.leave(outer)
    found = erase(found, (), in_scope)
    return None if free_vars(found) else found


def _better(info: StructInfo, said: StructInfo | None, mapping: Any, prover: Any) -> StructInfo:
    """What is known of a parameter: the argument's info, or the annotation if it is narrower."""
    if said is None:
        return info
    promised = substitute(said, mapping)
    return promised if compatibility(promised, info, prover).compatible else info


class Stronger(ExprMutator):
    """Makes every annotation as precise as possible, callees before their callers."""

    strengthens = True

    def in_order(self, functions: Mapping[GlobalVar, ast.Function]) -> Iterable[GlobalVar]:
        return callees_first({gv: called_globals(f) for gv, f in functions.items()})

    def visit_var_binding(self, binding: ast.VarBinding) -> None:
        if isinstance(binding.value, ast.Function):
            super().visit_var_binding(binding)
            return
        value = self.visit_expr(binding.value)
        known = changed(binding, var=self.visit_var_def(binding.var))
        new = self.builder.frame.rebind(known, value, self.place)
        if new is not binding.var:
            self.replace_var(binding.var, new)


class _Propagated(Stronger):
    """Asks for each call of a module's function what its body yields for these arguments."""

    def __init__(self) -> None:
        self.shape_functions: dict[GlobalVar, ShapeFunction | None] = {}
        self.cast: set[Expr] = set()

    def visit_global_function(self, gv: GlobalVar, function: ast.Function) -> None:
        casts = (b for b in bindings(function) if isinstance(b, ast.MatchCast))
        self.cast = {
            b.value
            for b in casts
            if held_shape(b.struct_info) is not None or not is_open(b.struct_info)
        }
        super().visit_global_function(gv, function)

    def visit_var_binding(self, binding: ast.VarBinding) -> None:
        super().visit_var_binding(binding)
        call, var = binding.value, self.visit_expr(binding.var)
        if not (isinstance(call, ast.Call) and isinstance(call.op, GlobalVar)):
            return
        known = self.builder.struct_info(var)
        if not (isinstance(var, ast.Var) and is_open(known)) or binding.var in self.cast:
            return
        args = [self.visit_expr(arg) for arg in call.args]
        found = specialised(self.builder, call.op, args)
        unknown = isinstance(found, TensorStructInfo) and dimensions(found) is None
        if found is None or unknown or not says_more(self.builder, found, known):
            found = self.by_shape_function(call.op, args) or found
        if found is not None and says_more(self.builder, found, known):
            output = type(var) is ast.Var
            cast = self.builder.frame.cast(var, found, var.name_hint, self.place, output)
            self.replace_var(binding.var, cast)

    def by_shape_function(self, gv: GlobalVar, args: list[Expr]) -> StructInfo | None:
        """What a call of the function's shape function, which is emitted, says of the result."""
        if gv not in self.shape_functions:
            function = self.builder.lookup_func(gv)
            made = None
            if isinstance(function, ast.Function):
                made = shape_function(function) or written_shape(self.builder, function)
            self.shape_functions[gv] = made and made.added_to(self.builder, gv)
        made = self.shape_functions[gv]
        return None if made is None else made.called(self.builder, args)


def propagate_shapes(module: IRModule) -> IRModule:
    """Propagate shapes from callees to their callers.

    Annotations become as precise as derivation allows. If a signature is too imprecise, the shapes
    of the arguments are substituted into the body of the function. If the shape of the result
    depends only on shapes, its computation becomes a function that callers call. Results of these
    two methods are asserted by casts.

    Raises
    ------
    BuildError
        If the module has errors.
    """
    return _Propagated()(module)
