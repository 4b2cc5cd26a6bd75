"""Compilation of several kernels at once: few C files, compiled at the same time.

To start the compiler takes as long as to compile a small kernel, so the kernels of a network are
compiled several to a file. The cache has the library of each file, and beside it a small file for
each kernel, which names the library and the kernel's place in it. Kernels that are asked for
together have one more file with all of their places, which is read much faster.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import cache, lru_cache
from pathlib import Path
from threading import main_thread
from typing import Any, NamedTuple

from rlx.semantics.native import compiler, prelude
from rlx.semantics.native.arrays import GUARDED
from rlx.semantics.native.c_program import CProgram, c_file
from rlx.semantics.native.interface import ffi
from rlx.writing import scratch, scribble


class LoadedKernel(NamedTuple):
    """A kernel's machine code: the function, and the library that it is part of."""

    call: Any
    library: Any


def entries(programs: Sequence[CProgram]) -> list[LoadedKernel | compiler.CompilerGaveUp]:
    """The machine code of kernels: from the cache, or compiled together; for those that the
    compiler rejects, its error. Raises NoCompiler as :func:`compiler.library` does.
    """
    try:
        return _entries(programs)
    except OSError as error:
        compiler.unusable(error)


def _entries(programs: Sequence[CProgram]) -> list[LoadedKernel | compiler.CompilerGaveUp]:
    if len(programs) < 2:
        return [_alone(program) for program in programs]
    chain = compiler.supposed()
    names = [_name(program, chain) for program in programs]
    folder = compiler.directory()
    group = f"{hashlib.sha256(' '.join(names).encode()).hexdigest()}.all"
    places = (compiler.content(folder / group) or b"").split(b"\n")
    together = [kernel for place in places if (kernel := _placed(place)) is not None]
    if len(together) == len(names):
        return [*together]
    found = {name: _kept(name, folder) for name in names}
    missing = {n: p for n, p in zip(names, programs, strict=True) if found[n] is None}
    if len(missing) > 1:
        found |= dict(_compiled(missing, chain))
    made: dict[str, LoadedKernel | compiler.CompilerGaveUp] = {
        name: found[name] or _alone(program)
        for name, program in dict(zip(names, programs, strict=True)).items()
    }
    own = [place for name in names if (place := compiler.content(folder / name)) is not None]
    if len(own) == len(names):
        compiler.keep(group, b"\n".join(own))
    return [made[name] for name in names]


def _alone(program: CProgram) -> LoadedKernel | compiler.CompilerGaveUp:
    try:
        kept = _kept(_name(program, compiler.supposed()), compiler.directory())
        if kept is not None:
            return kept
        library, _ = compiler.library(program.text)
    except compiler.CompilerGaveUp as error:
        return error
    return LoadedKernel(library.rlx_kernel, library)


def _name(program: CProgram, chain: compiler.Toolchain) -> str:
    """The name of a kernel's file in the cache: a digest of all that its machine code depends on."""
    vector = str(program.vector)
    return f"{compiler.digest(chain, _beginning(), vector, program.kernel)}.in"


@cache
def _beginning() -> str:
    """A digest of everything that a file may begin with."""
    units = prelude.providers(GUARDED).values()
    return hashlib.sha256("\n".join(unit.text for unit in units).encode()).hexdigest()


_PLACE = re.compile(rb"([0-9a-f]{64}\.so) ([0-9]{1,5}) ([0-9]{1,5})")
"""The content of a kernel's file: the library, the kernel's place, how many kernels there are."""


def _kept(name: str, folder: Path) -> LoadedKernel | None:
    """A kernel of a library in the cache."""
    said = compiler.content(folder / name)
    return None if said is None else _placed(said)


def _placed(place: bytes) -> LoadedKernel | None:
    """The kernel at a place, if its library is in the cache."""
    found = _PLACE.fullmatch(place)
    if found is None:
        return None
    at, count = int(found[2]), int(found[3])
    with suppress(OSError):
        library, calls = _loaded(found[1].decode(), count)
        if at < count:
            return LoadedKernel(calls[at], library)
    return None


@lru_cache(maxsize=32)
def _loaded(name: str, count: int) -> tuple[Any, list[Any]]:
    """A library in the cache, and its kernels. Raises OSError if there is none."""
    found = compiler.content(compiler.directory() / name)
    if found is None:
        raise FileNotFoundError(name)
    with scratch(compiler.beside()) as own:
        scribble(own / name, found)
        return _opened(own / name, count)


def _opened(path: Path, count: int) -> tuple[Any, list[Any]]:
    """A library, and its kernels: their addresses are what its only function gives."""
    library = ffi().dlopen(str(path))
    places = ffi().new("void *[]", count)
    library.rlx_kernel(ffi().NULL, places)
    kind = ffi().typeof(ffi().addressof(library, "rlx_kernel"))
    return library, [ffi().cast(kind, place) for place in places]


def _compiled(
    missing: Mapping[str, CProgram], chain: compiler.Toolchain
) -> Iterator[tuple[str, LoadedKernel]]:
    """The kernels, but for those of files that do not compile."""
    with ExitStack() as folders:
        parts = list(_parts(missing, chain[1]))
        owns = [folders.enter_context(scratch(compiler.beside())) for _ in parts]

        def make(part: _Part, own: Path) -> Path | None:
            source = _source([missing[name] for name in part.names])
            with suppress(compiler.CompilerGaveUp, OSError):
                return compiler.library_of(source, chain, part.flags, own)
            return None

        if len(parts) > 1 and main_thread().is_alive():  # a process that ends takes no new threads
            from concurrent.futures import ThreadPoolExecutor

            with ThreadPoolExecutor(_PROCESSORS) as pool:
                files = list(pool.map(make, parts, owns))
        else:
            files = list(map(make, parts, owns))
        for part, file in zip(parts, files, strict=True):
            if file is not None:
                count = len(part.names)
                library, calls = _opened(file, count)
                for at, name in enumerate(part.names):
                    compiler.keep(name, f"{file.name} {at} {count}".encode())
                    yield name, LoadedKernel(calls[at], library)


_PROCESSORS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2
_FEW = 4
"""The number of kernels in one C file."""


class _Part(NamedTuple):
    """The kernels of one C file, by their names in the cache, and its flags."""

    names: list[str]
    flags: tuple[str, ...]


def _parts(missing: Mapping[str, CProgram], flags: tuple[str, ...]) -> Iterator[_Part]:
    """Kernels that are compiled alike in one file for each processor, or in more if they are
    long; the longest kernels first.
    """
    alike: dict[tuple[tuple[str, ...], int | None], list[str]] = defaultdict(list)
    for name, program in missing.items():
        alike[compiler.flags_for(program.text, flags), program.vector].append(name)
    for (chosen, _), names in alike.items():
        names.sort(key=lambda name: len(missing[name].kernel), reverse=True)
        size = sum(len(missing[name].kernel) for name in names)
        count = max(min(_PROCESSORS, -(-len(names) // _FEW)), -(-size // compiler.LARGE))
        yield from (_Part(names[first::count], chosen) for first in range(count))


def _source(programs: Sequence[CProgram]) -> str:
    """One C file: its only visible function gives the addresses of the kernels."""
    kernels = [
        _OWN.sub(rf"\g<0>_{at}", program.kernel).replace(
            "int32_t rlx_kernel_", "static int32_t rlx_kernel_"
        )
        for at, program in enumerate(programs)
    ]
    table = ", ".join(f"rlx_kernel_{at}" for at in range(len(kernels)))
    given = (
        "int32_t rlx_kernel(int64_t *v, void **p) {\n"
        f"void *const kernels[] = {{{table}}};\nmemcpy(p, kernels, sizeof kernels);\nreturn 0;\n}}\n"
    )
    return c_file("\n".join([*kernels, given]), programs[0].vector)


_OWN = re.compile(r"\brlx_(?:body|kernel)\b")
"""The functions that each kernel has."""
