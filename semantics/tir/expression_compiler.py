"""The state of compiling one PrimFunc, and the dispatch on kinds of expressions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rlx.grammar.nodes import tir
from rlx.semantics.tir.terms import Evaluate, Term, converted
from rlx.semantics.tir.values import unsupported, vector_element
from rlx.spec.registry import rule

_SHOWN = 80
"""The length of the text that a message has."""


@rule("E-tir-opaque", "TIR statement", refuses=True)
def opaque(node: Any) -> Term:
    """The exception for uninterpreted text."""
    text, *_ = getattr(node, "text", type(node).__name__).strip().split("\n")
    shown = f"this part of a PrimFunc cannot be evaluated: {text[:_SHOWN]}"
    unsupported("E-tir-opaque", shown, node.span)


class ExpressionCompiler:
    """Compiles the expressions of one PrimFunc.

    Attributes
    ----------
    compilers
        The compilers of each kind of expression.
    slots
        The slots of variables and buffers in the frame.
    exact
        Whether the index of a buffer is being compiled.
    """

    def __init__(self, compilers: Mapping[type, Callable[[ExpressionCompiler, Any], Term]]) -> None:
        self.compilers = compilers
        self.slots: dict[tir.Var | tir.Buffer, int] = {}
        self.exact = False

    def slot(self, node: tir.Var | tir.Buffer) -> int:
        """The slot of a variable or buffer; slot 0 is that of the run."""
        return self.slots.setdefault(node, len(self.slots) + 1)

    def compile(self, expr: tir.PrimExpr) -> Term:
        """An expression.

        Raises
        ------
        UnsupportedStop
            For uninterpreted text, unknown intrinsics, and types without arithmetic.
        """
        for kind in type(expr).__mro__:
            if kind in self.compilers:
                return self.compilers[kind](self, expr)
        return opaque(expr)

    def number(self, expr: tir.PrimExpr) -> Evaluate:
        """An expression of which only the value is needed."""
        return self.compile(expr).run

    def integral(self, expr: tir.PrimExpr, what: str) -> Evaluate:
        """The value of an expression that must be an integer: an extent, the first value of a
        loop.
        """
        return _without_fraction(self.compile(expr), expr, what).run

    def index(self, expr: tir.PrimExpr) -> Term:
        """An index of a buffer."""
        before, self.exact = self.exact, True
        term = self.compile(expr)
        self.exact = before
        return _without_fraction(term, expr, "an index")

    def value(self, expr: tir.PrimExpr) -> Term:
        """An expression that is not part of index arithmetic, even inside an index: a condition, an
        argument.
        """
        before, self.exact = self.exact, False
        term = self.compile(expr)
        self.exact = before
        return term

    @rule("E-tir-let", "TIR statement")
    def bind(self, var: tir.Var, value: tir.PrimExpr) -> tuple[int, Evaluate]:
        """The slot of a variable, and its value converted to its type."""
        term = converted(self.value(value), vector_element(var.dtype))
        if term.vector and var.dtype.lanes == 1:
            shown = f"{var.name} is a number, and cannot have the value of a vector"
            unsupported("E-tir-type", shown, getattr(value, "span", None))
        return self.slot(var), term.run

    def named(self, name: str) -> tir.Buffer | None:
        """The buffer last declared under a name."""
        declared = (node for node in reversed(self.slots) if isinstance(node, tir.Buffer))
        return next((buffer for buffer in declared if buffer.name == name), None)


def _without_fraction(term: Term, expr: Any, what: str) -> Term:
    if term.dtype.is_float:
        unsupported("E-tir-type", f"{what} must be an integer, not {term.dtype}", expr.span)
    return term
