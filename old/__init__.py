"""The older specification: the types and shape computations of 2022 as a checker of its own.

``check_text(text)`` checks by its rules; ``run(module, …)`` evaluates by them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlx import lazy

if TYPE_CHECKING:
    from rlx.old.check import OlderReport, check_text

__all__ = ["OlderReport", "check_text"]

_HOME = {"OlderReport": "check", "check_text": "check"}


def __getattr__(name: str) -> object:
    return lazy.found(__name__, name, _HOME)
