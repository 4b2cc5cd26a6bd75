"""The law of damaged PrimFuncs: what TVM refuses is reported, and what it accepts is no error, or a table says why.

`RLX_PRIM_MUTANTS` says how many; `python -m tests.tvm.prim_mutants COUNT SEED` is the long run.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.tvm.prim_mutants import Tvm, bases, difference, mutants, unexplained
from tests.tvm.prim_scheduled import by_hand

COUNT = int(os.environ.get("RLX_PRIM_MUTANTS", "30"))


@pytest.fixture(scope="module")
def tvm() -> Iterator[Tvm]:
    made = Tvm()
    yield made
    made.close()


@pytest.fixture(scope="module")
def functions() -> list[str]:
    return bases()


def test_what_tvm_refuses_is_reported(tvm: Tvm, functions: list[str]) -> None:
    for name, text in mutants(functions, COUNT, 20):
        found = difference(text, tvm)
        assert found is None or not unexplained(*found), f"{name}: {found}\n{text}"


def test_what_people_write_is_damaged_too(tvm: Tvm) -> None:
    functions = by_hand()
    for text in functions:
        assert tvm.refuses(text) is None
        assert difference(text, tvm) is None
    for name, text in mutants(functions, COUNT // 2, 21):
        found = difference(text, tvm)
        assert found is None or not unexplained(*found), f"{name}: {found}\n{text}"


def test_what_tvm_makes_is_clean(tvm: Tvm, functions: list[str]) -> None:
    for text in functions[:: max(1, len(functions) // 12)]:
        assert tvm.refuses(text) is None
        assert difference(text, tvm) is None
