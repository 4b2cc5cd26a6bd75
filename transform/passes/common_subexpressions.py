"""Common subexpression elimination: equality of calls, and conditions to merge them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from functools import cache, cached_property

from rlx.checker.memory import IN_PLACE
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Expr, IRModule
from rlx.grammar.nodes.equal import structural_equal
from rlx.grammar.nodes.python_places import module_of
from rlx.grammar.nodes.visit import bindings, evaluated, reached
from rlx.operators.registry import lookup
from rlx.transform.arguments import argument, operands
from rlx.transform.builder.given import ARGUMENTS
from rlx.transform.visitors.mutator import ExprMutator
from rlx.transform.visitors.uses import callees, uses

Key = tuple[object, ...]

_CALLS_OUT = ("relax.call_", "relax.invoke_", "relax.vm.", "relax.memory.", "relax.builtin.")
_KERNEL = "relax.call_tir"
_ONLY_SHOWS = frozenset(["relax.print", "relax.assert_op"])


def key(value: Expr, functions: Collection[ast.GlobalVar] = ()) -> Key | None:
    """A key that calls of equal value share; None for values that must not be merged.

    Parameters
    ----------
    functions
        The functions of the module whose calls may be merged.
    """
    if type(value) is not ast.Call:
        return None
    callee = value.op
    args, attrs = value.args, value.attrs
    if type(callee) is ast.GlobalVar:
        if callee not in functions:
            return None
        made: list[object] = [callee]
    else:
        name = value.op_name
        if not _may_merge(name):
            return None
        made = [name]
        defaults, first = _parameters(name)
        if attrs or len(args) > first:
            args, attrs = _plain_form(value, defaults, first)
    made += [arg if isinstance(arg, ast.Var) else _leaf(arg) for arg in args]
    for name in sorted(attrs):
        given = attrs[name]
        made += (name, given) if type(given) is str else (name, _leaf(given))
    if value.sinfo_args:
        made.append(tuple(map(str, value.sinfo_args)))
    return tuple(made)


@cache
def _parameters(operator: str) -> tuple[Mapping[str, object], int]:
    """The attributes of an operator with their defaults, and the number of operands before the
    first one.
    """
    found = lookup(operator)
    assert found is not None
    first = next((k for k, p in enumerate(found.parameters) if p.kind not in ARGUMENTS), None)
    defaults = {p.name: p.default for p in found.parameters if p.kind not in (*ARGUMENTS, "types")}
    return defaults, len(found.parameters) if first is None else first


def _plain_form(
    call: ast.Call, defaults: Mapping[str, object], first: int
) -> tuple[tuple[Expr, ...], Mapping[str, object]]:
    """The operands and the attributes of a call without what it says by default, however it is
    spelled.
    """
    args, attrs = call.args, call.attrs
    if len(args) > first or not attrs.keys() <= defaults.keys():
        args = operands(call)
        attrs = {name: argument(call, name, None) for name in defaults}
    found: dict[str, object] = {}
    for name, given in attrs.items():
        if given != defaults[name]:
            one = name in _AXES and type(given) is tuple and len(given) == 1
            found[name] = given[0] if one else given  # type: ignore[index]
    return args, found


_AXES = frozenset(["axis", "axes"])
"""Attributes of which a list of one means its number."""


@cache
def _may_merge(operator: str) -> bool:
    """Whether calls of an operator may be made once: calls of packed functions are part of the
    meaning.
    """
    found = lookup(operator) if operator else None
    if found is None or not found.pure:
        return False
    return operator == _KERNEL or not operator.startswith(_CALLS_OUT)


_FEW = 1 << 10
"""Constants of more elements are equal only if they are the same: their texts would be large."""


def _leaf(given: object) -> object:
    """A variable itself; a shape by its variables and its text; all else by its text, with its
    kind.
    """
    match given:
        case ast.Var():
            return given
        case tuple() if all(type(part) is int for part in given):
            return given
        case ast.Tuple(fields=parts):
            return (ast.Tuple, *map(_leaf, parts))
        case ast.Constant(data=data):
            made = (ast.Constant, str(data.dtype), data.shape, str(given.distribution))
            if type(data.content) is bytes:
                return (*made, data.content)
            few = data.shape is not None and math.prod(data.shape) <= _FEW
            return (*made, repr(data.value)) if few and data.value is not None else given
        case ast.ShapeExpr(values=parts):
            return (ast.ShapeExpr, *map(_scalar, parts))
        case ast.PrimValue(value=part):
            return (ast.PrimValue, _scalar(part))
    return (type(given), str(given))


def _scalar(part: object) -> object:
    """Variables are told apart by what they are, not by their names."""
    return tir.interned(part) if isinstance(part, tir.PrimExpr) else part


def _part_key(value: Expr) -> Key | None:
    """A key of a tuple, of a field of one, or of a literal."""
    match value:
        case ast.Constant() | ast.ShapeExpr() | ast.PrimValue():
            return (type(value), _leaf(value))
        case ast.Tuple(fields=fields) if fields:
            return (ast.Tuple, *map(_leaf, fields))
        case ast.TupleGetItem(tuple_value=whole, index=index):
            return (ast.TupleGetItem, _leaf(whole), index)
    return None


def repeatable(functions: Mapping[ast.GlobalVar, ast.Function]) -> set[ast.GlobalVar]:
    """The functions of a module whose equal calls may be made once: all that they call, directly or
    not, may be made once.
    """
    found: dict[ast.GlobalVar, set[Expr]] = {}
    for gv, function in functions.items():
        if function.is_pure is not False:
            found[gv] = {call.op for call in evaluated(function, ast.Call)}
    callers: dict[Expr, list[ast.GlobalVar]] = {}
    for gv, inside in found.items():
        for callee in inside:
            callers.setdefault(callee, []).append(gv)
    unfit = (c for c in callers if c not in found)
    unfit = (c for c in unfit if not (type(c) is ast.Op and _may_merge(c.op_name)))
    return found.keys() - reached(unfit, lambda callee: callers.get(callee, ()))


def writes(module: IRModule) -> bool:
    """Whether some call may overwrite an existing value."""
    return any(map(may_write, callees(module_of(module))))


def overwritable(module: IRModule) -> set[ast.Var]:
    """The variables of a module in normal form whose values a call may overwrite: those with other
    uses than as operands of operators with new results. There are none if nothing overwrites.
    """
    found: set[ast.Var] = set()
    for function in module.functions.values() if writes(module) else ():
        if isinstance(function, ast.Function):
            reads: Counter[Expr] = Counter()
            for binding in bindings(function):
                value = binding.value
                if type(value) is ast.Call and _is_read(value):
                    reads.update(evaluated(value, ast.Var))
            found |= {var for var, count in uses(function).items() if count > reads[var]}
    return found


def _is_read(call: ast.Call) -> bool:
    """Whether a call only reads its operands."""
    operator = lookup(call.op_name)
    return operator is not None and operator.shares == "never" and _may_merge(call.op_name)


def may_write(callee: Expr) -> bool:
    """Whether a call of this may overwrite an existing value."""
    if not isinstance(callee, ast.Op):
        return isinstance(callee, ast.ExternFunc)
    name = callee.op_name
    if name in IN_PLACE or name.startswith(_CALLS_OUT[1:]):
        return True
    operator = lookup(name)
    return operator is not None and not operator.pure and name not in _ONLY_SHOWS


# ---------------------------------------------------------------- the pass


class Common(ExprMutator):
    """Remembers the calls that are in scope, with the variables that hold their values.

    Parameters
    ----------
    copies
        Whether a variable of an equal value becomes a copy, and does not go.
    calls
        Whether only calls are remembered.
    """

    def __init__(self, copies: bool = False, calls: bool = True) -> None:
        self._known: list[dict[Key, ast.Var]] = [{}]
        self._functions: Mapping[ast.GlobalVar, ast.Function] = {}
        self._copies, self._calls = copies, calls
        self._block: dict[ast.Var, ast.Var] = {}

    def in_order(self, functions: Mapping[ast.GlobalVar, ast.Function]) -> Iterable[ast.GlobalVar]:
        self._functions = functions
        self.__dict__.pop("_repeatable", None)
        return super().in_order(functions)

    @cached_property
    def _repeatable(self) -> set[ast.GlobalVar]:
        return repeatable(self._functions)

    def visit_seq_expr(self, seq: ast.SeqExpr) -> Expr:
        self._known.append({})
        made = super().visit_seq_expr(seq)
        self._known.pop()
        return made

    def visit_global_function(self, gv: ast.GlobalVar, function: ast.Function) -> None:
        self._known = [{}]
        super().visit_global_function(gv, function)

    def visit_function(self, function: ast.Function) -> Expr:
        outer, self._known = self._known, [{}]
        made = super().visit_function(function)
        self._known = outer
        return made

    def visit_dataflow_block(self, block: ast.DataflowBlock) -> None:
        self._block = {}
        super().visit_dataflow_block(block)
        for var, copy in self._block.items():  # what leaves the block keeps its name
            self.replace_var(var, copy)
        for scope in self._known:
            for made in [k for k, var in scope.items() if type(var) is ast.DataflowVar]:
                del scope[made]

    def visit_var_binding(self, binding: ast.VarBinding) -> None:
        if isinstance(binding.value, ast.Function):
            super().visit_var_binding(binding)
            return
        value = binding.value
        if type(value) is not ast.Call or not self.is_kept(value):
            value = self.visit_expr(value)
        called = type(value) is ast.Call and type(value.op) is ast.GlobalVar
        made = key(value, self._repeatable if called else ())
        if made is None and not self._calls:
            made = _part_key(value)
        earlier = None
        if made is not None:
            for scope in self._known:
                earlier = earlier or scope.get(made)
        if earlier is None or not self._says_as_much(earlier, binding.var, value):
            var = self.rebind(binding, value)
            if made is not None and earlier is None:
                self._known[-1][made] = var
        elif self._copies:
            self._block[binding.var] = self.rebind(binding, earlier)
            self.replace_var(binding.var, earlier)
        elif type(binding.var) is ast.DataflowVar or type(earlier) is not ast.DataflowVar:
            self.replace_var(binding.var, earlier)
        else:
            self.rebind(binding, earlier)

    def visit_match_cast(self, binding: ast.MatchCast) -> None:
        value, var = self.visit_expr(binding.value), binding.var
        made: Key = (ast.MatchCast, _leaf(value), str(binding.struct_info))
        if self._calls or var is None:
            super().visit_match_cast(binding)
            return
        for scope in self._known if not binding.shape_vars else ():
            earlier = scope.get(made)
            if earlier is not None and structural_equal(
                self.builder.struct_info(earlier), self.visit_struct_info(binding.struct_info)
            ):
                self.visit_var_binding(ast.VarBinding(var, earlier, binding.span, binding.span))
                self.replace_var(var, earlier)
                return
        super().visit_match_cast(binding)
        self._known[-1][made] = var

    def _says_as_much(self, earlier: ast.Var, var: ast.Var, value: Expr) -> bool:
        info, known = self.builder.struct_info, earlier.struct_info_annotation
        said = var.struct_info_annotation
        if said is not None and known is not None and structural_equal(known, said):
            return True
        return structural_equal(info(earlier), info(value))


def common_subexpressions(module: IRModule) -> IRModule:
    """Eliminate common subexpressions in a module: a pure call whose value is in scope already is
    not made again, also in branches and in later blocks.

    If something may be overwritten in place, equal values must not share memory, so the module is
    not changed.
    """
    return module if writes(module) else Common()(module)
