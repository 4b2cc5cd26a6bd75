"""Partial values between grammar and syntax tree, which the enclosing construct completes."""

from __future__ import annotations

from typing import Any

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import DataType
from rlx.grammar.nodes.node import Span
from rlx.grammar.read.entries import Entry
from rlx.grammar.read.scope import Scope


class Open:
    """The head of a block that opened a scope: its data, and the number of open scopes."""

    __slots__ = ("depth", "kind", "span", "value")

    def __init__(self, value: Any, kind: str, depth: int, span: Span) -> None:
        self.value = value
        self.kind = kind
        self.depth = depth
        self.span = span


def open_scope(scope: Scope, value: Any, kind: str, span: Span) -> Open:
    """Enter the scope of a block after its head."""
    scope.open(kind)
    return Open(value, kind, len(scope.frames), span)


class Return:
    """A `return` statement."""

    __slots__ = ("span", "value")

    def __init__(self, value: ast.Expr, span: Span) -> None:
        self.value = value
        self.span = span


class Output:
    """The `R.output` of a dataflow block."""

    __slots__ = ("span",)

    def __init__(self, span: Span) -> None:
        self.span = span


class ModuleStatement:
    """A top-level statement of a module: its attributes, or its global infos."""

    __slots__ = ("form", "span")

    def __init__(self, form: Form, span: Span) -> None:
        self.form = form
        self.span = span


class Declared:
    """A packed function that a module declares."""

    __slots__ = ("extern", "name", "span")

    def __init__(self, name: str, extern: ast.ExternFunc, span: Span) -> None:
        self.name = name
        self.extern = extern
        self.span = span


class Defined:
    """A function definition that may be global or local."""

    __slots__ = ("function", "name", "private", "span", "var")

    def __init__(
        self, name: str, function: ast.Function | tir.PrimFunc, span: Span, var: ast.Var | None
    ) -> None:
        self.name = name
        self.function = function
        self.span = span
        self.var = var


class Signature:
    """The content of a function's head."""

    __slots__ = (
        "decorations",
        "kind",
        "name",
        "name_span",
        "params",
        "ret",
        "ret_span",
        "returns_none",
        "var",
    )

    def __init__(self, name: str, name_span: Span, kind: str, var: ast.Var | None) -> None:
        self.name = name
        self.name_span = name_span
        self.kind = kind
        self.var = var
        self.params: list[Any] = []
        self.ret: Any = None
        self.ret_span: Span | None = None
        self.returns_none = False
        self.decorations: list[Entry] = []


def flatten(statements: list[Any]) -> list[Any]:
    """Flatten a list of statements with nested lists and omitted statements."""
    found: list[Any] = []
    for item in statements:
        if isinstance(item, list):
            found.extend(item)
        elif item is not None:
            found.append(item)
    return found


def sequence(
    statements: list[Any], body: ast.Expr, body_span: Span | None, span: Span
) -> ast.SeqExpr:
    """A SeqExpr made from statements; consecutive bindings become blocks."""
    blocks: list[ast.BindingBlock] = []
    run: list[Any] = []
    for item in flatten(statements):
        if isinstance(item, ast.DataflowBlock):
            if run:
                blocks.append(ast.BindingBlock(tuple(run), run[0].span))
                run = []
            blocks.append(item)
        elif isinstance(item, ast.Binding):
            run.append(item)
    if run:
        blocks.append(ast.BindingBlock(tuple(run), run[0].span))
    return ast.SeqExpr(tuple(blocks), body, body_span, span)


def unfolded(items: list[Entry]) -> list[Entry]:
    """Arguments or subscripts, which may be written as one list or tuple."""
    if len(items) == 1 and isinstance(items[0].value, Sequence):
        return list(items[0].value.items)
    return items


class Name:
    """An unresolved name (an implicit shape variable, a later function, or an error)."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


class KnownInteger(int):
    """The integer value of a constant in the surrounding Python code; arithmetic on it is
    computed.
    """


class WrittenInteger(int):
    """The integer that Python computes from literals in a PrimFunc, ``16 * 32``, and the expression of
    32 bits as it is written, which stays where it means the same; None if a part needs more bits.
    """

    written: tir.PrimExpr | None = None


class CapturedName(Name):
    """A name, or an expression that begins with one, whose value the surrounding Python code
    gives.
    """

    __slots__ = ()


class BuiltInName(CapturedName):
    """A type or function that every Python file has, such as `float`, not called."""

    __slots__ = ()


NONE = BuiltInName("None")
"""The value of a name that Python code binds to None."""


class Captured:
    """The value of a name in the surrounding Python code that is only known by running it."""


CAPTURED = Captured()


class Sequence:
    """A tuple or list literal; ``items`` are entries, with their positions, and ``kind`` is "list",
    "tuple", or empty where it is not known.
    """

    __slots__ = ("items", "kind")

    def __init__(self, items: list[Entry], kind: str = "") -> None:
        self.items = items
        self.kind = kind


class UnresolvedOperation:
    """An operator with an operand that is a :class:`Name`: shape arithmetic or tensor
    arithmetic.
    """

    __slots__ = ("operands", "operator")

    def __init__(self, operator: str, operands: tuple[Entry, ...]) -> None:
        self.operator = operator
        self.operands = operands


class Negation:
    """`not x`, which binds less tightly than a comparison after it."""

    __slots__ = ("operand",)

    def __init__(self, operand: Entry) -> None:
        self.operand = operand


class Form:
    """A call whose meaning depends on its statement: ``T.grid(…)``, ``R.output(…)``."""

    __slots__ = ("args", "head", "keywords")

    def __init__(self, head: str, args: list[Entry], keywords: dict[str, Entry]) -> None:
        self.head = head
        self.args = args
        self.keywords = keywords


class Keyword:
    """``name=value`` among arguments."""

    __slots__ = ("name", "value")

    def __init__(self, name: str, value: Entry) -> None:
        self.name = name
        self.value = value


class Slice:
    """``start:stop`` or ``start:stop:step`` among subscripts."""

    __slots__ = ("start", "step", "stop")

    def __init__(self, start: Entry, stop: Entry, step: Entry | None = None) -> None:
        self.start = start
        self.stop = stop
        self.step = step


def describe(value: Any) -> str:
    """A value in words, for messages."""
    match value:
        case CapturedName(text=text):
            return f"{text!r} from the surrounding Python code"
        case Name(text=text):
            return f"the name {text!r}"
        case Sequence():
            return "a tuple"
        case Form(head=head):
            return f"{head}(…)"
        case bool() | int() | float() | str():
            return repr(value)
        case None:
            return "None"
        case UnresolvedOperation() | Negation():
            return "an operation"
        case dict():
            return "a dictionary"
        case ast.Var(name_hint=name) | tir.Var(name=name):
            return f"the variable {name!r}"
        case ast.GlobalVar(name_hint=name):
            return f"the function {name!r}"
        case tir.Buffer(name=name):
            return f"the buffer {name!r}"
    said = getattr(value, "words", None)
    return said or next((text for kind, text in _WORDS if isinstance(value, kind)), "this value")


_WORDS = (
    (ast.StructInfo, "a type"),
    (tir.OpaqueExpr, "Python code"),
    (tir.PrimExpr, "a scalar expression"),
    (ast.Call, "a call"),
    (ast.Tuple, "a tuple"),
    (ast.TupleGetItem, "a field of a tuple"),
    (ast.Constant, "a constant"),
    (ast.ShapeExpr, "a shape"),
    (ast.PrimValue, "a scalar"),
    (ast.StringImm, "R.str(…)"),
    ((ast.DataTypeImm, DataType), "a data type"),
    (ast.ExternFunc, "a packed function"),
    (ast.Op, "an operator"),
    (ast.Expr, "an expression"),
    (Slice, "a slice"),
)
"""Descriptions of values in messages, the more special kinds first."""
