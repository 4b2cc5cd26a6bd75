"""Lookup of the tensor expression definition of an operator by its name, like that of its
evaluation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import FunctionType
from typing import Any

Definition = Callable[..., Any]
"""Called with the derived result (a :class:`Result`, or a tuple of them) and a value for each
parameter of the operator: tensors of tensor expressions, tuples of scalars for shapes, numbers,
texts, data types. Returns a tensor or a tuple.
"""

_FAMILIES = "rlx.transform.legalization.families"


@cache
def definitions() -> Mapping[str, Definition]:
    """The definition of each operator that has one, by its name without the leading ``relax.``.

    A function in a file of `families/` defines the operator whose name ends with its own. The table
    ``OPERATORS`` of a file has definitions made by other functions, and those shared by several
    operators.
    """
    from rlx.operators.registry import every_name

    found = {name: definition(name) for name in every_name()}
    return {name: value for name, value in found.items() if value is not None}


def definition(name: str) -> Definition | None:
    """The definition of one operator, by its name without the leading ``relax.``; None if it has
    none.
    """
    tables, alone = _functions()
    return tables.get(name) or alone.get(name.rpartition(".")[2])


@cache
def _functions() -> tuple[Mapping[str, Definition], Mapping[str, Definition]]:
    """The tables of all files in `families/`, and their functions by their names."""
    tables: dict[str, Definition] = {}
    alone: dict[str, Definition] = {}
    package = import_module(_FAMILIES)
    for found in iter_modules(package.__path__, f"{_FAMILIES}."):
        module = import_module(found.name)
        tables |= getattr(module, "OPERATORS", {})
        alone |= {
            name: value
            for name, value in vars(module).items()
            if isinstance(value, FunctionType)
            and value.__module__ == found.name
            and not name.startswith("_")
        }
    return tables, alone
