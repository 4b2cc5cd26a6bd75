"""The legal calls of all operators as texts, spelled in the ways people spell them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import StructInfo
from rlx.grammar.nodes.dtype import DataType
from rlx.grammar.print.printer import print_expr, print_prim_expr, print_struct_info
from rlx.operators import lookup
from tests.operators.cases import LEGAL, Case


class Text:
    """A function that makes one call."""

    def __init__(self, case: Case) -> None:
        self.name, args, attrs = case
        self.params: list[tuple[str, str]] = []
        self.holders: dict[ast.Var, str] = {}
        self.args = [self.argument(a) for a in args]
        self.attrs = {key: self.argument(a) for key, a in attrs.items()}

    def parameter(self, annotation: str) -> str:
        """A new parameter of this annotation."""
        name = f"x{len(self.params)}"
        self.params.append((name, annotation))
        return name

    def argument(self, value: Any) -> str:
        """An argument as it is written; what has only a type becomes a parameter."""
        match value:
            case ast.TensorStructInfo(shape=ast.Var() as holder):
                dtype = "" if value.dtype.is_void else f', "{value.dtype}"'
                return self.parameter(f"R.Tensor({self.argument(holder)}{dtype})")
            case StructInfo():
                return self.parameter(print_struct_info(value))
            case ast.Var(struct_info_annotation=StructInfo() as info):
                if value not in self.holders:
                    self.holders[value] = self.parameter(print_struct_info(info))
                return self.holders[value]
            case ast.Expr():
                return print_expr(value)
            case ast.VDevice(target=target):
                return f'"{target}:0:global"'
            case tir.PrimExpr():
                return print_prim_expr(value)
            case DataType():
                return f'"{value}"'
            case list():
                return f"[{', '.join(map(self.argument, value))}]"
            case tuple():
                inner = ", ".join(map(self.argument, value))
                return f"({inner},)" if len(value) == 1 else f"({inner})"
            case str():
                return f'"{value}"'
        return repr(value)

    def function(self, arguments: list[str]) -> str:
        """The text, with the call spelled so."""
        shown = "".join(f", {name}: {annotation}" for name, annotation in self.params)
        return (
            'n = TypeVar("n")\nm = TypeVar("m")\nk = TypeVar("k")\n\n'
            f"@I.ir_module\nclass Module:\n    @R.function(pure=False)\n"
            f"    def main(s: R.Shape([n, m, k]){shown}):\n"
            f"        y = R.{self.name}({', '.join(arguments)})\n        return y\n"
        )


def texts(case: Case) -> Iterator[str]:
    """The call with its arguments by position, by name, and mixed."""
    made = Text(case)
    operator = lookup(f"relax.{made.name}")
    assert operator is not None
    names = [p.name for p in operator.parameters]
    variadic = any(p.variadic for p in operator.parameters)
    keywords = [f"{key}={value}" for key, value in made.attrs.items()]
    yield made.function([*made.args, *keywords])
    if variadic or len(made.args) > len(names):
        return
    named = [f"{name}={value}" for name, value in zip(names, made.args, strict=False)]
    yield made.function([*named, *keywords])
    given = {**dict(zip(names, made.args, strict=False)), **made.attrs}
    positional = []
    for name in names:
        if name not in given:
            break
        positional.append(given.pop(name))
    yield made.function([*positional, *(f"{key}={value}" for key, value in given.items())])


__all__ = ["LEGAL", "texts"]
