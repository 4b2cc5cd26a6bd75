"""Well-formedness: names, scopes and the shape of annotations."""

from rlx.checker.well_formed.traversal import well_formed

__all__ = ["well_formed"]
