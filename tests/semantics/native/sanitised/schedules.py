"""Random steps of TVM's schedules, and of the passes that lower what they make."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

Step = Callable[[Any, random.Random], None]
_FACTORS = (1, 2, 3, 4, 5, 7, 8, 16, 32)


def block_of(schedule: Any, rng: random.Random) -> Any:
    """Some block, the root aside."""
    return rng.choice(schedule.get_child_blocks(schedule.get_sblock("root")))


def loop_of(schedule: Any, rng: random.Random) -> Any:
    """Some loop of some block."""
    return rng.choice(schedule.get_loops(block_of(schedule, rng)))


def run_of(schedule: Any, rng: random.Random) -> list[Any]:
    """Two loops or more, one directly in the other."""
    loops = schedule.get_loops(block_of(schedule, rng))
    first = rng.randrange(len(loops) - 1)
    return list(loops[first : rng.randint(first + 2, len(loops))])


def split(schedule: Any, rng: random.Random) -> None:
    factors: list[Any] = [rng.choice(_FACTORS) for _ in range(rng.randint(1, 2))]
    factors.insert(rng.randrange(len(factors) + 1), None)
    schedule.split(loop_of(schedule, rng), factors, preserve_unit_iters=rng.random() < 0.5)


def tile(schedule: Any, rng: random.Random) -> None:
    """Two loops split, the outer parts outside."""
    block = block_of(schedule, rng)
    a, b = schedule.get_loops(block)[-2:]
    (a0, a1), (b0, b1) = (schedule.split(x, [None, rng.choice(_FACTORS)]) for x in (a, b))
    schedule.reorder(a0, b0, a1, b1)


def fuse(schedule: Any, rng: random.Random) -> None:
    schedule.fuse(*run_of(schedule, rng))


def reorder(schedule: Any, rng: random.Random) -> None:
    loops = run_of(schedule, rng)
    rng.shuffle(loops)
    schedule.reorder(*loops)


def mark(schedule: Any, rng: random.Random) -> None:
    word = rng.choice(("vectorize", "unroll", "parallel", "vectorize"))
    getattr(schedule, word)(loop_of(schedule, rng))


def vector(schedule: Any, rng: random.Random) -> None:
    """The innermost loop as lanes."""
    loops = schedule.get_loops(block_of(schedule, rng))
    inner = schedule.split(loops[-1], [None, rng.choice((2, 4, 8, 16))])[-1]
    schedule.vectorize(inner)


def bind(schedule: Any, rng: random.Random) -> None:
    loops = schedule.get_loops(block_of(schedule, rng))
    outer, inner = schedule.split(schedule.fuse(*loops), [None, rng.choice((8, 32))])
    schedule.bind(outer, "blockIdx.x")
    schedule.bind(inner, "threadIdx.x")


def partition(schedule: Any, rng: random.Random) -> None:
    """One loop as two; TVM's own process ends where a part would be empty."""
    loop, first = loop_of(schedule, rng), rng.choice(_FACTORS)
    extent = getattr(schedule.get(loop).extent, "value", 0)
    if first < extent:
        schedule.loop_partition(loop, [first, None])


def unit(schedule: Any, rng: random.Random) -> None:
    schedule.add_unit_loop(rng.choice((block_of, loop_of))(schedule, rng))


def cache_read(schedule: Any, rng: random.Random) -> None:
    block = block_of(schedule, rng)
    made = schedule.cache_read(block, rng.randrange(2), "local")
    if rng.random() < 0.6:
        schedule.compute_at(made, rng.choice(schedule.get_loops(block)), rng.random() < 0.5)


def cache_write(schedule: Any, rng: random.Random) -> None:
    block = block_of(schedule, rng)
    made = schedule.cache_write(block, 0, "local")
    if rng.random() < 0.6:
        schedule.reverse_compute_at(made, rng.choice(schedule.get_loops(block)))


def cache_index(schedule: Any, rng: random.Random) -> None:
    schedule.cache_index(block_of(schedule, rng), "local", rng.choice((0, 1)))


def reindex(schedule: Any, rng: random.Random) -> None:
    schedule.reindex(block_of(schedule, rng), (rng.choice(("read", "write")), rng.randrange(2)))


def compute_at(schedule: Any, rng: random.Random) -> None:
    word = rng.choice(("compute_at", "reverse_compute_at"))
    kept = rng.random() < 0.5
    getattr(schedule, word)(block_of(schedule, rng), loop_of(schedule, rng), kept)


def inline(schedule: Any, rng: random.Random) -> None:
    word = rng.choice(("compute_inline", "reverse_compute_inline"))
    getattr(schedule, word)(block_of(schedule, rng))


def rfactor(schedule: Any, rng: random.Random) -> None:
    loop = loop_of(schedule, rng)
    if rng.random() < 0.7:
        loop = rng.choice(schedule.split(loop, [None, rng.choice(_FACTORS)]))
    schedule.rfactor(loop, rng.choice((0, 0, 1, -1)))


def decompose_reduction(schedule: Any, rng: random.Random) -> None:
    block = block_of(schedule, rng)
    schedule.decompose_reduction(block, rng.choice(schedule.get_loops(block)))


def decompose_padding(schedule: Any, rng: random.Random) -> None:
    block = block_of(schedule, rng)
    schedule.decompose_padding(block, rng.choice(schedule.get_loops(block)))


def pad_einsum(schedule: Any, rng: random.Random) -> None:
    block = block_of(schedule, rng)
    axes = schedule.get(block).iter_vars
    schedule.pad_einsum(block, [rng.choice((1, 2, 4, 8)) for _ in axes])


def blockize(schedule: Any, rng: random.Random) -> None:
    schedule.blockize(loop_of(schedule, rng), rng.random() < 0.5)


def align(schedule: Any, rng: random.Random) -> None:
    schedule.storage_align(
        block_of(schedule, rng),
        0,
        rng.randrange(-2, 2),
        rng.choice((4, 8, 32)),
        rng.choice((0, 1, 3)),
    )


def layout(schedule: Any, rng: random.Random) -> None:
    """A buffer's axes in another order, one of them split or all as one."""
    block = block_of(schedule, rng)
    part = rng.choice((2, 3, 4, 8))
    maps: dict[int, list[Callable[..., Any]]] = {
        1: [lambda i: (i // part, i % part), lambda i: (i % part, i // part)],
        2: [
            lambda i, j: (j, i),
            lambda i, j: (i, j // part, j % part),
            lambda i, j: (i // part, j, i % part),
        ],
        3: [lambda i, j, k: (k, i, j), lambda i, j, k: (i, k // part, j, k % part)],
        4: [lambda i, j, k, m: (i, k, m, j), lambda i, j, k, m: (i, j // part, k, m, j % part)],
    }
    kind = rng.choice(("read", "write"))
    found = schedule.get(block)
    regions = found.reads if kind == "read" else found.writes
    at = rng.randrange(len(regions))
    change = rng.choice(maps[len(regions[at].buffer.shape)])
    pad = rng.choice((None, 0.0, 1.0)) if "float" in regions[at].buffer.dtype else None
    schedule.transform_layout(block, (kind, at), change, pad_value=pad)


def block_layout(schedule: Any, rng: random.Random) -> None:
    block = block_of(schedule, rng)
    count = len(schedule.get(block).iter_vars)
    changes: dict[int, Callable[..., Any]] = {
        1: lambda i: (i // 2, i % 2),
        2: lambda i, j: (j, i),
        3: lambda i, j, k: (i, k, j),
    }
    schedule.transform_block_layout(block, changes[count])


def axes(schedule: Any, rng: random.Random) -> None:
    block = block_of(schedule, rng)
    order = list(range(len(schedule.get(block).iter_vars)))
    rng.shuffle(order)
    schedule.reorder_block_iter_var(block, order)


def scope(schedule: Any, rng: random.Random) -> None:
    schedule.set_scope(block_of(schedule, rng), 0, rng.choice(("local", "shared", "global")))


def epilogue(schedule: Any, rng: random.Random) -> None:
    blocks = schedule.get_child_blocks(schedule.get_sblock("root"))
    at = rng.randrange(len(blocks) - 1)
    schedule.fuse_reduction_epilogue(blocks[at], blocks[at + 1])


def rolling(schedule: Any, rng: random.Random) -> None:
    schedule.rolling_buffer(block_of(schedule, rng), 0)


def sampled(schedule: Any, rng: random.Random) -> None:
    """As MetaSchedule tiles: by factors that divide the extent."""
    schedule.seed(rng.randrange(1, 1 << 30))
    block = block_of(schedule, rng)
    made = []
    for loop in schedule.get_loops(block):
        made.append(schedule.split(loop, schedule.sample_perfect_tile(loop, n=2)))
    schedule.reorder(*[outer for outer, _ in made], *[inner for _, inner in made])


STEPS: tuple[Step, ...] = (
    *(
        split,
        split,
        tile,
        fuse,
        reorder,
        mark,
        vector,
        bind,
        partition,
        unit,
        cache_read,
        cache_read,
    ),
    *(cache_write, cache_write, cache_index, reindex, compute_at, compute_at, compute_at, inline),
    *(
        inline,
        rfactor,
        rfactor,
        decompose_reduction,
        decompose_padding,
        pad_einsum,
        blockize,
        align,
    ),
    *(layout, layout, block_layout, axes, scope, epilogue, rolling, sampled),
)

PASSES = (
    "PlanAndUpdateBufferAllocationLocation",
    "LowerInitBlock",
    "ConvertBlocksToOpaque",
    "CompactBufferAllocation",
    "LowerMatchBuffer",
    "LowerOpaqueBlock",
    "LoopPartition",
    "VectorizeLoop",
    "UnrollLoop",
    "StmtSimplify",
    "RemoveNoOp",
)
"""How TVM lowers the loops of a function; a random beginning of it is done."""


def lowered(module: Any, rng: random.Random) -> Any:
    """The module after some of the passes."""
    from tvm import s_tir, tirx

    for name in PASSES[: rng.randint(1, len(PASSES))]:
        make = getattr(s_tir.transform, name, None) or getattr(tirx.transform, name)
        module = make()(module)
    return module
