"""Rows of the operator table: the operators of networks, images, quantisation."""

from __future__ import annotations

from functools import partial, reduce

from rlx.grammar.nodes import ast, tir
from rlx.operators.layout import pieces
from rlx.relay.elementwise_rows import Row
from rlx.relay.translated_call import (
    TranslatedCall,
    call,
    parts_of,
    plus,
    reshaped,
    scalar,
    sizes,
    times,
)

LAYOUTS = {1: "NCW", 2: "NCHW", 3: "NCDHW"}
"""The layouts of data by the number of spatial axes, where none is said."""
SPATIAL = {1: "W", 2: "HW", 3: "DHW"}
"""The spatial axes of weights."""


def _kind(c: TranslatedCall) -> str | None:
    """The element type of the result, if one is said."""
    return c.string("out_dtype") or None if c.given("out_dtype") is not None else None


def _weight(c: TranslatedCall, weight: ast.Expr, layout: str, axes: int, groups: int = 1) -> None:
    """Compare ``channels`` and ``kernel_size`` with the weight, which says both; ``groups`` are
    those that share its output channels.
    """
    parts, lengths = pieces(layout), dict[str, tir.PrimExpr]()
    dims = c.known_dims(weight)
    if dims is None or len(dims) != len(parts) or not {"O", "I"} <= {axis for axis, _ in parts}:
        c.given("channels"), c.given("kernel_size")
        return
    for (axis, _), dim in zip(parts, dims, strict=True):
        lengths[axis] = times(lengths[axis], dim) if axis in lengths else dim
    c.said("kernel_size", [lengths.get(axis, tir.IntImm(1)) for axis in SPATIAL[axes]])
    channels = times(lengths["O"], tir.IntImm(groups))
    each = times(channels, lengths["I"])  # of a depthwise convolution, for each input channel
    is_each = isinstance(each, tir.IntImm) and c.given("channels") == each.value
    if not (is_each and c.given("groups") == getattr(channels, "value", None)):
        c.said("channels", [channels])


def _conv(axes: int, c: TranslatedCall, transposed: bool = False) -> ast.Expr:
    data, weight = c.operands(2)
    kernel_layout = c.string("kernel_layout", f"{'IO' if transposed else 'OI'}{SPATIAL[axes]}")
    _weight(c, weight, kernel_layout, axes, c.integer("groups", 1) if transposed else 1)
    extra = {"output_padding": c.integers("output_padding", (0,) * axes)} if transposed else {}
    return call(
        f"nn.conv{axes}d{'_transpose' if transposed else ''}",
        data,
        weight,
        strides=c.integers("strides", (1,) * axes),
        padding=c.integers("padding", (0,) * axes),
        **extra,
        dilation=c.integers("dilation", (1,) * axes),
        groups=c.integer("groups", 1),
        data_layout=c.string("data_layout", LAYOUTS[axes]),
        kernel_layout=kernel_layout,
        out_layout=c.string("out_layout") or None,
        out_dtype=_kind(c),
    )


def _pool(kind: str, axes: int, c: TranslatedCall) -> ast.Expr:
    (x,) = c.operands(1)
    include = c.flag("count_include_pad") if kind == "avg" else None
    return call(
        f"nn.{kind}_pool{axes}d",
        x,
        pool_size=c.integers("pool_size", (1,) * axes),
        strides=c.integers("strides", (1,) * axes),
        padding=c.integers("padding", (0,) * axes),
        dilation=c.integers("dilation", (1,) * axes),
        ceil_mode=c.flag("ceil_mode"),
        count_include_pad=include,
        layout=c.string("layout", LAYOUTS[axes]),
        out_layout=c.string("out_layout") or None,
    )


def _spatial(c: TranslatedCall, layout: str) -> tuple[int, ...]:
    """The spatial axes of a layout such as NCHW or NCHW16c."""
    if not pieces(layout):
        c.fail(f"expected a layout, found {layout!r}")
    return tuple(at for at, (axis, _) in enumerate(pieces(layout)) if axis not in "NC")


def _global_pool(kind: str, axes: int, c: TranslatedCall) -> ast.Expr:
    (x,) = c.operands(1)
    layout = c.string("layout", LAYOUTS[axes])
    if c.string("out_layout") not in ("", layout):
        c.fail("an out_layout that is not the layout is not supported")
    spatial = _spatial(c, layout)
    return call(kind, x, axis=spatial, keepdims=True)


def _adaptive_pool(axes: int, c: TranslatedCall) -> ast.Expr:
    (x,) = c.operands(1)
    return call(
        f"nn.adaptive_avg_pool{axes}d",
        x,
        output_size=c.axes("output_size"),
        layout=c.string("layout", LAYOUTS[axes]),
        out_layout=c.string("out_layout") or None,
    )


def _dense(c: TranslatedCall) -> ast.Expr:
    x, weight = c.operands(2)
    c.said("units", (c.known_dims(weight) or ())[:1])
    return call("matmul", x, call("permute_dims", weight), out_dtype=_kind(c))


def _product(transposed: bool, c: TranslatedCall) -> ast.Expr:
    a, b = c.operands(2)
    dims = (c.known_dims(b) or ())[-2:]
    c.said("units", dims[:1] if c.flag("transpose_b", transposed) else dims[1:])
    if c.flag("transpose_a"):
        a = _turned(c, a)
    if c.flag("transpose_b", transposed):
        b = _turned(c, b)
    return call("matmul", a, b, out_dtype=_kind(c))


def _turned(c: TranslatedCall, x: ast.Expr) -> ast.Expr:
    """With the last two axes exchanged."""
    rank = c.rank(x)
    if rank < 2:
        c.fail(f"expected matrices, found an operand of rank {rank}")
    return call("permute_dims", x, axes=(*range(rank - 2), rank - 1, rank - 2))


def _bias_add(c: TranslatedCall) -> ast.Expr:
    x, bias = c.operands(2)
    behind = c.rank(x) - 1 - c.axis_of(x, "axis", 1)
    if behind:
        bias = call("expand_dims", bias, axis=tuple(range(1, behind + 1)))
    return call("add", x, bias)


def _batch_norm(c: TranslatedCall) -> ast.Expr:
    return call(
        "nn.batch_norm",
        *c.operands(5),
        axis=c.integer("axis", 1),
        **_norm_options(c),
        training=False,
    )


def _norm_options(c: TranslatedCall) -> dict[str, object]:
    return {
        "epsilon": c.number("epsilon", 1e-5),
        "center": c.flag("center", True),
        "scale": c.flag("scale", True),
    }


def _layer_norm(c: TranslatedCall) -> ast.Expr:
    x, gamma, beta = c.operands(3)
    return call("nn.layer_norm", x, gamma, beta, axes=(c.integer("axis", -1),), **_norm_options(c))


def _channel_norm(name: str, c: TranslatedCall) -> ast.Expr:
    x, gamma, beta = c.operands(3)
    channel = c.axis_of(x, "axis", 1)
    axes = tuple(axis for axis in range(1, c.rank(x)) if axis != channel)
    groups = {"num_groups": c.integer("num_groups")} if name == "nn.group_norm" else {}
    options = {**groups, "channel_axis": channel, "axes": axes, **_norm_options(c)}
    return call(name, x, gamma, beta, **options)


def _along(name: str, c: TranslatedCall) -> ast.Expr:
    (x,) = c.operands(1)
    return call(name, x, axis=c.integer("axis", -1))


def _leaky_relu(c: TranslatedCall) -> ast.Expr:
    (x,) = c.operands(1)
    return call("nn.leakyrelu", x, alpha=float(c.number("alpha", 0.25)))


def _prelu(c: TranslatedCall) -> ast.Expr:
    return call("nn.prelu", *c.operands(2), axis=c.integer("axis", 1))


def _dropout(c: TranslatedCall) -> ast.Expr:
    """Inference drops nothing: the value, and a mask of ones."""
    (x,) = c.operands(1)
    c.given("rate")
    return ast.Tuple((x, call("ones_like", x)))


def _flatten(c: TranslatedCall) -> ast.Expr:
    (x,) = c.operands(1)
    return reshaped(c, x, (0, -1))


def _pad(c: TranslatedCall) -> ast.Expr:
    x, value = c.operands(2)
    number = value.data.value if isinstance(value, ast.Constant) else None
    if not isinstance(number, int | float):
        c.fail("the value that is padded with must be a constant number")
    widths = c.given("pad_width")
    if not isinstance(widths, tuple) or not all(
        isinstance(pair, tuple) and len(pair) == 2 for pair in widths
    ):
        c.fail("expected a pair of widths for each axis in pad_width")
    flat = tuple(width for pair in widths for width in pair)
    return call(
        "nn.pad",
        x,
        pad_width=flat,
        pad_mode=c.string("pad_mode", "constant"),
        pad_value=float(number),
    )


def _lrn(c: TranslatedCall) -> ast.Expr:
    """Each number through a power of the squares around it, along an axis."""
    (x,) = c.operands(1)
    axis, rank, size = c.axis_of(x, "axis", 1), c.rank(x), c.integer("size", 5)
    if size < 1 or size % 2 == 0:
        c.fail(f"expected an odd size, found {size}")
    length = c.dims(x)[axis]
    widths = [0] * (2 * rank)
    widths[2 * axis : 2 * axis + 2] = [size // 2] * 2
    padded = call("nn.pad", call("multiply", x, x), pad_width=tuple(widths), pad_value=0.0)
    windows = [_window(padded, axis, start, length) for start in range(size)]
    squares = reduce(partial(call, "add"), windows)
    kind = c.kind_of(x)
    scaled = call("multiply", squares, scalar(c.finite("alpha", 1e-5) / size, kind))
    base = call("add", scaled, scalar(c.finite("bias", 2.0), kind))
    return call("divide", x, call("power", base, scalar(c.finite("beta", 0.75), kind)))


def _window(x: ast.Expr, axis: int, start: int, length: tir.PrimExpr) -> ast.Expr:
    """As many elements of an axis from a number on."""
    numbers = (tir.IntImm(axis), tir.IntImm(start), plus(length, start))
    return call("strided_slice", x, *(ast.Tuple((ast.PrimValue(n),)) for n in numbers))


def _blocks(c: TranslatedCall) -> tuple[ast.Expr, list[tir.PrimExpr], tir.IntImm, bool]:
    """The image, its batch, channels, height and width, the size of a block, and whether the
    channels come first.
    """
    (x,) = c.operands(1)
    layout, size = c.string("layout", "NCHW"), c.integer("block_size")
    if layout not in ("NCHW", "NHWC"):
        c.fail(f"expected the layout NCHW or NHWC, found {layout!r}")
    if c.rank(x) != 4:
        c.fail(f"expected an image of rank 4, found an operand of rank {c.rank(x)}")
    if size < 1:
        c.fail(f"expected a block_size of at least 1, found {size}")
    dims = dict(zip(layout, c.dims(x), strict=True))
    return x, [dims[axis] for axis in "NCHW"], tir.IntImm(size), layout == "NCHW"


def _whole(c: TranslatedCall, what: str, dim: tir.PrimExpr, size: int) -> tir.PrimExpr:
    """The number of parts of a size in a dimension, which must divide it."""
    if isinstance(dim, tir.IntImm) and dim.value % size:
        c.fail(f"the {what} {dim.value} is not a multiple of {size}")
    return parts_of(dim, size)


def _depth_to_space(c: TranslatedCall) -> ast.Expr:
    x, (n, channels, h, w), b, first = _blocks(c)
    mode = c.string("mode", "DCR")
    if mode not in ("DCR", "CRD"):
        c.fail(f"expected the mode DCR or CRD, found {mode!r}")
    depth = _whole(c, "number of channels", channels, b.value**2)
    parts = (b, b, depth) if mode == "DCR" else (depth, b, b)
    cut = (n, *parts, h, w) if first else (n, h, w, *parts)
    turned = call(
        "permute_dims", call("reshape", x, ast.ShapeExpr(cut)), axes=_TO_SPACE[first, mode]
    )
    high, wide = times(h, b), times(w, b)
    shape = (n, depth, high, wide) if first else (n, high, wide, depth)
    return call("reshape", turned, ast.ShapeExpr(shape))


_TO_SPACE = {
    (True, "DCR"): (0, 3, 4, 1, 5, 2),
    (True, "CRD"): (0, 1, 4, 2, 5, 3),
    (False, "DCR"): (0, 1, 3, 2, 4, 5),
    (False, "CRD"): (0, 1, 4, 2, 5, 3),
}
"""The order of the axes, with the parts of a block beside its place."""


def _space_to_depth(c: TranslatedCall) -> ast.Expr:
    x, (n, channels, h, w), b, first = _blocks(c)
    high, wide = _whole(c, "height", h, b.value), _whole(c, "width", w, b.value)
    cut = (n, channels, high, b, wide, b) if first else (n, high, b, wide, b, channels)
    axes = (0, 3, 5, 1, 2, 4) if first else (0, 1, 3, 2, 4, 5)
    turned = call("permute_dims", call("reshape", x, ast.ShapeExpr(cut)), axes=axes)
    depth = times(channels, times(b, b))
    shape = (n, depth, high, wide) if first else (n, high, wide, depth)
    return call("reshape", turned, ast.ShapeExpr(shape))


def _l2_normalize(c: TranslatedCall) -> ast.Expr:
    (x,) = c.operands(1)
    squares = call("sum", call("multiply", x, x), axis=c.axes(), keepdims=True)
    least = scalar(c.number("eps"), c.kind_of(x))
    return call("divide", x, call("sqrt", call("maximum", squares, least)))


def _resize2d(c: TranslatedCall) -> ast.Expr:
    (x,) = c.operands(1)
    mode = c.string("coordinate_transformation_mode", "half_pixel")
    for name in ("roi", "out_dtype"):
        c.given(name)
    return call(
        "image.resize2d",
        x,
        sizes(c.integers("size")),
        layout=c.string("layout", "NCHW"),
        method=c.string("method", "linear"),
        coordinate_transformation_mode=mode,
        rounding_method=c.string("rounding_method", ""),
        cubic_alpha=float(c.number("cubic_alpha", -0.5)),
        cubic_exclude=c.integer("cubic_exclude", 0),
        extrapolation_value=float(c.number("extrapolation_value", 0.0)),
    )


def _upsampling(c: TranslatedCall) -> ast.Expr:
    (x,) = c.operands(1)
    layout, method = c.string("layout", "NCHW"), c.string("method", "nearest_neighbor")
    dims = c.dims(x)
    if sorted(layout) != sorted("NCHW") or len(dims) != 4:
        c.fail(f"the layout {layout} of an operand of rank {len(dims)} is not supported")
    scales = [("H", c.finite("scale_h", 1.0)), ("W", c.finite("scale_w", 1.0))]
    found = [_scaled(c, dims[layout.index(axis)], scale) for axis, scale in scales]
    return call(
        "image.resize2d",
        x,
        ast.ShapeExpr(tuple(found)),
        layout=layout,
        method=method.removeprefix("bi"),
        coordinate_transformation_mode=(
            "align_corners" if c.flag("align_corners") else "asymmetric"
        ),
        rounding_method="",
    )


def _scaled(c: TranslatedCall, dim: tir.PrimExpr, scale: float) -> tir.PrimExpr:
    if isinstance(dim, tir.IntImm):
        return tir.IntImm(round(dim.value * scale))
    if scale != int(scale):
        c.fail(f"only an axis of known size can be scaled by {scale}")
    return times(dim, tir.IntImm(int(scale)))


def _quantize(name: str, kind: str, c: TranslatedCall) -> ast.Expr:
    found = c.element_type("out_dtype", kind)
    return call(name, *c.operands(3), axis=c.integer("axis", -1), out_dtype=str(found))


ROWS: dict[str, Row] = {
    **{f"nn.conv{n}d": partial(_conv, n) for n in LAYOUTS},
    **{f"nn.conv{n}d_transpose": partial(_conv, n, transposed=True) for n in LAYOUTS},
    **{f"nn.{k}_pool{n}d": partial(_pool, k, n) for n in LAYOUTS for k in ("max", "avg")},
    **{f"nn.global_avg_pool{n}d": partial(_global_pool, "mean", n) for n in LAYOUTS},
    **{f"nn.global_max_pool{n}d": partial(_global_pool, "max", n) for n in LAYOUTS},
    **{f"nn.adaptive_avg_pool{n}d": partial(_adaptive_pool, n) for n in LAYOUTS},
    "nn.contrib_conv2d_NCHWc": partial(_conv, 2),
    "nn.contrib_depthwise_conv2d_NCHWc": partial(_conv, 2),
    "image.resize2d": _resize2d,
    "nn.batch_flatten": _flatten,
    "nn.batch_matmul": partial(_product, True),
    "nn.batch_norm": _batch_norm,
    "nn.bias_add": _bias_add,
    "nn.dense": _dense,
    "nn.depth_to_space": _depth_to_space,
    "nn.dropout": _dropout,
    "nn.group_norm": partial(_channel_norm, "nn.group_norm"),
    "nn.instance_norm": partial(_channel_norm, "nn.instance_norm"),
    "nn.l2_normalize": _l2_normalize,
    "nn.layer_norm": _layer_norm,
    "nn.leaky_relu": _leaky_relu,
    "nn.lrn": _lrn,
    "nn.log_softmax": partial(_along, "nn.log_softmax"),
    "nn.matmul": partial(_product, False),
    "nn.pad": _pad,
    "nn.prelu": _prelu,
    "nn.fast_softmax": partial(_along, "nn.softmax"),
    "nn.space_to_depth": _space_to_depth,
    "nn.upsampling": _upsampling,
    "nn.softmax": partial(_along, "nn.softmax"),
    "qnn.dequantize": partial(_quantize, "dequantize", "float32"),
    "qnn.quantize": partial(_quantize, "quantize", "int8"),
}
