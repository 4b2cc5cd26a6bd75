"""The law of meaning: TVM's virtual machine returns the value that the rules of evaluation give,
and native code and reference evaluator agree on PrimFuncs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

from rlx.generate.campaign.finding import Finding
from rlx.generate.campaign.oracles.case import Case, kind_of, raised
from rlx.generate.campaign.oracles.meaning import (
    FUEL,
    ITERATIONS,
    SIZES,
    RunDifference,
    arguments,
    compare,
    how,
    out_of_memory,
)
from rlx.generate.campaign.oracles.rerun import Rerun
from rlx.generate.campaign.oracles.rounding import is_rounding
from rlx.generate.campaign.oracles.traits import ELEMENT_TYPE, KIND, MEMORY_PLAN, SHAPE, trait
from rlx.generate.campaign.peer import PACKED
from rlx.semantics.outcome import Outcome, Returned, Stuck
from rlx.semantics.values import MANY, Scalar, ShapeValue, Tensor, TupleValue, Value


def run(case: Case) -> list[Finding]:
    """Run every entry on inputs of several sizes."""
    from rlx.grammar.read.parser import parse
    from rlx.semantics.machine import load

    case.begin("relax-check")
    if case.error(case.text):
        return []
    module, *_ = parse(case.text).modules
    case.begin("our machine")
    steps = load(module, packed=PACKED, backend="steps", iterations=ITERATIONS)
    native = load(module, packed=PACKED) if case.peer is None else None
    found: list[Finding] = []
    runs: list[tuple[str, int, list[Value], Returned]] = []
    for name, function in module.relax_functions.items():
        if "global_symbol" not in function.attrs:
            continue
        for size in SIZES:
            given = arguments(function, size, case.seed)
            if given is None:
                continue
            result = steps.run(name.name_hint, deepcopy(given), fuel=FUEL)
            if native is not None:
                compiled = native.run(name.name_hint, given, fuel=FUEL)
                found += backend_findings(case, compiled, result)
            elif isinstance(result, Returned):
                runs.append((name.name_hint, size, list(given), result))
    if runs:
        found += _theirs(case, runs)
    return found


def backend_findings(case: Case, native: Outcome, steps: Outcome) -> Iterator[Finding]:
    """The difference between a run with native code and one by the rules."""
    if out_of_memory(native) or out_of_memory(steps):
        return
    match native, steps:
        case (Stuck(message=message, rule=rule), _) | (_, Stuck(message=message, rule=rule)):
            yield case.found("wrong-code", "run", str(message), rule=rule)
        case Returned(value=compiled), Returned(value=expected):
            unequal = compare(expected, compiled)
            if unequal:
                yield case.found("wrong-code", "run", unequal, cause="backends disagree")
        case _ if type(native) is not type(steps):
            words = f"native code: {native}, reference: {steps}"
            yield case.found("wrong-code", "run", words, cause="backends disagree")


def _theirs(case: Case, runs: list[tuple[str, int, list[Value], Returned]]) -> list[Finding]:
    assert case.peer is not None
    module = case.read_by_peer()
    if module is None:
        return []
    case.begin("TVM's build")
    try:
        machine = case.peer.compiled(module)
    except Exception as error:  # noqa: BLE001 - whatever the peer raises is what is looked for
        return [case.found(kind_of(error), "run", raised(error))]
    compared: set[str] = set()
    for entry, size, given, result in runs:
        case.begin("TVM's virtual machine")
        try:
            theirs = machine[entry](*[to_peer(case.peer, value) for value in given])
        except Exception as error:  # noqa: BLE001 - whatever the peer raises is what is looked for
            return [_failed(case, entry, error)]
        again = Rerun(case.text, entry, given)
        said = _difference(case, again, result.value, theirs)
        if said:
            alone = entry not in compared
            shown = None if size or alone else larger_difference(case, machine, again, runs)
            about = trait(
                shown.said if shown else said,
                shown.size if shown else size,
                case.text,
                meets_nan=again.meets_nan,
                alone=alone,
            )
            planned = _is_planned(case, module, again, result.value)
            special = ", ".join(filter(None, (about, MEMORY_PLAN if planned else "")))
            return [_another(case, f"{entry} with size {size}: {said}", special)]
        compared.add(entry)
    return []


def larger_difference(
    case: Case, machine: Any, again: Rerun, runs: list[tuple[str, int, list[Value], Returned]]
) -> RunDifference | None:
    """A difference on a larger size, with those arguments that do not depend on the size as they
    are where it is 0: a Boolean may have chosen the branch that is wrong for every size.
    """
    assert case.peer is not None
    for entry, size, given, _ in runs:
        if entry != again.entry or not size:
            continue
        mixed = [
            kept if _form(kept) == _form(other) else other
            for kept, other in zip(again.given, given, strict=True)
        ]
        larger = Rerun(case.text, entry, mixed)
        expected = larger.watched(lambda _: None)
        if not isinstance(expected, Returned):
            continue
        try:
            theirs = machine[entry](*[to_peer(case.peer, value) for value in mixed])
        except Exception:  # noqa: BLE001, S112 - it says nothing of the difference that is explained
            continue
        said = _difference(case, larger, expected.value, theirs)
        if said:
            return RunDifference(said, size)
    return None


def _form(value: Value) -> tuple[object, ...]:
    """The form of a value, which values of another size share; shapes are sizes themselves."""
    match value:
        case Scalar(_, dtype):
            return ("scalar", str(dtype))
        case Tensor():
            return ("tensor", value.data.shape, str(value.dtype))
        case _:
            return ("other", id(value))


def _is_planned(case: Case, module: Any, again: Rerun, expected: Value) -> bool:
    """Whether TVM returns what is expected if it does not plan memory: the plan is wrong then."""
    assert case.peer is not None
    given = [to_peer(case.peer, value) for value in again.given]
    try:
        machine = case.peer.compiled(module, without=("StaticPlanBlockMemory",))
        return not _difference(case, again, expected, machine[again.entry](*given))
    except Exception:  # noqa: BLE001 - without its plan the peer may fail in any way
        return False


def _difference(case: Case, again: Rerun, expected: Value, theirs: Any) -> str:
    """The difference between TVM's result and that of the rules; empty if it is rounding alone, or
    none.
    """
    assert case.peer is not None
    try:
        returned = from_peer(case.peer, theirs)
    except ValueError as error:  # a length is negative
        return f"expected a tensor from TVM: {error}"
    if returned is None:
        return ""
    unequal = compare(expected, returned)
    if not unequal or is_rounding(again, expected, returned, case.seed):
        return ""
    return f"the rules and TVM give different values: {unequal}"


def _failed(case: Case, entry: str, error: Exception) -> Finding:
    """An exception of the virtual machine; one that a check of a type raises says that a value is
    of another type.
    """
    said = f"{entry}: {raised(error)}"
    if "ErrorContext(" not in said:
        return case.found("refuses-legal", "run", said)
    _, _, context = said.rpartition("ErrorContext(")
    special = next((trait for words, trait in _MISMATCHES if words in context), "")
    return case.found(
        "wrong-code",
        "run",
        said,
        cause="another type of value",
        rule="E-match-cast",
        trait=special,
    )


_MISMATCHES = (
    ("with dtype", ELEMENT_TYPE),
    ("shape", SHAPE),
    ("ndim", SHAPE),
    ("expect a", KIND),
)


def _another(case: Case, said: str, special: str) -> Finding:
    return case.found("wrong-code", "run", said, cause=how(said), rule="E-evaluate", trait=special)


def to_peer(peer: Any, value: Value, tensor: Callable[[Any], Any] | None = None) -> Any:
    """The peer's value for ours. Raises TypeError if the value is not data: tensors, shapes,
    numbers and tuples of them are. `tensor`: what makes the peer's tensor of an array; None for a
    copy.
    """
    match value:
        case Tensor(data=array):
            return (tensor or peer.tvm.runtime.tensor)(array)
        case ShapeValue(values=sizes):
            return peer.tvm.runtime.ShapeTuple(list(sizes))
        case Scalar(value=number):
            return number
        case TupleValue(fields=fields):
            return tuple(to_peer(peer, field, tensor) for field in fields)
    raise TypeError(f"expected data, found {type(value).__name__}")


def from_peer(peer: Any, value: Any, room: list[int] | None = None) -> Value | None:
    """The value; None where a part of it is a function or an object, or there are very many."""
    room = [MANY] if room is None else room
    room[0] -= 1
    if room[0] < 0:
        return None
    if hasattr(value, "numpy"):
        return Tensor(value.numpy())
    if isinstance(value, (bool, int, float)):
        return Scalar(value)
    if isinstance(value, peer.tvm.runtime.ShapeTuple):
        return ShapeValue(tuple(int(size) for size in value))
    if not isinstance(value, (tuple, list, peer.ffi.Array)):
        return None
    known: list[Value] = []
    for field in value:
        made = from_peer(peer, field, room)
        if made is None:
            return None
        known.append(made)
    return TupleValue(tuple(known))
