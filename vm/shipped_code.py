"""PrimFuncs as C inside executables.

A file ships each PrimFunc twice: as text, which says what it does, and as the C that this text
gives. A machine never compiles C because a file has it: it generates the C from the text once more
and compiles that, into the cache of compiled kernels. Both are the same unless the file is from
another version of rlx, or hostile, which :func:`differing` tells. So what a file can have executed
is what the rules for PrimFuncs allow, whatever it says and whoever wrote it: a checksum or a
signature inside of it could not promise that.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from rlx.semantics.faults import Stop
from rlx.semantics.native import program
from rlx.vm.executable_parts import ExecutableParts
from rlx.vm.linking import prim_func


def generated(executable: ExecutableParts) -> dict[str, str]:
    """The C of each PrimFunc, by name, without the prelude; those that have none are left out."""
    found = {name: _generated(executable, name) for name in executable.kernels}
    return {name: code for name, code in found.items() if code is not None}


def _generated(executable: ExecutableParts, name: str) -> str | None:
    try:
        func = prim_func(executable, name)
        return program.generate(func, bounds=True, disjoint=True).kernel
    except (Stop, ValueError):  # it runs by the reference evaluator, or is no PrimFunc
        return None


def shipped(executable: ExecutableParts) -> Mapping[str, str]:
    """What a file of the executable ships: what its file had, or what is generated now."""
    return executable.shipped or generated(executable)


def differing(executable: ExecutableParts, names: Collection[str]) -> list[str]:
    """Those of the PrimFuncs whose C is not the one that their text gives."""
    code = executable.shipped
    return [name for name in names if name in code and code[name] != _generated(executable, name)]


def files(executable: ExecutableParts) -> str:
    """A file of C for each PrimFunc, the names in comments between them."""
    return "\n".join(_files(executable))


def _files(executable: ExecutableParts) -> Iterator[str]:
    code = shipped(executable)
    for name in executable.kernels:
        shown = name.replace("*/", "* /").replace("\n", " ")
        if name in code:
            yield f"/* PrimFunc {shown} */\n{program.whole(code[name])}"
        else:
            yield f"/* PrimFunc {shown}: no C; the reference evaluator runs it */\n"
