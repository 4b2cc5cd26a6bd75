"""Shapes across functions: outlining without loss of shapes, propagation from callees to callers,
deduction from uses.
"""

from __future__ import annotations

from rlx.transform.shapes.deduce import deduce_shapes
from rlx.transform.shapes.outline import outline
from rlx.transform.shapes.propagate import propagate_shapes

__all__ = ["deduce_shapes", "outline", "propagate_shapes"]
