"""The small passes: what each one does with a program that a person would write."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rlx
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import IRModule
from rlx.grammar.nodes.visit import bindings
from rlx.transform import (
    BindParams,
    BindSymbolicVars,
    CanonicalizeBindings,
    ComputePrimValue,
    ConvertToDataflow,
    DeadCodeElimination,
    EliminateCommonSubexpr,
    ExpandTupleArguments,
    FoldConstant,
    InlinePrivateFunctions,
    ModulePass,
    PassContext,
    RemoveUnusedOutputs,
    RemoveUnusedParameters,
    Sequential,
    TopologicalSort,
    UpdateParamType,
    argument,
    dataflowblock_pass,
    dead_code,
    function_pass,
    get_var2val,
    module_pass,
)
from rlx.transform.lowering.passes import FunctionalPass

PROGRAM = rlx.parse("""
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 4), "float32"), c: R.Tensor((), "bool"), at: R.Tensor((1,), "int64")):
        cls = Module
        a = R.add(x, x)
        b = R.add(x, x)
        d = cls.pair(a, x)
        e = d[0]
        k = R.add(R.const(1.0, "float32"), R.const(2.0, "float32"))
        f = R.multiply(e, k)
        with R.dataflow():
            h = R.exp(f)
            i = h
            product = R.matmul(x, x)
            element = R.take(x, at, axis=0)
            R.output(i)
        if c:
            j = R.add(x, x)
        else:
            j = R.negative(a)
        l = i
        return (l, b, j)
    @R.function(private=True)
    def pair(x: R.Tensor(("n", 4), "float32"), y: R.Tensor(("n", "m"), "float32")):
        a = R.exp(x)
        b = R.sin(x)
        return (a, b)
    @R.function(private=True)
    def unused(x: R.Tensor((4,), "float32")):
        return x
""")
PASSES: list[tuple[ModulePass, list[str], list[str]]] = [
    (DeadCodeElimination(), ["element = ", "def pair"], ["product", "def unused"]),
    (DeadCodeElimination(may_fail=True), ["def pair"], ["product", "element", "def unused"]),
    (FoldConstant(), ['f = R.multiply(e, R.const(3.0, "float32"))'], ["k = "]),
    (EliminateCommonSubexpr(), ["b = a", "return (l, a, j)"], ["b = R.add"]),
    (CanonicalizeBindings(), ["i = R.exp(f)", "return (i, b, j)"], ["h", "l = i"]),
    (ConvertToDataflow(), ["R.output(a, b, i)"], []),
    (InlinePrivateFunctions(), ["= R.exp(a)"], ["def pair", "R.sin", "d[0]"]),
    (RemoveUnusedParameters(), ["cls.pair(a)", "def pair(x:"], ["y:"]),
    (RemoveUnusedOutputs(), ["return a", "f = R.multiply(d, k)"], ["b = R.sin", "e = "]),
]


TUPLES = rlx.parse("""
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n",), "float32"), u: R.Object):
        n = T.int64()
        cls = Module
        a = cls.first((x, (x, R.const(1.0, "float32"))))
        b = cls.other(u)
        s = R.prim_value(n * n)
        return (a, b, s)
    @R.function(private=True)
    def first(t: R.Tuple(R.Tensor(("n",), "float32"), R.Tuple(R.Object, R.Object))) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        a = t[0]
        b = R.add(a, a)
        return b
    @R.function(private=True)
    def other(t: R.Tuple(R.Object, R.Object)) -> R.Object:
        return t[1]
""")


def test_functions_that_stay_are_named_by_the_user() -> None:
    assert "def unused" in rlx.show(DeadCodeElimination(["unused"])(PROGRAM))
    with pytest.raises(rlx.MisuseError, match="no function 'unusd'; it has: main, pair, unused"):
        DeadCodeElimination(["unusd"])(PROGRAM)
    with pytest.raises(rlx.MisuseError, match="no function has a shape variable k; there are: n"):
        BindSymbolicVars({"k": 3})(TUPLES)


FUNCTIONS = rlx.parse("""
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = Module
        a = cls.twice(x)
        b = cls.twice(x)
        c = cls.packed(a)
        d = cls.packed(b)
        return (a, b, c, d)
    @R.function(private=True)
    def twice(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
        a = cls.once(x)
        return a
    @R.function(private=True)
    def once(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        a = R.exp(x)
        return a
    @R.function(private=True)
    def packed(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        a = R.call_pure_packed("f", x, sinfo_args=R.Tensor((4,), "float32"))
        return a
""")


def test_what_is_unused_goes_also_where_all_outputs_are_asked_for() -> None:
    """As in TVM, where a private function that is never called goes, too."""
    text = rlx.show(
        RemoveUnusedOutputs()(
            rlx.parse("""
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = Module
        t = cls.f(x)
        u = t
        v = R.tan(x)
        return u
    @R.function(private=True)
    def f(x: R.Tensor((4,), "float32")) -> R.Tuple(R.Tensor((4,), "float32"), R.Object):
        a = R.exp(x)
        return (x, a)
    @R.function(private=True)
    def g(x: R.Object) -> R.Object:
        return x
""")
        )
    )
    assert "return t" in text and "return (x, a)" in text
    assert "R.tan" not in text and "def g" not in text


def test_equal_calls_of_functions_are_joined() -> None:
    made = EliminateCommonSubexpr()(FUNCTIONS)
    text = rlx.show(made)
    assert "b = a" in text and text.count("cls.twice(x)") == 1
    assert text.count("cls.packed(a)") == 2, "how often a packed function is called is a meaning"
    assert rlx.check(made).ok and rlx.refines(FUNCTIONS, made).status == "proved"


def test_fields_as_arguments() -> None:
    made = ExpandTupleArguments()(TUPLES)
    text = rlx.show(made)
    assert "cls.first(x, x, R.const(1.0, " in text and "def first(t_0: " in text
    assert "cls.other(u)" in text, "what is passed is not known to be a tuple"
    assert rlx.check(made).ok and rlx.refines(TUPLES, made).status == "proved"


def test_scalars_are_computed_by_functions() -> None:
    made = ComputePrimValue()(TUPLES)
    assert "cls.compute_symbolic_expr(n)" in rlx.show(made) and "return n * n" in rlx.show(made)
    assert rlx.check(made).ok and rlx.refines(TUPLES, made).status == "proved"


def test_a_scalar_with_an_effect_stays() -> None:
    module = rlx.parse("@R.function\ndef main(x: T.int64):\n    return T.shift_left(x, T.int64(1))")
    assert ComputePrimValue()(module) is module


def test_other_parameters() -> None:
    module = rlx.parse("""
@R.function
def main(x: R.Tensor(ndim=2, dtype="float32"), y: R.Tensor((8,), "float32")):
    z = R.add(x, y)
    return z
""")
    made = UpdateParamType(
        lambda var: 'R.Tensor(("n", 8), "float32")' if var.name_hint == "x" else None
    )(module)
    function = made["main"]
    assert isinstance(function, ast.Function)
    body = function.body
    assert isinstance(body, ast.SeqExpr) and isinstance(body.body, ast.Var)
    info = body.blocks[0].bindings[0]
    assert isinstance(info, ast.VarBinding) and rlx.check(made).ok
    assert "x: R.Tensor((n, 8)" in rlx.show(made)
    with pytest.raises(rlx.BuildError, match="7 against 8"):
        UpdateParamType(
            lambda var: 'R.Tensor((7, 7), "float32")' if var.name_hint == "x" else None
        )(module)


def test_the_order_of_bindings() -> None:
    module = rlx.parse("""
@R.function
def main(x: R.Tensor((4,))):
    with R.dataflow():
        a = R.exp(x)
        b = R.negative(x)
        c = R.sin(a)
        R.output(b, c)
    return (b, c)
""")
    text = rlx.show(TopologicalSort("depth-first", "from-inputs")(module))
    assert text.index("c = ") < text.index("b = ")
    with pytest.raises(TypeError, match="order: expected 'depth-first' or 'breadth-first'"):
        TopologicalSort("depth")


def same_meaning(before: IRModule, after: IRModule) -> bool:
    """Whether both programs return the same for a value of each condition."""
    rng = np.random.default_rng(0)
    for condition in (True, False):
        given = {"x": rng.normal(size=(4, 4)).astype("float32"), "c": condition, "at": [2]}
        one, other = (rlx.run(module, inputs=given).numpy() for module in (before, after))
        if any(not np.array_equal(a, b) for a, b in zip(one, other, strict=True)):
            return False
    return True


@pytest.mark.parametrize(("each", "there", "gone"), PASSES, ids=lambda value: str(value)[:30])
def test_a_pass(each: ModulePass, there: list[str], gone: list[str]) -> None:
    made = each(PROGRAM)
    text = rlx.show(made)
    assert all(words in text for words in there), text
    assert not any(f"    {words}" in text or f", {words}" in text for words in gone), text
    assert rlx.check(made).ok
    assert same_meaning(PROGRAM, made)
    assert rlx.show(each(made)) == text


ONCE = [
    (
        DeadCodeElimination(),
        """
@R.function
def main(x: R.Tensor((4,)), c: R.Tensor((), "bool")):
    if c:
        y = x
    else:
        @R.function
        def never(z: R.Tensor((4,))) -> R.Tensor((4,)):
            cast = R.match_cast(x, R.Tensor((4,), "float32"))
            return z
        y = x
    return x
""",
        ["if c"],
    ),
    (
        DeadCodeElimination(),
        """
@R.function
def main(x: R.Tensor((4,), "float32")):
    gone = R.exp(x)
    @R.function
    def never(z: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        a = R.minimum(gone, gone)
        b = (z, gone)
        return z
    c = R.negative(gone)
    return x
""",
        ["gone", "never"],
    ),
    (
        CanonicalizeBindings(),
        """
@R.function
def main(x: R.Tensor(("n",), "float32")):
    m = T.int64()
    with R.dataflow():
        y = R.exp(x)
        z = R.match_cast(y, R.Tensor((m,), "float32"))
        R.output(y, z)
    return y
""",
        ["match_cast"],
    ),
    (
        InlinePrivateFunctions(),
        """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,))):
        return x
    @R.function(private=True)
    def first(x: R.Tensor((4,))):
        cls = Module
        return cls.second(x)
    @R.function(private=True)
    def second(x: R.Tensor((4,))):
        return x
""",
        ["first", "second"],
    ),
]


@pytest.mark.parametrize(("each", "program", "gone"), ONCE, ids=lambda value: str(value)[:20])
def test_one_run_is_enough(each: ModulePass, program: str, gone: list[str]) -> None:
    made = each(rlx.parse(program))
    assert rlx.check(made).ok and each(made) is made
    assert not any(word in rlx.show(made) for word in gone), rlx.show(made)


def test_a_parameter_that_tells_a_size_to_a_local_function() -> None:
    module = rlx.parse("""
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,)), y: R.Tensor((4,))):
        cls = Module
        return cls.private(x, y)
    @R.function(private=True)
    def private(x: R.Tensor(("n",)), y: R.Tensor((4,))):
        n = T.int64()
        @R.function
        def local(z: R.Tensor((n,))) -> R.Tensor((n,)):
            return z
        return y
""")
    made = RemoveUnusedParameters()(module)
    assert "def private(y: R.Tensor((4,)), param_n: R.Shape([n])):" in rlx.show(made)
    assert "cls.private(y, R.shape([4]))" in rlx.show(made)
    assert rlx.check(made).ok and rlx.refines(module, made).status == "proved"


def test_an_inlined_function_that_returns_its_argument() -> None:
    module = rlx.parse("""
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        with R.dataflow():
            a = R.add(x, x)
            b = Module.same(a)
            c = R.multiply(a, x)
            R.output(b, c)
        return (b, c)
    @R.function(private=True)
    def same(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        return x
""")
    made = InlinePrivateFunctions()(module)
    assert rlx.check(made).ok and rlx.refines(module, made).status == "proved"


def test_unused_operators_that_may_fault_stay() -> None:
    module = rlx.parse("""
@R.function
def main(x: R.Tensor((2, 3), "float32"), i: R.Tensor((2, 3), "int8")):
    a = R.bitwise_and(x, x)
    b = R.bitwise_and(i, i)
    c = R.split(x, 2, axis=0)
    d = R.max(x, axis=[1])
    e = R.nn.pad(x, [0, 0, 9, 9], pad_mode="edge")
    f = R.nn.pad(x, [0, 0, 9, 9])
    return x
""")
    made = DeadCodeElimination()(module)
    assert [str(b.var) for b in bindings(made["main"])] == ["a", "e"]


def test_a_copy_gets_the_name_and_the_size_of_the_output() -> None:
    module = rlx.parse("""
@R.function
def main(x: R.Tensor((4,), "float32")):
    n = T.int64()
    y = R.match_cast(x, R.Tensor((n,), "float32"))
    with R.dataflow():
        a: R.Tensor((n,), "float32") = R.exp(y)
        b: R.Tensor((n,), "float32") = a
        R.output(b)
    return b
""")
    made = CanonicalizeBindings()(module)
    assert 'b: R.Tensor((4,), dtype="float32") = R.exp(x)' in rlx.show(made)
    assert rlx.refines(module, made).status == "proved"


def test_dimensions_without_a_name_stay_those_of_the_cast() -> None:
    module = rlx.parse("""
@R.function
def main(x: R.Tensor((2,), "int64")):
    n = T.int64()
    m = T.int64()
    s = R.tensor_to_shape(x)
    t = R.match_cast(s, R.Shape([n, m]))
    z = R.zeros(R.shape([m, n]), "float32")
    return z
""")
    made = CanonicalizeBindings()(module)
    assert rlx.check(made).ok and "R.match_cast(s, R.Shape([n, m]))" in rlx.show(made)


def test_a_shape_that_shows_a_failure_stays_computed() -> None:
    """A mistake that only a run can reach is not an error of the module: the call may stand in a branch."""
    module = rlx.parse("""
@R.function
def main(x: R.Tensor((2, 1), "float32")):
    one = R.ones(R.shape([1]), "int64")
    shape = R.tensor_to_shape(one)
    flat = R.reshape(x, shape)
    return flat
""")
    made = FoldConstant()(module)
    assert not rlx.check(made).errors
    assert "R.tensor_to_shape" in rlx.show(made) and "R.ones" not in rlx.show(made)


def test_a_mark_keeps_the_name_of_a_constant() -> None:
    module = rlx.parse("""
@R.function
def main():
    a = R.add(R.const(1.0, "float32"), R.const(2.0, "float32"))
    b = R.grad.start_checkpoint(a)
    c = R.add(a, b)
    return c
""")
    made = FoldConstant()(module)
    assert rlx.check(made).ok and "a = R.const(3.0" in rlx.show(made)
    assert "R.grad.start_checkpoint(a)" in rlx.show(made)


def test_a_constant_index_outside_of_its_axis_is_folded() -> None:
    module = rlx.parse("""
@R.function
def main(x: R.Tensor((2, 1), "float32")):
    at = R.ones(R.shape([]), "int64")
    first = R.take(x, at, axis=1)
    return first
""")
    with pytest.warns(rlx.BuildWarning, match="every run of the call faults"):
        made = FoldConstant()(module)
    assert rlx.check(made).ok and 'R.take(x, R.const(1, "int64"), axis=1)' in rlx.show(made)


def test_a_pass_does_not_judge_the_statements_that_it_copies() -> None:
    module = rlx.parse("""
@R.function(pure=False)
def main():
    a = R.add(R.const(1.0, "float32"), R.const(2.0, "float32"))
    _ = R.call_packed("seen", a)
    return a
""")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "R.const(3.0" in rlx.show(FoldConstant()(module))


def test_all_in_a_row() -> None:
    chain = Sequential([each for each, _, _ in PASSES])
    made = chain(PROGRAM)
    assert rlx.check(made).ok and same_meaning(PROGRAM, made)


def test_nothing_to_do() -> None:
    module = rlx.parse("@R.function\ndef main(x: R.Tensor((4,))):\n    return x")
    for each, _, _ in PASSES:
        assert each(module) is module


def test_a_recursive_function_stays() -> None:
    module = rlx.parse("""
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((), "int64")) -> R.Tensor((), "int64"):
        cls = Module
        y = cls.down(x)
        return y
    @R.function(private=True)
    def down(x: R.Tensor((), "int64")) -> R.Tensor((), "int64"):
        cls = Module
        c = R.less(x, R.const(1, "int64"))
        if c:
            y = x
        else:
            z = R.subtract(x, R.const(1, "int64"))
            y = cls.down(z)
        return y
""")
    assert InlinePrivateFunctions()(module) is module


def test_a_field_of_a_known_tuple_leaves_its_block_under_one_name() -> None:
    module = rlx.parse("""
@R.function
def main(x: R.Tensor((2,), "float32")):
    with R.dataflow():
        a = R.exp(x)
        t = (a, x)
        b = t[0]
        R.output(b)
    return b
""")
    assert "b = R.exp(x)" in rlx.show(CanonicalizeBindings()(module))


def test_shapes_of_an_inlined_function() -> None:
    module = rlx.parse("""
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("a", 6), "float32")):
        cls = Module
        y = cls.flat(x)
        return y
    @R.function(private=True)
    def flat(x: R.Tensor(("n", "m"), "float32")) -> R.Tensor(("n * m",), "float32"):
        n = T.int64()
        m = T.int64()
        y = R.reshape(x, R.shape([n * m]))
        return y
""")
    made = InlinePrivateFunctions()(module)
    assert "R.reshape(x, R.shape([a * 6]))" in rlx.show(made)
    assert rlx.refines(module, made).status == "proved"


def test_a_function_that_returns_a_local_one_is_inlined() -> None:
    module = rlx.parse("""
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 4), "float32")):
        cls = Module
        f: R.Any = cls.made(x)
        g = cls.made(x)
        return (f, g)
    @R.function(private=True)
    def made(x: R.Tensor(("n", 4), "float32")) -> R.Any:
        @R.function
        def inner(a: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
            return a
        return inner
""")
    made = InlinePrivateFunctions()(module)
    assert rlx.check(made).ok and "return (inner, inner1)" in rlx.show(made)


SIZES = rlx.parse("""
@R.function
def main(x: R.Tensor(("n", 4), "float32"), w: R.Tensor((4, "m"), "float32")):
    n = T.int64()
    y = R.matmul(x, w)
    z = R.reshape(x, R.shape([n * 4]))
    return (y, z)
""")


def test_numbers_for_shape_variables() -> None:
    made = BindSymbolicVars({"n": 3})(SIZES)
    assert "R.shape([12])" in rlx.show(made) and rlx.check(made).ok
    function = SIZES["main"]
    assert isinstance(function, ast.Function)
    assert rlx.show(function.bind_symbolic_vars({function.shape_vars[1]: 2})).count("(4, 2)") == 1
    marked = function.with_attr("mark", 1)
    assert marked.attrs["mark"] == 1 and marked.without_attr("mark").attrs == function.attrs
    with pytest.raises(TypeError, match="no shape variables 'k'; there are: n, m"):
        function.bind_symbolic_vars({"k": 1})


HELD = """
@R.function
def main(x: R.Tensor(("n", 4), "float32"), y: R.Tensor(("m", 4), "float32")):
    k = T.int64()
    f: R.Callable((R.Tensor((k, 4), "float32"),), R.Tensor((k, 4), "float32")) = held
    return (f(x), f(y), called(x))

@R.function(private=True)
def held(x: R.Tensor(("n", 4), "float32")) -> R.Tensor(("n", 4), "float32"):
    return R.add(x, x)

@R.function(private=True)
def called(x: R.Tensor(("n", 4), "float32")) -> R.Tensor(("n", 4), "float32"):
    return R.add(x, x)
"""


def test_a_function_that_is_used_as_a_value_keeps_its_sizes() -> None:
    module = rlx.parse(HELD)
    made = BindSymbolicVars({"n": 3})(module)
    assert rlx.check(made).ok
    assert rlx.show(made["held"]) == rlx.show(module["held"])
    assert "called(x: R.Tensor((3, 4)" in rlx.show(made)
    x, y = np.ones((3, 4), "float32"), np.ones((5, 4), "float32")
    assert [each.shape for each in rlx.run(made, inputs=[x, y]).numpy()] == [(3, 4), (5, 4), (3, 4)]
    only_held = (
        HELD.replace('x: R.Tensor(("n"', 'x: R.Tensor(("i"', 1)
        .split("@R.function(private=True)\ndef called")[0]
        .replace(", called(x)", "")
    )
    with pytest.raises(TypeError, match="functions that are used as values keep theirs unless one"):
        BindSymbolicVars({"n": 3})(rlx.parse(only_held))
    assert "held(x: R.Tensor((3, 4)" in rlx.show(BindSymbolicVars({"n": 3}, "held")(module))


def test_constants_for_parameters() -> None:
    made = BindParams("main", {"x": np.ones((2, 4), "float32")})(SIZES)
    assert "def main(w:" in rlx.show(made) and "R.shape([8])" in rlx.show(made)
    assert rlx.check(made).ok
    function = SIZES["main"]
    assert isinstance(function, ast.Function)
    with pytest.raises(TypeError, match="no parameter 'v'; there are: x, w"):
        function.bind_params({"v": 1.0})
    with pytest.raises(TypeError, match=r"the value of x is .*, but the parameter is R.Tensor"):
        function.bind_params({"x": np.ones((2, 5), "float32")})
    with pytest.raises(TypeError, match="the module has no Relax function 'other'"):
        BindParams("other", {})(SIZES)


def test_sizes_of_casts_and_sizes_by_other_sizes() -> None:
    module = rlx.parse("""
@R.function
def main(x: R.Tensor(("n", "k"), "float32"), y: R.Tensor(ndim=1, dtype="float32")):
    k, m = T.int64(), T.int64()
    z = R.match_cast(y, R.Tensor((m,), "float32"))
    return (R.zeros(R.shape([m + k]), "float32"), x, z)
""")
    made = BindSymbolicVars({"m": 4, "k": rlx.dim("p")})(module)
    assert "R.match_cast(y, R.Tensor((4,)" in rlx.show(made)
    assert "main(x: R.Tensor((n, p)" in rlx.show(made) and "R.shape([p + 4])" in rlx.show(made)
    assert rlx.check(made).ok
    function: Any = module["main"]
    n = function.shape_vars[0]
    with pytest.raises(rlx.MisuseError, match="n has two sizes"):
        function.bind_symbolic_vars({"n": 1, n: 2})
    with pytest.raises(rlx.MisuseError, match="p is no dimension of a parameter"):
        function.bind_symbolic_vars({"n": rlx.dim("p") * 2})


def test_a_variable_for_a_parameter_gives_its_dimensions() -> None:
    function: Any = SIZES["main"]
    made = function.bind_params({"x": rlx.Var("v", [2, 4], "float32")})
    assert "R.matmul(v, w)" in rlx.show(made) and "R.shape([8])" in rlx.show(made)
    with pytest.raises(rlx.MisuseError, match="the value of x is"):
        function.bind_params({"x": rlx.Var("v", [2, 5], "float32")})
    with pytest.raises(rlx.MisuseError, match="x has two values"):
        function.bind_params({"x": np.ones((2, 4)), function.params[0]: np.ones((2, 4))})
    with pytest.raises(ValueError, match="called has callers, which pass all arguments"):
        BindParams("called", {"x": np.ones((2, 4), "float32")})(rlx.parse(HELD))


class Recorded:
    """An instrument that notes the passes."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def should_run(self, module: IRModule, each: ModulePass) -> bool:
        return each.name != "FoldConstant"

    def run_before_pass(self, module: IRModule, each: ModulePass) -> None:
        self.seen.append(f"before {each.name}")

    def run_after_pass(self, module: IRModule, each: ModulePass) -> None:
        self.seen.append(f"after {each.name}")


def test_instruments() -> None:
    noted = Recorded()
    with PassContext(instruments=[noted]) as context:
        assert PassContext.current() is context
        assert FoldConstant()(PROGRAM) is PROGRAM
        CanonicalizeBindings()(PROGRAM)
    assert noted.seen == ["before CanonicalizeBindings", "after CanonicalizeBindings"]
    assert FoldConstant()(PROGRAM) is not PROGRAM


def test_a_sequence_leaves_out_disabled_passes() -> None:
    with PassContext(disabled_pass=["FoldConstant"]):
        assert Sequential([FoldConstant()])(PROGRAM) is PROGRAM
        assert FoldConstant()(PROGRAM) is not PROGRAM  # which runs by itself, as in TVM


def test_instruments_that_are_replaced() -> None:
    first, second = Recorded(), Recorded()
    with PassContext(instruments=[first], config={"limit": 3}) as context:
        CanonicalizeBindings()(PROGRAM)
        context.override_instruments([second])
        CanonicalizeBindings()(PROGRAM)
        assert context.config["limit"] == 3
    assert (
        first.seen == second.seen == ["before CanonicalizeBindings", "after CanonicalizeBindings"]
    )


def test_names_and_levels() -> None:
    inner = Sequential([FoldConstant()], opt_level=1, name="Inner")
    assert (inner.info.name, inner.info.opt_level) == ("Inner", 1)
    assert (FoldConstant().info.name, FoldConstant().info.opt_level) == ("FoldConstant", 0)
    with PassContext(opt_level=0):
        assert Sequential([inner])(PROGRAM) is PROGRAM


def test_levels() -> None:
    seen: list[str] = []

    @module_pass(opt_level=3, name="Late")  # type: ignore[untyped-decorator]
    def late(module: IRModule, context: PassContext) -> IRModule:
        seen.append(f"late at {context.opt_level}")
        return module

    both = Sequential([late, FoldConstant()])
    assert both(PROGRAM) is not PROGRAM and seen == []
    with PassContext(opt_level=3):
        both(PROGRAM)
    with PassContext(required_pass=["Late"]):
        both(PROGRAM)
    assert seen == ["late at 3", "late at 2"]


def test_passes_of_functions() -> None:
    seen: list[str] = []

    @module_pass
    def whole(module: IRModule, context: PassContext) -> IRModule:
        seen.append("whole")
        return module

    @function_pass(name="Each")  # type: ignore[untyped-decorator]
    def each(function: ast.Function, module: IRModule, context: PassContext) -> ast.Function:
        seen.append(str(function.attrs.get("global_symbol")))
        return function

    @dataflowblock_pass
    class Blocks:
        def __init__(self, word: str) -> None:
            self.word = word

        def transform_dataflowblock(
            self, block: ast.DataflowBlock, module: IRModule, context: PassContext
        ) -> ast.DataflowBlock:
            seen.append(f"{self.word} {len(block.bindings)}")
            return block

    assert isinstance(whole, FunctionalPass) and each.name == "Each"
    blocks: Any = Blocks
    assert rlx.show(Sequential([dead_code, whole])(PROGRAM)) == rlx.show(dead_code(PROGRAM))
    seen.clear()
    assert Sequential([whole, each, blocks("block")])(PROGRAM) is PROGRAM
    assert seen == ["whole", "main", "None", "None", "block 4"]

    @module_pass
    def nothing(module: IRModule, context: PassContext) -> None:
        return None

    with pytest.raises(TypeError, match="nothing returned NoneType, expected a module"):
        nothing(PROGRAM)

    @dataflowblock_pass
    def bindings(block: ast.DataflowBlock, module: IRModule, context: PassContext) -> Any:
        return block.bindings

    wanted = "test_shelf.py:.*bindings returned tuple, expected a dataflow block"
    with pytest.raises(TypeError, match=wanted):  # not a line of code made at run time
        bindings(PROGRAM)
    with pytest.raises(TypeError, match="expected a function of a dataflow block, its module and"):
        dataflowblock_pass(lambda block: block)
    with pytest.raises(TypeError, match="Plain has no method transform_function"):
        function_pass(type("Plain", (), {}))


@pytest.mark.parametrize(
    "body",
    [
        "    alias: T.int64 = s\n    y = R.zeros(R.shape([alias]), 'float32')\n    return y",
        (
            "    with R.dataflow():\n        alias: T.int64 = s\n        b: T.int64 = alias + 1\n"
            "        R.output(b)\n    return b"
        ),
    ],
)
def test_a_scalar_that_a_dimension_names(body: str) -> None:
    module = rlx.parse(f"@R.function\ndef main(s: T.int64):\n{body}\n")
    for each, _, _ in PASSES:
        assert rlx.check(each(module)).ok, each


def test_a_tensor_of_a_size_that_may_be_negative_stays() -> None:
    """A scalar, a difference of sizes, and both under a name may be negative: then the run fails."""
    module = rlx.parse("""
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def fill(b: T.handle):
        m = T.int64()
        B = T.match_buffer(b, (m,), "float32")
        for i in range(m):
            B[i] = T.float32(1)
    @R.function
    def main(x: R.Tensor(("n",), "float32"), k: R.Prim(value="k"), y: R.Tensor(("n - 2",), "float32")):
        n = T.int64()
        k = T.int64()
        s = R.shape([n - 2])
        a = R.zeros(s, "float32")
        b = R.full(R.shape([k]), R.const(1.0, "float32"))
        c = R.call_tir(Module.fill, (), R.Tensor((n - 2,), "float32"))
        gone = R.zeros(R.shape([n]), "float32")
        gone = R.call_tir(Module.fill, (), R.Tensor((n * 2,), "float32"))
        gone = R.add(y, y)
        return x
""")
    made = DeadCodeElimination()(module)
    assert [str(b.var) for b in bindings(made["main"])] == ["s", "a", "b", "c"]


def test_an_output_that_is_a_tuple() -> None:
    module = rlx.parse("""
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        t = Module.f(x)
        pair = t[0]
        return pair[1]
    @R.function(private=True)
    def f(x: R.Tensor((4,), "float32")):
        pair = (x, R.exp(x))
        return (pair, R.sin(x))
""")
    made = RemoveUnusedOutputs()(module)
    assert "R.sin" not in rlx.show(made) and rlx.refines(module, made).status == "proved"


@pytest.mark.parametrize("each", [CanonicalizeBindings(), FoldConstant(), InlinePrivateFunctions()])
def test_a_constant_that_is_overwritten_is_one_tensor(each: ModulePass) -> None:
    """Under its name: where it is written out, each place makes a new tensor."""
    module = rlx.parse("""
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((2,), "float32")):
        a = R.const([1.0, 2.0], "float32")
        b = R.add(a, a)
        c = R.add(b, b)
        _ = R.call_packed("negate", a, sinfo_args=(R.Object,))
        _ = R.call_packed("negate", b, sinfo_args=(R.Object,))
        d = Module.negated((R.const([3.0, 4.0], "float32"), x))
        return (R.add(a, a), R.add(b, b), c, d)
    @R.function(private=True, pure=False)
    def negated(t: R.Tuple(R.Tensor((2,), "float32"), R.Object)):
        a = t[0]
        _ = R.call_packed("negate", a, sinfo_args=(R.Object,))
        return R.add(a, t[0])
""")

    def negate(x: Any) -> None:
        x[...] = -x

    given = {"x": np.ones(2, "float32")}
    made = each(module)
    assert rlx.check(made).ok
    for one in (module, made):
        found = rlx.run(one, inputs=given, packed={"negate": negate}).numpy()
        assert [part.tolist() for part in found] == [[-2, -4], [-4, -8], [4, 8], [-6, -8]]


def test_what_is_overwritten_in_place_is_no_constant() -> None:
    """TVM has one tensor for equal constants: the other result would change, too."""
    module = rlx.parse("""
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def more(A: T.Buffer((T.int64(4),), "float32")):
        for i in range(T.int64(4)):
            with T.sblock("A"):
                v = T.axis.spatial(T.int64(4), i)
                A[v] = A[v] + T.float32(1)
    @R.function
    def main():
        a = R.zeros(R.shape([4]), "float32")
        b = R.ones(R.shape([4]), "float32")
        c = R.add(b, R.const(1.0, "float32"))
        d = R.call_tir_inplace(Module.more, (a,), inplace_indices=[0], out_ty=R.Tensor((4,), "float32"))
        return R.add(c, d)
""")
    made = rlx.show(FoldConstant()(module))
    assert "R.zeros" in made and "R.ones" not in made and "R.const([2" in made


def test_what_cannot_stand_elsewhere_stays() -> None:
    """Effects in a function that is declared pure; a scalar that a PrimFunc must not compute."""
    module = rlx.parse("""
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        a = Module.shown(x)
        k = R.prim_value(n // 0)
        return (a, k)
    @R.function(private=True)
    def shown(x: R.Object) -> R.Object:
        R.func_attr({"relax.force_pure": True})
        _ = R.print(x, format="{}")
        return x
""")
    assert InlinePrivateFunctions()(module) is module
    assert ComputePrimValue()(module) is module


SIZED = rlx.parse("@R.function\ndef main(x: R.Tensor(('n',), 'float32')):\n    return R.exp(x)")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: BindSymbolicVars({"n": -3})(SIZED), "n: expected an integer of at least 0"),
        (lambda: BindSymbolicVars({"n": 1.5})(SIZED), "n: expected an integer of at least 0"),  # type: ignore[dict-item]
        (lambda: BindSymbolicVars([3])(SIZED), "expected a dictionary of values"),  # type: ignore[arg-type]
        (lambda: BindSymbolicVars({5: 3}, "main")(SIZED), "no shape variables 5"),  # type: ignore[dict-item]
        (lambda: BindParams("main", None)(SIZED), "expected a dictionary of values"),  # type: ignore[arg-type]
        (lambda: ConvertToDataflow("a")(SIZED), "expected a number of bindings"),  # type: ignore[arg-type]
        (lambda: get_var2val(None), "expected a function"),  # type: ignore[arg-type]
        (lambda: argument(None, "x"), "expected a call"),  # type: ignore[arg-type]
        (lambda: rlx.ExprVisitor().visit_expr(5), "expected an expression"),  # type: ignore[arg-type]
    ],
)
def test_arguments_of_another_kind_are_named(call: Callable[[], object], words: str) -> None:
    with pytest.raises(rlx.MisuseError, match=words):
        call()


def test_a_cast_that_was_made_before_still_gives_its_type() -> None:
    """TVM knows the type of what a cast returns, and not that of the value that it looked at."""
    module = rlx.parse("""
@R.function
def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(dtype="float32")):
    n = T.int64()
    m = T.int64()
    a = R.match_cast(y, R.Tensor((n,), "float32"))
    b = R.match_cast(y, R.Tensor((n,), "float32"))
    c = R.match_cast(x, R.Tensor((m,), "float32"))
    return (R.add(a, x), R.add(b, c))
""")
    made = CanonicalizeBindings()(module)
    text = rlx.show(made)
    assert "R.add(b, x)" in text and "R.add(y" not in text and "m = T" not in text
    assert rlx.refines(module, made).status == "proved"


def test_a_function_that_was_passed_to_an_inlined_one_is_inlined_too() -> None:
    module = rlx.parse("""
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        return Module.twice(Module.power, x)
    @R.function(private=True)
    def twice(f: R.Callable((R.Tensor((4,), "float32"),), R.Tensor((4,), "float32")), x: R.Tensor((4,), "float32")):
        return f(f(x))
    @R.function(private=True)
    def power(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        return R.exp(x)
""")
    made = InlinePrivateFunctions()(module)
    assert [gv.name_hint for gv in made.functions] == ["main"] and rlx.show(made).count(
        "R.exp"
    ) == 2
    assert rlx.refines(module, made).status == "proved" and InlinePrivateFunctions()(made) is made


@pytest.mark.parametrize("value", ["j", "j + 1", "n - 3"])
def test_a_scalar_that_is_computed_may_be_negative(value: str) -> None:
    """A tensor of so many elements ends the run where there are less than 0."""
    module = rlx.parse(f"""
@R.function
def main(j: R.Prim(value="j"), x: R.Tensor(("n",), "float32")):
    n, j = T.int64(), T.int64()
    k = R.prim_value({value})
    z = R.zeros(R.shape([k]), "float32")
    return R.add(x, x)
""")
    for each in (dead_code, DeadCodeElimination(), CanonicalizeBindings()):
        ended = [
            rlx.run(program, inputs=[-2, np.ones(2, "float32")])
            for program in (module, each(module))
        ]
        assert not any(outcome.ok for outcome in ended), each


def test_an_inlined_local_function_still_captures_its_size() -> None:
    module = rlx.parse("""
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        add: R.Callable((R.Tensor((n,), "float32"),), R.Tensor((n,), "float32")) = Module.adder(x)
        return add(x)
    @R.function(private=True)
    def adder(x: R.Tensor(("n",), "float32")) -> R.Callable((R.Tensor(("n",), "float32"),), R.Tensor(("n",), "float32")):
        n = T.int64()
        @R.function
        def add(y: R.Tensor((n,), "float32")) -> R.Tensor((n,), "float32"):
            return R.add(x, y)
        return add
""")
    made = InlinePrivateFunctions()(module)
    assert rlx.check(made).ok and "adder" not in rlx.show(made)
