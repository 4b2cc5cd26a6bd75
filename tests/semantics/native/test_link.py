"""Libraries made without the linker: they hold and find what those of the linker do, and what is unusual is left to it."""

from __future__ import annotations

import ctypes
import random
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rlx.grammar import tir
from rlx.semantics.native import compiler, link, object_file, steps
from rlx.semantics.native.interface import ffi
from rlx.semantics.native.intrinsics import LIBM, VECTORISED
from rlx.semantics.native.kernel import Kernel
from tests.semantics.native.programs import of_body
from tests.semantics.native.sanitised.nests import Nest
from tests.semantics.native.sanitised.sizes import arguments

ALONE = ("-nostdlib", "-lgcc")
PATH, FLAGS, _ = compiler.toolchain()
WITH_LIBM = (*(["-lmvec"] if compiler.LIBMVEC in FLAGS else []), "-lm", *ALONE)

pytestmark = pytest.mark.skipif(
    not steps.commands(PATH, FLAGS, ALONE), reason="the compiler here is not GCC"
)


def assembled(source: str, folder: Path, flags: tuple[str, ...] = ()) -> bytes:
    """The object file of some C code."""
    file = folder / "code.c"
    file.write_text(source, "ascii")
    made = folder / "code.o"
    subprocess.run([PATH, *FLAGS, *flags, "-c", "-o", str(made), str(file)], check=True)
    return made.read_bytes()


def loaded(library: bytes | None, folder: Path, name: str) -> ctypes.CDLL:
    assert library is not None
    file = folder / f"{name}.so"
    file.write_bytes(library)
    return ctypes.CDLL(str(file))


def by_linker(source: str, folder: Path, words: tuple[str, ...], patch: pytest.MonkeyPatch) -> Path:
    """The library that the linker makes."""
    target = folder / "linked.so"
    with patch.context() as patched:
        patched.setattr(steps, "library", lambda *_: None)
        assert steps.by_steps(PATH, FLAGS, words, source, target, 60)
    return target


NAMES = sorted({name for name, _ in LIBM.values() if not name.startswith("rlx_")})


@pytest.mark.parametrize("name", NAMES)
def test_functions_are_the_default_ones(name: str, tmp_path: Path) -> None:
    """Old versions of a function set errno, and may differ in values."""
    operands = {name: count for name, count in LIBM.values()}[name]
    for letter, kind in (("", "double"), ("f", "float")):
        listed = ", ".join([kind] * operands)
        source = (
            f"{kind} {name}{letter}({listed}); void *rlx_kernel(void) {{ return {name}{letter}; }}"
        )
        library = loaded(
            link.library(assembled(source, tmp_path, ("-fno-builtin",)), WITH_LIBM),
            tmp_path,
            name + letter,
        )
        library.rlx_kernel.restype = ctypes.c_void_p
        # a few are in the C library, too, which the process looks through first
        wanted = [getattr(ctypes.CDLL(place), name + letter) for place in ("libm.so.6", None)]
        assert library.rlx_kernel() in [ctypes.cast(w, ctypes.c_void_p).value for w in wanted]


MATHEMATICAL = [
    f'x: T.Buffer((37,), "{kind}")\nfor i in range(37): x[i] = T.{name}(x[i]) + x[36 - i]'
    for name in sorted(VECTORISED)
    for kind in ("float32", "float64")
    if LIBM[name][1] == 1
]
ALLOCATING = """x: T.Buffer(("n",), "float32")
s = T.alloc_buffer((n,), "float32")
for i in range(n): s[i] = x[i]
for i in range(n): x[i] = s[n - 1 - i]"""
TEXTS = [
    *MATHEMATICAL,
    'x: T.Buffer((37,), "float16")\nfor i in range(37): x[i] = x[i] * T.float16(3) + x[36 - i]',
    'x: T.Buffer((64,), "int8")\nfor i in range(64): x[i] = x[i] // (x[63 - i] * x[63 - i] + T.int8(1))',
    ALLOCATING,
]


def run(kernel: Kernel, library: Path, args: list[Any]) -> list[Any]:
    """The arrays behind a call of a kernel whose machine code is that of a library."""
    kernel.entry.library = ffi().dlopen(str(library))
    kernel.entry.call = kernel.entry.library.rlx_kernel
    kernel(args)
    return args


def agree(func: tir.PrimFunc, args: list[Any], folder: Path, patch: pytest.MonkeyPatch) -> None:
    """The libraries of the linker and ours compute the same, bit by bit."""
    kernel = Kernel(func)
    flags = compiler.flags_for(kernel.source, FLAGS)
    words = tuple(compiler._link(flags, kernel.source))
    theirs = by_linker(kernel.source, folder, words, patch)
    ours = folder / "ours.so"
    made = link.library((folder / "kernel.o").read_bytes(), words)
    assert made is not None
    ours.write_bytes(made)
    copies = [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args]
    with np.errstate(all="ignore"):
        mine, wanted = run(kernel, ours, args), run(kernel, theirs, copies)
    assert [np.asarray(a).tobytes() for a in mine] == [np.asarray(a).tobytes() for a in wanted]


@pytest.mark.parametrize("text", TEXTS)
def test_the_code_computes_the_same(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    func = of_body(*text.split("\n", 1))
    [buffer] = func.buffer_map.values()
    extents = [dim.value if isinstance(dim, tir.IntImm) else 21 for dim in buffer.shape]
    values = np.random.default_rng(0).uniform(-4, 9, extents).astype(str(buffer.dtype))
    agree(func, [values], tmp_path, monkeypatch)


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 4, 6, 8, 9])
def test_the_code_of_random_nests_computes_the_same(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nest = Nest(seed)
    func = nest.function()
    agree(func, list(arguments(func, nest.sizes, nest.rng, False, True)), tmp_path, monkeypatch)


LEFT = {
    "data that is written to": "int at; int rlx_kernel(void) { return at++; }",
    "data that is filled in": "int at = 3; int rlx_kernel(void) { return at++; }",
    "data of a thread": "__thread int at; int rlx_kernel(void) { return at++; }",
    "a table of addresses": "extern int f(void); int (*const table[])(void) = {f}; int rlx_kernel(int k) { return table[k](); }",
    "a constructor": "int at; __attribute__((constructor)) void f(void) { at = 1; } int rlx_kernel(void) { return at; }",
    "a function of libgcc": "unsigned __int128 rlx_kernel(unsigned __int128 a, unsigned __int128 b) { return a / b; }",
    "a function of nothing": "void f(void); int rlx_kernel(void) { f(); return 0; }",
    "tables for exceptions": "int f(void); int rlx_kernel(void) { return 3; }",
    "a stack with code": 'int rlx_kernel(void) { return 3; } __asm__(".section .note.GNU-stack,\\"x\\",@progbits\\n.previous");',
}


@pytest.mark.parametrize("what", LEFT)
def test_what_is_unusual_is_left_to_the_linker(what: str, tmp_path: Path) -> None:
    flags = ("-fasynchronous-unwind-tables",) if what == "tables for exceptions" else ()
    assert link.library(assembled(LEFT[what], tmp_path, flags), ALONE) is None


def test_other_words_are_left_to_the_linker(tmp_path: Path) -> None:
    file = assembled("int rlx_kernel(void) { return 3; }", tmp_path)
    assert link.library(file, ALONE)
    for words in ((), ("-lgcc",), (*ALONE, "-lz"), (*ALONE, "-Wl,-z,defs")):
        assert link.library(file, words) is None


def test_the_linker_goes_on(tmp_path: Path) -> None:
    target = tmp_path / "k.so"
    assert steps.by_steps(PATH, FLAGS, ALONE, LEFT["data that is filled in"], target, 60)
    library = ctypes.CDLL(str(target))
    assert [library.rlx_kernel() for _ in range(3)] == [3, 4, 5]


def test_only_what_is_visible_is_found(tmp_path: Path) -> None:
    source = (
        "static __attribute__((noinline)) int mine(int x) { return x * 3; }"
        '__attribute__((visibility("hidden"), noinline)) int hidden(int x) { return mine(x) + 1; }'
        "static const int table[] = {5, 7, 11, 13, 17, 19};"
        "int rlx_kernel(int x) { return hidden(x) + table[x]; } int other(int x) { return -x; }"
    )
    library = loaded(link.library(assembled(source, tmp_path), ALONE), tmp_path, "k")
    assert [library.rlx_kernel(k) for k in range(4)] == [6, 11, 18, 23]
    assert library.other(8) == -8
    for name in ("mine", "hidden", "table"):
        assert not hasattr(library, name)


def test_no_page_is_written_to_and_run(tmp_path: Path) -> None:
    """What the system says of a library in memory."""
    library = loaded(
        link.library(
            assembled("float expf(float); float rlx_kernel(float x) { return expf(x); }", tmp_path),
            WITH_LIBM,
        ),
        tmp_path,
        "rights",
    )
    library.rlx_kernel.restype, library.rlx_kernel.argtypes = ctypes.c_float, [ctypes.c_float]
    assert library.rlx_kernel(0.0) == 1.0
    lines = Path("/proc/self/maps").read_text().splitlines()
    rights = {line.split()[1] for line in lines if line.endswith("/rights.so")}
    assert rights == {"r--p", "r-xp"}


def test_damaged_files_are_left_to_the_linker(tmp_path: Path) -> None:
    """Or are linked, if the damage is in what they hold: no other end."""
    whole = assembled(
        "float expf(float); static const float table[] = {1, 2, 3}; float rlx_kernel(int k) { return expf(table[k]); }",
        tmp_path,
    )
    assert link.library(whole, WITH_LIBM)
    rng = random.Random(7)
    assert [link.library(whole[:size], WITH_LIBM) for size in range(0, len(whole), 7)].count(
        None
    ) == len(range(0, len(whole), 7))
    for _ in range(3000):
        damaged = bytearray(whole)
        for _ in range(rng.randint(1, 4)):
            damaged[rng.randrange(len(whole))] = rng.choice([0, 1, 127, 255, rng.randrange(256)])
        made = link.library(bytes(damaged), WITH_LIBM)
        assert made is None or made.startswith(b"\x7fELF")


VERSIONS = "V1 { global: one; two; local: *; };\nV2 { global: two; three; } V1;\n"
SYMBOLS = """
int one(void) { return 1; }
int three(void) { return 3; }
int older(void) { return 1; }
int newer(void) { return 2; }
__asm__(".symver older,two@V1");
__asm__(".symver newer,two@@V2");
int unseen(void) { return 4; }
"""


@pytest.mark.parametrize("versioned", [True, False])
def test_default_versions_of_symbols(versioned: bool, tmp_path: Path) -> None:
    (tmp_path / "code.c").write_text(SYMBOLS if versioned else "int one(void) { return 1; }\n")
    (tmp_path / "versions").write_text(VERSIONS)
    words = [f"-Wl,--version-script={tmp_path / 'versions'}"] if versioned else []
    made = tmp_path / "made.so"
    given = ["-shared", "-fPIC", "-nostdlib", *words, "-o", str(made), str(tmp_path / "code.c")]
    subprocess.run([PATH, *given], check=True)
    found = {
        name: v for name, v in object_file.default_versions(made.read_bytes()).items() if v != name
    }
    names = {"one": "V1", "two": "V2", "three": "V2"} if versioned else {"one": ""}
    assert {name: found.get(name) for name in names} == names
    assert "unseen" not in found and "older" not in found


def test_what_is_no_library_has_no_versions(tmp_path: Path) -> None:
    made = assembled("int one(void) { return 1; }\n", tmp_path)
    with pytest.raises(ValueError, match="another kind of file"):
        object_file.default_versions(made)


def test_functions_with_and_without_a_version(tmp_path: Path) -> None:
    """The loader looks for each in the version that it is asked for: one of another is not found."""
    source = (
        "float expf(float); void *memmove(void *, const void *, unsigned long);"
        "float rlx_kernel(float x) {"
        "float held[2] = {expf(x), 5}; memmove(held + 1, held, 4); return held[0] + held[1]; }"
    )
    file = assembled(source, tmp_path, ("-fno-builtin",))
    library = loaded(link.library(file, WITH_LIBM), tmp_path, "both")
    library.rlx_kernel.restype, library.rlx_kernel.argtypes = ctypes.c_float, [ctypes.c_float]
    assert library.rlx_kernel(0.0) == 2.0
