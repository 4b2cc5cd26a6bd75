"""The state of a derivation: its knowledge, its rules, and its interface for operators."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from rlx.checker.derive import message_text, naming, policy
from rlx.checker.derive.doubts import Doubt
from rlx.checker.derive.environment import Environment
from rlx.grammar.dialects import DEFAULT, Dialect, dialect
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Expr, ShapeStructInfo, StructInfo, TensorStructInfo, VDevice
from rlx.grammar.nodes.dtype import lacking
from rlx.grammar.nodes.node import Node
from rlx.grammar.nodes.vdevices import declared
from rlx.grammar.nodes.visit import evaluated
from rlx.operators.context import Message, OperatorContext, Place

Rule = Callable[["DerivationState", Any], StructInfo]


class Effects:
    """The effects that are allowed at the current place.

    Attributes
    ----------
    pure
        Whether the enclosing function promises to be pure (and is not told to look away by
        ``relax.force_pure``).
    dataflow
        Whether the place is inside a dataflow block of that function.
    lowered
        Whether the function has ``relax.force_pure``: a late stage of compilation, which keeps
        shapes in tensors and checks them by calls of its own.
    unchecked
        In a lowered function, how many values of unknown shape stand where a shape is expected.
    """

    __slots__ = ("dataflow", "lowered", "pure", "unchecked")

    def __init__(self, pure: bool, lowered: bool) -> None:
        self.pure, self.lowered = pure, lowered
        self.dataflow = False
        self.unchecked = 0


class DerivationState(Environment, OperatorContext):
    """The derivation of one module; also what operators ask (:class:`OperatorContext`).

    Attributes
    ----------
    discharged
        Proof obligations that operators settled on sight.
    overwrites
        Whether some call overwrites an argument in place.
    lowered
        Whether the module handles memory or shapes by itself.
    dialect
        The version whose words messages use.
    places
        Arguments of calls, of which no device is known yet, with the devices that are expected.
    """

    def __init__(
        self,
        module: ast.IRModule,
        rules: Mapping[type[Node], Rule],
        unknown_operators: set[str],
        captured: Collection[Node] = (),
        words: Dialect | None = None,
    ) -> None:
        super().__init__(module, captured)
        self.dialect = words or dialect(DEFAULT)
        self.rules = rules
        self.unknown_operators = unknown_operators
        self.effects = Effects(False, False)
        self.discharged = 0
        self.proved = self.refuted = self.unknown = 0
        self.call: ast.Call | None = None
        self.constants: dict[object, StructInfo] = {}
        self._values: dict[ast.Var, Expr] | None = None
        self.overwrites = False
        self.lowered = False
        self.places: list[tuple[ast.Call, int, VDevice]] = []

    def info(self, expr: Expr) -> StructInfo:
        """The struct info of an expression, derived at the first question."""
        found = self.info_of.get(expr)
        if found is None:
            found = self.info_of[expr] = self.rules[type(expr)](self, expr)
        return found

    def spoiled(self, call: ast.Call) -> Doubt | None:
        """Why nothing is reported about a call that depends on its arguments: one of them,
        positional or named, is wrong already, or Python around the program gives it.
        """
        given = [a for a in (*call.args, *call.attrs.values()) if isinstance(a, Node)]
        if self.doubts.strongest(given) is Doubt.WRONG:
            return Doubt.WRONG
        captured = self.captured
        if captured:
            inside = (f for a in given if isinstance(a, ast.Tuple) for f in a.fields)
            if any(map(self.is_open, call.sinfo_args)) or any(
                a in captured for a in (*given, *inside)
            ):
                return Doubt.UNSAID
        return None if all(map(policy.typed, call.sinfo_args)) else Doubt.UNSAID

    # Scopes

    def bind(self, var: ast.Var, info: StructInfo) -> None:
        """Γ[var] := info."""
        if var.shape_var is not None:
            info = naming.scalar(self, var, var.shape_var, info)
        self.info_of[var] = info
        if self.captured and self.is_open(info):
            self.doubt(var, Doubt.UNSAID)
        if isinstance(info, TensorStructInfo | ShapeStructInfo) and not self.poisoned(var):
            naming.elements(self, var, info)
        if type(info) is TensorStructInfo and lacking(info.dtype) is not None:
            self.doubt(var)  # well-formedness has said so
        if type(info) is ShapeStructInfo:
            self.shapes.add(var)
            self.scope.shapes.append(var)
            self.home[var] = self.scope

    def bind_scalars(
        self, variables: Sequence[tir.Var], infos: Sequence[StructInfo | None]
    ) -> None:
        """Add to Σ what a signature or a cast binds; what is the size of nothing may be
        negative.
        """
        self.bind_shape_vars(variables)
        for var in naming.may_be_negative(variables, infos) if variables else ():
            self.prover.declare(var)
            self.signed.add(var)

    # Reports

    def report(
        self, code: str, severity: str, message: str, at: Place = None, **extra: object
    ) -> None:
        """Report a diagnostic of the current call; of one with an argument that is already wrong,
        only what does not depend on the values of arguments.
        """
        assert self.call is not None
        span = message_text.of_argument(self.call, at)
        keywords = [name for name, _ in self.call.attr_spans.values()]
        if self.spoiled(self.call) and code != "D14-arity" and span not in keywords:
            return
        if at is not None and "related" not in extra:
            extra["related"] = message_text.definition(self, message_text.argument(self.call, at))
        self.add(code, severity, message, span, **extra)

    def require(
        self,
        code: str,
        conditions: Sequence[tir.PrimExpr],
        message: Message,
        at: Place = None,
    ) -> bool:
        """Prove an obligation of the current call; see :meth:`OperatorContext.require`."""
        if not self.judges:
            return True
        relation = policy.relation_of(conditions, self.prover)
        match relation.kind:
            case "always":
                self.proved += 1
                return True
            case _ if self.call is not None and self.spoiled(self.call):
                return relation.kind in ("sometimes", "unknown")
            case "sometimes" if self.depends(conditions):
                self.unknown += 1
                return True
            case "sometimes" | "unknown" if not self.knows(conditions):
                self.unknown += 1  # well-formedness has reported the variable
                return True
            case "unknown":
                self.unknown += 1
            case _:
                self.refuted += 1
        found = policy.decision_on(relation, message())
        self.report(code, found.severity, found.message, at, **found.extra)
        return relation.kind in ("sometimes", "unknown")

    # What operators ask

    def fresh_dim(self, hint: str) -> tir.Var:
        """A dimension that exists but is not known; in scope where the call stands."""
        var = tir.Var(hint)
        self.bind_shape_vars((var,))
        return var

    def fresh_scalar(self, hint: str) -> tir.Var:
        """An integer that exists but is not known, and may be negative."""
        var = self.fresh_dim(hint)
        self.prover.declare(var)
        self.signed.add(var)
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
        """The value that a variable is bound to."""
        if self._values is None:
            inside = evaluated(self.module, ast.VarBinding)
            self._values = {binding.var: binding.value for binding in inside}
        return self._values.get(var)

    def vdevices(self) -> Sequence[tuple[str, int]]:
        """The virtual devices that the module declares."""
        return declared(self.module)
