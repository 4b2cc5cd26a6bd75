"""Random questions to the prover, as JSON: texts, contexts that change, expressions of TVM, arguments of odd types.

A question in texts is `{"goal", "assume", "lower", "int64", "style"}`; what happens to a context is
`{"types", "int64", "steps"}`, each step a list of a word and its arguments; `{"tvm"}` is a tree of names of nodes.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from random import Random
from typing import Any

from benchmarks.prover.families import HELD_OUT, KNOWN, FamilyQuestion, cases
from benchmarks.prover.random_goals import RandomGoal
from rlx.solver.question_parser import show

NAMES = ("n", "m", "k")
SMALL = (0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 64, 100)
LARGE = (*(255, 128, 127, 1 << 31, (1 << 31) - 1, 1 << 32, (1 << 63) - 1, 1 << 63), 10**30)
INFIX = ("+", "-", "*", "//", "%", "+", "-", "*", "//", "%", "<<", ">>", "&", "|", "^")
COMPARED = ("==", "==", "==", "!=", "<", "<=", ">", ">=")
JOINED = ("and", "or", "&&", "||")
CALLS = {
    **dict.fromkeys(("min", "max", "floordiv", "floormod", "truncdiv", "truncmod", "ceildiv"), 2),
    **dict.fromkeys(("Min", "FloorDiv", "T.floormod", "tir.max", "tvm.tir.truncdiv"), 2),
    **dict.fromkeys(("abs", "likely", "bitwise_not", "popcount", "clz"), 1),
    **dict.fromkeys(("shift_left", "shift_right", "bitwise_and", "bitwise_or", "bitwise_xor"), 2),
}
TYPES = (
    *("int64", "int64", "int32", "int8", "int4", "int1", "uint8", "uint1", "uint32", "uint64"),
    *("bool", "int128", "uint16"),
)
CASTS = (*TYPES, "float32", "handle", "int", "uint5")
LIMITS: tuple[int | None, ...] = (None, None, 0, 1, 2, 3, 7, -1, -4, -1000, 1 << 40, -(1 << 63))


def small(random: Random) -> int:
    """A number, mostly small."""
    return random.choice(LARGE) if random.random() < 0.06 else random.choice(SMALL)


def number(random: Random, depth: int) -> str:
    """The text of an integer."""
    draw = random.random()
    if depth <= 0 or draw < 0.15:
        found = random.choice(NAMES) if random.random() < 0.62 else str(small(random))
        return f"-{found}" if random.random() < 0.1 else found
    below = [number(random, depth - 1) for _ in range(2)]
    if draw < 0.72:
        text = f"{below[0]} {random.choice(INFIX)} {below[1]}"
        return f"({text})" if random.random() < 0.75 else text
    if draw < 0.84:
        name = random.choice(list(CALLS))
        return f"{name}({', '.join(below[: CALLS[name]])})"
    if draw < 0.90:
        name = random.choice(("select", "if_then_else", "T.Select", "T.if_then_else"))
        return f"{name}({condition(random, depth - 1)}, {', '.join(below)})"
    if draw < 0.96:
        kind = random.choice(CASTS)
        inner = below[0] if random.random() < 0.8 else condition(random, depth - 1)
        return f'T.Cast("{kind}", {inner})' if random.random() < 0.2 else f"{kind}({inner})"
    return f"{random.choice(('-', '~', '+', '- -'))}({below[0]})"


def condition(random: Random, depth: int) -> str:
    """The text of a condition."""
    draw = random.random()
    if depth > 0 and draw < 0.3:
        parts = [condition(random, depth - 1) for _ in range(2)]
        if draw < 0.06:
            return f"{random.choice(('not', '!'))} ({parts[0]})"
        if draw < 0.09:
            name = random.choice(("And", "Or", "likely", "Not", "bool", "all", "any"))
            return f"{name}({', '.join(parts[: 1 if name in ('likely', 'Not', 'bool') else 2])})"
        if draw < 0.12:
            return f"select({condition(random, 0)}, {parts[0]}, {parts[1]})"
        return f"({parts[0]}) {random.choice(JOINED)} ({parts[1]})"
    if draw > 0.96:
        return random.choice(("True", "False", "true", "n < m < k", "1 <= n <= 4", "b", "not b"))
    left = number(random, depth)
    return f"{left} {random.choice(COMPARED)} {number(random, random.randint(0, max(depth, 0)))}"


@cache
def _cases() -> list[FamilyQuestion]:
    return [*cases(KNOWN), *cases(HELD_OUT)]


def changed(random: Random, text: str, times: int) -> str:
    """A text with other numbers, names and operators in some places."""
    tokens = text.split(" ")
    for _ in range(times):
        at = random.randrange(len(tokens))
        for old in ("//", "%", "<=", "==", "+", "-", "*", *NAMES, *"0123456789"):
            if old in tokens[at] and random.random() < 0.6:
                new = str(small(random))
                if old in NAMES:
                    new = random.choice(NAMES)
                elif not old.isdigit():
                    new = random.choice(COMPARED if old in COMPARED else INFIX)
                tokens[at] = tokens[at].replace(old, new, 1)
                break
    return " ".join(tokens)


_SLIPS = (
    *"()+-*/%<>=!&|^~,.?:'\"1n ",
    *("1.5", "is", "if", "=>", "=<", "**", "0x1", "1_000", "foo(n)", "numpy.min(n, m)", "min(n)"),
    *("max()", "select(n, 1, 2)", "float32(n)", "handle(n)", "a.b"),
)


def broken(random: Random, text: str) -> str:
    """A text with a character more, less or another, or with what other languages write."""
    at = random.randrange(len(text) + 1)
    new = random.choice(_SLIPS)
    return f"{text[:at]}{new}{text[at + random.randrange(2) :]}"


def _facts(random: Random) -> list[str]:
    common: tuple[Callable[[], str], ...] = (
        lambda: f"{random.choice(NAMES)} % {small(random)} == {random.choice((0, 0, 1, 2))}",
        lambda: f"{random.choice(NAMES)} {random.choice(COMPARED)} {random.choice(NAMES)}",
        lambda: f"{random.choice(NAMES)} {random.choice(COMPARED)} {small(random)}",
        lambda: f"{random.choice(NAMES)} == {number(random, 1)}",
        lambda: condition(random, 1),
        lambda: condition(random, 2),
    )
    return [random.choice(common)() for _ in range(random.choice((0, 0, 0, 1, 1, 2, 3)))]


def _question(random: Random) -> dict[str, Any]:
    """A question in texts."""
    draw = random.random()
    if draw < 0.35:
        case = random.choice(_cases())
        goal, assume = case.goal, list(case.assume)
        if random.random() < 0.6:
            goal = changed(random, goal, random.randint(1, 2))
        if assume and random.random() < 0.4:
            assume[0] = changed(random, assume[0], 1)
    elif draw < 0.6:
        made = RandomGoal(random)
        goal = show(made.condition)
        assume = [show(fact) for fact in made.context.state.facts]
    else:
        goal, assume = condition(random, random.choice((0, 1, 1, 2, 2, 3))), _facts(random)
    asked: dict[str, Any] = {"goal": goal}
    if assume:
        asked["assume"] = assume if random.random() < 0.95 or len(assume) > 1 else assume[0]
    if random.random() < 0.3:
        names = random.sample((*NAMES, *NAMES, "x", "N"), random.randint(1, 2))
        asked["lower"] = {name: random.choice(LIMITS) for name in names}
    if random.random() < 0.35:
        asked["int64"] = True
    return asked


_ODD: tuple[Any, ...] = (
    *(None, True, 3, 2.5, "", "n", "n + 1", "n >= 0", [], ["n >= 0"], [3], [None], {}),
    *({"n": 3}, {"n": "3"}, {"n": True}, {"m": 3.5}, "raw", "split", "purified"),
)


def _odd(random: Random) -> dict[str, Any]:
    """A question with an argument that is no such argument."""
    asked = _question(random)
    asked[random.choice(("goal", "assume", "lower", "int64", "style"))] = random.choice(_ODD)
    return asked


def _steps(random: Random) -> dict[str, Any]:
    """Changes of a context."""
    types = {name: random.choice(TYPES) for name in NAMES if random.random() < 0.4}
    steps: list[list[Any]] = []
    for _ in range(random.randint(1, 7)):
        name, depth = random.choice((*NAMES, "b")), random.choice((0, 1, 1, 2))
        match random.randrange(12):
            case 0 | 1 | 2:
                steps.append(["declare", name, random.choice(LIMITS), random.choice(LIMITS)])
            case 3 | 4:
                steps.append(["assume", random.choice(_facts(random) or ["n >= 1"])])
            case 5 | 6:
                steps.append(["define", name, number(random, depth)])
            case 7:
                steps.append([random.choice(("push", "pop", "copy"))])
            case 8:
                steps.append(["simplify", number(random, 2)])
            case 9 | 10:
                steps.append(["relate", _pairs(random)])
            case _:
                steps.append(["always", condition(random, depth)])
    steps.append(["relate", _pairs(random)])
    steps.append(["always", condition(random, 1)])
    return {"types": types, "int64": random.random() < 0.3, "steps": steps}


def _pairs(random: Random) -> list[list[str]]:
    found = []
    for _ in range(random.choice((1, 1, 2, 3))):
        a = number(random, random.choice((0, 1, 2)))
        b = (
            changed(random, a, 1)
            if random.random() < 0.4
            else number(random, random.choice((0, 1)))
        )
        found.append([a, b] if random.random() < 0.5 else [b, a])
    return found


_TVM_NODES = {
    **dict.fromkeys(("Add", "Sub", "Mul", "FloorDiv", "FloorMod", "Div", "Mod", "Min", "Max"), 2),
    **dict.fromkeys(("EQ", "NE", "LT", "LE", "GT", "GE", "And", "Or", "LShift", "RShift"), 2),
    **dict.fromkeys(("Not", "Cast", "asobject"), 1),
    **dict.fromkeys(("Select", "Call"), 3),
}


def _tvm(random: Random, depth: int) -> list[Any]:
    """A tree of TVM: the name of a node, its type, and its operands, name or value."""
    kind = random.choice((*TYPES, "float32", "handle", ""))
    kind = "int64" if random.random() < 0.6 else kind
    if depth <= 0:
        draw = random.random()
        if draw < 0.6:
            return [random.choice(("Var", "Var", "SizeVar")), kind, random.choice(NAMES)]
        return ["IntImm", kind, random.choice((small(random), -1, -7))]
    if random.random() < 0.03:
        return [random.choice(("FloatImm", "BufferLoad", "int")), kind, 1]
    name = random.choice(list(_TVM_NODES))
    return [name, kind, *(_tvm(random, depth - 1) for _ in range(_TVM_NODES[name]))]


def _of_tvm(random: Random) -> dict[str, Any]:
    name = random.choice(("EQ", "LT", "GE", "And", "Not", "Call", "asobject"))
    goal = [
        name,
        "bool",
        *(_tvm(random, random.choice((0, 1, 2))) for _ in range(_TVM_NODES[name])),
    ]
    assume = [["GE", "bool", _tvm(random, 0), _tvm(random, 1)]] if random.random() < 0.3 else []
    return {"tvm": goal, "assume": [*assume, *(["n >= 1"] if random.random() < 0.3 else [])]}


def question(random: Random) -> str:
    """A question of any kind."""
    draw = random.random()
    if draw < 0.52:
        asked = _question(random)
    elif draw < 0.60:
        asked = _question(random)
        asked["goal"] = broken(random, asked["goal"])
    elif draw < 0.64:
        asked = _odd(random)
    elif draw < 0.94:
        asked = _steps(random)
    else:
        asked = _of_tvm(random)
    return json.dumps(asked)
