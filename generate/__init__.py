"""Random well-formed programs, and what they find.

The strategies are imported when they are asked for, so that the core works where Hypothesis is not
wanted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlx import lazy

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


def __getattr__(name: str) -> object:
    return lazy.public_name(__name__, name)
