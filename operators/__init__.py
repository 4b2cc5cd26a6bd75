"""The operators of Relax: one declaration each, found by name without importing the others."""

from rlx.operators.registry import lookup, similar

__all__ = ["lookup", "similar"]
