"""Messages of mismatches."""

from __future__ import annotations

import pytest

from rlx.grammar.nodes.ast import StructInfo
from rlx.solver.order import COMPATIBLE, compatibility, disjoint
from tests.solver.order.build import (
    add,
    func,
    obj,
    packed,
    prim,
    prover,
    shape,
    tensor,
    tup,
    var,
)

N, M = var("n"), var("m")

MESSAGES: list[tuple[StructInfo, StructInfo, str]] = [
    (obj(), tensor((N,)), "Object where Tensor((n,), float32) is expected"),
    (tensor((N,), "float16"), tensor((N,)), "float16 where float32 is expected"),
    (tensor(of="void"), tensor(), "an unknown element type where float32 is expected"),
    (tensor((N, 4)), tensor((N,)), "2 dimensions where 1 is expected"),
    (tensor(), tensor(ndim=3), "an unknown rank where 3 are expected"),
    (tensor(ndim=1), tensor((N,)), "unknown dimensions where Tensor((n,), float32) is expected"),
    (tensor((N, 4)), tensor((N, M)), "dimension 1 is 4 where m is expected"),
    (
        tup(obj(), tensor((N, 4))),
        tup(obj(), tensor((N, 5))),
        "field 1: dimension 1 is 4 where 5 is expected",
    ),
    (
        func((tensor((3,)),), obj()),
        func((tensor((4,)),), obj()),
        "parameter 0: dimension 0 is 4 where 3 is expected",
    ),
    (
        func((), prim(value=N)),
        func((), prim(value=add(N, 1))),
        "result: value is n where n + 1 is expected",
    ),
    (prim(), prim(value=N), "an unknown value where n is expected"),
    (tup(obj()), tup(), "1 field where 0 are expected"),
    (
        func((), obj()),
        func((obj(),), obj()),
        "a function of 0 parameters where one of 1 is expected",
    ),
    (packed(pure=True), func((), obj()), "an opaque function where a closure is expected"),
    (packed(), packed(pure=True), "an impure function where a pure one is expected"),
    (
        tensor((N, N)),
        tensor((16, 32)),
        (
            "Tensor((n, n), float32) where Tensor((16, 32), float32) is expected: "
            "not all dimensions can be equal at once"
        ),
    ),
    (shape((2,)), shape((3,)), "dimension 0 is 2 where 3 is expected"),
]


@pytest.mark.parametrize(("a", "b", "message"), MESSAGES, ids=range(len(MESSAGES)))
def test_message(a: StructInfo, b: StructInfo, message: str) -> None:
    assert compatibility(a, b, prover()).message == message


def test_device() -> None:
    found = compatibility(tensor(on="llvm"), tensor(on="cuda"), prover())
    assert found.message.startswith("llvm") and "cuda" in found.message


def test_derivation() -> None:
    found = compatibility(packed("empty"), packed("default"), prover())
    assert found.message.startswith("an opaque function that derives its result otherwise")


def test_nothing_to_say() -> None:
    assert COMPATIBLE.message == ""
    found = disjoint(shape(ndim=1), shape(ndim=2), prover())
    assert found is not None and found.message == "1 dimension where 2 are expected"
