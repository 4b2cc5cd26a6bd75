"""LAW: TVM's virtual machine takes from the system, to the byte, what `rlx memory --tvm` says.

`python -m tests.tvm.memory_measured [COUNT SEED]` compiles the examples, the programs of `memory_programs.txt`, the networks and COUNT generated programs with TVM
and runs each at several sizes with the allocator that gives back at once what is free. A small library, put before the C
library, counts what TVM's runtime asks for. Not counted by either: arguments, constants, and what kernels and packed
functions take inside. The heap of shapes, eight bytes a slot, is a part of the run and not of the plan.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple

COUNTING = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);
static int counting, slots;
static long live, peak;
static struct { void *at; long size; } held[1 << 16];

int posix_memalign(void **made, size_t align, size_t size) {
    *made = __libc_memalign(align, size);
    if (!*made) return 12;
    Dl_info from;
    if (counting && dladdr(__builtin_return_address(0), &from) && strstr(from.dli_fname, "tvm_runtime.so")) {
        int k = 0;
        while (k < slots && held[k].at) k++;
        if (k == slots) slots++;
        held[k].at = *made, held[k].size = size;
        live += size;
        if (live > peak) peak = live;
    }
    return 0;
}
void free(void *at) {
    for (int k = 0; at && k < slots; k++)
        if (held[k].at == at) { live -= held[k].size, held[k].at = 0; break; }
    __libc_free(at);
}
void pause_counting(int paused) { counting = !paused; }
void begin_counting(void) { counting = 1, slots = 0, live = peak = 0; }
long end_counting(void) { counting = slots = 0; return peak; }
"""
LIBRARY = "RLX_COUNTING_LIBRARY"
SIZES = (1, 3, 16)


class Measured(NamedTuple):
    """A program at a size: the bytes that the plan says, and those that a run took at its peak.

    A run takes one of two branches, and the plan has the larger one.
    """

    name: str
    size: int
    alive: int
    planned: int
    heaps: frozenset[int]
    taken: int
    branches: bool

    @property
    def agrees(self) -> bool:
        """Whether the formula is exact to the byte, except for the shape heaps of the functions that run."""
        more = self.taken - self.planned
        return more in self.heaps or (self.branches and more < max(self.heaps))


def measure(name: str, module: Any) -> Iterator[Measured]:
    """Yield what each public function takes at each size. Raises ValueError if TVM has no plan."""
    import tvm
    from tvm import relax

    from rlx.generate.campaign.oracles.run import to_peer
    from rlx.generate.campaign.peer import PACKED, Peer
    from rlx.grammar.nodes import ast
    from rlx.grammar.nodes.node import replace, walk
    from rlx.grammar.print.printer import print_module
    from rlx.grammar.read.parser import parse
    from rlx.semantics.machine import load
    from rlx.semantics.machine.entries import callable_functions
    from rlx.semantics.outcome import Fault
    from rlx.semantics.run.inputs import inputs
    from rlx.transform.memory_use import memory_uses
    from rlx.tvm.plan import planned_by_tvm

    functions = {
        entry: function
        for entry, (_, function) in callable_functions([module]).items()
        if not function.attrs.get("private")
    }
    text = print_module(replace(module, name=module.name or "Module", bare=False), "0.27")
    (plan,) = parse(planned_by_tvm(text)).modules
    needs = memory_uses(module, list(functions))
    plans = memory_uses(plan, list(functions), killed=True)
    peer = Peer()
    built = relax.build(relax.transform.LambdaLift()(peer.read(text)), target="llvm")
    machine = relax.VirtualMachine(built, tvm.cpu(), memory_cfg="naive")
    heaps = frozenset([0])
    for slots in re.findall(r"alloc_shape_heap in: %vm, i(\d+)", built.as_text()):
        heaps |= {each + 8 * int(slots) for each in heaps}
    branches = any(isinstance(node, ast.If) for node in walk(module))
    counter = ctypes.CDLL(os.environ[LIBRARY])

    def called(_: Any, symbol: str, before: bool, *__: Any) -> None:
        """A kernel or a packed function begins or ends: what it takes inside is not counted."""
        if not symbol.startswith("vm.builtin.") and symbol not in relax_functions:
            counter.pause_counting(int(before))

    relax_functions = {var.name_hint for var in module.relax_functions}
    machine.set_instrument(called)
    for (entry, function), need, planned in zip(functions.items(), needs, plans, strict=True):
        if planned.unknown:
            print(f"{name}.{entry}: not all is counted: {planned.unknown[0][2]}")
            continue
        for size in SIZES:
            sizes = {var.name: str(size) for var in function.shape_vars}
            values = inputs(function, sizes, 0).values
            ending = load(module, packed=PACKED).run(entry, deepcopy(values))
            if isinstance(ending, Fault):
                print(f"{name}.{entry} at {size}: not run: {ending.message}")
                continue  # TVM's kernels do anything then, such as to write outside of their tensors
            given = [to_peer(peer, value) for value in values]
            at = dict.fromkeys({*need.sizes, *planned.sizes}, size)
            counter.begin_counting()
            machine[entry](*given)
            taken = int(counter.end_counting())
            said = need.highest(at)[0], planned.highest(at)[0]
            yield Measured(f"{name}.{entry}", size, *said, heaps, taken, branches)


def programs(count: int, seed: int) -> Iterator[tuple[str, Any]]:
    """The examples, the networks and so many generated programs that TVM should build."""
    import rlx
    from rlx.generate.campaign.programs import AGAINST
    from rlx.generate.programs import random_module
    from rlx.grammar.nodes.node import replace
    from rlx.grammar.print.printer import print_module
    from rlx.tvm.building import check_for_tvm

    from .models import MODELS

    for path in sorted(Path("examples").glob("*.rlx")):
        yield path.stem, rlx.load(path)
    texts = Path(__file__).with_name("memory_programs.txt").read_text("utf-8").split("----\n")
    for name, _, text in (each.partition("\n") for each in texts):
        yield name, rlx.load(text)
    for name, build in MODELS.items():
        yield name, rlx.load(build().script(show_meta=True))
    for number in itertools.count(seed):
        module = random_module(random.Random(number), AGAINST["tvm"])
        text = print_module(replace(module, bare=False), "0.27")
        said = check_for_tvm(text)
        if (
            "R.ccl." not in text
            and not said.errors
            and not any(note.code == "TVM-packed" for note in said.diagnostics)
        ):
            yield f"program {number}", module
            count -= 1
        if count <= 0:
            return


def main(count: int, seed: int, only: str = "") -> None:
    """Print each program with what it takes, and where the two do not agree."""
    told: Counter[str] = Counter()
    for name, module in programs(count, seed):
        if only not in name:
            continue
        try:
            found = list(measure(name, module))
        except Exception as error:  # noqa: BLE001 - TVM raises of every kind
            told["not measured"] += 1
            print(f"{name}: not measured: {str(error).strip().splitlines()[-1:]}"[:200], flush=True)
            continue
        told["agree" if all(each.agrees for each in found) else "differ"] += 1
        for each in found:
            how = "" if each.agrees else "  DIFFERS"
            print(
                f"{each.name} at {each.size}: alive {each.alive}, planned {each.planned}, taken {each.taken}{how}",
                flush=True,
            )
    print(dict(told))


def counted() -> None:
    """Run this command again with the counting library before the C library."""
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "counting.so"
        command = ["cc", "-shared", "-fPIC", "-O2", "-w", "-x", "c", "-", "-o", str(library)]
        subprocess.run(command, input=COUNTING, text=True, check=True)
        env = {
            **os.environ,
            "LD_PRELOAD": str(library),
            LIBRARY: str(library),
            "TVM_NUM_THREADS": "1",
        }
        again = [sys.executable, "-m", "tests.tvm.memory_measured", *sys.argv[1:]]
        sys.exit(subprocess.run(again, env=env, check=False).returncode)


if __name__ == "__main__":
    if LIBRARY not in os.environ:
        counted()
    many, first, *rest = sys.argv[1:] or ("12", "0")
    main(int(many), int(first), *rest)
