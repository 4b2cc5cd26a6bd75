"""Values of attributes in a Relay text: numbers, texts, lists, and objects of the compiler."""

from __future__ import annotations

import json
import re

from rlx.grammar.nodes.dtype import SCALAR_NAMES
from rlx.relay.attributes import AttributeObject
from rlx.relay.cursor import LISTS
from rlx.relay.lexer import RelayToken
from rlx.relay.literal_reader import LiteralReader

_NOTHING = ("None", "nullptr")


class AttributeReader(LiteralReader):
    """Reads the values of attributes."""

    def attribute(self) -> object:
        """The value of an attribute."""
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
        self.enter(LISTS)
        self.take()
        found = []
        for _ in self.items(closing):
            found.append(self.attribute())
        self.expect(closing, f"',' or '{closing}'")
        self.leave(LISTS)
        return tuple(found)

    def _fields(self, closing: str) -> tuple[tuple[str | None, object], ...]:
        """The values in the brackets of an object, with their keys."""
        self.enter(LISTS)
        self.take()
        found: list[tuple[str | None, object]] = []
        for _ in self.items(closing):
            found.append((self._key(), self.attribute()))
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
    """What a string in quotation marks says."""
    if text[0] == "'":
        inner = text[1:-1].replace("\\'", "'")
        text = '"' + re.sub(r'(?<!\\)"', r'\\"', inner) + '"'
    try:
        return str(json.loads(text))
    except ValueError:
        return text[1:-1]
