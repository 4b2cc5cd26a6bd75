"""The actions of subscripts: buffers, tuples, annotations in square brackets,
constants of the metadata.
"""

from __future__ import annotations

from typing import Any

from rlx.grammar import ast, misspelt, tir
from rlx.grammar.dtype import INT32, VOID
from rlx.grammar.entries import Entry, Rejected
from rlx.grammar.forms import FORMS, Arguments
from rlx.grammar.names_around import ExpressionActions
from rlx.grammar.node import Span
from rlx.grammar.suggest import closest
from rlx.grammar.unresolved import CapturedName, Form, Name, Sequence, Slice, describe

_BARE = {"Tensor": "R.Tensor", "Shape": "R.Shape", "Tuple": "R.Tuple"}
"""Annotations that 2022 wrote without the letter."""


class SubscriptActions(ExpressionActions):
    """Actions of what has arguments in square brackets."""

    def do_subscript(self, span: Span, owner: Entry, subscripts: Entry) -> Any:
        value = owner.value
        items: list[Entry] = subscripts.value
        match value:
            case tir.Buffer():
                if len(items) == 1 and isinstance(items[0].value, Sequence):
                    items = items[0].value.items  # `x[()]` and `x[i, j]` written as a tuple
                return tir.BufferLoad(value, self._indices(items), span)
            case Name(text="metadata"):
                return ("metadata", self.coerce.text(items[0]))
            case CapturedName() if not self.scope.in_prim_func():
                return CapturedName(self.context.text_of(span))
            case Name():
                return self._subscripted_name(owner, items, span)
            case tuple() if value[0] == "metadata":
                return self._constant(value[1], items[0], span)
            case ast.Expr():
                return _get_item(value, items, span)
            case Sequence() if not self.scope.in_prim_func():
                return _get_item(self.coerce.expr(owner), items, span)
        if type(value) is tir.BufferLoad and self.context.text_of(owner.span) == value.buffer.name:
            help = f"write `{value.buffer.name}`"
            words = f"{value.buffer.name!r} is a scalar, and no buffer to index"
            raise Rejected(words, *span, help, certain=True)
        if isinstance(value, tir.PrimExpr):
            return tir.OpaqueExpr(self.context.text_of(span), span)
        python = isinstance(value, dict | Sequence | str)  # it is computed before TVM sees it
        raise Rejected(f"{describe(value)} can't be subscripted", *span, kept=python)

    def _subscripted_name(self, name: Entry, items: list[Entry], span: Span) -> Any:
        text = self._as_meant(name)
        if text.startswith("T.") and self.scope.in_prim_func():
            return Form(text, items, {})
        form = FORMS.get(text)
        if form is not None:
            if len(items) == 1 and isinstance(items[0].value, Sequence) and text == "R.Tensor":
                inner = items[0].value
                if inner.bracket == "[":
                    items = inner.items
            return form(self.context, Arguments(text, items, {}, *span))
        if text.startswith("T."):
            return Form(text, items, {})
        if self.scope.in_prim_func():
            if "." in text:
                return tir.OpaqueExpr(self.context.text_of(span), span)
            unknown = self._unknown_buffer(text, name.span)
            return tir.BufferLoad(unknown, self._indices(items), span)
        return _get_item(self.coerce.expr(name), items, span)

    def _as_meant(self, name: Entry) -> str:
        """The word in front of the brackets,
        as the annotation that it is meant for if it is misspelt.
        """
        text: str = _BARE.get(name.value.text, name.value.text)
        if text in FORMS or not self.around.means_nothing(text):
            return text
        meant = closest(text, misspelt.ANNOTATIONS if text.startswith("R.") else _BARE)
        if not meant:
            return text
        self.context.misspelt(meant, name.span)
        return _BARE.get(meant[0], meant[0])

    def _unknown_buffer(self, name: str, span: Span) -> tir.Buffer:
        """The buffer that a PrimFunc subscripts and nothing declares; one a name and function."""
        unknown = self.scope.function_frame().unknown_buffers
        return unknown.setdefault(name, tir.Buffer(name, (), VOID, {}, span))

    def _indices(self, items: list[Entry]) -> tuple[tir.PrimExpr, ...]:
        found: list[tir.PrimExpr] = []
        for item in items:
            value = item.value
            if not isinstance(value, Slice):
                found.append(self.coerce.prim(item, INT32))
            elif value.start.value is None:
                found.append(tir.OpaqueExpr(":", item.span))
            else:
                start = self.coerce.prim(value.start, INT32)
                found.append(tir.Slice(start, self.coerce.prim(value.stop, INT32), item.span))
        return tuple(found)

    def _constant(self, kind: str, item: Entry, span: Span) -> ast.Expr:
        """`metadata["ir.…"][0]`"""
        index = item.value
        known = self.context.metadata.get(kind)
        key = self.context.text_of(span)
        if not isinstance(index, int) or index < 0:
            raise Rejected("expected the number of a constant", *item.span)
        if known is not None and index >= len(known):
            raise Rejected(f"the metadata holds {len(known)} of {kind!r}", *span)
        data = None if known is None else known[index]
        if known is not None and data is None:
            raise Rejected(f"the metadata of {key} is damaged", *span)
        if data is not None:
            return ast.Constant(ast.Literal(None, data.dtype, data.shape, key, data.content), span)
        return ast.Constant(ast.Literal(None, VOID, None, key), span)


def _get_item(value: ast.Expr, items: list[Entry], span: Span) -> Any:
    index = items[0].value
    if isinstance(index, tir.IntImm):
        index = index.value
    if len(items) != 1 or not isinstance(index, int) or isinstance(index, bool):
        words = "a tuple is indexed with an integer literal"
        raise Rejected(words, items[0].start, items[-1].end)
    if isinstance(value, ast.Tuple) and -len(value.fields) <= index < 0:
        index += len(value.fields)  # of a tuple that is written out, as in Python
    return ast.TupleGetItem(value, index, span)
