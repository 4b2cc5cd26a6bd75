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

from rlx import lazy

if TYPE_CHECKING:
    from rlx.transform.lowering.passes import PassError
    from rlx.vm.builder import ExecBuilder, ExecBuildError, UnusedInput
    from rlx.vm.building import build
    from rlx.vm.compilation import pipeline
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
    return lazy.public_name(__name__, name)


def __dir__() -> list[str]:
    return __all__
