"""The whole check of a text by the specification of 2022."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from rlx.checker.check import Report
from rlx.checker.prim_funcs.check import prim_funcs
from rlx.checker.render.files import Obligations
from rlx.grammar.diagnostic import Diagnostic, Source
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.node import Node, replace
from rlx.grammar.stack import recursion_room
from rlx.old.derivation_state import OlderDerivation
from rlx.old.functions import derive
from rlx.old.well_formed import well_formed

_ORDER = {"error": 0, "warning": 1, "note": 2}


class OlderReport(Report):
    """The result of checking a text by the specification of 2022.

    Attributes
    ----------
    derivations
        The types and shapes of each module.
    """

    derivations: tuple[OlderDerivation, ...] = ()


def check_text(text: str, path: str = "<text>") -> OlderReport:
    """Check a text of any dialect by the rules of 2022.

    Constructs that its types and expressions cannot express are errors of their own (OMIX-…).
    """
    from rlx.grammar.read.parser import parse

    parsed = parse(text, path)
    return check_modules(parsed.modules, parsed.source, parsed.diagnostics, parsed.captured)


def check_modules(
    modules: Sequence[ast.IRModule],
    source: Source,
    found: Sequence[Diagnostic] = (),
    captured: Collection[Node] = (),
) -> OlderReport:
    """Check modules of one text; see :func:`rlx.checker.check.check_modules`."""
    try:
        return _check(modules, source, found, captured)
    except RecursionError:
        words = "the values are nested too deeply for the check"
        deep = Diagnostic("PARSE", "error", words, None, source=source)
        return OlderReport(source, (*found, deep), Obligations(), (), {})


def _check(
    modules: Sequence[ast.IRModule],
    source: Source,
    found: Sequence[Diagnostic],
    captured: Collection[Node],
) -> OlderReport:
    diagnostics = list(found)
    derivations: list[OlderDerivation] = []
    with recursion_room():
        for module in modules:
            diagnostics += well_formed(module, captured)
            if any(isinstance(function, tir.PrimFunc) for function in module.functions.values()):
                # The document leaves PrimFuncs to a specification of their own.
                wrong = [d.span for d in found if d.is_error and d.span is not None]
                diagnostics += prim_funcs(module, source, wrong, captured)
            derived = derive(module, captured)
            derivations.append(derived)
            diagnostics += derived.diagnostics
    told = tuple(replace(d, source=source) for d in sorted(_once(diagnostics), key=_position))
    operators = [derived.operators for derived in derivations]
    obligations = Obligations(
        sum(each.proved + each.discharged for each in operators),
        sum(each.refuted for each in operators),
        sum(each.unknown for each in operators),
    )
    return OlderReport(source, told, obligations, tuple(modules), {}, (), tuple(derivations))


def _once(diagnostics: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Each diagnostic once: annotations that a text repeats are one object."""
    seen = {(d.code, d.span, d.message): d for d in reversed(diagnostics)}
    return [d for d in seen.values()]


def _position(diagnostic: Diagnostic) -> tuple[tuple[int, ...], int, str]:
    """In order of places, first what has none."""
    return diagnostic.span or (), _ORDER[diagnostic.severity], diagnostic.code
