"""The system's C compiler: finding it, the flags it is given, and turning C into a loaded library.

Floating-point results are those of the program's operations one by one: no ``-ffast-math``, no contraction
(``-ffp-contract=off``; reductions say themselves where they fuse). What is given up is ``errno`` and
floating-point exceptions, which no program here can see.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

from rlx.semantics.native.cache import NoCompiler, obtain
from rlx.spec.registry import refuted

FLAGS = (
    *("-std=gnu11", "-O3", "-fPIC", "-shared", "-w", "-fwrapv", "-fno-strict-aliasing"),
    *("-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-fno-ident"),
    "-fno-thread-jumps",  # takes most of the time of a compilation, and loops gain nothing from it,
)
LIBMVEC = "-DRLX_LIBMVEC"
"""Says that glibc's functions of whole vectors are there."""
TUNING = (("-march=native", LIBMVEC), ("-march=native",), ("-mcpu=native",), ())
"""Tried in this order until one compiles and links."""
_SECONDS = 120
_LARGE = 300_000
"""Characters of C beyond which ``-O1`` is enough: the time of ``-O3`` is minutes there."""


class Refused(Exception):
    """The compiler did not get through the C of one kernel (too large, or too slow to compile)."""


def unavailable(message: str) -> NoReturn:
    """Say that kernels cannot be compiled here."""
    refuted(NoCompiler.code)
    raise NoCompiler(message)


def has_compiler() -> bool:
    """Whether kernels can be compiled here."""
    try:
        toolchain()
    except NoCompiler:
        return False
    return True


def toolchain() -> tuple[str, tuple[str, ...], str]:
    """The compiler's path, its flags, and a text that identifies both and the processor.

    Raises
    ------
    NoCompiler
        If no compiler on ``PATH`` (``$CC``, ``cc``, ``gcc``, ``clang``) makes a shared library.
    """
    names = [os.environ.get("CC", ""), "cc", "gcc", "clang"]
    for name in names:
        path = shutil.which(name) if name else None
        if path is not None:
            found = _probe(path)
            if found is not None:
                return found
    unavailable("no C compiler was found on PATH")


@cache
def _probe(path: str) -> tuple[str, tuple[str, ...], str] | None:
    import tempfile

    source = "#include <math.h>\n" + _PROBE
    with tempfile.TemporaryDirectory(prefix="rlx-") as folder:
        for tuning in TUNING:
            flags = (*FLAGS, *tuning)
            try:
                _run(path, flags, source, Path(folder) / "probe.so")
            except (Refused, OSError):
                continue
            version = subprocess.run(
                [path, "--version"], capture_output=True, text=True, check=False
            ).stdout
            return path, flags, "\n".join([path, version, _processor(), *flags])
    return None


_PROBE = """
#ifdef RLX_LIBMVEC
__attribute__((simd("notinbranch"))) float erff(float);
void probe(float *x) { for (int i = 0; i < 1024; ++i) x[i] = erff(x[i]); }
#else
int probe(void) { return 0; }
#endif
"""


def _processor() -> str:
    """What code tuned to this processor depends on: a home directory may be shared by several."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as lines:
            kept = [x for x in lines if x.startswith(("flags", "Features", "model name"))]
    except OSError:
        kept = []
    return "\n".join([platform.machine(), platform.processor(), *sorted(set(kept))])


def libraries(flags: Sequence[str]) -> list[str]:
    """What a kernel that is compiled with these flags is linked with."""
    vectors = ["-lmvec"] if LIBMVEC in flags else []
    return [*vectors, "-lm"]


def _run(path: str, flags: tuple[str, ...], source: str, target: Path) -> None:
    complete = ["-Wl,-z,defs"] if platform.system() == "Linux" else []
    file = target.with_suffix(".c")
    file.write_text(source, encoding="ascii")
    command = [path, *flags, "-o", str(target), str(file), *complete, *libraries(flags)]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
            cwd=target.parent,
        )
    except subprocess.TimeoutExpired:
        raise Refused(f"the C compiler needed more than {_SECONDS} s") from None
    if done.returncode:
        raise Refused(done.stderr[-2000:] or f"the C compiler failed with {done.returncode}")


@cache
def _ffi() -> Any:
    import cffi  # type: ignore[import-untyped]

    ffi = cffi.FFI()
    ffi.cdef("int32_t rlx_kernel(int64_t *v);")
    return ffi


def library(source: str) -> tuple[Any, Any]:
    """Compile C, or find it compiled; the library and the ``cffi.FFI`` that loaded it.

    Raises
    ------
    NoCompiler
        If there is no compiler, or no directory to keep libraries in (UntrustedCache: it is not private).
    Refused
        If the compiler does not accept the source.
    """
    path, flags, identity = toolchain()
    if len(source) > _LARGE:
        flags = ("-O1", *(flag for flag in flags if flag != "-O3"))
    digest = hashlib.sha256(f"{identity}\n{source}".encode()).hexdigest()

    def make(target: Path) -> None:
        _run(path, flags, source, target)

    try:
        file = obtain(f"{digest}.so", make)
        try:
            return _ffi().dlopen(str(file)), _ffi()
        except OSError:  # it was damaged since: once more, from the start
            file.unlink()
            return _ffi().dlopen(str(obtain(file.name, make))), _ffi()
    except OSError as error:
        unavailable(f"the compiled kernel cannot be kept or loaded: {error}")
