"""Inputs for a function: NumPy arrays of the shapes that its signature asks for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice, product
from typing import Any, Protocol

import numpy as np
from hypothesis import strategies as st

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Function, StructInfo
from rlx.grammar.nodes.dtype import FLOAT32, DataType
from rlx.grammar.nodes.struct_infos import numbers, of_the_value
from rlx.operators.evaluation import numpy_dtype
from rlx.solver.evaluate import UndefinedError, evaluate
from rlx.solver.question_parser import show

# Where the elements of inputs come from: a generator of random numbers, or Hypothesis, which
# makes them smaller again.


Array = np.ndarray[Any, Any]
Shape = tuple[int, ...]


class Elements(Protocol):
    """A source of the elements of arrays."""

    def whole(self, below: int, shape: Shape) -> Array:
        """Integers that are at least 0 and less than ``below``, which is at most 256."""

    def real(self, shape: Shape, special: bool) -> Array:
        """Floats from -2 to 2; NaN, infinities, signed zeros and 1e30 among them if ``special``."""


SPECIAL = np.array([-0.0, 1e30, np.inf, -np.inf, np.nan])
"""What drawn floats may be besides small numbers, the plainest first."""


class RandomElements:
    """Elements from NumPy's generator."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng

    def whole(self, below: int, shape: Shape) -> Array:
        """Each number is as frequent as the others."""
        return self.rng.integers(0, below, shape)

    def real(self, shape: Shape, special: bool) -> Array:
        """Each number is as frequent as the others; three in ten are special."""
        made = self.rng.uniform(-2, 2, shape)
        if not special:
            return made
        found = self.rng.choice([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e30], shape)
        return np.where(self.rng.random(shape) < 0.3, found, made)


class DrawnElements:
    """Elements that Hypothesis draws: bytes, of which a smaller one is a plainer number, and zero
    is zero.

    Parameters
    ----------
    draw
        What a composite strategy is given to draw with.
    """

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any]) -> None:
        self.draw = draw

    def whole(self, below: int, shape: Shape) -> Array:
        """One byte for each number."""
        return self._bytes(shape).astype(np.int64) % below

    def real(self, shape: Shape, special: bool) -> Array:
        """A plain number and, of a second byte, how far the element is from it."""
        fine, coarse = self._bytes(shape), self._bytes(shape)  # what comes first is made zero first
        made = np.clip(PLAIN[coarse] + fine / 2.0**14, -2, 2)
        if not special:
            return made
        behind = (coarse - _FIRST_SPECIAL) % len(SPECIAL)
        return np.where(coarse >= _FIRST_SPECIAL, SPECIAL[behind], made)

    def _bytes(self, shape: Shape) -> Array:
        """As many numbers below 256; in large arrays the same ones come again after a prime number
        of elements.
        """
        count = int(np.prod(shape, dtype=np.int64))
        few = min(count, LONGEST)
        data = self.draw(st.binary(min_size=few, max_size=few))
        found = np.frombuffer(data, np.uint8).astype(np.int64)
        return np.resize(found, shape) if count else np.zeros(shape, np.int64)


LONGEST = 257
"""As many elements of an array are drawn one by one."""

_FIRST_SPECIAL = 180
"""From this byte on, a float is a special one where special ones are asked for."""


def _plain() -> Array:
    """256 multiples of a 64th, the plainest first: whole numbers, halves, then the others by their
    size.
    """
    ordered = sorted(
        (k / 64 for k in range(-127, 129)),
        key=lambda x: (x % 1 != 0, x % 0.5 != 0, abs(x), x < 0),
    )
    return np.array(ordered)


PLAIN = _plain()


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
    elements = DrawnElements(draw)
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
