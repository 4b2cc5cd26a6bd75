"""The rounding that `rlx compare` allows: no order of adding up leaves it, and a mistake does.

The other runs are NumPy's, one operation at a time in the types of the program.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import rlx

Array = np.ndarray
ORDERS = {
    "as they stand": lambda terms: terms,
    "backwards": lambda terms: terms[::-1],
    "small ones first": lambda terms: terms[np.argsort(np.abs(terms))],
    "large ones first": lambda terms: terms[np.argsort(-np.abs(terms))],
    "positive ones first": lambda terms: terms[np.argsort(-terms)],
    "by chance": lambda terms: np.random.default_rng(5).permutation(terms),
}


def added_up(terms: Array, order: str) -> Array:
    """The sum of the terms along the last axis, one addition after the other."""
    made = np.zeros(terms.shape[:-1], terms.dtype)
    for at in np.ndindex(*terms.shape[:-1]):
        for term in ORDERS[order](terms[at]):
            made[at] = made[at] + term
    return made


def inputs(kind: str) -> dict[str, Array]:
    random = np.random.default_rng(3)
    size = {"x": (3, 300), "w": (300, 2)}
    scale = 10 ** random.uniform(-3, 3, (3, 300))  # terms of many sizes, of both signs
    made = {name: random.standard_normal(shape) for name, shape in size.items()}
    return {"x": (made["x"] * scale).astype(kind), "w": made["w"].astype(kind)}


def products(x: Array, w: Array) -> Array:
    return x[:, None, :] * w.T[None, :, :]


PROGRAMS: dict[str, Callable[[Array, Array, str], Array]] = {
    "R.matmul(x, w)": lambda x, w, order: added_up(products(x, w), order),
    "R.sum(x, axis=[1])": lambda x, w, order: added_up(x, order),
    "R.mean(x, axis=[1])": lambda x, w, order: added_up(x, order) / x.dtype.type(300),
}


def program(call: str, kind: str) -> rlx.Module:
    return rlx.parse(f"""\
@R.function
def main(x: R.Tensor((3, 300), "{kind}"), w: R.Tensor((300, 2), "{kind}")):
    y = {call}
    return y
""")


@pytest.mark.parametrize("kind", ["float32", "float16", "float64"])
@pytest.mark.parametrize("call", PROGRAMS)
def test_no_order_of_adding_up_is_accused(call: str, kind: str) -> None:
    given = inputs(kind)
    if kind == "float16":
        given["x"] = np.sign(given["x"]) * np.abs(given["x"]).clip(0.01, 30)
    for order in ORDERS:
        other = PROGRAMS[call](given["x"], given["w"], order).astype(kind)
        found = rlx.compare(program(call, kind), {"y": other}, inputs=given)
        assert found.agrees, (order, found.difference)


@pytest.mark.parametrize("call", PROGRAMS)
def test_mistakes_are_found_in_sums(call: str) -> None:
    given = inputs("float32")
    x, w = given["x"], given["w"]
    right = PROGRAMS[call](x, w, "by chance")
    largest = np.argmax(np.abs(x[0]))
    without = x.copy()
    without[0, largest] = 0
    wrong = {
        "a term is left out": PROGRAMS[call](without, w, "by chance"),
        "a term is taken twice": 2 * right - PROGRAMS[call](without, w, "by chance"),
        "rows are exchanged": right[::-1],
        "the sum is of half precision": right.astype(np.float16).astype(np.float32),
        "another sign": -right,
    }
    for what, other in wrong.items():
        found = rlx.compare(program(call, "float32"), {"y": other}, inputs=given)
        assert found.difference is not None and found.difference.apart is not None, what
        assert found.difference.apart.proved, what


LAYER_NORM = """\
@R.function
def main(x: R.Tensor((3, 300), "float32"), w: R.Tensor((300, 2), "float32")):
    g = R.ones((300,), "float32")
    b = R.zeros((300,), "float32")
    y = R.nn.layer_norm(x, g, b, axes=[-1], epsilon=1e-5)
    return y
"""


def normalised(x: Array, epsilon: float, order: str) -> Array:
    mean = added_up(x, order) / np.float32(300)
    off = x - mean[:, None]
    variance = added_up(off * off, order) / np.float32(300)
    return off / np.sqrt(variance + np.float32(epsilon))[:, None]


def test_what_comes_of_sums_is_bounded_too() -> None:
    given = inputs("float32")
    given["x"] = given["x"] / np.float32(1e4)  # where epsilon matters
    for order in ORDERS:
        right = normalised(given["x"], 1e-5, order)
        assert rlx.compare(rlx.parse(LAYER_NORM), {"y": right}, inputs=given).agrees, order
    wrong = normalised(given["x"], 2e-5, "by chance")
    found = rlx.compare(rlx.parse(LAYER_NORM), {"y": wrong}, inputs=given).difference
    assert found is not None and found.spot.name == "y"


@pytest.mark.parametrize(
    ("call", "value"),
    [
        ("R.exp(R.multiply(p, p))", lambda p: np.exp(p * p)),
        ("R.divide(p, R.add(p, q))", lambda p, q=np.float32(1e-3): p / (p + q)),
        ("R.log(R.sqrt(R.abs(p)))", lambda p: np.log(np.sqrt(np.abs(p)))),
        ("R.tanh(R.sin(p))", lambda p: np.tanh(np.sin(p))),
        ("R.where(R.greater(R.multiply(p, p), R.abs(p)), p, q)", None),
    ],
)
def test_functions_and_choices(call: str, value: Callable[[Array], Array] | None) -> None:
    """A value one unit beside what NumPy rounds is accepted; one a thousandth beside is not."""
    module = rlx.parse(f"""\
@R.function
def main(p: R.Tensor((50,), "float32")):
    q = R.const(1e-3, "float32")
    y = {call}
    return y
""")
    p = np.linspace(0.1, 3, 50).astype(np.float32)
    right = np.where(p * p > np.abs(p), p, np.float32(1e-3)) if value is None else value(p)
    near = np.nextafter(right, np.float32(np.inf))
    assert rlx.compare(module, {"y": near}, inputs={"p": p}).agrees
    off = right.copy()
    off[7] *= np.float32(1.001)
    found = rlx.compare(module, {"y": off}, inputs={"p": p}).difference
    assert found is not None and found.apart is not None and found.apart.index == (7,)


def test_at_a_jump_both_sides_are_accepted() -> None:
    """0.1 * 3 is on one side of 0.3 in float64 and on the other in float32."""
    module = rlx.parse("""\
@R.function
def main(p: R.Tensor((2,), "float32")):
    y = R.floor(R.divide(R.multiply(p, R.const(3, "float32")), R.const(0.3, "float32")))
    return y
""")
    p = np.array([0.1, 0.15], np.float32)
    for at_the_jump in (0.0, 1.0):
        other = np.array([at_the_jump, 1.0], np.float32)
        assert rlx.compare(module, {"y": other}, inputs={"p": p}).agrees
    wrong = rlx.compare(module, {"y": np.array([1.0, 2.0], np.float32)}, inputs={"p": p})
    assert wrong.difference is not None and wrong.difference.apart is not None
    assert wrong.difference.apart.index == (1,)
