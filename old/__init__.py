"""The older specification: the types and shape computations of 2022, as rules for the same checker.

``check_text(text)`` checks by its rules, ``run(module, entry, args)`` evaluates by them; the
procedures of the document have its names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlx import lazy

if TYPE_CHECKING:
    from rlx.old.check import OlderReport, check_text
    from rlx.old.conversion import convert_text, to_2022, to_today
    from rlx.old.evaluation.run import run
    from rlx.old.expansion import check_annotation
    from rlx.old.order import find_glb, find_lub, is_subtype
    from rlx.old.shape_exprs import RuntimeDepShape
    from rlx.old.substitution import map_shape_vars, substitute_shape, substitute_vars
    from rlx.old.types import DynTensorType, FuncType, ObjectType, ShapeType, TupleType

__all__ = [
    "DynTensorType",
    "FuncType",
    "ObjectType",
    "OlderReport",
    "RuntimeDepShape",
    "ShapeType",
    "TupleType",
    "check_annotation",
    "check_text",
    "convert_text",
    "find_glb",
    "find_lub",
    "is_subtype",
    "map_shape_vars",
    "run",
    "substitute_shape",
    "substitute_vars",
    "to_2022",
    "to_today",
]


def __getattr__(name: str) -> object:
    """A public name, imported when it is asked for."""
    return lazy.public_name(__name__, name)
