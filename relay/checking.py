"""The check of a Relay text: its syntax, its names, and the types and shapes of its translation."""

from __future__ import annotations

from collections.abc import Mapping

from rlx.checker.check import Report, check_module, position
from rlx.checker.render.files import Obligations
from rlx.grammar.diagnostic import Source
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.node import replace
from rlx.relay.nodes import RelayModule
from rlx.relay.parser import read
from rlx.relay.translation import translate


class RelayReport(Report):
    """The result of checking a text of Relay; its obligations and ``modules`` are those of the
    translation.

    Attributes
    ----------
    module
        The module; None if the text has syntax errors.
    types
        The type of each function, as Relax has it.
    """

    module: RelayModule | None = None
    types: Mapping[str, ast.StructInfo] = {}


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
        return RelayReport(source, found.diagnostics, Obligations(), (), {}, (), frozenset(), None)
    made = translate(found.module, path)
    if any(d.is_error for d in made.diagnostics):
        listed = tuple(sorted(made.diagnostics, key=position))
        nothing = Obligations(), (), {}, (), frozenset(), None
        return RelayReport(source, listed, *nothing, found.module)
    report = check_module(made.module, source)
    wrong = [*made.diagnostics, *(replace(d, edit=None) for d in report.diagnostics)]
    types = {old.name: report.info[new] for old, new in made.names.items()}
    return RelayReport(
        source,
        tuple(sorted(wrong, key=position)),
        report.obligations,
        report.modules,
        report.info,
        report.statistics,
        report.poison,
        report.words,
        found.module,
        types,
    )
