"""Command lines at random: :data:`LINES` says of every command how to draw each of its arguments."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

from rlx.checker.explain import codes
from rlx.completion import SHELLS, parser_of
from rlx.generate.programs.plan import FEATURES
from rlx.grammar.dialects import DIALECTS
from rlx.operators.registry import every_name
from rlx.vm.compilation import STAGES

from .damage import damaged, tokens

GOALS = [
    "(n + 3)//4*4 >= n",
    "n % 4 < 4 and n >= 0",
    "(n*4 + 7)//8 == (n + 1)//2 or m != 2",
    "min(n, m) <= max(n, 3)",
    "if_then_else(n > 4, n//2, 2) >= 2",
    "select(n == 0, 1, m//n) * tdiv(n, 3) >= tmod(n, 3) - 2",
    "not (n < m and m < n)",
    "2**3 * n == n*8",
]
STDIN = "-"
GOOD = '@R.function\ndef main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):\n    return x\n'


class Given(NamedTuple):
    """The files that a random command line refers to.

    Attributes
    ----------
    path, text
        The damaged file, and what is in it.
    folder
        Where a command may write.
    """

    path: Path
    text: str
    folder: Path
    rng: random.Random


Draw = Callable[[Given], list[str]]
"""Draws the words of an argument: of an option those behind its name."""


def _choice(*values: str) -> Draw:
    return lambda given: [given.rng.choice(values)]


def _nothing(given: Given) -> list[str]:
    return []


def _word(given: Given) -> list[str]:
    """A name of the text, mostly."""
    places = tokens(given.text[:5_000])
    if not places or given.rng.random() < 0.1:
        return [given.rng.choice(("main", "Module", "nobody", "", "x y", "é", "\udcff"))]
    start, end = given.rng.choice(places)
    return [given.text[start:end].lstrip("-") or "main"]


def _file(given: Given) -> list[str]:
    return [STDIN if given.rng.random() < 0.08 else str(given.path)]


def _only_file(given: Given) -> list[str]:
    return [str(given.path)]


def _files(given: Given) -> list[str]:
    """The file, alone or with others, or the folder that it is in."""
    draw = given.rng.random()
    if draw < 0.8:
        return _file(given)
    good = given.folder / "good.rlx"
    good.write_text(GOOD)
    if draw < 0.9:
        return [
            str(given.path),
            str(good),
            *given.rng.choice(([], [str(given.folder / "missing.rlx")])),
        ]
    return [str(given.folder)]


def _place(given: Given) -> list[str]:
    (path,) = _file(given)
    line = given.rng.choice((given.rng.randint(1, given.text.count("\n") + 1), 0, 10**8))
    column = given.rng.choice(("", "", f":{given.rng.randint(0, 80)}", ":999999999"))
    return [f"{path}:{line}{column}"]


def _codes(given: Given) -> list[str]:
    families = ("WF", "D", "OBL", "PARSE", "E", "SUB", "nonsense", "", ",")
    return [
        ",".join(
            given.rng.choice((*families, *_all_codes())) for _ in range(given.rng.choice((1, 1, 3)))
        )
    ]


@cache
def _all_codes() -> tuple[str, ...]:
    return tuple(codes())


def _code(given: Given) -> list[str]:
    found = given.rng.choice((*_all_codes(), *(f"R.{name}" for name in every_name())))
    return [given.rng.choice((found, found[:-1]))]


def _input(given: Given) -> list[str]:
    """An argument of a run: literals, names of ways to fill, files that are damaged."""
    import numpy as np

    (name,) = _word(given)
    literals = (
        *("rand", "zeros", "ones", "iota", "5", "-1", "nan", "[[1, 2], [3]]", "(5, [1])", "()"),
        *("(", "1e309", ""),
    )
    value = given.rng.choice(
        (*literals, "9223372036854775808", "true", "missing.npy", "file", "archive")
    )
    if value == "file":
        path = given.folder / "given.npy"
        kind = given.rng.choice(("float32", "int64", "bool", "U3", "complex64", "V3", "M8[s]"))
        np.save(path, np.zeros(given.rng.choice(((), (0,), (3,), (2, 3))), kind))
        data = bytearray(path.read_bytes())
        data[given.rng.randrange(len(data))] ^= 1 << given.rng.randrange(8)
        path.write_bytes(bytes(data[: given.rng.choice((len(data), len(data), 30))]))
        value = str(path)
    elif value == "archive":
        path = given.folder / "given.npz"
        np.savez(path, np.zeros(3, "float32"), given.rng.choice((np.zeros(2), np.array([None]))))
        value = str(path)
    return [f"{name}={value}"]


def _goal(given: Given) -> list[str]:
    goal = given.rng.choice(GOALS)
    return [damaged(goal, tokens(goal), given.rng)] if given.rng.random() < 0.9 else _word(given)


def _lower(given: Given) -> list[str]:
    name, value = given.rng.choice("nmk "), given.rng.choice(("0", "-5", "none", "9" * 30, "x", ""))
    return [f"{name}={value}"]


def _own_operators(given: Given) -> list[str]:
    """A module of the user's: what it declares is in order, or it is no module."""
    path = given.folder / "own_operators.py"
    texts = (
        "import rlx\n",
        "import rlx\nrlx.operator(1)\n",
        "raise ValueError('no')\n",
        "def (\n",
        "\x00",
    )
    path.write_text(given.rng.choice(texts))
    return [given.rng.choice((str(path), str(given.folder / "missing.py"), "no_such_module"))]


def _findings(given: Given) -> list[str]:
    """A folder whose only finding is the damaged file."""
    folder = given.folder / "known" / "crash"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "one.rlx").write_bytes(given.path.read_bytes())
    return [str(folder.parent)]


def _out(name: str) -> Draw:
    """A file or folder to write, or one that cannot be written."""

    def draw(given: Given) -> list[str]:
        places = [given.folder / name] * 6 + [
            given.folder,
            given.folder / "missing" / name,
            given.path / name,
        ]
        return [str(given.rng.choice(places))]

    return draw


def _operators(given: Given) -> list[str]:
    return [",".join(given.rng.sample(sorted(every_name()), 2))]


TRUST = {"--trust-config": _nothing, "--isolated": _nothing}
FORMAT = {"--format": _choice("human", "json")}
NUMBER = _choice("0", "1", "7", "4294967296", "99999999999999999999", "-1", "nan", "")
MODULE = {"--module": _word, "--legalize": _nothing}
RUN = {
    "FILE": _file,
    **FORMAT,
    **TRUST,
    "--entry": _word,
    "--input": _input,
    "--inputs": _file,
    "--seed": NUMBER,
    "--iterations": _choice("3000", "3000", "3000", "0", "1", "x"),
    "--memory": _choice("1G", "1G", "512M", "0", "64", "1e300", "-1", "nan", "x", ""),
    "--backend": _choice(*["steps"] * 6, *["vm"] * 6, "native"),
}
LINES: dict[str, dict[str, Draw]] = {
    "check": {
        "--target": _choice("0.27", "0.17", "2022", "0.28", "x", ""),
        "--for": _choice("tvm", "tvm", "tvn", ""),
        "PATH": _files,
        "--format": _choice("human", "json", "sarif", "github"),
        "--strict": _nothing,
        "--select": _codes,
        "--ignore": _codes,
        "--extend-select": _codes,
        "--extend-ignore": _codes,
        "--extend-exclude": _choice("*.py", "x", "", "/", "["),
        "--per-file-ignores": _choice("*:D14", "a:b:WF", ":", "x", "*.rlx:X99"),
        "--exit-zero": _nothing,
        "--show-files": _nothing,
        "--color": _choice("auto", "always", "never", "x"),
        "--unsafe-fixes": _nothing,
        "--add-ignores": _nothing,
        "--output-file": _out("report.txt"),
        "--allow-operator": _choice("my.*", "*", "relax.*", "", "[", "R.foo", "éé"),
        "--operators": _own_operators,
        **TRUST,
        "--fix": _nothing,
        "--diff": _nothing,
        "--watch": _nothing,
        "--stdin-filename": _choice("x.py", "x.rlx", "", "a/b", "é\n"),
        "--statistics": _nothing,
        "--spec": _choice("2022", "2022", "2022", "2021"),
        "--types": _nothing,
        "--dynamic-checks": _nothing,
        "--derivations": _nothing,
        "--explain": _code,
        "--version": _nothing,
    },
    "fmt": {
        "PATH": _files,
        "--dialect": _choice(*DIALECTS, "0.28"),
        "--to": _choice("2022", "0.27"),
        "--width": _choice("100", "40", "1", "0", "-1", "99999999999999999999", "x", ""),
        "--isolated": _nothing,
        "--check": _nothing,
        "--diff": _nothing,
        **FORMAT,
    },
    "prove": {
        "goal": _goal,
        "--assume": _goal,
        "--lower": _lower,
        **FORMAT,
        "--int64": _nothing,
        "--explain": _nothing,
        "--proof": _nothing,
        "--certificate": _out("proof.json"),
        "--smtlib": _nothing,
    },
    "verify-proof": {"FILE": _files, **FORMAT},
    "memory": {
        "FILE": _file,
        "--module": _choice("Module", "Nothing"),
        "--entry": _choice("main", "nowhere", ""),
        "--at": _choice("n=4", "n=4,m=5", "n", "n=-1", "=", "n=99999999999999999999"),
        "--chart": _choice("n=1:8", "n=8:1", "m=1", "n=0:0"),
        "--html": _out("page.html"),
        "--tvm": _nothing,
        **FORMAT,
        **TRUST,
    },
    "refines": {
        "BEFORE": _file,
        "AFTER": _file,
        "--entry": _choice("main", "nowhere", ""),
        "--floats": _choice("bitwise", "real"),
        "--faults": _choice("may vanish", "kept"),
        "--assume": _goal,
        "--contract": _choice(
            "by-name", "bound", "packed", "lifted", "lazy", "sizes", "DecomposeOpsForInference"
        ),
        **FORMAT,
        "--explain": _nothing,
    },
    "diff": {
        "A": _file,
        "B": _file,
        "--floats": _choice("bitwise", "real"),
        "--assume": _goal,
        "--contract": _choice("by-name", "packed", "lifted", "sizes"),
        **FORMAT,
    },
    "run": {
        **RUN,
        "--fuel": _choice("3000", "3000", "3000", "0", "1", "-1"),
        "--out": _out("tensors"),
        "--profile": _nothing,
    },
    "step": {
        **RUN,
        "--limit": _choice("1", "50", "0", "10001", "x"),
        "--rule": _choice("E-call", "e-if", "EV-call", "E-fuel-left", "D14", "nonsense"),
        "--html": _out("page.html"),
    },
    "generate": {
        "--count": _choice("1", "1", "2", "0", "-1", "x"),
        "--seed": NUMBER,
        "--size": _choice("1", "5", "20", "0", "-1"),
        "--dialect": _choice(*DIALECTS, "0.28"),
        "--features": lambda given: [",".join(given.rng.sample(sorted(FEATURES), 3))],
        "--without": lambda given: [",".join(given.rng.sample(sorted(FEATURES), 2))],
        "--operators": _operators,
        "--near": _code,
        "--out": _out("programs"),
        **FORMAT,
    },
    "lower": {
        "FILE": _file,
        "--to": lambda g: [g.rng.choice(STAGES).__name__],
        **MODULE,
        **FORMAT,
        **TRUST,
    },
    "build": {"FILE": _file, "--out": _out("made.rlxexe"), **MODULE, **FORMAT, **TRUST},
    "relay": {
        "ACTION": _choice("check", "to-anf", "to-graph", "to-relax", "run"),
        "FILE": _files,
        **FORMAT,
        "--entry": _word,
        "--input": _input,
        "--seed": NUMBER,
        "--fuel": _choice("3000", "0", "1", "-1"),
    },
    "disasm": {
        "FILE": _only_file,
        "--python": _nothing,
        "--c": _nothing,
        "--stats": _nothing,
        **FORMAT,
    },
    "fuzz": {
        "--memory": _choice("1G", "1G", "512M", "0", "64", "1e300", "-1", "nan", "x", ""),
        "--against": _choice("tvm", "tvn"),
        "--oracle": _choice(
            "check", "derive", "run", "passes", "roundtrip", "refine", "no_such:f", "x"
        ),
        "--time": _choice("0.2s", "0", "nan", "-1s", "1e3", "5x", ""),
        "--jobs": _choice("1", "0", "-1"),
        "--seed": _choice("1", "-7", "99999999999999999999", "x"),
        "--out": _out("campaign"),
        "--known": _findings,
        "--no-reduce": _nothing,
        "--dask": _choice("nonsense", "", "tcp://192.0.2.1:1"),
        "--dask-unencrypted": _nothing,
        **FORMAT,
    },
    "reduce": {
        "FILE": _only_file,
        "--test": _choice("true", "false", "grep -q R", "", "test -s {}"),
        "--output": _out("small.rlx"),
        **FORMAT,
        **TRUST,
    },
    "why": {
        "FILE:LINE[:COLUMN]": _place,
        **FORMAT,
        "--depth": _choice("0", "2", "-1", "99999"),
        "--rules": _nothing,
        **TRUST,
    },
    "bisect": {
        "--memory": _choice("1G", "1G", "512M", "0", "64", "1e300", "-1", "nan", "x", ""),
        "FILE": _file,
        "--module": _word,
        "--pipeline": _choice(
            "zero", "default", "no_such", "1 +", "relax.transform.FuseOps()", "print"
        ),
        "--target": _choice("llvm", "cuda", "no_such", ""),
        "--no-run": _nothing,
        "--no-build": _nothing,
        "--refine": _nothing,
        "--known": _file,
        "--inputs": _file,
        "--entry": _choice("main", "nowhere", ""),
        "--sizes": _choice("2,1", "0", "-1", "", "99999999999999999999"),
        "--no-reduce": _nothing,
        "--seconds": _choice("1", "0", "-1", "nan", "1e309"),
        "--patience": _choice("30", "0", "nan", "x"),
        "--seed": _choice("0", "-1", "99999999999999999999"),
        **FORMAT,
        "--output": _out("report.md"),
    },
    "compare": {
        "FILE": _file,
        "OTHER": _file,
        **FORMAT,
        **TRUST,
        "--entry": _word,
        "--input": _input,
        "--inputs": _file,
        "--seed": NUMBER,
        "--exact": _nothing,
        "--out": _out("cut"),
        "--memory": _choice("1G", "512M", "0", "x", ""),
    },
    "graph": {
        "FILE": _file,
        "OTHER": _file,
        "--module": _choice("Module", "Nothing"),
        "--out": _out("graph.svg"),
        "--format": _choice("dot", "svg", "html", "json", "png"),
        **TRUST,
    },
    "skill": {},
    "lsp": {"--stdio": _nothing, **TRUST},
    "explain": {"CODE": _code, **FORMAT},
    "completion": {
        "SHELL": _choice(*SHELLS, "ksh"),
        "--program": _choice("rlx", "relax-check", "x"),
    },
}

ALWAYS: dict[str, dict[str, list[str]]] = {
    "run": {"--fuel": ["3000"], "--iterations": ["3000"], "--backend": ["steps"]},
    "step": {"--limit": ["300"], "--iterations": ["3000"], "--backend": ["steps"]},
    "relay": {"--fuel": ["3000"]},
    "build": {"--out": ["made.rlxexe"]},
    "reduce": {"--test": ["true"]},
    "fuzz": {"--time": ["0.2s"], "--jobs": ["1"], "--out": ["campaign"]},
    "bisect": {"--seconds": ["1"], "--patience": ["30"]},
}
"""What a line has in any case: limits, and options that a command demands."""


@cache
def arguments_of(command: str) -> dict[str, str]:
    """The kinds of the arguments of a command, `option` or `positional`, by the names in :data:`LINES`."""
    found = {}
    for action in parser_of(command)._actions:
        named = action.option_strings or [
            action.metavar if isinstance(action.metavar, str) else action.dest
        ]
        found[named[-1]] = "option" if action.option_strings else "positional"
    found.pop("--help")
    return found


def drawn(command: str, given: Given) -> list[str]:
    """The words of a command line, with none to three options besides those that it always has."""
    lines, rng = LINES[command], given.rng
    kinds = arguments_of(command)
    options = [name for name, kind in kinds.items() if kind == "option"]
    chosen = rng.sample(options, min(len(options), rng.choice((0, 1, 1, 2, 3))))
    words: list[str] = []
    for name in chosen:
        words += [name, *lines[name](given)]
    for name, value in ALWAYS.get(command, {}).items():
        if name not in chosen:
            there = [str(given.folder / each) if name == "--out" else each for each in value]
            words += [name, *there]
    places = [
        word for name, kind in kinds.items() if kind == "positional" for word in lines[name](given)
    ]
    return [*words, *places] if rng.random() < 0.8 else [*places, *words]
