"""The time limit of a file's check. The work is done in a process, which can be ended while it
computes in Python or Z3, or waits for a file.
"""

from __future__ import annotations

import os
import pickle
import select
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Generic, TypeVar

from rlx.grammar.nodes.node import Record
from rlx.grammar.processes import BUG, INTERRUPTED, UNABLE, from_outside, seconds_given
from rlx.grammar.streams import complain_line

T = TypeVar("T")

VARIABLE = "RLX_FILE_TIMEOUT"
"""Environment variable: seconds after which a file is given up."""

DEFAULT = 300.0

FORKS = hasattr(os, "fork") and sys.platform != "emscripten"
"""Without processes, the time limit ends the whole command instead of the work on one file."""


class TimeLimitError(Exception):
    """The environment variable is not a number of seconds."""


def seconds(default: float = DEFAULT) -> float:
    """The time that one file may take.

    Raises
    ------
    TimeLimitError
        If the environment variable is not a positive number.
    """
    try:
        return seconds_given(VARIABLE, default)
    except ValueError as error:
        raise TimeLimitError(str(error)) from None


def exceeded(limit: float) -> str:
    """The message for a file that took too long."""
    return f"given up after {limit:g} s"


HELP = f"set {VARIABLE} to a larger number of seconds to allow more time"


class Lost(Record):
    """A file whose process gave no answer.

    Attributes
    ----------
    cause
        ``"late"`` where it was ended because of the time limit; ``"killed"`` where something else
        has ended it; ``"crashed"`` where it failed.
    traceback
        The file with the traceback of the exception that ended the work.
    """

    path: str
    reason: str
    cause: str = "crashed"
    traceback: str | None = None

    @property
    def status(self) -> int:
        """The exit status of the command."""
        return BUG if self.cause == "crashed" else UNABLE

    def __str__(self) -> str:
        """The error message, with advice."""
        if self.cause == "late":
            return f"{self.reason}; {HELP}"
        if self.cause == "killed":
            return self.reason
        evidence = f"the traceback in {self.traceback}" if self.traceback else "the command line"
        return f"this is a bug in rlx: {self.reason}; report it with the file and {evidence}"


def each_limited(
    paths: Sequence[str], work: Callable[[str], T], count: int = 1
) -> Iterator[T | Lost]:
    """Do some work for each path, in processes of their own.

    Results come as they are ready: with a ``count`` of 1 in order of the paths.

    Parameters
    ----------
    work
        What it raises is taken for a mistake of ours. It must be possible to pickle what it
        returns.
    count
        The number of processes.

    Raises
    ------
    TimeLimitError
        If the environment variable is not a positive number.
    """
    limit = seconds()
    return _Crew(paths, work, limit).run(count) if FORKS else _here(paths, work, limit)


def _here(paths: Sequence[str], work: Callable[[str], T], limit: float) -> Iterator[T | Lost]:
    """Do the work in this process; after the limit the whole command ends."""
    for path in paths:
        with _alarm(limit, path):
            made = _done(work, path)
        yield made


def _done(work: Callable[[str], T], path: str) -> T | Lost:
    try:
        return work(path)
    except Exception as error:  # noqa: BLE001 - one file never stops the others
        from rlx.checker.driver.mistakes import keep_traceback

        return Lost(path, f"{type(error).__name__}: {error}", traceback=keep_traceback())


@contextmanager
def _alarm(limit: float, name: str) -> Iterator[None]:
    """End this process if something takes longer than the limit."""
    if sys.platform == "emscripten":  # there are no threads, and no process to end
        yield
        return
    from threading import TIMEOUT_MAX, Timer

    def end() -> None:
        complain_line(f"{name}: {exceeded(limit)}; {HELP}")
        sys.stderr.flush()
        os._exit(UNABLE)

    timer = Timer(min(limit, TIMEOUT_MAX), end)
    timer.daemon = True
    timer.start()
    _alarms.append(timer)
    try:
        yield
    finally:
        timer.cancel()
        _alarms.remove(timer)


class _Crew(Generic[T]):
    """Processes, and the files still to do."""

    def __init__(self, paths: Sequence[str], work: Callable[[str], T], limit: float) -> None:
        self.waiting = list(reversed(paths))
        self.work = work
        self.limit = limit
        self.busy: dict[int, Forked[T]] = {}

    def run(self, count: int) -> Iterator[T | Lost]:
        """The results; the processes end with the iteration."""
        try:
            for _ in range(min(count, len(self.waiting))):
                self._employ(self._new())
            while self.busy:
                yield from self._next()
        finally:
            for worker in self.busy.values():
                worker.end()

    def _new(self) -> Forked[T]:
        return Forked(self.work, self.busy.values())

    def _next(self) -> Iterator[T | Lost]:
        first = min(worker.started for worker in self.busy.values())
        left = max(0.0, first + self.limit - time.monotonic())
        ready = _readable(list(self.busy), min(left, 60.0))
        for number in ready:
            worker = self.busy.pop(number)
            try:
                answer = worker.answer()
            except (EOFError, OSError, pickle.UnpicklingError):
                yield self._replaced(worker, *worker.ended())
                continue
            self._employ(worker)
            yield answer
        limit = time.monotonic() - self.limit
        for number, worker in list(self.busy.items()):
            if worker.started <= limit:
                del self.busy[number]
                worker.end()
                yield self._replaced(worker, exceeded(self.limit), "late")

    def _employ(self, worker: Forked[T]) -> None:
        """Give an idle process the next file, or let it go."""
        if self.waiting:
            worker.give(self.waiting.pop())
            self.busy[worker.answers.fileno()] = worker
        else:
            worker.end()

    def _replaced(self, worker: Forked[T], reason: str, cause: str) -> Lost:
        if self.waiting:
            self._employ(self._new())
        return Lost(worker.path, reason, cause)


class Forked(Generic[T]):
    """A process that works on one file at a time.

    Parameters
    ----------
    work
        As for :func:`each_limited`.
    others
        Other processes of this kind, whose pipes it must not hold open.
    """

    def __init__(self, work: Callable[[str], T], others: Iterable[Forked[T]] = ()) -> None:
        asked, ask = os.pipe()
        answers, answer = os.pipe()
        held, self.life = os.pipe()
        _flush()
        self.process = os.fork()
        if not self.process:
            status = BUG
            try:
                for end in (ask, answers, self.life):
                    os.close(end)
                for other in others:
                    other.close()
                end_with(held)
                _serve(asked, answer, work)
                status = 0
            finally:
                os._exit(status)
        for end in (asked, answer, held):
            os.close(end)
        self.asks = os.fdopen(ask, "wb")
        self.answers = os.fdopen(answers, "rb")
        self.path = ""
        self.started = 0.0

    def give(self, path: str) -> None:
        """Hand it a file."""
        self.path, self.started = path, time.monotonic()
        with suppress(BrokenPipeError):  # it has died, which the next answer shows
            pickle.dump(path, self.asks)
            self.asks.flush()

    def answer(self) -> T | Lost:
        """Read the answer of the process, which has arrived.

        Raises
        ------
        EOFError, OSError, pickle.UnpicklingError
            If the process has ended.
        """
        made: T | Lost = pickle.load(self.answers)
        return made

    def end(self) -> None:
        """End it, and wait until it is gone."""
        with suppress(ProcessLookupError):
            os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
        self.close()

    def ended(self) -> tuple[str, str]:
        """The end of a process that has closed its pipes, and the cause."""
        until = time.monotonic() + 5
        done, status = os.waitpid(self.process, os.WNOHANG)
        while not done and time.monotonic() < until:  # it is on its way out
            time.sleep(0.01)
            done, status = os.waitpid(self.process, os.WNOHANG)
        if not done:
            self.end()
            return "its process closed its pipe", "crashed"
        self.close()
        code = os.waitstatus_to_exitcode(status)
        killed = from_outside(code)
        if killed is not None:
            return killed, "killed"
        how = f"signal {-code}" if code < 0 else f"exit status {code}"
        return f"its process ended with {how}", "crashed"

    def close(self) -> None:
        for end in (self.asks, self.answers):
            with suppress(OSError):
                end.close()
        os.close(self.life)


def _serve(asked: int, answer: int, work: Callable[[str], Any]) -> None:
    """The life of a process: a path in, an answer out, until the other end is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends us
    with os.fdopen(asked, "rb") as asks, os.fdopen(answer, "wb") as answers:
        while True:
            try:
                path = pickle.load(asks)
            except EOFError:
                return
            made = _done(work, path)
            try:
                data = pickle.dumps(made)
            except Exception as error:  # noqa: BLE001 - whatever keeps it from being carried over
                data = pickle.dumps(Lost(path, f"{type(error).__name__}: {error}"))
            answers.write(data)
            answers.flush()


def end_with(pipe: int, group: bool = False) -> None:
    """Let the system end this process when the writing end of a pipe is closed.

    That works while the process is inside Z3, too, where no Python runs.

    Parameters
    ----------
    group
        Whether to end the process group instead.
    """
    with suppress(ImportError, OSError, AttributeError):  # not on every system
        import fcntl

        signal.signal(signal.SIGIO, signal.SIG_DFL)
        fcntl.fcntl(pipe, fcntl.F_SETOWN, -os.getpgrp() if group else os.getpid())
        flags = fcntl.fcntl(pipe, fcntl.F_GETFL)
        fcntl.fcntl(pipe, fcntl.F_SETFL, flags | os.O_ASYNC)
        if select.select([pipe], [], [], 0)[0]:  # it was closed before
            os._exit(1)


def _readable(ends: list[int], timeout: float) -> list[int]:
    """The pipes that can be read, or are closed."""
    watch = select.poll()
    for end in ends:
        watch.register(end, select.POLLIN | select.POLLHUP)
    return [end for end, _ in watch.poll(timeout * 1000)]


def _flush() -> None:
    """Write what is buffered: else a child would write it again."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:  # the caller has closed it
            stream.flush()


_lifts: list[int] = []
"""The pipe to the process that watches a command whose time is limited."""

_alarms: list[Any] = []
"""The same where there is no such process: the timers."""


def lift() -> None:
    """Take away the limit of this command: what follows has limits of its own."""
    while _lifts:
        os.close(_lifts.pop())
    for timer in _alarms:
        timer.cancel()


def supervised(run: Callable[[], int], prog: str) -> int:
    """Run a command that reads one file, in a process of its own that is ended after the limit.

    Returns
    -------
    int
        The exit status. A command that a signal ended ends this process with the same signal.
    """
    try:
        limit = seconds()
    except TimeLimitError as error:
        complain_line(f"{prog}: {error}")
        return UNABLE
    if not FORKS:
        with _alarm(limit, prog):
            return run()
    watched, told = os.pipe()
    held, life = os.pipe()
    _flush()
    child = os.fork()
    if not child:
        status = BUG
        try:
            os.close(watched)
            os.close(life)
            end_with(held)
            _lifts.append(told)
            try:
                status = run()
            except KeyboardInterrupt:  # before the command is there, or behind it
                status = INTERRUPTED
            except SystemExit as stop:  # argparse ends the command in this way
                status = stop.code if isinstance(stop.code, int) else 0
            _flush()
        finally:
            os._exit(status)
    os.close(told)
    os.close(held)

    def interrupt(*_: object) -> None:
        """Leave Ctrl-C to the child, to which a terminal sends it, too; others send it only here."""
        time.sleep(0.2)
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    if before is not signal.SIG_IGN:  # a shell starts what runs in the background so
        signal.signal(signal.SIGINT, interrupt)
    try:
        # the other end is closed by `lift`, or by the end of the process
        late = not _readable([watched], limit) if limit < float("inf") else False
        if late:
            os.kill(child, signal.SIGKILL)
        _, ended = os.waitpid(child, 0)
    finally:
        os.close(watched)
        os.close(life)
        signal.signal(signal.SIGINT, before)
    if late:
        complain_line(f"{prog}: {exceeded(limit)}; {HELP}")
        return UNABLE
    if os.WIFSIGNALED(ended):
        number = os.WTERMSIG(ended)
        if number == signal.SIGKILL:
            complain_line(f"{prog}: {from_outside(-number)}")
            _flush()
        with suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    return os.waitstatus_to_exitcode(ended)
