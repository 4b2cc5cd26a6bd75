"""The walk over a lowered program in the order of evaluation, which tracks every write."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rlx.checker.lowered.effects import CallEffects, Effect
from rlx.checker.lowered.heap import Heaps
from rlx.checker.lowered.memory import Memory, Use
from rlx.checker.lowered.objects import BYTES, ELSEWHERE, KILLS, STORAGE, TENSOR, Laid, MemoryPiece
from rlx.checker.lowered.run_time_checks import RunTimeChecks
from rlx.checker.lowered.slot_values import PIECE, KnownValues
from rlx.checker.memory import either
from rlx.grammar.diagnostic import Diagnostic
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.node import Node, Span
from rlx.grammar.nodes.visit import bindings_in, expressions, result_of

Held = frozenset[MemoryPiece] | tuple["Held", ...]
"""The memory of a value: the pieces that it may lie in, or the memory of each field of a tuple."""


def lowered(
    module: ast.IRModule, infos: Mapping[Node, ast.StructInfo] | None = None
) -> list[Diagnostic]:
    """The mistakes in the use of memory of a lowered module in normal form; ``infos`` are its
    derived types.
    """
    found: list[Diagnostic] = []
    effects = CallEffects(module)
    for function in module.relax_functions.values():
        _Walk(module, effects, infos or {}, found).function(function)
    return found


class _Walk:
    """One function."""

    def __init__(
        self,
        module: ast.IRModule,
        effects: CallEffects,
        infos: Mapping[Node, ast.StructInfo],
        found: list[Diagnostic],
    ) -> None:
        self.held: dict[ast.Var, Held] = {}
        self.values = KnownValues(infos)
        self.effects = effects
        self.memory = Memory(found)
        self.checks = RunTimeChecks(module, self.values, found)
        self.heaps = Heaps(module, self.values, self.checks, found)

    def function(self, function: ast.Function) -> None:
        """A function from its entry to its return."""
        returned = self._sequence(function.body)
        self.memory.given_away(_pieces(returned))
        self._read(returned, result_of(function.body)[1])
        self.memory.end()

    def _sequence(self, body: ast.Expr) -> Held:
        for binding in bindings_in(body):
            self._binding(binding)
        body, span = result_of(body)
        self._named(body, span)
        return self._memory(body)

    def _read(self, held: Held, span: Span | None) -> None:
        """A value is read, each field of a tuple by itself."""
        for pieces in _fields(held):
            self.memory.use(pieces, span)

    def _binding(self, binding: ast.VarBinding | ast.MatchCast) -> None:
        value, span = binding.value, binding.value_span or binding.span
        if not _kills(value):
            self._named(value.cond if isinstance(value, ast.If) else value, span)
        held: Held
        match value:
            case ast.Call():
                held = self._call(value, binding.var, value.span or span)
            case ast.If():
                held = self._if(value)
            case ast.Function():
                held = frozenset(self._captured(value))
                self.memory.given_away(held)
            case _:
                held = self._memory(value)
                if binding.var is not None and isinstance(binding, ast.VarBinding):
                    self.values.bind(binding.var, value)
        if binding.var is not None:
            self.held[binding.var] = held

    def _named(self, expr: ast.Expr, span: Span | None) -> None:
        """The variables that an expression mentions are there."""
        for node in expressions(expr):
            if isinstance(node, ast.Var):
                self.memory.named(node, span)

    def _captured(self, function: ast.Function) -> Iterator[MemoryPiece]:
        for node in expressions(function):
            if isinstance(node, ast.Var):
                yield from _pieces(self.held.get(node, frozenset()))

    def _if(self, node: ast.If) -> Held:
        self._read(self._memory(node.cond), node.cond_span)
        before, heaps, checked = self.memory.state(), self.heaps.state(), self.values.state()
        then = self._sequence(node.true_branch)
        after, filled = self.memory.state(), self.heaps.state()
        self.memory.restore(before)
        self.heaps.restore(heaps)
        self.values.restore(checked)
        other = self._sequence(node.false_branch)
        self.values.restore(checked)
        self.memory.join(after)
        self.heaps.join(filled)
        held: Held = either(then, other)
        return held

    def _memory(self, expr: ast.Expr) -> Held:
        match expr:
            case ast.Var():
                return self.held.get(expr, frozenset())
            case ast.Tuple(fields=fields):
                return tuple(map(self._memory, fields))
            case ast.TupleGetItem(tuple_value=whole, index=index):
                held = self._memory(whole)
                if not isinstance(held, tuple):
                    return held
                return held[index] if index in range(len(held)) else frozenset()
        return frozenset()

    def _call(self, call: ast.Call, var: ast.Var | None, span: Span | None) -> Held:
        name = call.op.op_name if isinstance(call.op, ast.Op) else ""
        called = var.name_hint if var is not None else "a tensor"
        args, values = call.args, self.values
        if name in STORAGE and len(args) > 2:
            position = STORAGE[name]
            each = BYTES if position is None else values.data_type(args[position])
            size = values.size(args[0], each)
            if var is not None:
                values.hold(var)
            return self.memory.made(MemoryPiece(called, span, size))
        match name, args:
            case _, (_, _, shape, _, *_) if name in TENSOR:
                if var is not None:
                    values.lay(var, shape)
                return self._laid(call, called, span)
            case "relax.builtin.alloc_tensor", (shape, kind, *_):
                size = values.size(shape, values.data_type(kind))
                return self.memory.made(Laid(called, span, size, None, None), blank=True)
            case _, (killed, *_) if name in KILLS:
                self.memory.end_of(_pieces(self._memory(killed)))
                if isinstance(killed, ast.Var):
                    self.memory.kill(killed, span)
                return frozenset()
        self.checks.call(call, span)
        if self.heaps.call(call, var, span):
            return frozenset()
        return self._used(self.effects.of(call), span)

    def _used(self, effect: Effect, span: Span | None) -> Held:
        """A call uses the memory of its arguments."""
        uses = [
            Use(pieces, access.reads, access.writes)
            for value, access in effect.touches
            for pieces in _fields(self._memory(value))
            if pieces
        ]
        self.memory.call(uses, span, effect.noalias)
        if effect.keeps:
            for use in uses:
                self.memory.given_away(use.pieces)
        result = frozenset(
            piece for value in effect.result for piece in _pieces(self._memory(value))
        )
        return result | {ELSEWHERE} if result else result

    def _laid(self, call: ast.Call, name: str, span: Span | None) -> Held:
        storage, offset, shape, kind, *_ = call.args
        pieces = frozenset(_pieces(self._memory(storage)))
        (home,) = pieces if len(pieces) == 1 else (None,)
        size = self.values.size(shape, self.values.data_type(kind))
        made = Laid(name, span, size, home, self.values.number(offset))
        held = self.values.kind(storage)
        self.memory.fits(made, None if held == PIECE else held)
        return self.memory.made(made, blank=True)


def _pieces(held: Held) -> Iterator[MemoryPiece]:
    """The pieces that a value may lie in."""
    for pieces in _fields(held):
        yield from pieces


def _fields(held: Held) -> Iterator[frozenset[MemoryPiece]]:
    """The memory of each field of a value, of tuples in tuples, too."""
    if isinstance(held, tuple):
        for field in held:
            yield from _fields(field)
    else:
        yield held


def _kills(value: ast.Expr) -> bool:
    return (
        isinstance(value, ast.Call) and isinstance(value.op, ast.Op) and value.op.op_name in KILLS
    )
