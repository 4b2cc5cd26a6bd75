"""Arithmetic is read as Python reads it: the same tree, and each part where Python says that it stands."""

from __future__ import annotations

import ast as python
import random

import pytest

from rlx.grammar.nodes import ast, tir
from rlx.grammar.print.printer import print_module
from rlx.grammar.read.parser import parse
from rlx.solver.evaluate import evaluate

HEAD = """@R.function
def main(x: R.Tensor((2, 2), "float32"), y: R.Tensor((2, 2), "float32"), n: T.int64, m: T.int64):
    z = """
TENSOR = {
    python.Add: ("+", "relax.add"),
    python.Sub: ("-", "relax.subtract"),
    python.Mult: ("*", "relax.multiply"),
    python.Div: ("/", "relax.divide"),
    python.FloorDiv: ("//", "relax.floor_divide"),
    python.Mod: ("%", "relax.mod"),
    python.Pow: ("**", "relax.power"),
}
SCALAR = {
    python.Add: ("+", tir.Add),
    python.Sub: ("-", tir.Sub),
    python.Mult: ("*", tir.Mul),
    python.FloorDiv: ("//", tir.FloorDiv),
    python.Mod: ("%", tir.FloorMod),
}


def drawn(rng: random.Random, symbols: list[str], leaves: str, depth: int) -> str:
    """A text with and without parentheses and blanks, on one line or, within parentheses, on several."""
    if not depth or rng.random() < 0.15:
        return f"{rng.choice(['', '', '', '-', '- '])}{rng.choice(leaves)}"
    parts = [drawn(rng, symbols, leaves, depth - 1)]
    for _ in range(rng.randint(1, 3)):
        blank = rng.choice(["", " ", "  "])
        inner = drawn(rng, symbols, leaves, depth - 1)
        if rng.random() < 0.3:
            inner = f"({rng.choice(['', ' ', chr(10)])}{inner})"
        parts += [f"{blank}{rng.choice(symbols)}{blank}", inner]
    return "".join(parts)


def offsets(node: python.expr, text: str) -> tuple[int, int]:
    """The lines on which Python sees an expression begin, from the first line on."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    assert node.end_lineno is not None and node.end_col_offset is not None
    first, last = starts[node.lineno - 1], starts[node.end_lineno - 1]
    return first + node.col_offset, last + node.end_col_offset


def read(text: str) -> ast.Expr:
    parsed = parse(f"{HEAD}{text}\n    return z\n")
    assert not parsed.diagnostics, (text, parsed.diagnostics)
    [function] = parsed.modules[0].functions.values()
    assert isinstance(function, ast.Function) and isinstance(function.body, ast.SeqExpr)
    [binding] = function.body.blocks[0].bindings
    assert isinstance(binding, ast.VarBinding)
    return binding.value


def bare(span: tuple[int, int] | None, text: str) -> tuple[int, int]:
    """A span in the expression, without parentheses around all of it."""
    assert span is not None
    start, end = span[0] - len(HEAD), span[1] - len(HEAD)
    while True:
        part = text[start:end]
        try:
            inner = python.parse(f"({part})", mode="eval").body
        except SyntaxError:
            raise AssertionError(f"{part!r} is no part of {text!r}") from None
        first, last = (at - 1 for at in offsets(inner, f"({part})"))
        if (first, last) == (0, len(part)):
            return start, end
        start, end = start + first, start + last


@pytest.mark.parametrize("seed", range(60))
def test_tensors(seed: int) -> None:
    rng = random.Random(seed)
    text = f"({drawn(rng, [symbol for symbol, _ in TENSOR.values()], 'xy', 2)} + x)"

    def compare(mine: ast.Expr, theirs: python.expr) -> None:
        if isinstance(theirs, python.Name):
            assert isinstance(mine, ast.Var) and mine.name_hint == theirs.id
            return
        if isinstance(theirs, python.UnaryOp):
            assert isinstance(mine, ast.Call) and mine.op == ast.op("relax.negative")
            assert bare(mine.span, text) == offsets(theirs, text)
            compare(mine.args[0], theirs.operand)
            return
        assert isinstance(theirs, python.BinOp) and isinstance(mine, ast.Call)
        assert isinstance(mine.op, ast.Op) and mine.op.op_name == TENSOR[type(theirs.op)][1]
        assert bare(mine.span, text) == offsets(theirs, text)
        for part, other in zip(mine.args, (theirs.left, theirs.right), strict=True):
            compare(part, other)

    compare(read(text), python.parse(text, mode="eval").body)


@pytest.mark.parametrize("seed", range(60))
def test_scalars(seed: int) -> None:
    rng = random.Random(seed)
    text = f"({drawn(rng, [symbol for symbol, _ in SCALAR.values()], 'nm', 2)} + n)"
    value = read(f"R.shape([{text}])")
    assert isinstance(value, ast.ShapeExpr)

    def compare(mine: tir.PrimExpr, theirs: python.expr) -> None:
        if isinstance(theirs, python.Name):
            assert isinstance(mine, tir.Var) and mine.name == theirs.id
            return
        if isinstance(theirs, python.UnaryOp):
            assert isinstance(mine, tir.Mul) and isinstance(mine.b, tir.IntImm)
            assert (mine.b.value, mine.b.dtype) == (-1, tir.type_of(mine.a))
            compare(mine.a, theirs.operand)
            return
        assert isinstance(theirs, python.BinOp) and isinstance(mine, tir.Binary)
        assert type(mine) is SCALAR[type(theirs.op)][1]
        compare(mine.a, theirs.left)
        compare(mine.b, theirs.right)

    compare(value.values[0], python.parse(text, mode="eval").body)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("-x ** y", "R.negative(R.power(x, y))"),
        ("(-x) ** y", "R.power(R.negative(x), y)"),
        ("- -x ** -y", "R.negative(R.negative(R.power(x, R.negative(y))))"),
        ("x ** -y ** x", "R.power(x, R.negative(R.power(y, x)))"),
        ("-x  # a comment\n        ** y * x", "R.multiply(R.negative(R.power(x, y)), x)"),
        ("R.shape([-2 ** 2 + n])", "R.shape([-(2 ** 2) + n])"),
        ("R.shape([(-2) ** 2 + n])", "R.shape([(-2) ** 2 + n])"),
        ("R.prim_value(not n == m)", "R.prim_value(not (n == m))"),
        ("R.prim_value((not n < m) == (n < m))", "R.prim_value((not (n < m)) == (n < m))"),
    ],
)
def test_what_stands_in_front(text: str, same: str) -> None:
    def shown(value: str) -> str:
        parsed = parse(f"{HEAD}({value})\n    return z\n")
        assert not parsed.diagnostics, (value, parsed.diagnostics)
        return print_module(parsed.modules[0])

    assert shown(text) == shown(same)
    assert print_module(parse(shown(text)).modules[0]) == shown(text)


@pytest.mark.parametrize("seed", range(300))
def test_arithmetic_of_literals_is_computed_as_python_computes_it(seed: int) -> None:
    """Numbers in constants, arguments and attributes, except those outside of 64 bits."""
    rng = random.Random(seed)
    text = drawn(rng, ["+", "-", "*", "/", "//", "%"], "01235789", 2)
    others = {"5": ["1.5", "0.25"], "8": ["2**3", "(3)**-1", "2**0.5"]}
    text = "".join(rng.choice(others.get(letter, [letter])) for letter in text)
    parts = python.walk(python.parse(f"({text})", mode="eval").body)
    try:
        values = [eval(python.unparse(part)) for part in parts if isinstance(part, python.expr)]
    except ArithmeticError:
        return
    if any(isinstance(v, complex) or (isinstance(v, int) and abs(v) >= 1 << 63) for v in values):
        return
    constant = read(f'R.const({text}, "float64")')
    assert isinstance(constant, ast.Constant) and same(constant.data.value, values[0])
    for found in (read(f"R.prim_value({text})"), argument(read(f"R.clip(x, 1, {text})"), 2)):
        assert isinstance(found, ast.PrimValue)
        if "**" not in text or isinstance(values[0], float):  # a power of integers stays a call
            assert same(evaluated(found.value), values[0])
    total = read(f"R.sum(x, axis=[{text}])")
    assert isinstance(total, ast.Call) and same(dict(total.attrs)["axis"], (values[0],))


def same(found: object, wanted: object) -> bool:
    return type(found) is type(wanted) and found == wanted


def argument(call: ast.Expr, at: int) -> ast.Expr:
    assert isinstance(call, ast.Call)
    return call.args[at]


def evaluated(value: tir.PrimExpr) -> object:
    return value.value if isinstance(value, tir.FloatImm) else evaluate(value, {})
