"""Formatting of the definitions inside a Python file.

The rest of the file stays as it is, except for the alias of `T` and the shape variables that a
dialect declares in front of a definition.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Sequence

from rlx.grammar.dialects import Dialect
from rlx.grammar.lines import with_decorators
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.node import Span

_TIR_IMPORT = re.compile(r"^[ \t]*from tvm\.script import .*\btirx?(?=\s+as\s+T\b)", re.MULTILINE)
_TYPE_VAR_IMPORT = re.compile(r"^\s*from typing import .*\bTypeVar\b", re.MULTILINE)
_DECLARED = re.compile(r"^[ \t]*(\w+) *= *TypeVar\(", re.MULTILINE)


class UnformattedError(Exception):
    """A definition that cannot be formatted apart from the file.

    Attributes
    ----------
    at
        Where it stands.
    reason
        Why, if its own text says so.
    """

    def __init__(self, at: int, reason: str | None = None) -> None:
        super().__init__(reason)
        self.at = at
        self.reason = reason


def format_within(
    text: str,
    modules: Sequence[ast.IRModule],
    dialect: Dialect,
    write: Callable[[str], tuple[str | None, str | None]],
) -> str:
    """The text of a Python file with its definitions formatted.

    Parameters
    ----------
    text, modules
        The file, and what it defines.
    dialect
        The dialect to write.
    write
        Formats the text of one definition; gives the text, or the reason why there is none.

    Raises
    ------
    UnformattedError
        If a definition cannot be formatted apart from what is around it.
    """
    made: list[str] = []
    at = 0
    imported = _TYPE_VAR_IMPORT.search(text) is not None
    for each in _definitions(text, modules):
        made += (text[at : each[0]], _formatted(text, each, imported, write))
        at = each[1]
    made.append(text[at:])
    whole = "".join(made)
    return _TIR_IMPORT.sub(lambda found: re.sub(r"tirx?$", dialect.tir_module, found[0]), whole)


def _definitions(text: str, modules: Sequence[ast.IRModule]) -> list[Span]:
    """The definitions of a file with their decorators, in its order."""
    found = []
    for module in modules:
        nodes = module.functions.values() if module.bare else [module]
        found += [with_decorators(text, node.span) for node in nodes if node.span is not None]
    return sorted(found)


def _formatted(
    text: str, span: Span, imported: bool, write: Callable[[str], tuple[str | None, str | None]]
) -> str:
    source = text[slice(*span)]
    pad = source[: len(source) - len(source.lstrip())]
    lines = source.splitlines(keepends=True)
    if any(line.strip() and not line.startswith(pad) for line in lines):
        raise UnformattedError(span[0])
    above = dict.fromkeys(found[1] for found in _DECLARED.finditer(text, 0, span[0]))
    declared = [f'{name} = TypeVar("{name}")\n' for name in above]
    imported_tir = _TIR_IMPORT.search(text)
    version = "" if imported_tir is None else f"{imported_tir[0].strip()} as T\n"
    dedented = "".join(line.removeprefix(pad) if line.strip() else "\n" for line in lines)
    written, reason = write(version + "".join(declared) + dedented)
    head = None if written is None else re.search(r"^@", written, re.MULTILINE)
    if written is None or head is None:
        raise UnformattedError(span[0], reason)
    new = [
        line
        for line in written[: head.start()].splitlines(keepends=True)
        if _DECLARED.match(line) and line not in declared
    ]
    if new and not imported:
        new.insert(0, "from typing import TypeVar\n")
    whole = "".join(new) + written[head.start() :].rstrip("\n")
    return textwrap.indent(whole, pad) + source[len(source.rstrip()) :]
