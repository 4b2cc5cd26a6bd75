"""The decorated definitions of a Python file, as Python's own parser finds them."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from typing import NamedTuple

_DEFINITION = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_USUAL = {
    "R": "tvm.script.relax",
    "T": "tvm.script.tirx",
    "I": "tvm.script.ir",
    "tvm": "tvm",
}
_KINDS = {"function": "function", "prim_func": "prim_func", "ir_module": "module"}
_LANGUAGES = ("relax", "tir", "tirx", "ir")


class Definition(NamedTuple):
    """A module, a Relax function or a PrimFunc, and the line of its name."""

    kind: str
    name: str
    line: int


def definitions(text: str) -> list[Definition]:
    """The decorated definitions of a text, in its order.

    What stands in a function that is decorated itself is part of that function.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(text)
    paths = dict(_USUAL)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level == 0:
            for name in node.names:
                paths[name.asname or name.name] = f"{node.module}.{name.name}"
        elif isinstance(node, ast.Import):
            paths.update({name.asname: name.name for name in node.names if name.asname})
    return list(_inside(tree, paths))


def _inside(around: ast.AST, paths: dict[str, str]) -> Iterator[Definition]:
    for node in ast.iter_child_nodes(around):
        kind = _kind(node, paths) if isinstance(node, _DEFINITION) else None
        if kind is not None:
            assert isinstance(node, _DEFINITION)
            yield Definition(kind, node.name, node.lineno)
        if kind in (None, "module"):
            yield from _inside(node, paths)


def _kind(
    node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef, paths: dict[str, str]
) -> str | None:
    for decorator in node.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        head, dot, rest = ast.unparse(called).partition(".")
        module, _, word = (paths.get(head, head) + dot + rest).rpartition(".")
        if not module.startswith("tvm.script") or word not in _KINDS:
            continue
        language = module.rpartition(".")[2]
        known = language in _LANGUAGES or (module == "tvm.script" and word == "ir_module")
        if known and (word == "ir_module") == isinstance(node, ast.ClassDef):
            return _KINDS[word]
    return None
