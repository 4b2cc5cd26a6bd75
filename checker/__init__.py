"""What is wrong with a program: well-formedness, normal form, derivation, and the diagnostics that
say so.

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

_HOMES = {
    "Derivations": "why.explain",
    "DynamicCheck": "dynamic_checks",
    "Mended": "fixing",
    "PlaceError": "why.place",
    "Report": "check",
    "analyse": "dynamic_checks",
    "check_module": "check",
    "check_text": "check",
    "mended": "fixing",
    "normal_form": "",
    "normalize": "",
}

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
    return lazy.found(__name__, name, _HOMES)
