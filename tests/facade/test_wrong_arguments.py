"""The facade answers any argument, or says in its own words what it takes."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import rlx
from rlx.operators.external import OperatorsError

ROOT = Path(__file__).parents[2]
TEXT = '@R.function\ndef main(x: R.Tensor((2,), "float32")):\n    return x\n'


class Stranger:
    """An object that nothing expects."""


VALUES: list[Any] = [
    *(None, True, 0, 3, -1, 10**40, 2.5, float("nan"), 1j),
    *(b"", b"\xff", "", " ", "\n", "\0", "x", "😀", "mai", "nativ", "@R.function\ndef f(", "n >"),
    *([], [None], [1], ["n >"], (), {}, {"a": 1}, {1: 2}, {"n": "q"}, {"n": -1}, {"n": None}),
    *({1}, range(2), object(), Stranger(), Stranger, len, ROOT, ROOT / "missing.rlx"),
    *(str(ROOT), "missing.rlx", rlx.parse(TEXT), rlx.prove("n >= 0")),
]
CALLS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "check": (rlx.check, {"subject": TEXT}),
    "parse": (rlx.parse, {"text": TEXT, "name": None}),
    "load": (rlx.load, {"subject": TEXT, "name": None}),
    "show": (rlx.show, {"subject": TEXT, "dialect": "0.27"}),
    "fmt": (rlx.fmt, {"subject": TEXT, "dialect": "0.27"}),
    "why": (rlx.why, {"subject": TEXT, "line": 3, "column": None}),
    "prove": (rlx.prove, {"goal": "n >= 0", "assume": [], "lower": None, "int64": False}),
    "run": (
        rlx.run,
        {"subject": TEXT, "entry": "main", "inputs": None, "packed": None, "seed": 0}
        | {"fuel": None, "memory": None, "backend": "steps", "output": print, "overwrite": False},
    ),
    "operator": (rlx.operator, {"name": "my.own", "pure": True, "calls": "", "compute": None}),
    "dim": (rlx.dim, {"text": "n", "scope": None}),
    "const": (rlx.const, {"value": 1, "dtype": None}),
    "Var": (rlx.Var, {"name": "x", "struct_info": None, "dtype": None}),
}


def cases() -> Iterator[tuple[str, str]]:
    for name, (_, arguments) in CALLS.items():
        for argument in arguments:
            yield name, argument


def test_every_argument_is_tried() -> None:
    for name, (call, arguments) in CALLS.items():
        assert arguments.keys() == inspect.signature(call).parameters.keys(), name


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("name", "argument"), list(cases()))
def test_what_is_no_such_argument_is_refused_in_words(name: str, argument: str) -> None:
    call, arguments = CALLS[name]
    for value in VALUES:
        try:
            answer = call(**{**arguments, argument: value})
        except (TypeError, ValueError, OSError, rlx.ParseError, OperatorsError) as error:
            _said(error, value)
        else:
            assert not isinstance(answer, rlx.Outcome) or "Stuck" not in repr(answer), value


def _said(error: Exception, value: object) -> None:
    """Whether the message is for the caller, not left over from what happened inside."""
    raised = traceback.extract_tb(error.__traceback__)[-1]
    line = raised.line or ""
    assert isinstance(error, OSError) or "raise " in line, (value, error, raised)


class TestInstrument:
    """The instrument for TVM's passes takes its arguments as strictly."""

    @pytest.mark.parametrize("argument", ["run", "sizes", "stop", "seed"])
    def test_what_is_no_such_argument_is_refused_in_words(self, argument: str) -> None:
        pytest.importorskip("tvm")
        for value in VALUES:
            try:
                rlx.tvm.Instrument(**{argument: value})
            except (TypeError, ValueError) as error:
                _said(error, value)

    def test_sizes_are_numbers_whether_anything_runs_or_not(self) -> None:
        pytest.importorskip("tvm")
        for value in VALUES:
            good = type(value) is int and value >= 0
            for sizes in ([value], (3, value), [value, 3]):
                for run in (False, True):
                    try:
                        rlx.tvm.Instrument(sizes=sizes, run=run)
                    except (TypeError, ValueError) as error:
                        assert not good, value
                        _said(error, value)
                    else:
                        assert good, value
