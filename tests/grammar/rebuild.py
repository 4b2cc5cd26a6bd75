"""Copies of syntax trees with something changed: other names, or one thing that counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import DataType, dtype
from rlx.grammar.nodes.node import Node, fields

NAMED = (ast.Var, tir.Var, tir.Buffer)


def copied(node: Any, rename: Callable[[str], str] = str) -> Any:
    """A copy in which every variable and buffer is a new object, called ``rename(name)``."""
    made: dict[int, Any] = {}

    def copy(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(copy(v) for v in value)
        if isinstance(value, Mapping):
            return {copy(k): copy(v) for k, v in value.items()}
        if not isinstance(value, Node) or isinstance(value, DataType | ast.Op):
            return value
        if id(value) not in made:
            parts = {key: copy(part) for key, part in fields(value)}
            name = "name_hint" if isinstance(value, ast.Var) else "name"
            if isinstance(value, NAMED):
                parts[name] = rename(parts[name])
            made[id(value)] = type(value)(**parts)
        return made[id(value)]

    return copy(node)


SILENT = {
    *("span", "name_hint", "name", "comments", "bare", "by_shape", "type_vars", "key", "ndim"),
    "is_pure",
}
"""Fields that equality does not look at, or not always."""

IMPLIED = (tir.PrimFunc, "returns_none")
"""A PrimFunc without an annotation returns None as one with `-> None` does."""

BINDERS = {"shape_vars", "params", "binders", "var", "loop_var"}
"""Fields that introduce variables: another variable there is only another name."""


def changes(node: Any) -> list[Callable[[], Any]]:
    """Every way to change one thing that counts; each gives the changed copy.

    Variables stay the same objects, so that nothing but the one thing is different.
    """
    found: list[Callable[[], Any]] = []

    def visit(value: Any, rebuild: Callable[[Any], Any]) -> None:
        other = _other(value)
        if other is not None:
            found.append(lambda: rebuild(other))
        if isinstance(value, tuple):
            for i, part in enumerate(value):
                visit(part, partial(_at, rebuild, value, i))
        elif isinstance(value, Mapping):
            for key, part in value.items():
                visit(part, partial(_under, rebuild, value, key))
        elif isinstance(value, Node) and not isinstance(value, (*NAMED, DataType, ast.Op)):
            for key, part in fields(value):
                if key not in SILENT | BINDERS and (type(value), key) != IMPLIED:
                    visit(part, partial(_with, rebuild, value, key))

    visit(node, lambda new: new)
    return found


Rebuild = Callable[[Any], Any]


def _at(rebuild: Rebuild, value: tuple[Any, ...], i: int, new: Any) -> Any:
    return rebuild((*value[:i], new, *value[i + 1 :]))


def _under(rebuild: Rebuild, value: Mapping[Any, Any], key: Any, new: Any) -> Any:
    return rebuild({**value, key: new})


def _with(rebuild: Rebuild, value: Node, key: str, new: Any) -> Any:
    return rebuild(type(value)(**{**dict(fields(value)), key: new}))


def _other(value: Any) -> Any:
    """Something of the same kind that is not equal."""
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case float():
            return 1.5 if value != 1.5 else 2.5
        case str():
            return value + "_"
        case DataType():
            return dtype("int8") if value != dtype("int8") else dtype("int16")
        case tir.Add(a=a, b=b):
            return tir.Sub(a, b)
        case tir.Var(name=name, dtype=kind):
            return tir.Var(name, kind)
        case ast.Var(name_hint=name):
            return type(value)(name)
        case ast.GlobalVar(name_hint=name):
            return ast.GlobalVar(name + "_")
        case ast.Tuple(fields=parts):
            return ast.Tuple((*parts, ast.StringImm("more")))
    return None
