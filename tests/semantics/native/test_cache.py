"""The compiler and the directory of what it made: private, complete or absent, and not needed at all."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from rlx.semantics import native
from rlx.semantics.native import compiler, prelude
from rlx.semantics.native.limited_process import TooSlow

from .programs import of_body


def increment(by: int) -> None:
    """Compile and run a function that is different for each number."""
    func = of_body('A: T.Buffer((2,), "int64")', f"for i in range(2): A[i] = A[i] + T.int64({by})")
    array = np.zeros(2, np.int64)
    native.compile(func)([array])
    assert array.tolist() == [by, by]


def use(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Path:
    monkeypatch.setenv("RLX_CACHE", str(folder))
    return folder


def test_the_directory_is_private_and_used_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = use(monkeypatch, tmp_path / "deep" / "down")
    increment(1)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    [library] = folder.iterdir()
    assert stat.S_IMODE(library.stat().st_mode) == 0o700
    before = library.stat().st_mtime_ns
    increment(1)
    assert [f.stat().st_mtime_ns for f in folder.iterdir()] == [before]
    increment(2)
    assert len(list(folder.iterdir())) == 2


def test_bounds_are_part_of_what_is_cached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = use(monkeypatch, tmp_path / "c")
    func = of_body('A: T.Buffer((2,), "int64"), B: T.Buffer((1,), "int64")', "A[B[0]] = B[0]")
    for bounds in (True, False):
        native.compile(func, bounds=bounds)
    assert len(list(folder.iterdir())) == 2


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
    [library] = folder.iterdir()
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

    with pytest.raises(RuntimeError):
        compiler.obtain("x.so", fail)
    assert not list(folder.iterdir())


def test_a_library_that_was_damaged_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = use(monkeypatch, tmp_path / "c")
    folder.mkdir(mode=0o700)
    made: list[str] = []
    obtain = compiler.obtain

    def damaging(name: str, make: Callable[[Path], None]) -> Path:
        if not made:
            (folder / name).write_text("not a library")
        made.append(name)
        return obtain(name, make)

    monkeypatch.setattr("rlx.semantics.native.compiler.obtain", damaging)
    increment(8)
    assert len(made) == 2 and len(set(made)) == 1


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
    assert len(list((tmp_path / "c").iterdir())) == 1


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
        compiler._run(str(path), (), "int x;", tmp_path / "x.so")
    path = script(tmp_path / "cc", f"#!/bin/sh\necho 'a{'b' * 3000}c' >&2\nexit 3\n")
    with pytest.raises(compiler.CompilerGaveUp) as caught:
        compiler._run(str(path), (), "int x;", tmp_path / "x.so")
    assert str(caught.value) == "b" * (compiler._SAID - 2) + "c\n"
    assert compiler._version(str(tmp_path / "nothing")) == ""


def test_a_compiler_that_does_not_take_all_flags(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is asked once whether it does."""
    path, *_ = compiler.toolchain()
    lines = ["#!/bin/sh", f'case " $* " in *" {compiler.QUICK[-1]} "*) exit 1;; esac']
    given = str(script(tmp_path / "mine", "\n".join([*lines, f'exec "{path}" "$@"\n'])))
    monkeypatch.setenv("CC", given)
    use(monkeypatch, tmp_path / "c")
    doubted: set[str] = set()
    monkeypatch.setattr(compiler, "_doubted", doubted)
    increment(11)
    assert doubted == {given}
    found, flags, identity = compiler.toolchain()
    assert found == given and compiler.QUICK[-1] not in flags
    assert identity.splitlines()[0] == given
    monkeypatch.setattr(compiler, "_identified", lambda *_: pytest.fail("asked again"))
    increment(12)


def test_a_kernel_that_a_good_compiler_rejects(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    doubted: set[str] = set()
    monkeypatch.setattr(compiler, "_doubted", doubted)
    with pytest.raises(compiler.CompilerGaveUp):
        compiler.library("this is no C")
    assert not doubted


def test_flags_for_one_source() -> None:
    short = "int x;"
    for flags in (compiler.FLAGS, (*compiler.FLAGS, *compiler.TUNING[0])):
        assert compiler.flags_for(short, flags) == flags
        long = compiler.flags_for(short + " " * compiler._LARGE, flags)
        left = [flag for flag in flags if flag not in compiler._THOROUGH]
        assert [*long] == [compiler.SLIGHT if flag == "-O2" else flag for flag in left]
        unrolled = compiler.flags_for(prelude.WRITTEN_OUT, flags)
        assert [*unrolled] == [flag for flag in flags if flag != compiler.SLIGHT]


def test_libraries_are_linked_where_functions_of_them_are_called() -> None:
    called = prelude._basis() + "float expf(float);"
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
        compiler._run(path, flags, "int x;", tmp_path / "x.so")
