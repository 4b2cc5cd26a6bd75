"""The process that runs a pipeline on programs; a lost process is replaced."""

from __future__ import annotations

import os
from typing import Any, Self

from rlx.bisect.blame import Blame, Fine, Pipeline
from rlx.bisect.worker import OURS
from rlx.generate.campaign.child import Child
from rlx.grammar.processes import OUTSIDE, python

PATIENCE = 120.0
"""Seconds that one pass may take."""


TRIES = 2
"""The most examinations of a program whose process was ended from outside."""


class UnusableError(Exception):
    """The pipeline cannot be had: TVM is not installed, or the expression gives no pass."""


class Process:
    """Takes one program after the other through a pipeline. `patience`: seconds that one pass may
    take.
    """

    def __init__(self, pipeline: Pipeline, patience: float = PATIENCE) -> None:
        options = [] if pipeline.memory is None else ["--memory", str(pipeline.memory)]
        options += [] if pipeline.weights is None else ["--weights", pipeline.weights]
        options += [] if pipeline.known is None else ["--known", pipeline.known]
        options += ["--build"] if pipeline.build else []
        options += ["--refine"] if pipeline.refine else []
        options += [] if pipeline.inputs is None else ["--inputs", os.path.abspath(pipeline.inputs)]
        options += [] if pipeline.entry is None else ["--entry", pipeline.entry]
        self.command = [
            *python("-m", "rlx.bisect.worker", *options, "--"),
            *(pipeline.expression, pipeline.target),
            *(",".join(map(str, pipeline.sizes)), str(pipeline.seed)),
        ]
        self.patience = patience
        self._process: Child | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def examine(self, text: str) -> Blame | Fine:
        """The first pass that does something wrong; what was seen where all goes well. Raises
        UnusableError if there is no such pipeline, or no TVM, or others end the process.
        """
        how = ""
        for _ in range(TRIES):
            found = self._once(text)
            if isinstance(found, Fine) or found.cause not in OUTSIDE:
                return found
            how = found.cause
        raise UnusableError(f"the worker process was ended from outside ({how})")

    def _once(self, text: str) -> Blame | Fine:
        process = self._running()
        way = _Way()
        if process.tell(text):
            for said in process.answers(self.patience):
                if "fine" in said:
                    refined = tuple(map(tuple, said["refined"]))
                    skipped, known = tuple(said["not_compared"]), tuple(said["known"])
                    return Fine(said["fine"], skipped, known, refined)
                if "problem" in said:
                    return way.problem(said)
                if "raised" in said:
                    return way.raised(said)
                way.note(said)
        return self._lost(process, way)

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.close()
            self._process = None

    def _running(self) -> Child:
        if self._process is None:
            self._process = Child(self.command)
            said = next(self._process.answers(PATIENCE), {})
            if "ready" not in said:
                self.close()
                why = "the worker process ended before the first pass"
                raise UnusableError(said.get("unusable", why))
        return self._process

    def _lost(self, process: Child, way: _Way) -> Blame | Fine:
        """The process died, or does not answer."""
        self._process = None
        kind, how = process.ending()
        if way.under_way == OURS and how not in OUTSIDE:
            # nothing about a pass
            return Fine(0, (f"the check or the run of rlx itself ended with {how}",))
        return Blame(way.under_way, kind, how, how, tuple(way.done), way.text)


class _Way:
    """The progress of a program."""

    def __init__(self) -> None:
        self.open: list[str] = []
        self.done: list[str] = []
        self.text = ""
        self.ours = False

    @property
    def under_way(self) -> str:
        """The innermost pass that has begun and not ended."""
        return OURS if self.ours else self.open[-1] if self.open else "TVM's parser"

    def note(self, said: dict[str, Any]) -> None:
        """Take in what is under way."""
        if "text" in said:
            self.text = said["text"]
        elif "end" in said:
            self.ours = False
            self.open.remove(said["end"])
            self.done.append(said["end"])
        elif "begin" in said:
            self.ours = said["begin"] == OURS
            if not self.ours:
                self.open.append(said["begin"])

    def problem(self, said: dict[str, Any]) -> Blame:
        """The problem that the checker, or a run, has found."""
        name, kind, cause = said["problem"], said["kind"], said["cause"]
        message, before, after = said["message"], said["before"], said["after"]
        return Blame(name, kind, cause, message, tuple(self.done), before, after)

    def raised(self, said: dict[str, Any]) -> Blame:
        """An error that a pass raised."""
        name, message = self.under_way, said["message"]
        return Blame(name, "raises", said["raised"], message, tuple(self.done), self.text)
