"""Types and values in a Relay text: numbers, references to metadata, and attributes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import TypeVar

from rlx.grammar.nodes.ast import Literal
from rlx.grammar.nodes.dtype import BOOL, SCALAR_NAMES, VOID, DataType, dtype
from rlx.grammar.nodes.node import Span
from rlx.grammar.read.metadata import read_metadata
from rlx.grammar.read.misspelt import data_type
from rlx.grammar.suggest import closest, did_you_mean
from rlx.relay.attributes import AttributeObject, MetadataReference
from rlx.relay.cursor import LISTS, TYPES, Abandoned, Cursor, Stopped
from rlx.relay.lexer import RelayToken, lex
from rlx.relay.nodes import RelayConstant, RelayFuncType, RelayTensorType, RelayTupleType, RelayType

T = TypeVar("T")

_DIM = re.compile(r"\d{1,18}(?:i(?:32|64))?\Z")


class TypeReader(Cursor):
    """Reads types.

    Attributes
    ----------
    type_params
        The names that the current function declares as parameters of types.
    """

    type_params: frozenset[str] = frozenset()

    def type(self) -> RelayType | None:
        """A type; None for one that is left open (``_``).

        Raises
        ------
        Abandoned
            If there is none, which is reported.
        """
        self.enter(TYPES)
        found = self._type()
        self.leave(TYPES)
        return found

    def _type(self) -> RelayType | None:
        match self.token:
            case RelayToken(kind="("):
                start = self.expect("(").start
                fields = [self.type() for _ in self.items(")")]
                end = self.expect(")", "',' or ')'").end
                return RelayTupleType(tuple(fields), (start, end))
            case RelayToken(text="_"):
                self.take()
            case RelayToken(text="fn"):
                return self._func_type()
            case RelayToken(text="Tensor"):
                return self._tensor_type()
            case RelayToken(text="ref" | "Ref" | "RefType" as text):
                words = f"the type {text}: references are not supported"
                self._refuse_type("RL-refused-ref", words)
            case RelayToken(kind="NAME"):
                return self._named_type()
            case _:
                self.unexpected("a type such as Tensor[(2, 3), float32]")
        return None

    def _func_type(self) -> RelayFuncType:
        start = self.take().start
        self.expect("(")
        params = [self.type() for _ in self.items(")")]
        self.expect(")", "',' or ')'")
        self.expect("->")
        ret = self.type()
        return RelayFuncType(tuple(params), ret, (start, self.tokens[self.at - 1].end))

    def _tensor_type(self) -> RelayTensorType:
        start = self.take().start
        self.expect("[", "'[': a tensor is Tensor[(2, 3), float32]")
        self.expect("(", "'(': the dimensions of the tensor")
        dims = [self._dim() for _ in self.items(")")]
        self.expect(")", "',' or ')'")
        self.expect(",", "',' and the element type")
        kind = self._dtype()
        end = self.expect("]").end
        return RelayTensorType(tuple(dims), kind, (start, end))

    def _dim(self) -> int | str | None:
        """A dimension: a number, ``?`` or ``Any``, or a name."""
        match self.token:
            case RelayToken(text="?" | "Any"):
                self.take()
                return None
            case RelayToken(kind="NUMBER", text=text) if _DIM.match(text):
                self.take()
                return int(text.partition("i")[0])
            case RelayToken(kind="NAME", text=text) if "." not in text:
                self.take()
                return text
        self.unexpected("a dimension: a number from 0, a name, or ?")
        return None

    def _dtype(self) -> DataType:
        token = self.expect("NAME", "an element type such as float32")
        try:
            return dtype(token.text)
        except ValueError:
            self.error(
                f"'{token.text}' is not an element type",
                token.span,
                did_you_mean(data_type(token.text)),
            )
            return dtype("float32")

    def _named_type(self) -> RelayType | None:
        """An element type alone, which is a tensor of rank 0; or what is refused."""
        token = self.token
        try:
            kind = dtype(token.text)
        except ValueError:
            kind = None
        if kind is not None and not kind.is_void:
            self.take()
            return RelayTensorType((), kind, token.span)
        near = closest(token.text, ["Tensor", "float32", "int64", "bool", "fn"])
        if near:
            self.error(f"'{token.text}' is not a type", token.span, did_you_mean(near))
            self.take()
            if self.sees("["):
                self.skip_brackets()
            return None
        if token.text in self.type_params:
            words = f"the type parameter {token.text}: polymorphic functions are not supported"
            self._refuse_type("RL-refused-polymorphic", words)
        else:
            words = f"the type {token.text}: algebraic data types are not supported"
            self._refuse_type("RL-refused-adt", words)
        return None

    def _refuse_type(self, code: str, message: str) -> None:
        token = self.take()
        self.error(message, token.span, code=code)
        if self.sees("[", "("):
            self.skip_brackets()


_NUMBER = re.compile(r"(?P<digits>[\d.]+(?:[eE][+-]?\d+)?)(?P<code>bf|f|i|u)?(?P<bits>\d*)\Z")
_SPECIAL = re.compile(r"(?P<value>inf|nan)(?:(?P<code>bf|f)(?P<bits>\d*))?\Z")
_CODES = {"f": "float", "i": "int", "u": "uint", "bf": "bfloat"}
MOST_DIGITS = 400
CONSTANTS = "relay.Constant"
_NOTHING = ("None", "nullptr")


class LiteralReader(TypeReader):
    """Reads numbers, references to metadata, and the values of attributes.

    Attributes
    ----------
    metadata
        The text of the metadata section; empty if there is none.
    types_said
        What the text's comments say of types, by the end of the token in front of each.
    """

    metadata = ""
    types_said: Mapping[int, str] = {}
    _tensors: dict[str, list[Literal | None]] | None = None

    def number(self, token: RelayToken, sign: str = "") -> Literal:
        """The constant that a number spells: of 32 bits, if nothing else is said."""
        match = _NUMBER.match(token.text)
        span = token.span
        if match is None or len(match["digits"]) > MOST_DIGITS:
            self.error("the number cannot be read", span)
            return Literal(0, dtype("int32"), ())
        digits, code, bits = match["digits"], match["code"], match["bits"]
        floats = code in ("f", "bf") or (code is None and not digits.isdigit())
        kind = self._kind(_CODES[code or ("f" if floats else "i")], bits or "32", span)
        if floats:
            return Literal(float(sign + digits), kind, ())
        if not digits.isdigit():
            self.error(f"'{token.text}' is not an integer", span)
            return Literal(0, kind, ())
        return Literal(self._whole(int(sign + digits), kind, span), kind, ())

    def _kind(self, code: str, bits: str, span: Span) -> DataType:
        allowed: tuple[str, ...] = ("16",) if code == "bfloat" else ("16", "32", "64")
        if code in ("int", "uint"):
            allowed = ("8", "16", "32", "64")
        if bits not in allowed:
            wanted = f"{', '.join(allowed)} bits"
            self.error(f"expected {code} of {wanted}, found {code}{bits[:8]}", span)
            bits, *_ = allowed
        return dtype(code + bits)

    def _whole(self, value: int, kind: DataType, span: Span) -> int:
        signed = kind.code == "int"
        low = -(1 << (kind.bits - 1)) if signed else 0
        high = (1 << (kind.bits - signed)) - 1
        if low <= value <= high:
            return value
        help = f"write {value}i64" if abs(value) < 1 << 63 and kind.bits < 64 else None
        self.error(f"{value} does not fit into {kind}, whose range is {low} to {high}", span, help)
        return 0

    def special(self, token: RelayToken, sign: str = "") -> Literal | None:
        """``inff`` and ``nanf64``, and the Booleans; None for another word."""
        if token.text in ("True", "False"):
            return Literal(token.text == "True", BOOL, ())
        match = _SPECIAL.match(token.text)
        if match is None:
            return None
        code = _CODES[match["code"] or "f"]
        span = token.span
        kind = self._kind(code, match["bits"] or ("16" if code == "bfloat" else "32"), span)
        return Literal(float(sign + match["value"]), kind, ())

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
            self.error("expected the number of an entry", index.span)
            return MetadataReference(kind, 0), (start, end)
        return MetadataReference(kind, int(index.text)), (start, end)

    def stored(self) -> RelayConstant:
        """The constant that a reference stands for. Its data are None if the text leaves the
        metadata out; then a comment behind it may say the type.
        """
        reference, span = self.reference()
        if reference.kind != CONSTANTS:
            self.error(f"{reference} is not an expression: expected meta[{CONSTANTS}][…]", span)
        entries = self._entries(span).get(reference.kind)
        found: Literal | None = None
        if self.metadata and reference.kind == CONSTANTS:
            count = len(entries or ())
            if reference.index >= count:
                words = f"constant {reference.index} is out of range: the metadata have {count}"
                self.error(words, span)
            else:
                assert entries is not None
                found = entries[reference.index]
                if found is None:
                    self.error(f"the data of {reference} cannot be read", span)
        if found is None:
            shape, kind = self._said(span[1])
            return RelayConstant(Literal(None, kind, shape, str(reference)), span)
        data = Literal(None, found.dtype, found.shape, str(reference), found.content)
        return RelayConstant(data, span)

    def _said(self, place: int) -> tuple[tuple[int, ...] | None, DataType]:
        """The shape and the element type that the comment behind a constant says, if it does:
        ``/* ty=Tensor[(64, 3), float32] */``.
        """
        reader = TypeReader(lex(self.types_said.get(place, "")).tokens)
        try:
            found = reader.type()
        except (Abandoned, Stopped):
            found = None
        if reader.diagnostics or not isinstance(found, RelayTensorType):
            return None, VOID
        dims = tuple(dim for dim in found.shape if isinstance(dim, int))
        return (dims, found.dtype) if len(dims) == len(found.shape) else (None, found.dtype)

    def _entries(self, span: Span) -> dict[str, list[Literal | None]]:
        """The tensors of the metadata; what is no metadata is reported once."""
        if self._tensors is None:
            found = read_metadata(self.metadata) if self.metadata else {}
            if found is None:
                self.error("the metadata section is not JSON", span)
                self.metadata = ""
            self._tensors = found or {}
        return self._tensors

    # ------------------------------------------------------------ attributes

    def attribute(self) -> object:
        token = self.token
        match token.kind:
            case "[":
                return self._list("]")
            case "(":
                found = self._list(")")
                return self.attribute() if self._is_cast(found) else found
            case "{":
                return AttributeObject("", self._fields("}"))
            case "STRING":
                return unquoted(self.take().text)
            case "?" | "GLOBAL" | "WORD":
                return AttributeObject(self.take().text)
        return self._number_or_word()

    def _number_or_word(self) -> object:
        sign = "-" if self.accept("-") else ""
        token = self.token
        if self.sees("NUMBER"):
            return self.number(self.take(), sign).value
        if self.sees("NAME"):
            found = self.special(token, sign)
            if found is not None and (found.dtype.is_float or not sign):
                self.take()
                return found.value
            if not sign:
                return self.reference()[0] if self.is_word("meta") else self._bare(self.take())
        self.unexpected("the value of an attribute: a number, a string, a list")
        return None

    def _bare(self, word: RelayToken) -> object:
        """``None``, a word that stands for itself, or an object: ``VirtualDevice(…)``."""
        if self.sees("("):
            return AttributeObject(word.text, self._fields(")"))
        return None if word.text in _NOTHING else word.text

    def _is_cast(self, found: tuple[object, ...]) -> bool:
        """Whether brackets hold an element type that a value follows: ``(bool)0``."""
        value = self.sees("NUMBER", "-", "NAME", "STRING", "WORD")
        return value and len(found) == 1 and found[0] in SCALAR_NAMES

    def _list(self, closing: str) -> tuple[object, ...]:
        return self._bracketed(closing, self.attribute)

    def _fields(self, closing: str) -> tuple[tuple[str | None, object], ...]:
        """The values in the brackets of an object, with their keys."""
        return self._bracketed(closing, lambda: (self._key(), self.attribute()))

    def _bracketed(self, closing: str, read: Callable[[], T]) -> tuple[T, ...]:
        """The items in brackets, with commas between them."""
        self.enter(LISTS)
        self.take()
        found = [read() for _ in self.items(closing)]
        self.expect(closing, f"',' or '{closing}'")
        self.leave(LISTS)
        return tuple(found)

    def _key(self) -> str | None:
        """``kind=`` or ``"kind"=`` or ``'kind':``, if it is there."""
        if not self.sees("NAME", "STRING") or self.peek().kind not in ("=", ":"):
            return None
        key = self.take()
        self.take()
        return json.dumps(unquoted(key.text)) if key.kind == "STRING" else key.text


def unquoted(text: str) -> str:
    """The content of a string in quotation marks."""
    if text[0] == "'":
        inner = text[1:-1].replace("\\'", "'")
        text = '"' + re.sub(r'(?<!\\)"', r'\\"', inner) + '"'
    try:
        return str(json.loads(text))
    except ValueError:
        return text[1:-1]
