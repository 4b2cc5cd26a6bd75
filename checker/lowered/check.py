"""The walk over a lowered program in the order of evaluation: what is written, and by whom."""

from __future__ import annotations

from collections.abc import Iterator

from rlx.checker.lowered.effects import effects
from rlx.checker.lowered.heap import Heaps
from rlx.checker.lowered.memory import Memory
from rlx.checker.lowered.objects import Laid, MemoryPiece, size_of, type_given
from rlx.checker.lowered.operators import KILLS, STORAGE, TENSOR
from rlx.checker.overwritten import SAME_MEMORY
from rlx.grammar import ast, tir
from rlx.grammar.diagnostic import Diagnostic
from rlx.grammar.node import Span
from rlx.grammar.visit import bindings_in, result_of, walk

_KEEPING = frozenset({"relax.make_closure", "relax.invoke_closure", "relax.call_builtin_with_ctx"})
"""Operators that may keep what they are given."""


def lowered(module: ast.IRModule) -> list[Diagnostic]:
    """What is wrong with the memory of a lowered module in normal form."""
    found: list[Diagnostic] = []
    for function in module.functions.values():
        if isinstance(function, ast.Function):
            _Walk(module, found).function(function)
    return found


class _Walk:
    """One function."""

    def __init__(self, module: ast.IRModule, found: list[Diagnostic]) -> None:
        self.module = module
        self.held: dict[ast.Var, frozenset[MemoryPiece]] = {}
        self.memory = Memory(found)
        self.heaps = Heaps(module, found)

    def function(self, function: ast.Function) -> None:
        """A function from its entry to its return."""
        self._sequence(function.body)
        self.memory.end()

    def _sequence(self, body: ast.Expr) -> frozenset[MemoryPiece]:
        for binding in bindings_in(body):
            self._binding(binding)
        body, span = result_of(body)
        self._named(body, span)
        pieces = frozenset(self._pieces(body))
        self.memory.given_away(pieces)
        self.memory.use(pieces, span, reads=True, writes=False)
        return pieces

    def _binding(self, binding: ast.VarBinding | ast.MatchCast) -> None:
        value, span = binding.value, binding.value_span or binding.span
        if not _kills(value):
            self._named(value.cond if isinstance(value, ast.If) else value, span)
        match value:
            case ast.Call():
                held = self._call(value, binding.var, value.span or span)
            case ast.If():
                held = self._if(value)
            case ast.Function():
                held = frozenset(self._captured(value))
                self.memory.given_away(held)
            case _:
                held = frozenset(self._pieces(value))
                self.memory.use(held, span, reads=False, writes=False)
        if binding.var is not None:
            self.held[binding.var] = held

    def _named(self, expr: ast.Expr, span: Span | None) -> None:
        """The variables that an expression mentions are there."""
        for node in walk(expr):
            if isinstance(node, ast.Var):
                self.memory.named(node, span)

    def _captured(self, function: ast.Function) -> Iterator[MemoryPiece]:
        for node in walk(function):
            if isinstance(node, ast.Var):
                yield from self.held.get(node, ())

    def _if(self, node: ast.If) -> frozenset[MemoryPiece]:
        self.memory.use(
            frozenset(self._pieces(node.cond)), node.cond_span, reads=True, writes=False
        )
        before, heaps = self.memory.state(), self.heaps.state()
        then = self._sequence(node.true_branch)
        after, filled = self.memory.state(), self.heaps.state()
        self.memory.restore(before)
        self.heaps.restore(heaps)
        other = self._sequence(node.false_branch)
        self.memory.join(after)
        self.heaps.join(filled)
        return then | other

    def _pieces(self, expr: ast.Expr) -> Iterator[MemoryPiece]:
        """The memory that an expression mentions."""
        match expr:
            case ast.Var():
                yield from self.held.get(expr, ())
            case ast.Tuple(fields=fields):
                for field in fields:
                    yield from self._pieces(field)
            case ast.TupleGetItem(tuple_value=whole):
                yield from self._pieces(whole)

    def _call(
        self, call: ast.Call, var: ast.Var | None, span: Span | None
    ) -> frozenset[MemoryPiece]:
        name = call.op.op_name if isinstance(call.op, ast.Op) else ""
        called = var.name_hint if var is not None else "a tensor"
        args = call.args
        if name in STORAGE and len(args) >= 4:
            kind = type_given(args[STORAGE[name]])
            return self.memory.made(MemoryPiece(called, span, size_of(args[0], kind)))
        if name in TENSOR and len(args) >= 4:
            return self._laid(call, called, span)
        if name == "relax.builtin.alloc_tensor" and len(args) >= 2:
            size = size_of(args[0], type_given(args[1]))
            return self.memory.made(Laid(called, span, size, None, None), blank=True)
        if name in KILLS and args:
            pieces = frozenset(self._pieces(args[0]))
            self.memory.end_of(pieces)
            if isinstance(args[0], ast.Var):
                self.memory.kill(args[0], span)
            return frozenset()
        if self.heaps.call(call, var, span):
            return frozenset()
        touched: set[MemoryPiece] = set()
        for value, reads, writes in effects(call, self.module):
            pieces = frozenset(self._pieces(value))
            touched |= pieces
            self.memory.use(pieces, span, reads, writes)
        if isinstance(call.op, ast.Op) and name not in _KEEPING:
            return frozenset(touched) if name in SAME_MEMORY else frozenset()
        callee = self.module.functions.get(call.op) if isinstance(call.op, ast.GlobalVar) else None
        if isinstance(callee, tir.PrimFunc):
            return frozenset()
        self.memory.given_away(touched)  # it may keep what it is given, and give it back
        return frozenset(touched)

    def _laid(self, call: ast.Call, name: str, span: Span | None) -> frozenset[MemoryPiece]:
        storage, offset, shape, kind = call.args[:4]
        pieces = frozenset(self._pieces(storage))
        self.memory.use(pieces, span, reads=False, writes=False)
        (home,) = pieces if len(pieces) == 1 else (None,)
        at = offset.value if isinstance(offset, ast.PrimValue) else None
        made = Laid(name, span, size_of(shape, type_given(kind)), home, at)
        self.memory.fits(made)
        return self.memory.made(made, blank=True)


def _kills(value: ast.Expr) -> bool:
    return (
        isinstance(value, ast.Call) and isinstance(value.op, ast.Op) and value.op.op_name in KILLS
    )
