"""What is recorded of rows of instructions while they run: their plans, and the Python made for them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from rlx.semantics.machine.message_text import show
from rlx.vm import batch_inputs, batch_outputs, batch_runs, translation
from rlx.vm.batch_planning import plan as planned
from rlx.vm.batch_plans import BatchPlan, ConstantResult, HeapResult, NoPlan, PlanFormulas


@contextmanager
def recorded() -> Iterator[list[str]]:
    """The lines that are recorded inside of a ``with`` statement."""
    lines: list[str] = []
    written, compiled = translation._SourceWriter.function, compile

    def function(self: Any, *args: Any) -> str:
        lines.append(written(self, *args))
        return lines[-1]

    def made(text: str, *args: Any) -> Any:
        lines.append(text)
        return compiled(text, *args)

    def plan(*args: Any) -> BatchPlan:
        try:
            found = planned(*args)
        except NoPlan as reason:
            lines.append(f"no plan: {reason} {reason.apart}")
            raise
        lines.append(f"{shown(found)}\n{of_all_sizes(found.formulas)}")
        return found

    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(translation._SourceWriter, "function", function)
        monkeypatch.setattr(batch_runs, "plan", plan)
        for module in (batch_inputs, batch_outputs):
            monkeypatch.setattr(module, "compile", made, raising=False)
        yield lines


def shown(made: BatchPlan) -> str:
    """A plan, without what differs each time."""
    calls = [call.args for call in made.calls]
    results = [
        f"constant {show(each.value)}"
        if isinstance(each, ConstantResult)
        else f"heap {each.content.tolist()}"
        if isinstance(each, HeapResult)
        else str(each)
        for each in made.results
    ]
    heaps = {at: content.tolist() for at, content in made.heaps.items()}
    constants = [content.tolist() for content in made.constants]
    return f"{calls} {made.places} {made.inputs} {constants} {made.pieces} {heaps} {results} {made.outputs}"


def of_all_sizes(found: PlanFormulas | None) -> str:
    """How a plan's numbers follow from those of the inputs."""
    if found is None:
        return "of these sizes"
    words, slots, arrays, kernels, lengths = found.steps
    steps = f"{[*words]} {[*slots]} {arrays} {len(kernels)} {[*lengths]}"
    calls = [[(arg.numbers, arg.offset) for arg in call] for call in found.calls]
    return f"{steps} {found.given} {calls} {found.first} {found.length} {found.results}"
