"""A run of the rules that continues with the values of another run.

Each binding is computed from the other side's operands, so a difference at a binding is made
there, and not before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.visit import bindings_in, free_vars, result_of
from rlx.semantics.machine import Configuration, MachineProgram, environment
from rlx.semantics.machine.configuration import Frame, Instruction, Variable, bind
from rlx.semantics.machine.outcome_of_stop import ended
from rlx.semantics.machine.program import out_of_fuel
from rlx.semantics.outcome import Ended, Outcome
from rlx.semantics.values import NULL, Tensor, TupleValue, Value

FUEL = 5_000_000
"""The largest number of steps of a compared run."""

NOT_OURS = ("E-extern-registered", "E-extern-known")
"""Codes of a run that ends at a function that only the other side has."""


class BoundVariable:
    """A variable that has got its value.

    Attributes
    ----------
    var
        The variable.
    expr
        What computed the value.
    frame
        The activation in which the variable lives.
    computed
        Whether this side could compute the value; the caller gives it otherwise.
    """

    def __init__(
        self, at: Instruction[Any], frame: Frame, entered: Configuration, computed: bool
    ) -> None:
        assert at.var is not None
        self.var, self.expr, self.frame = at.var, at.expr, frame
        self.computed = computed
        self._at, self._entered = at, entered

    @property
    def index(self) -> int:
        """The place of the value in the frame."""
        return self._at.index

    @property
    def value(self) -> Value:
        """Its value."""
        found: Value = self.frame.slots[self.index]
        return found

    @value.setter
    def value(self, other: Value) -> None:
        self.frame.slots[self.index] = other

    @property
    def operands(self) -> list[Value]:
        """The values of the operands, in the order of the rule's block."""
        return [read(self.frame) for read in self._at.operands]

    @property
    def function(self) -> str:
        """The name of the function that the binding stands in."""
        frame: Frame | None = self.frame
        while frame is not None and frame.outer is not None:
            frame = frame.outer
        code = None if frame is None else frame.code.function
        return "" if code is None else code.name

    @property
    def around(self) -> Mapping[Variable, Any]:
        """The variables that are visible at the binding, with their values; shape variables have
        numbers.
        """
        return environment(self._entered)


def followed(
    program: MachineProgram,
    entry: str,
    args: Sequence[Value],
    *,
    forget: Callable[[ast.Var], bool] | None = None,
) -> Iterator[BoundVariable | Outcome]:
    """The bindings of a run in the order in which they get their values, and the outcome.

    The caller may give each binding another value, with which the run goes on. A binding whose
    value only the other side can compute is not `computed`, and has none until it is given one.
    `forget`: whether a variable loses its value, which may be large, when nothing reads it any
    more.
    """
    dead = None if forget is None else _DeadValues(program.module, forget)
    now = program.start(entry, args, keep=False)
    for _ in range(FUEL):
        if not isinstance(now, Configuration):
            yield now
            return
        after = program.step(now)
        made = _made(now, after)
        if isinstance(after, Ended) and after.code in NOT_OURS and now.at.var is not None:
            # the place of the value is there, for the caller to fill
            after = bind(now.at, now, None, applied=now.at.rule)
            made = BoundVariable(now.at, after.frame, now, computed=False)
        if made is not None:
            yield made
            if dead is not None:
                dead.behind(made)
        now = after
    yield ended(out_of_fuel(FUEL), now) if isinstance(now, Configuration) else now


class _DeadValues:
    """Takes the values away that nothing reads any more."""

    def __init__(self, module: ast.IRModule, forget: Callable[[ast.Var], bool]) -> None:
        self._forget = forget
        self._read_last = _read_last(module)
        self._alive: dict[tuple[Frame, ast.Var], BoundVariable] = {}
        self._end: dict[Frame, int] = {}

    def behind(self, bound: BoundVariable) -> None:
        """Take those that are read for the last time by a binding."""
        slots, index = bound.frame.slots, bound.index
        for at in range(self._end.get(bound.frame, index), index):
            if isinstance(slots[at], Tensor | TupleValue):  # of an operand without a name
                slots[at] = NULL
        self._end[bound.frame] = index + 1
        self._alive[bound.frame, bound.var] = bound
        for var in self._read_last.get(bound.var, ()):
            last = self._alive.pop((bound.frame, var), None)
            if last is not None and self._forget(var):  # it is no parameter
                last.value = NULL


def _read_last(module: ast.IRModule) -> dict[ast.Var, list[ast.Var]]:
    """By the bindings of functions, the variables that nothing behind them reads."""
    found: dict[ast.Var, list[ast.Var]] = {}
    for function in module.relax_functions.values():
        bound = [each for each in bindings_in(function.body) if each.var is not None]
        seen = set(free_vars(result_of(function.body)[0]))
        for each in reversed(bound):
            assert each.var is not None
            used = dict.fromkeys(free_vars(each.value))
            found[each.var] = [var for var in used if var not in seen]
            seen.update(used)
    return found


def _made(before: Configuration, after: Configuration | Outcome) -> BoundVariable | None:
    """The variable to which a step gave its value."""
    if not isinstance(after, Configuration):
        return None
    at: Instruction[Any] = before.at
    frame = before.frame
    while frame.depth > after.frame.depth:  # a body has ended
        at, caller = frame.resume, frame.caller
        assert caller is not None
        frame = caller
    if frame is not after.frame or at.var is None or len(frame.slots) <= at.index:
        return None
    entered = Configuration(at, frame, "", before.version)
    return BoundVariable(at, frame, entered, computed=True)


def always(_: ast.Var) -> bool:
    """Forget every value that nothing reads any more."""
    return True


def computes(expr: ast.Expr) -> bool:
    """Whether a binding to this value computes something, rather than naming it again, or making
    a tensor, whose elements nobody has written.
    """
    if isinstance(expr, ast.Call):
        function = expr.op
        name = function.global_symbol if isinstance(function, ast.ExternFunc) else expr.op_name
        return not name.endswith(".alloc_tensor")
    return isinstance(expr, ast.If)
