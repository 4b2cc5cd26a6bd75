"""The check of a Relay text: its syntax, its names, and the types and shapes of its translation."""

from __future__ import annotations

from collections.abc import Mapping

from rlx.checker.check import check_module
from rlx.checker.render.files import Obligations
from rlx.grammar.diagnostic import Diagnostic, Source
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.node import Record, replace
from rlx.relay.nodes import RelayModule
from rlx.relay.parser import read
from rlx.relay.translation import translate


class RelayReport(Record):
    """What the check of a text found.

    Attributes
    ----------
    source
        The text.
    diagnostics
        In order of position.
    obligations
        How many proof obligations of operators were proved, refuted, and left unknown.
    module
        The module; None if the text has syntax errors.
    types
        The type of each function, as Relax has it.
    """

    source: Source
    diagnostics: tuple[Diagnostic, ...]
    obligations: Obligations
    module: RelayModule | None
    types: Mapping[str, ast.StructInfo]

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The diagnostics of severity ``"error"``."""
        return tuple(d for d in self.diagnostics if d.is_error)

    @property
    def ok(self) -> bool:
        """Whether there is no error; warnings and notes may be there."""
        return not self.errors


def check(text: str, path: str = "<text>") -> RelayReport:
    """Check a text of Relay.

    The types of values are those of its translation to Relax, and so are the proof obligations of
    its operators; diagnostics point into the text of Relay.

    Parameters
    ----------
    text
        A text in Relay's format.
    path
        The path in messages.
    """
    source = Source(text, path)
    found = read(text, path)
    if found.module is None:
        return RelayReport(source, found.diagnostics, Obligations(), None, {})
    made = translate(found.module, path)
    wrong = list(made.diagnostics)
    types: dict[str, ast.StructInfo] = {}
    counted = Obligations()
    if not any(d.is_error for d in wrong):
        report = check_module(made.module, source)
        wrong += [replace(d, source=source, edit=None) for d in report.diagnostics]
        counted = report.obligations
        types = {old.name: report.info[new] for old, new in made.names.items()}
    listed = sorted(wrong, key=lambda d: d.span or (0, 0))
    return RelayReport(source, tuple(listed), counted, found.module, types)
