"""Executables that a stranger writes by hand: what is wrong with them is said, and nothing runs for ever."""

from __future__ import annotations

import numpy as np
import pytest

from rlx.vm import (
    ExecBuilder,
    ExecBuildError,
    Executable,
    Fault,
    LoadError,
    OutOfFuelError,
    VirtualMachine,
)


def text(body: str, head: str = "1 input, 3 registers") -> str:
    return f"@main:  # {head}\n{body}"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("  goto  7\n  ret   ret %0", "the jump leads to instruction 7; the function has 0 to 1"),
        ("  goto  -1\n  ret   ret %0", "the jump leads to instruction -1"),
        ("  if    %0, 99999999999\n  ret   ret %0", "the jump leads to instruction 99999999999"),
        ("  if    %2, 1\n  ret   ret %0", "register 2 may be read before it is written"),
        ("  call  f in: c[0] dst: %1\n  ret   ret %0", "the argument is constant 0; there are 0"),
        ("  call  f in: %9 dst: %1\n  ret   ret %0", "register 9"),
        ("  call  f in: %void dst: %1\n  ret   ret %0", "the void register cannot be read"),
        ("  call  f in: %0 dst: %1", "the function ends without ret or goto"),
        ("  ret   ret %88888888", "registers are numbered from 0"),
        (
            "  call  f in: i9999999999999999999 dst: %1\n  ret   ret %0",
            "line 2: i9999999999999999999 does not",
        ),
        ("  call  f in: %72057594037927936 dst: %1\n  ret   ret %0", "does not fit into 56 bits"),
        ("  call  f in: c[72057594037927936] dst: %1\n  ret   ret %0", "does not fit into 56 bits"),
        ("  goto  -99999999999999999999999\n  ret   ret %0", "the jump leads to instruction -9"),
    ],
)
def test_what_cannot_run_is_refused(body: str, said: str) -> None:
    with pytest.raises(LoadError, match=said):
        Executable.from_text(text(body))


def test_functions_that_nobody_has_are_faults_where_they_are_called() -> None:
    found = Executable.from_text(text("  call  nobody in: %0 dst: %1\n  ret   ret %0"))
    with pytest.raises(Fault, match="no packed function is registered as 'nobody'") as caught:
        VirtualMachine(found)["main"](1)
    assert caught.value.place == ("main", 0)


@pytest.mark.parametrize("steps", [False, True])
def test_endless_mutual_recursion_takes_its_fuel(steps: bool) -> None:
    ib = ExecBuilder()
    names = ["one", "two", "three"]
    for name, following in zip(names, [*names[1:], names[0]], strict=True):
        with ib.function(name, num_inputs=1):
            ib.emit_call(following, [ib.r(0)], ib.r(1))
            ib.emit_ret(ib.r(1))
    machine = VirtualMachine(ib.get(), fuel=5_000)
    with pytest.raises(OutOfFuelError, match=r"the run did not end within 5000"):
        list(machine.steps("one", 1, fuel=5_000)) if steps else machine["one"](1)


def test_closures_that_call_themselves_take_their_fuel() -> None:
    ib = ExecBuilder()
    with ib.function("again", num_inputs=1):
        ib.emit_call("vm.builtin.invoke_closure", [ib.r(0), ib.r(0)], ib.r(1))
        ib.emit_ret(ib.r(1))
    with ib.function("main"):
        ib.emit_call("vm.builtin.make_closure", [ib.f("again")], ib.r(0))
        ib.emit_call("again", [ib.r(0)], ib.r(0))
        ib.emit_ret(ib.r(0))
    with pytest.raises(OutOfFuelError):
        VirtualMachine(ib.get(), fuel=1_000)["main"]()


def test_constants_of_another_kind_are_faults() -> None:
    ib = ExecBuilder()
    with ib.function("main"):
        ib.emit_call("vm.builtin.alloc_storage", [ib.vm_state(), "sixteen"], ib.r(0))
        ib.emit_ret(ib.r(0))
    with ib.function("branch"):
        ib.emit_call("vm.builtin.copy", [np.ones(3)], ib.r(0))
        ib.emit_if(ib.r(0), 1)
        ib.emit_ret(ib.r(0))
    machine = VirtualMachine(ib.get())
    with pytest.raises(Fault, match=r"alloc_storage takes a size, .* found 'sixteen'"):
        machine["main"]()
    with pytest.raises(Fault, match="expected a Boolean scalar as the condition, found tensor"):
        machine["branch"]()


def test_what_the_builder_refuses_leaves_it_whole() -> None:
    ib = ExecBuilder()
    with pytest.raises(ExecBuildError, match="the jump leads to instruction 5"), ib.function("f"):
        ib.emit_goto(5)
    with ib.function("f", num_inputs=1):
        ib.emit_ret(ib.r(0))
    assert VirtualMachine(ib.get())["f"](3) == 3
