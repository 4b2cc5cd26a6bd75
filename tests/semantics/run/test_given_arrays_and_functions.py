"""Arrays that a caller hands to a run stay as they are, and functions are called."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rlx
from rlx.semantics.outcome import Ended, Returned
from rlx.semantics.run.inputs import InputError

WRITES = """
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def increase(H: T.Buffer((4,), "int64")):
        H[0] = H[0] + T.int64(1)
    @R.function(pure=False)
    def direct(x: R.Tensor((4,), "int64")) -> R.Tensor((4,), "int64"):
        Module.increase(x)
        return x
    @R.function
    def in_place(x: R.Tensor((4,), "int64")) -> R.Tensor((4,), "int64"):
        y = R.call_tir_inplace(Module.increase, (x,), inplace_indices=[0], out_sinfo=R.Tensor((4,), "int64"))
        return y
    @R.function(pure=False)
    def inside(t: R.Tuple(R.Tensor((4,), "int64"), R.Tensor((4,), "int64"))) -> R.Tensor((4,), "int64"):
        x = t[1]
        Module.increase(x)
        return x
"""
CALLS = """
@I.ir_module
class Module:
    @R.function
    def main(
        x: R.Tensor(("n",), "float32"),
        f: R.Callable([R.Tensor(("n",), "float32")], R.Tensor(("n",), "float32")),
    ) -> R.Tensor(("n",), "float32"):
        y = f(x)
        return y
    @R.function
    def twice(x: R.Tensor(("k",), "float32")) -> R.Tensor(("k",), "float32"):
        y = R.add(x, x)
        return y
    @R.function(private=True)
    def thrice(x: R.Tensor(("k",), "float32")) -> R.Tensor(("k",), "float32"):
        y = R.multiply(x, R.const(3.0, "float32"))
        return y
    @R.function
    def of_integers(x: R.Tensor(("k",), "int32")) -> R.Tensor(("k",), "int32"):
        y = R.add(x, x)
        return y
    @R.function(pure=False)
    def effects(x: R.Tensor((2,), "float32"), log: R.Callable([R.Prim("int64"), R.Any], R.Tuple([]), purity=False)):
        _ = log(R.prim_value(0), x)
        __ = log(R.prim_value(1), x)
        return x
"""


@pytest.mark.parametrize("entry", ["direct", "in_place", "inside"])
@pytest.mark.parametrize("backend", ["native", "steps"])
def test_the_callers_arrays_change_only_if_asked(entry: str, backend: str) -> None:
    array = np.array([2, 1, 1, 0])
    given: Any = (np.zeros(4, "int64"), array) if entry == "inside" else array
    made = rlx.run(WRITES, entry, [given], backend=backend)
    assert [*made.numpy()] == [3, 1, 1, 0] and [*array] == [2, 1, 1, 0]
    earlier = rlx.run(WRITES, entry, [given], backend=backend, overwrite=True)
    assert isinstance(earlier, Returned)
    assert [*earlier.numpy()] == [*array] == [3, 1, 1, 0]
    if entry != "inside":  # a value of an earlier run is the caller's, too
        assert isinstance(earlier, Returned)
        rlx.run(WRITES, entry, [earlier.value], backend=backend)
        assert [*earlier.numpy()] == [3, 1, 1, 0]


@pytest.mark.parametrize(
    ("function", "factor"),
    [("twice", 2), ("thrice", 3), ("mine", 5), (lambda x: x * 7, 7), (np.negative, -1)],
)
@pytest.mark.parametrize("size", [1, 4])
def test_a_parameter_is_a_function(function: Any, factor: int, size: int) -> None:
    x = np.arange(size, dtype="float32")
    made = rlx.run(CALLS, "main", [x, function], packed={"mine": lambda x: x * 5})
    np.testing.assert_array_equal(made.numpy(), x * factor)


@pytest.mark.parametrize(
    ("function", "code"),
    [
        ("of_integers", "E-cast-function"),
        (lambda x: x[:-1], "E-cast-dimension"),
        (lambda x: x.astype("float64"), "E-cast-dtype"),
        (lambda: None, "E-packed-raised"),
    ],
)
def test_a_function_that_does_not_fit(function: Any, code: str) -> None:
    ended = rlx.run(CALLS, "main", [np.ones(3, "float32"), function])
    assert isinstance(ended, Ended) and ended.code == code


def test_a_function_with_effects_is_called_in_order() -> None:
    seen = []

    def log(at: int, value: Any) -> tuple[()]:
        seen.append((at, [*value]))
        return ()

    made = rlx.run(CALLS, "effects", [np.ones(2, "float32"), log])
    assert made.ok and seen == [(0, [1, 1]), (1, [1, 1])]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("twise", "did you mean 'twice'?"),
        (3, "expected a function, or the name of one; found int"),
        (None, "found NoneType"),
    ],
)
def test_what_is_no_function(given: Any, words: str) -> None:
    with pytest.raises(InputError) as raised:
        rlx.run(CALLS, "main", [np.ones(3, "float32"), given])
    assert words in str(raised.value)
    with pytest.raises(InputError, match="give the name of a function"):
        rlx.run(CALLS, "main", [np.ones(3, "float32")])
