"""Quantisation with a scale and a zero point."""

from __future__ import annotations

from rlx.grammar.nodes.ast import StructInfo, TensorStructInfo
from rlx.grammar.nodes.dtype import VOID
from rlx.operators.dim_arithmetic import literal
from rlx.operators.parameters import Tensor, Type
from rlx.operators.registry import operator
from rlx.operators.rule_helpers import axis, elements, known, like, rank
from rlx.operators.site import Site, show
from rlx.spec.registry import rule


@rule("OBL-quantize", "9331537f", "obligation")
def steps(
    site: Site, data: TensorStructInfo, parameters: tuple[TensorStructInfo, ...], given: int
) -> None:
    """Check that scale and zero point are scalars, or have one element for each position along the
    axis.
    """
    ndim, dims = site.rank(data), site.dims(data)
    if ndim is None:
        known(site, "rank", (0, data))
        return
    along = axis(site, given, ndim, data) if ndim else 0
    for index, parameter in enumerate(parameters, 1):
        rank(site, parameter, index, 0, 1)
        known(site, "shape", (index, parameter))
        found = site.dims(parameter)
        if ndim == 0 and found and literal(found[0]) != 1:
            words = f"{site.shown(index)} needs an axis, but the data is a scalar"
            site.fail("OBL-quantize-length", words, index)
        if found and not dims and literal(found[0]) != 1:
            known(site, "shape", (0, data))
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
    site: Site,
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
