"""Values that a call overwrites although they are used afterwards.

Calls in place count as pure because what they overwrote is not used again. A pure function that
overwrites what it is given or captured must not be called with what is used again.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from itertools import permutations
from typing import NamedTuple

from rlx.checker.derive.calls import forced
from rlx.checker.memory import (
    Cell,
    FunctionSummary,
    Held,
    MemoryWalk,
    Summaries,
    around,
    bounded,
    cells,
    disjoint,
    is_noalias,
    overwritable,
)
from rlx.grammar.diagnostic import Diagnostic, Label
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.node import Span
from rlx.grammar.nodes.visit import argument_places
from rlx.spec.registry import reported, rule


@rule("USE-overwritten", "overwriting")
def overwritten(module: ast.IRModule) -> list[Diagnostic]:
    """The diagnostics on values of a module in normal form that are used after a call overwrote
    them.
    """
    found: list[Diagnostic] = []
    summaries = Summaries(module)
    for function in module.relax_functions.values():
        _Overwriting(summaries, found).summary(function)
    return found


class _Write(NamedTuple):
    """A write to memory: the call, its argument or -1, and the only cell that it surely wrote."""

    call: ast.Call
    at: int
    only: Cell | None


class _Overwriting(MemoryWalk):
    """A walk that looks at uses.

    Attributes
    ----------
    gone
        The cells that were overwritten.
    partly
        The cells of which a field was.
    """

    def __init__(self, summaries: Summaries, found: list[Diagnostic]) -> None:
        super().__init__(summaries)
        self.found = found
        self.gone: dict[Cell, _Write] = {}
        self.partly: dict[Cell, _Write] = {}
        self.told: set[tuple[ast.Call, int]] = set()

    def summary(self, function: ast.Function, name: ast.Var | None = None) -> FunctionSummary:
        """A function; what it overwrites is not overwritten where it is defined."""
        outside = dict(self.gone), dict(self.partly)
        found = super().summary(function, name)
        self.gone, self.partly = outside
        return found

    def ways(self, node: ast.If) -> tuple[Held, Held]:
        """A value that one branch overwrites is not overwritten in the other, and may be its
        result.
        """
        gone, partly = dict(self.gone), dict(self.partly)
        then = bounded(self.sequence(node.true_branch))
        after, self.gone, self.partly = (self.gone, self.partly), gone, partly
        other = bounded(self.sequence(node.false_branch))
        then = self._kept(node.true_branch, then, self.gone.keys() - after[0].keys())
        other = self._kept(node.false_branch, other, after[0].keys() - self.gone.keys())
        self.gone, self.partly = {**after[0], **self.gone}, {**after[1], **self.partly}
        return then, other

    def _kept(self, name: Cell, held: Held, elsewhere: AbstractSet[Cell]) -> Held:
        """The memory of a branch's result, under a new name where only the other branch overwrites
        it.
        """
        if isinstance(held, tuple):
            return tuple(self._kept((name, k), h, elsewhere) for k, h in enumerate(held))
        kept = frozenset(c for c in held if not elsewhere.isdisjoint(around(c)))
        if not kept:
            return held
        self.rename(name, kept)
        return (held - kept) | {name}

    def call(self, call: ast.Call) -> Held:
        held = super().call(call)
        callee = (
            self.summaries.module.functions.get(call.op)
            if isinstance(call.op, ast.GlobalVar)
            else None
        )
        if isinstance(callee, tir.PrimFunc) and is_noalias(callee):
            self._apart(call, callee)
        return held

    @rule("USE-aliased", "overwriting")
    def _apart(self, call: ast.Call, callee: tir.PrimFunc) -> None:
        """The memory that a PrimFunc with noalias stores to is in no other argument."""
        from rlx.operators.prim_call import stored

        written = stored(callee)
        buffers = {k: callee.buffer_map.get(param) for k, param in enumerate(callee.params)}
        for (k, arg), (at, other) in permutations(enumerate(call.args), 2):
            buffer, beside = buffers.get(k), buffers.get(at)
            if buffer not in written or beside is None or not self.may_alias(arg, other):
                continue
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

    # ------------------------------------------------------------ overwriting

    def overwrote(self, call: ast.Call, at: int, written: Held, certain: bool) -> None:
        """Note what is gone, unless the callee says that it has effects."""
        callee = self._callee(call)
        if callee is not None and (callee.is_pure is False or forced(callee.attrs)):
            return
        found = frozenset(cells(written))
        args = call.args if callee is not None else overwritable(call)
        for k, other in enumerate(args):
            if k != at and not disjoint(written, self.memory(other)):
                how = f"argument {k} of the same call shares its memory"
                self._tell(_Write(call, at, None), call.span, how)
        only = next(iter(found)) if certain and len(found) == 1 else None
        write = _Write(call, at, only)
        for cell in found:
            whole, *outer = around(cell)
            self.gone.setdefault(whole, write)
            for each in outer:
                self.partly.setdefault(each, write)

    def _callee(self, call: ast.Call) -> ast.Function | None:
        """The function that a call enters; None for operators and what is not known."""
        if isinstance(call.op, ast.Var):
            return self.functions[call.op][1] if call.op in self.functions else None
        found = self.summaries.module.functions.get(call.op)  # type: ignore[call-overload]
        return found if isinstance(found, ast.Function) else None

    def used(self, expr: ast.Expr, span: Span | None) -> None:
        """An expression is used, with what is in its fields."""
        if not self.gone:
            return
        found = frozenset(cells(self.memory(expr)))
        for cell in found:
            write = next((self.gone[c] for c in around(cell) if c in self.gone), None)
            write = write or self.partly.get(cell)
            if write is not None:
                self._tell(write, span, "it is used again", found == {write.only})

    def _tell(self, write: _Write, span: Span | None, how: str, certain: bool = False) -> None:
        """A value that a call overwrites is not used again."""
        call, at, _ = write
        if (call, at) in self.told:
            return
        self.told.add((call, at))
        callee = self._callee(call)
        notes: tuple[str, ...] = ()
        related = (Label(call.span, "it is overwritten here"),) if call.span else ()
        if callee is None:
            assert isinstance(call.op, ast.Op)
            name = call.op.op_name.removeprefix("relax.")
            message = f"{name} overwrites its argument {at}, and {how}"
            notes = ("the call counts as pure only if nothing observes the overwritten value",)
            code, severity, help = "USE-overwritten-after", "warning", None
        else:
            assert isinstance(call.op, ast.GlobalVar | ast.Var)
            name = call.op.name_hint
            what = f"its argument {at}" if at >= 0 else "a tensor that it captured"
            message = f"{name!r} is pure, but overwrites {what}, and {how}"
            code, severity = "USE-overwritten-callee", "error" if certain else "warning"
            help = f"declare {name!r} impure, or write the result into a new tensor: R.call_tir"
        found = Diagnostic(
            code, severity, message, span or call.span, "", related, notes, help=help
        )
        self.found.append(reported(found))
