"""D14: what calls yield, and what may be passed."""

from __future__ import annotations

import pytest

from rlx.checker.derive.calls import same_kind
from rlx.grammar.nodes.ast import (
    FuncStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from rlx.grammar.nodes.dtype import FLOAT32, INT64, VOID
from rlx.grammar.nodes.struct_infos import OBJECT
from rlx.solver.order import compatibility
from rlx.solver.prover import Prover

from .programs import Derived, main, module

DOUBLE = """
@R.function(private=True)
def double(x: R.Tensor(("n",), "float32")) -> R.Tensor(("2 * n",), "float32"):
    return R.concat((x, x), axis=0)
"""

PAIR = """
@R.function(private=True)
def pair(
    a: R.Tensor(("n", "m"), "float32"), b: R.Tensor(("n * m",), "float32"), s: R.Shape(["n"])
) -> R.Tensor(("m", "n"), "float32"):
    return R.permute_dims(a)
"""


def calling(callee: str, signature: str, call: str) -> Derived:
    return module(callee, f"@R.function\ndef main{signature}:\n    y = {call}\n    return y")


def test_a_call_binds_the_shape_variables_of_the_callee() -> None:
    derived = calling(
        DOUBLE, '(x: R.Tensor(("k + 1",), "float32"), k: R.Prim(value="k"))', "cls.double(x)"
    )
    assert derived.codes == []
    assert derived.shown("y") == "Tensor((2 * (k + 1),), float32)"


def test_positions_that_bind_are_read_before_the_others() -> None:
    flipped = PAIR.replace("a: ", 'z: R.Tensor(("n + m",), "float32"), a: ', 1)
    signature = '(z: R.Tensor((7,), "float32"), a: R.Tensor((3, 4), "float32"), b: R.Tensor((12,), "float32"))'
    derived = calling(flipped, signature, "cls.pair(z, a, b, R.shape([3]))")
    assert derived.codes == []
    assert derived.shown("y") == "Tensor((4, 3), float32)"


def test_an_argument_of_another_kind() -> None:
    derived = calling(DOUBLE, '(x: R.Tensor((4,), "float32"))', "cls.double((x, x))")
    assert derived.codes == ["error D14-argument"]
    assert derived.at(derived.only) == "(x, x)"
    assert "'double'" in derived.only.message


@pytest.mark.parametrize(
    ("x", "note"),
    [('R.Tensor((4,), "float16")', None), ('R.Tensor((4, 1), "float32")', None)],
)
def test_an_argument_that_certainly_does_not_fit(x: str, note: str | None) -> None:
    derived = calling(DOUBLE, f"(x: {x})", "cls.double(x)")
    assert derived.codes == ["error D14-argument"]
    assert derived.at_label() == "x"


def test_dimensions_against_bound_variables() -> None:
    signature = '(a: R.Tensor((3, 4), "float32"), b: R.Tensor((13,), "float32"))'
    derived = calling(PAIR, signature, "cls.pair(a, b, R.shape([3]))")
    assert derived.codes == ["error D14-argument"]
    assert derived.only.notes[0] == "dimension 0 is 13 where 12 is expected"


def test_dimensions_that_may_fit() -> None:
    signature = '(a: R.Tensor(("p", 4), "float32"), b: R.Tensor(("q",), "float32"))'
    derived = calling(PAIR, signature, "cls.pair(a, b, R.shape([p]))")
    assert derived.codes == ["warning D14-argument"]
    assert derived.only.counterexample is not None
    assert derived.only.help is not None and "R.match_cast(b, " in derived.only.help


def test_less_is_known_than_the_callee_asks() -> None:
    derived = calling(DOUBLE, '(x: R.Tensor(dtype="float32"))', "cls.double(x)")
    assert derived.codes == ["warning D14-argument"]
    assert "'x' of 'double' is only known to be" in derived.only.message


def test_a_rank_is_enough_where_every_dimension_is_bound() -> None:
    derived = calling(DOUBLE, '(x: R.Tensor(dtype="float32", ndim=1))', "cls.double(x)")
    assert derived.codes == []
    assert derived.shown("y") == "Tensor(float32, ndim=1)"


def test_a_rank_is_not_enough_where_the_element_type_is_another() -> None:
    derived = calling(DOUBLE, '(x: R.Tensor(dtype="int8", ndim=1))', "cls.double(x)")
    assert derived.codes == ["error D14-argument"]


@pytest.mark.parametrize("b", ["n", "2 * n"])
def test_a_rank_is_not_enough_where_dimensions_have_to_agree(b: str) -> None:
    callee = f"""
    @R.function(private=True)
    def f(a: R.Tensor(("n",)), b: R.Tensor(("{b}",))) -> R.Object:
        return a
    """
    derived = calling(callee, "(x: R.Tensor(ndim=1), y: R.Tensor(ndim=1))", "cls.f(x, y)")
    assert set(derived.codes) == {"warning D14-argument"}


def test_dimensions_that_no_argument_says() -> None:
    callee = """
    @R.function(private=True)
    def f(a: R.Tensor(("n", 1)), b: R.Tensor(("2 * n",))) -> R.Object:
        return a
    """
    derived = calling(callee, '(x: R.Tensor(ndim=2), y: R.Tensor(("m",)))', "cls.f(x, y)")
    assert derived.codes == ["warning D14-argument"] * 2
    assert derived.derivation.diagnostics[1].notes == (
        "no argument determines its shape variables",
    )


def test_dimensions_that_no_argument_says_and_that_never_fit() -> None:
    callee = """
    @R.function(private=True)
    def f(a: R.Tensor(("n", 1)), b: R.Tensor(("2 * n",))) -> R.Object:
        return a
    """
    derived = calling(callee, "(x: R.Tensor(ndim=2), y: R.Tensor((3,)))", "cls.f(x, y)")
    assert derived.codes == ["warning D14-argument", "error D14-argument"]
    (note,) = derived.derivation.diagnostics[1].notes
    assert note == "dimension 0 is 3 where 2 * n is expected"


def test_a_conflict_does_not_hide_another_mistake() -> None:
    callee = """
    @R.function(private=True)
    def f(a: R.Tensor(("n", "n")), b: R.Shape) -> R.Object:
        return a
    """
    derived = calling(callee, "(x: R.Tensor((1, 2)))", "cls.f(x, x)")
    assert derived.codes == ["error D14-binding", "error D14-argument"]
    assert derived.at(derived.derivation.diagnostics[0]) == "x"


def test_a_variable_bound_to_different_values() -> None:
    square = """
    @R.function(private=True)
    def trace(x: R.Tensor(("n", "n"), "float32"), y: R.Tensor(("n",), "float32")) -> R.Prim(value="n"):
        return R.prim_value(n)
    """
    signature = '(x: R.Tensor((16, 32), "float32"), y: R.Tensor((8,), "float32"))'
    derived = calling(square, signature, "cls.trace(x, y)")
    assert derived.codes == ["error D14-binding"]
    assert derived.only.message == "'n' of 'trace' cannot be both 16 and 32"


def test_a_variable_bound_to_values_that_may_differ() -> None:
    both = """
    @R.function(private=True)
    def both(x: R.Tensor(("n",), "float32"), y: R.Tensor(("n",), "float32")) -> R.Object:
        return x
    """
    signature = '(x: R.Tensor(("a",), "float32"), y: R.Tensor(("b",), "float32"))'
    derived = calling(both, signature, "cls.both(x, y)")
    assert derived.codes == ["warning D14-binding"]
    assert derived.only.counterexample is not None
    assert derived.at(derived.only) == "cls.both(x, y)"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("cls.double()", "'double' takes 1 argument, but 0 are given"),
        ("cls.double(x, x)", "'double' takes 1 argument, but 2 are given"),
    ],
)
def test_a_wrong_number_of_arguments(call: str, message: str) -> None:
    derived = calling(DOUBLE, '(x: R.Tensor((4,), "float32"))', call)
    assert derived.codes == ["error D14-arity"]
    assert derived.only.message == message
    assert derived.at_label() == "double"


def test_calling_something_that_is_no_function() -> None:
    derived = main('(x: R.Tensor((4,), "float32"))', "y = x(x)\nz = y(x)\nreturn z")
    assert derived.codes == ["error D14-callee"]


def test_calling_an_object() -> None:
    derived = main('(f: R.Object, x: R.Prim("int64"))', "y = f(x)\nreturn y")
    assert derived.codes == ["error D14-callee"]
    assert derived.only.help is not None and "R.match_cast(f, R.Callable(" in derived.only.help


@pytest.mark.parametrize(
    ("types", "shown"),
    [
        ("", "Object"),
        (', sinfo_args=(R.Tensor((4,), "float32"),)', "Tensor((4,), float32)"),
        (", sinfo_args=(R.Object, R.Shape([1]))", "Tuple(Object, Shape((1,)))"),
    ],
)
def test_a_packed_call_is_what_it_says(types: str, shown: str) -> None:
    derived = main("()", f'y = R.call_packed("f"{types})\nreturn y', "@R.function(pure=False)")
    assert derived.codes == []
    assert derived.shown("y") == shown


def test_an_opaque_function_with_a_result() -> None:
    signature = '(f: R.Callable(ret=R.Tensor((2,), "int8"), purity=True))'
    derived = main(signature, "y = f(f, f)\nreturn y")
    assert derived.codes == []
    assert derived.shown("y") == "Tensor((2,), int8)"


def test_an_operator_that_nobody_declared() -> None:
    derived = main(
        '(x: R.Tensor((4,), "float32"))',
        """
        y = R.no_such_operator(x)
        z: R.Tensor((9,), "int8") = R.no_such_operator(y)
        w = R.nn.relu(y)
        return z
        """,
    )
    assert derived.codes == ["error D14-operator"] * 2  # a report keeps one
    assert derived.shown("y") == "Object"
    assert derived.shown("z") == "Tensor((9,), int8)"


def test_a_function_value_is_called_like_a_function() -> None:
    derived = main(
        '(f: R.Callable((R.Tensor(("n",), "float32"),), R.Tensor(("n",), "float32"), True),'
        ' x: R.Tensor((3,), "float32"))',
        "y = f(x)\nreturn y",
    )
    assert derived.codes == []
    assert derived.shown("y") == "Tensor((3,), float32)"


def test_obligations_are_counted() -> None:
    good = main('(x: R.Tensor(("n", 4), "float32"))', "y = R.reshape(x, R.shape([4, n]))\nreturn y")
    assert (good.derivation.proved, good.derivation.refuted) == (1, 0)
    bad = main('(x: R.Tensor(("n", 4), "float32"))', "y = R.reshape(x, R.shape([5, n]))\nreturn y")
    assert bad.derivation.refuted == 1
    assert len(bad.codes) == 1


def test_a_wrong_call_binds_nothing() -> None:
    derived = module(
        """
        @R.function(private=True)
        def four(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            return x
        """,
        """
        @R.function(private=True)
        def pair(x: R.Tensor(("n",)), y: R.Tensor(("n",))) -> R.Tensor(("n",)):
            return x
        """,
        """
        @R.function
        def main(x: R.Tensor((5,), "float32")):
            y = cls.four(x)
            z = cls.pair(y, x)
            return z
        """,
    )
    assert derived.codes == ["error D14-argument"]


KINDS = (
    *(
        TensorStructInfo(None, kind, rank)
        for kind in (VOID, FLOAT32, INT64)
        for rank in range(-1, 3)
    ),
    *(PrimStructInfo(kind) for kind in (FLOAT32, INT64)),
    *(OBJECT, ShapeStructInfo(None, -1), TupleStructInfo(()), FuncStructInfo(None, OBJECT, False)),
)


@pytest.mark.parametrize("given", KINDS, ids=str)
def test_kinds_contradict_each_other_where_no_value_has_both(given: StructInfo) -> None:
    """Arguments count as exchanged by kind, rank and element type: the order says the same."""
    fits = [same_kind(given, wanted) for wanted in KINDS]
    kinds = [compatibility(given, wanted, Prover()).kind for wanted in KINDS]
    assert fits == [kind != "incompatible" for kind in kinds]
