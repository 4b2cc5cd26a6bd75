"""LAW: Python's operators on the builder's values give what NumPy gives, and on scalars what Python gives."""

from __future__ import annotations

import operator
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import rlx
from rlx.grammar.nodes import tir
from rlx.solver.evaluate import evaluate

TENSORS: dict[str, Callable[[Any, Any], Any]] = {
    name: getattr(operator, name)
    for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lt", "le", "gt", "ge")
}
SCALARS = {name: TENSORS[name] for name in TENSORS if name not in ("truediv", "pow")}
X, Y = np.array([1.5, 2.0, 4.0], "float32"), np.array([2.0, 0.5, 3.0], "float32")


def built(make: Callable[[Any, Any], Any], two: bool) -> Any:
    """A function of one tensor or of two that returns what is made of them."""
    bb = rlx.BlockBuilder()
    params = [rlx.Var(name, 'R.Tensor((3,), "float32")') for name in ("x", "y")[: 1 + two]]
    with bb.function("main", params):
        bb.emit_func_output(bb.emit(make(params[0], params[-1])))
    return bb.get()


@pytest.mark.parametrize("name", TENSORS)
def test_two_tensors(name: str) -> None:
    found = rlx.run(built(TENSORS[name], True), inputs=[X, Y]).numpy()
    np.testing.assert_allclose(found, TENSORS[name](X, Y), rtol=1e-6)


@pytest.mark.parametrize("name", TENSORS)
@pytest.mark.parametrize("number", [2, 0.5])
def test_a_number_on_either_side(name: str, number: float) -> None:
    calculate = TENSORS[name]
    sides: list[Callable[[Any, Any], Any]] = [
        lambda x, _: calculate(x, number),
        lambda x, _: calculate(number, x),
    ]
    for make in sides:
        found = rlx.run(built(make, False), inputs=[X]).numpy()
        np.testing.assert_allclose(found, make(X, X), rtol=1e-6)


def test_the_negative() -> None:
    np.testing.assert_array_equal(rlx.run(built(lambda x, _: -x, False), inputs=[X]).numpy(), -X)


@pytest.mark.parametrize("name", SCALARS)
def test_scalars(name: str) -> None:
    """Floor division and its remainder are Python's, for negative numbers, too."""
    n, m = tir.Var("n"), tir.Var("m")
    for a, b in product((-7, -1, 0, 3, 8), (-3, -1, 2, 5)):
        wanted = SCALARS[name](a, b)
        for made in (SCALARS[name](n, m), SCALARS[name](n, b), SCALARS[name](a, m)):
            assert evaluate(made, {n: a, m: b}) == wanted


DIMS: Any = rlx.Var("x", 'R.Tensor(("n", 1, 64), "float32")').struct_info.shape  # type: ignore[union-attr]


def test_the_dimensions_of_a_shape() -> None:
    n, one, last = DIMS
    assert (len(DIMS), DIMS[0], DIMS[-1], DIMS[1:]) == (3, n, last, (one, last))
    with pytest.raises(IndexError):
        DIMS[3]


@pytest.mark.parametrize("compare", [operator.eq, operator.ne, *map(TENSORS.get, ["lt", "ge"])])
@pytest.mark.parametrize("number", [1, 63, 64, 65])
def test_known_dimensions_are_pythons_numbers(
    compare: Callable[[Any, Any], Any], number: int
) -> None:
    """As passes ask for them: `if h % 64 != 0`, `range(h)`, `max(h, 8)`."""
    last = DIMS[2]
    for a, b in ((last, number), (number, last)):
        found = "yes" if compare(a, b) else "no"
        assert found == ("yes" if compare(int(a), int(b)) else "no")
    assert ("yes" if last % number else "no") == ("yes" if 64 % number else "no")
    assert list(range(last)) == list(range(64)) and int(max(last, number)) == max(64, number)


def test_known_dimensions_of_two_shapes() -> None:
    """As checks of TVM's pattern tables: `lhs.shape[-1] != rhs.shape[-2]`, `shape[-2:] == other[-2:]`."""
    n, one, last = DIMS
    other: Any = rlx.Var("y", 'R.Tensor((1, 64, 8, 63), "float32")').struct_info.shape  # type: ignore[union-attr]
    assert DIMS[1:] == other[:2] and DIMS[1:] != other[2:] and list(DIMS[1:]) == [*other[:2]]
    assert [last == each for each in other] == [False, True, False, False]
    assert [last != each for each in other] == [True, False, True, True]
    assert other[2] * 8 == last and one == other[0] == 1 and n == DIMS[0] and n != one
    assert list(other).index(last) == 1 and last in [*other] and n not in [*other]
    assert len({last, other[1]}) == 2, "as keys, nodes are places in programs"


def test_what_depends_on_a_symbolic_dimension() -> None:
    n, *_ = DIMS
    assert n != 1 and not n == 1  # noqa: SIM201 - both are asked
    for ask in (lambda: bool(n), lambda: n > 1 or None, lambda: max(n, 3), lambda: not n % 2):
        with pytest.raises(rlx.MisuseError, match="depends on its variables: ask"):
            ask()
    a = rlx.te.placeholder((rlx.te.var("m", "int64"), 4), name="a")
    assert ("same" if a.shape[0] == a.shape[0] else "other") == "same"
    assert ("other" if a.shape[0] != a.shape[0] else "same") == "same"
    with pytest.raises(rlx.te.TensorExpressionError, match="symbolic sizes"):
        bool(a.shape[0] == 1)
