"""The language in which programs are compared: values of Relax as terms, and their elements.

**Elements** are scalar expressions, nodes of :mod:`rlx.grammar.nodes.tir` with the meaning that the
evaluator of PrimFuncs gives them: operands have one type, floats are rounded after each operation,
integers wrap, casts convert. Three kinds of leaves connect them with tensors:

- ``tir.BufferLoad(tensor, indices)``: the element of a tensor term, which is a buffer itself;
- :class:`Reduce`: elements that are combined over a domain of indices;
- variables: those of an enclosing :class:`Lambda` or :class:`Reduce`, and sizes.

**Tensors** are closed: the only free variables of a tensor term are sizes. A tensor that a loop
computes for each of its iterations gets the variable of the loop as one more axis.

Terms are shared: equal terms are one object, up to the names of bound variables. So
``a is b`` compares them, and the work on a term is done once, however often it occurs. Elements
are shared by :func:`rlx.grammar.nodes.tir.interned`. To keep this true, make terms only with the
functions of this module (:func:`lam`, :func:`reduce_over`, :func:`element`, ...), and change them
with :func:`substitute` or :func:`instantiate`.

An index is an exact integer: no overflow. It is inside the extent of its axis; what is read
elsewhere has no meaning, and a reader of programs proves that it is not, or reports it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import INT64, DataType, limits
from rlx.grammar.nodes.node import Node
from rlx.grammar.nodes.tir import PrimExpr

# ---------------------------------------------------------------- tensors


class TensorTerm(tir.Buffer):
    """A tensor of known shape and element type; its elements are ``BufferLoad`` of it.

    ``shape`` has its dimensions, over sizes; ``name`` is only for people.
    """

    __slots__ = ("__weakref__",)


class InputTerm(TensorTerm):
    """A tensor that is given: a parameter of the programs, or a hole that :func:`instantiate` fills.

    Attributes
    ----------
    key
        Its identity: inputs of one key, shape and type are the same.
    """

    key: object  # type: ignore[misc]


class Lambda(TensorTerm):
    """A tensor whose elements an expression gives: ``lambda i < shape. element``.

    Attributes
    ----------
    axes
        The index variables of the element, one for each dimension.
    element
        The element. It may read other tensors, and is evaluated only at indices inside the shape.
    """

    axes: tuple[tir.Var, ...]  # type: ignore[misc]
    element: PrimExpr  # type: ignore[misc]


class ScanTerm(TensorTerm):
    """A tensor whose elements depend on those before them along an axis.

    Attributes
    ----------
    axes, element
        As those of :class:`Lambda`; the element may also read :data:`PREVIOUS` of its type at the
        indices of any element that lies before it along ``along``.
    along
        The position of this axis.
    """

    axes: tuple[tir.Var, ...]  # type: ignore[misc]
    element: PrimExpr  # type: ignore[misc]
    along: int  # type: ignore[misc]


class ConstantTerm(TensorTerm):
    """A constant tensor; ``content`` has its elements one after the other, little-endian."""

    content: bytes  # type: ignore[misc]


class ResultTerm(TensorTerm):
    """A tensor that an application returns.

    Attributes
    ----------
    of
        The application.
    path
        The indices that lead to the tensor, where the application returns a tuple.
    """

    of: ApplicationTerm  # type: ignore[misc]
    path: tuple[int, ...]  # type: ignore[misc]


# ---------------------------------------------------------------- other values


class ValueTerm(Node):
    """Base class of values that are not tensors of known shape."""

    __slots__ = ("__weakref__",)
    _children = ()


class TupleTerm(ValueTerm):
    """A tuple."""

    fields: tuple[Term, ...]


class ShapeTerm(ValueTerm):
    """A shape."""

    values: tuple[PrimExpr, ...]


class NumberTerm(ValueTerm):
    """A scalar, boxed."""

    value: PrimExpr


class WordTerm(ValueTerm):
    """A string or a data type; ``kind`` says which."""

    kind: str
    text: str


class FunctionTerm(ValueTerm):
    """A function of a program; those of one name in two programs are two terms, as they may differ."""

    name: str
    function: Node


class OpaqueTerm(ValueTerm):
    """A value of which no more is known than where it comes from.

    It is a parameter (``of`` is its key), or what an application returns at ``path``.
    """

    of: object
    path: tuple[int, ...] = ()


class ApplicationTerm(ValueTerm):
    """A call whose meaning is not opened: an operator, a PrimFunc, a packed function.

    Applications with equal parts have equal results.

    Attributes
    ----------
    name
        What is called.
    attributes
        What the call says besides its arguments, in a form that can be compared.
    arguments
        The arguments.
    returns
        The outline of the result (:func:`outline`).
    after
        The call of a packed function before this one, for calls whose results depend on the calls
        before them; None otherwise.
    """

    name: str
    attributes: object
    arguments: tuple[Term, ...]
    returns: object
    after: ApplicationTerm | None = None


Term = TensorTerm | ValueTerm

# ---------------------------------------------------------------- reductions


class Combination(Node):
    """An operation on pairs of elements, or of tuples of elements.

    Attributes
    ----------
    name
        ``"sum"``, ``"prod"``, ``"and"``, ``"or"`` (of one element), or ``"custom"``; ``"max"`` and
        ``"min"`` say nothing about NaN and the sign of 0.
    left, right
        The variables of the two operands: what was combined so far, and the next element.
    results
        Their combination.
    """

    __slots__ = ("__weakref__",)
    _children = ()

    name: str
    left: tuple[tir.Var, ...]
    right: tuple[tir.Var, ...]
    results: tuple[PrimExpr, ...]


class Reduce(tir.Call):
    """Elements combined over a domain of indices. Made by :func:`reduce_over`.

    The domain has the indices ``0 <= axis < extent`` that satisfy the guard. Starting from ``init``,
    each element of the domain is combined in turn. The first axis is the outermost:
    the order is lexicographic. If ``ordered`` is False the order is unspecified; then float sums
    are only equal as real numbers, unless they are the same term.

    Attributes
    ----------
    args
        The extents, the guard (a Boolean), the sources (one for each element of the combiner), and
        the initial values.
    dtype
        The type of the result.
    combiner
        How they are combined.
    axes
        The variables of the domain, which the guard and the sources may use.
    output
        Which element of the combination is the result.
    ordered
        Whether the order is specified.
    height
        One more than that of the reductions inside.
    """

    combiner: Combination  # type: ignore[misc]
    axes: tuple[tir.Var, ...]  # type: ignore[misc]
    output: int  # type: ignore[misc]
    ordered: bool  # type: ignore[misc]
    height: int  # type: ignore[misc]

    @property
    def extents(self) -> tuple[PrimExpr, ...]:
        """The number of values of each axis; at most 0 for an empty domain."""
        return self.args[: len(self.axes)]

    @property
    def guard(self) -> PrimExpr:
        """The condition on indices of the domain."""
        return self.args[len(self.axes)]

    @property
    def sources(self) -> tuple[PrimExpr, ...]:
        """The elements."""
        first = len(self.axes) + 1
        return self.args[first : first + len(self.combiner.left)]

    @property
    def init(self) -> tuple[PrimExpr, ...]:
        """The initial values."""
        return self.args[len(self.axes) + 1 + len(self.combiner.left) :]


TRUE = tir.interned(tir.IntImm(1, tir.type_of(tir.Not(tir.IntImm(0)))))
FALSE = tir.interned(tir.IntImm(0, TRUE.dtype))

# ---------------------------------------------------------------- making them

_TABLE: WeakValueDictionary[object, Any] = WeakValueDictionary()

T = TypeVar("T", bound=Node)


def _shared(kind: type[T], key: tuple[object, ...], make: Callable[[], T]) -> T:
    found = _TABLE.get((kind, *key))
    if found is None:
        found = _TABLE[(kind, *key)] = make()
    return found


@cache
def _axis(position: int, kind: DataType) -> tir.Var:
    """The variable of an axis of a lambda."""
    return tir.Var("ijlmpqrs"[position] if position < 8 else f"i{position}", kind)


@cache
def _bound(height: int, position: int, kind: DataType) -> tir.Var:
    """The variable of an axis of a reduction."""
    return tir.Var(f"k{position}" if height == 1 else f"k{height}_{position}", kind)


@cache
def _operand(side: str, position: int, kind: DataType) -> tir.Var:
    return tir.Var(f"{side}{position}", kind)


def fresh(like: Iterable[tir.Var]) -> tuple[tir.Var, ...]:
    """New variables with the names and types of others."""
    return tuple([tir.Var(v.name, v.dtype) for v in like])


def input_term(key: object, name: str, shape: Sequence[PrimExpr], dtype: DataType) -> InputTerm:
    """The input of a key."""
    dims = tuple(map(tir.interned, shape))
    return _shared(
        InputTerm, (key, dims, dtype), lambda: InputTerm(name, dims, dtype, {}, None, key)
    )


def literal(shape: Sequence[int], dtype: DataType, content: bytes) -> ConstantTerm:
    """A constant tensor."""
    dims = tuple([tir.interned(tir.IntImm(size)) for size in shape])
    return _shared(
        ConstantTerm,
        (dims, dtype, content),
        lambda: ConstantTerm("constant", dims, dtype, {}, None, content),
    )


def lam(
    shape: Sequence[PrimExpr],
    axes: Sequence[tir.Var],
    body: PrimExpr,
    name: str = "t",
    dtype: DataType | None = None,
) -> TensorTerm:
    """The tensor whose element at ``axes`` is ``body``.

    Parameters
    ----------
    axes
        The caller's variables for the indices, which it may use again; any variables, such as
        those of loops.
    dtype
        The element type; by default the type of the body.
    """
    own = tuple([_axis(k, v.dtype) for k, v in enumerate(axes)])
    dims = tuple(map(tir.interned, shape))
    made = substitute(body, dict(zip(axes, own, strict=True)))
    kind = tir.type_of(made) if dtype is None else dtype
    # lambda i. x[i] is x
    if isinstance(made, tir.BufferLoad) and isinstance(made.buffer, TensorTerm):
        source = made.buffer
        if made.indices == own and source.shape == dims and source.dtype == kind:
            return source
    return _shared(
        Lambda,
        (own, dims, kind, made),
        lambda: Lambda(name, dims, kind, {}, None, own, made),
    )


def scan(
    shape: Sequence[PrimExpr],
    axes: Sequence[tir.Var],
    body: PrimExpr,
    along: int,
    name: str = "scan",
) -> ScanTerm:
    """The tensor whose element at ``axes`` is ``body``, which may read :func:`previous`."""
    own = tuple([_axis(k, v.dtype) for k, v in enumerate(axes)])
    dims = tuple(map(tir.interned, shape))
    made = substitute(body, dict(zip(axes, own, strict=True)))
    kind = tir.type_of(made)
    return _shared(
        ScanTerm,
        (own, dims, kind, made, along),
        lambda: ScanTerm(name, dims, kind, {}, None, own, made, along),
    )


def choice(x: object) -> tuple[PrimExpr, PrimExpr, PrimExpr] | None:
    """The condition and the two branches of a choice; None for anything else."""
    match x:
        case (
            tir.Select(condition=condition, true_value=a, false_value=b)
            | tir.Call(op="if_then_else", args=(condition, a, b))
        ):
            return condition, a, b
    return None


def prefix(tensor: ScanTerm, indices: Sequence[PrimExpr]) -> PrimExpr | None:
    """The element of a scan as a reduction over the elements up to it; None if it is not one.

    Such a scan is ``first`` at 0, and ``previous + element`` behind it; or a product.
    """
    axis = tensor.axes[tensor.along]
    zero, one = index(0, axis.dtype), index(1, axis.dtype)
    chosen = choice(tensor.element)
    if chosen is None:
        return None
    condition, one_branch, other = chosen
    match condition:
        case tir.GT(a=a, b=b) if a is axis and b is zero:
            following, first = one_branch, other
        case tir.LT(a=a, b=b) if a is zero and b is axis:
            following, first = one_branch, other
        case tir.EQ(a=a, b=b) if a is axis and b is zero:
            following, first = other, one_branch
        case _:
            return None
    if not isinstance(following, tir.Add | tir.Mul):
        return None
    name = _NAMED[type(following)]
    before = tuple([tir.interned(tir.Sub(axis, one)) if v is axis else v for v in tensor.axes])
    parts = (following.a, following.b)
    source = next((y for x, y in (parts, parts[::-1]) if _is_previous(x, before)), None)
    if source is None:
        return None
    if any(isinstance(t, InputTerm) and t.key == "previous" for t in tensors_of(source, first)):
        return None
    if substitute(source, {axis: zero}) is not substitute(first, {axis: zero}):
        return None
    (k,) = fresh((axis,))
    values = dict(zip(tensor.axes, indices, strict=True))
    kind = tensor.dtype
    neutral = int(name == "prod")
    init = tir.FloatImm(float(neutral), kind) if kind.is_float else tir.IntImm(neutral, kind)
    return reduce_over(
        named_combiner(name, kind),
        (k,),
        (tir.Add(values[axis], one),),
        (substitute(source, {**values, axis: k}),),
        (init,),
        ordered=True,
    )


def _is_previous(x: PrimExpr, indices: Sequence[PrimExpr]) -> bool:
    """Whether an element is that of the scan itself at some indices."""
    return (
        isinstance(x, tir.BufferLoad)
        and isinstance(x.buffer, InputTerm)
        and x.buffer.key == "previous"
        and all(map(operator.is_, map(tir.interned, x.indices), indices))
    )


def previous(shape: Sequence[PrimExpr], dtype: DataType) -> InputTerm:
    """The tensor of a scan inside its own element."""
    return input_term("previous", "previous", shape, dtype)


def result(
    of: ApplicationTerm,
    path: tuple[int, ...],
    name: str,
    shape: Sequence[PrimExpr],
    dtype: DataType,
) -> ResultTerm:
    """A tensor that an application returns."""
    dims = tuple(map(tir.interned, shape))
    return _shared(
        ResultTerm,
        (of, path, dims, dtype),
        lambda: ResultTerm(name, dims, dtype, {}, None, of, path),
    )


def group(fields: Sequence[Term]) -> Term:
    """A tuple; that of all fields of a tuple is the tuple."""
    own = tuple(fields)
    return _shared(TupleTerm, own, lambda: TupleTerm(own))


def sizes(values: Sequence[PrimExpr]) -> ShapeTerm:
    """A shape."""
    own = tuple(map(tir.interned, values))
    return _shared(ShapeTerm, own, lambda: ShapeTerm(own))


def number(value: PrimExpr) -> NumberTerm:
    """A scalar."""
    own = tir.interned(value)
    return _shared(NumberTerm, (own,), lambda: NumberTerm(own))


def word(kind: str, text: str) -> WordTerm:
    """A string or a data type."""
    return _shared(WordTerm, (kind, text), lambda: WordTerm(kind, text))


def unknown(of: object, path: tuple[int, ...] = ()) -> OpaqueTerm:
    """A value of which only the origin is known."""
    return _shared(OpaqueTerm, (of, path), lambda: OpaqueTerm(of, path))


def apply(
    name: str,
    attributes: object,
    arguments: Sequence[Term],
    returns: object,
    after: ApplicationTerm | None = None,
) -> ApplicationTerm:
    """The application of an operator, or a function, to arguments."""
    args = tuple(arguments)
    return _shared(
        ApplicationTerm,
        (name, attributes, args, returns, after),
        lambda: ApplicationTerm(name, attributes, args, returns, after),
    )


# ---------------------------------------------------------------- reductions


def combiner(
    left: Sequence[tir.Var], right: Sequence[tir.Var], results: Sequence[PrimExpr]
) -> Combination:
    """The operation whose result for the operands ``left`` and ``right`` is ``results``."""
    kinds = [v.dtype for v in left]
    x = tuple([_operand("x", k, kind) for k, kind in enumerate(kinds)])
    y = tuple([_operand("y", k, kind) for k, kind in enumerate(kinds)])
    renamed = dict(zip((*left, *right), (*x, *y), strict=True))
    made = tuple([_turned(substitute(each, renamed)) for each in results])
    name = "custom"
    match made:
        case (tir.Binary(a=a, b=b) as only,) if {a, b} == {x[0], y[0]}:
            name = _NAMED.get(type(only), "custom")
            of_floats = isinstance(only, tir.Max | tir.Min) and kinds[0].is_float
            if (
                name != "custom" and not of_floats
            ):  # of NaN, or of 0 and -0, the second operand is taken
                made = (tir.interned(type(only)(x[0], y[0])),)
        case (tir.Select(condition=condition, true_value=a, false_value=b),) if (
            a is x[0] and b is y[0]
        ):
            # The larger or the smaller one; or NaN, if what was combined so far is it.
            if isinstance(condition, tir.Or) and _is_nan(condition.b, x[0]):
                condition = condition.a
            if isinstance(condition, tir.LT | tir.LE) and {condition.a, condition.b} == {a, b}:
                name = "max" if condition.a is b else "min"
    return _shared(Combination, (x, y, made), lambda: Combination(name, x, y, made))


def _is_nan(condition: PrimExpr, x: tir.Var) -> bool:
    match condition:
        case tir.Call(op="isnan", args=(only,)):
            return only is x
        case tir.NE(a=a, b=b):
            return a is x and b is x
    return False


def _turned(expr: PrimExpr) -> PrimExpr:
    """An element in which comparisons point one way."""

    def new(node: PrimExpr, operands: list[PrimExpr]) -> PrimExpr:
        match node:
            case tir.GT():
                return tir.LT(operands[1], operands[0])
            case tir.GE():
                return tir.LE(operands[1], operands[0])
        return rebuilt(node, operands)

    return tir.interned(tir.fold(expr, new))


_NAMED: dict[type[PrimExpr], str] = {
    tir.Add: "sum",
    tir.Mul: "prod",
    tir.Max: "max",
    tir.Min: "min",
    tir.And: "and",
    tir.Or: "or",
}


def named_combiner(name: str, kind: DataType) -> Combination:
    """The combiner ``"sum"``, ``"prod"``, ``"max"``, ``"min"``, ``"and"`` or ``"or"`` of a type."""
    node: Any = next(node for node, known in _NAMED.items() if known == name)
    x, y = tir.Var("x", kind), tir.Var("y", kind)
    return combiner((x,), (y,), (node(x, y),))


def reduce_over(
    combine: Combination,
    axes: Sequence[tir.Var],
    extents: Sequence[PrimExpr],
    sources: Sequence[PrimExpr],
    init: Sequence[PrimExpr],
    *,
    guard: PrimExpr = TRUE,
    output: int = 0,
    ordered: bool = True,
) -> PrimExpr:
    """The combination of ``sources`` over ``0 <= axes < extents``; see :class:`Reduce`.

    Parameters
    ----------
    axes
        The caller's variables; any variables, such as those of loops. A loop that begins elsewhere
        than at 0 is shifted by the caller.
    """
    if not axes and guard is TRUE:
        both = (*init, *sources)
        return substitute(
            combine.results[output], dict(zip((*combine.left, *combine.right), both, strict=True))
        )
    inside = [substitute(e, {}) for e in (guard, *sources)]
    height = 1 + max(map(_height, inside))
    own = [_bound(height, k, v.dtype) for k, v in enumerate(axes)]
    renamed = dict(zip(axes, own, strict=True))
    inside = [_renamed(each, renamed, height) for each in inside]
    args = (*extents, *inside, *init)
    kind = combine.left[output].dtype
    return tir.interned(
        Reduce("reduce", args, kind, {}, None, combine, tuple(own), output, ordered, height)
    )


def _height(expr: PrimExpr) -> int:
    """The greatest height of the reductions of an element, outside of tensors that it reads."""
    return max((node.height for node in tir.postorder(expr) if type(node) is Reduce), default=0)


def _renamed(expr: PrimExpr, names: Mapping[tir.Var, tir.Var], height: int) -> PrimExpr:
    """An interned expression with the variables of a reduction renamed. Other reductions of the
    same or a greater height come from elsewhere and are closed.
    """
    known: dict[PrimExpr, PrimExpr] = {
        node: node for node in tir.postorder(expr) if type(node) is Reduce and node.height >= height
    }

    def new(node: PrimExpr, operands: list[PrimExpr]) -> PrimExpr:
        if type(node) is tir.Var:
            return names.get(node, node)
        return tir.with_operands(node, operands)

    return tir.interned(tir.fold(expr, new, known))


def opened(reduction: Reduce, axes: Sequence[tir.Var]) -> tuple[PrimExpr, tuple[PrimExpr, ...]]:
    """The guard and the sources of a reduction, with other variables for its axes."""
    names = dict(zip(reduction.axes, axes, strict=True))
    inside = [
        _renamed(each, names, reduction.height) for each in (reduction.guard, *reduction.sources)
    ]
    return inside[0], tuple(inside[1:])


# ---------------------------------------------------------------- changing them


def substitute(expr: PrimExpr, values: Mapping[tir.Var, PrimExpr]) -> PrimExpr:
    """An element with variables replaced; interned, and with the type of each choice. Tensors that
    it reads are closed but for sizes, which :func:`instantiate` replaces.
    """
    root = tir.interned(expr)

    def new(node: PrimExpr, operands: list[PrimExpr]) -> PrimExpr:
        if type(node) is tir.Var:
            return values.get(node, node)
        return rebuilt(node, operands)

    return tir.interned(tir.fold(root, new, {}))


def rebuilt(node: PrimExpr, operands: Sequence[PrimExpr]) -> PrimExpr:
    """A node with other operands."""
    if not operands:
        return node
    if type(node) is tir.Call and node.dtype is None:
        kind = tir.type_of(operands[1]) if node.op == "if_then_else" else _CALLS.get(node.op)
        if kind is not None:
            return tir.Call(node.op, tuple(operands), kind, node.attrs)
    if type(node) in _EXACT:
        return _folded(node, operands)
    if isinstance(node, tir.BufferLoad) and isinstance(node.buffer, ConstantTerm):
        found = constant_at(node.buffer, operands)
        return tir.with_operands(node, operands) if found is None else found
    if type(node) is not Reduce:
        return tir.with_operands(node, operands)
    if all(a is b for a, b in zip(node.args, operands, strict=True)):
        return node
    count, many = len(node.axes), len(node.combiner.left)
    operands = tuple(operands)
    return reduce_over(
        node.combiner,
        node.axes,
        operands[:count],
        operands[count + 1 : count + 1 + many],
        operands[count + 1 + many :],
        guard=operands[count],
        output=node.output,
        ordered=node.ordered,
    )


def _folded(node: PrimExpr, operands: Sequence[PrimExpr]) -> PrimExpr:
    """A sum or product of two integers, where one of them is known: computed, or without a part
    that changes nothing.
    """
    a, b = operands
    if type(node) in (tir.Add, tir.Mul) and isinstance(a, tir.IntImm):
        a, b = b, a
    if not isinstance(b, tir.IntImm) or b.dtype != INT64:
        return tir.with_operands(node, operands)
    if type(node) in (tir.FloorDiv, tir.FloorMod):
        if isinstance(a, tir.IntImm) and b.value > 0:
            return index(_EXACT[type(node)](a.value, b.value))
        return tir.with_operands(node, operands)
    if b.value == (type(node) is tir.Mul):
        return a
    if type(node) is tir.Mul and not b.value:
        return b
    sums = isinstance(node, tir.Add | tir.Sub)
    if sums and isinstance(a, tir.Add | tir.Sub) and isinstance(a.b, tir.IntImm):
        more = a.b.value if type(a) is tir.Add else -a.b.value
        total = more + (b.value if type(node) is tir.Add else -b.value)
        if abs(total) >= 1 << 62:
            return tir.with_operands(node, operands)
        kind = tir.Sub if total < 0 else tir.Add
        return _folded(kind(a.a, index(0)), (a.a, index(abs(total))))
    if isinstance(a, tir.IntImm):
        made = _EXACT[type(node)](a.value, b.value)
        if abs(made) < 1 << 62:
            return index(made)
    return tir.with_operands(node, operands)


_EXACT: dict[type, Callable[[int, int], int]] = {
    tir.Add: operator.add,
    tir.Sub: operator.sub,
    tir.Mul: operator.mul,
    tir.FloorDiv: operator.floordiv,
    tir.FloorMod: operator.mod,
}

_CALLS = dict.fromkeys(("isnan", "isinf", "isfinite"), TRUE.dtype)
"""The types of intrinsics that texts do not give."""


def read(tensor: TensorTerm, indices: Sequence[PrimExpr]) -> PrimExpr:
    """The element of a tensor at indices, not opened."""
    return tir.interned(tir.BufferLoad(tensor, tuple(indices)))


def element(tensor: TensorTerm, indices: Sequence[PrimExpr]) -> PrimExpr:
    """The element of a tensor at indices; the body of a :class:`Lambda` at these indices.

    The indices have no variables of a reduction: who looks inside of one gives it other variables
    first (:func:`opened`).
    """
    if type(tensor) is Lambda:
        return substitute(tensor.element, dict(zip(tensor.axes, indices, strict=True)))
    return read(tensor, indices)


def number_of(value: Any, kind: DataType) -> PrimExpr:
    """A number of NumPy."""
    made = tir.FloatImm(float(value), kind) if kind.is_float else tir.IntImm(int(value), kind)
    return tir.interned(made)


def constant_at(tensor: ConstantTerm, indices: Sequence[PrimExpr]) -> PrimExpr | None:
    """The element of a constant at places that are numbers."""
    import numpy as np

    from rlx.grammar.nodes.dtype import numpy_type

    kind = numpy_type(tensor.dtype)
    places = [at.value for at in indices if isinstance(at, tir.IntImm)]
    shape = [dim.value for dim in tensor.shape if isinstance(dim, tir.IntImm)]
    if kind is None or not len(places) == len(shape) == len(indices):
        return None
    if not all(0 <= at < dim for at, dim in zip(places, shape, strict=True)):
        return None
    return number_of(
        np.frombuffer(tensor.content, kind).reshape(shape)[tuple(places)], tensor.dtype
    )


def tensors_of(*exprs: PrimExpr) -> list[TensorTerm]:
    """The distinct tensors that elements read."""
    found = {
        node.buffer: None
        for node in tir.postorder(*exprs)
        if isinstance(node, tir.BufferLoad) and isinstance(node.buffer, TensorTerm)
    }
    return list(found)


class FilledHoles:
    """Fills the holes of terms: inputs become other tensors, and sizes other expressions.

    Parameters
    ----------
    inputs
        The tensor for each hole, of the same rank and type; its shape is the hole's shape after the
        replacement of sizes.
    variables
        The replacements of sizes.
    """

    def __init__(
        self, inputs: Mapping[TensorTerm, TensorTerm], variables: Mapping[tir.Var, PrimExpr]
    ) -> None:
        self._variables = variables
        self._tensors: dict[TensorTerm, TensorTerm] = dict(inputs)
        self._exprs: dict[PrimExpr, PrimExpr] = {}

    def tensor(self, root: TensorTerm) -> TensorTerm:
        """The tensor with its holes filled."""
        stack = [root]
        while stack:
            tensor = stack[-1]
            if tensor in self._tensors:
                stack.pop()
                continue
            below = tensors_of(tensor.element) if isinstance(tensor, Lambda | ScanTerm) else []
            missing = [each for each in below if each not in self._tensors]
            if missing:
                stack += missing
                continue
            stack.pop()
            self._tensors[tensor] = self._made(tensor)
        return self._tensors[root]

    def _made(self, tensor: TensorTerm) -> TensorTerm:
        shape = tuple(map(self.expr, tensor.shape))
        match tensor:
            case Lambda(axes=axes, element=body):
                return lam(shape, axes, self.expr(body), tensor.name, tensor.dtype)
            case ScanTerm(axes=axes, element=body, along=along):
                return scan(shape, axes, self.expr(body), along, tensor.name)
            case InputTerm(key=key):
                return input_term(key, tensor.name, shape, tensor.dtype)
        return tensor

    def expr(self, root: PrimExpr) -> PrimExpr:
        """An element, or a dimension, with its holes filled."""
        for tensor in tensors_of(root):
            if tensor not in self._tensors:
                self.tensor(tensor)

        def new(node: PrimExpr, operands: list[PrimExpr]) -> PrimExpr:
            if type(node) is tir.Var:
                return self._variables.get(node, node)
            if isinstance(node, tir.BufferLoad) and isinstance(node.buffer, TensorTerm):
                return read(self._tensors[node.buffer], operands)
            return rebuilt(node, operands)

        return tir.interned(tir.fold(tir.interned(root), new, self._exprs))


def instantiate(
    tensor: TensorTerm,
    inputs: Mapping[TensorTerm, TensorTerm],
    variables: Mapping[tir.Var, PrimExpr],
) -> TensorTerm:
    """A term with its holes filled; see :class:`FilledHoles`."""
    return FilledHoles(inputs, variables).tensor(tensor)


# ---------------------------------------------------------------- outlines


def outline(info: ast.StructInfo) -> object:
    """A type in a form that can be compared: dimensions are interned expressions."""
    match info:
        case ast.TensorStructInfo(shape=ast.ShapeExpr(values=dims), dtype=kind):
            return ("tensor", tuple(map(tir.interned, dims)), kind)
        case ast.TensorStructInfo(dtype=kind, ndim=ndim):
            return ("tensor", ndim, kind)
        case ast.TupleStructInfo(fields=fields):
            return ("tuple", *map(outline, fields))
        case ast.ShapeStructInfo(values=values, ndim=ndim):
            return ("shape", ndim if values is None else tuple(map(tir.interned, values)))
        case ast.PrimStructInfo(dtype=kind, value=value):
            return ("prim", kind, None if value is None else tir.interned(value))
    return (type(info).__name__,)


def both(a: PrimExpr, b: PrimExpr) -> PrimExpr:
    """The conjunction of two conditions."""
    if a is TRUE or a is b:
        return b
    return a if b is TRUE else tir.interned(tir.And(a, b))


def all_of(conditions: Iterable[PrimExpr]) -> PrimExpr:
    """The condition that all of some hold."""
    found: PrimExpr = TRUE
    for each in dict.fromkeys(conditions):
        found = both(found, each)
    return found


def stored(value: PrimExpr, kind: DataType) -> PrimExpr:
    """A value as a buffer of a type holds it: an integer literal that is beyond the type wraps."""
    found = tir.converted(value, kind, None)
    if isinstance(found, tir.IntImm) and kind.is_integer:
        low, high = limits(kind)
        found = tir.IntImm(low + (found.value - low) % (high - low + 1), kind)
    return tir.interned(found)


def index(value: int, kind: DataType = INT64) -> PrimExpr:
    """A constant index."""
    return tir.interned(tir.IntImm(value, kind))
