"""Laws of structural equality, and what it does and does not look at."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import FLOAT32, INT32
from rlx.grammar.nodes.equal import first_difference, structural_equal
from rlx.grammar.nodes.node import Node, replace
from rlx.grammar.read.parser import parse

from .rebuild import changes, copied
from .strategies import dims, modules

QUICK = settings(deadline=None, max_examples=20)


@QUICK
@given(modules())
def test_a_module_equals_its_copy_with_all_variables_renamed(module: ast.IRModule) -> None:
    renamed = copied(module, lambda name: f"{name}_other")
    assert first_difference(module, renamed) is None
    assert first_difference(renamed, module) is None


@QUICK
@given(modules(), modules())
def test_equality_is_symmetric(a: ast.IRModule, b: ast.IRModule) -> None:
    assert structural_equal(a, b) == structural_equal(b, a)


@QUICK
@given(modules(), st.data())
def test_every_change_is_found(module: ast.IRModule, data: st.DataObject) -> None:
    ways = changes(module)
    if ways:
        changed = data.draw(st.sampled_from(ways))()
        assert not structural_equal(module, changed)
        assert not structural_equal(changed, module)


@QUICK
@given(dims(), st.data())
def test_every_change_of_a_dimension_is_found(dim: tir.PrimExpr, data: st.DataObject) -> None:
    assert structural_equal(dim, dim)
    assert structural_equal(dim, copied(dim), map_free_vars=True)
    ways = changes(dim)
    if ways and not isinstance(dim, tir.Var):
        changed = data.draw(st.sampled_from(ways))()
        assert not structural_equal(dim, changed)


X, Y = ast.Var("x"), ast.Var("y")
N, M = tir.Var("n"), tir.Var("m")


def lambda_(param: ast.Var, body: ast.Expr) -> ast.Function:
    return ast.Function((param,), ast.SeqExpr((), body))


def test_bound_variables_pair_up_by_their_binders() -> None:
    assert structural_equal(lambda_(X, X), lambda_(Y, Y))
    assert not structural_equal(lambda_(X, X), lambda_(X, Y))


def test_a_pair_is_one_to_one() -> None:
    two = ast.Function((X, Y), ast.SeqExpr((), ast.Tuple((X, Y))))
    one = ast.Function((X, Y), ast.SeqExpr((), ast.Tuple((X, X))))
    assert not structural_equal(two, one)
    assert not structural_equal(one, two)


def test_free_variables_are_themselves_unless_asked_otherwise() -> None:
    a, b = tir.Add(N, M), tir.Add(M, N)
    assert not structural_equal(a, b)
    assert structural_equal(a, b, map_free_vars=True)
    assert not structural_equal(a, tir.Add(N, N), map_free_vars=True)
    assert not structural_equal(tir.Add(N, N), a, map_free_vars=True)


def opaque(*dims_: tir.PrimExpr, binders: tuple[tir.Var, ...]) -> ast.FuncStructInfo:
    params = tuple(ast.TensorStructInfo(ast.ShapeExpr((d,)), FLOAT32, 1) for d in dims_)
    return ast.FuncStructInfo(params, ast.ObjectStructInfo(), binders=binders)


def test_binders_of_a_function_type_bind_only_there() -> None:
    k = tir.Var("k")
    assert structural_equal(opaque(N, N, binders=(N,)), opaque(M, M, binders=(M,)))
    assert not structural_equal(opaque(N, M, binders=(N, M)), opaque(k, k, binders=(k,)))
    assert not structural_equal(opaque(N, binders=(N,)), opaque(N, binders=()))
    twice = ast.TupleStructInfo((opaque(N, binders=(N,)), opaque(N, binders=(N,))))
    apart = ast.TupleStructInfo((opaque(N, binders=(N,)), opaque(M, binders=(M,))))
    assert structural_equal(twice, apart)
    assert structural_equal(apart, twice)


def test_the_order_of_binders_says_nothing() -> None:
    assert structural_equal(opaque(N, M, binders=(N, M)), opaque(N, M, binders=(M, N)))


def module_of(function: ast.Function) -> ast.IRModule:
    return ast.IRModule({ast.GlobalVar("main"): function})


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (module_of(lambda_(X, X)), replace(module_of(lambda_(Y, Y)), name="Other")),
        (
            module_of(lambda_(X, X)),
            module_of(replace(lambda_(X, X), attrs={"global_symbol": "main"})),
        ),
        (lambda_(X, X), replace(lambda_(X, X), is_pure=True, comments=("# c",), span=(1, 2))),
        (
            ast.TensorStructInfo(ast.ShapeExpr((N,)), FLOAT32, 1),
            ast.TensorStructInfo(ast.ShapeExpr((N,)), FLOAT32),
        ),
        (ast.MatchCast(None, X, ast.ObjectStructInfo()), ast.MatchCast(ast.Var("_"), X, ast.ObjectStructInfo())),
        (ast.MatchCast(None, X, ast.ShapeStructInfo((N,)), by_shape=True), ast.MatchCast(None, X, ast.ShapeStructInfo((N,)))),
        (tir.SeqStmt((tir.SeqStmt(()), tir.Evaluate(N))), tir.Evaluate(N)),
    ],
    ids=["class name", "own symbol", "pure and places", "rank", "cast to nothing", "match of shapes", "nested sequences"],
)  # fmt: skip
def test_what_only_spelling_decides_does_not_count(a: Node, b: Node) -> None:
    assert first_difference(a, b) is None
    assert first_difference(b, a) is None


def test_an_axis_may_leave_its_range_to_its_loop() -> None:
    loop, axis = tir.Var("i"), tir.Var("v")
    four = tir.IntImm(4, INT32)

    def written(dom: tuple[tir.PrimExpr, tir.PrimExpr] | None) -> tir.For:
        axes = (tir.IterVar(axis, "S", dom, loop),)
        body = tir.Block("B", axes, None, None, None, (), None, tir.Evaluate(axis))
        return tir.For(loop, tir.IntImm(0, INT32), four, "serial", body)

    assert structural_equal(written(None), written((tir.IntImm(0, INT32), four)))
    five = tir.IntImm(5, INT32)
    assert not structural_equal(written(None), written((tir.IntImm(0, INT32), five)))


BINDERS = """@I.ir_module
class M:
    @R.function
    def f(
        x: R.Tensor(("a", "b")), y: R.Tensor(("a", "b")), n: R.Prim("int64"), m: R.Prim("int64"),
    ) -> R.Object:
        c, d = T.int64(), T.int64()
        u = R.match_cast(x, R.Tensor((c, d)))  # binds u, c, d
        v = R.match_cast(y, R.Tensor((c, d)))  # binds v
        l: R.Prim("int64") = R.tensor_to_scalar(u)  # binds l
        o: R.Prim("int64") = R.tensor_to_scalar(v)  # binds o
        s = (x, y, u, v, R.shape([a, b]), R.shape([c, d]), R.shape([n, m]), R.shape([l, o]))
        return s

    @T.prim_func
    def g(p: T.Buffer((2, 2)), q: T.Buffer((2, 2)), h: T.int32, r: T.int32):  # binds p, q, h, r
        for i, j in T.grid(2, 2):  # binds i, j
            with T.block("B"):
                e, z = T.axis.remap("SS", [i, j])  # binds e, z
                p[e, z] = q[z, z]
                T.evaluate(h - r)
"""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        *(("x", "y"), ("u", "v"), ("a", "b"), ("c", "d"), ("n", "m"), ("l", "o")),
        *(("p", "q"), ("h", "r"), ("i", "j"), ("e", "z")),
    ],
)
def test_names_exchanged_where_they_are_used(one: str, other: str) -> None:
    """Exchanged at their binders as well they are only renamed."""

    def exchanged(text: str) -> str:
        return re.sub(rf"\b({one}|{other})\b", lambda m: other if m[0] == one else one, text)

    def binds(line: str) -> bool:
        return one in line.partition("# binds")[2] or other in line.partition("# binds")[2]

    head, body = BINDERS.split(") -> R.Object:\n")
    lines = body.splitlines(keepends=True)
    used = "".join(line if binds(line) else exchanged(line) for line in lines)
    module, changed, renamed = (
        parse(text).modules[0]
        for text in (BINDERS, f"{head}) -> R.Object:\n{used}", exchanged(BINDERS))
    )
    assert not structural_equal(module, changed)
    assert not structural_equal(changed, module)
    assert structural_equal(module, renamed)


def test_the_difference_says_where_and_what() -> None:
    a = module_of(lambda_(X, ast.Tuple((X, ast.StringImm("a")))))
    b = module_of(lambda_(Y, ast.Tuple((Y, ast.StringImm("b")))))
    assert first_difference(a, b) == ("functions.main.body.body.fields[1].value: 'a' is not 'b'")


def test_long_programs_are_no_problem() -> None:
    def long() -> ast.Function:
        last = param = ast.Var("x")
        bound: list[ast.Binding] = []
        for _ in range(100_000):
            bound.append(ast.VarBinding(var := ast.Var("y"), last))
            last = var
        return ast.Function((param,), ast.SeqExpr((ast.BindingBlock(tuple(bound)),), last))

    assert structural_equal(long(), long())


def test_long_sums_are_no_problem() -> None:
    a: tir.PrimExpr = N
    b: tir.PrimExpr = M
    for _ in range(50_000):
        a, b = tir.Add(a, N), tir.Add(b, M)
    assert structural_equal(a, b, map_free_vars=True)


def test_a_cast_that_binds_nothing_is_none_that_binds_a_variable() -> None:
    info = ast.ObjectStructInfo()
    nothing = ast.MatchCast(None, X, info)
    for something in (ast.Var("y"), ast.Var("_", info), ast.Var("y", info)):
        bound = ast.MatchCast(something, X, info)
        assert structural_equal(bound, bound)
        assert not structural_equal(nothing, bound)
        assert not structural_equal(bound, nothing)


def test_constants_are_equal_if_their_data_is() -> None:
    """Numbers do not matter if both constants have data; if one text omits the data, the numbers decide."""

    def constant(data: bytes | None, number: int = 0) -> ast.Constant:
        key = f'metadata["ir.GenericConst"][{number}]'
        return ast.Constant(ast.Literal(None, FLOAT32, (2,), key, data))

    zeros, ones = bytes(8), bytes([0, 0, 128, 63] * 2)
    assert structural_equal(constant(zeros), constant(zeros, 1))
    assert not structural_equal(constant(zeros), constant(ones))
    assert structural_equal(constant(zeros), constant(None))
    assert not structural_equal(constant(None), constant(None, 1))
