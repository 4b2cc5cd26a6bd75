"""Execution of batches: finds or makes the function for the given inputs and runs it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from threading import Lock
from typing import Any

import numpy as np

from rlx.semantics.faults import Stop
from rlx.semantics.machine.prim_funcs import allocate
from rlx.semantics.native.compiler import NoCompiler
from rlx.semantics.native.sequence import Failure
from rlx.semantics.store import Blank
from rlx.semantics.values import Scalar, ShapeValue, Storage, Tensor, TupleValue, Value
from rlx.vm.batch_code import BatchWriter, Written, address, numbers
from rlx.vm.batch_numbers import NoPlan
from rlx.vm.batches import Batch
from rlx.vm.callees import OwnFunction
from rlx.vm.instructions import ArgumentKind, CallInstruction
from rlx.vm.linking import Linker

MOST_PLANS = 8
"""The number of plans that a batch keeps, and how often it makes a new plan before it reuses an old
one.
"""
OTHERS = object()
"""The result of a plan that is not for such inputs."""
_SCOPE = {
    "OTHERS": OTHERS,
    "address": address,
    "allocate": allocate,
    "array": np.array,
    "int64": np.int64,
    "ndarray": np.ndarray,
    "uint8": np.dtype(np.uint8),
    **{kind.__name__: kind for kind in (Blank, Scalar, ShapeValue, Storage, Tensor, TupleValue)},
}


class BatchPlan:
    """The function of a batch for inputs of given kinds.

    Attributes
    ----------
    numbers
        The numbers of the inputs that it was made for.
    varying
        Those that may be others: the input and the place among its numbers.
    places
        The instruction of each call; empty if the instructions of the batch run one by one.
    """

    def __init__(
        self, values: Sequence[Value], varying: frozenset[tuple[int, int]], written: Written
    ) -> None:
        self.numbers, self.varying = list(map(numbers, values)), varying
        self.places = written.places
        self._busy = Lock()
        scope = {**_SCOPE, **written.scope}
        if written.sequence is not None:
            scope |= {"sequence": written.sequence, "memory": written.sequence.memory}
            scope["words"] = written.sequence.words
        # The text is made of numbers and of names that the scope was given here.
        exec(compile(written.text, "<plan of a batch>", "exec"), scope)  # noqa: S102
        self._run: Callable[..., Any] = scope["run"]

    def __call__(self, values: Sequence[Value], blank: dict[int, Blank]) -> Any:
        """Run the batch: the values of the outputs; the call that failed; `OTHERS` for other
        inputs; None if the instructions must run one by one, as where another thread runs the plan.
        """
        if not self._busy.acquire(blocking=False):
            return None
        try:
            return self._run(blank, *values)
        except Stop:  # there is not enough memory, which has its place
            return None
        finally:
            self._busy.release()


class BatchRunner:
    """A batch of one function, with its plans.

    Attributes
    ----------
    batch
        Its instructions and registers.
    plans
        The plans, the latest first.
    stopped
        The exception that stopped the last run, and the instruction that raised it.
    """

    def __init__(
        self,
        linker: Linker,
        function: OwnFunction,
        batch: Batch,
        code: Sequence[CallInstruction],
    ) -> None:
        self.batch = batch
        self._linker, self._function, self._code = linker, function, code
        self._blank = linker.state.store.blank
        self.plans: list[BatchPlan] = []
        self._left = MOST_PLANS
        self.stopped: tuple[Stop, int] | None = None

    def __call__(self, *values: Value) -> Sequence[Value] | None:
        """Run the batch: the values of the outputs; None if its instructions must run one by one."""
        blank = self._blank
        if blank and not blank.keys().isdisjoint(map(id, values)):
            return None
        for plan in self.plans:
            found = plan(values, blank)
            if found is not OTHERS:
                self._left = MOST_PLANS
                break
        else:
            if not self._left:
                return None
            self._left -= 1
            plan = self._made(values)
            others = [old for old in self.plans if not old.varying < plan.varying]
            self.plans = [plan, *others][:MOST_PLANS]
            found = plan(values, blank)
        if type(found) is Failure:
            self.stopped = found.stop, plan.places[found.call]
            raise found.stop
        return None if found is OTHERS else found

    def _called(self) -> Iterator[str]:
        """The callees of the whole function, and those that calls pass on."""
        for row in self._function.code:
            if isinstance(row, CallInstruction):
                passed = (arg.number for arg in row.args if arg.kind is ArgumentKind.FUNCTION)
                yield from (self._linker.executable.names[at] for at in (row.callee, *passed))

    def _made(self, values: Sequence[Value]) -> BatchPlan:
        """A plan for inputs. Numbers that earlier plans had otherwise may be any."""
        seen = list(map(numbers, values))
        varying: set[tuple[int, int]] = set()
        for plan in self.plans:
            if plan.places and list(map(len, plan.numbers)) == list(map(len, seen)):
                varying |= plan.varying
                for k, (old, new) in enumerate(zip(plan.numbers, seen, strict=True)):
                    varying |= {(k, at) for at in range(len(new)) if old[at] != new[at]}
        self._linker.prepare(self._called())
        writer = BatchWriter(self._linker, self.batch, values, varying)
        try:
            return BatchPlan(values, frozenset(varying), writer.function(self._code))
        except NoPlan as reason:
            if reason.apart:
                self._function.apart |= set(reason.apart)
                self._function.run = None  # is translated anew when it is called again
        except (NoCompiler, MemoryError):
            pass
        refusal = BatchWriter(self._linker, self.batch, values, ()).refusal()
        return BatchPlan(values, frozenset(), refusal)
