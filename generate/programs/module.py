"""A module under construction, from its plan."""

from __future__ import annotations

from collections.abc import Sequence

from rlx.generate.programs import functions
from rlx.generate.programs.choices import Choices
from rlx.generate.programs.dims import Interner, const
from rlx.generate.programs.functions import Extra
from rlx.generate.programs.plan import DEFAULT, Options, Plan
from rlx.grammar import ast, tir
from rlx.grammar.ast import GlobalVar, IRModule, StructInfo
from rlx.grammar.node import Record
from rlx.grammar.tir import PrimExpr


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
    callees
        The functions that are finished.
    devices
        The virtual devices of the program.
    placed
        Whether a value was put on a virtual device, so that the module must declare it.
    """

    def __init__(self, options: Options) -> None:
        self.options = options
        self.interner = Interner()
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
        found = (self.interner.intern(d) for d in made)
        return [numbers[0], n, numbers[1], m, n, *numbers[2:], k, *found]


def build(plan: Plan, options: Options = DEFAULT, extra: Extra | None = None) -> IRModule:
    """The module of a plan.

    Parameters
    ----------
    extra
        A step to take in between, and how many steps of the entry come before it.
    """
    module = ModuleBuilder(options)
    for helper in plan.functions[:-1]:
        functions.helper(module, Choices(helper.head), helper.steps)
    last = plan.functions[-1]
    functions.main(module, Choices(last.head), last.steps, extra)
    infos: dict[str, tuple[object, ...]] = {}
    if module.placed:
        infos["vdevice"] = tuple(("I.vdevice", *device, "global") for device in module.devices)
    return IRModule(module.functions, {}, infos, "Module")
