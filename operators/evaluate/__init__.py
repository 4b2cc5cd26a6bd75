"""Evaluation of operators with NumPy, by functions with the names of the operators."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import FunctionType
from typing import Any

Evaluate = Callable[..., Any]
"""Computes a call from the plain values of its parameters."""


@cache
def _functions() -> tuple[Mapping[str, Evaluate], Mapping[str, Evaluate]]:
    """The tables of all files, and their functions by their names."""
    tables: dict[str, Evaluate] = {}
    alone: dict[str, Evaluate] = {}
    for found in iter_modules(__path__, f"{__name__}."):
        module = import_module(found.name)
        tables |= getattr(module, "OPERATORS", {})
        alone |= {
            name: value
            for name, value in vars(module).items()
            if isinstance(value, FunctionType) and value.__module__ == found.name
        }
    return tables, alone


def function(name: str) -> Evaluate | None:
    """The function that computes an operator, by its name without the leading ``relax.``; None if
    there is none.

    A function computes the operator whose name ends with its own. The table ``OPERATORS`` of a file
    has functions made by other functions, and functions for several operators.
    """
    tables, alone = _functions()
    return tables.get(name) or alone.get(name.rpartition(".")[2])
