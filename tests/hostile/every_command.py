"""Damaged files of every kind through every command, with every option: ``python -m tests.hostile.every_command [COUNT] [SEED]``.

README.md beside this file says what is damaged, how, and what an answer must be like.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import random
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from rlx.checker.driver.sources import decode
from rlx.cli import main as rlx
from rlx.completion import parser_of
from rlx.grammar.processes import BUG
from rlx.grammar.read.parser import parse
from rlx.transform.lowering.passes import PassError
from tests.vm.agreement import differences
from tests.vm.damage import damaged as damaged_executable

from . import editor
from .breakage import broken
from .command_lines import Given, drawn
from .originals import Original, originals
from .processes import Trials

SECONDS = 20
"""Seconds of processor time that a command may take."""

MEMORY = 2 << 30

INTERRUPTED = 130

WARNED = "Warning: "
"""How Python and NumPy begin what they write to users."""

STARTS = frozenset(
    ["subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "pty.spawn"]
)
REACHES = frozenset(
    ["socket.connect", "socket.bind", "ctypes.dlopen", "webbrowser.open", "urllib.Request"]
)
COMPILERS = ("cc", "gcc", "clang", "c++", "g++", "ld", "ldconfig", "objdump", "as", "uname")
PLAIN = {"--version", "--explain", "--diff", "--fix", "--watch", "--show-files"}
"""What prints something else than one report."""

STARTING = ("reduce", "bisect", "fuzz", "lsp", "memory", "compare")
"""The commands that start processes because they are asked to."""

OFTEN = ("check", "fmt", "run", "step", "lower", "build", "why", "lsp")
SELDOM = (
    *("reduce", "disasm", "relay", "prove", "verify-proof", "refines", "diff", "explain"),
    *("generate", "graph", "memory"),
)
HARDLY = ("bisect", "compare", "fuzz", "completion", "skill")

SHARES = {".rlx": 14, ".relay": 3, ".rlxexe": 2, ".py": 1}
"""How many of twenty files have which form."""


class Answer(NamedTuple):
    """The answer of a command: its status and its output."""

    status: int
    out: str
    err: str


class _Slow(BaseException):
    """A command took too long; no handler of Exception catches it."""


@contextmanager
def limited(seconds: float = SECONDS) -> Iterator[None]:
    """Raise in the body when it has taken so much processor time."""

    def stop(_: int, frame: Any) -> None:
        raise _Slow(f"in {frame.f_code.co_qualname}" if frame else "")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@cache
def documented(command: str) -> frozenset[int]:
    """The exit statuses that the help of a command lists."""
    _, _, told = " ".join(parser_of(command).format_help().split()).partition("exit status:")
    numbers = (clause.split()[0] for clause in told.split(";") if clause.split())
    return frozenset(int(number) for number in numbers if number.isdigit()) - {BUG}


_seen: list[str] = []
"""What the interpreter reported since the last command began: processes and connections."""


def _hook(event: str, args: tuple[Any, ...]) -> None:
    if event in STARTS or event in REACHES:
        if event == "ctypes.dlopen" or (event == "socket.connect" and "_ssl" in str(args)):
            return
        what = str(args[0])
        words = args[1] if event == "subprocess.Popen" else ()
        first = (
            os.path.basename(str(words[0]))
            if isinstance(words, list) and words
            else os.path.basename(what)
        )
        if not first.startswith(COMPILERS):
            _seen.append(f"{event} {args!r}"[:200])


_watched: list[bool] = []


def watch_the_interpreter() -> None:
    """From now on know what is started: a hook is for ever, so each process has one."""
    if not _watched:
        sys.addaudithook(_hook)
        _watched.append(True)


def asked(words: list[str], given: bytes = b"") -> Answer:
    """The answer to a command line, in this process.

    Parameters
    ----------
    given
        Standard input.
    """
    out, err = io.StringIO(), io.StringIO()
    stdin = io.TextIOWrapper(io.BytesIO(given), "utf-8")
    _seen.clear()
    with (
        redirect_stdout(out),
        redirect_stderr(err),
        patch.object(sys, "argv", ["rlx", *words]),
        patch.object(sys, "stdin", stdin),
        patch.dict(os.environ, {"RLX_TRACEBACK": ""}),
    ):
        try:
            status = rlx()
        except SystemExit as left:
            status = int(left.code or 0)
    return Answer(status, out.getvalue(), err.getvalue())


def complaint(words: list[str], answer: Answer) -> str | None:
    """The problem with an answer; None if there is none."""
    command, said = words[0], answer.out + answer.err
    last = " | ".join(answer.err.strip().splitlines()[-4:])[-400:]
    if answer.status == BUG or "Traceback (most" in said:
        return f"a bug: {last or answer.out[-400:]}"
    if answer.status not in documented(command):
        return f"status {answer.status} is not documented: {last}"
    if answer.status and not said.strip() and "--output-file" not in " ".join(words):
        return f"status {answer.status} without a word"
    if answer.status == 2 and command != "check" and not answer.err.strip() and command != "relay":
        return "status 2 without a message on stderr"
    if WARNED in said and ".py:" in said.partition(WARNED)[0][-300:]:
        return f"Python warned: {last}"
    if _seen and command not in STARTING:
        return f"started: {_seen[0]}"
    if "json" in words and not PLAIN & {*words} and answer.out and answer.status != 2:
        return _no_json(answer.out)
    return None


def _no_json(text: str) -> str | None:
    """Why a text is not what every reader of JSON reads."""

    def refuse(name: str) -> Any:
        raise ValueError(f"{name} is no JSON")

    try:
        json.loads(text, parse_constant=refuse)
    except ValueError as error:
        return f"not JSON: {error}: {text[:80]!r}"
    return None


class Attempt:
    """The trial of one number: a damaged file, and what the commands say to it.

    Parameters
    ----------
    found
        The files to damage.
    number, seed
        Which trial it is.
    """

    def __init__(self, found: list[Original], number: int, seed: int) -> None:
        self.rng = random.Random(f"{seed}/{number}")
        suffix = self.rng.choices(list(SHARES), list(SHARES.values()))[0]
        same = [each for each in found if each.suffix == suffix]
        self.original = self.rng.choice(same)
        other = self.rng.choice(same if self.rng.random() < 0.8 else found)
        if self.original.suffix == ".rlxexe" and self.rng.random() < 0.8:
            self.kind, self.data = "executable", damaged_executable(self.original.data, self.rng)
        else:
            self.kind, self.data = broken(self.original.text, other.text, self.rng)
        self.lines: Counter[str] = Counter()

    def wrong(self, folder: Path) -> list[str]:
        """The problems with the answers of the commands that are drawn."""
        refused = not self._accepted(folder)
        found = []
        for command in self._commands(refused):
            self.lines[command] += 1
            found += self._one(command, folder)
        if not refused:
            found += self._agreement(folder)
        return found

    def _accepted(self, folder: Path) -> bool:
        """Whether the checker finds no error; what it says wrong is found with the others."""
        if self.original.suffix in (".rlxexe", ".relay"):
            return self.rng.random() < 0.5
        self.lines["check"] += 1
        path = self._written(folder)
        try:
            with limited():
                return asked(["check", str(path)], self.data).status == 0
        except BaseException:  # noqa: BLE001 - check is drawn below, which tells
            return False

    def _commands(self, refused: bool) -> list[str]:
        """The commands to try: what the checker refuses, the others refuse alike."""
        rng, suffix = self.rng, self.original.suffix
        own = {
            ".relay": ["relay"] * 4,
            ".rlxexe": ["run", "step", "disasm"],
            ".py": ["check", "fmt"],
        }
        chance = 0.3 if refused else 0.9
        chosen = [*own.get(suffix, []), "check", "fmt"]
        chosen += [name for name in OFTEN if rng.random() < chance]
        chosen += [name for name in SELDOM if rng.random() < 0.015]
        chosen += [name for name in HARDLY if rng.random() < 0.001]
        return chosen

    def _written(self, folder: Path) -> Path:
        """The damaged file, in a folder with nothing else."""
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        path = folder / f"input{self.original.suffix}"
        path.write_bytes(self.data)
        return path

    def _one(self, command: str, folder: Path) -> list[str]:
        """The problems with the answer of one command."""
        path = self._written(folder)
        given = Given(path, self.data.decode("utf-8", "replace"), folder, self.rng)
        words = [command, *drawn(command, given)]
        shown = " ".join(words).replace(str(folder), "")
        try:
            with limited(), watching_ends(path, self.data):
                if command == "lsp":
                    return [f"lsp: {each}" for each in editor.wrong(given)]
                problem = complaint(words, asked(words, self.data))
        except _Slow as slow:
            problem = f"more than {SECONDS} s: {slow}"
        except MemoryError:
            problem = "more memory than it may need"
        except Exception as error:  # noqa: BLE001 - this is what is looked for
            problem = f"{type(error).__name__}: {str(error)[:200]} {_place(error)}"
        return [f"{shown}: {problem}"] if problem else []

    def _agreement(self, folder: Path) -> list[str]:
        """Differences in how native code, the steps and the virtual machine end."""
        text = decode(self.data, "text")[0].text
        if self.original.suffix != ".rlx" or len(parse(text).modules) != 1:
            return []
        found: list[str] = []
        try:
            with limited(3 * SECONDS):
                if self.rng.random() < 0.6:
                    found += [f"agreement: {each}" for each in differences(text, 7, stages=False)]
                if "prim_func" in text and self.rng.random() < 0.1:
                    found += native_differs(self._written(folder), self.data)
        except PassError:
            pass
        except _Slow as slow:
            found.append(f"agreement: more than {3 * SECONDS} s: {slow}")
        except Exception as error:  # noqa: BLE001 - this is what is looked for
            found.append(f"agreement: {type(error).__name__}: {str(error)[:200]} {_place(error)}")
        return found


def native_differs(path: Path, data: bytes) -> list[str]:
    """Differences between a run with machine code and one by the evaluator."""
    ends = []
    for backend in ("steps", "native"):
        words = ["run", str(path), "--format", "json", "--backend", backend, "--fuel", "3000"]
        answer = asked(words, data)
        if not answer.out:
            return []
        ends.append(json.loads(answer.out))
    one, other = ends
    if {"out of fuel", "unsupported"} & {one["outcome"], other["outcome"]}:
        return []
    keys = ("outcome", "code", "line", "column", "value", "printed")
    return [
        f"steps and native differ: {key}: {one.get(key)} / {other.get(key)}"[:400]
        for key in keys
        if not _near(one.get(key), other.get(key))
    ]


def _near(one: Any, other: Any) -> bool:
    """Whether two values of JSON are the same, numbers with rounding."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_near(one[k], other[k]) for k in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_near, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) <= 1e-4 + 1e-2 * max(abs(one), abs(other))
    return bool(one == other)


def _place(error: BaseException) -> str:
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    return f"at {Path(last.tb_frame.f_code.co_filename).name}:{last.tb_lineno}" if last else ""


@contextmanager
def watching_ends(path: Path, data: bytes) -> Iterator[None]:
    """`check --watch` sees one change, and then Ctrl-C."""
    pauses = 0

    def pause(seconds: float) -> None:
        nonlocal pauses
        pauses += 1
        if pauses > 1:
            raise KeyboardInterrupt
        path.write_bytes(data[: len(data) // 2])

    with patch("rlx.checker.driver.watch.time", type("Clock", (), {"sleep": staticmethod(pause)})):
        yield


def main() -> int:
    """Run; 1 if any answer was not as it must be."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("count", nargs="?", type=int, default=20_000)
    parser.add_argument("seed", nargs="?", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="the number to begin with")
    parser.add_argument("--without-tvm", action="store_true")
    parser.add_argument("--show", action="store_true", help="write the file of --first and stop")
    options = parser.parse_args()
    found = originals(not options.without_tvm)
    if options.show:
        sys.stdout.buffer.write(Attempt(found, options.first, options.seed).data)
        return 0
    kinds = Counter(each.suffix for each in found)
    print(f"{len(found)} files: {dict(kinds)}", flush=True)
    begin = time.monotonic()

    def attempt(number: int, folder: Path) -> list[str]:
        watch_the_interpreter()
        return Attempt(found, number, options.seed).wrong(folder / "trial")

    def told(number: int, problem: str) -> None:
        one = Attempt(found, number, options.seed)
        print(
            f"{number} {one.original.name}{one.original.suffix} ({one.kind}): {problem}", flush=True
        )

    trials = Trials(attempt, told, MEMORY)
    trials.run(range(options.first, options.first + options.count))
    print(f"{trials.summary()}; {time.monotonic() - begin:.0f} s in all")
    return 1 if trials.wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
