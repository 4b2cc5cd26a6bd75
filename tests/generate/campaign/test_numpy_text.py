"""NumPy in texts: what is evaluated, and that nothing else is."""

from __future__ import annotations

import numpy as np
import pytest

from rlx.generate.campaign.numpy_text import ExpressionError, Shape, argument, call_of, evaluate

X = np.arange(6.0).reshape(2, 3)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("x.sum(axis=1)", [3.0, 12.0]),
        ("x[:, 1:] * 2 - 1", [[1.0, 3.0], [7.0, 9.0]]),
        ("-x[0] @ np.ones(3)", -3.0),
        ('np.array([1, np.nan], "float32")[:1]', [1.0]),
        ("(x // 2 % 2)[1, ::2]", [1.0, 0.0]),
    ],
)
def test_what_is_evaluated(text: str, value: object) -> None:
    assert np.array_equal(evaluate(text, {"x": X}), np.array(value))


@pytest.mark.parametrize(
    "text",
    [
        *("np.load('evil.npy', allow_pickle=True)", "np.ctypeslib.load_library('evil', '.')"),
        *("x.tofile('mark')", "x.dump('mark')", "np.savetxt('mark', x)", "np.test(extra_argv=[])"),
        *("np.lib.npyio.load('evil.npy')", "np.lib.format.open_memmap('mark')", "np.os"),
        *("np.f2py.compile('evil')", "np.testing.measure('evil')", "np.memmap('mark', mode='w+')"),
    ],
)
def test_files_and_code_are_out_of_reach(text: str) -> None:
    with pytest.raises((ExpressionError, AttributeError)):
        evaluate(text, {"x": X})


@pytest.mark.parametrize(
    "text", ["x.__class__", "open('f')", "[i for i in x]", "lambda: x", "x if x else x", "x =", "y"]
)
def test_what_is_not(text: str) -> None:
    with pytest.raises(ExpressionError):
        evaluate(text, {"x": X})


def test_calls_with_named_arguments() -> None:
    name, words = call_of('main(x=np.ones(2, "int8"), s=shape(2, 3), n=-4)')
    values = {word: argument(tree) for word, tree in words.items()}
    assert name == "main" and list(values) == ["x", "s", "n"]
    assert values["x"].dtype == np.int8 and values["n"] == -4
    assert isinstance(values["s"], Shape) and values["s"] == (2, 3)
    for text in ("main(1)", "np.main(x=1)", "main", "main(x="):
        with pytest.raises(ExpressionError, match="call with named arguments"):
            call_of(text)
