"""Comments that silence a diagnostic on their line: ``# rlx: ignore[D14-arity]``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from rlx.checker.driver.configuration import ALWAYS, matches
from rlx.grammar.diagnostic import Diagnostic, Edit, Source
from rlx.grammar.nodes.node import Record, Span
from rlx.grammar.read.comments import comments

_IGNORE = re.compile(r"#[ \t]*rlx:[ \t]*ignore\b(?:[ \t]*\[(?P<codes>[^\]\n#]*)\])?")
"""Codes end before the next comment, too: without their bracket, each would be read to the end."""


class Ignore(Record):
    """A comment that silences codes.

    Attributes
    ----------
    line
        The line that it stands on, from 1.
    span
        Where the comment stands, without what follows it on the line.
    codes
        The codes, rules or families, each with its place.
    """

    line: int
    span: Span
    codes: tuple[tuple[str, Span], ...]


def without_ignored(source: Source, diagnostics: Sequence[Diagnostic]) -> list[Diagnostic]:
    """The diagnostics that no comment silences, and a warning for each comment that silences
    nothing.

    A comment silences what begins or ends on its line.
    """
    found = list(ignores(source))
    if not found:
        return list(diagnostics)
    on_line: dict[int, list[Ignore]] = {}
    for ignore in found:
        on_line.setdefault(ignore.line, []).append(ignore)
    used: dict[Ignore, set[str]] = {ignore: set() for ignore in found}

    @cache  # a line may have many diagnostics of one code
    def silences(line: int, code: str) -> bool:
        silent = False
        for ignore in on_line.get(line, ()):
            selectors = [selector for selector, _ in ignore.codes if matches(selector, code)]
            used[ignore].update(selectors)
            silent = silent or bool(selectors)
        return silent

    kept = []
    for diagnostic in diagnostics:
        lines = () if diagnostic.code in ALWAYS else _lines(diagnostic, source)
        # All lines are asked, because each comment that silences it is used.
        silenced = [silences(line, diagnostic.code) for line in lines]
        if not any(silenced):
            kept.append(diagnostic)
    complete = not any(diagnostic.code in ALWAYS for diagnostic in diagnostics)
    for ignore, codes in used.items():
        kept += _unused(ignore, codes, source, complete)
    return kept


def ignores(source: Source) -> Iterator[Ignore]:
    """The comments of a text that silence something, in order."""
    for start, text in comments(source.text) if "rlx:" in source.text else ():
        for match in _IGNORE.finditer(text):
            line, _ = source.position(start)
            span = (start + match.start(), start + match.end())
            yield Ignore(line, span, tuple(_codes(match, start)))


def _codes(match: re.Match[str], start: int) -> Iterator[tuple[str, Span]]:
    if match["codes"] is None:
        return
    for word in re.finditer(r"[^\s,]+", match["codes"]):
        at = start + match.start("codes") + word.start()
        yield word[0], (at, at + len(word[0]))


def _lines(diagnostic: Diagnostic, source: Source) -> set[int]:
    """The lines on which a diagnostic begins and ends."""
    if diagnostic.span is None:
        return set()
    start, end = diagnostic.span
    return {source.position(start)[0], source.position(max(start, end - 1))[0]}


def _unused(ignore: Ignore, used: set[str], source: Source, complete: bool) -> Iterator[Diagnostic]:
    """The mistakes in a comment; in a text that could not be read, only those that are certain."""
    if not ignore.codes:
        yield Diagnostic(
            "IGNORE-codes",
            "warning",
            "this comment names no code to ignore",
            ignore.span,
            help="name the codes: # rlx: ignore[D14-arity]",
        )
        return
    idle = [(code, span) for code, span in ignore.codes if code not in used]
    if not idle or not complete:
        return
    for code, span in idle:
        if not _is_code(code):
            yield _misspelt(code, span)
            return
    names = ", ".join(code for code, _ in idle)
    left = [code for code, _ in ignore.codes if code in used]
    if left:
        span, help = idle[0][1], f"remove {names}"
        edit = Edit(ignore.span, f"# rlx: ignore[{', '.join(left)}]")
    else:
        span, help = ignore.span, "remove the comment"
        edit = Edit(_whole(ignore.span, source.text), "")
    words = f"nothing on this line is reported as {names}"
    yield Diagnostic("IGNORE-unused", "warning", words, span, help=help, edit=edit)


def _is_code(selector: str) -> bool:
    """Whether a selector names an existing code."""
    from rlx.checker.explain import codes

    return any(matches(selector, code) for code in codes())


def _misspelt(selector: str, span: Span) -> Diagnostic:
    """A selector that names no code, with the one that may be meant."""
    from rlx.checker.explain import codes
    from rlx.grammar.suggest import closest, did_you_mean

    known = {code.casefold(): code for code in codes()}
    meant = [known[near] for near in closest(selector.casefold(), known)]
    edit = Edit(span, meant[0]) if len(meant) == 1 else None
    words = f"no rule has the name {selector}"
    help = did_you_mean(meant) or "`relax-check --explain CODE` shows a rule"
    return Diagnostic("IGNORE-unused", "warning", words, span, help=help, edit=edit)


def _whole(span: Span, text: str) -> Span:
    """A comment with the space in front of it and the reason behind it."""
    start, end = span
    while start and text[start - 1] in " \t":
        start -= 1
    newline = text.find("\n", end)
    return start, len(text) if newline < 0 else newline
