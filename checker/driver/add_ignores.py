"""`relax-check --add-ignores`: comments that silence the current diagnostics of a text."""

from __future__ import annotations

from collections.abc import Callable

from rlx.checker.check import Report
from rlx.checker.driver.configuration import ALWAYS
from rlx.checker.fixing import Mended, with_edits_applied
from rlx.checker.ignores import ignores
from rlx.grammar.diagnostic import Diagnostic, Edit, Source
from rlx.grammar.lines import line_end, line_start
from rlx.grammar.read.source_tokens import long_strings


def with_ignores(
    text: str, path: str, check: Callable[[str, str], Report], reports: Callable[[Diagnostic], bool]
) -> Mended:
    """A text with a comment on each line of which something is reported.

    Parameters
    ----------
    reports
        Whether a diagnostic is reported.
    """
    before = check(text, path)
    source = Source(text, path)
    there = {each.line: each for each in ignores(source)}
    wanted: dict[int, dict[str, None]] = {}
    for found in before.diagnostics:
        if found.code in ALWAYS or found.rule in ("IGNORE", "PARSE") or found.span is None:
            continue
        at = next(filter(None, (_end(text, place) for place in found.span)), None)
        if at is not None and reports(found):
            wanted.setdefault(at, {})[found.code] = None
    edits = []
    for at, codes in wanted.items():
        known = there.get(source.position(at)[0])
        if known is None:
            edits.append(Edit((at, at), f"  # rlx: ignore[{', '.join(codes)}]"))
        elif known.codes:
            inside = known.codes[-1][1][1]
            edits.append(Edit((inside, inside), "".join(f", {code}" for code in codes)))
    told = tuple(d for d in before.diagnostics if d.code in {c for w in wanted.values() for c in w})
    made = with_edits_applied(text, edits)
    return Mended(made, told if edits else (), check(made, path) if edits else before)


def _end(text: str, at: int) -> int | None:
    """The offset for a comment on the line of a place; None on a line that goes on."""
    end = line_end(text, at)
    if any(start < end < stop for start, stop in long_strings(text)):
        return None
    return None if text[line_start(text, at) : end].endswith("\\") else end
