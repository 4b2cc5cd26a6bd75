"""Compiler, assembler and linker are started as the compiler's driver starts them."""

from __future__ import annotations

from pathlib import Path

import pytest

from rlx.semantics import native
from rlx.semantics.native import compiler, steps
from tests.semantics.tir.programs import of_body

LOOP = of_body('x: T.Buffer((64,), "float32")', "for i in range(64): x[i] = T.exp(x[i]) + x[i]")


def test_the_library_is_the_one_that_the_driver_makes(tmp_path: Path) -> None:
    path, all_flags, _ = compiler.toolchain()
    source = native.compile(LOOP).source
    flags = compiler.flags_for(source, all_flags)
    link = tuple(compiler.link_options(flags, source))
    if not steps.step_commands(path, flags, link):
        pytest.skip("the compiler here is not GCC")
    alone, driven = tmp_path / "alone" / "kernel.so", tmp_path / "driven" / "kernel.so"
    alone.parent.mkdir()
    driven.parent.mkdir()
    assert steps.by_steps(path, flags, link, source, alone, 60)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(compiler, "by_steps", lambda *_: False)
        compiler.run_compiler(path, flags, source, driven, link)
    assert alone.read_bytes() == driven.read_bytes()


@pytest.mark.parametrize(
    "said",
    [
        "",
        " cc1 -o a.s\n as -o a.o a.s\n",
        ' "clang" "-cc1" "-o" "a.o"\n "ld" "-o" "a.so" "a.o"\n',
        " cc1 a.c\n as -o a.o a.s\n collect2 -o a.so a.o\n",
        ' cc1 -o "a.s\n as -o a.o a.s\n collect2 -o a.so a.o\n',
    ],
)
def test_another_driver_is_left_to_itself(said: str, tmp_path: Path) -> None:
    driver = tmp_path / "cc"
    (tmp_path / "said").write_text(said)
    driver.write_text(f"#!/bin/sh\ncat '{tmp_path}/said' >&2\n")
    driver.chmod(0o700)
    assert steps.step_commands(str(driver), (), ()) == ()
    assert not steps.by_steps(str(driver), (), (), "int x;", tmp_path / "x.so", 60)


def test_what_does_not_compile_is_left_to_the_driver(tmp_path: Path) -> None:
    path, flags, _ = compiler.toolchain()
    assert not steps.by_steps(path, flags, (), "this is no C", tmp_path / "x.so", 60)
    with pytest.raises(compiler.CompilerGaveUp, match="unknown type name"):
        compiler.run_compiler(path, flags, "this is no C", tmp_path / "x.so")
    assert steps.step_commands(str(tmp_path / "no such compiler"), (), ()) == ()
