"""Reduction of a program that stays interesting."""

from rlx.generate.reduce.search import reduce, reduce_text

__all__ = ["reduce", "reduce_text"]
