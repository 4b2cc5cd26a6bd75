"""Executables of the virtual machine, and their forms as text, file, C and Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlx.grammar.nodes.node import fields
from rlx.vm.executable_parts import ExecutableParts

if TYPE_CHECKING:
    from rlx.vm.saving import PathLike


class Executable(ExecutableParts):
    """Functions of the virtual machine with all that they need; a :class:`ExecutableParts` that can
    be written and read.

    :class:`rlx.vm.ExecBuilder` and :func:`rlx.vm.build` make executables.
    """

    @staticmethod
    def of(parts: ExecutableParts) -> Executable:
        """The executable made of the given parts."""
        return Executable(**dict(fields(parts)))

    def stats(self) -> str:
        """Statistics in a few lines."""
        from rlx.vm.listing import statistics

        return statistics(self)

    def as_text(self) -> str:
        """The whole executable as text, which :meth:`from_text` reads."""
        from rlx.vm.listing import listing

        return listing(self)

    @staticmethod
    def from_text(text: str) -> Executable:
        """The executable given by a text of :meth:`as_text`.

        Raises
        ------
        LoadError
            If the text is invalid; the message names the line.
        TypeError
            If the argument is not a text.
        """
        from rlx.vm.listing import read

        if not isinstance(text, str):
            raise TypeError(f"expected the text of an executable, found {type(text).__name__}")
        return Executable.of(read(text))

    def as_c(self) -> str:
        """The C code of its PrimFuncs as :meth:`save` stores it, with one file per PrimFunc."""
        from rlx.vm.shipped_code import files

        return files(self)

    def as_python(self) -> str:
        """A Python program that rebuilds this executable in the variable ``ib``."""
        from rlx.vm.python_code import python_code

        return python_code(self)

    def save(self, path: PathLike) -> None:
        """Write the executable, with the C code of its PrimFuncs, to a file that :meth:`load`
        reads.

        Raises
        ------
        OSError
            If the file cannot be written.
        """
        from rlx.vm.saving import to_bytes
        from rlx.writing import write

        write(path, to_bytes(self))

    @staticmethod
    def load(path: PathLike) -> Executable:
        """The executable in a file.

        Raises
        ------
        LoadError
            If the file is not an executable, is damaged, or has another version.
        OSError
            If the file cannot be read.
        """
        from rlx.vm.saving import from_bytes, read_executable

        return Executable.of(from_bytes(read_executable(path), str(path)))

    def __str__(self) -> str:
        return self.as_text()
