"""rlx: formal semantics and verification for Relax, the tensor-program IR of Apache TVM."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rlx.operators.external import operator

__all__ = ["operator"]


def __getattr__(name: str) -> Any:
    """What is imported only when it is asked for."""
    if name == "operator":
        from rlx.operators.external import operator

        return operator
    raise AttributeError(f"module 'rlx' has no attribute {name!r}")
