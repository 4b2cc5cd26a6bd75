"""Dimensions that are declared nowhere, and those that a body quotes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from rlx.grammar.diagnostic import Diagnostic
from rlx.grammar.node import Span
from rlx.grammar.suggest import closest_names, did_you_mean

if TYPE_CHECKING:
    from rlx.grammar.stretch_reader import StretchReader


def undeclared(
    reader: StretchReader, type_vars: Sequence[str], in_python: bool
) -> Iterator[Diagnostic]:
    """The errors of a definition that was read without another.

    A cast binds only what is declared. A signature declares its names by itself, but not in a text
    that declares others. The variables become holes: nothing more is said of them.
    """
    if any(d.severity == "error" for d in reader.reports.diagnostics):
        return
    coerce, holes = reader.context.coerce, reader.reports.holes
    known = {*type_vars, *reader.actions.definitions.named}
    dimensions = {*type_vars, *reader.scope.declared}
    if type_vars and not in_python:
        declared = known | dimensions
        for name, span in coerce.implicit.items():
            if name not in declared:
                yield _undeclared(name, span, f'{name} = TypeVar("{name}")', dimensions)
    for var, span in coerce.cast_to.items():
        if var.name not in known:
            holes.add(var)
            yield _undeclared(var.name, span, f"{var.name} = T.int64()", dimensions)
    for span, unbound in coerce.quoted:
        holes.update(unbound)
        words = "only a signature quotes dimensions: a body has them declared"
        yield Diagnostic("PARSE", "error", words, span, help="write it without quotes")


def _undeclared(name: str, span: Span, declaration: str, known: Iterable[str]) -> Diagnostic:
    help = did_you_mean(closest_names(name, known)) or f"declare it above: `{declaration}`"
    words = f"the dimension {name!r} is not declared"
    return Diagnostic("PARSE", "error", words, span, help=help)
