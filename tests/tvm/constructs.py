"""Modules that use what networks seldom do: control flow, closures, casts, devices, every form of a low-level call.

Each is a text in ``texts/`` that TVM reads (so that what TVM knows of every binding is at hand) or, where
a text is clumsy, a function that builds it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import tvm
from tvm import relax
from tvm.relax.frontend.nn.llm import _decode_kernels, _page_kernels, _prefill_kernels

Module = Any  # TVM carries no types: an IRModule.

TEXTS = {path.stem: path for path in sorted((Path(__file__).parent / "texts").glob("*.txt"))}


def long_function() -> Module:
    """A thousand bindings outside any dataflow block, then a block, then a tuple of many fields."""
    n = tvm.tirx.Var("n", "int64")
    x = relax.Var("x", relax.TensorType([n, 2], "float32"))
    builder = relax.BlockBuilder()
    with builder.function("main", [x]):
        value: Any = x
        kept = []
        for number in range(1000):
            value = builder.emit(relax.op.add(value, x), f"step{number}")
            if number % 50 == 0:
                kept.append(value)
        with builder.dataflow():
            kept.append(builder.emit_output(relax.op.negative(value)))
        builder.emit_func_output(relax.Tuple(kept))
    return builder.finalize()


def nested_tuples() -> Module:
    """Tuples in tuples as one value, and the projections out of them."""
    x = relax.Var("x", relax.TensorType([2], "float32"))
    builder = relax.BlockBuilder()
    with builder.function("main", [x]):
        value: relax.Expr = relax.Tuple([x, relax.Tuple([])])
        for _ in range(6):
            value = relax.Tuple([value, x])
        bound: Any = builder.emit(value, "bound")
        for _ in range(6):
            bound = builder.emit(relax.TupleGetItem(bound, 0), "inner")
        builder.emit_func_output(bound)
    return builder.finalize()


def rebound_shapes() -> Module:
    """The same shape variable in two functions, and casts that bind several at once."""
    builder = relax.BlockBuilder()
    n, m, k = (tvm.tirx.Var(name, "int64") for name in ("n", "m", "k"))
    x = relax.Var("x", relax.TensorType([n, m], "float32"))
    y = relax.Var("y", relax.TensorType(dtype="float32", ndim=3))
    with builder.function("first", [x]):
        flat = builder.emit(relax.op.reshape(x, (n * m,)))
        builder.emit_func_output(flat)
    first = builder.get().get_global_var("first")
    with builder.function("main", [y]):
        cast = builder.match_cast(y, relax.TensorType([n, k, k], "float32"))
        square = builder.emit(relax.op.reshape(cast, (n * k, k)))
        builder.emit_func_output(builder.emit(relax.Call(first, [square])))
    return builder.finalize()


def distributed() -> Module:
    """Sharded tensors, which are opaque outside TVM."""
    text = """
@I.ir_module
class Module:
    I.module_attrs({"device_num": 4})
    I.module_global_infos({"mesh": [R.device_mesh((2, 2), I.Range(0, 4))]})

    @R.function
    def main(x: R.DTensor((128, 64), "float32", "mesh[0]", "S[0], R")) -> R.DTensor((128, 64), "float32", "mesh[0]", "S[0], R"):
        y: R.DTensor((128, 64), "float32", "mesh[0]", "S[0], R") = R.add(x, x)
        return y
"""
    return tvm.script.from_source(text)


def attention_kernels() -> Module:
    """TVM's own kernels for a paged key-value cache: scheduled loops, thread bindings, int32 dimensions."""
    cuda = tvm.target.Target({"kind": "cuda", "arch": "sm_80"})
    kernels = {
        "append": _page_kernels._kv_cache_transpose_append(4, 16, "float16", 16),
        "copy_page": _page_kernels._copy_single_page_cpu(4, 16, 16, "float16"),
        "compact": _page_kernels._compact_kv_copy(4, 16, "float16", cuda),
        "prefill_cpu": _prefill_kernels._attention_prefill_cpu(4, 8, 16, "float32", False, {}),
        "prefill": _prefill_kernels._attention_prefill(4, 8, 16, "float16", False, {}, cuda),
        "decode": _decode_kernels._attention_decode(4, 8, 16, "float16", False, {}, cuda),
        "merge": _decode_kernels._merge_state_inplace(8, 16, "float16", cuda),
    }
    named = {name: kernel.with_attr("global_symbol", name) for name, kernel in kernels.items()}
    return tvm.IRModule(named)


BUILT: dict[str, Callable[[], Module]] = {
    "long_function": long_function,
    "nested_tuples": nested_tuples,
    "rebound_shapes": rebound_shapes,
    "distributed": distributed,
    "attention_kernels": attention_kernels,
}


def build(name: str) -> Module:
    """The module of that name, read or built by TVM."""
    return (
        BUILT[name]() if name in BUILT else tvm.script.from_source(TEXTS[name].read_text("utf-8"))
    )


NAMES = (*TEXTS, *BUILT)
