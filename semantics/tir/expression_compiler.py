"""The state of compiling one PrimFunc, and the dispatch on kinds of expressions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any

from rlx.grammar.nodes import tir
from rlx.semantics.tir.terms import Evaluate, Frame, Term, converted
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
        self.slots: dict[object, int] = {}
        self.exact = False
        self._repeated: AbstractSet[tir.PrimExpr] | None = None
        self._kept: dict[tuple[tir.PrimExpr, bool], Term] = {}

    def slot(self, node: object) -> int:
        """The slot of a variable, a buffer or a repeated value; slot 0 is that of the run."""
        return self.slots.setdefault(node, len(self.slots) + 1)

    def compile(self, expr: tir.PrimExpr) -> Term:
        """An expression; a part that is at several places as one object is evaluated once.

        Raises
        ------
        UnsupportedStop
            For uninterpreted text, unknown intrinsics, and types without arithmetic.
        """
        if self._repeated is None:
            return self._whole(expr)
        if expr not in self._repeated:
            return self.part(expr)
        key = (expr, self.exact)
        if key not in self._kept:
            self._kept[key] = _kept(self.part(expr), self.slot(key))
        return self._kept[key]

    def is_repeated(self, expr: tir.PrimExpr) -> bool:
        """Whether this part of the expression that is being compiled is at several places."""
        return bool(self._repeated) and expr in self._repeated  # type: ignore[operator]

    def _whole(self, expr: tir.PrimExpr) -> Term:
        """An expression that is no part of another."""
        self._repeated, self._kept = _repeated(expr), {}
        try:
            term = self.part(expr)
        finally:
            self._repeated = None
        slots = [self.slots[key] for key in self._kept]
        if not slots:
            return term

        def run(frame: Frame) -> Any:
            for slot in slots:
                frame[slot] = _NOT_YET
            return inner(frame)

        inner = term.run
        return Term(run, term.dtype, term.vector)

    def part(self, expr: tir.PrimExpr) -> Term:
        """An expression, compiled each time."""
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


_NOT_YET = object()
"""The content of the slot of a repeated part that this evaluation of the expression has not reached."""


def _kept(term: Term, slot: int) -> Term:
    """A term that is evaluated at most once in an evaluation of the whole."""
    evaluate = term.run

    def run(frame: Frame) -> Any:
        if frame[slot] is _NOT_YET:
            frame[slot] = evaluate(frame)
        return frame[slot]

    return Term(run, term.dtype, term.vector)


_FEW = 16
"""The size of expressions that are evaluated as they are written."""
_PURE = frozenset([*tir.AS_OPERAND, "if_then_else"])


def _repeated(expr: tir.PrimExpr) -> AbstractSet[tir.PrimExpr]:
    """The operations that are at several places of a large expression, without those that may have
    an effect.
    """
    if not tir.larger_than(_FEW, expr):
        return frozenset()
    seen: set[tir.PrimExpr] = set()
    found: set[tir.PrimExpr] = set()
    effects: dict[tir.PrimExpr, bool] = {}
    for node in tir.postorder(expr):
        below = tir.children(node)
        unknown = isinstance(node, (tir.OpaqueExpr, tir.StringImm, tir.Slice))
        effects[node] = (
            unknown
            or (isinstance(node, tir.Call) and node.op not in _PURE)
            or any(effects[child] for child in below)
        )
        for child in below:
            if child in seen and tir.children(child) and not effects[child]:
                found.add(child)
            seen.add(child)
    return found


def _without_fraction(term: Term, expr: Any, what: str) -> Term:
    if term.dtype.is_float:
        unsupported("E-tir-type", f"{what} must be an integer, not {term.dtype}", expr.span)
    return term
