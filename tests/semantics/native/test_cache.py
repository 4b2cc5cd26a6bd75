"""The compiler and the directory of what it made: private, complete or absent, and not needed at all."""

from __future__ import annotations

import errno
import os
import random
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from rlx.semantics import native
from rlx.semantics.faults import UnsupportedStop
from rlx.semantics.native import compiler, prelude
from rlx.semantics.native.limited_process import TooSlow
from rlx.writing import scratch
from tests.semantics.tir.programs import of_body


def increment(by: int) -> None:
    """Compile and run a function that is different for each number."""
    func = of_body('A: T.Buffer((2,), "int64")', f"for i in range(2): A[i] = A[i] + T.int64({by})")
    array = np.zeros(2, np.int64)
    native.compile(func)([array])
    assert array.tolist() == [by, by]


def use(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Path:
    monkeypatch.setenv("RLX_CACHE", str(folder))
    return folder


def libraries(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.so"))


def test_the_directory_is_private_and_used_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = use(monkeypatch, tmp_path / "deep" / "down")
    increment(1)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    [library] = libraries(folder)
    assert stat.S_IMODE(library.stat().st_mode) == 0o700
    before = library.stat().st_mtime_ns
    increment(1)
    assert [f.stat().st_mtime_ns for f in libraries(folder)] == [before]
    increment(2)
    assert len(libraries(folder)) == 2


def test_bounds_are_part_of_what_is_cached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = use(monkeypatch, tmp_path / "c")
    func = of_body('A: T.Buffer((2,), "int64"), B: T.Buffer((1,), "int64")', "A[B[0]] = B[0]")
    for bounds in (True, False):
        native.compile(func, bounds=bounds)
    assert len(libraries(folder)) == 2


def test_kernels_compiled_together_are_found_again_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = use(monkeypatch, tmp_path / "c")
    funcs = [
        of_body('A: T.Buffer((2,), "int64")', f"for i in range(2): A[i] = A[i] + T.int64({by})")
        for by in range(1, 4)
    ]
    wrong = of_body('A: T.Buffer((2,), "int64")', 'T.call_extern("int32", "f", 1)')
    *made, refused = native.compile_all([*funcs, wrong])
    assert isinstance(refused, UnsupportedStop)
    files = sorted(folder.iterdir())
    assert [file.suffix for file in files].count(".so") == 1
    for by, kernel in enumerate([*made, *map(native.compile, funcs)]):
        assert isinstance(kernel, native.Kernel)
        array = np.zeros(2, np.int64)
        kernel([array])
        assert array.tolist() == [by % 3 + 1] * 2
    assert sorted(folder.iterdir()) == files
    for file in files:
        if file.suffix == ".so":
            file.write_bytes(b"damaged")
    increment(1)


@pytest.mark.parametrize("damage", [b"", b"damaged"])
def test_places_of_kernels_that_were_asked_for_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: bytes
) -> None:
    """All places are in one file, and each is in one of its own: either is enough."""
    folder = use(monkeypatch, tmp_path / "c")
    funcs = [
        of_body('A: T.Buffer((1,), "int64")', f"A[0] = A[0] * T.int64({by})") for by in (2, 3, 5)
    ]

    def products() -> list[int]:
        found = []
        for kernel in native.compile_all(funcs):
            assert isinstance(kernel, native.Kernel)
            array = np.ones(1, np.int64)
            kernel([array])
            found += array.tolist()
        return found

    assert products() == [2, 3, 5]
    [together] = folder.glob("*.all")
    for suffix in (".in", ".all", ".so"):
        for file in folder.glob(f"*{suffix}"):
            file.write_bytes(damage)
        assert products() == [2, 3, 5]
    funcs.reverse()
    assert products() == [5, 3, 2]
    assert len(list(folder.glob("*.all"))) == 2 and together.stat().st_size


def test_why_a_function_has_no_code_is_kept_with_the_code_of_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Large functions are not read again by a later process; of a small one alone nothing is kept."""
    use(monkeypatch, tmp_path / "c")
    total = " + ".join(f"A[{k % 2}]" for k in range(200))
    large = of_body('A: T.Buffer((2,), "int64")', f"A[0] = {total}")
    wrong = of_body('A: T.Buffer((2,), "int64")', 'T.call_extern("int32", "f", 1)')
    with pytest.raises(UnsupportedStop) as alone:
        native.compile(wrong)
    for _ in range(2):
        kernel, refused = native.compile_all([large, wrong])
        assert isinstance(kernel, native.Kernel) and isinstance(refused, UnsupportedStop)
        assert (refused.code, refused.message) == (alone.value.code, alone.value.message)


def test_the_home_of_caches_is_respected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RLX_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert compiler.directory() == tmp_path / "rlx" / "native"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert compiler.directory() == tmp_path / "home" / ".cache" / "rlx" / "native"


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702])
def test_a_directory_that_others_can_write_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int
) -> None:
    folder = use(monkeypatch, tmp_path / "open")
    folder.mkdir()
    folder.chmod(mode)
    with pytest.raises(native.UntrustedCache, match="written by others"):
        increment(3)
    assert not list(folder.iterdir())


def test_a_directory_of_another_user_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, tmp_path / "mine")
    compiler.directory()
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(native.UntrustedCache, match="another user") as caught:
        compiler.directory()
    assert caught.value.code == "E-native-cache-private"


def test_a_link_in_place_of_the_directory_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "real").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    use(monkeypatch, tmp_path / "link")
    with pytest.raises(native.UntrustedCache, match="not a directory"):
        increment(3)


def test_planted_libraries_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = use(monkeypatch, tmp_path / "c")
    increment(4)
    [library] = libraries(folder)
    library.chmod(0o766)
    with pytest.raises(native.UntrustedCache, match="written by others"):
        increment(4)
    library.unlink()
    library.symlink_to("/usr/lib/libm.so")
    with pytest.raises(native.UntrustedCache, match="not a plain file"):
        increment(4)


def test_what_fails_to_be_made_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = use(monkeypatch, tmp_path / "c")

    def fail(path: Path) -> None:
        path.write_text("half")
        raise RuntimeError

    with pytest.raises(RuntimeError), scratch() as own:
        compiler.obtain("x.so", fail, own)
    assert not list(folder.iterdir())


def damages(library: bytes) -> Iterator[tuple[str, bytes]]:
    """Damage to a file: shortened, changed in one bit, longer, another file."""
    rng = random.Random(5)
    yield from (
        (f"{n} bytes left", library[:n]) for n in (0, 1, 31, 32, 33, 4096, len(library) - 1)
    )
    for at in (0, 16, len(library) - 1, *rng.sample(range(len(library)), 12)):
        changed = bytearray(library)
        changed[at] ^= 1 << rng.randrange(8)
        yield f"byte {at} changed", bytes(changed)
    yield "longer", library + b"\0"
    yield "zeros", bytes(len(library))
    yield "another file", b"not a library"


def test_a_library_that_was_damaged_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process that uses the file survives, too: it would end by SIGBUS if it had mapped the file itself."""
    folder = use(monkeypatch, tmp_path / "c")
    increment(8)
    [library] = libraries(folder)
    whole = library.read_bytes()
    func = of_body('A: T.Buffer((2,), "int64")', "for i in range(2): A[i] = A[i] + T.int64(8)")
    kernel = native.compile(func)
    for what, content in damages(whole):
        with library.open("r+b") as file:  # the same file, as a disk or an editor damages it
            file.truncate(0)
            file.write(content)
        array = np.zeros(2, np.int64)
        kernel([array])
        increment(8)
        assert array.tolist() == [8, 8]
        assert library.read_bytes() == whole, what
        assert libraries(folder) == [library]


def test_the_library_of_another_function_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = use(monkeypatch, tmp_path / "c")
    increment(20)
    [one] = libraries(folder)
    increment(21)
    [other] = set(libraries(folder)) - {one}
    one.write_bytes(other.read_bytes())
    increment(20)


def test_a_library_that_cannot_be_read_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = use(monkeypatch, tmp_path / "c")
    increment(22)
    [library] = libraries(folder)
    library.chmod(0)
    increment(22)
    os.truncate(library, 1 << 40)
    increment(22)
    assert library.stat().st_size < 1 << 20
    library.unlink()
    library.mkdir()
    with pytest.raises(native.UntrustedCache, match="not a plain file"):
        increment(22)
    library.rmdir()
    os.mkfifo(library, 0o600)
    with pytest.raises(native.UntrustedCache, match="not a plain file"):
        increment(22)


def test_a_cache_below_a_folder_that_everybody_writes_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its owner's folder could be exchanged while it is used; a sticky folder such as /tmp forbids that."""
    (tmp_path / "open").mkdir()
    folder = use(monkeypatch, tmp_path / "open" / "c")
    (tmp_path / "open").chmod(0o777)
    with pytest.raises(native.UntrustedCache, match="could be replaced"):
        increment(23)
    (tmp_path / "open").chmod(0o1777)
    increment(23)
    assert len(libraries(folder)) == 1


def test_a_full_disk_keeps_no_library_and_stops_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = use(monkeypatch, tmp_path / "c")

    def full(*words: object, **options: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", full)
        increment(24)
    assert not list(folder.iterdir())


def test_what_a_killed_compilation_left_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = use(monkeypatch, tmp_path / "c")
    child = os.fork()
    if child == 0:
        monkeypatch.setattr(compiler, "ffi", lambda: os.kill(os.getpid(), signal.SIGKILL))
        increment(25)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    assert [path for path in folder.iterdir() if path.is_dir()]
    increment(25)
    assert not [path for path in folder.iterdir() if path.is_dir()]
    assert len(libraries(folder)) == 1


RUN = """
import numpy as np
from tests.semantics.native.test_cache import increment
increment(5)
"""


def test_two_processes_compile_the_same_function(tmp_path: Path) -> None:
    environment = {**os.environ, "RLX_CACHE": str(tmp_path / "c")}
    command = [sys.executable, "-c", RUN]
    running = [subprocess.Popen(command, env=environment) for _ in range(2)]
    assert [process.wait(60) for process in running] == [0, 0]
    assert len(libraries(tmp_path / "c")) == 1


def test_a_compiler_is_asked_for_its_version_once(tmp_path: Path) -> None:
    """Until its program is another one; a program that is not named like a compiler is always asked."""
    calls = tmp_path / "calls"
    real = compiler.toolchain()[0]
    environment = {**os.environ, "RLX_CACHE": str(tmp_path / "c")}
    for name, asked in (("gcc", [1, 0, 1]), ("wrapper", [1, 1, 1])):
        program = tmp_path / name
        for count in asked:
            if count:
                program.write_text(f'#!/bin/sh\necho "$@" >> {calls}\nexec {real} "$@"\n')
                program.chmod(0o755)
            calls.write_text("")
            command = [sys.executable, "-c", RUN]
            subprocess.run(command, env={**environment, "CC": str(program)}, check=True)
            assert calls.read_text().split().count("--version") == count


DAMAGING = """
import os, sys
from tests.semantics.native.test_cache import increment
for number in range(30, 36):
    increment(number)
    for name in os.listdir(sys.argv[1]):
        if name.endswith(".so"):
            os.truncate(os.path.join(sys.argv[1], name), 5000)
            break
"""


def test_processes_that_damage_the_files_of_each_other(tmp_path: Path) -> None:
    environment = {**os.environ, "RLX_CACHE": str(tmp_path / "c")}
    command = [sys.executable, "-c", DAMAGING, str(tmp_path / "c")]
    running = [subprocess.Popen(command, env=environment) for _ in range(4)]
    assert [process.wait(120) for process in running] == [0] * 4


def test_without_a_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, tmp_path / "c")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    assert not native.has_compiler()
    with pytest.raises(native.NoCompiler) as caught:
        increment(6)
    assert caught.value.code == "E-native-compiler"


def script(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("text", ["#!/bin/sh\nexit 1\n", "#!/no/such/program\n"])
def test_a_compiler_that_does_not_work(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(tmp_path / "cc", text)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    assert not native.has_compiler()


def test_a_compiler_that_says_nothing(tmp_path: Path) -> None:
    path = script(tmp_path / "cc", "#!/bin/sh\nexit 3\n")
    with pytest.raises(compiler.CompilerGaveUp, match="the C compiler failed with 3"):
        compiler.run_compiler(str(path), (), "int x;", tmp_path / "x.so")
    path = script(tmp_path / "cc", f"#!/bin/sh\necho 'a{'b' * 3000}c' >&2\nexit 3\n")
    with pytest.raises(compiler.CompilerGaveUp) as caught:
        compiler.run_compiler(str(path), (), "int x;", tmp_path / "x.so")
    said = str(caught.value)
    assert said.endswith("bbbc\n") and len(said) < 3000


def test_a_compiler_that_does_not_take_all_flags(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is asked once whether it does."""
    path, *_ = compiler.toolchain()
    asked = tmp_path / "asked"
    refuse = f"echo >> '{asked}'; exit 1"
    lines = ["#!/bin/sh", f'case " $* " in *" {compiler.QUICK[-1]} "*) {refuse};; esac']
    given = str(script(tmp_path / "mine", "\n".join([*lines, f'exec "{path}" "$@"\n'])))
    monkeypatch.setenv("CC", given)
    use(monkeypatch, tmp_path / "c")
    increment(11)
    times = asked.read_text()
    assert times
    found, flags, identity = compiler.toolchain()
    assert found == given and compiler.QUICK[-1] not in flags
    assert identity.splitlines()[0] == given
    increment(12)
    assert asked.read_text() == times


def test_a_kernel_that_a_good_compiler_rejects(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, tmp_path / "c")
    with pytest.raises(compiler.CompilerGaveUp):
        compiler.library("this is no C")
    increment(13)


def test_libraries_are_linked_where_functions_of_them_are_called() -> None:
    called = prelude.text("y = expf(x);", apart=False)
    assert compiler.libraries([compiler.LIBMVEC], called) == ["-lmvec", "-lm"]
    assert compiler.libraries([], called) == ["-lm"]
    assert compiler.libraries([compiler.LIBMVEC], "int x;") == []


def test_a_cache_that_cannot_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    use(monkeypatch, tmp_path / "file" / "c")
    with pytest.raises(native.NoCompiler, match="cannot be stored"):
        increment(7)


@pytest.mark.parametrize("by_steps", [True, False])
def test_a_compiler_that_does_not_end_is_given_up(
    by_steps: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, flags, _ = compiler.toolchain()

    def too_long(*words: object, **options: object) -> None:
        raise TooSlow("the C compiler needed more than 1 s")

    monkeypatch.setattr(compiler, "by_steps", too_long if by_steps else lambda *_: False)
    monkeypatch.setattr(compiler, "run", too_long)
    with pytest.raises(compiler.CompilerGaveUp, match="needed more than"):
        compiler.run_compiler(path, flags, "int x;", tmp_path / "x.so")
