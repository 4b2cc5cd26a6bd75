"""Passes of a user that are compared with what they were given."""

from __future__ import annotations

import warnings

import pytest

import rlx
from rlx.grammar.nodes import ast
from rlx.transform import MeaningError, NotValidatedWarning, dead_code, validated

TEXT = """
@R.function
def main(x: R.Tensor(("n", "m"), "float32")):
    unused = R.exp(x)
    return R.add(R.nn.relu(x), x)
"""


class Swap(rlx.ExprMutator):
    """Another operator in place of relu, which differs for negative numbers."""

    def visit_call(self, call: ast.Call) -> ast.Expr:
        if call.op_name == "relax.nn.relu":
            other: ast.Expr = rlx.op.abs(call.args[0])
            return other
        made: ast.Expr = super().visit_call(call)
        return made


def logarithm(module: ast.IRModule) -> ast.IRModule:
    """Right, but no rule of the proof knows it."""
    return rlx.load(TEXT.replace("R.nn.relu(x)", "R.log(R.exp(R.nn.relu(x)))"))


def number(module: ast.IRModule) -> int:
    """Not a module."""
    return len(module.functions)


def test_a_right_pass() -> None:
    """Its result is returned, and no warning is given."""
    module = rlx.load(TEXT)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = validated(dead_code)(module)
    assert "exp" not in rlx.show(made) and validated(dead_code).__name__ == "dead_code"


@pytest.mark.parametrize(
    "wrong", [validated(Swap)(), validated(Swap()), validated(unknown="allow")(Swap())]
)
def test_a_wrong_pass(wrong: rlx.ExprMutator) -> None:
    """The error has the counterexample; a class, or a pass that is made already."""
    with pytest.raises(MeaningError, match="Swap changes the meaning") as error:
        wrong(rlx.load(TEXT))
    assert error.value.answer.counterexample.entry == "main"


def test_wrong_options_and_no_module() -> None:
    """Options are looked at before a pass runs, and what it returns before it is compared."""
    with pytest.raises(ValueError, match="floats: expected 'bitwise' or 'real'"):
        validated(floats="exact")
    with pytest.raises(TypeError, match="nothing returned None"):

        @validated
        def nothing(module: ast.IRModule) -> None:
            """Forgets its result."""

        nothing(rlx.load(TEXT))


def test_a_pass_that_is_not_understood() -> None:
    """It warns, raises, or says nothing, as it is asked to."""
    module = rlx.load(TEXT)
    with pytest.warns(NotValidatedWarning, match="logarithm is not validated"):
        validated(logarithm)(module)
    with pytest.raises(MeaningError, match="not validated"):
        validated(unknown="raise")(logarithm)(module)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        validated(unknown="allow", floats="real")(logarithm)(module)


def test_what_is_no_pass() -> None:
    """A clear error for each mistake."""
    with pytest.raises(ValueError, match="'warn' or 'raise' or 'allow'"):
        validated(unknown="ask")
    with pytest.raises(TypeError, match="expected a pass, found int"):
        validated(3)
    with pytest.raises(TypeError, match="Nothing has no __call__"):
        validated(type("Nothing", (), {}))
    with pytest.raises(TypeError, match="number: expected"):
        validated(number)(rlx.load(TEXT))
