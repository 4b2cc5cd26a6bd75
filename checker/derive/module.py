"""The derivation of a module: from an `IRModule` to a table of struct info and what is wrong with
it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from rlx.checker.derive import calls, expressions, functions
from rlx.checker.derive.functions import bottom_up, prim_func
from rlx.checker.derive.naming import signature
from rlx.checker.derive.state import DerivationState, Rule
from rlx.grammar import ast, tir
from rlx.grammar.ast import IRModule, StructInfo
from rlx.grammar.diagnostic import Diagnostic
from rlx.grammar.node import Node, Record
from rlx.grammar.visit import recursion_room
from rlx.solver.budget import Statistics
from rlx.spec.registry import rule

RULES: Mapping[type[Node], Rule] = {
    ast.Var: expressions.variable,
    ast.DataflowVar: expressions.variable,
    ast.GlobalVar: expressions.variable,
    ast.Op: expressions.variable,
    ast.Constant: expressions.constant,
    ast.PrimValue: expressions.prim_value,
    ast.StringImm: expressions.string,
    ast.DataTypeImm: expressions.data_type,
    ast.Tuple: expressions.tuple_,
    ast.ShapeExpr: expressions.shape,
    ast.If: expressions.if_,
    ast.SeqExpr: expressions.seq_expr,
    ast.TupleGetItem: expressions.tuple_get_item,
    ast.ExternFunc: expressions.extern_func,
    ast.Call: calls.call,
    ast.Function: functions.function,
}
"""The rule for each kind of expression."""


class Derivation(Record):
    """What deriving a module gave.

    Attributes
    ----------
    info
        Struct info of every variable, global variable and expression.
    diagnostics
        In the order found.
    proved, refuted, unknown
        How many proof obligations there were of each kind.
    statistics
        What the prover was asked.
    poison
        Expressions that are wrong already.
    overwrites
        Whether some call overwrites an argument in place.
    lowered
        Whether the module handles memory or shapes by itself.
    places
        Arguments of which no device is known, with those that are expected: what propagation looks
        at.
    """

    info: Mapping[Node, StructInfo]
    diagnostics: tuple[Diagnostic, ...]
    proved: int = 0
    refuted: int = 0
    unknown: int = 0
    statistics: Statistics = Statistics()
    poison: frozenset[Node] = frozenset()
    overwrites: bool = False
    lowered: bool = False
    places: tuple[tuple[ast.Call, int, ast.VDevice], ...] = ()


def derive(
    module: IRModule,
    unknown_operators: set[str] | None = None,
    captured: Collection[Node] = (),
) -> Derivation:
    """Derive the struct info of everything in a module.

    Parameters
    ----------
    module
        Well-formed or not: what a variable that is not bound would be is left open without a word,
        as well-formedness reports it.
    unknown_operators
        Operators about which something was said already; those of this module are added.
    captured
        Variables, shape variables and annotations whose meaning Python around the program gives.
    """
    with recursion_room():
        unknown = set() if unknown_operators is None else unknown_operators
        known = set(unknown)
        state = DerivationState(module, RULES, unknown, captured)
        module_(state)
        doubted = _doubted(state)
        if doubted:
            again = DerivationState(module, RULES, known, captured)
            again.doubted = doubted
            module_(again)
            state = again if again.contradicted else state
    return Derivation(
        state.info_of,
        tuple(state.diagnostics),
        state.proved + state.discharged,
        state.refuted,
        state.unknown,
        state.prover.statistics,
        frozenset(state.poison),
        state.overwrites,
        state.lowered,
        tuple(state.places),
    )


def _doubted(state: DerivationState) -> dict[ast.Function, ast.GlobalVar]:
    """The functions whose bodies break their annotations, where that may be the reason of other
    errors.
    """
    if not state.contradicted or sum(d.severity == "error" for d in state.diagnostics) < 2:
        return {}
    return {f: gv for gv, f in state.module.functions.items() if f in state.contradicted}


@rule("D01", "1d5f8995", "module")
def module_(state: DerivationState) -> None:
    """Annotated functions are known to all; one without a result annotation to those derived after
    it.
    """
    relax: dict[ast.GlobalVar, ast.Function] = {}
    for gv, function in state.module.functions.items():
        if isinstance(function, tir.PrimFunc):
            state.info_of[gv] = prim_func(function)
        else:
            relax[gv] = function
            state.info_of[gv] = signature(function)
            if function.ret_struct_info is None or function in state.doubted:
                state.poison.add(gv)
    for gv in bottom_up(relax):
        function = relax[gv]
        info = state.info(function)
        if function.ret_struct_info is None:
            state.info_of[gv] = info
            if function not in state.poison:
                state.poison.discard(gv)
