"""What an operator's rule may ask and say while the type of a call is derived."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from rlx.grammar import ast, tir

if TYPE_CHECKING:
    from rlx.solver.prover import Prover

Message = str | Callable[[], str]
"""A sentence, or a function that writes it: most obligations hold, and their sentences are not
read.
"""

Place = ast.Expr | int | str | None
"""An expression, the number of a parameter (from 0), a keyword as the call writes it, or the call
itself.

A number beyond the positional arguments means one that was given by keyword.
"""


class OperatorContext(Protocol):
    """Where a call stands: what its arguments are, and who hears of its mistakes.

    Attributes
    ----------
    discharged
        How many proof obligations held on sight (identical dimensions, literals). The rules count
        them here; those handed to :meth:`require` are counted by it.
    """

    discharged: int

    @property
    def prover(self) -> Prover:
        """The prover of the scope that the call stands in."""

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
        """Prove an obligation (a conjunction, judged jointly) and report it where it does not hold.

        False for every value is an error, false for some a warning with the counterexample and the
        assumption that would make it true, unknown a note.

        Returns
        -------
        bool
            False if it fails for every value, so that the rule can leave out what would only repeat
            the error.
        """

    def fresh_dim(self, hint: str) -> tir.Var:
        """A dimension of which only the existence is known, because data decide on it."""

    def global_info(self, gv: ast.GlobalVar) -> ast.FuncStructInfo | None:
        """The signature of a function of the module."""

    def prim_func(self, gv: ast.GlobalVar) -> tir.PrimFunc | None:
        """The PrimFunc of that name, if it is one."""

    def bound(self, var: ast.Var) -> ast.Expr | None:
        """The value that a variable is bound to, if it is a call of an operator."""

    def vdevices(self) -> Sequence[tuple[str, int]]:
        """The virtual devices that the module declares: kinds of targets, and numbers among those
        of a kind.
        """
