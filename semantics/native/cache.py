"""The private directory of compiled kernels.

What lies in it is loaded into the process, so it must belong to the user and be not writable by
other users; the same holds for each file. Files appear under their final name complete or not at
all.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from rlx.spec.registry import refuted, rule


class NoCompiler(Exception):
    """There is no C compiler, it does not work, or there is nowhere to keep what it makes."""

    code = "E-native-compiler"


class UntrustedCache(NoCompiler):
    """The cache directory, or a file in it, could have been written by another user."""

    code = "E-native-cache-private"


def distrust(message: str) -> NoReturn:
    """Refuse what could have been written by another user."""
    refuted(UntrustedCache.code)
    raise UntrustedCache(message)


def directory() -> Path:
    """The cache directory, created if need be: ``$RLX_CACHE``, or ``rlx/native`` under
    ``$XDG_CACHE_HOME``.

    Raises
    ------
    UntrustedCache
        If it exists and is not the user's own, private directory.
    """
    own = os.environ.get("RLX_CACHE")
    if own:
        path = Path(own).absolute()
    else:
        home = os.environ.get("XDG_CACHE_HOME", "")
        base = Path(home) if os.path.isabs(home) else Path.home() / ".cache"
        path = base / "rlx" / "native"
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        path.mkdir(mode=0o700)
    except FileExistsError:
        pass
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode):
        distrust(f"{path} is not a directory")
    _verify(path, found)
    return path


def _verify(path: Path, found: os.stat_result) -> None:
    if found.st_uid != os.geteuid():
        distrust(f"{path} belongs to another user")
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        distrust(f"{path} can be written by others")


@rule("E-native-cache", "0faa2c38", "native code")
def obtain(name: str, make: Callable[[Path], None]) -> Path:
    """The file ``name`` of the cache; if there is none, ``make`` writes it to the path it is given.

    Runs that make the same file at the same time each make their own, and the last one stays.
    """
    folder = directory()
    path = folder / name
    try:
        found = path.lstat()
    except FileNotFoundError:
        pass
    else:
        if not stat.S_ISREG(found.st_mode):
            distrust(f"{path} is not a plain file")
        _verify(path, found)
        return path
    with tempfile.TemporaryDirectory(prefix="making-", dir=folder) as made:
        scratch = Path(made) / name
        make(scratch)
        os.chmod(scratch, 0o700)
        os.replace(scratch, path)
    return path
