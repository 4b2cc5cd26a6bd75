"""Functions of the run time called as they should be, and nearly so: an argument missing, exchanged, or another."""

from __future__ import annotations

import os
import random
import re
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from rlx.vm import ExecBuilder, VirtualMachine
from rlx.vm.library import LIBRARY, TAKES

from .random_code import PACKED
from .test_random_code import ended

MATRIX = np.arange(6, dtype="float32").reshape(2, 3)
SHAPED = np.array([3, 1, 2], dtype="int64")
RATIOS = np.array([[0.2, 0.3, 0.5], [0.9, 0.05, 0.05]], dtype="float32")
SAMPLES = np.array([[0.4], [0.97]], dtype="float32")
TYPE = """
@R.function
def check(sizes: R.Shape(["n"]), f: R.Callable((R.Tensor(("n",), "float32"),), R.Object, purity=False)):
    return R.tuple()
"""
LEGAL: dict[str, list[list[Any]]] = {
    "vm.builtin.alloc_shape_heap": [[3]],
    "vm.builtin.alloc_heap": [[3]],
    "vm.builtin.match_shape": [
        [MATRIX, "heap", 2, 1, 0, 0, 3, "m.rlx:1:2"],
        [(7, 4), "heap", 2, 3, 0, 1, 2, ""],
        [(2, 7), "heap", 2, 2, 0, 3, 0, "m.rlx:1:2"],
    ],
    "vm.builtin.match_prim_value": [[7, "heap", 3, 0, "m.rlx:1:2"], [5, "heap", 1, 1, ""]],
    "vm.builtin.make_shape": [["heap", 2, 0, 5, 1, 0], ["heap", 1, 1, 1]],
    "vm.builtin.make_prim_value": [["heap", 0, 5, "int32"], ["heap", 1, 0]],
    "vm.builtin.check_tensor_info": [[MATRIX, 2, "float32", "m.rlx:1:2"], [SHAPED, -1, "void", ""]],
    "vm.builtin.check_shape_info": [[(2, 3), 2, "m.rlx:1:2"], [(2, 3), -1, ""]],
    "vm.builtin.check_tuple_info": [[(MATRIX, "x"), 2, "m.rlx:1:2"]],
    "vm.builtin.check_prim_value_info": [[7, "int64", "m.rlx:1:2"], [1.5, "float32", ""]],
    "vm.builtin.check_func_info": [["function", "m.rlx:1:2"]],
    "vm.builtin.check_string_info": [["x", "m.rlx:1:2"]],
    "vm.builtin.reshape": [[MATRIX, (3, 2)], [MATRIX, (6,)]],
    "vm.builtin.shape_of": [[MATRIX]],
    "vm.builtin.tensor_to_shape": [[SHAPED]],
    "relax.run.shape_to_tensor": [[(2, 3)], [(24,)]],
    "vm.builtin.copy": [[MATRIX]],
    "vm.builtin.ensure_zero_offset": [[MATRIX]],
    "vm.builtin.to_device": [[MATRIX, 1, 0], [SHAPED, 2, 1]],
    "vm.builtin.multinomial_from_uniform": [[RATIOS, SAMPLES]],
    "vm.builtin.make_tuple": [[MATRIX, (2, 3), 1]],
    "vm.builtin.null_value": [[]],
    "vm.builtin.read_if_cond": [[np.array(True)], [0]],
    "vm.builtin.tuple_getitem": [[(MATRIX, "x"), 1]],
    "relax.run.unique": [[SHAPED]],
    "relax.run.nonzero": [[MATRIX]],
    "relax.run.check_device": [[MATRIX, "llvm", 0, "m.rlx:1:2"]],
    "relax.run.check_held_shape": [[MATRIX, (2, 3), "m.rlx:1:2"]],
    "relax.run.check_function": [["function", TYPE, (2,), "m.rlx:1:2"]],
    "vm.builtin.alloc_storage": [["state", (24,), 0, "uint8"], ["state", (3,), 1, "int64"]],
    "vm.builtin.alloc_tensor": [["memory", 4, (2, 3), "int16"], ["memory", (2, 3), 0, "float32"]],
    "vm.builtin.free_storage": [["memory"]],
    "vm.builtin.free_tensor": [[MATRIX]],
    "vm.builtin.kill_object": [[MATRIX]],
    "vm.builtin.store_shape": [[(5, 6), "heap", 2, 1], [MATRIX, "heap", 0, 2]],
    "vm.builtin.load_shape": [["heap", 1, 0]],
    "vm.builtin.move": [[MATRIX]],
    "vm.builtin.print": [["state", MATRIX, 1]],
    "relax.run.print": [["state", "{} and {}", 1, (2, 3)]],
    "relax.run.assert_op": [["state", False, "{} and {}", 1, 2], ["state", np.array(True), "no"]],
    "relax.run.check_alive": [[MATRIX, "x"]],
}
OTHERS: list[Any] = [MATRIX, SHAPED, (2, 3), "float32", 0, 2, -1, 1.5, None, "heap", "memory"]


def near(args: list[Any]) -> Iterator[list[Any]]:
    """The arguments, and those that differ from them in one thing."""
    yield args
    for at in range(len(args)):
        yield args[:at] + args[at + 1 :]
        yield from ([*args[:at], other, *args[at + 1 :]] for other in OTHERS)
    for one, other in combinations(range(len(args)), 2):
        swapped = [*args]
        swapped[one], swapped[other] = args[other], args[one]
        yield swapped
        yield args[:one] + args[one + 1 : other] + args[other + 1 :]


def said(name: str, args: list[Any]) -> str:
    """The end of a call, its effect on a heap, and where memory is."""
    ib = ExecBuilder()
    with ib.function("f0"):
        heap, memory, made = ib.r(1), ib.r(2), ib.r(0)
        ib.emit_call("vm.builtin.alloc_heap", [3], heap)
        ib.emit_call("vm.builtin.store_shape", [(7, 5, 2), heap, 0, 1, 2], ib.r(3))
        ib.emit_call("vm.builtin.alloc_storage", [(24,), 0], memory)
        named = {"heap": heap, "memory": memory, "state": ib.vm_state(), "function": ib.f("f0")}
        given = [named.get(arg, arg) if isinstance(arg, str) else arg for arg in args]
        ib.emit_call(name, given, made)
        if name == "vm.builtin.alloc_storage":  # a tensor in it shows where it lies
            ib.emit_call("vm.builtin.alloc_tensor", [made, 0, (1,), "uint8"], made)
        ib.emit_call("vm.builtin.make_tuple", [made, heap], made)
        ib.emit_ret(made)
    printed: list[str] = []
    devices = [("llvm", 0), ("cuda", 1)]
    machine = VirtualMachine(ib.get(), PACKED, output=printed.append, devices=devices)
    found = ended(machine, printed, "f0", False)
    printed.clear()
    assert found == ended(machine, printed, "f0", True)
    return str(found)


@pytest.mark.parametrize("name", LIBRARY)
def test_near_calls(name: str) -> None:
    """A call with one argument that is another one, too many or missing ends in our own words."""
    for legal in LEGAL[name]:
        for args in near(legal):
            found = said(name, args)
            assert not PYTHON.search(found), (args, found)


ANY: list[Any] = [
    *OTHERS,
    *(
        "state",
        "function",
        "",
        "uint8",
        True,
        False,
        1 << 40,
        -(1 << 40),
        float("nan"),
        float("inf"),
    ),
    *(
        (),
        (0,),
        (1 << 40, 1 << 40),
        (-1, 2),
        (MATRIX, (SHAPED, None)),
        np.array(True),
        np.zeros((0, 3)),
    ),
    np.array(7, "int8"),
]
"""More of what may stand where something else belongs."""
PYTHON = re.compile(
    r"raised |Error\b|argument\(s\)|positional|NoneType|object has|not subscriptable|ndarray"
)
"""How an error of Python would read, or one of NumPy."""


def test_what_is_taken_is_said() -> None:
    assert set(TAKES) == set(LIBRARY)


@pytest.mark.parametrize("name", LIBRARY)
def test_random_calls_end_in_our_words(name: str) -> None:
    """LAW: whatever a function of the run time is given, the run gives a value or ends in our own words."""
    seed = 0 if os.environ.get("CI") else random.SystemRandom().randrange(2**16)
    pick = random.Random(f"{name} {seed}")
    for _ in range(CALLS):
        args = list(pick.choice(LEGAL[name]))
        for _ in range(pick.randint(1, 3)):
            at = pick.randrange(len(args) + 1)
            match pick.randrange(4):
                case 0 if at < len(args):
                    del args[at]
                case 1:
                    args.insert(at, pick.choice(ANY))
                case 2 if at < len(args):
                    args.insert(at, args[at])
                case _ if at < len(args):
                    args[at] = pick.choice(ANY)
        found = said(name, args)
        assert not PYTHON.search(found), (seed, args, found)


CALLS = int(os.environ.get("RLX_NEAR_CALLS", "40"))
"""Calls of each function."""
