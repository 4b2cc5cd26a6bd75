"""A small evaluator of NumPy expressions in texts. It knows only `np` and the given names."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import numpy as np


class ExpressionError(Exception):
    """A text is no expression of the kind that is evaluated here."""


_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.MatMult: operator.matmul,
    ast.Pow: operator.pow,
    ast.BitXor: operator.xor,
    ast.BitAnd: operator.and_,
}
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.Invert: operator.invert,
}
FUNCTIONS: dict[str, Callable[..., Any]] = {"shape": lambda *sizes: Shape(sizes)}
"""Functions that may be called beside NumPy: `shape(2, 3)` is a value of Relax's type of shapes."""


_FILES = frozenset(
    [
        *("DataSource", "dump", "dumps", "fromfile", "fromregex", "genfromtxt", "load", "loadtxt"),
        *("memmap", "save", "savetxt", "savez", "savez_compressed", "test", "tofile"),
    ]
)
"""Names of NumPy that read or write files, load pickles or run tests: a finding may be a stranger's
text.
"""
_MODULES = frozenset(["numpy.lib", "numpy.lib.stride_tricks", "numpy.linalg"])


class Shape(tuple[int, ...]):
    """A shape as a value."""

    __slots__ = ()


def evaluate(text: str, names: Mapping[str, Any]) -> Any:
    """The value of an expression: numbers, tuples, lists, arithmetic, slices, `np.…`, and methods
    of values. Raises ExpressionError if the text is anything else.
    """
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except SyntaxError as error:
        raise ExpressionError(f"expected an expression, found {text!r}: {error.msg}") from None
    return _value(tree, {**FUNCTIONS, **names, "np": np})


def call_of(text: str) -> tuple[str, dict[str, ast.expr]]:
    """The name and the keyword arguments of a call `main(x=…, y=…)`. Raises ExpressionError if the
    text is no such call.
    """
    try:
        tree: ast.expr | None = ast.parse(text.strip(), mode="eval").body
    except SyntaxError:
        tree = None
    if not isinstance(tree, ast.Call) or not isinstance(tree.func, ast.Name) or tree.args:
        raise ExpressionError(f"expected a call with named arguments, found {text!r}")
    return tree.func.id, {str(word.arg): word.value for word in tree.keywords}


def argument(tree: ast.expr) -> Any:
    """The value of an argument of such a call."""
    return _value(tree, {**FUNCTIONS, "np": np})


def _value(tree: ast.expr, names: Mapping[str, Any]) -> Any:
    def value(part: ast.expr) -> Any:
        return _value(part, names)

    match tree:
        case ast.Constant(value=constant):
            return constant
        case ast.Name(id=name) if name in names:
            return names[name]
        case ast.Tuple(elts=parts):
            return tuple(map(value, parts))
        case ast.List(elts=parts):
            return list(map(value, parts))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            return _BINARY[type(op)](value(left), value(right))
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _UNARY:
            return _UNARY[type(op)](value(operand))
        case ast.Attribute(value=of, attr=name) if not name.startswith("_"):
            found = getattr(value(of), name)
            if name in _FILES or (isinstance(found, ModuleType) and found.__name__ not in _MODULES):
                raise ExpressionError(f"{name!r} is not a computation on arrays")
            return found
        case ast.Subscript(value=of, slice=index):
            return value(of)[value(index)]
        case ast.Slice(lower=lower, upper=upper, step=step):
            return slice(*(None if part is None else value(part) for part in (lower, upper, step)))
        case ast.Call(func=function, args=args, keywords=words):
            given = {str(word.arg): value(word.value) for word in words}
            return value(function)(*map(value, args), **given)
    raise ExpressionError(f"cannot evaluate {ast.unparse(tree)!r}")
