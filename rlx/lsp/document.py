"""What an editor asks of one text: what stands where, where it comes from, what could stand
there.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from typing import Any

from rlx.checker.check import Report, check_text
from rlx.checker.why.place import Construct, constructs
from rlx.grammar.diagnostic import Edit, Source
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import StructInfo
from rlx.grammar.nodes.node import Record, Span
from rlx.grammar.read.source_tokens import open_bracket, statements, words_in
from rlx.grammar.stack import recursion_room
from rlx.grammar.streams import fenced, visible


class Occurrence(Record):
    """A name that stands for a variable or a function.

    Attributes
    ----------
    is_definition
        Whether it is bound here.
    """

    subject: ast.Var | ast.GlobalVar
    span: Span
    is_definition: bool


class Hint(Record):
    """What an editor shows behind a name that has no annotation."""

    offset: int
    text: str


class RenameError(ValueError):
    """A name cannot be changed; the message says why."""


class Document:
    """One version of a text, with what the checker knows of it.

    Parameters
    ----------
    report
        The report on this text, if it is known already.
    target
        The version of TVM that is to read the text; None infers it from the text.
    """

    def __init__(
        self, text: str, path: str, report: Report | None = None, target: str | None = None
    ) -> None:
        self.source = Source(text, path)
        self.target = target
        self._report = report

    @cached_property
    def report(self) -> Report:
        """What the checker says."""
        if self._report is not None:
            return self._report
        with recursion_room():
            return check_text(self.source.text, self.source.path, self.target)

    @cached_property
    def constructs(self) -> list[Construct]:
        """What has struct info and a place, outer before inner."""
        return constructs(self.report.modules, self.report.source)

    @cached_property
    def occurrences(self) -> list[Occurrence]:
        """The names of variables and functions, in order of the text."""
        found = {o.span: o for o in self._found() if self._is_there(o)}
        return sorted(found.values(), key=lambda o: o.span)

    def _is_there(self, occurrence: Occurrence) -> bool:
        """Whether the text has the name at that place; what normal form adds is nowhere."""
        written = self.source.text[slice(*occurrence.span)]
        return written == occurrence.subject.name_hint

    def _found(self) -> Iterator[Occurrence]:
        text = self.source.text
        for module in self.report.modules:
            for name, function in module.functions.items():
                if function.name_span is not None:
                    yield Occurrence(name, function.name_span, True)
        for each in self.constructs:
            subject = each.subject
            if each.kind == "parameter" and isinstance(subject, ast.Var):
                yield _named(subject, each.span[0], True)
            elif each.kind == "binding":
                var = subject.var  # type: ignore[attr-defined]
                if var is not None and var.span is not None:
                    yield _named(var, var.span[0], True)
            elif each.kind in ("expression", "result"):
                yield from self._uses(each)
        for each in reversed(self.constructs):  # the variable of the outermost `if` has the name
            if each.kind == "binding" and each.subject.var is not None:  # type: ignore[attr-defined]
                yield from _in_branches(each.subject.var, each.subject.value, text)  # type: ignore[attr-defined]
        yield from _outputs(self.report, text)

    def _uses(self, each: Construct) -> Iterator[Occurrence]:
        subject = each.subject
        if isinstance(subject, ast.SeqExpr):
            subject = subject.body
        if isinstance(subject, ast.Var):
            yield _named(subject, each.span[0], False)
        elif isinstance(subject, ast.GlobalVar):
            written = self.source.text[slice(*each.span)]
            start = each.span[1] - len(subject.name_hint)
            if written.endswith(subject.name_hint):
                yield Occurrence(subject, (start, each.span[1]), False)

    # ---------------------------------------------------------------- what stands here

    def construct_at(self, offset: int) -> Construct | None:
        """The innermost thing that has struct info at an offset."""
        here = [c for c in self.constructs if c.span[0] <= offset < max(c.span[1], c.span[0] + 1)]
        return min(reversed(here), key=lambda c: c.span[1] - c.span[0]) if here else None

    def occurrence_at(self, offset: int) -> Occurrence | None:
        """The name at an offset; behind its last letter counts, too."""
        for occurrence in self.occurrences:
            if occurrence.span[0] <= offset <= occurrence.span[1]:
                return occurrence
        return None

    def hover(self, offset: int) -> tuple[str, Span] | None:
        """What is known of what stands at an offset, as Markdown, and its place."""
        operator = self._operator_at(offset)
        if operator is not None:
            return operator
        occurrence = self.occurrence_at(offset)
        if occurrence is not None:
            info = self._info(occurrence.subject)
            text = fenced("python", visible(f"{occurrence.subject.name_hint}: {info}"))
            return f"{text}\n\n{self._origin(occurrence)}".rstrip(), occurrence.span
        construct = self.construct_at(offset)
        if construct is None or not isinstance(construct.subject, ast.Expr):
            return None
        return fenced("python", visible(str(self._info(construct.subject)))), construct.span

    def _origin(self, occurrence: Occurrence) -> str:
        """The rule that gave it, and its premises: the head of what `rlx why` prints."""
        from rlx.checker.why.explain import why
        from rlx.checker.why.place import PlaceError

        line, column = self.source.position(occurrence.span[0])
        try:
            found = why(self.source.text, self.source.path, line, column)
        except PlaceError:
            return ""
        shown = list(map(visible, islice(found.lines({}), _WHY + 1)))
        more = ["…"] if len(shown) > _WHY else []
        return fenced("text", "\n".join([*shown[:_WHY], *more]))

    def _operator_at(self, offset: int) -> tuple[str, Span] | None:
        for each in self.constructs:
            call = each.subject
            if not isinstance(call, ast.Call) or call.op_span is None:
                continue
            if call.op_span[0] <= offset < call.op_span[1] and isinstance(call.op, ast.Op):
                name = call.op.op_name.removeprefix("relax.")
                text = fenced("python", visible(f"{signature(name)} -> {self._info(call)}"))
                return text, call.op_span
        return None

    def _info(self, node: ast.Expr) -> StructInfo | str:
        info = self.report.info.get(node)
        if info is None and isinstance(node, ast.Var):
            info = node.struct_info_annotation
        return "R.Any" if info is None else info

    # ---------------------------------------------------------------- where it comes from

    def definition(self, offset: int) -> Span | None:
        """Where the name at an offset is bound."""
        found = self.occurrence_at(offset)
        if found is None:
            return None
        for other in self.occurrences:
            if other.subject is found.subject and other.is_definition:
                return other.span
        return None

    def references(self, offset: int, definitions: bool = True) -> list[Span]:
        """All places of the name at an offset."""
        found = self.occurrence_at(offset)
        if found is None:
            return []
        return [
            other.span
            for other in self.occurrences
            if other.subject is found.subject and (definitions or not other.is_definition)
        ]

    def rename(self, offset: int, name: str) -> list[Edit]:
        """The edits that give what stands at an offset another name, and change nothing else.

        Raises
        ------
        RenameError
            If there is nothing to be renamed, the name is none, or it would stand for something
            else.
        """
        if not name.isidentifier():
            raise RenameError(f"{name!r} is not a valid name")
        found = self.occurrence_at(offset)
        if found is None:
            raise RenameError("there is no variable or function at this place")
        edits = [Edit(span, name) for span in self.references(offset)]
        if self.definition(offset) is None:
            raise RenameError(f"{found.subject.name_hint!r} is not bound in this text")
        if isinstance(found.subject, ast.GlobalVar) and self._mentions(name):
            raise RenameError(f"the name {name!r} is already in use")
        self._keeps_the_program(edits, name, isinstance(found.subject, ast.GlobalVar))
        return edits

    def _mentions(self, name: str) -> bool:
        text = self.source.text
        return name in text and name in words_in(text, (0, len(text)))

    def _keeps_the_program(self, edits: list[Edit], name: str, is_global: bool) -> None:
        """Refuse a name that captures, or is captured; the name of a function is a part of the
        program.
        """
        from rlx.checker.fixing import with_edits_applied
        from rlx.grammar.nodes.equal import structural_equal
        from rlx.grammar.read.parser import parse

        renamed = parse(with_edits_applied(self.source.text, edits), self.source.path)
        before = parse(self.source.text, self.source.path)
        same = is_global or (
            len(before.modules) == len(renamed.modules)
            and all(
                len(a.functions) == len(b.functions)
                and all(
                    structural_equal(f, g)
                    for f, g in zip(a.functions.values(), b.functions.values(), strict=True)
                )
                for a, b in zip(before.modules, renamed.modules, strict=True)
            )
        )
        if not same or _errors(before.diagnostics) != _errors(renamed.diagnostics):
            raise RenameError(f"renaming to {name!r} would change what the program means")

    # ---------------------------------------------------------------- what could stand here

    def completions(self, offset: int) -> list[tuple[str, str, Span]]:
        """What could stand before an offset: the word, what it is, and the text that it
        replaces.
        """
        text = self.source.text
        start = offset
        while start and (text[start - 1].isalnum() or text[start - 1] in "_."):
            start -= 1
        word = text[start:offset]
        span = (start, offset)
        if word.startswith(("R.", "relax.")):
            prefix = word.partition(".")[0]
            return [(f"{prefix}.{n}", signature(n), span) for n in operator_names()]
        return [
            *((f"{keyword}=", what, span) for keyword, what in self._keywords(start)),
            *((name, info, span) for name, info in self._names_before(start)),
        ]

    def _keywords(self, offset: int) -> Iterator[tuple[str, str]]:
        """The parameters of the operator whose call is open at an offset."""
        from rlx.operators.registry import lookup

        head = open_bracket(self.source.text, offset)
        letter, _, name = head.removesuffix("(").partition(".")
        operator = lookup(f"relax.{name}") if name and letter in ("R", "relax") else None
        for parameter in operator.parameters if operator is not None else ():
            yield parameter.name, parameter.kind

    def _names_before(self, offset: int) -> Iterator[tuple[str, str]]:
        """The variables that are bound before an offset in its function, and the functions."""
        start = self.source.text.rfind("\ndef ", 0, offset)
        start = max(start, self.source.text.rfind("\n    def ", 0, offset))
        seen = set()
        for occurrence in reversed(self.occurrences):
            name = occurrence.subject.name_hint
            is_global = isinstance(occurrence.subject, ast.GlobalVar)
            if not occurrence.is_definition or name in seen:
                continue
            if is_global or start <= occurrence.span[0] < offset:
                seen.add(name)
                shown = f"cls.{name}" if is_global else name
                yield shown, visible(str(self._info(occurrence.subject)))

    def hints(self) -> list[Hint]:
        """The derived struct info of variables whose binding has no annotation."""
        found = []
        for each in self.constructs:
            if each.kind != "binding":
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


def _named(subject: ast.Var, start: int, is_definition: bool) -> Occurrence:
    return Occurrence(subject, (start, start + len(subject.name_hint)), is_definition)


def _in_branches(var: ast.Var, value: ast.Expr, text: str) -> Iterator[Occurrence]:
    """The places where branches bind the variable of their ``if``."""
    pending = [value]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.If):
            for branch in (node.true_branch, node.false_branch):
                span = branch.span if isinstance(branch, ast.SeqExpr) else None
                if span is not None:
                    firsts = [statement[0] for statement in statements(text, span)]
                    bound = [token for token in firsts if token.value == var.name_hint]
                    yield from (_named(var, token.start, True) for token in bound[-1:])
                pending.append(branch)
        elif isinstance(node, ast.SeqExpr):
            pending.append(node.body)


def _outputs(report: Report, text: str) -> Iterator[Occurrence]:
    """The names in ``R.output(…)``: they are uses of what the block binds."""
    for module in report.modules:
        for function in module.functions.values():
            for block in _dataflow_blocks(function):
                bindings: tuple[Any, ...] = block.bindings
                bound = {b.var.name_hint: b.var for b in bindings if b.var is not None}
                for statement in () if block.span is None else statements(text, block.span):
                    head, *names = statement
                    if head.type == "HEAD" and head.value.endswith((".output(", ".outputs(")):
                        known = (name for name in names if name.value in bound)
                        yield from (Occurrence(bound[n.value], n.span, False) for n in known)


def _dataflow_blocks(function: object) -> Iterator[ast.DataflowBlock]:
    from rlx.grammar.nodes.visit import expressions

    if not isinstance(function, ast.Function):
        return
    for node in expressions(function):
        if isinstance(node, ast.SeqExpr):
            yield from (block for block in node.blocks if isinstance(block, ast.DataflowBlock))


def _errors(diagnostics: tuple[object, ...]) -> int:
    return sum(getattr(d, "severity", "") == "error" for d in diagnostics)


def operator_names() -> list[str]:
    """The operators of Relax, without ``R.``."""
    from rlx.operators.registry import every_name

    return sorted(every_name())


def signature(name: str) -> str:
    """An operator with its parameters: ``R.sum(x: tensor, axis: ints = None, keepdims: bool =
    False)``.
    """
    from rlx.operators.parameters import Required
    from rlx.operators.registry import lookup

    operator = lookup(f"relax.{name}")
    if operator is None:
        return f"R.{name}(…)"
    shown = []
    for parameter in operator.parameters:
        star = "*" if parameter.variadic else ""
        default = "" if isinstance(parameter.default, Required) else f" = {parameter.default!r}"
        if parameter.optional and not default:
            default = " = None"
        shown.append(f"{star}{parameter.name}: {parameter.kind}{default}")
    return f"R.{name}({', '.join(shown)})"
