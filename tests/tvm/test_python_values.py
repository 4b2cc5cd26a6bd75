"""Expressions of Python on Relax values: an error where TVM 0.27 fails, and none where it computes them as Python does."""

from __future__ import annotations

import pytest

from rlx.checker.check import check_text

from .dialect_law import attempt

DEFINITION = """n = TypeVar("n")
@R.function
def f(x: R.Tensor((4,), "float32"), c: R.Tensor((), "bool"), s: R.Shape([n])):
    y = {}
    return x
"""
IMPORTS = (
    "from typing import TypeVar\nfrom tvm.script import ir as I, relax as R, tirx as T\nK = True\n"
)


def has_error(value: str) -> bool:
    return bool(check_text(IMPORTS + DEFINITION.format(value), "a.py").errors)


@pytest.mark.parametrize(
    "value",
    [
        "x if c else x",
        "R.zeros((n if c else 5,), 'float32')",
        "x if n > 2 else x",
        "R.add(x, x) if R.equal(x, x) else x",
        "sum([x, x])",
        "max(x, x)",
        "abs(x)",
        "float(x)",
        "any([x])",
        "sum(x for i in range(2))",
        "(z := x)",
        "R.add(z := x, z)",
        "await x",
        "R.shape(tuple(i for i in (2, 2)))",
        "x\n    y: int = 3",
        "x\n    y: bool = True",
        "x\n    ...",
    ],
)
def test_tvm_fails(value: str) -> None:
    module, _ = attempt(DEFINITION.format(value))
    assert module is None
    assert has_error(value)


@pytest.mark.parametrize(
    "value",
    [
        "[R.add(x, x) for i in range(3)]",
        "x if True else R.add(x, x)",
        "R.zeros((n if n > 2 else 5,), 'float32')",
        "R.reshape(x, [i for i in (2, 2)])",
        "R.zeros((max(2, 3),), 'float32')",
        "len([x, x])",
        'f"{4}"',
        "(x for i in [1])",
        "{x}",
        "{i: x for i in [1]}",
        "x is None",
        "R.add(x, x) if x is not None else x",
        "x\n    if x is None:\n        z = R.add(x, x)\n    elif x is not None:\n        z = x\n    else:\n        z = x",
        '{"a": 1}',
        '{"a": x}\n    z = R.add(x, y["a"])',
        'R.add(x, {"a": x}["a"])',
        'R.add(**{"x1": x, "x2": x})',
        "R.concat(tuple(x for i in range(2)))",
    ],
)
def test_tvm_reads(value: str) -> None:
    module, reason = attempt(DEFINITION.format(value))
    assert module is not None, reason
    assert not has_error(value)
