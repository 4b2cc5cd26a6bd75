"""The programs that a compiler's driver runs, started without the driver, and without the linker
where :mod:`rlx.semantics.native.link` can do its work.

The driver and the linker each take a sixth of the compile time of a small kernel.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
from functools import cache
from pathlib import Path

from rlx.semantics.native.link import library

Command = tuple[str, ...]

_SOURCE, _ASSEMBLY, _OBJECT, _LIBRARY = "kernel.c", "kernel.s", "kernel.o", "kernel.so"


def by_steps(
    path: str, flags: Command, link: Command, source: str, target: Path, seconds: float
) -> bool:
    """Make a library from C code in the target's folder; return whether this succeeded.

    If not, the driver gives the reason, or may still succeed.

    Raises
    ------
    subprocess.TimeoutExpired
        If one of the programs takes longer.
    """
    folder = target.parent
    (folder / _SOURCE).write_text(source, encoding="ascii")
    try:
        *compiling, linking = commands(path, flags, link)
        if not all(_succeeds(command, folder, seconds) for command in compiling):
            return False
        linked = library((folder / _OBJECT).read_bytes(), link)
        if linked is not None:
            target.write_bytes(linked)
            return True
        if not _succeeds(linking, folder, seconds):
            return False
    except (OSError, ValueError):  # there are no commands, or a program cannot be started
        return False
    (folder / _LIBRARY).rename(target)
    return True


def _succeeds(command: Command, folder: Path, seconds: float) -> bool:
    done = subprocess.run(command, capture_output=True, timeout=seconds, check=False, cwd=folder)
    return not done.returncode


@cache
def commands(path: str, flags: Command, link: Command) -> tuple[Command, ...]:
    """The commands that GCC's driver would run to make a library: compiler, assembler, linker.

    Empty for other compilers, which compile in the driver or run other programs.
    """
    asked = [path, *flags, "-o", _LIBRARY, _SOURCE, *link, "-###"]
    try:
        said = subprocess.run(asked, capture_output=True, text=True, check=False).stderr
        found = [shlex.split(line) for line in said.splitlines() if line.startswith(" ")]
    except (OSError, ValueError):
        return ()
    if [Path(command[0]).name for command in found] != ["cc1", "as", "collect2"]:
        return ()
    linker = shutil.which("ld")
    if linker is None or any(command.count("-o") != 1 for command in found):
        return ()
    names = {_after_o(found[0]): _ASSEMBLY, _after_o(found[1]): _OBJECT}
    compiler, assembler, collect = (tuple(names.get(a, a) for a in c) for c in found)
    # kernels include nothing; else the compiler would look for a header that it always includes
    alone = (*compiler, "-nostdinc")
    return alone, assembler, (linker, *_without_plugin(collect[1:]))


def _after_o(command: list[str]) -> str:
    return command[command.index("-o") + 1]


def _without_plugin(words: Command) -> Command:
    """The linker's words but for what optimises across files: there is one."""
    return tuple(
        word
        for before, word in zip(("", *words), words, strict=False)
        if before != "-plugin" and not word.startswith("-plugin")
    )
