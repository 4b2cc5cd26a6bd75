"""Programs nested as deeply as texts may be are printed although Python's own limit is too low."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

import pytest

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.equal import structural_equal
from rlx.grammar.nodes.node import Node
from rlx.grammar.print.printer import print_node, show
from rlx.grammar.read.lexer import MAX_NESTING
from rlx.grammar.read.parser import parse, parse_expr, parse_prim_expr, parse_struct_info

DEEP = MAX_NESTING - 2
X, N = ast.Var("x"), tir.Var("n")
IFS = 200


@pytest.fixture(autouse=True)
def limit() -> Iterator[None]:
    """Python's own limit, which tests before may have raised."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(1000)
    yield
    sys.setrecursionlimit(before)


def _times(make: Callable[[Node], Node], innermost: Node, count: int = DEEP) -> Node:
    for _ in range(count):
        innermost = make(innermost)
    return innermost


def _if(inside: Node) -> Node:
    var = ast.Var("y")
    branches = ast.If(X, inside, ast.SeqExpr((), X))  # type: ignore[arg-type]
    return ast.SeqExpr((ast.BindingBlock((ast.VarBinding(var, branches),)),), var)


def _loop(inside: Node) -> Node:
    zero, four = tir.IntImm(0), tir.IntImm(4)
    return tir.For(tir.Var("i"), zero, four, "serial", inside)  # type: ignore[arg-type]


CALLS = _times(lambda e: ast.Call(ast.op("relax.exp"), (e,)), X)  # type: ignore[arg-type]
TUPLES = _times(lambda e: ast.Tuple((e,)), X)  # type: ignore[arg-type]
INFOS = _times(lambda i: ast.TupleStructInfo((i,)), ast.ObjectStructInfo())  # type: ignore[arg-type]
CALLABLES = _times(
    lambda i: ast.FuncStructInfo((i,), ast.ObjectStructInfo()),  # type: ignore[arg-type]
    ast.ObjectStructInfo(),
    DEEP // 2,
)
DIMS = _times(lambda d: tir.FloorDiv(tir.IntImm(2), d), N, DEEP // 4)  # type: ignore[arg-type]
FUNCTION = ast.Function((X,), _times(_if, ast.SeqExpr((), X), IFS))  # type: ignore[arg-type]
LOOPS = tir.PrimFunc((N,), _times(_loop, tir.Evaluate(N), IFS), None, {}, {})  # type: ignore[arg-type]
READ: list[tuple[Node, Callable[[str], Node]]] = [
    (CALLS, parse_expr),
    (TUPLES, parse_expr),
    (INFOS, parse_struct_info),
    (CALLABLES, parse_struct_info),
    (DIMS, parse_prim_expr),
    (ast.IRModule({ast.GlobalVar("main"): FUNCTION}), lambda text: parse(text).modules[0]),
    (ast.IRModule({ast.GlobalVar("main"): LOOPS}), lambda text: parse(text).modules[0]),
]


@pytest.mark.parametrize(("node", "read"), READ)
def test_the_text_is_read_back(node: Node, read: Callable[[str], Node]) -> None:
    again = read(print_node(node))
    assert structural_equal(again, node, map_free_vars=True)
    assert str(node) == print_node(node)


@pytest.mark.parametrize("node", [CALLS, TUPLES, INFOS, CALLABLES, DIMS, FUNCTION, LOOPS])
def test_there_is_a_text_and_a_short_form(node: Node) -> None:
    assert print_node(node) and show(node)


def test_blocks_and_bindings_are_lines_of_their_function() -> None:
    text = """
@R.function
def main(x: R.Tensor((2, 3), "float32"), c: R.Tensor((), "bool")):
    with R.dataflow():
        a = R.exp(x)
        b = R.log(a)
        R.output(b)
    n = T.int64()
    d = R.match_cast(b, R.Tensor((n, 3), dtype="float32"))
    if c:
        e = R.exp(d)
    else:
        e = R.log(d)
    return e
"""
    function = parse(text).modules[0]["main"]
    assert isinstance(function, ast.Function) and isinstance(function.body, ast.SeqExpr)
    dataflow, ordinary = function.body.blocks
    lines = [line.removeprefix("    ") for line in text.strip().splitlines()]
    assert str(dataflow).splitlines() == lines[2:6]
    assert str(ordinary).splitlines() == lines[6:12]
    assert str(dataflow.bindings[0]) == "a = R.exp(x)"
    assert str(ordinary.bindings[1]).splitlines() == lines[8:12]
    assert str(ast.BindingBlock(())) == ""
