"""PrimFuncs of the tests, from text, and runs of them."""

from __future__ import annotations

from textwrap import dedent, indent
from typing import Any

import numpy as np
import pytest

import rlx
from rlx.grammar.nodes import tir
from rlx.semantics.faults import Stop
from rlx.semantics.tir import evaluate


def prim_func(text: str) -> tir.PrimFunc:
    """The function that a text defines."""
    module = rlx.parse(f"@I.ir_module\nclass Module:\n{indent(dedent(text).strip(), '    ')}\n")
    [func] = module.prim_funcs.values()
    return func


def of_body(parameters: str, body: str) -> tir.PrimFunc:
    """A function of parameters and statements."""
    lines = indent(dedent(body).strip(), "    ")
    return prim_func(f"@T.prim_func\ndef f({parameters}):\n{lines}")


def vector(dtype: str, size: int, name: str = "A") -> str:
    """A parameter: a buffer of one axis."""
    return f'{name}: T.Buffer(({size},), "{dtype}")'


def filled(body: str, dtype: str = "int32", size: int = 4, **options: Any) -> list[Any]:
    """The content of `A` after some statements; it starts with nothing written."""
    array = np.zeros(size, dtype)
    evaluate(of_body(vector(dtype, size), body), [array], unwritten=[0], **options)
    return array.tolist()


def computed(expr: str, dtype: str, a: Any = 0, b: Any = 0, source: str = "") -> Any:
    """The value of an expression of `a[0]` and `b[0]`, stored into an array."""
    of = source or dtype
    func = of_body(
        ", ".join([vector(of, 1, "a"), vector(of, 1, "b"), vector(dtype, 1, "C")]), f"C[0] = {expr}"
    )
    result = np.zeros(1, dtype)
    evaluate(func, [np.array([a], of), np.array([b], of), result])
    return result[0]


def stopped(func: tir.PrimFunc, *args: Any, **options: Any) -> Stop:
    """The fault that ends a run."""
    with pytest.raises(Stop) as caught:
        evaluate(func, args, **options)
    return caught.value
