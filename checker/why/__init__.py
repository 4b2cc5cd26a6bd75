"""Why: which rules gave what the checker knows, recorded while it runs and shown as a tree.

`rlx why FILE:LINE[:COLUMN]` is :mod:`rlx.commands.why`. The way there: :mod:`recorder` notes
which rule answered for what, :mod:`place` finds what stands at a place, :mod:`build` turns records
into steps, and :mod:`text` and :mod:`json` show them. None of it decides anything: every rule,
verdict and struct info in a tree is one that the checker itself came to.
"""
