"""The well-formedness criteria of the specification of 2022."""

from rlx.old.well_formed.criteria import well_formed

__all__ = ["well_formed"]
