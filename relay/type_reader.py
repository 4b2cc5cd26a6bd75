"""Types in a Relay text: tensors, tuples, functions. Other types are rejected by name."""

from __future__ import annotations

import re

from rlx.grammar.nodes.dtype import DataType, dtype
from rlx.grammar.read.misspelt import data_type
from rlx.grammar.suggest import closest, did_you_mean
from rlx.relay.cursor import TYPES, Cursor
from rlx.relay.lexer import RelayToken
from rlx.relay.nodes import RelayFuncType, RelayTensorType, RelayTupleType, RelayType

_DIM = re.compile(r"\d{1,18}(?:i(?:32|64))?\Z")


class TypeReader(Cursor):
    """Reads types.

    Attributes
    ----------
    type_params
        The names that the function at hand declares as parameters of types.
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
                fields: list[RelayType | None] = []
                for _ in self.items(")"):
                    fields.append(self.type())
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
        params: list[RelayType | None] = []
        for _ in self.items(")"):
            params.append(self.type())
        self.expect(")", "',' or ')'")
        self.expect("->")
        ret = self.type()
        return RelayFuncType(tuple(params), ret, (start, self.tokens[self.at - 1].end))

    def _tensor_type(self) -> RelayTensorType:
        start = self.take().start
        self.expect("[", "'[': a tensor is Tensor[(2, 3), float32]")
        self.expect("(", "'(': the dimensions of the tensor")
        dims: list[int | str | None] = []
        for _ in self.items(")"):
            dims.append(self._dim())
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
                (token.start, token.end),
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
            return RelayTensorType((), kind, (token.start, token.end))
        near = closest(token.text, ["Tensor", "float32", "int64", "bool", "fn"])
        if near:
            self.error(
                f"'{token.text}' is not a type", (token.start, token.end), did_you_mean(near)
            )
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
        self.error(message, (token.start, token.end), code=code)
        if self.sees("[", "("):
            self.skip_brackets()
