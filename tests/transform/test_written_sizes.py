"""A 0 or -1 that a new shape says is copied or inferred, one that is computed is itself: whatever a pass writes down,
a run ends as before. `python -m tests.transform.test_written_sizes 2000` tries more.
"""

from __future__ import annotations

import random
import sys
import warnings

import numpy as np

from rlx import transform
from rlx.checker.check import check_text
from rlx.grammar.nodes import ast
from rlx.semantics.machine import load
from rlx.semantics.outcome import Outcome, Returned
from rlx.semantics.values import Tensor

PASSES = (
    transform.fold_shapes,
    transform.common_subexpressions,
    transform.dead_code,
    transform.propagate_shapes,
    transform.eliminate,
)
SIZES = ((3, 0), (0, 2), (2, 3), (1, 1))
HEAD = """@R.function
def main(x: R.Tensor((n, 4), "float32"), y: R.Tensor((n, m), "float32"), z: R.Tensor((0, 4), "float32")):
"""


def dimension(choose: random.Random, depth: int = 0) -> str:
    """A dimension: a number, a variable, arithmetic on either."""
    if depth > 5 or choose.random() < 0.4:
        return choose.choice(("0", "-1", "1", "2", "4", "n", "m"))
    a, b = dimension(choose, depth + 1), dimension(choose, depth + 1)
    return choose.choice((f"({a} - {b})", f"({a} + {b})", f"({a}) * ({b})", f"T.min({a}, {b})"))


def program(choose: random.Random) -> str:
    """A program of two reshapes to shapes that are written, computed, or given by a variable."""
    lines = []
    for name in ("a", "b"):
        given = choose.choice("xyz")
        dims = [dimension(choose), choose.choice(("4", "m", "0", "-1", dimension(choose)))]
        shape = f"R.shape([{', '.join(dims)}])"
        match choose.randrange(4):
            case 0:
                lines.append(f"s{name} = {shape}")
                shape = f"s{name}"
            case 1:
                shape = f"R.shape_of({choose.choice('xyz')})"
        lines.append(f"{name} = R.reshape({given}, {shape})")
    return HEAD + "".join(f"    {line}\n" for line in [*lines, "return (a, b)"])


def ended(module: ast.IRModule, n: int, m: int) -> tuple[object, ...]:
    arrays = (np.zeros((n, 4), "float32"), np.zeros((n, m), "float32"), np.zeros((0, 4), "float32"))
    outcome: Outcome = load(module).run("main", [Tensor(array, None) for array in arrays])
    if isinstance(outcome, Returned):
        return tuple(field.shape for field in outcome.value.fields)  # type: ignore[attr-defined]
    return type(outcome).__name__, outcome.code  # type: ignore[attr-defined]


def broken(text: str) -> tuple[str, int]:
    """The way in which a program breaks the law, empty if it does not; and the number of runs that returned."""
    report = check_text(text)
    if not report.ok:
        return "", 0
    (module,) = report.modules
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of lengths that may not fit
        changed = [(each.__name__, each(module)) for each in PASSES]
    returned = 0
    for n, m in SIZES:
        before = ended(module, n, m)
        returned += isinstance(before[0], tuple)
        for name, other in changed:
            after = ended(other, n, m)
            if after != before:
                return f"{name}: {before} and {after} for n={n}, m={m}\n{text}", returned
    return "", returned


def test_what_is_computed_is_not_written() -> None:
    choose = random.Random(11)
    found = [broken(program(choose)) for _ in range(30)]
    assert not [words for words, _ in found if words]
    assert sum(runs for _, runs in found) > 10


def one(body: str) -> ast.IRModule:
    (module,) = check_text(f"{HEAD}    b = R.reshape(x, {body})\n    return (b, b)\n").modules
    return module


def test_arithmetic_on_numbers_is_written() -> None:
    for shape in ("(0, 4)", "(4 - 4, 4)", "(3 - 4, 4)", "R.shape([2 * 0, 4])"):
        assert ended(one(shape), 3, 2) == ((3, 4), (3, 4)), shape
        assert ended(transform.fold_shapes(one(shape)), 3, 2) == ((3, 4), (3, 4)), shape


def test_deep_arithmetic_stays() -> None:
    """A dimension that is nested too deeply to be read as a number stays as it is written."""
    deep = "1 - 1" + " + 0" * 8
    module = one(f"R.shape([{deep}, 4])")
    assert ended(transform.fold_shapes(module), 0, 2) == ended(module, 0, 2)
    assert ended(transform.fold_shapes(module), 3, 2) == ended(module, 3, 2)


def test_a_product_with_0_is_computed() -> None:
    module = one("R.shape([n * 0, 4])")
    assert ended(module, 0, 2) == ((0, 4), (0, 4))
    assert ended(module, 3, 2) == ("Fault", "E-reshape-count")


if __name__ == "__main__":
    chance = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    wrong = [w for w, _ in (broken(program(chance)) for _ in range(int(sys.argv[1]))) if w]
    print("\n".join([*wrong, f"{len(wrong)} broken"]))
    sys.exit(bool(wrong))
