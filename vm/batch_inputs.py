"""The conditions of a plan for all sizes on the inputs of a batch, and the numbers in them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rlx.grammar.nodes.dtype import INT64
from rlx.semantics.values import (
    DataTypeValue,
    Scalar,
    ShapeValue,
    Storage,
    StringValue,
    Tensor,
    TupleValue,
    Value,
)
from rlx.vm.batch_steps import is_size

FLAGS = 0x501
"""The flags of an array: contiguous, aligned, writeable."""

WIDEST = 8
"""The largest size of an element in bytes. In memory that begins at a multiple of it, the offset of
a tensor determines whether the tensor is aligned.
"""


def address(array: np.ndarray[Any, Any]) -> int:
    """The address of an array's memory."""
    return int(array.__array_interface__["data"][0])


Take = Callable[..., "list[int] | None"]
"""Reads the numbers of inputs of the same kinds; returns None for other inputs."""


def taking(values: Sequence[Value], heaps: Sequence[bool]) -> Take:
    """A function that reads the numbers of inputs of the same kinds as these.

    Parameters
    ----------
    heaps
        The inputs that are heaps; their numbers are not included.
    """
    scope: dict[str, Any] = {
        "Tensor": Tensor,
        "ShapeValue": ShapeValue,
        "Scalar": Scalar,
        "Storage": Storage,
        "INT64": INT64,
        "address": address,
    }
    lines: list[str] = []
    numbers: list[str] = []
    for k, (value, heap) in enumerate(zip(values, heaps, strict=True)):
        asked, given = _input(k, value, heap, scope)
        lines += asked
        if given:
            numbers.append(given)
    body = "".join(f"\n {line}" for line in lines)
    names = ", ".join(f"v{k}" for k in range(len(values)))
    text = f"def take({names}):{body}\n return [{', '.join(numbers)}]"
    # The text is made of numbers and of names that the scope was given here.
    exec(compile(text, "<inputs of a batch>", "exec"), scope)  # noqa: S102
    made: Take = scope["take"]
    return made


def _input(k: int, value: Value, heap: bool, scope: dict[str, Any]) -> tuple[list[str], str]:
    """The lines that leave where an input is of another kind, and what its numbers are."""
    leave = "return None"
    match value:
        case Tensor():
            return _tensor(k, value, heap, scope), "" if heap else f"*s{k}"
        case ShapeValue(values=sizes):
            lines = [
                f"if type(v{k}) is not ShapeValue: {leave}",
                f"s{k} = v{k}.values",
                f"if len(s{k}) != {len(sizes)}: {leave}",
            ]
            return lines, f"*s{k}"
        case Scalar() if is_size(value):
            lines = [
                f"if type(v{k}) is not Scalar: {leave}",
                f"s{k} = v{k}.value",
                f"if type(s{k}) is not int: {leave}",
                f"if v{k}.dtype is not INT64 and v{k}.dtype != INT64: {leave}",
            ]
            return lines, f"s{k}"
        case Scalar(value=number, dtype=kind):
            scope[f"d{k}"], scope[f"w{k}"] = kind, repr(number)
            return [
                f"if type(v{k}) is not Scalar: {leave}",
                f"if v{k}.dtype != d{k} or repr(v{k}.value) != w{k}: {leave}",
            ], ""
        case Storage(device=device):
            scope[f"w{k}"] = device
            return [
                f"if type(v{k}) is not Storage or v{k}.device != w{k}: {leave}",
                f"if address(v{k}.data) % {WIDEST}: {leave}",
            ], f"v{k}.data.nbytes"
        case TupleValue():
            return [leave], ""
    scope[f"d{k}"] = type(value)
    lines = [f"if type(v{k}) is not d{k}: {leave}"]
    if isinstance(value, DataTypeValue | StringValue):
        scope[f"w{k}"] = value.value
        lines.append(f"if v{k}.value != w{k}: {leave}")
    return lines, ""


def _tensor(k: int, value: Tensor, heap: bool, scope: dict[str, Any]) -> list[str]:
    data = value.data
    scope[f"d{k}"], scope[f"w{k}"] = data.dtype, value.device
    other = f"s{k} != {data.shape}" if heap else f"len(s{k}) != {data.ndim}"
    return [
        f"if type(v{k}) is not Tensor: return None",
        f"a{k} = v{k}.data; s{k} = a{k}.shape",
        f"if a{k}.dtype != d{k} or v{k}.device != w{k} or {other}: return None",
        f"if a{k}.flags.num & {FLAGS} != {data.flags.num & FLAGS}: return None",
    ]
