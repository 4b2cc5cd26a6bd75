"""Calls of PrimFuncs: the tensors that they fill, as terms."""

from __future__ import annotations

from rlx.grammar.nodes import tir
from rlx.refine.definitions import Unopened
from rlx.refine.facts import Facts
from rlx.refine.terms import Application, ResultTerm, TensorTerm


class LoopsOpener:
    """Opens calls of PrimFuncs; each PrimFunc is read once."""

    def __init__(self) -> None:
        self._known: dict[tir.PrimFunc, object] = {}

    def open(self, result: ResultTerm) -> TensorTerm:
        """The tensor that a call fills.

        Raises
        ------
        Unopened
            If the loops cannot be read as terms.
        """
        raise Unopened("its loops are not read")

    def safe(self, application: Application, facts: Facts) -> bool:
        """Whether a call of a PrimFunc cannot fail."""
        return False
