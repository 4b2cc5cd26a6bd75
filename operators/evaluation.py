"""Evaluation of operators on plain values.

A plain value is a ``numpy.ndarray`` for a tensor (its dtype is the element type), a tuple of
integers for a shape, a number for a prim, a tuple for a tuple, ``str``, :class:`DataType`, and None
for null. NumPy is only loaded to run programs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.dtype import DataType, dtype, numpy_type
from rlx.grammar.nodes.tir import OpaqueExpr, PrimExpr
from rlx.operators.argument_kinds import KINDS
from rlx.operators.binding import ArgumentMatch, matched
from rlx.operators.evaluation_arguments import in_place_of_sizes
from rlx.operators.parameters import OperatorSignature, Parameter
from rlx.spec.registry import refuted, rule

if TYPE_CHECKING:
    import numpy as np

Plain = Any


class OperatorFault(Exception):
    """An operator has no value for these operands.

    Attributes
    ----------
    code
        The failing premise: ``E-index-range``.
    message
        The expected and the actual values.
    operand
        The operand that caused the fault, if known.
    """

    def __init__(self, code: str, message: str, operand: Plain = None) -> None:
        super().__init__(message)
        refuted(code)
        self.code, self.message, self.operand = code, message, operand


class Evaluation(Protocol):
    """The queries of an evaluation on the run."""

    def prim(self, expr: PrimExpr) -> int | float | bool:
        """The number that an expression over shape variables evaluates to."""

    def value(self, expr: ast.Expr) -> Plain:
        """The value of an expression in an attribute."""


def numpy_dtype(kind: DataType) -> np.dtype[Any]:
    """The type of arrays with elements of a data type.

    Raises
    ------
    OperatorFault
        ``E-operator-dtype``: if arrays cannot have such elements.
    """
    found = numpy_type(kind)
    if found is None:
        raise OperatorFault(
            "E-operator-dtype", f"arrays of element type {str(kind) or 'void'} are not supported"
        )
    return found


def data_type(kind: np.dtype[Any]) -> DataType:
    """The data type of an array's elements."""
    return dtype(str(kind))


@rule("E-operator", "computation")
def arguments(
    operator: OperatorSignature, call: ast.Call, args: Sequence[Plain], run: Evaluation
) -> list[Plain]:
    """A value for each parameter, bound by :func:`rlx.operators.binding.plan`.

    Parameters
    ----------
    args
        The values of the positional arguments.

    Raises
    ------
    OperatorFault
        ``E-operator-arguments``: if an argument is missing, or is not of the parameter's kind.
    """
    values: list[Plain] = []
    for match in matched(operator.parameters, len(args), call.attrs):
        parameter = match.parameter
        if match.source == "types":
            values.append(call.sinfo_args)
        elif match.source == "rest":
            values.append(tuple(_convert(parameter, value) for value in args[match.index :]))
        else:
            values.append(_one(operator, match, call, args, run))
    return values


def unshared(result: Plain, args: Sequence[Plain]) -> Plain:
    """A result in which arrays in an argument's memory, such as views and empty reductions, are
    copied.
    """
    import numpy as np

    done: dict[int, Plain] = {}  # tuples may share their fields

    def apart(part: Plain) -> Plain:
        if isinstance(part, tuple):
            if id(part) not in done:
                done[id(part)] = tuple([apart(field) for field in part])
            return done[id(part)]
        if isinstance(part, np.ndarray):
            for arg in args:
                for array in arg if isinstance(arg, tuple) else (arg,):
                    if isinstance(array, np.ndarray) and np.may_share_memory(part, array):
                        return part.copy()
        return part

    return apart(result)


def _one(
    operator: OperatorSignature,
    match: ArgumentMatch,
    call: ast.Call,
    args: Sequence[Plain],
    run: Evaluation,
) -> Plain:
    parameter = match.parameter
    if match.source == "positional":
        value = args[match.index]
        if parameter.kind == "new_shape":
            value = in_place_of_sizes(call.args[match.index], value)
        null = value is None or (isinstance(value, tuple) and not value)
    elif match.source == "keyword":
        given = call.attrs[parameter.name]
        value = _attribute(given, run)
        null = value is None or (isinstance(given, ast.Tuple) and not given.fields)
    elif match.source == "default":
        value = parameter.default
        null = value is None
    else:
        raise OperatorFault(
            "E-operator-arguments", f"{operator.name}: the argument for {parameter.name} is missing"
        )
    return None if null and parameter.optional else _convert(parameter, value)


def _attribute(value: object, run: Evaluation) -> Plain:
    """The value of a keyword argument."""
    match value:
        case OpaqueExpr(text=text):  # an index map
            return text
        case PrimExpr():
            return run.prim(value)
        case ast.Expr():
            return run.value(value)
        case tuple() | list():
            return tuple(_attribute(item, run) for item in value)
    return value


def _convert(parameter: Parameter, value: Plain) -> Plain:
    try:
        return KINDS[parameter.kind].evaluated(value)
    except (TypeError, ValueError) as error:
        raise OperatorFault(
            "E-operator-arguments", f"{parameter.name}: expected {parameter.kind}: {error}"
        ) from None
