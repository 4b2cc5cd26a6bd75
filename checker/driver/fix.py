"""`relax-check --fix` and `--diff`: write the fixed files, or show the changes."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Callable, Iterator, Sequence

from rlx.checker.driver.sources import STDIN, decode, displayed, encoding, read
from rlx.checker.driver.time_limit import Lost, each_limited
from rlx.checker.fixing import Mended
from rlx.grammar.alignment import unified_diff
from rlx.grammar.nodes.node import Record, replace
from rlx.grammar.processes import UNABLE
from rlx.grammar.stack import recursion_room
from rlx.grammar.streams import complain_line, lines_of, visible
from rlx.grammar.wording import counted
from rlx.writing import rewrite


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
        """The changes as a unified diff."""
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
    edits = counted(len(fixed.mended.applied), "edit")
    complain_line(f"{prog}: {fixed.path}: {edits} made")
    return True


def _ended(lines: Iterator[str]) -> Iterator[str]:
    """The lines of a diff, also where the last one of a file has no end."""
    for line in lines:
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
