"""Running a module by the specification of 2022."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Expr
from rlx.grammar.nodes.dtype import dtype
from rlx.grammar.nodes.visit import free_vars
from rlx.grammar.print.relax import pattern_of
from rlx.grammar.stack import finished
from rlx.old.annotations import shape_of_annotation, type_of
from rlx.old.derivation_state import OlderDerivation
from rlx.old.evaluation.machine import (
    Evaluating,
    OlderClosure,
    OlderMachine,
    OlderRule,
    OlderScope,
    Outside,
    OutsideEnded,
    dimension,
    evaluation,
    numbers_of,
)
from rlx.old.expansion import COMPARE_SHAPES, check_annotation
from rlx.old.functions import derive, signature
from rlx.old.order import is_subtype
from rlx.old.shape_exprs import RuntimeDepShape
from rlx.old.types import OBJECT, SHAPE, DynTensorType, FuncType, TupleType, Type
from rlx.semantics.faults import CheckStop, FaultStop, IllFormedStop
from rlx.semantics.machine.control import truth
from rlx.semantics.machine.outcome_of_stop import ended
from rlx.semantics.machine.program import External
from rlx.semantics.outcome import Outcome, Returned
from rlx.semantics.values import Closure, PrimFuncValue, ShapeValue, Tensor, TupleValue, Value
from rlx.solver.order import free_shape_vars
from rlx.spec.registry import rule


@rule("OE-constant", "older evaluation")
def constant(m: OlderMachine, expr: ast.Constant, scope: OlderScope) -> Evaluating:
    """1: a new tensor."""
    return m.outside.value(expr, (), (), {})
    yield  # makes it a generator, like all others


@rule("OE-var", "older evaluation")
def variable(m: OlderMachine, expr: Expr, scope: OlderScope) -> Evaluating:
    """2: the stored value."""
    found = m.globals.get(expr) if isinstance(expr, ast.GlobalVar) else scope.value(expr)
    if found is None:
        name = getattr(expr, "name_hint", "a variable")
        raise IllFormedStop("OE-var-bound", f"{name} has no value here")
    return found
    yield


@rule("OE-tuple", "older evaluation")
def tuple_(m: OlderMachine, expr: ast.Tuple, scope: OlderScope) -> Evaluating:
    """3: the fields, left to right."""
    fields = []
    for field in expr.fields:
        fields.append((yield evaluation(m, field, scope)))
    return TupleValue(tuple(fields))


@rule("OE-field", "older evaluation")
def field(m: OlderMachine, expr: ast.TupleGetItem, scope: OlderScope) -> Evaluating:
    """4: the field of the tuple."""
    value = yield evaluation(m, expr.tuple_value, scope)
    if not isinstance(value, TupleValue) or not 0 <= expr.index < len(value.fields):
        raise IllFormedStop("OE-field-there", f"there is no field {expr.index}")
    return value.fields[expr.index]


@rule("OE-shape", "older evaluation")
def shape(m: OlderMachine, expr: ast.ShapeExpr, scope: OlderScope) -> Evaluating:
    """5: the dimensions, left to right."""
    return ShapeValue(tuple(dimension(dim, scope) for dim in expr.values))
    yield


@rule("OE-runtime", "older evaluation", refuses=True)
def run_time_shape(m: OlderMachine, expr: RuntimeDepShape, scope: OlderScope) -> Evaluating:
    """6: RuntimeDepShape has no value."""
    raise IllFormedStop("OE-runtime-value", "RuntimeDepShape has no value")
    yield


@rule("OE-function", "older evaluation")
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
    made = Closure(OlderClosure(expr, captured, name))
    if name is not None:
        captured.values[name] = made
    return made
    yield


@rule("OE-if", "older evaluation")
def branch(m: OlderMachine, expr: ast.If, scope: OlderScope) -> Evaluating:
    """8: the condition, then one branch."""
    chosen = truth((yield evaluation(m, expr.cond, scope)))
    return (yield evaluation(m, expr.true_branch if chosen else expr.false_branch, scope))


def attribute(m: OlderMachine, expr: Expr, scope: OlderScope) -> Evaluating:
    """A scalar, a string or a data type where operators take it (OE-operator)."""
    numbers: dict[tir.Var, int] = {}
    if isinstance(expr, ast.PrimValue):
        numbers = numbers_of(expr.value, scope)
    return m.outside.value(expr, (), (), numbers)
    yield


@rule("OE-seq", "older evaluation")
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


@rule("OE-bind", "older evaluation")
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


@rule("OE-match", "older evaluation")
def matched(value: Value, dims: tuple[tir.PrimExpr, ...], scope: OlderScope) -> None:
    """10.2.1: each dimension in order; a variable without a value is bound, all else compared."""
    match value:
        case Tensor():
            sizes = value.shape
        case ShapeValue(values=sizes):
            pass
        case _:
            raise CheckStop("OE-match-kind", "expected a tensor or a shape", value=value)
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
    pattern = pattern_of(binding)
    if pattern is not None:
        matched(value, pattern, scope)
        scope.values[var] = value
    else:
        scope.values[var] = value
        yield checked(m, binding.struct_info, var, scope)
    return value


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


@rule("OE-cast", "older evaluation")
def cast(m: OlderMachine, value: Value, wanted: Type) -> Value:
    """The value, if it is one of the type."""
    found = type_of_value(value, m.known)
    if not is_subtype(found, wanted):
        raise CheckStop("OE-cast-type", f"expected {wanted}, found {found}", value=value)
    return value


def compare_shapes(found: Value, wanted: Value) -> Value:
    """`dynamically_check_shapes`: compare the shape of a value with a computed one."""
    if not (isinstance(found, ShapeValue) and isinstance(wanted, ShapeValue)):
        raise CheckStop("OE-match-kind", "expected a shape on both sides of the comparison")
    if found.values != wanted.values:
        raise CheckStop("OE-match-dimension", f"expected {wanted.values}, found {found.values}")
    return TupleValue(())


_BINDINGS: dict[type, OlderRule] = {ast.VarBinding: bind, ast.MatchCast: match_binding}


def type_of_value(value: Value, known: OlderDerivation) -> Type:
    """The most specific type of a value; of a closure that of its function."""
    match value:
        case Tensor(data=data):
            return DynTensorType(data.ndim, dtype(value.dtype))
        case ShapeValue():
            return SHAPE
        case TupleValue(fields=fields):
            return TupleType(tuple(type_of_value(field, known) for field in fields))
        case Closure(code=OlderClosure() as code):
            found = known.types.get(code.function)
            return found if isinstance(found, FuncType) else signature(code.function)
    return OBJECT


@rule("OE-operator", "older evaluation")
def operator_call(m: OlderMachine, expr: ast.Call, scope: OlderScope) -> Evaluating:
    """9.1, 9.2: the arguments left to right; then the operator or the packed function."""
    operands: dict[Expr, Value] = {}
    for part in _operands(expr):
        operands[part] = yield evaluation(m, part, scope)
    if isinstance(expr.op, ast.ExternFunc) and expr.op.global_symbol == COMPARE_SHAPES:
        return compare_shapes(*operands.values())
    numbers = {var: number for var in _mentioned(expr) if (number := scope.number(var)) is not None}
    return m.outside.value(expr, tuple(operands), tuple(operands.values()), numbers)


_PLAIN = (ast.PrimValue, ast.StringImm, ast.DataTypeImm, ast.ExternFunc, ast.GlobalVar, ast.Op)


def _operands(call: ast.Call) -> list[Expr]:
    """The parts of a call that are evaluated before it, in order; the others are attributes.

    An operator may take a shape as an attribute. A packed function is looked up behind its
    arguments, so a dimension without a value ends the run first.
    """
    found: list[Expr] = []
    packed = any(isinstance(part, ast.ExternFunc) for part in (call.op, *call.args[:1]))
    plain = _PLAIN if packed else (*_PLAIN, ast.ShapeExpr)

    def add(part: object) -> None:
        if isinstance(part, ast.Tuple) and part.fields:
            for inner in part.fields:
                add(inner)
        elif isinstance(part, tuple | list):
            for inner in part:
                add(inner)
        elif isinstance(part, Expr) and not isinstance(part, plain):
            found.append(part)

    for arg in call.args:
        add(arg)
    for value in call.attrs.values():
        add(value)
    return list(dict.fromkeys(found))


def _mentioned(call: ast.Call) -> list[tir.Var]:
    """The shape variables in the attributes, dimensions and type arguments of a call."""
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


def call(m: OlderMachine, expr: ast.Call, scope: OlderScope) -> Evaluating:
    """9: the rule for a call, by what is called."""
    m.step()
    chosen = operator_call if isinstance(expr.op, (ast.Op, ast.ExternFunc)) else closure_call
    return (yield chosen(m, expr, scope))


@rule("OE-closure", "older evaluation")
def closure_call(m: OlderMachine, expr: ast.Call, scope: OlderScope) -> Evaluating:
    """9.3: the closure, the arguments left to right, then the body in a scope of its own."""
    callee = yield evaluation(m, expr.op, scope)
    args = []
    for arg in expr.args:
        args.append((yield evaluation(m, arg, scope)))
    if not isinstance(callee, Closure) or not isinstance(callee.code, OlderClosure):
        raise IllFormedStop("OE-closure-callee", "expected a closure as the callee")
    return (yield entered(m, callee.code, args))


@rule("OE-entry", "older evaluation")
def entered(m: OlderMachine, code: OlderClosure, args: list[Value]) -> Evaluating:
    """The checks of the parameters, the body, the check of the result."""
    node = code.function
    if len(node.params) != len(args):
        raise FaultStop(
            "OE-entry-arity", f"expected {len(node.params)} arguments, found {len(args)}"
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


RULES: Mapping[type, OlderRule] = {
    ast.Constant: constant,
    ast.Var: variable,
    ast.DataflowVar: variable,
    ast.GlobalVar: variable,
    ast.Tuple: tuple_,
    ast.TupleGetItem: field,
    ast.ShapeExpr: shape,
    ast.PrimValue: attribute,
    ast.StringImm: attribute,
    ast.DataTypeImm: attribute,
    ast.ExternFunc: attribute,
    RuntimeDepShape: run_time_shape,
    ast.Function: function,
    ast.If: branch,
    ast.Call: call,
    ast.SeqExpr: sequence,
}


def run(
    module: ast.IRModule,
    entry: str,
    args: Sequence[Value],
    *,
    fuel: int | None = None,
    packed: Mapping[str, External] | None = None,
    output: Callable[[str], None] = print,
    iterations: int | None = None,
) -> Outcome:
    """Run a function of a module by the rules of 2022.

    Parameters
    ----------
    entry, args
        The name of the function, and its arguments.
    fuel
        The largest number of calls and bindings to evaluate; None for no limit.
    packed, output, iterations
        As for :func:`rlx.semantics.machine.load`.

    Returns
    -------
    Outcome
        What the rules of :mod:`rlx.semantics.machine` give where both systems have the program.

    Raises
    ------
    KeyError
        If the module has no such function.
    """
    known = derive(module)
    machine = OlderMachine(known, Outside(module, packed or {}, output, iterations), fuel, RULES)
    for name, function in module.functions.items():
        machine.globals[name] = (
            Closure(OlderClosure(function, OlderScope(), name))
            if isinstance(function, ast.Function)
            else PrimFuncValue(function, name.name_hint)
        )
    callee = next((v for g, v in machine.globals.items() if g.name_hint == entry), None)
    if not isinstance(callee, Closure):
        raise KeyError(f"the module has no function {entry!r}")
    try:
        value = finished(entered(machine, callee.code, list(args)))
    except OutsideEnded as stop:
        return stop.outcome
    except Exception as stop:  # noqa: BLE001 - a mistake of ours is an outcome, too
        return ended(stop, None, "OE-entry", tuple(args), callee.code.function.span)
    return Returned(value)
