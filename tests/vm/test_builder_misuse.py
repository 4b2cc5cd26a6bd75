"""LAW: a method of the builder that is given something else than it takes says so, whatever it is."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

from rlx import vm

TEXT = "@T.prim_func(private=True)\ndef d(x: T.handle):\n    T.evaluate(0)\n"
VALUES: dict[str, Any] = {
    "None": None,
    "float": 1.5,
    "NaN": float("nan"),
    "text": "x",
    "empty text": "",
    "bytes": b"x",
    "empty list": [],
    "list": [1],
    "tuple": (1, 2),
    "texts": ("a", "b"),
    "empty dict": {},
    "dict": {"a": 1},
    "object": object(),
    "array": np.ones(2),
    "NumPy integer": np.int64(1),
    "truth": True,
    "function": lambda: 0,
    "0": 0,
    "-1": -1,
    "2": 2,
    "huge": 1 << 70,
    "builder": vm.ExecBuilder(),
}
CONSTANTS = {
    *("None", "float", "NaN", "text", "empty text", "empty list", "list", "tuple", "texts"),
    *("array", "truth"),
}
INTEGERS = {"0", "-1", "2", "huge"}
TAKEN: dict[tuple[str, str], set[str]] = {
    ("add_kernel", "name"): {"text"},
    ("add_kernel", "text"): {"text", "empty text"},
    ("add_operator", "name"): {"text"},
    ("add_operator", "text"): {"text", "empty text"},
    ("add_signature", "name"): {"text"},
    ("add_signature", "text"): {"text", "empty text"},
    ("c", "value"): CONSTANTS | {"NumPy integer", "0"},
    ("emit_call", "name"): {"text"},
    ("emit_call", "args"): {"None", "empty list", "list", "tuple", "texts"},
    ("emit_call", "dst"): {"None"},
    ("emit_constant", "value"): CONSTANTS | {"NumPy integer", "0", "-1", "2"},
    ("emit_goto", "pc_offset"): INTEGERS,
    ("emit_if", "condition"): set(),
    ("emit_if", "false_offset"): INTEGERS,
    ("emit_ret", "result"): set(),
    ("f", "name"): {"text"},
    ("function", "name"): {"text"},
    ("function", "num_inputs"): {"0", "2"},
    ("function", "parameters"): {"empty list", "texts"},
    ("imm", "value"): {"NumPy integer", "0", "-1", "2"},
    ("patch", "position"): {"0"},
    ("patch", "false_offset"): INTEGERS,
    ("r", "number"): {"0", "2"},
}
"""What each parameter takes of the values; a distance out of the function is an error at its end."""


def right(ib: vm.ExecBuilder) -> dict[str, Any]:
    """Arguments that are right."""
    return {
        "name": "g",
        "text": TEXT,
        "value": 0,
        "condition": ib.r(0),
        "result": ib.r(0),
        "false_offset": 1,
        "pc_offset": 1,
        "position": 0,
        "number": 0,
    }


def outcome(method: str, parameter: str, value: Any) -> str:
    """The outcome of a call: `taken`, `refused`, or the name of an error that is none of the builder's."""
    ib = vm.ExecBuilder()
    ib.emit_constant(7)
    ib.emit_constant(8)
    takes = inspect.signature(getattr(vm.ExecBuilder, method)).parameters
    given = {k: v for k, v in right(ib).items() if k in takes}
    made = "taken"
    with suppress(vm.ExecBuildError):  # the function itself is not right
        if method == "function":
            return tried(lambda: whole(ib, {**given, parameter: value}))
        with ib.function("f", 1):
            ib.emit_goto(1)
            made = tried(lambda: getattr(ib, method)(**{**given, parameter: value}))
    return made


def whole(ib: vm.ExecBuilder, given: dict[str, Any]) -> None:
    """A function that is right but for what it is given."""
    if "parameters" in given:
        given["num_inputs"] = 2
    with ib.function(**given):
        ib.emit_call("vm.builtin.null_value", [], ib.r(5))
        ib.emit_ret(ib.r(5))


def tried(call: Callable[[], object]) -> str:
    """The outcome of a call."""
    try:
        call()
    except vm.ExecBuildError:
        return "refused"
    except Exception as error:  # noqa: BLE001 - whatever it is, it is shown
        return f"{type(error).__name__}: {error}"
    return "taken"


def test_every_parameter_is_here() -> None:
    methods = [
        (n, m)
        for n, m in inspect.getmembers(vm.ExecBuilder, inspect.isfunction)
        if not n.startswith("_") and n != "get"  # its parameters are truth values
    ]
    found = {(n, p) for n, m in methods for p in inspect.signature(m).parameters if p != "self"}
    assert found == TAKEN.keys()


@pytest.mark.filterwarnings("ignore::rlx.vm.builder.UnusedInput")
@pytest.mark.parametrize(("method", "parameter"), TAKEN, ids=".".join)
def test_other_values_are_refused(method: str, parameter: str) -> None:
    found = {name: outcome(method, parameter, value) for name, value in VALUES.items()}
    wanted = {name: "taken" if name in TAKEN[method, parameter] else "refused" for name in VALUES}
    assert found == wanted
