"""Texts of Relay that few write: what is said of each, or what it means."""

from __future__ import annotations

import numpy as np
import pytest

from rlx import relay
from rlx.semantics.values import Tensor, TupleValue

VECTOR = "Tensor[(2), float32]"
DYNAMIC = "Tensor[(?, 3), float32]"
REFUSED = {
    f"def @main(%x: {DYNAMIC}, %y: {DYNAMIC}) {{ variance(%x, %y, axis=[0], unbiased=True) }}": (
        "variance: the unbiased variance needs axes of known size"
    ),
    "def @main(%x: Tensor[(2, 3), float32]) { argmax(%x, axis=[1], select_last_index=True) }": (
        "argmax: select_last_index is not supported"
    ),
    'def @main(%x: Tensor[(2, ?), float32]) { layout_transform(%x, src_layout="NC", dst_layout="NC2c") }': (
        "layout_transform: only an axis of known length can be split, not the axis C"
    ),
    "def @main(%m: Tensor[(1, 4, ?, 8), float32]) { nn.upsampling(%m, scale_h=1.5f, scale_w=2f) }": (
        "nn.upsampling: only an axis of known size can be scaled by 1.5"
    ),
    f'def @main(%x: {VECTOR}) {{ cast(%x, dtype="floot") }}': (
        "cast: expected an element type for dtype, found 'floot'"
    ),
    f"def @main(%x: {VECTOR}, %y: fn ({VECTOR}) -> {VECTOR}) {{ broadcast_to_like(%x, %y) }}": (
        "broadcast_to_like: the shape of the operand is not known"
    ),
    f"def @main() {{ {'1' * 5000} }}": "the number cannot be read",
    "def @main() { 1.5i32 }": "'1.5i32' is not an integer",
    "def @main() { 1e3i32 }": "'1e3i32' is not an integer",
}


@pytest.mark.parametrize("text", REFUSED, ids=range(len(REFUSED)))
def test_what_is_refused(text: str) -> None:
    found = relay.check(text).diagnostics
    assert [d.message for d in found if d.severity == "error"] == [REFUSED[text]]


def test_functions_get_different_names() -> None:
    names = ("a.b", "a_b", "a_b_1")
    text = "".join(
        f"def @{name}(%x: {VECTOR}) {{ add(%x, {at}f) }}\n" for at, name in enumerate(names)
    )
    made = relay.to_relax(relay.parse(text))
    assert [var.name_hint for var in made.functions] == ["a_b", "a_b_1", "a_b_1_1"]


def test_a_binding_with_the_type_of_a_function() -> None:
    kind = f"fn ({VECTOR}) -> {VECTOR}"
    text = f"def @main(%g: {kind}, %x: {VECTOR}) {{ let %f: {kind} = %g; %f(%x) }}"
    plain = text.replace(f"%f: {kind}", "%f")
    assert not relay.check(text).diagnostics
    assert str(relay.to_relax(relay.parse(text))) == str(relay.to_relax(relay.parse(plain)))


@pytest.mark.parametrize(
    ("sizes", "shape"), [("-4, 2, -1, -2", (2, 1, 4, 6)), ("0, 0, -4, 3, -1", (2, 4, 3, 2))]
)
def test_a_dimension_in_two_parts(sizes: str, shape: tuple[int, ...]) -> None:
    given = np.arange(48, dtype=np.float32).reshape(2, 4, 6)
    text = f"def @main(%x: Tensor[(2, 4, 6), float32]) {{ reshape(%x, newshape=[{sizes}]) }}"
    found = relay.run(relay.parse(text), given).numpy()
    np.testing.assert_array_equal(found, given.reshape(shape), strict=True)


def test_arguments_may_be_values_of_the_machine() -> None:
    text = f"def @main(%t: ({VECTOR}, {VECTOR})) {{ subtract(%t.0, %t.1) }}"
    module, (one, two) = relay.parse(text), np.array([[1, 2], [5, 9]], np.float32)
    for given in ((one, two), TupleValue((Tensor(one), Tensor(two))), (Tensor(one), two)):
        np.testing.assert_array_equal(relay.run(module, given).numpy(), one - two)


def test_a_string_with_an_escape_that_json_has_not() -> None:
    text = f'def @main(%x: {VECTOR}) {{ foo(%x, name="a\\qb") }}'
    assert [d.code for d in relay.check(text).diagnostics] == ["RL-operator-known"]
    module = relay.parse(text)
    printed = relay.print_module(module)
    assert 'name="a\\\\qb"' in printed
    assert relay.structural_equal(module, relay.parse(printed))
