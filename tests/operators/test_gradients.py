"""Gradients of operators take the operator's arguments behind their own: what is wrong of one is wrong of the other, one place on."""

from __future__ import annotations

from typing import Any

import pytest

from .context import derive, n, shape, tensor

X = tensor((n, 4))
WRONG: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("take", (X, tensor((2,), "float32")), {"axis": 0}),
    ("take", (shape((2,)), tensor((2,), "int64")), {"axis": 0}),
    ("take", (X, tensor((2,), "int64")), {"axis": 2}),
    ("nll_loss", (X, tensor((n,), "float32")), {}),
    ("nll_loss", (X, tensor((3,), "int64")), {}),
    ("nll_loss", (X, tensor((n,), "int64"), tensor((5,))), {}),
    ("nll_loss", (shape((2,)), tensor((n,), "int64")), {}),
    ("max_pool2d", (tensor((1, 2, 3)),), {}),
    ("max_pool2d", (tensor((1, 2, 3, 3)),), {"pool_size": (5, 5)}),
    ("avg_pool2d", (shape((2,)),), {}),
]


@pytest.mark.parametrize(("name", "args", "attrs"), WRONG)
def test_a_gradient_refuses_what_the_operator_refuses(
    name: str, args: tuple[Any, ...], attrs: dict[str, Any]
) -> None:
    forward = derive(name if name == "take" else f"nn.{name}", *args, **attrs)
    assert forward.reports
    backward = derive(f"grad.{name}_backward", tensor(), *args, **attrs)
    assert [report[:2] for report in backward.reports] == [report[:2] for report in forward.reports]
    places = [at + 1 if isinstance(at, int) else at for at in forward.recorder.places]
    assert backward.recorder.places == places
