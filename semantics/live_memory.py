"""The memory of all tensors in runs, and its limit.

A tensor counts from its allocation until nothing refers to its memory any more. Views share the
memory of their base, and count once.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from threading import local
from typing import Any
from weakref import ref

SHARE = 0.8
"""The part of the available memory that tensors may take by default: operators need some, too."""

UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")


class TooMuchMemory(Exception):
    """Tensors would take more memory than they may; the text says how much."""


class LiveMemory:
    """The memory of the tensors that are alive.

    Attributes
    ----------
    limit
        The largest number of bytes.
    live
        The bytes of tensors that are alive.
    """

    __slots__ = ("_held", "limit", "live")

    def __init__(self, limit: int) -> None:
        self.limit, self.live = limit, 0
        self._held: dict[int, tuple[ref[Any], int]] = {}

    @property
    def free(self) -> int:
        """The bytes that are left."""
        return self.limit - self.live

    def require(self, size: int, what: str = "the tensor") -> None:
        """Ask for room for so many bytes. Raises TooMuchMemory if there is none."""
        if self.live + size > self.limit:
            raise TooMuchMemory(
                f"{what} needs {in_words(size)}, {in_words(self.live)} are in use, and the limit is"
                f" {in_words(self.limit)}"
            )

    def hold(self, array: Any) -> None:
        """Count the memory of an array, if it was not counted before."""
        while (base := array.base) is not None and hasattr(base, "nbytes") and base is not array:
            if isinstance(base, memoryview):
                break
            array = base
        key = id(array)
        if key in self._held or not array.nbytes:
            return
        size, held = array.nbytes, self._held

        def gone(_: ref[Any]) -> None:
            if held.pop(key, None) is not None:
                self.live -= size

        held[key] = ref(array, gone), size
        self.live += size

    def take(self, array: Any, what: str = "the result") -> None:
        """Count the memory of a new array, if there is room for it. Raises TooMuchMemory if there
        is none.
        """
        self.hold(array)
        if self.live > self.limit:
            size = array.nbytes
            self.live -= size
            try:
                self.require(size, what)
            finally:
                self.live += size


class _Current(local):
    memory: LiveMemory | None = None


_current = _Current()
_default: list[LiveMemory] = []


def current() -> LiveMemory:
    """The memory of this thread's run; outside of one, that of all tensors of the process."""
    found = _current.memory
    if found is not None:
        return found
    if not _default:
        _default.append(LiveMemory(available()))
    return _default[0]


@contextmanager
def limited(limit: int | None) -> Iterator[LiveMemory]:
    """Limit the memory of the tensors that are made inside. `limit`: bytes; None for what the
    machine has.
    """
    before = _current.memory
    _current.memory = made = LiveMemory(available() if limit is None else limit)
    try:
        yield made
    finally:
        _current.memory = before


def available() -> int:
    """The bytes that tensors may take by default: most of the memory that is available now, to this
    process and to the control groups that it is in.
    """
    found = [_machine(), *_groups()]
    known = [size for size in found if size is not None]
    return int(min(known) * SHARE) if known else 1 << 34


def _machine() -> int | None:
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) << 10
    except (OSError, ValueError):
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # not on every system
        return None


def _groups() -> Iterator[int]:
    """The rest of the limit of each control group around this process."""
    for most, used in _limits():
        limit, now = _number(most), _number(used)
        if limit is not None and now is not None:
            yield max(0, limit - now + _cache(most.parent))


@cache
def _limits() -> list[tuple[Path, Path]]:
    """The files with the limit and the use of each control group that has a limit: a process stays in its groups."""
    found = []
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return []
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if not controllers:  # version 2: the group of the container is the root that it sees
            root, most, used = "/sys/fs/cgroup", "memory.max", "memory.current"
        elif "memory" in controllers.split(","):
            root, most, used = (
                "/sys/fs/cgroup/memory",
                "memory.limit_in_bytes",
                "memory.usage_in_bytes",
            )
        else:
            continue
        group = Path(root + path)
        for folder in (group, *group.parents):
            if len(str(folder)) < len(root):
                break
            if _number(folder / most) is not None:
                found.append((folder / most, folder / used))
    return found


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text())  # "max" where there is no limit
    except (OSError, ValueError):
        return None


def _cache(folder: Path) -> int:
    """Bytes of files in memory, which the system gives up when memory is needed."""
    try:
        for line in (folder / "memory.stat").read_text().splitlines():
            if line.startswith("inactive_file "):
                return int(line.split()[1])
    except (OSError, ValueError):
        pass
    return 0


def in_words(size: int) -> str:
    """A number of bytes, for people: ``1.5 GiB``."""
    number, unit = float(size), 0
    while number >= 1024 and unit + 1 < len(UNITS):
        number, unit = number / 1024, unit + 1
    return f"{number:.4g} {UNITS[unit]}"


def parse(text: str) -> int:
    """The bytes that a text such as ``512M``, ``1.5GiB`` or ``4096`` stands for; a K is 1024.
    Raises ValueError if it is no such text.
    """
    words = text.strip().lower().removesuffix("b").removesuffix("i")
    power = "kmgt".find(words[-1:]) + 1 if words else 0
    number = float(words[:-1] if power else words)
    if not 0 <= number < float("inf"):
        raise ValueError(text)
    return int(number * 1024**power)


def total(dims: Sequence[int], itemsize: int) -> int:
    """The bytes of a tensor."""
    size = itemsize
    for dim in dims:
        size *= dim
    return size


_YOUNG = 200_000
_MIDDLE = 50
_OLD = 1000
"""How many objects, and how many collections of younger ones, a collection waits for."""


@contextmanager
def collecting_less() -> Iterator[None]:
    """Reduce garbage collection during a run, because deep stacks have no cycles."""
    before = gc.get_threshold()
    gc.set_threshold(_YOUNG, _MIDDLE, _OLD)
    try:
        yield
    finally:
        gc.set_threshold(*before)
