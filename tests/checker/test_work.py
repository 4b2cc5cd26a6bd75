"""The work of a check is bounded by the text: counted, not timed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType

import pytest

from rlx.checker.check import check_text
from rlx.grammar.nodes.ast import StructInfo, TensorStructInfo, TupleStructInfo
from rlx.grammar.nodes.struct_infos import all_parts
from rlx.grammar.print.printer import show
from rlx.grammar.suggest import closest, distance
from rlx.solver.order import erase, free_shape_vars, lub
from rlx.solver.prover import Prover

HEAD = '@R.function\ndef main(c: R.Tensor((), "bool"), x: R.Tensor((2,), "float32")):\n'


def calls(run: Callable[[], object]) -> int:
    """The number of Python functions that a run calls."""
    count = 0

    def seen(frame: FrameType, event: str, value: object) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(seen)
    try:
        run()
    finally:
        sys.setprofile(before)
    return count


def doubled(count: int, first: str = "x", name: str = "v") -> str:
    return "".join(
        f"    {name}{i} = ({before}, {before})\n"
        for i in range(count)
        for before in [f"{name}{i - 1}" if i else first]
    )


def deep(count: int, leaf: StructInfo) -> StructInfo:
    for _ in range(count):
        leaf = TupleStructInfo((leaf, leaf))
    return leaf


PROGRAMS: dict[str, Callable[[int], str]] = {
    "tuples that double": lambda n: f"{HEAD}{doubled(n)}    return v{n - 1}\n",
    "in a message": lambda n: f"{HEAD}{doubled(n)}    y = R.add(v{n - 1}, x)\n    return y\n",
    "joined": lambda n: (
        f"{HEAD}{doubled(n)}{doubled(n, name='w')}"
        f"    if c:\n        y = v{n - 1}\n    else:\n        y = w{n - 1}\n    return y\n"
    ),
    "cast": lambda n: (
        f"{HEAD}{doubled(n)}    y = R.match_cast(v{n - 1}, R.Tuple(R.Object, R.Tuple(R.Object)))\n"
        "    return y\n"
    ),
    "suppressed errors": lambda n: (
        HEAD
        + "".join(f"    y{i} = R.add(x, (x,))  # rlx: ignore[OBL-add]\n" for i in range(n))
        + "    return x\n"
    ),
    "behind a wrong indentation": lambda n: (
        "@I.ir_module\nclass Module:\n    @R.function\n    def main(x: R.Object):\n    1   y = x\n"
        + "".join(f"        y{i} = R.add(x, x)\n" for i in range(n))
        + "        return x\n"
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_work_is_near_linear(name: str) -> None:
    make = PROGRAMS[name]
    check_text(make(2))  # what is loaded once does not count
    once, eightfold = (calls(lambda n=n: check_text(make(n))) for n in (20, 160))  # type: ignore[misc]
    assert eightfold < 12 * once


def test_bounds_of_shared_tuples_are_found_once() -> None:
    a, b = (deep(100, TensorStructInfo(dtype=kind)) for kind in kinds())
    joined = lub(a, b, Prover())
    assert sum(1 for _ in all_parts(joined)) < 1_000
    assert erase(a, frozenset(), frozenset()) is a
    assert free_shape_vars(a) == ()


def kinds() -> tuple:  # type: ignore[type-arg]
    from rlx.grammar.nodes.dtype import dtype

    return dtype("float32"), dtype("int32")


def test_text_of_what_is_shared_is_short() -> None:
    assert len(show(deep(300, TensorStructInfo()))) < 20_000


def test_long_names_are_compared_in_bounded_time() -> None:
    long = "a" * 50_000
    assert closest(long, ["b" * 50_000, f"{long}b"]) == [f"{long}b"]
    assert distance(long, "b" * 100_000, 12) is None
    assert distance(f"x{long}", f"{long}y", 2) == 2


@pytest.mark.parametrize("operator", ["-", "~", "not "])
@pytest.mark.parametrize("count", [500, 20_000])
def test_chains_of_operators_are_read_or_refused(operator: str, count: int) -> None:
    text = f"@T.prim_func\ndef f(n: T.int64):\n    T.evaluate({operator * count}n)\n"
    messages = [found.message for found in check_text(text).diagnostics]
    refused = "more than 512 operators stand in front of one operand" in messages
    assert refused == (count > 512)
