"""The whole check of a text by the specification of 2022."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from rlx.checker import check
from rlx.checker.check import Report
from rlx.grammar.diagnostic import Diagnostic, Source
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.node import Node
from rlx.old.derivation_state import OlderDerivation
from rlx.old.functions import derive
from rlx.old.well_formed import well_formed


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
    findings = _Findings()
    report = check.check_modules(modules, source, found, captured, findings)
    # A comment that silences nothing here may be for today's rules.
    kept = tuple(d for d in report.diagnostics if d.code != "IGNORE-unused")
    derivations = tuple(findings.derivations)
    return OlderReport(
        source,
        kept,
        report.obligations,
        report.modules,
        {},
        (),
        report.poison,
        report.words,
        derivations,
    )


class _Findings(check.Findings):
    """The diagnostics that the rules of 2022 report on the modules of a text."""

    def __init__(self) -> None:
        super().__init__()
        self.derivations: list[OlderDerivation] = []

    def look(self, module: ast.IRModule, captured: Collection[Node]) -> None:
        self.diagnostics += well_formed(module, captured)

    def derive(self, module: ast.IRModule, captured: Collection[Node]) -> None:
        derived = derive(module, captured)
        self.normal.append(module)
        self.derivations.append(derived)
        self.diagnostics += derived.diagnostics
        # Repeated annotations of a text are one object, whose mistakes are found several times.
        once = {(d.code, d.span, d.message): d for d in reversed(self.diagnostics)}
        self.diagnostics[:] = reversed(once.values())
        self.proved += derived.proved + derived.discharged
        self.refuted += derived.refuted
        self.unknown += derived.unknown
