"""Operators as the machine calls them."""

from __future__ import annotations

import numpy as np
import pytest

from rlx.semantics.outcome import Fault
from rlx.semantics.values import Opaque, Scalar, Tensor, TupleValue
from tests.semantics.machine.running import ended, floats, returned

HEAD = '@R.function\ndef main(x: R.Tensor((n,), "float32"), s: R.Shape([m])) -> R.Any:\n    return '


def test_operators_get_plain_values_and_numbers_of_shape_variables() -> None:
    found = returned(HEAD + "R.reshape(x, R.shape([n // m, m]))", floats(1, 2, 3, 4), [2])
    assert isinstance(found, Tensor)
    assert found.data.tolist() == [[1, 2], [3, 4]] and found.dtype == "float32"
    zeros = returned(HEAD + 'R.zeros(R.shape([n, m + 1]), "int8")', floats(1, 2), [2])
    assert isinstance(zeros, Tensor) and zeros.data.shape == (2, 3) and zeros.dtype == "int8"
    assert returned(HEAD + "R.shape_of(x)", floats(1, 2), [2]).values == (2,)  # type: ignore[attr-defined]
    assert returned(HEAD + 'R.shape_of(R.const(1, "int8"))', floats(1), [2]).values == ()  # type: ignore[attr-defined]
    parts = returned(HEAD + "R.split(x, 2)", floats(1, 2), [2])
    assert isinstance(parts, TupleValue)
    assert [f.data.tolist() for f in parts.fields] == [[1], [2]]  # type: ignore[attr-defined]


def test_new_tensors_are_where_the_operands_are() -> None:
    there = Tensor(floats(1), ("cuda", 1))
    found = returned(HEAD + 'R.add(R.const(1.0, "float32"), x)', there, [2])
    assert isinstance(found, Tensor) and found.device == ("cuda", 1)


def test_operators_do_not_change_operands() -> None:
    x = Tensor(floats(-1, 2))
    found = returned(HEAD + "R.nn.relu(x)", x, [1])
    assert isinstance(found, Tensor) and found.data.tolist() == [0, 2]
    assert x.data.tolist() == [-1, 2] and not np.shares_memory(found.data, x.data)


def test_numbers_are_operands_too() -> None:
    text = HEAD + "R.add(R.prim_value(n), R.prim_value(m))"
    assert isinstance(returned(text, floats(1, 2), [1]), Scalar | Tensor)


@pytest.mark.parametrize(
    ("call", "shapes", "code"),
    [
        ("R.nn.conv1d(a, b)", [(2,), (2,)], "E-obligations-hold"),
        ("R.image.resize2d(a, R.shape([2, 2]))", [(2, 2), (1,)], "E-obligations-hold"),
        ("R.nn.conv1d(a, b)", [(1, 3, 5), (4, 2, 3)], "E-channels-groups"),
        ("R.nn.layer_norm(a, b, b, axes=[-1])", [(2, 4), (1,)], "E-scale-length"),
        ("R.nn.prelu(a, b)", [(2, 4), (3,)], "E-scale-length"),
    ],
)
def test_what_the_checker_left_open_is_decided_when_the_operator_runs(
    call: str, shapes: list[tuple[int, ...]], code: str
) -> None:
    text = (
        f"@R.function\ndef main(a: R.Tensor, b: R.Tensor) -> R.Any:\n    y = {call}\n    return y"
    )
    end = ended(text, *(np.ones(shape, np.float32) for shape in shapes))
    assert (type(end), end.rule, end.code) == (Fault, "E-evaluate", code)


@pytest.mark.parametrize("held", ["a", (1, 2), object(), [1.0]])
@pytest.mark.parametrize(
    "call", ["R.add(x, o)", "R.add(o, x)", "R.arange(0, o, 1)", "R.full(R.shape([2]), o)"]
)
def test_objects_that_are_no_operands(call: str, held: object) -> None:
    """An operand without known type may be anything: a wrong one is a fault of the run, not of the machine."""
    text = f"@R.function\ndef main(x: R.Tensor, o: R.Object):\n    y = {call}\n    return y\n"
    end = ended(text, floats(1, 2), Opaque(held))
    assert (type(end), end.code) == (Fault, "E-operator-arguments")
