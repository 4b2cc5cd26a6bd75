"""Values that a call overwrites in place, and that are used afterwards.

Such calls count as pure because what they overwrote is not used again. Memory is followed through
variables, tuples, branches and the operators that hand on an operand; what a function returns is
taken for new.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations
from typing import Any

from rlx.grammar.diagnostic import Diagnostic, Label
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.node import Span
from rlx.grammar.nodes.visit import argument_places, bindings_in, result_of
from rlx.spec.registry import reported, rule

IN_PLACE = frozenset(["relax.call_tir_inplace", "relax.call_inplace_packed"])
"""The operators that overwrite arguments and count as pure."""

SAME_MEMORY = frozenset(
    [
        *("relax.builtin.stop_lift_params", "relax.grad.no_grad", "relax.grad.start_checkpoint"),
        *("relax.grad.end_checkpoint", "relax.memory.view", "relax.memory.ensure_zero_offset"),
        "relax.hint_on_device",
    ]
)
"""The operators whose result may lie in the memory of their first operand."""

Cell = object
"""A piece of memory: a variable or call that it came from, or a pair of a cell and the number of a
field in it.
"""

Held = Any
"""The memory of a value: a frozenset of cells that it may lie in, or a tuple with the memory of
each field.
"""


@rule("USE-overwritten", "overwriting")
def overwritten(module: ast.IRModule) -> list[Diagnostic]:
    """A warning for each value of a module in normal form that is used after a call overwrote
    it.
    """
    found: list[Diagnostic] = []
    for function in module.functions.values():
        if isinstance(function, ast.Function):
            _Overwriting(module, found).function(function)
    return found


class _Overwriting:
    """A walk over a function in the order of evaluation."""

    def __init__(self, module: ast.IRModule, found: list[Diagnostic]) -> None:
        self.module = module
        self.found = found
        self.held: dict[ast.Expr, Held] = {}
        self.gone: dict[Cell, tuple[ast.Call, int]] = {}
        self.told: set[tuple[ast.Call, int]] = set()

    def function(self, function: ast.Function) -> None:
        """A function; what it overwrites is not overwritten where it is defined."""
        outside = dict(self.gone)
        self._sequence(function.body)
        self.gone = outside

    def _sequence(self, body: ast.Expr) -> Held:
        for binding in bindings_in(body):
            self._binding(binding)
        body, span = result_of(body)
        self._use(body, span)
        return self._memory(body)

    def _binding(self, binding: ast.VarBinding | ast.MatchCast) -> None:
        value = binding.value
        match value:
            case ast.Call():
                held = self._call(value)
            case ast.If():
                held = self._if(value)
            case ast.Function():
                self.function(value)
                held = frozenset()
            case _:
                held = self._memory(value)
        if binding.var is not None:
            self.held[binding.var] = held

    def _if(self, node: ast.If) -> Held:
        self._use(node.cond, node.cond_span)
        before = dict(self.gone)
        then = self._sequence(node.true_branch)
        after, self.gone = self.gone, before
        other = self._sequence(node.false_branch)
        self.gone = {**after, **self.gone}
        return either(then, other)

    def _call(self, call: ast.Call) -> Held:
        for arg, span in zip(call.args, argument_places(call), strict=True):
            self._use(arg, span)
        callee = self.module.functions.get(call.op) if isinstance(call.op, ast.GlobalVar) else None
        if isinstance(callee, tir.PrimFunc) and is_noalias(callee):
            self._apart(call, callee)
        name = call.op.op_name if isinstance(call.op, ast.Op) else ""
        if name in IN_PLACE:
            return self._in_place(call, name)
        match call.args:
            case (first, *_) if name in SAME_MEMORY:
                return frozenset(_cells(self._memory(first))) | {call}
        return frozenset([call])

    @rule("USE-aliased", "overwriting")
    def _apart(self, call: ast.Call, callee: tir.PrimFunc) -> None:
        """What a PrimFunc with noalias stores to is in no other argument."""
        from rlx.operators.prim_call import stored

        written = stored(callee)
        buffers = {k: callee.buffer_map.get(param) for k, param in enumerate(callee.params)}
        for (k, arg), (at, other) in permutations(enumerate(call.args), 2):
            buffer, beside = buffers.get(k), buffers.get(at)
            if buffer not in written or beside is None:
                continue
            cells = frozenset(_cells(self._memory(arg)))
            if not cells.isdisjoint(_cells(self._memory(other))):
                assert isinstance(call.op, ast.GlobalVar) and buffer is not None
                message = (
                    f"{call.op.name_hint!r} is declared noalias and stores to {buffer.name!r},"
                    f" but in this call {buffer.name!r} shares memory with {beside.name!r}"
                )
                where = argument_places(call)[k]
                help = "pass a tensor with its own memory, or remove noalias"
                found = Diagnostic("USE-aliased-apart", "warning", message, where, help=help)
                self.found.append(reported(found))
                return

    def _in_place(self, call: ast.Call, name: str) -> Held:
        args: Sequence[ast.Expr] = ()
        match name, call.args:
            case "relax.call_tir_inplace", (_, ast.Tuple(fields=args), *_):
                pass
            case "relax.call_inplace_packed", (_, *args):
                pass
        results: list[Held] = []
        for number, k in enumerate(_indices(call)):
            results.append(frozenset([(call, number)]))
            if k not in range(len(args)):
                continue
            cells = frozenset(_cells(self._memory(args[k])))
            for at, other in enumerate(args):
                if at != k and not cells.isdisjoint(_cells(self._memory(other))):
                    self._tell(
                        call, k, call.span, f"argument {at} of the same call shares its memory"
                    )
            for cell in cells:
                while True:  # the tuple that a field is in is gone in part
                    self.gone.setdefault(cell, (call, k))
                    if not isinstance(cell, tuple):
                        break
                    cell, _ = cell
        match results:
            case [only]:
                return only
        return tuple(results)

    def _use(self, expr: ast.Expr, span: Span | None) -> None:
        """An expression is used, with what is in its fields."""
        for cell in _cells(self._memory(expr)):
            if cell in self.gone:
                call, k = self.gone[cell]
                self._tell(call, k, span, "it is used again")

    def _tell(self, call: ast.Call, k: int, span: Span | None, how: str) -> None:
        """What a call overwrites in place is not used again."""
        if (call, k) in self.told:
            return
        self.told.add((call, k))
        assert isinstance(call.op, ast.Op)
        name = call.op.op_name.removeprefix("relax.")
        message = f"{name} overwrites its argument {k}, and {how}"
        related = (Label(call.span, "it is overwritten here"),) if call.span else ()
        notes = ("the call counts as pure only if nothing observes the overwritten value",)
        where = span or call.span
        code = "USE-overwritten-after"
        found = Diagnostic(code, "warning", message, where, "", related, notes)
        self.found.append(reported(found))

    def _memory(self, expr: ast.Expr) -> Held:
        match expr:
            case ast.Var():
                if expr not in self.held:
                    self.held[expr] = frozenset([expr])
                return self.held[expr]
            case ast.Tuple(fields=fields):
                return tuple(map(self._memory, fields))
            case ast.TupleGetItem(tuple_value=inner, index=index):
                held = self._memory(inner)
                if isinstance(held, tuple):
                    return held[index] if index in range(len(held)) else frozenset()
                return frozenset((cell, index) for cell in _cells(held))
        return frozenset()


def _cells(held: Held) -> Iterator[Cell]:
    if isinstance(held, tuple):
        for field in held:
            yield from _cells(field)
    else:
        assert isinstance(held, frozenset)
        yield from held


def is_noalias(function: tir.PrimFunc) -> bool:
    """Whether a PrimFunc declares that what it stores to is in no other argument."""
    return any(function.attrs.get(word) for word in ("tirx.noalias", "tir.noalias"))


def either(a: Held, b: Held) -> Held:
    if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
        return tuple(either(x, y) for x, y in zip(a, b, strict=True))
    return frozenset((*_cells(a), *_cells(b)))


def _indices(call: ast.Call) -> Sequence[int]:
    """The arguments that the results overwrite, as far as they are numbers."""
    given = call.attrs.get("inplace_indices", ())
    items = given if isinstance(given, tuple | list) else (given,)
    numbers = [getattr(item, "value", item) for item in items]
    return [number if isinstance(number, int) else -1 for number in numbers]
