"""Errors of a builder: the checker's diagnostics, located at the user's Python code that emitted
the value.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from rlx.grammar.diagnostic import Diagnostic
from rlx.grammar.nodes.node import replace
from rlx.grammar.nodes.python_places import Place


class BuildError(ValueError):
    """An emitted value violates a rule, or the builder was used in the wrong order. The builder
    continues as if the call had not been made.

    The message begins with ``file:line:column: error[CODE]: …``, the line and column of the call
    that emitted the value.

    Attributes
    ----------
    diagnostics
        All errors, as `relax-check` reports them; empty if only the order of calls is wrong.
    """

    def __init__(self, message: str, diagnostics: Sequence[Diagnostic] = ()) -> None:
        super().__init__(message)
        self.diagnostics = tuple(diagnostics)

    @property
    def code(self) -> str | None:
        """The code of the first diagnostic."""
        return self.diagnostics[0].code if self.diagnostics else None


class BuildWarning(UserWarning):
    """An emitted value may violate a rule for some values."""


def misuse(message: str, place: Place) -> BuildError:
    """The error for calls in the wrong order."""
    start, _ = place
    line, column = place.source.position(start)
    return BuildError(f"{place.source.path}:{line}:{column}: error: {message}")


def violation(found: Sequence[Diagnostic], place: Place) -> BuildError:
    """The error for violations of rules."""
    located = [at_python(diagnostic, place) for diagnostic in found]
    errors = [d for d in located if d.is_error] or located
    return BuildError("\n\n".join(map(shown, errors)), located)


def warn(diagnostic: Diagnostic, place: Place) -> None:
    """Report possible violations as Python warnings."""
    start, _ = place
    line, _ = place.source.position(start)
    warnings.warn_explicit(shown(diagnostic), BuildWarning, place.source.path, line)


def at_python(diagnostic: Diagnostic, place: Place) -> Diagnostic:
    """A diagnostic that points into Python code. Parts without a location there point at the call
    that emitted the value.
    """
    span = diagnostic.span if isinstance(diagnostic.span, Place) else place
    source = span.source
    related = tuple(
        label
        for label in diagnostic.related
        if isinstance(label.span, Place) and label.span.source is source
    )
    advice = _ADVICE.get(diagnostic.code, diagnostic.help)
    return replace(diagnostic, span=span, source=source, related=related, edit=None, help=advice)


_ADVICE = {
    "WF01-escape": "export it: `y = bb.emit_output(x)` in the dataflow block, and use `y` behind it"
}
"""What to write in Python, where the advice for texts is another one."""


def shown(diagnostic: Diagnostic) -> str:
    """A diagnostic as text: its location, the lines of the code, the notes and the help."""
    from rlx.checker.render.files import FileReport, Obligations
    from rlx.checker.render.human import render_diagnostic

    assert diagnostic.source is not None
    report = FileReport(
        diagnostic.source.path, diagnostic.source, (diagnostic,), Obligations(0, 0, 0)
    )
    drawn = render_diagnostic(diagnostic, report).split("\n")
    return "\n".join([str(diagnostic), *drawn[2:]])
