"""Modules of TVM in memory: what rlx says of them, and of what each pass makes of them.

Nothing here needs TVM to be imported; :class:`Instrument` and :func:`check` take what TVM gives
them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlx import lazy

if TYPE_CHECKING:
    from rlx.tvm.checking import check
    from rlx.tvm.instrument import Instrument
    from rlx.tvm.watch import Problem

_HOMES = {"Instrument": "instrument", "Problem": "watch", "check": "checking"}

__all__ = ["Instrument", "Problem", "check"]


def __getattr__(name: str) -> object:
    return lazy.found(__name__, name, _HOMES)
