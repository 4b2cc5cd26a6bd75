"""Shape heaps: every place is stored before it is read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from rlx.grammar import ast, tir
from rlx.grammar.diagnostic import Diagnostic
from rlx.grammar.node import Span
from rlx.spec.registry import refuted, rule

_STORE, _LOAD = 1, 3
"""Codes of ``vm.builtin.match_shape``: keep a number, compare with one that was kept."""
_FROM_HEAP = 1
"""Code of ``vm.builtin.make_shape``."""


class HeapState(NamedTuple):
    """The places of each heap that are stored on every way here, and on some."""

    surely: Mapping[ast.Var, frozenset[int]]
    perhaps: Mapping[ast.Var, frozenset[int]]


class Heaps:
    """The shape heaps of one function."""

    def __init__(self, module: ast.IRModule, found: list[Diagnostic]) -> None:
        self._module, self._found = module, found
        self._sizes: dict[ast.Var, int | None] = {}
        self._surely: dict[ast.Var, frozenset[int]] = {}
        self._perhaps: dict[ast.Var, frozenset[int]] = {}
        self._unknown: set[ast.Var] = set()
        self._told: set[tuple[ast.Var, int]] = set()

    def call(self, call: ast.Call, var: ast.Var | None, span: Span | None) -> bool:
        """Follow a call that has to do with a heap alone; whether it was one."""
        if _made(call):
            if var is not None:
                self._sizes[var] = _size(call)
                self._surely[var] = self._perhaps[var] = frozenset()
            return True
        heap = next((arg for arg in call.args if arg in self._sizes), None)
        if not isinstance(heap, ast.Var):
            return False
        match call.op:
            case ast.ExternFunc(global_symbol=name) if name in _ACCESSES:
                for place, stores in _ACCESSES[name](_after(call.args, heap)):
                    self._access(heap, place, stores, span)
                return name.startswith("vm.builtin.make")
            case ast.GlobalVar() if isinstance(
                function := self._module.functions.get(call.op), tir.PrimFunc
            ):
                for at, stored in _of_prim_func(function, call.args.index(heap)):
                    if at is None:
                        self._unknown.add(heap)
                    else:
                        self._access(heap, at, stored, span)
                return True
        self._unknown.add(heap)  # whoever has it may write to it
        return False

    def _access(self, heap: ast.Var, place: int, stores: bool, span: Span | None) -> None:
        if stores:
            self._surely[heap] |= {place}
            self._perhaps[heap] |= {place}
        if heap not in self._unknown:
            self._stored(heap, place, span)

    @rule("MEM-heap", "3baf02be", "memory")
    def _stored(self, heap: ast.Var, place: int, span: Span | None) -> None:
        size = self._sizes[heap]
        if size is not None and not 0 <= place < size:
            message = (
                f"place {place} of {heap.name_hint} does not exist: the heap has {size} places"
            )
            self._tell("MEM-heap-place", heap, place, message, span, True)
        elif place not in self._surely[heap]:
            certain = place not in self._perhaps[heap]
            message = f"place {place} of {heap.name_hint} is read before a number is stored there"
            self._tell("MEM-heap-stored", heap, place, message, span, certain)

    def _tell(
        self, code: str, heap: ast.Var, place: int, message: str, span: Span | None, certain: bool
    ) -> None:
        if (heap, place) in self._told:
            return
        self._told.add((heap, place))
        refuted(code)
        words = message if certain else f"perhaps {message}"
        severity = "error" if certain else "warning"
        help = "store the number first" if code == "MEM-heap-stored" else "make the heap larger"
        self._found.append(Diagnostic(code, severity, words, span, help=help))

    def state(self) -> HeapState:
        """What is known now."""
        return HeapState(dict(self._surely), dict(self._perhaps))

    def restore(self, state: HeapState) -> None:
        """Go back to what was known."""
        self._surely, self._perhaps = dict(state.surely), dict(state.perhaps)

    def join(self, other: HeapState) -> None:
        """Two branches meet."""
        for heap in (*other.surely, *self._surely):
            empty: frozenset[int] = frozenset()
            mine, theirs = self._surely.get(heap, empty), other.surely.get(heap, empty)
            self._surely[heap] = mine & theirs
            self._perhaps[heap] = self._perhaps.get(heap, empty) | other.perhaps.get(heap, empty)


def _made(call: ast.Call) -> bool:
    callee = call.args[0] if call.args else None
    names = [call.op, callee]
    return any(
        isinstance(each, ast.ExternFunc)
        and each.global_symbol in ("vm.builtin.alloc_shape_heap", "vm.builtin.alloc_heap")
        for each in names
    )


def _size(call: ast.Call) -> int | None:
    given = call.args[-1] if call.args else None
    if isinstance(given, ast.Tuple):
        given = next(iter(given.fields), None)
    return _number(given)


def _number(value: object) -> int | None:
    if isinstance(value, ast.PrimValue) and isinstance(value.value, tir.IntImm):
        return value.value.value
    return None


def _after(args: Sequence[ast.Expr], heap: ast.Var) -> list[int]:
    """The numbers behind the heap among the arguments."""
    rest = args[args.index(heap) + 1 :]
    return [n for n in map(_number, rest) if n is not None]


Access = tuple[int, bool]


def _matched(numbers: Sequence[int]) -> Iterator[Access]:
    for code, place in zip(numbers[1::2], numbers[2::2], strict=False):
        if code in (_STORE, _LOAD):
            yield place, code == _STORE


def _matched_scalar(numbers: Sequence[int]) -> Iterator[Access]:
    yield from _matched((1, *numbers))


def _shape(numbers: Sequence[int]) -> Iterator[Access]:
    for code, place in zip(numbers[1::2], numbers[2::2], strict=False):
        if code == _FROM_HEAP:
            yield place, False


def _scalar(numbers: Sequence[int]) -> Iterator[Access]:
    yield from _shape((1, *numbers))


_ACCESSES: dict[str, Callable[[Sequence[int]], Iterator[Access]]] = {
    "vm.builtin.match_shape": _matched,
    "vm.builtin.match_prim_value": _matched_scalar,
    "vm.builtin.make_shape": _shape,
    "vm.builtin.make_prim_value": _scalar,
    "vm.builtin.store_shape": lambda numbers: ((place, True) for place in numbers),
    "vm.builtin.load_shape": lambda numbers: ((place, False) for place in numbers),
}


def _of_prim_func(function: tir.PrimFunc, at: int) -> Iterator[tuple[int | None, bool]]:
    """The places that a PrimFunc reads and stores, in order; None where that cannot be said."""
    buffer = function.buffer_map.get(function.params[at]) if at < len(function.params) else None
    body = function.body
    stmts: Collection[tir.Stmt] = body.stmts if isinstance(body, tir.SeqStmt) else (body,)
    if buffer is None or not all(isinstance(stmt, tir.BufferStore) for stmt in stmts):
        yield None, False
        return
    for stmt in stmts:
        assert isinstance(stmt, tir.BufferStore)
        for node in tir.postorder(stmt.value):
            if isinstance(node, tir.BufferLoad) and node.buffer is buffer:
                yield _index(node.indices), False
        if stmt.buffer is buffer:
            yield _index(stmt.indices), True


def _index(indices: Sequence[tir.PrimExpr]) -> int | None:
    (index,) = indices if len(indices) == 1 else (None,)
    return index.value if isinstance(index, tir.IntImm) else None
