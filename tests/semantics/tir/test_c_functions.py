"""Functions of C's mathematical library and of LLVM, called by name, against the library itself."""

from __future__ import annotations

import ctypes
import ctypes.util
import itertools
import math

import numpy as np
import pytest

from rlx.semantics.tir.c_math import C_MATH
from tests.semantics.tir.programs import computed

LIBRARY = ctypes.CDLL(ctypes.util.find_library("m"))
OPERANDS = (0.0, -0.0, 0.5, -0.5, 1.0, -1.5, 2.5, 0.3, -3.7, 1e300, math.inf, -math.inf, math.nan)
WHOLE = {"abs", "labs"}
"""Functions of integers, which these tests call with whole numbers."""
TWO = {"atan2", "copysign", "fdim", "fmax", "fmin", "fmod", "hypot", "pow"}
LLVM = {"llvm.minnum": "fmin", "llvm.maxnum": "fmax"}


def in_c(name: str) -> tuple[str, bool]:
    """The library's function of a name, and whether it computes in float32."""
    if name.startswith("llvm."):
        return LLVM.get(name, name.removeprefix("llvm.")), False
    single = name.endswith("f") and name not in ("erf",)
    return name.removesuffix("f") if single else name, single


def operands(stem: str) -> list[tuple[float, ...]]:
    if stem == "fma":
        return [*itertools.product((0.5, -1.5, math.inf, math.nan), repeat=3)]
    if stem in TWO:
        return [*itertools.product((0.0, -0.0, 0.3, -1.5, 2.5, math.inf, math.nan), repeat=2)]
    return [(x,) for x in OPERANDS]


@pytest.mark.parametrize("name", sorted(name for name in C_MATH if in_c(name)[0] not in WHOLE))
def test_functions_by_name_are_those_of_the_library(name: str) -> None:
    stem, single = in_c(name)
    kind, number = ("float32", ctypes.c_float) if single else ("float64", ctypes.c_double)
    called = getattr(LIBRARY, stem + "f" * single)
    called.restype = number
    for given in operands(stem):
        rounded = [float(np.dtype(kind).type(x)) for x in given] if max(given) < 1e38 else [*given]
        if single and 1e300 in rounded:
            continue
        texts = ", ".join(
            f'T.{kind}("{x}")' if not math.isfinite(x) else f"T.{kind}({x})" for x in rounded
        )
        if name.startswith("llvm."):
            form = "call_llvm_pure_intrin" if rounded[0] == 0 else "call_llvm_intrin"
            suffix, before = (".f64", "") if rounded[0] > 0 else ("", f"T.uint32({len(rounded)}), ")
            call = f'T.{form}("{kind}", "{name}{suffix}", {before}{texts})'
        else:
            call = f'T.call_extern("{kind}", "{name}", {texts})'
        found = float(computed(call, kind))
        wanted = called(*map(number, rounded))
        close = found == wanted or math.isclose(found, wanted, rel_tol=1e-6 if single else 1e-14)
        assert close or (math.isnan(found) and math.isnan(wanted)), (given, found, wanted)
        if wanted == 0 and not (stem in ("fmax", "fmin") and set(rounded) == {0}):
            assert math.copysign(1, found) == math.copysign(1, wanted), (given, found, wanted)


@pytest.mark.parametrize("name", sorted(WHOLE))
def test_absolute_values_of_integers(name: str) -> None:
    assert computed(f'T.call_extern("int32", "{name}", a[0])', "int32", -7) == 7
    assert computed(f'T.call_extern("int32", "{name}", a[0])', "int32", 9) == 9
