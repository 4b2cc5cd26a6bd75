"""Bindings cut out of a program as a small module, with the values that they take as inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.encoded import buffer_of
from rlx.grammar.nodes.node import Node, Record
from rlx.grammar.nodes.rewrite import rebuild
from rlx.grammar.nodes.struct_infos import binding_positions
from rlx.grammar.nodes.unused_names import Names
from rlx.grammar.nodes.visit import (
    called_globals,
    expressions,
    free_vars,
    reached_functions,
)
from rlx.operators.evaluation import numpy_dtype
from rlx.semantics.struct_info_of import struct_info_of
from rlx.semantics.values import Scalar, ShapeValue, Tensor, TupleValue, Value, values_inside
from rlx.solver.order import free_shape_vars, shape_vars_in


class CutOut(Record):
    """Bindings as a program.

    Attributes
    ----------
    module
        With one public function, which returns what the last binding binds.
    entry
        Its name.
    inputs
        Its arguments by the names of the parameters, in order.
    """

    module: ast.IRModule
    entry: str
    inputs: Mapping[str, Value]


def cut(
    module: ast.IRModule,
    bindings: Sequence[ast.VarBinding | ast.MatchCast],
    around: Mapping[Any, Any],
    infos: Mapping[Node, ast.StructInfo],
) -> CutOut | None:
    """Some bindings of a function, in order, as a module of their own.

    Parameters
    ----------
    module
        In normal form; what the bindings call comes along.
    around
        The values of the variables around them; shape variables have numbers.
    infos
        The derived types of variables.

    Returns
    -------
    CutOut or None
        None if they take a function, or an object, which no file can hold.
    """
    result = bindings[-1].var
    assert result is not None
    names = Names(separator="_")
    params: list[ast.Var] = []
    values: dict[str, Value] = {}
    mapped: dict[Node, Node] = {}

    def add(hint: str, info: ast.StructInfo, value: Value) -> ast.Var:
        param = ast.Var(names.new(hint), info)
        params.append(param)
        values[param.name_hint] = value
        return param

    bound = {binding.var for binding in bindings}
    whole = [binding.value for binding in bindings]
    for var in dict.fromkeys(var for part in whole for var in free_vars(part)):
        if var in bound:
            continue
        value = around.get(var)
        if not isinstance(value, Value) or not _is_data(value):
            return None
        mapped[var] = add(var.name_hint, _declared(var, infos, value), value)
    for part in whole:
        for node in expressions(part):
            if isinstance(node, ast.Constant) and node.data.shape not in (None, ()):
                value = constant(node.data)
                if value is None:
                    return None
                mapped[node] = add("weight", struct_info_of(value), value)
    for binding in bindings:
        own = binding.var
        if isinstance(own, ast.DataflowVar) or (own is not None and own.name_hint in values):
            info = own.struct_info_annotation
            mapped[own] = ast.Var(names.new(own.name_hint), info, shape_var=own.shape_var)
    made = [rebuild(binding, lambda node: mapped.get(node, node)) for binding in bindings]
    ties = _ties(params)
    named = dict.fromkeys(var for binding in made for var in shape_vars_in(binding))
    named |= dict.fromkeys(var for param in params for var in _free(param))
    needed = [var for var in named if var not in ties and var in around]
    if needed:
        sizes = ShapeValue(tuple(int(around[var]) for var in needed))
        add("sizes", ast.ShapeStructInfo(tuple(needed), len(needed)), sizes)
    called = dict.fromkeys(var for binding in made for var in called_globals(binding))
    functions = dict(module.functions)
    along = reached_functions(called, functions)
    entry = "main" if all(var.name_hint != "main" for var in along) else "cut_out"
    body = ast.SeqExpr((ast.BindingBlock(tuple(made)),), mapped.get(result, result))  # type: ignore[arg-type]
    shape_vars = tuple(dict.fromkeys(v for p in params for v in _free(p)))
    # Without their function it is not seen whether the bindings may have effects.
    impure = any(
        each.is_pure is False or "relax.force_pure" in each.attrs
        for each in module.relax_functions.values()
    )
    function = ast.Function(
        tuple(params),
        body,
        is_pure=False if impure else None,
        attrs={"global_symbol": entry},
        shape_vars=shape_vars,
    )
    kept = {var: f for var, f in module.functions.items() if var in along}
    small = ast.IRModule({ast.GlobalVar(entry): function, **kept}, name="Module")
    return CutOut(small, entry, values)


def _is_data(value: Value) -> bool:
    data = Tensor | ShapeValue | Scalar | TupleValue
    return all(isinstance(part, data) for part in values_inside([value]))


def _declared(var: ast.Var, infos: Mapping[Node, ast.StructInfo], value: Value) -> ast.StructInfo:
    """The type of a parameter: as it is derived, or that of its value where less is known."""
    info = infos.get(var) or var.struct_info_annotation
    if info is None or isinstance(info, ast.ObjectStructInfo):
        return struct_info_of(value)
    if isinstance(info, ast.TensorStructInfo) and not isinstance(info.shape, ast.ShapeExpr):
        return struct_info_of(value)
    if isinstance(info, ast.TupleStructInfo) and isinstance(value, TupleValue):
        return struct_info_of(value) if not all(map(_is_plain, info.fields)) else info
    return info


def _is_plain(info: ast.StructInfo) -> bool:
    return isinstance(info, ast.TensorStructInfo) and isinstance(info.shape, ast.ShapeExpr)


def constant(literal: ast.Literal) -> Value | None:
    """The tensor of a constant; None if its data are not known."""
    kind = numpy_dtype(literal.dtype)
    if literal.content is not None:
        return Tensor(np.frombuffer(buffer_of(literal.content), kind).reshape(literal.shape or ()))
    if literal.value is None:
        return None
    return Tensor(np.asarray(literal.value, kind).reshape(literal.shape or ()))


def _free(param: ast.Var) -> tuple[tir.Var, ...]:
    info = param.struct_info_annotation
    return () if info is None else free_shape_vars(info)


def _ties(params: Sequence[ast.Var]) -> set[tir.Var]:
    """The shape variables that a parameter binds: those that are a dimension by themselves."""
    infos = [param.struct_info_annotation for param in params]
    dims = (dim for info in infos if info is not None for dim in binding_positions(info))
    return {dim for dim in dims if isinstance(dim, tir.Var)}
