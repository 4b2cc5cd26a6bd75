"""Statements of PrimFuncs. Constructs that are not understood are kept as text, with a note."""

from __future__ import annotations

from functools import cached_property
from itertools import islice
from typing import Any, NoReturn

from rlx.grammar.dialects import BLOCK_ATTR_WORDS, BLOCK_WORDS
from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import HANDLE, INT32, VOID
from rlx.grammar.nodes.node import Span
from rlx.grammar.read import arithmetic
from rlx.grammar.read.entries import Entry, Rejected
from rlx.grammar.read.function_bodies import add_attributes, prim_function
from rlx.grammar.read.lexer import words_of
from rlx.grammar.read.partial_nodes import (
    Form,
    Name,
    Open,
    Sequence,
    Signature,
    describe,
    flatten,
    open_scope,
    unfolded,
)
from rlx.grammar.read.prim_assignments import AXES, PrimAssignments
from rlx.grammar.read.prim_bodies import Entered, Part, PrimBodies, PrimLoops, is_number
from rlx.grammar.read.prim_buffers import PrimBuffers, only, type_or
from rlx.grammar.read.prim_scalars import (
    assigns_lets,
    is_number_variable,
    is_pointer,
    no_number,
)
from rlx.grammar.read.python_syntax import CLAUSES
from rlx.grammar.read.reports import ReadContext
from rlx.grammar.read.scope import Frame

_DESCRIPTIONS = frozenset(["T.Range", "T.target", "T.Target", "T.comm_reducer", "T.index_map"])
"""Forms that describe something and have no value."""
ENTERED = {"T.attr", "T.launch_thread"}
LEAVING = {"break": "break_loop", "continue": "continue_loop"}
"""Statements that leave a loop, or one iteration of it, as Python and as TVM's printer spell them.
"""


class PrimStatements:
    """Reads the statements of a PrimFunc."""

    def __init__(self, context: ReadContext) -> None:
        self.context = context
        self.scope = context.scope
        self.coerce = context.coerce
        self.reports = context.reports
        self.buffers = PrimBuffers(context)
        self.bodies = PrimBodies(context)
        self.loops = PrimLoops(context, self.bodies)
        self.open_for = self.loops.open
        self._leaving: list[Span] = []  # what leaves a loop, until the loop around it ends

    @cached_property
    def assignments(self) -> PrimAssignments:
        """The reader of assignments, made on demand because many PrimFuncs have none."""
        return PrimAssignments(self.context, self.buffers, self.bodies)

    def declare(self, name: Entry, annotation: Entry, span: Span) -> tir.Stmt:
        return self.assignments.declare(name, annotation, span)

    def unpack(self, names: list[Entry], value: Entry, span: Span) -> Any:
        return self.assignments.unpack(names, value, span)

    # ------------------------------------------------------------ functions

    def parameter(self, name: Entry, annotation: Entry | None) -> tir.Var:
        if annotation is None:
            return self.buffers.bare_parameter(name)
        if annotation.value in self.coerce.captured:  # it could not be read
            return self.unknown_parameter(name)
        try:
            return self.buffers.parameter(name, annotation)
        except Rejected as error:
            self.context.unread_info(error, annotation.span)
            return self.unknown_parameter(name)

    def unknown_parameter(self, name: Entry) -> tir.Var:
        buffer = tir.Buffer(name.value, (), VOID, {}, name.span)
        self.coerce.captured.add(buffer)
        self.scope.bind(name.value, buffer)
        return tir.Var(name.value, HANDLE, name.span)

    def function(
        self, signature: Signature, comments: tuple[str, ...], frame: Frame, body: Entry, span: Span
    ) -> tir.PrimFunc:
        self.reports.refuse_what_is_no_python(span)
        if self._leaving and not self.reports.has_errors_in(span):
            first, word = self._leaving[0], self.context.text_of(self._leaving[0])
            self.reports.error(f"no loop is around this `{word}`", first)
        self._leaving.clear()
        found = self.bodies.body(body.value)
        return prim_function(self.context, signature, comments, frame, found, span)

    def lost(self, given_up: list[Entry], span: Span) -> tir.Stmt:
        found = self.bodies.opaque(span)
        text, goes_on = self.context.text, self.context.text_of(span).rstrip().endswith("\\")
        for first in islice(words_of(text, span), 1):
            if isinstance(self.scope.names.get(first.value), Sequence):  # it stands for a part
                self.scope.bind(first.value, tir.Var(first.value, VOID, first.span))
            goes_on = goes_on or first.value in CLAUSES
        if given_up and not goes_on:  # otherwise it is no Python without what is around it
            self.reports.refuse_what_is_no_python(span)
        return found

    # ------------------------------------------------------------ simple statements

    def assign(self, name: Entry, annotation: Entry | None, value: Entry, span: Span) -> Any:
        if isinstance(value.value, Form) and value.value.head == "T.launch_thread":
            return self._enter(value, [name])
        return self.assignments.assign(name, annotation, value, span)

    def store(self, target: Entry, value: Entry, span: Span) -> tir.Stmt:
        found = target.value
        if not isinstance(found, tir.BufferLoad):
            self._refuse_target(target)
            return self.bodies.opaque(span, found, value.value)
        texts = (index.text for index in found.indices if isinstance(index, tir.OpaqueExpr))
        if any(text.startswith(":") or text.endswith(":") for text in texts):
            words = "a slice that is stored to needs its start and its stop"
            raise Rejected(words, *target.span, certain=True)
        stored = value.value
        if isinstance(stored, tir.OpaqueExpr):
            self._refuse_kept(stored, value.span)
        if stored is None or isinstance(stored, str | Sequence | dict):
            what = "a string" if isinstance(stored, str) else describe(stored)
            self._refuse_stored(what, value.span)
        prim = self.coerce.prim(value, found.buffer.dtype)
        return tir.BufferStore(found.buffer, found.indices, prim, span)

    def _refuse_kept(self, stored: tir.OpaqueExpr, span: Span) -> None:
        """Refuse text that is certainly no number."""
        what = no_number(stored, self.scope.names)
        if what is not None:
            self._refuse_stored(what, span)
        if stored.text.endswith("]"):
            self._refuse_element_of_element(span)

    def _refuse_stored(self, what: str, value: Span) -> NoReturn:
        raise Rejected(f"a stored value must be a number, not {what}", *value, settled=True)

    def _refuse_target(self, target: Entry) -> None:
        """Refuse to store to what is certainly no place in memory."""
        self._refuse_element_of_element(target.span)
        if isinstance(target.value, int | tir.PrimExpr) and not isinstance(
            target.value, tir.OpaqueExpr | tir.Var
        ):
            words = "a number is no element of a buffer: it cannot be stored to"
            raise Rejected(words, *target.span, certain=True)

    def _refuse_element_of_element(self, span: Span) -> None:
        name, bracket, _ = self.coerce.text_of(span).partition("[")
        if bracket and isinstance(self.scope.names.get(name.strip()), tir.Buffer):
            words = f"an element of {name.strip()!r} is a number, which has no elements"
            help = f"write all indices in one pair of brackets, such as `{name.strip()}[i, j]`"
            raise Rejected(words, *span, help, certain=True)

    def augmented(self, target: Entry, operator: str, value: Entry, span: Span) -> Any:
        found = target.value
        if isinstance(found, tir.Buffer):
            words = f"{found.name!r} is a buffer: arithmetic is done on its elements"
            raise Rejected(words, *target.span, certain=True)
        if is_number_variable(found) and not assigns_lets(self.context.text):
            value = Entry(arithmetic.binary(self.coerce, operator, target, value), *value.span)
            return self.assign(Entry(found.name, *target.span), None, value, span)
        if not isinstance(found, tir.BufferLoad):
            self._refuse_target(target)
            return self.bodies.opaque(span, found, value.value)
        result = arithmetic.binary(self.coerce, operator, target, value)
        return tir.BufferStore(found.buffer, found.indices, result, span)

    def expression(self, value: Entry) -> Any:
        found, span = value.value, value.span
        if isinstance(found, Form):
            return self._form(found, span)
        if isinstance(found, str):
            return None
        if isinstance(found, Name) and found.text in LEAVING:
            self._leaving.append(span)
            return tir.Evaluate(tir.Call(LEAVING[found.text], (), None, {}, span), span)
        if isinstance(found, tir.PrimExpr) and not isinstance(found, tir.OpaqueExpr):
            return tir.Evaluate(found, span)
        return self.bodies.opaque(span)

    def _form(self, form: Form, span: Span) -> Any:
        match form.head:
            case "T.reads" | "T.writes":
                return Part(form.head[2:], self._regions(form), span)
            case "T.where":
                return Part("where", self._operand(form, span), span)
            case head if head in BLOCK_ATTR_WORDS:
                return Part("attrs", form.args[0].value if form.args else {}, span)
            case "T.func_attr":
                self._func_attr(form, span)
                return None
            case "T.evaluate":
                return tir.Evaluate(self._evaluated(form, span), span)
            case "T.match_buffer":
                return self.bodies.opaque(span)
            case head if head in AXES:
                return self.assign(Entry("_", *span), None, Entry(form, *span), span)
            case "T.func_name":
                words = "the name of a decorated function is that of its `def`"
                raise Rejected(words, *span, certain=True)
            case "T.buffer_store":
                stored = self._buffer_store(form, span)
                if stored is not None:
                    return stored
        return tir.Evaluate(self.coerce.tir_form(form, span), span)

    def _buffer_store(self, form: Form, span: Span) -> tir.Stmt | None:
        """`T.buffer_store(B, value, [i, j])` is `B[i, j] = value`."""
        if len(form.args) != 3 or not isinstance(form.args[0].value, tir.Buffer):
            return None
        only(self.reports, form, ())
        buffer, value, indices = form.args
        places = tuple(self.coerce.prim(item, INT32) for item in unfolded([indices]))
        load = tir.BufferLoad(buffer.value, places, indices.span)
        return self.store(Entry(load, *indices.span), value, span)

    def _evaluated(self, form: Form, span: Span) -> tir.PrimExpr:
        """The operand of `T.evaluate`: a number, or a pointer."""
        inner, found = form.args[0].value if form.args else None, self._operand(form, span)
        what = None
        if isinstance(inner, Form) and inner.head in _DESCRIPTIONS:
            what = describe(inner)
        elif isinstance(found, tir.OpaqueExpr) and not is_pointer(found, self.scope.names):
            what = no_number(found, self.scope.names)
        if what not in (None, "a name"):  # a string is a value of TIR
            raise Rejected(f"T.evaluate takes a number, not {what}", *span, certain=True)
        return found

    def _operand(self, form: Form, span: Span) -> tir.PrimExpr:
        if len(form.args) == 1:
            return self.coerce.prim(form.args[0], INT32)
        given = f"{len(form.args)} are given"
        raise Rejected(f"{form.head} takes one argument, but {given}", *span, certain=True)

    def _func_attr(self, form: Form, span: Span) -> None:
        if len(form.args) != 1 or not isinstance(form.args[0].value, dict):
            raise Rejected("T.func_attr takes a dictionary", *span)
        add_attributes(self.context, "T.func_attr", form.args[0].value, span)

    def _regions(self, form: Form) -> tuple[tir.PrimExpr, ...]:
        only(self.reports, form, ())
        items = unfolded(form.args)
        for item in items:
            if isinstance(item.value, (dict, str, type(None))):
                raise Rejected(f"{form.head} takes regions of buffers", *item.span, certain=True)
        found = tuple(self.coerce.prim(item, INT32) for item in items)
        for item, region in zip(items, found, strict=True):
            for part in region.indices if isinstance(region, tir.BufferLoad) else ():
                step = part.step if isinstance(part, tir.Slice) else None
                if step is not None and getattr(step, "value", None) != 1:
                    words = f"{form.head} takes regions without gaps: a slice has no step here"
                    raise Rejected(words, *item.span, certain=True)
        return found

    def asserted(self, condition: Entry, message: Entry | None, span: Span) -> tir.Stmt:
        """`assert c, "text"`, `assert c, ("RuntimeError", ["part", …])`."""
        found = self.coerce.prim(condition, INT32)
        if message is None:
            words, help = "an assert of a PrimFunc needs a message", 'write `assert …, "message"`'
            raise Rejected(words, *span, help, certain=True)
        if isinstance(message.value, (int, float, dict, type(None))):
            words = f"the message of an assert is a string, found {describe(message.value)}"
            raise Rejected(words, *message.span, certain=True)
        match message.value:
            case str(text):
                return tir.Assert(found, (text,), None, span)
            case Sequence(items=[(str(kind), _, _), (Sequence(items=parts), _, _)]):
                texts = tuple(part.value for part in parts)
                if all(isinstance(text, str) for text in texts):
                    return tir.Assert(found, texts, kind, span)
        return self.bodies.opaque(span)

    def returned(self, value: Entry, span: Span) -> tir.Stmt:
        """`return e` is `T.ret(e)` of versions before 0.27."""
        result = self.coerce.prim(value, INT32)
        return tir.Evaluate(tir.Call("ret", (result,), None, {}, span), span)

    # ------------------------------------------------------------ if, while, for

    def open_if(self, condition: Entry, span: Span) -> Open:
        found = (self.coerce.prim(condition), condition.span)
        return open_scope(self.scope, found, self.scope.frame.kind, span)

    def close_if(self, head: Entry, then: Entry, otherwise: Entry | None, span: Span) -> tir.Stmt:
        yes = self.bodies.body(then.value)
        no = None if otherwise is None else self.bodies.body(otherwise.value)
        condition, _ = head.value.value
        return tir.IfThenElse(condition, yes, no, span)

    def open_while(self, condition: Entry, span: Span) -> Open:
        return open_scope(self.scope, self.coerce.prim(condition), "block", span)

    def close_while(self, head: Open, body: list[Any], span: Span) -> tir.Stmt:
        self._close_loop(span)
        return tir.While(head.value, self.bodies.body(body), span)

    def close_for(self, head: Open, body: list[Any], span: Span) -> tir.Stmt:
        self._close_loop(span)
        return self.loops.close(head, body, span)

    def headless(self, body: list[Any], span: Span) -> tir.Stmt:
        if any(isinstance(item, Part) for item in flatten(body)):
            return self.bodies.block(Form(BLOCK_WORDS[0], [], {}), body, span)
        return self.bodies.body(body)

    def _close_loop(self, span: Span) -> None:
        self.scope.close()
        self._leaving = [at for at in self._leaving if not span[0] <= at[0] <= span[1]]

    # ------------------------------------------------------------ with

    def open_with(self, frame: Entry, names: Entry | None, span: Span) -> Open:
        value = frame.value
        loops = isinstance(value, Form) and value.head in ("T.grid", BLOCK_WORDS[0])
        if names is not None and loops:  # 2022: `with T.grid(n, m) as i, j:` are loops
            grid = Entry(Form("T.grid", unfolded(value.args), {}), *frame.span)
            return self.loops.open(names, grid, span)
        opened = open_scope(self.scope, None, "block", span)
        opened.value = self._enter(frame, [] if names is None else names.value)
        return opened

    def _enter(self, head: Entry, names: list[Entry]) -> Any:
        """The head of a `with`, its names bound; one that is not known stays as it is."""
        value, span = head.value, head.span
        if isinstance(value, Form) and value.head in ENTERED and len(names) <= 1:
            call = self.coerce.tir_form(value, span)
            assert isinstance(call, tir.Call)
            var = None
            for name in names:
                data_type = type_or(call.args[-1], INT32) if call.args else INT32
                var = tir.Var(name.value, data_type, name.span)
                self.scope.bind(name.value, var)
            return Entered(call, var)
        for name in names:
            self.scope.bind(name.value, tir.Var(name.value, VOID, name.span))
        if isinstance(value, Form) and value.head in BLOCK_WORDS:
            self._refuse_more_than_a_name(value, head.span)
            if names and value.head != BLOCK_WORDS[0]:  # that of 2021 gave its axes
                words = f"{value.head} gives no value that `as` could bind"
                self.reports.error(words, names[0].span)
        return value

    def _refuse_more_than_a_name(self, block: Form, span: Span) -> None:
        match block.args:
            case [Entry(value=found) as name, *_] if not isinstance(found, str):
                words = f"{block.head} takes a name, found {describe(found)}"
                raise Rejected(words, *name.span)
            case [] | [_] if block.keywords.keys() <= {"name"}:
                return
            case [_, Entry(value=flag) as second] if not isinstance(flag, bool):
                words = f"{block.head} takes True or False behind its name, found {describe(flag)}"
                self.reports.note(words, second.span, "PARSE", "warning")
        raise Rejected(f"{block.head} takes only a name", *span, kept=True)

    def close_with(self, head: Open, body: list[Any], span: Span) -> Any:
        self.scope.close()
        value = head.value
        if isinstance(value, tuple):
            return self.loops.close(head, body, span)
        if isinstance(value, Entered):
            return tir.With(value.call, value.var, self.bodies.body(body), span)
        if isinstance(value, Form):
            if value.head in BLOCK_WORDS:
                return self.bodies.block(value, body, span)
            if is_number(value):
                words = f"`with` does not accept {value.head}"
                self.reports.error(words, span)
            match value.head, value.args:
                case "T.Assert", [condition, message]:
                    return [self.asserted(condition, message, condition.span), *body]
                case "T.init", given:
                    if given or value.keywords:
                        self.reports.error("T.init takes no arguments", span)
                    return Part("init", self.bodies.body(body), span)
        is_told = isinstance(value, tir.OpaqueExpr) and not value.text
        if isinstance(value, tir.PrimExpr | tir.Buffer) and not is_told:
            what = "a buffer" if isinstance(value, tir.Buffer) else "a number"
            self.reports.error(f"`with` does not accept {what}", span)
        return self.bodies.opaque(span)
