"""Errors for constructs without native code."""

from __future__ import annotations

from typing import NoReturn

from rlx.grammar.nodes.node import Span
from rlx.semantics.faults import UnsupportedStop
from rlx.spec.registry import refuted


def refuse(what: str, span: Span | None = None) -> NoReturn:
    """Raise :class:`UnsupportedStop`: part of a function has no C code."""
    refuted("E-native-construct")
    raise UnsupportedStop("E-native-construct", f"native code does not support: {what}", span)
