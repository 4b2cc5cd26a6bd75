"""LAW: random executables end alike at once, by steps, and after being written and read."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from rlx.grammar.nodes.node import replace
from rlx.semantics.machine.message_text import show
from rlx.semantics.machine.numpy_conversion import to_value
from rlx.semantics.values import Scalar
from rlx.vm import ExecBuildError, Executable, OutOfFuelError, RunError, VirtualMachine
from rlx.vm.checking import complaints
from rlx.vm.instructions import (
    MOST_REGISTERS,
    VM_STATE,
    VOID,
    Argument,
    ArgumentKind,
    CallInstruction,
    GotoInstruction,
    IfInstruction,
    RetInstruction,
    VMInstruction,
    decode,
    encode,
)
from rlx.vm.library import LIBRARY
from rlx.vm.linking import Linker
from rlx.vm.machine import Profile
from rlx.vm.saving import from_bytes, to_bytes
from rlx.vm.translation import state_is_held

from .random_code import ARITY, PACKED, Maker


def ended(machine: VirtualMachine, printed: list[str], name: str, steps: bool) -> tuple[str, ...]:
    """The end of a run as text: the value, or the error with its place and the open calls."""
    printed.clear()
    inputs: tuple[Any, ...] = (np.arange(3, dtype="float32"), True)
    args = inputs[: machine.executable.function(name).num_inputs]
    try:
        if steps:
            *_, value = machine.steps(name, *args, fuel=3_000)
        else:
            value = machine.invoke(name, [to_value(arg) for arg in args])
        return ("value", show(value), *printed)
    except OutOfFuelError:
        return ("fuel",)
    except RunError as error:
        return (error.outcome.__name__, str(error), str(error.calls), *printed)


def endings(executable: Executable, steps: bool = False) -> list[tuple[str, ...]]:
    """The ends of the functions of an executable, each in a machine of its own."""
    found = []
    for name in ARITY:
        printed: list[str] = []
        machine = VirtualMachine(
            executable, PACKED, backend="steps", output=printed.append, fuel=100
        )
        found.append(ended(machine, printed, name, steps))
    return found


@pytest.mark.parametrize("part", range(30))
def test_all_ways_end_alike(part: int) -> None:
    for seed in range(part * 5, part * 5 + 5):
        assert_all_ways_end_alike(seed)


def assert_all_ways_end_alike(seed: int) -> None:
    executable = Maker(seed).executable()
    wanted = endings(executable)
    for one, other in zip(wanted, endings(executable, True), strict=True):
        assert one == other or ("fuel",) in (one, other), f"{seed}\n{executable}"
    text = executable.as_text()
    assert Executable.from_text(text).as_text() == text
    again = Executable.of(from_bytes(to_bytes(executable)))
    assert to_bytes(again) == to_bytes(executable) and endings(again) == wanted


NUMBERS = (0, 1, 2, 3, 5, -1, -2, VM_STATE, VOID, MOST_REGISTERS, MOST_REGISTERS - 1)


def instruction(pick: random.Random) -> VMInstruction:
    """Any instruction, its numbers mostly small."""

    def number() -> int:
        return pick.choice(NUMBERS) if pick.random() < 0.2 else pick.randrange(4)

    match pick.randrange(7):
        case 0:
            return RetInstruction(number())
        case 1:
            return GotoInstruction(pick.randint(-3, 4))
        case 2:
            return IfInstruction(number(), pick.randint(-2, 4))
    args = [Argument(pick.choice(list(ArgumentKind)), number()) for _ in range(pick.randrange(3))]
    return CallInstruction(pick.choice([0, 1, 1, 2, -1]), tuple(args), number())


def test_instructions_are_read_as_they_were_written() -> None:
    for seed in range(1_500):
        each = instruction(random.Random(seed))
        if all(0 <= arg.number < 1 << 55 for arg in getattr(each, "args", ())):
            words = encode(each)
            assert str(decode(words, 0, len(words))) == str(each)


@pytest.mark.parametrize("part", range(10))
def test_damage_without_complaints_runs_to_an_end(part: int) -> None:
    for seed in range(part * 30, part * 30 + 30):
        executable = damaged(seed)
        if not list(complaints(executable)):
            assert all(each[0] for each in map(str, endings(executable)))


def damaged(seed: int) -> Executable:
    """A random executable in which one or two numbers are others."""
    pick, whole = random.Random(seed), Maker(seed % 40).executable()
    words, offsets, functions = [*whole.words], [*whole.offsets], [*whole.functions]
    for _ in range(pick.choice([1, 1, 2])):
        at = pick.randrange(len(words))
        of = pick.randrange(len(functions))
        one = functions[of]
        match pick.randrange(9):
            case 0:
                words[at] += pick.choice([1, -1, 2])
            case 1:
                offsets[pick.randrange(len(offsets))] += pick.choice([1, -1])
            case 2:
                functions[of] = replace(one, start=one.start + pick.choice([1, -1]))
            case 3:
                functions[of] = replace(one, end=one.end + pick.choice([1, -1, -2]))
            case 4:
                functions[of] = replace(one, registers=one.registers + pick.choice([1, -1]))
            case 5:
                functions[of] = replace(one, num_inputs=one.num_inputs + pick.choice([1, -1]))
            case 6:
                functions[of] = replace(one, name=pick.choice(["f0", "f1"]))
            case 7:
                functions[of] = replace(one, parameters=("a",))
            case 8:
                del words[at:]
    names = whole.names if seed % 50 else (*whole.names, *whole.names[:1])
    return replace(
        whole,
        words=tuple(words),
        offsets=tuple(offsets),
        functions=tuple(functions),
        names=names,
    )


@pytest.mark.parametrize("name", LIBRARY)
def test_each_function_of_the_run_time(name: str) -> None:
    """Given arguments of every kind, it ends by steps as it does at once."""
    pick = random.Random(name)
    for _ in range(25):
        assert_steps_end_alike(name, pick)


def assert_steps_end_alike(name: str, pick: random.Random) -> None:
    maker = Maker(pick.randrange(1_000))
    ib = maker.ib
    kinds = [np.arange(6, dtype="float32"), np.array(3), (2, 3), (24,), "uint8", "{} and {}"]
    values = [*kinds, None, 0, 1, 2, -1, 1.5, (np.ones(2), "x"), ib.f("f0"), ib.vm_state()]
    with ib.function("f0"):
        heap, store = ib.r(1), ib.r(2)
        ib.emit_call("vm.builtin.alloc_heap", [3], heap)
        ib.emit_call("vm.builtin.alloc_storage", [(24,), 0], store)
        args = [pick.choice([*values, heap, store]) for _ in range(pick.randrange(5))]
        ib.emit_call(name, args, ib.r(0))
        ib.emit_call("vm.builtin.make_tuple", [ib.r(0), heap], ib.r(0))
        ib.emit_ret(ib.r(0))
    printed: list[str] = []
    machine = VirtualMachine(ib.get(), PACKED, output=printed.append, devices=[("llvm", 0)])
    assert ended(machine, printed, "f0", False) == ended(machine, printed, "f0", True)


def test_numbers_at_the_limits() -> None:
    """Immediates have 56 bits, registers a limit: the last number is taken, the next is not."""
    ib = Maker(0).ib
    most = (1 << 55) - 1
    assert [ib.imm(n).number for n in (most, -most - 1)] == [most, -most - 1]
    assert ib.r(MOST_REGISTERS - 1).number == MOST_REGISTERS - 1
    for take, wrong in ((ib.imm, most + 1), (ib.imm, -most - 2), (ib.r, MOST_REGISTERS)):
        with pytest.raises(ExecBuildError):
            take(wrong)
    for count in (MOST_REGISTERS + 1, -1, True, 1.0):
        with pytest.raises(ExecBuildError, match="number of inputs"), ib.function("f", count):  # type: ignore[arg-type]
            pass
    many = MOST_REGISTERS
    with pytest.raises(ExecBuildError, match="no instruction"), ib.function("f", many):
        pass
    code = [
        CallInstruction(0, (Argument(ArgumentKind.IMMEDIATE, n),)) for n in (most, -most - 1, -1)
    ]
    assert [str(decode(encode(each), 0, 5)) for each in code] == list(map(str, code))


def test_arguments_as_text() -> None:
    """Only registers have names of their own."""
    kinds = {
        ArgumentKind.IMMEDIATE: "i{}",
        ArgumentKind.CONSTANT: "c[{}]",
        ArgumentKind.FUNCTION: "f[{}]",
    }
    for number, name in ((VM_STATE, "vm"), (VOID, "void")):
        assert str(Argument(ArgumentKind.REGISTER, number)) == f"%{name}"
        for kind, written in kinds.items():
            assert str(Argument(kind, number)) == written.format(number)


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_a_tuple_is_unpacked_for_a_closure_that_takes_more(count: int) -> None:
    """Only where it stands alone, and the function does not take it as it is."""
    ib = Maker(0).ib
    with ib.function("f", count):
        ib.emit_call("vm.builtin.make_tuple", [ib.r(k) for k in range(count)], ib.r(count))
        ib.emit_ret(ib.r(count))
    for given in range(3):
        with ib.function(f"call{given}"):
            ib.emit_call("vm.builtin.make_tuple", [7, 8], ib.r(0))
            args = [ib.f("f"), ib.r(0), *([9] * (given - 1))][: given + 1]
            ib.emit_call("vm.builtin.invoke_closure", args, ib.r(1))
            ib.emit_ret(ib.r(1))
    machine = VirtualMachine(ib.get(), PACKED)
    wanted = {(0, 0): (), (1, 1): ((7, 8),), (2, 1): (7, 8), (2, 2): ((7, 8), 9)}
    for given in range(3):
        if (count, given) in wanted:
            assert machine[f"call{given}"]() == wanted[count, given]
        else:
            with pytest.raises(RunError, match="V-call-function-arity"):
                machine[f"call{given}"]()


def test_a_state_that_is_held() -> None:
    """Only functions that hand the state on make registers hold it."""
    for held in (False, True):
        ib = Maker(0).ib
        with ib.function("main"):
            ib.emit_call("vm.builtin.make_tuple", [ib.vm_state()], ib.r(0))
            ib.emit_ret(ib.vm_state() if held else ib.r(0))
        assert state_is_held(Linker(ib.get(), {}, "native", print)) == held


def test_a_profile_as_a_table() -> None:
    found = Profile()
    found.total = 400.0
    for name, calls, seconds in (("double", 2, 100.0), ("slow", 10, 200.0), ("never", 0, 0.0)):
        found.around(name, lambda: Scalar(1))
        assert (found.calls[name], found.seconds[name]) == (0, 0)
        found.calls[name], found.seconds[name] = calls, seconds
    rows = ("slow", "10", "200000000.0", "50.0%"), ("double", "2", "100000000.0", "25.0%")
    own = "the machine itself", "", "100000000.0", "25.0%"
    shown = [f"{n:18}  {c:>9}  {s:>12}  {share:>6}" for n, c, s, share in (*rows, own)]
    assert str(found).splitlines()[1:] == shown


def test_an_empty_profile_has_no_shares() -> None:
    assert str(Profile()).splitlines()[-1].endswith("0.0%")
    assert "-" not in str(Profile())


def test_fuel_and_numbers_of_instructions() -> None:
    """A run of so many instructions needs so much fuel; each instruction has a number, and no other number has one."""
    ib = Maker(0).ib
    with ib.function("f"):
        for _ in range(3):
            ib.emit_call("vm.builtin.make_tuple", [], ib.r(0))
        ib.emit_ret(ib.r(0))
    machine = VirtualMachine(ib.get())
    count = len(machine.executable.offsets)
    assert len(list(machine.steps("f", fuel=count))) == count + 1
    with pytest.raises(OutOfFuelError):
        list(machine.steps("f", fuel=count - 1))
    for number in (-1, count):
        with pytest.raises(
            IndexError, match=f"instruction {number} is out of range: there are {count}"
        ):
            machine.executable.instruction(number)
    assert str(machine.executable.instruction(count - 1)) == str(RetInstruction(0))
