"""The state of a derivation of types and shapes by the specification of 2022."""

from __future__ import annotations

from collections.abc import Collection

from rlx.checker.derive.doubts import Doubt
from rlx.checker.derive.module import RULES
from rlx.checker.derive.state import DerivationState
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Expr, StructInfo, Var
from rlx.grammar.nodes.node import Node
from rlx.grammar.nodes.struct_infos import all_parts, numbers
from rlx.old.annotations import struct_info
from rlx.old.shape_exprs import UNKNOWN
from rlx.old.types import OBJECT, Type


class OlderDerivation(DerivationState):
    """The derivation of one module; operators infer as today, from types and shapes together.

    Attributes
    ----------
    types
        The document's Γ, extended to all expressions met: their ``checked_type_``.
    shape_of
        The ``shape_`` of variables and expressions.
    shapes
        The variables in scope: a shape computation may mention each of them.
    functions
        The function literals that variables and global variables are bound to.
    dataflow
        Whether the current place is inside a dataflow block.
    impure
        Whether the current function contained a call that may have effects.
    """

    def __init__(self, module: ast.IRModule, captured: Collection[Node] = ()) -> None:
        super().__init__(module, RULES, set(), captured)
        # The Python code around the program defines these: nothing is reported about them.
        self.doubts.update(dict.fromkeys(captured, Doubt.WRONG))
        self.types: dict[Node, Type] = {}
        self.shape_of: dict[Node, Expr] = {}
        self.functions: dict[Node, ast.Function] = {}
        self.dataflow = False
        self.impure = False

    def set(self, expr: Expr, type: Type, shape: Expr = UNKNOWN) -> Type:
        """Note the type and the shape of an expression; its type."""
        self.types[expr] = type
        self.shape_of[expr] = shape
        return type

    def type(self, expr: Expr) -> Type:
        """The type of an expression that was derived."""
        return self.types.get(expr, OBJECT)

    def shape(self, expr: Expr) -> Expr:
        """The `shape_` of an expression that was derived."""
        return self.shape_of.get(expr, UNKNOWN)

    def view(self, expr: Expr) -> StructInfo:
        """Type and shape of an expression as the inference of operators reads them."""
        if isinstance(expr, ast.ShapeExpr):
            return ast.ShapeStructInfo(expr.values, len(expr.values))
        return struct_info(self.type(expr), self.shape(expr))

    def fresh_dim(self, hint: str) -> tir.Var:
        """A dimension that exists but is not known: a shape computation cannot mention it."""
        return tir.Var(hint)

    def fresh_scalar(self, hint: str) -> tir.Var:
        """An integer that exists but is not known, and may be negative."""
        var = tir.Var(hint)
        self.prover.declare(var)
        self.signed.add(var)
        return var

    def bind_typed(self, var: Var, type: Type, shape: Expr) -> None:
        """Γ[var] := type."""
        self.set(var, type, shape)
        self.shapes.add(var)
        self.scope.shapes.append(var)

    def bind_dimensions(self, infos: Collection[StructInfo | None]) -> None:
        """Bring the shape variables into scope that stand alone in a dimension of annotations."""
        parts = (part for info in infos if info is not None for part in all_parts(info))
        alone = (dim for part in parts for dim in numbers(part) if isinstance(dim, tir.Var))
        self.bind_shape_vars([dim for dim in dict.fromkeys(alone) if dim not in self.shape_vars])
