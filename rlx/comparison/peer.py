"""TVM as the other side of a comparison, in a process that it may end."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import ExitStack
from typing import Any, Self

from rlx.comparison.exchange import read, written
from rlx.generate.campaign.child import Child
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.node import replace
from rlx.grammar.print.weights import print_with_weights, stored
from rlx.grammar.processes import python
from rlx.semantics.values import Value
from rlx.writing import scratch, scribble

PATIENCE = 600.0
"""Seconds that one stage of TVM may take."""


class TvmError(Exception):
    """TVM cannot be used, or fails.

    Attributes
    ----------
    stage
        ``"parser"``, ``"build"`` or ``"run"``; empty if TVM is not there.
    """

    def __init__(self, message: str, stage: str = "") -> None:
        super().__init__(message)
        self.stage = stage


class ProbedValue:
    """A value that TVM shows: that of a probe, or the result, whose number is None."""

    def __init__(self, number: int | None, value: Value | None) -> None:
        self.number, self.value = number, value


class TvmProcess:
    """A process that runs programs by TVM's virtual machine."""

    def __init__(self) -> None:
        self._own = ExitStack()
        self.folder = self._own.enter_context(scratch())
        self._child: Child | None = None
        self._number = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process."""
        self._end()
        self._own.close()

    def _end(self) -> None:
        if self._child is not None:
            self._child.close()
            self._child = None

    def stored(self, module: ast.IRModule) -> ast.IRModule:
        """The same program with its large constants in files, which this process reads, too."""
        return stored(module, self.folder)

    def run(
        self, module: ast.IRModule, entry: str, args: Sequence[Value]
    ) -> Generator[ProbedValue, None, None]:
        """Run a function of a program; the values that its probes show, and the result.

        Raises
        ------
        TvmError
            If TVM is not installed, refuses the program, or fails.
        TypeError
            If an argument is a function.
        """
        child = self._running()
        path = self.folder / f"program{self._number + 1}.py"
        named = replace(module, name=module.name or "Module", bare=False)
        scribble(path, print_with_weights(named))
        given = [written(each, self.folder, []) for each in args]
        stage = "parser"
        self._number += 1
        task = {"number": self._number, "text": str(path), "entry": entry, "args": given}
        if child.tell(task):
            for said in child.answers(PATIENCE):
                if said["number"] != self._number:  # of a run that nobody follows any more
                    _value(said.get("value"))
                    continue
                if "raised" in said:
                    raise TvmError(said["raised"], stage)
                stage = said.get("begin", stage)
                if "probe" in said:
                    yield ProbedValue(said["probe"], _value(said["value"]))
                if "returned" in said:
                    yield ProbedValue(None, _value(said["value"]))
                    return
        self._child = None
        _, how = child.ending()
        raise TvmError(f"TVM's process ended ({how})", stage)

    def _running(self) -> Child:
        if self._child is None:
            self._child = Child(python("-m", "rlx.comparison.worker"))
            said = next(self._child.answers(PATIENCE), {})
            if "ready" not in said:
                self._end()
                raise TvmError(said.get("unusable", "TVM's process ended before the first program"))
        return self._child


def _value(made: Any) -> Value | None:
    return None if made is None else read(made, remove=True)
