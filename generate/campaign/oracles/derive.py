"""Types: what the other side derives for each variable is compatible with the rules of
derivation.
"""

from __future__ import annotations

from rlx.generate.campaign.finding import Finding
from rlx.generate.campaign.oracles.case import Case, raised
from rlx.grammar import ast
from rlx.grammar.node import replace


def derive(case: Case) -> list[Finding]:
    """TVM derives every type anew and prints it as an annotation; our checker compares annotations
    with values.
    """
    from rlx.grammar.parser import parse
    from rlx.grammar.printer import print_module

    case.begin("derivation")
    if case.errors() or case.peer is None:
        return []
    bare = print_module(without_annotations(parse(case.text).modules[0]))
    case.begin("TVM's derivation")
    try:
        printed = case.peer.print(case.peer.read(bare))
    except Exception as error:  # noqa: BLE001 - whatever the peer raises is what is looked for
        return [case.found("refuses-legal", "derive", raised(error))]
    case.begin("comparison of types")
    wrong = case.errors(printed)
    if not wrong or case.errors(bare):
        return []
    code = wrong[0].partition(":")[0]
    return [
        case.found("wrong-type", "derive", wrong[0], cause=f"{code} {_about(wrong[0])}", rule=code)
    ]


def _about(message: str) -> str:
    from rlx.generate.campaign.finding import cause_of

    return cause_of(message.partition(": ")[2])


def without_annotations(module: ast.IRModule) -> ast.IRModule:
    """The module with no annotation on any variable that is bound to a value."""
    from rlx.grammar.rewrite import rebuild
    from rlx.grammar.visit import bindings

    bound = {
        binding.var
        for function in module.functions.values()
        if isinstance(function, ast.Function)
        for binding in bindings(function)
        if isinstance(binding, ast.VarBinding) and not isinstance(binding.value, ast.Function)
    }
    made: ast.IRModule = rebuild(
        module,
        lambda node: replace(node, struct_info_annotation=None) if node in bound else node,
    )
    return made
