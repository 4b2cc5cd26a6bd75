"""`rlx memory` beside what TVM's virtual machine takes from the system: `python -m tests.tvm.memory_measured FILE n=65536`.

The process's peak is read from Linux, so sizes must be large: some hundred megabytes. The naive allocator takes
what the plan says; the pooled one keeps what is free, and may take more.
"""

from __future__ import annotations

import gc
import re
import sys
from pathlib import Path

import tvm
from tvm import relax

import rlx
from rlx.grammar.nodes.node import replace
from rlx.semantics.machine.program import callable_functions
from rlx.semantics.run.inputs import inputs
from rlx.semantics.values import Tensor

STATUS = Path("/proc/self/status")


def resident(what: str) -> int:
    """The bytes of memory that the process has (VmRSS), or had at most (VmHWM)."""
    found = re.search(rf"{what}:\s+(\d+)", STATUS.read_text())
    assert found is not None
    return int(found[1]) * 1024


def measured(path: str, sizes: str, allocator: str) -> int:
    """The bytes that a run of `main` adds to the process at its peak, its arguments not counted."""
    module = rlx.load(path)
    whole = replace(module, name=module.name or "Module", bare=False)
    built = tvm.compile(tvm.script.from_source(rlx.fmt(whole, "0.27")), target="llvm")
    machine = relax.VirtualMachine(built, tvm.cpu(), memory_cfg=allocator)
    given = dict(each.split("=") for each in sizes.split(","))
    values = inputs(callable_functions([module])["main"][1], given, 0).values
    args = [tvm.runtime.tensor(each.data) for each in values if isinstance(each, Tensor)]
    del values
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before = resident("VmRSS")
    machine["main"](*args)
    return resident("VmHWM") - before


def main() -> None:
    """Print both allocators' peaks, and what `rlx memory` says."""
    path, sizes = sys.argv[1:]
    for allocator in ("naive", "pooled"):
        print(f"{allocator}: {measured(path, sizes, allocator) / 2**20:.1f} MiB")
    known = {name: int(size) for name, size in (each.split("=") for each in sizes.split(","))}
    found = rlx.memory(Path(path))
    print(f"rlx memory: {found.highest(known)[0] / 2**20:.1f} MiB alive at once")


if __name__ == "__main__":
    main()
