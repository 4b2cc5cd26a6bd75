"""Code generation: each binding of a lowered function becomes one or two calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import IRModule
from rlx.grammar.nodes.dtype import INT64, DataType, array_of, fits
from rlx.grammar.nodes.encoded import buffer_of
from rlx.grammar.nodes.visit import expressions
from rlx.grammar.print.printer import print_node
from rlx.semantics.arrays import numpy_type
from rlx.semantics.faults import UnsupportedStop
from rlx.semantics.machine.lowered_calls import as_operator
from rlx.semantics.struct_info_of import SIGNATURE
from rlx.semantics.values import (
    DataTypeValue,
    ShapeValue,
    StringValue,
    Tensor,
    Value,
    fitted_scalar,
)
from rlx.transform.lowering.emitter import operator_name
from rlx.transform.lowering.lifetimes import KILLS
from rlx.transform.lowering.passes import PassError
from rlx.transform.lowering.signatures import printed, signature
from rlx.vm.builder import ExecBuilder
from rlx.vm.executable import Executable
from rlx.vm.instructions import Argument, is_immediate
from rlx.vm.linking import know


def generate(module: IRModule, *, source: IRModule | None = None, reuse: bool = True) -> Executable:
    """The executable of a fully lowered module.

    Parameters
    ----------
    source
        The module before the passes, whose signatures are kept.
    reuse
        Whether to reuse a register after the last read of its content.

    Raises
    ------
    PassError
        If a function still has a construct without an instruction. The message names the pass that
        removes it.
    """
    builder = ExecBuilder()
    pool = Pool(module, builder)
    for gv, function in module.functions.items():
        if isinstance(function, ast.Function):
            _Generator(pool, gv.name_hint, function).function()
        else:
            text = printed({gv: function}, module)
            builder.add_kernel(gv.name_hint, text)
            know(gv.name_hint, text, function)
    for name, text in _signatures(module, source or module).items():
        builder.add_signature(name, text)
    return builder.get(reuse=reuse)


def _signatures(module: IRModule, source: IRModule) -> dict[str, str]:
    """The signatures of functions: those that the lowered ones keep, and those of the source."""
    kept = {
        gv.name_hint: function.attrs.get(SIGNATURE) for gv, function in module.functions.items()
    }
    said = {
        gv.name_hint: signature(gv, function, module)
        for gv, function in source.relax_functions.items()
    }
    return said | {name: text for name, text in kept.items() if isinstance(text, str)}


class _Generator:
    """One function."""

    def __init__(self, pool: Pool, name: str, function: ast.Function) -> None:
        self._pool, self._builder = pool, pool.builder
        self._name, self._function = name, function
        self._registers: dict[ast.Var, Argument] = {}
        self._scalars: dict[tir.Var, Argument] = {}
        self._next = len(function.params)
        inside = tuple(expressions(function.body))
        self._kills = any(operator_name(node) in KILLS for node in inside)
        self._read = {node for node in inside if isinstance(node, ast.Var)}
        self._killed: set[ast.Var] = set()

    def function(self) -> None:
        """Emit the function."""
        import warnings

        from rlx.vm.builder import UnusedInput

        params = self._function.params
        names = [param.name_hint for param in params]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnusedInput)  # a parameter may go unused
            with self._builder.function(self._name, len(params), names):
                for k, param in enumerate(params):
                    self._bind(param, self._builder.r(k))
                result = self._sequence(self._function.body)
                self._builder.emit_ret(self._in_register(result))

    def _bind(self, var: ast.Var, place: Argument) -> None:
        self._registers[var] = place
        if var.shape_var is not None:
            self._scalars[var.shape_var] = place

    def _fresh(self) -> Argument:
        self._next += 1
        return self._builder.r(self._next - 1)

    def _in_register(self, place: Argument) -> Argument:
        if str(place).startswith("%"):
            return place
        target = self._fresh()
        self._builder.emit_call("vm.builtin.copy", [place], target)
        return target

    def _sequence(self, body: ast.Expr) -> Argument:
        seq = body if isinstance(body, ast.SeqExpr) else ast.SeqExpr((), body)
        for block in seq.blocks:
            if isinstance(block, ast.DataflowBlock):
                raise self._left("a dataflow block", "ToNonDataflow")
            for binding in block.bindings:
                if isinstance(binding, ast.MatchCast):
                    raise self._left("a cast", "VMShapeLower")
                assert isinstance(binding, ast.VarBinding)
                place = self._value(binding.value)
                if operator_name(binding.value) in KILLS and binding.var in self._read:
                    place = self._emit("vm.builtin.make_tuple", [])  # what a kill gives
                self._bind(binding.var, place)
        return self._operand(seq.body)

    def _left(self, found: str, mend: str) -> PassError:
        return PassError(f"{self._name} has {found}, which has no instruction; run {mend} first")

    # ------------------------------------------------------------ values

    def _value(self, value: ast.Expr) -> Argument:
        """Emit what computes a value; the register that it is in."""
        match value:
            case ast.If():
                return self._branches(value)
            case ast.Call():
                return self._call(value)
            case ast.Tuple(fields=fields):
                return self._emit("vm.builtin.make_tuple", [self._operand(f) for f in fields])
            case ast.TupleGetItem(tuple_value=whole, index=index):
                at = self._builder.imm(index)
                return self._emit("vm.builtin.tuple_getitem", [self._operand(whole), at])
        place = self._operand(value)
        if self._kills and isinstance(value, ast.Var):  # the other name may outlive this one
            return self._emit("vm.builtin.move", [place])
        return self._in_register(place)

    def _emit(self, name: str, args: list[Argument]) -> Argument:
        target = self._fresh()
        self._builder.emit_call(name, args, target)
        return target

    def _branches(self, value: ast.If) -> Argument:
        builder, target = self._builder, self._fresh()
        condition = self._in_register(self._operand(value.cond))
        fork = builder.position()
        builder.emit_if(condition, 1)
        self._move(self._sequence(value.true_branch), target)
        end = builder.position()
        builder.emit_goto(1)
        builder.patch(fork, builder.position() - fork)
        self._move(self._sequence(value.false_branch), target)
        builder.patch(end, builder.position() - end)
        return target

    def _move(self, source: Argument, target: Argument) -> None:
        name = "vm.builtin.move" if str(source).startswith("%") else "vm.builtin.copy"
        self._builder.emit_call(name, [source], target)

    # ------------------------------------------------------------ operands

    def _operand(self, expr: ast.Expr) -> Argument:
        builder, pool = self._builder, self._pool
        match expr:
            case ast.Var():
                if expr in self._killed:
                    self._still_alive(expr)
                return self._registers[expr]
            case ast.GlobalVar(name_hint=name) | ast.ExternFunc(global_symbol=name):
                return builder.f(name)
            case ast.Constant(data=data):
                return pool.constant(id(data), lambda: constant_tensor(data))
            case ast.PrimValue(value=tir.OpaqueExpr(text=text)):  # an index map
                return pool.constant(("string", text), lambda: StringValue(text))
            case ast.PrimValue(value=value):
                return self._scalar(value)
            case ast.ShapeExpr(values=values):
                numbers = tuple(self._known(value) for value in values)
                if not all(fits(number, INT64) for number in numbers):
                    return self._operator("relax.shape", expr)
                return pool.constant(("shape", numbers), lambda: ShapeValue(numbers))
            case ast.StringImm(value=text):
                return pool.constant(("string", text), lambda: StringValue(text))
            case ast.DataTypeImm(value=kind):
                return pool.constant(("dtype", kind), lambda: DataTypeValue(kind))
            case ast.Tuple() | ast.TupleGetItem() | ast.Call():
                return self._value(expr)
            case ast.Function():
                raise self._left("a local function", "LambdaLift")
        raise PassError(f"{self._name}: no instruction computes {type(expr).__name__}")

    def _known(self, value: tir.PrimExpr) -> int:
        if isinstance(value, tir.IntImm):
            return value.value
        raise self._left(f"the symbolic dimension {print_node(value)}", "VMShapeLower")

    def _scalar(self, value: tir.PrimExpr) -> Argument:
        match value:
            case tir.IntImm(value=number, dtype=kind):
                if kind == INT64 and is_immediate(number):
                    return self._builder.imm(number)
                if not fits(number, kind):  # a fault where it is computed
                    return self._operator("relax.prim_value", ast.PrimValue(value))
                return self._number(number, kind)
            case tir.FloatImm(value=real, dtype=kind):
                return self._number(real, kind)
            case tir.Var() if value in self._scalars:
                return self._scalars[value]
        if not tir.free_vars(value):
            return self._operator("relax.prim_value", ast.PrimValue(value))
        raise self._left(f"the symbolic scalar {print_node(value)}", "VMShapeLower")

    def _number(self, number: float, kind: DataType) -> Argument:
        key = ("scalar", repr(number), kind)
        plain = bool(number) if kind.code == "bool" else number
        return self._pool.constant(key, lambda: fitted_scalar(plain, kind))

    # ------------------------------------------------------------ calls

    def _call(self, call: ast.Call) -> Argument:
        match call.op:
            case ast.Op(op_name=name):
                emit = EMITTERS.get(name)
                if emit is not None:
                    return emit(self, call)
                if name in _LOWERED:
                    raise self._left(f"a call of {name}", _LOWERED[name])
                return self._operator(name, call)
            case ast.ExternFunc(global_symbol="runtime.TVMTensorCreateView"):
                return self._operator("relax.memory.view", as_operator(call, ()))
            case ast.GlobalVar(name_hint=name) | ast.ExternFunc(global_symbol=name):
                return self._emit(name, [self._operand(arg) for arg in call.args])
        args = [self._operand(call.op), *(self._operand(arg) for arg in call.args)]
        return self._emit("vm.builtin.invoke_closure", [self._builder.vm_state(), *args])

    def _operator(self, name: str, value: ast.Expr) -> Argument:
        """A call of an operator without a PrimFunc: a function of its operands applies it."""
        applied = operator_function(value)
        args = [self._operand(operand) for operand in applied.operands]
        for var in applied.shape_vars:
            if var not in self._scalars:
                raise self._left(f"the shape variable {var.name} in {name}", "VMShapeLower")
            args.append(self._scalars[var])
        return self._emit(self._pool.operator(name, applied.function), args)

    def _packed(self, name: str, args: tuple[ast.Expr, ...]) -> Argument:
        state = self._builder.vm_state()
        return self._emit(name, [state, *(self._operand(arg) for arg in args)])

    def alloc_storage(self, call: ast.Call) -> Argument:
        """``R.vm.alloc_storage``"""
        return self._packed("vm.builtin.alloc_storage", call.args)

    def alloc_tensor(self, call: ast.Call) -> Argument:
        """``R.vm.alloc_tensor``; the device is that of the piece of memory."""
        return self._packed("vm.builtin.alloc_tensor", call.args[:4])

    def kill(self, call: ast.Call) -> Argument:
        """``R.vm.kill_object``: the register no longer holds the object."""
        (held,) = call.args
        place = self._operand(held)
        if isinstance(held, ast.Var):
            self._killed.add(held)
        self._builder.emit_call("vm.builtin.null_value", [], place)
        return place

    def _still_alive(self, var: ast.Var) -> None:
        """Check that a variable which was killed on some way is not on this one."""
        name = self._operand(ast.StringImm(var.name_hint))
        args = [self._registers[var], name]
        self._builder.emit_call("relax.run.check_alive", args, self._builder.void())

    def builtin(self, call: ast.Call) -> Argument:
        """``R.call_builtin_with_ctx``"""
        callee, args = call.args
        assert isinstance(callee, ast.ExternFunc)
        return self._packed(callee.global_symbol, self._unpacked(args))

    def call_tir_dyn(self, call: ast.Call) -> Argument:
        """``R.vm.call_tir_dyn``"""
        callee, args = call.args
        given = [self._operand(arg) for arg in (callee, *self._unpacked(args))]
        return self._emit("vm.builtin.call_tir_dyn", given)

    def make_closure(self, call: ast.Call) -> Argument:
        """``R.make_closure``"""
        callee, args = call.args
        return self._packed("vm.builtin.make_closure", (callee, *self._unpacked(args)))

    def invoke_closure(self, call: ast.Call) -> Argument:
        """``R.invoke_closure``"""
        callee, args = call.args
        return self._packed("vm.builtin.invoke_closure", (callee, *self._unpacked(args)))

    def null_value(self, call: ast.Call) -> Argument:
        """``R.null_value``"""
        return self._emit("vm.builtin.null_value", [])

    def print(self, call: ast.Call) -> Argument:
        """``R.print``"""
        return self._packed("relax.run.print", (_format(call), *call.args))

    def assert_op(self, call: ast.Call) -> Argument:
        """``R.assert_op``"""
        condition, *rest = call.args
        return self._packed("relax.run.assert_op", (condition, _format(call), *rest))

    def _unpacked(self, args: ast.Expr) -> tuple[ast.Expr, ...]:
        if isinstance(args, ast.Tuple):
            return args.fields
        raise self._left("arguments that are not a tuple", "Normalize")


def _format(call: ast.Call) -> ast.Expr:
    given = call.attrs.get("format", "")
    return given if isinstance(given, ast.Expr) else ast.StringImm(str(given))


EMITTERS: dict[str, Callable[[_Generator, ast.Call], Argument]] = {
    "relax.vm.alloc_storage": _Generator.alloc_storage,
    "relax.vm.alloc_tensor": _Generator.alloc_tensor,
    "relax.vm.kill_object": _Generator.kill,
    "relax.call_builtin_with_ctx": _Generator.builtin,
    "relax.vm.call_tir_dyn": _Generator.call_tir_dyn,
    "relax.make_closure": _Generator.make_closure,
    "relax.invoke_closure": _Generator.invoke_closure,
    "relax.null_value": _Generator.null_value,
    "relax.print": _Generator.print,
    "relax.assert_op": _Generator.assert_op,
}
_LOWERED = {
    **dict.fromkeys(
        (
            "relax.call_tir",
            "relax.call_tir_with_grad",
            "relax.call_tir_inplace",
            "relax.call_dps_packed",
        ),
        "CallTIRRewrite",
    ),
    **dict.fromkeys(
        (
            "relax.builtin.alloc_tensor",
            "relax.memory.alloc_storage",
            "relax.memory.alloc_tensor",
            "relax.memory.kill_storage",
            "relax.memory.kill_tensor",
        ),
        "VMMemoryLower",
    ),
    **dict.fromkeys(
        ("relax.call_pure_packed", "relax.call_inplace_packed", "relax.invoke_pure_closure"),
        "RemovePurityChecking",
    ),
}
"""The construct that each pass removes."""


class OperatorFunction(NamedTuple):
    """A function that applies an operator.

    Attributes
    ----------
    function
        The function, which has one parameter for each operand, then one for each shape variable.
    operands
        The arguments for the operands.
    shape_vars
        The variables in the operator's attributes and shapes.
    """

    function: ast.Function
    operands: tuple[ast.Expr, ...]
    shape_vars: tuple[tir.Var, ...]


def operator_function(value: ast.Expr) -> OperatorFunction:
    """The function that computes the value of a call from its operands; equal operands share a
    parameter.
    """
    params: dict[ast.Expr, ast.Var] = {}

    def parameter(expr: ast.Expr) -> ast.Expr:
        match expr:
            case ast.Tuple(fields=fields):
                return ast.Tuple(tuple(parameter(field) for field in fields))
            case ast.Var() | ast.Constant() | ast.GlobalVar() | ast.TupleGetItem():
                return params.setdefault(expr, ast.Var(f"x{len(params)}"))
        return expr

    symbols: tuple[tir.Var, ...] = ()
    if isinstance(value, ast.Call):
        attrs = {
            key: parameter(attr) if isinstance(attr, ast.Expr) else attr
            for key, attr in value.attrs.items()
        }
        args = tuple(parameter(arg) for arg in value.args)
        value = ast.Call(value.op, args, attrs, value.sinfo_args, spelled=value.spelled)
        symbols = tuple(dict.fromkeys((*_symbols(attrs), *_symbols(args))))
    scalars = (ast.Var(var.name, ast.PrimStructInfo(INT64), shape_var=var) for var in symbols)
    result = ast.Var("y")
    body = ast.SeqExpr((ast.BindingBlock((ast.VarBinding(result, value),)),), result)
    everything = (*params.values(), *scalars)
    function = ast.Function(everything, body, attrs={"global_symbol": "apply"}, is_pure=False)
    return OperatorFunction(function, tuple(params), symbols)


def _symbols(value: Any) -> Iterator[tir.Var]:
    match value:
        case tir.PrimExpr():
            yield from tir.free_vars(value)
        case ast.ShapeExpr(values=values):
            yield from _symbols(values)
        case tuple() | list():
            for item in value:
                yield from _symbols(item)
        case Mapping():
            for item in value.values():
                yield from _symbols(item)


class Pool:
    """A pool of distinct constants and applied operators.

    Attributes
    ----------
    module
        The module that the executable is made from.
    builder
        The builder of the executable, which stores them.
    """

    def __init__(self, module: IRModule, builder: ExecBuilder) -> None:
        self.module, self.builder = module, builder
        self._operators: dict[str, str] = {}
        self._constants: dict[object, Argument] = {}

    def constant(self, key: object, make: Callable[[], Value]) -> Argument:
        """A constant of the pool; values with the same key share one entry."""
        found = self._constants.get(key)
        if found is None:
            found = self._constants[key] = self.builder.c(make())
        return found

    def operator(self, op: str, function: ast.Function) -> str:
        """The name of a function that applies an operator; equal ones share it."""
        gv = ast.GlobalVar("apply")
        text = printed({gv: function}, self.module)
        name = self._operators.get(text)
        if name is None:
            name = self._operators[text] = f"{op}:{len(self._operators)}"
            self.builder.add_operator(name, text)
        return name


def constant_tensor(data: ast.Literal) -> Tensor:
    """The tensor of a constant. Raises PassError if the text omits its elements, or NumPy does not
    support the element type.
    """
    try:
        kind = numpy_type(data.dtype)
    except UnsupportedStop as stop:
        raise PassError(f"a constant: {stop.message}") from None
    if data.value is not None:
        return Tensor(array_of(data.value, kind).reshape(data.shape or ()))
    if data.content is not None:
        return Tensor(np.frombuffer(buffer_of(data.content), kind).reshape(data.shape or ()))
    raise PassError("the text omits the data of a constant")
