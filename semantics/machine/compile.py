"""Compilation of syntax to instructions: names become slots, and each redex becomes one instruction
with its rule.

Compilation evaluates nothing and rejects nothing: a rule reports failures when it is reached.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any

import numpy as np

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import array_of
from rlx.grammar.nodes.encoded import LateBytes, buffer_of
from rlx.grammar.nodes.node import Span
from rlx.grammar.nodes.struct_infos import OBJECT
from rlx.grammar.nodes.visit import free_vars, struct_infos
from rlx.semantics.arrays import numpy_type
from rlx.semantics.faults import FaultStop, IllFormedStop, UnsupportedStop
from rlx.semantics.machine import control, expression_rules, prim_exprs
from rlx.semantics.machine.configuration import (
    Code,
    Frame,
    FunctionCode,
    Instruction,
    Reader,
    ScopeSlots,
    Variable,
    dropped,
    slot_reader,
)
from rlx.semantics.machine.lowered_calls import as_operator
from rlx.semantics.machine.operators import KILLS, OTHERS, SPECIAL
from rlx.semantics.machine.signature import Check, cast_of
from rlx.semantics.struct_info_of import declared, declared_by
from rlx.semantics.values import Value
from rlx.solver.order import free_vars as vars_of_info


class Compiler:
    """Prepares the functions of one module.

    Attributes
    ----------
    values
        The values of the module's global variables.
    hidden
        The names of run-time functions that the caller registered.
    killed
        The variables that the program kills; later branches and closures cannot read them either.
    typed
        Gives the type of a function at run time.
    """

    def __init__(
        self,
        hidden: Collection[str] = (),
        typed: Callable[[ast.Function], ast.FuncStructInfo] = declared,
    ) -> None:
        self.values: dict[ast.GlobalVar, Value] = {}
        self.hidden, self.typed = hidden, typed
        self.killed: set[ast.Var] = set()

    def function(
        self,
        node: ast.Function,
        name: str,
        outer: ScopeSlots | None = None,
        var: ast.Var | None = None,
    ) -> FunctionCode:
        """Compile a global or local function; ``var`` is the variable that a local one is bound
        to.
        """
        scope = ScopeSlots()
        scope.add(var, node.name_span or node.span)
        captured = [] if outer is None else _captured(node, outer, var)
        for used in captured:
            scope.add(used, getattr(used, "span", None))
        for param in node.params:
            scope.add(param, param.span)
        infos = [param.struct_info_annotation or OBJECT for param in node.params]
        code = FunctionCode(node.body, scope, self.body, node.name_span or node.span)
        code.enter = Check(infos, [v for v in node.shape_vars if v not in scope.places], scope)
        for bound in code.enter.binds:
            scope.add(bound, bound.span)
        ret = node.ret_struct_info
        code.leave = None if ret is None else Check([ret], (), scope)
        code.node, code.name = node, name
        code.typed = self.typed
        code.captured = tuple(captured)
        code.captures = tuple(outer.reader(v) for v in captured) if outer else ()  # type: ignore[misc]
        code.function = code
        return code

    def body(self, code: Code) -> Instruction[Any]:
        """The instructions of a body: those of its bindings, then the one that ends the scope."""
        return _Body(self, code).run()


def _captured(node: ast.Function, outer: ScopeSlots, var: ast.Var | None) -> list[Variable]:
    """The variables around a function that it uses, but for the one it is bound to, and all shape
    variables.

    Variables of a dataflow block are not captured.
    """
    held: Iterator[ast.Var] = (v for info in struct_infos(node) for v in vars_of_info(info))
    named: dict[ast.Var, None] = dict.fromkeys((*free_vars(node), *held))
    used = [v for v in named if v is not var and not isinstance(v, ast.DataflowVar)]
    shapes = [v for v, _, _ in outer.seen(outer.serial) if isinstance(v, tir.Var)]
    around: list[Variable] = [*used, *shapes]
    return [v for v in around if outer.find(v) is not None]


class _Body:
    """The instructions of one scope, in order."""

    def __init__(self, compiler: Compiler, code: Code) -> None:
        self.compiler, self.code, self.scope = compiler, code, code.scope
        self.first: Instruction[Any] | None = None
        self.last: Instruction[Any] | None = None

    def run(self) -> Instruction[Any]:
        body, span = self.code.body, self.code.span
        if isinstance(body, ast.SeqExpr):
            for block in body.blocks:
                self._block(block)
            span = body.body_span or body.span or span
            body = body.body
        operand = self.operand(body, span)
        if isinstance(self.code, FunctionCode):
            leave = self.code.leave
            self._append(Instruction(expression_rules.return_, body, span, (operand,), leave))
        else:
            self._append(Instruction(control.sequence_end, body, span, (operand,), None))
        assert self.first is not None
        return self.first

    def _block(self, block: ast.BindingBlock) -> None:
        bound: list[Variable] = []
        for binding in block.bindings:
            if isinstance(binding, ast.MatchCast):
                self._match_cast(binding)
            else:
                assert isinstance(binding, ast.VarBinding)
                self.value(binding.value, binding.value_span or binding.span, binding.var)
                self._end_of(binding.value)
            if isinstance(binding.var, ast.DataflowVar):
                bound.append(binding.var)
                bound += [v for v in (binding.var.shape_var,) if v is not None]
        if isinstance(block, ast.DataflowBlock):
            span = block.span
            end = Instruction(control.dataflow_end, self.code.body, span, (), None)
            self._append(end)
            for var in bound:
                self.scope.end(var)

    def _end_of(self, value: ast.Expr) -> None:
        """A variable that was killed is not read again; what it held is there as long as something
        else holds it.
        """
        if isinstance(value, ast.Call) and value.op_name in KILLS and len(value.args) == 1:
            [var] = value.args
            if isinstance(var, ast.Var):
                self.scope.end(var)
                self.compiler.killed.add(var)

    def _append(self, instruction: Instruction[Any]) -> None:
        instruction.index, instruction.scope = self.scope.size, self.scope
        instruction.serial = self.scope.serial
        self.scope.serial += 1
        if self.last is None:
            self.first = instruction
        else:
            self.last.next = instruction
        self.last = instruction

    # ------------------------------------------------------------ values

    def value(self, expr: ast.Expr, span: Span | None, var: ast.Var | None) -> None:
        """The instructions that evaluate an expression and put its value into the next place."""
        own: Span | None = getattr(expr, "span", None)
        # that of a variable is where it is bound; the step is where it is used
        where = span or own if isinstance(expr, ast.Var | ast.GlobalVar) else own or span
        instruction = _VALUES[type(expr)](self, expr, where, var)
        instruction.var = var
        self._append(instruction)
        self._place(instruction, var)

    def _place(self, instruction: Instruction[Any], var: ast.Var | None) -> None:
        """The places of a variable, and of the shape variable that it is."""
        self.scope.add(var, instruction.span)
        if var is not None and var.shape_var is not None:
            instruction.number = True
            self.scope.add(var.shape_var, instruction.span)

    def operand(self, expr: ast.Expr, span: Span | None = None) -> Reader:
        """Reads an operand: of a variable its value; anything else is evaluated first."""
        if isinstance(expr, ast.Var):
            return self.variable(expr)
        if isinstance(expr, ast.GlobalVar):
            value = self.compiler.values.get(expr)
            return _unbound(expr.name_hint) if value is None else lambda _: value
        self.value(expr, getattr(expr, "span", None) or span, None)
        return slot_reader(0, self.scope.size - 1)

    def variable(self, var: ast.Var) -> Reader:
        found = self.scope.reader(var)
        if found is None:
            return (
                _killed(var.name_hint) if var in self.compiler.killed else _unbound(var.name_hint)
            )
        return found

    # ------------------------------------------------------------ by kind of expression

    def constant(
        self, expr: ast.Constant, span: Span | None, var: ast.Var | None
    ) -> Instruction[Any]:
        return Instruction(expression_rules.constant, expr, span, (), _Literal(expr.data))

    def name(self, expr: ast.Expr, span: Span | None, var: ast.Var | None) -> Instruction[Any]:
        return Instruction(expression_rules.variable, expr, span, (self.operand(expr),), None)

    def tuple(self, expr: ast.Tuple, span: Span | None, var: ast.Var | None) -> Instruction[Any]:
        spans = expr.field_spans or (span,) * len(expr.fields)
        fields = tuple(self.operand(f, s) for f, s in zip(expr.fields, spans, strict=True))
        return Instruction(expression_rules.tuple_, expr, span, fields, None)

    def item(
        self, expr: ast.TupleGetItem, span: Span | None, var: ast.Var | None
    ) -> Instruction[Any]:
        whole = self.operand(expr.tuple_value, span)
        return Instruction(expression_rules.tuple_get_item, expr, span, (whole,), expr.index)

    def prim(self, expr: ast.PrimValue, span: Span | None, var: ast.Var | None) -> Instruction[Any]:
        if isinstance(expr.value, tir.OpaqueExpr):  # an index map
            return Instruction(expression_rules.string, expr, span, (), expr.value.text)
        payload = (prim_exprs.prepare(expr.value, self.scope), tir.type_of(expr.value))
        return Instruction(expression_rules.prim, expr, span, (), payload)

    def shape(
        self, expr: ast.ShapeExpr, span: Span | None, var: ast.Var | None
    ) -> Instruction[Any]:
        dims = tuple(prim_exprs.prepare(dim, self.scope) for dim in expr.values)
        return Instruction(expression_rules.shape, expr, span, (), dims)

    def string(
        self, expr: ast.StringImm, span: Span | None, var: ast.Var | None
    ) -> Instruction[Any]:
        return Instruction(expression_rules.string, expr, span, (), expr.value)

    def dtype(
        self, expr: ast.DataTypeImm, span: Span | None, var: ast.Var | None
    ) -> Instruction[Any]:
        return Instruction(expression_rules.data_type, expr, span, (), expr.value)

    def extern(
        self, expr: ast.ExternFunc, span: Span | None, var: ast.Var | None
    ) -> Instruction[Any]:
        return Instruction(expression_rules.extern_func, expr, span, (), expr.global_symbol)

    def literal(
        self, expr: ast.Function, span: Span | None, var: ast.Var | None
    ) -> Instruction[Any]:
        name = var.name_hint if var is not None else "a function"
        code = self.compiler.function(expr, name, self.scope, var)
        return Instruction(expression_rules.function, expr, span, code.captures, code)

    def branch(self, expr: ast.If, span: Span | None, var: ast.Var | None) -> Instruction[Any]:
        cond = self.operand(expr.cond, expr.cond_span)
        made: Instruction[tuple[Code, ...]]
        made = Instruction(control.branch, expr, expr.cond_span or span, (cond,), ())
        made.payload = tuple(self._branch(made, b) for b in (expr.true_branch, expr.false_branch))
        return made

    def _branch(self, at: Instruction[Any], body: ast.Expr) -> Code:
        code = Code(
            body, ScopeSlots(self.scope, at), self.compiler.body, getattr(body, "span", None)
        )
        code.function = self.code.function
        return code

    def call(self, expr: ast.Call, span: Span | None, var: ast.Var | None) -> Instruction[Any]:
        expr = as_operator(expr, self.compiler.hidden)
        spans = expr.arg_spans or (span,) * len(expr.args)
        head = () if isinstance(expr.op, ast.Op) else (self.operand(expr.op, span),)
        args = tuple(self.operand(a, s) for a, s in zip(expr.args, spans, strict=True))
        if not isinstance(expr.op, ast.Op):
            made: Instruction[Any] = Instruction(
                expression_rules.call, expr, span, (*head, *args), None
            )
        else:
            rule = SPECIAL.get(expr.op.op_name, OTHERS)
            made = Instruction(rule.apply, expr, span, args, rule.prepare(self, expr, args))
        declared = _declared(expr)
        nothing = isinstance(declared, ast.TupleStructInfo) and not declared.fields
        if nothing and isinstance(expr.op, ast.ExternFunc):
            made.receive = dropped
        elif declared is not None:
            made.receive = Check([declared], (), self.scope)
        return made

    def _match_cast(self, binding: ast.MatchCast) -> None:
        value = self.operand(binding.value, binding.value_span)
        known = self.scope
        binds = [v for v in binding.shape_vars if known.find(v) is None]
        check = cast_of(binding, binds, known)
        span = binding.span or binding.value_span
        made = Instruction(control.match_cast, binding.value, span, (value,), check, binding.var)
        self._append(made)
        if binding.var is not None:
            self._place(made, binding.var)
        for shape_var in binds:
            self.scope.add(shape_var, span)


_Value = Callable[[_Body, Any, Span | None, ast.Var | None], Instruction[Any]]
_VALUES: dict[type, _Value] = {
    ast.Constant: _Body.constant,
    ast.Var: _Body.name,
    ast.DataflowVar: _Body.name,
    ast.GlobalVar: _Body.name,
    ast.Tuple: _Body.tuple,
    ast.TupleGetItem: _Body.item,
    ast.PrimValue: _Body.prim,
    ast.ShapeExpr: _Body.shape,
    ast.StringImm: _Body.string,
    ast.DataTypeImm: _Body.dtype,
    ast.ExternFunc: _Body.extern,
    ast.Function: _Body.literal,
    ast.If: _Body.branch,
    ast.Call: _Body.call,
}


_LARGE = 1 << 20
"""Bytes of a constant that is loaded each time."""


class _Literal:
    """The array of a constant: a new one for each evaluation. What is large is not kept."""

    __slots__ = ("_array", "_data")

    def __init__(self, data: ast.Literal) -> None:
        self._data = data
        self._array: Any = None

    def __call__(self) -> Any:
        data = self._data
        if isinstance(data.content, LateBytes) and len(data.content) > _LARGE:
            made = np.frombuffer(buffer_of(data.content), numpy_type(data.dtype))
            return made.reshape(data.shape or ())
        if self._array is None:
            if data.value is not None:
                made = array_of(data.value, numpy_type(data.dtype))
            elif data.content is not None:
                made = np.frombuffer(bytes(data.content), numpy_type(data.dtype))
            else:
                raise UnsupportedStop(
                    "E-constant-data", "the program text omits the constant's data"
                )
            self._array = made.reshape(data.shape or ())
        return self._array.copy()


def _declared(call: ast.Call) -> ast.StructInfo | None:
    """The declared type of a call's value: by its type arguments, or by the annotation of an opaque
    callee.
    """
    if call.sinfo_args:
        return declared_by(call.sinfo_args)
    info = call.op.struct_info if isinstance(call.op, ast.ExternFunc) else None
    if isinstance(call.op, ast.Var):
        info = call.op.struct_info_annotation
    if isinstance(info, ast.FuncStructInfo) and info.params is None and info.derive_func is None:
        return info.ret
    return None


def _killed(name: str) -> Reader:
    def refuse(_: Frame) -> Any:
        raise FaultStop("E-var-alive", f"{name} is used after it was killed")

    return refuse


def _unbound(name: str) -> Reader:
    def refuse(_: Frame) -> Any:
        # WF02: every variable is defined where it is used.
        raise IllFormedStop("E-var-bound", f"{name} has no value here")

    return refuse
