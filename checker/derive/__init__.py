"""Derivation of struct info: rules D01 to D16, each a small function; `spec/derivation.md` states
them.
"""

from __future__ import annotations

from rlx.checker.derive.devices import Placement, propagate_vdevices
from rlx.checker.derive.module import Derivation, derive, known_infos

__all__ = ["Derivation", "Placement", "derive", "known_infos", "propagate_vdevices"]
