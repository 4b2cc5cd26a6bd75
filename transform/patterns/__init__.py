"""Patterns: matching and rewriting parts of programs.

>>> import rlx
>>> from rlx.transform.patterns import is_op, rewrite, wildcard
>>> x, w, b = wildcard(), wildcard(), wildcard()
>>> linear = is_op("add")(is_op("matmul")(x, w), b)
"""

from __future__ import annotations

from rlx.transform.patterns.attempt import Match
from rlx.transform.patterns.expressions import (
    is_call,
    is_const,
    is_expr,
    is_function,
    is_op,
    is_shape,
    is_tuple,
    is_tuple_get_item,
    is_var,
    wildcard,
)
from rlx.transform.patterns.given import PatternError
from rlx.transform.patterns.pattern import Pattern
from rlx.transform.patterns.rewriting import find, rewrite
from rlx.transform.patterns.together import rewrite_bindings

__all__ = [
    "Match",
    "Pattern",
    "PatternError",
    "find",
    "is_call",
    "is_const",
    "is_expr",
    "is_function",
    "is_op",
    "is_shape",
    "is_tuple",
    "is_tuple_get_item",
    "is_var",
    "rewrite",
    "rewrite_bindings",
    "wildcard",
]
