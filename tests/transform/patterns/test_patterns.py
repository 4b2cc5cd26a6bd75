"""The pattern language: what matches, what cannot, what stands in its place."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import rlx
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import Expr, IRModule
from rlx.grammar.nodes.dtype import dtype
from rlx.transform import annotated, assert_structural_equal, structural_equal
from rlx.transform.patterns import (
    Match,
    Pattern,
    PatternError,
    find,
    get_var2val,
    is_call,
    is_const,
    is_expr,
    is_function,
    is_op,
    is_shape,
    is_tuple,
    is_tuple_get_item,
    is_var,
    rewrite,
    rewrite_call,
    wildcard,
)

HEAD = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 4), "float32"), w: R.Tensor((4, 4), "float32"), b: R.Tensor((4,), "float32")):
        n = T.int64()
"""


def program(text: str) -> IRModule:
    return rlx.parse(HEAD + "".join(f"        {line}\n" for line in text.strip().splitlines()))


LINEAR = program("""
with R.dataflow():
    m = R.matmul(x, w)
    a = R.add(m, b)
    r = R.nn.relu(a)
    s = R.sum(r, axis=[1], keepdims=True)
    t = (r, s)
    u = t[0]
    c = R.astype(u, "float16")
    d = R.multiply(c, R.const(2.0, "float16"))
    R.output(d, m)
e = R.reshape(m, R.shape([n * 4]))
return (d, e)
""")


def places(pattern: Pattern, module: IRModule = LINEAR) -> list[str]:
    return [match.var.name_hint for match in find(module, pattern)]


def test_each_form() -> None:
    x = wildcard()
    assert places(is_op("matmul")) == ["m"]
    assert places(is_op("relax.add")(is_op("matmul")(x, wildcard()), wildcard())) == ["a"]
    assert places(is_op("add")(x, x)) == []
    assert places(is_op("add")(x, is_op("matmul"))) == ["a"]
    assert places(is_op("matmul")(is_var("w"), x)) == []
    assert places(is_op("add") | is_op("nn.relu")) == ["a", "r"]
    assert places(is_op("matmul")(is_var("x"), is_var())) == ["m"]
    assert places(is_op("matmul")(is_var("y"), is_var())) == []
    assert places(is_op("multiply")(wildcard(), is_const(2.0))) == ["d"]
    assert places(is_op("multiply")(wildcard(), is_const(3.0))) == []
    assert places(is_tuple([is_op("nn.relu"), is_op("sum")])) == ["t"]
    assert places(is_tuple_get_item(is_tuple([wildcard(), wildcard()]), 0)) == ["u"]
    assert places(is_tuple_get_item(wildcard(), 1)) == []
    assert places(is_op("sum").has_attr({"axis": [1], "keepdims": True})) == ["s"]
    assert places(is_op("sum").has_attr({"axis": [0]})) == []
    assert places(is_op("astype").has_attr({"dtype": "float16"})) == ["c"]
    assert places(is_op("reshape")(wildcard(), is_shape())) == ["e"]
    assert places(wildcard().has_dtype("float16")) == ["c", "d"]
    assert places(wildcard().has_shape(("k", 1))) == ["s"]
    assert places(is_op("matmul")(x, wildcard().has_shape(("k", "k")))) == ["m"]
    assert places(is_op("matmul")(wildcard().has_shape(("k", "k")), x)) == []
    assert places(wildcard().has_struct_info('R.Tensor(("k",), "float32")')) == ["e"]
    assert places(is_op("matmul") & wildcard().has_shape(("a", "c"))) == ["m"]
    assert places(is_op("matmul") & ~is_op("matmul")(is_var("x"), x)) == []
    assert places(is_op("nn.relu").where(lambda call: isinstance(call, ast.Call))) == ["r"]


def test_uses() -> None:
    add, relu = is_op("add"), is_op("nn.relu")
    assert places(add.used_by(relu)) == ["a"]
    assert places(add.only_used_by(relu)) == ["a"]
    assert places(relu.used_by(is_op("sum")).used_by(is_tuple([wildcard(), wildcard()]))) == ["r"]
    assert places(relu.only_used_by(is_op("sum"))) == []
    assert places(is_op("matmul").used_by(add)) == ["m"]
    assert places(is_op("matmul").only_used_by(add | is_op("reshape"))) == ["m"]
    assert places(is_op("matmul").only_used_by(add)) == []


def test_calls_of_functions() -> None:
    module = rlx.parse("""
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = Module
        a = cls.inner(x)
        c = R.call_pure_packed("f", a, sinfo_args=R.Tensor((4,), "float32"))
        return c
    @R.function
    def inner(x: R.Tensor((4,), "float32")):
        return x
""")
    assert places(is_call(is_function("inner"), wildcard()), module) == ["a"]
    assert places(is_call(is_function("outer"), wildcard()), module) == []
    assert places(is_op("call_pure_packed")(is_function("f"), wildcard()), module) == ["c"]


def shown(module: IRModule) -> list[str]:
    lines = [line.strip() for line in rlx.show(module).splitlines()]
    start = next(at for at, line in enumerate(lines) if line.startswith("def "))
    return [line.partition(" = ")[2] or line for line in lines[start + 1 :] if line]


def test_rewriting_leaves_out_what_nobody_needs() -> None:
    x, w, b = wildcard(), wildcard(), wildcard()
    pattern = is_op("add")(is_op("matmul")(x, w), b)

    def fused(match: Match) -> Expr:
        return rlx.op.call_pure_packed("linear", match[x], match[w], match[b], sinfo_args=INFO)

    INFO = 'R.Tensor(("n", 4), "float32")'
    once = program("m = R.matmul(x, w)\na = R.add(m, b)\nreturn a").functions
    module = ast.IRModule(once)
    n = next(iter(once.values())).shape_vars[0]  # type: ignore[union-attr]

    def of_the_module(match: Match) -> Expr:
        made = fused(match)
        assert isinstance(made, ast.Call)
        info = ast.TensorStructInfo(ast.ShapeExpr((n, rlx.dim("4"))), dtype("float32"), 2)
        return ast.Call(made.op, made.args, sinfo_args=(info,), span=made.span)

    found = rewrite(module, pattern, of_the_module)
    assert [line.split("(")[0] for line in shown(found)] == ["R.call_pure_packed", "return a"]
    assert "R.matmul(x, w)" in shown(
        rewrite(LINEAR, pattern, lambda match: rlx.op.add(match[x], match[b]))
    )


def test_what_is_left_stays_itself() -> None:
    """Also a module that is not in normal form."""
    module = rlx.parse("""
@R.function
def main(x: R.Tensor((3,), "float32")):
    return R.exp(R.exp(x))
""")
    assert rewrite(module, wildcard(), lambda match: None) is module
    assert rewrite(module, is_op("exp")(wildcard()), lambda match: match.value) is module


def test_what_was_put_in_place_is_seen() -> None:
    x = wildcard()
    module = program("a = R.negative(x)\nc = R.negative(a)\nd = R.negative(c)\nreturn d")
    found = rewrite(module, is_op("negative")(is_op("negative")(x)), lambda match: match[x])
    assert shown(found) == ["x", "R.negative(c)", "return d"]


def test_a_replacement_that_breaks_a_rule() -> None:
    x = wildcard()
    with pytest.raises(rlx.BuildError, match="OBL-broadcast-dims"):
        rewrite(
            program("a = R.nn.relu(b)\nreturn a"),
            is_op("nn.relu")(x),
            lambda m: m[x] + rlx.const([1.0, 2.0]),
        )


def test_patterns_that_match_nothing() -> None:
    x = wildcard()
    cases: list[tuple[Callable[[], object], str]] = [
        (lambda: is_op("matmull"), "did you mean 'matmul'"),
        (lambda: is_op("add")(x), "add takes 2 operands, the pattern has 1"),
        (lambda: is_op("add")(x, x, x), "the pattern has 3"),
        (lambda: is_op("astype")(x, x), "takes 1 operand, the pattern has 2; dtype: attributes"),
        (lambda: is_op("sum")(x, axes=[1]), "no parameter 'axes'"),
        (lambda: is_op("add")(x, x2=x, x1=x), "x1 of add is given twice"),
        (lambda: is_var("f")(x, axis=1), "has no parameter axis"),
        (lambda: is_op("add") & is_op("multiply"), "matches both add and multiply"),
        (lambda: is_tuple([x]) & is_op("add"), "matches both"),
        (lambda: is_op("sum").has_attr({"axes": 1}), "no parameter 'axes'"),
        (lambda: x.has_dtype("float23"), "no tensor matches"),
        (lambda: x.has_dtype("float32").has_dtype("int8"), "both of float32 and of int8"),
        (lambda: x.has_shape((1, 2)).has_shape((1,)), "both 2 and 1 dimensions"),
        (lambda: is_tuple_get_item(x, -1), "the index of a field is -1"),
        (lambda: ~wildcard(), "a wildcard is everything"),
    ]
    for make, words in cases:
        with pytest.raises(PatternError, match=words):
            make()
        with pytest.raises(PatternError, match=r"test_patterns\.py:\d+:\d+"):
            make()
    with pytest.raises(rlx.MisuseError, match="expected a pattern"):
        is_op("add")(x, 1)  # type: ignore[arg-type]


def test_chains_of_users() -> None:
    """Users of a value may be asked about although they are bound later."""
    matmul, add, relu = is_op("matmul"), is_op("add"), is_op("nn.relu")
    assert places(matmul ^ add ^ relu) == ["m"]
    assert places(matmul ^ (add ^ relu)) == ["m"]
    assert places(matmul ^ add ^ is_op("sum")) == []
    assert places(add >> relu >> is_op("sum")) == []
    assert places((add >> relu) ^ is_op("sum")) == ["a"]
    assert places(matmul ^ add.has_shape(("k", 4))) == ["m"]
    assert places(matmul ^ add.has_dtype("int8")) == []
    chain = matmul ^ add ^ relu
    assert (len(chain), chain[1], chain[-1]) == (3, add, relu)
    assert places(add.used_by(relu, 0)) == ["a"]
    assert places(is_var("b").used_by(add, 0)) == places(matmul.used_by(add, 1)) == []
    assert places(matmul.used_by(add, 0)) == ["m"]


def test_the_whole_of_a_match_is_its_value() -> None:
    relu = is_op("nn.relu")(wildcard())
    changed = rewrite(LINEAR, relu, lambda match: rlx.op.abs(match[relu]))
    assert "R.abs(" in rlx.show(changed)
    assert "R.nn.relu(" in rlx.show(changed)


def test_shapes_and_expressions() -> None:
    reshape = is_op("reshape")
    assert places(reshape(wildcard(), is_shape(["n * 4"]))) == []  # the function has its own n
    assert places(reshape(wildcard(), is_shape([4]))) == []
    assert places(is_tuple()) == ["t"]
    scale = rlx.const(2.0, "float16")
    assert places(is_op("multiply")(wildcard(), is_expr(scale))) == ["d"]


def test_attributes_that_say_the_same() -> None:
    """One number for all axes, and the list of it; TVM's functions write all out."""
    module = rlx.parse("""
@R.function
def main(x: R.Tensor((1, 3, 8, 8), "float32"), w: R.Tensor((4, 3, 3, 3), "float32")):
    c = R.nn.conv2d(x, w, padding=[1, 1])
    d = R.sum(c, axis=[1])
    return d
""")
    conv, total = is_op("nn.conv2d"), is_op("sum")
    for padding in (1, [1, 1], [1, 1, 1, 1]):
        same = conv.has_attr({"padding": padding, "strides": [1, 1], "dilation": 1})
        assert places(same, module) == ["c"]
    for other in (0, [1, 2], [1, 1, 1], [1, 1, 0, 0], "1", None):
        assert places(conv.has_attr({"padding": other}), module) == []
    assert places(conv.has_attr({"out_layout": "NCHW"}), module) == ["c"]  # that of the data
    assert places(conv.has_attr({"out_layout": "NHWC"}), module) == []
    assert places(total.has_attr({"axis": 1, "keepdims": False}), module) == ["d"]
    assert places(total.has_attr({"axis": [1, 2]}), module) == []


def test_what_is_found_is_read_when_all_functions_are_finished() -> None:
    other = HEAD.partition("class Module:\n")[2].replace("main", "other")
    lines = ["m = R.matmul(x, w)", "r = R.exp(m)", "q = R.add(r, r)", "return q"]
    module = rlx.parse(str(LINEAR) + other + "".join(f"        {line}\n" for line in lines))
    inside = wildcard()
    first, second = find(module, is_op("add")(inside, wildcard()))
    assert (first.in_dataflow, second.in_dataflow) == (True, False)
    assert [str(match.bound(inside)) for match in (first, second)] == ["R.matmul(x, w)", "R.exp(m)"]
    assert [match.uses(inside) for match in (first, second)] == [2, 1]


def test_a_type_that_is_not_written() -> None:
    module = rlx.parse("""
@R.function
def main(x: R.Tensor((4,), "float32")):
    a = R.exp(x)
    b = R.log(a)
    return b
""")
    pattern = is_op("log")(wildcard().has_shape([4]))
    values = get_var2val(module["main"])  # type: ignore[arg-type]
    value = list(values.values())[1]
    with pytest.raises(rlx.MisuseError, match=r"the type of a is not written .* annotated"):
        pattern.match(value)
    assert pattern.match(value, values)
    known = get_var2val(annotated(module)["main"])  # type: ignore[arg-type]
    assert [pattern.match(each) for each in known.values()] == [False, True]


def rewrite_all(module: IRModule, pattern: Pattern, change: Callable[[Match], Expr]) -> IRModule:
    return rewrite_call(pattern, lambda _, match: change(match), module)


SPELLINGS = ["R.reshape(x, (2, n))", "R.reshape(x, R.shape([2, n]))", "R.reshape(x, shape=(2, n))"]


@pytest.mark.parametrize("spelled", SPELLINGS)
def test_a_shape_matches_in_every_spelling(spelled: str) -> None:
    text = (
        "@R.function\ndef main(x: R.Tensor((2, 'n'), 'float32')):\n    n = T.int64()\n    return "
    )
    module = rlx.parse(text + spelled)
    asked = wildcard()
    [match] = find(module, is_op("reshape")(wildcard(), asked))
    [x] = module.relax_functions[module.get_global_var("main")].params
    assert isinstance(x.struct_info, ast.TensorStructInfo) and x.struct_info.shape is not None
    assert structural_equal(match[asked], x.struct_info.shape)
    assert len(find(module, is_op("reshape")(wildcard(), is_shape([2, "n"])))) == 1
    assert_structural_equal(module, rlx.parse(text + SPELLINGS[1]))


@pytest.mark.parametrize("changes", [rewrite, rewrite_all])
def test_what_is_replaced_through_a_copy_goes(changes: Callable[..., IRModule]) -> None:
    a = wildcard()
    module = rlx.parse(
        HEAD
        + """
        c = R.negative(x)
        d = c
        e = R.exp(d)
        return e
"""
    )
    pattern = is_op("exp")(is_op("negative")(a))
    found = changes(module, pattern, lambda match: rlx.op.nn.relu(match[a]))
    shown = rlx.show(found)
    assert "R.nn.relu(x)" in shown and "R.negative" not in shown
