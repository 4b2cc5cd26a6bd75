"""Where a derivation stands: what is known of variables, which are in scope, what was found wrong."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from rlx.checker.derive import naming, policy, spans
from rlx.checker.derive.aliases import AliasProver
from rlx.grammar import ast, tir
from rlx.grammar.ast import (
    Expr,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    VDevice,
)
from rlx.grammar.diagnostic import Diagnostic
from rlx.grammar.dtype import lacking
from rlx.grammar.node import Node, Span
from rlx.grammar.vdevices import declared
from rlx.grammar.visit import bindings
from rlx.operators.context import Message, Place
from rlx.solver.context import Context
from rlx.solver.order import erase, free_shape_vars, substitute
from rlx.spec.registry import refuted

Rule = Callable[["State", Any], StructInfo]


class Effects:
    """What the place at hand allows.

    Attributes
    ----------
    pure
        Whether the enclosing function promises to be pure (and is not told to look away by
        ``relax.force_pure``).
    dataflow
        Whether the place is inside a dataflow block of that function.
    lowered
        Whether the function has ``relax.force_pure``: a late stage of compilation, which keeps shapes in
        tensors and checks them by calls of its own.
    unchecked
        In a lowered function, how many values of unknown shape stand where a shape is expected.
    """

    __slots__ = ("dataflow", "lowered", "pure", "unchecked")

    def __init__(self, pure: bool, lowered: bool) -> None:
        self.pure, self.lowered = pure, lowered
        self.dataflow = False
        self.unchecked = 0


class Scope:
    """What a function or a SeqExpr brings into scope, to be taken out again when it ends."""

    __slots__ = ("facts", "shape_vars", "shapes")

    def __init__(self) -> None:
        self.shape_vars: list[tir.Var] = []
        self.shapes: list[ast.Var] = []
        self.facts = 0


class State:
    """The derivation of one module; also what operators ask (:class:`OperatorContext`).

    Attributes
    ----------
    info
        The specification's Γ, extended to all expressions met; nothing is ever taken out of it.
    poisoned
        Expressions of which less is known than there should be, because of an error already reported, or
        because the text leaves data out. Nothing is reported about them again.
    unsaid
        Those of them of which nothing is wrong: the text leaves data out, or Python around it gives the value.
    captured
        Variables, shape variables and annotations that Python around the program gives a meaning.
    vague
        Expressions of which less is known than there should be, because of a warning already reported: that
        less is known is not reported again, what is certainly wrong is.
    shape_vars, shapes
        The specification's Σ, and those variables of Γ that hold a shape: what erasure leaves.
    held
        Which shape variables are known to hold, by dimensions or by another variable that holds the same.
    home
        The scopes of the variables that hold a shape.
    discharged
        Proof obligations that operators settled on sight.
    overwrites
        Whether some call overwrites an argument in place.
    places
        Arguments of calls, of which no device is known yet, with the devices that are expected.
    """

    def __init__(
        self,
        module: ast.IRModule,
        rules: Mapping[type[Node], Rule],
        unknown_operators: set[str],
        captured: Collection[Node] = (),
    ) -> None:
        self.module = module
        self.rules = rules
        self.unknown_operators = unknown_operators
        self.info_of: dict[Node, StructInfo] = {}
        self.poison: set[Node] = set()
        self.captured = set(captured)
        self.unsaid: set[Node] = {node for node in captured if isinstance(node, Expr)}
        self.vague: set[Node] = set()
        self.shape_vars: set[tir.Var] = set()
        self.shapes: set[ast.Var] = set()
        self.held: dict[ast.Var, ast.Var | ast.ShapeExpr] = {}
        self.home: dict[ast.Var, Scope] = {}
        self.scope = Scope()
        self.effects = Effects(False, False)
        self.prover = AliasProver()
        self.diagnostics: list[Diagnostic] = []
        self.discharged = 0
        self.proved = self.refuted = self.unknown = 0
        self.call: ast.Call | None = None
        self.constants: dict[object, StructInfo] = {}
        self._calls: dict[ast.Var, Expr] | None = None
        self.overwrites = False
        self.places: list[tuple[ast.Call, int, VDevice]] = []

    def info(self, expr: Expr) -> StructInfo:
        """The struct info of an expression, derived at the first question."""
        found = self.info_of.get(expr)
        if found is None:
            found = self.info_of[expr] = self.rules[type(expr)](self, expr)
        return found

    def poisoned(self, expr: Expr) -> bool:
        """Whether nothing should be reported about an expression."""
        return expr in self.poison

    def spoiled(self, call: ast.Call) -> bool:
        """Whether an argument of a call, positional or named, is wrong already."""
        if call.sinfo_args and not all(map(policy.typed, call.sinfo_args)):
            return True
        if not self.poison:
            return False
        if self.poison_is_wrong(call):
            return True
        if not self.captured:
            return False
        given = (*call.args, *call.attrs.values())
        inside = (f for a in given if isinstance(a, ast.Tuple) for f in a.fields)
        return any(isinstance(a, Node) and a in self.captured for a in (*given, *inside))

    def poison_is_wrong(self, call: ast.Call) -> bool:
        """Whether something is wrong with an argument of a call, which is more than not known."""
        given = (*call.args, *call.attrs.values()) if call.attrs else call.args
        poison, unsaid = self.poison, self.unsaid
        return any(isinstance(a, Node) and a in poison and a not in unsaid for a in given)

    def is_open(self, info: StructInfo) -> bool:
        """Whether a part of an info is what Python around the program says."""
        if info in self.captured:
            return True
        if isinstance(info, ast.TupleStructInfo):
            return any(self.is_open(field) for field in info.fields)
        return False

    def depends(self, parts: Iterable[Node]) -> bool:
        """Whether dimensions or infos mention a number that Python around the program gives."""
        captured = self.captured
        if not captured:
            return False
        for part in parts:
            free = (
                tir.free_vars(part) if isinstance(part, tir.PrimExpr) else free_shape_vars(part)  # type: ignore[arg-type]
            )
            if any(var in captured for var in free):
                return True
        return False

    def inherit(self, node: Node, parts: Sequence[Expr]) -> None:
        """What is made from something poisoned or vague is so as well."""
        poison, vague = self.poison, self.vague
        if poison and any(part in poison for part in parts):
            poison.add(node)
            if self.unsaid.issuperset(part for part in parts if part in poison):
                self.unsaid.add(node)
        elif vague and any(part in vague for part in parts):
            vague.add(node)

    # Scopes

    def enter(self) -> Scope:
        """Open a scope; the one around it."""
        outer, self.scope = self.scope, Scope()
        return outer

    def leave(self, outer: Scope) -> None:
        """Take out of scope what the present scope brought."""
        scope, self.scope = self.scope, outer
        if scope.shape_vars:
            self.shape_vars.difference_update(scope.shape_vars)
        if scope.shapes:
            self.shapes.difference_update(scope.shapes)
        if scope.facts:
            self.prover.context.pop()

    def bind(self, var: ast.Var, info: StructInfo) -> None:
        """Γ[var] := info."""
        if var.shape_var is not None:
            info = naming.scalar(self, var, var.shape_var, info)
        self.info_of[var] = info
        if self.captured and self.is_open(info):
            self.poison.add(var)
            self.unsaid.add(var)
        if type(info) is TensorStructInfo and lacking(info.dtype) is not None:
            self.poison.add(var)  # well-formedness has said so
        if type(info) is ShapeStructInfo:
            self.shapes.add(var)
            self.scope.shapes.append(var)
            self.home[var] = self.scope

    def bind_shape_vars(self, variables: Sequence[tir.Var]) -> None:
        """Add to Σ."""
        if variables:
            self.shape_vars.update(variables)
            self.scope.shape_vars.extend(variables)

    def bind_scalars(
        self, variables: Sequence[tir.Var], infos: Sequence[StructInfo | None]
    ) -> None:
        """Add to Σ what a signature or a cast binds; what is the size of nothing may be negative."""
        self.bind_shape_vars(variables)
        for var in naming.may_be_negative(variables, infos) if variables else ():
            self.prover.context.declare(var, None, None)

    def assumptions(self) -> Context:
        """The context of the present scope, to add one fact to; the facts end with the scope."""
        if not self.scope.facts:
            self.prover.context.push()
        self.scope.facts += 1
        return self.prover.context

    def outlived(self, info: StructInfo) -> StructInfo:
        """An info in terms of what the variables of the present scope are known to stand for."""
        if not self.scope.shape_vars:
            return info
        aliases = self.prover.aliases
        known = {v: aliases[v] for v in free_shape_vars(info) if v in aliases}
        return substitute(info, known) if known else info

    def erased(self, info: StructInfo) -> StructInfo:
        """What is left of an info in the present scope."""
        return erase(info, self.shapes, self.shape_vars)

    # Reports

    def add(self, code: str, severity: str, message: str, span: Span | None, **extra: Any) -> None:
        """Report a diagnostic at a place of the text."""
        refuted(code)
        self.diagnostics.append(Diagnostic(code, severity, message, span, **extra))

    def report(
        self, code: str, severity: str, message: str, at: Place = None, **extra: object
    ) -> None:
        """Report a diagnostic of the call at hand."""
        assert self.call is not None
        if at is not None and "related" not in extra:
            extra["related"] = spans.definition(self, spans.argument(self.call, at))
        self.add(code, severity, message, spans.of_argument(self.call, at), **extra)

    def require(
        self,
        code: str,
        condition: tir.PrimExpr | Sequence[tir.PrimExpr],
        message: Message,
        at: Place = None,
    ) -> bool:
        """Prove an obligation of the call at hand; see :meth:`OperatorContext.require`."""
        relation = policy.judged(condition, self.prover)
        if relation.kind == "sometimes" and self.captured:
            conditions = (condition,) if isinstance(condition, tir.PrimExpr) else condition
            if self.depends(conditions):
                self.unknown += 1
                return True
        if relation.kind == "always":
            self.proved += 1
            return True
        text = message if isinstance(message, str) else message()
        found = policy.weighed(relation, text)
        if relation.kind == "unknown":
            self.unknown += 1
        else:
            self.refuted += 1
        self.report(code, found.severity, found.message, at, **found.extra)
        return relation.kind != "never"

    # What operators ask

    def fresh_dim(self, hint: str) -> tir.Var:
        """A dimension that exists but is not known; in scope where the call stands."""
        var = tir.Var(hint)
        self.bind_shape_vars((var,))
        return var

    def global_info(self, gv: ast.GlobalVar) -> ast.FuncStructInfo | None:
        """The signature of a function of the module."""
        info = self.info(gv)
        return info if isinstance(info, ast.FuncStructInfo) else None

    def prim_func(self, gv: ast.GlobalVar) -> tir.PrimFunc | None:
        """The PrimFunc of that name."""
        function = self.module.functions.get(gv)
        return function if isinstance(function, tir.PrimFunc) else None

    def bound(self, var: ast.Var) -> Expr | None:
        """The value that a variable is bound to, if it is a call of an operator."""
        if self._calls is None:
            functions = self.module.functions.values()
            inside = (b for f in functions if isinstance(f, ast.Function) for b in bindings(f))
            calls = (b for b in inside if isinstance(b, ast.VarBinding) and _is_operation(b.value))
            self._calls = {b.var: b.value for b in calls}
        return self._calls.get(var)

    def vdevices(self) -> Sequence[tuple[str, int]]:
        """The virtual devices that the module declares."""
        return declared(self.module)


def _is_operation(value: Expr) -> bool:
    return type(value) is ast.Call and type(value.op) is ast.Op
