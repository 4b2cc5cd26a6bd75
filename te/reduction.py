"""Reductions of elements by an operation with an identity."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import DataType
from rlx.grammar.nodes.node import Record
from rlx.grammar.nodes.python_places import spelt
from rlx.te import intrinsics
from rlx.te.errors import TensorExpressionError, fail, here
from rlx.te.scalar import Scalar, cast, common, condition, const, scalar


class ReduceAxis(Scalar):
    """An axis of a reduction; it can be used as an index.

    Attributes
    ----------
    var
        Its variable.
    low, high
        The first value, and the exclusive end.
    """

    __slots__ = ("high", "low", "var")

    def __init__(self, var: tir.Var, low: Scalar, high: Scalar) -> None:
        super().__init__(var, var.dtype)
        self.var, self.low, self.high = var, low, high


class Combiner(Record):
    """An operation on pairs of elements (or of tuples of them), with its identity.

    Attributes
    ----------
    left, right
        The variables of the two operands.
    results
        The results of the operation.
    identities
        The neutral elements.
    """

    left: tuple[tir.Var, ...]
    right: tuple[tir.Var, ...]
    results: tuple[Scalar, ...]
    identities: tuple[Scalar, ...]


class Reduction(Record):
    """A reduction: the combiner, the elements, the axes, and the condition.

    Attributes
    ----------
    init
        The initial values instead of the identities.
    several
        Whether elements are tuples.
    """

    combiner: Combiner
    sources: tuple[Scalar, ...]
    axes: tuple[ReduceAxis, ...]
    where: Scalar | None
    init: tuple[Scalar, ...]
    several: bool


class Reduced:
    """The result of a reducer. It must be the whole element and cannot be used in further
    arithmetic.
    """

    __slots__ = ("reduction",)

    def __init__(self, reduction: Reduction) -> None:
        self.reduction = reduction

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        fail(ALONE)

    def _alone(self, *_: object) -> Any:
        fail(ALONE)

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = _alone
    __rtruediv__ = __neg__ = __lt__ = __le__ = __gt__ = __ge__ = _alone


ALONE = (
    "a reduction is the whole of what an element is: "
    "compute it as a tensor of its own, and read that"
)


class Reducer:
    """A reducer: ``te.sum(A[i, k], axis=k)``.

    A call with two operands and no axis combines them.
    """

    def __init__(
        self, combine: Callable[[Any, Any], Any], identity: Callable[..., Any] | None, name: str
    ) -> None:
        self.combine, self.identity, self.name = combine, identity, name
        self.__name__ = name

    def __repr__(self) -> str:
        return f"te.{self.name}"

    @spelt
    def __call__(self, expr: Any, axis: Any = None, where: Any = None, init: Any = None) -> Any:
        """Join all values that an expression takes along axes.

        Parameters
        ----------
        expr
            A scalar, or a tuple of scalars for a combiner of tuples.
        axis
            One reduce axis, or several.
        where
            A condition; elements for which it is false are left out.
        init
            What to begin with instead of the identity.

        Raises
        ------
        TensorExpressionError
            If the reducer has no identity, an axis is none, or the condition is none.
        """
        if isinstance(axis, Scalar | int | float) and not isinstance(axis, ReduceAxis):
            return self.combine(scalar(expr), axis)
        several = isinstance(expr, tuple | list)
        if several and not expr:
            fail(f"te.{self.name} reduces at least one value, found none")
        sources = [scalar(each) for each in expr] if several else [scalar(expr)]
        axes = _axes(axis, self.name)
        made = self._combiner([source.dtype for source in sources], several)
        reduction = Reduction(
            made,
            tuple(sources),
            axes,
            None if where is None else condition(where),
            self._init(init, sources),
            several,
        )
        return tuple(Reduced(reduction) for _ in sources) if several else Reduced(reduction)

    def _init(self, init: Any, sources: Sequence[Scalar]) -> tuple[Scalar, ...]:
        if init is None:
            return ()
        given = list(init) if isinstance(init, tuple | list) else [init]
        if len(given) != len(sources):
            fail(
                f"te.{self.name} reduces {len(sources)} values, but has {len(given)} initial values"
            )
        return tuple(cast(s.dtype, g) for s, g in zip(sources, given, strict=True))

    def _combiner(self, kinds: Sequence[DataType], several: bool) -> Combiner:
        left = tuple(tir.Var(f"x{k}", kind) for k, kind in enumerate(kinds))
        right = tuple(tir.Var(f"y{k}", kind) for k, kind in enumerate(kinds))
        a, b = (tuple(Scalar(v, v.dtype) for v in side) for side in (left, right))
        try:
            joined = self.combine(a, b) if several else self.combine(*a, *b)
        except TypeError as error:
            fail(f"te.{self.name} does not combine {len(kinds)} values as a tuple: {error}")
        results = _values(joined, kinds, f"the combination of te.{self.name}")
        if self.identity is None:
            fail(
                f"te.{self.name} has no identity: without one, what a reduction over no "
                "elements is would not be said; give fidentity to te.comm_reducer"
            )
        identities = self.identity(*map(str, kinds))
        if identities is None:
            fail(f"the identity of te.{self.name} is None for {', '.join(map(str, kinds))}")
        return Combiner(
            left, right, results, _values(identities, kinds, f"the identity of te.{self.name}")
        )


def _values(given: Any, kinds: Sequence[DataType], what: str) -> tuple[Scalar, ...]:
    found = list(given) if isinstance(given, tuple | list) else [given]
    if len(found) != len(kinds):
        fail(f"{what} has {len(found)} values, but {len(kinds)} are reduced")
    values = []
    for each, kind in zip(found, kinds, strict=True):
        value = scalar(each)
        if not isinstance(each, int | float) and common(value, const(0, kind)) != kind:
            fail(f"{what} is of type {value.dtype}, but {kind} is reduced")
        values.append(cast(kind, value))
    return tuple(values)


def _axes(axis: Any, name: str) -> tuple[ReduceAxis, ...]:
    given = list(axis) if isinstance(axis, tuple | list) else [axis]
    for each in given:
        if not isinstance(each, ReduceAxis):
            what = "none is given" if each is None else f"found {each!r}"
            fail(f"te.{name} reduces over axes of te.reduce_axis, {what}")
    if not given:
        fail(f"te.{name} needs at least one axis of te.reduce_axis")
    if len({each.var for each in given}) != len(given):
        fail(f"te.{name} is given one axis twice")
    return tuple(given)


@spelt
def comm_reducer(
    fcombine: Callable[[Any, Any], Any],
    fidentity: Callable[..., Any] | None = None,
    name: str = "reduce",
) -> Reducer:
    """Define your own reducer.

    Parameters
    ----------
    fcombine
        Combines two elements, or two tuples of elements; the order of the combination is
        unspecified.
    fidentity
        Called with the name of each element type; returns the neutral value (or tuple of values).

    Raises
    ------
    TensorExpressionError
        If one of them cannot be called, or there is no identity.
    """
    if not callable(fcombine):
        fail(f"fcombine: expected a function of two elements, found {type(fcombine).__name__}")
    if fidentity is None:
        fail(
            f"te.{name} has no identity: say with fidentity what a reduction over no elements is, "
            "as in lambda dtype: te.const(0, dtype)"
        )
    if not callable(fidentity):
        fail(f"fidentity: expected a function of element types, found {type(fidentity).__name__}")
    try:
        count = len(inspect.signature(fcombine).parameters)
    except (TypeError, ValueError):
        count = 2
    if count != 2:
        raise TensorExpressionError(
            f"fcombine takes {count} arguments, expected 2: the elements to join", here()
        )
    return Reducer(fcombine, fidentity, name)


sum = Reducer(lambda a, b: a + b, lambda kind: const(0, kind), "sum")
prod = Reducer(lambda a, b: a * b, lambda kind: const(1, kind), "prod")
max = Reducer(intrinsics.maximum, intrinsics.min_value, "max")
min = Reducer(intrinsics.minimum, intrinsics.max_value, "min")
