"""What an input shows of the code: each way that a condition, a comparison, an index or a loop went.

A test notices a changed condition only if it meets the case in which the condition and its change differ: `a or b` for
`a and b` where one of them is false, `<` for `<=` where both sides are equal, `x[-1]` for `x[0]` where there are two.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from types import CodeType
from typing import Any

from .hook import compiled

TRUTH, SIDES, LENGTH, TURNS = "__rlx_truth__", "__rlx_sides__", "__rlx_length__", "__rlx_turns__"
"""The built-in functions that the changed code calls."""

MANY = 2
"""Elements of a container, and turns of a loop, that are counted."""

ORDERED = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)


class _Watched(ast.NodeTransformer):
    """Puts a call around each part of a condition; the value stays the same."""

    def __init__(self, file: str) -> None:
        self.file, self.count = file, 0

    def _call(self, name: str, *args: ast.expr) -> ast.expr:
        self.count += 1
        where = ast.Constant(f"{self.file}:{self.count}")
        return ast.Call(ast.Name(name, ast.Load()), [where, *args], [])

    def _condition(self, node: ast.expr) -> ast.expr:
        # The parts of `and` and `or` are watched each; a comparison watches its sides.
        return node if isinstance(node, ast.BoolOp) else self._call(TRUTH, node)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        node.values = [self._condition(value) for value in node.values]
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if len(node.ops) > 1 or not isinstance(node.ops[0], ORDERED):
            return node
        sides = ast.Tuple([node.left, node.comparators[0]], ast.Load())
        pair = ast.Starred(self._call(SIDES, sides), ast.Load())
        operator = ast.copy_location(
            ast.Lambda(_two(), ast.Compare(_name("a"), node.ops, [_name("b")])), node
        )
        return ast.Call(operator, [pair], [])

    def visit_If(self, node: ast.If | ast.While | ast.IfExp) -> ast.AST:
        self.generic_visit(node)
        node.test = self._condition(node.test)
        return node

    visit_While = visit_IfExp = visit_If

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        constant = isinstance(node.slice, ast.Constant | ast.UnaryOp | ast.Slice)
        if constant and isinstance(node.ctx, ast.Load):
            node.value = self._call(LENGTH, node.value)
        return node

    def visit_For(self, node: ast.For | ast.comprehension) -> ast.AST:
        self.generic_visit(node)
        if not getattr(node, "is_async", 0):
            node.iter = self._call(TURNS, node.iter)
        return node

    visit_comprehension = visit_For

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def visit_arguments(self, node: ast.arguments) -> ast.AST:
        return node

    def visit_match_case(self, node: ast.match_case) -> ast.AST:
        if node.guard is not None:
            node.guard = self._condition(self.visit(node.guard))
        node.body = [self.visit(each) for each in node.body]
        return node


def _two() -> ast.arguments:
    return ast.arguments([], [ast.arg("a"), ast.arg("b")], None, [], [], None, [])


def _name(name: str) -> ast.expr:
    return ast.Name(name, ast.Load())


class _Functions(ast.NodeTransformer):
    """Only the bodies of functions are watched: what is done once, when a module is loaded, no input shows."""

    def __init__(self, watched: _Watched) -> None:
        self.watched = watched

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.body = [self.watched.visit(statement) for statement in node.body]
        return node


def watched(path: Path, text: str) -> CodeType:
    """The code of a file that tells how its conditions go."""
    tree = _Functions(_Watched(path.as_posix())).visit(ast.parse(text))
    return compiled(ast.fix_missing_locations(tree), path)


class Seen:
    """What the code told since the last question, each a place and how it went."""

    def __init__(self) -> None:
        self.now = set[tuple[str, object]]()

    def functions(self) -> dict[str, Callable[..., Any]]:
        """What the changed code calls."""
        return {TRUTH: self.truth, SIDES: self.sides, LENGTH: self.length, TURNS: self.turns}

    def truth(self, place: str, value: Any) -> Any:
        with suppress(Exception):  # an array has no truth; who asks for it will say so
            self.now.add((place, bool(value)))
        return value

    def sides(self, place: str, pair: tuple[Any, Any]) -> tuple[Any, Any]:
        """By how much two integers differ, up to 2; of others whether they are equal."""
        a, b = pair
        if isinstance(a, int) and isinstance(b, int):
            self.now.add((place, max(-2, min(2, a - b))))
        elif isinstance(a, str) and isinstance(b, str):
            self.now.add((place, a == b))
        return pair

    def length(self, place: str, value: Any) -> Any:
        if isinstance(value, str | bytes | tuple | list):
            self.now.add((place, min(len(value), MANY)))
        return value

    def turns(self, place: str, values: Iterable[Any]) -> Iterator[Any]:
        """The elements, counted up to two."""
        count = 0
        for value in values:
            count += 1
            if count <= MANY:
                self.now.add((place, count))
            yield value
        if not count:
            self.now.add((place, 0))

    def taken(self) -> set[tuple[str, object]]:
        """What was told, to begin anew."""
        found, self.now = self.now, set()
        return found
