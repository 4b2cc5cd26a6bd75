"""Shape heaps: every slot is stored before it is read, and what it holds then."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from rlx.checker.lowered.effects import LOOKING
from rlx.checker.lowered.run_time_checks import RunTimeChecks
from rlx.checker.lowered.slot_values import KnownValues
from rlx.grammar.diagnostic import Diagnostic
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import INT64
from rlx.grammar.nodes.node import Span
from rlx.spec.registry import reported, rule

_IMMEDIATE, _FROM_HEAP = 0, 1
"""Codes of ``vm.builtin.make_shape``: a number, the number in a slot."""
_STORE, _LOAD = 1, 3
"""Codes of ``vm.builtin.match_shape``: keep a number, compare with one that was kept."""
_HEAPS = ("vm.builtin.alloc_shape_heap", "vm.builtin.alloc_heap")


class HeapState(NamedTuple):
    """The slots of each heap that are stored on every way here, those stored on some, and the
    numbers in them.
    """

    surely: Mapping[ast.Var, frozenset[int]]
    perhaps: Mapping[ast.Var, frozenset[int]]
    numbers: Mapping[tuple[ast.Var, int], tir.PrimExpr]


class SlotAccess(NamedTuple):
    """A slot is stored or read; ``number`` is what is stored, None where that is not known."""

    slot: int
    stores: bool
    number: tir.PrimExpr | None = None


class Heaps:
    """The shape heaps of one function."""

    def __init__(
        self,
        module: ast.IRModule,
        values: KnownValues,
        checks: RunTimeChecks,
        found: list[Diagnostic],
    ) -> None:
        self._module, self._values, self._found = module, values, found
        self._checks = checks
        self._sizes: dict[ast.Var, int | None] = {}
        self._surely: dict[ast.Var, frozenset[int]] = {}
        self._perhaps: dict[ast.Var, frozenset[int]] = {}
        self._numbers: dict[tuple[ast.Var, int], tir.PrimExpr] = {}
        self._unknown: set[ast.Var] = set()
        self._told: set[tuple[ast.Var, int]] = set()

    def call(self, call: ast.Call, var: ast.Var | None, span: Span | None) -> bool:
        """Follow what a call does with heaps; whether that is all it does."""
        if _makes(call):
            if var is not None:
                size = self._sizes[var] = self._size(call)
                if size is not None:
                    self._values.lay(var, ast.ShapeExpr((tir.IntImm(size),)))
                self._surely[var] = self._perhaps[var] = frozenset()
            return True
        args = tuple(map(self._values.leaf, call.args))
        match call.op:
            case ast.ExternFunc(global_symbol=name) if name in _ACCESSES:
                self._runtime(name, args, var, span, call.args[0])
                return False
            case ast.ExternFunc(global_symbol=name) if name in LOOKING:
                return False
        for at, heap in enumerate(args):
            if not isinstance(heap, ast.Var) or heap not in self._sizes:
                continue
            callee = call.op if isinstance(call.op, ast.GlobalVar) else None
            function = self._module.functions.get(callee) if callee is not None else None
            if isinstance(function, tir.PrimFunc):
                self._computed(heap, function, at, span)
            else:
                self._forget(heap)  # any holder may write to it
        return False

    def _runtime(
        self,
        name: str,
        args: Sequence[ast.Expr],
        var: ast.Var | None,
        span: Span | None,
        value: ast.Expr,
    ) -> None:
        """A function of the run time stores or reads slots; ``value`` is what stands first."""
        at = 0 if name in _MAKING else 1
        heap = args[at] if at < len(args) else None
        if not isinstance(heap, ast.Var) or heap not in self._sizes:
            if heap is not None and self._is_no_heap(heap):
                self._stored(heap, None, span)
            return
        known = map(self._values.integer, args[at + 1 :])
        numbers = [number for number in known if number is not None]
        for access in _ACCESSES[name](self, args[:at], numbers):
            self._access(heap, access, span)
        if name == "vm.builtin.match_shape":
            self._compared(heap, value, numbers, span)
        self._result(name, heap, numbers, var)

    def _is_no_heap(self, value: ast.Expr) -> bool:
        """Whether a value is certainly anything but a vector of int64, as heaps are."""
        info, kind = self._values.info(value), self._values.kind(value)
        if not isinstance(info, ast.TensorStructInfo):
            return kind is not None
        elements = info.dtype.is_void or info.dtype == INT64
        return not elements or self._values.rank(value) not in (None, 1)

    def _compared(
        self, heap: ast.Var, value: ast.Expr, numbers: Sequence[int], span: Span | None
    ) -> None:
        """The dimensions that a match compares with numbers."""
        for axis, (code, operand) in enumerate(_steps(numbers)):
            if code == _IMMEDIATE:
                self._checks.dimension(value, axis, tir.IntImm(operand), span)
            elif code == _LOAD:
                kept = self.number(heap, operand)
                if kept is not None:
                    self._checks.dimension(value, axis, kept, span)

    def number(self, heap: ast.Var, slot: int) -> tir.PrimExpr | None:
        """The number in a slot; None where it is not known."""
        return None if heap in self._unknown else self._numbers.get((heap, slot))

    @property
    def values(self) -> KnownValues:
        """The values of the variables."""
        return self._values

    def _size(self, call: ast.Call) -> int | None:
        given = call.args[-1] if call.args else None
        if isinstance(given, ast.Tuple) and given.fields:
            given = given.fields[0]
        return None if given is None else self._values.integer(given)

    def _forget(self, heap: ast.Var) -> None:
        self._unknown.add(heap)

    def _access(self, heap: ast.Var, access: SlotAccess, span: Span | None) -> None:
        slot = access.slot
        if access.stores:
            self._surely[heap] |= {slot}
            self._perhaps[heap] |= {slot}
            if access.number is None:
                self._numbers.pop((heap, slot), None)
            else:
                self._values.keep(access.number)
                self._numbers[heap, slot] = access.number
        if heap not in self._unknown:
            self._stored(heap, slot, span)

    def _result(
        self, name: str, heap: ast.Var, numbers: Sequence[int], var: ast.Var | None
    ) -> None:
        """The object that a run-time function makes of the numbers in a heap."""
        if var is None or name not in _MAKING:
            return
        dims = [self._made(heap, step) for step in _MAKING[name](numbers)]
        if any(dim is None for dim in dims):
            return
        known = tuple(dim for dim in dims if dim is not None)
        match name, known:
            case "vm.builtin.make_prim_value", (number, *_):
                self._values.bind(var, ast.PrimValue(number))
            case "vm.builtin.make_prim_value", _:
                pass
            case _:
                self._values.bind(var, ast.ShapeExpr(known))

    def _made(self, heap: ast.Var, step: tuple[int, int]) -> tir.PrimExpr | None:
        code, operand = step
        return tir.IntImm(operand) if code == _IMMEDIATE else self.number(heap, operand)

    def _computed(self, heap: ast.Var, function: tir.PrimFunc, at: int, span: Span | None) -> None:
        """A PrimFunc computes slots from others."""
        param = function.params[at] if at < len(function.params) else None
        buffer = None if param is None else function.buffer_map.get(param)
        body = function.body
        stmts = body.stmts if isinstance(body, tir.SeqStmt) else (body,)
        if buffer is None or not all(isinstance(stmt, tir.BufferStore) for stmt in stmts):
            self._forget(heap)
            return
        for stmt in stmts:
            assert isinstance(stmt, tir.BufferStore)
            for node in tir.postorder(stmt.value):
                if isinstance(node, tir.BufferLoad) and node.buffer is buffer:
                    self._indexed(heap, node.indices, None, span)
            if stmt.buffer is buffer:
                self._indexed(heap, stmt.indices, stmt, span)

    def _indexed(
        self,
        heap: ast.Var,
        indices: Sequence[tir.PrimExpr],
        stored: tir.BufferStore | None,
        span: Span | None,
    ) -> None:
        slot = _index(indices)
        if slot is None:
            self._forget(heap)
        elif stored is None:
            self._access(heap, SlotAccess(slot, False), span)
        else:
            self._access(heap, SlotAccess(slot, True, self._evaluated(heap, stored)), span)

    def _evaluated(self, heap: ast.Var, store: tir.BufferStore) -> tir.PrimExpr | None:
        """The stored expression over the numbers in the slots that it reads; None if it reads
        anything else.
        """

        def number(node: tir.PrimExpr) -> tir.PrimExpr | None:
            if not isinstance(node, tir.BufferLoad) or node.buffer is not store.buffer:
                return None
            slot = _index(node.indices)
            return None if slot is None else self.number(heap, slot)

        (found,) = tir.transform([store.value], number)
        unknown = any(isinstance(node, tir.BufferLoad) for node in tir.postorder(found))
        return None if unknown else found

    @rule("MEM-heap", "memory")
    def _stored(self, heap: ast.Expr, slot: int | None, span: Span | None) -> None:
        """A slot is accessed; None if the value is certainly no heap."""
        if slot is None or not isinstance(heap, ast.Var):
            words = f"expected a shape heap, found {self._values.kind(heap)}"
            made = Diagnostic("MEM-heap-made", "error", words, span, help=_HELP["MEM-heap-made"])
            self._found.append(reported(made))
            return
        size = self._sizes[heap]
        if size is not None and slot not in range(size):
            message = f"slot {slot} of {heap.name_hint} does not exist: the heap has {size} slots"
            self._tell("MEM-heap-place", heap, slot, message, span, True)
        elif slot not in self._surely[heap]:
            certain = slot not in self._perhaps[heap]
            message = f"slot {slot} of {heap.name_hint} is read before a number is stored there"
            self._tell("MEM-heap-stored", heap, slot, message, span, certain)

    def _tell(
        self, code: str, heap: ast.Var, slot: int, message: str, span: Span | None, certain: bool
    ) -> None:
        if (heap, slot) in self._told:
            return
        self._told.add((heap, slot))
        words = message if certain else f"perhaps {message}"
        severity = "error" if certain else "warning"
        self._found.append(reported(Diagnostic(code, severity, words, span, help=_HELP[code])))

    def state(self) -> HeapState:
        """The present state."""
        return HeapState(dict(self._surely), dict(self._perhaps), dict(self._numbers))

    def restore(self, state: HeapState) -> None:
        """Go back to what was known."""
        self._surely, self._perhaps = dict(state.surely), dict(state.perhaps)
        self._numbers = dict(state.numbers)

    def join(self, other: HeapState) -> None:
        """Two branches meet."""
        for heap in (*other.surely, *self._surely):
            empty: frozenset[int] = frozenset()
            mine, theirs = self._surely.get(heap, empty), other.surely.get(heap, empty)
            self._surely[heap] = mine & theirs
            self._perhaps[heap] = self._perhaps.get(heap, empty) | other.perhaps.get(heap, empty)
        self._numbers = {
            key: number for key, number in self._numbers.items() if other.numbers.get(key) is number
        }


_HELP = {
    "MEM-heap-made": 'write the result of "vm.builtin.alloc_shape_heap"',
    "MEM-heap-stored": "store the number first",
    "MEM-heap-place": "make the heap larger",
}


def _makes(call: ast.Call) -> bool:
    match call:
        case ast.Call(op=ast.ExternFunc(global_symbol=name)) if name in _HEAPS:
            return True
        case ast.Call(args=(ast.ExternFunc(global_symbol=name), *_)):
            return name in _HEAPS
    return False


def _index(indices: Sequence[tir.PrimExpr]) -> int | None:
    [index] = indices if len(indices) == 1 else (None,)
    return index.value if isinstance(index, tir.IntImm) else None


def _steps(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The codes behind a rank, each with its operand."""
    yield from zip(numbers[1::2], numbers[2::2], strict=False)


def _step(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    yield from _steps((1, *numbers[:2]))


Before = Sequence[ast.Expr]


def _matched(heaps: Heaps, args: Before, numbers: Sequence[int]) -> Iterator[SlotAccess]:
    (value,) = args
    for k, (code, slot) in enumerate(_steps(numbers)):
        if code == _STORE:
            yield SlotAccess(slot, True, heaps.values.axis(value, k))
        elif code == _LOAD:
            yield SlotAccess(slot, False)


def _matched_scalar(heaps: Heaps, args: Before, numbers: Sequence[int]) -> Iterator[SlotAccess]:
    (value,) = args
    for code, slot in _step(numbers):
        if code == _STORE:
            yield SlotAccess(slot, True, heaps.values.some_number(value))
        elif code == _LOAD:
            yield SlotAccess(slot, False)


def _shape(heaps: Heaps, args: Before, numbers: Sequence[int]) -> Iterator[SlotAccess]:
    return (SlotAccess(slot, False) for code, slot in _steps(numbers) if code == _FROM_HEAP)


def _scalar(heaps: Heaps, args: Before, numbers: Sequence[int]) -> Iterator[SlotAccess]:
    return (SlotAccess(slot, False) for code, slot in _step(numbers) if code == _FROM_HEAP)


def _kept(heaps: Heaps, args: Before, numbers: Sequence[int]) -> Iterator[SlotAccess]:
    (value,) = args
    for k, slot in enumerate(numbers):
        yield SlotAccess(slot, True, heaps.values.axis(value, k))


def _loaded(heaps: Heaps, args: Before, numbers: Sequence[int]) -> Iterator[SlotAccess]:
    return (SlotAccess(slot, False) for slot in numbers)


_ACCESSES: dict[str, Callable[[Heaps, Before, Sequence[int]], Iterator[SlotAccess]]] = {
    "vm.builtin.match_shape": _matched,
    "vm.builtin.match_prim_value": _matched_scalar,
    "vm.builtin.make_shape": _shape,
    "vm.builtin.make_prim_value": _scalar,
    "vm.builtin.store_shape": _kept,
    "vm.builtin.load_shape": _loaded,
}
_MAKING: dict[str, Callable[[Sequence[int]], Iterator[tuple[int, int]]]] = {
    "vm.builtin.make_shape": _steps,
    "vm.builtin.make_prim_value": _step,
    "vm.builtin.load_shape": lambda numbers: ((_FROM_HEAP, slot) for slot in numbers),
}
