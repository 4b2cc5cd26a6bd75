"""Files and literals that cannot be read: each reason is said, and none is taken for a mistake of ours."""

from __future__ import annotations

import os
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.dtype import INT64
from rlx.grammar.read.parser import parse
from rlx.semantics.machine.entries import callable_functions, default_entry
from rlx.semantics.run import files, literals
from rlx.semantics.values import DoesNotFit

REASONS = {
    "x cannot be read: it is cut": EOFError("it is cut"),
    "x cannot be read: EOFError": EOFError(),
    "x cannot be read: MemoryError": MemoryError(),
    "x cannot be read: too large": OverflowError("too large"),
    "x cannot be read: no archive": zipfile.BadZipFile("no archive"),
    "x cannot be read: wrong bits": zlib.error("wrong bits"),
    "x cannot be read: gone": OSError(2, "gone"),
    "x cannot be read: for another reason": OSError("for another reason"),
    "x cannot be read: expected numbers, found Python objects": ValueError("allow_pickle=False"),
    "x cannot be read: odd": ValueError("odd"),
}


@pytest.mark.parametrize("words", REASONS)
def test_a_file_that_cannot_be_read(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, allow_pickle: bool) -> None:
        assert not allow_pickle
        raise REASONS[words]

    path = tmp_path / "x.npy"
    np.save(path, np.zeros(2))
    monkeypatch.setattr(np, "load", refuse)
    with pytest.raises(files.FileError) as caught:
        files.load(path, ast.ObjectStructInfo())
    assert str(caught.value) == words.replace("x", str(path), 1)


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_what_is_no_file_is_not_waited_for(make: Callable[[Path], None], tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    make(path)
    with pytest.raises(files.FileError, match="is not a file with an array"):
        files.load(path, ast.ObjectStructInfo())


@pytest.mark.parametrize("error", [SyntaxError(), MemoryError(), RecursionError()])
def test_a_text_that_python_cannot_read(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(text: str) -> None:
        raise error

    monkeypatch.setattr(literals, "expression_of", refuse)
    with pytest.raises(ValueError, match="some text"):
        literals.literal("some text")


@pytest.mark.parametrize("count", [0, 1, 3])
def test_tuples_of_another_length(count: int) -> None:
    info = ast.TupleStructInfo((ast.PrimStructInfo(INT64), ast.PrimStructInfo(INT64)))
    said = f"found {count} field{'' if count == 1 else 's'} instead of 2"
    with pytest.raises(DoesNotFit, match=said):
        literals.value_of((1,) * count, info)
    with pytest.raises(DoesNotFit, match=said):
        literals.from_python("x", (1,) * count, info)
    assert len(literals.value_of((1, 2), info).fields) == 2  # type: ignore[attr-defined]


def test_the_function_that_is_called_by_default() -> None:
    assert default_entry({"other": 1}) == "other"
    assert default_entry({"main": 1}) == "main"
    assert default_entry({"other": 1, "main": 2}) == "main"
    assert default_entry({"other": 1, "another": 2}) == "main"
    assert default_entry({}) == "main"


MODULES = """
@I.ir_module
class A:
    @T.prim_func
    def kernel(x: T.Buffer((2,), "float32")):
        T.func_attr({"global_symbol": "kernel"})
        x[0] = T.float32(1)
    @R.function
    def first(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        return x
    @R.function(private=True)
    def hidden(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        return x

@I.ir_module
class B:
    @R.function
    def first(x: R.Object) -> R.Object:
        return x
    @R.function
    def second(x: R.Object) -> R.Object:
        return x
"""


def test_the_functions_that_can_be_called() -> None:
    """Relax functions that are not private can be called, each of the first module that has the name."""
    a, b = parse(MODULES, "modules").modules
    found = callable_functions([a, b])
    assert [(name, module) for name, (module, _) in found.items()] == [("first", a), ("second", b)]
    assert all(isinstance(function, ast.Function) for _, function in found.values())


@pytest.mark.parametrize("shape", ["(True,)", "(2,", "(-1,)", "[2]", "('2',)", "(2,) + (2,)"])
def test_a_header_that_is_wrong(shape: str, tmp_path: Path) -> None:
    """NumPy raises errors of several kinds for these."""
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    path = tmp_path / "x.npy"
    path.write_bytes(b"\x93NUMPY\x01\x00\x76\x00" + header.encode() + bytes(8))
    with pytest.raises(files.FileError, match="cannot be read: "):
        files.load(path, ast.ObjectStructInfo())
