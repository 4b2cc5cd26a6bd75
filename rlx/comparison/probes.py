"""A module that shows its values while TVM runs it: after each binding, a packed function takes the
value, and returns a copy under the name of the binding.

Probes do not change what is pure, what is in a dataflow block, or which way a run takes. They keep
passes from joining what stands before and behind them.
"""

from __future__ import annotations

from collections.abc import Mapping

from rlx.comparison.follow import computes
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import INT64
from rlx.grammar.nodes.node import Node, replace
from rlx.grammar.nodes.rewrite import rebuild
from rlx.semantics.values import MANY

PROBE = "rlx.compare.probe"
"""The packed function."""


def shown(info: ast.StructInfo | None) -> bool:
    """Whether a value of a type can be shown: tensors can, and tuples of them, if not very many."""
    counts: dict[ast.StructInfo, int] = {}

    def count(part: ast.StructInfo | None) -> int:
        if not isinstance(part, ast.TupleStructInfo):
            return 1 if isinstance(part, ast.TensorStructInfo) else 0
        if part not in counts:
            each = list(map(count, part.fields))
            counts[part] = sum(each) if all(each) else 0
        return counts[part]

    return 0 < count(info) <= MANY


def probed(
    module: ast.IRModule, infos: Mapping[Node, ast.StructInfo]
) -> tuple[ast.IRModule, dict[ast.Var, int]]:
    """A module with probes, and the number of the probe of each variable.

    Parameters
    ----------
    module
        In normal form.
    infos
        The derived types of its variables.
    """
    numbers: dict[ast.Var, int] = {}

    def change(node: Node) -> Node:
        if not isinstance(node, ast.BindingBlock):
            return node
        made: list[ast.Binding] = []
        for binding in node.bindings:
            if not isinstance(binding, ast.VarBinding) or not computes(binding.value):
                made.append(binding)
                continue
            var = binding.var
            info = infos.get(var)
            if info is None or not shown(info):
                made.append(binding)
                continue
            number = numbers[var] = len(numbers)
            before = type(var)(f"{var.name_hint}_", info)
            probe = ast.Call(
                ast.Op("relax.call_pure_packed"),
                (ast.ExternFunc(PROBE), before, ast.PrimValue(tir.IntImm(number, INT64))),
                sinfo_args=(info,),
            )
            made += [replace(binding, var=before), ast.VarBinding(var, probe)]
        return replace(node, bindings=tuple(made))

    return rebuild(module, change), numbers
