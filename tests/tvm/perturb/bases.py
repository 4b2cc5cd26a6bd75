"""The legal calls that are perturbed: those of ``tests.operators.cases``, and those of generated programs."""

from __future__ import annotations

from collections.abc import Iterator

from rlx.generate.calls.pattern import (
    GROUPS,
    Given,
    PrimSlot,
    ShapeSlot,
    Slot,
    TensorSlot,
    TupleSlot,
    parse,
)
from rlx.generate.calls.template import lines
from rlx.grammar.nodes import tir
from rlx.grammar.print.printer import show
from rlx.operators.registry import families, lookup
from tests.operators.cases import DIFFERENT, LEGAL, WARNED

from .calls import Argument, Group, OneCall, OtherArg, TensorArg, Text, argument, from_case
from .more import MORE

LETTERS = {"a": "n", "b": "m", "c": "k", "d": "m"}
WITHOUT_TEXT = {
    "nn.attention_bias": "the name that `nn.attention` with a bias has inside of TVM",
    "device": "a value among arguments, not an operator of TVM's",
    "to_vdevice": "needs the devices of a module; tests/checker/derive has its perturbations",
    "dist.annotate_sharding": "distributed tensors, which are opaque here",
    "dist.redistribute": "distributed tensors, which are opaque here",
    "dist.call_tir_local_view": "distributed tensors, which are opaque here",
    "dist.redistribute_replica_to_shard": "distributed tensors, which are opaque here",
}
"""Operators that are not perturbed, with the reason."""


def operators() -> list[str]:
    """The names of all operators that are perturbed."""
    names = {name for family in families().values() for name in family}
    return sorted(names - WITHOUT_TEXT.keys())


def bases(limit: int) -> Iterator[OneCall]:
    """Up to so many legal calls of each operator, those that differ most in form first."""
    for name in operators():
        forms: dict[object, list[OneCall]] = {}
        for call in _all(name):
            forms.setdefault(_form(call), []).append(call)
        turns = max(map(len, forms.values()), default=0)
        chosen = [calls[k] for k in range(turns) for calls in forms.values() if k < len(calls)]
        yield from chosen[:limit]


def _form(call: OneCall) -> object:
    """The common part of calls of one form: the kinds of arguments, and the keywords."""
    kinds = tuple(type(a).__name__ + _known(a) for a in call.args)
    return kinds, tuple(name for name, _ in call.attrs)


def _known(argument: Argument) -> str:
    if not isinstance(argument, TensorArg):
        return ""
    return "" if argument.dims is not None else "ranked" if argument.ndim >= 0 else "unranked"


def _all(name: str) -> Iterator[OneCall]:
    cases = [*LEGAL, *(case for _, case in WARNED), *(case for case, *_ in DIFFERENT)]
    for case in cases if name != "hint_on_device" else ():
        if case[0] == name:
            try:
                yield from_case(*case)
            except ValueError:  # a shape held by a variable: the changes put it there
                continue
    yield from MORE.get(name, ())
    operator = lookup(f"relax.{name}")
    for line in lines(operator) if operator is not None and name != "hint_on_device" else ():
        yield from _pattern(name, line)


def _pattern(name: str, text: str) -> Iterator[OneCall]:
    """The call of a pattern's first alternatives, and those of its last."""
    pattern = parse(text)
    for pick in (0, -1):
        try:
            args = tuple(_slot(slots[pick]) for slots in pattern.args)
            attrs = tuple((key, _slot(slots[pick])) for key, slots in pattern.attrs)
        except ValueError:
            continue
        yield OneCall(name, args, tuple((k, a) for k, a in attrs if a != Text("None")))


def _slot(slot: Slot) -> Argument:
    match slot:
        case TensorSlot(group=group, dims=dims):
            return TensorArg(tuple(map(_dim, dims)), GROUPS.get(group, (group,))[0])
        case TupleSlot(fields=fields):
            return Group(tuple(map(_slot, fields)))
        case ShapeSlot(dims=dims):
            return Text(f"R.shape([{', '.join(map(_dim, dims))}])")
        case PrimSlot(value=value):
            return Text(_dim(value))
        case Given(value=value):
            return argument(value)
    return OtherArg("R.Any")


def _dim(e: tir.PrimExpr) -> str:
    """A dimension in which the letters of patterns are shape variables."""
    match e:
        case tir.Var(name=name):
            return LETTERS[name]
        case tir.IntImm(value=value, dtype=kind):
            return str(bool(value)) if str(kind) == "bool" else str(value)
        case tir.Binary(a=a, b=b):
            signs = {"Add": "+", "Sub": "-", "Mul": "*", "FloorDiv": "//", "FloorMod": "%"}
            return f"({_dim(a)} {signs[type(e).__name__]} {_dim(b)})"
    return show(e)
