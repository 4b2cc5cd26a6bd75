"""Walks over scalars: each shared node is visited once, and no walk recurses.

A dimension is a graph: the length of a slice of a slice mentions the sliced length several times,
as one object, and written out it would be exponentially long. A sum may also have 10,000 terms,
deeper than Python can recurse. So whatever is computed from a scalar is computed by one of:

- :func:`fold`, from the results of all operands: a value, a type, a polynomial, a text;
- :func:`fold_lazily`, where the algebra itself decides which operands it needs, and when, because
  something must happen before or between them: C code opens a branch, for instance;
- :func:`transform`, another expression, from changed operands;
- :func:`postorder`, a loop over the nodes, where the order of the results matters;
- :func:`reached`, a loop over those nodes that certain operands lead to.

A node stays a place in a program, with a span, so two equal dimensions are different objects.
:func:`interned` gives the object that all equal expressions share: it has no span, and its operands
are interned too. So ``interned(a) is interned(b)`` compares two expressions, and an interned
expression is a key of tables. It is made when it is first asked for, and lives as long as an
expression that has it.
"""

from __future__ import annotations

from collections.abc import (
    Callable,
    Container,
    Generator,
    Iterable,
    Iterator,
    Mapping,
    MutableMapping,
    Sequence,
)
from functools import cache
from threading import Lock
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from rlx.grammar.nodes.node import Node, Span, child_fields, replace
from rlx.grammar.nodes.tir_exprs import Binary, IntImm, PrimExpr, Var, children

E = TypeVar("E", bound=PrimExpr)
V = TypeVar("V")

Algebra = Callable[[PrimExpr, list[V]], V]
"""The value of a node, from the node and the values of its operands."""

Visit = Generator[PrimExpr, V, V]
"""Yields operands, is sent their values, and returns the value of a node."""


class TooLargeError(Exception):
    """An expression exceeds the limit of nodes."""


_LEAVES = frozenset((Var, IntImm))
_SMALL = 100
"""The maximum size of a tree whose nodes are listed as often as they occur."""


def written_out(roots: Sequence[PrimExpr], known: Container[object] = ()) -> list[PrimExpr] | None:
    """The nodes of small expressions, as often as a text has them, operands first; those in
    ``known`` and what is below them are left out. None for large expressions.
    """
    found: list[PrimExpr] = []
    stack = list(roots)
    pop, push, add = stack.pop, stack.append, found.append
    while stack:
        node = pop()
        if node in known:
            continue
        add(node)
        if type(node) in _LEAVES:
            continue
        if isinstance(node, Binary):
            push(node.a)
            push(node.b)
        else:
            stack.extend(children(node))
        if len(found) > _SMALL:
            return None
    found.reverse()  # from preorder, right operands first
    return found


def postorder(
    *roots: PrimExpr, limit: int | None = None, known: Container[object] = ()
) -> list[PrimExpr]:
    """All distinct nodes, operands first; those in ``known`` and what is below them are left out.

    Raises
    ------
    TooLargeError
        If there are more than ``limit``.
    """
    small = written_out(roots, known)
    if small is not None:
        small = [*dict.fromkeys(small)]
        if limit is None or len(small) <= limit:
            return small
    order: list[PrimExpr] = []
    done: set[PrimExpr] = set()
    stack: list[Any] = list(reversed(roots))
    pop, push = stack.pop, stack.append
    while stack:
        node = stack[-1]
        if node in done:
            pop()
            continue
        if known and node in known:
            done.add(node)
            pop()
            continue
        if isinstance(node, Binary):
            a, b = node.a, node.b
            if not known:
                # Leaves are placed at once: they are half of all nodes.
                if a not in done and type(a) in _LEAVES:
                    done.add(a)
                    order.append(a)
                if a in done and b not in done and type(b) in _LEAVES:
                    done.add(b)
                    order.append(b)
            if b not in done:
                push(b)
            if a not in done:
                push(a)
        elif type(node) not in _LEAVES:
            for child in reversed(node.children()):
                if child not in done:
                    push(child)
        if stack[-1] is node:
            done.add(node)
            order.append(node)
            pop()
            if limit is not None and len(order) > limit:
                raise TooLargeError(f"expected at most {limit} nodes")
    return order


def larger_than(limit: int, expr: PrimExpr) -> bool:
    """Whether an expression has more nodes; no more of them are visited."""
    if type(expr) in _LEAVES:
        return limit < 1
    try:
        postorder(expr, limit=limit)
    except TooLargeError:
        return True
    return False


def fold(expr: PrimExpr, algebra: Algebra[V], known: MutableMapping[Any, V] | None = None) -> V:
    """The value of an expression under an algebra.

    Parameters
    ----------
    known
        The values of nodes that need no visit. It gets those of all other nodes, so several
        expressions with common parts may be folded one after the other.
    """
    values: MutableMapping[Any, V] = {} if known is None else known
    for node in postorder(expr, known=values):
        values[node] = algebra(node, [values[child] for child in children(node)])
    return values[expr]


def fold_lazily(
    expr: PrimExpr,
    visit: Callable[[PrimExpr], Visit[V]],
    known: MutableMapping[PrimExpr, V] | None = None,
) -> V:
    """The value of an expression under an algebra that asks for the operands it needs.

    Parameters
    ----------
    known
        The values of nodes that need no visit; it gets those of the others. Without it, a node is
        visited each time an algebra asks for it, because its value may depend on what happened
        before.
    """
    if known is not None and expr in known:
        return known[expr]
    stack = [(expr, visit(expr))]
    answer: Any = None
    while stack:
        node, running = stack[-1]
        try:
            wanted = running.send(answer)
            while known is not None and wanted in known:
                wanted = running.send(known[wanted])
        except StopIteration as done:
            stack.pop()
            answer = done.value
            if known is not None:
                known[node] = answer
        else:
            stack.append((wanted, visit(wanted)))
            answer = None
    value: V = answer
    return value


def reached(
    roots: Iterable[PrimExpr], below: Callable[[PrimExpr], Iterable[PrimExpr]]
) -> Iterator[PrimExpr]:
    """The distinct nodes that can be reached from some, in preorder; ``below`` gives the operands
    of a node that are followed.
    """
    stack = list(roots)[::-1]
    seen: set[PrimExpr] = set()
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            yield node
            stack.extend(list(below(node))[::-1])


def free_vars(*exprs: PrimExpr) -> tuple[Var, ...]:
    """The distinct variables of expressions, in order of first appearance."""
    if _LEAVES.issuperset(map(type, exprs)):
        return tuple(dict.fromkeys([each for each in exprs if type(each) is Var]))
    return tuple([node for node in postorder(*exprs) if isinstance(node, Var)])


# ---------------------------------------------------------------- other expressions


def with_operands(
    node: PrimExpr, operands: Iterable[PrimExpr], span: Span | None = None
) -> PrimExpr:
    """The node with other operands, and with a span if one is given; the node itself if they are
    the same objects.
    """
    if isinstance(node, Binary):
        a, b = operands
        return node if a is node.a and b is node.b else type(node)(a, b, span)
    left = iter(operands)
    found = node.map_children(lambda _: next(left))
    return found if found is node else replace(found, span=span)


def transform(
    roots: Iterable[PrimExpr], change: Callable[[PrimExpr], PrimExpr | None], in_place: bool = False
) -> list[PrimExpr]:
    """The expressions with ``change`` applied to every node, operands first (None: unchanged).

    With ``in_place``, the results keep the spans of the expressions.
    """

    def new(node: PrimExpr, operands: list[PrimExpr]) -> PrimExpr:
        span = node.span if in_place else None  # type: ignore[attr-defined]
        made = with_operands(node, operands, span) if operands else node
        changed = change(made)
        return made if changed is None else changed

    done: dict[PrimExpr, PrimExpr] = {}
    return [fold(root, new, done) for root in roots]


def substitute(expr: PrimExpr, mapping: Mapping[Var, PrimExpr]) -> PrimExpr:
    """The expression with variables replaced simultaneously."""
    return transform([expr], lambda e: mapping.get(e) if isinstance(e, Var) else None)[0]


# ---------------------------------------------------------------- identity

_TABLE: WeakValueDictionary[object, PrimExpr] = WeakValueDictionary()
_LOCK = Lock()


class _WithForm(Container[object]):
    """The nodes whose interned expression is known."""

    def __contains__(self, node: object) -> bool:
        return hasattr(node, "_form")


_DONE = _WithForm()


def interned(expr: E) -> E:
    """The object that stands for all expressions equal to this one.

    Equal are expressions of one structure, with the same numbers, types and names, whatever their
    spans; variables and buffers are equal only to themselves, also where a ``T.Let`` binds them.
    A NaN equals itself, and 0.0 differs from -0.0.
    """
    if isinstance(expr, Var):
        return expr
    if type(expr) is IntImm and not hasattr(expr, "_form"):
        _set_form(expr, _form(expr))
    elif not hasattr(expr, "_form"):
        for node in postorder(expr, known=_DONE):
            if type(node) is not Var:
                _set_form(node, _form(node))
    form: E | None = expr._form  # type: ignore[attr-defined]
    return expr if form is None else form


_set_form: Callable[[PrimExpr, PrimExpr | None], None] = PrimExpr.__dict__["_form"].__set__
"""Notes the interned expression of a node. None stands for the node itself, because a reference
to itself would keep it in memory until the garbage collector runs."""


def _form(node: PrimExpr) -> PrimExpr | None:
    """The interned expression of a node whose operands have theirs; None if the node is it."""
    kind = type(node)
    below = [interned(child) for child in children(node)]
    if isinstance(node, Binary):
        key: tuple[object, ...] = (kind, *below)
    elif isinstance(node, IntImm):
        key = (kind, type(node.value), node.value, node.dtype)
    else:
        own = tuple([_data(getattr(node, name)) for name in _data_fields(kind)])
        key = (kind, *below, *own)
    with _LOCK:
        found = _TABLE.get(key)
        if found is None:
            found = with_operands(node, below)
            if found.span is not None:  # type: ignore[attr-defined]
                found = replace(found, span=None)
            if found is not node:
                _set_form(found, None)
            _TABLE[key] = found
    return None if found is node else found


@cache
def _data_fields(kind: type[PrimExpr]) -> tuple[str, ...]:
    """The fields of a kind of node that hold data other than operands."""
    names: tuple[str, ...] = kind.__match_args__
    operands = [name for name, _ in child_fields(kind)]
    return tuple(name for name in names if name != "span" and name not in operands)


def _data(value: object) -> object:
    """Data other than operands, as a key: names, types, attributes."""
    if isinstance(value, PrimExpr):
        return interned(value)
    if isinstance(value, Node):
        return value
    if isinstance(value, Mapping):
        return frozenset((key, _data(part)) for key, part in value.items())
    if isinstance(value, tuple | list):
        return tuple(map(_data, value))
    return (type(value), repr(value))
