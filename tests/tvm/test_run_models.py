"""Whole networks on our machine and on TVM's virtual machine: the same inputs, the same values, at every stage of the pipeline."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.node import replace
from rlx.grammar.read.parser import parse
from rlx.semantics.machine import load
from rlx.semantics.outcome import CheckFailed, Fault, Outcome, Returned
from rlx.semantics.run.inputs import inputs
from rlx.semantics.values import Opaque, Packed, Scalar, ShapeValue, Tensor, TupleValue, Value
from tests.tvm.target import QUICK

from .models import MODELS, stages

SIZES = (0, 1, 5)
TOLERANCE = 1e-3
"""Relative to the largest element: layers multiply what is lost in the sums of each."""


@cache
def texts(model: str) -> dict[str, str]:
    """TVM's text of each stage, constants included."""
    return {stage: module.script(show_meta=True) for stage, module in stages(model)}


@cache
def read(text: str) -> ast.IRModule:
    """Our module of a text."""
    return parse(text).modules[0]


@cache
def compiled(model: str) -> Any:
    """TVM's virtual machine for a model."""
    executable = relax.build(MODELS[model](), target=QUICK)
    return relax.VirtualMachine(executable, tvm.cpu())


class Cache:
    """The tensor that a decoder appends to: what TVM's run-time library keeps under the same name."""

    def __init__(self, data: Any, fill: int) -> None:
        self.data, self.fill = data, fill


def create(init: Value, shape: Value, fill: Value) -> Value:
    assert isinstance(init, Tensor) and isinstance(shape, ShapeValue) and isinstance(fill, Scalar)
    data = np.zeros(shape.values, init.data.dtype)
    data[: init.shape[0]] = init.data
    return Opaque(Cache(data, int(fill.value)))


def append(cache: Value, new: Value) -> Value:
    assert isinstance(cache, Opaque) and isinstance(cache.value, Cache) and isinstance(new, Tensor)
    held, count = cache.value, new.shape[0]
    if held.fill + count > len(held.data):
        more = np.zeros((held.fill + count, *held.data.shape[1:]), held.data.dtype)
        more[: held.fill] = held.data[: held.fill]
        held.data = more
    held.data[held.fill : held.fill + count] = new.data
    held.fill += count
    return cache


def view(cache: Value, shape: Value) -> Value:
    assert isinstance(cache, Opaque) and isinstance(cache.value, Cache)
    assert isinstance(shape, ShapeValue) and shape.values[0] == cache.value.fill
    return Tensor(cache.value.data[: cache.value.fill].reshape(shape.values).copy())


PACKED = {
    f"vm.builtin.attention_kv_cache_{function.__name__}": Packed(function, function.__name__)
    for function in (create, append, view)
}


def topk(*given: Any) -> None:
    """`tvm.contrib.sort.topk`: values and places of the largest elements along the last axis."""
    arrays = [x for x in given if isinstance(x, np.ndarray)]
    data, results = arrays[0], arrays[1:]
    order = np.argsort(-data, axis=-1, kind="stable")[..., : results[0].shape[-1]]
    for result in results:
        found = order if result.dtype.kind in "iu" else np.take_along_axis(data, order, -1)
        result[...] = found


def argsort(data: Any, result: Any, axis: int, ascending: int) -> None:
    """`tvm.contrib.sort.argsort`: the places of the elements in order."""
    result[...] = np.argsort(data if ascending else -data, axis=axis, kind="stable")


EXTERNAL: dict[str, Any] = {
    **PACKED,
    "tvm.contrib.sort.topk": topk,
    "tvm.contrib.sort.argsort": argsort,
}
EFFECT = "_initialize_effect"

DIVERGENCES = {
    (
        "experts",
        "loads",
        0,
    ): "a reduction over no elements is left out: memory that nobody wrote is returned",
}
"""Where TVM's compiled code returns something else, and why: see known_divergences/."""


def arguments(function: ast.Function, size: int, caches: Sequence[Any] = ()) -> list[Any]:
    """Arguments for a function: small random tensors, and the caches in order."""
    plain = tuple(p for p in function.params if not is_object(p))
    given = {var.name: str(size) for var in function.shape_vars}
    made = iter(inputs(replace(function, params=plain), given, 0).values)
    left = iter(caches)
    return [next(left) if is_object(p) else _small(next(made)) for p in function.params]


def is_object(param: ast.Var) -> bool:
    return isinstance(param.struct_info_annotation, ast.ObjectStructInfo)


def _small(value: Value) -> Value:
    if isinstance(value, Tensor) and value.data.dtype.kind == "f":
        return Tensor((value.data * 0.1).astype(value.data.dtype))
    return value


def to_tvm(value: Any) -> Any:
    match value:
        case Tensor(data=array):
            return tvm.runtime.tensor(array)
        case ShapeValue(values=sizes):
            return tvm.runtime.ShapeTuple(list(sizes))
        case Scalar(value=number):
            return number
        case TupleValue(fields=fields):
            return [to_tvm(field) for field in fields]
    return value  # a cache of its own


def leaves(value: Any) -> Iterator[Any]:
    """The arrays of a result, ours or TVM's."""
    if isinstance(value, Tensor):
        yield value.data
    elif isinstance(value, TupleValue):
        for field in value.fields:
            yield from leaves(field)
    elif hasattr(value, "numpy"):
        yield value.numpy()
    elif isinstance(value, (list, tuple, tvm.ir.Array)):
        for field in value:
            yield from leaves(field)


def difference(ours: Value, theirs: Any) -> str:
    left, right = list(leaves(ours)), list(leaves(theirs))
    if len(left) != len(right):
        return f"{len(left)} tensors and {len(right)}"
    for a, b in zip(left, right, strict=True):
        if a.shape != b.shape or a.dtype != b.dtype:
            return f"{a.dtype}{a.shape} and {b.dtype}{b.shape}"
        largest = float(np.max(np.abs(a), initial=1.0)) if a.size else 1.0
        if not np.allclose(a, b, 0, TOLERANCE * largest, equal_nan=True):
            apart = np.max(np.abs(a.astype(np.float64) - b.astype(np.float64)))
            return f"up to {apart} apart, of {largest}"
    return ""


class Ours:
    """A stage of a model on our machine."""

    def __init__(self, text: str) -> None:
        self.program = load(read(text), packed=EXTERNAL)

    def caches(self) -> Sequence[Value]:
        """New caches, if the model has some."""
        if EFFECT not in dict(entries_of(self.program.module)):
            return ()
        made = self.program.run(EFFECT, [])
        assert isinstance(made, Returned) and isinstance(made.value, TupleValue), made
        return made.value.fields

    def run(self, entry: str, given: list[Any]) -> Outcome:
        return self.program.run(entry, given)


def entries_of(module: ast.IRModule) -> Iterator[tuple[str, ast.Function]]:
    for name, function in module.relax_functions.items():
        if "global_symbol" in function.attrs:
            yield name.name_hint, function


def entries(text: str) -> Iterator[tuple[str, ast.Function]]:
    return ((n, f) for n, f in entries_of(read(text)) if n != EFFECT)


def their_caches(model: str) -> list[Any]:
    """New caches of TVM's, if the model has some."""
    has = EFFECT in dict(entries_of(read(texts(model)["imported"])))
    return list(compiled(model)[EFFECT]()) if has else []


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("model", MODELS)
def test_values_are_those_of_tvm(model: str, size: int) -> None:
    text = texts(model)["imported"]
    for entry, function in entries(text):
        if any(map(is_object, function.params)):
            continue  # a conversation
        ours = Ours(text).run(entry, arguments(function, size))
        try:
            theirs = compiled(model)[entry](*map(to_tvm, arguments(function, size)))
        except Exception as error:  # noqa: BLE001 - whatever TVM raises
            assert not isinstance(ours, Returned), (entry, error)
            continue
        assert isinstance(ours, Returned), (entry, ours)
        same = difference(ours.value, theirs) == ""
        assert same is ((model, entry, size) not in DIVERGENCES), entry


def conversation(
    run: Callable[[str, list[Any]], Any], text: str, caches: Sequence[Any], size: int
) -> list[Any]:
    """The output of a decoder: for a prompt of that many tokens, then for two more, one at a time."""
    functions = dict(entries(text))
    said = [run("prefill", arguments(functions["prefill"], size, caches))]
    for more in (1, 2):
        said.append(run("decode", arguments(functions["decode"], size + more, caches)))
    return said


@pytest.mark.parametrize(
    ("stage", "size"), [("imported", 5), ("legalized", 1), ("fused", 5), ("lowered", 1)]
)
def test_a_decoder_says_the_same(size: int, stage: str) -> None:
    machine, peer = Ours(texts("decoder4")[stage]), compiled("decoder4")
    text = texts("decoder4")["imported"]
    ours = conversation(machine.run, text, machine.caches(), size)
    theirs = conversation(
        lambda entry, given: peer[entry](*map(to_tvm, given)), text, their_caches("decoder4"), size
    )
    for a, b in zip(ours, theirs, strict=True):
        assert isinstance(a, Returned), a
        assert difference(a.value, b[0] if isinstance(a.value, Tensor) else b) == ""


def test_an_empty_prompt_is_a_fault_that_tvm_reads_past() -> None:
    """The last of no tokens: TVM's code reads in front of its buffer."""
    text = texts("decoder4")["imported"]
    machine = Ours(text)
    function = dict(entries(text))["prefill"]
    ours = machine.run("prefill", arguments(function, 0, machine.caches()))
    assert isinstance(ours, Fault) and ours.code == "E-tir-bounds"
    theirs = arguments(function, 0, their_caches("decoder4"))
    compiled("decoder4")["prefill"](*map(to_tvm, theirs))


@pytest.mark.parametrize("model", MODELS)
def test_every_stage_means_the_same(model: str) -> None:
    found = texts(model)
    for entry, function in entries(found["imported"]):
        if any(map(is_object, function.params)):
            continue  # a conversation
        results = []
        for stage in ("imported", "fused", "lowered"):
            machine = Ours(found[stage])
            results.append(machine.run(entry, arguments(function, 3, machine.caches())))
        before, *others = results
        assert isinstance(before, Returned), before
        for after in others:
            assert isinstance(after, Returned), after
            assert difference(before.value, after.value) == ""


@pytest.mark.parametrize("model", MODELS)
def test_bad_inputs_are_refused_by_both(model: str) -> None:
    text = texts(model)["imported"]
    for entry, function in entries(text):
        machine = Ours(text)
        given = arguments(function, 3, machine.caches())
        theirs = arguments(function, 3, their_caches(model))
        at = next(k for k, v in enumerate(given) if isinstance(v, Tensor) and v.data.ndim)
        array = given[at].data
        for bad in (array[..., None], array.astype(np.uint8)):
            wrong = Tensor(np.ascontiguousarray(bad))
            assert isinstance(
                machine.run(entry, [*given[:at], wrong, *given[at + 1 :]]), CheckFailed
            )
            with pytest.raises(Exception):  # noqa: B017 - TVM raises several kinds
                compiled(model)[entry](*map(to_tvm, [*theirs[:at], wrong, *theirs[at + 1 :]]))
