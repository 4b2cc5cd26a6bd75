"""LAW: what a caller gives the machine instead of what it takes is refused in words of ours, whatever it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rlx import transform, vm

VALUES: dict[str, Any] = {
    "None": None,
    "float": 1.5,
    "text": "x",
    "bytes": b"x",
    "list": [],
    "dict": {},
    "object": object(),
    "array": np.ones(2),
    "-1": -1,
    "3": 3,
    "huge": 1 << 70,
    "truth": True,
    "function": lambda *args: 0,
    "tuple": ("a",),
    "set": {1},
}


def executable() -> vm.Executable:
    """One function that gives what it is given."""
    ib = vm.ExecBuilder()
    with ib.function("f", 1):
        ib.emit_ret(ib.r(0))
    return ib.get()


EXECUTABLE = executable()


def machine() -> vm.VirtualMachine:
    return vm.VirtualMachine(EXECUTABLE)


PLACES: dict[str, tuple[Callable[[Any], Any], set[str]]] = {
    "executable": (vm.VirtualMachine, set()),
    "packed": (lambda v: vm.VirtualMachine(EXECUTABLE, packed=v), {"None", "dict"}),
    "packed function": (lambda v: vm.VirtualMachine(EXECUTABLE, packed={"g": v}), {"function"}),
    "fuel": (lambda v: vm.VirtualMachine(EXECUTABLE, fuel=v), {"None", "3", "huge"}),
    "function": (lambda v: machine()[v], set()),
    "argument": (lambda v: machine()["f"](v), VALUES.keys() - {"huge"}),
    "input": (lambda v: machine().set_input("f", v), VALUES.keys() - {"huge"}),
    "function of inputs": (lambda v: machine().set_input(v, 1), set()),
    "function to invoke": (lambda v: machine().invoke_stateful(v), set()),
    "function of outputs": (lambda v: machine().get_outputs(v), set()),
    "function to save": (lambda v: machine().save_function(v, "h", 1), set()),
    "saved name": (lambda v: machine().save_function("f", v, 1), {"text"}),
    "instrument": (lambda v: machine().set_instrument(v), {"None", "function"}),
    "listing": (vm.Executable.from_text, set()),
    "module": (vm.build, set()),
    "passes": (transform.Sequential, {"list"}),
    "a pass": (lambda v: transform.Sequential([v]), {"function"}),
}
"""What each place does with a value, and the values that it takes."""
REFUSALS = {
    *("expected", "takes", "has no function", "is not an integer of type int64"),
}
"""One of these is in every refusal."""


@pytest.mark.parametrize("place", PLACES)
def test_other_values_are_refused(place: str) -> None:
    call, taken = PLACES[place]
    for name, value in VALUES.items():
        if name in taken:
            call(value)
            continue
        with pytest.raises((TypeError, ValueError, KeyError, vm.RunError)) as refused:
            call(value)
        assert any(words in str(refused.value) for words in REFUSALS), (name, refused.value)
