"""Memory that nothing wrote: who reads it stops, and who passes it on or writes to it goes on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rlx.grammar.nodes.dtype import dtype
from rlx.semantics.values import ShapeValue
from rlx.vm import ExecBuilder, Fault, VirtualMachine

PLUS = """
@R.function
def main(x: R.Tensor, y: R.Tensor):
    z = R.add(x, y)
    return z
"""


def machine(kind: str, shape: tuple[int, ...], fill: str, name: str, more: list[Any]) -> Any:
    """Calls a function on a tensor in new memory, which ``fill`` may write to before."""
    ib = ExecBuilder()
    ib.add_operator("plus", PLUS)
    with ib.function("main", num_inputs=0):
        r, size = ib.r, ib.c(ShapeValue(shape))
        ib.emit_call("vm.builtin.alloc_storage", [ib.vm_state(), (16,), 0, dtype(kind)], r(0))
        ib.emit_call("vm.builtin.alloc_tensor", [ib.vm_state(), r(0), 0, size, dtype(kind)], r(1))
        if fill:
            ib.emit_call(fill, [r(1)])
        ib.emit_call(name, [r(1), *more], r(2))
        ib.emit_ret(r(2))

    def ones(x: Any) -> None:
        x[...] = 1

    return VirtualMachine(ib.get(), {"ones": ones, "none": lambda x: None, "seen": lambda x: 3})


READERS: dict[str, tuple[str, list[Any], object]] = {
    "plus": ("E-evaluate-written", [np.ones(2, np.int64)], [2, 2]),
    "vm.builtin.tensor_to_shape": ("E-packed-written", [], (1, 1)),
    "vm.builtin.to_device": ("E-packed-written", [1, 0], [1, 1]),
    "vm.builtin.read_if_cond": ("E-packed-written", [], True),
}


@pytest.mark.parametrize("name", READERS)
def test_who_reads_it_stops(name: str) -> None:
    code, more, expected = READERS[name]
    kind, shape = ("bool", ()) if name.endswith("cond") else ("int64", (2,))
    with pytest.raises(Fault) as caught:
        machine(kind, shape, "", name, more)["main"]()
    assert f"[{code}]" in str(caught.value)
    for fill in ("ones", "none"):  # a function of the user's may write whatever it is given
        found = machine(kind, shape, fill, name, more)["main"]()
        if fill == "ones":
            assert (found.tolist() if isinstance(found, np.ndarray) else found) == expected


@pytest.mark.parametrize("name", ["vm.builtin.shape_of", "seen"])
def test_who_reads_no_element_goes_on(name: str) -> None:
    assert machine("int64", (2,), "", name, [])["main"]() == ((2,) if "shape" in name else 3)


def test_a_view_of_it_is_not_written_either() -> None:
    with pytest.raises(Fault, match="was never written"):
        machine("int64", (2,), "", "vm.builtin.reshape", [(2, 1)])["main"]()
    found = machine("int64", (2,), "ones", "vm.builtin.reshape", [(2, 1)])["main"]()
    assert found.tolist() == [[1], [1]]
