"""Numbers, attributes and references to metadata in a Relay text."""

from __future__ import annotations

import json
import re

from rlx.grammar.ast import Literal
from rlx.grammar.dtype import BOOL, VOID, DataType, dtype
from rlx.grammar.metadata import read_metadata
from rlx.grammar.node import Record, Span
from rlx.relay.lexer import RelayToken
from rlx.relay.nodes import RelayConstant
from rlx.relay.type_reader import TypeReader

_NUMBER = re.compile(r"(?P<digits>[\d.]+(?:[eE][+-]?\d+)?)(?P<code>bf|f|i|u)?(?P<bits>\d*)\Z")
_SPECIAL = re.compile(r"(?P<value>inf|nan)(?:(?P<code>bf|f)(?P<bits>\d*))?\Z")
_CODES = {"f": "float", "i": "int", "u": "uint", "bf": "bfloat"}
MOST_DIGITS = 400
CONSTANTS = "relay.Constant"


class MetadataReference(Record):
    """An attribute whose value stands in the metadata: ``meta[Device][0]``."""

    kind: str
    index: int

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MetadataReference) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash((self.kind, self.index))

    def __str__(self) -> str:
        return f"meta[{self.kind}][{self.index}]"


class LiteralReader(TypeReader):
    """Reads literals.

    Attributes
    ----------
    metadata
        The text of the metadata section; empty if there is none.
    """

    metadata = ""
    _tensors: dict[str, list[Literal | None]] | None = None

    def number(self, token: RelayToken, sign: str = "") -> Literal:
        """The constant that a number spells: of 32 bits, if nothing else is said."""
        match = _NUMBER.match(token.text)
        span = (token.start, token.end)
        if match is None or len(match["digits"]) > MOST_DIGITS:
            self.error("the number cannot be read", span)
            return Literal(0, dtype("int32"), ())
        digits, code, bits = match["digits"], match["code"], match["bits"]
        floats = code in ("f", "bf") or (code is None and not digits.isdigit())
        kind = self._kind(_CODES[code or ("f" if floats else "i")], bits or "32", span)
        if floats:
            return Literal(float(sign + digits), kind, ())
        if not digits.isdigit():
            self.error(f"'{token.text}' is no integer", span)
            return Literal(0, kind, ())
        return Literal(self._whole(int(sign + digits), kind, span), kind, ())

    def _kind(self, code: str, bits: str, span: Span) -> DataType:
        allowed: tuple[str, ...] = ("16",) if code == "bfloat" else ("16", "32", "64")
        if code in ("int", "uint"):
            allowed = ("8", "16", "32", "64")
        if bits not in allowed:
            self.error(f"there is no number of type {code}{bits[:8]}", span)
            bits = allowed[0]
        return dtype(code + bits)

    def _whole(self, value: int, kind: DataType, span: Span) -> int:
        signed = kind.code == "int"
        low = -(1 << (kind.bits - 1)) if signed else 0
        high = (1 << (kind.bits - signed)) - 1
        if low <= value <= high:
            return value
        help = f"write {value}i64" if abs(value) < 1 << 63 and kind.bits < 64 else None
        self.error(f"{value} is no number of type {kind}: {low} to {high}", span, help)
        return 0

    def special(self, token: RelayToken, sign: str = "") -> Literal | None:
        """``inff`` and ``nanf64``, and the Booleans; None for another word."""
        if token.text in ("True", "False"):
            return Literal(token.text == "True", BOOL, ())
        match = _SPECIAL.match(token.text)
        if match is None:
            return None
        code = _CODES[match["code"] or "f"]
        span = (token.start, token.end)
        kind = self._kind(code, match["bits"] or ("16" if code == "bfloat" else "32"), span)
        return Literal(float(sign + match["value"]), kind, ())

    # ------------------------------------------------------------ attributes

    def attribute(self) -> object:
        """The value of an attribute."""
        token = self.token
        if token.kind in ("[", "("):
            return self._list("]" if token.kind == "[" else ")")
        if token.kind == "STRING":
            return _unquoted(self.take().text)
        sign = "-" if self.accept("-") else ""
        token = self.token
        if token.kind == "NUMBER":
            return self.number(self.take(), sign).value
        if token.kind == "NAME":
            found = self.special(token, sign)
            if found is not None:
                self.take()
                return found.value
            if token.text == "meta":
                return self.reference()[0]
            if not sign:
                return None if self.take().text in ("None", "nullptr") else token.text
        self.unexpected("the value of an attribute: a number, a string, a list")
        return None

    def _list(self, closing: str) -> tuple[object, ...]:
        self.enter()
        self.take()
        found = []
        while self.token.kind != closing:
            found.append(self.attribute())
            if not self.accept(","):
                break
        self.expect(closing, f"',' or '{closing}'")
        self.leave()
        return tuple(found)

    # ------------------------------------------------------------ metadata

    def reference(self) -> tuple[MetadataReference, Span]:
        """``meta[relay.Constant][0]``"""
        start = self.take().start
        self.expect("[", "'[': meta[relay.Constant][0]")
        kind = self.expect("NAME", "a kind of metadata such as relay.Constant").text
        self.expect("]")
        self.expect("[", "'[' and the number of the entry")
        index = self.expect("NUMBER", "the number of the entry")
        end = self.expect("]").end
        if not index.text.isdigit() or len(index.text) > 9:
            self.error("expected the number of an entry", (index.start, index.end))
            return MetadataReference(kind, 0), (start, end)
        return MetadataReference(kind, int(index.text)), (start, end)

    def stored(self) -> RelayConstant:
        """The constant that a reference stands for; its data are None if the text leaves the
        metadata out.
        """
        reference, span = self.reference()
        if reference.kind != CONSTANTS:
            self.error(f"{reference} is no expression: expected meta[{CONSTANTS}][…]", span)
        entries = self._entries(span).get(reference.kind)
        found: Literal | None = None
        if self.metadata and reference.kind == CONSTANTS:
            count = len(entries or ())
            if reference.index >= count:
                words = f"the metadata have {count} constants, no number {reference.index}"
                self.error(words, span)
            else:
                assert entries is not None
                found = entries[reference.index]
                if found is None:
                    self.error(f"the data of {reference} cannot be read", span)
        shape = None if found is None else found.shape
        kind = VOID if found is None else found.dtype
        content = None if found is None else found.content
        return RelayConstant(Literal(None, kind, shape, str(reference), content), span)

    def _entries(self, span: Span) -> dict[str, list[Literal | None]]:
        """The tensors of the metadata; what is no metadata is reported once."""
        if self._tensors is None:
            found = read_metadata(self.metadata) if self.metadata else {}
            if found is None:
                self.error("the metadata section is no JSON", span)
                self.metadata = ""
            self._tensors = found or {}
        return self._tensors


def _unquoted(text: str) -> str:
    try:
        return str(json.loads(text))
    except ValueError:
        return text[1:-1]
