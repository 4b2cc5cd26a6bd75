"""The check of a module in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlx.subject import is_of_tvm

if TYPE_CHECKING:
    from rlx.checker.check import Report


def check(module: object) -> Report:
    """Check a module of TVM; the places in the report are those of its text.

    Parameters
    ----------
    module
        A ``tvm.IRModule``, or a function of Relax.

    Raises
    ------
    TypeError
        If it is not an object of TVM; :func:`rlx.check` also takes paths and texts.
    """
    if not is_of_tvm(module):
        raise TypeError(
            f"expected a tvm.IRModule, found {type(module).__name__}: rlx.check takes paths and"
            " texts"
        )
    from rlx.api import check as check_subject

    return check_subject(module)
