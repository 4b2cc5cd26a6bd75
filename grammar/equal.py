"""Structural equality up to the names of bound variables.

Two programs are equal if one becomes the other by renaming what they bind: Relax variables, shape
variables, variables and buffers of PrimFuncs. Functions of a module are matched by name. Spans,
comments, the name of the class and what only spelling decides do not count:

- a function that does not say whether it is pure is pure;
- ``global_symbol`` may be left out where it is the function's own name, and ``s_tir`` everywhere,
  since the spellings before 0.25 do not write it;
- a buffer may be a parameter or be matched in the body; an axis may repeat the range of its loop or
  leave it to ``T.axis.remap``;
- a cast that binds nothing binds ``_``;
- a match of shapes alone may be written as the cast to the same annotation, since only the
  spellings of 2022 have both;
- ``ndim`` beside a shape literal says nothing new.

Nothing here recurses over the program: pairs to compare stand on a stack, so its size is no limit.
"""

from __future__ import annotations

from rlx.grammar import equal_relax, equal_tir
from rlx.grammar.comparison import SPECIAL, TreeComparison, TreeDifference
from rlx.grammar.node import Node

SPECIAL.update(equal_relax.SPECIAL)
SPECIAL.update(equal_tir.SPECIAL)


def structural_equal(a: Node, b: Node, map_free_vars: bool = False) -> bool:
    """Whether two nodes are equal up to the names of what they bind.

    Parameters
    ----------
    a, b
        Modules, functions, expressions, struct info, prim expressions or statements.
    map_free_vars
        Whether variables that neither side binds may stand for each other, one for one; else such a
        variable is equal only to itself.
    """
    return first_difference(a, b, map_free_vars) is None


def first_difference(a: Node, b: Node, map_free_vars: bool = False) -> str | None:
    """Where two nodes first differ and how, or None if they are structurally equal.

    Returns
    -------
    str or None
        For instance ``functions["main"].body.blocks[0].bindings[2].value.args[1]: Var x is not Var
        y``.
    """
    found = difference(a, b, map_free_vars)
    return None if found is None else str(found)


def difference(a: Node, b: Node, map_free_vars: bool = False) -> TreeDifference | None:
    """As :func:`first_difference`, with the path to what differs."""
    return None if a is b else TreeComparison(map_free_vars).run(a, b)
