"""NumPy and tensor expressions for the files of operators. Checking a program needs neither: they
are imported at their first use.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["externals", "later", "linear", "ml_dtypes", "np", "scalars", "te"]


class LateModule:
    """A module that is imported at the first use of an attribute."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> object:
        if attribute.startswith("__"):  # asked by tools that look at all values of a file
            raise AttributeError(attribute)
        value: object = getattr(import_module(self._name), attribute)
        setattr(self, attribute, value)
        return value


if TYPE_CHECKING:
    import ml_dtypes
    import numpy as np

    from rlx import te
    from rlx.te import external as externals
    from rlx.te import linear
    from rlx.te import scalar as scalars
else:
    np, ml_dtypes = LateModule("numpy"), LateModule("ml_dtypes")
    te, scalars = LateModule("rlx.te"), LateModule("rlx.te.scalar")
    externals, linear = LateModule("rlx.te.external"), LateModule("rlx.te.linear")


def later(module: object, name: str) -> Callable[..., Any]:
    """A function of a late module, for tables."""

    def function(*args: Any, **kwargs: Any) -> Any:
        return getattr(module, name)(*args, **kwargs)

    return function
