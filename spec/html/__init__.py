"""`python -m rlx.spec html OUT`: the specification as pages that need no server.

One page a chapter, each rule typeset as an inference with its premises over a bar; rules, codes,
constructs and the entries of the ledger are linked wherever a text names them, and every page
searches all of it. The pages are made from `spec/*.md` alone and ask for nothing from elsewhere.
"""

from rlx.spec.html.site import build

__all__ = ["build"]
