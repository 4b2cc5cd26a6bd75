"""Shapes across functions: kept when functions are made, carried from callees to callers, deduced
from uses.
"""

from __future__ import annotations

from rlx.transform.shapes.deduce import deduce_shapes
from rlx.transform.shapes.outline import outline
from rlx.transform.shapes.propagate import propagate_shapes

__all__ = ["deduce_shapes", "outline", "propagate_shapes"]
