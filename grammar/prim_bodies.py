"""Bodies of PrimFuncs: statements as one, and what describes the block that it stands in."""

from __future__ import annotations

from typing import Any

from rlx.grammar import tir
from rlx.grammar.dialects import BLOCK_ATTR_WORDS
from rlx.grammar.node import Span
from rlx.grammar.partial_nodes import flatten
from rlx.grammar.read_context import ReadContext
from rlx.grammar.reports import NOT_UNDERSTOOD
from rlx.grammar.unresolved import Form

_WORDS = {"axis": "T.axis", "attrs": BLOCK_ATTR_WORDS[-1]}


class Part:
    """A statement that describes the block it stands in: an axis, a region, a predicate."""

    __slots__ = ("kind", "span", "value")

    def __init__(self, kind: str, value: Any, span: Span) -> None:
        self.kind = kind
        self.value = value
        self.span = span


class Entered:
    """The head of a `with` that stands around statements, or around those that follow it."""

    __slots__ = ("call", "var")

    def __init__(self, call: tir.Call, var: tir.Var | None) -> None:
        self.call = call
        self.var = var


class PrimBodies:
    """Makes statements of the statements of a block."""

    def __init__(self, context: ReadContext) -> None:
        self.text = context.text
        self.reports = context.reports

    def opaque(self, span: Span) -> tir.OpaqueStmt:
        """Lines kept as they stand."""
        start, end = span
        line = self.text.rfind("\n", 0, start) + 1
        lead = self.text[line:start]
        width = len(lead.expandtabs(8))
        first, *rest = self.text[start:end].rstrip().split("\n")
        # The first line decides where the statement stands; inside brackets others may be left of
        # it.
        moved = [line.expandtabs(8) for line in rest]
        moved = [line[min(width, len(line) - len(line.lstrip())) :].rstrip() for line in moved]
        text = "\n".join([first.rstrip(), *moved])
        if not self.reports.has_errors_in(span):
            self.reports.note(NOT_UNDERSTOOD, span)
        return tir.OpaqueStmt(text, span)

    def body(self, statements: list[Any], in_block: bool = False) -> tir.Stmt:
        """Statements as one; what describes a block is dropped outside of one."""
        found: list[tir.Stmt] = []
        around: list[tuple[Entered, list[tir.Stmt]]] = []
        for part in flatten(statements):
            if isinstance(part, Entered):
                around.append((part, found))
                found = []
            elif isinstance(part, tir.Stmt):
                found.append(part)
                if isinstance(part, tir.MatchBuffer) and not in_block:
                    words = "T.match_buffer of a region describes a block, and stands in none"
                    self.reports.error(words, part.span or (0, 0), layout=True)
            elif isinstance(part, Part) and not in_block:
                found += self._without_block(part)
        body = _joined(found)
        while around:
            entered, found = around.pop()
            body = _joined([*found, tir.With(entered.call, entered.var, body, entered.call.span)])
        return body

    def _without_block(self, part: Part) -> list[tir.Stmt]:
        """What describes a block, and stands in none: only allocations mean something there."""
        if part.kind == "alloc":
            return [part.value]
        word = _WORDS.get(part.kind, f"T.{part.kind}")
        words = f"{word} describes a block, and stands in none"
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
                        self.reports.error(f"T.{item.kind} stands twice in one block", item.span)
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
