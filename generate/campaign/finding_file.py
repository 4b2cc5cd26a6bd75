"""The text file of a finding: a header of comments for people and programs, then the program.

The header is lines `# field: text`; a line that begins with `#` and four spaces goes on with the
field above it. It ends at the first empty line. The folder of a file is its kind, its name says
what happens.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path

from rlx.checker.driver.sources import NO_FILE, endless, read_file, text_of
from rlx.grammar.nodes.node import Record, replace
from rlx.grammar.streams import visible
from rlx.writing import make_folder, write

OWN = "own-oracle"
"""The kind of what an oracle of the user's own says."""

ASK = "ask"
"""The step of such a finding: the oracle is asked again."""

KINDS = {
    "wrong-code": "A program returns a wrong value, or a pass changes what it means.",
    "crash": "TVM crashes on a legal program: a signal, or a failed internal check.",
    "hang": "TVM does not answer within the time limit.",
    "accepts-illegal": "TVM accepts a program that violates a rule.",
    "refuses-legal": "TVM rejects a legal program as wrong.",
    "not-supported": "TVM reports that it does not support a legal program.",
    "wrong-type": "TVM derives a type that violates a rule.",
    "prints-wrong": "TVM cannot parse what it printed, or parses it as another program.",
    "by-choice": "TVM differs from a rule on purpose and with reason: not a bug.",
    OWN: "Your own oracle rejects a program.",
}
"""The kinds of findings: the folders, in the order of the index."""

TELLS = ("happens", "should", "rule", "stage", "operator", "trait", "tvm", "see")
"""The fields that each finding has, in this order."""

ORACLES = (
    "error",
    "signal",
    "numpy",
    "returns",
    "prints",
    "differs",
    "refuted",
    "later",
    "document",
    "judge",
)
"""The fields of which at least one tells how the finding is recognised, without our checker and
machine.

``error``: words of TVM's error at the last step (`…` stands for any words). ``signal``: how the
process ends. ``numpy``: the value that the last step should return; ``returns``: the value that TVM
returns. ``prints``: words that the module has after the steps and the program has not. ``differs``:
the end of the path at which TVM says that two modules differ. ``refuted``: a call of NumPy that
raises. ``later``: more steps, the last of which fails with the ``error``. ``document``: the clause
of the specification that decides what no run can show. ``judge: rlx``: our rules alone say so; such
a finding is undecided, and a campaign writes it.
"""

FIELDS = (*TELLS, *ORACLES, "also")
WIDTH = 110


class EntryError(Exception):
    """A text is no finding; says why."""


class FindingFile(Record):
    """A finding as it is kept.

    Attributes
    ----------
    kind, name
        The folder and the name of its file.
    happens, should
        What TVM does, and what it should do, in words.
    rule
        The rule, or the premise of one, that says so.
    stage
        Where it happens: TVM's parser, well_formed, derivation, printer, build, virtual machine, or
        a pass.
    operator, trait
        What is left of the program after reduction, and what is special about its input; the three
        are the cause.
    see
        The steps to see it, see :mod:`rlx.generate.campaign.replay`.
    program
        The text behind the header.
    """

    kind: str
    name: str
    program: str
    happens: str
    should: str
    rule: str
    stage: str
    operator: str
    trait: str
    tvm: str
    see: str
    error: str = ""
    signal: str = ""
    numpy: str = ""
    returns: str = ""
    prints: str = ""
    differs: str = ""
    refuted: str = ""
    later: str = ""
    document: str = ""
    judge: str = ""
    also: str = ""

    @property
    def path(self) -> str:
        """The file, below the folder of findings."""
        return f"{self.kind}/{self.name}.rlx"

    @property
    def operators(self) -> tuple[str, ...]:
        """The names in :attr:`operator`."""
        return tuple(name.strip() for name in self.operator.split(","))


def show(entry: FindingFile) -> str:
    """The file's text."""
    header = "\n".join(_header(entry))
    return f"{header}\n\n{entry.program.strip()}\n"


def _header(entry: FindingFile) -> Iterator[str]:
    for field in FIELDS:
        value = getattr(entry, field)
        if value:
            yield from textwrap.wrap(
                f"{field}: {visible(' '.join(value.split()))}",
                WIDTH,
                initial_indent="# ",
                subsequent_indent="#     ",
                break_long_words=False,
                break_on_hyphens=False,
            )


def parse_entry(kind: str, name: str, text: str) -> FindingFile:
    """The finding that a file holds. Raises EntryError if a field is missing or unknown."""
    header, _, program = text.partition("\n\n")
    values: dict[str, str] = {}
    latest = ""
    for line in header.splitlines():
        if line.startswith("#     ") and latest:
            values[latest] += f" {line[1:].strip()}"
            continue
        latest, colon, value = line.removeprefix("# ").partition(": ")
        if not line.startswith("# ") or not colon or latest not in FIELDS or latest in values:
            raise EntryError(f"{kind}/{name}: expected a field of a finding, found {line!r}")
        values[latest] = value.strip()
    missing = [field for field in TELLS if not values.get(field)]
    if missing or not program.strip():
        raise EntryError(f"{kind}/{name}: {', '.join(missing) or 'the program'} is missing")
    if not any(values.get(field) for field in ORACLES):
        raise EntryError(f"{kind}/{name}: one of {', '.join(ORACLES)} is missing")
    if kind not in KINDS:
        raise EntryError(f"{kind}/{name}: unknown kind; expected one of {', '.join(KINDS)}")
    return FindingFile(kind, name, program, **values)


def unused(entry: FindingFile, folder: Path) -> FindingFile:
    """The finding under a name that no file below a folder has."""
    names = (entry.name, *(f"{entry.name}-{count}" for count in range(2, 1000)))
    free = (name for name in names if not (folder / entry.kind / f"{name}.rlx").exists())
    return replace(entry, name=next(free))


def write_entry(entry: FindingFile, folder: Path) -> Path:
    """Write a finding to its place below a folder."""
    path = folder / entry.path
    make_folder(path.parent, within=[folder])
    write(path, show(entry), within=[folder])
    return path


def read_entry(path: Path) -> FindingFile:
    """Read a finding.

    Raises
    ------
    EntryError
        If the file is none; a pipe might never end, and is not read.
    OSError
        If it cannot be read.
    """
    kind, name = path.parent.name, path.stem
    if endless(str(path)):
        raise EntryError(f"{path}: {NO_FILE}")
    try:
        return parse_entry(kind, name, text_of(read_file(path), str(path)))
    except UnicodeDecodeError as error:
        raise EntryError(f"{kind}/{name}: not UTF-8 (byte {error.start})") from None


def read_entries(folder: Path) -> list[FindingFile]:
    """All findings below a folder, by kind and name. Raises EntryError if a `.rlx` file below it is
    none.
    """
    return _in_order(read_entry(path) for path in folder.glob("*/*.rlx"))


def read_legible(folder: Path) -> tuple[list[FindingFile], list[str]]:
    """The findings below a folder, and why other `.rlx` files there cannot be read as one."""
    found, problems = [], []
    for path in sorted(folder.glob("*/*.rlx")):
        try:
            found.append(read_entry(path))
        except EntryError as error:
            problems.append(str(error))
        except OSError as error:
            problems.append(f"{path}: {error.strerror or error}")
    return _in_order(found), problems


def _in_order(entries: Iterable[FindingFile]) -> list[FindingFile]:
    return sorted(entries, key=lambda entry: (list(KINDS).index(entry.kind), entry.name))
