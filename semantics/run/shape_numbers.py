"""The numbers of shape variables: said, read off the values that are given, or solved for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rlx.grammar import ast, tir
from rlx.grammar.printer import show
from rlx.semantics.values import Scalar, ShapeValue, Tensor, TupleValue, Value
from rlx.solver.evaluate import UndefinedError, evaluate

Known = dict[tir.Var, int]
Position = tuple[str, tir.PrimExpr, int]
"""A place in an annotation: whose, the expression there, the number that a value has there."""

SEARCHED = 64
"""Numbers up to this one are tried where a dimension is not linear in its variable."""


class NoSizeError(ValueError):
    """What is given says two things of one shape variable, or what no number can be."""


def learn(said: Mapping[tir.Var, int], given: Sequence[Position]) -> Known:
    """The numbers that follow from what is given; variables of which nothing follows are not among
    them.

    Where two values disagree the first counts: that they do is for the run to notice.

    Raises
    ------
    NoSizeError
        If a value contradicts ``said``, or a dimension has a number that it cannot have.
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
    """The dimensions and numbers of an annotation with what a value has there."""
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


def _unknown(expr: tir.PrimExpr, known: Known) -> list[tir.Var]:
    used = [node for node in tir.postorder(expr) if isinstance(node, tir.Var)]
    return [var for var in dict.fromkeys(used) if var not in known]


def _solve(position: Position, known: Known) -> bool:
    """Find the one variable of a dimension that has no number yet; whether the dimension is done
    with.
    """
    name, expr, number = position
    unknown = _unknown(expr, known)
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
        raise NoSizeError(f"{name}: no {var.name} makes {show(expr)} = {number}")
    return False


def _candidates(expr: tir.PrimExpr, var: tir.Var, number: int, known: Known) -> Iterator[int]:
    slope = _slope(expr, var, known)
    if slope:
        found = (number - (_value(expr, known | {var: 0}) or 0)) // slope
        if found >= 0:
            yield found
    else:
        yield from range(SEARCHED + 1)


def _slope(expr: tir.PrimExpr, var: tir.Var, known: Known) -> int | None:
    """By how much an expression grows with a variable, if that is the same everywhere."""
    plain = (tir.Add, tir.Sub, tir.Mul, tir.IntImm, tir.Var)
    if not all(isinstance(node, plain) for node in tir.postorder(expr)):
        return None
    values = [_value(expr, known | {var: at}) for at in (0, 1, 2, 3, 1000)]
    if None in values:
        return None
    first, second, *others = (value for value in values if value is not None)
    slope = second - first
    same = [first + slope * at for at in (2, 3, 1000)] == others
    return slope if same and slope else None


def _value(expr: tir.PrimExpr, known: Known) -> int | None:
    try:
        return int(evaluate(expr, known, int64=True))
    except (UndefinedError, KeyError):
        return None


def _agree(position: Position, known: Known, said: Mapping[tir.Var, int]) -> None:
    """Whether a value has the dimension that the user says by its variables."""
    name, expr, number = position
    used = [node for node in tir.postorder(expr) if isinstance(node, tir.Var)]
    if not used or any(var not in said for var in used):
        return
    wanted = _value(expr, known)
    if wanted != number:
        inputs = ", ".join(f"{var.name}={said[var]}" for var in dict.fromkeys(used))
        what = inputs if isinstance(expr, tir.Var) else f"{inputs} ({show(expr)} = {wanted})"
        raise NoSizeError(f"{what} and {name} contradict each other: {name} has {number} there")
