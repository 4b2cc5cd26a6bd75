"""The system's C compiler: flags, compilation and loading of libraries, the cache of compiled
kernels.

Floating-point results are those of the program's single operations: no ``-ffast-math``, and no
contraction (``-ffp-contract=off``; reductions fuse explicitly). Only ``errno`` and floating-point
exceptions are given up, which programs cannot observe.
"""

from __future__ import annotations

import errno
import hashlib
import os
import platform
import re
import shutil
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

from rlx.grammar.processes import absolute_folders, seconds_given
from rlx.semantics.native.interface import ffi
from rlx.semantics.native.limited_process import DEFAULT, VARIABLE, TooSlow, run
from rlx.semantics.native.prelude import WRITTEN_OUT, calls_libm, is_wide
from rlx.semantics.native.steps import by_steps
from rlx.spec.registry import refuted, rule
from rlx.writing import make_folder, scratch, scribble, write

FLAGS = (
    *("-std=gnu11", "-fPIC", "-shared", "-w", "-fwrapv", "-fno-strict-aliasing"),
    *("-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-fno-ident"),
    # In loops of vectors, GCC takes pow(x, 0.5) for sqrt(x), which differs at -0 and -inf.
    *("-fno-builtin-pow", "-fno-builtin-powf"),
    # What -O3 has more than -O2 and the rest of this line takes time to compile and gains nothing
    # here.
    *(
        "-O2",
        "-ftree-loop-vectorize",
        "-fvect-cost-model=dynamic",
        "-fpeel-loops",
        "-funswitch-loops",
    ),
    # These take most of what is left of the time, and loops gain nothing from them.
    *("-fno-thread-jumps", "-fno-schedule-insns2", "-fno-gcse", "-fno-tree-vrp"),
    *("-fno-inline-small-functions", "-fno-partial-inlining"),
)
SLIGHT = "-O1"
QUICK = (
    *(SLIGHT, "-fno-tree-ccp", "-fno-dse", "-fno-compare-elim", "-fno-cprop-registers"),
    *("-fno-combine-stack-adjustments", "-fno-split-wide-types", "-fno-shrink-wrap"),
    "-fno-asynchronous-unwind-tables",
    # Registers are allotted for all of a function at once; loops with few iterations are written
    # out as a whole or not at all.
    *("-fira-region=one", "--param=max-peel-times=0", "-fno-tree-fre"),
    "--param=iv-consider-all-candidates-bound=5",
    # Each of these takes a tenth of a millisecond or two, whatever there is to compile.
    *("-fno-tree-slsr", "-fno-tree-reassoc", "-fno-tree-loop-ivcanon", "-fno-tree-phiprop"),
    *("-fno-tree-bit-ccp", "-fno-ssa-backprop"),
    *("-fno-ipa-pure-const", "-fno-ipa-reference", "-fno-ipa-profile", "-fno-ipa-modref"),
    # How often a loop runs is looked for in what would be undefined otherwise: for each unrolled
    # loop again, up to a tenth of the time, and these loops have bounds that say it.
    "-fno-aggressive-loop-optimizations",
)
"""Flags that reduce GCC's compile time by a third, with the same vectorisation."""
LIBMVEC = "-DRLX_LIBMVEC"
"""Defined if glibc's vector functions are available."""
NARROWER = "-mprefer-vector-width=256"
"""The flags for code that is not faster with the widest vectors; a pragma would set up the register
tables again.
"""
TUNING = (
    ("-march=native", LIBMVEC, NARROWER, *QUICK),
    ("-march=native", LIBMVEC, *QUICK),
    ("-march=native", *QUICK),
    ("-march=native",),
    ("-mcpu=native",),
    (),
)
"""The compilers, tried in this order until one compiles and links."""
_PROBE_PART = 4
"""Trying out a compiler takes a moment: it gets this part of the time of a kernel."""
_SAID = 2000
"""The length of the end of what a compiler says that a message has."""
LARGE = 300_000
"""The length of C code from which ``-O1`` is used, because higher levels would take minutes."""
_THOROUGH = frozenset(["-ftree-loop-vectorize", "-fpeel-loops", "-funswitch-loops"])


Toolchain = tuple[str, tuple[str, ...], str]
"""The compiler's path, its flags, and a text that identifies both and the processor."""


class CompilerGaveUp(Exception):
    """The compiler failed on the C code of one kernel (too large, or too slow to compile)."""


class CompilerTooSlow(CompilerGaveUp):
    """The compiler was ended because it took too long."""


def unavailable(message: str) -> NoReturn:
    """Raise the error that kernels cannot be compiled here."""
    refuted(NoCompiler.code)
    raise NoCompiler(message)


def has_compiler() -> bool:
    """Whether kernels can be compiled here."""
    try:
        toolchain()
    except NoCompiler:
        return False
    return True


def toolchain() -> Toolchain:
    """The working compiler. Raises NoCompiler if no compiler on ``PATH`` (``$CC``, ``cc``, ``gcc``,
    ``clang``) makes a shared library.
    """
    for path in _paths():
        found = _probe(path)
        if found is not None:
            return found
    tried = [f"{path}: {_failures[path]}" for path in _paths() if path in _failures]
    if tried:
        unavailable(f"no C compiler on PATH works: {tried[0]}")
    unavailable("no C compiler was found on PATH")


def _paths() -> Iterator[str]:
    wanted = (os.environ.get("CC", ""), "cc", "gcc", "clang")
    folders = absolute_folders(os.environ.get("PATH", os.defpath))
    found = (shutil.which(name, path=folders) for name in wanted if name)
    yield from (os.path.abspath(path) for path in found if path is not None)


@cache
def _probe(path: str) -> Toolchain | None:
    """The compiler with the first tuning with which it makes a library."""
    complete = _COMPLETE.get(platform.system(), [])
    with scratch() as folder:
        for tuning in TUNING:
            link = [*complete, *_mathematics(tuning)]
            target = folder / "probe.so"
            try:
                run_compiler(path, (*FLAGS, *tuning), _PROBE, target, link, _limit() / _PROBE_PART)
            except CompilerTooSlow as error:
                _failures[path] = str(error)
                return None  # with other flags, too
            except (CompilerGaveUp, OSError) as error:
                _failures[path] = str(error).strip().rpartition("\n")[2]
                continue
            return _identified(path, tuning)
    return None


_failures: dict[str, str] = {}
"""Why compilers do not work, by their paths."""

_COMPLETE = {"Linux": ["-Wl,-z,defs"]}
"""The words with which the linker of each system accepts only libraries whose functions are all there."""
_ALONE = {"Linux": ["-nostdlib", "-lgcc"]}
"""The words with which the linker of each system does not read the C library."""


def _mathematics(flags: Sequence[str]) -> list[str]:
    """The libraries with mathematical functions."""
    return ["-lmvec", "-lm"] if LIBMVEC in flags else ["-lm"]


def _identified(path: str, tuning: tuple[str, ...]) -> Toolchain:
    flags = (*FLAGS, *tuning)
    return path, flags, "\n".join([path, _version(path), _processor(), *flags])


@cache
def _version(path: str) -> str:
    """The version that a compiler prints. Asking takes as long as loading ten kernels, so the answer is
    kept while the program's file is the same.
    """
    name = _program_name(path)
    if name is not None:
        with suppress(NoCompiler, OSError):
            found = content(directory() / name)
            if found is not None:
                return found.decode()
    try:
        said = run([path, "--version"], _limit() / _PROBE_PART, reads="stdout").said
    except (OSError, TooSlow):
        return ""
    if name is not None:
        with suppress(NoCompiler, OSError):
            keep(name, said.encode())
    return said


_COMPILER = re.compile(r"([\w.]+-)*(gcc|clang)(-[\d.]+)?")
"""The file name of a compiler. A program of another name may start one that it chooses."""


def _program_name(path: str) -> str | None:
    """The name of the file in the cache that has a compiler's version; None if there should be
    none.
    """
    real = os.path.realpath(path)
    if not _COMPILER.fullmatch(os.path.basename(real)):
        return None
    with suppress(OSError):
        found = os.stat(real)
        told = (path, real, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
        return f"{hashlib.sha256(repr(told).encode()).hexdigest()}.version"
    return None


_PROBE = """
#include <math.h>
#ifdef RLX_LIBMVEC
__attribute__((simd("notinbranch"))) float erff(float);
void probe(float *x) { for (int i = 0; i < 1024; ++i) x[i] = erff(x[i]); }
#else
int probe(void) { return 0; }
#endif
"""


@cache
def _processor() -> str:
    """The processor that tuned code depends on: several may share a home directory."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as lines:
            kept = {x for x in lines if x.startswith(("flags", "Features", "model name"))}
    except OSError:
        kept = {platform.processor()}  # on Linux it would start a process
    return "\n".join([platform.machine(), *sorted(kept)])


def libraries(flags: Sequence[str], source: str) -> list[str]:
    """The libraries that a kernel with these flags is linked with, besides the C library."""
    return _mathematics(flags) if calls_libm(source) else []


def _limit() -> float:
    try:
        return seconds_given(VARIABLE, DEFAULT)
    except ValueError as error:
        unavailable(str(error))


def link_options(flags: Sequence[str], source: str) -> list[str]:
    """The options that link a kernel: most of the linker's time goes into the C library, which the
    process has loaded.
    """
    return [*libraries(flags, source), *_ALONE.get(platform.system(), [])]


def run_compiler(
    path: str,
    flags: Sequence[str],
    source: str,
    target: Path,
    link: Sequence[str] = (),
    seconds: float | None = None,
) -> None:
    """Compile a source to a library at ``target``. Raises CompilerGaveUp if the compiler fails,
    needs too long, or writes no library.
    """
    seconds = _limit() if seconds is None else seconds
    file = target.with_suffix(".c")
    command = [path, *flags, "-o", str(target), str(file), *link]
    try:
        if by_steps(path, tuple(flags), tuple(link), source, target, seconds):
            return
        scribble(file, source)
        done = run(command, seconds, target.parent, reads="stderr")
    except TooSlow as error:
        raise CompilerTooSlow(str(error)) from None
    if done.status:
        said = done.said[-_SAID:]
        raise CompilerGaveUp(said or f"the C compiler failed with {done.status}")
    if not target.is_file():
        raise CompilerGaveUp("the C compiler ended without an error, but wrote no library")


def library(source: str) -> tuple[Any, Any]:
    """Compile C code, or find it in the cache; return the library and its cffi object. Raises
    NoCompiler if there is no compiler, or no directory to keep libraries in (UntrustedCache: it is
    not private); CompilerGaveUp if the compiler does not accept the source.
    """
    try:
        assumed = supposed()
        try:
            return _loaded(source, assumed)
        except (CompilerGaveUp, OSError):
            if assumed[0] in _doubted:
                raise
            _doubted.add(assumed[0])  # before it is tried, which may fail
            if toolchain() == assumed:
                _doubted.remove(assumed[0])
                raise
        return _loaded(source, toolchain())
    except OSError as error:
        unusable(error)


def unusable(error: OSError) -> NoReturn:
    """Raise NoCompiler: kernels cannot be kept or loaded."""
    unavailable(f"the compiled kernel cannot be stored or loaded: {error.strerror or error}")


def supposed() -> Toolchain:
    """The first compiler, with all flags, unless it has rejected them: to try them out would cost
    as much as a kernel. Raises NoCompiler if no compiler works.
    """
    first = next(_paths(), None)
    if first is None or first in _doubted:
        return toolchain()
    return _identified(first, TUNING[0])


_doubted: set[str] = set()
"""The compilers that rejected the preferred flags."""


def flags_for(source: str, flags: tuple[str, ...]) -> tuple[str, ...]:
    """The flags for one source, chosen from the common flags."""
    if is_wide(source):
        flags = tuple(flag for flag in flags if flag != NARROWER)
    if len(source) > LARGE:
        return tuple(SLIGHT if flag == "-O2" else flag for flag in flags if flag not in _THOROUGH)
    if WRITTEN_OUT in source:  # with less, GCC does so after it makes vectors of the loops around
        return tuple(flag for flag in flags if flag != SLIGHT)
    return flags


def _loaded(source: str, chain: Toolchain) -> tuple[Any, Any]:
    flags = flags_for(source, chain[1])
    with scratch(beside()) as own:  # a name of its own: the system loads each name only once
        return ffi().dlopen(str(library_of(source, chain, flags, own))), ffi()


def library_of(source: str, chain: Toolchain, flags: Sequence[str], own: Path) -> Path:
    """The library of C code, in the folder ``own``. Raises what :func:`run_compiler` does."""

    def make(target: Path) -> None:
        run_compiler(chain[0], flags, source, target, link_options(flags, source))

    return obtain(f"{digest(chain, source)}.so", make, own)


def digest(chain: Toolchain, *parts: str) -> str:
    """A name of what a compiler makes of texts."""
    return hashlib.sha256("\n".join([chain[2], *parts]).encode()).hexdigest()


class NoCompiler(Exception):
    """There is no working C compiler, or no directory for its output."""

    code = "E-native-compiler"


class UntrustedCache(NoCompiler):
    """The cache directory, or a file in it, could have been written by another user."""

    code = "E-native-cache-private"


def distrust(message: str) -> NoReturn:
    """Reject a file that another user could have written."""
    refuted(UntrustedCache.code)
    raise UntrustedCache(message)


def directory() -> Path:
    """The cache directory, created if need be: ``$RLX_CACHE``, or ``rlx/native`` under
    ``$XDG_CACHE_HOME``. Raises UntrustedCache if it exists and is not the user's own, private
    directory, or if it depends on the folder that rlx works in.
    """
    own = os.environ.get("RLX_CACHE")
    if own:
        path = Path(own)
    else:
        home = os.environ.get("XDG_CACHE_HOME", "")
        base = Path(home) if os.path.isabs(home) else Path(os.path.expanduser("~"), ".cache")
        path = base / "rlx" / "native"
    if not path.is_absolute():  # whoever made the folder could have put libraries there
        distrust(f"{path} is not an absolute path")
    with suppress(FileExistsError):  # told below
        make_folder(path, mode=0o700)
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode):
        distrust(f"{path} is not a directory")
    _verify(path, found)
    for above in Path(os.path.realpath(path)).parents:
        mode = above.stat().st_mode
        if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
            distrust(f"{path} could be replaced: others can write {above}")
    return path


def beside() -> Path | None:
    """The folder for compiling: the cache, or the system's folder for temporary files."""
    folder = directory()
    return folder if os.access(folder, os.W_OK) else None


def _verify(path: Path, found: os.stat_result) -> None:
    if not hasattr(os, "geteuid"):  # Windows
        distrust(f"this system does not say whether others can write {path}")
    if found.st_uid != os.geteuid():
        distrust(f"{path} belongs to another user")
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        distrust(f"{path} can be written by others")


@rule("E-native-cache", "native code")
def obtain(name: str, make: Callable[[Path], None], own: Path) -> Path:
    """Put the library ``name`` into the folder ``own``: from the cache, or as ``make`` writes it.

    What is loaded is a copy that nobody else can change or shorten. A file of the cache that is
    damaged counts as missing. If several runs make the same file at the same time, the last one is
    kept; if there is no room for it, none is.
    """
    file, found = own / name, content(directory() / name)
    if found is not None:
        scribble(file, found)
        return file
    make(file)
    keep(name, file.read_bytes())
    return file


def keep(name: str, given: bytes) -> None:
    """Put a file into the cache, if there is room for it."""
    with suppress(OSError):
        write(directory() / name, given + _digest(name, given), mode=0o700, durable=False)


def content(path: Path) -> bytes | None:
    """The content of a file of the cache; None if there is none, or the file is damaged."""
    try:
        with open(path, "rb", opener=_opened) as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                distrust(f"{path} is not a plain file")
            _verify(path, found)
            written = file.read() if found.st_size <= _LARGEST else b""
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EISDIR):
            distrust(f"{path} is not a plain file")
        return None
    held, digest = written[:-_DIGEST], written[-_DIGEST:]
    return held if digest == _digest(path.name, held) else None


def _opened(path: str, flags: int) -> int:
    """Open a file, but not what a link points to, and without waiting for a pipe."""
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)


_DIGEST = 32
"""The length of the digest at the end of a file of the cache; loaders ignore what follows."""
_LARGEST = 1 << 28
"""The length of a file that no kernel has."""


def _digest(name: str, content: bytes) -> bytes:
    """The end of a file of the cache: it tells damage, and a file under another's name."""
    return hashlib.sha256(f"{name}\n".encode() + content).digest()
