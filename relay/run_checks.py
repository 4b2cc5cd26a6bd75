"""What is compared when a Relay program runs: values with types."""

from __future__ import annotations

from collections.abc import Sequence

from rlx.relay.nodes import (
    RelayFunction,
    RelayFuncType,
    RelayTensorType,
    RelayTupleType,
    RelayType,
    RelayVar,
)
from rlx.semantics.faults import CheckStop
from rlx.semantics.values import Tensor, TupleValue, Value
from rlx.spec.registry import rule


class RunChecks:
    """Compares values with types; the names of dimensions get their numbers."""

    def entered(self, function: RelayFunction, args: Sequence[Value], dims: dict[str, int]) -> None:
        """The arguments of a call belong to the types of the parameters."""
        for param, value in zip(function.params, args, strict=True):
            belongs(value, param.annotation, dims, f"the parameter %{param.name}")

    def returned(self, function: RelayFunction, value: Value, dims: dict[str, int]) -> None:
        """The result belongs to the type that the function says."""
        belongs(value, function.ret, dims, "the result")

    def bound(self, var: RelayVar, value: Value, dims: dict[str, int]) -> None:
        """What a let binds belongs to the type of its variable."""
        belongs(value, var.annotation, dims, f"%{var.name}")


@rule("RL-check", "Relay evaluation")
def belongs(value: Value, type_: RelayType | None, dims: dict[str, int], what: str) -> None:
    """Compare a value with a type.

    Parameters
    ----------
    dims
        The numbers of named dimensions; those that are new are put into it.

    Raises
    ------
    CheckStop
        ``RL-check-type`` if it is another kind of value, has another rank or element type;
        ``RL-check-dimension`` if a dimension differs.
    """
    match type_:
        case RelayTensorType(shape=shape, dtype=kind):
            if not isinstance(value, Tensor):
                raise CheckStop("RL-check-type", f"{what}: expected a tensor")
            if len(value.shape) != len(shape) or value.dtype != str(kind):
                found = f"{value.dtype} of rank {len(value.shape)}"
                words = f"{what}: expected {kind} of rank {len(shape)}, found {found}"
                raise CheckStop("RL-check-type", words)
            for at, (wanted, size) in enumerate(zip(shape, value.shape, strict=True)):
                number = dims.setdefault(wanted, size) if isinstance(wanted, str) else wanted
                if number is not None and number != size:
                    words = f"{what}: dimension {at}: expected {number}, found {size}"
                    raise CheckStop("RL-check-dimension", words)
        case RelayTupleType(fields=fields):
            if not isinstance(value, TupleValue) or len(value.fields) != len(fields):
                words = f"{what}: expected a tuple of {len(fields)} fields"
                raise CheckStop("RL-check-type", words)
            for at, (field, part) in enumerate(zip(fields, value.fields, strict=True)):
                belongs(part, field, dims, f"{what}, field {at}")
        case RelayFuncType():
            if isinstance(value, Tensor | TupleValue):
                raise CheckStop("RL-check-type", f"{what}: expected a function")
