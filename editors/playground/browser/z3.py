"""What rlx uses of Z3, which runs in another Python: `served.py` answers there.

NumPy and Z3 have wheels for two versions of Pyodide, and no version has both.
"""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import z3_beside  # type: ignore[import-not-found]  # the worker registers it

__all__ = ["BitVecNumRef", "Context", "IntNumRef", "SimpleSolver", "Z3Exception"]


class Z3Exception(Exception):
    """What Z3 complains of."""


class Context:
    """Each question has a context of its own there."""


class _Number:
    def __init__(self, value: str) -> None:
        self._value = Fraction(value)

    def numerator_as_long(self) -> int:
        """The numerator of a rational."""
        return self._value.numerator

    def denominator_as_long(self) -> int:
        """The denominator of a rational."""
        return self._value.denominator


class IntNumRef(_Number):
    """A whole number."""

    as_long = _Number.numerator_as_long


class BitVecNumRef(_Number):
    """A number of some bits."""

    as_signed_long = _Number.numerator_as_long


_KINDS: dict[str, type[_Number]] = {"int": IntNumRef, "bits": BitVecNumRef, "real": _Number}


class SimpleSolver:
    """The solver without tactics."""

    def __init__(self, ctx: Context | None = None) -> None:
        self._question: dict[str, Any] = {"settings": {}}
        self._answer: dict[str, Any] = {}

    def set(self, name: str, value: float) -> None:
        """Change a setting."""
        self._question["settings"][name] = value

    def from_string(self, text: str) -> None:
        """Take assertions in SMT-LIB."""
        self._question["text"] = text

    def check(self) -> str:
        """The answer: sat, unsat or unknown."""
        self._answer = json.loads(z3_beside.ask(json.dumps(self._question)))
        if "error" in self._answer:
            raise Z3Exception(self._answer["error"])
        return str(self._answer["status"])

    def reason_unknown(self) -> str:
        """Why it does not know."""
        return str(self._answer["reason"])

    def model(self) -> Model:
        """The values of a question that is sat."""
        return Model(self._answer["model"])


class Model:
    """Values by name."""

    def __init__(self, values: dict[str, tuple[str, str]]) -> None:
        self._values = values

    def decls(self) -> list[str]:
        """The names."""
        return list(self._values)

    def __getitem__(self, name: str) -> _Number:
        kind, value = self._values[name]
        return _KINDS[kind](value)
