"""The algorithm of structural equality: a work list of pairs, and a map between variables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import DataType
from rlx.grammar.nodes.node import Node, Span

Path = tuple[Any, ...]
"""A path from the root as a linked list: ``(parent, step)``, the empty tuple at the root."""

_IGNORED = frozenset({"comments", "spelled"})


class TreeDifference(Exception):
    """Two nodes differ; raised to leave the comparison."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(reason)
        self.path = path
        self.reason = reason

    def __str__(self) -> str:
        """The place and the kind of the difference."""
        return f"{_shown(self.path)}: {self.reason}"

    def place(self, root: Node) -> Span | None:
        """The span of the difference in one of the two sources: that of the innermost part with a
        span.
        """
        steps: list[Any] = []
        path = self.path
        while path:
            path, step = path
            steps.append(step)
        at: Any = root
        span: Span | None = getattr(root, "span", None)
        for step in reversed(steps):
            at = _part(at, step)
            span = getattr(at, "span", None) or span
        return span


class TreeComparison:
    """One comparison: the remaining pairs, and a map between variables.

    A variable is one object, so a pair of variables stays valid. Only binders of shape variables
    may be visited twice, because annotations are shared objects; their pairs are removed when they
    are entered.
    """

    def __init__(self, map_free_vars: bool) -> None:
        self.map_free_vars = map_free_vars
        self.stack: list[tuple[Any, Any, Path] | Callable[[], None]] = []
        self.left: dict[Node, Node] = {}
        self.right: dict[Node, Node] = {}
        # What binds a shape variable; the first uses decide which stands for which.
        self.binder_left: dict[Node, object] = {}
        self.binder_right: dict[Node, object] = {}
        self.loops: dict[Node, tir.For] = {}
        # Pairs of shared scalar expressions, which are compared once under the same variables.
        self.compared: set[tuple[Node, Node]] = set()

    def run(self, a: Node, b: Node) -> TreeDifference | None:
        """Compare until the work list is empty or something differs."""
        self.stack.append((a, b, ()))
        try:
            while self.stack:
                item = self.stack.pop()
                if isinstance(item, tuple):
                    self._compare(*item)
                else:
                    item()
        except TreeDifference as found:
            return found
        return None

    # ------------------------------------------------------------------ any values

    def then(self, *work: tuple[Any, Any, Path] | Callable[[], None]) -> None:
        """Schedule these tasks next, in this order."""
        self.stack.extend(reversed(work))

    def _compare(self, a: Any, b: Any, path: Path) -> None:
        special = SPECIAL.get(type(a))
        if special is not None and type(a) is type(b):
            special(self, a, b, path)
        elif isinstance(a, tir.Stmt) and isinstance(b, tir.Stmt) and type(a) is not type(b):
            self.statements(a, b, path)
        elif isinstance(a, Mapping) and isinstance(b, Mapping):
            self.mapping(a, b, path)
        elif isinstance(a, tuple | list) and isinstance(b, tuple | list):
            self.elements(a, b, path)
        elif type(a) is not type(b):
            raise TreeDifference(path, f"{named(a)} is not {named(b)}")
        elif isinstance(a, DataType):
            require(a == b, path, a, b)
        elif isinstance(a, Node):
            self.fields(a, b, path)
        else:
            # repr tells -0.0 from 0.0 and takes NaN for NaN.
            require(a is b or repr(a) == repr(b), path, a, b)

    def fields(self, a: Node, b: Node, path: Path) -> None:
        """Compare two nodes of one kind field by field."""
        if isinstance(a, tir.PrimExpr):
            if (a, b) in self.compared:
                return
            self.compared.add((a, b))
        names = _compared(type(a))
        self.stack.extend((getattr(a, f), getattr(b, f), (path, f)) for f in names)

    def elements(self, a: Sequence[Any], b: Sequence[Any], path: Path) -> None:
        """Compare two sequences element by element, the first element first."""
        if len(a) != len(b):
            raise TreeDifference(path, f"{len(a)} elements are not {len(b)}")
        self.stack.extend((a[i], b[i], (path, i)) for i in range(len(a) - 1, -1, -1))

    def mapping(self, a: Mapping[Any, Any], b: Mapping[Any, Any], path: Path) -> None:
        """Compare two mappings key by key, ignoring their order."""
        for key in (*a, *b):
            if (key in a) != (key in b):
                raise TreeDifference(path, f"only one side has {named(key)}")
        self.stack.extend((a[key], b[key], (path, key)) for key in reversed(list(a)))

    # ------------------------------------------------------------------ variables

    def bind(self, a: Node, b: Node) -> None:
        """Pair two variables."""
        self.compared.clear()
        self.left[a], self.right[b] = b, a

    def enter(self, a: Iterable[Node], b: Iterable[Node], path: Path) -> None:
        """Enter a binder of these shape variables; they are paired at their first use."""
        self.compared.clear()
        left, right, binder = tuple(a), tuple(b), object()
        if len(left) != len(right):
            raise TreeDifference(path, f"{len(left)} shape variables are not {len(right)}")
        for var in left:
            self.right.pop(self.left.pop(var, var), None)
            self.binder_left[var] = binder
        for var in right:
            self.left.pop(self.right.pop(var, var), None)
            self.binder_right[var] = binder

    def same(self, a: Node, b: Node, path: Path) -> None:
        """Compare the uses of two variables, which must be paired with each other."""
        image, source = self.left.get(a), self.right.get(b)
        if image is None and source is None:
            binder = self.binder_left.get(a)
            if binder is self.binder_right.get(b) and (
                binder is not None or a is b or self.map_free_vars
            ):
                self.bind(a, b)
                return
        elif image is b and source is a:
            return
        raise TreeDifference(path, f"{named(a)} is not {named(b)}")

    def statements(self, a: tir.Stmt, b: tir.Stmt, path: Path) -> None:
        """Compare two bodies statement by statement, ignoring the nesting of sequences."""
        if isinstance(a, tir.SeqStmt) or isinstance(b, tir.SeqStmt):
            self.elements(tir.flat(a), tir.flat(b), path)
        else:
            raise TreeDifference(path, f"{named(a)} is not {named(b)}")


@cache
def _compared(kind: type) -> tuple[str, ...]:
    """The fields of a kind of node that count, last first."""
    names: tuple[str, ...] = kind.__match_args__  # type: ignore[attr-defined]
    return tuple(f for f in reversed(names) if f not in _IGNORED and "span" not in f)


def require(holds: bool, path: Path, a: object, b: object) -> None:
    if not holds:
        raise TreeDifference(path, f"{named(a)} is not {named(b)}")


def named(value: object) -> str:
    """A value in a message: its kind, and its name if that helps."""
    match value:
        case ast.Var(name_hint=name) | ast.GlobalVar(name_hint=name) | tir.Var(name=name):
            return f"{type(value).__name__} {name}"
        case tir.Buffer(name=name):
            return f"Buffer {name}"
        case DataType():
            return str(value)
        case Node():
            return type(value).__name__
        case Mapping() | tuple() | list():
            return type(value).__name__
    return repr(value)


def _part(whole: Any, step: Any) -> Any:
    """The part of a node, a sequence or a mapping that a step of a path leads to;
    None where it leads nowhere.
    """
    if isinstance(whole, Mapping):
        named = (v for k, v in whole.items() if k == step or getattr(k, "name_hint", None) == step)
        return next(named, None)
    if isinstance(step, int):
        return whole[step] if isinstance(whole, tuple | list) and step < len(whole) else None
    return getattr(whole, step, None) if isinstance(step, str) else None


def _shown(path: Path) -> str:
    steps: list[str] = []
    while path:
        path, step = path
        steps.append(f".{step}" if isinstance(step, str) and step.isidentifier() else f"[{step!r}]")
    return "".join(reversed(steps)).removeprefix(".") or "the whole"


Special = Callable[[TreeComparison, Any, Any, Path], None]

SPECIAL: dict[type, Special] = {}
"""The kinds of nodes that are not compared field by field."""
