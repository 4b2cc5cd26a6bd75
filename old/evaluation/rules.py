"""The evaluation of expressions: OE-… by the numbers of the document.

Each rule is a generator: what it yields is evaluated before it goes on. So programs may call as deep
as memory allows.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

from rlx.grammar import ast, tir
from rlx.grammar.ast import Expr
from rlx.grammar.visit import free_vars
from rlx.old.annotations import shape_of_annotation, type_of
from rlx.old.bindings import dims_of_pattern
from rlx.old.derivation_state import OlderDerivation
from rlx.old.evaluation.outside import Outside
from rlx.old.evaluation.run_time_types import type_of_value
from rlx.old.evaluation.scopes import Captured, OlderScope
from rlx.old.expansion import COMPARE_SHAPES, check_annotation
from rlx.old.order import is_subtype
from rlx.old.shape_exprs import RuntimeDepShape
from rlx.old.types import Type
from rlx.semantics.faults import CheckStop, FaultStop, IllFormedStop
from rlx.semantics.machine.control import truth
from rlx.semantics.values import Closure, ShapeValue, Tensor, TupleValue, Value
from rlx.solver.evaluate import UndefinedError, evaluate
from rlx.spec.registry import rule

Evaluating = Generator["Evaluating | None", Any, Any]


class OlderMachine:
    """What every rule knows: the module, what is known of it, who evaluates operators.

    Attributes
    ----------
    calls_left
        How many more calls and bindings the run may evaluate; None for no limit.
    """

    def __init__(self, known: OlderDerivation, outside: Outside, fuel: int | None) -> None:
        self.known = known
        self.outside = outside
        self.fuel = fuel
        self.globals: dict[ast.GlobalVar, Value] = {}

    def step(self) -> None:
        """Use a step up.

        Raises
        ------
        OutOfFuelStop
            If none is left.
        """
        if self.fuel is None:
            return
        self.fuel -= 1
        if self.fuel < 0:
            from rlx.semantics.faults import OutOfFuelStop

            raise OutOfFuelStop("E-fuel-left", "the steps given were not enough")


def evaluation(m: OlderMachine, expr: Expr, scope: OlderScope) -> Evaluating:
    """The rule for an expression, begun."""
    found = _RULES.get(type(expr))
    if found is None:
        found = attribute
    return found(m, expr, scope)


def dimension(dim: tir.PrimExpr, scope: OlderScope) -> int:
    """The number of a dimension.

    Raises
    ------
    FaultStop
        If a variable in it has no value, it divides by zero, or leaves 64 bits.
    """
    try:
        return evaluate(dim, _numbers(dim, scope), int64=True)
    except (UndefinedError, KeyError) as error:
        raise FaultStop("OE-shape-defined", f"{dim} has no value: {error}") from None


def _numbers(dim: tir.PrimExpr, scope: OlderScope) -> dict[tir.Var, int]:
    found: dict[tir.Var, int] = {}
    for var in tir.free_vars(dim):
        number = scope.number(var)
        if number is None:
            raise UndefinedError(f"the shape variable {var.name} has no value", var)
        found[var] = number
    return found


@rule("OE-constant", "80173a86", "older evaluation")
def constant(m: OlderMachine, expr: ast.Constant, scope: OlderScope) -> Evaluating:
    """1: a new tensor."""
    return m.outside.value(expr, (), (), {})
    yield  # makes it a generator, like all others


@rule("OE-var", "5ec03756", "older evaluation")
def variable(m: OlderMachine, expr: Expr, scope: OlderScope) -> Evaluating:
    """2: the stored value."""
    found = m.globals.get(expr) if isinstance(expr, ast.GlobalVar) else scope.value(expr)
    if found is None:
        name = getattr(expr, "name_hint", "a variable")
        raise IllFormedStop("OE-var-bound", f"{name} has no value here")
    return found
    yield


@rule("OE-tuple", "89497914", "older evaluation")
def tuple_(m: OlderMachine, expr: ast.Tuple, scope: OlderScope) -> Evaluating:
    """3: the fields, left to right."""
    fields = []
    for field in expr.fields:
        fields.append((yield evaluation(m, field, scope)))
    return TupleValue(tuple(fields))


@rule("OE-field", "f773a633", "older evaluation")
def field(m: OlderMachine, expr: ast.TupleGetItem, scope: OlderScope) -> Evaluating:
    """4: the field of the tuple."""
    value = yield evaluation(m, expr.tuple_value, scope)
    if not isinstance(value, TupleValue) or not 0 <= expr.index < len(value.fields):
        raise IllFormedStop("OE-field-there", f"there is no field {expr.index}")
    return value.fields[expr.index]


@rule("OE-shape", "ee788413", "older evaluation")
def shape(m: OlderMachine, expr: ast.ShapeExpr, scope: OlderScope) -> Evaluating:
    """5: the dimensions, left to right."""
    return ShapeValue(tuple(dimension(dim, scope) for dim in expr.values))
    yield


@rule("OE-runtime", "bf87ccdf", "older evaluation", refuses=True)
def run_time_shape(m: OlderMachine, expr: RuntimeDepShape, scope: OlderScope) -> Evaluating:
    """6: RuntimeDepShape has no value."""
    raise IllFormedStop("OE-runtime-value", "RuntimeDepShape has no value")
    yield


@rule("OE-function", "651f0a4a", "older evaluation")
def function(
    m: OlderMachine, expr: ast.Function, scope: OlderScope, name: ast.Var | None = None
) -> Evaluating:
    """7: a closure with the values of the free variables, by reference.

    ``name`` is the variable that it is bound to, which its body may call.
    """
    captured = OlderScope()
    for var in free_vars(expr):
        value = None if isinstance(var, ast.DataflowVar) else scope.value(var)
        if value is not None:
            captured.values[var] = value
    around: OlderScope | None = scope
    while around is not None:
        for number, size in around.shapes.items():
            captured.shapes.setdefault(number, size)
        around = around.outer
    made = Closure(Captured(expr, captured, name))
    if name is not None:
        captured.values[name] = made
    return made
    yield


@rule("OE-if", "0b3cce24", "older evaluation")
def branch(m: OlderMachine, expr: ast.If, scope: OlderScope) -> Evaluating:
    """8: the condition, then one branch."""
    chosen = truth((yield evaluation(m, expr.cond, scope)))
    return (yield evaluation(m, expr.true_branch if chosen else expr.false_branch, scope))


@rule("OE-operator", "82bd9350", "older evaluation")
def operator_call(m: OlderMachine, expr: ast.Call, scope: OlderScope) -> Evaluating:
    """9.1, 9.2: the arguments left to right; then the operator or the packed function."""
    operands: dict[Expr, Value] = {}
    for part in _operands(expr):
        operands[part] = yield evaluation(m, part, scope)
    if isinstance(expr.op, ast.ExternFunc) and expr.op.global_symbol == COMPARE_SHAPES:
        return compare_shapes(*operands.values())
    numbers = {var: number for var in _mentioned(expr) if (number := scope.number(var)) is not None}
    return m.outside.value(expr, tuple(operands), tuple(operands.values()), numbers)


_PLAIN = (ast.PrimValue, ast.StringImm, ast.DataTypeImm, ast.ExternFunc, ast.ShapeExpr)


def _operands(call: ast.Call) -> list[Expr]:
    """The parts of a call that are evaluated before it, in order; the others are attributes."""
    found: list[Expr] = []

    def add(part: object) -> None:
        if isinstance(part, ast.Tuple) and part.fields:
            for inner in part.fields:
                add(inner)
        elif isinstance(part, tuple | list):
            for inner in part:
                add(inner)
        elif isinstance(part, Expr) and not isinstance(part, (*_PLAIN, ast.GlobalVar, ast.Op)):
            found.append(part)

    for arg in call.args:
        add(arg)
    for value in call.attrs.values():
        add(value)
    return list(dict.fromkeys(found))


def _mentioned(call: ast.Call) -> list[tir.Var]:
    """The shape variables in the attributes, dimensions and type arguments of a call."""
    from rlx.solver.order import free_shape_vars

    found: list[tir.Var] = [var for info in call.sinfo_args for var in free_shape_vars(info)]

    def add(part: object) -> None:
        match part:
            case ast.ShapeExpr(values=values):
                found.extend(var for dim in values for var in tir.free_vars(dim))
            case ast.PrimValue(value=value):
                found.extend(tir.free_vars(value))
            case tir.PrimExpr():
                found.extend(tir.free_vars(part))
            case ast.Tuple(fields=fields):
                for inner in fields:
                    add(inner)
            case tuple() | list():
                for inner in part:
                    add(inner)

    for part in (*call.args, *call.attrs.values()):
        add(part)
    return list(dict.fromkeys(found))


def compare_shapes(found: Value, wanted: Value) -> Value:
    """`dynamically_check_shapes`: compare the shape of a value with a computed one."""
    if not (isinstance(found, ShapeValue) and isinstance(wanted, ShapeValue)):
        raise CheckStop("OE-match-kind", "a shape is compared with what is none")
    if found.values != wanted.values:
        raise CheckStop("OE-match-dimension", f"expected {wanted.values}, found {found.values}")
    return TupleValue(())


def attribute(m: OlderMachine, expr: Expr, scope: OlderScope) -> Evaluating:
    """A scalar, a string or a data type where operators take it (OE-operator)."""
    numbers: dict[tir.Var, int] = {}
    if isinstance(expr, ast.PrimValue):
        numbers = _numbers(expr.value, scope)
    return m.outside.value(expr, (), (), numbers)
    yield


def call(m: OlderMachine, expr: ast.Call, scope: OlderScope) -> Evaluating:
    """9: the rule for a call, by what is called."""
    m.step()
    chosen = operator_call if isinstance(expr.op, (ast.Op, ast.ExternFunc)) else closure_call
    return (yield chosen(m, expr, scope))


@rule("OE-closure", "579ded9b", "older evaluation")
def closure_call(m: OlderMachine, expr: ast.Call, scope: OlderScope) -> Evaluating:
    """9.3: the closure, the arguments left to right, then the body in a scope of its own."""
    callee = yield evaluation(m, expr.op, scope)
    args = []
    for arg in expr.args:
        args.append((yield evaluation(m, arg, scope)))
    if not isinstance(callee, Closure) or not isinstance(callee.code, Captured):
        raise IllFormedStop("OE-closure-callee", "only a closure can be called")
    return (yield entered(m, callee.code, args))


@rule("OE-entry", "0e27cd25", "older evaluation")
def entered(m: OlderMachine, code: Captured, args: list[Value]) -> Evaluating:
    """The checks of the parameters, the body, the check of the result."""
    node = code.function
    if len(node.params) != len(args):
        raise FaultStop(
            "OE-entry-arity", f"{len(node.params)} arguments are expected, {len(args)} given"
        )
    scope = OlderScope(code.scope)
    for param, arg in zip(node.params, args, strict=True):
        scope.values[param] = arg
        if param.struct_info_annotation is not None:
            yield checked(m, param.struct_info_annotation, param, scope)
    result = yield evaluation(m, node.body, scope)
    if node.ret_struct_info is not None:
        ret_var = ast.Var("ret_var")
        scope.values[ret_var] = result
        yield checked(m, node.ret_struct_info, ret_var, scope)
    return result


def checked(m: OlderMachine, info: ast.StructInfo, var: ast.Var, scope: OlderScope) -> Evaluating:
    """`cast` to the type of an annotation, then `check_annotation` of its shape, in this scope."""
    value = scope.value(var)
    assert value is not None
    cast(m, value, type_of(info))
    match info:
        case ast.TensorStructInfo(shape=ast.Var() as holder):
            held = yield evaluation(m, holder, scope)
            assert isinstance(value, Tensor)
            compare_shapes(ShapeValue(value.shape), held)
            return value
        case ast.ShapeStructInfo(values=tuple() as values):
            matched(value, values, scope)
            return value
    return (yield in_scope(m, check_annotation(var, shape_of_annotation(info)), scope))


@rule("OE-cast", "b3c65115", "older evaluation")
def cast(m: OlderMachine, value: Value, wanted: Type) -> Value:
    """The value, if it is one of the type."""
    found = type_of_value(value, m.known)
    if not is_subtype(found, wanted):
        raise CheckStop("OE-cast-type", f"expected {wanted}, found {found}", value=value)
    return value


@rule("OE-seq", "962f07f4", "older evaluation")
def sequence(m: OlderMachine, expr: ast.SeqExpr, scope: OlderScope) -> Evaluating:
    """10: a new scope, the bindings in order, the body."""
    return (yield in_scope(m, expr, OlderScope(scope)))


def in_scope(m: OlderMachine, expr: Expr, scope: OlderScope) -> Evaluating:
    """The bindings of a sequence and its body, in a scope that is there (OE-seq)."""
    if not isinstance(expr, ast.SeqExpr):
        return (yield evaluation(m, expr, scope))
    for block in expr.blocks:
        for binding in block.bindings:
            m.step()
            yield _BINDINGS[type(binding)](m, binding, scope)
        if isinstance(block, ast.DataflowBlock):
            for binding in block.bindings:
                if isinstance(var := getattr(binding, "var", None), ast.DataflowVar):
                    scope.values.pop(var, None)
    return (yield evaluation(m, expr.body, scope))


@rule("OE-bind", "7639610d", "older evaluation")
def bind(m: OlderMachine, binding: ast.VarBinding, scope: OlderScope) -> Evaluating:
    """10.2.2: the value by another name; a function may call itself by it."""
    value: Value
    if isinstance(binding.value, ast.Function):
        value = yield function(m, binding.value, scope, binding.var)
    elif isinstance(binding.value, ast.SeqExpr) and binding.var.name_hint == "tmp":
        value = yield in_scope(m, binding.value, scope)  # a check of a signature
    else:
        value = yield evaluation(m, binding.value, scope)
    scope.values[binding.var] = value
    return value


@rule("OE-match", "3768d1c6", "older evaluation")
def matched(value: Value, dims: tuple[tir.PrimExpr, ...], scope: OlderScope) -> None:
    """10.2.1: each dimension in order; a variable without a value is bound, all else compared."""
    match value:
        case Tensor():
            sizes = value.shape
        case ShapeValue(values=sizes):
            pass
        case _:
            raise CheckStop("OE-match-kind", "only tensors and shapes have a shape", value=value)
    if len(sizes) != len(dims):
        message = f"expected rank {len(dims)}, found rank {len(sizes)}"
        raise CheckStop("OE-match-rank", message, value=value)
    for dim, size in zip(dims, sizes, strict=True):
        if isinstance(dim, tir.Var) and scope.number(dim) is None:
            scope.shapes[dim] = size
        try:
            wanted = dimension(dim, scope)
        except FaultStop as stop:
            raise CheckStop("OE-match-defined", stop.message, value=value) from None
        if wanted != size:
            raise CheckStop(
                "OE-match-dimension", f"expected {dim} = {wanted}, found {size}", value=value
            )


def match_binding(m: OlderMachine, binding: ast.MatchCast, scope: OlderScope) -> Evaluating:
    """A match of shapes, or a cast with the check of its shape (OE-match, OE-cast)."""
    value = yield evaluation(m, binding.value, scope)
    var = binding.var or ast.Var("_")
    if binding.by_shape and dims_of_pattern(binding.struct_info) >= 0:
        matched(value, _pattern(binding.struct_info), scope)
        scope.values[var] = value
    else:
        scope.values[var] = value
        yield checked(m, binding.struct_info, var, scope)
    return value


def _pattern(info: ast.StructInfo) -> tuple[tir.PrimExpr, ...]:
    match info:
        case ast.TensorStructInfo(shape=ast.ShapeExpr(values=values)):
            return values
        case ast.ShapeStructInfo(values=tuple() as values):
            return values
    return ()


_BINDINGS: dict[type, Callable[[OlderMachine, Any, OlderScope], Evaluating]] = {
    ast.VarBinding: bind,
    ast.MatchCast: match_binding,
}
_RULES: dict[type, Callable[[OlderMachine, Any, OlderScope], Evaluating]] = {
    ast.Constant: constant,
    ast.Var: variable,
    ast.DataflowVar: variable,
    ast.GlobalVar: variable,
    ast.Tuple: tuple_,
    ast.TupleGetItem: field,
    ast.ShapeExpr: shape,
    RuntimeDepShape: run_time_shape,
    ast.Function: function,
    ast.If: branch,
    ast.Call: call,
    ast.SeqExpr: sequence,
}
