"""Kernels before and after TVM's schedules, which keep their meaning: ``python -m tests.tvm.schedules COUNT SEED``.

Each pair is what LegalizeOps and FuseTIR make of a program of one to three operators, and the same after one to four
primitives of `tvm.s_tir.Schedule`, chosen at random. Left out are those that change what a kernel takes
(`transform_layout` of its result) and `reindex`, which reads outside of buffers that are padded.
"""

from __future__ import annotations

import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from typing import Any

import rlx

_SHAPES = {
    "x": ("n", 24),
    "y": (24, 8),
    "g": (24,),
    "image": ("n", 3, 8, 8),
    "filter": (4, 3, 3, 3),
    "small": (16, 24),
    "bytes": ("n", 8),
    "more": (8, 12),
}
_KINDS = {"bytes": "int8", "more": "int8"}
PROGRAMS = (
    "R.exp(R.add(R.nn.relu(x), R.const(1.0)))",
    "R.nn.relu(R.matmul(x, y))",
    "R.sum(x, axis=[1])",
    "R.sum(small)",
    "R.max(x, axis=[1])",
    "R.nn.softmax(x, axis=1)",
    "R.nn.layer_norm(x, g, g, axes=[-1])",
    "R.subtract(x, R.mean(x, axis=[1], keepdims=True))",
    "R.nn.relu(R.nn.conv2d(image, filter, padding=1))",
    "R.nn.max_pool2d(image, (2, 2), (2, 2))",
    "R.add(R.permute_dims(x), R.const(2.0))",
    "R.nn.pad(small, (1, 2, 3, 4))",
    "R.concat((x, x), axis=1)",
    'R.matmul(bytes, more, out_dtype="int32")',
)

Primitive = Callable[[Any, random.Random], None]


def pairs(count: int, seed: int) -> Iterator[tuple[str, str, str]]:
    """The primitives, the kernel, and the kernel after them."""
    from tvm import s_tir

    for k in range(count):
        rng = random.Random(f"{seed} {k}")
        before = kernel(rng.choice(PROGRAMS))
        schedule, done = s_tir.Schedule(before), list[str]()
        for _ in range(rng.randint(1, 4)):
            name, primitive = rng.choice([*PRIMITIVES.items()])
            tried = schedule.copy()
            with suppress(Exception):  # what a primitive cannot do to a kernel is left out
                primitive(tried, rng)
                schedule = tried
                done.append(name)
        yield ", ".join(done), str(before.script()), str(schedule.mod.script())


@cache
def kernel(program: str) -> Any:
    """The largest kernel of a program, alone."""
    import tvm
    from tvm import relax

    names = [name for name in _SHAPES if re.search(rf"\b{name}\b", program)]
    params = ", ".join(
        f'{name}: R.Tensor({_SHAPES[name]}, "{_KINDS.get(name, "float32")}")' for name in names
    )
    text = f"@R.function\ndef main({params}):\n    with R.dataflow():\n        a = {program}\n"
    text = rlx.show(f"{text}        R.output(a)\n    return a\n")
    module = tvm.IRModule({"main": tvm.script.from_source(text).with_attr("global_symbol", "main")})
    for change in ("LegalizeOps", "AnnotateTIROpPattern", "FuseOps", "FuseTIR"):
        module = getattr(relax.transform, change)()(module)
    kernels = [f for _, f in module.functions_items() if not isinstance(f, relax.Function)]
    found = max(kernels, key=lambda f: len(f.script()))
    return tvm.IRModule({"main": found.with_attr("global_symbol", "main")})


def _block(schedule: Any, rng: random.Random) -> Any:
    return rng.choice(list(schedule.get_child_blocks(schedule.get_sblock("root"))))


def _loop(schedule: Any, rng: random.Random) -> Any:
    return rng.choice(list(schedule.get_loops(_block(schedule, rng))))


def _split(schedule: Any, rng: random.Random) -> None:
    schedule.split(_loop(schedule, rng), [None, rng.choice([2, 3, 4, 5, 8])])


def _split_from_outside(schedule: Any, rng: random.Random) -> None:
    schedule.split(_loop(schedule, rng), [rng.choice([2, 3, 4]), None])


def _fuse(schedule: Any, rng: random.Random) -> None:
    loops = schedule.get_loops(_block(schedule, rng))
    at = rng.randrange(len(loops) - 1)
    schedule.fuse(loops[at], loops[at + 1])


def _reorder(schedule: Any, rng: random.Random) -> None:
    loops = list(schedule.get_loops(_block(schedule, rng)))
    rng.shuffle(loops)
    schedule.reorder(*loops)


def _compute_at(schedule: Any, rng: random.Random) -> None:
    block = _block(schedule, rng)
    consumer = schedule.get_consumers(block)[0]
    schedule.compute_at(block, rng.choice(list(schedule.get_loops(consumer))))


def _decompose(schedule: Any, rng: random.Random) -> None:
    block = _block(schedule, rng)
    schedule.decompose_reduction(block, rng.choice(list(schedule.get_loops(block))))


def _factor(schedule: Any, rng: random.Random) -> None:
    last = schedule.get_loops(_block(schedule, rng))[-1]
    factor = rng.choice([2, 4])
    if int(schedule.get(last).extent) % factor:
        return  # TVM reads parts that are not written
    parts = schedule.split(last, [None, factor])
    schedule.rfactor(rng.choice(list(parts)), rng.choice([0, -1]))


def _turn(schedule: Any, rng: random.Random) -> None:
    schedule.transform_block_layout(_block(schedule, rng), lambda *axes: axes[::-1])


def _vectorize(schedule: Any, rng: random.Random) -> None:
    _, inner = schedule.split(schedule.get_loops(_block(schedule, rng))[-1], [None, 4])
    schedule.vectorize(inner)


def _bind(schedule: Any, rng: random.Random) -> None:
    fused = schedule.fuse(*schedule.get_loops(_block(schedule, rng)))
    outer, inner = schedule.split(fused, [None, 32])
    schedule.bind(outer, "blockIdx.x")
    schedule.bind(inner, "threadIdx.x")


def _decompose_padding(schedule: Any, rng: random.Random) -> None:
    block = _block(schedule, rng)
    schedule.decompose_padding(block, rng.choice(list(schedule.get_loops(block))))


PRIMITIVES: dict[str, Primitive] = {
    "split": _split,
    "split from outside": _split_from_outside,
    "fuse": _fuse,
    "reorder": _reorder,
    "compute_inline": lambda schedule, rng: schedule.compute_inline(_block(schedule, rng)),
    "reverse_compute_inline": lambda schedule, rng: schedule.reverse_compute_inline(
        _block(schedule, rng)
    ),
    "cache_read": lambda schedule, rng: schedule.cache_read(_block(schedule, rng), 0, "local"),
    "cache_write": lambda schedule, rng: schedule.cache_write(_block(schedule, rng), 0, "local"),
    "compute_at": _compute_at,
    "decompose_reduction": _decompose,
    "rfactor": _factor,
    "transform_block_layout": _turn,
    "vectorize": _vectorize,
    "bind": _bind,
    "unroll": lambda schedule, rng: schedule.unroll(_loop(schedule, rng)),
    "parallel": lambda schedule, rng: schedule.parallel(
        schedule.get_loops(_block(schedule, rng))[0]
    ),
    "pad_einsum": lambda schedule, rng: schedule.pad_einsum(_block(schedule, rng), [8, 8, 8]),
    "blockize": lambda schedule, rng: schedule.blockize(_loop(schedule, rng)),
    "add_unit_loop": lambda schedule, rng: schedule.add_unit_loop(_block(schedule, rng)),
    "decompose_padding": _decompose_padding,
}
"""What is done to a block or a loop, chosen at random."""


def main(words: list[str]) -> None:
    """Print each pair that is not proved, and how many are."""
    count, seed = map(int, words)
    found = Counter[str]()
    for done, before, after in pairs(count, seed):
        answer = rlx.refines(before, after, floats="real")
        found[f"proved {answer.level}" if answer.proved else str(answer).partition(":")[0]] += 1
        if not answer.proved:
            print(f"{done}: {answer}\n{after}\n", flush=True)
    print(dict(found))


if __name__ == "__main__":
    main(sys.argv[1:])
