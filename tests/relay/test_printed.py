"""Texts as Relay's versions print them: comments with types, objects of the compiler, metadata that is left out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import rlx
from rlx import relay
from rlx.grammar.print.printer import print_module
from rlx.relay.attributes import AttributeObject
from rlx.relay.nodes import RelayCall, RelayConstant
from rlx.relay.parser import read

PRINTED = Path(__file__).parent / "printed"
TEXTS = sorted(path.stem for path in PRINTED.glob("*.relay") if path.stem != "lowered")


def text(name: str) -> str:
    return (PRINTED / f"{name}.relay").read_text("utf-8")


@pytest.mark.parametrize("name", TEXTS)
def test_a_printed_text_is_read_checked_and_translated(name: str) -> None:
    report = relay.check(text(name))
    assert [str(d) for d in report.diagnostics if d.severity != "note"] == []
    module = relay.parse(text(name))
    again = relay.parse(str(module))
    assert relay.structural_equal(again, module)
    assert str(again) == str(module)
    assert rlx.check(print_module(relay.to_relax(module))).ok


def test_a_constant_without_data_has_the_type_that_its_comment_says() -> None:
    body = relay.parse(text("device"))["main"].body
    while isinstance(body, RelayCall):
        weight, body = body.args[-1], body.args[0]
    assert isinstance(weight, RelayConstant)
    assert (weight.data.shape, str(weight.data.dtype)) == ((4, 3, 3, 3), "float32")
    wrong = text("device").replace(
        "Tensor[(4, 3, 3, 3), float32] span", "Tensor[(4, 5, 3, 3), float32] span"
    )
    assert [d.code for d in relay.check(wrong).errors]
    x = np.zeros((1, 3, 8, 8), np.float32)
    outcome = relay.run(relay.parse(text("device")), x)
    assert str(outcome).startswith("unsupported[E-constant-data]")


def test_objects_of_the_compiler_are_kept() -> None:
    attrs = relay.parse(text("device"))["main"].attrs
    device = attrs["virtual_device"]
    assert isinstance(device, AttributeObject) and device.name == "VirtualDevice"
    assert device.fields is not None and device.fields[-1] == ("memory_scope", "global")
    odd = "fn (%x) { f(%x, a={'k': (bool)1, \"l\"=2, {3}}, b=[?, -1], c=Target(id=59e6a), d=@g, e='it\\'s \"so\"') }"
    call = relay.parse(odd)["main"].body
    assert isinstance(call, RelayCall)
    assert str(call.attrs["a"]) == '{"k": 1, "l": 2, {3}}'
    assert call.attrs["e"] == 'it\'s "so"'
    again = relay.parse(str(relay.parse(odd)))
    assert relay.structural_equal(again, relay.parse(odd))


def test_a_module_that_was_lowered_is_refused() -> None:
    (found,) = read(text("lowered")).diagnostics
    assert found.message == (
        "@tvmgen_default_fused_add is a function of TIR: only a module that is not lowered is read"
    )


def test_a_name_may_have_slashes_and_a_slash_divides() -> None:
    module = relay.parse("fn (%a/b: float32, %a: float32) { %a/b * %a }")
    assert relay.structural_equal(
        module, relay.parse("fn (%x: float32, %y: float32) { multiply(%x, %y) }")
    )
    quotient = relay.parse("fn (%a: float32) { %a/log(%a) }")
    assert relay.structural_equal(quotient, relay.parse("fn (%a: float32) { divide(%a, log(%a)) }"))
    (unbound,) = read("fn (%a/b: float32) { log(%a/c) }").diagnostics
    assert unbound.message == "%a/c is not bound"


def test_packed_layouts_compute_what_plain_ones_do() -> None:
    random = np.random.default_rng(7)
    x, w = (random.normal(size=s).astype(np.float32) for s in ((1, 16, 8, 8), (32, 16, 3, 3)))
    packed = relay.run(relay.parse(text("nchwc")), x, w).numpy()
    plain = """def @main(%x: Tensor[(1, 16, 8, 8), float32], %w: Tensor[(32, 16, 3, 3), float32]) {
      %0 = nn.conv2d(%x, %w, padding=[1, 1, 1, 1]);
      %1 = nn.max_pool2d(%0, pool_size=[2, 2], strides=[2, 2]);
      nn.global_avg_pool2d(%1)
    }"""
    np.testing.assert_allclose(
        packed, relay.run(relay.parse(plain), x, w).numpy(), rtol=1e-5, atol=1e-6
    )
