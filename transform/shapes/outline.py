"""Outlining: part of a function becomes a new function, without loss of known shapes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Expr, StructInfo
from rlx.grammar.nodes.struct_infos import binding_positions
from rlx.solver.order import compatibility, erase, free_shape_vars, substitute
from rlx.transform.builder.builder import BlockBuilder


def outline(
    builder: BlockBuilder,
    name: str,
    inputs: Sequence[Expr],
    compute: Callable[..., Any],
    *,
    attrs: Mapping[str, object] | None = None,
    known: StructInfo | None = None,
) -> Expr:
    """Make a private function and a call of it; its parameters have the shapes of the inputs.

    Parameters
    ----------
    builder
        The builder, positioned in the function where the call is emitted.
    name
        The name of the function; a number is appended if the name is taken.
    inputs
        The arguments.
    compute
        Called with the parameters; emits the body, and returns the result.
    attrs
        Attributes of the function.
    known
        The known struct info of the result. If the struct info of the call is less precise, a cast
        is added.

    Returns
    -------
    Expr
        The call, or the variable that the cast binds.

    Raises
    ------
    BuildError
        If the body violates a rule.
    """
    parameters = Parameters(builder, inputs)
    with builder.function(
        builder.global_name(name), parameters.variables, attrs=attrs, private=True
    ) as gv:
        builder.emit_func_output(compute(*parameters.variables[: len(inputs)]))
    call = gv(*inputs, *parameters.sizes)
    if known is None:
        return call
    found = builder.struct_info(call)
    if compatibility(found, known, builder.prover).compatible:
        return call
    return builder.emit_match_cast(call, known)


class Parameters:
    """The parameters of a function that takes these values, with new shape variables.

    A shape variable that does not appear alone in any annotation is passed in a shape, so
    annotations can still use ``n * 2``.

    Attributes
    ----------
    variables
        The parameters; the last is a shape where :attr:`sizes` has one.
    sizes
        The argument for it, if there is one.
    renamed
        The function's shape variable for each of the caller's.
    """

    def __init__(self, builder: BlockBuilder, inputs: Sequence[Expr]) -> None:
        infos = [builder.struct_info(value) for value in inputs]
        infos = [erase(info, (), free_shape_vars(info)) for info in infos]
        in_scope = set(builder.shape_vars.values())
        alone = {value for info in infos for value in binding_positions(info)}
        mentioned = dict.fromkeys(v for info in infos for v in free_shape_vars(info))
        passed = [v for v in mentioned if v not in alone]
        if not in_scope.issuperset(passed):  # of such dimensions nothing can be said
            passed = [v for v in passed if v in in_scope]
            kept: set[tir.PrimExpr] = {*passed, *alone}
            infos = [erase(info, (), kept) for info in infos]  # type: ignore[arg-type]
        self.renamed: dict[Any, Any] = {v: tir.Var(v.name, v.dtype) for v in mentioned}
        self.variables = [
            ast.Var(
                value.name_hint if isinstance(value, ast.Var) else f"arg{at}",
                substitute(info, self.renamed),
            )
            for at, (value, info) in enumerate(zip(inputs, infos, strict=True))
        ]
        self.sizes: tuple[Expr, ...] = ()
        if passed:
            values = tuple(self.renamed[v] for v in passed)
            self.variables.append(ast.Var("sizes", ast.ShapeStructInfo(values, len(values))))
            self.sizes = (ast.ShapeExpr(tuple(passed)),)
