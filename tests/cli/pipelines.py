"""Pipelines of passes that are no passes of TVM: `rlx bisect` and the instrument watch them in this process."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from random import Random
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from rlx.bisect import process, report, worker
from rlx.tvm.instrument import _Watching
from rlx.tvm.watch import Watch

WORDS = ("add", "float32", "main", "n", "4", "return", "R.nn.relu", "x", "multiply", "int64")
Step = list[str]
"""A pass: its name, what it does, and the words for that."""


class _Ended(BaseException):
    """The process of the pipeline ends."""


RelaxFunction = type("RelaxFunction", (), {"__module__": "tvm.relax.expr"})


def module(text: str, functions: bool = True) -> Any:
    """What an instrument is given: a module that prints itself."""
    held = {"main": RelaxFunction()} if functions else {"k": SimpleNamespace()}
    return SimpleNamespace(functions=held, script=lambda show_meta: text)


def steps(random: Random) -> list[Step]:
    """Passes, some of which do something wrong."""
    ways = ["same", "same", "replace", "replace", "replace", "raise", "die", "kernels", "inner"]
    return [
        [f"P{at}", random.choice(ways), random.choice(WORDS), random.choice(WORDS)]
        for at in range(random.randint(1, 4))
    ]


def _applied(step: Step, text: str) -> str:
    """What a pass makes of a text."""
    _, way, old, new = step
    if way == "raise" and old in text:
        raise ValueError(f"{new}: no {old}")
    if way == "die" and old in text:
        raise _Ended
    return text.replace(old, new, 1) if way in ("replace", "inner") else text


def taken(given: list[Step], text: str, told: worker.Telling) -> None:
    """Take a text through the passes, watched as TVM would have it."""
    told.say(begin=worker.PARSER)
    watching = worker._Instrument(told)
    for step in given:
        name = SimpleNamespace(name=step[0])
        watching.run_before_pass(module(text), name)
        if step[1] == "inner":
            inner = SimpleNamespace(name=f"{step[0]}-inner")
            watching.run_before_pass(module(text), inner)
            watching.run_after_pass(module(text), inner)
        text = _applied(step, text)
        watching.run_after_pass(module(text, step[1] != "kernels"), name)


class _Child:
    """Stands for the process that takes texts through a pipeline."""

    def __init__(self, command: list[str], given: list[Step]) -> None:
        *_, sizes, self.seed = command
        self.sizes, self.given = (
            tuple(map(int, sizes.strip("[]").split(","))) if sizes != "[]" else (),
            given,
        )
        self.records: list[dict[str, Any]] = [{"ready": True}]

    def tell(self, text: str) -> bool:
        """Take a text through."""

        def say(**record: Any) -> None:
            self.records.append(record)

        watch = Watch(self.sizes, int(self.seed))
        with contextlib.suppress(_Ended):
            worker._examine(
                text, lambda t, told: taken(self.given, t, told), worker.Telling(say, watch)
            )
        return True

    def answers(self, patience: float) -> Iterator[dict[str, Any]]:
        """What was said."""
        said, self.records = self.records, []
        return iter(said)

    def ending(self) -> tuple[str, str]:
        """How it ended."""
        return "crash", "exit status 7"

    def close(self) -> None:
        """It ends."""


@contextlib.contextmanager
def installed(given: list[Step]) -> Iterator[None]:
    """With these passes as every pipeline; versions are not those of this place."""

    def child(command: list[str]) -> _Child:
        return _Child(command, given)

    with patch.object(process, "Child", child), patch.object(report, "version", lambda name: "1"):
        yield


def watched(given: list[Step], text: str, stop: bool, sizes: tuple[int, ...]) -> Iterator[str]:
    """What the instrument for TVM's own passes says."""
    watching = _Watching(sizes, stop, 0)
    call: Callable[..., None]
    for step in given:
        for call, made in ((watching.run_before_pass, text), (watching.run_after_pass, "")):
            try:
                text = made or _applied(step, text)
                call(module(text, step[1] != "kernels"), SimpleNamespace(name=step[0]))
            except (RuntimeError, ValueError, _Ended) as error:
                yield f"{type(error).__name__}: {error}"
    yield f"{watching.seen} {list(map(str, watching.problems))}"
