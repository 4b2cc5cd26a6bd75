"""The input of a user in all its forms: a path, a text, a module, or a module of TVM.

Arguments of the facade are checked here.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from rlx.grammar.diagnostic import Source
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.node import replace

if TYPE_CHECKING:
    from rlx.checker.check import Report
    from rlx.grammar.read.parser import Parsed
    from rlx.semantics.machine.entries import EntryPoint


def whole_number(name: str, found: object, least: int | None = None) -> None:
    """Make sure that an argument is an integer, at least so large. Raises TypeError if it is
    something else; ValueError if it is smaller.
    """
    if not isinstance(found, int) or isinstance(found, bool):
        raise TypeError(f"{name}: expected an integer, found {shown(found)}")
    if least is not None and found < least:
        raise ValueError(f"{name}: expected an integer of at least {least}, found {found}")


def flag(name: str, found: object) -> None:
    """Make sure that an argument is True or False. Raises TypeError if it is something else."""
    if not isinstance(found, bool):
        raise TypeError(f"{name}: expected True or False, found {shown(found)}")


def name_or_none(name: str, found: object, hint: str = "") -> None:
    """Make sure that an argument is a name, if there is one. Raises TypeError, which ends in the
    hint, if it is something else than a text.
    """
    if found is not None and not isinstance(found, str):
        raise TypeError(f"{name}: expected a name, found {shown(found)}{hint}")


def functions_by_name(name: str, found: object) -> None:
    """Make sure that an argument is a mapping from names to functions, if there is one. Raises
    TypeError if it is something else.
    """
    if found is None:
        return
    if not isinstance(found, Mapping):
        raise TypeError(f"{name}: expected a mapping from names to functions, found {shown(found)}")
    for key, value in found.items():
        if not isinstance(key, str):
            raise TypeError(f"{name}: expected names of functions, found {shown(key)}")
        if not callable(value):
            raise TypeError(f"{name}: expected a function for {key!r}, found {shown(value)}")


def shown(value: object) -> str:
    """A value with its type, in one short line."""
    if value is None:
        return "None"
    text = repr(value)
    text = text if len(text) <= _SHOWN and "\n" not in text else f"{text[: _SHOWN - 3]!r}..."
    return f"{type(value).__name__} {text}"


_SHOWN = 60


Subject = object
"""A path (``pathlib.Path``, or a string of one line that names a file), a text, an
:class:`IRModule`, a function or PrimFunc alone, or a ``tvm.IRModule``.
"""

_SUFFIXES = (".rlx", ".py")


class SubjectError(ValueError):
    """The input contains no module, or several; the message says what was expected and what was
    found.
    """


def source_of(subject: Subject) -> Source:
    """The text of an input.

    Raises
    ------
    TypeError
        If it is none of these forms.
    OSError
        If it is a path that cannot be read.
    SubjectError
        If the file is not UTF-8, or not in the encoding that it declares.
    """
    if isinstance(subject, Source):
        return subject
    if isinstance(subject, ast.Function | tir.PrimFunc):
        subject = _alone(subject)
    if isinstance(subject, ast.IRModule):
        from rlx.grammar.print.weights import print_with_weights

        return Source(print_with_weights(subject, behind=True), "<module>")
    if isinstance(subject, os.PathLike) or (isinstance(subject, str) and _is_path(subject)):
        return _read(os.fspath(subject))
    if isinstance(subject, str):
        return Source(subject)
    if is_of_tvm(subject):
        return Source(_script(subject), "<tvm module>")
    raise TypeError(
        "expected a path, a text, a module of rlx.parse, a function or a tvm.IRModule; found"
        f" {type(subject).__name__}"
    )


def _alone(function: ast.Function | tir.PrimFunc) -> ast.IRModule:
    """A module with one function, which is called ``main`` if it has no name."""
    name = str(function.attrs.get("global_symbol", "main"))
    return ast.IRModule({ast.GlobalVar(name): function})


def why_unreadable(path: str, error: OSError | UnicodeDecodeError | SubjectError) -> str:
    """Why a file cannot be read, in words that begin with its path."""
    if isinstance(error, UnicodeDecodeError):
        from rlx.checker.driver.sources import why_no_text

        return why_no_text(path, error)
    if isinstance(error, OSError) and error.strerror:
        return f"{path}: {error.strerror}"
    return str(error)


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
    from rlx.checker.driver.sources import text_in

    try:
        return Source(text_in(name), name)
    except UnicodeDecodeError as error:
        raise SubjectError(why_unreadable(name, error)) from None


def is_of_tvm(subject: object) -> bool:
    """Whether it is an object of TVM that prints itself; TVM is never imported for the answer."""
    room = type(subject).__module__.partition(".")[0]
    return room == "tvm" and hasattr(subject, "script")


def _script(subject: object) -> str:
    """TVMScript of an object of TVM, with the data of its constants."""
    return str(subject.script(show_meta=True))  # type: ignore[attr-defined]


def parsed(subject: Subject) -> Parsed:
    """Read what is handed in; syntax errors are in the result."""
    from rlx.grammar.read.parser import parse

    source = source_of(subject)
    return parse(source.text, source.path)


def module_of(subject: Subject, name: str | None = None) -> ast.IRModule:
    """The module that is handed in. `name`: which one, where a text holds several. Raises
    ParseError if the text has syntax errors; SubjectError if it holds no module, or several and no
    name says which.
    """
    if isinstance(subject, ast.Function | tir.PrimFunc):
        return _alone(subject)
    if isinstance(subject, ast.IRModule):
        return subject
    from rlx.grammar.read.parser import ParseError

    found = parsed(subject)
    errors = tuple(replace(d, source=found.source) for d in found.diagnostics if d.is_error)
    if errors:
        raise ParseError(errors)
    return chosen(found.modules, found.source, name)


def legal_module(report: Report) -> ast.IRModule:
    """The one module of a program that was checked.

    Raises
    ------
    IllFormedError
        If the program has errors.
    SubjectError
        If it contains no module, or several.
    """
    from rlx.checker.check import IllFormedError

    if not report.ok:
        raise IllFormedError(report)
    return chosen(report.modules, report.source)


def entry_of(module: ast.IRModule, entry: str | None) -> EntryPoint:
    """The function that a run calls; None for ``main``, or the only one.

    Raises
    ------
    SubjectError
        If there is no such function.
    """
    from rlx.semantics.machine.entries import NoEntryError, find_entry

    try:
        return find_entry([module], entry)
    except NoEntryError as error:
        raise SubjectError(str(error)) from None


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
