"""The actions of statements: each is passed to the reader of its scope."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.node import Span
from rlx.grammar.read.entries import Entry, Rejected
from rlx.grammar.read.partial_nodes import Name, Open, Signature, flatten, open_scope
from rlx.grammar.read.scope import Frame, Scope


class StatementReader(Protocol):
    """Reads the statements of one kind of scope."""

    def parameter(self, name: Entry, annotation: Entry | None) -> Any:
        """`name: annotation` in the head of a function"""

    def unknown_parameter(self, name: Entry) -> Any:
        """A parameter with nothing readable but its name."""

    def function(
        self, signature: Signature, comments: tuple[str, ...], frame: Frame, body: Entry, span: Span
    ) -> ast.Function | tir.PrimFunc:
        """A function, made from its scope when the scope is closed."""

    def lost(self, given_up: list[Entry], span: Span) -> Any:
        """The replacement of a statement that cannot be read; ``given_up`` is the part that was
        read.
        """

    def assign(self, name: Entry, annotation: Entry | None, value: Entry, span: Span) -> Any:
        """`name = value`, `name: annotation = value`"""

    def declare(self, name: Entry, annotation: Entry, span: Span) -> Any:
        """`name: annotation`"""

    def unpack(self, names: list[Entry], value: Entry, span: Span) -> Any:
        """`a, b = value`"""

    def store(self, target: Entry, value: Entry, span: Span) -> Any:
        """`target[…] = value`"""

    def augmented(self, target: Entry, operator: str, value: Entry, span: Span) -> Any:
        """`target += value`"""

    def expression(self, value: Entry) -> Any:
        """A value on its own."""

    def returned(self, value: Entry, span: Span) -> Any:
        """`return value`"""

    def asserted(self, condition: Entry, message: Entry | None, span: Span) -> Any:
        """`assert condition, message`"""

    def open_if(self, condition: Entry, span: Span) -> Open:
        """The head of an `if`."""

    def close_if(self, head: Entry, then: Entry, otherwise: Entry | None, span: Span) -> Any:
        """An `if` with its blocks; its scopes are closed."""

    def open_with(self, frame: Entry, names: Entry | None, span: Span) -> Open:
        """The head of a `with`."""

    def close_with(self, head: Open, body: list[Any], span: Span) -> Any:
        """A `with` and its block."""

    def open_for(self, names: Entry, loops: Entry, span: Span) -> Open:
        """The head of a `for`."""

    def close_for(self, head: Open, body: list[Any], span: Span) -> Any:
        """A `for` and its block."""

    def open_while(self, condition: Entry, span: Span) -> Open:
        """The head of a `while`."""

    def close_while(self, head: Open, body: list[Any], span: Span) -> Any:
        """A `while` and its block."""

    def headless(self, body: list[Any], span: Span) -> Any:
        """A block whose head cannot be read."""


class StatementActions:
    """Actions of statements and blocks.

    Parameters
    ----------
    scope
        The open scopes.
    readers
        Returns the reader for each kind of scope.
    """

    def __init__(self, scope: Scope, readers: dict[str, Callable[[], StatementReader]]) -> None:
        self.scope = scope
        self.readers = readers

    @property
    def reader(self) -> StatementReader:
        """The reader of the innermost scope."""
        return self.readers[self.scope.frame.kind]()

    # ------------------------------------------------------------ blocks

    def do_indented(self, span: Span, statements: Entry) -> list[Any]:
        found: list[Any] = statements.value
        return found

    def do_inline(self, span: Span, statement: Entry) -> list[Any]:
        return flatten([statement.value])

    def do_statements(self, span: Span, before: Entry | None, statement: Entry) -> list[Any]:
        if before is None:
            return [statement.value]
        items: list[Any] = before.value
        items.append(statement.value)
        return items

    def do_several(self, span: Span, first: Entry, second: Entry | None) -> list[Any]:
        return flatten([first.value, None if second is None else second.value])

    def do_line(self, span: Span, statement: Entry) -> Any:
        return statement.value

    # ------------------------------------------------------------ simple statements

    def do_assign(self, span: Span, target: Entry, value: Entry) -> Any:
        return self.reader.assign(_named(target), None, value, span)

    def do_annotated(self, span: Span, name: Entry, annotation: Entry, value: Entry) -> Any:
        return self.reader.assign(name, annotation, value, span)

    def do_annotated_by_name(self, span: Span, name: Entry, target: Entry, value: Entry) -> Any:
        return self.reader.assign(name, annotation_by_name(target), value, span)

    def do_declare(self, span: Span, name: Entry, annotation: Entry) -> Any:
        return self.reader.declare(name, annotation, span)

    def do_unpack(self, span: Span, names: Entry, last: Entry, value: Entry) -> Any:
        return self.reader.unpack([*names.value, _named(last)], value, span)

    def do_unpack_listed(self, span: Span, names: Entry, value: Entry) -> Any:
        """`a, b, = value`"""
        return self.reader.unpack(names.value, value, span)

    def do_store(self, span: Span, target: Entry, value: Entry) -> Any:
        return self.reader.store(target, value, span)

    def do_augmented_store(self, span: Span, target: Entry, operator: Entry, value: Entry) -> Any:
        return self.reader.augmented(target, operator.value[:-1], value, span)

    def do_expression(self, span: Span, value: Entry) -> Any:
        return self.reader.expression(value)

    def do_return(self, span: Span, value: Entry | None) -> Any:
        if value is None:
            raise Rejected("expected a value to return", *span, certain=True)
        return self.reader.returned(value, span)

    def do_pass(self, span: Span) -> None:
        dots = span[1] - span[0] == len("...")  # one token with `pass`, which TVM reads
        if dots:
            kind = "of a PrimFunc" if self.scope.in_prim_func() else "of Relax"
            help = "write the statements that it stands for"
            raise Rejected(f"`...` is not a statement {kind}", *span, help, certain=True)

    def do_assert(self, span: Span, condition: Entry, message: Entry | None) -> Any:
        return self.reader.asserted(condition, message, span)

    def do_unpack_annotated(
        self, span: Span, names: Entry, last: Entry, annotation: Entry, value: Entry
    ) -> Any:
        raise Rejected("expected one name before the annotation", *span)

    # ------------------------------------------------------------ if

    def do_if_head(self, span: Span, condition: Entry) -> Open:
        return self.reader.open_if(condition, span)

    def do_elif_open(self, span: Span) -> None:
        self.scope.close()

    def do_elif_head(self, span: Span, opened: Entry, condition: Entry) -> Open:
        return self.reader.open_if(condition, span)

    def do_else_head(self, span: Span) -> Open:
        kind = self.scope.close().kind
        return open_scope(self.scope, None, kind, span)

    def do_if_stmt(
        self, span: Span, head: Entry, then: Entry, no: Entry | None, otherwise: Entry | None
    ) -> Any:
        reader = self.readers[self.scope.close().kind]()
        return reader.close_if(head, then, otherwise, span)

    def do_if_elif(self, span: Span, head: Entry, then: Entry, otherwise: Entry) -> Any:
        branch = Entry([otherwise.value], *otherwise.span)
        return self.readers[head.value.kind]().close_if(head, then, branch, span)

    # ------------------------------------------------------------ with, for, while

    def do_with_head(self, span: Span, frame: Entry, names: Entry | None) -> Open:
        return self.reader.open_with(frame, names, span)

    def do_with_stmt(self, span: Span, head: Entry, body: Entry) -> Any:
        return self.reader.close_with(head.value, body.value, span)

    def do_for_head(self, span: Span, names: Entry, loops: Entry) -> Open:
        return self.reader.open_for(names, loops, span)

    def do_for_head_listed(self, span: Span, names: Entry, loops: Entry) -> Open:
        """`for a, b, in …`, `for (a, b) in …`"""
        if len(names.value) == 1:
            words = "not supported by TVM in a PrimFunc: a tuple of one loop variable"
            raise Rejected(words, *names.span, certain=True)
        return self.reader.open_for(names, loops, span)

    def do_for_stmt(self, span: Span, head: Entry, body: Entry) -> Any:
        return self.reader.close_for(head.value, body.value, span)

    def do_headless(self, span: Span, body: Entry) -> Any:
        return self.reader.headless(body.value, span)

    def do_while_head(self, span: Span, condition: Entry) -> Open:
        return self.reader.open_while(condition, span)

    def do_while_stmt(self, span: Span, head: Entry, body: Entry) -> Any:
        return self.reader.close_while(head.value, body.value, span)


def _named(target: Entry) -> Entry:
    """The name in a TARGET token, which holds the `=`, too."""
    return Entry(target.value, target.start, target.start + len(target.value))


def annotation_by_name(target: Entry) -> Entry:
    """The annotation in `x: T = value`, in which `T =` is one token."""
    name = _named(target)
    return Entry(Name(name.value), *name.span)
