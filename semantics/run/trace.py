"""A trace of a run as a list of small changes, which `rlx step` prints and its page plays forward
and back.

The record is versioned JSON. ``start`` has the changes before the first step: the entry's frame
with its arguments. Each step is ``[rule, start, end, changes]``: the index of the rule in
``rules``, the offsets of the redex in the source (-1 if unknown), and the changes of the step, each
a list that begins with its kind:

====  =====================================================================================
`>`   a frame is pushed: its name
`<`   the top frame is popped
`=`   a name of the top frame gets a value: name, text, parts
`-`   a name of the top frame goes out of scope: name
`+`   an object comes into being, or in from outside: object, text, memory, cells
`~`   the memory of an object changes: object, text, cells
`.`   the value that the step yields: text, parts
====  =====================================================================================

Parts are the first objects in a value, each with the path to it: ``[["", 3]]`` of a tensor,
``[["[0]", 3], ["[1]", 4]]`` of a tuple. Objects of the same memory are aliases. Cells are null for a single
element, otherwise the elements as text: see :mod:`rlx.semantics.run.trace`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice, product
from math import prod
from typing import Any

import numpy as np

from rlx.grammar.diagnostic import Source
from rlx.grammar.nodes import ast
from rlx.grammar.streams import json_compact
from rlx.grammar.wording import counted
from rlx.semantics.machine.configuration import Configuration, Frame
from rlx.semantics.outcome import KINDS, Ended, Outcome, Returned
from rlx.semantics.run.value_text import line, number, outcome_line, tensor_kind, tensor_line
from rlx.semantics.store import ArrayChange, Blank, Store
from rlx.semantics.values import Storage, Tensor, TupleValue, Value
from rlx.spec.reader import Inference, Rule
from rlx.spec.typeset import typeset

# ---------------------------------------------------------------- tensors as tables

ROWS, COLUMNS, SLICES = 8, 8, 4
"""The maximum numbers of shown rows, columns, and tables of a tensor of rank 3 or more."""


UNWRITTEN = "·"
"""The mark of an unwritten element."""


def cells(value: Value, blank: Blank | None = None) -> dict[str, object] | None:
    """The elements of a tensor, as text. `blank`: the unwritten elements, if any.

    Returns
    -------
    dict or None
        ``rank``; ``slices``, each a label (``"[0, :, :]"``) and rows of texts; ``left``: the
        numbers of omitted rows, columns and slices. None for tensors of at most one element, and
        for other values.
    """
    if not isinstance(value, Tensor) or value.data.size == 0 or value.data.ndim == 0:
        return None
    array = np.atleast_2d(value.data)
    *outer, rows, columns = array.shape
    written = _written(array, blank)
    shown = [
        [label, [_row(*lines) for lines in zip(part[:ROWS], known[:ROWS], strict=True)]]
        for (label, part), (_, known) in islice(
            zip(_slices(array), _slices(written), strict=True), SLICES
        )
    ]
    left = [max(0, rows - ROWS), max(0, columns - COLUMNS), max(0, prod(outer) - SLICES)]
    return {"rank": value.data.ndim, "slices": shown, "left": left}


def _row(line: Any, written: Any) -> list[str]:
    pairs = zip(line[:COLUMNS], written[:COLUMNS], strict=True)
    return [number(element) if known else UNWRITTEN for element, known in pairs]


def _written(array: Any, blank: Blank | None) -> Any:
    """For each element whether it was written."""
    if blank is None:
        return np.ones(array.shape, np.bool_)
    if blank.written is None:
        return np.zeros(array.shape, np.bool_)
    return np.asarray(blank.written, np.bool_).reshape(array.shape)


def _slices(array: Any) -> Iterator[tuple[str, Any]]:
    """The matrices of the last two axes, with where they are."""
    outer = array.shape[:-2]
    for index in product(*map(range, outer)):
        label = f"[{', '.join([*map(str, index), ':', ':'])}]" if outer else ""
        yield label, array[index]


VERSION = 2
SMALL = 4
"""Tensors of at most this number of elements are shown wherever they are mentioned."""

PARTS = 250
"""The maximum number of fields of a value whose objects are recorded: tuples may share their
fields, so that there are exponentially many paths.
"""

LIMIT = 10_000
"""The maximum number of recorded steps."""

Change = list[Any]


class TraceRecorder:
    """Records a run, configuration by configuration.

    Attributes
    ----------
    listed
        Whether the source is a list of instructions, each of which fits on one line.
    """

    listed = False

    def __init__(self) -> None:
        self.rules: dict[str, int] = {}
        self.steps: list[Change] = []
        self.depths: list[int] = []
        self.beginning: list[Change] = []
        self._objects: dict[int, tuple[int, Value]] = {}
        self._memories: dict[int, list[tuple[Any, int]]] = {}
        self._memory_numbers: dict[int, int] = {}
        self._shown: dict[int, tuple[str, object]] = {}
        self._places: dict[int, tuple[dict[int, str], dict[int, list[str]], object]] = {}
        self._changes: list[Change] = []
        self._store: Store | None = None

    @property
    def count(self) -> str:
        """The number of recorded steps as text."""
        return counted(len(self.steps), "step")

    def start(self, first: Configuration) -> None:
        """The state before the first step."""
        self._changes = []
        self._store = first.version.store
        self._push(first.frame)
        self.beginning = self._changes

    def step(self, before: Configuration, after: Configuration | Outcome) -> None:
        """Record one step; the last one is an outcome."""
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
        changes = self._changes
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
            self._bind(new, old.resume.index, after)
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
        parts = self._parts(value)
        self._changes.append(["=", name, line(value, self._label), parts])

    def _yield(self, value: Any) -> None:
        parts = self._parts(value)
        self._changes.append([".", line(value, self._label), parts])

    # ------------------------------------------------------------ objects

    def _parts(self, value: Any) -> list[tuple[str, int]]:
        """The objects in a value by their paths; those that are new get numbers."""
        parts: list[tuple[str, int]] = []
        stack: list[tuple[str, Any]] = [("", value)]
        room = PARTS
        while stack and room:
            room -= 1
            path, item = stack.pop()
            if isinstance(item, TupleValue):
                fields = [(f"{path}[{k}]", field) for k, field in enumerate(item.fields[:room])]
                stack.extend(reversed(fields))
            elif isinstance(item, (Tensor, Storage)):
                parts.append((path, self._number(item)))
        return parts

    def _number(self, item: Tensor | Storage) -> int:
        if id(item) not in self._objects:
            self._add(item)
        number, _ = self._objects[id(item)]
        return number

    def _add(self, item: Tensor | Storage) -> None:
        number = len(self._objects) + 1
        self._objects[id(item)] = (number, item)
        memory = number if isinstance(item, Storage) else self._memory_of(item.data, number)
        text, shown = tensor_line(item), self._cells(item)
        self._memory_numbers[id(item)], self._shown[number] = memory, (text, shown)
        self._changes.append(["+", number, text, memory, shown])

    def _changed(self, number: int, value: Tensor) -> None:
        """Note an object that looks otherwise than it did."""
        now = tensor_line(value), self._cells(value)
        if self._shown.get(number) != now:
            self._shown[number] = now
            self._changes.append(["~", number, *now])

    def _cells(self, value: Value) -> dict[str, object] | None:
        return cells(value, None if self._store is None else self._store.blank.get(id(value)))

    def _memory_of(self, array: Any, number: int) -> int:
        """The first object whose memory the array is, or lies in; the number itself if there is
        none.
        """
        owner = array
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        known = self._memories.setdefault(id(owner), [])
        for other, first in known:
            if np.may_share_memory(array, other):
                return first
        known.append((array, number))
        return number

    def _label(self, value: Value) -> str:
        assert isinstance(value, (Tensor, Storage))
        small = isinstance(value, Tensor) and value.data.size <= SMALL
        shown = tensor_line(value) if small else tensor_kind(value)
        return f"#{self._number(value)} {shown}"

    def _memory(self, before: Configuration) -> None:
        """The changes of the step in the store."""
        if before.version.next is None:
            return
        for change in before.version.changes:
            if isinstance(change, ArrayChange):
                for number, value in self._objects.values():
                    if isinstance(value, Tensor) and np.may_share_memory(value.data, change.array):
                        self._changes.append(["~", number, tensor_line(value), self._cells(value)])
            elif id(change.value) in self._objects:
                number, value = self._objects[id(change.value)]
                self._changes.append(["~", number, tensor_line(value), self._cells(value)])


class Trace:
    """A recorded run.

    Attributes
    ----------
    recorder
        The recorder with its steps.
    outcome
        The outcome; None if the recording ended before.
    """

    __slots__ = ("entry", "outcome", "recorder", "source")

    def __init__(
        self, source: Source, entry: str, recorder: TraceRecorder, outcome: Outcome | None
    ) -> None:
        self.source, self.entry = source, entry
        self.recorder, self.outcome = recorder, outcome

    def record(self) -> dict[str, object]:
        """The trace as versioned JSON."""
        from rlx.spec.reader import rules

        known = rules()
        listed = [_told(rule, known.get(rule)) for rule in self.recorder.rules]
        return {
            "version": VERSION,
            "path": self.source.path,
            "entry": self.entry,
            "source": self.source.text,
            "rules": listed,
            "start": self.recorder.beginning,
            "steps": self.recorder.steps,
            "outcome": self._ending(),
        }

    def _repr_html_(self) -> str:
        """The page that replays the run, in a frame of its own."""
        from html import escape

        style = "width: 100%; height: 36em; border: 1px solid #8888"
        return f'<iframe sandbox="allow-scripts" style="{style}" srcdoc="{escape(page(self))}"></iframe>'

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


def _told(name: str, rule: Rule | None) -> dict[str, object]:
    """The page's entry for a rule."""
    if rule is None:
        return {"id": name, "title": "", "clause": "", "why": "", "inference": None, "spoken": ""}
    block = rule.block
    return {
        "id": name,
        "title": rule.title,
        "clause": _plain(rule.statement),
        "why": _plain(rule.why),
        "inference": None
        if block is None
        else {
            "premises": [[label, typeset(premise)] for label, premise in block.premises],
            "conclusion": typeset(block.conclusion),
        },
        "spoken": "" if block is None else _spoken(block),
    }


def _spoken(block: Inference) -> str:
    """An inference in a row, for those who hear it."""
    above = ", ".join(premise for _, premise in block.premises)
    return f"if {above} then {block.conclusion}" if above else block.conclusion


def page(trace: Trace) -> str:
    """The trace as a self-contained page."""
    from importlib.resources import files

    here = files("rlx.semantics.run")
    data = json_compact(trace.record())
    parts = {
        "__STYLE__": here.joinpath("viewer.css").read_text(encoding="utf-8"),
        "__SCRIPT__": here.joinpath("viewer.js").read_text(encoding="utf-8"),
        # Inside of a script element, "</" ends it and "<!--" changes how it is read.
        "__TRACE__": data.replace("<", "\\u003c"),
    }
    viewer = here.joinpath("viewer.html").read_text(encoding="utf-8")
    return re.sub("|".join(parts), lambda found: parts[found[0]], viewer)
