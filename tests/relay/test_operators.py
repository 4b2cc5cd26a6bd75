"""The table of operators: each one checks, runs, and means the same in Relax."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rlx
from rlx import relay
from rlx.grammar.print.printer import print_module
from rlx.relay.operator_table import TABLE
from rlx.relay.translation import translate
from rlx.semantics.machine import load
from rlx.semantics.values import Tensor
from tests.relay.law import same
from tests.relay.operator_calls import CALLS, PARAMETERS
from tests.relay.test_parser import errors


def value(name: str) -> Any:
    """An argument for a parameter."""
    kind = relay.parse(f"fn (%x: {PARAMETERS[name]}) {{ %x }}")["main"].params[0].annotation
    shape: tuple[int, ...] = kind.shape  # type: ignore[union-attr]
    random = np.random.default_rng(len(name) + ord(name[0]))
    if str(kind.dtype) == "float32":  # type: ignore[union-attr]
        return random.uniform(0.1, 0.9, shape).astype(np.float32)
    return random.integers(0, 2, shape).astype(str(kind.dtype))  # type: ignore[union-attr]


def text_of(call: str) -> tuple[str, list[str]]:
    """A program of one call, and the parameters that it uses."""
    used = [name for name in PARAMETERS if f"%{name}," in call or f"%{name})" in call]
    params = ", ".join(f"%{name}: {PARAMETERS[name]}" for name in used)
    return f"def @main({params}) {{ {call} }}", used


def test_every_operator_has_a_call() -> None:
    assert {call.partition("(")[0] for call in CALLS} == set(TABLE)
    assert len(TABLE) >= 150


@pytest.mark.parametrize("call", CALLS)
def test_a_call_means_the_same_in_relax(call: str) -> None:
    text, used = text_of(call)
    report = relay.check(text)
    assert [str(d) for d in report.diagnostics if d.severity != "note"] == []
    module, args = relay.parse(text), [value(name) for name in used]
    made = relay.to_relax(module)
    written = rlx.check(rlx.show(made))
    assert written.ok, str(written.errors[0])
    mine = relay.run(module, *args)
    theirs = load(made).run("main", [Tensor(arg) for arg in args])
    assert mine.ok, str(mine)
    assert same(mine.numpy(), theirs.numpy())


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("nn.dense(%x, %w)", lambda x, w: x @ w.T),
        ("nn.bias_add(%x, %v, axis=1)", lambda x, v: x + v),
        ("sum(%x, axis=[1], exclude=True)", lambda x: x.sum(0)),
        ("argmax(%x, axis=[1])", lambda x: x.argmax(1).astype(np.int32)),
        ("gather_nd(%x, %n)", lambda x, n: x[n[0], n[1]]),
        ("strided_slice(%x, begin=[0, 1], end=[1, 2], slice_mode=\"size\")", lambda x: x[:1, 1:3]),
        ("log2(%x)", lambda x: np.log2(x)),
        ("all(%p, axis=[0])", lambda p: p.all(0)),
        ("any(%p, axis=[1])", lambda p: p.any(1)),
        ("trilu(%x, 1, upper=True)", lambda x: np.triu(x, 1)),
        ("trilu(%x, 0, upper=False)", lambda x: np.tril(x)),
        ("sort(%x, axis=1, is_ascend=False)", lambda x: -np.sort(-x, 1)),
        ("nn.batch_matmul(%a, %b)", lambda a, b: a @ b.transpose(0, 2, 1)),
        ("nn.global_max_pool2d(%m)", lambda m: m.max((2, 3), keepdims=True)),
        ("argwhere(%p)", lambda p: np.argwhere(p).astype(np.int32)),
        ("shape_of(%x)", lambda x: np.array([2, 3], np.int32)),
        ("expand_dims(%v, axis=0, num_newaxis=2)", lambda v: v[None, None]),
        ("clip(%x, a_min=0.25f, a_max=0.5f)", lambda x: x.clip(0.25, 0.5)),
        ("one_hot(%j, 5f, 1f, depth=3, axis=-1)", lambda j: 1 + 4 * np.eye(3, dtype="f4")[j]),
        ("take(%x, 7, axis=0)", lambda x: x[1]),
        ("reshape(%a, newshape=[-4, 1, 2, -2])", lambda a: a.reshape(1, 2, 4, 6)),
        ("reshape(%a, newshape=[-3, -4, -1, 2])", lambda a: a.reshape(8, 3, 2)),
        ("layout_transform(%m, src_layout=\"NCHW\", dst_layout=\"NHWC\")",
         lambda m: m.transpose(0, 2, 3, 1)),
        ("layout_transform(%m, src_layout=\"NCHW\", dst_layout=\"NCHW2c\")",
         lambda m: m.reshape(1, 2, 2, 8, 8).transpose(0, 1, 3, 4, 2)),
        ("layout_transform(%s, src_layout=\"NCHW4c\", dst_layout=\"NHWC\")",
         lambda s: s.transpose(0, 2, 3, 1, 4).reshape(1, 4, 4, 16)),
        ("layout_transform(%x, src_layout=\"NC\", dst_layout=\"NC2c\")",
         lambda x: np.pad(x, ((0, 0), (0, 1))).reshape(2, 2, 2)),
        ("nn.upsampling(%m, scale_h=2f, scale_w=3f)", lambda m: m.repeat(2, 2).repeat(3, 3)),
        ("variance(%x, %y, axis=[0])", lambda x, y: ((x - y) ** 2).mean(0)),
        ("variance(%x, %y, axis=[1], unbiased=True)", lambda x, y: ((x - y) ** 2).sum(1) / 2),
        ("logsumexp(%a, axis=[1])", lambda a: np.log(np.exp(a).sum(1))),
        ("slice_like(%a, %q, axes=[0, 2])", lambda a, q: a[:, :, :5]),
        ("nn.depth_to_space(%m, block_size=2)",
         lambda m: m.reshape(1, 2, 2, 1, 8, 8).transpose(0, 3, 4, 1, 5, 2).reshape(1, 1, 16, 16)),
        ("nn.space_to_depth(%m, block_size=2)",
         lambda m: np.concatenate([m[:, :, y::2, x::2] for y in (0, 1) for x in (0, 1)], 1)),
        ("nn.space_to_depth(nn.depth_to_space(%m, block_size=2), block_size=2)", lambda m: m),
        ("nn.lrn(%m, size=3, bias=1f, alpha=0.5f, beta=0.75f)", lambda m: m / np.stack(
            [1 + 0.5 / 3 * (m[:, max(0, c - 1):c + 2] ** 2).sum(1) for c in range(4)], 1) ** 0.75),
        ("nn.l2_normalize(%x, eps=0f, axis=[1])",
         lambda x: x / np.sqrt((x * x).sum(1, keepdims=True))),
    ],
)  # fmt: skip
def test_values(call: str, expected: Any) -> None:
    text, used = text_of(call)
    args = [value(name) for name in used]
    found, wanted = relay.run(relay.parse(text), *args).numpy(), expected(*args)
    assert found.dtype == wanted.dtype and found.shape == wanted.shape
    np.testing.assert_allclose(found, wanted, rtol=2e-5)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("log(%x, %x)", "log: expected 1 operand, found 2"),
        ("add(%x)", "add: expected 2 operands, found 1"),
        ("clip(%x, a_min=0f)", "clip: expected a number for a_max, found None"),
        ("clip(%j, a_min=inff, a_max=1)", "clip: expected a finite number for a_min, found inf"),
        ("nn.upsampling(%m, scale_w=nanf)", "nn.upsampling: expected a finite number for scale_w"),
        ("trilu(%x, inff)", "trilu: the diagonal of trilu must be a constant number"),
        ("cast(%x, dtype=1)", "cast: expected an element type for dtype, found 1"),
        ("transpose(%x, axes=[a])", "transpose: expected a list of integers for axes"),
        ("reshape(%x, newshape=[-5])", "reshape: -5 has no meaning in newshape"),
        ("reshape(%x, newshape=[-2, -3])", "reshape: newshape needs more dimensions than"),
        ("reshape(%x, newshape=[-4, -1])", "reshape: expected two sizes after -4 in newshape"),
        ("layout_transform(%x, src_layout=\"NC\", dst_layout=\"NW\")",
         "layout_transform: from NC to NW: the axes differ"),
        ("layout_transform(%s, src_layout=\"NCHW8c\", dst_layout=\"NCHW\")",
         "layout_transform: dimension 4 is 4, but 8 in the layout NCHW8c"),
        ("layout_transform(%x, src_layout=\"NC\", dst_layout=\"NCC\")",
         "layout_transform: expected a layout for dst_layout, found 'NCC'"),
        ("layout_transform(%x, src_layout=\"NCW\", dst_layout=\"NWC\")",
         "layout_transform: the layout NCW is not that of an operand of rank 2"),
        ("layout_transform(%a, src_layout=\"NCW2w2w\", dst_layout=\"NCW\")",
         "layout_transform: the layout NCW2w2w splits an axis twice by the same factor"),
        ("nn.upsampling(%m, layout=\"NCHW4c\")", "nn.upsampling: the layout NCHW4c of an operand"),
        ("arange(%v, 1, 1)", "arange: a bound of arange must be a constant number"),
        ("concatenate(%x)", "concatenate: expected a tuple of tensors"),
        ("nn.bias_add(%x, %v, axis=5)", "nn.bias_add: axis 5 is out of range for rank 2"),
        ("argmax(%x, axis=[0, 1])", "argmax: expected one axis, found 2"),
        ("nn.pad(%x, 0f, pad_width=[1])", "nn.pad: expected a pair of widths for each axis"),
        ("nn.pad(%x, %v, pad_width=[])", "nn.pad: the value that is padded with must be a const"),
        ("nn.matmul(%v, %x, transpose_a=True)", "nn.matmul: expected matrices, found an operand"),
        ("expand_dims(%x, axis=-1, num_newaxis=2)", "expand_dims: expected axis >= 0 for more than one new axis"),
        ("strided_slice(%x, begin=[0], end=[1, 2])", "strided_slice: begin, end and axes have"),
        ("take(%x, %j, batch_dims=1)", "take: batch_dims are not supported"),
        ("nn.softmax(%x, axis=a)", "nn.softmax: expected an integer for axis, found 'a'"),
        ("sum(%x, keepdims=a)", "sum: expected True or False for keepdims, found 'a'"),
        ("einsum((%x, %w), equation=1)", "einsum: expected a string for equation, found 1"),
        ("nn.conv2d(%m, %k2, channels=7)", "nn.conv2d: channels is 7, but the weight has 4"),
        ("nn.conv2d(%m, %k2, kernel_size=[5, 5])", "nn.conv2d: kernel_size is 5, 5, but the weight"),
        ("nn.conv1d_transpose(%l, %k1, channels=8)", "nn.conv1d_transpose: channels is 8, but"),
        ("nn.contrib_conv2d_NCHWc(%s, %k5, channels=8, data_layout=\"NCHW4c\", kernel_layout=\"OIHW4i4o\")",
         "nn.contrib_conv2d_NCHWc: channels is 8, but the weight has 4"),
        ("nn.dense(%x, %w, units=9)", "nn.dense: units is 9, but the weight has 4"),
        ("nn.matmul(%x, %w, units=3, transpose_b=True)", "nn.matmul: units is 3, but the weight has 4"),
        ("nn.lrn(%m, size=4)", "nn.lrn: expected an odd size, found 4"),
        ("nn.lrn(%m, axis=4)", "nn.lrn: axis 4 is out of range for rank 4"),
        ("nn.depth_to_space(%m, block_size=4)", "nn.depth_to_space: the number of channels 4 is not"),
        ("nn.depth_to_space(%m, block_size=2, mode=\"RCD\")", "nn.depth_to_space: expected the mode"),
        ("nn.space_to_depth(%m, block_size=3)", "nn.space_to_depth: the height 8 is not a multiple"),
        ("nn.space_to_depth(%m, block_size=2, layout=\"NC\")", "nn.space_to_depth: expected the layout"),
        ("slice_like(%x, %q, axes=[2])", "slice_like: the axes [2] are not those of operands of"),
        ("slice_like(%q, %a)", "slice_like: an axis of length 3 has no 4 elements"),
        ("nn.global_avg_pool2d(%m, layout=\"n\")", "nn.global_avg_pool2d: expected a layout, found"),
        ("nn.global_avg_pool2d(%m, out_layout=\"NHWC\")", "nn.global_avg_pool2d: an out_layout"),
    ],
)  # fmt: skip
def test_calls_that_have_no_translation(call: str, words: str) -> None:
    text, used = text_of(call)
    (found,) = relay.check(text).errors
    assert found.code == "RL-operator-operands" and found.message.startswith(words)
    outcome = relay.run(relay.parse(text), *(value(name) for name in used))
    assert type(outcome).__name__ == "IllFormed"
    assert str(outcome).startswith(f"ill-formed[RL-operator-operands]: {words}")
    with pytest.raises(rlx.ParseError):
        relay.to_relax(relay.parse(text))


def test_an_operator_that_the_table_lacks_is_called_by_its_name() -> None:
    text = 'fn (%x: float32) { nn.rellu(%x, n=2, s="a", t=[1, 2], b=True, o=None) }'
    assert not errors(text)
    (note,) = (d for d in relay.check(text).diagnostics if d.code == "RL-operator-known")
    assert note.severity == "note" and note.help == "did you mean 'nn.relu'?"
    module, x = relay.parse(text), np.float32(3)
    seen: list[tuple[Any, ...]] = []

    def rellu(*args: Any) -> Any:
        seen.append(args[1:])
        return args[0]

    assert relay.run(module, x, packed={"nn.rellu": rellu}).ok
    made = load(relay.to_relax(module), packed={"nn.rellu": rellu})
    assert made.run("main", [Tensor(np.asarray(x))]).ok
    assert seen == [(2, "a", (1, 2), True, None)] * 2
    assert type(relay.run(module, x)).__name__ == "Unsupported"


def test_an_attribute_without_meaning_is_noted() -> None:
    text = "fn (%x: float32) { nn.relu(%x, whatever=1) }"
    (note,) = relay.check(text).diagnostics
    assert (note.code, note.severity) == ("RL-operator-attribute", "note")
    assert "the attribute whatever has no meaning in Relax" in note.message


def test_a_size_that_relax_does_not_infer() -> None:
    flat = relay.parse("fn (%x) { reshape(%x, newshape=[-1]) }")
    assert relay.check(str(flat)).ok and "R.flatten(x)" in print_module(relay.to_relax(flat))
    text = "fn (%x) { reshape(%x, newshape=[-1, 2]) }"
    (note,) = translate(relay.parse(text)).losses
    assert (note.code, note.severity) == ("RL-operator-operands", "note")
    assert note.span and text[slice(*note.span)] == "reshape(%x, newshape=[-1, 2])"
    assert note.message.startswith("reshape: the check of Relax refuses a -1")
    assert [d.code for d in relay.check(text).diagnostics] == ["OBL-reshape-infer"]


@pytest.mark.parametrize("layout", ["NCHW0c", "NCHW00c", "0cNCHW4c"])
def test_nothing_is_split_into_parts_of_no_elements(layout: str) -> None:
    call = CALLS[[each.partition("(")[0] for each in CALLS].index("nn.contrib_conv2d_NCHWc")]
    text, _ = text_of(call.replace('out_layout="NCHW4c"', f'out_layout="{layout}"'))
    (found, *_) = relay.check(text).errors
    assert found.code == "OBL-layout-axes"
    assert f"'{layout}' is not a layout" in found.message


def test_a_function_is_shown_by_its_parameters() -> None:
    module = relay.parse("fn (%x: float32) { fn (%y, %z) { add(%y, %x) } }")
    found = relay.run(module, np.float32(1))
    assert str(found.numpy()) == "closure of (%y, %z)"


def test_a_result_may_be_split_twice_by_the_same_factor() -> None:
    call = "nn.conv2d(%m, %k2, padding=[1, 1, 1, 1])"
    plain, split = (
        relay.run(relay.parse(text_of(each)[0]), value("m"), value("k2")).numpy()
        for each in (call, call.replace(")", ', out_layout="NCHW4c4c")'))
    )
    filled = np.pad(plain, ((0, 0), (0, 12), (0, 0), (0, 0))).reshape(1, 1, 4, 4, 8, 8)
    assert same(split, filled.transpose(0, 1, 4, 5, 2, 3))


@pytest.mark.parametrize("axis", range(-5, 5))
@pytest.mark.parametrize(
    ("call", "rank"),
    [
        ("nn.bias_add(%x, %v, axis=", 2),
        ("nn.instance_norm(%a, %v, %v, axis=", 3),
        ("nn.group_norm(%a, %v, %v, num_groups=1, axis=", 3),
    ],
)
def test_an_axis_is_in_the_range_of_numpy(call: str, rank: int, axis: int) -> None:
    text, _ = text_of(f"{call}{axis})")
    said = [d.message for d in relay.check(text).errors if "out of range" in d.message]
    try:
        np.expand_dims(np.zeros((1,) * (rank - 1)), axis)  # whose result has this rank
    except ValueError:
        name = call.partition("(")[0]
        assert said == [f"{name}: axis {axis} is out of range for rank {rank}"]
    else:
        assert not said
