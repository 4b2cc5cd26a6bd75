"""The map of the code: rooms and files with their docstrings, and three walks through them."""

from __future__ import annotations

import ast
import inspect
import tokenize
from pathlib import Path

from benchmarks.files_entered import WAYS, walked
from docs.build.pictures import ROOT, layers

HEAD = """# Map of the code

Made from the code. A room is a folder at the top of the repository, and imports only the rooms that stand above it in the first table
([the house](../explanation/house.md)). Below it are the files of each room, and three walks: what is entered, in this order, when rlx does its three main jobs.
"""


def pages() -> dict[str, str]:
    """The page by its address."""
    rooms = [name for name in reversed(layers()) if (ROOT / name).is_dir()] + ["rlx"]
    parts = [HEAD, "## Rooms\n", "| room | files | lines | what it is |", "|---|---|---|---|"]
    for room in rooms:
        files = _files(room)
        lines = sum(len(path.read_text("utf-8").splitlines()) for path in files)
        parts.append(f"| [`{room}/`](#{room}) | {len(files)} | {lines:,} | {_said(ROOT / room)} |")
    parts.append("\n## Walks\n")
    for way in WAYS:
        entered = walked(way)
        parts.append(f"### {_sentence(way.__doc__)}\n")
        parts.append(
            f"{len(entered.files)} files and {entered.functions} functions; {entered.turns}"
            " times back into a room that it has left.\n"
        )
        parts += [f"1. `{name}`: {_said(ROOT / name)}" for name in entered.files]
        parts.append("")
    for room in rooms:
        parts += [f"## {room}\n", "| file | what it has |", "|---|---|"]
        parts += [f"| `{path.relative_to(ROOT)}` | {_said(path)} |" for path in _files(room)]
        parts.append("")
    return {"reference/code_map.md": "\n".join(parts)}


def _files(room: str) -> list[Path]:
    """The files of a room; a link to another room is not followed."""
    found: list[Path] = []
    for path in sorted((ROOT / room).iterdir()):
        if path.suffix == ".py":
            found.append(path)
        elif path.is_dir() and not path.is_symlink():
            found += sorted(path.rglob("*.py"))
    return found


def _said(path: Path) -> str:
    """The first sentence of the docstring of a file, or of a folder's package."""
    if path.is_dir():
        path = path / "__init__.py"
    with path.open("rb") as file:  # without the code behind it, which takes long to parse
        words = tokenize.tokenize(file.readline)
        first = next(
            t for t in words if t.type in (tokenize.STRING, tokenize.NAME, tokenize.ENDMARKER)
        )
    is_docstring = first.type == tokenize.STRING
    return _sentence(inspect.cleandoc(ast.literal_eval(first.string)) if is_docstring else None)


def _sentence(docstring: str | None) -> str:
    paragraph = " ".join((docstring or "").partition("\n\n")[0].split())
    return paragraph.partition(". ")[0].rstrip(".:").replace("|", "\\|").replace("``", "`")
