"""Programs of the tests, and what derivation says about them."""

from __future__ import annotations

from textwrap import dedent, indent

from rlx.checker.derive import Derivation, derive
from rlx.grammar.diagnostic import Diagnostic
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import StructInfo
from rlx.grammar.print.printer import show
from rlx.grammar.read.parser import parse


class Derived:
    """A text with its one module and what was derived."""

    def __init__(self, text: str) -> None:
        parsed = parse(text)
        assert not parsed.diagnostics, [d.message for d in parsed.diagnostics]
        (self.module,) = parsed.modules
        self.text = text
        self.derivation: Derivation = derive(self.module)

    @property
    def codes(self) -> list[str]:
        """Severity and code of each diagnostic: ``error D14-arity``."""
        return [f"{d.severity} {d.code}" for d in self.derivation.diagnostics]

    @property
    def only(self) -> Diagnostic:
        """The one diagnostic."""
        (diagnostic,) = self.derivation.diagnostics
        return diagnostic

    def at(self, diagnostic: Diagnostic) -> str:
        """The text that a diagnostic points at."""
        assert diagnostic.span is not None
        return self.text[slice(*diagnostic.span)]

    def at_label(self) -> str:
        """The text that the first other place of the one diagnostic points at."""
        return self.text[slice(*self.only.related[0].span)]

    def info(self, name: str) -> StructInfo:
        """Struct info of the last variable bound to that name, or of a global function."""
        found = [
            info
            for node, info in self.derivation.info.items()
            if isinstance(node, (ast.Var, ast.GlobalVar)) and node.name_hint == name
        ]
        return found[-1]

    def shown(self, name: str) -> str:
        """The same in short form."""
        return show(self.info(name))


def module(*functions: str) -> Derived:
    """Derive a module of some functions, which call each other as ``cls.name``."""
    body = "\n\n".join(dedent(f).strip("\n") for f in functions)
    return Derived("@I.ir_module\nclass Module:\n" + indent(body, "    ") + "\n")


def main(signature: str, body: str, decorator: str = "@R.function") -> Derived:
    """Derive one function ``main`` with that signature (from the parenthesis on) and body."""
    inner = indent(dedent(body).strip("\n"), "    ")
    return module(f"{decorator}\ndef main{signature}:\n{inner}")
