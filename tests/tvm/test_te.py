"""Our PrimFuncs of tensor expressions are TVM's, statement by statement."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import te as theirs
from tvm import tirx

import rlx
from rlx import te as ours
from rlx.grammar.nodes import tir
from rlx.grammar.nodes.ast import GlobalVar, IRModule
from rlx.semantics.tir import evaluate
from rlx.solver.evaluate import evaluate as number
from tests.tvm import te_indices
from tests.tvm.target import QUICK
from tests.tvm.te_expressions import EXPRESSIONS

_SAME = """placeholder compute reduce_axis comm_reducer var const all any sum max min exp tanh sqrt sin power abs
sigmoid erf isnan floor ceil if_then_else truncdiv truncmod floordiv min_value"""


def names(te: Any, **others: Any) -> Any:
    """The names that the expressions use, of one of the two."""
    same = {name: getattr(te, name) for name in _SAME.split()}
    return SimpleNamespace(**same, **others, rows=lambda tensor: tensor.shape[0])


OURS = names(
    ours,
    select=ours.select,
    maximum=ours.maximum,
    minimum=ours.minimum,
    equal=lambda a, b: a == b,
)
THEIRS = names(
    theirs,
    select=lambda c, a, b: tirx.Select(c, a, tirx.const(b) if isinstance(b, float) else b),
    maximum=tirx.max,
    minimum=tirx.min,
    equal=lambda a, b: tirx.EQ(a, b),
)


def ours_in_tvm(build: Any, index: str | None) -> Any:
    """Our PrimFunc, printed and read by TVM."""
    function = ours.create_prim_func(build(OURS), index)
    module = IRModule({GlobalVar("main"): function})
    return tvm.script.from_source(rlx.show(module, "0.27"))["main"]


CASES: list[tuple[str, str | None]] = [(name, "int64") for name in EXPRESSIONS]
CASES += [(name, None) for name in ("any_rank", "no_axes", "plain_sizes")]
"""Without an index type TVM's own text of a function with variables does not read back as the same function."""


@pytest.mark.parametrize(("name", "index"), CASES)
def test_a_prim_func_is_that_of_tvm(name: str, index: str | None) -> None:
    build = EXPRESSIONS[name]
    made = ours_in_tvm(build, index)
    wanted = theirs.create_prim_func(build(THEIRS), index_dtype_override=index)
    wanted = wanted.with_attr("global_symbol", "main")
    tvm.ir.assert_structural_equal(made.with_attr("global_symbol", "main"), wanted)


def test_indices_are_simplified_as_by_tvm() -> None:
    assert te_indices.differences(6, 30) == []


def arguments(function: tir.PrimFunc, size: int) -> list[Any]:
    """Values for the parameters; every variable is of one size, and integers may be indices and divisors."""
    rng = np.random.default_rng(size)
    made: list[Any] = []
    for param in function.params:
        buffer = function.buffer_map.get(param)
        if buffer is None:
            made.append(size)
            continue
        points = {v: size for dim in buffer.shape for v in tir.free_vars(dim)}
        dims = [number(dim, points) for dim in buffer.shape]
        values = rng.integers(1, 3, dims) if buffer.dtype.is_integer else rng.normal(0, 2, dims)
        kind = str(buffer.dtype)
        made.append((values > 0 if kind == "bool" else values).astype(kind))
    return made


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_its_values_are_those_of_tvm(name: str) -> None:
    build = EXPRESSIONS[name]
    function = theirs.create_prim_func(build(THEIRS), index_dtype_override="int64")
    built = tvm.compile(
        tvm.IRModule({"main": function.with_attr("global_symbol", "main")}), target=QUICK
    )
    for store in (False, True):
        made = ours.create_prim_func(build(OURS), "int64", store_identities=store)
        given = arguments(made, 4)
        tensors = [tvm.runtime.tensor(a) if isinstance(a, np.ndarray) else a for a in given]
        built["main"](*tensors)
        evaluate(made, given)
        for mine, other in zip(given, tensors, strict=True):
            if isinstance(mine, np.ndarray):
                np.testing.assert_allclose(mine, other.numpy(), rtol=2e-3, atol=2e-3)
