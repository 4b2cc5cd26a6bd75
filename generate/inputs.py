"""Inputs for a function: NumPy arrays of the shapes that its signature asks for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice, product
from typing import Any

import numpy as np
from hypothesis import strategies as st

from rlx.generate.elements import Elements
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Function, StructInfo
from rlx.grammar.nodes.dtype import FLOAT32, DataType
from rlx.grammar.nodes.struct_infos import numbers, of_the_value
from rlx.operators.evaluation import numpy_dtype
from rlx.solver.evaluate import UndefinedError, evaluate
from rlx.solver.question_parser import show

Sizes = Mapping[tir.Var, int]


@st.composite
def inputs_for(
    draw: Callable[[st.SearchStrategy[Any]], Any],
    function: Function,
    *,
    special: bool = False,
    max_size: int = 4,
) -> tuple[Any, ...]:
    """Arguments for a call of a function, one for each parameter.

    Tensors are arrays, shapes tuples, scalars numbers, tuples tuples of these. Shape variables are
    0 and 1 as often as anything else; integers are from 0 to 3, so that many of them are indices
    that exist. Sizes and elements shrink: in a failing example each number is 0 unless it has to be
    another.

    Parameters
    ----------
    special
        Whether floats may be infinite, NaN, or so large that arithmetic overflows; small and finite
        otherwise (what is computed of them, a logarithm, may still be neither).
    max_size
        The largest value of a shape variable.

    Raises
    ------
    ValueError
        If a parameter is a function or an object: no input stands for it. If no sizes up to
        ``max_size`` make its dimensions defined and none of them negative.
    """
    sizes = {
        v: draw(st.sampled_from((2, 1, 0, *range(3, max_size + 1)))) for v in function.shape_vars
    }
    elements = Elements(lambda count: draw(st.binary(min_size=count, max_size=count)))
    infos = [p.struct_info_annotation for p in function.params]
    sizes = _possible(infos, sizes, max_size)
    return tuple(value(info, sizes, elements, special) for info in infos)


def _possible(
    infos: Sequence[StructInfo | None], sizes: dict[tir.Var, int], most: int
) -> dict[tir.Var, int]:
    """The sizes if there are tensors of them, else the nearest for which there are."""
    dims = [dim for info in infos for dim in _dims(info)]
    if _fit(dims, sizes):
        return sizes
    near = [sorted(range(most + 1), key=lambda n: (abs(n - size), n)) for size in sizes.values()]
    for chosen in islice(product(*near), _TRIES):
        other = dict(zip(sizes, chosen, strict=True))
        if _fit(dims, other):
            return other
    shown = ", ".join(sorted({show(dim) for dim in dims if type(dim) is not tir.Var}))
    raise ValueError(f"no sizes up to {most} were found for dimensions {shown}")


_TRIES = 10_000


def _fit(dims: Sequence[tir.PrimExpr], sizes: Sizes) -> bool:
    try:
        return all(evaluate(dim, sizes) >= 0 for dim in dims)
    except UndefinedError:
        return False


def _dims(info: StructInfo | None) -> Iterator[tir.PrimExpr]:
    """The dimensions that an annotation asks for."""
    for part in of_the_value(info) if info is not None else ():
        if not isinstance(part, ast.PrimStructInfo):
            yield from numbers(part)


def value(info: StructInfo | None, sizes: Sizes, elements: Elements, special: bool) -> Any:
    """A value of a parameter's annotation, for these values of the shape variables."""
    match info:
        case ast.TensorStructInfo(shape=ast.ShapeExpr(values=dims), dtype=kind):
            return array(tuple(evaluate(d, sizes) for d in dims), kind, elements, special)
        case ast.TensorStructInfo(dtype=kind, ndim=ndim):
            return array(_shape(ndim, elements), kind, elements, special)
        case ast.ShapeStructInfo(values=dims) if dims is not None:
            return tuple(evaluate(d, sizes) for d in dims)
        case ast.ShapeStructInfo(ndim=ndim):
            return _shape(ndim, elements)
        case ast.PrimStructInfo(value=prim) if prim is not None:
            return evaluate(prim, sizes)
        case ast.PrimStructInfo(dtype=kind):
            return array((), kind, elements, special).item()
        case ast.TupleStructInfo(fields=fields):
            return tuple(value(f, sizes, elements, special) for f in fields)
    raise ValueError(f"no input for a parameter of {info!r}")


def _shape(ndim: int, elements: Elements) -> tuple[int, ...]:
    """A shape of a rank, of any rank up to 3 where it is not known."""
    rank = int(elements.whole(4, ())) if ndim < 0 else ndim
    return tuple(int(n) for n in elements.whole(4, (rank,)))


def array(
    shape: tuple[int, ...], kind: DataType, elements: Elements, special: bool
) -> np.ndarray[Any, Any]:
    """Elements of one type; floats between -2 and 2 unless ``special``."""
    if kind.code == "bool":
        return elements.whole(2, shape).astype(np.bool_)
    if kind.is_integer:
        return elements.whole(4, shape).astype(_numpy(kind))
    with np.errstate(over="ignore"):  # 1e30 is an infinity in a narrow type
        return elements.real(shape, special).astype(_numpy(kind))


def _numpy(kind: DataType) -> np.dtype[Any]:
    """NumPy's type; float32 for an unknown one."""
    return numpy_dtype(FLOAT32 if kind.is_void else kind)
