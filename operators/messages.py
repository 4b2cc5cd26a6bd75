"""How operators name values in their messages."""

from __future__ import annotations

from collections.abc import Iterable

from rlx.grammar import ast, tir


def show(node: ast.StructInfo | tir.PrimExpr | ast.Expr) -> str:
    """A struct info, dimension or expression in short form: ``Tensor((n, 4), float32)``."""
    from rlx.grammar.printer import show as printed

    return printed(node)


def show_shape(dims: Iterable[tir.PrimExpr]) -> str:
    """Dimensions as a shape: ``(n, 4)``, ``(n,)``."""
    shown = [show(dim) for dim in dims]
    return f"({shown[0]},)" if len(shown) == 1 else f"({', '.join(shown)})"


def of(name: str, info: ast.StructInfo) -> str:
    """An argument by its parameter's name and struct info: ``(of x: Tensor((n, 4), float32))``."""
    return f"(of {name}: {show(info)})"


def short(operator: str) -> str:
    """An operator's name as texts write it: ``nn.relu`` of ``relax.nn.relu``."""
    return operator.removeprefix("relax.")
