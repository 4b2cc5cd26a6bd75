"""Programs that Python builds: kernels of `topi`, and what TVM's passes make of a few networks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import tvm
from tvm import relax, te, tirx, topi
from tvm.relax import transform

from .programs import HERE, Program

X, P, V = (3, 4), (3, 4, "positive"), (4, "positive")
_NN = topi.nn


def _row_sums(a: Any) -> Any:
    k = te.reduce_axis((0, a.shape[1]), "k")
    return te.compute((a.shape[0],), lambda i: te.sum(a[i, k], axis=k))


def _guarded(a: Any) -> Any:
    inside = tirx.const(0, "float32")
    return te.compute(
        a.shape, lambda i, j: tirx.if_then_else(tirx.all(i > 0, j < 2), a[i - 1, j], inside)
    )


def _pair(a: Any) -> Any:
    return list(te.compute(a.shape, lambda i, j: (a[i, j] + 1.0, a[i, j] * 2.0)))


EXPRESSIONS: dict[str, tuple[Callable[..., Any], Sequence[Any]]] = {
    **{
        name: (getattr(topi, name), [P])
        for name in [
            *("abs", "ceil", "cos", "erf", "exp", "floor", "isnan", "log", "log2", "log10"),
            *("negative", "round", "rsqrt", "sigmoid", "sign", "sin", "sqrt", "tan", "tanh"),
            *("trunc", "fast_exp", "fast_tanh", "fast_erf", "identity", "sum", "max", "min"),
            *("prod", "argmax", "argmin"),
        ]
    },
    **{
        name: (getattr(topi, name), [P, V])
        for name in [
            *("add", "subtract", "multiply", "divide", "maximum", "minimum", "power"),
            *("floor_divide", "floor_mod", "mod", "equal", "less"),
        ]
    },
    "unnamed": (lambda a: topi.exp(a), [X]),
    "row_sums": (_row_sums, [X]),
    "guarded": (_guarded, [X]),
    "pair": (_pair, [X]),
    "kept_sum": (lambda a: topi.sum(a, axis=(0, 1), keepdims=True), [X]),
    "transpose": (lambda a: topi.transpose(a, (1, 0)), [X]),
    "reshape": (lambda a: topi.reshape(a, (2, 6)), [X]),
    "concatenate": (lambda a, b: topi.concatenate([a, b], 1), [X, (3, 2)]),
    "stack": (lambda a, b: topi.stack([a, b], 1), [X, X]),
    "split": (lambda a: topi.split(a, [1, 3], 1), [X]),
    "tile": (lambda a: topi.tile(a, (2, 1)), [X]),
    "repeat": (lambda a: topi.repeat(a, 2, 0), [X]),
    "flip": (lambda a: topi.flip(a, 1), [X]),
    "clip": (lambda a: topi.clip(a, -0.5, 0.5), [X]),
    "cast": (lambda a: topi.cast(a, "int32"), [X]),
    "strided_slice": (lambda a: topi.strided_slice(a, [0, 1], [3, 4], [2, 1]), [X]),
    "matrix_set_diag": (topi.matrix_set_diag, [(3, 3), (3,)]),
    "layout": (lambda a: topi.layout_transform(a, "NCHW", "NCHW4c"), [(1, 8, 2, 2)]),
    "einsum": (lambda a, b: topi.einsum("ij,kj->ik", a, b), [X, X]),
    "tensordot": (lambda a, b: topi.tensordot(a, b, 1), [X, (4, 2)]),
    "matmul": (lambda a, b: topi.matmul(a, b, False, True), [X, (2, 4)]),
    "cumsum": (lambda a: topi.cumsum(a, axis=1), [X]),
    "argsort": (lambda a: topi.argsort(a, axis=1, is_ascend=False, dtype="int32"), [X]),
    "topk": (lambda a: topi.topk(a, 2, axis=1, ret_type="both", dtype="int32"), [X]),
    "broadcast": (lambda a: topi.broadcast_to(a, (2, 3, 4)), [X]),
    "reinterpret": (lambda a: topi.reinterpret(a, "int32"), [X]),
    "softmax": (lambda a: _NN.softmax(a), [X]),
    "log_softmax": (_NN.log_softmax, [X]),
    "conv2d": (lambda a, b: _NN.conv2d(a, b, 1, 1, 1), [(1, 3, 5, 5), (2, 3, 3, 3)]),
    "depthwise": (
        lambda a, b: _NN.depthwise_conv2d_nchw(a, b, 1, 1, 1),
        [(1, 3, 5, 5), (3, 1, 3, 3)],
    ),
    "winograd": (
        lambda a, b: _NN.conv2d_winograd_nchw(a, b, 1, 1, 1, "float32"),
        [(1, 3, 8, 8), (2, 3, 3, 3)],
    ),
    "pool2d": (
        lambda a: _NN.pool2d(a, [3, 3], [2, 2], [1, 1], [1, 1, 1, 1], "avg", ceil_mode=True),
        [(1, 2, 6, 6)],
    ),
    "adaptive_pool": (lambda a: _NN.adaptive_pool(a, (2, 3), "max"), [(1, 2, 6, 6)]),
    "layer_norm": (lambda a, b, c: _NN.layer_norm(a, b, c, [1]), [X, (4,), (4,)]),
    "rms_norm": (lambda a, b: _NN.rms_norm(a, b, [1]), [X, (4,)]),
    "lrn": (lambda a: _NN.lrn(a, 3), [(1, 4, 3, 3)]),
    "mirror_pad": (lambda a: _NN.mirror_pad(a, [1, 0], [0, 2], "REFLECT"), [X]),
    "depth_to_space": (lambda a: _NN.depth_to_space(a, 2), [(1, 8, 2, 2)]),
    "dilate": (lambda a: _NN.dilate(a, [2, 1]), [X]),
    "resize": (
        lambda a: topi.image.resize2d(a, [0.0] * 4, (6, 6), method="cubic"),
        [(1, 2, 3, 3)],
    ),
}
"""Tensor expressions, and the shapes of their operands."""


def _drawn(shape: Sequence[Any], seed: int) -> Any:
    drawn = np.random.default_rng(seed)
    sizes = [size for size in shape if isinstance(size, int)]
    values = drawn.normal(size=sizes).astype(np.float32)
    return np.abs(values) + np.float32(0.3) if "positive" in shape else values


def _of_expression(name: str) -> Program:
    function, shapes = EXPRESSIONS[name]
    args = tuple(_drawn(shape, seed) for seed, shape in enumerate(shapes))

    def build() -> Any:
        builder = relax.BlockBuilder()
        params = [
            relax.Var(f"x{k}", relax.TensorType(arg.shape, "float32")) for k, arg in enumerate(args)
        ]
        with builder.function("main", params):
            with builder.dataflow():
                made = builder.emit_output(builder.emit_te(function, *params))
            builder.emit_func_output(made)
        return builder.get()

    return Program(f"expressions/{name}", "main", args, None, build)


_LEGAL = [transform.LegalizeOps()]
_REWRITTEN = [*_LEGAL, transform.ToNonDataflow(), transform.RemovePurityChecking()]
_PLANNED = [*_REWRITTEN, transform.CallTIRRewrite(), transform.StaticPlanBlockMemory()]
_ALLOCATED = [*_PLANNED, transform.LowerAllocTensor(), transform.KillAfterLastUse()]
PIPELINES: dict[str, list[Any]] = {
    "legal": _LEGAL,
    "fused": [
        *_LEGAL,
        transform.AnnotateTIROpPattern(),
        transform.FoldConstant(),
        transform.FuseOps(),
        transform.FuseTIR(),
    ],
    "planned": _PLANNED,
    "allocated": _ALLOCATED,
    "runtime": [*_ALLOCATED, transform.LowerRuntimeBuiltin()],
    "global symbols": [transform.AttachGlobalSymbol()],
    "dataflow": [transform.ToNonDataflow(), transform.ConvertToDataflow()],
    "canonical": [transform.CanonicalizeBindings(), transform.EliminateCommonSubexpr()],
    "mixed precision": [transform.ToMixedPrecision(out_dtype="float32")],
    "bundled": [transform.BundleModelParams()],
    "lifted parameters": [transform.LiftTransformParams()],
    "lazy": [transform.LazySetOutput()],
    "in place": [*_LEGAL, transform.DataflowUseInplaceCalls()],
    "combined": [transform.CombineParallelMatmul()],
    "fast": [transform.FastMathTransform()],
    "lifted functions": [transform.LambdaLift(), *_LEGAL],
}
NETWORKS: dict[str, tuple[Any, ...]] = {
    "perceptron": ((3, 4), (4, 8), (8,)),
    "convolution": ((1, 3, 8, 8), (4, 3, 3, 3), (4,), (4,), (4,), (4, "positive")),
    "two_products": ((2, 4), (4, 3), (4, 3)),
    "unknown_ranks": ((2, 3), (3,)),
    "constants": ((2, 3),),
    "branches": (True, (2, 3)),
    "local_function": ((2, 3), (2, 3)),
    "local_recursion": ((2, 3),),
}
"""The arguments of the networks in `networks.txt`."""


def _of_pipeline(name: str, network: str, text: str) -> Program:
    args = tuple(
        np.array(shape) if isinstance(shape, bool) else _drawn(shape, seed)
        for seed, shape in enumerate(NETWORKS[network])
    )

    def build() -> Any:
        module = tvm.script.from_source(text)
        with tvm.target.Target("llvm"):
            if network.startswith("local"):  # nothing lowers functions in functions
                module = transform.LambdaLift()(module)
            for each in PIPELINES[name]:
                module = each(module)
        return module

    return Program(f"pipelines/{network}, {name}", "main", args, None, build)


def of_kind(kind: str) -> Mapping[str, Program]:
    """The programs of a kind by name."""
    if kind == "expressions":
        found = [_of_expression(name) for name in EXPRESSIONS]
    else:
        _, *blocks = ("\n" + (HERE / "networks.txt").read_text("utf-8")).split("\n=== ")
        texts = dict(block.split("\n", 1) for block in blocks)
        found = [_of_pipeline(name, n, text) for n, text in texts.items() for name in PIPELINES]
    return {program.name: program for program in found}
