"""Short texts of Python that use rlx, run statement by statement: what each gives, or the error, and then the others."""

from __future__ import annotations

import ast as python
import hashlib
import linecache
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

Show = Callable[[Any], str]


def said(text: str, names: Mapping[str, Any], show: Show) -> str:
    """What the statements give and bind, their warnings and errors, each with its line.

    Parameters
    ----------
    names
        What the text may use.
    show
        A value in words that are the same in each process.
    """
    path = f"<script {hashlib.sha256(text.encode()).hexdigest()[:16]}>"
    linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
    try:
        statements = python.parse(text).body
    except (SyntaxError, ValueError):
        return "no Python"
    held = {**names, "__name__": "script"}
    return "\n".join(_lines(statements, held, path, show)).replace(path, "script")


def _lines(
    statements: list[python.stmt], held: dict[str, Any], path: str, show: Show
) -> Iterator[str]:
    for statement in statements:
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            yield f"{statement.lineno}: {_done(statement, held, path, show)}"
        yield from (f"  {each.filename}:{each.lineno} {each.message}" for each in warned)


def _done(statement: python.stmt, held: dict[str, Any], path: str, show: Show) -> str:
    try:
        if isinstance(statement, python.Expr):
            return show(eval(compile(python.Expression(statement.value), path, "eval"), held))
        exec(compile(python.Module([statement], []), path, "exec"), held)  # noqa: S102
        return "; ".join(show(held[name]) for name in _bound(statement) if name in held)
    except Exception as error:  # noqa: BLE001 - any is an answer
        return failed(error)


def _bound(statement: python.stmt) -> list[str]:
    """The names that a statement binds."""
    return [
        node.id
        for node in python.walk(statement)
        if isinstance(node, python.Name) and isinstance(node.ctx, python.Store)
    ]


def failed(error: Exception) -> str:
    """An error of ours in full; of Python's own, whose words change between versions, the name."""
    kind = type(error)
    if not kind.__module__.startswith("rlx."):
        return kind.__name__
    found = [
        f"{each} {each.span} {each.help} {each.related} {each.edit}"
        for each in getattr(error, "diagnostics", ())
    ]
    place = getattr(error, "place", None)
    where = None if place is None else tuple(place)
    lines = "\n".join([f"{kind.__name__} {where}: {error}", *found]).splitlines()
    return "\n".join(line.partition(" at 0x")[0] for line in lines)  # no addresses


def place_of(node: object) -> object:
    """Where a node stands in its text."""
    return getattr(node, "span", None)
