"""Generated C code and what callers know about it. Programs in the cache need no generator."""

from __future__ import annotations

from rlx.grammar.nodes import tir
from rlx.semantics.native import prelude
from rlx.semantics.native.arrays import GUARDED
from rlx.semantics.native.writer import StopSite


class CProgram:
    """Generated C, its sites, and for each parameter its buffer (None for a scalar).

    ``text`` is a whole file, and ``kernel`` its part after the prelude, for vectors of ``vector``
    bytes (None: the processor's). ``written`` has the
    positions of parameters that are stored to, ``filled`` those that are written completely before
    they are read, ``allocates`` says whether the kernel allocates
    memory, and ``returns`` whether it returns a value.
    """

    __slots__ = (
        "allocates",
        "filled",
        "kernel",
        "parameters",
        "returns",
        "sites",
        "vector",
        "written",
    )

    def __init__(
        self,
        kernel: str,
        vector: int | None,
        sites: list[StopSite],
        parameters: list[tuple[tir.Var, tir.Buffer | None]],
        touched: set[tir.Buffer],
        filled: frozenset[int],
    ) -> None:
        self.kernel, self.vector = kernel, vector
        self.allocates = "rlx_take(" in kernel or "RLX_PLACE(" in kernel
        self.returns = "v[13] = 1;" in kernel
        self.sites, self.filled = sites, filled
        self.parameters = parameters
        self.written = frozenset(
            at for at, (_, buffer) in enumerate(parameters) if buffer in touched
        )

    @property
    def text(self) -> str:
        """A whole C file."""
        return c_file(self.kernel, self.vector)


def parameters(func: tir.PrimFunc) -> list[tuple[tir.Var, tir.Buffer | None]]:
    """The parameters of a function, each with its buffer (None for a scalar)."""
    return [(var, func.buffer_map.get(var)) for var in func.params]


def c_file(kernel: str, vector: int | None = None) -> str:
    """A C file: the necessary part of the prelude, then a kernel."""
    head = "" if vector is None else f"#define RLX_VECTOR {vector}\n"
    return f"{head}{prelude.text(kernel, apart=GUARDED)}\n{kernel}"
