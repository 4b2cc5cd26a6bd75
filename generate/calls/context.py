"""The context in which templates are derived: variables carry their struct info, every report is collected."""

from __future__ import annotations

from collections.abc import Sequence

from rlx.grammar import ast, tir
from rlx.grammar.ast import (
    Constant,
    Expr,
    FuncStructInfo,
    ObjectStructInfo,
    PrimStructInfo,
    PrimValue,
    ShapeExpr,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
    Var,
)
from rlx.operators.context import Message, Place
from rlx.solver.context import Context
from rlx.solver.order import erase, free_shape_vars
from rlx.solver.prover import Prover

OBJECT = ObjectStructInfo()


def variable(info: StructInfo) -> Var:
    """A variable of that struct info."""
    return Var("x", info)


class Collector:
    """An :class:`~rlx.operators.context.OperatorContext`; ``reports`` are the codes of all that is not proved."""

    def __init__(self) -> None:
        self.discharged = 0
        self.prover = Prover(Context())
        self.reports: list[str] = []
        self.unknown: set[tir.Var] = set()

    def info(self, expr: Expr) -> StructInfo:
        """The struct info of an argument."""
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

    def report(
        self, code: str, severity: str, message: str, at: Place = None, **extra: object
    ) -> None:
        """Remember the code."""
        self.reports.append(code)

    def require(
        self,
        code: str,
        condition: tir.PrimExpr | Sequence[tir.PrimExpr],
        message: Message,
        at: Place = None,
    ) -> bool:
        """Whether an obligation holds for every size; it is a report if not."""
        parts = (condition,) if isinstance(condition, tir.PrimExpr) else tuple(condition)
        whole = parts[0]
        for part in parts[1:]:
            whole = tir.And(whole, part)
        if self.prover.always(whole).status != "proved":
            self.reports.append(code)
        return True

    def fresh_dim(self, hint: str) -> tir.Var:
        """A dimension on which data decide."""
        var = tir.Var(hint)
        self.unknown.add(var)
        return var

    def global_info(self, gv: ast.GlobalVar) -> FuncStructInfo | None:
        """There is no module."""
        return None

    def prim_func(self, gv: ast.GlobalVar) -> tir.PrimFunc | None:
        """There is no module."""
        return None

    def bound(self, var: ast.Var) -> ast.Expr | None:
        """Nothing is bound."""
        return None

    def vdevices(self) -> Sequence[tuple[str, int]]:
        """Those that calls are generated with."""
        return (("llvm", 0), ("cuda", 0))

    def known(self, info: StructInfo) -> StructInfo:
        """A result, without the dimensions on which data decide."""
        if not self.unknown:
            return info
        return erase(info, set(), set(free_shape_vars(info)) - self.unknown)
