"""Relay to Relax: a module in A-normal form, binding by binding."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from rlx.grammar.diagnostic import Diagnostic, Source
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import FuncStructInfo, StructInfo, TensorStructInfo, TupleStructInfo
from rlx.grammar.nodes.dtype import BOOL
from rlx.grammar.nodes.equal import structural_equal
from rlx.grammar.nodes.node import Span, replace
from rlx.grammar.nodes.struct_infos import OBJECT
from rlx.grammar.nodes.tir import IntImm
from rlx.grammar.nodes.unused_names import Names
from rlx.grammar.nodes.visit import callees_first
from rlx.grammar.read.parser import ParseError
from rlx.grammar.stack import recursion_room
from rlx.grammar.suggest import did_you_mean
from rlx.relay.anf import to_anf
from rlx.relay.derivation import NOTHING, UNKNOWN_TENSOR, QuietDerivation
from rlx.relay.nodes import (
    ATOMS,
    RelayCall,
    RelayConstant,
    RelayExpr,
    RelayFunction,
    RelayFuncType,
    RelayGlobalVar,
    RelayIf,
    RelayLet,
    RelayModule,
    RelayOp,
    RelayProjection,
    RelayTuple,
    RelayVar,
)
from rlx.relay.operator_table import is_in_table, similar, translated
from rlx.relay.scopes import EvaluationScope, Schedule
from rlx.relay.translated_call import OperandError, TranslatedCall, prim
from rlx.relay.type_conversion import Dimensions, identifier, struct_info, with_binders
from rlx.solver.order import erase
from rlx.spec.registry import refuted, rule


class FunctionTranslation:
    """The translation of a function of the module.

    Attributes
    ----------
    function
        The function of Relax.
    signature
        What is known of it.
    diagnostics
        Errors and notes.
    losses
        Notes that matter to who goes on with the translation, and not to the check.
    """

    def __init__(
        self,
        function: RelayFunction,
        names: Mapping[RelayGlobalVar, ast.GlobalVar],
        signatures: Mapping[ast.GlobalVar, StructInfo],
    ) -> None:
        self.diagnostics: list[Diagnostic] = []
        self.losses: list[Diagnostic] = []
        self._names, self._know = names, QuietDerivation(signatures)
        self._vars: dict[RelayExpr, ast.Var] = {}
        self._values: dict[RelayExpr, ast.Expr] = {}
        self._bindings: dict[EvaluationScope, list[ast.Binding]] = {}
        self._schedule = Schedule(function.body)
        self._roles = _roles(self._schedule)
        unused = Names(("R", "T", "I", "cls"), "_")
        self._unused = unused.new
        self._signatures: dict[RelayFunction | None, Dimensions] = {None: Dimensions(unused)}
        self._dims: dict[EvaluationScope, Dimensions] = {}
        self._bound: dict[RelayFunction, tuple[tir.Var, ...]] = {}
        self._enter(function, self._signatures[None])
        # The parameters of all functions inside are entered, the outer ones first.
        for node, _ in reversed(self._schedule.order):
            if isinstance(node, RelayFunction):
                outer = self._signatures[self._schedule.scope_of[node].function]
                self._signatures[node] = outer.inner()
                self._enter(node, self._signatures[node])
        self._translate()
        self.function = self._function(function, self._schedule.root)
        self.signature = with_binders(self._know.infos[self.function], ())

    # ------------------------------------------------------------ functions

    def _dims_of(self, scope: EvaluationScope) -> Dimensions:
        """The shape variables in a scope: of the signatures and the lets around it."""
        if scope not in self._dims:
            outer = scope.parent
            same = outer is not None and outer.function is scope.function
            known = self._dims_of(outer) if outer and same else self._signatures[scope.function]
            self._dims[scope] = known.inner()
        return self._dims[scope]

    def _enter(self, function: RelayFunction, dims: Dimensions) -> None:
        """Know the parameters of a function."""
        before = set(dims.known)
        infos = []
        for param in function.params:
            name = identifier(param.name)
            info = struct_info(param.annotation, dims, f"{name}_dim")
            if param.annotation is None:
                info = self._guess(param)
            dims.known.update(_binding(info))
            infos.append((param, info))
        for param, info in infos:
            found = with_binders(info, dims.known)
            self._know.infos[self._declare(param, found)] = found
        bound = dict.fromkeys(v for _, info in infos for v in _binding(info))
        self._bound[function] = tuple(v for v in bound if v not in before)

    def _guess(self, param: RelayVar) -> StructInfo:
        """The type of a parameter without one, by its use: operators take tensors."""
        match self._roles.get(param):
            case "function":
                return FuncStructInfo(None, OBJECT, True, "default")
            case "tuple":
                return OBJECT
        return UNKNOWN_TENSOR

    def _declare(self, var: RelayVar, annotation: StructInfo | None) -> ast.Var:
        made = ast.Var(self._unused(identifier(var.name)), annotation, None, var.span)
        self._vars[var] = made
        return made

    def _function(self, function: RelayFunction, scope: EvaluationScope) -> ast.Function:
        """A function whose body was translated."""
        dims = self._signatures[scope.function]
        params = tuple(self._vars[param] for param in function.params)
        infos = tuple(self._know.infos[param] for param in params)
        body = self._sequence(scope)
        found = self._know.info(self._atom(scope.result))
        if function.ret is not None:
            ret = with_binders(struct_info(function.ret, dims, None), dims.known)
        else:
            ret = found if found is NOTHING else erase(found, frozenset(), dims.known)
        said = None if ret is NOTHING or ret is OBJECT else ret
        bound = self._bound[function]
        place: Span | None = getattr(function.ret, "span", None)
        start = function.span[0] if function.span else 0
        for name in function.attrs:
            words = f"the attribute {name} of a function has no meaning in Relax and is left out"
            self._lose("RL-operator-attribute", words, (start, start + 1))
        made = ast.Function(params, body, said, None, {}, bound, span=function.span, ret_span=place)
        self._know.infos[made] = FuncStructInfo(infos, ret)
        return made

    def _sequence(self, scope: EvaluationScope) -> ast.SeqExpr:
        bindings = tuple(self._bindings.get(scope, ()))
        blocks = (ast.BindingBlock(bindings),) if bindings else ()
        result = self._atom(scope.result)
        return ast.SeqExpr(blocks, result, getattr(result, "span", None))

    # ------------------------------------------------------------ bindings

    def _translate(self) -> None:
        """Translate the nodes in their order; inner scopes come before what opens them."""
        for node, binds in self._schedule.order:
            if binds:
                assert isinstance(node, RelayLet)
                self._bind(node)
            elif not isinstance(node, RelayLet):
                self._values[node] = self._value(node)

    def _bind(self, let: RelayLet) -> None:
        scope, value = self._schedule.binding_scope[let], let.value
        made = self._atom(value) if isinstance(value, ATOMS) else self._values[value]
        var = self._vars.get(let.var) or self._declare(let.var, None)
        annotation = let.var.annotation
        if isinstance(value, RelayFunction) or isinstance(annotation, RelayFuncType | None):
            self._emit(scope, var, made, let.span)
            return
        dims = self._dims_of(scope)
        info = struct_info(annotation, dims, f"{var.name_hint}_dim")
        new = tuple(v for v in dict.fromkeys(_binding(info)) if v not in dims.known)
        dims.known.update(new)
        info = with_binders(info, dims.known)
        self._know.infos[var] = info
        if not isinstance(made, ast.Var | ast.Constant):
            plain = ast.Var(self._unused(var.name_hint), None, None, let.span)
            self._emit(scope, plain, made, let.span)
            made = plain
        cast = ast.MatchCast(var, made, info, new, span=let.span)
        self._bindings.setdefault(scope, []).append(cast)

    def _emit(
        self, scope: EvaluationScope, var: ast.Var, value: ast.Expr, span: Span | None
    ) -> None:
        self._know.infos[var] = self._know.info(value)
        bindings = self._bindings.setdefault(scope, [])
        bindings.append(ast.VarBinding(var, value, span, span))

    # ------------------------------------------------------------ values

    def _atom(self, node: RelayExpr) -> ast.Expr:
        """A variable, a constant, or the name of a function."""
        while isinstance(node, RelayLet):
            node = node.body
        match node:
            case RelayConstant(data=data, span=span):
                return ast.Constant(data, span)
            case RelayGlobalVar():
                return self._names[node]
            case RelayVar() if node not in self._vars:
                return self._declare(node, None)
        return self._vars[node]

    def _value(self, node: RelayExpr) -> ast.Expr:
        """The value that a let binds."""
        match node:
            case RelayCall(op=RelayOp(name=name, span=place), args=args):
                return self._operator(node, name, tuple(map(self._atom, args)), place)
            case RelayCall(op=op, args=args, span=span):
                return ast.Call(self._atom(op), tuple(map(self._atom, args)), span=span)
            case RelayTuple(fields=fields, span=span):
                return ast.Tuple(tuple(map(self._atom, fields)), (), span)
            case RelayProjection(value=value, index=index, span=span):
                return ast.TupleGetItem(self._atom(value), index, span)
            case RelayIf(cond=cond, span=span):
                yes, no = self._schedule.inner[node]
                branches = self._atom(cond), self._sequence(yes), self._sequence(no)
                made = ast.If(*branches, node.cond.span, span)  # type: ignore[attr-defined]
                infos = [self._know.info(self._atom(scope.result)) for scope in (yes, no)]
                known = self._dims_of(self._schedule.scope_of[node]).known
                self._know.infos[made] = erase(self._know.joined(*infos), frozenset(), known)
                return made
            case RelayFunction():
                return self._function(node, self._schedule.inner[node][0])
        raise AssertionError(f"no translation of {node!r}")

    @rule("RL-operator", "Relay translation")
    def _operator(
        self, node: RelayCall, name: str, args: tuple[ast.Expr, ...], place: Span | None
    ) -> ast.Expr:
        if not is_in_table(name):
            words = f"{name} is not a known operator: it becomes a packed function of the same name"
            self._say("RL-operator-known", "note", words, place, did_you_mean(similar(name)))
            tensor = self._roles.get(node) not in ("function", "tuple")
            result = UNKNOWN_TENSOR if tensor else OBJECT
            return packed_call(name, args, node.attrs, result, node.span)
        call = TranslatedCall(name, args, node.attrs, self._know.info)
        try:
            made = translated(call)
        except OperandError as error:
            if not any(self._know.info(arg) is NOTHING for arg in args):
                self._say("RL-operator-operands", "error", str(error), node.span)
            return packed_call(name, args, node.attrs, OBJECT, node.span)
        if call.refused_later:
            help = "write the type of the operand"
            self._lose("RL-operator-operands", call.refused_later, node.span, help)
        for attribute in call.unread():
            words = f"{name}: the attribute {attribute} has no meaning in Relax and is left out"
            self._say("RL-operator-attribute", "note", words, node.span)
        return self._flat(node, made)

    def _flat(self, node: RelayExpr, made: ast.Expr) -> ast.Expr:
        """Nested calls, the inner ones bound to variables of their own."""
        span: Span | None = getattr(node, "span", None)
        scope = self._schedule.scope_of[node]
        match made:
            case ast.Call(args=args):
                parts = tuple(self._part(scope, arg, span) for arg in args)
                return ast.Call(
                    made.op,
                    parts,
                    made.attrs,
                    (),
                    (),
                    (),
                    span,
                    op_span=getattr(node, "span", None),
                )
            case ast.Tuple(fields=fields):
                return ast.Tuple(tuple(self._part(scope, f, span) for f in fields), (), span)
        return made

    def _part(self, scope: EvaluationScope, expr: ast.Expr, span: Span | None) -> ast.Expr:
        """An operand as an atom."""
        match expr:
            case ast.Call(args=args):
                parts = tuple(self._part(scope, arg, span) for arg in args)
                value: ast.Expr = ast.Call(expr.op, parts, expr.attrs, (), (), (), span)
            case ast.TupleGetItem():
                value = expr
            case ast.Tuple(fields=fields):
                return ast.Tuple(tuple(self._part(scope, f, span) for f in fields), (), span)
            case _:
                return expr
        var = ast.Var(self._unused("lv"), None, None, span)
        self._emit(scope, var, value, span)
        return var

    def _say(
        self, code: str, severity: str, message: str, span: Span | None, help: str | None = None
    ) -> None:
        refuted(code)
        self.diagnostics.append(Diagnostic(code, severity, message, span, help=help))

    def _lose(self, code: str, message: str, span: Span | None, help: str | None = None) -> None:
        refuted(code)
        self.losses.append(Diagnostic(code, "note", message, span, help=help))


def _roles(schedule: Schedule) -> dict[RelayExpr, str]:
    """The roles of values: called, or a tuple of which a field is taken; also by the value that a
    variable is bound to.
    """
    found: dict[RelayExpr, str] = {}
    for node, binds in reversed(schedule.order):
        match node:
            case RelayCall(op=op) if not binds:
                found[op] = "function"
            case RelayProjection(value=value):
                found[value] = "tuple"
            case RelayLet(var=var, value=value) if binds and var in found:
                found[value] = found[var]
    return found


def _binding(info: StructInfo) -> tuple[tir.Var, ...]:
    """The shape variables that stand alone as dimensions of tensors."""
    match info:
        case TensorStructInfo(shape=ast.ShapeExpr(values=values)):
            return tuple(v for v in values if isinstance(v, tir.Var))
        case TupleStructInfo(fields=fields):
            return tuple(v for field in fields for v in _binding(field))
    return ()


def packed_call(
    name: str,
    args: tuple[ast.Expr, ...],
    attrs: Mapping[str, object],
    result: ast.StructInfo,
    span: Span | None,
) -> ast.Call:
    """The call: operands first, then the values of the attributes in order."""
    rest = tuple(argument(value) for value in attrs.values())
    function = ast.ExternFunc(name)
    op = ast.op("relax.call_pure_packed")
    return ast.Call(op, (function, *args, *rest), sinfo_args=(result,), span=span)


def argument(value: object) -> ast.Expr:
    match value:
        case bool():
            return ast.PrimValue(IntImm(int(value), BOOL))
        case int() | float():
            return prim(value)
        case tuple() if value and all(type(each) is int for each in value):
            return ast.ShapeExpr(tuple(IntImm(each) for each in value))
        case tuple():
            return ast.Tuple(tuple(map(argument, value)))
        case None:
            return ast.Call(ast.op("relax.null_value"), ())
    return ast.StringImm(str(value))


ROUNDS = 4
"""The most derivations of functions that call each other, until their results stay."""


class Translation(NamedTuple):
    """A module of Relax, what there is to say about it, and where its names come from.

    Attributes
    ----------
    module
        The module; where there are errors, calls that could not be translated yield any value.
    diagnostics
        Errors of calls that the table does not translate, and notes.
    names
        The global variable of each function of Relay.
    signatures
        What is known of each function.
    losses
        Notes on what is not in the module, or is refused there: they say nothing of the program.
    """

    module: ast.IRModule
    diagnostics: tuple[Diagnostic, ...]
    names: Mapping[RelayGlobalVar, ast.GlobalVar]
    signatures: Mapping[RelayGlobalVar, StructInfo]
    losses: tuple[Diagnostic, ...] = ()


def to_relax(module: RelayModule) -> ast.IRModule:
    """The module in Relax, with the same values, effects and failures.

    Nodes become bindings in the scope that evaluates them, operators are those of the table, and
    each dimension ``?`` of a parameter becomes a shape variable. Operators that the table does not
    have become calls of packed functions of their name.

    Raises
    ------
    ParseError
        If a call has no translation: a wrong number of operands, an attribute of another kind;
        ``diagnostics`` says which.
    """
    found = translate(module)
    errors = tuple(d for d in found.diagnostics if d.is_error)
    if errors:
        raise ParseError(errors)
    return found.module


def translate(module: RelayModule, path: str = "<text>") -> Translation:
    """As :func:`to_relax`, with errors and notes in the result."""
    source = Source(module.text, path)
    normal = to_anf(module)
    names = _names(normal)
    with recursion_room():
        made = _settled(normal, names)
    functions = {names[var]: _public(made[var].function, names[var]) for var in normal.functions}
    said = _once(d for var in normal.functions for d in made[var].diagnostics)
    lost = _once(d for var in normal.functions for d in made[var].losses)
    return Translation(
        ast.IRModule(functions),
        tuple(replace(d, source=source) for d in said),
        names,
        {var: made[var].signature for var in normal.functions},
        tuple(replace(d, source=source) for d in lost),
    )


def _settled(
    normal: RelayModule, names: Mapping[RelayGlobalVar, ast.GlobalVar]
) -> dict[RelayGlobalVar, FunctionTranslation]:
    """The translation of each function: once more where what it calls became better known."""
    calls = {var: _called(function, normal) for var, function in normal.functions.items()}
    order = list(callees_first(calls))
    signatures: dict[ast.GlobalVar, StructInfo] = {
        names[var]: FuncStructInfo(None, NOTHING, True, "default") for var in order
    }
    made: dict[RelayGlobalVar, FunctionTranslation] = {}
    derived, changed, now = dict.fromkeys(order, -1), dict.fromkeys(order, 0), 0
    for _ in range(ROUNDS):
        for var in order:
            if derived[var] >= 0 and all(changed[callee] < derived[var] for callee in calls[var]):
                continue
            now += 1
            derived[var] = now
            done = made[var] = FunctionTranslation(normal.functions[var], names, signatures)
            if not _same(done.signature, signatures[names[var]]):
                changed[var] = now
            signatures[names[var]] = done.signature
    return made


def _names(module: RelayModule) -> dict[RelayGlobalVar, ast.GlobalVar]:
    """A global variable of Relax for each function."""
    names = Names(separator="_")
    return {
        var: ast.GlobalVar(names.new(identifier(var.name)), var.span) for var in module.functions
    }


def _called(function: RelayFunction, module: RelayModule) -> list[RelayGlobalVar]:
    parts: Iterable[RelayExpr] = Schedule(function.body).uses
    return [p for p in parts if isinstance(p, RelayGlobalVar) and p in module.functions]


def _same(a: StructInfo, b: StructInfo) -> bool:
    """Whether two signatures say the same; without parameters they say nothing."""
    known = [getattr(info, "params", None) is not None for info in (a, b)]
    return structural_equal(a, b, map_free_vars=True) if all(known) else not any(known)


def _public(function: ast.Function, name: ast.GlobalVar) -> ast.Function:
    return replace(function, attrs={**function.attrs, "global_symbol": name.name_hint})


def _once(found: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Each note once, at its first place."""
    said: dict[tuple[str, object], Diagnostic] = {}
    for each in found:
        place = None if each.severity == "note" else each.span
        said.setdefault((each.message, place), each)
    return list(said.values())
