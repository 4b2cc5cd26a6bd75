"""Conversion of parsed values to scalars: dimensions, numbers, arithmetic, intrinsics."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rlx.grammar.dialects import ALLOC_WORDS, BLOCK_ATTR_WORDS, BLOCK_WORDS
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import BOOL, FLOAT32, INT32, INT64, SCALAR_NAMES, DataType, dtype
from rlx.grammar.nodes.node import Node, Span
from rlx.grammar.read import arithmetic
from rlx.grammar.read.entries import Entry, Rejected
from rlx.grammar.read.partial_nodes import (
    BuiltInName,
    CapturedName,
    Form,
    Name,
    Negation,
    Sequence,
    UnresolvedOperation,
    WrittenInteger,
    describe,
)
from rlx.grammar.read.script_vocabulary import is_known, meant_by
from rlx.grammar.read.source_tokens import on_one_line
from rlx.grammar.suggest import did_you_mean

if TYPE_CHECKING:
    from rlx.grammar.read.scope import Scope

_INT64 = range(-(2**63), 2**64)

_NO_VALUES = frozenset(
    ["T.grid", "T.serial", "T.parallel", "T.vectorized", "T.unroll", "T.reads", "T.writes"]
)
_STATEMENTS = frozenset(
    [
        "T.thread_binding",
        "T.match_buffer",
        "T.init",
        "T.where",
        "T.func_attr",
        *BLOCK_WORDS,
        *BLOCK_ATTR_WORDS,
        *ALLOC_WORDS,
    ]
)
"""Forms that are statements of a PrimFunc or their heads, and never parts of expressions."""
_ON_BITS = {
    "BitwiseAnd": "bitwise_and",
    "BitwiseNot": "bitwise_not",
    "BitwiseOr": "bitwise_or",
    "BitwiseXor": "bitwise_xor",
    "LShift": "shift_left",
    "RShift": "shift_right",
}
"""Other names of intrinsics."""
ReadText = Callable[[str], Any]
_OF_PRIM_FUNCS = frozenset(
    [
        *("T.Buffer", "T.decl_buffer", "T.buffer_decl", "T.handle", "T.ptr", "T.Ptr", "T.Range"),
        *("T.allocate", "T.launch_thread", "T.env_thread", "T.attr", "T.realize", "T.evaluate"),
        *("T.target", "T.Target", "T.index_map", "T.LetStmt", "T.iter_var"),
    ]
)
"""Values in a PrimFunc that are not scalars."""


class ScalarCoercion:
    """Converts parsed values to scalars in a scope.

    Parameters
    ----------
    scope
        Resolves undefined names.
    text
        The whole source text.
    read_text
        Parses the text of a quoted dimension.

    Attributes
    ----------
    captured
        Shape variables, variables and annotations whose values the surrounding Python code gives.
    implicit
        The shape variables that are such only because they are used as dimensions, each with the
        location of its first use.
    postponed
        The names that have quotes where they are used first, and none in an annotation that TVM
        reads later, or are parameters, each with the location of the use without quotes: only
        Python, which evaluates annotations at once, does not know them.
    unquoted
        The data types that are written as bare names, by their places.
    cast_to
        Those of them that only a cast in a body binds.
    quotes, quoting
        The number of quoted dimensions, and the annotations that contain them.
    quoted
        The locations of quoted dimensions in bodies.
    """

    def __init__(self, scope: Scope, text: str, read_text: ReadText) -> None:
        self.scope = scope
        self.source = text
        self.read_text = read_text
        self._quotes = False
        self.captured: set[Node] = set()
        self.implicit: dict[tir.Var, Span] = {}
        self.postponed: dict[str, Span] = {}
        self._first_quoted: set[tir.Var] = set()
        self.unquoted: dict[Span, str] = {}
        self.cast_to: dict[tir.Var, Span] = {}
        self.quotes = 0
        self.quoting: set[str] = set()
        self.quoted: list[Span] = []
        self.signed: dict[Span, tuple[str, Entry]] = {}

    def prim(self, entry: Entry, literal: DataType = INT64) -> tir.PrimExpr:
        """Convert to a prim expression; an integer literal gets the data type ``literal``.

        Raises
        ------
        Rejected
            If the value is not a scalar.
        """
        value, span = entry.value, entry.span
        if isinstance(value, tir.PrimExpr):
            return value
        match value:
            case bool() | int() | float():
                return self._number(entry, literal)
            case str() if self.scope.in_prim_body() and not self.scope.in_head:
                return tir.StringImm(value, span)  # only heads quote dimensions
            case str():
                return self._quoted(entry)
            case CapturedName(text=text):
                refuse_built_in(entry, "a number")
                dimension = self.scope.shape_var(text, span)
                self.captured.add(dimension)
                return dimension
            case Name(text=text):
                return self._undefined_dimension(text, span)
            case ast.PrimValue(value=inner):
                return inner
            case ast.Var():
                return self.scope.dimension_of(value, self._quotes)
            case ast.GlobalVar(name_hint=name):
                return self.scope.shape_var(name, span)
            case UnresolvedOperation(operator=operator, operands=operands):
                return arithmetic.prim(self, operator, operands, span)
            case Negation(operand=operand):
                return tir.Not(self.prim(operand), span)
            case Form():
                _refuse_statement(value, span)
                return self.tir_form(value, span)
            case ast.Call() if (found := arithmetic.as_prim(self, value)) is not None:
                return found
            case tir.Buffer() if self.scope.in_prim_func():
                return tir.OpaqueExpr(
                    on_one_line(self.source, span), span
                )  # a kind that TIR04 reports
        # No code around a PrimFunc makes a number of what is written as something else.
        written = value is None or isinstance(value, Sequence | dict)
        certain = written and self.scope.in_prim_body()
        words = f"expected a dimension or another scalar, found {describe(value)}"
        raise Rejected(words, *span, certain=certain)

    def _number(self, entry: Entry, literal: DataType) -> tir.PrimExpr:
        value, span = entry.value, entry.span
        if isinstance(value, bool):
            return tir.IntImm(int(value), BOOL, span)
        if isinstance(value, WrittenInteger) and literal is INT32 and value.written is not None:
            return value.written
        if isinstance(value, int):
            number = self.integer(entry)
            if literal.is_float:
                return tir.FloatImm(float(number), literal, span)
            # What 32 bits cannot hold is no 32-bit literal, as TVM reads it, too.
            wide = literal is INT32 and not -(1 << 31) <= number < 1 << 31
            if number >= 1 << 63 and not self.scope.in_prim_func():  # TVM has no such number there
                words = f"{number} is no int64: the largest one is 2**63 - 1"
                raise Rejected(words, *span, certain=True)
            return tir.IntImm(number, INT64 if wide else literal, span)
        # Python's floats are doubles in Relax; TIR reads them as float32.
        plain = dtype("float64") if literal == INT64 else FLOAT32
        return tir.FloatImm(value, literal if literal.is_float else plain, span)

    def integer(self, entry: Entry) -> int:
        """An integer literal that fits into 64 bits."""
        if int(entry.value) not in _INT64:
            digits = entry.end - entry.start
            words = f"this integer of {digits} digits is outside the 64-bit range"
            raise Rejected(words, *entry.span, certain=True)
        return int(entry.value)

    def scalar(self, entry: Entry) -> tir.PrimExpr:
        """Convert to a scalar that is a value: `1 / 8` is what Python computes."""
        found = self.computed(entry)
        return self.prim(found if isinstance(found.value, float) else entry)

    def computed(self, entry: Entry) -> Entry:
        """The value that Python computes from literals alone, such as `2 ** 3`; anything else as it
        is.
        """
        if isinstance(entry.value, tir.PrimExpr) and not isinstance(entry.value, tir.Var):
            from rlx.grammar.read.literals import number

            found = number(self.text_of(entry.span))
            if found is not None:
                return Entry(found, *entry.span)
        return entry

    def _quoted(self, entry: Entry) -> tir.PrimExpr:
        inner = self.read_text(entry.value)
        if inner is None:
            words = f"expected a dimension in the string {entry.value!r}"
            raise Rejected(words, *entry.span)
        outer, self._quotes = self._quotes, True
        try:
            found = self.prim(inner)
        except Rejected as error:  # its place is one in the string
            raise Rejected(error.message, *entry.span, error.help, error.certain) from None
        finally:
            self._quotes = outer
        if self.scope.in_relax_body():
            self.quoted.append(entry.span)
        self.quotes += 1
        self._first_quoted.update(set(tir.free_vars(found)) - self.implicit.keys())
        return found

    def _undefined_dimension(self, text: str, span: Span) -> tir.PrimExpr:
        if "." in text:
            words = f"expected a scalar, found {text!r}"
            raise Rejected(words, *span, certain=text.startswith("T."))
        found = self.scope.shape_var(text, span)
        if not self._quotes:
            self.implicit.setdefault(found, span)
        return found

    def postpone(self, later: Span | None) -> None:
        """Tell apart the names without quotes that TVM knows, at the end of a head. `later`: the
        annotation that is read last; None for PrimFuncs, of which each is read after those before.
        """
        for var in self._first_quoted & self.implicit.keys():
            start, _ = self.implicit[var]
            if later is None or later[0] <= start < later[1]:
                self.postponed.setdefault(var.name, self.implicit.pop(var))
        self._first_quoted.clear()

    def refuse_unknown(self, head: str, span: Span) -> None:
        """Reject a form whose head `T.…` does not exist in any version of TVM; in statements of
        PrimFuncs, which are kept as text, the checker reports it.
        """
        word = head[2:]
        if not is_known(word):
            meant = did_you_mean([f"T.{w}" for w in meant_by(word)], "`")
            words = f"no version of TVM has {head}"
            kept = self.scope.in_prim_body() and not self.scope.in_head
            where = (span[0], span[0] + len(head))
            raise Rejected(words, *where, meant, certain=not kept, kept=kept)

    def tir_form(self, form: Form, span: Span) -> tir.PrimExpr:
        """A call of ``T.…`` that is not a known form, and therefore an intrinsic."""
        head = form.head
        if not head.startswith("T."):
            bare = "." not in head  # Python may compute it before TVM sees it
            raise Rejected(f"expected a scalar, found {head}(…)", *span, kept=bare)
        outside = not self.scope.in_prim_func()
        if head in _NO_VALUES or (outside and head in _STATEMENTS | _OF_PRIM_FUNCS):
            raise Rejected(f"{head} is not a value", *span, certain=True)
        if outside:
            self.refuse_unknown(head, span)
            _refuse_tensors(form, span)
        match head, [entry.value for entry in form.args]:
            case "T.Shuffle", [Sequence(items=a), Sequence(items=b)] if not form.keywords:
                parts = tuple(map(self.tir_arg, (*a, *b)))
                return tir.Call("Shuffle", parts, None, {"vectors": len(a)}, span)
        args = tuple(
            tir.StringImm(e.value, e.span) if isinstance(e.value, str) else self.tir_arg(e)
            for e in form.args
        )
        attrs = {name: self._tir_attr(value) for name, value in form.keywords.items()}
        if head in ("T.pow", "T.power") and len(args) == 2:
            args = _meeting(args[0], args[1])
        return tir.Call(_ON_BITS.get(head[2:], head[2:]), args, None, attrs, span)

    def _tir_attr(self, entry: Entry) -> object:
        """The value of a named argument of an intrinsic: data, or a scalar."""
        value = entry.value
        match value:
            case Sequence(items=items):
                return tuple(self._tir_attr(item) for item in items)
            case Name() | ast.Expr() | UnresolvedOperation() | Negation() | Form():
                return self.prim(entry, INT32)
            case bool() | float() | str() | None | dict() | tir.PrimExpr() | DataType():
                return value
            case int():
                return self.integer(entry)
        raise Rejected(f"expected a scalar, found {describe(value)}", *entry.span)

    def tir_arg(self, entry: Entry) -> tir.PrimExpr:
        """An argument of an intrinsic: a scalar, or uninterpreted text."""
        value = entry.value
        if isinstance(value, (Sequence, dict, tir.Buffer)) or value is None:
            return tir.OpaqueExpr(on_one_line(self.source, entry.span), entry.span)
        if isinstance(value, Name) and "." in value.text:
            return tir.OpaqueExpr(value.text, entry.span)
        return self.prim(entry, dtype("int32"))

    def text_of(self, span: Span) -> str:
        """The source in a stretch of the text."""
        return self.source[span[0] : span[1]]


def _refuse_tensors(form: Form, span: Span) -> None:
    """Reject a function of ``T`` that is called with a tensor."""
    for entry in form.args:
        value = entry.value
        if isinstance(value, ast.Var) and isinstance(
            value.struct_info_annotation, ast.TensorStructInfo
        ):
            words = f"{form.head} computes with scalars, but {value.name_hint!r} is a tensor"
            help = "use an operator of Relax, such as R.exp(x) for T.exp(x)"
            raise Rejected(words, *span, help, certain=True)


def _meeting(a: tir.PrimExpr, b: tir.PrimExpr) -> tuple[tir.PrimExpr, ...]:
    """The operands of a power, in the type in which they meet, as TVM casts them."""
    from rlx.grammar.read.prim_types import common, value_type

    found = value_type(a), value_type(b)
    meet = common(*found)
    if meet is None or not meet.is_float or any(of.kind != "number" for of in found):
        return a, b
    return tuple(
        each if of.dtype == meet else _cast(each, of.lanes, meet)
        for each, of in zip((a, b), found, strict=True)
    )


def _cast(value: tir.PrimExpr, lanes: int | None, data_type: DataType) -> tir.PrimExpr:
    if isinstance(value, tir.IntImm | tir.FloatImm):
        return tir.FloatImm(float(value.value), data_type, value.span)
    if lanes != 1:
        return value
    return tir.Cast(data_type, value, getattr(value, "span", None))


def refuse_built_in(entry: Entry, wanted: str) -> None:
    """Refuse what Python itself gives every file where TVM needs something else."""
    if isinstance(entry.value, BuiltInName):
        words = f"Python's `{entry.value.text}` is not {wanted}"
        raise Rejected(words, *entry.span, settled=True)


def _refuse_statement(form: Form, span: Span) -> None:
    """Refuse a form that is no part of a scalar expression."""
    head = form.head
    if head in _STATEMENTS:
        raise Rejected(f"{head} is not a value", *span, certain=True)
    if not form.args and not form.keywords and head[2:] in SCALAR_NAMES:
        words = f"{head}() without an argument declares a variable; it is not a value"
        raise Rejected(words, *span, certain=True)
