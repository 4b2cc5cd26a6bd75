"""Bodies of PrimFuncs: loops, blocks, and sequences of statements."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import Any

from rlx.grammar.dialects import BLOCK_ATTR_WORDS
from rlx.grammar.lines import line_start
from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import INT32, DataType
from rlx.grammar.nodes.node import Span
from rlx.grammar.read.entries import Entry
from rlx.grammar.read.outline import logical_lines
from rlx.grammar.read.partial_nodes import Form, Name, Open, flatten, open_scope
from rlx.grammar.read.partial_nodes import Sequence as Tuple
from rlx.grammar.read.prim_buffers import type_or
from rlx.grammar.read.reports import NOT_UNDERSTOOD, ReadContext
from rlx.grammar.wording import counted

_WORDS = {"axis": "T.axis", "attrs": BLOCK_ATTR_WORDS[-1]}


class Part:
    """A statement that describes its block: an axis, a region, a predicate."""

    __slots__ = ("kind", "span", "value")

    def __init__(self, kind: str, value: Any, span: Span) -> None:
        self.kind = kind
        self.value = value
        self.span = span


class Entered:
    """The head of a `with` around its body, or around the statements that follow."""

    __slots__ = ("call", "var")

    def __init__(self, call: tir.Call, var: tir.Var | None) -> None:
        self.call = call
        self.var = var


class PrimBodies:
    """Combines the statements of a block."""

    def __init__(self, context: ReadContext) -> None:
        self.text = context.text
        self.reports = context.reports

    def opaque(self, span: Span, *known: object) -> tir.OpaqueStmt:
        """Uninterpreted lines, and what the parts of them that were read are."""
        start, end = span
        line = line_start(self.text, start)
        width = len(self.text[line:start].expandtabs(8))
        end = start + _own(self.text[start:end], width)
        span = (start, end)
        first, *rest = self.text[start:end].rstrip().split("\n")
        # The first line decides where the statement stands; inside brackets others may be left of
        # it.
        moved = [line.expandtabs(8) for line in rest]
        moved = [line[min(width, len(line) - len(line.lstrip())) :].rstrip() for line in moved]
        text = "\n".join([first.rstrip(), *moved])
        if not self.reports.has_errors_in(span):
            self.reports.note(NOT_UNDERSTOOD, span)
        scalars = (each for each in known if isinstance(each, tir.PrimExpr))
        return tir.OpaqueStmt(text, span, tuple(scalars))

    def body(self, statements: list[Any], in_block: bool = False) -> tir.Stmt:
        """One statement made from several; descriptions of blocks are dropped outside blocks."""
        found: list[tir.Stmt] = []
        around: list[tuple[Entered, list[tir.Stmt]]] = []
        for part in flatten(statements):
            if isinstance(part, Entered):
                around.append((part, found))
                found = []
            elif isinstance(part, tir.Stmt):
                found.append(part)
                if isinstance(part, tir.MatchBuffer) and not in_block:
                    words = "T.match_buffer of a region is allowed only inside a block"
                    self.reports.error(words, part.span or (0, 0), layout=True)
            elif isinstance(part, Part) and not in_block:
                found += self._without_block(part)
        body = _joined(found)
        while around:
            entered, found = around.pop()
            body = _joined([*found, tir.With(entered.call, entered.var, body, entered.call.span)])
        return body

    def _without_block(self, part: Part) -> list[tir.Stmt]:
        """Read a description of a block outside of any block: only an allocation is allowed there."""
        if part.kind == "alloc":
            return [part.value]
        word = _WORDS.get(part.kind, f"T.{part.kind}")
        words = f"{word} is allowed only inside a block"
        self.reports.error(words, part.span, layout=True)
        return []

    def block(self, form: Form, statements: list[Any], span: Span) -> tir.Block:
        """`with T.block("name"):`"""
        given = form.args[0] if form.args else form.keywords.get("name")
        name = given.value if given is not None and isinstance(given.value, str) else ""
        found: dict[str, Any] = {}
        axes: list[tir.IterVar] = []
        buffers: list[tir.Buffer] = []
        attrs: dict[str, object] = {}
        for item in flatten(statements):
            if not isinstance(item, Part):
                continue
            match item.kind:
                case "axis":
                    axes.extend(item.value)
                case "alloc":
                    buffers.append(item.value.buffer)
                case "attrs" if isinstance(item.value, dict):
                    attrs.update(item.value)
                case _:
                    if item.kind in found:
                        self.reports.error(f"T.{item.kind} is given twice in one block", item.span)
                    found[item.kind] = item.value
        return tir.Block(
            name,
            tuple(axes),
            found.get("reads"),
            found.get("writes"),
            found.get("where"),
            tuple(buffers),
            found.get("init"),
            self.body(statements, in_block=True),
            attrs,
            span,
        )


def _joined(statements: list[tir.Stmt]) -> tir.Stmt:
    return statements[0] if len(statements) == 1 else tir.SeqStmt(tuple(statements))


LOOPS = {
    "range": "serial",
    "T.serial": "serial",
    "T.parallel": "parallel",
    "T.vectorized": "vectorized",
    "T.unroll": "unroll",
    "T.thread_binding": "thread_binding",
}
NO_FRAMES = frozenset(
    f"T.{word}" for word in ("reads", "writes", "where", "evaluate", "Let", "Select", "min", "max")
)

Range = tuple[tir.PrimExpr, tir.PrimExpr]
"""Start and extent of a loop."""


class PrimLoops:
    """Reads `for` in PrimFuncs."""

    def __init__(self, context: ReadContext, bodies: PrimBodies) -> None:
        self.scope = context.scope
        self.coerce = context.coerce
        self.reports = context.reports
        self.bodies = bodies

    def open(self, names: Entry, loops: Entry, span: Span) -> Open:
        """The head of a loop, whose names are loop variables in the body."""
        form = loops.value
        if isinstance(form, tir.Buffer | tir.PrimExpr | Tuple) or is_number(form):
            self.reports.error("expected a loop such as T.grid or range", loops.span)
        targets: list[Entry] = names.value
        for k, name in enumerate(targets):
            if any(name.value == each.value for each in targets[:k]):
                self.reports.error(f"two loops have the variable {name.value!r}", name.span)
        # One name stands for the tuple of all variables: `for i in T.grid(n, m)`.
        grid = isinstance(form, Form) and form.head == "T.grid"
        together = grid and len(targets) == 1 and len(form.args) != 1
        ranges: list[Range] | None = None
        if isinstance(form, Form):
            count = len(form.args) if together else len(targets)
            ranges = self._ranges(count, form, (names.start, loops.end))
        opened = open_scope(self.scope, None, "block", span)
        if together:
            (name,) = targets
            targets = [Entry(f"{name.value}_{k}", *name.span) for k in range(len(loops.value.args))]
        known: Sequence[Range | None] = ranges or [None] * len(targets)
        found = [self._variable(n, r) for n, r in zip(targets, known, strict=True)]
        if together:
            self.scope.bind(name.value, Tuple([Entry(var, *name.span) for var in found]))
        opened.value = (form, None if ranges is None else list(zip(found, ranges, strict=True)))
        return opened

    def _variable(self, name: Entry, within: Range | None) -> tir.Var:
        data_type = INT32
        if within is not None:
            low, high = within
            data_type = type_or(high, INT32)
            if not isinstance(low, tir.IntImm):
                data_type = type_or(low, data_type)
        var = tir.Var(name.value, data_type, name.span)
        self.scope.bind(name.value, var)
        return var

    def _attr(self, entry: Entry) -> object:
        """The value of a keyword of a loop; a name is one of the kernel."""
        is_name = isinstance(entry.value, Name)
        return self.coerce.prim(entry, INT32) if is_name else self.coerce.attr(entry)

    def close(self, head: Open, body: list[Any], span: Span) -> tir.Stmt:
        """The loops around their body."""
        form, loops = head.value
        if loops is None:
            return self.bodies.opaque(span)
        found = self.bodies.body(body)
        kind = LOOPS.get(form.head, "serial")
        keywords = dict(form.keywords)
        keywords.pop("dtype", None)  # its variable has it
        step = self._step(keywords.pop("step", None))
        attrs = {key: self._attr(value) for key, value in keywords.items()}
        for var, (low, high) in reversed(loops):
            found = tir.For(var, low, high, kind, found, attrs, span, step)
        return found

    def _step(self, given: Entry | None) -> tir.PrimExpr | None:
        """The step of a loop; None for 1."""
        if given is None or given.value is None:
            return None
        found = self.coerce.prim(given, INT32)
        return None if isinstance(found, tir.IntImm) and found.value == 1 else found

    def _ranges(self, names: int, form: Form, span: Span) -> list[Range] | None:
        """Start and extent for each loop variable, or None for a form that is not known."""
        known: Sequence[str] = _WORDS_OF_GRID if form.head == "T.grid" else _LOOP_WORDS
        known = known if form.head.startswith("T.") else ()
        if form.head in LOOPS or form.head == "T.grid":
            for word, given in form.keywords.items():
                if word not in known:
                    self.reports.error(f"{form.head} has no argument {word!r}", given.span)
        if form.head in LOOPS:
            if names == 1:
                return self._range(form, span)
            self._miscounted(form, 1, names, span)
            return None
        if form.head != "T.grid":
            return None
        if not form.args:
            self.reports.error("T.grid takes the extent of each loop", span)
            return None
        if len(form.args) != names:
            self._miscounted(form, len(form.args), names, span)
            return None
        return [self._of_grid(form, entry) for entry in form.args]

    def _of_grid(self, form: Form, extent: Entry) -> Range:
        """One loop of `T.grid`: an extent, or the tuple of a start and an extent."""
        literal = self._data_type(form)
        if isinstance(extent.value, Tuple) and len(extent.value.items) == 2:
            start, count = extent.value.items
            return self.coerce.prim(start, literal), self.coerce.prim(count, literal)
        return _from_zero(self.coerce.prim(extent, literal))

    def _data_type(self, form: Form) -> DataType:
        """The type of the literals that bound a loop, and so of its variable."""
        given = form.keywords.get("dtype")
        return INT32 if given is None or given.value is None else self.coerce.data_type(given)

    def _miscounted(self, form: Form, loops: int, names: int, span: Span) -> None:
        given = f"{counted(loops, 'loop')} for {counted(names, 'name')}"
        self.reports.error(f"{form.head} makes {given}", span)

    def _range(self, form: Form, span: Span) -> list[Range] | None:
        """The one loop of `range` and its relatives."""
        bounds, keywords = form.args, form.keywords
        match form.head, form.args:
            case "T.thread_binding", [*some, Entry(value=str()) as last] if some:
                bounds, keywords["thread"] = some, last
            case "range", [first, second, third]:
                bounds, keywords["step"] = [first, second], third
        literal = self._data_type(form)
        start: Entry | None = None
        match bounds:
            case [stop]:
                pass
            case [start, stop]:
                pass
            case _:
                words = f"{form.head} takes a start and a stop, or only a stop"
                self.reports.error(words, span)
                return None
        thread = keywords.get("thread")
        if form.head == "T.thread_binding" and not (thread and isinstance(thread.value, str)):
            words = 'T.thread_binding needs a thread, such as thread="threadIdx.x"'
            self.reports.error(words, span)
        if start is None:
            return [_from_zero(self.coerce.prim(stop, literal))]
        low, high = self.coerce.prim(start, literal), self.coerce.prim(stop, literal)
        return [(low, _extent(low, high))]


_WORDS_OF_GRID = ("dtype",)
_LOOP_WORDS = ("start", "stop", "thread", "annotations", "step", "unroll", "dtype")
"""The arguments by name of loops, in any version."""


def _from_zero(extent: tir.PrimExpr) -> Range:
    """A loop that begins at zero."""
    return tir.IntImm(0, type_or(extent, INT32)), extent


def is_number(value: Any) -> bool:
    """Whether a form is a function of scalars or a description, and not a loop or a frame."""
    return isinstance(value, Form) and (value.head[2:] in tir.AS_OPERAND or value.head in NO_FRAMES)


def _extent(low: tir.PrimExpr, stop: tir.PrimExpr) -> tir.PrimExpr:
    """The number of steps from ``low`` to ``stop``."""
    if isinstance(low, tir.IntImm) and isinstance(stop, tir.IntImm):
        return tir.IntImm(stop.value - low.value, stop.dtype, stop.span)
    if tir.is_zero(low):
        return stop
    return tir.Sub(stop, low, getattr(stop, "span", None))


def _own(text: str, column: int) -> int:
    """The length of a statement in a text, without the comments of the next statement.

    These stand behind its last line, and are not indented more than the statement.
    """
    last = max((end for _, end in logical_lines(text)), default=0)
    line, *behind = text[last:].split("\n")
    deeper = takewhile(lambda each: not each.strip() or _column(each) > column, behind)
    return last + len("\n".join([line, *deeper]))


def _column(line: str) -> int:
    shown = line.expandtabs(8)
    return len(shown) - len(shown.lstrip())
