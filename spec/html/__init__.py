"""`python -m rlx.spec html OUT`: the specification as pages that need no server.

One page a chapter, each rule typeset as an inference with its premises over a bar; rules, codes,
constructs and the entries of the ledger are linked wherever a text names them, and every page
searches all of it. The pages are made from `spec/*.md` alone and ask for nothing from elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rlx.spec.html.site import build

__all__ = ["build"]


def __getattr__(name: str) -> object:
    """Pages need the package markdown-it-py, colours and signs do not."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from rlx.spec.html.site import build

    return build
