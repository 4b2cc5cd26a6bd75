"""A run of the rules that records the tensors which operators make."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from typing import Any

import numpy as np

from rlx.generate.campaign.oracles.meaning import FUEL, ITERATIONS
from rlx.generate.campaign.peer import PACKED
from rlx.grammar.nodes import ast
from rlx.semantics.arrays import has_nan
from rlx.semantics.outcome import Outcome
from rlx.semantics.values import Tensor, TupleValue, Value


class Rerun:
    """A run that can be done again.

    Attributes
    ----------
    text
        The program.
    entry, given
        Which function is called, and its arguments.
    """

    def __init__(self, text: str, entry: str, given: Sequence[Value]) -> None:
        self.text, self.entry, self.given = text, entry, given

    def watched(self, see: Callable[[np.ndarray[Any, Any]], None]) -> Outcome | None:
        """Run once more, and show each array that a call of an operator makes, before it is used.

        Returns
        -------
        Outcome | None
            How the run ended; None if it took too many steps.
        """
        from rlx.grammar.read.parser import parse
        from rlx.semantics.machine import Configuration, environment, load

        module, *_ = parse(self.text).modules  # anew, for what is seen may be changed
        program = load(
            module,
            packed=PACKED,
            backend="steps",
            output=lambda line: None,
            iterations=ITERATIONS,
        )
        given = deepcopy(list(self.given))
        now = program.start(self.entry, given, keep=False)
        known = {id(tensor): tensor for value in given for tensor in tensors(value)}
        for _ in range(FUEL):
            if not isinstance(now, Configuration):
                return now
            made = now.at.expr
            now = program.step(now)
            if not isinstance(now, Configuration):
                continue
            for value in environment(now).values():
                for tensor in tensors(value):
                    if id(tensor) in known:
                        continue
                    known[id(tensor)] = tensor
                    if isinstance(made, ast.Call) and isinstance(made.op, ast.Op):
                        see(tensor.data)
        return None

    def meets_nan(self) -> bool:
        """Whether an argument or what an operator makes has a NaN."""
        met = [has_nan(tensor.data) for value in self.given for tensor in tensors(value)]
        self.watched(lambda array: met.append(has_nan(array)))
        return any(met)


def tensors(value: object) -> Iterator[Tensor]:
    """The tensors in a value."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, TupleValue):
        for field in value.fields:
            yield from tensors(field)
