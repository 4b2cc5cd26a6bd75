"""The actions of the grammar's expression rules, one method a rule; statements build on them."""

from __future__ import annotations

import re
from collections import abc
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from rlx.grammar import (
    arithmetic,
    ast,
    forms_call,  # noqa: F401 - these register the forms they know
    forms_composed,  # noqa: F401
    forms_info,  # noqa: F401
    forms_tir,  # noqa: F401
    forms_value,  # noqa: F401
    misspelt,
    tir,
)
from rlx.grammar.coerce import BARE_INFOS, Coerce
from rlx.grammar.dtype import INT32, VOID
from rlx.grammar.forms import ALIASES, FORMS, METHODS, PROTOTYPE_OPERATORS, Arguments
from rlx.grammar.lalr import Action, Entry, Rejected, tables
from rlx.grammar.node import Span
from rlx.grammar.scope import Scope
from rlx.grammar.suggest import closest, did_you_mean
from rlx.grammar.unresolved import (
    Captured,
    CapturedName,
    Form,
    Keyword,
    KnownInteger,
    Name,
    Sequence,
    Slice,
    describe,
)

if TYPE_CHECKING:
    from rlx.grammar.surroundings import View

_ESCAPE = re.compile(
    r"\\(?:([\\'\"abfnrtv\n])|([0-7]{1,3})|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))"
)
_SIMPLE = dict(zip("\\'\"abfnrtv\n", "\\'\"\a\b\f\n\r\t\v", strict=False)) | {"\n": ""}
_BYTES = re.compile(r"(?:\\x[89a-fA-F][0-9a-fA-F])+")


_BARE = {"Tensor": "R.Tensor", "Shape": "R.Shape", "Tuple": "R.Tuple"}
"""Annotations that 2022 wrote without the letter."""


class Expressions:
    """Expression actions.

    Parameters
    ----------
    text
        The whole source text.
    scope
        The names; statements change it.
    sub_parse
        Reads part of the text from a start rule: ``(text, start, end, base)``.
    """

    def __init__(self, text: str, scope: Scope) -> None:
        self.text = text
        self.scope = scope
        self.coerce = Coerce(scope, self.read_quoted)
        self.coerce.scope_text = self.text_between
        self.metadata: Mapping[str, abc.Sequence[ast.Literal | None]] = {}

    around: View | None = None

    def text_between(self, start: int, end: int) -> str:
        """The source between two offsets."""
        return self.text[start:end]

    def error(self, message: str, span: Span, help: str | None = None) -> None:
        """Report an error and go on; the parser supplies this."""
        raise NotImplementedError

    def read_quoted(self, text: str, start: int) -> Entry | None:
        """Read the inside of a quoted dimension; the parser supplies this."""
        raise NotImplementedError

    def read_info(self, start: int, end: int) -> Entry | None:
        """Read an annotation that is not known by its text; the parser supplies this."""
        raise NotImplementedError

    def table(self) -> list[Action | None]:
        """The actions by number of production."""
        return [
            getattr(self, "do_" + name) if name and not name.startswith("whole_") else None
            for _, _, name in tables().productions
        ]

    # ------------------------------------------------------------ atoms

    def do_name(self, c: list[Entry]) -> Any:
        text = c[0][0]
        found = self.scope.names.get(text)
        if found is not None:
            if type(found) is tir.BufferLoad:  # a scalar of a PrimFunc that can be assigned to
                return tir.BufferLoad(found.buffer, found.indices, c[0][1:])
            return found
        if text == "None":
            return None
        if text == "True":
            return True
        if text == "False":
            return False
        found = self.scope.look_up(text)
        return self._around(c[0]) if found is None else found

    def _around(self, entry: Entry) -> Any:
        """A name that the program does not bind: a constant of the Python around, captured, or undefined."""
        text, start, end = entry
        if self.around is None or text in self.scope.modules:
            return Name(text)
        value = self.around.value(text)
        if value is ...:
            return Name(text)
        if isinstance(value, Captured):
            return self._captured(text, text, start, end)
        return _as_written(value, start, end)

    def _captured(self, name: str, text: str, start: int, end: int) -> CapturedName:
        assert self.around is not None
        if not self.scope.in_prim_func() and self.scope.frame.kind != "module":
            self.around.used.setdefault(name, (start, end))
        return CapturedName(text)

    def _is_captured(self, word: str) -> bool:
        """Whether Python around binds the word at the head of a dotted name, for a place outside of PrimFuncs."""
        return (
            self.around is not None
            and word not in ("R", "T", "I")
            and word not in self.scope.modules
            and not self.scope.in_prim_func()
            and self.scope.look_up(word) is None
            and self.around.holds(word)
        )

    def do_dotted(self, c: list[Entry]) -> Any:
        text, start, end = c[0]
        head, _, rest = text.partition(".")
        value = self.scope.names.get(head)
        if value is not None:
            return self._attribute(value, rest, start, end)
        if self._is_captured(head):
            return self._captured(head, text, start, end)
        if head in ALIASES:
            text = ALIASES[head] + "." + rest
        if head not in self.scope.modules and rest in self.scope.global_names and head not in "RTI":
            self._unknown_module(head, start)
        if head == "R" and text not in FORMS and text not in BARE_INFOS:
            meant = misspelt.form(text)
            if meant:
                self._misspelt(meant, (start, end))
                text = meant[0]
        return Name(text)

    def _attribute(self, value: Any, name: str, start: int, end: int) -> Any:
        if isinstance(value, tir.Buffer):
            return tir.OpaqueExpr(self.text[start:end], (start, end))
        if name == "shape" and isinstance(value, ast.Expr):
            return ast.Call(
                ast.op("relax.shape_of"),
                (value,),
                arg_spans=((start, end - len(".shape")),),
                span=(start, end),
            )
        if isinstance(value, tir.PrimExpr):
            return tir.OpaqueExpr(self.text[start:end], (start, end))
        raise Rejected(f"a value has no attribute {name!r} in Relax", start, end)

    def do_info(self, c: list[Entry]) -> Any:
        text, start, end = c[0]
        cache = self.scope.frame.infos
        found = cache.get(text)
        if found is not None:
            return found
        if text in BARE_INFOS:
            info = BARE_INFOS[text]((start, end))
        else:
            entry = self.read_info(start, end)
            if entry is None:
                raise Rejected("", start, end)  # reported where it goes wrong
            known = len(self.scope.unknown)
            info = self.coerce.info(entry)
            if len(self.scope.unknown) > known:
                return info  # each `_` is another, also in the same words
        cache[text] = info
        return info

    def do_int(self, c: list[Entry]) -> int:
        text, start, end = c[0]
        if len(text) > 40:
            raise Rejected(
                f"this integer of {len(text)} digits is outside of the 64-bit range", start, end
            )
        try:
            return int(text, 0)
        except ValueError:
            if not text.strip("0_"):
                return 0
            raise Rejected(f"{text!r} is no integer literal", start, end) from None

    def do_float(self, c: list[Entry]) -> float:
        text, start, end = c[0]
        if len(text) > 400:
            raise Rejected("this number is too long", start, end)
        return float(text)

    def do_ints(self, c: list[Entry]) -> Sequence:
        text, start, _ = c[0]
        items: list[Entry] = []
        at = start + 1
        for part in text[1:-1].split(","):
            shown = part.lstrip()
            begin = at + len(part) - len(shown)
            items.append((int(shown), begin, begin + len(shown)))
            at += len(part) + 1
        return Sequence(items, "[")

    def do_opaque(self, c: list[Entry]) -> tir.OpaqueExpr:
        text, start, end = c[0]
        return tir.OpaqueExpr(text, (start, end))

    def do_strings(self, c: list[Entry]) -> str:
        return self._string(c[0])

    def do_strings_more(self, c: list[Entry]) -> str:
        return str(c[0][0]) + self._string(c[1])

    def _string(self, entry: Entry) -> str:
        text, start, end = entry
        prefix = text[: len(text) - len(text.lstrip("rRbBuUfF"))].lower()
        if "f" in prefix:
            raise Rejected("an f-string would have to be evaluated", start, end)
        if "b" in prefix:
            raise Rejected("bytes are no value of Relax", start, end)
        return unquote(text)

    # ------------------------------------------------------------ brackets

    def do_empty_tuple(self, c: list[Entry]) -> Sequence:
        return Sequence([], "(")

    def do_parenthesized(self, c: list[Entry]) -> Any:
        return c[1][0]

    def do_tuple(self, c: list[Entry]) -> Sequence:
        return Sequence(c[1][0] if len(c) == 3 else c[0][0], "(")

    def do_empty_list(self, c: list[Entry]) -> Sequence:
        return Sequence([], "[")

    def do_singleton_list(self, c: list[Entry]) -> Sequence:
        return Sequence([c[1]], "[")

    def do_list(self, c: list[Entry]) -> Sequence:
        return Sequence(c[1][0], "[")

    def do_elements_one(self, c: list[Entry]) -> list[Entry]:
        return [c[0]]

    def do_elements_two(self, c: list[Entry]) -> list[Entry]:
        return [c[0], c[2]]

    def do_elements_more(self, c: list[Entry]) -> list[Entry]:
        items: list[Entry] = c[0][0]
        items.append(c[1])
        return items

    def do_elements(self, c: list[Entry]) -> list[Entry]:
        items: list[Entry] = c[0][0]
        return items

    def do_empty_dict(self, c: list[Entry]) -> dict[str | int, object]:
        return {}

    def do_dict(self, c: list[Entry]) -> dict[str | int, object]:
        entries: dict[str | int, object] = c[1][0]
        return entries

    def do_entries_one(self, c: list[Entry]) -> dict[str | int, object]:
        return {self._key(c[0]): self.plain_data(c[2], self.coerce.attr(c[2]))}

    def do_entries_more(self, c: list[Entry]) -> dict[str | int, object]:
        entries: dict[str | int, object] = c[0][0]
        entries[self._key(c[2])] = self.plain_data(c[4], self.coerce.attr(c[4]))
        return entries

    def plain_data(self, entry: Entry, value: object) -> object:
        """The value of an attribute, which is data: a call would have to be evaluated."""
        if self.scope.in_prim_func() and not _is_scalar_data(value):
            raise Rejected("expected data", entry[1], entry[2])
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, ast.Call) and not isinstance(part.op, ast.Op):
                raise Rejected(
                    "expected data, found a call; reading never evaluates", entry[1], entry[2]
                )
        return value

    def _key(self, entry: Entry) -> str | int:
        value = entry[0]
        if isinstance(value, (str, int)):
            return value
        if self.scope.in_prim_func():  # the variable of a T.Let
            match value:
                case Name(text=name) | tir.Var(name=name):
                    return name
        raise Rejected(f"expected a string as key, found {describe(value)}", entry[1], entry[2])

    # ------------------------------------------------------------ operators

    def do_chain_start(self, c: list[Entry]) -> list[Any]:
        return [c[0], c[1][0], c[2]]

    def do_chain_more(self, c: list[Entry]) -> list[Any]:
        items: list[Any] = c[0][0]
        items.append(c[1][0])
        items.append(c[2])
        return items

    def do_folded(self, c: list[Entry]) -> Any:
        return arithmetic.fold(self.coerce, c[0][0])[0]

    def do_prefix(self, c: list[Entry]) -> Any:
        return arithmetic.prefix(self.coerce, c[0][0], c[1], c[0][1])

    # ------------------------------------------------------------ arguments

    def do_arguments_one(self, c: list[Entry]) -> list[Entry]:
        return [c[0]]

    def do_arguments_more(self, c: list[Entry]) -> list[Entry]:
        items: list[Entry] = c[0][0]
        items.append(c[2])
        return items

    def do_trailing_comma(self, c: list[Entry]) -> Any:
        return c[0][0]

    def do_keyword(self, c: list[Entry]) -> Keyword:
        return Keyword(c[0][0], c[1])

    def do_slice(self, c: list[Entry]) -> Slice:
        return Slice(c[0], c[2])

    def do_full_slice(self, c: list[Entry]) -> Slice:
        none = (None, c[0][1], c[0][2])
        return Slice(none, none)

    # ------------------------------------------------------------ calls

    def do_call(self, c: list[Entry]) -> Any:
        head = c[0][0][:-1]
        items: list[Entry] = c[1][0] if len(c) == 3 else []
        start, end = c[0][1], c[-1][2]
        form = FORMS.get(head)
        arguments = self._arguments(head, items, start, end)
        if form is not None:
            return form(self, arguments)
        word, dot, rest = head.partition(".")
        if not dot:
            return self._call_by_name(head, arguments, c[0])
        value = self.scope.names.get(word)
        if value is not None:
            owner = (value, start, start + len(word))
            return self._call_method(owner, rest, arguments)
        if self._is_captured(word):
            return self._captured(word, head + "(…)", start, end)
        if word in ALIASES:
            head = ALIASES[word] + "." + rest
            word = ALIASES[word]
            form = FORMS.get(head)
            if form is not None:
                arguments.head = head
                return form(self, arguments)
        if word == "R":
            meant = misspelt.form(head)
            if meant and not self.scope.in_prim_func():
                self._misspelt(meant, (start, start + len(head)))
                arguments.head = meant[0]
                return FORMS[meant[0]](self, arguments)
            return self._operator("relax." + PROTOTYPE_OPERATORS.get(rest, rest), arguments)
        if word in self.scope.modules and "." not in rest:
            where = (start, start + len(head))
            return self._call_expr(self.scope.global_var(rest, where), arguments)
        if word in ("T", "I", "tvm"):
            return Form(head, arguments.positional, arguments.keywords)
        if rest in self.scope.global_names:
            self._unknown_module(word, start)
            return self._call_expr(
                self.scope.global_var(rest, (start, start + len(head))), arguments
            )
        raise Rejected(
            f"{head!r} is not known: expected R.…, T.…, I.… or cls.…", start, start + len(head)
        )

    def _means_nothing(self, name: str) -> bool:
        """Whether neither the program nor what may stand around it gives a name a meaning."""
        inside = self.scope.in_prim_func() or self.scope.look_up(name) is not None
        return self.around is None and not inside

    def _misspelt(self, words: list[str], span: Span) -> None:
        """Report a word that is near to a known one, as which it is read."""
        shown = self.text_between(*span)
        self.error(f"unknown word `{shown}`", span, did_you_mean(words, "`"))

    def _unknown_module(self, word: str, start: int) -> None:
        """Report, once, what is no name of the module in front of a name that the module has."""
        known = sorted(self.scope.modules - {"self", "Module"})
        help = did_you_mean(closest(word, known) or known[:1])
        self.error(f"{word!r} is not defined", (start, start + len(word)), help)
        self.scope.modules.add(word)

    def _arguments(self, head: str, items: list[Entry], start: int, end: int) -> Arguments:
        positional: list[Entry] = []
        keywords: dict[str, Entry] = {}
        named: dict[str, tuple[Span, Span]] = {}
        for item in items:
            value = item[0]
            if type(value) is Keyword:
                name, given = value.name, value.value
                if name in keywords:
                    raise Rejected(f"{name!r} is given twice", item[1], item[2])
                keywords[name] = given
                named[name] = (item[1], item[1] + len(name)), (given[1], given[2])
            elif keywords:
                raise Rejected("a positional argument follows a named one", item[1], item[2])
            else:
                positional.append(item)
        found = Arguments(head, positional, keywords, start, end)
        found.named = named
        if not self.text.startswith(head, start):  # imported under another name
            found.head_end = max(start, self.text.find("(", start, end))
        return found

    def _operator(self, name: str, arguments: Arguments) -> Any:
        coerce = self.coerce
        positional = arguments.positional
        if positional and isinstance(positional[0][0], ast.StructInfo):
            meant = closest(arguments.head, misspelt.ANNOTATIONS)
            if meant:
                self._misspelt(meant, arguments.head_span)
                arguments.head = meant[0]
                return FORMS[meant[0]](self, arguments)
        infos, spans = arguments.type_arguments(coerce)
        attrs = {name: coerce.attr(value) for name, value in arguments.keywords.items()}
        return ast.Call(
            ast.op(name),
            tuple(coerce.expr(entry) for entry in positional),
            infos,
            attrs,
            tuple((entry[1], entry[2]) for entry in positional),
            spans,
            arguments.span,
            arguments.attribute_spans() if attrs else {},
            arguments.head_span,
            arguments.spelled(),
        )

    def _call_by_name(self, head: str, arguments: Arguments, where: Entry) -> Any:
        span = (where[1], where[2] - 1)
        found = self.scope.look_up(head)
        if found is None:
            literal = head == "float" and all(
                isinstance(e[0], (str, int, float)) for e in arguments.positional
            )
            if not literal and head != "range" and self._is_captured(head):
                return self._captured(head, head + "(…)", arguments.start, arguments.end)
            if head in ("float", "range", "TypeVar", "len", "print", "int", "bool"):
                return self._builtin(head, arguments)
            if self.scope.in_prim_func():
                return self.prim_call_by_name(arguments)
            found = ast.Var(head, None, None, span)
        return self._call_found(found, arguments, head, span)

    def prim_call_by_name(self, arguments: Arguments) -> tir.PrimExpr:
        """What a call of a function without `T.` is in a PrimFunc; statements say that it is not understood."""
        span = arguments.span
        return tir.OpaqueExpr(self.text_between(*span), span)

    def _call_found(
        self, found: Any, arguments: Arguments, head: str, span: tuple[int, int]
    ) -> Any:
        if not isinstance(found, ast.Expr):
            raise Rejected(f"{head!r} is {describe(found)}, which can't be called", *span)
        return self._call_expr(found, arguments)

    def _builtin(self, head: str, arguments: Arguments) -> Any:
        if head == "float" and len(arguments.positional) == 1:
            value = arguments.positional[0][0]
            try:
                if isinstance(value, (str, int, float)):
                    return float(value)
            except (ValueError, OverflowError):
                pass
            raise Rejected("float(…) needs a number", arguments.start, arguments.end)
        return Form(head, arguments.positional, arguments.keywords)

    def _call_expr(self, callee: ast.Expr, arguments: Arguments) -> ast.Call:
        coerce = self.coerce
        infos, spans = arguments.type_arguments(coerce)
        for name, value in arguments.keywords.items():
            raise Rejected(
                f"a call of a function has no named argument, but {name!r} is given",
                value[1],
                value[2],
            )
        positional = arguments.positional
        return ast.Call(
            callee,
            tuple(coerce.expr(entry) for entry in positional),
            infos,
            {},
            tuple((entry[1], entry[2]) for entry in positional),
            spans,
            (arguments.start, arguments.end),
        )

    def _call_method(self, owner: Entry, method: str, arguments: Arguments) -> Any:
        value, _, end = owner
        name = METHODS.get(method)
        if name is None or not isinstance(value, ast.Expr):
            if isinstance(value, (tir.Buffer, tir.PrimExpr)):
                if method == "astype" and _is_cast(value, arguments):
                    assert isinstance(value, tir.PrimExpr)
                    data_type = self.coerce.data_type(arguments.positional[0])
                    return tir.Cast(data_type, value, arguments.span)
                return tir.OpaqueExpr(
                    self.text[arguments.start : arguments.end], (arguments.start, arguments.end)
                )
            where = (self.text.find(method, end), arguments.head_end)
            meant = did_you_mean(closest(method, METHODS))
            help = meant or f"operators are functions: R.{method}(…)"
            raise Rejected(f"a value has no method {method!r} in Relax", *where, help=help)
        arguments.positional.insert(0, owner)
        return self._operator(name, arguments)

    def do_call_value(self, c: list[Entry]) -> Any:
        items: list[Entry] = c[2][0] if len(c) == 4 else []
        start, end = c[0][1], c[-1][2]
        arguments = self._arguments("", items, start, end)
        value = c[0][0]
        if isinstance(value, CapturedName):
            return CapturedName(value.text + "(…)")
        if isinstance(value, Name) and value.text in FORMS:
            return FORMS[value.text](self, arguments)
        if isinstance(value, (ast.Expr, Name)):
            return self._call_expr(self.coerce.expr(c[0]), arguments)
        raise Rejected(f"{describe(value)} can't be called", c[0][1], c[0][2])

    def do_method(self, c: list[Entry]) -> Any:
        items: list[Entry] = c[3][0] if len(c) == 5 else []
        start, end = c[0][1], c[-1][2]
        name = c[2][0][:-1]
        if isinstance(c[0][0], CapturedName):
            return CapturedName(f"{c[0][0].text}.{name}(…)")
        arguments = self._arguments(name, items, start, end)
        arguments.head_end = c[2][2] - 1
        return self._call_method((self._owner(c[0]), c[0][1], c[0][2]), name, arguments)

    def do_attribute(self, c: list[Entry]) -> Any:
        if isinstance(c[0][0], CapturedName):
            return CapturedName(f"{c[0][0].text}.{c[2][0]}")
        return self._attribute(self._owner(c[0]), c[2][0], c[0][1], c[-1][2])

    def _owner(self, entry: Entry) -> Any:
        """The value that a method or an attribute is of."""
        if isinstance(entry[0], (tir.Buffer, tir.PrimExpr)) or self.scope.in_prim_func():
            return entry[0]
        return self.coerce.expr(entry)

    # ------------------------------------------------------------ subscripts

    def do_subscript(self, c: list[Entry]) -> Any:
        value, start, end = c[0][0], c[0][1], c[-1][2]
        items: list[Entry] = c[2][0]
        match value:
            case tir.Buffer():
                if len(items) == 1 and isinstance(items[0][0], Sequence):
                    items = items[0][0].items  # `x[()]` and `x[i, j]` written as a tuple
                return tir.BufferLoad(value, self._indices(items), (start, end))
            case Name(text="metadata"):
                return self._metadata(items[0])
            case CapturedName() if not self.scope.in_prim_func():
                return CapturedName(self.text[start:end])
            case Name(text=text):
                return self._subscripted_name(text, items, c)
            case tuple() if value[0] == "metadata":
                return self._constant(value[1], items[0], start, end)
            case ast.Expr():
                return self._get_item(value, items, start, end)
            case Sequence() if not self.scope.in_prim_func():
                return self._get_item(self.coerce.expr(c[0]), items, start, end)
        if type(value) is tir.BufferLoad and self.text_between(*c[0][1:]) == value.buffer.name:
            help = f"write `{value.buffer.name}`"
            words = f"{value.buffer.name!r} is a scalar, and no buffer to index"
            raise Rejected(words, start, end, help, certain=True)
        if isinstance(value, tir.PrimExpr):
            return tir.OpaqueExpr(self.text[start:end], (start, end))
        raise Rejected(f"{describe(value)} can't be subscripted", start, end)

    def _subscripted_name(self, text: str, items: list[Entry], c: list[Entry]) -> Any:
        start, end = c[0][1], c[-1][2]
        text = _BARE.get(text, text)
        known = misspelt.ANNOTATIONS if text.startswith("R.") else _BARE
        meant = closest(text, known) if text not in FORMS and self._means_nothing(text) else []
        if meant:
            self._misspelt(meant, (c[0][1], c[0][2]))
            text = _BARE.get(meant[0], meant[0])
        if text.startswith("T.") and self.scope.in_prim_func():
            return Form(text, items, {})
        form = FORMS.get(text)
        if form is not None:
            if len(items) == 1 and isinstance(items[0][0], Sequence) and text == "R.Tensor":
                inner = items[0][0]
                if inner.bracket == "[":
                    items = inner.items
            return form(self, Arguments(text, items, {}, start, end))
        if text.startswith("T."):
            return Form(text, items, {})
        if self.scope.in_prim_func():
            if "." in text:
                return tir.OpaqueExpr(self.text[start:end], (start, end))
            unknown = self.unknown_buffer(text, (c[0][1], c[0][2]))
            return tir.BufferLoad(unknown, self._indices(items), (start, end))
        return self._get_item(self.coerce.expr(c[0]), items, start, end)

    def unknown_buffer(self, name: str, span: tuple[int, int]) -> tir.Buffer:
        """The buffer that a PrimFunc subscripts and nothing declares; one a name and function."""
        known: Any = self.scope.function_frame().attrs.setdefault(" unknown", {})
        found: tir.Buffer = known.setdefault(name, tir.Buffer(name, (), VOID, {}, span))
        return found

    def _get_item(self, value: ast.Expr, items: list[Entry], start: int, end: int) -> Any:
        index = items[0][0]
        if isinstance(index, tir.IntImm):
            index = index.value
        if len(items) != 1 or not isinstance(index, int) or isinstance(index, bool):
            raise Rejected("a tuple is indexed with an integer literal", items[0][1], items[-1][2])
        if isinstance(value, ast.Tuple) and -len(value.fields) <= index < 0:
            index += len(value.fields)  # of a tuple that is written out, as in Python
        return ast.TupleGetItem(value, index, (start, end))

    def _indices(self, items: list[Entry]) -> tuple[tir.PrimExpr, ...]:
        found: list[tir.PrimExpr] = []
        for item in items:
            value, start, end = item
            if isinstance(value, Slice):
                if value.start[0] is None:
                    found.append(tir.OpaqueExpr(":", (start, end)))
                    continue
                found.append(
                    tir.Slice(
                        self.coerce.prim(value.start, INT32),
                        self.coerce.prim(value.stop, INT32),
                        (start, end),
                    )
                )
            else:
                found.append(self.coerce.prim(item, INT32))
        return tuple(found)

    def _metadata(self, item: Entry) -> tuple[str, str]:
        return ("metadata", self.coerce.text(item))

    def _constant(self, kind: str, item: Entry, start: int, end: int) -> ast.Expr:
        index = item[0]
        known = self.metadata.get(kind)
        key = self.text[start:end]
        if not isinstance(index, int) or index < 0:
            raise Rejected("expected the number of a constant", item[1], item[2])
        if known is not None and index >= len(known):
            raise Rejected(f"the metadata holds {len(known)} of {kind!r}", start, end)
        data = None if known is None else known[index]
        if known is not None and data is None:
            raise Rejected(f"the metadata of {key} is damaged", start, end)
        if data is not None:
            return ast.Constant(
                ast.Literal(None, data.dtype, data.shape, key, data.content), (start, end)
            )
        return ast.Constant(ast.Literal(None, VOID, None, key), (start, end))


def _as_written(value: object, start: int, end: int) -> Any:
    """A constant as if it were written where its name stands."""
    if isinstance(value, tuple):
        return Sequence([(_as_written(item, start, end), start, end) for item in value], "(")
    return KnownInteger(value) if type(value) is int else value


def _is_cast(value: object, arguments: Arguments) -> bool:
    """Whether `x.astype(…)` is a cast of a scalar."""
    one = len(arguments.positional) == 1 and not arguments.keywords
    return one and isinstance(value, tir.PrimExpr) and not isinstance(value, tir.OpaqueExpr)


def _is_scalar_data(value: object) -> bool:
    """Whether an attribute is something that a PrimFunc can hold."""
    match value:
        case tuple():
            return all(map(_is_scalar_data, value))
        case dict():
            return all(map(_is_scalar_data, value.values()))
    return not isinstance(value, ast.Expr | ast.StructInfo)


def unquote(text: str) -> str:
    """The value of a string literal; `\\x` escapes that spell UTF-8 bytes are joined to characters."""
    prefix = text[: len(text) - len(text.lstrip("rRbBuUfF"))].lower()
    body = text[len(prefix) :]
    body = body[3:-3] if body[:3] in ('"""', "'''") else body[1:-1]
    if "r" in prefix or "\\" not in body:
        return body
    body = _BYTES.sub(_decode_bytes, body)
    return _ESCAPE.sub(_unescape, body)


def _decode_bytes(match: re.Match[str]) -> str:
    try:
        return bytes.fromhex(match[0].replace("\\x", "")).decode("utf-8")
    except UnicodeDecodeError:
        return match[0]


def _unescape(match: re.Match[str]) -> str:
    simple, octal, *hexadecimal = match.groups()
    if simple is not None:
        return _SIMPLE[simple]
    if octal is not None:
        return chr(int(octal, 8))
    code = int(next(h for h in hexadecimal if h is not None), 16)
    return chr(code) if code < 0x110000 else "\ufffd"


FormHandler = Callable[[Expressions, Arguments], Any]
