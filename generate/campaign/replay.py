"""Replay of a finding: TVM repeats its steps in a separate process, and the header's oracle judges
the result.

    python -m rlx.generate.campaign.replay findings/crash/FuseOps-function-in-dataflow.rlx

Steps are divided by `;`:

| step | what is done |
|---|---|
| `read` | TVM's parser reads the program |
| `check` | TVM's `well_formed` |
| `print`, `reread` | TVM prints the module, and reads what it printed |
| `FuseOps`, any other pass | the pass is applied |
| `build` | TVM builds the module for `llvm` |
| `main(x=np.ones((2, 3), "float32"))` | the virtual machine calls the function |
| `ask` | an oracle of the user's own looks at the program; TVM is not needed |

A file that asks an oracle names a function. It is called only if `--oracle` names it, too: a file may be a stranger's.
TVM's parser evaluates Python in programs, so replay only findings that you have read.
"""

from __future__ import annotations

import faulthandler
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rlx.generate.campaign.finding_file import ASK, EntryError, FindingFile, read_entry
from rlx.generate.campaign.known_causes import says
from rlx.generate.campaign.numpy_text import Shape, argument, call_of, evaluate
from rlx.grammar.command_line import CommandParser
from rlx.grammar.streams import say_line

SECONDS = 20.0
"""The seconds that one may take; one that takes longer hangs."""

TOLERANCE = {"float64": 1e-9, "float32": 1e-5, "float16": 1e-2}
"""Relative, and absolute for numbers around 1."""


class ReplaySession:
    """The state that the steps work on.

    Attributes
    ----------
    module, text
        The module after the latest step, and what was printed of it.
    value, given
        What the latest call returned, and its arguments by name.
    """

    def __init__(self, program: str) -> None:
        from rlx.generate.campaign.peer import Peer

        self.peer = Peer()
        self.program = program
        self.module: Any = None
        self.text = ""
        self.difference = ""
        self.value: Any = None
        self.given: dict[str, Any] = {}
        self._executable: Any = None

    def step(self, text: str) -> None:
        """Do one step; raises whatever TVM raises."""
        own: dict[str, Callable[[], None]] = {
            "read": self._read,
            "check": self._check,
            "print": self._print,
            "reread": self._reread,
            "build": self._build,
        }
        if text in own:
            own[text]()
        elif text.endswith(")"):
            name, words = call_of(text)
            self.given = {word: argument(tree) for word, tree in words.items()}
            returned = self._executable[name](*map(self._to_peer, self.given.values()))
            self.value = _copied(returned)
        else:
            self.module = getattr(self.peer.relax.transform, text)()(self.module)

    def _read(self) -> None:
        self.module = self.peer.read(self.program)

    def _check(self) -> None:
        why = self.peer.why_ill_formed(self.module)
        if why:
            raise TVMRefused(why)

    def _print(self) -> None:
        self.text = self.peer.print(self.module)

    def _reread(self) -> None:
        self.difference = self.peer.difference(self.module, self.peer.read(self.text))

    def _build(self) -> None:
        self._executable = self.peer.compiled(self.module)

    def _to_peer(self, value: Any) -> Any:
        if isinstance(value, Shape):
            return self.peer.tvm.runtime.ShapeTuple(list(value))
        if isinstance(value, np.ndarray):
            return self.peer.tvm.runtime.tensor(value)
        if isinstance(value, np.generic):
            return value.item()
        return value


class TVMRefused(Exception):
    """TVM's well_formed refuses a module."""


def _copied(value: Any) -> Any:
    """A value of TVM in NumPy's arrays, tuples and numbers."""
    if hasattr(value, "numpy"):
        return value.numpy().copy()
    if isinstance(value, (bool, int, float, str)):
        return value
    if type(value).__name__ in ("Shape", "ShapeTuple"):
        return Shape(int(size) for size in value)
    return tuple(map(_copied, value))


def missed(entry: FindingFile, own: str = "") -> str:
    """Replay a finding in this process: empty if it happens as recorded, else what happens instead.

    ``own`` is the user's own oracle, the only one that may be imported.
    """
    if own_oracle(entry) not in ("", own):
        return f"not seen: add `--oracle {own_oracle(entry)}` to run this function"
    if entry.see == ASK:
        return _judged_by_rules(entry)
    session = ReplaySession(entry.program)
    steps = [step.strip() for step in entry.see.split(";")]
    if entry.error and not entry.later:
        return _fails(session, steps, entry.error) or _judged(session, entry)
    for step in steps:
        try:
            session.step(step)
        except Exception as error:  # noqa: BLE001 - whatever TVM raises
            return f"{step} fails: {_words(error)}"
    if entry.later:
        later = [step.strip() for step in entry.later.split(";")]
        return _fails(session, later, entry.error) or _judged(session, entry)
    return _judged(session, entry)


def own_oracle(entry: FindingFile) -> str:
    """The function of the user's own that a finding asks; empty if it asks none."""
    words = entry.judge.split(" ")
    return words[1] if len(words) > 1 and ":" in words[1] else ""


def _fails(session: ReplaySession, steps: Sequence[str], words: str) -> str:
    """Whether the last of the steps fails, in those words."""
    *before, last = steps
    for step in before:
        try:
            session.step(step)
        except Exception as error:  # noqa: BLE001 - whatever TVM raises
            return f"{step} fails: {_words(error)}"
    try:
        session.step(last)
    except Exception as error:  # noqa: BLE001 - whatever TVM raises
        said = _words(error)
        return "" if says(words, said) else f"{last} fails with another message: {said}"
    return f"{last} does not fail"


def _judged(session: ReplaySession, entry: FindingFile) -> str:
    """Whether what the steps gave is what the header says."""
    if entry.numpy:
        expected = evaluate(entry.numpy, session.given)
        if same(session.value, expected):
            return f"TVM returns what is expected: {session.value!r}"
    if entry.returns and not same(session.value, evaluate(entry.returns, session.given)):
        return f"TVM returns something else: {session.value!r}"
    if entry.prints:
        made = session.peer.print(session.module)
        if says(entry.prints, entry.program):
            return f"the program itself has {entry.prints!r}"
        if not says(entry.prints, made):
            return f"the module has no {entry.prints!r}: {made}"
    if entry.differs and not session.difference.endswith(entry.differs):
        return f"the first difference is at {session.difference!r}"
    if entry.refuted:
        try:
            evaluate(entry.refuted, session.given)
        except (ValueError, IndexError, TypeError):
            return ""
        return f"NumPy accepts {entry.refuted}"
    if entry.judge:
        said = _judged_by_rules(entry)
        return said or ("the process does not end" if entry.signal else "")
    return "the process does not end" if entry.signal else ""


def _judged_by_rules(entry: FindingFile) -> str:
    """Replay an undecided finding of a campaign: whether our rules still report it."""
    from rlx.generate.campaign.oracles import examine

    _, oracle, seed, stage = entry.judge.split(" ", 3)
    against, what = (
        ("", "the oracle finds nothing") if ":" in oracle else ("tvm", "rlx finds no difference")
    )
    found = examine(oracle, entry.program, int(seed), against, stage)
    return "" if found else f"{what} any more"


def _words(error: Exception) -> str:
    """All that an exception says, on one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())


def same(one: Any, other: Any) -> bool:
    """Whether two values are one: kinds, shapes and types alike, and numbers within
    :data:`TOLERANCE`.
    """
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, tuple) or isinstance(other, tuple):
        return False
    a, b = np.asarray(one), np.asarray(other)
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.dtype.kind not in "fV":
        return bool(np.array_equal(a, b))
    bound = TOLERANCE.get(str(a.dtype), 0.1)
    wide = a.astype(np.float64), b.astype(np.float64)
    return bool(np.allclose(*wide, rtol=bound, atol=bound, equal_nan=True))


def replay(entry: FindingFile, seconds: float = SECONDS, own: str = "") -> str:
    """Do the same as :func:`missed` in a process that is forked: TVM may end it, or hang.

    TVM should be imported already, or each of the processes imports it.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        _in_child(entry, writing, own)
    os.close(writing)
    try:
        said = _read(reading, time.monotonic() + seconds)
        if said is None:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return "" if entry.kind == "hang" else f"no answer within {seconds:.0f} s"
        _, status = os.waitpid(child, 0)
        code = os.waitstatus_to_exitcode(status)
    finally:
        os.close(reading)
    if code < 0:
        name = signal.Signals(-code).name
        return "" if name == entry.signal else f"the process ends with {name}"
    return said


def _read(descriptor: int, deadline: float) -> str | None:
    """The output of a process until it ends; None if it does not end in time."""
    said = b""
    while select.select([descriptor], [], [], max(0.0, deadline - time.monotonic()))[0]:
        more = os.read(descriptor, 1 << 16)
        if not more:
            return said.decode(errors="replace")
        said += more
    return None


def _in_child(entry: FindingFile, writing: int, own: str) -> None:
    faulthandler.disable()
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    try:
        said = missed(entry, own)
    except BaseException as error:  # noqa: BLE001 - a mistake in the header
        said = f"{type(error).__name__}: {error}"
    os.write(writing, said.encode()[: 1 << 15])
    os._exit(0)


def main(argv: Sequence[str]) -> int:
    """See each finding again, and say so; 1 if one is not there any more."""
    parser = CommandParser(
        prog="python -m rlx.generate.campaign.replay", description="Reproduce findings."
    )
    parser.add_argument("path", nargs="+", metavar="PATH", help="a finding")
    parser.add_argument(
        "--oracle", default="", metavar="ORACLE", help="your own oracle, which findings may ask"
    )
    options = parser.parse_args(argv)
    paths: list[str] = options.path
    try:
        entries = [read_entry(Path(path)) for path in paths]
        if any(entry.see != ASK for entry in entries):
            import tvm  # noqa: F401 - processes that are forked have it
            from tvm import relax  # noqa: F401
    except (EntryError, OSError) as error:
        parser.error(str(error))
    except ImportError as error:
        parser.error(f"this needs TVM: install the extra `tvm` ({error})")

    gone = 0
    for path, entry in zip(paths, entries, strict=True):
        said = replay(entry, own=options.oracle)
        gone += bool(said)
        say_line(f"{path}: {said or f'seen: {entry.happens}'}")
    return 1 if gone else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
