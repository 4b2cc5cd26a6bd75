"""The order of StructInfo: subtyping, compatibility, bounds, erasure, binding of shape variables.

``spec/order.md`` defines the rules; each rule is a small function here.
"""

from __future__ import annotations

from rlx.solver.order.bind import Conflict, Instance, Instantiation, bind, instantiate
from rlx.solver.order.compatibility import COMPATIBLE, Compatibility, compatibility
from rlx.solver.order.disjoint import disjoint, meet_is_empty
from rlx.solver.order.erase import erase
from rlx.solver.order.lub_glb import glb, lub
from rlx.solver.order.mismatch_text import where, why
from rlx.solver.order.substitute import (
    free_shape_vars,
    free_vars,
    rename_apart,
    shape_vars_in,
    substitute,
    substitute_prim,
)
from rlx.solver.order.subtype import Mismatch, NotSubtype, Path, UndecidedDims, subtype
from rlx.solver.order.traditional import to_type

__all__ = [
    "COMPATIBLE",
    "Compatibility",
    "Conflict",
    "Instance",
    "Instantiation",
    "Mismatch",
    "NotSubtype",
    "Path",
    "UndecidedDims",
    "bind",
    "compatibility",
    "disjoint",
    "erase",
    "free_shape_vars",
    "free_vars",
    "glb",
    "instantiate",
    "lub",
    "meet_is_empty",
    "rename_apart",
    "shape_vars_in",
    "substitute",
    "substitute_prim",
    "subtype",
    "to_type",
    "where",
    "why",
]
