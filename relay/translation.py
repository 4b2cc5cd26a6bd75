"""Relay to Relax: a module in A-normal form, binding by binding."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from rlx.grammar.diagnostic import Diagnostic, Source
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import FuncStructInfo, StructInfo
from rlx.grammar.nodes.equal import structural_equal
from rlx.grammar.nodes.node import replace
from rlx.grammar.nodes.visit import callees_first
from rlx.grammar.read.parser import ParseError
from rlx.grammar.stack import recursion_room
from rlx.relay.anf import to_anf
from rlx.relay.derivation import NOTHING
from rlx.relay.function_translation import FunctionTranslation
from rlx.relay.nodes import RelayExpr, RelayFunction, RelayGlobalVar, RelayModule
from rlx.relay.scopes import Schedule
from rlx.relay.type_conversion import identifier

ROUNDS = 4
"""How often functions that call each other are derived, until their results stay."""


class Translation(NamedTuple):
    """A module of Relax, what there is to say about it, and where its names come from.

    Attributes
    ----------
    module
        The module; where there are errors, calls that could not be translated yield any value.
    diagnostics
        Errors of calls that the table does not translate, and notes.
    names
        The global variable of each function of Relay.
    signatures
        What is known of each function.
    losses
        Notes on what is not in the module, or is refused there: they say nothing of the program.
    """

    module: ast.IRModule
    diagnostics: tuple[Diagnostic, ...]
    names: Mapping[RelayGlobalVar, ast.GlobalVar]
    signatures: Mapping[RelayGlobalVar, StructInfo]
    losses: tuple[Diagnostic, ...] = ()


def to_relax(module: RelayModule) -> ast.IRModule:
    """The module in Relax, with the same values, effects and failures.

    Nodes become bindings in the scope that evaluates them, operators are those of the table, and
    each dimension ``?`` of a parameter becomes a shape variable. Operators that the table does not
    have become calls of packed functions of their name.

    Raises
    ------
    ParseError
        If a call has no translation: a wrong number of operands, an attribute of another kind;
        ``diagnostics`` says which.
    """
    found = translate(module)
    errors = tuple(d for d in found.diagnostics if d.is_error)
    if errors:
        raise ParseError(errors)
    return found.module


def translate(module: RelayModule, path: str = "<text>") -> Translation:
    """As :func:`to_relax`, with errors and notes in the result."""
    source = Source(module.text, path)
    normal = to_anf(module)
    names = _names(normal)
    with recursion_room():
        made = _settled(normal, names)
    functions = {names[var]: _public(made[var].function, names[var]) for var in normal.functions}
    said = _once(d for var in normal.functions for d in made[var].diagnostics)
    lost = _once(d for var in normal.functions for d in made[var].losses)
    return Translation(
        ast.IRModule(functions),
        tuple(replace(d, source=source) for d in said),
        names,
        {var: made[var].signature for var in normal.functions},
        tuple(replace(d, source=source) for d in lost),
    )


def _settled(
    normal: RelayModule, names: Mapping[RelayGlobalVar, ast.GlobalVar]
) -> dict[RelayGlobalVar, FunctionTranslation]:
    """The translation of each function: once more where what it calls became better known."""
    calls = {var: _called(function, normal) for var, function in normal.functions.items()}
    order = list(callees_first(calls))
    signatures: dict[ast.GlobalVar, StructInfo] = {
        names[var]: FuncStructInfo(None, NOTHING, True, "default") for var in order
    }
    made: dict[RelayGlobalVar, FunctionTranslation] = {}
    derived, changed, now = dict.fromkeys(order, -1), dict.fromkeys(order, 0), 0
    for _ in range(ROUNDS):
        for var in order:
            if derived[var] >= 0 and all(changed[callee] < derived[var] for callee in calls[var]):
                continue
            now += 1
            derived[var] = now
            done = made[var] = FunctionTranslation(normal.functions[var], names, signatures)
            if not _same(done.signature, signatures[names[var]]):
                changed[var] = now
            signatures[names[var]] = done.signature
    return made


def _names(module: RelayModule) -> dict[RelayGlobalVar, ast.GlobalVar]:
    """A global variable of Relax for each function."""
    taken: set[str] = set()
    found = {}
    for var in module.functions:
        base = name = identifier(var.name)
        number = 0
        while name in taken:
            number += 1
            name = f"{base}_{number}"
        taken.add(name)
        found[var] = ast.GlobalVar(name, var.span)
    return found


def _called(function: RelayFunction, module: RelayModule) -> list[RelayGlobalVar]:
    parts: Iterable[RelayExpr] = Schedule(function.body).uses
    return [p for p in parts if isinstance(p, RelayGlobalVar) and p in module.functions]


def _same(a: StructInfo, b: StructInfo) -> bool:
    """Whether two signatures say the same; without parameters they say nothing."""
    known = [getattr(info, "params", None) is not None for info in (a, b)]
    return structural_equal(a, b, map_free_vars=True) if all(known) else not any(known)


def _public(function: ast.Function, name: ast.GlobalVar) -> ast.Function:
    return replace(function, attrs={**function.attrs, "global_symbol": name.name_hint})


def _once(found: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Each note once, at its first place."""
    said: dict[tuple[str, object], Diagnostic] = {}
    for each in found:
        place = None if each.severity == "note" else each.span
        said.setdefault((each.message, place), each)
    return list(said.values())
