"""The head of a function under construction: everything except its body."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import StructInfo
from rlx.grammar.nodes.python_places import Place
from rlx.grammar.nodes.struct_infos import bind_callable, binding_positions


def head_of(
    params: Sequence[ast.Var],
    attrs: Mapping[str, object],
    pure: bool,
    place: Place,
    result: StructInfo | None = None,
) -> ast.Function:
    """A function without a body. Its signature binds the shape variables that appear alone in
    it.
    """
    infos = [p.struct_info_annotation for p in params if p.struct_info_annotation is not None]
    alone = dict.fromkeys(
        v for info in infos for v in binding_positions(info) if type(v) is tir.Var
    )
    for info in (*infos, *([] if result is None else [result])):
        bind_callable(info, alone.keys())
    return ast.Function(
        tuple(params),
        ast.Tuple(()),
        result,
        None if pure else False,
        attrs,
        tuple(alone),
        name_span=place,
        span=place,
    )
