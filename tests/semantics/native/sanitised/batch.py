"""Kernels compiled as they ship, or with the sanitisers of addresses and undefined behaviour, run in a process of their own."""

from __future__ import annotations

import os
import platform
import re
import resource
import shutil
import struct
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rlx.grammar.nodes import tir
from rlx.semantics.arrays import numpy_type
from rlx.semantics.native import compiler, prelude
from rlx.semantics.native.c_program import CProgram
from rlx.semantics.native.frame import FIRST_SLOT
from rlx.semantics.native.kernel import checked, scalar
from rlx.semantics.native.program import generate

Array = np.ndarray[Any, Any]
FUEL = 22_000
MEMORY = 1 << 24
"""What a kernel may use."""
_LOADED = frozenset(["-shared", "-fPIC", "-O2", compiler.SLIGHT])
"""Flags of a library that is loaded, and the effort, which each build chooses."""


class Build(NamedTuple):
    """One way to compile a batch: a name, flags, and its share of the batches."""

    name: str
    share: float
    flags: tuple[str, ...]


_SANITISERS = ("-fsanitize=address,undefined,float-cast-overflow", "-fno-sanitize-recover=all")
_QUICK = ("-fno-sanitize=null,object-size,alignment,pointer-overflow",)
PLAIN = Build("sanitised -O0", 0.2, ("-O0", "-g1", *_SANITISERS, *_QUICK))
SLIGHT = Build("sanitised -O1", 0.15, ("-O1", "-g1", *_SANITISERS))
FULL = Build("sanitised -O2", 0.25, ("-O2", "-g1", *_SANITISERS))
SHIPPED = Build("as shipped, between guard pages", 0.2, (compiler.SLIGHT, "-DRLX_FENCED"))
WRITTEN_OUT = Build(
    "as shipped with short loops, between guard pages", 0.2, ("-O2", "-DRLX_FENCED")
)
BUILDS = (PLAIN, SLIGHT, FULL, SHIPPED, WRITTEN_OUT)
"""With a sanitiser the compiler makes no vectors. So the machine code that ships is run, too: the same flags, each buffer
between pages that cannot be touched."""


@cache
def processors() -> tuple[tuple[str, ...], ...]:
    """The features that native code is tuned to here, and the same for lesser processors."""
    _, flags, _ = compiler.toolchain()
    tuned = flags[len(compiler.FLAGS) :]
    mentioned = tuple(flag for flag in tuned if not flag.startswith("-m"))
    if platform.machine() not in ("x86_64", "AMD64"):
        return (tuned,)
    return (
        tuned,
        (*tuned, "-mno-avx512f"),
        (*tuned, "-mno-avx512f", "-mno-avx2"),
        ("-march=x86-64", *mentioned),
    )


VECTORS = (64, 32, 16)
"""Bytes of vectors that processors have: each kernel is laid out for all of them, and for one of the others."""
ODD = (1, 2, 3, 4, 8, 12, 24, 40, 48, 96, 128, 256)
"""Bytes that few processors' vectors have, or none: the code has to be right for them too."""


class Case(NamedTuple):
    """A function, its arguments, and where both come from."""

    func: tir.PrimFunc
    args: Sequence[Array | int | float]
    label: str

    def arrays(self) -> list[Array]:
        """The arrays among the arguments."""
        return [arg for arg in self.args if isinstance(arg, np.ndarray)]

    def again(self) -> list[Array | int | float]:
        """The arguments in memory of their own; arrays that share memory share it again."""
        pieces = Pieces(self.arrays())
        copies = iter(pieces.views([memory.copy() for memory in pieces.memory]))
        return [next(copies) if isinstance(arg, np.ndarray) else arg for arg in self.args]


class Pieces:
    """Arrays as pieces of memory: an array that is no view has memory of its own.

    Attributes
    ----------
    memory
        The bytes of each memory.
    places
        For each array the memory, and where in it the array begins.
    """

    def __init__(self, arrays: Sequence[Array]) -> None:
        roots: dict[int, int] = {}
        self.arrays, self.memory = arrays, list[Array]()
        self.places: list[tuple[int, int]] = []
        for array in arrays:
            root = array
            while isinstance(root.base, np.ndarray):
                root = root.base
            if id(root) not in roots:
                roots[id(root)] = len(self.memory)
                self.memory.append(np.frombuffer(root.tobytes(), np.uint8))
            begin = array.ctypes.data - root.ctypes.data
            self.places.append((roots[id(root)], begin if array.size else 0))

    def shared(self) -> bool:
        """Whether two arrays have one memory."""
        return len(self.memory) < len(self.arrays)

    def views(self, memory: Sequence[Array]) -> list[Array]:
        """The arrays as they lie in other memory of the same sizes."""
        return [
            memory[at][begin : begin + array.nbytes].view(array.dtype).reshape(array.shape)
            for array, (at, begin) in zip(self.arrays, self.places, strict=True)
        ]


class Answer(NamedTuple):
    """The end of a kernel: ``"returned"``, a code, or the sanitiser's report; and the arrays after it."""

    ending: str
    arrays: Sequence[Array]


@cache
def compiler_path() -> str:
    """The C compiler, if it has the sanitisers."""
    path, _, _ = compiler.toolchain()
    return path


def source(programs: Sequence[CProgram], vectors: Sequence[int]) -> str:
    """One file of C for several kernels, each for a vector width of its own."""
    parts = [prelude.text(*(program.kernel for program in programs), apart=True)]
    for at, (program, vector) in enumerate(zip(programs, vectors, strict=True)):
        parts += ["#undef RLX_VECTOR", f"#define RLX_VECTOR {vector}"]
        parts.append(re.sub(r"\brlx_(body|kernel)\b", rf"rlx_\1_{at}", program.kernel))
    names = ", ".join(f"rlx_kernel_{at}" for at in range(len(programs)))
    parts.append(f"static int32_t (*const kernels[])(int64_t *, void **) = {{{names}}};")
    parts.append((Path(__file__).parent / "driver.c").read_text("ascii"))
    return "\n".join(parts)


def flags_of(build: Build, processor: Sequence[str], text: str = "") -> list[str]:
    """The compiler's flags: those of native code, and what the build adds."""
    left_out = {*_LOADED, compiler.NARROWER} if prelude.is_wide(text) else _LOADED
    kept = [flag for flag in (*compiler.FLAGS, *processor) if flag not in left_out]
    return [*kept, *build.flags]


def run(
    cases: Sequence[Case],
    folder: Path,
    vectors: Sequence[int],
    build: Build,
    processor: Sequence[str],
    bounds: bool = True,
) -> list[Answer]:
    """Compile the cases together, each for a vector width of its own, and run each once.

    A case that stands there several times in a row, for several widths, is generated once.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    programs: list[CProgram] = []
    for at, case in enumerate(cases):
        again = at and cases[at - 1] is case
        disjoint = at % 5 != 4 and not Pieces(case.arrays()).shared()
        program = (
            generate(case.func, bounds=bounds, disjoint=disjoint) if not again else programs[-1]
        )
        programs.append(program)
    file = folder / "batch.c"
    text = source(programs, vectors)
    file.write_text(text, "ascii")
    command = [compiler_path(), *flags_of(build, processor, text), "-o", str(folder / "batch")]
    libraries = compiler.libraries(processor, text)
    subprocess.run([*command, str(file), *libraries], check=True, capture_output=True, text=True)
    with (folder / "in").open("wb") as out:
        for at, case in enumerate(cases):
            _write(out, at, case, programs[at])
    return _answers(folder, cases, programs)


def _write(out: Any, at: int, case: Case, program: CProgram) -> None:
    fields = [FUEL, MEMORY, *[0] * (FIRST_SLOT - 2)]
    buffers: list[Array] = []
    for position, (arg, (var, buffer)) in enumerate(
        zip(case.args, program.parameters, strict=True)
    ):
        if buffer is None:
            fields.append(scalar(position, var.dtype, arg))
            continue
        array = checked(position, buffer, numpy_type(buffer.dtype), arg)
        buffers.append(array)
        fields += array.shape
    pieces = Pieces(buffers)
    counts = (len(fields), len(pieces.memory), len(buffers))
    out.write(struct.pack(f"<{4 + len(fields)}q", at, *counts, *fields))
    for memory in pieces.memory:
        out.write(struct.pack("<q", memory.nbytes) + memory.tobytes())
    for array, place in zip(buffers, pieces.places, strict=True):
        out.write(struct.pack("<3q", *place, array.nbytes))


def _all_memory() -> None:
    """The sanitiser reserves more addresses than a process may use whose memory is limited."""
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def _answers(folder: Path, cases: Sequence[Case], programs: Sequence[CProgram]) -> list[Answer]:
    """Run the batch; where a kernel ends the process, go on behind it."""
    ended: dict[int, str] = {}
    first = 0
    environment = os.environ | {"ASAN_OPTIONS": "detect_leaks=0:abort_on_error=0:exitcode=99"}
    while first < len(cases):
        done = subprocess.run(
            [str(folder / "batch"), str(folder / "in"), str(folder / "out"), str(first)],
            capture_output=True,
            text=True,
            env=environment,
            timeout=600,
            check=False,
            preexec_fn=_all_memory,
        )
        if not done.returncode:
            break
        started = re.findall(r"^kernel (\d+)$", done.stderr, re.MULTILINE)
        assert started, done.stderr[-2000:]
        said = done.stderr.rpartition(f"kernel {started[-1]}\n")[2]
        ended[int(started[-1])] = f"killed: {said[:3000] or done.returncode}"
        first = int(started[-1]) + 1
    found = dict(_read(folder / "out", cases, programs))
    killed = {at: Answer(said, ()) for at, said in ended.items()}
    return [(found | killed).get(at, Answer("lost", ())) for at in range(len(cases))]


def _read(file: Path, cases: Sequence[Case], programs: Sequence[CProgram]) -> Any:
    if not file.exists():
        return
    with file.open("rb") as stream:
        while head := stream.read(40):
            if len(head) < 40:
                return
            at, failed, site, _, _ = struct.unpack("<5q", head)
            arrays = []
            for arg in cases[at].args:
                if isinstance(arg, np.ndarray):
                    data = stream.read(arg.nbytes)
                    arrays.append(np.frombuffer(data, arg.dtype).reshape(arg.shape))
            ending = {0: "returned", 1: "", 2: "overlap"}[failed]
            yield at, Answer(ending or programs[at].sites[site].code, arrays)
