"""A dimension that is not declared may be a declared one misspelt."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rlx.checker.check import check_text
from rlx.grammar.diagnostic import Diagnostic

PROGRAM = """
@R.function
def main(x: R.Object, y: R.Tensor(("batch", "hidden", "n"), "float32")):
    batch = T.int64()
    hidden = T.int64()
    n = T.int64()
    z = R.match_cast(x, R.Tensor(({},), "float32"))
    return z
"""


def error_of(dimension: str) -> Diagnostic:
    """The only error of a program whose cast has this dimension."""
    [error] = check_text(PROGRAM.format(dimension)).diagnostics
    return error


@given(st.sampled_from(["batch", "hidden"]), st.data())
def test_one_letter_less_is_found(name: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(name) - 1))
    error = error_of(name[:at] + name[at + 1 :])
    assert str(error.help) == f"did you mean {name!r}?"


def test_another_name_is_to_be_declared() -> None:
    for name in ("m", "rows", "q"):
        assert str(error_of(name).help) == f"declare it above: `{name} = T.int64()`"


def test_each_function_declares_its_own() -> None:
    text = (
        "@I.ir_module\nclass Module:\n"
        '    @T.prim_func\n    def kernel(A: T.Buffer(("n",)), B: T.Buffer((n,))):\n'
        "        n = T.int32()\n        T.evaluate(n)\n"
        '    @R.function\n    def other(k: R.Prim("int64")):\n        return k\n'
        "    @R.function\n    def main(x: R.Object):\n        n = T.int64()\n"
        '        y = R.match_cast(x, R.Tensor((n, {}), "float32"))\n        return y\n'
    )
    assert check_text(text.format("n")).ok
    [error] = check_text(text.format("k")).errors
    assert error.message == "the dimension 'k' is not declared"
