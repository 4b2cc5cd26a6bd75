"""`relax-check --fix` and `--diff`: files mended in place, or what would be."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Callable, Iterator, Sequence

from rlx.checker.check import Report
from rlx.checker.driver.configuration import ALWAYS
from rlx.checker.driver.sources import STDIN, decode, displayed, encoding, read
from rlx.checker.driver.time_limit import UNABLE, Lost, each_limited
from rlx.checker.fixing import Mended, with_edits_applied
from rlx.checker.ignores import ignores
from rlx.grammar.alignment import unified_diff
from rlx.grammar.diagnostic import Diagnostic, Edit, Source
from rlx.grammar.lines import line_end, line_start
from rlx.grammar.nodes.node import Record, replace
from rlx.grammar.read.source_tokens import long_strings
from rlx.grammar.stack import recursion_room
from rlx.grammar.streams import complain_line, lines_of, visible
from rlx.writing import rewrite


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
    """Where a comment may stand on the line of a place; None on a line that goes on."""
    end = line_end(text, at)
    if any(start < end < stop for start, stop in long_strings(text)):
        return None
    return None if text[line_start(text, at) : end].endswith("\\") else end


class Fixed(Record):
    """A file whose text could be mended.

    Attributes
    ----------
    before
        The bytes of the file.
    old
        Its text, lines ended by a newline alone.
    """

    path: str
    before: bytes
    old: str
    mended: Mended

    def difference(self) -> str:
        """What changes, as a unified diff."""
        name = visible(displayed(self.path))
        old, new = (lines_of(text) for text in (self.old, self.mended.text))
        return "".join(_ended(unified_diff(old, new, name, name)))

    def write(self, within: Sequence[str] = ()) -> None:
        """Put the mended text into the file, with the line ends, the encoding and the mark that
        it had.

        Parameters
        ----------
        within
            The folders whose search found the file, which a link must not lead out of; empty if
            the user has named it.

        Raises
        ------
        OSError
            If it cannot be written; the file is then as it was.
        """
        text = self.mended.text
        if b"\r\n" in self.before:
            text = text.replace("\n", "\r\n")
        mark = BOM_UTF8 if self.before.startswith(BOM_UTF8) else b""
        made = text.encode(encoding(self.before, self.path))
        rewrite(self.path, mark + made, within=within)


def fixes(
    paths: Sequence[str],
    name_of_stdin: str | None = None,
    unread: list[tuple[str, int]] | None = None,
    *,
    make: Callable[[str, str], Mended],
) -> Iterator[Fixed]:
    """The files that can be mended.

    Parameters
    ----------
    unread
        Takes a line and an exit status for each file that cannot be mended; None where a check
        follows, which tells.
    make
        Mends a text, of which it is told the path, too.
    """
    unread = [] if unread is None else unread
    for done in each_limited(paths, lambda path: _fixed(path, name_of_stdin, make)):
        match done:
            case Fixed():
                yield done
            case Lost():
                unread.append((f"{displayed(done.path, name_of_stdin)}: {done}", done.status))
            case str():
                unread.append((done, UNABLE))


def _fixed(
    path: str, name_of_stdin: str | None, make: Callable[[str, str], Mended]
) -> Fixed | str | None:
    """A file that can be mended, why it cannot be read, or nothing."""
    try:
        data = read(path)
    except OSError as error:
        return f"{displayed(path)}: {error.strerror or error}"
    shown = displayed(path, name_of_stdin)
    source, problem = decode(data, shown)
    if problem is not None:
        return f"{shown}: {problem.message}"
    with recursion_room():
        done = make(source.text, shown)
    if done.text == source.text and path != STDIN:
        return None
    # the program itself stays in the process that checked it
    told = replace(done, report=replace(done.report, modules=(), info={}, statistics=()))
    return Fixed(path, data, source.text, told)


def apply(fixed: Fixed, prog: str, within: Sequence[str] = ()) -> bool:
    """Mend one file, and say so; False if it cannot be written."""
    try:
        fixed.write(within)
    except OSError as error:
        complain_line(f"{prog}: {fixed.path}: {error.strerror or error}")
        return False
    count = len(fixed.mended.applied)
    complain_line(f"{prog}: {fixed.path}: {count} {'edit' if count == 1 else 'edits'} made")
    return True


def _ended(lines: Iterator[str]) -> Iterator[str]:
    """The lines of a diff, also where the last one of a file has no end."""
    for line in lines:
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
