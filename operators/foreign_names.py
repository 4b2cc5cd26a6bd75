"""The names of Relax's operators and their parameters in other libraries.

Names are compared without case and underscores, first with their namespace and then without:
``nn.functional.relu``, ``MatMul`` and ``batch_matmul`` are all found. Names are those of PyTorch,
NumPy, JAX, TensorFlow, ONNX and Relay.
"""

from __future__ import annotations

from functools import cache

OWN_NAMES = {
    "abs": "absolute fabs",
    "acos": "arccos",
    "acosh": "arccosh",
    "asin": "arcsin",
    "asinh": "arcsinh",
    "atan": "arctan",
    "atanh": "arctanh",
    "atan2": "arctan2",
    "add": "plus add_n elemwise_add broadcast_add ewise_add",
    "argmax": "arg_max",
    "argmin": "arg_min",
    "argsort": "arg_sort",
    "assert_op": "assert assert_equal",
    "astype": (
        "cast to type convert_element_type as_type cast_like float half bfloat16 to_float convert"
    ),
    "bitwise_and": "band bit_and",
    "bitwise_not": "invert bnot bit_not",
    "bitwise_or": "bor bit_or",
    "bitwise_xor": "bxor bit_xor",
    "broadcast_to": "expand broadcast broadcast_in_dim expand_as broadcast_to_like",
    "bucketize": "searchsorted digitize search_sorted",
    "builtin.alloc_tensor": "empty new_empty empty_like",
    "call_tir": "call_prim_func calltir",
    "call_packed": "call_extern packed_call",
    "ceil": "ceiling",
    "clip": "clamp clip_by_value hardtanh clamp_min clamp_max",
    "concat": "cat concatenate concat_v2 hstack vstack dstack",
    "const": "constant tensor array as_tensor asarray convert_to_tensor literal",
    "cumprod": "cum_prod",
    "cumsum": "cum_sum",
    "dequantize": "dequantize_linear qnn.dequantize",
    "divide": "div true_divide truediv real_div",
    "einsum": "tensordot",
    "equal": "eq equals",
    "exp": "exponential",
    "expand_dims": "unsqueeze newaxis expand_dim unsqueeze_dims",
    "flatten": "ravel",
    "flip": "reverse fliplr flipud",
    "floor_divide": "floordiv floor_div",
    "floor_mod": "floormod remainder",
    "full": "fill constant_of_shape fill_like",
    "gather_elements": "take_along_axis take_along_dim gather gather_along_axis",
    "gather_nd": "gathernd",
    "greater": "gt greater_than",
    "greater_equal": "ge gte greater_than_equal greater_or_equal",
    "image.grid_sample": "gridsample",
    "image.resize2d": (
        "resize interpolate upsample upsampling resize_bilinear resize_nearest_neighbor"
    ),
    "image.resize3d": "upsampling3d",
    "index_tensor": "index index_select adv_index",
    "isfinite": "is_finite",
    "isinf": "is_inf",
    "isnan": "is_nan",
    "left_shift": "lshift shift_left bitwise_left_shift",
    "less": "lt less_than",
    "less_equal": "le lte less_than_equal less_or_equal",
    "linear": (
        "nn.linear nn.dense dense fully_connected addmm nn.fully_connected contrib_dense_pack"
    ),
    "log": "ln",
    "log_add_exp": "logaddexp",
    "logical_and": "and land",
    "logical_not": "not lnot",
    "logical_or": "or lor",
    "logical_xor": "xor lxor",
    "match_cast": "match_shape_cast matchcast",
    "matmul": "mm bmm dot gemm batch_matmul mat_mul mv vdot inner matvec dot_general",
    "max": "reduce_max amax max_reduce",
    "maximum": "max2 elemwise_max element_wise_max",
    "mean": "reduce_mean average avg",
    "median": "quantile nanmedian",
    "memory.view": "as_strided",
    "meshgrid": "mesh_grid",
    "min": "reduce_min amin min_reduce",
    "minimum": "min2 elemwise_min element_wise_min",
    "mod": "fmod modulo",
    "multinomial_from_uniform": "multinomial",
    "multiply": "mul times elemwise_mul broadcast_mul ewise_mul mult",
    "negative": "neg unary_minus",
    "nn.adaptive_avg_pool2d": "global_avg_pool2d global_average_pool",
    "nn.attention": (
        "scaled_dot_product_attention multi_head_attention multihead_attention sdpa flash_attention"
    ),
    "nn.avg_pool2d": "average_pool avg_pool average_pooling2d average_pool2d",
    "nn.batch_norm": "batch_normalization batchnorm batch_norm2d batch_norm1d",
    "nn.conv1d": "convolution1d",
    "nn.conv2d": "conv convolution conv_2d convolution2d",
    "nn.conv2d_transpose": "conv_transpose conv_transpose2d deconv deconvolution deconv2d",
    "nn.conv1d_transpose": "conv_transpose1d deconv1d",
    "nn.conv3d_transpose": "conv_transpose3d deconv3d",
    "nn.cross_entropy_with_logits": "cross_entropy softmax_cross_entropy",
    "nn.dropout": "drop_out",
    "nn.gelu": "gelu_exact gelu_erf",
    "nn.gelu_tanh": "gelu_new gelu_approx fast_gelu",
    "nn.group_norm": "group_normalization groupnorm",
    "nn.instance_norm": "instance_normalization instancenorm",
    "nn.layer_norm": "layer_normalization layernorm",
    "nn.leakyrelu": "leaky_relu",
    "nn.log_softmax": "logsoftmax",
    "nn.max_pool2d": "max_pool max_pooling2d maxpool2d",
    "nn.nll_loss": "negative_log_likelihood",
    "nn.pad": "constant_pad zero_pad pad2d mirror_pad reflection_pad",
    "nn.pixel_shuffle": "depth_to_space",
    "nn.prelu": "parametric_relu",
    "nn.relu": "rectify rectified_linear",
    "nn.rms_norm": "rmsnorm rms_normalization",
    "nn.silu": "swish",
    "nn.softmax": "soft_max",
    "nn.softplus": "soft_plus",
    "nonzero": "argwhere non_zero count_nonzero",
    "not_equal": "ne neq",
    "null_value": "none null",
    "one_hot": "onehot",
    "ones": "new_ones",
    "outer": "outer_product ger",
    "output": "outputs return_output",
    "permute_dims": "transpose permute swapaxes swap_axes moveaxis move_axis swapdims t",
    "power": "pow",
    "prim_value": "primvalue scalar",
    "prod": "reduce_prod product",
    "quantize": "quantize_linear qnn.quantize quantize_per_tensor",
    "repeat": "repeat_interleave",
    "reshape": "view reshape_like contrib_reverse_reshape newshape unflatten",
    "right_shift": "rshift shift_right bitwise_right_shift",
    "round": "rint around",
    "rsqrt": "reciprocal_sqrt inverse_sqrt",
    "scatter_elements": "scatter scatter_add put_along_axis scatter_reduce",
    "scatter_nd": "scatternd",
    "shape_of": "shape_tensor get_shape",
    "sigmoid": "expit logistic",
    "size": "numel num_elements ndarray_size",
    "slice_scatter": "dynamic_update_slice",
    "sign": "signum sgn",
    "sort": "msort",
    "split": "chunk unbind tensor_split array_split hsplit vsplit unstack",
    "square": "squared",
    "stack": "pack",
    "std": "stddev reduce_std std_dev",
    "strided_slice": "slice narrow getitem slice_like slice_axis",
    "subtract": "sub minus elemwise_sub broadcast_sub",
    "sum": "reduce_sum sum_reduce nansum",
    "take": "embedding gather_v2 lookup embedding_lookup",
    "tile": "tile_repeat",
    "to_vdevice": "device_copy to_device device_put copy_to_device",
    "topk": "top_k",
    "trunc": "truncate fix",
    "tuple": "make_tuple",
    "unique": "unique_consecutive unique_values",
    "variance": "var reduce_variance",
    "vision.non_max_suppression": "nms",
    "vision.roi_align": "roialign",
    "where": "select ifelse if_else cond",
    "zeros": "new_zeros",
}
"""The names of each Relax operator in other libraries."""

_PARAMETERS = {
    "axis": "dim dims dimension axes perm reduction_indices along",
    "axes": "dim dims axis perm permutation order",
    "begin": "start starts",
    "beta": "bias b offset",
    "bias": "b beta",
    "condition": "cond test mask predicate",
    "data": "x input a inp tensor arr array self value",
    "data_layout": "layout data_format input_layout",
    "depth": "num_classes n classes",
    "descending": "reverse largest ascending is_ascend",
    "dilation": "dilations dilate rate dilation_rate",
    "dtype": "type to out_dtype datatype output_dtype result_type",
    "end": "stop ends stops limit",
    "epsilon": "eps",
    "fill_value": "value fill val",
    "gamma": "weight scale w",
    "groups": "group num_groups feature_group_count",
    "indices": "index idx ids",
    "indices_or_sections": (
        "sections split_size num_or_size_splits num_splits chunks num_split indices"
    ),
    "is_ascend": "ascending descending largest",
    "keepdims": "keepdim keep_dims keep_dim",
    "kernel_layout": "filter_layout weight_layout",
    "k": "n num",
    "lhs": "a x x1 left",
    "max": "a_max amax high maximum upper clip_value_max max_val",
    "min": "a_min amin low minimum lower clip_value_min min_val",
    "momentum": "decay",
    "moving_mean": "running_mean mean",
    "moving_var": "running_var var variance running_variance moving_variance",
    "ndim": "rank ndims dims",
    "negative_slope": "alpha slope",
    "alpha": "negative_slope slope",
    "off_value": "off",
    "on_value": "on",
    "out_dtype": "dtype output_dtype",
    "out_layout": "output_layout",
    "padding": "pad paddings pads",
    "pad_width": "pad padding pads paddings width",
    "pad_mode": "mode",
    "pad_value": "constant_values value fill_value",
    "pool_size": "kernel_size kernel ksize window size kernel_shape",
    "rate": "p prob dropout probability ratio",
    "repeats": "reps times",
    "rhs": "b y x2 right",
    "shape": "newshape new_shape size sizes target_shape dims",
    "size": "output_size out_size sizes target_size",
    "strides": "stride step steps",
    "tensors": "data inputs xs arrays values tensors_list fields",
    "weight": "w kernel filter filters",
    "x": "data input a inp tensor x1 self lhs value",
    "x1": "a x lhs data input left",
    "x2": "b y rhs other right mat2",
    "y": "b x2 rhs other",
}
"""The names of each parameter of Relax's operators in other libraries."""


@cache
def _by_foreign_name() -> dict[str, str]:
    table: dict[str, str] = {}
    for own, names in OWN_NAMES.items():
        for name in names.split():
            table.setdefault(_plain(name), own)
    return table


def own_name(name: str) -> str | None:
    """The Relax name of an operator that other libraries call ``name``."""
    table = _by_foreign_name()
    return table.get(_plain(name)) or table.get(_plain(name.rpartition(".")[2]))


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


_ORDERS: dict[str, dict[int, tuple[int, ...]]] = {
    "embedding": {2: (1, 0)},
    "gather": {3: (0, 2, 1)},
    "addmm": {3: (1, 2, 0)},
    "scatter": {4: (0, 2, 3, 1)},
}
"""Names whose arguments Relax takes in another order, by the number of arguments."""

_DIFFERENT = """
narrow slice slice_axis getitem index_select select transpose swapaxes swap_axes swapdims moveaxis
move_axis permute view as_strided expand index scatter_add scatter_reduce put_along_axis
scaled_dot_product_attention multi_head_attention flash_attention sdpa interpolate upsample resize
dynamic_update_slice gather addmm scatter embedding
"""
_OTHER_ARGUMENTS = frozenset(map(_plain, _DIFFERENT.split()))
"""Names that take something else than Relax's operator behind their first argument."""


def argument_order(name: str, count: int) -> tuple[int, ...] | None:
    """The positions of the arguments of another library's operator in the order in which Relax
    takes them; None if they do not correspond.
    """
    last = _plain(name.rpartition(".")[2])
    found = _ORDERS.get(last, {}).get(count)
    if found is not None:
        return found
    return None if count > 1 and last in _OTHER_ARGUMENTS else tuple(range(count))


def own_parameters(name: str) -> list[str]:
    """The parameters that other libraries call ``name``."""
    return [own for own, names in _PARAMETERS.items() if name.lower() in names.split()]
