"""D02 to D08, D12 and D13."""

from __future__ import annotations

import pytest

from .programs import main, module

X = '(x: R.Tensor((4, 8), "float32"))'


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("x", "Tensor((4, 8), float32)"),
        ('R.const(1.5, "float32")', "Tensor((), float32)"),
        ('R.const([1, 2, 3], "int64")', "Tensor((3,), int64)"),
        ('R.const([[1], [2]], "int8")', "Tensor((2, 1), int8)"),
        ("R.prim_value(3)", "Prim(int64, 3)"),
        ('R.str("a")', "Object"),
        ('R.dtype("int8")', "Object"),
        ("(x, R.shape([4]))", "Tuple(Tensor((4, 8), float32), Shape((4,)))"),
        ("R.tuple()", "Tuple()"),
        ("R.shape([4, 2])", "Shape((4, 2))"),
        ("(R.shape([1]), x)[1]", "Tensor((4, 8), float32)"),
    ],
)
def test_an_expression_is_what_its_parts_say(value: str, shown: str) -> None:
    derived = main(X, f"y = {value}\nreturn y")
    assert derived.shown("y") == shown
    assert derived.codes == []


def test_a_scalar_of_shape_variables_keeps_its_value() -> None:
    derived = main('(x: R.Tensor(("n",), "float32"))', "p = R.prim_value(n * 2)\nreturn p")
    assert derived.shown("p") == "Prim(int64, n * 2)"


def test_a_packed_function_is_opaque_and_impure() -> None:
    derived = main(X, 'f = R.ExternFunc("f")\nreturn f')
    assert derived.shown("f") == "Callable(... -> Object, impure)"


def test_a_packed_function_with_a_type_has_it() -> None:
    typed = 'R.ExternFunc("f", R.Callable((R.Object,), R.Tensor((2,), "int8"), True))'
    derived = main(X, f"f = {typed}\ny = f(x)\nreturn y")
    assert derived.shown("y") == "Tensor((2,), int8)"
    assert derived.codes == []


def test_a_variable_that_nothing_binds_is_left_to_well_formedness() -> None:
    derived = main(X, "y = R.add(x, z)\nw = z[3]\nv = z(x)\nreturn y")
    assert derived.codes == []


def test_a_field_of_something_else() -> None:
    derived = main(X, "y = x[0]\nreturn y")
    assert derived.codes == ["error D12-tuple"]
    assert "Tensor((4, 8), float32)" in derived.only.message
    assert derived.at(derived.only) == "x[0]"
    assert derived.only.related[0].message == "x: Tensor((4, 8), float32)"


def test_a_field_of_an_object_needs_a_cast() -> None:
    derived = main("(x: R.Object)", "y = x[1]\nreturn y")
    assert derived.codes == ["error D12-tuple"]
    assert derived.only.help == "cast it to a tuple first: R.match_cast(x, R.Tuple(R.Any, R.Any))"


@pytest.mark.parametrize(
    ("index", "message"),
    [
        (2, "the tuple has no field 2: its fields are 0 to 1"),
        (-1, "the tuple has no field -1: its fields are 0 to 1"),
    ],
)
def test_a_field_that_is_not_there(index: int, message: str) -> None:
    derived = main("(x: R.Tuple(R.Any, R.Any))", f"y = x[{index}]\nz = y[0]\nreturn z")
    assert derived.codes == ["error D12-index"]
    assert derived.only.message == message


def test_a_field_of_the_empty_tuple() -> None:
    derived = main("(x: R.Tuple())", "y = x[0]\nreturn y")
    assert derived.only.message == "the tuple has no field 0: it is empty"


def test_constants_without_data_are_believed_to_be_what_the_annotation_says() -> None:
    derived = main(
        X,
        """
        c: R.Tensor((4, 8), "float32") = metadata["relax.expr.Constant"][0]
        y: R.Tensor((4, 8), "float32") = R.add(x, c)
        z: R.Tensor((4, 8), "float32") = R.add(x, metadata["relax.expr.Constant"][1])
        return z
        """,
    )
    assert derived.codes == []
    assert derived.shown("z") == "Tensor((4, 8), float32)"


def test_global_variables_have_the_signature_of_their_function() -> None:
    derived = module(
        """
        @R.function
        def main(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
            return x
        """
    )
    assert derived.shown("main") == "Callable((Tensor((n,), float32)) -> Tensor((n,), float32))"


@pytest.mark.parametrize(
    ("value", "data_type", "codes"),
    [
        ("127", "int8", []),
        ("-128", "int8", []),
        ("128", "int8", ["error D03-fits"]),
        ("-129", "int8", ["error D03-fits"]),
        ("-1", "uint64", ["error D03-fits"]),
        ("18446744073709551615", "uint64", []),
        ("[[1, 2], [3, 256]]", "uint8", ["error D03-fits"]),
        ("1.5", "int32", []),
        ("-0.5", "uint8", []),
        ("1e300", "int64", ["error D03-fits"]),
        ('"nan"', "int32", ["error D03-fits"]),
        ('"inf"', "float16", []),
        ("1e300", "float32", ["warning D03-fits"]),
        ("3.4028235e38", "float32", []),
        ("[1.0, -70000.0]", "float16", ["warning D03-fits"]),
        ("2", "bool", []),
        ("True", "int32", []),
        ("8", "int4", ["warning D03-fits"]),
        ("1", "", ["error D03-element-type"]),
        ("1", "handle", ["error D03-element-type"]),
        ("1", "float32x4", ["error D03-element-type"]),
    ],
)
def test_a_constant_fits_its_element_type(value: str, data_type: str, codes: list[str]) -> None:
    derived = main(X, f'y = R.const({value}, "{data_type}")\nreturn y')
    assert derived.codes == codes


def test_narrow_integers_that_are_cut_off_are_a_warning() -> None:
    derived = main(X, 'y = R.const([7, 100], "int4")\nreturn y')
    assert derived.codes == ["warning D03-fits"]
    assert derived.shown("y") == "Tensor((2,), int4)"


@pytest.mark.parametrize(
    ("value", "codes"),
    [
        ("T.float16(65504.0)", []),
        ("T.float16(70000.0)", ["error D04-fits"]),
        ("T.float32(1e40)", ["error D04-fits"]),
        ("T.float64(1e40)", []),
    ],
)
def test_a_literal_in_a_scalar_fits_its_type(value: str, codes: list[str]) -> None:
    assert main(X, f"y = R.prim_value({value})\nreturn y").codes == codes
