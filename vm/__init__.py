"""The virtual machine: executables of four instructions, how they are built, saved, and run.

>>> import numpy as np
>>> from rlx import vm
>>> ib = vm.ExecBuilder()
>>> with ib.function("main", num_inputs=2):
...     ib.emit_call("add", args=[ib.r(0), ib.r(1)], dst=ib.r(2))
...     ib.emit_ret(ib.r(2))
>>> machine = vm.VirtualMachine(ib.get(), packed={"add": np.add})
>>> machine["main"](np.ones(2), np.ones(2))
array([2., 2.])
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rlx.transform.lowering.passes import PassError
    from rlx.vm.builder import ExecBuilder, ExecBuildError, UnusedInput
    from rlx.vm.compilation import build, pipeline
    from rlx.vm.executable import Executable
    from rlx.vm.faults import (
        CheckFailed,
        Fault,
        OutOfFuelError,
        RunError,
        UnsupportedError,
    )
    from rlx.vm.machine import VirtualMachine
    from rlx.vm.saving import LoadError

_HOMES = {
    "ExecBuildError": "rlx.vm.builder",
    "CheckFailed": "rlx.vm.faults",
    "ExecBuilder": "rlx.vm.builder",
    "Executable": "rlx.vm.executable",
    "Fault": "rlx.vm.faults",
    "LoadError": "rlx.vm.saving",
    "PassError": "rlx.transform.lowering.passes",
    "OutOfFuelError": "rlx.vm.faults",
    "RunError": "rlx.vm.faults",
    "UnsupportedError": "rlx.vm.faults",
    "UnusedInput": "rlx.vm.builder",
    "VirtualMachine": "rlx.vm.machine",
    "build": "rlx.vm.compilation",
    "pipeline": "rlx.vm.compilation",
}

__all__ = [
    "CheckFailed",
    "ExecBuildError",
    "ExecBuilder",
    "Executable",
    "Fault",
    "LoadError",
    "OutOfFuelError",
    "PassError",
    "RunError",
    "UnsupportedError",
    "UnusedInput",
    "VirtualMachine",
    "build",
    "pipeline",
]


def __getattr__(name: str) -> object:
    """What is imported only when it is asked for."""
    from importlib import import_module

    if name not in _HOMES:
        raise AttributeError(
            f"module 'rlx.vm' has no attribute {name!r}; it has: {', '.join(__all__)}"
        )
    value: object = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
