"""Traversal of Relax expressions: direct parts, all subexpressions, used and called functions.

No function recurses; the order is that of the text, which is the order of evaluation.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, islice, repeat
from types import UnionType
from typing import TypeVar

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Expr, GlobalVar, StructInfo, Var
from rlx.grammar.nodes.node import Node, Span, nodes_in

N = TypeVar("N", bound=Node)
Name = TypeVar("Name", bound=Hashable)

LEAVES = frozenset(
    [
        ast.Var,
        ast.DataflowVar,
        ast.GlobalVar,
        ast.Constant,
        ast.ShapeExpr,
        ast.PrimValue,
        ast.StringImm,
        ast.DataTypeImm,
        ast.ExternFunc,
        ast.ErrorExpr,
    ]
)
"""The kinds of expressions that are always leaves; a tuple is a leaf if its fields are."""

_NOTHING_INSIDE = LEAVES | {ast.Op}
"""The kinds of nodes in which nothing is evaluated."""


def places(
    spans: Sequence[Span], parts: Sequence[object], otherwise: Span | None
) -> list[Span | None]:
    """The place of each part, and ``otherwise`` where the text does not tell it."""
    return list(islice(chain(spans, repeat(otherwise)), len(parts)))


def argument_places(call: ast.Call) -> list[Span | None]:
    """The place of each argument; the place of the call where the text does not tell it."""
    return places(call.arg_spans, call.args, call.span)


def is_leaf(expr: Expr) -> bool:
    """Whether an expression is a leaf, which may be a part of another in normal form."""
    kind = type(expr)
    if kind is ast.Tuple:
        return all(is_leaf(field) for field in expr.fields)  # type: ignore[attr-defined]
    return kind in LEAVES


def bindings_in(body: Expr) -> Iterator[ast.VarBinding | ast.MatchCast]:
    """The bindings of a body in the order of evaluation; a plain expression has none."""
    for block in body.blocks if isinstance(body, ast.SeqExpr) else ():
        yield from block.bindings  # type: ignore[misc]


def result_of(body: Expr) -> tuple[Expr, Span | None]:
    return (body.body, body.body_span) if isinstance(body, ast.SeqExpr) else (body, None)


def evaluated(root: Node, kinds: type[N] | UnionType) -> Iterator[N]:
    """The nodes of these kinds that are evaluated in a node, in preorder, beginning with itself:
    among expressions, blocks and bindings, but not in annotations and scalars.
    """
    unwanted, stack = _unwanted(kinds), [root]
    while stack:
        node = stack.pop()
        if isinstance(node, kinds):
            yield node
        if type(node) not in _NOTHING_INSIDE and not node._shared:
            stack += [each for each in reversed(node.children()) if type(each) not in unwanted]


@cache
def _unwanted(kinds: type[Node] | UnionType) -> frozenset[type]:
    """The kinds of leaves and of annotations that are none of these: most nodes are such."""
    without: tuple[type, ...] = (*_NOTHING_INSIDE, *kinds_of(ast.StructInfo))
    return frozenset(kind for kind in without if not issubclass(kind, kinds))


def kinds_of(kind: type[N]) -> Iterator[type[N]]:
    """The classes below a class of nodes."""
    each: type[N]
    for each in kind.__subclasses__():
        yield each
        yield from kinds_of(each)


def expressions(root: Node) -> Iterator[Expr]:
    """The expressions that are evaluated in a node, in preorder, beginning with itself."""
    return evaluated(root, Expr)


def bindings(root: Node) -> Iterator[ast.VarBinding | ast.MatchCast]:
    """Every binding in a node, including branches and nested functions, in the order of the text.

    A binding comes before the bindings in its value.
    """
    stack: list[Node | Iterator[ast.Binding]] = [root]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.BindingBlock):
            node = iter(node.bindings)
        elif isinstance(node, ast.Binding):
            node = iter((node,))
        if isinstance(node, Node):
            stack += [each for each in reversed(node.children()) if type(each) not in _NO_BINDINGS]
            continue
        for binding in node:
            yield binding  # type: ignore[misc]
            value = binding.value
            if type(value) is ast.Call:
                is_flat = _NOTHING_INSIDE.issuperset(map(type, value.args))
                if is_flat and not (value.attrs and nodes_in(value.attrs)):
                    continue
            elif type(value) in _NO_BINDINGS:
                continue
            stack += (node, value)  # the rest comes behind what is inside
            break


_NO_BINDINGS = _unwanted(ast.Binding)


def sequences(root: Node) -> Iterator[ast.Function | ast.SeqExpr]:
    """The functions and the sequences in a node, beginning with itself, outer ones before inner
    ones.
    """
    return evaluated(root, ast.Function | ast.SeqExpr)


def struct_infos(root: Node) -> Iterator[StructInfo]:
    """Every annotation in a node: of parameters, results, bindings, casts and calls."""
    stack = [root]
    while stack:
        node = stack.pop()
        if isinstance(node, StructInfo):
            yield node
        else:
            stack.extend(reversed(node.children()))


def bound_vars(root: Node) -> set[Var]:
    names = (name for node in evaluated(root, Node) for name in node.bound())
    return {name for name in names if isinstance(name, Var)}


def free_vars(expr: Expr) -> tuple[Var, ...]:
    """The distinct Relax variables that an expression uses but does not bind, in order of first
    use.

    A variable has identity, so a use outside the scope of its binding still counts as bound.
    """
    if not isinstance(expr, Node):
        raise TypeError(f"expected an expression, found {type(expr).__name__}")
    used = dict.fromkeys(evaluated(expr, Var))
    bound = bound_vars(expr)
    return tuple(var for var in used if var not in bound)


def called_globals(expr: Node) -> tuple[GlobalVar, ...]:
    """The distinct global functions that an expression mentions (calls or passes as values), in
    order.
    """
    return tuple(dict.fromkeys(evaluated(expr, GlobalVar)))


def reached(first: Iterable[Name], calls: Callable[[Name], Iterable[Name]]) -> set[Name]:
    """Some functions, and those that they can reach in any number of calls."""
    seen: set[Name] = set()
    stack = list(first)
    while stack:
        at = stack.pop()
        if at not in seen:
            seen.add(at)
            stack.extend(calls(at))
    return seen


def reached_functions(
    first: Iterable[GlobalVar], functions: Mapping[GlobalVar, Node]
) -> set[GlobalVar]:
    """Some functions of a module, and those that they mention, themselves or through others."""
    return reached(first, lambda gv: called_globals(functions[gv]) if gv in functions else ())


def callees_first(calls: Mapping[Name, Iterable[Name]]) -> Iterator[Name]:
    """The functions of a call graph, each behind those that it calls.

    Where functions call each other in a circle, the order inside the circle is that of the graph.
    """
    begun: set[Name] = set()
    for root in calls:
        stack: list[tuple[Name, Iterator[Name]]] = []
        if root not in begun:
            begun.add(root)
            stack.append((root, iter(calls[root])))
        while stack:
            name, callees = stack[-1]
            callee = next((c for c in callees if c in calls and c not in begun), None)
            if callee is None:
                stack.pop()
                yield name
            else:
                begun.add(callee)
                stack.append((callee, iter(calls[callee])))


def circles(calls: Mapping[Name, Iterable[Name]]) -> dict[Name, set[Name]]:
    """For each function of a call graph, those that it can reach and that can reach it, and itself.

    The functions of a circle have the same set.
    """
    callers: dict[Name, list[Name]] = {name: [] for name in calls}
    for name, callees in calls.items():
        for callee in callees:
            if callee in callers:
                callers[callee].append(name)
    found: dict[Name, set[Name]] = {}
    for root in reversed(list(callees_first(calls))):
        if root not in found:
            circle = reached([root], lambda at: (c for c in callers[at] if c not in found))
            found.update(dict.fromkeys(circle, circle))
    return found


def shape_vars_of(buffer: tir.Buffer) -> tuple[tir.Var, ...]:
    """The variables in the shape of a buffer, and in its strides and offset."""
    return tuple(dict.fromkeys(v for n in shape_numbers(buffer) for v in tir.free_vars(n)))


def shape_numbers(buffer: tir.Buffer) -> Iterator[tir.PrimExpr]:
    """The dimensions of a buffer, its strides and its offset."""
    for value in (buffer.shape, *buffer.attrs.values()):
        for each in value if isinstance(value, tuple | list) else (value,):
            if isinstance(each, tir.PrimExpr):
                yield each
