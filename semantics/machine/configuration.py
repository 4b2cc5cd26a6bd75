"""Configurations, and the transitions between them.

Configurations are immutable. The values of a scope are in a list that steps only append to: every
variable is bound once, so the slot of a value is known before the program runs, and a configuration
uses only the slots below its own :attr:`Instruction.index`. A step from an old configuration, whose
next slot another run has filled, copies the list first (:func:`place`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.node import Span
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
    """An activation of a function or of a branch.

    Attributes
    ----------
    code
        The code that runs in it.
    slots
        The values of the scope's variables, in order of binding, with shape variables as numbers.
    outer
        The scope around a branch; None for a function.
    caller
        The frame that continues when this one ends; None for the entry.
    resume
        The instruction of the caller that receives the value.
    depth
        The number of frames below this one.
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
        self.caller = caller
        self.resume: Any = resume  # there is one where there is a caller
        self.depth: int = caller.depth + 1 if caller is not None else 0


class Configuration(NamedTuple):
    """A state of the machine.

    Attributes
    ----------
    at
        The next instruction; its ``expr`` and ``span`` are the active redex.
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
"""The data that a rule needs in addition to its operands; it is part of the signature, such as
``at: Instruction[int]``.
"""

Apply = Callable[["Instruction[P]", Configuration], "Configuration | Outcome"]
"""A rule for instructions with this data; its id is the one that it is registered under."""


class Instruction(Generic[P]):
    """One redex, prepared for the machine.

    Attributes
    ----------
    apply
        The rule, or the function that selects the rule.
    rule
        The id of the rule, or of the most likely one: that of ``apply``.
    operands
        The readers of the operands, in the order of the rule's block.
    index
        The slot of the scope that receives the value.
    serial
        The number of the instruction in its scope.
    var
        The variable that the value is bound to; None if the value is an operand of a later
        instruction.
    number
        Whether the variable is also a shape variable, so that its number takes the next slot.
    receive
        The check of a call's value against the declared result; None if none is declared.
    payload
        Further data of the rule, as in its signature: a literal, prepared expressions, branches.
    scope
        The scope of the instruction.
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
    """A SeqExpr that has its own frame at run time.

    It is prepared at its first entry, so code that never runs costs nothing, and nesting does not
    cause recursion.
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
    """A function's body, with the data for calls and returns.

    Attributes
    ----------
    node
        The function.
    name
        Its name in reports.
    typed
        Gives the type of the function.
    captured, captures
        The variables that it captures, and their readers at the definition.
    enter, leave
        The checks of arguments and of the result; ``leave`` is None if the result is not annotated.
    """

    __slots__ = ("_info", "captured", "captures", "enter", "leave", "name", "node", "typed")

    node: ast.Function
    name: str
    typed: Callable[[ast.Function], ast.FuncStructInfo]
    captured: tuple[Variable, ...]
    captures: tuple[Reader, ...]
    enter: Compare
    leave: Compare | None

    @property
    def info(self) -> ast.FuncStructInfo:
        """The function's type at run time, derived when a run first asks for it."""
        try:
            return self._info
        except AttributeError:
            self._info: ast.FuncStructInfo = self.typed(self.node)
            return self._info


def place(frame: Frame, index: int) -> Frame:
    """A frame whose next free slot is ``index``: the same frame, or a copy if another run filled
    the slot.
    """
    if len(frame.slots) == index:
        return frame
    return Frame(frame.code, frame.slots[:index], frame.outer, frame.caller, frame.resume)


@rule("E-received", "part of a step")
def received(at: Instruction[Any], frame: Frame, value: Value) -> None:
    """Check the value of a call against its declared result."""
    if at.receive is not None:
        at.receive(frame, (value,))


def dropped(frame: Frame, values: Sequence[Value]) -> list[int]:
    """The check of a call that declares no value: its result is dropped."""
    return []


def number_of(value: Value) -> int:
    """The number of a variable that is also a shape variable."""
    if isinstance(value, Scalar) and isinstance(value.value, int):
        return value.value
    # D17 refuses what is no scalar for certain; a packed function may break its word.
    raise FaultStop(
        "E-binding-scalar", f"expected an integer as a dimension, found {show(value)}", value=value
    )


@rule("E-binding", "part of a step")
def bind(
    at: Instruction[Any],
    c: Configuration,
    value: Any,
    version: Version | None = None,
    applied: str | None = None,
) -> Configuration:
    """Store the value of an instruction in its slot, and continue after it.

    ``applied`` is the rule that computed the value, if it is not the instruction's own.
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
"""Reads a value (a number for a shape variable) from a frame."""


class VariableSlot:
    """The slot of a variable's value, and the instructions that can read it.

    ``born`` and ``died`` are serial numbers of instructions; ``died`` is None to the end of the
    scope.
    """

    __slots__ = ("born", "died", "index", "span")

    def __init__(self, index: int, born: int, span: Span | None) -> None:
        self.index, self.born, self.span = index, born, span
        self.died: int | None = None

    def seen_at(self, serial: int) -> bool:
        """Whether an instruction can read it."""
        return self.born <= serial and (self.died is None or serial < self.died)


class ScopeSlots:
    """A scope: of a function, or of a branch (``outer`` is then the scope around it, ``at`` the
    branching).
    """

    __slots__ = ("at", "outer", "places", "serial", "size", "spans")

    def __init__(self, outer: ScopeSlots | None = None, at: Instruction[Any] | None = None) -> None:
        self.outer, self.at = outer, at
        self.places: dict[Variable, VariableSlot] = {}
        self.size = self.serial = 0
        self.spans: list[Span | None] = []

    def add(self, var: Variable | None, span: Span | None) -> int:
        """Add the next slot, for a variable or for an unnamed operand."""
        index = self.size
        self.size += 1
        self.spans.append(span)
        if var is not None:
            self.places[var] = VariableSlot(index, self.serial, span)
        return index

    def end(self, var: Variable) -> None:
        """End the visibility of a variable."""
        place = self.places.get(var)
        if place is not None:
            place.died = self.serial

    def find(self, var: Variable, serial: int | None = None) -> tuple[int, VariableSlot] | None:
        """The number of scopes between a variable and this scope, and its slot there; None if it is
        not visible.
        """
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
        """A reader of the variable's value for frames of this scope; None if it is not visible."""
        found = self.find(var)
        if found is None:
            return None
        hops, place = found
        return slot_reader(hops, place.index)

    def seen(self, serial: int) -> Iterator[tuple[Variable, int, int]]:
        """The visible variables at an instruction, with the distance of their scope and their
        slot.
        """
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
    """A reader of a slot in the frame of an outer scope."""
    if hops == 0:
        return lambda frame: frame.slots[index]
    if hops == 1:
        return lambda frame: frame.outer.slots[index]

    def read(frame: Any) -> Any:
        for _ in range(hops):
            frame = frame.outer
        return frame.slots[index]

    return read
