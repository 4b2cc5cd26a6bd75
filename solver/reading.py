"""The expressions of a prover's users: texts, ours and TVM's."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import DataType
from rlx.grammar.nodes.tir import PrimExpr
from rlx.solver import usage_errors
from rlx.solver.interop import Foreign, is_expression

Expression: TypeAlias = Any
"""A text, a :class:`rlx.grammar.nodes.tir.PrimExpr`, or a PrimExpr of TVM."""


class Vocabulary:
    """The variables that texts and expressions of TVM have in one context.

    A name in a text is the variable that has this name in the context, in another text, or in an
    expression of TVM, also in one that comes later, if its type is int64.
    """

    __slots__ = ("_foreign", "_names", "_of_texts", "_shared")

    def __init__(self) -> None:
        self._names: dict[str, tir.Var] = {}
        self._shared: set[str] = set()
        self._of_texts: dict[str, tir.Var] = {}
        self._foreign: Any = None

    @property
    def foreign(self) -> Any:
        """The expressions of TVM (:class:`rlx.solver.interop.Foreign`)."""
        if self._foreign is None:
            self._foreign = Foreign(self._claimed)
        return self._foreign

    def _claimed(self, name: str, kind: DataType) -> tir.Var | None:
        """The variable that a text has made for a name: from now on, it is one of TVM."""
        found = self._of_texts.get(name)
        return self._of_texts.pop(name) if found is not None and found.dtype == kind else None

    def meet(self, variables: Iterable[tir.Var]) -> None:
        """Let texts name these variables, unless several have the same name."""
        for var in variables:
            if self._names.setdefault(var.name, var) is not var:
                self._shared.add(var.name)

    def expression(self, value: Expression, variables: Iterable[tir.Var] = ()) -> PrimExpr:
        """An expression as one of ours; ``variables`` may be named as well. Raises TypeError if it
        is none; ValueError if a text cannot be parsed, or has a name that several variables have.
        """
        if isinstance(value, PrimExpr):
            return value
        if isinstance(value, str):
            return self._text(value, variables)
        if not is_expression(value):
            usage_errors.expression(value)
        found: PrimExpr = self.foreign.read(value)
        self.meet(tir.free_vars(found))
        return found

    def _text(self, text: str, variables: Iterable[tir.Var]) -> PrimExpr:
        from rlx.solver.question_parser import parse

        self.meet(variables)
        names = dict(self._names)
        read = parse(text, names)
        self._of_texts |= {name: names[name] for name in names.keys() - self._names.keys()}
        self._names = names
        for var in tir.free_vars(read) if self._shared else ():
            if var.name in self._shared:
                raise ValueError(
                    f"{var.name} is ambiguous: several variables of the question have this name"
                )
        return read

    def variable(self, value: Expression, variables: Iterable[tir.Var] = ()) -> tir.Var:
        """A variable as one of ours. Raises TypeError if it is none."""
        if isinstance(value, str) or (not isinstance(value, tir.Var) and is_expression(value)):
            read = self.expression(value, variables)
            if isinstance(read, tir.Var):
                return read
        usage_errors.variable(value)
        assert isinstance(value, tir.Var)
        return value
