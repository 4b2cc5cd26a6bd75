"""Calls that break one premise of an operator, as the declarations of operators list them."""

from __future__ import annotations

from collections.abc import Mapping

from rlx.operators.registry import every_name, lookup


def _broken() -> Mapping[str, list[tuple[str, str]]]:
    found: dict[str, list[tuple[str, str]]] = {}
    for name in every_name():
        operator = lookup(f"relax.{name}")
        assert operator is not None
        for line in operator.broken.strip().splitlines():
            code, _, arguments = line.strip().partition(": ")
            found.setdefault(code, []).append((name, arguments))
    return found


BROKEN = _broken()
"""The names of operators and patterns of their arguments, by the premise that fails."""
