"""The programs that a compiler's driver runs, started without the driver.

The driver takes a sixth of the compile time of a small kernel.
"""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path

from rlx.grammar.processes import absolute_folders
from rlx.semantics.native.limited_process import DEFAULT, run
from rlx.writing import scribble

Command = tuple[str, ...]

_SOURCE, _ASSEMBLY, _OBJECT, _LIBRARY = "kernel.c", "kernel.s", "kernel.o", "kernel.so"


def by_steps(
    path: str, flags: Command, link: Command, source: str, target: Path, seconds: float
) -> bool:
    """Make a library from C code in the target's folder; return whether this succeeded.

    If not, the driver gives the reason, or may still succeed.

    Raises TooSlow if one of the programs takes longer.
    """
    folder = target.parent
    scribble(folder / _SOURCE, source)
    try:
        steps = step_commands(path, flags, link, seconds)
        if not steps or not all((not run(command, seconds, folder).status) for command in steps):
            return False
    except OSError:  # a program cannot be started
        return False
    try:
        scribble(target, (folder / _LIBRARY).read_bytes())
    except OSError:  # the linker wrote no file
        return False
    return True


@cache
def step_commands(
    path: str, flags: Command, link: Command, seconds: float = DEFAULT
) -> tuple[Command, ...]:
    """The commands that GCC's driver would run to make a library: compiler, assembler, linker.

    Empty for other compilers, which compile in the driver or run other programs.

    Raises TooSlow if the driver takes longer.
    """
    asked = [path, *flags, "-o", _LIBRARY, _SOURCE, *link, "-###"]
    try:
        said = run(asked, seconds, reads="stderr").said
        found = [shlex.split(line) for line in said.splitlines() if line.startswith(" ")]
    except (OSError, ValueError):
        return ()
    if [Path(program).name for program, *_ in found] != ["cc1", "as", "collect2"]:
        return ()
    linker = shutil.which("ld", path=absolute_folders(os.environ.get("PATH", os.defpath)))
    if linker is None or not all("-o" in command for command in found):
        return ()
    names = dict(zip(map(_after_o, found), (_ASSEMBLY, _OBJECT, _LIBRARY), strict=True))
    compiler, assembler, (_, *collect) = ([names.get(a, a) for a in c] for c in found)
    # kernels include nothing; else the compiler would look for a header that it always includes
    alone = (*compiler, "-nostdinc")
    return alone, tuple(assembler), (linker, *_without_plugin(collect))


def _after_o(command: list[str]) -> str:
    return command[command.index("-o") + 1]


def _without_plugin(words: Sequence[str]) -> Iterator[str]:
    """The linker's words but for what optimises across files: there is one."""
    for before, word in pairwise(("", *words)):
        if before != "-plugin" and not word.startswith("-plugin"):
            yield word
