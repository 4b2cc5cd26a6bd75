"""Conversion of neutral values to what their position requires: expression, dimension, annotation,
attribute.
"""

from __future__ import annotations

from collections.abc import Callable

from rlx.grammar.dialects import OBJECT_WORDS
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import SCALAR_NAMES, DataType, dtype
from rlx.grammar.nodes.node import Span
from rlx.grammar.read import arithmetic, misspelt
from rlx.grammar.read.coerce_scalars import ScalarCoercion, refuse_built_in
from rlx.grammar.read.entries import Entry, Rejected
from rlx.grammar.read.partial_nodes import (
    CapturedName,
    Form,
    Name,
    Negation,
    Sequence,
    UnresolvedOperation,
    describe,
)
from rlx.grammar.read.prototype import is_prototype
from rlx.grammar.suggest import closest, did_you_mean


def is_shape(value: ast.Expr) -> bool:
    """Whether an expression is a shape value, judging by its text."""
    match value:
        case ast.ShapeExpr():
            return True
        case ast.Call(op=ast.Op(op_name="relax.shape_of")):
            return True
        case ast.Var(struct_info_annotation=ast.ShapeStructInfo()):
            return True
        case ast.Call(sinfo_args=(ast.ShapeStructInfo(),)):
            return True
    return False


class Coerce(ScalarCoercion):
    """The conversions of a neutral value: to a scalar, an expression, an annotation, an
    attribute.
    """

    # ------------------------------------------------------------ expressions

    def expr(self, entry: Entry) -> ast.Expr:
        """Convert to a Relax expression.

        Raises
        ------
        Rejected
            If the value is not an expression (a dictionary, an annotation).
        """
        value, span = entry.value, entry.span
        if isinstance(value, ast.Expr):
            return value
        match value:
            case tir.OpaqueExpr():
                raise Rejected("code of Python is no Relax value: it is never evaluated", *span)
            case tir.PrimExpr() | bool() | int() | float():
                return ast.PrimValue(self.scalar(entry), span)
            case str():
                return ast.StringImm(value, span)
            case None:
                return ast.Call(ast.op("relax.null_value"), (), span=span)
            case CapturedName(text=text):
                refuse_built_in(entry, "a value of Relax")
                return self._captured_value(text, span)
            case Name(text=text):
                return self._undefined_value(text, span)
            case Sequence(items=items):
                spans = tuple(item.span for item in items)
                fields = tuple(self.value(item) for item in items)
                numbers = [f.value for f in fields if isinstance(f, ast.PrimValue)]
                if fields and len(numbers) == len(fields) and is_prototype(self.source):
                    return ast.ShapeExpr(tuple(numbers), span)
                return ast.Tuple(fields, spans, span)
            case UnresolvedOperation() | Negation() if arithmetic.is_scalar(self, value):
                return ast.PrimValue(self.prim(entry), span)
            case UnresolvedOperation(operator=operator, operands=operands):
                return arithmetic.relax(self, operator, operands, span)
            case Negation(operand=operand):
                return arithmetic.relax(self, "not", (operand,), span)
            case Form(head=head) if head.startswith("T."):
                return ast.PrimValue(self.tir_form(value, span), span)
        help = misspelt.call_of_python(value.head) if isinstance(value, Form) else None
        if isinstance(value, ast.StructInfo):
            help = 'a tensor is made by an operator, such as `R.zeros(shape, "float32")`'
        raise Rejected(f"expected a value, found {describe(value)}", *span, help=help)

    def value(self, entry: Entry) -> ast.Expr:
        """Convert to a Relax expression that a statement binds or returns, or that is a field."""
        if entry.value is None:
            help = "write R.null_value() for an absent object"
            raise Rejected("None is not a value of Relax", *entry.span, help, certain=True)
        return self.expr(entry)

    def _undefined_value(self, text: str, span: Span) -> ast.Expr:
        head, dot, rest = text.partition(".")
        if dot:
            if head in self.scope.modules and "." not in rest:
                return self.scope.global_var(rest, span)
            if head == "R":
                return ast.op("relax." + rest)
            raise Rejected(f"expected a value, found {text!r}", *span)
        if text in self.scope.global_names:
            return self.scope.global_var(text, span)
        return self.scope.undefined(text, span)

    def _captured_value(self, text: str, span: Span) -> ast.Expr:
        if text in self.scope.shapes:  # it has been a dimension, so it is an integer
            return ast.PrimValue(self.scope.shapes[text], span)
        found = ast.Var(text, None, None, span)
        self.captured.add(found)
        return found

    # ------------------------------------------------------------ annotations

    def info(self, entry: Entry) -> ast.StructInfo:
        """Convert to structural information.

        Raises
        ------
        Rejected
            If the value is none.
        """
        value, span = entry.value, entry.span
        if isinstance(value, ast.StructInfo):
            return value
        match value:
            case CapturedName():
                refuse_built_in(entry, 'a type of Relax, such as R.Tensor((n, 4), "float32")')
                found = ast.ObjectStructInfo(span)
                self.captured.add(found)
                return found
            case Name(text=text) if text in BARE_INFOS:
                return BARE_INFOS[text](span)
            case Name(text=text) if text.startswith("T."):
                self.refuse_unknown(text, span)
                try:
                    return ast.PrimStructInfo(dtype(_OTHER_NAMES.get(text, text[2:])), None, span)
                except ValueError:
                    pass
            case Sequence(items=items):
                return ast.TupleStructInfo(tuple(self.info(item) for item in items), span)
        words = 'expected an annotation such as R.Tensor((n, 4), "float32")'
        help = did_you_mean(_annotations_like(value))
        raise Rejected(f"{words}, found {describe(value)}", *span, help)

    # ------------------------------------------------------------ attributes

    def attr(self, entry: Entry) -> object:
        """Convert to the value of a keyword: plain data, or an expression if one was written."""
        entry = self.computed(entry)
        value = entry.value
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
            case ast.Expr() | tir.PrimExpr() | tir.Buffer() | ast.StructInfo() | DataType():
                return value
            case Form(head=head) if head.startswith("T."):
                return self.tir_form(value, entry.span)
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
        """Convert to a string."""
        value, start, end = entry
        if isinstance(value, str):
            return value
        raise Rejected(f"expected a string, found {describe(value)}", start, end)

    def data_type(self, entry: Entry, of_scalar: bool = False) -> DataType:
        """Convert to a data type: ``"float32"``, ``R.dtype("float32")``, ``None`` for unknown; as
        the annotation of a scalar ``T.float32``.
        """
        value, start, end = entry
        match value:
            case CapturedName():
                refuse_built_in(entry, 'a data type, such as "float32"')
                return dtype("")
            case None | Name(text="_") | ast.Var(name_hint="_"):
                return dtype("")
            case ast.DataTypeImm(value=inner):
                return inner
            case ast.StringImm(value=text) | str(text):
                pass
            case Name(text=name):
                text = _OTHER_NAMES.get(name) or name.rpartition(".")[2]
                if name.startswith("T."):
                    self.refuse_unknown(name, entry.span)
                    if text in SCALAR_NAMES and not of_scalar:
                        words = f"{name} is the type of a scalar, not a data type"
                        raise Rejected(words, *entry.span, f'write "{text}"', certain=True)
            case _:
                words = f"expected a data type, found {describe(value)}"
                raise Rejected(words, start, end, certain=isinstance(value, int | float))
        try:
            found = dtype(text)
        except ValueError as error:
            meant = misspelt.data_type(text)
            if not self.scope.in_prim_func():  # no value of Relax is a handle
                meant = [word for word in meant if word != "handle"]
            elif isinstance(value, Name):
                meant += closest(text, ["Buffer"])
            help = did_you_mean(meant)
            written = isinstance(value, ast.StringImm | str)
            raise Rejected(str(error), start, end, help, certain=written) from None
        if isinstance(value, Name) and not value.text.startswith(("T.", "R.")):
            self.unquoted[entry.span] = value.text
        return found


_OTHER_NAMES = {"T.boolean": "bool"}
"""Types whose name after `T.` differs from their name as a text."""


def _annotations_like(value: object) -> list[str]:
    """The annotations that a value may be meant for which is none."""
    match value:
        case Name(text=text):
            return closest(text, BARE_INFOS)
        case ast.Call(op=ast.Op(op_name=name)):
            return closest("R." + name.removeprefix("relax."), misspelt.ANNOTATIONS)
    return []


def _tensor(span: Span) -> ast.StructInfo:
    return ast.TensorStructInfo(span=span)


def _object(span: Span) -> ast.StructInfo:
    return ast.ObjectStructInfo(span)


def _shape(span: Span) -> ast.StructInfo:
    return ast.ShapeStructInfo(None, -1, span)


def _callable(span: Span) -> ast.StructInfo:
    return ast.FuncStructInfo(None, ast.ObjectStructInfo(span), False, "empty", (), span)


def _tuple(span: Span) -> ast.StructInfo:
    return ast.TupleStructInfo((), span)


BARE_INFOS: dict[str, Callable[[Span], ast.StructInfo]] = {
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
"""Annotations without arguments."""
