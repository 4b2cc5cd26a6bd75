"""Answers about one text: the construct at a place, its definition, its possible new names."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from keyword import iskeyword

from rlx.checker.check import Report, check_text
from rlx.checker.why.place import Construct, constructs, innermost_at
from rlx.grammar.diagnostic import Edit, Source
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import StructInfo
from rlx.grammar.nodes.node import Record, Span
from rlx.grammar.read.entries import Token
from rlx.grammar.read.source_tokens import on_one_line
from rlx.grammar.stack import recursion_room
from rlx.grammar.streams import fenced, visible
from rlx.lsp.cut import Cut, cut
from rlx.lsp.names import MODULES, PlacedName, TextNames
from rlx.lsp.statements import SMALL, Statements, split


class Hint(Record):
    """A hint that an editor shows behind a name that has no annotation."""

    offset: int
    text: str


class RenameError(ValueError):
    """A name cannot be changed; the message says why."""


KINDS = {
    "function": "function",
    "parameter": "parameter",
    "variable": "variable",
    "shape": "shape variable",
    "loop": "loop variable",
    "buffer": "buffer",
    "class": "module",
}
"""The kinds of names in sentences."""


class Document:
    """One version of a text, with what the checker knows of it.

    Parameters
    ----------
    report
        The report on this text, if it is known already.
    target
        The version of TVM that is to read the text; None infers it from the text.
    parts
        Its functions, if they are known already.
    statements
        Those of long functions in the version before, by the names of the functions.
    """

    def __init__(
        self,
        text: str,
        path: str,
        report: Report | None = None,
        target: str | None = None,
        parts: Cut | None = None,
        statements: dict[str, Statements] | None = None,
    ) -> None:
        self.source = Source(text, path)
        self.target = target
        self._report = report
        self._parts = parts
        self._statements = {} if statements is None else statements

    @cached_property
    def report(self) -> Report:
        """The report of the checker."""
        if self._report is not None:
            return self._report
        with recursion_room():
            return check_text(self.source.text, self.source.path, self.target)

    @property
    def is_checked(self) -> bool:
        """Whether the report is known."""
        return self._report is not None or "report" in self.__dict__

    @cached_property
    def names(self) -> TextNames:
        """The bindings and uses of the names of the text."""
        return TextNames(self.cut, self.statements)

    @cached_property
    def cut(self) -> Cut:
        """Its functions."""
        return self._parts or cut(self.source.text)

    def statements(self, number: int) -> Statements | None:
        """The statements of a long function by its number; None of a short one."""
        piece, text = self.cut.pieces[number], self.cut.of(number)
        if len(text) < SMALL:
            return None
        body, before = text[len(piece.head) :], self._statements.get(piece.name)
        made = self._statements[piece.name] = split(body) if before is None else before.after(body)
        return made

    @cached_property
    def constructs(self) -> list[Construct]:
        """The constructs that have struct info and a place, outer before inner."""
        return constructs(self.report.modules, self.report.source)

    @cached_property
    def bound(self) -> dict[int, ast.Expr]:
        """The variables and functions that the text binds, by the offsets of their names."""
        found: dict[int, ast.Expr] = {}
        for module in self.report.modules:
            for name, function in module.functions.items():
                if function.name_span is not None:
                    found[function.name_span[0]] = name
        for each in self.constructs:
            subject = each.subject
            if each.kind == "parameter" and isinstance(subject, ast.Var):
                found[each.span[0]] = subject
            elif each.kind == "binding":
                var = subject.var  # type: ignore[attr-defined]
                if var is not None and var.span is not None:
                    found[var.span[0]] = var
        return found

    # ---------------------------------------------------------------- what stands here

    def construct_at(self, offset: int) -> Construct | None:
        """The innermost thing that has struct info at an offset."""
        return innermost_at(self.constructs, offset)

    def operator_at(self, offset: int) -> tuple[str, Span] | None:
        """The operator, annotation or statement of the script at an offset, with its module."""
        for token in self._tokens_around(offset):
            if token.type in ("DOTTED", "HEAD"):
                word = token.value.removesuffix("(")
                if word.partition(".")[0] in MODULES:
                    return word, (token.start, token.start + len(word))
        return None

    def _tokens_around(self, offset: int) -> Iterator[Token]:
        stretch = self.names.stretch(offset)
        start = self.names.starts[stretch]
        for token in self.names.reading(stretch).tokens:
            if token.start + start <= offset < token.end + start:
                yield token._replace(start=token.start + start, end=token.end + start)

    def type_of(self, start: int) -> StructInfo | None:
        """The struct info of what the text binds at an offset."""
        node = self.bound.get(start)
        return None if node is None else self._info(node)

    def expression(self, offset: int) -> tuple[str, Span] | None:
        """The struct info of the innermost expression at an offset, and its place."""
        construct = self.construct_at(offset)
        if construct is None or not isinstance(construct.subject, ast.Expr):
            return None
        return visible(str(self._info(construct.subject) or "R.Any")), construct.span

    def call_result(self, offset: int) -> StructInfo | None:
        """The struct info of the call whose operator stands at an offset."""
        for each in self.constructs:
            call = each.subject
            span = call.op_span if isinstance(call, ast.Call) else None
            if span is not None and span[0] <= offset < span[1]:
                return self._info(call)  # type: ignore[arg-type]
        return None

    def derivation(self, offset: int) -> str:
        """The rule that gave what stands at an offset, and its premises: the head of what `rlx why`
        prints.
        """
        from rlx.checker.why.explain import why
        from rlx.checker.why.place import PlaceError

        line, column = self.source.position(offset)
        if len(self.source.text.split()) > _LONG:
            return f"`rlx why {visible(self.source.path)}:{line}:{column}` shows the derivation."
        try:
            found = why(self.source.text, self.source.path, line, column)
        except PlaceError:
            return ""
        shown = list(map(visible, islice(found.lines({}), _WHY + 1)))
        more = ["…"] if len(shown) > _WHY else []
        return fenced("text", "\n".join([*shown[:_WHY], *more]))

    def _info(self, node: ast.Expr) -> StructInfo | None:
        info = self.report.info.get(node)
        if info is None and isinstance(node, ast.Var):
            info = node.struct_info_annotation
        return info

    # ---------------------------------------------------------------- where it comes from

    def definition(self, offset: int) -> Span | None:
        """The binding of the name at an offset."""
        found = self.names.at(offset)
        place = None if found is None else self.names.definition(found)
        return None if place is None else place.span

    def references(self, offset: int, definitions: bool = True) -> list[Span]:
        """All places of the name at an offset."""
        found = self.names.at(offset)
        if found is None:
            return []
        places = self.names.places(found)
        return [each.span for each in places if definitions or not each.is_definition]

    def statement(self, offset: int) -> str:
        """The statement at an offset on one line, without the block below it."""
        stretch = self.names.stretch(offset)
        start = self.names.starts[stretch]
        here = [
            part.head
            for part in self.names.reading(stretch).parts
            if part.head[0] + start <= offset < part.head[1] + start
        ]
        if not here:
            return ""
        a, b = min(here, key=lambda head: head[1] - head[0])
        return on_one_line(self.source.text, (start + a, start + b)).removesuffix(":")

    # ---------------------------------------------------------------- other names

    def can_rename(self, offset: int) -> PlacedName:
        """The name at an offset. Raises RenameError if nothing there has a name, or it is not bound
        in this text.
        """
        found = self.names.at(offset)
        if found is None:
            raise RenameError("there is no variable or function at this place")
        if self.names.definition(found) is None:
            raise RenameError(f"{found.name!r} is not bound in this text")
        return found

    def rename(self, offset: int, name: str) -> list[Edit]:
        """The edits that give what stands at an offset another name, and change nothing else.
        Raises RenameError if there is nothing to be renamed, the name is none, or it would stand
        for something else.
        """
        if not name.isidentifier():
            raise RenameError(f"{name!r} is not a valid name")
        if iskeyword(name):
            raise RenameError(f"{name!r} is a keyword of Python")
        found = self.can_rename(offset)
        if name == found.name:
            return []
        if name in MODULES or name == "_":
            raise RenameError(f"{name!r} has a meaning of its own in a program")
        self._keeps_the_program(found, name)
        return [Edit(each.span, name) for each in self.names.places(found)]

    def _keeps_the_program(self, found: PlacedName, name: str) -> None:
        """Refuse a name that is taken where the renamed one is visible, or by something that is
        visible where that one is used.
        """
        local = isinstance(found.subject[0], int)
        places = self.names.places(found)
        here = self.names.around(found.span[0])
        for stretch in here if local else range(len(self.names.starts)):
            used = local or any(self.names.stretch(p.span[0]) == stretch for p in places)
            for other in self.names.of(stretch, name):
                if not used and other.kind not in ("function", "class"):
                    continue
                line, _ = self.source.position(other.span[0])
                what = KINDS.get(other.kind, other.kind)
                raise RenameError(f"{name!r} is the name of a {what} on line {line}")
        if local and name in self.names.top:
            raise RenameError(f"{name!r} is bound outside of the function")

    # ---------------------------------------------------------------- what is known of all names

    def hints(self, first: int = 0, last: int | None = None) -> list[Hint]:
        """The derived struct info of variables whose binding has no annotation, between two
        offsets.
        """
        found = []
        end = len(self.source.text) if last is None else last
        for each in self.constructs:
            if each.kind != "binding" or not first <= each.span[0] <= end:
                continue
            var = each.subject.var  # type: ignore[attr-defined]
            if var is None or var.span is None or var.annotation_span is not None:
                continue
            info = self.report.info.get(var)
            if info is not None and self.source.text[slice(*var.span)] == var.name_hint != "_":
                found.append(Hint(var.span[1], visible(f": {info}")))
        return found


_WHY = 12
"""Lines of a derivation that a hover shows."""
_LONG = 4_000
"""Words of a text that is not checked again for a hover."""
