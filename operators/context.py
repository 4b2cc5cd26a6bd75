"""Queries and reports of an operator's rule during the derivation of a call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from rlx.grammar.nodes import ast, tir

if TYPE_CHECKING:
    from rlx.solver.prover import Prover

Message = str | Callable[[], str]
"""A sentence, or a function that makes it, because most obligations hold and need no sentence."""

Place = ast.Expr | int | str | None
"""An expression, the index of a parameter (from 0), a keyword of the call, or the call itself.

An index beyond the positional arguments denotes a keyword argument.
"""


class OperatorContext(Protocol):
    """The context of a call: its arguments, and the receiver of its diagnostics.

    Attributes
    ----------
    discharged
        The number of proof obligations that are trivially true (identical dimensions, literals).
        The rules count them here; :meth:`require` counts its own.
    """

    discharged: int

    @property
    def prover(self) -> Prover:
        """The prover of the scope of the call."""

    def info(self, expr: ast.Expr) -> ast.StructInfo:
        """The struct info of an argument."""

    def poisoned(self, expr: ast.Expr) -> bool:
        """Whether the argument's struct info is unknown because of an error already reported."""

    def report(
        self, code: str, severity: str, message: str, at: Place = None, **extra: object
    ) -> None:
        """Report a diagnostic of this call; ``extra`` are further fields of it."""

    def require(
        self,
        code: str,
        condition: tir.PrimExpr | Sequence[tir.PrimExpr],
        message: Message,
        at: Place = None,
    ) -> bool:
        """Prove an obligation (a conjunction, decided jointly) and report it if it is not proved.

        An obligation that is false for all values is an error; one that is false for some is a
        warning with the counterexample and the assumption that would make it true; an undecided one
        is a note.

        Returns
        -------
        bool
            False if it fails for all values, so that the rule can omit consequential errors.
        """

    def fresh_dim(self, hint: str) -> tir.Var:
        """A new unknown dimension that depends on data."""

    def fresh_scalar(self, hint: str) -> tir.Var:
        """A new unknown integer, which may be negative."""

    def global_info(self, gv: ast.GlobalVar) -> ast.FuncStructInfo | None:
        """The signature of a function of the module."""

    def prim_func(self, gv: ast.GlobalVar) -> tir.PrimFunc | None:
        """The PrimFunc with this name, if any."""

    def bound(self, var: ast.Var) -> ast.Expr | None:
        """The value that a variable is bound to, if it is a call of an operator."""

    def vdevices(self) -> Sequence[tuple[str, int]]:
        """The virtual devices of the module: kinds of targets, and indices among the devices of a
        kind.
        """
