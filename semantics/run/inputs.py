"""The arguments of a run, from what the command line says of them and the entry's annotations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rlx.grammar import ast, tir
from rlx.grammar.dtype import FLOAT32, INT64, DataType
from rlx.grammar.node import replace
from rlx.grammar.printer import show
from rlx.operators.evaluation import OperatorFault, numpy_dtype
from rlx.semantics.run.files import FileError, load
from rlx.semantics.run.literals import from_python, literal, value_of
from rlx.semantics.run.shape_numbers import Known, NoSizeError, learn, positions
from rlx.semantics.values import DoesNotFit, Scalar, ShapeValue, Tensor, TupleValue, Value, fitted
from rlx.solver.evaluate import UndefinedError, evaluate

DEFAULT_SIZE = 2
"""The number for a shape variable of which nothing is said."""

MOST_ELEMENTS = 1 << 28
"""A tensor made up here has no more elements than that."""


MOST_DIMENSIONS = 64
"""NumPy's limit."""


class InputError(ValueError):
    """An input that cannot be had: which, what was expected, what was found."""


class Inputs:
    """The arguments of a run.

    Attributes
    ----------
    values
        One for each parameter.
    sizes
        The numbers of the shape variables of the signature.
    made_up
        What was not given: names of parameters and of shape variables.
    """

    __slots__ = ("made_up", "sizes", "values")

    def __init__(
        self, values: tuple[Value, ...], sizes: dict[str, int], made_up: tuple[str, ...]
    ) -> None:
        self.values, self.sizes, self.made_up = values, sizes, made_up


def inputs(function: ast.Function, given: Mapping[str, object], seed: int = 0) -> Inputs:
    """Arguments for the parameters of a function.

    Parameters
    ----------
    function
        The entry.
    given
        A text for a parameter or a shape variable: a file (``x.npy``), a way to make one up
        (``rand``, ``zeros``, ``ones``, ``iota``), or the value itself (``5``, ``true``, ``inf``,
        ``[1, 2]``, ``([1], 2)``). What is no text is a value of Python: see
        :func:`rlx.semantics.run.literals.from_python`.
    seed
        Of the random numbers; parameters without a text are random.

    Raises
    ------
    InputError
        If a name is unknown, a file cannot be read, a value does not fit its annotation, or two of
        them contradict each other.
    """
    params = {param.name_hint: param for param in function.params}
    scalars = {param.shape_var for param in function.params}
    shape_vars = {var.name: var for var in function.shape_vars if var not in scalars}
    for name in given:
        if name not in params and name not in shape_vars:
            known = ", ".join([*params, *shape_vars]) or "none"
            raise InputError(
                f"{name}: there is no parameter or shape variable {name!r}; there are: {known}"
            )
    said = {
        var: _integer(name, given[name], var.dtype)
        for name, var in shape_vars.items()
        if name in given and name not in params
    }
    values = {
        name: _given(name, given[name], _info(param))
        for name, param in params.items()
        if name in given and not _is_way(given[name])
    }
    sizes = _learn(said, values, params)
    made_up = [name for name, var in shape_vars.items() if var not in sizes]
    for var in function.shape_vars:
        if var.dtype == INT64:
            sizes.setdefault(var, DEFAULT_SIZE)
    random = np.random.default_rng(seed)
    for name, param in params.items():
        if name not in values:
            way = _WAYS[str(given.get(name, "rand"))]
            values[name] = _make(name, _info(param), sizes, lambda *a, way=way: way(random, *a))
    made_up += [name for name in params if name not in given]
    return Inputs(
        tuple(_there(values[name], _info(param)) for name, param in params.items()),
        {var.name: number for var, number in sizes.items()},
        tuple(made_up),
    )


def _info(param: ast.Var) -> ast.StructInfo:
    return param.struct_info_annotation or ast.ObjectStructInfo()


def _there(value: Value, info: ast.StructInfo) -> Value:
    """A value where its annotation says that it is."""
    match value, info:
        case Tensor(device=None), ast.TensorStructInfo(vdevice=ast.VDevice() as device):
            return replace(value, device=(device.target, device.index))
        case TupleValue(fields=fields), ast.TupleStructInfo(fields=infos) if len(fields) == len(
            infos
        ):
            return TupleValue(tuple(map(_there, fields, infos)))
    return value


def _learn(
    said: Mapping[tir.Var, int], values: Mapping[str, Value], params: Mapping[str, ast.Var]
) -> Known:
    found = [
        p for name, value in values.items() for p in positions(name, value, _info(params[name]))
    ]
    try:
        return learn(said, found)
    except NoSizeError as error:
        raise InputError(str(error)) from None


# ---------------------------------------------------------------- values that the user gives


def _is_way(given: object) -> bool:
    """Whether it names a way to make a value up."""
    return isinstance(given, str) and given in _WAYS


def _integer(name: str, given: object, kind: DataType) -> int:
    text = str(given)
    try:
        number = int(text)
    except ValueError:
        raise InputError(f"{name}: expected an integer, found {_short(text)!r}") from None
    try:
        return int(fitted(number, kind))
    except DoesNotFit as misfit:
        raise InputError(f"{name}: {misfit}") from None


def _given(name: str, text: object, info: ast.StructInfo) -> Value:
    try:
        if not isinstance(text, str):
            return from_python(name, text, info)
        if text.endswith((".npy", ".npz")):
            return load(Path(text), info)
        return value_of(literal(text), info)
    except FileError as error:
        raise InputError(f"{name}: {error}") from None
    except DoesNotFit as misfit:
        raise InputError(f"{name}: {misfit}") from None
    except ValueError:
        ways = ", ".join(_WAYS)
        raise InputError(
            f"{name}: expected a .npy file, a number, a list, a quoted string, or one of {ways}; "
            f"found {_short(str(text))!r}"
        ) from None


def _short(text: str) -> str:
    return text if len(text) <= 80 else text[:79] + "…"


# ---------------------------------------------------------------- values that are made up

Fill = Callable[[tuple[int, ...], np.dtype[Any]], np.ndarray[Any, Any]]


def _make(name: str, info: ast.StructInfo, sizes: Mapping[tir.Var, int], fill: Fill) -> Value:
    """A value of an annotation."""
    match info:
        case ast.TensorStructInfo(shape=shape, dtype=kind, ndim=ndim):
            if isinstance(shape, ast.ShapeExpr):
                dims = _sizes(name, shape.values, sizes)
            else:
                dims = (DEFAULT_SIZE,) * min(max(ndim, 1 if ndim < 0 else 0), MOST_DIMENSIONS + 1)
            if len(dims) > MOST_DIMENSIONS:
                raise InputError(f"{name}: a tensor has at most {MOST_DIMENSIONS} dimensions here")
            if _count(dims) > MOST_ELEMENTS:
                raise InputError(f"{name}: a tensor of shape {dims} is too large to make up")
            return Tensor(fill(dims, _numpy_type(name, FLOAT32 if kind.is_void else kind)))
        case ast.ShapeStructInfo(values=dims) if dims is not None:
            return ShapeValue(_sizes(name, dims, sizes))
        case ast.ShapeStructInfo(ndim=ndim) if ndim >= 0:
            return ShapeValue((DEFAULT_SIZE,) * min(ndim, MOST_DIMENSIONS))
        case ast.PrimStructInfo(dtype=kind, value=expr):
            if expr is not None and (not isinstance(expr, tir.Var) or expr in sizes):
                return Scalar(_number(name, expr, sizes), kind)
            return Scalar(fill((), _numpy_type(name, kind)).item(), kind)
        case ast.TupleStructInfo(fields=fields):
            return TupleValue(
                tuple(_make(f"{name}[{at}]", inner, sizes, fill) for at, inner in enumerate(fields))
            )
    raise InputError(f"{name}: nothing can be made up for {show(info)}: give a value")


def _numpy_type(name: str, kind: DataType) -> np.dtype[Any]:
    try:
        return numpy_dtype(kind)
    except OperatorFault as fault:
        raise InputError(f"{name}: {fault}") from None


def _number(name: str, expr: tir.PrimExpr, sizes: Mapping[tir.Var, int]) -> int:
    try:
        return evaluate(expr, sizes)
    except (UndefinedError, KeyError) as error:
        raise InputError(f"{name}: {show(expr)} has no value: {error}") from None


def _sizes(
    name: str, dims: Sequence[tir.PrimExpr], sizes: Mapping[tir.Var, int]
) -> tuple[int, ...]:
    found = tuple(_number(name, dim, sizes) for dim in dims)
    if any(size < 0 for size in found):
        raise InputError(f"{name}: its shape would be {found}: give other numbers")
    return found


def _count(shape: tuple[int, ...]) -> int:
    count = 1
    for size in shape:
        count *= size
    return count


def _random(
    random: np.random.Generator, shape: tuple[int, ...], kind: np.dtype[Any]
) -> np.ndarray[Any, Any]:
    if kind == np.bool_:
        return random.integers(0, 2, shape).astype(kind)
    if np.issubdtype(kind, np.integer):
        return random.integers(0, 10, shape).astype(kind)
    return np.asarray(random.standard_normal(shape)).astype(kind)


def _iota(
    _: np.random.Generator, shape: tuple[int, ...], kind: np.dtype[Any]
) -> np.ndarray[Any, Any]:
    return np.arange(_count(shape)).reshape(shape).astype(kind)


_WAYS: dict[str, Callable[..., np.ndarray[Any, Any]]] = {
    "rand": _random,
    "zeros": lambda _, shape, kind: np.zeros(shape, kind),
    "ones": lambda _, shape, kind: np.ones(shape, kind),
    "iota": _iota,
}
