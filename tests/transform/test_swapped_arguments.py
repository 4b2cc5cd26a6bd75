"""Misspelt names of parameters and swapped arguments: the message names what is meant."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import rlx
from rlx.transform import (
    BindSymbolicVars,
    EliminateCommonSubexpr,
    PassContext,
    PatternContext,
    is_op,
    rewrite,
    rewrite_bindings,
    rewrite_call,
    wildcard,
)

MODULE = rlx.parse("""
@R.function
def main(x: R.Tensor((4,), "float32")):
    return R.exp(x)
""")
X = rlx.Var("x", [4], "float32")
SUM = is_op("add")(wildcard(), wildcard())
CONTEXT = PatternContext()


def in_function(call: Callable[[rlx.BlockBuilder], object]) -> None:
    bb = rlx.BlockBuilder()
    with bb.function("main", [X]):
        call(bb)


MISTAKES: dict[str, Callable[[], object]] = {
    "emit has no parameter 'name'; did you mean 'name_hint'?": lambda: in_function(
        lambda bb: bb.emit(X, name="y")  # type: ignore[call-arg]
    ),
    "PassContext has no parameter 'optlevel'; did you mean 'opt_level'?": lambda: PassContext(
        optlevel=3  # type: ignore[call-arg]
    ),
    "write rewrite_call(pattern, rewriter, func)": lambda: rewrite_call(
        SUM,
        MODULE,
        lambda e, m: e,  # type: ignore[arg-type]
    ),
    "write rewrite(module, pattern, replacement)": lambda: rewrite(SUM, MODULE, lambda m: None),  # type: ignore
    "write rewrite_bindings(ctx, rewriter, func)": lambda: rewrite_bindings(
        CONTEXT,
        MODULE,
        lambda m, values: None,  # type: ignore
    ),
    "call_only: expected True or False": lambda: EliminateCommonSubexpr(MODULE),  # type: ignore
    "expected a dictionary of values": lambda: BindSymbolicVars("main", {"n": 4}),  # type: ignore
}


@pytest.mark.parametrize("message", MISTAKES)
def test_a_mistake_is_named(message: str) -> None:
    with pytest.raises(rlx.MisuseError) as caught:
        MISTAKES[message]()
    assert message in str(caught.value)
    assert "test_swapped_arguments.py" in str(caught.value)
