"""Whole networks on our virtual machine: at every stage of TVM's pipeline the values of TVM's own machine."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest

from rlx import vm
from rlx.grammar.read.parser import parse
from rlx.semantics.values import TupleValue, Value
from tests.vm.agreement import at_once

from .models import MODELS
from .test_run_models import (
    EFFECT,
    EXTERNAL,
    arguments,
    compiled,
    conversation,
    difference,
    entries,
    entries_of,
    is_object,
    texts,
    their_caches,
    to_tvm,
)

STAGES = ("imported", "lowered")


@cache
def machine(model: str, stage: str) -> vm.VirtualMachine:
    """A stage of a model; what TVM lowered is not lowered again."""
    module = parse(texts(model)[stage]).modules[0]
    passes = () if stage == "lowered" else None
    return at_once(vm.build(module, passes=passes), EXTERNAL)


def caches(model: str, stage: str) -> Sequence[Value]:
    """New caches, if the model has some."""
    if EFFECT not in dict(entries_of(parse(texts(model)["imported"]).modules[0])):
        return ()
    made = machine(model, stage).invoke(EFFECT, [])
    assert isinstance(made, TupleValue)
    return made.fields


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("model", [m for m in MODELS if m not in ("diffusion", "encoder_decoder")])
def test_values_are_those_of_tvm(model: str, stage: str) -> None:
    text = texts(model)["imported"]
    for entry, function in entries(text):
        if any(map(is_object, function.params)):
            continue  # a conversation
        given = arguments(function, 3)
        theirs = compiled(model)[entry](*map(to_tvm, given))
        for _ in range(2):  # the second time as it was planned the first
            ours = machine(model, stage).invoke(entry, given)
            assert difference(ours, theirs) == "", entry


@pytest.mark.parametrize("stage", STAGES)
def test_a_decoder_says_the_same(stage: str) -> None:
    text = texts("decoder4")["imported"]
    peer, mine = compiled("decoder4"), machine("decoder4", stage)
    theirs = conversation(
        lambda entry, given: peer[entry](*map(to_tvm, given)), text, their_caches("decoder4"), 5
    )
    for _ in range(2):
        ours: list[Any] = conversation(mine.invoke, text, caches("decoder4", stage), 5)
        for a, b in zip(ours, theirs, strict=True):
            found = b if isinstance(a, TupleValue) else b[0]
            assert difference(a, found) == ""
