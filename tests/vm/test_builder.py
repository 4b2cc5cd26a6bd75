"""ExecBuilder: what it builds, and what it refuses."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from rlx import vm
from rlx.grammar.nodes.dtype import dtype
from rlx.vm.flow import problems
from rlx.vm.instructions import (
    CallInstruction,
    GotoInstruction,
    IfInstruction,
    RetInstruction,
    register,
)


def test_the_listing_of_the_design_document() -> None:
    ib = vm.ExecBuilder()
    with ib.function("func0", num_inputs=2):
        ib.emit_call("vm.op.add", args=[ib.r(0), ib.r(1)], dst=ib.r(2))
        ib.emit_call("vm.builtin.move", args=[ib.r(2)], dst=ib.r(3))
        ib.emit_call("vm.builtin.print", args=[ib.r(3)])
        ib.emit_ret(ib.r(3))
    executable = ib.get()
    assert executable.stats() == (
        "Relax VM executable statistics:\n"
        "  Constant shapes (# 0): []\n"
        "  Globals (#1): [func0]\n"
        "  Packed functions (#3): [vm.op.add, vm.builtin.move, vm.builtin.print]"
    )
    assert executable.as_text().splitlines()[1:5] == [
        "  call  vm.op.add        in: %0, %1       dst: %2",
        "  call  vm.builtin.move  in: %2           dst: %3",
        "  call  vm.builtin.print in: %3           dst: void",
        "  ret   ret %3",
    ]


def test_words_and_offsets() -> None:
    ib = vm.ExecBuilder()
    with ib.function("main", num_inputs=1):
        ib.emit_call("f", args=[ib.r(0), ib.imm(-1), ib.c("x")], dst=ib.r(1))
        ib.emit_ret(ib.r(1))
    executable = ib.get()
    assert tuple(executable.offsets) == (0, 7)
    assert executable.words[:4] == (1, 0, 1, 3)
    assert executable.words[7:] == (2, 1)
    assert [str(arg) for arg in executable.instruction(0).args] == ["%0", "i-1", "c[0]"]  # type: ignore[attr-defined]


def test_registers_are_renumbered_and_used_again() -> None:
    ib = vm.ExecBuilder()
    with ib.function("main", num_inputs=1):
        ib.emit_call("f", args=[ib.r(0)], dst=ib.r(10_000))
        ib.emit_call("f", args=[ib.r(10_000)], dst=ib.r(77))
        ib.emit_call("f", args=[ib.r(77)], dst=ib.r(5))
        ib.emit_ret(ib.r(5))
    counts = [
        ib.get(**options).functions[0].registers
        for options in ({"formalize": False}, {}, {"reuse": True})
    ]
    assert counts == [10_001, 4, 2]


def emit(ib: vm.ExecBuilder, name: str) -> None:
    """The body of a function that is wrong."""
    match name:
        case "read before it is written":
            ib.emit_ret(ib.r(3))
        case "written on one way only":
            ib.emit_if(ib.r(0), 2)
            ib.emit_call("f", dst=ib.r(1))
            ib.emit_ret(ib.r(1))
        case "runs past the end":
            ib.emit_call("f", args=[ib.r(0)])
        case "jumps out":
            ib.emit_goto(5)
        case "empty":
            pass
        case "no such constant":
            ib.emit_call("f", args=[ib.c(3)], dst=ib.r(0))
            ib.emit_ret(ib.r(0))
        case "void":
            ib.emit_ret(ib.void())


WRONG = {
    "read before it is written": "register 3 may be read before it is written; the function has one input",
    "written on one way only": "register 1 may be read before it is written",
    "runs past the end": "the function ends without ret or goto",
    "jumps out": "the jump leads to instruction 5; the function has 0 to 0",
    "empty": "the function has no instruction",
    "no such constant": "there is no constant 3: the pool has 0",
    "void": "the void register cannot be read",
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_functions_are_refused_and_dropped(name: str) -> None:
    ib = vm.ExecBuilder()
    with pytest.raises(vm.ExecBuildError, match=WRONG[name]), ib.function("main", num_inputs=1):
        emit(ib, name)
    with ib.function("main", num_inputs=1):  # the builder can be used on
        ib.emit_ret(ib.r(0))
    assert [function.name for function in ib.get().functions] == ["main"]


def test_unused_inputs_are_warned_of() -> None:
    ib = vm.ExecBuilder()

    def build() -> None:
        with ib.function("main", num_inputs=3):
            ib.emit_call("f", args=[ib.r(0), ib.r(2)], dst=ib.r(3))
            ib.emit_ret(ib.r(3))

    with pytest.warns(vm.UnusedInput, match="never reads its input 1"):
        build()


def test_misuse_is_told_at_once() -> None:
    ib = vm.ExecBuilder()
    with pytest.raises(vm.ExecBuildError, match="emit instructions inside a function"):
        ib.emit_ret(ib.r(0))
    with ib.function("main", num_inputs=1):
        misuses: list[tuple[Callable[[], object], str]] = [
            (lambda: ib.r(-1), "expected the number of a register"),
            (lambda: ib.imm(1 << 60), "does not fit into 56 bits"),
            (lambda: ib.imm(1.5), "expected an integer"),  # type: ignore[arg-type]
            (lambda: ib.emit_ret(ib.imm(1)), "expected a register"),
            (lambda: ib.emit_call("", []), "expected the name of a function"),
            (lambda: ib.emit_goto("1"), "expected a number of instructions to jump"),  # type: ignore[arg-type]
            (lambda: ib.c(object()), "expected a constant|cannot store"),
            (lambda: ib.get(), "still open"),
            (lambda: ib.function("other").__enter__(), "begins inside 'main'"),
        ]
        for wrong, said in misuses:
            with pytest.raises(vm.ExecBuildError, match=said):
                wrong()
        ib.emit_ret(ib.r(0))
    with pytest.raises(vm.ExecBuildError, match="a function 'main' exists already"):
        ib.function("main").__enter__()


def test_every_kind_of_constant() -> None:
    ib = vm.ExecBuilder()
    given = [np.arange(3), 1.5, "text", dtype("float16"), (2, 3), (np.ones(1), "x"), None]
    with ib.function("main"):
        ib.emit_call("vm.builtin.make_tuple", args=given, dst=ib.r(0))
        ib.emit_ret(ib.r(0))
    found = vm.VirtualMachine(ib.get())["main"]()
    assert found[0].tolist() == [0, 1, 2]
    assert found[1:5] == (1.5, "text", dtype("float16"), (2, 3))
    assert found[5][0].tolist() == [1.0]
    assert found[6] is None


def test_problems_of_code_by_itself() -> None:
    loop = [
        CallInstruction(0, (register(0),), 1),
        IfInstruction(1, 2),
        GotoInstruction(-2),
        RetInstruction(1),
    ]
    assert not list(problems(loop, 1, 0, 1))
    assert [p.message for p in problems(loop, 0, 0, 1)] == [
        "register 0 may be read before it is written; the function has no inputs"
    ]
