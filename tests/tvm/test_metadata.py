"""Constants that TVM prints into the metadata of a module are read with every element type, and run."""

from __future__ import annotations

import pytest

from rlx.checker.check import check_text
from rlx.grammar.nodes.dtype import dtype
from rlx.grammar.read.parser import parse
from rlx.semantics.arrays import numpy_type
from rlx.semantics.machine.program import load
from rlx.semantics.outcome import Returned
from rlx.semantics.values import Tensor

pytest.importorskip("tvm")
import numpy as np
import tvm
from tvm import relax, tirx

TYPES = [
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "bfloat16", "float4_e2m1fn"),
    *("float8_e3m4", "float8_e4m3", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e4m3b11fnuz"),
    *("float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"),
]


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0, 2)])
def test_constants_run(name: str, shape: tuple[int, ...]) -> None:
    kind = numpy_type(dtype(name))
    count = int(np.prod(shape))
    data = np.array([1, 0.5, 2, 4, 1, 2][:count]).astype(kind).reshape(shape)
    block = relax.BlockBuilder()
    with block.function("main", []):
        block.emit_func_output(block.emit(relax.Tuple([relax.const(data, name)])))
    parsed = parse(block.get().script(show_meta=True))
    assert not parsed.diagnostics
    outcome = load(parsed.modules[0]).run("main", ())
    assert isinstance(outcome, Returned)
    (tensor,) = outcome.value.fields  # type: ignore[attr-defined]
    assert isinstance(tensor, Tensor)
    assert tensor.data.dtype == kind and tensor.data.shape == shape
    assert tensor.data.tobytes() == data.tobytes()


def test_messages_of_kernels_are_in_the_metadata() -> None:
    """TVM prints texts with line breaks there, once a kernel checks its arguments."""
    kernel = '@T.prim_func\ndef main(x: T.Buffer((4,), "float32")):\n    x[0] = T.float32(1)\n'
    found = tvm.script.from_source(kernel).with_attr("global_symbol", "main")
    target = tvm.target.Target("llvm", host="llvm")
    module = tirx.transform.BindTarget(target)(tvm.IRModule({"main": found}))
    text = tirx.transform.MakePackedAPI()(module).script(show_meta=True)
    assert 'metadata["ir.StringImm"]' in text
    assert not check_text(text).errors
