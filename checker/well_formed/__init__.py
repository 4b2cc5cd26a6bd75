"""Well-formedness: names, scopes and the shape of annotations, WF01 to WF24."""

from rlx.checker.well_formed.traversal import well_formed

__all__ = ["well_formed"]
