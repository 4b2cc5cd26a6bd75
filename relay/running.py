"""`rlx.relay.run`: a function of a module on arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rlx.relay.evaluation import FUEL, Evaluator
from rlx.relay.nodes import RelayModule
from rlx.semantics.outcome import Outcome


def run(
    module: RelayModule,
    *args: Any,
    entry: str = "main",
    packed: Mapping[str, Callable[..., Any]] | None = None,
    fuel: int = FUEL,
) -> Outcome:
    """Run a function of a module.

    Parameters
    ----------
    args
        NumPy arrays, numbers, tuples of them, or values of an earlier run.
    entry
        The function.
    packed
        The functions that run operators which the table does not have, by name.
    fuel
        The largest number of nodes to evaluate.

    Returns
    -------
    Outcome
        ``ok`` says whether there is a value; ``numpy()`` gives it.

    Raises
    ------
    KeyError
        If there is no such function.
    """
    module[entry]
    values = [_value(arg) for arg in args]
    return Evaluator(module, packed).run(entry, values, fuel)


def _value(arg: Any) -> Any:
    import numpy as np

    from rlx.semantics.values import Tensor, TupleValue, Value

    if isinstance(arg, Value):
        return arg
    if isinstance(arg, Sequence) and not isinstance(arg, str | bytes):
        return TupleValue(tuple(map(_value, arg)))
    return Tensor(np.asarray(arg))
