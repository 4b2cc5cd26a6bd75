"""Refinement where TVM is: modules of TVM, the instrument, `rlx bisect --refine`, the oracle."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rlx
import rlx.tvm
from rlx.cli import COMMANDS
from rlx.commands.bisect import main
from rlx.generate.campaign.oracles import examine

from .networks.decoder import decoder
from .schedules import pairs

tvm = pytest.importorskip("tvm")

TEXT = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 4), "float32"), w: R.Tensor((4, 4), "float32")):
        with R.dataflow():
            a = R.matmul(x, w)
            b = R.add(a, x)
            R.output(b)
        return b
"""


@pytest.fixture(scope="module")
def module() -> Any:
    """The program as TVM has it."""
    return tvm.script.from_source(rlx.show(TEXT))


def legalized(module: Any) -> Any:
    """The program as loops."""
    return tvm.relax.transform.LegalizeOps()(module)


def wrong(module: Any) -> Any:
    """Another operator."""
    return tvm.script.from_source(rlx.show(TEXT.replace("R.add", "R.subtract")))


def test_modules_and_functions_of_tvm(module: Any) -> None:
    """A module on either side, beside texts; and a function alone."""
    assert rlx.refines(module, legalized(module), floats="real").proved
    assert rlx.refines(TEXT, wrong(module)).refuted
    assert rlx.refines(module["main"], TEXT, entry="main").proved


MASKED = """
@I.ir_module
class Module:
    @R.function
    def main(
        q: R.Tensor((8, 8, 8), "float32"), k: R.Tensor((8, 8, 8), "float32"),
        v: R.Tensor((8, 8, 8), "float32"), sent: R.Tensor((2, 8), "bool"),
    ):
        with R.dataflow():
            place = R.arange(0, 8, 1, dtype="int64")
            row = R.reshape(R.arange(0, 2, 1, dtype="int64"), R.shape([2, 1]))
            here = R.index_tensor(sent, (row, place))
            there = R.index_tensor(sent, (row, R.arange(0, 8, 1, dtype="int64")))
            same = R.equal(R.reshape(here, R.shape([2, 8, 1])), R.reshape(there, R.shape([2, 1, 8])))
            earlier = R.less_equal(place, R.reshape(place, R.shape([8, 1])))
            seen = R.reshape(R.bitwise_and(earlier, same), R.shape([2, 1, 8, 8]))
            mask = R.where(seen, R.const(0.0, "float32"), R.const(-3e38, "float32"))
            scores = R.reshape(R.matmul(q, R.permute_dims(k, [0, 2, 1])), R.shape([2, 4, 8, 8]))
            share = R.nn.softmax(R.add(R.multiply(scores, R.const(0.35, "float32")), mask), axis=-1)
            out = R.matmul(R.reshape(share, R.shape([8, 8, 8])), v)
            scores1 = R.reshape(R.matmul(out, R.permute_dims(k, [0, 2, 1])), R.shape([2, 4, 8, 8]))
            share1 = R.nn.softmax(R.add(R.multiply(scores1, R.const(0.35, "float32")), mask), axis=-1)
            out1 = R.matmul(R.reshape(share1, R.shape([8, 8, 8])), v)
            R.output(out1)
        return out1
"""


def test_a_mask_of_indices() -> None:
    """Two layers of attention under the mask that PyTorch exports: what `R.arange` counts is the
    index of a tensor, which is inside only because of what the numbers are.
    """
    module = tvm.script.from_source(MASKED)
    assert rlx.refines(module, legalized(module), floats="real").proved


CLIPPED = (
    """
@I.ir_module
class Module:
    @R.function
    def main(x0: R.Tensor((1, 8, 4, 4), "float32"), w: R.Tensor((8, 8, 1, 1), "float32")):
        with R.dataflow():
"""
    + "".join(
        f"""
            y{k} = R.nn.conv2d(x{k}, w)
            x{k + 1} = R.clip(y{k}, 0.0, 6.0)
"""
        for k in range(16)
    )
    + """
            R.output(x16)
        return x16
"""
)
PERMUTED = """
@I.ir_module
class Module:
    @R.function
    def main(
        x: R.Tensor((1, 8, 8, 8), "float32"), v: R.Tensor((1, 8, 1, 1), "float32"),
        g: R.Tensor((8,), "float32"), h: R.Tensor((8,), "float32"),
    ):
        with R.dataflow():
            a = R.add(x, v)
            b = R.permute_dims(a, axes=[0, 2, 3, 1])
            c = R.nn.layer_norm(b, g, h, axes=[-1])
            d = R.multiply(R.nn.gelu(c), h)
            e = R.add(a, R.permute_dims(d, axes=[0, 3, 1, 2]))
            f = R.permute_dims(e, axes=[0, 2, 3, 1])
            i = R.nn.layer_norm(f, g, h, axes=[-1])
            j = R.add(e, R.permute_dims(R.nn.gelu(i), axes=[0, 3, 1, 2]))
            R.output(j)
        return j
"""
COUNTED = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((16,), "int64")):
        with R.dataflow():
            y = R.add(x, R.arange(8, -8, T.float64(-1.0), dtype="int64"))
            R.output(y)
        return y
"""


@pytest.mark.parametrize("text", [CLIPPED, PERMUTED, COUNTED], ids=["clips", "cube", "count"])
def test_networks_as_they_are_exported(text: str) -> None:
    """A limit after each of sixteen convolutions, as MobileNet has; channels that are normalised
    where all axes have one length, as in ConvNeXt; integers that are counted by a float, as in XLNet.
    """
    module = tvm.script.from_source(text)
    assert rlx.refines(module, legalized(module), floats="real").proved


MASKS = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 4, 8, 8), "float32")):
        with R.dataflow():
            ones = R.full(R.shape([2, 8]), R.const(1.0, "float32"), dtype="float32")
            number = R.cumsum(ones, axis=1)
            later = R.greater(R.arange(0, 8, 1, "int64"), R.reshape(R.arange(0, 8, 1, "int64"), R.shape([8, 1])))
            low = R.where(later, R.const(-3.4028234663852886e38, "float32"), R.const(0.0, "float32"))
            mask = R.broadcast_to(R.reshape(low, R.shape([1, 1, 8, 8])), R.shape([2, 1, 8, 8]))
            padded = R.equal(R.add(mask, R.reshape(ones, R.shape([2, 1, 1, 8]))), R.const(0.0, "float32"))
            whole = R.where(padded, R.const(-3.4028234663852886e38, "float32"), mask)
            bias = R.multiply(R.subtract(number, R.const(1.0, "float32")), ones)
            y = R.add(R.add(x, R.reshape(bias, R.shape([2, 1, 1, 8]))), whole)
            z = R.nn.softmax(y, axis=-1)
            R.output(z)
        return z
"""


def test_masks_that_are_folded() -> None:
    """Masks that are computed of constants alone, several of them equal, in a kernel each and then at once."""
    module, passes = legalized(tvm.script.from_source(MASKS)), tvm.relax.transform
    with tvm.target.Target("llvm"):
        folded = passes.FoldConstant()(module)
        parts = passes.FuseOps()(passes.AnnotateTIROpPattern()(folded))
        fused = passes.FuseTIR()(parts)
    assert rlx.refines(module, folded).proved
    assert rlx.refines(folded, parts).proved
    assert rlx.refines(module, fused, floats="real").proved


LOWERED = [
    ('x: R.Tensor((1, 3, 8, 8), "float32")', "R.nn.adaptive_avg_pool2d(x, (3, 8))"),
    ('x: R.Tensor(("m", 3, "n", "n"), "float32")', "R.nn.avg_pool2d(x, (2, 2), strides=(2, 2))"),
    ('x: R.Tensor(("m", "n"), "float32")', f"R.strided_slice(x, [1], [-2], [{2**63 - 1}])"),
    ('x: R.Tensor(("m", "n"), "float32")', f"R.strided_slice(x, [1], [1], [{2**63 - 1}])"),
    ('x: R.Tensor((1, 3, 8, 8), "float32")', 'R.image.resize2d(x, (11, 5), method="linear")'),
    (
        'x: R.Tensor((1, 3, 8, 8), "float32")',
        'R.image.resize2d(x, (16, 16), method="nearest_neighbor")',
    ),
    (
        'x: R.Tensor((1, 64, 8, 8), "float32"), w: R.Tensor((64, 8, 2, 2), "float32")',
        "R.nn.conv2d_transpose(x, w, strides=2)",
    ),
]
"""Operators whose kernels choose among indices that are computed otherwise than in their definitions."""


@pytest.mark.parametrize(("parameters", "call"), LOWERED)
def test_kernels_that_compute_their_indices(parameters: str, call: str) -> None:
    text = f"@I.ir_module\nclass M:\n    @R.function\n    def main({parameters}):\n"
    module = rlx.parse(f"{text}        y = {call}\n        return y")
    lowered = legalized(tvm.script.from_source(rlx.show(module)))
    assert rlx.refines(module, lowered, floats="real").proved


CHECKED = """
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((3,), "int64")) -> R.Tensor((3,), "int64"):
        ok = R.less(R.max(x), R.const(4, "int64"))
        _ = R.print(x, format="x = {}")
        _ = R.assert_op(ok, x, format="too large: {}")
        y = R.add(x, x)
        return y
"""


def test_prints_and_assertions_as_calls_of_the_run_time() -> None:
    module = tvm.relax.transform.Normalize()(tvm.script.from_source(CHECKED))
    lowered = legalized(module)
    text = lowered.script()
    assert '"relax.run.assert_op"' in text and rlx.refines(module, lowered).proved
    assert not rlx.refines(module, text.replace("x = {}", "y = {}")).proved
    assert rlx.refines(module, text.replace("T.int64(4)", "T.int64(3)")).refuted


RELATIVE = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 8, 16), "float32"), w: R.Tensor((4, 16, 128), "float32")):
        with R.dataflow():
            row = R.expand_dims(R.arange(0, 8, 1, "int64"), axis=[1])
            column = R.strided_slice(POSITIONS, axes=[1], begin=[0], end=[8])
            apart = R.expand_dims(R.subtract(row, column), axis=[0])
            place = R.clip(R.add(R.negative(apart), R.const(64, "int64")), 0, 127)
            y = R.gather_elements(R.matmul(x, w), R.broadcast_to(place, R.shape([4, 8, 8])), axis=-1)
            R.output(y)
        return y
"""


def test_relative_positions() -> None:
    """Indices made of positions that are kept as a constant are seen to be within their axis."""
    text = RELATIVE.replace("POSITIONS", f"R.const({[[*range(32)]]}, 'int64')")
    module = rlx.parse(text)
    lowered = legalized(tvm.script.from_source(rlx.show(module)))
    assert rlx.refines(module, lowered, floats="real").proved


RECURRENT = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 2, 12), "float32"), w: R.Tensor((3, 12), "float32")):
        with R.dataflow():
            zeros = R.full(R.shape([1, 2, 3]), R.const(0.0, "float32"), dtype="float32")
            start = R.squeeze(R.strided_slice(zeros, axes=[0], begin=[0], end=[1]), axis=[0])
            h0 = R.expand_dims(start, axis=[0])
            c0 = R.expand_dims(start, axis=[0])
STEPS
            R.output(h2)
        return h2
"""

STEP = """
            a{0} = R.matmul(R.reshape(h{1}, R.shape([2, 3])), w)
            g{0} = R.split(R.add(R.expand_dims(a{0}, axis=[0]), R.strided_slice(x, axes=[0], begin=[{1}], end=[{0}])), 4, axis=2)
            c{0} = R.add(R.multiply(R.sigmoid(g{0}[1]), c{1}), R.multiply(R.sigmoid(g{0}[0]), R.tanh(g{0}[2])))
            h{0} = R.multiply(R.sigmoid(g{0}[3]), R.tanh(c{0}))
"""


def test_a_recurrent_network_that_begins_with_zeros() -> None:
    """Several of its tensors are these zeros, and the first state is kept in a product with them."""
    text = RECURRENT.replace("STEPS", STEP.format(1, 0) + STEP.format(2, 1))
    module = tvm.relax.transform.Normalize()(tvm.script.from_source(text))
    assert rlx.refines(module, legalized(module), floats="real").proved


def test_positions_of_a_sequence_of_any_length() -> None:
    """Their numbers are a slice of a constant; its length is written in two ways."""
    relax, n = tvm.relax, tvm.tirx.Var("n", "int64")
    x = relax.Var("x", relax.TensorType((2, n, 4), "float32"))
    w = relax.Var("w", relax.TensorType((16, 4), "float32"))
    builder = relax.BlockBuilder()
    with builder.function("main", [x, w]):
        with builder.dataflow():
            places = relax.const(np.arange(16, dtype="int64").reshape(1, 16))
            part = builder.emit(relax.op.strided_slice(places, [1], [0], [n]))
            flat = relax.op.reshape(part, relax.ShapeExpr([tvm.tirx.min(n, 16)]))
            found = builder.emit(relax.op.take(w, builder.emit(flat), axis=0))
            result = builder.emit_output(relax.op.multiply(found, found))
        builder.emit_func_output(result)
    module = builder.get()
    assert rlx.refines(module, legalized(module)).proved


def test_schedules_keep_the_meaning() -> None:
    """TVM's schedules of kernels are proved for all sizes, but a few of them, and none is refuted."""
    answers = [rlx.refines(one, other, floats="real") for _, one, other in pairs(30, seed=0)]
    assert [str(each) for each in answers if each.refuted] == []
    assert sum(each.proved for each in answers) >= 28


def test_the_instrument(module: Any) -> None:
    """The proofs about each pass; the first wrong pass stops the pipeline."""
    instrument = rlx.tvm.Instrument(refine=True)
    assert 'name="Instrument"' in str(instrument)
    with tvm.transform.PassContext(instruments=[instrument]):
        legalized(module)
    (row,) = [each for each in instrument.refined if each.pass_name == "LegalizeOps"]
    assert row.status == "proved" and "real" in row.said
    swap = tvm.transform.module_pass(lambda given, _: wrong(given), opt_level=0, name="Swap")
    with (
        tvm.transform.PassContext(instruments=[rlx.tvm.Instrument(refine=True)]),
        pytest.raises(RuntimeError, match="Swap: main differs"),
    ):
        swap(module)


def test_bisect(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each pass that changed the program has a line."""
    path = tmp_path / "program.rlx"
    path.write_text(TEXT)
    pipeline = "relax.transform.LegalizeOps()"
    assert "bisect" in COMMANDS
    assert main([str(path), "--refine", "--no-run", "--pipeline", pipeline]) == 0
    assert "LegalizeOps: proved (as exact real numbers)" in capsys.readouterr().out


def test_the_oracle() -> None:
    """A right program has no finding, and whole numbers are summed exactly."""
    assert examine("refine", rlx.show(TEXT), 1, "tvm", "LegalizeOps") == []
    assert examine("refine", rlx.show(TEXT), 1, "tvm", "TVM's virtual machine") == []
    assert examine("refine", TEXT, 1) == []


def test_a_decoder_and_what_a_pipeline_makes_of_it() -> None:
    """Fused and lowered to loops; with no token TVM leaves sums unwritten, so there is one."""
    before = decoder(1)
    with tvm.target.Target("llvm"):
        after = tvm.relax.get_pipeline("zero")(before)
    assume = ["n >= 1", "total_length >= 1"]
    assert rlx.refines(before, after, floats="real", assume=assume).proved


def test_a_decoder_whose_parallel_products_are_one() -> None:
    before = decoder(2)
    after = tvm.relax.transform.CombineParallelMatmul()(before)
    assert rlx.refines(before, after, floats="real").proved


def test_a_decoder_of_two_layers_with_loops() -> None:
    """Each softmax and norm is loops in AFTER; what is written in one layer is not looked at in the next."""
    before = decoder(2)
    with tvm.target.Target("llvm"):
        after = tvm.relax.transform.LegalizeOps()(before)
    assert rlx.refines(before, after, floats="real", assume=["n >= 1", "total_length >= 1"]).proved
