"""Modules of Relax."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from rlx.grammar.nodes.ast_nodes import ExternFunc, Function, GlobalVar
from rlx.grammar.nodes.node import Node, Span
from rlx.grammar.nodes.tir import PrimFunc

GRAPHS = "rlx.graphs"
"""What draws modules: a room above this one."""


class IRModule(Node):
    """`IRModule(funcs)`: global names and their functions, in the order of the text.

    Attributes
    ----------
    name
        The name of the class; ``"Module"`` for functions without a class (``bare`` is then
        True).
    attrs, global_infos
        ``I.module_attrs`` and ``I.module_global_infos``; the virtual devices are under
        ``"vdevice"``.
    type_vars
        Names that the text declares with ``TypeVar`` before the class.
    comments
        Comment lines above the class (without those of the printed import header).
    bases
        The base classes in parentheses after the name of the class; they have no meaning.
    externs
        Packed functions that the class declares: ``sort = R.ExternFunc("sort")``.
    lost
        Names of functions that the text may define where it could not be read.
    """

    _children = ("functions",)

    functions: Mapping[GlobalVar, Function | PrimFunc]
    attrs: Mapping[str, object] = {}
    global_infos: Mapping[str, tuple[object, ...]] = {}
    name: str = "Module"
    bare: bool = False
    type_vars: tuple[str, ...] = ()
    comments: tuple[str, ...] = ()
    span: Span | None = None
    bases: str | None = None
    externs: Mapping[str, ExternFunc] = {}
    lost: frozenset[str] = frozenset()

    def graph(self) -> Any:
        """The dataflow graph, an object of :mod:`rlx.graphs`: a notebook shows it as a page, and
        ``html()``, ``svg()`` and ``dot()`` return it as a text.

        Raises
        ------
        IllFormedError
            If the module has errors.
        """
        return import_module(GRAPHS).graph(self)

    def __getitem__(self, name: str) -> Function | PrimFunc:
        """The function of a name.

        Raises
        ------
        KeyError
            If there is none; the message has the names that there are.
        """
        for known, function in self.functions.items():
            if known.name_hint == name:
                return function
        names = ", ".join(known.name_hint for known in self.functions)
        raise KeyError(f"the module has no function {name!r}; it has: {names}")
