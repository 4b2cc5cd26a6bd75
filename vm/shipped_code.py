"""The C code of PrimFuncs in executables.

A file contains each PrimFunc twice: as text, which defines its meaning, and as the C code generated
from this text. A machine never compiles the C code in a file. It generates the C code from the text
again and compiles it into the cache of compiled kernels. Both are equal unless the file is from
another version of rlx or was manipulated; :func:`differing` finds such differences. So a file can
only execute what the rules for PrimFuncs allow, whatever it contains. A checksum or a signature in
the file could not guarantee this.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from rlx.semantics.faults import Stop
from rlx.semantics.native import c_program, program
from rlx.vm.executable_parts import ExecutableParts
from rlx.vm.linking import read_prim_func


def generated(executable: ExecutableParts) -> dict[str, str]:
    """The C code of each PrimFunc by name, without the prelude. PrimFuncs without C code are
    omitted.
    """
    found = {name: _generated(executable, name) for name in executable.kernels}
    return {name: code for name, code in found.items() if code is not None}


def _generated(executable: ExecutableParts, name: str) -> str | None:
    try:
        func = read_prim_func(name, executable.kernels[name])
        return program.generate(func, bounds=True, disjoint=True).kernel
    except (Stop, ValueError):  # it runs by the reference evaluator, or is no PrimFunc
        return None


def shipped(executable: ExecutableParts) -> Mapping[str, str]:
    """The C code that a file of the executable contains: that of its original file, or newly
    generated code.
    """
    return executable.shipped or generated(executable)


def differing(executable: ExecutableParts, names: Collection[str]) -> list[str]:
    """The PrimFuncs whose C code differs from the code generated from their text."""
    code = executable.shipped
    return [name for name in names if name in code and code[name] != _generated(executable, name)]


def files(executable: ExecutableParts) -> str:
    """One C file for each PrimFunc, with the names in comments between them."""
    return "\n".join(_files(executable))


def _files(executable: ExecutableParts) -> Iterator[str]:
    code = shipped(executable)
    for name in executable.kernels:
        shown = name.replace("*/", "* /").replace("\n", " ")
        if name in code:
            yield f"/* PrimFunc {shown} */\n{c_program.c_file(code[name])}"
        else:
            yield f"/* PrimFunc {shown}: no C; the reference evaluator runs it */\n"
