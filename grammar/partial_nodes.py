"""Values between the grammar and the syntax tree: pieces that their surroundings complete."""

from __future__ import annotations

from typing import Any

from rlx.grammar import ast, tir
from rlx.grammar.entries import Entry
from rlx.grammar.node import Span
from rlx.grammar.scope import Scope


class Open:
    """The head of a block that opened a scope of a kind:
    what to remember, and how many scopes are open in it.
    """

    __slots__ = ("depth", "kind", "span", "value")

    def __init__(self, value: Any, kind: str, depth: int, span: Span) -> None:
        self.value = value
        self.kind = kind
        self.depth = depth
        self.span = span


def open_scope(scope: Scope, value: Any, kind: str, span: Span) -> Open:
    """Enter the scope of a block whose head was read."""
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
    """A statement on the outer level of a module: its attributes, or its global infos."""

    __slots__ = ("form", "span")

    def __init__(self, form: Form, span: Span) -> None:
        self.form = form
        self.span = span


class Defined:
    """A function definition, before it is known whether it is global or local."""

    __slots__ = ("function", "name", "private", "span", "var")

    def __init__(
        self, name: str, function: ast.Function | tir.PrimFunc, span: Span, var: ast.Var | None
    ) -> None:
        self.name = name
        self.function = function
        self.span = span
        self.var = var


class Signature:
    """What the head of a function says."""

    __slots__ = ("decorations", "kind", "name", "name_span", "params", "ret", "ret_span", "var")

    def __init__(self, name: str, name_span: Span, kind: str, var: ast.Var | None) -> None:
        self.name = name
        self.name_span = name_span
        self.kind = kind
        self.var = var
        self.params: list[Any] = []
        self.ret: Any = None
        self.ret_span: Span | None = None
        self.decorations: list[Entry] = []


def flatten(statements: list[Any]) -> list[Any]:
    """Statements one after the other, of which some are lists and some nothing."""
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
    """A SeqExpr of statements: runs of bindings become blocks."""
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


class Name:
    """A name that means nothing yet (an implicit shape variable,
    a later function, or a mistake).
    """

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


class KnownInteger(int):
    """The integer that a constant of the Python around has;
    Python computes with it, so arithmetic on it is a number.
    """


class CapturedName(Name):
    """A name, or an expression with one at its head,
    that Python around the program gives a value.
    """

    __slots__ = ()


class Captured:
    """The value of a name of the Python around that only running it would tell."""


CAPTURED = Captured()


class Sequence:
    """A tuple or list literal; ``items`` are entries, with their positions."""

    __slots__ = ("bracket", "items")

    def __init__(self, items: list[Entry], bracket: str) -> None:
        self.items = items
        self.bracket = bracket


class UnresolvedOperation:
    """An operator on operands of which one is a :class:`Name`:
    shape arithmetic or tensor arithmetic.
    """

    __slots__ = ("operands", "operator")

    def __init__(self, operator: str, operands: tuple[Entry, ...]) -> None:
        self.operator = operator
        self.operands = operands


class Negation:
    """`not x`, which binds weaker than the comparison that may follow it."""

    __slots__ = ("operand",)

    def __init__(self, operand: Entry) -> None:
        self.operand = operand


class Form:
    """A call whose meaning depends on the statement it stands in:
    ``T.grid(…)``, ``R.output(…)``.
    """

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
    """``start:stop`` among subscripts."""

    __slots__ = ("start", "stop")

    def __init__(self, start: Entry, stop: Entry) -> None:
        self.start = start
        self.stop = stop


def describe(value: Any) -> str:
    """A value in words, for messages."""
    match value:
        case CapturedName(text=text):
            return f"{text!r} from the surrounding Python code"
        case Name(text=text):
            return f"the undefined name {text!r}"
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
    return getattr(value, "words", None) or f"a {type(value).__name__}"
