"""The page of a folder of findings, made from the files: `python -m rlx.generate.campaign.index
findings`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from rlx.generate.campaign.finding_file import KINDS, EntryError, FindingFile, read_entries
from rlx.grammar.command_line import CommandParser
from rlx.grammar.streams import say_line, visible
from rlx.writing import write

HEAD = """\
# Findings

`rlx fuzz` found these bugs and differences in TVM. Each cause has one text file: a header with what happens, what should
happen, the rule, and the steps to reproduce it; then the smallest program. {count} findings, with TVM {versions}.

    python -m rlx.generate.campaign.replay findings/*/*.rlx    # reproduce them, each in a separate process
    python -m rlx.generate.campaign.index findings             # write this page

The evidence does not depend on the checker and the machine of rlx: it is a value from NumPy, TVM's own error message, a signal, or
another path of TVM. `tests/tvm/test_findings.py` reproduces each finding. A campaign looks up known causes in these
files. [generate/README.md](../generate/README.md) explains the fields of a header.
"""


def page(entries: Sequence[FindingFile]) -> str:
    """The page, in Markdown."""
    versions = ", ".join(sorted({entry.tvm for entry in entries})) or "no version"
    parts = [HEAD.format(count=len(entries), versions=versions)]
    parts += ["| kind | findings | |", "|---|---|---|"]
    parts += [
        f"| [{kind}](#{kind}) | {len(of)} | {KINDS[kind]} |" for kind, of in _by_kind(entries)
    ]
    for kind, of in _by_kind(entries):
        parts += ["", f"## {kind}", ""]
        parts += ["| finding | stage | operator | input | rule |", "|---|---|---|---|---|"]
        parts += [_row(entry) for entry in of]
    return "\n".join(parts) + "\n"


def _by_kind(entries: Iterable[FindingFile]) -> list[tuple[str, list[FindingFile]]]:
    kept = list(entries)
    found = [(kind, [entry for entry in kept if entry.kind == kind]) for kind in KINDS]
    return [(kind, of) for kind, of in found if of]


def _row(entry: FindingFile) -> str:
    said = visible(entry.happens).replace("|", "\\|").replace("<", "&lt;")
    if "](" in said or said.count("[") != said.count("]"):  # the text of a link must not end it
        said = said.replace("[", "&#91;").replace("]", "&#93;")
    more = ", …" if len(entry.operators) > 1 else ""
    trait = entry.trait.replace("|", "\\|")
    about = f"{entry.operators[0]}{more} | {trait} | {entry.rule}"
    return f"| [{said}]({entry.path}) | {entry.stage} | {about} |"


def write_page(folder: Path) -> Path:
    """Write the page of a folder into it."""
    return write_page_of(read_entries(folder), folder)


def write_page_of(entries: Sequence[FindingFile], folder: Path) -> Path:
    """Write the page of these findings into their folder."""
    path = folder / "README.md"
    write(path, page(entries), within=[folder])
    return path


def main(argv: Sequence[str]) -> int:
    """Write the page of each folder."""
    parser = CommandParser(
        prog="python -m rlx.generate.campaign.index",
        description="Write the page README.md of folders of findings.",
    )
    parser.add_argument("folder", nargs="+", metavar="DIR", help="a folder of findings")
    for folder in parser.parse_args(argv).folder:
        try:
            if not Path(folder).is_dir():
                raise EntryError(f"{folder}: no such directory")
            say_line(f"{write_page(Path(folder))}")
        except (EntryError, OSError) as error:
            parser.error(str(error))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
