"""Between floating-point numbers and small integers with a scale and a zero point."""

from __future__ import annotations

from rlx.grammar.ast import StructInfo, TensorStructInfo
from rlx.grammar.dtype import VOID, DataType
from rlx.operators.declare import operator
from rlx.operators.evaluation import late
from rlx.operators.messages import show
from rlx.operators.site import Site
from rlx.operators.tensors import axis, like, rank
from rlx.spec.registry import rule


@rule("OBL-quantize", "46d6cdc6")
def steps(
    site: Site, data: TensorStructInfo, parameters: tuple[TensorStructInfo, ...], given: int
) -> None:
    """Scale and zero point are scalars, or have one element for each place along the axis."""
    ndim, dims = site.rank(data), site.dims(data)
    if ndim is None:
        return
    along = axis(site, given, ndim, data) if ndim else 0
    for index, parameter in enumerate(parameters, 1):
        rank(site, parameter, index, 0, 1)
        found = site.dims(parameter)
        if not found or not dims or getattr(found[0], "value", None) == 1:
            continue
        site.equal(
            "OBL-quantize-length",
            dims[along],
            found[0],
            lambda index=index, found=found: (  # type: ignore[misc]
                f"{show(found[0])} {site.of(index)} for axis {along} of length "
                f"{show(dims[along])} {site.of(0)}"
            ),
            index,
        )


@operator(
    "relax.quantize",
    "data, scale, zero_point, axis: int = -1, out_dtype: dtype = 'int8'",
    evaluate=late("quantization.quantize"),
)
@operator(
    "relax.dequantize",
    "data, scale, zero_point, axis: int = -1, out_dtype: dtype = 'float32'",
    evaluate=late("quantization.dequantize"),
)
def convert(
    site: Site,
    data: TensorStructInfo,
    scale: TensorStructInfo,
    zero: TensorStructInfo,
    given: int,
    kind: DataType | None,
) -> StructInfo:
    """Elements rounded to steps of the scale, or restored from them."""
    steps(site, data, (scale, zero), given)
    return like(data, kind or VOID)
