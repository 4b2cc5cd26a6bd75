"""Evaluation of Python's literal constants: numbers, strings, tuples of them, and arithmetic on
them.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from textwrap import dedent

from rlx.grammar.nodes.prim_operators import BY_SYMBOL
from rlx.grammar.read.python_syntax import expression_of, tree_of

MAX_INTEGER = 1 << 64
MAX_STRING = 1000


class NoConstant:
    """Marks a text that is not a literal constant."""


Known = Callable[[str], object]
"""Returns the value of another name, or :class:`NoConstant`."""

_NUMBER: dict[type, Callable[[object, object], object]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Div: operator.truediv,
    ast.Mod: operator.mod,
}


_OPERATORS: dict[str, Callable[[int, int], int]] = {
    sign: found for sign in ("+", "-", "*", "//", "%") if (found := BY_SYMBOL[sign].exact)
}


def integer(sign: str, a: int, b: int) -> int | None:
    """The result of an operator on two integers; None if it is not a 64-bit integer."""
    if sign not in _OPERATORS or (b == 0 and sign in ("//", "%")):
        return None
    found = _OPERATORS[sign](a, b)
    return found if -MAX_INTEGER < found < MAX_INTEGER else None


def constant(text: str, known: Known) -> object:
    """The value of a text if it is a literal constant, otherwise :class:`NoConstant`."""
    try:
        return _value(expression_of(text), known)
    except (SyntaxError, ValueError, ArithmeticError, TypeError, MemoryError, RecursionError):
        return NoConstant


def number(text: str) -> int | float | None:
    """The number that Python computes from the literals of a text alone; None if it is not a
    number.
    """
    found = constant(text, lambda name: NoConstant)
    return found if isinstance(found, (int, float)) else None


def _value(node: ast.expr, known: Known) -> object:
    match node:
        case ast.Constant(value=bool() | int() | float() | str() | None as value):
            return _bounded(value)
        case ast.Name(id=name):
            return known(name)
        case ast.Tuple(elts=items) | ast.List(elts=items):
            parts = tuple(_value(item, known) for item in items)
            return NoConstant if NoConstant in parts else parts
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=inner):
            number = _value(inner, known)
            if not isinstance(number, (int, float)):
                return NoConstant
            return -number if isinstance(sign, ast.USub) else +number
        case ast.BinOp(left=left, op=op, right=right):
            return _arithmetic(type(op), _value(left, known), _value(right, known))
    return NoConstant


def _arithmetic(op: type, a: object, b: object) -> object:
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        whole = isinstance(a, int) and isinstance(b, int)
        if op is ast.Pow and (b <= 64 or not whole):
            found = a**b
            return NoConstant if isinstance(found, complex) else _bounded(found)
        if op is ast.LShift and isinstance(a, int) and isinstance(b, int) and 0 <= b <= 64:
            return _bounded(a << b)
        if op in _NUMBER:
            return _bounded(_NUMBER[op](a, b))
    if op is ast.Add and isinstance(a, str) and isinstance(b, str):
        return _bounded(a + b)
    if op is ast.Add and isinstance(a, tuple) and isinstance(b, tuple) and len(a) + len(b) < 100:
        return a + b
    return NoConstant


def _bounded(value: object) -> object:
    if isinstance(value, int) and not -MAX_INTEGER < value < MAX_INTEGER:
        return NoConstant
    if isinstance(value, str) and len(value) > MAX_STRING:
        return NoConstant
    return value


_PYTHON_ONLY = (
    ast.IfExp,
    ast.Lambda,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
    ast.Starred,
    ast.JoinedStr,
    ast.NamedExpr,
    ast.Set,
    ast.Await,
)


def _is_python_only(node: ast.AST) -> bool:
    """Whether only Python knows what a part is; the dictionaries of R.func_attr are read."""
    match node:
        case ast.Assign(value=ast.Dict()) | ast.Subscript(value=ast.Dict()):
            return True
        case ast.keyword(arg=None):  # f(**options)
            return True
    return isinstance(node, _PYTHON_ONLY)


def needs_python(text: str, gives: Callable[[str], bool]) -> bool:
    """Whether a statement is legal Python with a part that can only be evaluated by running it.

    Parameters
    ----------
    gives
        Whether the surrounding Python code binds a name.
    """
    try:
        tree = tree_of(dedent(text))
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return False
    parts: list[ast.AST] = []
    for statement in tree.body:
        match statement:
            case ast.FunctionDef(args=args, returns=returns):
                parts += [args] if returns is None else [args, returns]
            case ast.Assign() | ast.AnnAssign() | ast.Return() | ast.Expr() | ast.If():
                parts.append(statement)
            case _:
                return False
    return any(
        _is_python_only(node) or (isinstance(node, ast.Name) and gives(node.id))
        for part in parts
        for node in ast.walk(part)
    )
