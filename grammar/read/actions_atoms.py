"""The actions of names, literals, brackets and operators, and of names bound by the surrounding
Python code.
"""

from __future__ import annotations

from typing import Any

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.node import Span, replace
from rlx.grammar.read import arithmetic, misspelt
from rlx.grammar.read.coerce import BARE_INFOS
from rlx.grammar.read.entries import Entry, Rejected, unquote
from rlx.grammar.read.forms import ALIASES, FORMS, Arguments
from rlx.grammar.read.forms_tir import if_then_else
from rlx.grammar.read.partial_nodes import (
    NONE,
    BuiltInName,
    Captured,
    CapturedName,
    Form,
    Keyword,
    KnownInteger,
    Name,
    Negation,
    Sequence,
    Slice,
    describe,
)
from rlx.grammar.read.prim_scalars import is_number_variable
from rlx.grammar.read.reports import ReadContext
from rlx.grammar.read.script_vocabulary import OF_BUFFERS, OF_ELEMENTS, OF_NUMBERS, OF_VARIABLES
from rlx.grammar.read.source_tokens import on_one_line
from rlx.grammar.suggest import closest, did_you_mean

_LIBRARIES = frozenset(["F", "jax", "jnp", "math", "np", "numpy", "relay", "tf", "topi", "torch"])
"""The names by which libraries are usually imported."""
_WORDS = {"None": None, "True": True, "False": False}


class NamesAround:
    """The meaning of names that the program does not bind."""

    def __init__(self, context: ReadContext) -> None:
        self.context = context
        self.scope = context.scope

    def value(self, text: str, span: Span) -> Any:
        """The value of a name that the program does not bind."""
        around = self.context.around
        if around is None or text in self.scope.modules:
            return Name(text)
        if text == "metadata" and self.context.metadata:
            return Name(text)  # read already
        value = around.value(text)
        if value is ...:
            return Name(text)
        if isinstance(value, Captured):
            found = self.captured(text, text, span)
            return BuiltInName(text) if around.is_built_in(text) else found
        return _as_written(value, *span)

    def captured(self, name: str, text: str, span: Span) -> CapturedName:
        """An expression that begins with a name bound by the surrounding Python code."""
        around = self.context.around
        assert around is not None
        if not self.scope.in_prim_func() and self.scope.frame.kind != "module":
            around.used.setdefault(name, span)
        return CapturedName(text)

    def holds(self, word: str) -> bool:
        """Whether the surrounding Python code binds the first word of a dotted name, for a position
        outside PrimFuncs.
        """
        around = self.context.around
        return (
            around is not None
            and word not in ("R", "T", "I")
            and word not in self.scope.modules
            and not self.scope.in_prim_func()
            and self.scope.look_up(word) is None
            and around.holds(word)
        )

    def library(self, word: str) -> str | None:
        """The array library that a captured name is imported from."""
        around = self.context.around
        return None if around is None else around.library(word)

    def not_imported(self, word: str) -> bool:
        """Whether a PrimFunc in a Python file uses a library that the file does not import; what
        else it does not know may be bound by a statement that is kept as text.
        """
        around = self.context.around
        if around is None or word not in _LIBRARIES:
            return False
        return self.scope.in_prim_func() and not around.holds(word)

    def part_of(self, owner: Entry, part: str) -> CapturedName | None:
        """An attribute or a call of a captured value, which is also captured."""
        value = owner.value
        return CapturedName(f"{value.text}.{part}") if isinstance(value, CapturedName) else None

    def means_nothing(self, name: str) -> bool:
        """Whether neither the program nor possible surrounding code binds a name."""
        inside = self.scope.in_prim_func() or self.scope.look_up(name) is not None
        return self.context.around is None and not inside

    def unknown_module(self, word: str, start: int) -> None:
        """Report, once, an unknown module name before a name that the module defines."""
        known = sorted(self.scope.modules - {"self", "Module"})
        help = did_you_mean(closest(word, known) or known[:1])
        span = (start, start + len(word))
        if not self.scope.found_missing():
            self.context.reports.error(f"{word!r} is not defined", span, help)
        self.scope.modules.add(word)


def _as_written(value: object, start: int, end: int) -> Any:
    """A constant as if it were written where its name stands."""
    if isinstance(value, tuple):
        return Sequence([Entry(_as_written(item, start, end), start, end) for item in value])
    return KnownInteger(value) if type(value) is int else value


class ExpressionActions:
    """Base class of the actions of expressions."""

    def __init__(self, context: ReadContext, around: NamesAround) -> None:
        self.context = context
        self.scope = context.scope
        self.coerce = context.coerce
        self.around = around


class AtomActions(ExpressionActions):
    """Actions of atoms and of chains of operators."""

    # ------------------------------------------------------------ names

    def do_name(self, span: Span, name: Entry) -> Any:
        text = name.value
        found = self.scope.names.get(text)
        if found is not None:
            if found is NONE:
                return None
            if type(found) is tir.BufferLoad:  # a scalar of a PrimFunc that can be assigned to
                return tir.BufferLoad(found.buffer, found.indices, span)
            if self.scope.in_outer_head() and isinstance(found, ast.Var | tir.Var):
                self.coerce.postponed.setdefault(text, span)
            return found
        if text in _WORDS:
            return _WORDS[text]
        found = self.scope.look_up(text)
        if found is None:
            return self.around.value(text, span)
        if type(found) is tir.Var and self.scope.in_outer_head():
            self.coerce.implicit.setdefault(found, span)  # elsewhere in the signature it has quotes
        return found

    def do_dotted(self, span: Span, dotted: Entry) -> Any:
        text = dotted.value
        head, _, rest = text.partition(".")
        value = self.scope.owner_named(head)
        if value is not None:
            return attribute_of(self.context, value, rest, span)
        if self.around.holds(head):
            return self.around.captured(head, text, span)
        if head in ALIASES:
            text = ALIASES[head] + "." + rest
        if head not in "RTI" and head not in self.scope.modules:
            if rest in self.scope.global_names:
                self.around.unknown_module(head, span[0])
            # `b.data` is the memory of a buffer, and the check of PrimFuncs tells if there is no `b`
            elif head not in (*ALIASES, "ty") and rest != "data" and self._is_of_no_module(head):
                raise Rejected(f"{head!r} is not defined", *span, certain=True)
        if head == "R" and text not in FORMS and text not in BARE_INFOS:
            meant = misspelt.form(text)
            if meant:
                self.context.misspelt(meant, span)
                text = meant[0]
        return Name(text)

    def _is_of_no_module(self, head: str) -> bool:
        """Whether a dotted name that neither the program nor Python code around it knows means
        nothing, in a PrimFunc.
        """
        if self.context.around is None:
            return self.scope.in_prim_func()
        return self.around.not_imported(head)

    def do_attribute(self, span: Span, owner: Entry, name: Entry) -> Any:
        if isinstance(owner.value, Name) and (known := self.around.part_of(owner, name.value)):
            return known
        return attribute_of(self.context, owned(self.context, owner), name.value, span)

    def do_info(self, span: Span, info: Entry) -> Any:
        text = info.value
        cache = self.scope.frame.infos
        found = cache.get(text)
        if found is not None and not (text in self.coerce.quoting and self.scope.in_relax_body()):
            return found
        if text in BARE_INFOS:
            made = BARE_INFOS[text](span)
        else:
            quotes = self.coerce.quotes
            entry = self.context.read_info(*span)
            known = len(self.scope.unknown)
            try:
                if entry is None:
                    raise Rejected("", *span)  # reported where it goes wrong
                made = self.coerce.info(entry)
            except Rejected as error:
                error.within = span[0]
                if self.scope.in_prim_func():
                    raise
                return self.context.unread_info(error, span)
            if len(self.scope.unknown) > known:
                return made  # each `_` is another, also in the same words
            if self.coerce.quotes > quotes:
                self.coerce.quoting.add(text)
        cache[text] = made
        return made

    # ------------------------------------------------------------ literals

    def do_int(self, span: Span, literal: Entry) -> int:
        text = literal.value
        if len(text) > 40:
            words = f"this integer of {len(text)} digits is outside the 64-bit range"
            raise Rejected(words, *span)
        try:
            return int(text, 0)
        except ValueError:
            raise Rejected(f"{text!r} is not an integer literal", *span) from None

    def do_float(self, span: Span, literal: Entry) -> float:
        if len(literal.value) > 400:
            raise Rejected("this number has too many digits", *span)
        try:
            return float(literal.value)
        except ValueError:  # its underlines do not stand between digits
            raise Rejected(f"{literal.value!r} is not a number literal", *span) from None

    def do_ints(self, span: Span, literal: Entry) -> Sequence:
        items: list[Entry] = []
        at = span[0] + 1
        for part in literal.value[1:-1].split(","):
            shown = part.lstrip()
            begin = at + len(part) - len(shown)
            items.append(Entry(int(shown), begin, begin + len(shown)))
            at += len(part) + 1
        return Sequence(items)

    def do_opaque(self, span: Span, literal: Entry) -> tir.OpaqueExpr:
        return tir.OpaqueExpr(literal.value, span)

    def do_strings(self, span: Span, before: Entry | None, literal: Entry) -> str:
        text = literal.value
        prefix = text[: len(text) - len(text.lstrip("rRbBuUfF"))].lower()
        if "f" in prefix:
            words = "f-strings are not allowed: the parser never evaluates Python"
            raise Rejected(words, *literal.span, kept=True)
        if "b" in prefix:
            raise Rejected("bytes are not a Relax value", *literal.span)
        return ("" if before is None else str(before.value)) + unquote(text)

    # ------------------------------------------------------------ brackets

    def do_listed(self, span: Span, before: Entry | None, item: Entry) -> list[Entry]:
        if before is None:
            return [item]
        items: list[Entry] = before.value
        items.append(item)
        return items

    def do_elements(self, span: Span, first: Entry, last: Entry | None) -> list[Entry]:
        return self.do_listed(span, first, last) if last is not None else list(first.value)

    def do_empty_tuple(self, span: Span) -> Sequence:
        return Sequence([])

    def do_parenthesized(self, span: Span, inner: Entry) -> Any:
        return inner.value

    def do_tuple(self, span: Span, elements: Entry) -> Sequence:
        return Sequence(elements.value, "tuple")

    def do_empty_list(self, span: Span) -> Sequence:
        return Sequence([], "list")

    def do_singleton_list(self, span: Span, only: Entry) -> Sequence:
        return Sequence([only], "list")

    def do_list(self, span: Span, elements: Entry) -> Sequence:
        return Sequence(elements.value, "list")

    def do_empty_dict(self, span: Span) -> dict[str | int, object]:
        return {}

    def do_dict(self, span: Span, entries: Entry) -> dict[str | int, object]:
        found: dict[str | int, object] = entries.value
        return found

    def do_entries(
        self, span: Span, before: Entry | None, key: Entry, value: Entry
    ) -> dict[str | int, object]:
        found: dict[str | int, object] = {} if before is None else before.value
        name = self._key(key)
        if name in found:
            words = f"the key {name!r} is given twice in this dictionary"
            self.context.reports.error(words, key.span)
        found[name] = plain_data(self.context, value)
        return found

    def _key(self, entry: Entry) -> str | int:
        value = entry.value
        if isinstance(value, (str, int)):
            return value
        if self.scope.in_prim_func() and isinstance(value, (Name, tir.Var)):  # of a T.Let
            return value.text if isinstance(value, Name) else value.name
        raise Rejected(f"expected a string as key, found {describe(value)}", *entry.span)

    def do_keyword(self, span: Span, name: Entry, value: Entry) -> Keyword:
        return Keyword(name.value, value)

    def do_slice(self, span: Span, start: Entry | None, stop: Entry | None) -> Slice:
        return self.do_stepped_slice(span, start, stop, None)

    def do_stepped_slice(
        self, span: Span, start: Entry | None, stop: Entry | None, step: Entry | None
    ) -> Slice:
        none = Entry(None, *span)
        return Slice(start or none, stop or none, step)

    # ------------------------------------------------------------ operators

    def do_chain_start(self, span: Span, left: Entry, operator: Entry, right: Entry) -> list[Any]:
        return [left, operator.value, right]

    def do_chain_more(self, span: Span, chain: Entry, operator: Entry, right: Entry) -> list[Any]:
        items: list[Any] = chain.value
        items += (operator.value, right)
        return items

    def do_folded(self, span: Span, chain: Entry) -> Any:
        if any(str(operator).startswith("is") for operator in chain.value[1::2]):
            return self.identity(span)
        return arithmetic.fold(self.coerce, chain.value).value

    def do_chosen(self, span: Span, one: Entry, condition: Entry, other: Entry) -> Any:
        """`x if c else y`: a choice between numbers; any other one Python makes while it reads."""
        found = condition.value
        if isinstance(found, bool):
            return one.value if found else other.value
        if not self.scope.in_prim_func() or isinstance(found, Captured):
            help = "write an `if` statement with two branches"
            raise Rejected("Relax has no conditional expression", *span, help)
        if isinstance(one.value, str) or isinstance(other.value, str):  # Python chooses a name
            return self.identity(span)
        return if_then_else(
            self.context, Arguments("T.if_then_else", [condition, one, other], {}, *span)
        )

    def identity(self, span: Span) -> CapturedName | tir.OpaqueExpr:
        """`x is None`: Python computes it while it reads the program."""
        if self.scope.in_prim_func():
            return tir.OpaqueExpr(on_one_line(self.context.text, span), span)
        if self.context.around is None:
            help = "compare values with an operator, such as R.equal"
            raise Rejected("Relax values have no identity", *span, help=help)
        return self.around.captured("", self.context.text_of(span), span)

    def do_prefix(self, span: Span, operator: Entry, operand: Entry) -> Any:
        arithmetic.note_sign(self.coerce, operator.value, operand, span[0])
        return arithmetic.prefix(self.coerce, operator.value, operand, span[0])


def refuse_attribute(value: object, name: str, span: Span) -> None:
    """Refuse what no version of TVM has as an attribute or method of a buffer or a number."""
    word = name.partition(".")[0]
    match value:
        case tir.Buffer(name=buffer):
            owner, known = f"the buffer {buffer!r}", OF_BUFFERS
        case tir.BufferLoad(buffer=tir.Buffer(name=buffer)) if is_element(value):
            owner, known = f"an element of {buffer!r}", OF_ELEMENTS
        case tir.Var() if is_number_variable(value):
            owner, known = f"the number {value.name!r}", OF_VARIABLES
        case tir.Binary() | tir.Not() | tir.Cast() | tir.Select() | tir.FloatImm():
            owner, known = "a number", OF_NUMBERS.union(type(value).__match_args__)
        case _:
            return
    if word not in known:
        help = did_you_mean(closest(word, known))
        raise Rejected(f"{owner} has no attribute {word!r}", *span, help, certain=True)


def is_element(value: tir.BufferLoad) -> bool:
    """Whether a load is certainly one number: all of it is known, and nothing is a slice."""
    slices = any(isinstance(index, tir.Slice | tir.OpaqueExpr) for index in value.indices)
    return not slices and len(value.indices) == len(value.buffer.shape)


def attribute_of(context: ReadContext, value: Any, name: str, span: Span) -> Any:
    """`x.shape`, and attributes that PrimFuncs keep as text."""
    type_of = isinstance(value, Form) and name == "ty" and context.scope.in_prim_func()
    if isinstance(value, tir.Buffer) and name == "shape":
        # Numbers stand where the shape is asked for.
        extents = (replace(n, span=span) if isinstance(n, tir.IntImm) else n for n in value.shape)
        return Sequence([Entry(extent, *span) for extent in extents])
    refuse_attribute(value, name, span)
    if isinstance(value, tir.Buffer | tir.PrimExpr) or type_of:
        return tir.OpaqueExpr(on_one_line(context.text, span), span)
    if name == "shape" and isinstance(value, ast.Expr):
        where = (span[0], span[1] - len(".shape"))
        return ast.Call(ast.op("relax.shape_of"), (value,), arg_spans=(where,), span=span)
    word, _, rest = name.partition(".")
    if word in TYPE_ATTRIBUTES and isinstance(value, ast.Expr):
        info = value.struct_info_annotation if isinstance(value, ast.Var) else None
        info = info or context.scope.types.get(value)
        if info is None:
            info = ast.ObjectStructInfo(span)
            context.coerce.captured.add(info)
        return _part_of_type(context, info, rest, span) if rest else info
    if isinstance(value, ast.StructInfo):
        return _part_of_type(context, value, name, span)
    words = f"a Relax value has no attribute {name!r}"
    raise Rejected(words, *span, help=misspelt.attribute(name))


TYPE_ATTRIBUTES = ("struct_info", "ty")
"""The attributes that give the type of a value, in one version of TVM or another."""


def _part_of_type(context: ReadContext, info: ast.StructInfo, name: str, span: Span) -> Any:
    """`x.struct_info.shape`, `x.ty.dtype`, `x.ty.ndim`"""
    match name, info:
        case _ if info in context.coerce.captured:
            return CapturedName(context.text_of(span))
        case "shape", ast.TensorStructInfo(shape=shape):
            return shape
        case "dtype", ast.TensorStructInfo(dtype=data_type) | ast.PrimStructInfo(dtype=data_type):
            return str(data_type)
        case "ndim", ast.TensorStructInfo(ndim=ndim) | ast.ShapeStructInfo(ndim=ndim):
            return ndim
    raise Rejected(f"this type has no attribute {name!r}", *span)


def owned(context: ReadContext, owner: Entry) -> Any:
    """The value that has a method or an attribute."""
    if (
        isinstance(owner.value, (tir.Buffer, tir.PrimExpr, ast.StructInfo))
        or context.scope.in_prim_func()
    ):
        return owner.value
    return context.coerce.expr(owner)


def plain_data(context: ReadContext, entry: Entry) -> object:
    """The value of an attribute, which must be data, because a call would have to be evaluated."""
    if isinstance(entry.value, Negation) and context.scope.in_prim_func():
        return context.coerce.prim(entry)
    value = context.coerce.attr(entry)
    if context.scope.in_prim_func() and not _is_scalar_data(value):
        raise Rejected("expected a literal", *entry.span)
    for part in value if isinstance(value, tuple) else (value,):
        if isinstance(part, ast.Call) and not isinstance(part.op, ast.Op):
            raise Rejected(
                "expected a literal, found a call; the parser never evaluates Python", *entry.span
            )
    return value


def _is_scalar_data(value: object) -> bool:
    """Whether an attribute is something that a PrimFunc can hold."""
    match value:
        case tuple():
            return all(map(_is_scalar_data, value))
        case dict():
            return all(map(_is_scalar_data, value.values()))
    return not isinstance(value, ast.Expr | ast.StructInfo)
