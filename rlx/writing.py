"""Files that rlx writes. No other module opens a file for writing or makes a folder.

A file is written under a new name in the folder where it belongs, and takes its place in one step.
If the process is killed or the disk is full, the old file or the new one is there, whole. Whoever
planted a link in that folder gains nothing: the new name is unpredictable and exclusive, and a file
that was found by a search is written only inside the folder that was searched.
"""

from __future__ import annotations

import errno
import itertools
import os
import re
import signal
import stat
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple, NoReturn, Protocol

try:
    import fcntl
except ImportError:  # Windows
    _LOCKS = False
else:
    _LOCKS = True

AnyPath = str | os.PathLike[str]

_TEMPORARY = re.compile(r"\.rlx-[0-9a-f]{16}(\.part)?")
"""The names of temporary files and folders: short, since the target's own name may be as long as
names can be, hidden, and of no suffix that a search for programs looks for.
"""
_PIECE = 1 << 20
"""Bytes that are written before signals are looked at."""
READER = 5.0
"""Seconds for which a named pipe waits for a process that reads it."""
_ENDING = [
    getattr(signal, name)
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGXCPU")
    if hasattr(signal, name)
]
"""The signals that end a process, but for those that nothing can hold back."""
_KEPT = ("user.", "system.posix_acl_access", "security.selinux")
"""The extended attributes that a replaced file keeps."""
_OPENS_FOLDERS = os.open in os.supports_dir_fd
"""Whether the system opens folders, and finds files in an open one. Windows does not."""


def _flags(*names: str) -> int:
    """The flags of `os.open` that the system has. None of ours is inherited by other processes."""
    return sum(getattr(os, f"O_{name}", 0) for name in (*names, "BINARY"))


class Sink(Protocol):
    """A file that is being written."""

    def write(self, data: bytes, /) -> int:
        """Write all of the data."""


def write(
    path: AnyPath,
    data: str | bytes,
    *,
    within: Sequence[AnyPath] = (),
    durable: bool = True,
    mode: int | None = None,
) -> None:
    """Write a file as a whole: UTF-8 text, or bytes. The parameters are those of :func:`output`.
    Raises OSError if it cannot be written; the file is then as it was.
    """
    with output(path, within=within, durable=durable, mode=mode) as file:
        file.write(data.encode() if isinstance(data, str) else data)


def rewrite(path: AnyPath, data: bytes, *, within: Sequence[AnyPath] = ()) -> None:
    """Change a file in place: one that exists, and is not a device or a pipe. Raises OSError if it
    cannot be written; the file is then as it was.
    """
    name = os.fspath(path)
    place = _place(name, within)
    if place.special or not os.path.exists(name):
        _refuse(name, "this is not a regular file and cannot be changed in place")
    with _replaced(name, place, durable=True) as file:
        file.write(data)


@contextmanager
def output(
    path: AnyPath,
    *,
    within: Sequence[AnyPath] = (),
    durable: bool = True,
    mode: int | None = None,
) -> Iterator[Sink]:
    """Write a file piece by piece; it appears under its name when the block ends without an error.

    Mode, owner and access lists of an earlier file are kept as far as the system allows. Its other
    hard links keep the old content. If the path is a symbolic link, the file that it points to is
    written. Pipes and devices, such as ``/dev/stdout``, are written directly; a named pipe that no
    process reads is refused after :data:`READER` seconds. Raises OSError if it cannot be written;
    the file is then as it was.

    Parameters
    ----------
    within
        The folders in one of which the file must be, after all links. Empty if the user has named
        the file.
    durable
        Whether the content has to be on the disk before the file takes its place.
    mode
        The mode of the file, whatever an earlier one had; None to keep that, or for what is usual.
    """
    name = os.fspath(path)
    place = _place(name, within)
    if place.special and within:
        _refuse(name, "this is not a regular file")
    with _direct(name) if place.special else _replaced(name, place, durable, mode) as file:
        yield file


def hindrance(path: AnyPath) -> str | None:
    """Why :func:`output` could not write a file, in a few words; None if nothing is known."""
    name = os.fspath(path)
    try:
        place = _place(name, ())
    except OSError as error:
        return error.strerror
    if (place.special or place.found is not None) and not _may(name, os.W_OK):
        return os.strerror(errno.EACCES)
    if place.special:
        return None
    if not os.path.isdir(place.folder):
        return f"there is no directory {os.path.dirname(name) or place.folder}"
    if not _may(place.folder, os.W_OK | os.X_OK):
        if place.found is None:
            return os.strerror(errno.EACCES)
        return f"a new version cannot be put into {place.folder}: {os.strerror(errno.EACCES)}"
    return None


def make_folder(path: AnyPath, *, within: Sequence[AnyPath] = (), mode: int = 0o777) -> Path:
    """Make a folder, and those above it, unless it exists. Raises OSError if it cannot be made, or
    lies outside the folders of ``within``.
    """
    name = os.fspath(path)
    _require_inside(name, os.path.realpath(name), within)
    os.makedirs(name, mode, exist_ok=True)
    return Path(name)


def put_aside(path: AnyPath) -> Path:
    """Add `.damaged` to the name of a file or folder, so that the name is free and nothing is lost.
    Returns the new path.
    """
    first = f"{os.fspath(path)}.damaged"
    names = (first if number == 1 else f"{first}-{number}" for number in itertools.count(1))
    aside = next(name for name in names if not os.path.lexists(name))
    os.replace(path, aside)
    return Path(aside)


def remember(text: str, prefix: str) -> str:
    """Keep a text in a new file of the system's folder for temporary files; the file's path. Raises
    OSError if it cannot be written; no file is then left.
    """
    import tempfile

    descriptor, name = tempfile.mkstemp(".txt", prefix)
    try:
        _Descriptor(descriptor, []).write(text.encode(errors="backslashreplace"))
    except BaseException:
        os.unlink(name)
        raise
    finally:
        os.close(descriptor)
    return name


@contextmanager
def scratch(beside: AnyPath | None = None) -> Iterator[Path]:
    """A folder of this process alone, which ends with the block. `beside`: the folder to make it
    in; None for the system's folder for temporary files. Raises OSError if it cannot be made.
    """
    if beside is None:
        import tempfile

        beside = tempfile.gettempdir()
    with _unwinding():
        _clean(os.fspath(beside))
        path, lock = _scratch(os.fspath(beside))
        try:
            yield Path(path)
        finally:
            _remove(path)
            if lock is not None:
                os.close(lock)


def scribble(path: AnyPath, data: str | bytes) -> None:
    """Write a file of a :func:`scratch` folder, which has no readers yet."""
    file = os.open(path, _flags("WRONLY", "CREAT", "TRUNC", "NOFOLLOW"), 0o666)
    try:
        _Descriptor(file, []).write(data.encode() if isinstance(data, str) else data)
    finally:
        os.close(file)


def erase(path: AnyPath) -> None:
    """Remove a file of a :func:`scratch` folder before the folder goes."""
    os.unlink(path)


# ---------------------------------------------------------------- where a path leads


class _Destination(NamedTuple):
    """The target of a path after all links; ``found`` is the regular file that is there."""

    folder: str
    name: str
    found: os.stat_result | None
    special: bool


def _place(path: str, within: Sequence[AnyPath]) -> _Destination:
    if not path:
        raise OSError(errno.ENOENT, os.strerror(errno.ENOENT), path)
    if os.path.basename(path) in ("", ".", "..") or os.path.isdir(path):
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    real = os.path.realpath(path)
    _require_inside(path, real, within)
    folder, name = os.path.split(real)
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return _Destination(folder, name, None, special=False)
    if _own_descriptor(path) is not None or not stat.S_ISREG(found.st_mode):
        return _Destination(folder, name, None, special=True)
    return _Destination(folder, name, found, special=False)


def _require_inside(path: str, real: str, within: Sequence[AnyPath]) -> None:
    roots = [os.path.realpath(root) for root in within]
    if roots and not any(Path(real).is_relative_to(root) for root in roots):
        folders = " or ".join(os.fspath(root) for root in within)
        _refuse(path, f"a link leads out of {folders}, to {real}; nothing was written there")


def _refuse(path: str, why: str) -> NoReturn:
    raise OSError(errno.EPERM, why, path)


def _may(path: str, how: int) -> bool:
    return os.access(path, how, effective_ids=os.access in os.supports_effective_ids)


def _own_descriptor(path: str) -> int | None:
    """The number of the open file of this process that a path such as ``/dev/stdout`` means.

    To replace the file that a shell has opened for it would leave the shell with the old one.
    """
    for _ in range(40):  # as many links as Linux follows
        folder, name = os.path.split(path)
        folder = os.path.realpath(folder or ".")
        if name.isdecimal() and folder in (f"/proc/{os.getpid()}/fd", "/dev/fd"):
            return int(name)
        try:
            path = os.path.join(folder, os.readlink(os.path.join(folder, name)))
        except OSError:
            return None
    return None


# ---------------------------------------------------------------- writing


class _Descriptor:
    """An open file; ``arrived`` has the signals that were held back, which stop a long write."""

    def __init__(self, number: int, arrived: Sequence[int]) -> None:
        self.number, self.arrived = number, arrived

    def write(self, data: bytes, /) -> int:
        """Write all of the data."""
        left = memoryview(data)
        while left:
            if self.arrived:
                raise KeyboardInterrupt
            left = left[os.write(self.number, left[:_PIECE]) :]
        return len(data)


@contextmanager
def _direct(path: str) -> Iterator[Sink]:
    """A pipe, a device, or a file that this process has open."""
    own = _own_descriptor(path)
    with _about(path):
        if own is not None:
            sys.stdout.flush()
            sys.stderr.flush()
        file = _opened_special(path) if own is None else own
        try:
            if own is None and stat.S_ISREG(os.fstat(file).st_mode):
                _refuse(path, "this was replaced meanwhile")
            yield _Descriptor(file, [])
        finally:
            if own is None:
                os.close(file)


def _opened_special(path: str) -> int:
    """Open a pipe or a device for writing."""
    end = time.monotonic() + READER
    while True:
        try:
            file = os.open(path, _flags("WRONLY", "NOCTTY", "NONBLOCK"))
        except OSError as error:
            if error.errno != errno.ENXIO or not stat.S_ISFIFO(os.stat(path).st_mode):
                raise
            if time.monotonic() > end:
                _refuse(path, "no process reads this named pipe")
            time.sleep(0.05)
            continue
        if hasattr(os, "O_NONBLOCK"):
            os.set_blocking(file, True)
        return file


@contextmanager
def _replaced(
    path: str, place: _Destination, durable: bool, mode: int | None = None
) -> Iterator[Sink]:
    """A new file that takes its place in one step."""
    fresh = place.found is None
    if not fresh and mode is None and not _may(os.path.join(place.folder, place.name), os.W_OK):
        # to replace a file takes no permission to write it
        raise OSError(errno.EACCES, os.strerror(errno.EACCES), path)
    with _about(path), _undisturbed() as arrived, _opened(place.folder) as folder:
        _clean(place.folder)
        temporary, file = _temporary(folder, 0o666 if fresh and mode is None else 0o600)
        try:
            try:
                yield _Descriptor(file, arrived)
                new = os.path.join(place.folder, temporary)
                if mode is not None:
                    _set_mode(file, new, mode)
                elif place.found is not None:
                    _dress(file, new, place.found, os.path.join(place.folder, place.name))
                if durable:
                    _synchronise(file)
                if _LOCKS:  # held until the file has its name, so that nobody removes it
                    folder.replace(temporary, place.name)
            finally:
                os.close(file)
            if not _LOCKS:  # Windows moves no file that is open
                folder.replace(temporary, place.name)
        except BaseException:
            with suppress(OSError):
                folder.unlink(temporary)
            raise


class _Folder:
    """A folder by its path, and by its number if the system opens folders.

    An open folder stays the same one, whatever becomes of the path.
    """

    def __init__(self, path: str, number: int | None) -> None:
        self.path, self.number = path, number

    def _of(self, name: str) -> str:
        return name if self.number is not None else os.path.join(self.path, name)

    def open(self, name: str, flags: int, mode: int) -> int:
        return os.open(self._of(name), flags, mode, dir_fd=self.number)

    def replace(self, name: str, new: str) -> None:
        number = self.number
        os.replace(self._of(name), self._of(new), src_dir_fd=number, dst_dir_fd=number)

    def unlink(self, name: str) -> None:
        os.unlink(self._of(name), dir_fd=self.number)


@contextmanager
def _opened(path: str) -> Iterator[_Folder]:
    number = _open_folder(path) if _OPENS_FOLDERS else None
    try:
        yield _Folder(path, number)
    finally:
        if number is not None:
            os.close(number)


def _open_folder(path: str) -> int:
    """Open a folder by its real path: one on the way that has become a link is not followed."""
    flags = _flags("PATH", "DIRECTORY", "NOFOLLOW")
    if not hasattr(os, "O_PATH"):  # without it, all of them would have to be readable
        return os.open(path, flags)
    number = os.open(os.sep, flags)
    for name in filter(None, path.split(os.sep)):
        try:
            inner = os.open(name, flags, dir_fd=number)
        finally:
            os.close(number)
        number = inner
    return number


@contextmanager
def _about(path: str) -> Iterator[None]:
    """Let errors of the system name the file that was asked for, not the temporary one."""
    try:
        yield
    except OSError as error:
        if error.errno is None or error.filename == path:
            raise
        raise OSError(error.errno, error.strerror, path) from error


def _temporary(folder: _Folder, mode: int) -> tuple[str, int]:
    """A new file in a folder, locked: what is not locked was left by a process that was killed."""
    while True:
        name = f"{_new_name()}.part"
        try:
            file = folder.open(name, _flags("WRONLY", "CREAT", "EXCL", "NOFOLLOW"), mode)
        except FileExistsError:
            continue
        try:
            if _locked(file):
                return name, file
        except BaseException:
            with suppress(OSError):
                folder.unlink(name)
            os.close(file)
            raise
        os.close(file)


def _set_mode(file: int, path: str, mode: int) -> None:
    if hasattr(os, "fchmod"):
        os.fchmod(file, mode)
    else:
        os.chmod(path, mode)


def _dress(file: int, path: str, earlier: os.stat_result, earlier_path: str) -> None:
    """Give a file what an earlier one had besides its content; never more rights than that."""
    own, mode = os.fstat(file), stat.S_IMODE(earlier.st_mode)
    if own.st_uid != earlier.st_uid and not _succeeds(lambda: os.fchown(file, earlier.st_uid, -1)):
        mode &= ~(stat.S_ISUID | stat.S_ISGID)
    if own.st_gid != earlier.st_gid and not _succeeds(lambda: os.fchown(file, -1, earlier.st_gid)):
        mode &= ~(stat.S_ISUID | stat.S_ISGID)
        mode &= ~stat.S_IRWXG | (mode & stat.S_IRWXO) << 3  # another group is anybody
    _set_mode(file, path, mode)
    if hasattr(os, "listxattr"):
        with suppress(OSError):
            for name in filter(lambda name: name.startswith(_KEPT), os.listxattr(earlier_path)):
                os.setxattr(file, name, os.getxattr(earlier_path, name))


def _succeeds(do: Callable[[], None]) -> bool:
    try:
        do()
    except OSError:
        return False
    return True


def _synchronise(file: int) -> None:
    try:
        os.fsync(file)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # some file systems cannot
            raise


# ---------------------------------------------------------------- what killed processes left


_cleaned: set[str] = set()


def _clean(folder: str) -> None:
    """Remove what killed processes of this user have left in a folder, once for each process.

    Without locks it cannot be told from what other processes are writing.
    """
    if folder in _cleaned or not _LOCKS:
        return
    _cleaned.add(folder)
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if _TEMPORARY.fullmatch(entry.name):
                with suppress(OSError):
                    _remove_if_left(entry.path)


def _remove_if_left(path: str) -> None:
    file = os.open(path, _flags("RDONLY", "NOFOLLOW", "NONBLOCK"))
    try:
        found = os.fstat(file)
        if found.st_uid != os.geteuid() or not _lock(file):
            return
        if stat.S_ISDIR(found.st_mode):
            _remove(path)
        elif stat.S_ISREG(found.st_mode):
            os.unlink(path)
    finally:
        os.close(file)


def _locked(file: int) -> bool:
    """Lock a new file or folder; False if another process has taken it for a left one."""
    try:
        own = _lock(file)
    except OSError:
        return True  # there are no locks, so nobody removes anything either
    return own and os.fstat(file).st_nlink > 0


def _lock(file: int) -> bool:
    """Lock a file; False if another process holds the lock. Raises OSError if it cannot be locked
    at all.
    """
    if not _LOCKS:
        raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP))
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _scratch(beside: str) -> tuple[str, int | None]:
    """A new private folder, and the descriptor that holds its lock, if there is one."""
    while True:
        path = os.path.join(beside, _new_name())
        try:
            os.mkdir(path, 0o700)
        except FileExistsError:
            continue
        if not _OPENS_FOLDERS:
            return path, None
        try:
            file = os.open(path, _flags("RDONLY", "DIRECTORY", "NOFOLLOW"))
        except FileNotFoundError:
            continue
        except BaseException:
            _remove(path)
            raise
        try:
            if _locked(file):
                return path, file
        except BaseException:
            _remove(path)
            os.close(file)
            raise
        os.close(file)


def _new_name() -> str:
    return f".rlx-{os.urandom(8).hex()}"


def _remove(folder: str) -> None:
    from shutil import rmtree

    rmtree(folder, ignore_errors=True)


# ---------------------------------------------------------------- signals


@contextmanager
def _undisturbed() -> Iterator[Sequence[int]]:
    """Hold back the signals that end the process, which would leave a temporary file.

    Only the main thread can do so. The signals that arrived are sent again at the end.
    """
    arrived: list[int] = []
    try:
        with _handled(lambda number, _: arrived.append(number)):
            yield arrived
    finally:
        for number in arrived:
            signal.raise_signal(number)


@contextmanager
def _unwinding() -> Iterator[None]:
    """Let the signals that end the process leave the block as an exception first."""
    arrived: list[int] = []

    def stop(number: int, _: object) -> NoReturn:
        arrived.append(number)
        raise SystemExit(128 + number)

    try:
        with _handled(stop, only_default=True):
            yield
    finally:
        for number in arrived:
            signal.raise_signal(number)


@contextmanager
def _handled(
    handler: Callable[[int, object], object], only_default: bool = False
) -> Iterator[None]:
    import threading

    before = {}
    if threading.current_thread() is threading.main_thread():
        for number in _ENDING:
            known = signal.getsignal(number)
            if known is signal.SIG_DFL or (callable(known) and not only_default):
                before[number] = signal.signal(number, handler)
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)
