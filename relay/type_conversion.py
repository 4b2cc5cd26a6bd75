"""Types of Relay as struct info of Relax: dimensions become shape variables."""

from __future__ import annotations

from collections.abc import Collection

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.node import replace
from rlx.grammar.nodes.struct_infos import OBJECT
from rlx.grammar.nodes.unused_names import Names
from rlx.relay.nodes import RelayFuncType, RelayTensorType, RelayTupleType, RelayType
from rlx.spec.registry import rule


class Dimensions:
    """The shape variables of a function.

    Attributes
    ----------
    named
        Those that the text names.
    known
        Those that are bound here or by a function around this one.
    """

    def __init__(self, names: Names) -> None:
        self.named: dict[str, tir.Var] = {}
        self.known: set[tir.Var] = set()
        self._names = names

    def inner(self) -> Dimensions:
        """The dimensions of a function inside this one, which are these at first."""
        made = Dimensions(self._names)
        made.named.update(self.named)
        made.known.update(self.known)
        return made

    def name(self, name: str) -> tir.Var:
        """The variable for a dimension that has a name."""
        if name not in self.named:
            self.named[name] = self.fresh(name)
        return self.named[name]

    def fresh(self, hint: str) -> tir.Var:
        """A variable with a name that nothing else has."""
        return tir.Var(self._names.new(hint))


@rule("RL-any", "Relay translation")
def struct_info(type_: RelayType | None, dims: Dimensions, hint: str | None) -> ast.StructInfo:
    """The struct info of a type.

    Parameters
    ----------
    hint
        What a dimension that is not known (``?``) is called: each becomes a variable of its own.
        None where no variable may be bound, in results: a shape with such a dimension is not known.
    """
    match type_:
        case RelayTensorType(shape=shape, dtype=kind, span=span):
            if hint is None and None in shape:
                return ast.TensorStructInfo(None, kind, len(shape), None, span)
            values = tuple(_dim(dim, dims, hint or "") for dim in shape)
            return ast.TensorStructInfo(ast.ShapeExpr(values, span), kind, len(shape), None, span)
        case RelayTupleType(fields=fields):
            return ast.TupleStructInfo(tuple(struct_info(field, dims, hint) for field in fields))
        case RelayFuncType():
            params = tuple(struct_info(param, dims, None) for param in type_.params)
            return ast.FuncStructInfo(params, struct_info(type_.ret, dims, None))
    return OBJECT


def _dim(dim: int | str | None, dims: Dimensions, hint: str) -> tir.PrimExpr:
    if dim is None:
        return dims.fresh(hint)
    return dims.name(dim) if isinstance(dim, str) else tir.IntImm(dim)


def with_binders(info: ast.StructInfo, known: Collection[tir.Var]) -> ast.StructInfo:
    """A type of functions that binds the variables of its parameters which nothing else binds."""
    match info:
        case ast.FuncStructInfo(params=params) if params is not None:
            from rlx.solver.order import free_shape_vars

            found = dict.fromkeys(v for p in params for v in free_shape_vars(p) if v not in known)
            return replace(info, binders=tuple(found))
        case ast.TupleStructInfo(fields=fields):
            return ast.TupleStructInfo(tuple(with_binders(field, known) for field in fields))
    return info


def identifier(name: str) -> str:
    """A name as Relax can write it."""
    import re
    from keyword import iskeyword

    plain = re.sub(r"\W", "_", name)
    if not plain or plain[0].isdigit() or iskeyword(plain) or plain in ("R", "T", "I", "cls"):
        plain = f"v_{plain}"
    return plain
