"""The call that a rule derives, in a module or alone, and helpers for its messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NoReturn

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import ShapeExpr, ShapeStructInfo, StructInfo
from rlx.grammar.nodes.node import tuple_text
from rlx.grammar.nodes.struct_infos import OBJECT
from rlx.grammar.nodes.tir import EQ, PrimExpr
from rlx.operators.context import OperatorContext, Place
from rlx.operators.dim_arithmetic import same
from rlx.operators.parameters import OperatorSignature, Parameter, Tensor

Dims = tuple[PrimExpr, ...]


class Violation(Exception):
    """A certainly failing premise: one error, and the struct info that is still certain.

    ``code`` is None if the error was already reported.
    """

    def __init__(
        self,
        code: str | None,
        message: str,
        at: Place,
        best: StructInfo,
        extra: Mapping[str, object] = {},
    ) -> None:
        super().__init__(message)
        self.code, self.message, self.at, self.best, self.extra = code, message, at, best, extra


class OperatorCall:
    """A call of an operator while its struct info is derived.

    Attributes
    ----------
    skipped
        The number of arguments in front of those that the rule counts.
    """

    __slots__ = ("call", "ctx", "operator")
    skipped = 0

    def __init__(self, operator: OperatorSignature, call: ast.Call, ctx: OperatorContext) -> None:
        self.operator, self.call, self.ctx = operator, call, ctx

    def dims(self, tensor: Tensor) -> Dims | None:
        """The dimensions of a tensor, or None if they are unknown."""
        shape = tensor.shape
        if type(shape) is ShapeExpr:
            return shape.values
        if shape is not None:
            info = self.ctx.info(shape)
            return info.values if isinstance(info, ShapeStructInfo) else None
        return () if tensor.ndim == 0 else None

    def rank(self, tensor: Tensor) -> int | None:
        """The rank of a tensor, or None if it is unknown."""
        shape = tensor.shape
        if type(shape) is ShapeExpr:
            return len(shape.values)
        if tensor.ndim >= 0:
            return tensor.ndim
        if shape is not None:
            info = self.ctx.info(shape)
            if isinstance(info, ShapeStructInfo):
                if info.values is not None:
                    return len(info.values)
                return info.ndim if info.ndim >= 0 else None
        return None

    def fail(
        self,
        code: str,
        message: str,
        at: Place = None,
        best: StructInfo = OBJECT,
        help: str | None = None,
    ) -> NoReturn:
        """Stop the rule with one error; ``best`` is what is still known about the result, ``help``
        says what to write.

        Raises
        ------
        Violation
            Always; :meth:`Operator.derive` reports it.
        """
        raise Violation(code, message, at, best, {"help": help} if help else {})

    def stop(self, best: StructInfo = OBJECT) -> NoReturn:
        """Stop the rule after an obligation that never holds.

        Raises
        ------
        Violation
            Always; nothing more is reported.
        """
        raise Violation(None, "", None, best)

    def warn(self, code: str, message: str, at: Place = None) -> None:
        """Report a warning."""
        self.ctx.report(code, "warning", f"{self.name}: {message}", at)

    def warn_of_fault(self, code: str, message: str, at: Place = None) -> None:
        """Report that every run of the call ends in a fault.

        That is a warning: the struct info of the result is certain, TVM accepts the call, a branch
        with the call may never run, and passes put constants in place of what is computed.
        """
        self.warn(code, f"{message}; every run of the call faults", at)

    def require_of_value(
        self,
        code: str,
        conditions: Sequence[PrimExpr],
        message: Callable[[], str],
        at: Place = None,
    ) -> None:
        """The obligation that conditions on the value of an operand hold."""
        if any(self.ctx.prover.never(condition).proved for condition in conditions):
            self.warn_of_fault(code, message(), at)
        else:
            self.require(code, conditions, message, at)

    def require(
        self,
        code: str,
        condition: PrimExpr | Sequence[PrimExpr],
        message: Callable[[], str],
        at: Place = None,
    ) -> bool:
        """Pass a proof obligation to the context; see :meth:`OperatorContext.require`."""
        conditions = (condition,) if isinstance(condition, PrimExpr) else condition
        return self.ctx.require(code, conditions, lambda: f"{self.name}: {message()}", at)

    def equal(
        self, code: str, a: PrimExpr, b: PrimExpr, message: Callable[[], str], at: Place = None
    ) -> bool:
        """The obligation that two dimensions are equal."""
        if same(a, b):
            self.ctx.discharged += 1
            return True
        return self.require(code, EQ(a, b), message, at)

    def together(self, code: str, at: Place = None) -> ObligationGroup:
        """Obligations of one premise, which are decided together."""
        return ObligationGroup(self, code, at)

    @property
    def name(self) -> str:
        """The operator's name in texts."""
        return self.operator.name.removeprefix("relax.")

    def of(self, index: int, info: StructInfo | None = None) -> str:
        """An argument in a message: ``(of x: Tensor((n, 4), float32))``, or a part of it if
        ``info`` is given.
        """
        return f"(of {self.shown(index, info)})"

    def shown(self, index: int, info: StructInfo | None = None) -> str:
        """An argument with its struct info: ``x: Tensor((n, 4), float32)``."""
        name = self._parameter(index).name
        value = self.argument(index)
        if info is None and value is not None:
            info = self.ctx.info(value)
        return name if info is None else f"{name}: {show(info)}"

    def position_of_axes(self) -> int | None:
        """The position of the parameter that names axes; None where several do, or none."""
        names = [parameter.name for parameter in self.operator.parameters]
        found = [k for k, name in enumerate(names) if name.endswith(("axis", "axes"))]
        return found[0] if len(found) == 1 else None

    def argument(self, index: int) -> ast.Expr | None:
        """The expression given for a parameter, by position or by keyword."""
        if index + self.skipped < len(self.call.args):
            return self.call.args[index + self.skipped]
        value = self.call.attrs.get(self._parameter(index).name)
        return value if isinstance(value, ast.Expr) else None

    def _parameter(self, index: int) -> Parameter:
        parameters = self.operator.parameters
        return parameters[min(index + self.skipped, len(parameters) - 1)]


class ForwardCall(OperatorCall):
    """A call of a gradient operator as seen by the original operator: without the first
    argument.
    """

    __slots__ = ()
    skipped = 1

    def position_of_axes(self) -> int | None:
        """The position among the parameters of the original operator."""
        found = super().position_of_axes()
        return None if found is None else found - 1

    def fail(
        self,
        code: str,
        message: str,
        at: Place = None,
        best: StructInfo = OBJECT,
        help: str | None = None,
    ) -> NoReturn:
        """Stop the rule with one error; see :meth:`OperatorCall.fail`."""
        super().fail(code, message, _next(at), best, help)

    def warn(self, code: str, message: str, at: Place = None) -> None:
        """Report a warning."""
        super().warn(code, message, _next(at))

    def require(
        self,
        code: str,
        condition: PrimExpr | Sequence[PrimExpr],
        message: Callable[[], str],
        at: Place = None,
    ) -> bool:
        """Pass a proof obligation to the context."""
        return super().require(code, condition, message, _next(at))


def _next(at: Place) -> Place:
    return at + 1 if isinstance(at, int) else at


class ObligationGroup:
    """Obligations of one premise on several dimensions: one question, at most one diagnostic."""

    __slots__ = ("at", "code", "open", "site")

    def __init__(self, site: OperatorCall, code: str, at: Place) -> None:
        self.site, self.code, self.at = site, code, at
        self.open: list[tuple[PrimExpr, Callable[[], str]]] = []

    def equal(self, a: PrimExpr, b: PrimExpr, message: Callable[[], str]) -> None:
        """Require that two dimensions are equal."""
        if same(a, b):
            self.site.ctx.discharged += 1
        else:
            self.open.append((EQ(a, b), message))

    def require(self, condition: PrimExpr, message: Callable[[], str]) -> None:
        """Require that a condition holds."""
        self.open.append((condition, message))

    def settle(self) -> bool:
        """Decide all obligations; False if they never hold together."""
        if not self.open:
            return True
        conditions = [condition for condition, _ in self.open]
        return self.site.require(self.code, conditions, self._message, self.at)

    def _message(self) -> str:
        """The words of the first that never holds, else of the first that is not proved."""
        prover = self.site.ctx.prover
        if len(self.open) > 1:
            for condition, message in self.open:
                if prover.never(condition).status == "proved":
                    return message()
            for condition, message in self.open:
                if prover.always(condition).status != "proved":
                    return message()
        return self.open[0][1]()


def show(node: ast.StructInfo | tir.PrimExpr | ast.Expr | ast.VDevice) -> str:
    """A struct info, dimension, expression or device in short form: ``Tensor((n, 4), float32)``."""
    from rlx.grammar.print.printer import show as printed

    return printed(node)


def show_shape(dims: Iterable[tir.PrimExpr]) -> str:
    """Dimensions as a shape: ``(n, 4)``, ``(n,)``."""
    return tuple_text([show(dim) for dim in dims])
