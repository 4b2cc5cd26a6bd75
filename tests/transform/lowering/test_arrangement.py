"""LAW: with any sizes of shape variables, tensors that are alive together share no byte, and fit."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.grammar.read.parser import parse
from rlx.transform.lowering.arrangement import LIMIT, Most, Need, arrange
from rlx.transform.lowering.calls import CallTIRRewrite
from rlx.transform.lowering.memory import StaticPlanBlockMemory

PRODUCTS = 3
NEEDS = st.lists(
    st.builds(
        lambda start, length, count, product: Need(
            start, start + length, tuple(count if k == product else 0 for k in range(PRODUCTS))
        ),
        st.integers(0, 20),
        st.integers(0, 8),
        st.integers(0, 500),
        st.integers(0, PRODUCTS - 1),
    ),
    min_size=1,
    max_size=25,
)
SIZES = st.lists(st.integers(0, 100), min_size=PRODUCTS, max_size=PRODUCTS)
ALIGNMENT = (64, 8, 8)


def value(most: Most, sizes: list[int]) -> int:
    """The largest of the amounts."""
    return max(sum(a * b for a, b in zip(amount, sizes, strict=True)) for amount in most)


@given(NEEDS, SIZES, SIZES)
def test_what_is_alive_together_lies_apart(
    needs: list[Need], typical: list[int], sizes: list[int]
) -> None:
    begins, total = arrange(needs, typical, ALIGNMENT)
    assert max(map(len, (*begins, total))) <= LIMIT
    places: list[tuple[Need, int, int]] = []
    for need, begin in zip(needs, begins, strict=True):
        at = value(begin, sizes)
        end = at + value((need.size,), sizes)
        assert end <= value(total, sizes)
        assert all(n % a == 0 for amount in begin for n, a in zip(amount, ALIGNMENT, strict=True))
        for other, low, high in places:
            together = need.start <= other.end and other.start <= need.end
            if together and low < high and at < end:
                assert end <= low or high <= at
        places.append((need, at, end))


@given(st.lists(st.integers(0, 500), min_size=1), SIZES)
def test_one_life_behind_the_other_needs_the_largest(counts: list[int], sizes: list[int]) -> None:
    needs = [
        Need(k, k, tuple(count if j == k % PRODUCTS else 0 for j in range(PRODUCTS)))
        for k, count in enumerate(counts)
    ]
    begins, total = arrange(needs, [1, 16, 256], ALIGNMENT)
    assert {value(begin, sizes) for begin in begins} == {0}
    assert value(total, sizes) == max(value((need.size,), sizes) for need in needs)


PROGRAM = """
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def copy(a: T.handle, b: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n,), "float32")
        B = T.match_buffer(b, (n,), "float32")
        for i in T.grid(n):
            B[i] = A[i]

    @R.function
    def main(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        R.func_attr({ATTRIBUTES})
        a = R.call_tir(Module.copy, (x,), R.Tensor((n,), "float32"))
        b = R.call_tir(Module.copy, (a,), R.Tensor((n,), "float32"))
        c = R.call_tir(Module.copy, (b,), R.Tensor((n,), "float32"))
        return c
"""


def planned(attributes: str) -> str:
    """The text of the program with its memory planned."""
    module = parse(PROGRAM.replace("ATTRIBUTES", attributes)).modules[0]
    return str(StaticPlanBlockMemory()(CallTIRRewrite()(module)))


def test_a_bound_that_is_declared_makes_the_size_a_number() -> None:
    assert "alloc_storage(R.shape([12, n])" in planned("")
    assert "alloc_storage(R.shape([456])" in planned('"tir_var_upper_bound": {"n": 50}')
    assert "alloc_storage(R.shape([12, n])" in planned('"tir_var_upper_bound": {"m": 50}')


@pytest.mark.parametrize("attributes", ["", '"tir_var_upper_bound": {"n": 50}'])
def test_tensors_that_do_not_leave_share_one_piece_of_memory(attributes: str) -> None:
    """Two of the three: the last is the result, which stays an allocation of its own."""
    text = planned(attributes)
    assert text.count("alloc_storage(") == text.count("R.builtin.alloc_tensor(") == 1
    uses = Counter(re.findall(r"R\.memory\.alloc_tensor\((\w+),", text))
    assert list(uses.values()) == [2]
