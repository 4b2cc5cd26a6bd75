"""PrimFuncs as people and schedules write them: split loops with guards, cached blocks, threads, factored reductions.

TVM's schedules make them of what LegalizeOps makes of operators, and DLight by its own rules; a few are written by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

HAND = Path(__file__).with_name("prim_by_hand.txt")


def by_hand() -> list[str]:
    """The functions written by hand."""
    return [text.strip() + "\n" for text in HAND.read_text("utf-8").split("----\n")]


def scheduled() -> Iterator[str]:
    """Functions of LegalizeOps, scheduled."""
    for module in _legalized():
        for make in (_split, _cached, _bound, _factored):
            text = _tried(make, module)
            if text is not None:
                yield text
        yield from _by_dlight(module)


def _legalized() -> Iterator[Any]:
    import tvm

    from tests.tvm.test_tir import CASES, legalized

    for expr, parameters in CASES.items():
        for _, function in legalized(expr, parameters).functions_items():
            if type(function).__name__ == "PrimFunc":
                yield tvm.IRModule({"main": function.with_attr("global_symbol", "main")})


def _tried(make: Callable[[Any], None], module: Any) -> str | None:
    """The text after a change, where it can be made."""
    from tvm import s_tir

    schedule = s_tir.Schedule(module)
    try:
        make(schedule)
    except Exception:  # noqa: BLE001 - what a schedule cannot do to a function is left out
        return None
    text: str = schedule.mod["main"].script()
    return text


def _blocks(schedule: Any) -> list[Any]:
    root = schedule.get_sblock("root")
    return list(schedule.get_child_blocks(root))


def _split(schedule: Any) -> None:
    """Loops in parts that do not divide them: the block has a condition."""
    block = _blocks(schedule)[-1]
    loops = schedule.get_loops(block)
    _, inner = schedule.split(loops[-1], [None, 3])
    schedule.unroll(inner)
    if len(loops) > 1:
        schedule.parallel(loops[0])


def _cached(schedule: Any) -> None:
    """An operand and the result in memory of their own."""
    block = _blocks(schedule)[-1]
    schedule.cache_read(block, 0, "local")
    schedule.cache_write(block, 0, "local")


def _bound(schedule: Any) -> None:
    """One loop of all, in threads."""
    block = _blocks(schedule)[-1]
    outer, inner = schedule.split(schedule.fuse(*schedule.get_loops(block)), [None, 32])
    schedule.bind(outer, "blockIdx.x")
    schedule.bind(inner, "threadIdx.x")


def _factored(schedule: Any) -> None:
    """A reduction in two steps, its beginning apart."""
    for block in _blocks(schedule):
        loops = schedule.get_loops(block)
        outer, _ = schedule.split(loops[-1], [None, 2])
        made = schedule.rfactor(outer, 0)
        schedule.decompose_reduction(made, schedule.get_loops(made)[0])
        return


def _by_dlight(module: Any) -> Iterator[str]:
    import tvm
    from tvm.s_tir import dlight

    target = tvm.target.Target("nvidia/geforce-rtx-3070")
    with target:
        rules = (dlight.gpu.Matmul(), dlight.gpu.Reduction(), dlight.gpu.Fallback())
        try:
            made = dlight.ApplyDefaultSchedule(*rules)(module)
        except Exception:  # noqa: BLE001 - a rule that does not get through a function
            return
    yield made["main"].script()
