"""Configurations: where a run stands, and how a value moves it on.

Nothing in a configuration changes. The values of a scope are kept in a list to which steps only
append: every variable is bound once, so the place of a value is known before the program runs, and
a configuration sees the places below its own :attr:`Instruction.index` alone. A step from an old
configuration, whose place another future has filled, copies the list first (:func:`place`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from rlx.grammar import ast, tir
from rlx.grammar.node import Span
from rlx.semantics.faults import FaultStop
from rlx.semantics.machine.message_text import show
from rlx.semantics.outcome import Outcome
from rlx.semantics.store import Version
from rlx.semantics.values import Scalar, Value
from rlx.spec.registry import rule, rule_of

Compare = Callable[["Frame", Sequence[Value]], list[int]]
"""A check of values against annotations (E-cast), in a frame: the numbers of the shape variables
that it binds.
"""


class Frame:
    """An activation of a scope: a function's, or that of a branch.

    Attributes
    ----------
    code
        What runs in it.
    slots
        The values of the scope's variables, in order of binding, those of shape variables as
        numbers.
    outer
        The scope around a branch; None of a function.
    caller
        The frame that goes on when this one ends; None for the entry.
    resume
        The instruction of the caller that receives the value.
    depth
        How many frames are below this one.
    """

    __slots__ = ("caller", "code", "depth", "outer", "resume", "slots")

    def __init__(
        self,
        code: Code,
        slots: list[Any],
        outer: Frame | None,
        caller: Frame | None,
        resume: Instruction[Any] | None,
    ) -> None:
        self.code, self.slots, self.outer = code, slots, outer
        self.caller, self.resume = caller, resume
        self.depth: int = caller.depth + 1 if caller is not None else 0


class Configuration(NamedTuple):
    """A state of the machine.

    Attributes
    ----------
    at
        The instruction to be carried out next; its ``expr`` and ``span`` are the active redex.
    frame
        The stack of frames, innermost first by way of ``caller``.
    rule
        The rule that the last step applied; empty at the start.
    version
        The state of the store.
    """

    at: Instruction[Any]
    frame: Frame
    rule: str
    version: Version


P = TypeVar("P")
"""What a rule needs besides the values of its operands: part of its signature, as ``at:
Instruction[int]``.
"""

Apply = Callable[["Instruction[P]", Configuration], "Configuration | Outcome"]
"""A rule, for the instructions that have what it needs; its id is the one that it is registered
under.
"""


class Instruction(Generic[P]):
    """One redex, as prepared for the machine.

    Attributes
    ----------
    apply
        The rule, or the choice between the rules, for it.
    rule
        The id of the rule, of several the most likely: that of ``apply``.
    operands
        Where the operands are, in the order of the rule's block.
    index
        The place of the scope that receives the value.
    serial
        The number of the instruction in its scope.
    var
        The variable that the value is bound to; None where the value is an operand of what follows.
    number
        Whether the variable is a shape variable, too, so that its number takes the place after it.
    receive
        The check of a call's value against what the call declares; None where it declares nothing.
    payload
        What the rule needs besides, as its signature says: a literal, prepared expressions,
        branches.
    scope
        The scope that the instruction stands in.
    """

    __slots__ = (
        "apply",
        "expr",
        "index",
        "next",
        "number",
        "operands",
        "payload",
        "receive",
        "rule",
        "scope",
        "serial",
        "span",
        "var",
    )

    def __init__(
        self,
        apply: Apply[P],
        expr: ast.Expr,
        span: Span | None,
        operands: tuple[Reader, ...],
        payload: P,
        var: ast.Var | None = None,
    ) -> None:
        self.rule, self.apply, self.expr, self.span = rule_of(apply), apply, expr, span
        self.operands, self.payload, self.var = operands, payload, var
        self.index = self.serial = 0
        self.next: Instruction[Any]
        self.scope: Any = None
        self.receive: Compare | None = None
        self.number = False

    def __repr__(self) -> str:
        return f"Instruction({self.rule}, {self.var.name_hint if self.var else self.index})"


class Code:
    """A SeqExpr that has a frame of its own when it runs.

    It is prepared when it is first entered, so that what never runs costs nothing, and depth of
    nesting is no depth of recursion.
    """

    __slots__ = ("_entry", "body", "function", "prepare", "scope", "span")

    def __init__(self, body: ast.Expr, scope: ScopeSlots, prepare: Any, span: Span | None) -> None:
        self.body, self.scope, self.span = body, scope, span
        self.prepare = prepare
        self.function: FunctionCode | None = None
        self._entry: Instruction[Any] | None = None

    @property
    def entry(self) -> Instruction[Any]:
        """The first instruction."""
        if self._entry is None:
            self._entry = self.prepare(self)
        return self._entry


class FunctionCode(Code):
    """A function's body, with what a call and a return need.

    Attributes
    ----------
    node
        The function.
    name
        What it is called in reports.
    info
        What is known of it when it runs: struct info of parameters and result, purity.
    captured, captures
        The variables that it captures, and where they are, seen from where it stands.
    enter, leave
        The checks of arguments and of the result; ``leave`` is None where no result is annotated.
    """

    __slots__ = ("captured", "captures", "enter", "info", "leave", "name", "node")

    node: ast.Function
    name: str
    info: ast.FuncStructInfo
    captured: tuple[Variable, ...]
    captures: tuple[Reader, ...]
    enter: Compare
    leave: Compare | None


def place(frame: Frame, index: int) -> Frame:
    """A frame whose next free place is ``index``: the same one, or a copy if another future filled
    the place.
    """
    if len(frame.slots) == index:
        return frame
    return Frame(frame.code, frame.slots[:index], frame.outer, frame.caller, frame.resume)


@rule("E-received", "9fdacce4", "step")
def received(at: Instruction[Any], frame: Frame, value: Value) -> None:
    """Check the value of a call against what the call declares."""
    if at.receive is not None:
        at.receive(frame, (value,))


def number_of(value: Value) -> int:
    """The number of a shape variable that a variable is."""
    if isinstance(value, Scalar) and isinstance(value.value, int):
        return value.value
    # D17 refuses what is no scalar for certain; a packed function may break its word.
    raise FaultStop(
        "E-binding-scalar", f"expected an integer as a dimension, found {show(value)}", value=value
    )


@rule("E-binding", "d2d9a9ef", "step")
def bind(
    at: Instruction[Any],
    c: Configuration,
    value: Any,
    version: Version | None = None,
    applied: str | None = None,
) -> Configuration:
    """Put the value of an instruction into its place, and go on behind it.

    ``applied`` is the rule that gave the value, where that is not the instruction's own.
    """
    # WF03: no variable is bound twice, so the place is free.
    frame = c.frame
    if len(frame.slots) != at.index:
        frame = place(frame, at.index)
    frame.slots.append(value)
    if at.number:
        frame.slots.append(number_of(value))
    return Configuration(at.next, frame, applied or at.rule, version or c.version)


Variable = ast.Var | tir.Var

Reader = Callable[[Any], Any]
"""Looks up a value (of a shape variable: a number) from a frame."""


class Branching(Protocol):
    """The instruction at which a branch begins."""

    serial: int


class VariableSlot:
    """Where the value of a variable is, and for which instructions.

    ``born`` and ``died`` are serial numbers of instructions; ``died`` is None to the end of the
    scope.
    """

    __slots__ = ("born", "died", "index", "span")

    def __init__(self, index: int, born: int, span: Span | None) -> None:
        self.index, self.born, self.span = index, born, span
        self.died: int | None = None

    def seen_at(self, serial: int) -> bool:
        """Whether an instruction may read it."""
        return self.born <= serial and (self.died is None or serial < self.died)


class ScopeSlots:
    """A scope: of a function, or of a branch (``outer`` is then the scope around it, ``at`` the
    branching).
    """

    __slots__ = ("at", "outer", "places", "serial", "size", "spans")

    def __init__(self, outer: ScopeSlots | None = None, at: Branching | None = None) -> None:
        self.outer, self.at = outer, at
        self.places: dict[Variable, VariableSlot] = {}
        self.size = self.serial = 0
        self.spans: list[Span | None] = []

    def add(self, var: Variable | None, span: Span | None) -> int:
        """The next place, for a variable or for an operand without a name."""
        index = self.size
        self.size += 1
        self.spans.append(span)
        if var is not None:
            self.places[var] = VariableSlot(index, self.serial, span)
        return index

    def end(self, var: Variable) -> None:
        """The variable is not seen by what follows."""
        place = self.places.get(var)
        if place is not None:
            place.died = self.serial

    def find(self, var: Variable, serial: int | None = None) -> tuple[int, VariableSlot] | None:
        """How many scopes out a variable is, and its place there; None if it is not seen."""
        scope: ScopeSlots | None = self
        at = self.serial if serial is None else serial
        hops = 0
        while scope is not None:
            place = scope.places.get(var)
            if place is not None:
                return (hops, place) if place.seen_at(at) else None
            if scope.at is None:
                return None
            at, scope, hops = scope.at.serial, scope.outer, hops + 1
        return None

    def reader(self, var: Variable) -> Reader | None:
        """Reads the variable's value from a frame of this scope; None if it is not seen."""
        found = self.find(var)
        if found is None:
            return None
        hops, place = found
        return slot_reader(hops, place.index)

    def seen(self, serial: int) -> Iterator[tuple[Variable, int, int]]:
        """What an instruction sees: variables with their scope's distance and their place."""
        scope: ScopeSlots | None = self
        hops = 0
        while scope is not None:
            for var, place in scope.places.items():
                if place.seen_at(serial):
                    yield var, hops, place.index
            if scope.at is None:
                return
            serial, scope, hops = scope.at.serial, scope.outer, hops + 1


def slot_reader(hops: int, index: int) -> Reader:
    """Reads a place of the frame that many scopes out."""
    if hops == 0:
        return lambda frame: frame.slots[index]
    if hops == 1:
        return lambda frame: frame.outer.slots[index]

    def read(frame: Any) -> Any:
        for _ in range(hops):
            frame = frame.outer
        return frame.slots[index]

    return read
