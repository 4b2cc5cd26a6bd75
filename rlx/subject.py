"""What a user hands in, whatever its form: a path, a text, a module, or a module of TVM."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from rlx.arguments import name_or_none
from rlx.grammar import ast
from rlx.grammar.diagnostic import Source
from rlx.grammar.node import replace

if TYPE_CHECKING:
    from rlx.grammar.parser import Parsed

Subject = object
"""A path (``pathlib.Path``, or a string of one line that names a file), a text, an
:class:`IRModule`, or a ``tvm.IRModule``.
"""

_SUFFIXES = (".rlx", ".py")


class SubjectError(ValueError):
    """What was handed in holds no module, or several; the message says what was expected and what
    was found.
    """


def source_of(subject: Subject) -> Source:
    """The text of what is handed in.

    Raises
    ------
    TypeError
        If it is none of the four forms.
    OSError
        If it is a path that cannot be read.
    SubjectError
        If the file is not UTF-8.
    """
    if isinstance(subject, Source):
        return subject
    if isinstance(subject, ast.IRModule):
        from rlx.grammar.printer import print_module

        return Source(print_module(subject), "<module>")
    if isinstance(subject, os.PathLike) or (isinstance(subject, str) and _is_path(subject)):
        return _read(os.fspath(subject))
    if isinstance(subject, str):
        return Source(subject)
    if is_of_tvm(subject):
        return Source(_script(subject), "<tvm module>")
    raise TypeError(
        "expected a path, a text, a module of rlx.parse or a tvm.IRModule; found"
        f" {type(subject).__name__}"
    )


def _is_path(text: str) -> bool:
    """Whether a string names a file: one line with the suffix of one, or the name of one that is
    there.
    """
    if not text or "\n" in text or "\0" in text:
        return False
    return text.endswith(_SUFFIXES) or os.path.exists(text)


def _read(path: str | bytes) -> Source:
    name = os.fsdecode(path)
    if os.path.isdir(name):
        raise IsADirectoryError(
            f"{name} is a directory; `relax-check {name}` checks all files in it"
        )
    data = Path(name).read_bytes()
    try:
        return Source(data.decode("utf-8-sig").replace("\r\n", "\n"), name)
    except UnicodeDecodeError as error:
        raise SubjectError(f"{name}: not UTF-8 (byte {error.start})") from None


def is_of_tvm(subject: object) -> bool:
    """Whether it is an object of TVM that prints itself; TVM is never imported for the answer."""
    room = type(subject).__module__.partition(".")[0]
    return room == "tvm" and hasattr(subject, "script")


def _script(subject: object) -> str:
    """TVMScript of an object of TVM, with the data of its constants."""
    return str(subject.script(show_meta=True))  # type: ignore[attr-defined]


def parsed(subject: Subject) -> Parsed:
    """Read what is handed in; syntax errors are in the result."""
    from rlx.grammar.parser import parse

    source = source_of(subject)
    return parse(source.text, source.path)


def module_of(subject: Subject, name: str | None = None) -> ast.IRModule:
    """The module that is handed in.

    Parameters
    ----------
    name
        Which one, where a text holds several.

    Raises
    ------
    ParseError
        If the text has syntax errors.
    SubjectError
        If it holds no module, or several and no name says which.
    """
    if isinstance(subject, ast.IRModule):
        return subject
    from rlx.grammar.parser import ParseError

    found = parsed(subject)
    errors = tuple(
        replace(d, source=found.source) for d in found.diagnostics if d.severity == "error"
    )
    if errors:
        raise ParseError(errors)
    return chosen(found.modules, found.source, name)


def chosen(
    modules: tuple[ast.IRModule, ...], source: Source, name: str | None = None
) -> ast.IRModule:
    """One of the modules of a text; see :func:`module_of`."""
    name_or_none("name", name)
    names = [module.name for module in modules]
    if name is not None:
        if names.count(name) == 1:
            return modules[names.index(name)]
        found = f"{names.count(name)} of that name" if name in names else ", ".join(names) or "none"
        raise SubjectError(f"{source.path}: expected one module {name!r}; found {found}")
    if len(modules) == 1:
        return modules[0]
    if not modules:
        raise SubjectError(f"{source.path}: no Relax program found")
    raise SubjectError(
        f"{source.path} holds {len(modules)} modules: {', '.join(names)}; say which with name=…"
    )
