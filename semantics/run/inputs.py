"""The arguments of a run, from what the command line says of them and the entry's annotations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rlx.grammar import ast, tir
from rlx.grammar.dtype import FLOAT32
from rlx.grammar.printer import show
from rlx.operators.evaluation import OperatorFault, numpy_dtype
from rlx.semantics.values import Opaque, Scalar, ShapeValue, Tensor, TupleValue, Value
from rlx.solver.evaluate import UndefinedError, evaluate

DEFAULT_SIZE = 2
"""The number for a shape variable of which nothing is said."""

MOST_ELEMENTS = 1 << 28
"""A tensor made up here has no more elements than that."""


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
        What nobody gave: names of parameters and of shape variables.
    """

    __slots__ = ("made_up", "sizes", "values")

    def __init__(
        self, values: tuple[Value, ...], sizes: dict[str, int], made_up: tuple[str, ...]
    ) -> None:
        self.values, self.sizes, self.made_up = values, sizes, made_up


def inputs(function: ast.Function, given: Mapping[str, str], seed: int = 0) -> Inputs:
    """Arguments for the parameters of a function.

    Parameters
    ----------
    function
        The entry.
    given
        A text for a parameter or a shape variable: a file (``x.npy``), a way to make one up (``rand``, ``zeros``,
        ``ones``, ``iota``), or the value itself (``5``, ``[1, 2]``).
    seed
        Of the random numbers; parameters without a text are random.

    Raises
    ------
    InputError
        If a name is unknown, a file cannot be read, or a value does not fit its annotation.
    """
    shape_vars = {var.name: var for var in function.shape_vars}
    params = {param.name_hint: param for param in function.params}
    for name in given:
        if name not in params and name not in shape_vars:
            known = ", ".join([*params, *shape_vars]) or "none"
            raise InputError(
                f"there is no parameter or shape variable {name!r}; there are: {known}"
            )
    sizes = {
        var: _integer(name, given[name])
        for name, var in shape_vars.items()
        if name in given and name not in params
    }
    values: dict[str, Value] = {}
    for name, param in params.items():
        if name in given and given[name] not in _WAYS:
            values[name] = _given(name, given[name], _info(param))
            _learn(values[name], _info(param), sizes)
    made_up = [name for name, var in shape_vars.items() if var not in sizes]
    for name in made_up:
        sizes[shape_vars[name]] = DEFAULT_SIZE
    random = np.random.default_rng(seed)
    for name, param in params.items():
        if name not in values:
            way = _WAYS[given.get(name, "rand")]
            values[name] = _make(name, _info(param), sizes, lambda *a, way=way: way(random, *a))
    made_up += [name for name in params if name not in given]
    return Inputs(
        tuple(values[name] for name in params),
        {var.name: number for var, number in sizes.items()},
        tuple(made_up),
    )


def _info(param: ast.Var) -> ast.StructInfo:
    return param.struct_info_annotation or ast.ObjectStructInfo()


def _integer(name: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise InputError(f"{name}: expected an integer, found {text!r}") from None


# ---------------------------------------------------------------- values that the user gives


def _given(name: str, text: str, info: ast.StructInfo) -> Value:
    if text.endswith((".npy", ".npz")):
        return _from_file(name, Path(text))
    value = _literal(name, text)
    match info:
        case ast.TensorStructInfo(dtype=kind):
            try:
                return Tensor(np.array(value, dtype=None if kind.is_void else numpy_dtype(kind)))
            except (ValueError, TypeError, OverflowError, OperatorFault) as error:
                raise InputError(f"{name}: {text} is no {show(info)}: {error}") from None
        case ast.PrimStructInfo(dtype=kind) if isinstance(value, (int, float)):
            return Scalar(value, kind)
        case ast.ShapeStructInfo() if _is_shape(value):
            return ShapeValue(tuple(value))
        case ast.ObjectStructInfo():
            return Opaque(value)
    raise InputError(f"{name}: expected {show(info)}, found {text}")


def _is_shape(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and all(type(size) is int for size in value)


def _from_file(name: str, path: Path) -> Value:
    try:
        loaded = np.load(path, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return Tensor(loaded)
        return TupleValue(tuple(Tensor(loaded[key]) for key in loaded.files))
    except (OSError, ValueError, EOFError) as error:
        raise InputError(f"{name}: {path} cannot be read: {error}") from None


def _literal(name: str, text: str) -> Any:
    from ast import literal_eval

    try:
        return literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        ways = ", ".join(_WAYS)
        raise InputError(
            f"{name}: expected a .npy file, a number, a list, a quoted string, or one of {ways}; found {text!r}"
        ) from None


def _learn(value: Value, info: ast.StructInfo, sizes: dict[tir.Var, int]) -> None:
    """Take the numbers of shape variables from a value that was given."""
    for expr, number in _positions(value, info):
        if isinstance(expr, tir.Var):
            sizes.setdefault(expr, number)


def _positions(value: Value, info: ast.StructInfo) -> Iterator[tuple[tir.PrimExpr, int]]:
    match value, info:
        case Tensor(), ast.TensorStructInfo(shape=ast.ShapeExpr(values=dims)):
            yield from zip(dims, value.shape, strict=False)
        case ShapeValue(values=sizes), ast.ShapeStructInfo(values=dims) if dims is not None:
            yield from zip(dims, sizes, strict=False)
        case Scalar(value=int(number)), ast.PrimStructInfo(value=expr) if expr is not None:
            yield expr, number
        case TupleValue(fields=fields), ast.TupleStructInfo(fields=infos):
            for field, inner in zip(fields, infos, strict=False):
                yield from _positions(field, inner)


# ---------------------------------------------------------------- values that are made up

Fill = Callable[[tuple[int, ...], np.dtype[Any]], np.ndarray[Any, Any]]


def _make(name: str, info: ast.StructInfo, sizes: Mapping[tir.Var, int], fill: Fill) -> Value:
    """A value of an annotation."""
    match info:
        case ast.TensorStructInfo(shape=shape, dtype=kind, ndim=ndim):
            if isinstance(shape, ast.ShapeExpr):
                dims = _sizes(name, shape.values, sizes)
            else:
                dims = (DEFAULT_SIZE,) * max(ndim, 1 if ndim < 0 else 0)
            if _count(dims) > MOST_ELEMENTS:
                raise InputError(f"{name}: a tensor of shape {dims} is too large to make up")
            return Tensor(fill(dims, numpy_dtype(FLOAT32 if kind.is_void else kind)))
        case ast.ShapeStructInfo(values=dims) if dims is not None:
            return ShapeValue(_sizes(name, dims, sizes))
        case ast.PrimStructInfo(dtype=kind, value=expr):
            if expr is not None:
                (number,) = _sizes(name, (expr,), sizes)
                return Scalar(number, kind)
            return Scalar(fill((), numpy_dtype(kind)).item(), kind)
        case ast.TupleStructInfo(fields=fields):
            return TupleValue(
                tuple(_make(f"{name}[{at}]", inner, sizes, fill) for at, inner in enumerate(fields))
            )
    raise InputError(f"{name}: nothing can be made up for {show(info)}: give a value")


def _sizes(
    name: str, dims: Sequence[tir.PrimExpr], sizes: Mapping[tir.Var, int]
) -> tuple[int, ...]:
    try:
        found = tuple(int(evaluate(dim, sizes)) for dim in dims)
    except (UndefinedError, KeyError) as error:
        raise InputError(f"{name}: its shape has no value: {error}") from None
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
