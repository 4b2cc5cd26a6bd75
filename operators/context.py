"""Queries and reports of an operator's rule during the derivation of a call."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

from rlx.grammar.dialects import DEFAULT, dialect
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.struct_infos import OBJECT
from rlx.solver.context import Context
from rlx.solver.prover import Prover

Message = Callable[[], str]
"""Makes a sentence: most obligations hold and need none."""

Place = ast.Expr | int | str | None
"""An expression, the index of a parameter (from 0), a keyword of the call, or the call itself.

An index beyond the positional arguments denotes a keyword argument.
"""


class OperatorContext(ABC):
    """The context of a call: its arguments, and the receiver of its diagnostics.

    As it stands here, the call is alone: it has no module around it, and no error was reported
    before.

    Attributes
    ----------
    discharged
        The number of proof obligations that are trivially true (identical dimensions, literals).
        The rules count them here; :meth:`require` counts its own.
    dialect
        The version whose words messages use.
    signed
        The shape variables that may be negative.
    """

    def __init__(self) -> None:
        self.discharged = 0
        self.signed: set[tir.Var] = set()
        self.dialect = dialect(DEFAULT)

    @cached_property
    def prover(self) -> Prover:
        """The prover of the scope of the call; of a call alone, one without known facts."""
        return Prover(Context())

    def info(self, expr: ast.Expr) -> ast.StructInfo:
        """The struct info of an argument; for a variable, its annotation."""
        match expr:
            case ast.Var(struct_info_annotation=ast.StructInfo() as info):
                return info
            case ast.PrimValue(value=value):
                return ast.PrimStructInfo(tir.type_of(value), value)
            case ast.Tuple(fields=fields):
                return ast.TupleStructInfo(tuple(map(self.info, fields)))
            case ast.ShapeExpr(values=values):
                return ast.ShapeStructInfo(values, len(values))
            case ast.Constant(data=data):
                shape = tuple(tir.IntImm(n) for n in data.shape or ())
                return ast.TensorStructInfo(ast.ShapeExpr(shape), data.dtype, len(shape))
        return OBJECT

    def poisoned(self, expr: ast.Expr) -> bool:
        """Whether the argument's struct info is unknown because of an error already reported."""
        return False

    @abstractmethod
    def report(
        self, code: str, severity: str, message: str, at: Place = None, **extra: object
    ) -> None:
        """Report a diagnostic of this call; ``extra`` are further fields of it."""

    def require(
        self,
        code: str,
        conditions: Sequence[tir.PrimExpr],
        message: Message,
        at: Place = None,
    ) -> bool:
        """Prove an obligation, whose conditions are decided together, and report it if it is not proved.

        In a module, an obligation that is false for all values is an error; one that is false for
        some is a warning with the counterexample and the assumption that would make it true; an
        undecided one is a note. Of a call alone, whatever is not proved for all sizes is a warning.

        Returns
        -------
        bool
            False if it fails for all values, so that the rule can omit consequential errors.
        """
        if not all(self.prover.always(each).proved for each in conditions):
            self.report(code, "warning", message(), at)
        return True

    def fresh_dim(self, hint: str) -> tir.Var:
        """A new unknown dimension that depends on data."""
        return tir.Var(hint)

    def fresh_scalar(self, hint: str) -> tir.Var:
        """A new unknown integer, which may be negative."""
        var = self.fresh_dim(hint)
        self.prover.context.declare(var, lower=None)
        self.signed.add(var)
        return var

    def global_info(self, gv: ast.GlobalVar) -> ast.FuncStructInfo | None:
        """The signature of a function of the module."""
        return None

    def prim_func(self, gv: ast.GlobalVar) -> tir.PrimFunc | None:
        """The PrimFunc with this name, if any."""
        return None

    def bound(self, var: ast.Var) -> ast.Expr | None:
        """The value that a variable is bound to."""
        return None

    def vdevices(self) -> Sequence[tuple[str, int]]:
        """The virtual devices of the module: kinds of targets, and indices among the devices of a
        kind.
        """
        return ()


class RecordingContext(OperatorContext):
    """The context of a call whose arguments have known struct info, and which keeps the reports.

    Attributes
    ----------
    open
        The messages of the premises that are not proved.
    """

    def __init__(self, info: Mapping[Any, ast.StructInfo]) -> None:
        super().__init__()
        self._info = info
        self.open: list[str] = []

    def info(self, expr: ast.Expr) -> ast.StructInfo:
        """The known struct info of an argument, else that of :meth:`OperatorContext.info`."""
        found = self._info.get(expr)
        return super().info(expr) if found is None else found

    def report(
        self, code: str, severity: str, message: str, at: Place = None, **extra: object
    ) -> None:
        """Keep the message."""
        self.open.append(message)
