"""Random well-formed programs, and what they find.

The strategies are imported when they are asked for, so that the core works where Hypothesis is not wanted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rlx.generate.strategies import (
        functions,
        inputs_for,
        modules,
        prim_exprs,
        prim_funcs,
        shapes,
        struct_infos,
    )

__all__ = [
    "functions",
    "inputs_for",
    "modules",
    "prim_exprs",
    "prim_funcs",
    "shapes",
    "struct_infos",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from rlx.generate import strategies

    return getattr(strategies, name)
