"""A module made from its plan."""

from __future__ import annotations

from rlx.generate.programs import functions
from rlx.generate.programs.builder import ModuleBuilder
from rlx.generate.programs.choices import Choices
from rlx.generate.programs.functions import Extra
from rlx.generate.programs.plan import DEFAULT, ModulePlan, Options
from rlx.generate.programs.steps import step
from rlx.grammar.nodes.ast import IRModule


def build(plan: ModulePlan, options: Options = DEFAULT, extra: Extra | None = None) -> IRModule:
    """The module of a plan.

    Parameters
    ----------
    extra
        A step to take in between, and how many steps of the entry come before it.
    """
    module = ModuleBuilder(options, step)
    for helper in plan.functions[:-1]:
        functions.helper(module, Choices(helper.head), helper.steps)
    last = plan.functions[-1]
    functions.main(module, Choices(last.head), last.steps, extra)
    infos: dict[str, tuple[object, ...]] = {}
    if module.placed:
        infos["vdevice"] = tuple(("I.vdevice", *device, "global") for device in module.devices)
    return IRModule(module.functions, {}, infos, "Module")
