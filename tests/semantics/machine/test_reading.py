"""Memory that was never written cannot be read: in tuples, in parts, from one call to the next."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rlx.semantics.machine import Configuration, load
from rlx.semantics.outcome import Fault, IllFormed, Outcome, Returned
from rlx.semantics.values import TupleValue
from tests.semantics.machine.running import ended, floats, module, program, returned, value

HEAD = '@R.function(pure=False)\ndef main(x: R.Tensor((n,), "float32")) -> R.Any:\n    cls = M\n'
ALLOC = 't = R.builtin.alloc_tensor(R.shape([n]), dtype="float32", runtime_device_index=0)'
KERNELS = """
@T.prim_func(private=True, s_tir=True)
def copy(x: T.Buffer((n,), "float32"), y: T.Buffer((n,), "float32")):
    for i in range(n):
        y[i] = x[i]

@T.prim_func(private=True, s_tir=True)
def most(x: T.Buffer((n,), "float32"), y: T.Buffer((n,), "float32")):
    for i in range(n - 1):
        y[i] = x[i]

@T.prim_func(private=True, s_tir=True)
def last(x: T.Buffer((n,), "float32"), y: T.Buffer((n,), "float32")):
    y[n - 1] = x[n - 1]

@T.prim_func(private=True, s_tir=True)
def add(x: T.Buffer((n,), "float32"), y: T.Buffer((n,), "float32")):
    for i in range(n):
        y[i] = y[i] + x[i]

@T.prim_func(private=True, s_tir=True)
def nothing(x: T.Buffer((n,), "float32"), y: T.Buffer((n,), "float32")):
    T.evaluate(0)
"""
INNER = """
@R.function(pure=False)
def inner(w: R.Tuple(R.Any)) -> R.Any:
    return w

@R.function(pure=False)
def joined(w: R.Tuple(R.Tensor((n,), "float32"))) -> R.Tensor((n,), "float32"):
    return R.concat(w, axis=0)
"""
OUT = 'out_sinfo=R.Tensor((n,), "float32")'
BACKENDS = pytest.mark.parametrize("backend", ["steps", "native"])


def lines(*body: str) -> str:
    end = next(k for k, line in enumerate(body) if "return" in line) + 1
    return HEAD + "".join(f"    {line}\n" for line in body[:end]) + KERNELS + INNER


def on(backend: str, text: str, *args: Any) -> Outcome:
    return load(module(text), backend=backend).run("main", [value(arg) for arg in args])


@pytest.mark.parametrize(
    "use",
    [
        "u = R.concat(w, axis=0)",
        "u = cls.joined((t0,))",
        'u = R.call_pure_packed("f", w, sinfo_args=(R.Any,))',
        "return ((x, w), x)",
    ],
)
def test_tuples_keep_what_a_variable_held(use: str) -> None:
    made = ("t = R.add(x, x)", "t0 = t", "w = (t, x)", "_ = R.memory.kill_tensor(t)")
    found = returned(lines(*made, use, "return w[0]"), floats(1, 2), f=lambda *given: given[0])
    while isinstance(found, TupleValue):
        found = found.fields[-1]
    assert found.data.tolist() in ([2, 4], [1, 2])  # type: ignore[attr-defined]


def test_what_a_tuple_holds_besides_is_used() -> None:
    text = lines(
        *("t = R.add(x, x)", "w = (t, x)", "_ = R.memory.kill_tensor(t)"),
        *("v = (w, x)", "u = v[0]", "y = u[1]", "return R.add(y, y)"),
    )
    assert returned(text, floats(1, 2)).data.tolist() == [2, 4]  # type: ignore[attr-defined]


def test_tuples_within_tuples_cost_what_they_hold() -> None:
    doubled = [f"w{k + 1} = (w{k}, w{k})" for k in range(60)]
    made = ("t = R.add(x, x)", "_ = R.memory.kill_tensor(t)")
    text = lines(*made, "w0 = (x,)", *doubled, "return w60")
    assert isinstance(program(text).run("main", [value(floats(1))]), Returned)


@pytest.mark.parametrize(
    ("use", "code"),
    [
        ("u = R.concat((t, x), axis=0)", "E-evaluate-written"),
        ("u = R.add(t, x)", "E-evaluate-written"),
        ('u = R.print(t, format="{}")', "E-evaluate-written"),
        ('u = R.to_vdevice(t, dst_vdevice="llvm:0")', "E-evaluate-written"),
        ('u = R.call_pure_packed("f", t, sinfo_args=(R.Any,))', "E-packed-written"),
        ('u = R.call_packed("vm.builtin.tensor_to_shape", t)', "E-packed-written"),
        ("u = cls.copy(t, x)", "E-prim-func-written"),
        ("u = cls.add(x, t)", "E-tir-unwritten"),
        ("return (x, (t,))", "E-return-written"),
        ('u = R.call_packed("vm.builtin.copy", t)', "E-return-written"),
        (
            'u = R.call_packed("vm.builtin.reshape", t, R.shape([n]))',
            "E-return-written",
        ),
    ],
)
def test_memory_that_nobody_wrote(use: str, code: str) -> None:
    end = ended(lines(ALLOC, use, f"return {'u' if 'return' in code else 'x'}"), floats(1, 2), f=id)
    assert (type(end), end.code) == (Fault, code)


def test_a_condition_that_nobody_wrote() -> None:
    made = 't = R.builtin.alloc_tensor(R.shape([]), dtype="bool", runtime_device_index=0)'
    end = ended(lines(made, "if t:", "    y = x", "else:", "    y = x", "return y"), floats(1))
    assert (type(end), end.code) == (Fault, "E-if-written")


@BACKENDS
@pytest.mark.parametrize(
    ("use", "code"),
    [
        (f"u = R.call_tir(cls.copy, (t,), {OUT})", "E-tir-unwritten"),
        ("u = R.add(t, t)", "E-evaluate-written"),
        ("return t", "E-return-written"),
    ],
)
def test_elements_that_a_function_left_out(backend: str, use: str, code: str) -> None:
    text = lines(f"t = R.call_tir(cls.most, (x,), {OUT})", use, "return x")
    end = on(backend, text, floats(1, 2, 3))
    assert isinstance(end, Fault) and end.code == code
    if code != "E-tir-unwritten":
        assert "1 of the 3 elements" in end.message and "[2]" in end.message


@BACKENDS
def test_elements_that_the_next_function_writes(backend: str) -> None:
    text = lines(ALLOC, "cls.most(x, t)", "cls.last(x, t)", "return R.add(t, t)")
    end = on(backend, text, floats(1, 2, 3))
    assert isinstance(end, Returned) and end.value.data.tolist() == [2, 4, 6]  # type: ignore[attr-defined]


@BACKENDS
def test_a_function_that_writes_nothing(backend: str) -> None:
    text = lines(f"t = R.call_tir(cls.nothing, (x,), {OUT})", "return t")
    end = on(backend, text, floats(1, 2, 3))
    assert isinstance(end, Fault) and end.code == "E-return-written"
    assert end.message == "the tensor [3] of float32 was never written"


def test_what_is_too_long_to_be_tracked_is_noted() -> None:
    ready = load(module(lines(f"t = R.call_tir(cls.most, (x,), {OUT})", "return t")))
    for _ in range(2):
        assert isinstance(ready.run("main", [value(np.ones(20_000, np.float32))]), Returned)
    (note,) = ready.notes
    assert note == "most runs as native code, which does not track unwritten elements"
    filled = load(module(lines(f"t = R.call_tir(cls.copy, (x,), {OUT})", "return t")))
    assert isinstance(filled.run("main", [value(np.ones(20_000, np.float32))]), Returned)
    assert filled.notes == ()


DOUBLED = """
@R.function
def main(x: R.Tensor((n,), "float32")) -> R.Any:
    return R.call_tir(M.twice, (x,), out_sinfo=R.Tensor((n + n,), "float32"))

@T.prim_func(private=True, s_tir=True)
def twice(x: T.Buffer((n,), "float32"), y: T.Buffer((n + n,), "float32")):
    for i in range({length}):
        y[i] = x[i // 2]
"""


@pytest.mark.parametrize(("length", "writes_all"), [("n * 2", True), ("n + 1", False)])
def test_loops_over_a_length_that_is_written_in_another_way(length: str, writes_all: bool) -> None:
    """A statement that writes all of a tensor needs no tracking, whichever form the sizes have."""
    ready = load(module(DOUBLED.format(length=length)))
    ended = ready.run("main", [value(np.ones(20_000, np.float32))])
    assert isinstance(ended, Returned) and (ready.notes == ()) == writes_all


PRODUCT = """
@R.function
def main(x: R.Tensor((n, m), "float32")) -> R.Any:
    return R.call_tir(M.sums, (x,), out_sinfo=R.Tensor((n,), "float32"))

@T.prim_func(private=True, s_tir=True)
def sums(x: T.Buffer((n, m), "float32"), y: T.Buffer((n,), "float32")):
    for i, k in T.grid(n, m):
        with T.sblock("sums"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                y[vi] = T.float32(0)
            y[vi] = y[vi] + x[vi, vk]
"""


@BACKENDS
def test_a_sum_over_nothing_is_not_written(backend: str) -> None:
    end = on(backend, PRODUCT, np.zeros((2, 0), np.float32))
    assert isinstance(end, Fault) and end.code == "E-return-written"


def test_sums_are_known_to_be_written() -> None:
    ready = load(module(PRODUCT))
    end = ready.run("main", [value(np.ones((20_000, 2), np.float32))])
    assert isinstance(end, Returned) and set(end.value.data) == {2}  # type: ignore[attr-defined]
    assert ready.notes == ()


def test_a_trial_that_is_too_long_changes_nothing() -> None:
    text = """
@R.function(pure=False)
def main(x: R.Tensor((1,), "int32")) -> R.Any:
    t = R.builtin.alloc_tensor(R.shape([1]), dtype="int32", runtime_device_index=0)
    M.count(x, t)
    return (x, t)

@T.prim_func(private=True, s_tir=True)
def count(x: T.Buffer((1,), "int32"), y: T.Buffer((1,), "int32")):
    for i in range(20000):
        x[0] = x[0] + 1
    y[0] = x[0]
    y[0] = y[0] + 1
"""
    end = load(module(text)).run("main", [value(np.array([0], np.int32))])
    assert isinstance(end, Returned)
    assert [f.data.tolist() for f in end.value.fields] == [[20000], [20001]]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("write", "code"),
    [
        (lambda x, out: None, "the tensor [3] of float32 was never written"),
        (lambda x, out: out.__setitem__(slice(2), x[:2]), "1 of the 3 elements"),
    ],
)
def test_results_that_a_packed_function_leaves_out(write: Any, code: str) -> None:
    text = lines(f't = R.call_dps_packed("f", (x,), {OUT})', "return t")
    end = ended(text, floats(1, 2, 3), f=write)
    assert end.code == "E-return-written" and code in end.message


def test_earlier_versions_know_what_was_written_then() -> None:
    text = lines(ALLOC, "cls.most(x, t)", "cls.last(x, t)", "return R.add(t, t)")
    ready = load(module(text), backend="steps")
    steps = list(ready.trace("main", [value(floats(1, 2, 3))]))
    known = []
    for step in reversed(steps[:-1]):
        assert isinstance(step, Configuration)
        step.version.store.show(step.version)
        (blank,) = step.version.store.blank.values() or (None,)
        known.append(None if blank is None or blank.written is None else blank.written.tolist())
        if step.rule == "E-alloc-tensor":
            break
    assert known[-3:] == [None, [1, 1, 0], None]
    outcome = ready.step(steps[-2])  # type: ignore[arg-type]
    assert isinstance(outcome, Returned)


def test_an_argument_that_does_not_fit_is_the_one_that_is_shown() -> None:
    text = lines("t = R.add(x, x)", "u = cls.copied(t, R.add(x, x))", "return u") + (
        '@R.function\ndef copied(a: R.Tensor((7,), "float32"), b: R.Tensor((n,), "float32")) -> R.Any:\n'
        "    return a\n"
    )
    end = ended(text, floats(1, 2))
    assert end.code == "E-cast-dimension" and end.origin is not None
    assert end.origin[1] - end.origin[0] == len("R.add(x, x)")


def test_an_index_out_of_range_is_shown() -> None:
    text = lines('k = R.const([9], "int64")', "y = R.take(x, k)", "return y")
    end = ended(text, floats(1, 2))
    assert end.code == "E-index-range" and end.origin is not None
    assert end.origin[1] - end.origin[0] == len('R.const([9], "int64")')


def test_of_several_operands_none_is_shown_by_guess() -> None:
    made = ('k = R.const([9], "int64")', 'z = R.const([0], "int64")')
    end = ended(lines(*made, "y = R.divide(k, z)", "return y"), floats(1, 2))
    assert (end.code, end.origin) == ("E-divide-zero", None)


class Quit(BaseException):
    """An error that is not an Exception."""


@pytest.mark.parametrize("error", [SystemExit, GeneratorExit, Quit])
def test_whatever_a_packed_function_raises_is_a_fault(error: type[BaseException]) -> None:
    def leave(given: Any) -> None:
        raise error

    text = lines('u = R.call_packed("f", x, sinfo_args=(R.Any,))', "return u")
    end = ended(text, floats(1), f=leave)
    assert (type(end), end.code) == (Fault, "E-packed-raised")


@pytest.mark.parametrize("given", ["absent, x, t", "x, absent, t", "x, t, absent"])
def test_operands_that_are_bound_are_shown_beside_one_that_is_not(given: str) -> None:
    end = ended(lines("t = R.add(x, x)", f"y = R.concat(({given}), axis=0)", "return y"), floats(1))
    assert isinstance(end, IllFormed) and end.code == "E-var-bound"
    assert [each.data.tolist() for each in end.values] == [[1.0], [2.0]]  # type: ignore[attr-defined]
