"""Libraries made without the linker stay what they are, byte by byte: `test_link.py` says that the loader accepts them.

`RLX_UPDATE_SNAPSHOTS=1 pytest tests/semantics/native/test_same_libraries.py` writes the digests anew. The object files are in
`objects.json`; `python -m tests.semantics.native.test_same_libraries` makes them anew, with the GCC that is installed.
"""

from __future__ import annotations

import base64
import json
import struct
import subprocess
import tempfile
import zlib
from pathlib import Path
from random import Random

import pytest

from rlx.semantics.native import link, object_file
from tests.semantics.native.test_link import SYMBOLS, VERSIONS
from tests.snapshots import assert_digest

HERE = Path(__file__).parent
SNAPSHOT = HERE / "snapshots" / "libraries.txt"
OBJECTS = HERE / "objects.json"

ALONE = ("-nostdlib", "-lgcc")
PROVIDED = {
    "libmvec.so.1": {"_ZGVbN4v_expf": "GLIBC_2.22", "_ZGVbN4v_erff": "GLIBC_2.35"},
    "libm.so.6": {"expf": "GLIBC_2.27", "pow": "GLIBC_2.29", "sin": "GLIBC_2.2.5", "erff": ""},
}
"""What the libraries provide here, whichever are installed."""

KERNEL = "int32_t rlx_kernel(int64_t *v, void **p)"
SOURCES = {
    "nothing is imported": f"{KERNEL} {{ return v[0]; }}",
    "one function of each library": f"""
        double sin(double); v4 _ZGVbN4v_expf(v4);
        {KERNEL} {{ *(double *)p[0] = sin(*(double *)p[0]); *(v4 *)p[1] = _ZGVbN4v_expf(*(v4 *)p[1]); return 0; }}""",
    "several versions": f"""
        double sin(double); double pow(double, double); float expf(float); void *memmove(void *, const void *, unsigned long);
        v4 _ZGVbN4v_expf(v4); v4 _ZGVbN4v_erff(v4);
        {KERNEL} {{
            double *x = p[0]; v4 *y = p[1]; float *z = p[2];
            x[0] = sin(x[1]) + pow(x[2], x[3]); y[0] = _ZGVbN4v_expf(y[1]) + _ZGVbN4v_erff(y[2]);
            memmove(z, z + 1, v[0]); z[3] = expf(z[4]); return 0; }}""",
    "constants, and what is seen": f"""
        static const double table[] = {{1.5, 2.5, 3.25, 0.1}}; const int32_t seen[] = {{3, 5, 7}};
        __attribute__((aligned(64))) static const char far[] = {{1, 2, 3}};
        __attribute__((noinline)) int32_t other(int64_t k) {{ return seen[k]; }}
        static __attribute__((noinline)) int32_t mine(int64_t k) {{ return other(k) + far[k]; }}
        {KERNEL} {{ p[0] = (void *)seen; p[1] = other; p[2] = (void *)table; return mine(v[0]) + (int32_t)table[v[1]]; }}""",
    "addresses of functions": f"""
        double sin(double); float expf(float); v4 _ZGVbN4v_expf(v4);
        {KERNEL} {{ p[0] = sin; p[1] = expf; p[2] = _ZGVbN4v_expf; p[3] = rlx_kernel; return expf(v[0]) + sin(v[1]); }}""",
    "no version": f"float erff(float); {KERNEL} {{ return erff(v[0]); }}",
    "a section of code for each function": f"""
        __attribute__((section(".text.second"))) int32_t second(int32_t k) {{ return k * 5; }}
        {KERNEL} {{ return second(v[0]) + second(3); }}""",
}
HEAD = """
typedef __INT32_TYPE__ int32_t; typedef __INT64_TYPE__ int64_t; typedef float v4 __attribute__((vector_size(16)));
"""
WORDS = [("-lmvec", "-lm", *ALONE), (*ALONE, "-lm"), ALONE]


def objects() -> dict[str, bytes]:
    kept: dict[str, str] = json.loads(OBJECTS.read_text("utf-8"))
    return {name: zlib.decompress(base64.b64decode(text)) for name, text in kept.items()}


HELD = objects() if OBJECTS.exists() else {}


@pytest.fixture(autouse=True)
def provided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link, "_provided", PROVIDED.__getitem__)


def libraries(file: bytes) -> str:
    """The library for each list of words, 64 bytes a line, without lines of zeros."""
    made = []
    for words in WORDS:
        library = link.library(file, words)
        if library is None:
            made.append("left to the linker")
        else:
            lines = (f"{at:x} {library[at : at + 64].hex()}" for at in range(0, len(library), 64))
            made += [
                f"{len(library)} bytes",
                *(line for line in lines if line.strip("0").split()[1:]),
            ]
    return "\n".join(made)


@pytest.mark.parametrize("name", SOURCES)
def test_libraries_are_as_they_were(name: str) -> None:
    assert_digest(SNAPSHOT, name, libraries(HELD[name]))


@pytest.mark.parametrize("name", SOURCES)
def test_libraries_of_damaged_files_are_as_they_were(name: str) -> None:
    """Most damages are in what the linker looks at: headers, symbols, relocations."""
    random, said = Random(name), list[str]()
    whole = HELD[name]
    start = int.from_bytes(whole[40:48], "little")
    for _ in range(100):
        damaged = bytearray(whole)
        low = random.choice([0, 16, start, start, start, len(whole) // 4, len(whole) // 2])
        at = random.randrange(low, len(whole))
        damaged[at] = random.choice([0, 1, 2, 4, 8, damaged[at] ^ 1 << random.randrange(8)])
        said.append(libraries(bytes(damaged)))
    assert_digest(SNAPSHOT, f"damaged: {name}", "\n\n".join(said))


def changed(whole: bytes, at: int, value: int, size: int = 4) -> bytes:
    return whole[:at] + value.to_bytes(size, "little") + whole[at + size :]


@pytest.mark.parametrize("name", ["constants, and what is seen", "addresses of functions"])
def test_libraries_of_other_sections_are_as_they_were(name: str) -> None:
    """Sections of another kind, with another flag, or of another alignment."""
    whole, said = HELD[name], list[str]()
    start = int.from_bytes(whole[40:48], "little")
    for at, section in enumerate(object_file.sections(whole, 1)):
        head = start + 64 * at
        made = [changed(whole, head + 4, kind) for kind in (0, 1, 2, 3, 4, 7, 8, 11, 14)]
        made += [changed(whole, head + 8, section.flags ^ (1 << bit)) for bit in range(12)]
        made += [changed(whole, head + 48, align) for align in (0, 1, 4, 64, 4096, 8192)]
        said += map(libraries, made)
    assert_digest(SNAPSHOT, f"sections: {name}", "\n\n".join(said))


@pytest.mark.parametrize("name", ["constants, and what is seen", "addresses of functions"])
def test_libraries_of_other_relocations_are_as_they_were(name: str) -> None:
    whole, said = HELD[name], list[str]()
    for section in object_file.sections(whole, 1):
        if section.kind == object_file.RELA:
            for at in range(section.offset, section.offset + section.size, 24):
                made = [
                    changed(whole, at + 8, kind)
                    for kind in (0, 1, 2, 3, 4, 8, 9, 10, *range(40, 44))
                ]
                said += map(libraries, made)
    assert_digest(SNAPSHOT, f"relocations: {name}", "\n\n".join(said))


def test_a_library_that_cannot_be_opened_is_left_to_the_linker(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(soname: str) -> None:
        raise OSError(soname)

    monkeypatch.setattr(link, "_provided", refuse)
    assert link.library(HELD["no version"], WORDS[0]) is None


def versions(library: bytes) -> str:
    try:
        return str(object_file.default_versions(library))
    except (ValueError, OverflowError, LookupError, struct.error) as error:
        return type(error).__name__


def test_versions_of_damaged_libraries_are_as_they_were() -> None:
    random, whole = Random(5), HELD["library"]
    said = [versions(whole)]
    for _ in range(1500):
        damaged = bytearray(whole)
        at = random.randrange(len(whole))
        damaged[at] = random.choice([0, 1, 2, 255, damaged[at] ^ 1 << random.randrange(8)])
        said.append(versions(bytes(damaged)))
    assert_digest(SNAPSHOT, "versions", "\n".join(said))


def _made(folder: Path) -> dict[str, bytes]:
    found = {}
    flags = [
        "-O1",
        "-fPIC",
        "-w",
        "-fno-builtin",
        "-fno-asynchronous-unwind-tables",
        "-march=x86-64",
    ]
    for name, source in SOURCES.items():
        (folder / "code.c").write_text(HEAD + source, "ascii")
        subprocess.run(["gcc", *flags, "-c", "code.c", "-o", "code.o"], check=True, cwd=folder)
        found[name] = (folder / "code.o").read_bytes()
    (folder / "code.c").write_text(SYMBOLS, "ascii")
    (folder / "versions").write_text(VERSIONS, "ascii")
    small = ["-shared", "-nostdlib", "-s", "-Wl,--version-script=versions,-z,noseparate-code"]
    subprocess.run(["gcc", *flags, *small, "code.c", "-o", "made.so"], check=True, cwd=folder)
    return {**found, "library": (folder / "made.so").read_bytes()}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        made = {
            name: base64.b64encode(zlib.compress(file)).decode()
            for name, file in _made(Path(place)).items()
        }
    OBJECTS.write_text(json.dumps(made, indent=1) + "\n", "utf-8")
