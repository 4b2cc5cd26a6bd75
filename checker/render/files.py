"""The results of the check of one file, and their totals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from rlx.grammar.diagnostic import Diagnostic, Source
from rlx.grammar.nodes.node import Record

if TYPE_CHECKING:
    from rlx.checker.dynamic_checks.listing import Listed
    from rlx.checker.questions import Questions
    from rlx.grammar.nodes.ast import IRModule


class Obligations(Record):
    """The number of proved, refuted and undecided proof obligations."""

    proved: int = 0
    refuted: int = 0
    unknown: int = 0


class DefinitionCounts(Record):
    """The number of definitions read: modules, Relax functions and PrimFuncs."""

    modules: int = 0
    functions: int = 0
    prim_funcs: int = 0

    @property
    def total(self) -> int:
        """Functions of both kinds."""
        return self.functions + self.prim_funcs


class FileReport(Record):
    """The result of checking one file.

    Attributes
    ----------
    path
        As the command names it.
    source
        The text that the diagnostics point into; None where it could not be read, or nothing points
        into it.
    diagnostics
        In order of position.
    outcome
        ``"checked"``; ``"unreadable"`` where the file could not be read; ``"late"`` where it took
        longer than the time limit; ``"killed"`` where something else ended its process;
        ``"crashed"`` where the checker failed.
    dynamic_checks
        The run-time checks by place, none of a file with errors; None if they were not asked for.
    questions
        What the prover was asked; None if it was not asked for.
    derivations
        Why everything is what it is, as :mod:`rlx.checker.why.json` describes; None where nobody
        asked.
    read
        The definitions that were read; None if the text was not parsed.
    """

    path: str
    source: Source | None
    diagnostics: tuple[Diagnostic, ...] = ()
    obligations: Obligations = Obligations()
    outcome: str = "checked"
    dynamic_checks: tuple[Listed, ...] | None = None
    questions: Questions | None = None
    derivations: Mapping[str, object] | None = None
    read: DefinitionCounts | None = None


class Summary(Record):
    """Totals over files."""

    files: int
    errors: int
    warnings: int
    notes: int
    obligations: Obligations
    read: DefinitionCounts


def summarise(files: Sequence[FileReport]) -> Summary:
    """Add up files."""
    number = Counter(d.severity for file in files for d in file.diagnostics)
    held = [file.obligations for file in files]
    obligations = Obligations(
        sum(each.proved for each in held),
        sum(each.refuted for each in held),
        sum(each.unknown for each in held),
    )
    known = [file.read for file in files if file.read is not None]
    read = DefinitionCounts(
        sum(each.modules for each in known),
        sum(each.functions for each in known),
        sum(each.prim_funcs for each in known),
    )
    return Summary(
        len(files), number["error"], number["warning"], number["note"], obligations, read
    )


def definitions_of(modules: Iterable[IRModule]) -> DefinitionCounts:

    named = functions = prim_funcs = 0
    for module in modules:
        named += not module.bare
        prims = len(module.prim_funcs)
        prim_funcs += prims
        functions += len(module.functions) - prims
    return DefinitionCounts(named, functions, prim_funcs)


def counterexample(diagnostic: Diagnostic) -> str:
    """The values for which it goes wrong, ``n = 1, m = 2``; nothing if there are none, or a note
    says them.
    """
    values = ", ".join(f"{k} = {v}" for k, v in (diagnostic.counterexample or {}).items())
    return "" if any(values in note for note in diagnostic.notes) else values
