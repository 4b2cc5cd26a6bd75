"""Patterns on expressions, in contexts with several roots, and given as two functions."""

from __future__ import annotations

import pytest

import rlx
from rlx.grammar.nodes import ast
from rlx.transform import (
    CanonicalizeBindings,
    DataflowBlockRewrite,
    FunctionPattern,
    Match,
    PatternContext,
    PatternError,
    PatternMatchingRewriter,
    argument,
    find,
    get_var2val,
    has_dtype,
    is_call_dps_packed,
    is_call_tir,
    is_const,
    is_dfv,
    is_gv,
    is_op,
    is_shape,
    is_tuple,
    is_var,
    rewrite,
    rewrite_call,
    wildcard,
)

x, y = (rlx.Var(name, 'R.Tensor((2, 3, 3), "float32")') for name in "xy")
KERNELS = rlx.parse("""
@I.ir_module
class M:
    @T.prim_func
    def mm(x: T.handle, y: T.handle, z: T.handle):
        n = T.int64()
        A = T.match_buffer(x, (n, n)); B = T.match_buffer(y, (n, n)); C = T.match_buffer(z, (n, n))
        for i, j in T.grid(n, n):
            with T.sblock("b"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = A[vi, vj] * B[vi, vj]
    @T.prim_func
    def relu(x: T.handle, z: T.handle):
        n = T.int64()
        A = T.match_buffer(x, (n, n)); C = T.match_buffer(z, (n, n))
        for i, j in T.grid(n, n):
            with T.sblock("b"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = A[vi, vj]
    @R.function
    def main(x: R.Tensor((32, 32), "float32"), w: R.Tensor((32, 32), "float32")):
        cls = M
        with R.dataflow():
            lv0 = R.call_tir(cls.mm, (x, w), R.Tensor((32, 32), "float32"))
            lv1 = R.call_tir(cls.relu, (lv0,), R.Tensor((32, 32), "float32"))
            lv2 = R.call_tir(cls.relu, (lv1,), R.Tensor((32, 32), "float32"))
            lv3 = R.add(lv1, lv2)
            R.output(lv3)
        return lv3
""")


def function_of(module: ast.IRModule) -> ast.Function:
    function = module["main"]
    assert isinstance(function, ast.Function)
    return function


def block_of(function: ast.Function) -> ast.DataflowBlock:
    assert isinstance(function.body, ast.SeqExpr)
    (block,) = function.body.blocks
    assert isinstance(block, ast.DataflowBlock)
    return block


MAIN = function_of(KERNELS)
BLOCK = block_of(MAIN)
VARS = [binding.var for binding in BLOCK.bindings if binding.var is not None]


def test_names_and_kinds() -> None:
    assert is_var("x").match(x) and is_var().match(x)
    assert not is_var("y").match(x) and not is_dfv("x").match(x)
    assert is_dfv().match(ast.DataflowVar("x")) and is_var("x").match(ast.DataflowVar("x"))
    assert is_gv("x").match(ast.GlobalVar("x")) and not is_var("x").match(ast.GlobalVar("x"))
    assert is_const().match(rlx.const([1.0])) and not is_const().match(x)
    fields = ast.Tuple((ast.DataflowVar("y"), ast.GlobalVar("x")))
    assert is_tuple([is_gv("x"), is_dfv("y")], unordered=True).match(fields)
    assert not is_tuple([is_gv("x"), is_dfv("y")]).match(fields)


def test_what_is_known_of_an_expression() -> None:
    n, m = rlx.dim("n"), rlx.dim("m")
    s = rlx.Var("s", 'R.Tensor(("n", "m", "n + m"), "float32")')
    assert wildcard().has_shape([n, m, m + n]).match(s)
    assert not wildcard().has_shape([n, m, n + n]).match(s)
    assert not wildcard().has_shape([m, n, m + n]).match(s)  # a variable matches itself
    assert wildcard().has_shape(["a", "b", "a + b"]).match(s)  # a text matches any dimension
    assert (is_var("x") & wildcard().has_shape((2, 3, 3))).match(x)
    assert not (~wildcard().has_shape((2, 3, 3))).match(x)
    assert has_dtype("float32").match(rlx.op.add(x, y))
    assert wildcard().has_ty("R.Tensor(ndim=3)").match(rlx.op.add(x, y))
    assert is_shape([2, 3]).match(ast.ShapeExpr((rlx.dim("2"), rlx.dim("3"))))


def test_a_function() -> None:
    one, other = wildcard(), wildcard()
    pattern = FunctionPattern([one, other], is_op("add")(one, other))
    bb = rlx.BlockBuilder()
    with bb.function("sum", [x, y]):
        bb.emit_func_output(bb.emit(x + y))
    function = bb.get()["sum"]
    assert isinstance(function, ast.Function)
    assert pattern.match(function) and pattern.has_attr({"global_symbol": "sum"}).match(function)
    assert not FunctionPattern([one], is_op("add")(one, one)).match(function)
    assert FunctionPattern([one, other], is_op("add")(other, one)).match(function)


def test_values_of_variables() -> None:
    values = get_var2val(MAIN)
    pattern = is_call_tir("relu", [is_call_tir("mm")])
    assert pattern.match(values[VARS[1]], values)
    assert not pattern.match(values[VARS[1]]) and not pattern.match(values[VARS[2]], values)
    found = pattern.extract_matched_expr(values[VARS[1]], values)
    assert found is not None and found[pattern] is values[VARS[1]]


def test_several_roots() -> None:
    with PatternContext() as context:
        product, first, second = is_call_tir("mm"), is_call_tir("relu"), is_call_tir("relu")
        total = is_op("add")(first, second)
        product.used_by(first)
        found = context.match_dfb(BLOCK)
        assert found is not None
        assert [found[p] for p in (product, first, second, total)] == VARS
        with PatternContext(incremental=True) as inner:
            first >> second
            assert PatternContext.current() is inner
            assert inner.match_dfb(BLOCK) is None  # the sum uses it, too
        assert context.match_dfb(BLOCK) is not None


def test_one_value_and_its_uses() -> None:
    with PatternContext() as context:
        chain = is_call_tir("mm") >> is_call_tir("relu")
        assert (found := context.match_dfb(BLOCK)) and found[chain[0]] is VARS[0]
        assert chain.dup() is not chain
        assert context.match_dfb(BLOCK) is None  # the copy wants a product of its own
    with PatternContext() as context:
        given = is_var("x")
        given.fork_to(is_call_tir("mm"))
        assert (found := context.match_dfb(BLOCK)) and found[given] is MAIN.params[0]
    with PatternContext() as context:
        is_call_tir("mm").used_by(is_call_tir("relu"), 1)
        assert context.match_dfb(BLOCK) is None
    assert PatternContext.current() is None


def test_each_call_is_another_one() -> None:
    """A part of one root and another root are two products."""
    function = function_of(
        rlx.parse("""
@R.function
def main(x: R.Tensor((4, 8)), v: R.Tensor((8, 8)), w: R.Tensor((8, 8)), b: R.Tensor((8,))):
    with R.dataflow():
        q = R.matmul(x, v)
        k = R.matmul(x, w)
        r = R.add(q, b)
        s = R.add(r, k)
        R.output(s)
    return s
""")
    )
    with PatternContext() as context:
        given = wildcard()
        first = is_op("matmul")(given, wildcard())
        second = is_op("matmul")(given, wildcard())
        is_op("add")(first, is_var("b"))
    found = context.match_dfb(block_of(function))
    assert found is not None
    names = [str(found[each]) for each in (first, second)]
    assert names == ["q", "k"]
    with PatternContext() as context:
        both = is_op("add")(wildcard(), wildcard()) & is_op("add")(wildcard(), is_var("b"))
    found = context.match_dfb(block_of(function))
    assert found is not None and str(found[both]) == "r"


def test_equal_shapes() -> None:
    module = rlx.parse("""
@R.function
def main(x: R.Tensor((4, 4)), b: R.Tensor((4,))):
    with R.dataflow():
        c = R.add(x, b)
        d = R.add(x, x)
        R.output(c, d)
    return (c, d)
""")
    block = block_of(function_of(module))
    with PatternContext() as context:
        left, right = wildcard(), wildcard()
        total = is_op("add")(left, right)
        left.same_shape_as(right)
    found = context.match_dfb(block)
    assert found is not None and found[total].name_hint == "d"  # type: ignore[attr-defined]


SPELLINGS = [
    ("R.tril(x, 1)", "tril", 2),
    ("R.tril(x, k=1)", "tril", 2),
    ("R.tril(x)", "tril", 1),
    ("R.tril(x)", "tril", 2),
    ("R.tril(x, 0)", "tril", 1),
    ("R.astype(x, 'float16')", "astype", 1),
    ("R.astype(x, dtype='float16')", "astype", 1),
    ("R.split(x, 2)", "split", 1),
    ("R.split(x, indices_or_sections=2, axis=1)", "split", 1),
    ("R.permute_dims(x, [1, 0])", "permute_dims", 1),
    ("R.clip(x, R.prim_value(0), max=R.prim_value(1))", "clip", 3),
    ("R.nn.layer_norm(x, g, g, axes=[-1])", "nn.layer_norm", 3),
    ("R.strided_slice(x, axes=[0], begin=[0], end=[1])", "strided_slice", 4),
]


def spelled(call: str) -> ast.IRModule:
    return rlx.parse(f"""
@R.function
def main(x: R.Tensor((4, 6), "float32"), g: R.Tensor((6,), "float32")):
    z = {call}
    return z
""")


@pytest.mark.parametrize(("call", "operator", "operands"), SPELLINGS)
def test_operands_match_whatever_the_spelling(call: str, operator: str, operands: int) -> None:
    pattern = is_op(operator)(*[wildcard() for _ in range(operands)])
    assert len(find(spelled(call), pattern)) == 1
    assert len(find(rlx.parse(rlx.show(spelled(call))), pattern)) == 1


def test_attributes_and_operands_by_name() -> None:
    split, tril = is_op("split"), is_op("tril")
    module = spelled("R.split(x, 2, axis=1)")
    assert len(find(module, split(wildcard(), indices_or_sections=2, axis=1))) == 1
    assert find(module, split(wildcard(), axis=0)) == []
    assert len(find(spelled("R.tril(x, 1)"), tril(wildcard(), k=wildcard()))) == 1
    assert find(spelled("R.tril(x, 1)"), tril(wildcard())) == []  # the default is another one
    assert len(find(spelled("R.tril(x, 1)"), tril(wildcard(), varg_default_wildcard=True))) == 1


@pytest.mark.parametrize("text", ["R.sum(x, [1])", "R.sum(x, axis=[1])", "R.sum(x, axis=1)"])
def test_an_argument_in_every_spelling(text: str) -> None:
    (match,) = find(spelled(text), is_op("sum"))
    assert isinstance(match.value, ast.Call)
    assert argument(match.value, "axis") in ((1,), 1)
    assert argument(match.value, "keepdims") is False
    assert argument(match.value, "axes", None) is None
    with pytest.raises(
        TypeError, match="a call of sum has no value for 'axes'; its parameters are x"
    ):
        argument(match.value, "axes")


def test_calls_are_replaced_in_a_function_or_a_module() -> None:
    left = wildcard()
    pattern = is_op("add")(left, wildcard())
    made = rewrite_call(pattern, lambda old, match: rlx.op.subtract(match[left], old.args[1]), MAIN)  # type: ignore[attr-defined]
    assert "lv3 = R.subtract(lv1, lv2)" in rlx.show(made)
    assert rewrite_call(pattern, lambda old, match: old, MAIN) is MAIN
    assert rewrite_call(is_op("exp"), lambda old, match: None, KERNELS) is KERNELS


def test_calls_are_replaced_beside_casts_and_functions_that_return_functions() -> None:
    """Such functions stay themselves where nothing changes, by which the rounds end."""
    module = rlx.parse("""
@I.ir_module
class Module:
    @R.function(private=True)
    def adder(x: R.Tensor((3,), "float32")) -> R.Callable((R.Tensor((3,), "float32"),), R.Tensor((3,), "float32")):
        @R.function
        def inner(y: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
            z = R.add(x, y)
            return z
        return inner
    @R.function
    def main(x: R.Tensor((3,), "float32")) -> R.Tensor(ndim=1, dtype="float32"):
        k = T.int64()
        a = Module.adder(x)(x)
        u = R.unique(a)
        v = R.match_cast(u, R.Tensor((k,), "float32"))
        w = R.add(v, v)
        return w
""")
    one, other = wildcard(), wildcard()
    sums = is_op("add")(one, other)
    made = rewrite_call(
        sums, lambda _, m: rlx.op.subtract(m[one], rlx.op.negative(m[other])), module
    )
    assert "R.add" not in rlx.show(made) and rlx.show(made).count("R.subtract") == 2
    assert rlx.check(made).ok and CanonicalizeBindings()(made) is made


def test_calls_are_replaced_until_none_is_left() -> None:
    module = rlx.parse("""
@R.function
def main(x: R.Tensor((4,), "float32")):
    a = R.power(x, R.const(3.0, "float32"))
    b = R.power(x, R.const(3.0, "float32"))
    c = R.subtract(a, b)
    return c
""")
    base, exponent = wildcard(), is_const()

    def smaller(old: ast.Expr, match: Match) -> ast.Expr:
        times = match[exponent].data.value  # type: ignore[attr-defined]
        rest = rlx.op.power(match[base], rlx.const(times - 1))
        return match[base] if times == 1 else rlx.op.multiply(match[base], rest)

    made = rlx.show(rewrite_call(is_op("power")(base, exponent), smaller, module))
    assert made.count("R.multiply(x, ") == 2 and "R.power" not in made  # once for both
    with pytest.raises(PatternError, match="matches again and again"):
        rewrite_call(
            is_op("subtract")(base, wildcard()),
            lambda old, match: rlx.op.subtract(old.args[0], old),  # type: ignore[attr-defined]
            module,
        )


def test_the_next_way_is_tried_if_the_first_changes_nothing() -> None:
    first, second = is_op("add")(wildcard(), wildcard()), wildcard().has_shape((32, 32))
    made = rewrite(
        MAIN,
        first | second,
        lambda match: None if first in match else rlx.op.negative(MAIN.params[0]),
    )
    assert rlx.show(made).count("R.negative(x)") == 4  # the sum, too, by the second way


RULE = """
@I.ir_module
class Rule:
    @R.function
    def pattern(a: R.Tensor(("n", 16), "float32"), b: R.Tensor(("n", 16), "float32")):
        c = R.add(a, b)
        d = R.multiply(c, R.const(2.0, "float32"))
        return d
    @R.function
    def replacement(a: R.Tensor(("n", 16), "float32"), b: R.Tensor(("n", 16), "float32")):
        n = T.int64()
        two = R.full(R.shape([n, 1]), R.const(2.0, "float32"), "float32")
        e = R.multiply(a, two)
        f = R.multiply(b, two)
        g = R.add(e, f)
        return g
"""


def test_a_rule_of_two_functions() -> None:
    rule = PatternMatchingRewriter.from_module(rlx.parse(RULE))
    assert rlx.refines(rule.before, rule.after, floats="real").status == "proved"
    module = rlx.parse("""
@R.function
def main(x: R.Tensor((4, 16), "float32"), z: R.Tensor((16,), "float32")):
    with R.dataflow():
        a = R.add(x, x)
        b = R.multiply(a, R.const(2.0, "float32"))
        c = R.add(b, z)
        d = R.multiply(c, R.const(2.0, "float32"))
        R.output(d)
    return d
""")
    text = rlx.show(rule(module))
    assert "R.full(R.shape([4, 1])" in text and "b = R.add(e, e)" in text
    assert "d = R.multiply(c, R.const(2.0" in text  # z has another shape
    assert rlx.check(text).ok


def test_a_rule_with_several_results() -> None:
    head = """(x: R.Tensor(("n", "k"), "float32"), u: R.Tensor(("k", "a"), "float32"), v: R.Tensor(("k", "b"), "float32")):"""
    rule = PatternMatchingRewriter.from_module(
        rlx.parse(f"""
@I.ir_module
class Rule:
    @R.function
    def pattern{head}
        p = R.matmul(x, u)
        q = R.matmul(x, v)
        return (p, q)
    @R.function
    def replacement{head}
        n = T.int64()
        k = T.int64()
        a = T.int64()
        b = T.int64()
        r = R.matmul(x, R.concat((u, v), axis=1))
        p = R.strided_slice(r, [1], [0], [a])
        q = R.strided_slice(r, [1], [a], [a + b])
        return (p, q)
""")
    )
    module = rlx.parse("""
@R.function
def main(x: R.Tensor((4, 16), "float32"), y: R.Tensor((16, 2), "float32"), z: R.Tensor((16, 3), "float32")):
    with R.dataflow():
        a = R.matmul(x, y)
        b = R.matmul(x, z)
        R.output(a, b)
    return (a, b)
""")
    made = rule(module)
    assert rlx.show(made).count("R.matmul") == 1
    assert rlx.refines(module, made, floats="real").status == "proved"


def test_a_module_that_is_no_rule() -> None:
    with pytest.raises(TypeError, match="expected the Relax functions 'pattern' and 'replacement'"):
        PatternMatchingRewriter.from_module(KERNELS)


def test_bindings_one_by_one() -> None:
    rewrite = DataflowBlockRewrite(BLOCK, MAIN)
    made = rewrite.add(rlx.op.negative(VARS[0]), "neg", is_dfvar=True)
    with pytest.raises(TypeError, match="lv1 is used, so its binding stays"):
        rewrite.remove_unused(VARS[1])
    rewrite.replace_all_uses(VARS[1], made)
    rewrite.remove_unused(VARS[1])
    rewrite.remove_unused(VARS[1], allow_undef=True)
    with pytest.raises(TypeError, match="the block does not bind lv1"):
        rewrite.remove_unused(VARS[1])
    rewrite.add(rlx.op.exp(MAIN.params[0]), is_dfvar=True)
    rewrite.remove_all_unused()
    after = rewrite.mutate_irmodule(KERNELS)
    text = rlx.show(rewrite.mutated_root_fn())
    assert "neg = R.negative(lv0)" in text and "R.exp" not in text and "lv1" not in text
    assert rlx.check(after).ok and rewrite.mutated_dfb() is rewrite.dfb
    result, local = rewrite.dfb.bindings[-1].var, made
    assert result is not None
    with pytest.raises(TypeError, match="neg is local to its dataflow block"):
        rewrite.replace_all_uses(result, local)


def test_a_rule_outside_of_dataflow_blocks_that_calls_a_function_of_its_own() -> None:
    head = '(a: R.Tensor((4,), "float32"), b: R.Tensor((4,), "float32"))'
    rule = PatternMatchingRewriter.from_module(
        rlx.parse(f"""
@I.ir_module
class Rule:
    @R.function
    def pattern{head}:
        c = R.add(a, b)
        d = R.subtract(a, b)
        return (c, d)
    @R.function
    def replacement{head}:
        cls = Rule
        c = cls.sum(a, b)
        d = R.subtract(a, b)
        return (c, d)
    @R.function(private=True)
    def sum{head} -> R.Tensor((4,), "float32"):
        c = R.add(a, b)
        return c
""")
    )
    for between, replaced in (("R.exp(x)", True), ('R.call_packed("f", x)', False)):
        module = rlx.parse(f"""
@R.function(pure=False)
def main{head.replace("a:", "x:").replace("b:", "y:")}:
    p = R.add(x, y)
    q = {between}
    r = R.subtract(x, y)
    return (p, q, r)
""")
        made = rule(module)
        assert rlx.check(made).ok and (len(made.functions) == 2) is replaced
        assert replaced or made is module  # the packed function may overwrite x
        assert rlx.refines(module, made).status == "proved"


def test_a_later_alternative_is_tried_where_no_earlier_one_matches() -> None:
    """As by TVM: the longer pattern wins, though the shorter one matches a binding before it."""
    module = rlx.parse("""
@R.function
def main(x: R.Tensor((4,), "float32")):
    with R.dataflow():
        a = R.negative(x)
        b = R.exp(a)
        c = R.negative(b)
        R.output(c)
    return c
""")
    operand = wildcard()
    inner = is_op("negative")(operand)
    outer = is_op("exp")(inner)
    either = outer | inner

    def replaced(_: ast.Expr, match: Match) -> ast.Expr:
        assert either in match
        return rlx.op.sin(match[operand]) if outer in match else rlx.op.cos(match[operand])

    text = rlx.show(rewrite_call(either, replaced, module))
    assert "b = R.sin(x)" in text.replace(': R.Tensor((4,), dtype="float32")', "")
    assert "R.cos(b)" in text and "R.negative" not in text


def test_what_the_pattern_computes_goes_even_if_it_may_fail() -> None:
    """The new value stands for all of it, as by TVM; other values that may fail stay."""
    module = rlx.parse("""
@R.function
def main(x: R.Tensor((4,), "float32")):
    other = R.call_dps_packed("g", (x,), out_ty=R.Tensor((4,), "float32"))
    a = R.call_dps_packed("f", (x,), out_ty=R.Tensor((4,), "float32"))
    b = R.exp(a)
    return b
""")
    operand = wildcard()
    pattern = is_op("exp")(is_call_dps_packed("f", [operand]))
    text = rlx.show(rewrite_call(pattern, lambda _, match: rlx.op.sin(match[operand]), module))
    assert 'call_dps_packed("g"' in text and 'call_dps_packed("f"' not in text
