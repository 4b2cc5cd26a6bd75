"""Shape computations: the expressions that `shape_` may be.

``ShapeCompExpr ::= ShapeExpr | RuntimeDepShape | Tuple | Call | TupleGetItem``; all but
:class:`RuntimeDepShape` are nodes of :mod:`rlx.grammar.nodes.ast`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Expr, Var
from rlx.grammar.nodes.node import tuple_text
from rlx.grammar.print.show import spelled_dim
from rlx.old.repeated import listed, once_for_each, text_of
from rlx.solver.prover import Prover
from rlx.solver.verdict import Proved


class RuntimeDepShape(Expr):
    """A shape that is known only at run time, or the shape of a value without one."""


UNKNOWN = RuntimeDepShape()


def inside(shape: Expr) -> tuple[Expr, ...]:
    """The shape computations, variables and constants that stand directly inside of one."""
    match shape:
        case ast.Tuple(fields=fields):
            return fields
        case ast.TupleGetItem(tuple_value=value):
            return (value,)
        case ast.Call(args=args):
            return args
    return ()


def all_parts(shape: Expr) -> Iterator[Expr]:
    """A shape computation and everything in it; what stands at several places only once."""
    left = [shape]
    seen: set[int] = set()
    while left:
        part = left.pop()
        if id(part) not in seen:
            seen.add(id(part))
            yield part
            left += reversed(inside(part))


def dims_of(shape: Expr) -> tuple[tir.PrimExpr, ...]:
    """The dimensions in the different parts of a shape computation, in order."""
    parts = (part for part in all_parts(shape) if isinstance(part, ast.ShapeExpr))
    return tuple(dim for part in parts for dim in part.values)


def free_shape_vars(shape: Expr) -> tuple[tir.Var, ...]:
    """The shape variables that a shape computation mentions, each once."""
    found = (var for dim in dims_of(shape) for var in tir.free_vars(dim))
    return tuple(dict.fromkeys(found))


def free_vars(shape: Expr) -> tuple[Var, ...]:
    """The Relax variables that a shape computation mentions, each once."""
    return tuple(dict.fromkeys(part for part in all_parts(shape) if isinstance(part, Var)))


def is_closed(shape: Expr, shape_vars: Collection[tir.Var], variables: Collection[Var]) -> bool:
    """Whether a shape computation mentions only variables that are in scope."""
    return all(v in shape_vars for v in free_shape_vars(shape)) and all(
        v in variables for v in free_vars(shape)
    )


@once_for_each
def can_prove_equal(one: Expr, other: Expr, prover: Prover) -> bool:
    """Whether two shape computations give the same shape for all sizes.

    RuntimeDepShape is equal to nothing, itself included.
    """
    match one, other:
        case ast.ShapeExpr(values=a), ast.ShapeExpr(values=b) if len(a) == len(b):
            return all(isinstance(prover.equal(x, y), Proved) for x, y in zip(a, b, strict=True))
        case ast.Tuple(fields=a), ast.Tuple(fields=b) if len(a) == len(b):
            return all(can_prove_equal(x, y, prover) for x, y in zip(a, b, strict=True))
        case ast.TupleGetItem(index=i), ast.TupleGetItem(index=k) if i == k:
            return can_prove_equal(one.tuple_value, other.tuple_value, prover)
        case ast.Call(), ast.Call():
            from rlx.grammar.nodes.equal import structural_equal

            return structural_equal(one, other)
    return False


def can_prove_not_equal(one: tir.PrimExpr, other: tir.PrimExpr, prover: Prover) -> bool:
    """Whether two dimensions differ for all sizes."""
    return prover.relate(one, other).kind == "never"


def text(shape: Expr) -> str:
    """A shape computation as people read it: ``(n, 4)``, ``RuntimeDepShape()``."""
    return text_of(shape, _pieces)


def _pieces(shape: Expr) -> Iterator[str | Expr]:
    match shape:
        case RuntimeDepShape():
            yield "RuntimeDepShape()"
        case ast.ShapeExpr(values=values):
            yield tuple_text([spelled_dim(value) for value in values])
        case ast.Tuple(fields=fields):
            yield from ("Tuple(", *listed(fields), ")")
        case ast.TupleGetItem(tuple_value=value, index=index):
            yield from ("TupleGetItem(", value, f", {index})")
        case ast.Call(op=op, args=args):
            name = op.op_name if isinstance(op, ast.Op) else str(op)
            yield from (f"{name.replace('relax.', 'R.', 1)}(", *listed(args), ")")
        case Var(name_hint=name):
            yield name
        case _:
            yield str(shape)
