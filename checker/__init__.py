"""The checker: well-formedness, normal form, derivation, and their diagnostics.

`relax-check` is its command; :func:`rlx.check` takes more forms of a program than
:func:`check_text`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlx import lazy

if TYPE_CHECKING:
    from rlx.checker import normal_form, normalize
    from rlx.checker.check import Report, check_module, check_text
    from rlx.checker.dynamic_checks import DynamicCheck, analyse
    from rlx.checker.fixing import Mended, mended
    from rlx.checker.why.explain import Derivations
    from rlx.checker.why.place import PlaceError

__all__ = [
    "Derivations",
    "DynamicCheck",
    "Mended",
    "PlaceError",
    "Report",
    "analyse",
    "check_module",
    "check_text",
    "mended",
    "normal_form",
    "normalize",
]


def __getattr__(name: str) -> object:
    return lazy.public_name(__name__, name)
