"""Requests to the commands and to the facade as texts of JSON, and all that is answered.

Command lines are drawn by `tests.hostile.command_lines`, for small programs and damaged ones; calls of the facade have
arguments of every kind.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import rlx
import rlx.tvm
from rlx.cli import COMMANDS as COMMANDS_OF_RLX
from rlx.cli import relax_check
from rlx.generate.programs import Options, random_module
from rlx.grammar.printer import print_module
from rlx.semantics.outcome import Ended, Returned
from rlx.subject import module_of
from rlx.tvm.watch import Watch
from tests.cli import pipelines
from tests.hostile import every_command, sources
from tests.hostile.command_lines import Given, drawn
from tests.hostile.damage import damaged, tokens
from tests.hostile.every_command import asked
from tests.relay.test_same_answers import TEXTS as RELAY
from tests.values import brief

PROGRAMS = Path(__file__).parent / "programs"
COMMANDS = (
    *["check"] * 8,
    *["run"] * 5,
    *["step"] * 5,
    *["why"] * 4,
    *["prove"] * 4,
    *["relay"] * 5,
    *["fmt"] * 3,
    *["generate", "generate", "lower", "build", "disasm", "disasm", "explain"],
)
SELDOM = ("completion", "reduce")
LINES = (
    *(
        "",
        "-h",
        "--help",
        "--version",
        "chek p.rlx",
        "bisec",
        "relax-check p.rlx",
        "relax-check --strict p.rlx",
    ),
    *(
        "relax-check",
        "relax-check --select WF p.rlx",
        "fuzz --known gone",
        "fuzz --time nan",
        "fuzz --time 5x",
    ),
    *(
        "fuzz --oracle x",
        "fuzz --oracle gone:f",
        "fuzz --oracle os:gone",
        "fuzz --known p.rlx",
        "fuzz --jobs 0",
    ),
    *(
        "fuzz --seed x",
        "fuzz --against tvn",
        "fuzz --oracle json:loads:x",
        "fuzz --dask",
        "lsp p.rlx",
        "check",
    ),
    *(
        "run",
        "run l.rlx",
        "check l.rlx",
        "why l.rlx:1",
        "relay check l.rlx",
        "step gone.rlx",
        "relay run gone",
    ),
    *(
        "check --types p.rlx l.rlx",
        "check --types p.rlx --spec 2022",
        "fmt l.rlx",
        "lower l.rlx",
        "bisect l.rlx",
    ),
    *(
        "bisect gone.rlx",
        "bisect -",
        "reduce gone --test true",
        "disasm gone",
        "explain",
        "completion fish",
    ),
)
"""Lines of their own; the file l.rlx is not UTF-8."""
NO_TEXT = "l.rlx"
LONGEST = 1_500
"""Characters of a program; most are shorter."""

PROJECTS = (
    *("select = ['WF']", "ignore = ['OBL', 'D14-argument']", "strict = true", "selct = ['WF']"),
    *("select = 3", "ignore = ['nonsense']", "exclude = ['p.*']", "allow-operators = ['my.*']"),
)
IGNORES = (
    "  # rlx: ignore[WF02]",
    "  # rlx: ignore",
    "# rlx: ignore-file\n",
    "  # rlx: ignore[nonsense]",
)
CALLS = (
    *("check", "why", "parse", "load", "show", "fmt", "run", "run", "watch", "watch", "module_of"),
    *("instrument", "check_tvm"),
)
VALUES: tuple[object, ...] = (
    *(
        None,
        True,
        0,
        1,
        -1,
        3,
        2.5,
        "",
        "main",
        "p.rlx",
        "gone.rlx",
        "x\ny",
        "nobody",
        "steps",
        "vm",
    ),
    *(
        "0.16",
        "0.27",
        "0.28",
        [1],
        [[1.0, 2.0]],
        {"x": "ones"},
        {"n": 3},
        {"1": 2},
        "ones",
        "." * 99,
    ),
)
KEYWORDS = {
    "why": ("line", "column"),
    "parse": ("name",),
    "load": ("name",),
    "show": ("dialect",),
    "fmt": ("dialect",),
    "run": ("entry", "inputs", "seed", "fuel", "backend", "packed"),
    "watch": ("sizes", "seed"),
    "module_of": ("name",),
}


@cache
def _texts() -> list[str]:
    """Short programs that somebody wrote."""
    own = [path.read_text("utf-8") for path in sorted(PROGRAMS.glob("*.rlx"))]
    return [*own, *(text for text in sources.written() if len(text) <= LONGEST)]


def program(random: Random) -> str:
    """A text of Relax, mostly with damages."""
    if random.randrange(4):
        text = random.choice(_texts())
    else:
        version = random.choice(["0.16", "0.24", "0.26", "0.27", "2022"])
        text = print_module(random_module(random, Options(random.randint(1, 4))), version)
    for _ in range(random.choice([0, 0, 0, 1, 1, 2])):
        text = damaged(text, tokens(text) or [(0, len(text))], random)
    if random.random() < 0.07:
        at = text.find("\n", random.randrange(len(text) or 1))
        text = f"{text[:at]}{random.choice(IGNORES)}{text[at:]}" if at > 0 else text
    return text


def request(random: Random) -> str:
    """A request."""
    match random.random():
        case chance if chance < 0.25:
            return json.dumps(_call(random), ensure_ascii=False)
        case chance if chance < 0.33:
            files = {"p.rlx": program(random)}
            if random.random() < 0.6:
                lines = [random.choice(LINES).split()]
                if lines[0][:1] == ["fuzz"]:  # it may search, if something is wrong
                    lines[0][1:1] = ["--time", "0.1s", "--jobs", "1"]
            else:
                lines = [[random.choice([*COMMANDS_OF_RLX]), "--help"]]
            if "l.rlx" in str(lines):
                files[NO_TEXT] = f"# {random.choice('äöü')}\n{files['p.rlx']}"
            return json.dumps({"files": files, "lines": lines}, ensure_ascii=False)
        case chance if chance < 0.40:
            return json.dumps(_bisected(random), ensure_ascii=False)
    return _drawn(random)


def _bisected(random: Random) -> dict[str, Any]:
    """A program and a pipeline for `rlx bisect`."""
    text = _texts()[random.randrange(len(_texts()))] if random.random() < 0.6 else program(random)
    words = ["bisect", random.choice(["p.rlx", "p.rlx", "p.rlx", "-"])]
    if random.random() < 0.8 or len(text) > 500:
        words.append("--no-reduce")
    for more in (
        ["--format", "json"],
        ["--no-run"],
        ["--sizes", random.choice(["2", "3,1", "0", "x"])],
        [
            "--pipeline",
            random.choice(
                ["zero", "lambda module: module", "relax.transform.FuseOps()", "default"]
            ),
        ],
        ["-o", random.choice(["report.md", "p.rlx", "gone/report.md"])],
        ["--module", random.choice(["Module", "gone"])],
        ["--target", "cuda"],
    ):
        if random.random() < 0.25:
            words += more
    return {"files": {"p.rlx": text}, "steps": pipelines.steps(random), "lines": [words]}


def _drawn(random: Random) -> str:
    """A command line with options."""
    command = random.choice(COMMANDS) if random.random() < 0.97 else random.choice(SELDOM)
    suffix = ".relay" if command == "relay" else random.choice([".rlx"] * 9 + [".py"])
    text = random.choice(RELAY) if command == "relay" else program(random)
    if command == "relay" and random.random() < 0.4:
        text = damaged(text, tokens(text), random)
    with _folder({f"p{suffix}": text}):
        given = Given(Path(f"p{suffix}"), text, Path("."), random)
        lines = [[command, *(word for word in drawn(command, given) if word != "--watch")]]
        if command == "disasm" or (command in ("run", "step") and random.random() < 0.1):
            lines = [
                ["build", f"p{suffix}", "-o", "p.rlxexe"],
                [w.replace("p.rlx", "p.rlxexe") for w in lines[0]],
            ]
        files = {**dict(_written()), f"p{suffix}": text}
    if random.random() < 0.05:
        files["pyproject.toml"] = f"[tool.rlx]\n{random.choice(PROJECTS)}\n"
    made = json.dumps({"files": files, "lines": lines}, ensure_ascii=False)
    return made.encode("utf-8", "replace").decode()


def _call(random: Random) -> dict[str, Any]:
    """A call of the facade, some of whose arguments are of another kind."""
    name = random.choice(CALLS)
    text = program(random)
    given = {key: random.choice(VALUES) for key in KEYWORDS.get(name, ()) if random.random() < 0.4}
    if name == "why" and random.random() < 0.8:
        given["line"] = random.randint(0, text.count("\n") + 2)
    if name == "instrument":
        sizes = random.choice([[], [2], [3, 1]])
        given = {
            "given": pipelines.steps(random),
            "text": text,
            "stop": random.random() < 0.5,
            "sizes": sizes,
        }
    subject = random.choice(
        [text, text, text, "p.rlx", "text of a module", "l.rlx", random.choice(VALUES)]
    )
    other = damaged(text, tokens(text) or [(0, len(text))], random)
    return {
        "call": name,
        "files": {"p.rlx": text},
        "subject": subject,
        "other": other,
        "given": given,
    }


@contextlib.contextmanager
def _folder(files: dict[str, str]) -> Iterator[None]:
    """A new folder with these files, as the current one."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for name, text in files.items():
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            if name == NO_TEXT:
                Path(name).write_bytes(text.encode("latin-1", "replace"))
            else:
                Path(name).write_text(text, "utf-8")
        yield


def _written() -> Iterator[tuple[str, str]]:
    """The files of the current folder that are texts."""
    for path in sorted(Path().rglob("*")):
        if path.is_file():
            with contextlib.suppress(UnicodeDecodeError):
                yield str(path), path.read_text("utf-8")


def answers(request: str) -> Iterator[str]:
    """Exit statuses, what was printed, and the files that are there afterwards."""
    asked_for = json.loads(request)
    passes = pipelines.installed(asked_for.get("steps", []))
    with passes, _folder(asked_for["files"]), patch.dict(os.environ, {"COLUMNS": "100"}):
        if "call" in asked_for:
            yield from _called(**asked_for)
            return
        for words in asked_for["lines"]:
            stdin = next(iter(asked_for["files"].values())).encode("utf-8", "replace")
            own = words[:1] == ["relax-check"]
            with (
                patch.object(every_command, "rlx", relax_check) if own else contextlib.nullcontext()
            ):
                said = asked(words[own:], stdin)
            yield f"{said.status}\n{said.out}\n{said.err}".replace(os.getcwd(), "HERE")
        yield from (f"{name}: {text}" for name, text in _written())
        yield str(sorted(os.listdir()))


def _called(
    call: str, files: dict[str, str], subject: Any, other: str, given: Any
) -> Iterator[str]:
    """What a call of the facade gives, or the error that it raises."""
    if subject == "text of a module":
        with contextlib.suppress(ValueError, SyntaxError):
            subject = rlx.parse(files["p.rlx"])
    if "packed" in given:
        given["packed"] = {"f": given["packed"] if isinstance(given["packed"], bool) else abs}
    printed: list[str] = []
    try:
        if call == "watch":
            yield from _watched(files["p.rlx"], other, **given)
        elif call == "run":
            options = {"fuel": 2_000, "backend": "steps", **given}
            yield _ended(rlx.run(subject, **options, output=printed.append))
        elif call == "instrument":
            yield from pipelines.watched(**given)
        elif call == "check_tvm":
            yield str(rlx.tvm.check(subject))
        elif call == "module_of":
            yield print_module(module_of(subject, **given))
        else:
            found = getattr(rlx, call)(subject, **given)
            yield print_module(found) if call in ("parse", "load") else str(found)
    except (TypeError, ValueError, OSError, SyntaxError) as error:
        yield f"{type(error).__name__}: {error}"
    yield str(printed)


def _ended(found: Any) -> str:
    if isinstance(found, Returned):
        return brief(found.value)
    assert isinstance(found, Ended)
    return f"{found} {found.span} {found.rule} {found.considered}"


def _watched(text: str, other: str, sizes: Any = (), seed: Any = 0) -> Iterator[str]:
    """What is said of two passes: one that changes nothing, and one that makes the other text."""
    numbers = [2, 1] if isinstance(sizes, int) else []
    watch = Watch(numbers, seed if isinstance(seed, int) and seed >= 0 else 0)
    for number, (name, made) in enumerate([("", text), ("A", text), ("B", other), ("C", text)]):
        problem = watch.after(name, made) if number else watch.before(made)
        yield str(problem)
        if problem is not None:
            yield f"{problem.kind} {problem.before}\n{problem.after}\n{problem.report}"
    yield f"{watch.seen} {len(watch.problems)}"
