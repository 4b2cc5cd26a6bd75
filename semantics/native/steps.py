"""The programs that a compiler's driver runs, started without the driver.

The driver takes a sixth of the compile time of a small kernel.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
from functools import cache
from pathlib import Path

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
    steps = commands(path, flags, link)
    for command in steps:
        try:
            done = subprocess.run(
                command, capture_output=True, timeout=seconds, check=False, cwd=folder
            )
        except OSError:
            return False
        if done.returncode:
            return False
    if steps:
        (folder / _LIBRARY).rename(target)
    return bool(steps)


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
    return compiler, assembler, (linker, *_without_plugin(collect[1:]))


def _after_o(command: list[str]) -> str:
    return command[command.index("-o") + 1]


def _without_plugin(words: Command) -> Command:
    """The linker's words but for what optimises across files: there is one."""
    return tuple(
        word
        for before, word in zip(("", *words), words, strict=False)
        if before != "-plugin" and not word.startswith("-plugin")
    )
