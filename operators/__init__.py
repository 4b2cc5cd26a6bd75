"""The operators of Relax. Each has one declaration, which is found by name without importing the
others.
"""

from rlx.operators.registry import allow, is_known, lookup, similar

__all__ = ["allow", "is_known", "lookup", "similar"]
