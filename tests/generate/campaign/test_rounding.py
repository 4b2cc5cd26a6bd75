"""Rounding is told from a wrong value. NumPy, which knows nothing of the machine, computes what the
peer returns: with the same steps, one of them off by one unit in the last place.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
import pytest

from rlx.generate.campaign.oracles.meaning import arguments
from rlx.generate.campaign.oracles.rerun import Rerun, tensors
from rlx.generate.campaign.oracles.rounding import distance, is_rounding, nudge
from rlx.generate.campaign.programs import program as random_text
from rlx.grammar.nodes import ast
from rlx.grammar.read.parser import parse
from rlx.semantics.outcome import Returned
from rlx.semantics.values import Tensor, TupleValue
from tests.generate.campaign.test_oracles import Array, Peer, put

Data = np.ndarray[Any, Any]


def program(*lines: str, dtype: str = "float16", of: str = "float16") -> str:
    body = "\n".join(f"        {line}" for line in lines)
    return f"""\
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((3,), "{dtype}")) -> R.Tensor((3,), "{of}"):
{body}
        return z
"""


def halves(*numbers: float) -> Data:
    return np.array(numbers, "float16")


def off(array: Data) -> Data:
    """The next float above each."""
    up: Data = np.nextafter(array, array.dtype.type(np.inf))
    return up


def judged(text: str, x: Data, ours: Data, theirs: Data) -> bool:
    return is_rounding(Rerun(text, "main", [Tensor(x)]), Tensor(ours), Tensor(theirs), 7)


POLE = program("y = R.rsqrt(x)", "z = R.tan(y)")
NEAR, FAR = halves(0.4126, 0.4126, 0.4126), halves(4.0, 5.0, 6.0)


def rsqrt(x: Data) -> Data:
    wide: Data = 1 / np.sqrt(x.astype("float64"))
    return wide.astype("float16")


def tan(y: Data) -> Data:
    wide: Data = np.tan(y.astype("float64"))
    return wide.astype("float16")


def test_a_small_step_near_a_pole_is_rounding() -> None:
    ours, theirs = tan(rsqrt(NEAR)), tan(off(rsqrt(NEAR)))
    assert (abs(ours - theirs) > 1).all()
    assert judged(POLE, NEAR, ours, theirs)
    assert not judged(POLE, NEAR, ours, (ours * 100).astype("float16"))


def test_the_same_difference_elsewhere_is_a_wrong_value() -> None:
    ours = tan(rsqrt(FAR))
    away = (tan(rsqrt(NEAR)) - tan(off(rsqrt(NEAR)))).astype("float16")
    assert not judged(POLE, FAR, ours, ours + away)
    assert not judged(POLE, FAR, ours, np.full_like(ours, np.nan))
    assert not judged(POLE, FAR, ours, ours)


def test_one_wrong_element_among_others_is_a_wrong_value() -> None:
    x = halves(0.4126, 0.4126, 4.0)
    ours, theirs = tan(rsqrt(x)), tan(off(rsqrt(x)))
    assert judged(POLE, x, ours, theirs)
    theirs[2] += 1
    assert not judged(POLE, x, ours, theirs)


def test_a_jump_is_rounding() -> None:
    text = program("y = R.sin(x)", "w = R.multiply(y, y)", "z = R.less(w, R.const([0.5, 0.5, 0.5], 'float16'))", of="bool")  # fmt: skip
    x = halves(np.pi / 4, 0.1, 1.5)
    ours = np.array([False, True, False])
    assert judged(text, x, ours, np.array([True, True, False]))
    assert not judged(text, x, ours, np.array([False, False, False]))


EXACT = (
    program("z = R.floor(x)"),
    program("y = R.floor(x)", "z = R.multiply(y, y)"),
    program("y = R.astype(x, 'int32')", "z = R.astype(y, 'float16')"),
    program("z = R.maximum(x, R.const([1.0, 2.0, 3.0], 'float16'))"),
)


@pytest.mark.parametrize("text", EXACT)
def test_whole_numbers_are_no_rounding(text: str) -> None:
    """An argument is what it is, and so is a small whole number."""
    x = halves(2.0, 3.0, 7.5)
    outcome: Any = Rerun(text, "main", [Tensor(x)]).watched(lambda array: None)
    ours = outcome.value.data
    assert not judged(text, x, ours, ours + 1)


def test_a_wrong_element_is_found_in_any_program() -> None:
    """A law: an element that is a tenth off, or one off, is never excused."""
    random = np.random.default_rng(5)
    planted = 0
    for seed in range(60):
        text, _ = random_text(seed, "run", "tvm")
        main = parse(text).modules[0].functions
        function = next(f for v, f in main.items() if v.name_hint == "main")
        assert isinstance(function, ast.Function)
        given = arguments(function, 3, seed)
        again = Rerun(text, "main", given or ())
        outcome = again.watched(lambda array: None) if given is not None else None
        if not isinstance(outcome, Returned):
            continue
        wrong = deepcopy(outcome.value)
        arrays = [tensor.data for tensor in tensors(wrong) if tensor.data.size]
        if not arrays:
            continue
        array = arrays[random.integers(len(arrays))]
        at = tuple(random.integers(size) for size in array.shape)
        array[at] = not array[at] if array.dtype == bool else array[at] + max(1, array[at] // 10)
        planted += 1
        assert not is_rounding(again, outcome.value, wrong, seed), text
    assert planted > 25


def test_other_types_and_shapes_are_no_rounding() -> None:
    ours = tan(rsqrt(NEAR))
    assert not judged(POLE, NEAR, ours, ours.astype("float32"))
    assert not judged(POLE, NEAR, ours, ours[:2])
    again = Rerun(POLE, "main", [Tensor(NEAR)])
    assert not is_rounding(again, Tensor(ours), TupleValue(()), 7)


def test_what_is_nudged() -> None:
    random = np.random.default_rng(3)
    given = np.array([0.1, 3.0, np.nan, np.inf, 1e-3, 1000.5], "float32")
    moved = np.stack([given] * 50)
    nudge(moved, random)
    assert np.isnan(moved[:, 2]).all() and (moved[:, [1, 3]] == given[[1, 3]]).all()
    for at in (0, 4, 5):
        apart = abs(moved[:, at].astype("float64") - given[at]) / given[at]
        assert 0 < apart.max() < 5 * 2.0**-23 and len(set(moved[:, at])) > 3
    whole = np.array([5, 6])
    nudge(whole, random)
    assert whole.tolist() == [5, 6]


def test_distance() -> None:
    one, other = np.array([1, np.nan, np.inf, 1, 2]), np.array([1, np.nan, np.inf, np.nan, 4])
    assert distance(one, other).tolist() == [0, 0, 0, np.inf, 2]
    assert distance(np.array([1, 2]), np.array([1, 3])).tolist() == [0, np.inf]


CONSTANT = program(
    "w = R.multiply(R.abs(x), R.const(0.0, 'float16'))",
    "v = R.add(w, R.const(0.4126, 'float16'))",
    "y = R.rsqrt(v)",
    "z = R.tan(y)",
)


@pytest.mark.parametrize(("wrong", "found"), [(0.0, 0), (4000.0, 1)])
def test_the_oracle_asks(wrong: float, found: int) -> None:
    """The peer's `rsqrt` is off by a unit, and its `tan` by so much."""
    returned = Array(tan(off(rsqrt(NEAR))) + np.float16(wrong))
    peer = Peer(compiled=lambda module, without=(): {"main": lambda x: returned})
    assert len(put("run", peer, CONSTANT)) == found
