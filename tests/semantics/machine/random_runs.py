"""Random runs, as texts: a program, and above it in a comment as JSON what it is run with.

`{"entry", "given", "packed", "fuel", "iterations"}`: the function, texts or plain values of its parameters, what its external
functions do, and limits.
"""

from __future__ import annotations

import json
import re
from functools import cache
from random import Random
from typing import Any

import numpy as np

from rlx.checker.check import check_text
from rlx.generate.campaign.programs import program
from rlx.generate.casts.programs import program as of_casts
from rlx.grammar.ast import IRModule
from rlx.grammar.printer import print_module
from rlx.semantics.machine.program import callable_functions
from rlx.transform.lowering.passes import PassError
from rlx.vm.compilation import STAGES
from tests.hostile import sources, swaps
from tests.hostile.damage import damaged, tokens
from tests.tvm.perturb.bases import bases
from tests.tvm.perturb.calls import write

GIVEN: tuple[Any, ...] = (
    *("5", "0", "-1", "3", "2.5", "true", "False", "inf", "-inf", "nan", "rand", "zeros", "ones"),
    *("iota", "[]", "()", "(1,)", "[1, 2]", "[1, 2, 3]", "[[1, 2], [3, 4]]", "[[1], [2, 3]]"),
    *(
        "(1, 2)",
        "([1], 2)",
        "((1, 2), [3.5])",
        "'text'",
        '"float32"',
        "1e400",
        "99999999999999999999",
    ),
    *("missing.npy", "missing.npz", "x", "[1, 'a']", "1 +", "300", "-129", "[true, false]", "None"),
    *(1, 0, -7, 2.5, True, None, [1, 2], [1.5, 2], [[1, 2], [3, 4]], [], ["a"], [True, 1]),
    *(1 << 63, 1e400),
)
KINDS = (
    *("same", "copy", "none", "true", "number", "wide", "float", "text", "shape", "tuple", "list"),
    *("raise", "type", "object", "int8", "scalar", "write", "dtype", "nested"),
)
"""What external functions do: see `outside`."""


def outside(kind: str) -> Any:
    """A function of Python that a program may call."""

    def call(*args: Any) -> Any:
        first = next((arg for arg in args if isinstance(arg, np.ndarray)), None)
        match kind:
            case "same":
                return args[0]
            case "copy":
                return np.array(first)
            case "none":
                if first is not None and len(args) > 1 and isinstance(args[-1], np.ndarray):
                    args[-1][...] = 7
                return None
            case "write":
                for arg in args:
                    if isinstance(arg, np.ndarray) and arg.size:
                        arg.reshape(-1)[0] = 3
                return first
            case "raise":
                raise ValueError(f"no such thing with {len(args)} arguments")
            case "object":
                return {1}
            case "int8":
                return np.int8(5)
            case "scalar":
                return np.float32(2.5)
            case "dtype":
                return np.zeros((2, 2), "float16")
            case "nested":
                return (first, [1, (2.5, None)])
        return _PLAIN[kind]

    return call


_PLAIN: dict[str, Any] = {
    "true": True,
    "number": 3,
    "wide": 1 << 70,
    "float": 2.5,
    "text": "words",
    "shape": (2, 3),
    "tuple": (1, 2.5),
    "list": [4, 4],
    "type": NotImplemented,
}


@cache
def _kept() -> list[str]:
    """Texts that are made once."""
    made = [write(call).module for call in bases(3)]
    return [*sources.written(), *(text for _, text in swaps.texts(1)), *made, *made]


def _lowered(module: IRModule, stages: int) -> str:
    """What some stages of lowering make of a module, as text."""
    try:
        for stage in STAGES[:stages]:
            module = stage()(module)
    except PassError:
        pass
    return print_module(module, "0.27")


_NAME = re.compile(r'call_(?:pure_)?(?:dps_)?packed\(\s*"([^"]+)"|ExternFunc\("([^"]+)"\)')


def run(random: Random) -> str:
    """A program, mostly legal, and what it is run with."""
    match random.randrange(6):
        case 0:
            text = program(random.randrange(1 << 30))[0]
        case 1:
            text = of_casts(random)
        case _:
            text = random.choice(_kept())
    whole = text
    for _ in range(random.choice((0, 0, 1, 1, 2))):
        text = damaged(text, tokens(text) or [(0, len(text))], random)
    report = check_text(text)
    if not report.ok and random.random() < 0.8:
        text, report = whole, check_text(whole)
    if not report.modules:
        return ""
    if report.ok and random.random() < 0.3:
        lowered = _lowered(report.modules[0], random.randint(1, len(STAGES)))
        if check_text(lowered).modules:
            text, report = lowered, check_text(lowered)
    asked: dict[str, Any] = {}
    functions = callable_functions(report.modules)
    if functions and random.random() < 0.6:
        _, function = random.choice([*functions.values()])
        names = [param.name_hint for param in function.params]
        names += [var.name for var in function.shape_vars]
        given = {name: random.choice(GIVEN) for name in names if random.random() < 0.4}
        if random.random() < 0.03:
            given["nobody"] = 1
        asked["given"] = given
    called = sorted({a or b for a, b in _NAME.findall(text)})
    if called and random.random() < 0.8:
        asked["packed"] = {name: random.choice(KINDS) for name in called}
    if random.random() < 0.1:
        asked["fuel"] = random.randrange(12)
    if random.random() < 0.1:
        asked["iterations"] = random.choice((0, 1, 5, 20))
    return f"# {json.dumps(asked)}\n{text}" if asked else text
