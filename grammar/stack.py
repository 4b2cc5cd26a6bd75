"""Room for deeply nested programs: Python's recursion limit, and the stack of the thread.

Programs may be nested thousands of levels deep. C code of Python recurses on them (comparison,
hashing, pickling), and threads may have a stack of 128 KiB (musl) or of whatever the program around
rlx sets; when it overflows, the process dies.
"""

from __future__ import annotations

import contextvars
import sys
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from functools import partial, wraps
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

FRAMES = 50_000
"""The recursion limit for the deepest texts."""

ENOUGH = 7 << 20
"""Bytes of a stack that hold everything below the recursion limit."""

STACK = 64 << 20
"""The stack of a thread that is started for deep programs. Only what is used takes memory."""


class StackError(RuntimeError):
    """The stack of a thread is too small, and no other thread can be started."""


class _Rooms:
    """The number of blocks that need the higher recursion limit: it holds for all threads together."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.open = 0
        self.before = 0


_rooms = _Rooms()


@contextmanager
def recursion_room(frames: int = FRAMES) -> Iterator[None]:
    """Raise Python's recursion limit to the nesting limit of texts inside the ``with``
    statement.
    """
    with _rooms.lock:
        if not _rooms.open:
            _rooms.before = sys.getrecursionlimit()
        _rooms.open += 1
        sys.setrecursionlimit(max(sys.getrecursionlimit(), frames))
    try:
        yield
    finally:
        with _rooms.lock:
            _rooms.open -= 1
            if not _rooms.open:
                sys.setrecursionlimit(_rooms.before)


def finished(first: Generator[Any, Any, T]) -> T:
    """The value of a generator that yields the generators for whose values it waits.

    They are kept on a list, so that a program may call as deep as memory allows.
    """
    stack: list[Generator[Any, Any, Any]] = [first]
    sent: Any = None
    while True:
        try:
            inner = stack[-1].send(sent)
        except StopIteration as end:
            stack.pop()
            sent = end.value
            if not stack:
                value: T = sent
                return value
        else:
            stack.append(inner)
            sent = None


class _Thread(threading.local):
    enough: bool | None = None


_here = _Thread()
_starting = threading.Lock()


def roomy(function: Callable[P, T]) -> Callable[P, T]:
    """Give a function room for deep programs: Python's recursion limit is raised, and if the stack
    of the thread is small, the function runs in a thread with a larger one.

    Raises
    ------
    StackError
        When it is called, if such a thread is needed and cannot be started.
    """

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        with recursion_room():
            if _enough():
                return function(*args, **kwargs)
            return _elsewhere(partial(function, *args, **kwargs))

    return call


def _enough() -> bool:
    """Whether the stack of this thread is large."""
    if _here.enough is None:
        main = threading.current_thread() is threading.main_thread()
        size = _most_of_main() if main else _stack_size()
        _here.enough = size is not None and size >= ENOUGH
    return _here.enough


def _most_of_main() -> float:
    """The bytes to which the system lets the main thread's stack grow."""
    try:
        import resource
    except ImportError:  # Windows
        return float("inf")
    soft, _ = resource.getrlimit(resource.RLIMIT_STACK)
    return float("inf") if soft == resource.RLIM_INFINITY else soft


def _stack_size() -> int | None:
    """The bytes of this thread's stack; None where the system does not tell."""
    if not sys.platform.startswith("linux"):
        return None
    import ctypes

    try:
        library = ctypes.CDLL(None)
        library.pthread_self.restype = ctypes.c_void_p
        attributes = ctypes.create_string_buffer(256)
        thread = ctypes.c_void_p(library.pthread_self())
        if library.pthread_getattr_np(thread, attributes):
            return None
        start, size = ctypes.c_void_p(), ctypes.c_size_t()
        found = library.pthread_attr_getstack(attributes, ctypes.byref(start), ctypes.byref(size))
        library.pthread_attr_destroy(attributes)
    except (AttributeError, OSError):
        return None
    return None if found else size.value


def _elsewhere(function: Callable[[], T]) -> T:
    """Call a function in a thread with a large stack."""
    result: list[Any] = []
    raised: list[BaseException] = []

    def work() -> None:
        _here.enough = True
        try:
            result.append(function())
        except BaseException as error:  # noqa: BLE001 - raised again by the caller
            raised.append(error)

    thread = threading.Thread(target=contextvars.copy_context().run, args=(work,), daemon=True)
    with _starting:  # the size is that of all threads that are started
        before = threading.stack_size(STACK)
        try:
            thread.start()
        except RuntimeError as error:
            raise StackError(
                "the stack of this thread is too small for rlx, and no thread with a stack of"
                f" {STACK >> 20} MiB can be started: {error}; call rlx from a thread with a stack"
                f" of {ENOUGH >> 20} MiB (threading.stack_size)"
            ) from None
        finally:
            threading.stack_size(before)
    thread.join()
    if raised:
        raise raised[0]
    found: T = result[0]
    return found
