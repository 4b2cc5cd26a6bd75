"""The working memory of an operator counts as memory of the run."""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread

import numpy as np
import pytest

import rlx
from rlx.semantics.live_memory import TooMuchMemory, limited
from rlx.semantics.operator_memory import bounded
from rlx.semantics.outcome import Fault, Returned

MIB = 1 << 20
NEEDY: dict[str, tuple[list[tuple[int, ...]], str]] = {
    # the scores are a matrix of 4096 times 4096 numbers
    "attention": ([(1, 4096, 1, 4)], "R.nn.attention(x0, x0, x0)"),
    # the pieces of the image that the kernel meets
    "convolution": ([(1, 4, 200, 200), (4, 4, 11, 11)], "R.nn.conv2d(x0, x1)"),
    "broadcasting": ([(5000, 1), (1, 5000)], "R.sum(R.add(x0, x1))"),
}


@pytest.mark.parametrize("kind", NEEDY)
def test_a_temporary_tensor_counts(kind: str) -> None:
    """Neither the operands nor the result come near the limit."""
    shapes, call = NEEDY[kind]
    params = ", ".join(f'x{i}: R.Tensor({shape}, "float32")' for i, shape in enumerate(shapes))
    text = f"@R.function\ndef main({params}):\n    y = {call}\n    return y\n"
    module = rlx.parse(text)
    values = [np.zeros(shape, "float32") for shape in shapes]
    outcome = rlx.run(module, inputs=values, memory=40 * MIB)
    assert isinstance(outcome, Fault)
    assert outcome.code == "E-result-memory-there"
    assert isinstance(rlx.run(module, inputs=values, memory=4096 * MIB), Returned)


@pytest.mark.parametrize("make", [np.ones, np.zeros, np.empty])
def test_what_exceeds_the_limit_is_refused(make: Callable[..., object]) -> None:
    with limited(64 * MIB), pytest.raises(TooMuchMemory, match="while it computes"), bounded():
        make(128 * MIB, np.uint8)


def test_pieces_that_are_freed_count_no_more() -> None:
    with limited(64 * MIB), bounded():
        for _ in range(10):
            np.ones(48 * MIB, np.uint8)


def test_pieces_together_exceed_the_limit() -> None:
    # eight, not four: the system may take unused pages from the process meanwhile
    with limited(64 * MIB), pytest.raises(TooMuchMemory), bounded():
        [np.ones(24 * MIB, np.uint8) for _ in range(8)]


def test_an_array_outlives_the_limit() -> None:
    with limited(64 * MIB), bounded():
        kept = np.ones(8 * MIB, np.uint8)
    kept.resize(128 * MIB, refcheck=False)
    assert kept.sum() == 8 * MIB


def test_other_threads_are_not_limited() -> None:
    found: list[int] = []
    other = Thread(target=lambda: found.append(np.ones(128 * MIB, np.uint8).size))
    with limited(64 * MIB), bounded():
        other.start()
        other.join()
    assert found == [128 * MIB]


def test_an_error_of_python_itself_stays_what_it_is() -> None:
    with limited(64 * MIB), pytest.raises(MemoryError), bounded():
        raise MemoryError
