"""LAW: the grids that vectors span are NumPy's, and their types say so."""

from __future__ import annotations

import numpy as np
import pytest

from rlx.checker.check import check_text
from rlx.grammar.nodes import ast
from rlx.semantics.machine import load
from rlx.semantics.outcome import Returned
from rlx.semantics.values import Tensor, TupleValue

SIZES = [(3,), (1, 4), (4, 1), (2, 3, 5), (0, 2), (2, 2, 3, 1)]


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("indexing", [None, "ij", "xy"])
@pytest.mark.parametrize("symbolic", [False, True])
def test_grids(sizes: tuple[int, ...], indexing: str | None, symbolic: bool) -> None:
    dims = [f'"n{k}"' if symbolic else str(size) for k, size in enumerate(sizes)]
    params = ", ".join(f'x{k}: R.Tensor(({dim},), "float32")' for k, dim in enumerate(dims))
    operands = "".join(f"x{k}, " for k in range(len(sizes)))
    text = (
        f"@R.function\ndef main({params}):\n"
        f"    grids = R.meshgrid(({operands}), indexing={indexing!r})\n    return grids\n"
    )
    report = check_text(text)
    assert report.ok, report
    given = [np.arange(size, dtype="float32") + k for k, size in enumerate(sizes)]
    (module,) = report.modules
    outcome = load(module).run("main", tuple(Tensor(each.copy()) for each in given))
    assert isinstance(outcome, Returned) and isinstance(outcome.value, TupleValue)
    wanted = np.meshgrid(*given, indexing="xy" if indexing == "xy" else "ij")
    (info,) = (
        info for var, info in report.info.items() if getattr(var, "name_hint", "") == "grids"
    )
    assert isinstance(info, ast.TupleStructInfo)
    numbers = {f"n{k}": size for k, size in enumerate(sizes)}
    for want, found, field in zip(wanted, outcome.value.fields, info.fields, strict=True):
        assert isinstance(found, Tensor) and np.array_equal(found.data, want)
        assert isinstance(field, ast.TensorStructInfo) and isinstance(field.shape, ast.ShapeExpr)
        derived = [eval(str(dim), {}, numbers) for dim in field.shape.values]
        assert tuple(derived) == want.shape
