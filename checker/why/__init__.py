"""Derivation trees: the rules that the checker applied, recorded during the check.

`rlx why FILE:LINE[:COLUMN]` is :mod:`rlx.commands.why`. The way there: :mod:`recorder` notes
which rule answered for what, :mod:`place` finds what stands at a place, :mod:`build` turns records
into steps, and :mod:`text` and :mod:`json` show them. None of it decides anything: every rule,
verdict and struct info in a tree is one that the checker itself came to.
"""
