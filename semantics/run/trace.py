"""A run as a list of small changes: what `rlx step` prints, and what its page plays forward and back.

The record is versioned JSON. Each step is ``[rule, start, end, changes]``: the number of the rule in ``rules``, where
the redex stands in the source (-1 where that is not known), and what the step changed, each a list led by its kind:

====  ===================================================================
`>`   a frame is pushed: its name
`<`   the top frame is popped
`=`   a name of the top frame gets a value: name, text, object or 0
`-`   a name of the top frame goes out of scope: name
`+`   an object comes into being, or in from outside: object, text
`~`   the memory of an object changes: object, text
`x`   an object is killed: object
`.`   the value that the step yields: text
====  ===================================================================
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from rlx.grammar import ast
from rlx.grammar.diagnostic import Source
from rlx.semantics.machine.configuration import Configuration, Frame
from rlx.semantics.outcome import KINDS, Ended, Outcome, Returned
from rlx.semantics.run.text import line, outcome_line, tensor_kind, tensor_line
from rlx.semantics.store import Memory
from rlx.semantics.values import Storage, Tensor, TupleValue, Value

VERSION = 1
SMALL = 4
"""Tensors of so many elements are shown wherever they are mentioned."""

LIMIT = 10_000
"""As many steps are recorded."""

Change = list[Any]


class Recorder:
    """Follows a run, configuration by configuration."""

    def __init__(self) -> None:
        self.rules: dict[str, int] = {}
        self.steps: list[Change] = []
        self.depths: list[int] = []
        self._objects: dict[int, tuple[int, Value]] = {}
        self._places: dict[int, tuple[dict[int, str], dict[int, list[str]], object]] = {}
        self._changes: list[Change] = []

    @property
    def count(self) -> str:
        """How many steps were recorded, in words."""
        return f"{len(self.steps)} step{'' if len(self.steps) == 1 else 's'}"

    def start(self, first: Configuration) -> None:
        """The state before the first step."""
        self._changes = []
        self._push(first.frame)
        self.beginning = self._changes

    def step(self, before: Configuration, after: Configuration | Outcome) -> None:
        """One step; an outcome is the last."""
        self._changes = []
        rule = before.at.rule
        if isinstance(after, Configuration):
            rule = after.rule
            self._memory(before)
            self._frames(before, after)
        elif isinstance(after, Returned):
            self._yield(after.value)
        elif isinstance(after, Ended):
            rule = after.rule
        start, end = before.at.span or (-1, -1)
        number = self.rules.setdefault(rule, len(self.rules))
        changes = [*self.beginning, *self._changes] if not self.steps else self._changes
        self.steps.append([number, start, end, changes] if changes else [number, start, end])
        self.depths.append(before.frame.depth)

    # ------------------------------------------------------------ frames and names

    def _frames(self, before: Configuration, after: Configuration) -> None:
        old, new = before.frame, after.frame
        if new.depth > old.depth:
            self._push(new)
            return
        if new.depth < old.depth:
            self._changes.append(["<"])
            filled = new.slots[before.frame.resume.index :] if before.frame.resume else []
            self._bind(new, len(new.slots) - len(filled), after)
            return
        if new is not old:
            self._changes.append(["<"])
            self._push(new)
            return
        self._bind(new, before.at.index, after)
        _, ends, _ = self._names(new)
        for serial in range(before.at.serial + 1, after.at.serial + 1):
            self._changes += [["-", name] for name in ends.get(serial, ())]

    def _push(self, frame: Frame) -> None:
        function = frame.code.function
        name = getattr(frame.code, "name", None) or (
            f"branch in {function.name}" if function else "branch"
        )
        self._changes.append([">", name])
        names, _, _ = self._names(frame)
        for index, value in enumerate(frame.slots):
            if index in names:
                self._name(names[index], value)

    def _bind(self, frame: Frame, start: int, after: Configuration) -> None:
        """Names for the places that were filled."""
        names, _, _ = self._names(frame)
        for index in range(start, min(len(frame.slots), after.at.index)):
            value = frame.slots[index]
            if index in names:
                self._name(names[index], value)
            self._yield(value)

    def _names(self, frame: Frame) -> tuple[dict[int, str], dict[int, list[str]], object]:
        """The variable of each place of a scope, and those that end at an instruction."""
        scope = frame.code.scope
        found = self._places.get(id(scope))
        if found is None:
            names: dict[int, str] = {}
            ends: dict[int, list[str]] = {}
            scalars = {getattr(var, "shape_var", None) for var in scope.places}
            for var, place in scope.places.items():
                if var in scalars:  # it is shown as the variable that it is
                    continue
                name = var.name_hint if isinstance(var, ast.Var) else var.name
                names[place.index] = name
                if place.died is not None:
                    ends.setdefault(place.died, []).append(name)
            # The scope is kept, so that its address stays its own.
            found = self._places[id(scope)] = (names, ends, scope)
        return found

    def _name(self, name: str, value: Any) -> None:
        self._known(value)
        held = self._objects.get(id(value)) if isinstance(value, (Tensor, Storage)) else None
        self._changes.append(["=", name, line(value, self._label), held[0] if held else 0])

    def _yield(self, value: Any) -> None:
        self._known(value)
        self._changes.append([".", line(value, self._label)])

    # ------------------------------------------------------------ objects

    def _known(self, value: Any) -> None:
        """Give numbers to the objects in a value that have none yet."""
        stack = [value]
        while stack:
            item = stack.pop()
            if isinstance(item, TupleValue):
                stack.extend(reversed(item.fields))
            elif isinstance(item, (Tensor, Storage)) and id(item) not in self._objects:
                number = len(self._objects) + 1
                self._objects[id(item)] = (number, item)
                self._changes.append(["+", number, tensor_line(item)])

    def _label(self, value: Value) -> str:
        small = isinstance(value, Tensor) and value.data.size <= SMALL
        shown = tensor_line(value) if small else tensor_kind(value)
        return f"#{self._objects[id(value)][0]} {shown}"

    def _memory(self, before: Configuration) -> None:
        """What the step changed in the store."""
        if before.version.next is None:
            return
        for change in before.version.changes:
            if isinstance(change, Memory):
                for number, value in self._objects.values():
                    if isinstance(value, Tensor) and np.may_share_memory(value.data, change.array):
                        self._changes.append(["~", number, tensor_line(value)])
            elif id(change.value) in self._objects:
                number, value = self._objects[id(change.value)]
                self._changes.append(["~", number, tensor_line(value)])


class Trace:
    """A recorded run.

    Attributes
    ----------
    recorder
        Its steps.
    outcome
        How it ended; None where recording ended before.
    """

    __slots__ = ("entry", "outcome", "recorder", "source")

    def __init__(
        self, source: Source, entry: str, recorder: Recorder, outcome: Outcome | None
    ) -> None:
        self.source, self.entry = source, entry
        self.recorder, self.outcome = recorder, outcome

    def record(self) -> dict[str, object]:
        """The trace as versioned JSON."""
        from rlx.spec.reader import rules

        known = rules()
        listed = [
            {
                "id": rule,
                "title": known[rule].title if rule in known else "",
                "clause": _plain(known[rule].statement) if rule in known else "",
                "why": _plain(known[rule].why) if rule in known else "",
            }
            for rule in self.recorder.rules
        ]
        return {
            "version": VERSION,
            "path": self.source.path,
            "entry": self.entry,
            "source": self.source.text,
            "rules": listed,
            "steps": self.recorder.steps,
            "outcome": self._ending(),
        }

    def _ending(self) -> dict[str, object]:
        if self.outcome is None:
            return {"kind": "unfinished", "text": f"recording ended after {self.recorder.count}"}
        ending: dict[str, object] = {
            "kind": KINDS[type(self.outcome)],
            "text": outcome_line(self.outcome),
        }
        if isinstance(self.outcome, Ended):
            ending |= {"rule": self.outcome.rule, "code": self.outcome.code}
        return ending


_LINK = re.compile(r"\[([^]]+)\]\([^)]+\)")


def _plain(text: str) -> str:
    """A paragraph without its links."""
    return _LINK.sub(r"\1", text)


def page(trace: Trace) -> str:
    """The trace as one page that needs nothing else."""
    import json
    from importlib.resources import files

    viewer = files("rlx.semantics.run").joinpath("viewer.html").read_text(encoding="utf-8")
    data = json.dumps(trace.record(), ensure_ascii=False, separators=(",", ":"))
    # Inside of a script element, "</" ends it and "<!--" changes how it is read.
    return viewer.replace("__TRACE__", data.replace("<", "\\u003c"), 1)
