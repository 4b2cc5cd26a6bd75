"""All commands on one text, in this process: what any of them answers that it must not."""

from __future__ import annotations

import io
import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from types import FrameType

from rlx.commands import build, check, disasm, lower, prove, run, step, why
from rlx.generate.reduce.search import reduced
from rlx.grammar.print.formatting import format_text
from rlx.grammar.read.parser import parse
from rlx.transform.lowering.passes import PassError
from rlx.vm.compilation import STAGES
from tests.vm.agreement import differences

SECONDS = 10
"""How long a command may take."""

STATUSES = {
    "check": (0, 1),
    "run": (0, 1, 2, 3),
    "step": (0, 1, 2, 3),
    "prove": (0, 1, 2, 3),
    "why": (0, 1, 2),
    "lower": (0, 1, 2, 3),
    "build": (0, 1, 2, 3),
    "disasm": (0,),
}
CHECKS = [
    ["--dynamic-checks"],
    ["--format", "json", "--derivations"],
    ["--format", "json", "--types"],
    ["--format", "sarif"],
    ["--format", "github", "--strict"],
    ["--types"],
    ["--diff"],
    ["--spec", "2022"],
    ["--statistics"],
]
"""What check is asked for, at random."""


class Slow(BaseException):
    """A command took too long; no handler of Exception catches it."""


class Enough(BaseException):
    """A reduction has been tried often enough."""


def _too_slow(_: int, frame: FrameType | None) -> None:
    raise Slow(f"in {frame.f_code.co_qualname}" if frame else "")


@contextmanager
def limited(seconds: int = SECONDS) -> Iterator[None]:
    """Raise :class:`Slow` when the body takes longer."""
    before = signal.signal(signal.SIGALRM, _too_slow)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def complaints(text: str, folder: Path, rng: random.Random) -> list[str]:
    """What is wrong with the answers of the commands to a text.

    What the checker refuses, run and step refuse in the same way; they are tried on a tenth of that, as is why on all.
    """
    path = folder / "input.rlx"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    asked = rng.choice(CHECKS)
    tried: list[tuple[str, Callable[[], str | None]]] = [
        (f"check {' '.join(asked)}", lambda: _answered("check", check.main, [*asked, str(path)])),
        ("fmt", lambda: _formatted(text, rng)),
        ("check", lambda: _answered("check", check.main, [str(path)])),
    ]
    found = [problem for name, attempt in tried if (problem := outcome(name, attempt))]
    if not _refused[0] or rng.random() < 0.1:
        backend = "native" if rng.random() < 0.002 else "steps"
        options = [str(path), "--iterations", "3000", "--backend", backend]
        tried = [
            ("run", lambda: _answered("run", run.main, [*options, "--fuel", "3000"])),
            ("step", lambda: _answered("step", step.main, [*options, "--limit", "300"])),
            ("lower", lambda: _lowered(path, rng)),
        ]
        if rng.random() < 0.3:
            tried.append(("build", lambda: _built(path, rng)))
        if not _refused[0] and rng.random() < 0.3:
            tried.append(("agreement", lambda: _disagreed(text, rng)))
        if rng.random() < 0.1:
            tried.append(("reduce", lambda: _reduced(text, rng)))
        found += [problem for name, attempt in tried if (problem := outcome(name, attempt))]
    if rng.random() < 0.1:
        place = f"{path}:{rng.randint(1, text.count(chr(10)) + 1)}"
        if rng.random() < 0.5:
            place += f":{rng.randint(1, 60)}"
        problem = outcome("why", lambda: _answered("why", why.main, [place]))
        found += [problem] if problem else []
    return found


def outcome(name: str, attempt: Callable[[], str | None]) -> str | None:
    """What a command did wrong, its escaped exceptions and its slowness included."""
    start = time.process_time()
    try:
        with limited():
            problem = attempt()
    except Slow as slow:
        # Other processes may hold this one up: only its own time counts.
        if time.process_time() - start < SECONDS / 2:
            return None
        return f"{name}: slow: {slow}"
    except Exception as error:  # noqa: BLE001 - this is what is looked for
        return f"{name}: {type(error).__name__}: {str(error)[:200]} {_place(error)}"
    return f"{name}: {problem}" if problem else None


def _place(error: Exception) -> str:
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    return f"at {Path(last.tb_frame.f_code.co_filename).name}:{last.tb_lineno}" if last else ""


_refused = [False]
"""Whether the last command that was asked found errors."""


def _answered(name: str, main: Callable[[list[str]], int], argv: list[str]) -> str | None:
    out, err = io.StringIO(), io.StringIO()
    before = os.environ.get("RLX_TRACEBACK", "")
    os.environ["RLX_TRACEBACK"] = "1"
    with redirect_stdout(out), redirect_stderr(err):
        try:
            status = main(argv)
        except SystemExit as left:
            status = int(left.code or 0)
        finally:
            os.environ["RLX_TRACEBACK"] = before
    _refused[:] = [status == 1]
    said = out.getvalue() + err.getvalue()
    if status not in STATUSES[name] or "INTERNAL" in said or "Traceback" in said:
        lines = err.getvalue().strip().splitlines()
        return f"status {status}: {' | '.join(lines[-4:])[-400:] or said[-300:]}"
    return None


def proved(goal: str) -> str | None:
    """What is wrong with the prover's answer to a text."""
    return outcome("prove", lambda: _answered("prove", prove.main, ["--", goal]))


def _lowered(path: Path, rng: random.Random) -> str | None:
    stage = rng.choice(STAGES).__name__
    options = ["--to", stage] + ["--legalize"] * (rng.random() < 0.3)
    return _answered("lower", lower.main, [*options, str(path)])


def _disagreed(text: str, rng: random.Random) -> str | None:
    """Where the machine on the source and the virtual machine do not end alike."""
    if len(parse(text).modules) != 1:
        return None
    try:
        return next(differences(text, rng.randrange(1000), stages=rng.random() < 0.2), None)
    except PassError:
        return None


def _built(path: Path, rng: random.Random) -> str | None:
    """Compile for the virtual machine, and if that is done, print and run it."""
    made = path.with_suffix(".rlxexe")
    made.unlink(missing_ok=True)
    options = [str(path), "-o", str(made)] + ["--legalize"] * (rng.random() < 0.2)
    problem = _answered("build", build.main, options)
    if problem or not made.exists():
        return problem
    fuel = ["--fuel", "3000", "--iterations", "3000"]
    return _answered("disasm", disasm.main, [str(made)]) or _answered(
        "run", run.main, [str(made), *fuel]
    )


def _formatted(text: str, rng: random.Random) -> str | None:
    version = rng.choice(("0.16", "0.26", "0.27", "0.27"))
    now = format_text(text, version=version)
    if now.text is None:
        return None if now.complaints else "nothing said"
    again = format_text(now.text, version=version)
    return None if again.text == now.text else f"not what it would write again: {again.complaints}"


def _reduced(text: str, rng: random.Random) -> str | None:
    count = 0

    def interesting(_: str) -> bool:
        nonlocal count
        count += 1
        if count > 40:
            raise Enough
        return count <= 2 or rng.random() < 0.3

    try:
        reduced(text, interesting)
    except Enough:
        pass
    return None
