"""What the functions of a module under construction share: dimensions, names, and each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rlx.generate.programs.choices import Choices
from rlx.generate.programs.dims import const
from rlx.generate.programs.plan import Options
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import GlobalVar, StructInfo
from rlx.grammar.nodes.node import Record
from rlx.grammar.nodes.tir import PrimExpr


class Callee(Record):
    """A function of the module that others may call."""

    name: GlobalVar
    binders: tuple[tir.Var, ...]
    params: tuple[StructInfo, ...]
    ret: StructInfo
    pure: bool


class ModuleBuilder:
    """A module under construction.

    Attributes
    ----------
    step
        What adds to a function under construction what a record says.
    callees
        The functions that are finished.
    devices
        The virtual devices of the program.
    placed
        Whether a value was put on a virtual device, so that the module must declare it.
    """

    def __init__(self, options: Options, step: Callable[[Any, Choices], None]) -> None:
        self.options = options
        self.step = step
        self.functions: dict[GlobalVar, ast.Function | tir.PrimFunc] = {}
        self.callees: list[Callee] = []
        self.placed = False
        self.devices: tuple[tuple[str, int], ...] = (("llvm", 0),)
        self.names = 0

    def name(self, hint: str) -> GlobalVar:
        """A global name that is new."""
        self.names += 1
        return GlobalVar(f"{hint}{self.names}")

    def shape_vars(self) -> tuple[tir.Var, ...]:
        """The shape variables that a function may have."""
        return tir.Var("n"), tir.Var("m"), tir.Var("k")

    def pool(self, variables: Sequence[tir.Var]) -> list[PrimExpr]:
        """The dimensions from which a function starts."""
        numbers: list[PrimExpr] = [const(k) for k in (2, 3, 4, 1, 5)]
        if not variables:
            return numbers
        n, m, k = variables
        made = (tir.Mul(n, const(2)), tir.Add(n, m), tir.Add(n, const(1)), tir.Mul(m, k))
        found = (tir.interned(d) for d in made)
        return [numbers[0], n, numbers[1], m, n, *numbers[2:], k, *found]
