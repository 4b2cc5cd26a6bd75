"""Witnesses: programs that show why the letter of the specification cannot stand, entry by entry."""

from __future__ import annotations

from rlx.grammar.nodes import ast
from rlx.solver.order import free_shape_vars, free_vars

from .programs import main, module

NARROW = """
@R.function(private=True)
def narrow(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
    return x
"""
WIDE = NARROW.replace('R.Tensor((4,), "float32")', "R.Tensor").replace("narrow", "wide")


def test_ledger_15_an_argument_is_below_its_parameter() -> None:
    # By the letter (parameter below argument) the first call would be refused and the second be clean.
    signature = '(x: R.Tensor((4,), "float32"), t: R.Tensor)'
    first = module(WIDE, f"@R.function\ndef main{signature}:\n    y = cls.wide(x)\n    return y")
    assert first.codes == []
    second = module(
        NARROW, f"@R.function\ndef main{signature}:\n    y = cls.narrow(t)\n    return y"
    )
    assert second.codes == ["warning D14-argument"]


def test_ledger_16_an_unknown_element_type_is_possible() -> None:
    # Subtyping by the letter knows "possibly" only for shapes: this call would be an error.
    derived = module(
        NARROW, "@R.function\ndef main(x: R.Tensor((4,))):\n    y = cls.narrow(x)\n    return y"
    )
    assert derived.codes == ["warning D14-argument"]


def test_ledger_17_purity_comes_before_the_derivation() -> None:
    # By the letter an opaque function goes on to need parameters, and the purity of its type is never read.
    body = "y = f(1)\nreturn y"
    pure = '(f: R.Callable(ret=R.Tensor((2,), "int8"), purity=True))'
    assert main(pure, body).shown("y") == "Tensor((2,), int8)"
    impure = main(pure.replace("True", "False"), body)
    assert impure.codes == ["error D14-impure"]
    assert impure.shown("y") == "Tensor((2,), int8)"


def test_ledger_18_the_value_is_passed_to_the_annotation() -> None:
    # compatibility(annotation, value) would call the first possible and the second clean.
    signature = '(x: R.Tensor((4,), "float32"), t: R.Tensor)'
    assert main(signature, "y: R.Tensor = x\nreturn y").codes == []
    narrowed = main(signature, 'y: R.Tensor((4,), "float32") = t\nreturn y')
    assert narrowed.codes == ["warning D11-annotation"]


def test_ledger_19_a_function_literal_stays_known() -> None:
    # By the letter every literal needs an annotated variable, which then leaves the context for good.
    derived = main(
        "(x: R.Shape)",
        """
        @R.function
        def f(y: R.Shape):
            return (y, y)

        a = f(x)
        b = f(x)
        return b
        """,
    )
    assert derived.codes == []
    assert derived.shown("a") == derived.shown("b") == "Tuple(Shape, Shape)"


def test_ledger_20_a_cast_between_overlapping_types_may_succeed() -> None:
    # Neither is below the other, but a float32 vector of 4 elements belongs to both.
    derived = main(
        "(x: R.Tensor((4,)))", 'y = R.match_cast(x, R.Tensor(dtype="float32", ndim=1))\nreturn y'
    )
    assert derived.codes == []


def test_ledger_28_a_scalar_keeps_its_value() -> None:
    # Without the value the callee's n would stay unknown, and so would the length of the result.
    derived = module(
        """
        @R.function(private=True)
        def fill(n: R.Prim(value="n")) -> R.Tensor(("n",), "float32"):
            return R.zeros(R.shape([n]), dtype="float32")
        """,
        "@R.function\ndef main():\n    y = cls.fill(R.prim_value(5))\n    return y",
    )
    assert derived.codes == []
    assert derived.shown("y") == "Tensor((5,), float32)"


def test_ledger_29_a_condition_has_a_type() -> None:
    # By the letter nothing is wrong with a branch on a tensor of floats.
    body = "if x:\n    y = x\nelse:\n    y = x\nreturn y"
    assert main('(x: R.Tensor((2,), "float32"))', body).codes == ["error D09-condition"]


def test_ledger_30_callers_know_a_result_without_annotation() -> None:
    # By the letter the callee is Object to its callers, whatever its body is.
    derived = module(
        "@R.function\ndef main(x: R.Shape([2])):\n    y = cls.same(x)\n    return y",
        "@R.function(private=True)\ndef same(x: R.Shape([2])):\n    return x",
    )
    assert derived.codes == []
    assert derived.shown("y") == "Shape((2,))"


def test_ledger_31_parameters_do_not_leak() -> None:
    # By the letter the result is Tensor(s, …), with a parameter that no caller can name.
    derived = main('(s: R.Shape(ndim=2), x: R.Tensor(s, "float32"))', "return x")
    info = derived.info("main")
    assert isinstance(info, ast.FuncStructInfo)
    assert isinstance(info.ret, ast.TensorStructInfo)
    assert not free_vars(info)
    assert set(free_shape_vars(info.ret)) == set(info.binders)
    assert info.ret.ndim == 2


def test_ledger_32_the_annotation_of_the_result_wins() -> None:
    # The peer gives callers the body's type, so a change of the body changes what callers may rely on.
    derived = module(
        "@R.function\ndef main(x: R.Shape([2])):\n    y = cls.same(x)\n    return y",
        "@R.function(private=True)\ndef same(x: R.Shape([2])) -> R.Shape(ndim=1):\n    return x",
    )
    assert derived.shown("y") == "Shape(ndim=1)"


def test_ledger_33_a_prim_func_yields_its_return_type() -> None:
    # "PrimType(d)" is no struct info, and the empty tuple ignores ret_type.
    derived = module(
        "@T.prim_func(private=True)\ndef f(n: T.int64) -> T.int32:\n    T.evaluate(0)",
    )
    assert derived.shown("f") == "Callable((Prim(int64)) -> Prim(int32), impure)"


def test_ledger_35_a_cast_binds_in_two_phases() -> None:
    # Left to right, a * b would stand before the dimensions that bind a and b.
    derived = main(
        "(s: R.Shape(ndim=3))",
        "a = T.int64()\nb = T.int64()\nt = R.match_cast(s, R.Shape([a * b, a, b]))\nreturn t",
    )
    assert derived.codes == []
    assert derived.shown("t") == "Shape((a * b, a, b))"


def test_ledger_45_a_pure_function_may_not_return() -> None:
    # Purity forbids visible effects, not recursion: that is forbidden inside dataflow blocks alone.
    derived = main(
        "(x: R.Shape) -> R.Shape",
        """
        @R.function
        def loop(y: R.Shape) -> R.Shape:
            z: R.Shape = loop(y)
            return z

        y: R.Shape = loop(x)
        return y
        """,
    )
    assert derived.codes == []
