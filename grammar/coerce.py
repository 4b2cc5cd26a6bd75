"""Makes of a neutral value what its place asks for: expression, dimension, annotation, attribute."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rlx.grammar import arithmetic, ast, misspelt, tir
from rlx.grammar.dialects import OBJECT_WORDS
from rlx.grammar.dtype import BOOL, FLOAT32, INT32, INT64, DataType, dtype
from rlx.grammar.lalr import Entry, Rejected
from rlx.grammar.node import Node
from rlx.grammar.suggest import closest, did_you_mean
from rlx.grammar.unresolved import (
    CapturedName,
    Form,
    Name,
    Negation,
    Operation,
    Sequence,
    Wildcard,
    describe,
)

if TYPE_CHECKING:
    from rlx.grammar.scope import Scope

MAX_DIGITS = 40
_INT64 = range(-(2**63), 2**64)

_NO_VALUES = frozenset(
    ["T.grid", "T.serial", "T.parallel", "T.vectorized", "T.unroll", "T.reads", "T.writes"]
)
ReadText = Callable[[str, int], Any]


class Coerce:
    """The four readings of a neutral value, in a scope.

    Parameters
    ----------
    scope
        Gives undefined names a meaning.
    read_text
        Reads a quoted dimension, given its text and where it starts.

    Attributes
    ----------
    captured
        Shape variables, variables and annotations that stand for what Python around the program says.
    """

    def __init__(self, scope: Scope, read_text: ReadText) -> None:
        self.scope = scope
        self.read_text = read_text
        self._quotes = False
        self.captured: set[Node] = set()

    # ------------------------------------------------------------ dimensions

    def prim(self, entry: Entry, literal: DataType = INT64) -> tir.PrimExpr:
        """As a prim expression; an integer literal gets the data type ``literal``.

        Raises
        ------
        Rejected
            If the value is no scalar.
        """
        value, start, end = entry
        span = (start, end)
        if isinstance(value, tir.PrimExpr):
            return value
        match value:
            case bool():
                return tir.IntImm(int(value), BOOL, span)
            case int():
                number = self.integer(entry)
                # What 32 bits cannot hold is no 32-bit literal, as TVM reads it, too.
                wide = literal is INT32 and not -(1 << 31) <= number < 1 << 31
                return tir.IntImm(number, INT64 if wide else literal, span)
            case float():
                # Python's floats are doubles in Relax; TIR reads them as float32.
                plain = dtype("float64") if literal == INT64 else FLOAT32
                return tir.FloatImm(value, literal if literal.is_float else plain, span)
            case str():
                return self._quoted(entry)
            case CapturedName(text=text):
                return self._captured_dimension(text, span)
            case Name(text=text):
                return self._undefined_dimension(text, span)
            case ast.PrimValue(value=inner):
                return inner
            case ast.Var():
                return self.scope.dimension_of(value, self._quotes)
            case ast.GlobalVar(name_hint=name):
                return self.scope.shape_var(name, span)
            case Operation(operator=operator, operands=operands):
                return arithmetic.prim(self, operator, operands, span)
            case Negation(operand=operand):
                return tir.Not(self.prim(operand), span)
            case Form():
                return self.tir_form(value, span)
            case ast.Call() if (found := arithmetic.as_prim(self, value)) is not None:
                return found
            case tir.Buffer() if self.scope.in_prim_func():
                return tir.OpaqueExpr(
                    self.scope_text(start, end), span
                )  # a kind that TIR04 reports
        raise Rejected(
            f"expected a dimension or another scalar, found {describe(value)}", start, end
        )

    def integer(self, entry: Entry) -> int:
        """An integer literal that a 64-bit number can hold."""
        value, start, end = entry
        if int(value) not in _INT64:
            raise Rejected(
                f"this integer of {end - start} digits is outside of the 64-bit range", start, end
            )
        return int(value)

    def _quoted(self, entry: Entry) -> tir.PrimExpr:
        value, start, end = entry
        inner = self.read_text(value, start + 1)
        if inner is None:
            raise Rejected(f"expected a dimension in the string {value!r}", start, end)
        outer, self._quotes = self._quotes, True
        try:
            return self.prim(inner)
        finally:
            self._quotes = outer

    def _undefined_dimension(self, text: str, span: tuple[int, int]) -> tir.PrimExpr:
        if "." in text:
            head, _, rest = text.partition(".")
            if head == "T":
                return tir.Call(rest, (), None, {}, span)
            raise Rejected(f"expected a dimension, found {text!r}", *span)
        return self.scope.shape_var(text, span)

    def _captured_dimension(self, text: str, span: tuple[int, int]) -> tir.Var:
        found = self.scope.shape_var(text, span)
        self.captured.add(found)
        return found

    def tir_form(self, form: Form, span: tuple[int, int]) -> tir.PrimExpr:
        """A call of ``T.…`` that is none of the known ones: an intrinsic."""
        head = form.head
        if not head.startswith("T."):
            raise Rejected(f"expected a scalar, found {head}(…)", *span)
        if head in _NO_VALUES:
            raise Rejected(f"{head} is no value", *span, certain=True)
        args = tuple(
            tir.StringImm(e[0], (e[1], e[2])) if isinstance(e[0], str) else self.tir_arg(e)
            for e in form.args
        )
        attrs = {name: self._tir_attr(value) for name, value in form.keywords.items()}
        return tir.Call(head[2:], args, None, attrs, span)

    def _tir_attr(self, entry: Entry) -> object:
        """The value of a named argument of an intrinsic: data, or a scalar."""
        value = entry[0]
        match value:
            case Sequence(items=items):
                return tuple(self._tir_attr(item) for item in items)
            case Name() | ast.Expr() | Operation() | Negation() | Form():
                return self.prim(entry, INT32)
            case bool() | int() | float() | str() | None | dict() | tir.PrimExpr() | DataType():
                return self.attr(entry)
        raise Rejected(f"expected a scalar, found {describe(value)}", entry[1], entry[2])

    def tir_arg(self, entry: Entry) -> tir.PrimExpr:
        """An argument of an intrinsic: a scalar, or text kept as it stands."""
        value, start, end = entry
        if isinstance(value, (Sequence, dict, tir.Buffer)) or value is None:
            return tir.OpaqueExpr(self.scope_text(start, end), (start, end))
        if isinstance(value, Name) and "." in value.text:
            return tir.OpaqueExpr(value.text, (start, end))
        return self.prim(entry, dtype("int32"))

    scope_text: Callable[[int, int], str]

    # ------------------------------------------------------------ expressions

    def expr(self, entry: Entry) -> ast.Expr:
        """As a Relax expression.

        Raises
        ------
        Rejected
            If the value is none (a dictionary, an annotation).
        """
        value, start, end = entry
        if isinstance(value, ast.Expr):
            return value
        span = (start, end)
        match value:
            case tir.PrimExpr():
                return ast.PrimValue(value, span)
            case bool() | int() | float():
                return ast.PrimValue(self.prim(entry), span)
            case str():
                return ast.StringImm(value, span)
            case None:
                return ast.Call(ast.op("relax.null_value"), (), span=span)
            case CapturedName(text=text):
                return self._captured_value(text, span)
            case Name(text=text):
                return self._undefined_value(text, span)
            case Sequence(items=items):
                return ast.Tuple(
                    tuple(self.expr(item) for item in items),
                    tuple((item[1], item[2]) for item in items),
                    span,
                )
            case Operation(operator=operator, operands=operands):
                if arithmetic.is_scalar(self, value):
                    return ast.PrimValue(arithmetic.prim(self, operator, operands, span), span)
                return arithmetic.relax(self, operator, operands, span)
            case Negation(operand=operand):
                if arithmetic.is_scalar(self, value):
                    return ast.PrimValue(self.prim(entry), span)
                return arithmetic.relax(self, "not", (operand,), span)
            case Form(head=head) if head.startswith("T."):
                return ast.PrimValue(self.tir_form(value, span), span)
            case DataType():
                return ast.DataTypeImm(value, span)
        raise Rejected(f"expected a value, found {describe(value)}", start, end)

    def _undefined_value(self, text: str, span: tuple[int, int]) -> ast.Expr:
        head, dot, rest = text.partition(".")
        if dot:
            if head in self.scope.modules and "." not in rest:
                return self.scope.global_var(rest, span)
            if head == "R":
                return ast.op("relax." + rest)
            raise Rejected(f"expected a value, found {text!r}", *span)
        if text in self.scope.global_names:
            return self.scope.global_var(text, span)
        return ast.Var(text, None, None, span)

    def _captured_value(self, text: str, span: tuple[int, int]) -> ast.Expr:
        if text in self.scope.shapes:  # it has been a dimension, so it is an integer
            return ast.PrimValue(self.scope.shapes[text], span)
        found = ast.Var(text, None, None, span)
        self.captured.add(found)
        return found

    # ------------------------------------------------------------ annotations

    def info(self, entry: Entry) -> ast.StructInfo:
        """As structural information.

        Raises
        ------
        Rejected
            If the value is none.
        """
        value, start, end = entry
        if isinstance(value, ast.StructInfo):
            return value
        span = (start, end)
        match value:
            case CapturedName():
                found = ast.ObjectStructInfo(span)
                self.captured.add(found)
                return found
            case Name(text=text) if text in BARE_INFOS:
                return BARE_INFOS[text](span)
            case Name(text=text) if text.startswith("T."):
                try:
                    return ast.PrimStructInfo(dtype(text[2:]), None, span)
                except ValueError:
                    pass
            case Sequence(items=items):
                return ast.TupleStructInfo(tuple(self.info(item) for item in items), span)
            case Form(head="I.StringType"):
                return ast.ObjectStructInfo(span)
            case Form(head=head) if head.startswith("R.dist"):
                return ast.ObjectStructInfo(span)
            case Wildcard():
                return ast.ObjectStructInfo(span)
        words: list[str] = []
        if isinstance(value, Name):
            words = closest(value.text, BARE_INFOS)
        elif isinstance(value, ast.Call) and isinstance(value.op, ast.Op):
            words = closest("R." + value.op.op_name.removeprefix("relax."), misspelt.ANNOTATIONS)
        raise Rejected(
            f'expected an annotation such as R.Tensor((n, 4), "float32"), found {describe(value)}',
            start,
            end,
            did_you_mean(words),
        )

    # ------------------------------------------------------------ attributes

    def attr(self, entry: Entry) -> object:
        """As the value of a keyword: plain data where it is, an expression where one was written."""
        value = entry[0]
        match value:
            case bool() | float() | str() | None:
                return value
            case int():
                return self.integer(entry)
            case Sequence(items=items):
                found = tuple(self.attr(item) for item in items)
                if any(isinstance(item, ast.Expr) for item in found):
                    return self.expr(entry)
                return found
            case dict():
                return value
            case ast.DataTypeImm(value=data_type):
                return data_type
            case ast.StringImm(value=text):
                return text
            case ast.Expr() | tir.PrimExpr() | ast.StructInfo() | DataType():
                return value
            case Form(head=head) if head.startswith("T."):
                return self.tir_form(value, (entry[1], entry[2]))
            case Form(head=head, args=args, keywords=keywords):
                return (
                    head,
                    *(self.attr(arg) for arg in args),
                    *((name, self.attr(item)) for name, item in keywords.items()),
                )
            case CapturedName():
                return self.expr(entry)
            case Name(text=text) if "." in text:
                return text
        return self.expr(entry)

    def text(self, entry: Entry) -> str:
        """As a string."""
        value, start, end = entry
        if isinstance(value, str):
            return value
        if isinstance(value, ast.StringImm):
            return value.value
        raise Rejected(f"expected a string, found {describe(value)}", start, end)

    def data_type(self, entry: Entry) -> DataType:
        """As a data type: ``"float32"``, ``R.dtype("float32")``, ``T.float32``, ``None`` for unknown."""
        value, start, end = entry
        match value:
            case CapturedName():
                return dtype("")
            case None | Wildcard() | Name(text="_") | ast.Var(name_hint="_"):
                return dtype("")
            case DataType():
                return value
            case ast.DataTypeImm(value=inner):
                return inner
            case ast.StringImm(value=text) | str(text):
                pass
            case Name(text=name):
                text = name.rpartition(".")[2]
            case _:
                raise Rejected(f"expected a data type, found {describe(value)}", start, end)
        try:
            return dtype(text)
        except ValueError as error:
            meant = misspelt.data_type(text)
            if not self.scope.in_prim_func():  # no value of Relax is a handle
                meant = [word for word in meant if word != "handle"]
            help = did_you_mean(meant)
            raise Rejected(str(error), start, end, help) from None


def _tensor(span: tuple[int, int]) -> ast.StructInfo:
    return ast.TensorStructInfo(span=span)


def _object(span: tuple[int, int]) -> ast.StructInfo:
    return ast.ObjectStructInfo(span)


def _shape(span: tuple[int, int]) -> ast.StructInfo:
    return ast.ShapeStructInfo(None, -1, span)


def _callable(span: tuple[int, int]) -> ast.StructInfo:
    return ast.FuncStructInfo(None, ast.ObjectStructInfo(span), False, "empty", (), span)


def _tuple(span: tuple[int, int]) -> ast.StructInfo:
    return ast.TupleStructInfo((), span)


BARE_INFOS: dict[str, Callable[[tuple[int, int]], ast.StructInfo]] = {
    "R.Tensor": _tensor,
    "Tensor": _tensor,
    "R.DTensor": _tensor,
    **dict.fromkeys(OBJECT_WORDS, _object),
    "Object": _object,
    "R.Shape": _shape,
    "Shape": _shape,
    "R.Callable": _callable,
    "R.Tuple": _tuple,
}
"""Annotations that stand without arguments."""
