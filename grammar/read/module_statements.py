"""Statements at the top level of a module, between the functions."""

from __future__ import annotations

from typing import Any

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.node import Span
from rlx.grammar.read.entries import Entry, Rejected
from rlx.grammar.read.partial_nodes import Declared, Form, ModuleStatement
from rlx.grammar.read.python_syntax import free_names
from rlx.grammar.read.relax_statements import RelaxStatements

_EXPECTED = "expected a decorated function in the module"


class ModuleStatements(RelaxStatements):
    """Reads the statements beside the functions of a module, like those of a function, but binds
    nothing.
    """

    def assign(self, name: Entry, annotation: Entry | None, value: Entry, span: Span) -> Any:
        if isinstance(value.value, ast.ExternFunc) and annotation is None:
            return Declared(name.value, value.value, name.span)
        raise self._stray((name.start, value.end))

    def lost(self, given_up: list[Entry], span: Span) -> list[ast.Binding]:
        return []

    def expression(self, value: Entry) -> Any:
        match value.value:
            case Form(head="I.module_attrs" | "I.module_global_infos"):
                self._refuse_unknown_names(value.span)
                return ModuleStatement(value.value, value.span)
            case Form(head="R.func_attr" | "R.output" | "R.outputs"):
                return super().expression(value)
            case str():
                return None
        raise self._stray(value.span)

    def _stray(self, span: Span) -> Rejected:
        """The refusal of a line; one with names of a function is out of place, as may be others."""
        known = {*"RTI", *self.scope.modules, *self.scope.global_names}
        names = (name for name, _ in free_names(self.context.text, span))
        return Rejected(_EXPECTED, *span, layout=not known.issuperset(names))
