"""Calls at awkward operands: every element type, sizes of 0 and 1, negative numbers, NaN, infinities, extremes.

``python -m tests.operators.evaluate.awkward COUNT [SEED] [OPERATOR…]`` draws that many calls and shows those that
break the law of `test_awkward.py`: a call without errors has a value of the struct info that is derived, or ends with a
fault that has a code.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import TensorStructInfo
from rlx.grammar.nodes.dtype import DataType, dtype
from rlx.operators import lookup
from rlx.operators.arrays import integer_range
from rlx.operators.evaluation import OperatorFault, Plain
from tests.operators.cases import LEGAL, Case
from tests.operators.context import Recorder, k, m, n
from tests.operators.evaluate.concrete import INDICES, Concrete, Unknown, fits
from tests.operators.evaluate_nn.cases import NETWORKS

FLOATS = (
    *("float16", "float32", "float64", "bfloat16", "float4_e2m1fn", "float6_e2m3fn"),
    *("float6_e3m2fn", "float8_e3m4", "float8_e4m3", "float8_e4m3fn", "float8_e4m3fnuz"),
    *("float8_e4m3b11fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"),
)
INTEGERS = (
    *("int2", "int4", "int8", "int16", "int32", "int64"),
    *("uint2", "uint4", "uint8", "uint16", "uint32", "uint64"),
)
TYPES = (*FLOATS, *INTEGERS, "bool")
SIZES = (0, 1, 1, 2, 3, 4, 5, 8)
CASES = [*LEGAL, *NETWORKS]
NAMES = sorted({case[0] for case in CASES})


class Awkward(Concrete):
    """A call of the tables with element types replaced, at a drawn point, with drawn arrays."""

    def __init__(self, case: Case, seed: int) -> None:
        self.draw = np.random.default_rng(seed)
        sizes = self.draw.choice(SIZES, 3)
        self.types: dict[DataType, DataType] = {}
        self.style = str(self.draw.choice(["awkward", "awkward", "mixed", "small", "same"]))
        point = {var: int(size) for var, size in zip((n, m, k), sizes, strict=True)}
        super().__init__(case, point)

    def _fixed(self, value: Any, index: bool) -> Any:
        if isinstance(value, TensorStructInfo) and not value.dtype.is_void and not index:
            value = replace_type(value, self._type(value.dtype))
        return super()._fixed(value, index)

    def _type(self, kind: DataType) -> DataType:
        """Another type for all tensors of one type, more often than not."""
        if kind not in self.types:
            drawn = dtype(str(self.draw.choice(TYPES)))
            self.types[kind] = kind if self.draw.random() < 0.4 else drawn
        return self.types[kind]

    def _array(self, sizes: tuple[int, ...], kind: np.dtype[Any], index: bool) -> Any:
        if index and self.draw.random() < 0.5:
            return super()._array(sizes, kind, index)
        return elements(self.draw, sizes, kind, self.style)


def arrays(value: Any) -> Iterator[Any]:
    """The arrays of a value, and its numbers as arrays."""
    if isinstance(value, tuple | list):
        for part in value:
            yield from arrays(part)
    elif isinstance(value, np.ndarray | bool | int | float | np.generic):
        yield np.asarray(value)


def replace_type(info: TensorStructInfo, kind: DataType) -> TensorStructInfo:
    """The struct info with another element type."""
    return TensorStructInfo(info.shape, kind, info.ndim, info.vdevice)


def elements(draw: Any, sizes: tuple[int, ...], kind: np.dtype[Any], style: str) -> Any:
    """An array of drawn numbers.

    Parameters
    ----------
    style
        ``"small"``: numbers between -4 and 4; ``"awkward"``: extremes, zeros, NaN; ``"mixed"``: either; ``"same"``: one number.
    """
    small = draw.uniform(-4, 4, sizes)
    if kind.kind == "b":
        return draw.integers(0, 2, sizes).astype(bool)
    special = np.array(specials(kind))
    picked = special[draw.integers(0, len(special), sizes)]
    if style == "same":
        return np.full(sizes, picked.reshape(-1)[0] if picked.size else special[0])
    if style == "small":
        return convert(np.round(small) if "int" in kind.name else small, kind)
    if style == "mixed":
        rounded = np.round(small) if "int" in kind.name else small
        return np.where(draw.random(sizes) < 0.2, picked, convert(rounded, kind))
    return np.asarray(picked)


def convert(numbers: Any, kind: np.dtype[Any]) -> Any:
    """Small numbers in a type; what is negative is made positive where the type is unsigned."""
    if kind.name.startswith("uint"):
        numbers = np.abs(numbers)
    if kind.kind == "V" and "int" in kind.name:
        numbers = np.clip(numbers, *integer_range(kind))
        return numbers.astype(np.int8).astype(kind)
    return numbers.astype(kind)


def specials(kind: np.dtype[Any]) -> Any:
    """Numbers of a type at which formulas go wrong."""
    if "int" in kind.name:
        low, high = integer_range(kind)
        found = {0, 1, low, high, high - 1, low + 1, high // 2, high // 2 + 1}
        found |= {-1} if low < 0 else set()
        array = np.array(sorted(x for x in found if low <= x <= high), np.object_)
        return array.astype(np.int64 if low < 0 or high < 2**63 else np.uint64).astype(kind)
    info: Any = ml_dtypes.finfo(kind)  # type: ignore[no-untyped-call]
    numbers = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, float(info.max), float(info.min)]
    numbers += [float(info.tiny), float(info.smallest_subnormal), np.inf, -np.inf, np.nan, 0.1]
    with np.errstate(all="ignore"):
        return np.array(numbers).astype(kind)


STYLES = ("small", "awkward", "mixed", "same")


def redrawn(call: Concrete, style: str) -> dict[ast.Expr, Plain]:
    """Other values for the variables of a call that hold no indices: finite, and floats neither huge nor tiny."""
    draw = np.random.default_rng(STYLES.index(style))
    indices = {
        item
        for at in INDICES.get(call.case[0], ())
        for arg in call.case[1][at : at + 1]
        for item in (arg if isinstance(arg, tuple | list) else (arg,))
    }
    found = dict(call.values)
    for var, array in call.values.items():
        if isinstance(var, ast.Var) and var not in indices:
            drawn = elements(draw, array.shape, array.dtype, style)
            found[var] = _moderate(drawn) if "float" in array.dtype.name else drawn
    return found


def _moderate(array: Any) -> Any:
    """Floats of which sums and products agree wherever they are taken in whatever order."""
    numbers = np.asarray(array).astype(np.float64)
    size = np.abs(numbers)
    kept = np.isfinite(numbers) & (size < 1e6) & ((size > 1e-6) | (numbers == 0))
    return np.where(kept, numbers, 1.5).astype(array.dtype)


def draw_call(seed: int, wanted: frozenset[str] = frozenset()) -> Awkward | None:
    """A call that the operator's rule has nothing against; None if the one that is drawn is not."""
    draw = np.random.default_rng(seed)
    cases = [case for case in CASES if not wanted or case[0] in wanted]
    case = cases[int(draw.integers(len(cases)))]
    operator = lookup(f"relax.{case[0]}")
    if operator is None or operator.compute is None:
        return None
    try:
        call = Awkward(case, seed)
    except (Unknown, AssertionError):
        return None
    recorder = Recorder()
    operator.derive(call.call, recorder)
    return None if any(severity == "error" for _, severity, _ in recorder.reports) else call


def broken(call: Awkward) -> str:
    """The way in which a call breaks the law; empty if it does not."""
    try:
        value = call.evaluate()
    except OperatorFault as fault:
        return "" if fault.code.startswith("E-") else f"no code: {fault}"
    except Exception as error:  # noqa: BLE001 - anything else is what is looked for
        return f"{type(error).__name__}: {error}"
    return fits(value, call.derive(), dict(call.point))


def shown(call: Awkward) -> str:
    """The call, as a reader wants it."""
    name, _, attrs = call.case
    arrays = ", ".join(f"{a.dtype}{list(a.shape)}" for a in call.values.values())
    return f"{name}({arrays}) {attrs}"


def main(count: int, seed: int, wanted: frozenset[str]) -> None:
    """Draw calls, show what breaks the law, one call for each operator and complaint."""
    seen: Counter[str] = Counter()
    ran = 0
    for at in range(seed, seed + count):
        call = draw_call(at, wanted)
        if call is None:
            continue
        ran += 1
        found = broken(call)
        if found:
            key = f"{call.case[0]}: {found[:60]}"
            seen[key] += 1
            if seen[key] == 1:
                print(f"{at}: {shown(call)}\n    {found[:300]}", flush=True)
    print(f"{ran} calls, {sum(seen.values())} break the law in {len(seen)} ways")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0, frozenset(sys.argv[3:]))
