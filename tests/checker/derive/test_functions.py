"""D01 and D15: functions, their order, their results, recursion, closures."""

from __future__ import annotations

import pytest

from rlx.checker.dynamic_checks import analyse

from .programs import Derived, main, module

X = '(x: R.Tensor(("n", 4), "float32"), t: R.Tensor(dtype="float32"))'


def test_a_result_is_annotated_and_kept() -> None:
    derived = main(X + ' -> R.Tensor((2 + 2, "n"), "float32")', "y = R.permute_dims(x)\nreturn y")
    assert derived.codes == []


def test_the_annotation_of_a_result_counts_even_if_more_is_known() -> None:
    derived = main(X + " -> R.Tensor(ndim=2)", "return x")
    assert derived.codes == []
    assert derived.shown("main").endswith("-> Tensor(ndim=2))")


@pytest.mark.parametrize(
    "result",
    ['R.Tensor(("n", 5), "float32")', 'R.Tensor(("n", 4), "int8")', "R.Shape", "R.Tuple()"],
)
def test_a_result_that_is_certainly_another(result: str) -> None:
    derived = main(f"{X} -> {result}", "return x")
    assert derived.codes == ["error D15-result"]
    assert derived.at(derived.only) == "x"
    assert derived.at_label() == result


def test_a_result_of_which_less_is_known() -> None:
    derived = main(X + ' -> R.Tensor((4,), "float32")', "return t")
    assert derived.codes == ["warning D15-result"]
    assert derived.only.help is not None and "R.match_cast(" in derived.only.help


def test_a_result_that_may_be_another() -> None:
    derived = main(X + ' -> R.Tensor((4, 4), "float32")', "return x")
    assert derived.codes == ["warning D15-result"]
    assert derived.only.counterexample is not None
    assert "it holds if n == 4" in derived.only.notes


def test_a_function_without_annotation_is_what_its_body_is() -> None:
    derived = main(X, "y = R.permute_dims(x)\nreturn y")
    assert derived.shown("main").endswith("-> Tensor((4, n), float32))")


CHAIN = [
    '@R.function\ndef a(x: R.Tensor(("n",), "float32")):\n    y = cls.b(x)\n    return y',
    '@R.function\ndef b(x: R.Tensor(("n",), "float32")):\n    y = cls.c(x)\n    return y',
    '@R.function\ndef c(x: R.Tensor(("n",), "float32")):\n    y = R.concat((x, x), axis=0)\n    return y',
]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2), (1, 2, 0)])
def test_results_are_found_from_the_bottom_up(order: tuple[int, ...]) -> None:
    derived = module(*(CHAIN[i] for i in order))
    assert derived.codes == []
    for name in "abc":
        assert (
            derived.shown(name) == "Callable((Tensor((n,), float32)) -> Tensor((n + n,), float32))"
        )


def test_a_circle_with_annotations() -> None:
    derived = module(
        """
        @R.function
        def even(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
            y: R.Tensor((n,), "float32") = cls.odd(x)
            return y
        """,
        """
        @R.function
        def odd(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
            y: R.Tensor((n,), "float32") = cls.even(x)
            return y
        """,
    )
    assert derived.codes == []


def test_a_circle_without_annotations_is_left_to_well_formedness() -> None:
    derived = module(
        "@R.function\ndef f(x: R.Object):\n    y = cls.g(x)\n    z = y[0]\n    return z",
        "@R.function\ndef g(x: R.Object):\n    y = cls.f(x)\n    return y",
        '@R.function\ndef h(x: R.Object) -> R.Tensor((3,), "int8"):\n    y = cls.f(x)\n    return y',
    )
    assert derived.codes == []


def test_a_chain_of_ten_thousand_functions_is_no_problem() -> None:
    from rlx.checker.derive import derive
    from rlx.grammar.nodes import ast, tir

    names = [ast.GlobalVar(f"f{i}") for i in range(10_000)]
    functions: dict[ast.GlobalVar, ast.Function | tir.PrimFunc] = {}
    for i, name in enumerate(names):
        x, y = ast.Var("x", ast.ShapeStructInfo(None, 2)), ast.Var("y")
        value = ast.Call(names[i + 1], (x,)) if i + 1 < len(names) else ast.Tuple((x, x))
        block = ast.BindingBlock((ast.VarBinding(y, value),))
        functions[name] = ast.Function((x,), ast.SeqExpr((block,), y))
    info = derive(ast.IRModule(functions)).info[names[0]]
    assert isinstance(info, ast.FuncStructInfo)
    assert isinstance(info.ret, ast.TupleStructInfo)


def test_a_closure_captures_shape_variables() -> None:
    derived = main(
        X,
        """
        @R.function
        def f(y: R.Tensor(("n", "m"), "float32")) -> R.Tensor(("m", "n"), "float32"):
            return R.permute_dims(y)

        a = f(x)
        b = f(a)
        return a
        """,
    )
    assert derived.shown("a") == "Tensor((4, n), float32)"
    assert derived.codes == ["warning D14-argument"]
    assert derived.only.notes[0] == "dimension 0 is 4 where n is expected"


def test_a_closure_that_outlives_a_variable_is_any_object() -> None:
    derived = main(
        "(t: R.Object)",
        """
        k = T.int64()
        x = R.match_cast(t, R.Tensor((k,), "float32"))

        @R.function
        def f(y: R.Tensor((k,), "float32")) -> R.Tensor((k,), "float32"):
            return R.add(x, y)

        return f
        """,
    )
    assert derived.codes == []
    assert derived.shown("main") == "Callable((Object) -> Object)"


LOWERED = """
R.func_attr({{"relax.force_pure": True}})
a: R.Tensor(dtype="float32", ndim=2) = R.vm.alloc_tensor(m, R.prim_value(0), s, R.dtype("float32"))
{calls}
return a
"""
KERNEL = """
@T.prim_func(private=True)
def kernel(x: T.Buffer((4, 4), "float32")):
    T.evaluate(0)
"""


@pytest.mark.parametrize(("calls", "count"), [(0, "1 value of"), (2, "3 values of")])
def test_a_lowered_function_checks_its_shapes_itself(calls: int, count: str) -> None:
    body = LOWERED.format(calls="\n".join(["cls.kernel(a)"] * calls)).replace("\n", "\n    ")
    result = 'R.Tensor((4, 4), "float32")'
    derived = module(
        KERNEL, f"@R.function\ndef main(m: R.Any, s: R.Shape(ndim=2)) -> {result}:{body}"
    )
    assert derived.codes == ["note D15-unchecked"]
    assert derived.only.message.startswith(count)


def test_a_lowered_function_may_still_be_wrong() -> None:
    body = LOWERED.format(calls="").replace("\n", "\n    ")
    derived = module(
        f"@R.function\ndef main(m: R.Any, s: R.Shape(ndim=2)) -> R.Tensor(ndim=3):{body}"
    )
    assert derived.codes == ["error D15-result"]


def test_a_lowered_function_is_warned_of_what_may_differ() -> None:
    derived = module(
        KERNEL,
        """
        @R.function
        def main(x: R.Tensor(("n", 4), "float32")) -> R.Tensor((4, 4), "float32"):
            R.func_attr({"relax.force_pure": True})
            cls.kernel(x)
            return x
        """,
    )
    assert derived.codes == ["warning D14-argument", "warning D15-result"]


def chain(first: str, count: int) -> Derived:
    """Functions of which each calls the one before on its own result."""
    head = '(x: R.Tensor(("n",), "float32")):'
    calls = [
        f"@R.function\ndef f{k}{head}\n    y = cls.f{k - 1}(x)\n    z = cls.f{k - 1}(y)\n    return z"
        for k in range(1, count)
    ]
    return module(f"@R.function\ndef f0{head}\n    z = {first}\n    return z", *calls)


def test_the_result_of_a_call_is_in_normal_form() -> None:
    derived = chain("R.strided_slice(x, axes=[0], begin=[1], end=[n])", 6)
    assert derived.codes == []
    assert derived.shown("f5").endswith("-> Tensor((T.max(n - 32, 0),), float32))")


def test_a_result_that_doubles_with_each_function_is_given_up() -> None:
    """The length of a result may have no short form: 30 functions would need 2**30 of its terms."""
    derived = chain("R.strided_slice(x, axes=[0], begin=[n // 3], end=[n - 1])", 30)
    assert derived.codes == []
    assert "Tensor((" in derived.shown("f2").partition("->")[2]
    assert derived.shown("f29").endswith("-> Tensor(float32, ndim=1))")


def test_limits_that_attributes_promise_decide_what_is_reported() -> None:
    body = "p = R.strided_slice(x, (R.prim_value(0),), (R.prim_value(0),), (n,))\n"
    sliced = '(s: R.Shape(("n",)), x: R.Tensor((32, 8), "float32"))'
    reshaped = f"{body}y = R.reshape(p, (n * 8,))\nreturn y"
    attributes = 'R.func_attr({"tir_var_upper_bound": {"n": %d, "stranger": 1}})\n'
    (far,) = main(sliced, reshaped).derivation.diagnostics
    assert (far.code, far.counterexample) == ("OBL-reshape-count", {"n": 33})
    assert main(sliced, attributes % 32 + reshaped).codes == []
    (beyond,) = main(sliced, attributes % 33 + reshaped).derivation.diagnostics
    assert beyond.counterexample == {"n": 33}


def test_limits_do_not_remove_checks_of_a_run() -> None:
    """Nothing checks at run time that sizes keep them."""
    derived = main(
        '(x: R.Tensor(("n",), "float32"))',
        'R.func_attr({"tir_var_upper_bound": {"n": 32}})\n'
        'y = R.match_cast(x, R.Tensor((T.min(n, 32),), "float32"))\nreturn y',
    )
    assert derived.codes == []
    found = [check.status for check in analyse(derived.module) if check.kind == "cast"]
    assert found == ["needed"]


@pytest.mark.parametrize(
    ("sizes", "told"),
    [
        ("20", []),
        ("40", ["warning D14-promise"]),
        ("T.min(m, 32)", ["warning D14-promise"]),
        ("T.max(T.min(m, 32), 2)", []),
        ("m", ["warning D14-promise"] * 2),
    ],
)
def test_limits_of_a_callee(sizes: str, told: list[str]) -> None:
    derived = module(
        f'@R.function\ndef f(m: R.Prim("int64"), x: R.Tensor(({sizes},))):\n    y = cls.g(x)\n    return y',
        '@R.function\ndef g(x: R.Tensor(("n",))) -> R.Tensor(("n",)):\n    R.func_attr({"tir_var_upper_bound": {"n": 32}, '
        '"tir_var_lower_bound": {"n": 2}})\n    y = cls.g(x)\n    return y',
    )
    assert derived.codes == told


def test_limits_that_no_size_keeps_promise_nothing() -> None:
    derived = main(
        '(x: R.Tensor(("n",)))',
        'R.func_attr({"tir_var_upper_bound": {"n": 2}, "tir_var_lower_bound": {"n": 3}})\n'
        "y = R.reshape(x, (7,))\nreturn y",
    )
    assert derived.codes == ["warning OBL-reshape-count"]
