"""Results that no memory can hold are refused before they are computed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rlx.operators.registry import Operator
from rlx.semantics.machine import obligations
from rlx.semantics.outcome import Fault, Returned
from tests.semantics.machine.running import ended, floats, program, returned, value

HUGE = 10**11


def text(call: str) -> str:
    return f'@R.function\ndef main(x: R.Tensor((n,), "float32")) -> R.Any:\n    y = {call}\n    return y'


@pytest.mark.parametrize(
    "call",
    [
        f"R.broadcast_to(x, R.shape([{HUGE}, n]))",
        f"R.zeros(R.shape([n, {HUGE}]), 'float32')",
        "R.add(R.reshape(x, R.shape([n, 1])), x)",
        "R.matmul(R.reshape(x, R.shape([n, 1])), R.reshape(x, R.shape([1, n])))",
        "R.split(R.add(R.reshape(x, R.shape([n, 1])), x), 2)",
        "R.meshgrid((x, x))",
    ],
)
def test_results_that_are_too_large(call: str) -> None:
    end = ended(text(call), np.ones(100_000, np.float32))
    assert (type(end), end.rule, end.code) == (Fault, "E-evaluate", "E-lengths-memory")


@pytest.mark.parametrize(
    "call", [f"R.tile(x, {HUGE})", f"R.repeat(x, {HUGE})", f"R.nn.pad(x, (0, {HUGE}))"]
)
def test_huge_numbers_ask_for_no_memory(call: str) -> None:
    """Whether the operator refuses the number, or its result is too large."""
    end = ended(text(call), np.ones(100_000, np.float32))
    assert (type(end), end.rule) == (Fault, "E-evaluate")
    assert end.code in ("E-obligations-hold", "E-lengths-memory")


def test_an_operator_that_runs_out_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def evaluate(*_: object) -> None:
        raise MemoryError("Unable to allocate 1 TiB")

    monkeypatch.setattr(Operator, "evaluate", evaluate)
    end = ended(text("R.add(x, x)"), floats(1))
    assert (type(end), end.code) == (Fault, "E-result-memory-there")


def test_the_same_call_with_other_operands() -> None:
    source = """
@R.function
def main(x: R.Tensor((n,), "float32"), y: R.Tensor((m,), "float32")) -> R.Any:
    a = M.outer(x)
    b = M.outer(y)
    return b

@R.function
def outer(x: R.Tensor((n,), "float32")) -> R.Tensor((n, n), "float32"):
    return R.add(R.reshape(x, R.shape([n, 1])), x)
"""
    end = ended(source, floats(1, 2), np.ones(100_000, np.float32))
    assert end.code == "E-lengths-memory"
    assert returned(source, floats(1, 2), floats(1)).data.tolist() == [[2]]  # type: ignore[attr-defined]


def test_large_operands_with_small_results(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = 0
    ask = obligations.ask_memory

    def counted(*given: Any) -> None:
        nonlocal asked
        asked += 1
        ask(*given)

    monkeypatch.setattr(obligations, "ask_memory", counted)
    ready = program(text("R.matmul(x, x)"))
    for _ in range(3):
        end = ready.run("main", [value(np.ones(100_000, np.float32))])
        assert isinstance(end, Returned) and float(end.value.data) == 100_000  # type: ignore[attr-defined]
    assert asked == 1
