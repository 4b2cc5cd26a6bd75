"""A campaign's requests to TVM, made to TVM itself."""

from __future__ import annotations

import pytest

from rlx.generate.campaign.oracles import ORACLES
from rlx.generate.campaign.oracles.case import Case
from rlx.generate.campaign.peer import BEFORE, PASSES, Peer
from tests.generate.campaign.test_oracles import ILLEGAL, LEGAL_SEED, NEAR_MISS_SEED, PROGRAM

pytest.importorskip("tvm")


def case(text: str, seed: int = LEGAL_SEED) -> Case:
    return Case(text, seed, "tvm", lambda _: None)


def peer() -> Peer:
    found = case(PROGRAM).peer
    assert found is not None
    return found


def test_one_peer_is_asked_by_all() -> None:
    assert case(PROGRAM).peer is case(ILLEGAL).peer is not None
    assert Case(PROGRAM, LEGAL_SEED, "", lambda _: None).peer is None


@pytest.mark.parametrize("oracle", ORACLES)
def test_both_sides_agree_on_a_program(oracle: str) -> None:
    assert ORACLES[oracle](case(PROGRAM)) == []


def test_both_sides_refuse_another_program() -> None:
    assert ORACLES["check"](case(ILLEGAL, NEAR_MISS_SEED)) == []


@pytest.mark.parametrize(
    ("old", "new", "path"),
    [
        ("R.add(", "R.subtract(", ".bindings[0].value.op"),
        ("R.permute_dims(a)", "R.permute_dims(x)", ".bindings[1].value.args[0]"),
        (
            "            R.output",
            "            c = R.exp(b)\n            R.output",
            ".bindings[<missing:2>]",
        ),
        ("return (a, b)", "return (b, a)", ".body.ty.fields[0].shape"),
    ],
)
def test_a_difference_is_named_by_its_place_in_the_first_module(
    old: str, new: str, path: str
) -> None:
    assert PROGRAM.count(old) == 1
    read = peer().read
    said = peer().difference(read(PROGRAM), read(PROGRAM.replace(old, new)))
    assert path in said
    assert peer().difference(read(PROGRAM), read(PROGRAM)) == ""


def test_the_passes_are_those_that_this_version_has() -> None:
    from tvm import IRModule, relax

    found = dict(peer().passes())
    missing = [name for name in PASSES if name not in found]
    assert list(found) == [name for name in PASSES if name in found]
    assert (
        len(missing) < 6 and found.keys() >= {"Normalize", "LegalizeOps", "FuseTIR"} | BEFORE.keys()
    )
    for name in missing:
        with pytest.raises((AttributeError, TypeError)):
            getattr(relax.transform, name)()
    module = peer().read(PROGRAM)
    for name, apply in found.items():
        if not BEFORE.get(name):
            assert isinstance(apply(module), IRModule)
