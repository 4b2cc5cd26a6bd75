"""The law of derivation: TVM's struct info of each variable is compatible with ours."""

from __future__ import annotations

from rlx.generate.campaign.finding import Finding, cause_of
from rlx.generate.campaign.oracles.case import Case, raised
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.node import replace
from rlx.grammar.nodes.rewrite import rebuild
from rlx.grammar.nodes.visit import bindings


def derive(case: Case) -> list[Finding]:
    """TVM derives every type anew and prints it as an annotation; our checker compares annotations
    with values.
    """
    from rlx.grammar.print.printer import print_module
    from rlx.grammar.read.parser import parse

    case.begin("derivation")
    if case.error(case.text) or case.peer is None:
        return []
    module, *_ = parse(case.text).modules
    bare = print_module(without_annotations(module))
    case.begin("TVM's derivation")
    try:
        printed = case.peer.print(case.peer.read(bare))
    except Exception as error:  # noqa: BLE001 - any error of the peer is a finding
        return [case.found("refuses-legal", "derive", raised(error))]
    case.begin("comparison of types")
    wrong = case.error(printed)
    if not wrong or case.error(bare):
        return []
    code, _, message = wrong.partition(": ")
    return [
        case.found("wrong-type", "derive", wrong, cause=f"{code} {cause_of(message)}", rule=code)
    ]


def without_annotations(module: ast.IRModule) -> ast.IRModule:
    """The module without annotations of the variables that are bound to values."""
    bound = {
        binding.var
        for binding in bindings(module)
        if isinstance(binding, ast.VarBinding) and not isinstance(binding.value, ast.Function)
    }
    made: ast.IRModule = rebuild(
        module,
        lambda node: replace(node, struct_info_annotation=None) if node in bound else node,
    )
    return made
