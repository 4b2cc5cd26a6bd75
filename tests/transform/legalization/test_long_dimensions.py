"""Dimensions that depend on each other: their text grows with the bindings, and no faster."""

from __future__ import annotations

import numpy as np
import pytest

from rlx import parse
from rlx.grammar.print.printer import print_module
from rlx.transform import legalize, structural_equal
from rlx.vm import VirtualMachine, build

HEAD = """
n = TypeVar("n")
m = TypeVar("m")

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((n, 2), "float32"), y: R.Tensor((m, 2), "float32")):
"""


def chain(length: int) -> str:
    """Each value is a slice of the one before and `y` together."""
    rows = [f"{HEAD}        v0 = R.concat((x, y), axis=0)"]
    for k in range(length):
        rows.append(f"        s{k} = R.strided_slice(v{k}, axes=[0], begin=[1], end=[{50 + k}])")
        rows.append(f"        v{k + 1} = R.concat((s{k}, y), axis=0)")
    return "\n".join([*rows, f"        return v{length}", ""])


def test_the_text_of_a_chain_is_as_long_as_the_chain() -> None:
    short, long = (len(print_module(legalize(parse(chain(k))))) for k in (6, 18))
    assert long < 5 * short


@pytest.mark.parametrize(("rows", "more"), [(6, 5), (1, 0), (0, 3), (60, 2)])
def test_named_dimensions_are_those_of_the_values(rows: int, more: int) -> None:
    module = parse(chain(6))
    x = np.arange(rows * 2, dtype="float32").reshape(rows, 2)
    y = -np.arange(more * 2, dtype="float32").reshape(more, 2)
    expected = np.concatenate([x, y])
    for k in range(6):
        expected = np.concatenate([expected[1 : 50 + k], y])
    made = VirtualMachine(build(legalize(module)))["main"](x, y)
    np.testing.assert_array_equal(np.asarray(made), expected)


def test_a_branch_keeps_its_names_to_itself() -> None:
    """A name that a branch binds is not used behind it."""
    rows = "\n".join("    " + row for row in chain(5).splitlines()[8:])
    text = HEAD.replace("main(", 'main(c: R.Tensor((), "bool"), ')
    body = rows.replace("return v5", "w = v5")
    other = body.replace("50", "40")
    module = parse(
        f"{text}        if c:\n{body}\n        else:\n{other}\n"
        "        z = R.strided_slice(w, axes=[0], begin=[1], end=[4])\n        return z\n"
    )
    machine = VirtualMachine(build(legalize(module)))
    x, y = np.ones((9, 2), "float32"), np.ones((3, 2), "float32")
    for condition in (True, False):
        assert np.asarray(machine["main"](np.array(condition), x, y)).shape == (3, 2)


@pytest.mark.parametrize(
    "body",
    [
        "z = R.strided_slice(x, axes=[0], begin=[k], end=[j])",
        "y = R.strided_slice(x, axes=[0], begin=[k], end=[j], strides=[-2])\n    z = R.exp(y)",
        "y = R.split(R.strided_slice(x, axes=[0], begin=[k], end=[j]), 2, axis=1)\n    z = R.add(y[0], y[1])",
    ],
)
def test_what_is_legalised_stays_as_it_is(body: str) -> None:
    """A value that a cast names already gets no second name."""
    head = 'def main(x: R.Tensor(("n", 4), "float32"), k: R.Prim(value="k"), j: R.Prim(value="j")):'
    module = parse(f"@R.function\n{head}\n    {body}\n    return z\n")
    for each in (module, parse(chain(5))):
        once = legalize(each)
        assert print_module(once).count("match_cast") > 0
        assert structural_equal(legalize(once), once)
