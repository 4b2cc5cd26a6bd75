"""The machine: calls, faults with their places, fuel, depth, and what looks on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rlx import vm
from rlx.grammar.read.parser import parse
from rlx.semantics.values import Packed, Scalar, Value
from rlx.vm.rules import MachineStep

from .programs import PACKED, by_hand, compiled


@pytest.fixture
def machine() -> vm.VirtualMachine:
    return vm.VirtualMachine(by_hand(), PACKED)


def test_a_compiled_module(capsys: pytest.CaptureFixture[str]) -> None:
    machine = vm.VirtualMachine(compiled())
    x = np.array([1, 2, 3], np.float32)
    assert machine["main"](x, True).tolist() == [4, 8, 12]
    assert machine["main"](x, False).tolist() == [3, 5, 7]
    assert x.tolist() == [1, 2, 3]


def test_a_check_names_the_parameter_and_the_dimension() -> None:
    machine = vm.VirtualMachine(compiled())
    with pytest.raises(vm.CheckFailed, match=r"main: parameter 0, x: R.Tensor.*expected 1 dim"):
        machine["main"](np.ones((2, 2), np.float32), True)
    with pytest.raises(vm.CheckFailed, match="parameter 1, c"):
        machine["main"](np.ones(2, np.float32), 3)


def test_recursion(machine: vm.VirtualMachine) -> None:
    assert machine["fib"](15) == 610
    *_, last = machine.steps("fib", 9)
    assert isinstance(last, Scalar) and last.value == 34


def test_steps_show_registers(machine: vm.VirtualMachine) -> None:
    first, second, *_ = machine.steps("fib", 0)
    assert isinstance(first, MachineStep) and isinstance(second, MachineStep)
    assert (first.function, first.at, first.depth) == ("fib", 0, 1)
    assert sorted(second.registers) == [0, 1]


def test_depth_is_limited_by_memory_alone() -> None:
    ib = vm.ExecBuilder()
    with ib.function("down", num_inputs=1):
        ib.emit_if(ib.r(0), 4)
        ib.emit_call("sub", [ib.r(0), ib.imm(1)], ib.r(1))
        ib.emit_call("down", [ib.r(1)], ib.r(1))
        ib.emit_ret(ib.r(1))
        ib.emit_ret(ib.r(0))
    assert vm.VirtualMachine(ib.get(), PACKED)["down"](100_000) == 0


def test_fuel() -> None:
    ib = vm.ExecBuilder()
    with ib.function("loop"):
        ib.emit_goto(0)
    with ib.function("call"):
        ib.emit_call("call", dst=ib.r(0))
        ib.emit_ret(ib.r(0))
    machine = vm.VirtualMachine(ib.get(), fuel=1000)
    for name in ("loop", "call"):
        with pytest.raises(
            vm.OutOfFuelError, match=r"1000 calls and jumps back.*V-fuel-left.*fuel=N"
        ):
            machine[name]()
        with pytest.raises(vm.OutOfFuelError):
            list(machine.steps(name, fuel=100))


def test_a_fault_has_a_place_and_the_open_calls(machine: vm.VirtualMachine) -> None:
    def fail(a: int, b: int) -> int:
        if a == 0:
            raise ValueError("no more")
        return a - b

    broken = vm.VirtualMachine(by_hand(), {**PACKED, "sub": fail, "less": lambda a, b: False})
    with pytest.raises(vm.Fault, match="sub raised ValueError: no more") as caught:
        broken["fib"](2)
    assert caught.value.code == "E-packed-raised"
    assert caught.value.place == ("fib", 3)
    assert caught.value.calls == (("fib", 4), ("fib", 4))
    with pytest.raises(vm.Fault, match="V-call-function-arity"):
        machine["fib"](1, 2)
    with pytest.raises(KeyError, match="no function 'fob'; it has: fib, a function"):
        machine["fob"]
    # a value that is none, which only functions on values can give: V-call-outside-value
    odd: Any = Packed(lambda *_: 3, "sub")  # type: ignore[arg-type]
    values = vm.VirtualMachine(by_hand(), {**PACKED, "sub": odd})
    with pytest.raises(vm.Fault, match="V-call-outside-value"):
        values["fib"](5)


def test_inputs_that_are_set_before(machine: vm.VirtualMachine) -> None:
    with pytest.raises(ValueError, match="comes before invoke_stateful"):
        machine.invoke_stateful("fib")
    machine.set_input("fib", 10)
    with pytest.raises(ValueError, match="comes before get_outputs"):
        machine.get_outputs("fib")
    machine.invoke_stateful("fib")
    assert machine.get_outputs("fib") == 55
    with pytest.raises(ValueError, match="fib takes 1 arguments, found 2"):
        machine.set_input("fib", 1, 2)
    machine.save_function("fib", "fib of 7", 7)
    assert machine["fib of 7"]() == 13


def test_instruments_see_each_call(machine: vm.VirtualMachine) -> None:
    seen: list[tuple[str, bool]] = []

    def note(name: str, args: tuple[Value, ...], result: Value | None) -> None:
        seen.append((name, result is None))

    machine.set_instrument(note)
    assert machine["fib"](2) == 1
    assert seen[:2] == [("less", True), ("less", False)]
    machine.set_instrument(None)
    del seen[:]
    assert machine["fib"](2) == 1 and not seen


def test_a_profile(machine: vm.VirtualMachine) -> None:
    found = machine.profile("fib", 6)
    assert found.result == 8 and found.calls["sub"] == 24
    assert str(found).splitlines()[0].split() == ["function", "calls", "µs", "share"]
    assert "the machine itself" in str(found)


def test_constants_are_not_changed_by_a_run() -> None:
    ib = vm.ExecBuilder()
    with ib.function("main"):
        ib.emit_call("overwrite", [np.ones(3)], ib.r(0))
        ib.emit_ret(ib.r(0))

    def overwrite(given: Any) -> Any:
        given += 1
        return given

    machine = vm.VirtualMachine(ib.get(), {"overwrite": overwrite})
    assert machine["main"]().tolist() == [2, 2, 2]
    assert machine["main"]().tolist() == [2, 2, 2]


def test_the_design_document_computes_with_its_own_functions() -> None:
    ib = vm.ExecBuilder()
    with ib.function("func0", num_inputs=2):
        ib.emit_call("test.vm.add", args=[ib.r(0), ib.r(1)], dst=ib.r(2))
        ib.emit_ret(ib.r(2))
    with ib.function("func1", num_inputs=2):
        ib.emit_call("test.vm.mul", args=[ib.r(0), ib.r(1)], dst=ib.r(2))
        ib.emit_ret(ib.r(2))
    packed = {"test.vm.add": np.add, "test.vm.mul": np.multiply}
    machine = vm.VirtualMachine(ib.get(), packed)
    a, b = np.random.default_rng(0).random((2, 4))
    np.testing.assert_array_equal(machine["func0"](a, b), a + b)
    np.testing.assert_array_equal(machine["func1"](a, b), a * b)


def test_what_is_no_executable() -> None:
    with pytest.raises(TypeError, match="expected an Executable"):
        vm.VirtualMachine("model.rlxexe")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="expected 'native' or 'steps'"):
        vm.VirtualMachine(by_hand(), backend="gpu")
    with pytest.raises(TypeError, match=r"packed\['f'\]: expected a function"):
        vm.VirtualMachine(by_hand(), {"f": 3})  # type: ignore[dict-item]
    with pytest.raises(TypeError, match=r"rlx\.load reads one"):
        vm.build("module")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="error"):
        vm.build(parse("@R.function\ndef f(x: R.Object):\n    return y\n").modules[0])
