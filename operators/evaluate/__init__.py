"""How operators compute, with NumPy: functions by the names of their operators."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import FunctionType
from typing import Any

from rlx.operators.families import FAMILIES

Evaluate = Callable[..., Any]
"""Computes a call from the plain values of its parameters."""


@cache
def functions() -> Mapping[str, Evaluate]:
    """The function that computes each operator, by the operator's name without the leading
    ``relax.``.

    A function computes the operator whose name ends with its own. The table ``OPERATORS`` of a file
    has those that are made by another function, or that compute several operators.
    """
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
    named = {
        name: alone.get(name.rpartition(".")[2])
        for names in FAMILIES.values()
        for name in names.split()
    }
    return {name: value for name, value in named.items() if value is not None} | tables
