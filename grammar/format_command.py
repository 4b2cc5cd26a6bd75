"""`rlx fmt`: programs in one style, in any dialect.

A text is replaced only if what is printed reads back as the same program and keeps every comment.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from rlx.grammar import ast
from rlx.grammar.dialects import CONSTANT_KEYS, DEFAULT, DIALECTS, dialect
from rlx.grammar.node import Record

SAME, CHANGED, FAILED = 0, 1, 2

_METADATA = re.compile(
    r"^metadata\s*=\s*[\w.]+\(\s*(?P<quote>\"\"\"|''').*?(?P=quote)\s*\)[ \t]*\n?",
    re.MULTILINE | re.DOTALL,
)
_SURROUNDING = re.compile(
    r'\s*(#.*|@.*|\w+\s*=\s*(\w+\.)?TypeVar\(\s*["\']\w+["\']\s*\)\s*(#.*)?)?\s*'
)
_UNKEPT = re.compile(r"^[^#\n]*?\b(R\.DTensor|check_well_formed)[(=]", re.MULTILINE)
"""What a program may say and its tree does not: printing it would lose that."""
_IMPORT = re.compile(r"\s*(from\s+[\w.]+\s+import\s.*|import\s.*)\s*")


class Outcome(Record):
    """What became of one text.

    Attributes
    ----------
    text
        The formatted text; None where there is none.
    complaints
        Why not, one line each.
    status
        The exit status that follows from it.
    """

    text: str | None
    complaints: tuple[str, ...] = ()
    status: int = SAME


def main(argv: Sequence[str], prog: str = "rlx fmt") -> int:
    """Run the command.

    Returns
    -------
    int
        0 if all is well; 1 if a text has syntax errors, or `--check` found one that is not formatted;
        2 if a file could not be read or written, or can't be formatted.
    """
    options = _arguments(prog).parse_args(list(argv))
    worst = SAME
    for path in _files(options.paths):
        worst = max(worst, _one(path, options, prog))
    return worst


def _arguments(prog: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=prog, description="Print programs in one style, in any dialect."
    )
    parser.add_argument(
        "--dialect",
        default=DEFAULT,
        choices=list(DIALECTS),
        metavar="VERSION",
        help=f"the version of TVM whose spelling to write: 0.16 to 0.27 (default {DEFAULT})",
    )
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit 1 if a file would change"
    )
    parser.add_argument(
        "--diff", action="store_true", help="write nothing; print what would change"
    )
    parser.add_argument(
        "paths",
        nargs="+",
        metavar="PATH",
        help="a file, a directory (its .rlx files), or - for stdin",
    )
    return parser


def _files(paths: Sequence[str]) -> Iterator[str]:
    for path in paths:
        if path != "-" and Path(path).is_dir():
            yield from sorted(str(p) for p in Path(path).rglob("*.rlx"))
        else:
            yield path


def _one(path: str, options: argparse.Namespace, prog: str) -> int:
    shown = "<stdin>" if path == "-" else path
    try:
        data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
        text = data.decode("utf-8-sig")
    except OSError as error:
        return _complain(f"{prog}: {shown}: {error.strerror or error}", FAILED)
    except UnicodeDecodeError as error:
        return _complain(f"{prog}: {shown}: not UTF-8 (byte {error.start})", CHANGED)
    outcome = format_text(text, shown, options.dialect)
    for line in outcome.complaints:
        _complain(line, outcome.status)
    if outcome.text is None:
        return outcome.status
    if options.diff:
        sys.stdout.writelines(_diff(text, outcome.text, shown))
    if options.check or options.diff:
        return CHANGED if options.check and outcome.text != text else SAME
    if path == "-":
        sys.stdout.write(outcome.text)
    elif outcome.text.encode() != data:
        return _write(path, outcome.text, prog)
    return SAME


def _complain(line: str, status: int) -> int:
    sys.stderr.write(line + "\n")
    return status


def _write(path: str, text: str, prog: str) -> int:
    try:
        Path(path).write_bytes(text.encode())
    except OSError as error:
        return _complain(f"{prog}: {path}: {error.strerror or error}", FAILED)
    return SAME


def _diff(before: str, after: str, path: str) -> Iterator[str]:
    from difflib import unified_diff

    return unified_diff(
        before.splitlines(keepends=True),
        after.splitlines(keepends=True),
        path,
        f"{path} (formatted)",
    )


def format_text(text: str, path: str = "<text>", version: str = DEFAULT) -> Outcome:
    """Format the text of one or several modules.

    Parameters
    ----------
    text
        The source; CRLF is read as a line end.
    path
        What complaints call it; the name of a ``.py`` file says that imports are needed as they stand.
    version
        The dialect to write.
    """
    from rlx.grammar.parser import parse

    text = text.replace("\r\n", "\n")
    parsed = parse(text, path)
    errors = [d for d in parsed.diagnostics if d.severity == "error"]
    if errors:
        places = [parsed.source.position(d.span[0] if d.span else 0) for d in errors]
        lines = [
            f"{path}:{line}:{column}: {d.severity}[{d.code}]: {d.message}"
            for d, (line, column) in zip(errors, places, strict=True)
        ]
        return Outcome(None, tuple(lines), CHANGED)
    kept = _METADATA.search(text)
    if (line := _foreign_line(text, parsed.modules, kept, path.endswith(".py"))) is not None:
        where = text.count("\n", 0, line) + 1
        reason = "other Python stands around the program; only texts of modules alone are formatted"
        return Outcome(None, (f"{path}:{where}: {reason}",), FAILED)
    if (lost := _UNKEPT.search(text)) is not None:
        where = text.count("\n", 0, lost.start()) + 1
        reason = f"left as it is: {lost[1]} is read, but its arguments are not kept"
        return Outcome(None, (f"{path}:{where}: {reason}",), FAILED)
    others = set(CONSTANT_KEYS) - {dialect(version).constant_key}
    around = "" if kept is None else text.replace(kept[0], "")
    if any(f'metadata["{key}"]' in around for key in others):
        reason = f"its constants are kept as metadata of another version than {version}"
        return Outcome(None, (f"{path}: {reason}",), FAILED)
    return _printed(text, parsed.modules, kept, path, version)


def _printed(
    text: str,
    modules: Sequence[ast.IRModule],
    kept: re.Match[str] | None,
    path: str,
    version: str,
) -> Outcome:
    from rlx.grammar.equal import first_difference
    from rlx.grammar.parser import parse
    from rlx.grammar.printer import print_module
    from rlx.grammar.remarks import Remarks

    remarks = Remarks(text)
    parts = [print_module(module, version, remarks) for module in modules]
    rest = remarks.before(len(text) + 1)
    if kept is not None:
        first = modules[0].span if modules else None
        at = 0 if first is not None and kept.start() < first[0] else len(parts)
        parts.insert(at, kept[0].rstrip("\n") + "\n")
    if rest:
        parts.append("\n".join(rest) + "\n")
    printed = "\n".join(parts)
    again = parse(printed, path).modules
    if len(again) != len(modules):
        return Outcome(None, (f"{path}: left as it is, {version} can't say it all",), FAILED)
    for before, after in zip(modules, again, strict=True):
        found = first_difference(before, after, map_free_vars=True)
        if found is not None:
            return Outcome(
                None, (f"{path}: left as it is, {version} can't say it all: {found}",), FAILED
            )
    return Outcome(printed)


def _foreign_line(
    text: str, modules: Sequence[ast.IRModule], kept: re.Match[str] | None, is_python: bool
) -> int | None:
    """The offset of the first line that belongs to no module and is no header either."""
    spans = [span for module in modules for span in _spans(module)]
    if kept is not None:
        spans.append(kept.span())
    at = 0
    for start, end in [*sorted(spans), (len(text), len(text))]:
        head = text.rfind("\n", 0, start) + 1 if start < len(text) else start
        offset = at
        for line in text[at : max(at, head)].splitlines(keepends=True):
            known = _SURROUNDING.fullmatch(line) or (not is_python and _IMPORT.fullmatch(line))
            if not known:
                return offset
            offset += len(line)
        at = max(at, end)
    return None


def _spans(module: ast.IRModule) -> list[tuple[int, int]]:
    if not module.bare:
        return [module.span] if module.span is not None else []
    return [f.span for f in module.functions.values() if f.span is not None]
