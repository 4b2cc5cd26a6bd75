"""Structural equality up to the names of bound variables.

Two programs are equal if one becomes the other by renaming bound variables: Relax variables, shape
variables, variables and buffers of PrimFuncs. Functions of a module are matched by name. Spans,
comments, the name of the class and differences of spelling are ignored:

- a function without declared purity is pure;
- ``global_symbol`` may be omitted if it is the function's own name, and ``s_tir`` may always be
  omitted, because the spellings before 0.25 do not have it; a shape variable may be declared as a
  size (``is_size_var``), because 0.27 does not have it;
- a buffer may be a parameter or be matched in the body; an axis may repeat the range of its loop or
  leave it to ``T.axis.remap``;
- a cast that binds nothing binds ``_``;
- a match of shapes only may be written as a cast to the same annotation, because only the spellings
  of 2022 have both;
- ``ndim`` beside a shape literal is redundant.

The comparison uses an explicit stack instead of recursion, so the size of programs is not limited.
"""

from __future__ import annotations

from rlx.grammar.nodes import equal_relax, equal_tir
from rlx.grammar.nodes.comparison import SPECIAL, TreeComparison, TreeDifference
from rlx.grammar.nodes.node import Node

SPECIAL.update(equal_relax.SPECIAL)
SPECIAL.update(equal_tir.SPECIAL)


def structural_equal(a: Node, b: Node, map_free_vars: bool = False) -> bool:
    """Whether two nodes are equal up to the names of bound variables.

    Parameters
    ----------
    a, b
        Modules, functions, expressions, struct info, prim expressions or statements.
    map_free_vars
        Whether free variables may be paired one to one; otherwise a free variable is equal only to
        itself.
    """
    return first_difference(a, b, map_free_vars) is None


def first_difference(a: Node, b: Node, map_free_vars: bool = False) -> str | None:
    """The first difference of two nodes, or None if they are structurally equal.

    Returns
    -------
    str or None
        For instance ``functions["main"].body.blocks[0].bindings[2].value.args[1]: Var x is not Var
        y``.
    """
    found = difference(a, b, map_free_vars)
    return None if found is None else str(found)


def difference(a: Node, b: Node, map_free_vars: bool = False) -> TreeDifference | None:
    """Like :func:`first_difference`, with the path to the difference."""
    return None if a is b else TreeComparison(map_free_vars).run(a, b)
