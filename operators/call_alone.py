"""A call that stands in no module: what its arguments say of themselves, and nothing else."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property

from rlx.grammar import ast, tir
from rlx.grammar.ast import (
    Constant,
    Expr,
    FuncStructInfo,
    PrimStructInfo,
    PrimValue,
    ShapeExpr,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
    Var,
)
from rlx.grammar.struct_infos import OBJECT
from rlx.operators.context import Message, Place
from rlx.solver.context import Context
from rlx.solver.prover import Prover


class CallAlone(ABC):
    """An :class:`~rlx.operators.context.OperatorContext` of a call alone; who uses it says what
    becomes of reports.
    """

    def __init__(self) -> None:
        self.discharged = 0

    @cached_property
    def prover(self) -> Prover:
        """A prover to which nothing is known."""
        return Prover(Context())

    def info(self, expr: Expr) -> StructInfo:
        """The struct info of an argument: what it says itself, and of a variable what is
        annotated.
        """
        match expr:
            case Var(struct_info_annotation=StructInfo() as info):
                return info
            case PrimValue(value=value):
                return PrimStructInfo(tir.type_of(value), value)
            case ast.Tuple(fields=fields):
                return TupleStructInfo(tuple(map(self.info, fields)))
            case ShapeExpr(values=values):
                return ShapeStructInfo(values, len(values))
            case Constant(data=data):
                shape = tuple(tir.IntImm(n) for n in data.shape or ())
                return TensorStructInfo(ShapeExpr(shape), data.dtype, len(shape))
        return OBJECT

    def poisoned(self, expr: Expr) -> bool:
        """Never: nothing was reported before."""
        return False

    @abstractmethod
    def report(
        self, code: str, severity: str, message: str, at: Place = None, **extra: object
    ) -> None:
        """Hear what is wrong with the call."""

    @abstractmethod
    def require(
        self,
        code: str,
        condition: tir.PrimExpr | Sequence[tir.PrimExpr],
        message: Message,
        at: Place = None,
    ) -> bool:
        """Judge an obligation of the call."""

    def fresh_dim(self, hint: str) -> tir.Var:
        """A dimension on which data decide."""
        return tir.Var(hint)

    def global_info(self, gv: ast.GlobalVar) -> FuncStructInfo | None:
        """There is no module."""
        return None

    def prim_func(self, gv: ast.GlobalVar) -> tir.PrimFunc | None:
        """There is no module."""
        return None

    def bound(self, var: Var) -> Expr | None:
        """Nothing is bound."""
        return None

    def vdevices(self) -> Sequence[tuple[str, int]]:
        """There is no module."""
        return ()
