"""Variables, annotations and constants made by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlx.grammar import ast, tir
from rlx.grammar.ast import StructInfo
from rlx.grammar.dtype import BOOL, DataType
from rlx.grammar.dtype import dtype as named_type
from rlx.grammar.parser import parse_prim_expr, parse_struct_info
from rlx.grammar.python_places import here
from rlx.grammar.struct_infos import whole
from rlx.grammar.tir import PrimExpr

_dims: dict[str, tir.Var] = {}
_infos: dict[str, StructInfo] = {}
"""What texts say, but of functions, the binders of which depend on the place."""


def dim(text: str, scope: Mapping[str, tir.Var] | None = None) -> PrimExpr:
    """A dimension: of a name the shape variable, of a text such as ``"n // 4 * 4"`` the expression.

    Outside of a function a name always means the same variable, so that annotations of several
    parameters can share it.

    Parameters
    ----------
    scope
        Shape variables that names mean before all others.

    Raises
    ------
    ParseError
        If the text is no integer expression.
    """
    names = {**_dims, **(scope or {})}
    found = parse_prim_expr(text, names)
    _remember(names, scope)
    return found


def _remember(names: Mapping[str, tir.Var], scope: Mapping[str, tir.Var] | None) -> None:
    for name, var in names.items():
        if not scope or name not in scope:
            _dims.setdefault(name, var)


def struct_info(given: StructInfo | str, scope: Mapping[str, tir.Var] | None = None) -> StructInfo:
    """An annotation, given as one or as a text: ``'R.Tensor(("n", 4), "float32")'``.

    Raises
    ------
    ParseError
        If the text is no annotation.
    TypeError
        If it is neither a text nor an annotation.
    """
    if isinstance(given, StructInfo):
        return given
    if not isinstance(given, str):
        raise TypeError(
            'expected an annotation such as R.Tensor(("n", 4), "float32"), as a text or a node; '
            f"found {type(given).__name__}"
        )
    known = None if scope else _infos.get(given)
    if known is not None:
        return known
    names = {**_dims, **(scope or {})}
    found = parse_struct_info(given, names)
    _remember(names, scope)
    if not scope and not any(isinstance(part, ast.FuncStructInfo) for part in whole(found)):
        _infos[given] = found
    return found


def Var(name: str, struct_info: StructInfo | str | None = None) -> ast.Var:
    """A variable, such as the parameter of a function.

    Parameters
    ----------
    struct_info
        What is known of it, as a node or a text: ``rlx.Var("x", 'R.Tensor(("n", 4), "float32")')``.
        The same name of a dimension in several texts is the same dimension.

    Raises
    ------
    ParseError, TypeError
        If the annotation is none, or the name is no text.
    """
    if not isinstance(name, str) or not name:
        raise TypeError(f"expected the name of a variable, found {name!r}")
    place = here()
    annotation = None if struct_info is None else _info(struct_info)
    return ast.Var(name, annotation, place, place)


_info = struct_info


def const(value: Any, dtype: DataType | str | None = None) -> ast.Constant:
    """A tensor constant.

    Parameters
    ----------
    value
        A number, nested lists, or a NumPy array.
    dtype
        The element type; by default ``float32`` for floats, ``int32`` for integers, an array's own.
    """
    import numpy as np

    from rlx.operators.element_types import numpy_type

    kind = named_type(dtype) if isinstance(dtype, str) else dtype
    if kind is None and not isinstance(value, np.ndarray | np.generic):
        guess = np.asarray(value).dtype.kind
        kind = {"f": named_type("float32"), "i": named_type("int32"), "b": BOOL}.get(guess)
    array = np.asarray(value, None if kind is None else numpy_type(kind))
    kind = kind or named_type(str(array.dtype))
    return ast.Constant(ast.Literal(_nested(array.tolist()), kind, array.shape), here())


def _nested(value: object) -> object:
    return tuple(map(_nested, value)) if isinstance(value, list) else value


__all__ = ["Var", "const", "dim", "struct_info"]
