"""The text form of questions: read and written, never evaluated.

Operators ``+ - * // % == != < <= > >= and or not``, calls ``min max select tdiv tmod``; a comparison
chain ``a < b < c`` means ``a < b and b < c``.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from rlx.grammar import tir
from rlx.grammar.dtype import BOOL
from rlx.grammar.tir import PrimExpr

_LENGTH_LIMIT = 4_000_000
_NESTING_LIMIT = 200

_BINARY: dict[type[ast.operator], type[tir.Binary]] = {
    ast.Add: tir.Add,
    ast.Sub: tir.Sub,
    ast.Mult: tir.Mul,
    ast.FloorDiv: tir.FloorDiv,
    ast.Mod: tir.FloorMod,
}
_COMPARISONS: dict[type[ast.cmpop], type[tir.Binary]] = {
    ast.Eq: tir.EQ,
    ast.NotEq: tir.NE,
    ast.Lt: tir.LT,
    ast.LtE: tir.LE,
    ast.Gt: tir.GT,
    ast.GtE: tir.GE,
}
_CALLS: dict[str, type[tir.Binary]] = {
    "min": tir.Min,
    "max": tir.Max,
    "tdiv": tir.TruncDiv,
    "tmod": tir.TruncMod,
}


def parse(text: str, variables: dict[str, tir.Var]) -> PrimExpr:
    """Read an expression; new variables are added to ``variables``.

    Raises
    ------
    ValueError
        If the text is not an expression of the language, or is nested too deeply.
    """
    return _Reader(variables).read(_tree(text))


def _tree(text: str) -> ast.expr:
    if len(text) > _LENGTH_LIMIT:
        raise ValueError(f"the expression has {len(text)} characters, more than {_LENGTH_LIMIT}")
    if text.count("(") + text.count("[") > _NESTING_LIMIT and _nesting(text) > _NESTING_LIMIT:
        raise ValueError(f"the expression is nested more than {_NESTING_LIMIT} levels deep")
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        reason = error.msg if isinstance(error, SyntaxError) else str(error)
        raise ValueError(f"cannot read {_shortened(text)!r}: {reason}") from None


def _nesting(text: str) -> int:
    depth = deepest = 0
    for character in text:
        if character in "([":
            depth += 1
            deepest = max(deepest, depth)
        elif character in ")]":
            depth -= 1
    return deepest


def _shortened(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."


class _Reader:
    """Turns a Python syntax tree into an expression, without recursion."""

    def __init__(self, variables: dict[str, tir.Var]) -> None:
        self._variables = variables

    def read(self, root: ast.expr) -> PrimExpr:
        done: dict[int, PrimExpr] = {}
        stack: list[ast.expr] = [root]
        while stack:
            node = stack[-1]
            below = _operands(node)
            missing = [child for child in reversed(below) if id(child) not in done]
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            done[id(node)] = self._node(node, [done[id(child)] for child in below])
        return done[id(root)]

    def _node(self, node: ast.expr, operands: list[PrimExpr]) -> PrimExpr:
        match node:
            case ast.Constant(value=bool(value)):
                return tir.IntImm(int(value), BOOL)
            case ast.Constant(value=int(value)):
                return tir.IntImm(value)
            case ast.Name(id=name):
                return self._variables.setdefault(name, tir.Var(name))
            case ast.BinOp(op=op) if type(op) in _BINARY:
                return _BINARY[type(op)](operands[0], operands[1])
            case ast.UnaryOp(op=ast.USub()):
                return _negative(operands[0])
            case ast.UnaryOp(op=ast.UAdd()):
                return operands[0]
            case ast.UnaryOp(op=ast.Not()):
                return tir.Not(operands[0])
            case ast.BoolOp(op=op):
                return _joined(tir.And if isinstance(op, ast.And) else tir.Or, operands)
            case ast.Compare(ops=ops):
                return _chain(ops, operands)
            case ast.Call(func=ast.Name(id=name), keywords=[]):
                return _call(name, operands)
        raise ValueError(f"{_describe(node)} is not integer arithmetic")


def _operands(node: ast.expr) -> list[ast.expr]:
    match node:
        case ast.BinOp(left=left, right=right):
            return [left, right]
        case ast.UnaryOp(operand=operand):
            return [operand]
        case ast.BoolOp(values=values):
            return values
        case ast.Compare(left=left, comparators=comparators):
            return [left, *comparators]
        case ast.Call(args=args):
            return args
    return []


def _negative(operand: PrimExpr) -> PrimExpr:
    if isinstance(operand, tir.IntImm) and operand.dtype != BOOL:
        return tir.IntImm(-operand.value)
    return tir.Sub(tir.IntImm(0), operand)


def _joined(kind: type[tir.Binary], operands: list[PrimExpr]) -> PrimExpr:
    result = operands[0]
    for operand in operands[1:]:
        result = kind(result, operand)
    return result


def _chain(ops: list[ast.cmpop], operands: list[PrimExpr]) -> PrimExpr:
    links: list[PrimExpr] = []
    for place, op in enumerate(ops):
        kind = _COMPARISONS.get(type(op))
        if kind is None:
            raise ValueError(f"{type(op).__name__} is not a comparison of integers")
        links.append(kind(operands[place], operands[place + 1]))
    return _joined(tir.And, links)


def _call(name: str, operands: list[PrimExpr]) -> PrimExpr:
    if name == "select" and len(operands) == 3:
        return tir.Select(operands[0], operands[1], operands[2])
    if name in ("min", "max") and len(operands) >= 2:
        return _joined(_CALLS[name], operands)
    if name in _CALLS and len(operands) == 2:
        return _CALLS[name](operands[0], operands[1])
    raise ValueError(
        f"{name} with {len(operands)} arguments is not known; min, max, select, tdiv, tmod are"
    )


def _describe(node: ast.expr) -> str:
    try:
        return f"{_shortened(ast.unparse(node))!r}"
    except (RecursionError, ValueError):
        return type(node).__name__


_SYMBOLS: dict[type[PrimExpr], tuple[str, int]] = {
    tir.Or: ("or", 1),
    tir.And: ("and", 2),
    tir.EQ: ("==", 4),
    tir.NE: ("!=", 4),
    tir.LT: ("<", 4),
    tir.LE: ("<=", 4),
    tir.GT: (">", 4),
    tir.GE: (">=", 4),
    tir.Add: ("+", 5),
    tir.Sub: ("-", 5),
    tir.Mul: ("*", 6),
    tir.FloorDiv: ("//", 6),
    tir.FloorMod: ("%", 6),
}
_NAMES: Mapping[type[PrimExpr], str] = {
    tir.Min: "min",
    tir.Max: "max",
    tir.TruncDiv: "tdiv",
    tir.TruncMod: "tmod",
    tir.Select: "select",
}
_ATOMIC = 9


def show(expr: PrimExpr) -> str:
    """The text of an expression, as :func:`parse` reads it (casts as ``int32(x)``)."""
    from rlx.solver.walk import topological

    texts: dict[PrimExpr, tuple[str, int]] = {}
    for node in topological(expr):
        texts[node] = _shown(node, texts)
    return texts[expr][0]


def _shown(node: PrimExpr, texts: dict[PrimExpr, tuple[str, int]]) -> tuple[str, int]:
    symbol = _SYMBOLS.get(type(node))
    if symbol is not None and isinstance(node, tir.Binary):
        word, level = symbol
        if isinstance(node, tir.Sub) and isinstance(node.a, tir.IntImm) and node.a.value == 0:
            return f"-{_within(texts[node.b], 7)}", 7
        strict = level + 1 if isinstance(node, tir.Comparison) else level
        return f"{_within(texts[node.a], strict)} {word} {_within(texts[node.b], level + 1)}", level
    operands = [texts[child][0] for child in tir.children(node)]
    match node:
        case tir.Var(name=name):
            return name, _ATOMIC
        case tir.IntImm(value=value):
            if node.dtype == BOOL:
                return str(bool(value)), _ATOMIC
            return str(value), _ATOMIC if value >= 0 else 7
        case tir.Not(a=a):
            return f"not {_within(texts[a], 3)}", 3
        case tir.Cast(dtype=to):
            return f"{to}({operands[0]})", _ATOMIC
        case tir.Call(op=op):
            return f"{op}({', '.join(operands)})", _ATOMIC
    name = _NAMES.get(type(node), type(node).__name__)
    return f"{name}({', '.join(operands)})", _ATOMIC


def _within(shown: tuple[str, int], level: int) -> str:
    text, own = shown
    return text if own >= level else f"({text})"
