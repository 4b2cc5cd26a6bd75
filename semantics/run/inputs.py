"""The arguments of a run, from the command line and the entry's annotations. The numbers of shape
variables are given, inferred from given values, or solved for.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import FLOAT32, DataType
from rlx.grammar.nodes.node import replace
from rlx.grammar.print.printer import show
from rlx.grammar.wording import shortened
from rlx.operators.evaluation import OperatorFault, numpy_dtype
from rlx.semantics.live_memory import TooMuchMemory, current, total
from rlx.semantics.run.files import FileError, load
from rlx.semantics.run.literals import digits_counted, from_python, literal, value_of
from rlx.semantics.values import (
    DoesNotFit,
    FunctionName,
    Scalar,
    ShapeValue,
    Tensor,
    TupleValue,
    Value,
    copied,
    fitted,
    values_inside,
)
from rlx.solver.evaluate import UndefinedError, evaluate
from rlx.solver.order import substitute

DEFAULT_SIZE = 2
"""The default number of an unconstrained shape variable."""

MOST_ELEMENTS = 1 << 28
"""The maximum number of elements of a generated tensor."""


MOST_DIMENSIONS = 64
"""NumPy's limit."""


class InputError(ValueError):
    """An invalid input, with the expected and the actual value."""


class Inputs:
    """The arguments of a run.

    Attributes
    ----------
    values
        The values of the parameters.
    sizes
        The numbers of the shape variables of the signature.
    made_up
        The names of generated parameters and shape variables.
    """

    __slots__ = ("made_up", "sizes", "values")

    def __init__(
        self, values: tuple[Value, ...], sizes: dict[str, int], made_up: tuple[str, ...]
    ) -> None:
        self.values, self.sizes, self.made_up = values, sizes, made_up


def inputs(
    function: ast.Function,
    given: Mapping[str, object],
    seed: int = 0,
    functions: Collection[str] = (),
    *,
    overwrite: bool = False,
    whole: bool = False,
) -> Inputs:
    """Arguments for the parameters of a function. Raises InputError if a name is unknown, a file
    cannot be read, a value does not fit its annotation, or two of them contradict each other.

    Parameters
    ----------
    function
        The entry.
    given
        A text for a parameter or a shape variable: a file (``x.npy``), a generator (``rand``,
        ``zeros``, ``ones``, ``iota``), or the value itself (``5``, ``true``, ``inf``, ``[1, 2]``,
        ``([1], 2)``). Other objects are Python values; see
        :func:`rlx.semantics.run.literals.from_python`.
    seed
        The seed of the random numbers; parameters that are not given are random.
    functions
        The names of functions that a parameter may be given.
    overwrite
        Whether the values are the given arrays, not copies, so that a run may write into them.
    whole
        Whether floats that are not given are small whole numbers.
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
        name: _given(name, given[name], _info(param), functions, overwrite)
        for name, param in params.items()
        if name in given and not _is_way(given[name])
    }
    sizes = _learn(said, values, params)
    made_up = [name for name, var in shape_vars.items() if var not in sizes]
    for var in function.shape_vars:
        if var.dtype.is_integer:
            sizes.setdefault(var, DEFAULT_SIZE)
    random = np.random.default_rng(seed)
    for name, value in values.items():
        _hold(name, value)
    for name, param in params.items():
        if name not in values:
            way = _WAYS[str(given.get(name, "whole" if whole else "rand"))]
            values[name] = _make(name, _info(param), sizes, lambda *a, way=way: way(random, *a))
    made_up += [name for name in params if name not in given]
    return Inputs(
        tuple(_there(values[name], _info(param), sizes) for name, param in params.items()),
        {var.name: number for var, number in sizes.items()},
        tuple(made_up),
    )


def _hold(name: str, value: Value) -> None:
    """Count the memory of a given value."""
    memory = current()
    for each in values_inside([value]):
        if isinstance(each, Tensor):
            try:
                memory.take(each.data, "the given tensor")
            except TooMuchMemory as error:
                raise InputError(f"{name}: {error}") from None


def _info(param: ast.Var) -> ast.StructInfo:
    return param.struct_info_annotation or ast.ObjectStructInfo()


def _there(value: Value, info: ast.StructInfo, sizes: Known) -> Value:
    """A value where its annotation says that it is; a function with the type that it says."""
    match value, info:
        case FunctionName(name=name), ast.FuncStructInfo():
            numbers = {var: tir.IntImm(number, var.dtype) for var, number in sizes.items()}
            return FunctionName(name, substitute(info, numbers))
        case Tensor(device=None), ast.TensorStructInfo(vdevice=ast.VDevice() as device):
            return replace(value, device=(device.target, device.index))
        case TupleValue(fields=fields), ast.TupleStructInfo(fields=infos) if len(fields) == len(
            infos
        ):
            return TupleValue(
                tuple(_there(*each, sizes) for each in zip(fields, infos, strict=True))
            )
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
    try:
        if type(given) is not int:
            digits_counted(str(given))
            given = int(str(given))
        return int(fitted(given, kind))
    except DoesNotFit as misfit:
        raise InputError(f"{name}: {misfit}") from None
    except ValueError:
        found = shortened(str(given), 80)
        raise InputError(f"{name}: expected an integer, found {found!r}") from None


def _given(
    name: str, text: object, info: ast.StructInfo, functions: Collection[str], overwrite: bool
) -> Value:
    if isinstance(info, ast.FuncStructInfo) or (
        isinstance(info, ast.ObjectStructInfo) and isinstance(text, str) and text in functions
    ):
        return _function(name, text, functions)
    try:
        if not isinstance(text, str):
            value = from_python(name, text, info)
            return value if overwrite else copied(value)
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
            f"found {shortened(str(text), 80)!r}"
        ) from None


def _function(name: str, given: object, functions: Collection[str]) -> Value:
    """A function by its name, or one that an earlier run returned."""
    from rlx.grammar.suggest import misspelt

    if isinstance(given, Value):
        return given
    if not isinstance(given, str):
        what = type(given).__name__
        raise InputError(f"{name}: expected a function, or the name of one; found {what}")
    if given not in functions:
        words = f"expected the name of a function of the module or of a packed one; found {given!r}"
        raise InputError(misspelt(f"{name}: {words}", given, functions))
    return FunctionName(given)


# ---------------------------------------------------------------- values that are made up

Fill = Callable[[tuple[int, ...], np.dtype[Any]], np.ndarray[Any, Any]]


def _make(name: str, info: ast.StructInfo, sizes: Mapping[tir.Var, int], fill: Fill) -> Value:
    """A value of an annotation."""
    match info:
        case ast.TensorStructInfo(shape=shape, dtype=kind, ndim=ndim):
            if isinstance(shape, ast.ShapeExpr):
                dims = _sizes(name, shape.values, sizes)
            else:
                rank = 1 if ndim < 0 else min(ndim, MOST_DIMENSIONS + 1)
                dims = (DEFAULT_SIZE,) * rank
            if len(dims) > MOST_DIMENSIONS:
                raise InputError(f"{name}: a tensor has at most {MOST_DIMENSIONS} dimensions here")
            if prod(dims) > MOST_ELEMENTS:
                raise InputError(f"{name}: a tensor of shape {dims} is too large to generate")
            element = _numpy_type(name, FLOAT32 if kind.is_void else kind)
            memory = current()
            try:
                memory.require(total(dims, element.itemsize), f"a tensor of shape {dims}")
                made = fill(dims, element)
            except (MemoryError, TooMuchMemory) as error:
                raise InputError(f"{name}: {error}") from None
            memory.hold(made)
            return Tensor(made)
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
    what = "the name of a function" if isinstance(info, ast.FuncStructInfo) else "one"
    raise InputError(f"{name}: cannot generate a value for {show(info)}: give {what}")


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
        raise InputError(f"{name}: its shape would be {found}: give other sizes")
    return found


_CHUNK = 1 << 20


def _random(
    random: np.random.Generator, shape: tuple[int, ...], kind: np.dtype[Any]
) -> np.ndarray[Any, Any]:
    count = prod(shape)
    if count > _CHUNK:  # the same numbers, without an array of larger elements
        found = np.empty(count, kind)
        for start in range(0, count, _CHUNK):
            part = found[start : start + _CHUNK]
            part[...] = _random(random, part.shape, kind)
        return found.reshape(shape)
    if kind == np.bool_:
        return random.integers(0, 2, shape).astype(kind)
    if np.issubdtype(kind, np.integer):
        return random.integers(0, 10, shape).astype(kind)
    return np.asarray(random.standard_normal(shape)).astype(kind)


def _whole(
    random: np.random.Generator, shape: tuple[int, ...], kind: np.dtype[Any]
) -> np.ndarray[Any, Any]:
    if kind == np.bool_ or np.issubdtype(kind, np.integer):
        return _random(random, shape, kind)
    return random.integers(-3, 4, shape).astype(kind)


_WAYS: dict[str, Callable[..., np.ndarray[Any, Any]]] = {
    "rand": _random,
    "whole": _whole,
    "zeros": lambda _, shape, kind: np.zeros(shape, kind),
    "ones": lambda _, shape, kind: np.ones(shape, kind),
    "iota": lambda _, shape, kind: np.arange(prod(shape)).astype(kind).reshape(shape),
}


_POINTS = 10
"""How many numbers of a variable show whether an expression is linear in it."""

Known = dict[tir.Var, int]
Position = tuple[str, tir.PrimExpr, int]
"""A position in an annotation: its owner, its expression, and the number of a value there."""

SEARCHED = 65
"""How many numbers are tried, from 0 on, if a dimension is not linear in its variable."""


class NoSizeError(ValueError):
    """The given values contradict each other about a shape variable, or have no solution."""


def learn(said: Mapping[tir.Var, int], given: Sequence[Position]) -> Known:
    """The numbers of shape variables that follow from the given values.

    If two values disagree, the first one is used; the run reports the contradiction.

    Raises NoSizeError if a value contradicts ``said``, or a dimension has a number that it cannot
    have.
    """
    known = dict(said)
    for _, expr, number in given:
        if isinstance(expr, tir.Var):
            known.setdefault(expr, number)
    pending = [position for position in given if not isinstance(position[1], tir.Var)]
    while pending:
        solved = [one for one in pending if _solve(one, known)]
        if not solved:
            break
        pending = [one for one in pending if one not in solved]
    for position in given:
        _agree(position, known, said)
    return known


def positions(name: str, value: Value, info: ast.StructInfo) -> Iterator[Position]:
    """The dimensions and numbers of an annotation, with the corresponding numbers of a value."""
    match value, info:
        case Tensor(), ast.TensorStructInfo(shape=ast.ShapeExpr(values=dims)):
            yield from ((name, dim, n) for dim, n in zip(dims, value.shape, strict=False))
        case ShapeValue(values=sizes), ast.ShapeStructInfo(values=dims) if dims is not None:
            yield from ((name, dim, n) for dim, n in zip(dims, sizes, strict=False))
        case Scalar(value=int(number)), ast.PrimStructInfo(value=expr) if expr is not None:
            yield name, expr, number
        case TupleValue(fields=fields), ast.TupleStructInfo(fields=infos):
            for field, inner in zip(fields, infos, strict=False):
                yield from positions(name, field, inner)


def _solve(position: Position, known: Known) -> bool:
    """Find the one variable of a dimension that has no number yet; whether the dimension is done
    with.
    """
    name, expr, number = position
    unknown = [var for var in tir.free_vars(expr) if var not in known]
    if not unknown:
        return True
    if len(unknown) > 1:
        return False
    (var,) = unknown
    for candidate in _candidates(expr, var, number, known):
        if _value(expr, known | {var: candidate}) == number:
            known[var] = candidate
            return True
    if _slope(expr, var, known) is not None:
        raise NoSizeError(f"{name}: no value of {var.name} makes {show(expr)} = {number}")
    return False


def _candidates(expr: tir.PrimExpr, var: tir.Var, number: int, known: Known) -> Iterator[int]:
    slope = _slope(expr, var, known)
    if slope:
        found = (number - (_value(expr, known | {var: 0}) or 0)) // slope
        if found >= 0:
            yield found
    else:
        yield from range(SEARCHED)


def _slope(expr: tir.PrimExpr, var: tir.Var, known: Known) -> int | None:
    """By how much an expression grows with a variable, if that is the same everywhere."""
    plain = (tir.Add, tir.Sub, tir.Mul, tir.IntImm, tir.Var)
    if not all(isinstance(node, plain) for node in tir.postorder(expr)):
        return None
    found = (_value(expr, known | {var: at}) for at in range(_POINTS))
    values = [value for value in found if value is not None]
    if len(values) < _POINTS:
        return None
    slope, *others = {after - before for before, after in pairwise(values)}
    return slope if slope and not others else None


def _value(expr: tir.PrimExpr, known: Known) -> int | None:
    try:
        return int(evaluate(expr, known, int64=True))
    except (UndefinedError, KeyError):
        return None


def _agree(position: Position, known: Known, said: Mapping[tir.Var, int]) -> None:
    """Whether a value has the dimension that the user says by its variables."""
    name, expr, number = position
    used = tir.free_vars(expr)
    if not used or any(var not in said for var in used):
        return
    wanted = _value(expr, known)
    if wanted != number:
        inputs = ", ".join(f"{var.name}={said[var]}" for var in used)
        what = inputs if isinstance(expr, tir.Var) else f"{inputs} ({show(expr)} = {wanted})"
        raise NoSizeError(f"{what} and {name} contradict each other: there {name} is {number}")
