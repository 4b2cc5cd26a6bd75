"""Patterns that follow from a signature alone."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from rlx.operators.parameters import REQUIRED, Parameter
from rlx.operators.registry import Operator

_LISTS = ["a, b", "a", "a, 4, b", "", "a, 3, b, 4", "2, 3"]
_BROADCAST = ["a, b", "b", "1, b", "", "a, 1"]
_PLAIN: dict[str, str] = {
    "prim": "prim(1) | prim(2)",
    "prims": "(1,)",
    "int": "1",
    "count": "1",
    "ints": "(1,)",
    "list": "(1,)",
    "int_or_ints": "1",
    "number": "1.0",
    "dtype": "'float32' | 'int64'",
    "any": "0",
    "expr": "f(a, b)",
    "whole": "f(a, b)",
}


def generic(operator: Operator) -> list[str]:
    """Patterns for an operator of which no table says more: tensors of one shape, or broadcast to
    one.

    They are only proposals: the operator's own rule decides which of them are legal.
    """
    required = [p for p in operator.parameters if p.default is REQUIRED and not p.optional]
    kinds = [p.kind for p in required]
    if kinds in (["tensor", "tensor"], ["operand", "operand"]):
        return [*_pairs(), "b_(a, b), b_(a, b)".replace("b_", "bool")]
    return [_call(required, group, dims) for group, dims in product("txf", _LISTS)] + [
        _call(required, group, dims) for group, dims in product(("i", "bool"), _LISTS[:4])
    ]


def _pairs() -> Iterator[str]:
    for group in "tfi":
        yield from (f"{group}({dims}), {group}({dims})" for dims in _LISTS)
        yield from (f"{group}(a, b), {group}({dims})" for dims in _BROADCAST)
        yield from (f"{group}({dims}), {group}(a, b)" for dims in _BROADCAST)


def _call(required: list[Parameter], group: str, dims: str) -> str:
    tensor = f"{group}({dims})"
    texts = {"tensor": tensor, "operand": tensor, "tensors": f"[{tensor}, {tensor}]"}
    texts["shape"] = texts["whole_shape"] = f"shape({dims})"
    return ", ".join(texts.get(p.kind) or _PLAIN[p.kind] for p in required)
