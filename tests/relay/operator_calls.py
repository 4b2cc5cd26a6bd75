"""A legal call of each operator in the table; parameters are those of :data:`PARAMETERS`."""

from __future__ import annotations

PARAMETERS = {
    "x": "Tensor[(2, 3), float32]",
    "y": "Tensor[(2, 3), float32]",
    "w": "Tensor[(4, 3), float32]",
    "v": "Tensor[(3,), float32]",
    "i": "Tensor[(2, 3), int32]",
    "p": "Tensor[(2, 3), bool]",
    "a": "Tensor[(2, 4, 6), float32]",
    "q": "Tensor[(2, 3, 5), float32]",
    "b": "Tensor[(2, 5, 6), float32]",
    "l": "Tensor[(1, 4, 8), float32]",
    "m": "Tensor[(1, 4, 8, 8), float32]",
    "s": "Tensor[(1, 4, 4, 4, 4), float32]",
    "g": "Tensor[(4,), float32]",
    "k1": "Tensor[(4, 4, 3), float32]",
    "k2": "Tensor[(4, 4, 3, 3), float32]",
    "k3": "Tensor[(4, 4, 3, 3, 3), float32]",
    "k5": "Tensor[(1, 4, 3, 3, 4, 4), float32]",
    "k6": "Tensor[(4, 1, 3, 3, 1, 4), float32]",
    "j": "Tensor[(2,), int32]",
    "n": "Tensor[(2, 2), int32]",
    "o": "Tensor[(2,), float32]",
}

UNARY = """
    abs acos acosh asin asinh atan atanh ceil cos cosh erf exp floor isfinite isinf isnan log
    negative round rsqrt sigmoid sign sin sinh sqrt tan tanh trunc nn.relu zeros_like ones_like copy
    annotation.stop_fusion annotation.checkpoint annotation.cast_hint on_device device_copy log2
    fast_exp fast_erf fast_tanh nn.fast_softmax log10 sum mean max min prod argmax argmin cumsum cumprod transpose shape_of nn.softmax
    nn.log_softmax nn.batch_flatten sort argsort
"""
BINARY = """
    add atan2 divide equal floor_divide floor_mod greater greater_equal less less_equal maximum
    minimum mod multiply not_equal power subtract mul sub div collapse_sum_like cast_like
"""
INTEGERS = "bitwise_and bitwise_or bitwise_xor left_shift right_shift"
OTHERS = """
    bitwise_not(%i)
    logical_not(%p)
    logical_and(%p, %p)
    logical_or(%p, %p)
    logical_xor(%p, %p)
    full_like(%x, 2f)
    sum(%a, axis=[1], keepdims=True, exclude=True)
    mean(%a, axis=[-1])
    argmax(%x, axis=[1], keepdims=True)
    cumsum(%x, axis=1, exclusive=1, dtype="float64")
    all(%p, axis=[0])
    any(%p)
    clip(%x, a_min=0.25f, a_max=0.5f)
    clip(%i, a_min=1f, a_max=2f)
    cast(%x, dtype="int32")
    variance(%x, %x, axis=[1])
    where(%p, %x, %y)
    arange(0, 6, 2, dtype="int32")
    argsort(%x, axis=0, is_ascend=False, dtype="int64")
    argwhere(%p)
    broadcast_to(%v, shape=[2, 3])
    concatenate((%x, %y), axis=1)
    stack((%x, %y), axis=0)
    einsum((%x, %w), equation="ij,kj->ik")
    expand_dims(%x, axis=1, num_newaxis=2)
    full(2f, shape=[2, 2], dtype="float32")
    gather(%x, %i, axis=0)
    gather_nd(%x, %n)
    meshgrid((%v, %g), indexing="ij")
    one_hot(%j, 1f, 0f, depth=4, axis=-1, dtype="float32")
    ones(shape=[2], dtype="float32")
    zeros(shape=[2], dtype="int64")
    repeat(%x, repeats=2, axis=1)
    reshape(%x, newshape=[3, -1])
    reshape(%a, newshape=[0, -1])
    reshape(%a, newshape=[-4, 1, 2, -2])
    reshape(%a, newshape=[-3, 0])
    reshape(%a, newshape=[0, -4, -1, 2, 6])
    reshape_like(%x, %y)
    broadcast_to_like(%v, %x)
    layout_transform(%m, src_layout="NCHW", dst_layout="NHWC")
    layout_transform(%s, src_layout="NCHW4c", dst_layout="NCHW8c")
    nn.contrib_conv2d_NCHWc(%s, %k5, padding=[1, 1, 1, 1], channels=4, kernel_size=[3, 3], data_layout="NCHW4c", kernel_layout="OIHW4i4o", out_layout="NCHW4c", out_dtype="float32")
    nn.contrib_depthwise_conv2d_NCHWc(%s, %k6, groups=16, channels=16, kernel_size=[3, 3], data_layout="NCHW4c", kernel_layout="OIHW1i4o", out_layout="NCHW4c")
    scatter_nd(%x, %n, %o, mode="update")
    nn.upsampling(%m, scale_h=2f, scale_w=2f, layout="NCHW")
    variance(%x, %y, axis=[0], keepdims=True)
    variance(%x, %y, axis=[1], unbiased=True)
    reverse(%x, axis=1)
    reverse_sequence(%x, %j, seq_axis=1, batch_axis=0)
    scatter_elements(%x, %i, %y, axis=0, reduction="update")
    sort(%x, axis=1, is_ascend=False)
    split(%a, indices_or_sections=2, axis=1)
    split(%a, indices_or_sections=[1, 3], axis=2)
    squeeze(%l, axis=[0])
    strided_slice(%a, begin=[0, 1], end=[2, 3], strides=[1], axes=[0, 2])
    strided_slice(%a, begin=[0, 1], end=[1, -1], slice_mode="size", axes=[0, 2])
    take(%x, %j, axis=1)
    take(%x, %j, axis=0, mode="fast")
    tile(%x, reps=[2, 1])
    topk(%x, k=2, axis=1, ret_type="both", is_ascend=False, dtype="int32")
    transpose(%a, axes=[2, 0, 1])
    trilu(%x, 0, upper=False)
    trilu(%x, 1, upper=True)
    nn.conv1d(%l, %k1, padding=[1, 1], channels=4, kernel_size=[3])
    nn.conv2d(%m, %k2, strides=[2, 2], padding=[1, 1, 1, 1], channels=4, kernel_size=[3, 3])
    nn.conv3d(%s, %k3, padding=[0, 0, 0, 0, 0, 0])
    nn.conv1d_transpose(%l, %k1, channels=4, kernel_size=[3])
    nn.conv2d_transpose(%m, %k2, channels=4, kernel_size=[3, 3], strides=[2, 2])
    nn.conv3d_transpose(%s, %k3, channels=4, kernel_size=[3, 3, 3])
    nn.max_pool1d(%l, pool_size=[2], strides=[2])
    nn.max_pool2d(%m, pool_size=[2, 2], strides=[2, 2], padding=[0, 0, 0, 0])
    nn.max_pool3d(%s, pool_size=[2, 2, 2], strides=[2, 2, 2])
    nn.avg_pool1d(%l, pool_size=[2], strides=[2])
    nn.avg_pool2d(%m, pool_size=[3, 3], padding=[1, 1, 1, 1], count_include_pad=True)
    nn.avg_pool3d(%s, pool_size=[2, 2, 2])
    nn.global_avg_pool1d(%l)
    nn.global_avg_pool2d(%m)
    nn.global_avg_pool3d(%s)
    nn.global_max_pool1d(%l)
    nn.global_max_pool2d(%m)
    nn.global_max_pool3d(%s)
    nn.adaptive_avg_pool1d(%l, output_size=[2])
    nn.adaptive_avg_pool2d(%m, output_size=[2, 2])
    nn.adaptive_avg_pool3d(%s, output_size=[2, 2, 2])
    image.resize2d(%m, size=[4, 4], method="nearest_neighbor", rounding_method="round")
    nn.batch_matmul(%a, %b)
    nn.batch_norm(%m, %g, %g, %g, %g)
    nn.bias_add(%m, %g)
    nn.bias_add(%x, %v, axis=-1)
    nn.dense(%x, %w, units=4)
    nn.dense(%x, %w)
    nn.depth_to_space(%m, block_size=2, layout="NCHW", mode="DCR")
    nn.depth_to_space(%m, block_size=2, mode="CRD")
    nn.depth_to_space(%m, block_size=2, layout="NHWC")
    nn.space_to_depth(%m, block_size=2)
    nn.space_to_depth(%m, block_size=2, layout="NHWC")
    nn.lrn(%m, size=3, axis=1, bias=1f, alpha=0.5f, beta=0.75f)
    nn.lrn(%m)
    logsumexp(%x, axis=[1], keepdims=True)
    logsumexp(%x)
    slice_like(%a, %q)
    slice_like(%a, %q, axes=[-1])
    nn.dropout(%x, rate=0.5f)
    nn.group_norm(%m, %g, %g, num_groups=2)
    nn.instance_norm(%m, %g, %g)
    nn.l2_normalize(%x, eps=1e-5f, axis=[1])
    nn.layer_norm(%x, %v, %v)
    nn.leaky_relu(%x, alpha=0.1f)
    nn.matmul(%x, %w, transpose_b=True)
    nn.pad(%x, 0f, pad_width=[[1, 1], [0, 2]])
    nn.prelu(%m, %g)
    qnn.quantize(%x, 0.5f, 0i8, out_dtype="int8")
    qnn.dequantize(%i, 0.5f, 0)
"""

CALLS = tuple(
    [f"{name}(%x)" for name in UNARY.split()]
    + [f"{name}(%x, %y)" for name in BINARY.split()]
    + [f"{name}(%i, %i)" for name in INTEGERS.split()]
    + [line.strip() for line in OTHERS.strip().splitlines()]
)
