"""What is known while types and shapes of a module of 2022 are derived."""

from __future__ import annotations

from collections.abc import Collection

from rlx.checker.derive.module import RULES
from rlx.checker.derive.state import DerivationState
from rlx.grammar.diagnostic import Diagnostic
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Expr, StructInfo, Var
from rlx.grammar.nodes.node import Node, Span
from rlx.grammar.nodes.struct_infos import numbers, whole
from rlx.old.annotations import struct_info
from rlx.old.shape_exprs import UNKNOWN
from rlx.old.types import OBJECT, Type
from rlx.spec.registry import refuted


class OlderDerivation:
    """The derivation of one module.

    Attributes
    ----------
    types
        The document's Γ, extended to all expressions met: their ``checked_type_``.
    shapes
        The ``shape_`` of variables and expressions.
    variables, shape_vars
        What is in scope: the variables that a shape computation may mention.
    functions
        The function literals that variables and global variables are bound to.
    poison
        Expressions about which an error was reported, or of which nothing can be known.
    dataflow
        Whether the place is inside a dataflow block of the function at hand.
    impure
        Whether the function at hand contained a call that may have effects.
    operators
        What the inference of operators asks and reports to.
    """

    def __init__(self, module: ast.IRModule, captured: Collection[Node] = ()) -> None:
        self.module = module
        self.types: dict[Node, Type] = {}
        self.shapes: dict[Node, Expr] = {}
        self.variables: set[Var] = set()
        self.shape_vars: set[tir.Var] = set()
        self.functions: dict[Node, ast.Function] = {}
        self.poison: set[Node] = set(captured)
        self.dataflow = False
        self.impure = False
        self.diagnostics: list[Diagnostic] = []
        self.operators = DerivationState(module, RULES, set(), captured)
        self.prover = self.operators.prover
        self._added: list[Var | tir.Var] = []

    def report(
        self,
        code: str,
        message: str,
        span: Span | None,
        *,
        severity: str = "error",
        help: str | None = None,
    ) -> None:
        """Report what is wrong at a place."""
        refuted(code)
        self.diagnostics.append(Diagnostic(code, severity, message, span, help=help))

    def is_poisoned(self, *exprs: Expr) -> bool:
        """Whether something is wrong with an expression already, or with one inside of it."""
        return any(expr in self.poison for expr in exprs)

    def set(self, expr: Expr, type: Type, shape: Expr = UNKNOWN) -> Type:
        """Note the type and the shape of an expression; its type."""
        self.types[expr] = type
        self.shapes[expr] = shape
        return type

    def type(self, expr: Expr) -> Type:
        """The type of an expression that was derived."""
        return self.types.get(expr, OBJECT)

    def shape(self, expr: Expr) -> Expr:
        """The `shape_` of an expression that was derived."""
        return self.shapes.get(expr, UNKNOWN)

    def view(self, expr: Expr) -> StructInfo:
        """Type and shape of an expression as the inference of operators reads them."""
        match expr:
            case ast.ShapeExpr(values=values):
                return ast.ShapeStructInfo(values, len(values))
        return struct_info(self.type(expr), self.shape(expr))

    # Scopes

    def bind(self, var: Var, type: Type, shape: Expr) -> None:
        """Γ[var] := type."""
        self.set(var, type, shape)
        self.variables.add(var)
        self._added.append(var)

    def bind_shape_vars(self, infos: Collection[StructInfo | None]) -> None:
        """Bring the shape variables into scope that stand alone in a dimension of annotations."""
        for info in infos:
            for part in whole(info) if info is not None else ():
                for dim in numbers(part):
                    if isinstance(dim, tir.Var) and dim not in self.shape_vars:
                        self.shape_vars.add(dim)
                        self._added.append(dim)

    def enter(self) -> int:
        """Open a scope; :meth:`leave` takes the number."""
        return len(self._added)

    def leave(self, mark: int) -> None:
        """Take out of scope what was bound since."""
        for var in self._added[mark:]:
            if isinstance(var, tir.Var):
                self.shape_vars.discard(var)
            else:
                self.variables.discard(var)
        del self._added[mark:]
