"""Derivation of struct info while a module is translated, without diagnostics.

The check of the translated module reports mistakes in calls; here a failure only means that the
result is unknown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import FuncStructInfo, StructInfo, TensorStructInfo, TupleStructInfo
from rlx.grammar.nodes.struct_infos import OBJECT
from rlx.operators import lookup
from rlx.operators.context import Message, OperatorContext, Place
from rlx.solver.order import instantiate, lub

UNKNOWN_TENSOR = TensorStructInfo()
NOTHING = ast.ObjectStructInfo()
"""The type of a result that is not derived yet: it says nothing."""


class QuietDerivation(OperatorContext):
    """The struct info of variables."""

    def __init__(self, signatures: Mapping[ast.GlobalVar, StructInfo]) -> None:
        super().__init__()
        self.infos: dict[ast.Expr, StructInfo] = {}
        self._signatures = signatures

    def info(self, expr: ast.Expr) -> StructInfo:
        """The known struct info of an expression over variables."""
        found = self.infos.get(expr)
        if found is None:
            found = self._derived(expr)
            if not isinstance(expr, ast.Var):
                self.infos[expr] = found
        return found

    def _derived(self, expr: ast.Expr) -> StructInfo:
        match expr:
            case ast.GlobalVar():
                return self._signatures.get(expr, OBJECT)
            case ast.Call():
                return self._call(expr)
            case ast.TupleGetItem(tuple_value=whole, index=index):
                info = self.info(whole)
                if isinstance(info, TupleStructInfo) and index < len(info.fields):
                    return info.fields[index]
                return NOTHING if info is NOTHING else OBJECT
        return super().info(expr)

    def _call(self, call: ast.Call) -> StructInfo:
        if isinstance(call.op, ast.Op):
            operator = lookup(call.op.op_name)
            if any(self.info(arg) is NOTHING for arg in call.args):
                return NOTHING
            return OBJECT if operator is None else operator.derive(call, self)
        info = self.info(call.op)
        if isinstance(info, FuncStructInfo) and info.params is not None:
            args = [self.info(arg) for arg in call.args]
            if info.ret is NOTHING or len(args) != len(info.params):
                return info.ret
            return instantiate(info, args, self.prover).ret
        return call.sinfo_args[0] if call.sinfo_args else OBJECT

    def joined(self, first: StructInfo, second: StructInfo) -> StructInfo:
        """The struct info of a value that is one of two."""
        if first is NOTHING or second is NOTHING:
            return second if first is NOTHING else first
        return lub(first, second, self.prover)

    def report(
        self, code: str, severity: str, message: str, at: Place = None, **extra: object
    ) -> None:
        """Nothing is reported here."""

    def require(
        self,
        code: str,
        conditions: Sequence[tir.PrimExpr],
        message: Message,
        at: Place = None,
    ) -> bool:
        """Assume the condition that an operator requires."""
        return True
