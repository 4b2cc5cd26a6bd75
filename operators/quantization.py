"""Quantisation with a scale and a zero point."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rlx.grammar.nodes.ast import StructInfo, TensorStructInfo
from rlx.grammar.nodes.dtype import VOID, DataType
from rlx.operators import arrays, exprs
from rlx.operators.arrays import Array
from rlx.operators.dim_arithmetic import literal
from rlx.operators.elementwise import convert as converted
from rlx.operators.evaluation import OperatorFault
from rlx.operators.exprs import Result
from rlx.operators.late import ml_dtypes, np, te
from rlx.operators.operator_call import OperatorCall, show
from rlx.operators.parameters import Tensor, Type
from rlx.operators.registry import computes, defines, operator
from rlx.operators.rule_helpers import axis, elements, like, need_known, rank
from rlx.spec.registry import rule


@rule("OBL-quantize", "obligation")
def steps(
    site: OperatorCall, data: TensorStructInfo, parameters: tuple[TensorStructInfo, ...], given: int
) -> None:
    """Check that scale and zero point are scalars, or have one element for each position along the
    axis.
    """
    ndim, dims = site.rank(data), site.dims(data)
    if ndim is None:
        need_known(site, "rank", (0, data))
        return
    along = axis(site, given, ndim, data) if ndim else 0
    for index, parameter in enumerate(parameters, 1):
        rank(site, parameter, index, 0, 1)
        need_known(site, "shape", (index, parameter))
        found = site.dims(parameter)
        if ndim == 0 and found and literal(found[0]) != 1:
            words = f"{site.shown(index)} needs an axis, but the data is a scalar"
            site.fail("OBL-quantize-length", words, index)
        if found and not dims and literal(found[0]) != 1:
            need_known(site, "shape", (0, data))
            return
        if not found or not dims or getattr(found[0], "value", None) == 1:
            continue
        site.equal(
            "OBL-quantize-length",
            dims[along],
            found[0],
            lambda index=index, found=found: (  # type: ignore[misc]
                f"{show(found[0])} elements {site.of(index)} do not match axis {along} of"
                f" length {show(dims[along])} {site.of(0)}"
            ),
            index,
        )


_SMALL = "int8 uint8 int16 uint16 float8_e4m3fn float8_e5m2"
_FLOATS = "float16 float32"
_TYPES = {
    "relax.quantize": (_FLOATS, _SMALL),
    "relax.dequantize": (_SMALL + " int32 uint32 float16 float32", _FLOATS),
}
"""The element types of the data and of the result."""


@operator(
    "relax.quantize",
    out_dtype="int8",
    calls="""
    float32(a, 4) | float16(a, 4), float32(4), int8(4), axis=-1, out_dtype=None | 'int8'
    float32(a, 4), float32(), int8(), out_dtype='uint8'
    """,
    broken="""
    OBL-element-type: float32(a, 4), float32(), int8(), out_dtype='int32'
    OBL-quantize-length: float32(a, 4), float32(3), int8(4), axis=-1, out_dtype='int8'
    """,
)
@operator(
    "relax.dequantize",
    out_dtype="float32",
    calls="""
    int8(a, 4), float32(4), int8(4), axis=-1
    int8(a, b), float32(a), int8(a), axis=0, out_dtype='float16'
    """,
)
def convert(
    site: OperatorCall,
    data: Tensor,
    scale: Tensor,
    zero_point: Tensor,
    axis: int = -1,
    out_dtype: Type = None,
) -> StructInfo:
    """Quantised or dequantised elements."""
    before, after = _TYPES[site.operator.name]
    elements(site, data, 0, before)
    elements(site, scale, 1, _FLOATS)
    elements(site, zero_point, 2, "int8 uint8 int16 uint16 int32 uint32 float16")
    if str(out_dtype) not in after.split():
        words = f"out_dtype is {out_dtype or 'not given'}, expected {' or '.join(after.split())}"
        site.fail("OBL-element-type", words)
    steps(site, data, (scale, zero_point), axis)
    return like(data, out_dtype or VOID)


@rule("E-quantize", "computation")
def _along(x: Array, parameter: Array, axis: int) -> Any:
    """A scale or zero point in the shape in which it broadcasts."""
    p = arrays.wide(parameter)
    if p.size == 1:
        return p.reshape(())
    along = arrays.axis_of(axis, x.ndim)
    if p.shape != (x.shape[along],):
        raise OperatorFault(
            "E-quantize-length",
            f"a parameter of shape {p.shape} does not fit an axis of length {x.shape[along]}",
        )
    return p.reshape([-1 if k == along else 1 for k in range(x.ndim)])


@computes("relax.quantize")
def quantize_value(x: Array, scale: Array, zero: Array, axis: int, kind: DataType | None) -> Array:
    """Elements in steps of the scale, clamped to the type; for integers they are rounded to the
    nearest step first, ties to even.
    """
    made = arrays.kind_of(kind, np.dtype(np.int8))
    steps = arrays.quiet(lambda: arrays.wide(x) / _along(x, scale, axis))
    if not arrays.is_float(made):
        steps = np.round(steps)
    moved = steps + np.asarray(_along(x, zero, axis)).astype(steps.dtype)
    if not arrays.is_float(made):
        return converted(moved, made)
    largest = float(ml_dtypes.finfo(made).max)  # type: ignore[no-untyped-call]
    return arrays.back(np.clip(moved, -largest, largest), made)


@computes("relax.dequantize")
def dequantize_value(
    x: Array, scale: Array, zero: Array, axis: int, kind: DataType | None
) -> Array:
    """Elements from steps of the scale."""
    made = arrays.kind_of(kind, np.dtype(np.float32))
    s = np.asarray(_along(x, scale, axis))
    value, origin = arrays.wide(x), np.asarray(_along(x, zero, axis))
    between = value.dtype if arrays.is_float(x.dtype) else np.int64
    off = value.astype(between) - origin.astype(between)
    return arrays.back(arrays.quiet(lambda: off.astype(s.dtype) * s), made)


def _along_definition(
    p: te.Tensor, axis: int, indices: Sequence[te.Scalar], shape: Sequence[te.Scalar]
) -> te.Scalar:
    """A scale or zero point for an element of a tensor of a shape."""
    if all(map(exprs.is_one, p.shape)):
        return exprs.wide(p(*(exprs.int64(0) for _ in p.shape)))
    along = exprs.axis_of(axis, len(indices))
    return exprs.wide(exprs.broadcast(p, (indices[along],), (shape[along],)))


@defines("relax.quantize")
def quantize_definition(
    out: Result, x: te.Tensor, scale: te.Tensor, zero: te.Tensor, axis: int, kind: DataType | None
) -> te.Tensor:
    exprs.need_floats(x.dtype)

    def element(*i: te.Scalar) -> te.Scalar:
        steps = exprs.wide(x(*i)) / _along_definition(scale, axis, i, x.shape)
        if not out.dtype.is_float:
            steps = te.round(steps)
        moved = steps + te.cast(steps.dtype, _along_definition(zero, axis, i, x.shape))
        return _clamped(moved, out.dtype) if out.dtype.is_float else moved

    return exprs.filled(out, element)


def _clamped(value: te.Scalar, kind: DataType) -> te.Scalar:
    """A number held between the finite numbers of a type of floats; NaN stays."""
    low, high = (te.cast(value.dtype, bound(kind)) for bound in (te.min_value, te.max_value))
    return te.select(value > high, high, te.select(value < low, low, value))


@defines("relax.dequantize")
def dequantize_definition(
    out: Result, x: te.Tensor, scale: te.Tensor, zero: te.Tensor, axis: int, kind: DataType | None
) -> te.Tensor:
    exprs.need_floats(scale.dtype)

    def element(*i: te.Scalar) -> te.Scalar:
        step = _along_definition(scale, axis, i, x.shape)
        value, origin = exprs.wide(x(*i)), _along_definition(zero, axis, i, x.shape)
        between = value.dtype if x.dtype.is_float else "int64"
        off = te.cast(between, value) - te.cast(between, origin)
        return te.cast(step.dtype, off) * step

    return exprs.filled(out, element)
