"""Patterns of the operators of neural networks."""

from __future__ import annotations

_NORM = "f(a, 4, b), f(4), f(4), channel_axis=1, axes=[2], epsilon=None | 0.01"


def _pool(spatial: str) -> str:
    return (
        f"f(a, c, {spatial}), pool_size=2 | 3, strides=None | 2, padding=None | 1, "
        "ceil_mode=None | True, count_include_pad=None | True"
    )


NN: dict[str, str] = {
    "nn.conv1d": """
f(a, 3, 16), f(4, 3, 3), strides=None | 2, padding=None | 1, dilation=None | 2
f(a, 16, 3), f(3, 3, 4), data_layout='NWC', kernel_layout='WIO'
f(a, c, 16), f(d, c, 3), padding=None | [1, 0]
""",
    "nn.conv2d": """
f(a, 3, 8, 8), f(4, 3, 3, 3), strides=None | 2 | [2, 1], padding=None | 1 | [1, 2], dilation=None | 2
f(a, 8, 8, 3), f(3, 3, 3, 4), data_layout='NHWC', kernel_layout='HWIO', out_layout=None | 'NCHW'
f(a, 4, 8, 8), f(8, 2, 1, 1), groups=2
f(a, c, 8, 8), f(d, c, 3, 3), padding=None | [1, 2, 0, 1]
f(a, c, b, b), f(d, c, 1, 1)
""",
    "nn.conv3d": "f(a, 3, 8, 8, 8), f(4, 3, 3, 3, 3), strides=None | 2, padding=None | 1",
    "nn.conv1d_transpose": "f(a, 3, 8), f(3, 4, 3), strides=2, padding=None | 1, output_padding=None | 1",
    "nn.conv2d_transpose": """
f(a, 3, 8, 8), f(3, 4, 3, 3), strides=2, padding=None | 1, output_padding=None | 1
f(a, 3, 8, 8), f(3, 4, 3, 3), groups=3
""",
    "nn.conv3d_transpose": "f(a, 3, 4, 4, 4), f(3, 4, 3, 3, 3), strides=None | 2",
    "nn.avg_pool1d": _pool("8"),
    "nn.avg_pool2d": _pool("8, 8"),
    "nn.avg_pool3d": _pool("8, 8, 8"),
    "nn.max_pool1d": _pool("8"),
    "nn.max_pool2d": _pool("8, 8") + "\nf(a, 8, 8, c), pool_size=[2, 3], layout='NHWC'",
    "nn.max_pool3d": _pool("8, 8, 8"),
    "nn.adaptive_avg_pool1d": "f(a, c, 8) | f(a, c, b), output_size=4 | 1 | None",
    "nn.adaptive_avg_pool2d": "f(a, c, 8, 8), output_size=[1, 1] | 7 | None\nf(a, 8, 8, c), output_size=4, layout='NHWC'",
    "nn.adaptive_avg_pool3d": "f(a, c, 8, 8, 8), output_size=2 | None",
    "grad.avg_pool2d_backward": "f(a, 3, 4, 4), f(a, 3, 8, 8), pool_size=(2, 2), strides=(2, 2)",
    "grad.max_pool2d_backward": "f(a, 3, 4, 4), f(a, 3, 8, 8), pool_size=(2, 2), strides=(2, 2)",
    "nn.layer_norm": """
f(a, b), f(b), f(b), axes=[-1] | [1], epsilon=None | 0.01
f(a, 4, b), f(4, b), f(4, b), axes=[1, 2]
""",
    "nn.rms_norm": "f(a, b), f(b), axes=[-1], epsilon=None | 0.01",
    "nn.group_norm": "f(a, 4, b), f(4), f(4), num_groups=2 | 4 | 1, channel_axis=1, axes=[2]",
    "nn.instance_norm": _NORM,
    "nn.batch_norm": "f(a, 4, b) | f(a, 4), f(4), f(4), f(4), f(4), axis=1, training=None | False",
    "nn.softmax": "f(a, b) | f(a) | f(a, 3, b), axis=None | 0 | -1",
    "nn.log_softmax": "f(a, b) | f(a) | f(a, 3, b), axis=None | 0 | -1",
    "nn.prelu": "f(a, 4), f(4)\nf(a, 4), f(1), axis=-1\nf(a, b), f(b)",
    "nn.pad": """
f(a, b), pad_width=[1, 1, 2, 2] | [0, 0, 1, 0], pad_mode=None | 'constant', pad_value=None | 1.0
f(8, 8), pad_width=[1, 1, 2, 2], pad_mode='reflect'
""",
    "nn.attention": """
f(a, b, 8, 16), f(a, c, 8, 16), f(a, c, 8, 32), scale=None | 0.5
f(a, b, 8, 16), f(a, b, 8, 16), f(a, b, 8, 16), causal_mask='TopLeft'
""",
    "nn.attention_bias": "f(a, b, 8, 16), f(a, c, 8, 16), f(a, c, 8, 32), f(a, 8, b, c) | f(1, 1, b, c)",
    "nn.attention_var_len": (
        "f(1, b, 8, 16), f(1, c, 8, 16), f(1, c, 8, 32), int32(a), int32(), int32(a), int32()"
    ),
    "nn.cross_entropy_with_logits": "f(a, b), f(a, b)\nf(a), f(a)",
    "nn.nll_loss": """
f(a, b), i(a), reduction=None | 'sum' | 'none'
f(a, b), i(a), f(b), reduction=None | 'none'
f(a, 4, b), i(a, b), f(4), reduction=None | 'none'
""",
    "grad.nll_loss_backward": "f(), f(a, b), i(a)\nf(), f(a, b), i(a), f(b)",
    "grad.take_backward": "f(c, b), f(a, b), i(c), axis=0\nf(a, c), f(a, b), i(c), axis=1",
    "quantize": """
float32(a, 4) | float16(a, 4), float32(4), int8(4), axis=-1, out_dtype=None | 'int8'
float32(a, 4), float32(), int8(), out_dtype='uint8'
""",
    "dequantize": """
int8(a, 4), float32(4), int8(4), axis=-1
int8(a, b), float32(a), int8(a), axis=0, out_dtype='float16'
""",
    "image.resize2d": """
f(a, 3, 8, 8), shape(4, 16) | shape(c, 16), method=None | 'nearest_neighbor', layout='NCHW'
f(a, 8, 8, 3), shape(16, 16), layout='NHWC', out_dtype=None | 'float16'
""",
    "image.resize3d": "f(a, 3, 8, 8, 8), shape(16, 4, 2) | shape(c, 16, 2), layout='NCDHW'",
    "image.grid_sample": """
f(a, 3, 8, 8), f(a, 2, 5, c), method=None | 'nearest', padding_mode=None | 'border'
f(a, 3, 8, 8, 8), f(a, 3, 5, 6, c), layout='NCDHW'
""",
    "image.affine_grid": "f(a, 2, 3), shape(5, c)\nf(a, 3, 4), shape(5, c, 6)",
    "vision.all_class_non_max_suppression": """
f(a, b, 4), f(a, c, b), const(5, 'int64'), const(0.5, 'float32'), const(0.1, 'float32'), output_format=None | 'tensorflow'
""",
    "vision.get_valid_counts": "f(a, b, 6), score_threshold=None | 0.5",
    "vision.non_max_suppression": "f(a, b, 6), int32(a), int32(a, b), return_indices=None | False",
    "vision.multibox_transform_loc": "f(a, 3, b), f(a, b * 4), f(1, b, 4)",
    "vision.roi_align": """
f(a, 3, 8, 8), f(c, 5), pooled_size=[7, 7] | 3, spatial_scale=1.0, sample_ratio=None | 2, mode=None | 'max'
f(a, 8, 8, 3), f(c, 5), pooled_size=[7, 7], spatial_scale=1.0, layout='NHWC'
""",
    "vision.roi_pool": "f(a, 3, 8, 8), f(c, 5), pooled_size=[7, 7] | 3, spatial_scale=1.0",
}
