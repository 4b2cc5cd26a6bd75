"""Misspelt names of parameters and swapped arguments: the message names what is meant."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import rlx
from rlx import transform
from rlx.transform import PatternContext, is_op, wildcard

MODULE = rlx.parse("""
@R.function
def main(x: R.Tensor((4,), "float32")):
    return R.exp(x)
""")
X = rlx.Var("x", [4], "float32")
SUM = is_op("add")(wildcard(), wildcard())
CONTEXT = PatternContext()


def in_function(call: Callable[[Any], object]) -> None:
    bb = rlx.BlockBuilder()
    with bb.function("main", [X]):
        call(bb)


LIBRARY: Any = rlx
TE: Any = rlx.te
ANY: Any = transform  # calls that a type checker refuses, too

MISTAKES: dict[str, Callable[[], object]] = {
    "emit has no parameter 'name'; did you mean 'name_hint'?": lambda: in_function(
        lambda bb: bb.emit(X, name="y")
    ),
    "PassContext has no parameter 'optlevel'; did you mean 'opt_level'?": lambda: ANY.PassContext(
        optlevel=3
    ),
    "disabled_pass has names: write 'Normalize', not the pass": lambda: ANY.PassContext(
        disabled_pass=[transform.Normalize()]
    ),
    "compute has no parameter 'fcompue'; did you mean 'fcompute'?": lambda: TE.compute(
        (4,), fcompue=lambda i: i
    ),
    "const has no parameter 'dtpe'; did you mean 'dtype'?": lambda: LIBRARY.const(1, dtpe="int8"),
    "Var has no parameter 'ty'; did you mean 'struct_info'?": lambda: LIBRARY.Var("x", ty="R.Any"),
    "did you mean 'entry_functions'?": lambda: ANY.DeadCodeElimination(entry_function=["main"]),
    "did you mean 'func_name'?": lambda: ANY.BindParams(func="main", params={}),
    "write rewrite_call(pattern, rewriter, func)": lambda: ANY.rewrite_call(
        SUM,
        MODULE,
        lambda e, m: e,
    ),
    "write rewrite(module, pattern, replacement)": lambda: ANY.rewrite(SUM, MODULE, lambda m: None),
    "write rewrite_bindings(ctx, rewriter, func)": lambda: ANY.rewrite_bindings(
        CONTEXT,
        MODULE,
        lambda m, values: None,
    ),
    "call_only: expected True or False": lambda: ANY.EliminateCommonSubexpr(MODULE),
    "expected a dictionary of values": lambda: ANY.BindSymbolicVars("main", {"n": 4}),
}


@pytest.mark.parametrize("message", MISTAKES)
def test_a_mistake_is_named(message: str) -> None:
    with pytest.raises(rlx.MisuseError) as caught:
        MISTAKES[message]()
    assert message in str(caught.value)
    assert "test_swapped_arguments.py" in str(caught.value)
