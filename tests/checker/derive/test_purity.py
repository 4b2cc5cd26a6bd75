"""D14-impure: where effects are allowed."""

from __future__ import annotations

import pytest

from .programs import Derived, main, module

X = '(x: R.Tensor((4,), "float32"), f: R.Callable((R.Object,), R.Object, False))'
IMPURE = ['R.call_packed("f", x)', 'R.print(x, format="{}")', "f(x)"]
PURE = ['R.call_pure_packed("f", x, sinfo_args=(R.Object,))', "R.exp(x)"]


@pytest.mark.parametrize("call", IMPURE)
def test_a_pure_function_has_no_effects(call: str) -> None:
    derived = main(X, f"y = {call}\nreturn x")
    assert derived.codes == ["error D14-impure"]
    assert derived.at(derived.only) == call


@pytest.mark.parametrize("call", IMPURE)
def test_a_dataflow_block_has_no_effects(call: str) -> None:
    body = f"with R.dataflow():\n    y = {call}\n    R.output(y)\nreturn y"
    derived = main(X, body, "@R.function(pure=False)")
    assert derived.codes == ["error D14-impure"]
    assert "in a dataflow block" in derived.only.message


@pytest.mark.parametrize("call", IMPURE + PURE)
def test_an_impure_function_may_have_effects(call: str) -> None:
    assert main(X, f"y = {call}\nreturn x", "@R.function(pure=False)").codes == []


@pytest.mark.parametrize("call", IMPURE + PURE)
def test_a_function_may_be_told_not_to_look(call: str) -> None:
    body = f'R.func_attr({{"relax.force_pure": True}})\ny = {call}\nreturn x'
    assert main(X, body).codes == []


def test_not_looking_does_not_extend_to_dataflow_blocks() -> None:
    body = f"with R.dataflow():\n    y = {IMPURE[0]}\n    R.output(y)\nreturn y"
    derived = main(X, 'R.func_attr({"relax.force_pure": True})\n' + body)
    assert derived.codes == ["error D14-impure"]


@pytest.mark.parametrize("call", PURE)
def test_calls_without_effects_may_stand_anywhere(call: str) -> None:
    assert main(X, f"with R.dataflow():\n    y = {call}\n    R.output(y)\nreturn y").codes == []


def nested(outer: str, inner: str) -> Derived:
    return main(
        X,
        f"""
        {inner}
        def g(y: R.Object) -> R.Object:
            z = R.call_packed("f", y)
            return z

        return g
        """,
        outer,
    )


def test_a_local_function_has_its_own_promise() -> None:
    assert nested("@R.function", "@R.function(pure=False)").codes == []
    assert nested("@R.function(pure=False)", "@R.function").codes == ["error D14-impure"]


def test_calling_an_impure_global_function() -> None:
    derived = module(
        """
        @R.function(pure=False, private=True)
        def shout(x: R.Object) -> R.Object:
            y = R.call_packed("shout", x)
            return y
        """,
        """
        @R.function
        def main(x: R.Object) -> R.Object:
            y = cls.shout(x)
            return y
        """,
    )
    assert derived.codes == ["error D14-impure"]
    assert derived.only.message == (
        "a call of 'shout' may have effects, which are not allowed in a pure function"
    )


def test_a_dataflow_block_says_nothing_about_functions_defined_in_it() -> None:
    derived = main(
        X,
        """
        with R.dataflow():
            @R.function(pure=False)
            def g(y: R.Object) -> R.Object:
                z = R.call_packed("f", y)
                return z
            R.output(g)
        return g
        """,
    )
    assert derived.codes == []


def test_what_a_block_forbids_ends_with_it() -> None:
    derived = main(
        X,
        """
        with R.dataflow():
            y = R.exp(x)
            R.output(y)
        return R.call_packed("f", y)
        """,
        "@R.function(pure=False)",
    )
    assert derived.codes == []


def test_what_a_local_function_may_do_ends_with_it() -> None:
    derived = main(
        X,
        """
        @R.function(pure=False)
        def g(y: R.Object) -> R.Object:
            return y

        z = R.call_packed("f", x)
        return z
        """,
    )
    assert derived.codes == ["error D14-impure"]
