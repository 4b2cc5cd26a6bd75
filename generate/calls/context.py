"""The context in which templates are derived: variables carry their struct info, every report is
collected.
"""

from __future__ import annotations

from collections.abc import Sequence

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.ast import (
    StructInfo,
    Var,
)
from rlx.operators.context import Place
from rlx.operators.site import CallAlone
from rlx.solver.order import erase, free_shape_vars


def variable(info: StructInfo) -> Var:
    """A variable of that struct info."""
    return Var("x", info)


class Collector(CallAlone):
    """Collects the codes of all that is not proved."""

    def __init__(self) -> None:
        super().__init__()
        self.reports: list[str] = []
        self.unknown: set[tir.Var] = set()

    def report(
        self, code: str, severity: str, message: str, at: Place = None, **extra: object
    ) -> None:
        """Remember the code."""
        self.reports.append(code)

    def fresh_dim(self, hint: str) -> tir.Var:
        """A dimension on which data decide."""
        var = super().fresh_dim(hint)
        self.unknown.add(var)
        return var

    def vdevices(self) -> Sequence[tuple[str, int]]:
        """Those that calls are generated with."""
        return (("llvm", 0), ("cuda", 0))

    def known(self, info: StructInfo) -> StructInfo:
        """A result, without the dimensions on which data decide."""
        if not self.unknown:
            return info
        return erase(info, set(), set(free_shape_vars(info)) - self.unknown)
