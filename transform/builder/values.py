"""Variables, annotations and constants made by the user."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from keyword import iskeyword
from typing import Any, TypeVar

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import StructInfo, TensorStructInfo
from rlx.grammar.nodes.dtype import BOOL, INT64, VOID, DataType, fits, lacking
from rlx.grammar.nodes.dtype import dtype as named_type
from rlx.grammar.nodes.node import changed, same
from rlx.grammar.nodes.overloaded import constant, element_type, prim
from rlx.grammar.nodes.python_places import MisuseError, Place, described, here, spelt
from rlx.grammar.nodes.struct_infos import all_parts, rebuilt
from rlx.grammar.nodes.tir import PrimExpr
from rlx.grammar.read.parser import ParseError, parse_prim_expr, parse_struct_info

T = TypeVar("T")

_dims: dict[str, tir.Var] = {}
_infos: dict[str, StructInfo] = {}
"""The parsed annotations by text, except those of functions, whose binders depend on the position.
"""


@spelt
def dim(text: str, scope: Mapping[str, tir.Var] | None = None) -> PrimExpr:
    """A dimension: the shape variable of a name, or an expression such as ``"n // 4 * 4"``.

    Outside a function a name always means the same variable, so the annotations of several
    parameters can share it.

    Parameters
    ----------
    scope
        Shape variables by name; they take precedence over all others.

    Raises
    ------
    MisuseError
        If the text is not an integer expression, or the scope is invalid.
    """
    place = here()
    return scalar(text, place, _names(scope, place))


def _names(scope: object, place: Place) -> Mapping[str, tir.Var] | None:
    if not isinstance(scope, Mapping | None) or not all(
        isinstance(key, str) and isinstance(var, tir.Var) for key, var in (scope or {}).items()
    ):
        wanted = "a mapping from names to shape variables"
        raise MisuseError(f"scope: expected {wanted}, found {described(scope)}", place)
    return scope


def scalar(given: object, place: Place, scope: Mapping[str, tir.Var] | None = None) -> PrimExpr:
    """Like :func:`dim`, for a given position; numbers and scalars are also accepted. Raises
    MisuseError if it is neither a scalar nor the text of one.
    """
    if not isinstance(given, str):
        return prim(given, place=place)
    if given.isascii() and given.isidentifier() and not iskeyword(given):
        var = (scope or {}).get(given)
        return _dims.setdefault(given, tir.Var(given)) if var is None else var
    names = {**_dims, **(scope or {})}
    found = _read(parse_prim_expr, given, "not a scalar", names, place)
    _remember(names, scope)
    return found


def _read(
    parse: Callable[[str, dict[str, tir.Var]], T],
    text: str,
    wrong: str,
    names: dict[str, tir.Var],
    place: Place,
) -> T:
    """The node of a text, or an error at the line of Python that gave it."""
    try:
        return parse(text, names)
    except ParseError as error:
        raise MisuseError(f"{text!r} is {wrong}: {error.msg}", place) from None


def _remember(names: Mapping[str, tir.Var], scope: Mapping[str, tir.Var] | None) -> None:
    for name, var in names.items():
        if not scope or name not in scope:
            _dims.setdefault(name, var)


def struct_info(given: StructInfo | str, scope: Mapping[str, tir.Var] | None = None) -> StructInfo:
    """An annotation, given as a node or as a text: ``'R.Tensor(("n", 4), "float32")'``.

    Raises
    ------
    MisuseError
        If it is neither an annotation nor the text of one.
    """
    place = here()
    return annotation(given, place, _names(scope, place))


def annotation(
    given: StructInfo | str, place: Place, scope: Mapping[str, tir.Var] | None = None
) -> StructInfo:
    """Like :func:`struct_info`, for a given position. Raises MisuseError if it is neither an
    annotation nor the text of one.
    """
    if isinstance(given, StructInfo):
        return rebuilt(given, lambda part: _completed(part, place))
    if not isinstance(given, str):
        raise MisuseError(
            'expected an annotation such as R.Tensor(("n", 4), "float32"), as a text or a node; '
            f"found {described(given)}" + (_UNWRITTEN if given is None else ""),
            place,
        )
    known = None if scope else _infos.get(given)
    if known is None:
        known = _plain_tensor(given, scope)
    if known is not None:
        return known
    names = {**_dims, **(scope or {})}
    found = _read(parse_struct_info, given, "not an annotation", names, place)
    _remember(names, scope)
    if not scope and not any(isinstance(part, ast.FuncStructInfo) for part in all_parts(found)):
        _infos[given] = found
    return found


_UNWRITTEN = ". A parsed text has the types that it writes: rlx.transform.annotated(module) writes all of them"


def _completed(info: StructInfo, place: Place) -> StructInfo:
    """A tensor or shape that Python code made, with scalars for its dimensions, a type for the name
    of one, and the rank that its dimensions have. Raises MisuseError if one is no scalar or type.
    """
    match info:
        case TensorStructInfo(shape=shape, dtype=kind, ndim=ndim):
            if isinstance(shape, list | tuple):
                shape = ast.ShapeExpr(_dimensions(shape, place), place)
            elif isinstance(shape, ast.ShapeExpr):
                shape = changed(shape, values=_dimensions(shape.values, place))
            if ndim == -1 and isinstance(shape, ast.ShapeExpr):
                ndim = len(shape.values)
            return changed(info, shape=shape, dtype=_kind(kind, place), ndim=ndim)
        case ast.ShapeStructInfo(values=list() | tuple() as values, ndim=ndim):
            dims = _dimensions(values, place)
            return changed(info, values=dims, ndim=len(dims) if ndim == -1 else ndim)
    return info


def _dimensions(given: Sequence[object], place: Place) -> tuple[PrimExpr, ...]:
    """Dimensions, of which literals get the type of dimensions, as in TVM."""
    dims = (scalar(each, place) for each in given)
    return same(
        tuple(given),  # type: ignore[arg-type]
        [
            tir.IntImm(dim.value, span=dim.span)
            if isinstance(dim, tir.IntImm) and dim.dtype != INT64
            else dim
            for dim in dims
        ],
    )


def _kind(given: DataType | str, place: Place) -> DataType:
    try:
        return element_type(given)
    except (TypeError, ValueError) as error:
        raise MisuseError(str(error), place) from None


_PLAIN = re.compile(
    r"""R\.Tensor\(\(((?:(?:\d+|"[A-Za-z]\w*"),[ ]?)*(?:\d+|"[A-Za-z]\w*")?)\),[ ](?:dtype=)?"(\w+)"\)"""
)
"""The text of a tensor whose dimensions are numbers and names."""
_KINDS = {
    name: named_type(name)
    for name in (
        *("float16", "float32", "float64", "int8", "int32", "int64", "uint8"),
        "bool",
    )
}


def _plain_tensor(text: str, scope: Mapping[str, tir.Var] | None) -> TensorStructInfo | None:
    """The tensor that a text says, if it is one of the usual form, which needs no parser: programs
    that build others give thousands of new ones. None for all other texts.
    """
    match = _PLAIN.fullmatch(text)
    kind = None if match is None else _KINDS.get(match[2])
    if match is None or kind is None:
        return None
    parts = match[1].replace(" ", "").split(",")
    if not parts[-1]:
        parts.pop()
    elif len(parts) == 1:
        return None  # parentheses around a number are no tuple
    dims: list[PrimExpr] = []
    for part in parts:
        name = part.strip('"')
        if name is part:
            if len(part) > 18 or (part[0] == "0" and part != "0"):
                return None
            dims.append(tir.IntImm(int(part)))
        elif iskeyword(name):
            return None
        else:
            var = (scope or {}).get(name)
            dims.append(_dims.setdefault(name, tir.Var(name)) if var is None else var)
    shape = ast.ShapeExpr(tuple(dims), (match.start(1) - 1, match.end(1) + 1))
    found = TensorStructInfo(shape, kind, len(dims), span=(0, len(text)))
    if not scope:
        _infos[text] = found
    return found


@spelt
def Var(
    name: str,
    struct_info: StructInfo | str | Sequence[object] | None = None,
    dtype: DataType | str | None = None,
) -> ast.Var:
    """A variable, such as the parameter of a function.

    Parameters
    ----------
    struct_info
        Its annotation, as a node or a text: ``rlx.Var("x", 'R.Tensor(("n", 4), "float32")')``.
        The same name of a dimension in several texts is the same dimension. The shape of a tensor
        also as a list: ``rlx.Var("x", ["n", 4], "float32")``.
    dtype
        The element type, if a list gives the shape.

    Raises
    ------
    MisuseError
        If the annotation or the name is invalid.
    """
    place = here()
    if not isinstance(name, str) or not name:
        raise MisuseError(f"expected the name of a variable, found {described(name)}", place)
    if isinstance(struct_info, list | tuple):
        dims = tuple(scalar(each, place) for each in struct_info)
        kind = VOID if dtype is None else _kind(dtype, place)
        shape = ast.ShapeExpr(dims, place)
        return ast.Var(name, TensorStructInfo(shape, kind, len(dims), span=place), place, place)
    if dtype is not None:
        words = "an element type goes with a list of dimensions; a text has its own"
        raise MisuseError(f"{words}, found {described(struct_info)}", place)
    given: Any = struct_info
    info = None if given is None else annotation(given, place)
    return ast.Var(name, info, place, place)


@spelt
def const(value: Any, dtype: DataType | str | None = None) -> ast.Expr:
    """A tensor constant; a call of ``R.zeros`` if a text cannot express its shape.

    Parameters
    ----------
    value
        A number, nested lists, or a NumPy array.
    dtype
        The element type; by default ``float32`` for floats, ``int32`` for integers, an array's own.

    Raises
    ------
    MisuseError
        If a value does not fit into the type, or tensors cannot have such elements.
    """
    place = here()
    try:
        return _constant(value, dtype, place)
    except (TypeError, ValueError, OverflowError) as error:
        wanted = "" if dtype is None else f" of {described(dtype)}"
        raise MisuseError(f"{described(value)} is not a constant{wanted}: {error}", place) from None


def _constant(value: Any, dtype: DataType | str | None, place: Place) -> ast.Expr:
    kind = None if dtype is None else element_type(dtype)
    if type(value) is int and kind is not None and kind.is_integer and lacking(kind) is None:
        if not fits(value, kind):
            raise ValueError("a value does not fit into that type")
        return ast.Constant(ast.Literal(value, kind, ()), place)
    import numpy as np

    from rlx.grammar.nodes.dtype import numpy_type

    if kind is None and not isinstance(value, np.ndarray | np.generic):
        guess = np.asarray(value).dtype.kind
        kind = {"f": named_type("float32"), "i": named_type("int32"), "b": BOOL}.get(guess)
    wrong = None if kind is None else lacking(kind)
    if wrong is not None:
        raise ValueError(wrong[1])
    array = np.asarray(value, None if kind is None else numpy_type(kind))
    if kind is not None and kind.is_integer and np.any(array.astype(object) != np.asarray(value)):
        raise ValueError("a value does not fit into that type")
    return constant(array, place, kind)


__all__ = ["Var", "annotation", "const", "dim", "scalar", "struct_info"]
