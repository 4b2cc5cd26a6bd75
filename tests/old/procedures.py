"""Shape computations as texts: `(n, 4)`, `Tuple((n,), (m,))`, `RuntimeDepShape`, `Call(x)`, `TupleGetItem(s, 0)`."""

from __future__ import annotations

import ast as python
from typing import Any

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Expr
from rlx.grammar.read.parser import parse_prim_expr
from rlx.old.shape_exprs import UNKNOWN
from rlx.old.substitution import UnificationError, map_shape_vars
from rlx.solver.prover import Prover


class ShapeReader:
    """Reads shape computations; one name is one variable."""

    def __init__(self) -> None:
        self.shape_vars: dict[str, tir.Var] = {}
        self.variables: dict[str, ast.Var] = {}

    def shape(self, text: str) -> Expr:
        """The shape computation that a text says."""
        return self._read(python.parse(text, mode="eval").body)

    def dim(self, text: str) -> tir.PrimExpr:
        """A dimension."""
        free = parse_prim_expr(text)
        from rlx.solver.order.substitute import substitute_prim

        return substitute_prim(
            free, {v: self.shape_vars.setdefault(v.name, v) for v in tir.free_vars(free)}
        )

    def _read(self, node: Any) -> Expr:
        match node:
            case python.Tuple(elts=dims):
                return ast.ShapeExpr(tuple(self.dim(python.unparse(dim)) for dim in dims))
            case python.Name(id="RuntimeDepShape"):
                return UNKNOWN
            case python.Name(id=name):
                return self.variables.setdefault(name, ast.Var(name))
            case python.Call(func=python.Name(id="Tuple"), args=fields):
                return ast.Tuple(tuple(map(self._read, fields)))
            case python.Call(func=python.Name(id="Call"), args=args):
                return ast.Call(ast.op("relax.shape_of"), tuple(map(self._read, args)))
            case python.Call(
                func=python.Name(id="TupleGetItem"), args=[value, python.Constant(value=int(index))]
            ):
                return ast.TupleGetItem(self._read(value), index)
        raise ValueError(python.unparse(node))


def called(text: str) -> str:
    """The code of the error that `map_shape_vars(p, a)` raises; empty where it raises none."""
    node = python.parse(text, mode="eval").body
    assert isinstance(node, python.Call) and isinstance(node.func, python.Name)
    assert node.func.id == "map_shape_vars"
    reader = ShapeReader()
    param, arg = (reader.shape(python.unparse(each)) for each in node.args)
    try:
        map_shape_vars(param, arg, {}, Prover())
    except UnificationError as error:
        return error.code
    return ""
