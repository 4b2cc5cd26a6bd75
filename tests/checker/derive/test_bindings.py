"""D11: annotations, casts, parameters, function literals."""

from __future__ import annotations

import pytest

from rlx.checker.check import check_text
from rlx.grammar.print.printer import print_module

from .programs import main

X = '(x: R.Tensor(("n", 4), "float32"), o: R.Object, t: R.Tensor(dtype="float32"))'


@pytest.mark.parametrize(
    "annotation",
    [
        'R.Tensor((n, 4), "float32")',
        'R.Tensor((n + 0, 2 + 2), "float32")',
        "R.Tensor((n, 4))",
        "R.Tensor(ndim=2)",
        "R.Tensor",
        "R.Object",
    ],
)
def test_an_annotation_wins_over_what_is_derived(annotation: str) -> None:
    derived = main(X, f"y: {annotation} = x\nreturn y")
    assert derived.codes == []
    (binding,) = (v for v in derived.derivation.info if getattr(v, "name_hint", "") == "y")
    assert derived.derivation.info[binding] is binding.struct_info_annotation  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("annotation", "note"),
    [
        ('R.Tensor((n, 5), "float32")', "dimension 1 is 4 where 5 is expected"),
        ('R.Tensor((n + 1, 4), "float32")', "dimension 0 is n where n + 1 is expected"),
        ('R.Tensor((n, 4), "int8")', None),
        ('R.Tensor((n, 4, 1), "float32")', None),
        ("R.Shape([n, 4])", None),
        ("R.Tuple(R.Object)", None),
    ],
)
def test_an_annotation_that_is_certainly_wrong(annotation: str, note: str | None) -> None:
    derived = main(X, f"y: {annotation} = x\nreturn y")
    assert derived.codes == ["error D11-annotation"]
    assert derived.at(derived.only) == "x"
    assert derived.at_label() == annotation
    assert "Tensor((n, 4), float32)" in derived.only.message
    assert note is None or note in derived.only.notes


@pytest.mark.parametrize(
    ("value", "annotation"),
    [
        ("o", 'R.Tensor((n, 4), "float32")'),
        ("t", 'R.Tensor((n, 4), "float32")'),
        ("t", "R.Tensor(ndim=2)"),
        ('R.call_packed("f", x)', "R.Tensor"),
    ],
)
def test_an_annotation_that_says_more_than_is_known(value: str, annotation: str) -> None:
    body = f"y: {annotation} = {value}\nreturn y"
    derived = main(X, body, "@R.function(pure=False)")
    assert derived.codes == ["warning D11-annotation"]
    assert "is only known to be" in derived.only.message
    assert derived.only.help is not None and derived.only.help.startswith(
        "check it at run time: R.match_cast("
    )


def test_an_annotation_that_holds_for_some_values() -> None:
    derived = main(
        '(x: R.Tensor(("n",), "float32"), y: R.Tensor(("m",), "float32"))',
        'z: R.Tensor((n,), "float32") = y\nreturn z',
    )
    assert derived.codes == ["warning D11-annotation"]
    example = derived.only.counterexample
    assert example is not None and example["n"] != example["m"]
    assert any(note.startswith("it holds if ") for note in derived.only.notes)
    assert (
        derived.only.help
        == 'check it at run time: R.match_cast(y, R.Tensor((n,), dtype="float32"))'
    )


def test_only_a_zero_would_save_it() -> None:
    derived = main(
        '(x: R.Tensor(("n",), "float32"))',
        'z: R.Tensor((n * 2,), "float32") = x\nreturn z',
    )
    assert derived.codes == ["error D11-annotation"]
    note = "it fails if all shape variables are at least 1; if one of them is 0, it may hold"
    assert note in derived.only.notes


DIMS = ("0", "1", "2", "n", "m", "n + 1", "n * 2", "n + m", "n * m", "n // 2", "n - 1", "n % 2")


@pytest.mark.parametrize("annotated", DIMS)
def test_an_error_fails_for_every_size_that_it_claims(annotated: str) -> None:
    """Without the note for sizes from 0, with it for sizes from 1, where a 0 saves it."""
    for given in DIMS:
        derived = main(
            f'(s: R.Shape(["n", "m"]), x: R.Tensor(({given},), "float32"))',
            f'z: R.Tensor(({annotated},), "float32") = x\nreturn z',
        )
        if not any(code.startswith("error D11") for code in derived.codes):
            continue
        saved = any("if one of them is 0" in note for note in derived.only.notes)
        pair = f"({given}) == ({annotated})"
        sizes = [(n, m) for n in range(6) for m in range(6)]
        holds = [(n, m) for n, m in sizes if eval(pair, {"n": n, "m": m})]
        assert all(0 in size for size in holds), pair
        assert bool(holds) == saved, pair


def test_the_annotation_is_what_counts_from_then_on() -> None:
    derived = main(X, 'y: R.Tensor(ndim=2) = x\nz: R.Tensor((n, 4), "float32") = y\nreturn z')
    assert derived.codes == ["warning D11-annotation"]


def test_a_parameter_without_annotation_is_an_object() -> None:
    derived = main("(x)", "y = x\nreturn y")
    assert derived.shown("y") == "Object"
    assert derived.codes == []


def test_a_cast_binds_shape_variables_in_any_order() -> None:
    derived = main(
        "(o: R.Object)",
        """
        a = T.int64()
        b = T.int64()
        y = R.match_cast(o, R.Tensor((a * b, a, b), "float32"))
        z: R.Tensor((b * a,), "float32") = R.zeros(R.shape([a * b]), dtype="float32")
        return z
        """,
    )
    assert derived.codes == []
    assert derived.shown("y") == "Tensor((a * b, a, b), float32)"


@pytest.mark.parametrize(
    "target", ['R.Tensor((n, 5), "float32")', "R.Tensor(ndim=3)", "R.Shape(ndim=2)", "R.Tuple()"]
)
def test_a_cast_that_always_fails(target: str) -> None:
    derived = main(X, f"y = R.match_cast(x, {target})\nreturn y")
    assert derived.codes == ["warning D11-cast"]
    assert derived.at(derived.only) == target


@pytest.mark.parametrize("target", ['R.Tensor((3, 4), "float32")', "R.Tensor(ndim=2)", "R.Object"])
def test_a_cast_that_may_succeed(target: str) -> None:
    derived = main(X, f"y = R.match_cast(x, {target})\nreturn y")
    assert derived.codes == []


def test_after_a_cast_its_dimensions_are_known_to_be_equal() -> None:
    derived = main(
        '(x: R.Tensor(("n",), "float32"), y: R.Tensor(("m",), "float32"))',
        """
        _ = R.match_cast(y, R.Tensor((n,), "float32"))
        a: R.Tensor((n,), "float32") = y
        k = T.int64()
        b = R.match_cast(x, R.Tensor((k,), "float32"))
        c: R.Tensor((k,), "float32") = y
        return c
        """,
    )
    assert derived.codes == []


def test_what_a_cast_says_ends_with_its_branch() -> None:
    derived = main(
        '(x: R.Tensor(("n",), "float32"), y: R.Tensor(("m",), "float32"), c: R.Tensor((), "bool"))',
        """
        if c:
            a = R.match_cast(y, R.Tensor((n,), "float32"))
            b = a
        else:
            b = x
        d: R.Tensor((n,), "float32") = y
        return d
        """,
    )
    assert derived.codes == ["warning D11-annotation"]


@pytest.mark.parametrize(
    ("annotation", "codes"),
    [
        ("R.Tensor(ndim=2)", ["warning PARSE-cast-annotation"]),
        ('R.Tensor((n, 4), "float32")', []),
        ('R.Tensor((n, 5), "float32")', ["error D11-cast-annotation"]),
        ('R.Tensor((3, 4), "float32")', ["warning D11-cast-annotation"]),
    ],
)
def test_the_annotation_of_a_cast_variable(annotation: str, codes: list[str]) -> None:
    derived = main(X, f'y: {annotation} = R.match_cast(x, R.Tensor((n, 4), "float32"))\nreturn y')
    assert derived.codes == codes


def test_a_local_function_knows_itself() -> None:
    derived = main(
        '(x: R.Tensor((4,), "float32"), c: R.Tensor((), "bool"))',
        """
        @R.function
        def again(y: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            if c:
                z: R.Tensor((4,), "float32") = again(y)
            else:
                z: R.Tensor((4,), "float32") = y
            return z

        w = again(x)
        return w
        """,
    )
    assert derived.codes == []
    assert derived.shown("w") == "Tensor((4,), float32)"


def test_a_local_function_against_the_annotation_of_its_variable() -> None:
    literal = """
        @R.function
        def f(y: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            return y

        g: R.Callable((R.Tensor((4,), "float32"),), R.Tensor({}, "float32"), True) = f
        return g
    """
    assert main("()", literal.format("(4,)")).codes == []
    assert main("()", literal.format("(5,)")).codes == ["error D11-annotation"]


def test_one_mistake_is_one_error() -> None:
    derived = main(
        '(x: R.Tensor((4, 5), "float32"), w: R.Tensor((6, 7), "float32"))',
        """
        y = R.matmul(x, w)
        z = R.nn.relu(y)
        a: R.Tensor((4, 7), "float32") = R.add(z, z)
        b = (z, a)[0]
        c = R.match_cast(b, R.Tensor((1, 2), "int8"))
        return b
        """,
    )
    assert len(derived.codes) == 1


def test_an_annotation_with_a_variable_out_of_scope_is_left_to_well_formedness() -> None:
    derived = main(X, 'k = T.int64()\ny: R.Tensor((k, 4), "float32") = x\nreturn y')
    assert derived.codes == []


DOUBT = '(x: R.Tensor(("n", 4), "float32"), y: R.Tensor(("m", 4), "float32"))'


def test_one_doubt_is_one_warning() -> None:
    derived = main(
        DOUBT + ' -> R.Tensor(("n", 4), "float32")',
        """
        a = R.add(x, y)
        b = (R.nn.relu(a), a)
        c: R.Tensor((n, 4), "float32") = b[0]
        return a
        """,
    )
    assert len(derived.codes) == 1
    assert derived.codes[0].startswith("warning OBL-")


def test_a_doubt_does_not_hide_what_is_certainly_wrong() -> None:
    derived = main(DOUBT, 'a = R.add(x, y)\nc: R.Tensor((n, 4), "int8") = a\nreturn a')
    assert derived.codes[1:] == ["error D11-annotation"]


@pytest.mark.parametrize(
    "use",
    [
        "if c:\n    b = a\nelse:\n    b = a\nreturn b",
        "b = f(a)\nreturn b",
        "b = f(a, a, a)\nreturn b",
        "b = g(a, x)\nreturn b",
        "b = g(x, a)\nreturn b",
    ],
)
def test_nothing_more_is_said_of_what_is_wrong(use: str) -> None:
    derived = main(
        '(x: R.Tensor((4, 5), "float32"), c: R.Tensor((), "bool"),'
        ' f: R.Callable((R.Tensor(("k", 5)),), R.Tensor(("k", 5)), True),'
        ' g: R.Callable((R.Tensor(("k", 5)), R.Tensor(("k", 5))), R.Tensor(("k", 5)), True)'
        ") -> R.Tensor((7, 5))",
        "a = R.matmul(x, x)\n" + use,
    )
    arity = ["error D14-arity"] if "a, a, a" in use else []
    assert derived.codes == ["error OBL-matmul-reduction", *arity]


def test_a_local_function_without_annotation_that_calls_itself() -> None:
    derived = main(
        "(x: R.Shape)",
        """
        @R.function
        def f(y: R.Shape):
            z = f(y)
            a = z[0]
            return a

        return x
        """,
    )
    assert derived.codes == []


def test_the_annotation_of_a_cast_variable_counts() -> None:
    derived = main(
        X, 'y: R.Tensor(ndim=2) = R.match_cast(x, R.Tensor((n, 4), "float32"))\nreturn y'
    )
    assert derived.shown("y") == "Tensor(ndim=2)"


def test_a_dimension_that_was_met_is_not_negative() -> None:
    annotated = 'b: R.Tensor((T.max(n, 1),), "float32") = x\nreturn x'
    signature = '(x: R.Tensor(("n",), "float32"), y: R.Tensor(("{}",), "float32"))'
    assert main(signature.format("n + 1"), annotated).codes == ["warning D11-annotation"]
    assert main(signature.format("n - 1"), annotated).codes == []
    cast = 'a = R.match_cast(y, R.Tensor((n - 1,), "float32"))\n'
    assert main(signature.format("m"), annotated).codes == ["warning D11-annotation"]
    assert main(signature.format("m"), cast + annotated).codes == []


def test_a_size_that_a_scalar_decides_is_not_negative() -> None:
    signature = '(k: R.Prim(value="k"), y: R.Tensor(("{}",), "float32"))'
    annotated = '{}b: R.Tensor((T.max(k, -1) * 2 + 2,), "float32") = y\nreturn y'
    assert main(signature.format("k * 2 + 2"), annotated.format("")).codes == []
    made = 'y = R.zeros(R.shape([k * 2 + 2]), "float32")\n'
    assert main(signature.format("m"), annotated.format(made)).codes == []
    other = 'a = R.zeros(R.shape([k * 3 + 5]), "float32")\n'
    assert main(signature.format("m"), annotated.format(other)).codes == ["warning D11-annotation"]


def test_casts_of_casts() -> None:
    derived = main(
        X,
        """
        k = T.int64()
        j = T.int64()
        a = R.match_cast(x, R.Tensor((k, 4), "float32"))
        b = R.match_cast(a, R.Tensor((j, 4), "float32"))
        c: R.Tensor((n, 4), "float32") = b
        return c
        """,
    )
    assert derived.codes == []


def test_a_shape_may_be_known_by_a_variable() -> None:
    derived = main(
        '(x: R.Tensor(("n", 4), "float32"))',
        """
        s = R.shape([n, 4])
        a: R.Tensor(s, "float32") = x
        b: R.Tensor((n, 4), "float32") = a
        c: R.Tensor((n, 5), "float32") = a
        return b
        """,
    )
    assert derived.codes == ["error D11-annotation"]


def test_a_match_of_shapes_keeps_the_kind_of_its_value() -> None:
    """The text does not say whether a field is a tensor or a shape; the checked module does."""
    text = """
@R.function
def main(x: R.Tensor("float16", ndim=2)):
    n, m = T.int64(), T.int64()
    p = (R.shape_of(x), R.exp(x))
    a, b = p[0], p[1]
    s = R.match_shape(a, (n, m))
    y = R.match_shape(b, (n, m))
    return (s, y)
"""
    report = check_text(text)
    printed = print_module(report.modules[0])
    assert "R.match_cast(a, R.Shape([n, m]))" in printed
    assert 'R.match_cast(b, R.Tensor((n, m), dtype="float16"))' in printed
    assert not report.diagnostics and not check_text(printed).diagnostics
