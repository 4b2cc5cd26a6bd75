"""The file that declares each operator; generated from the declarations by `make operators`."""

FAMILIES = {
    "attention": "nn.attention nn.attention_bias nn.attention_var_len",
    "call": """
        assert_op call_builtin_with_ctx call_dps_packed call_inplace_packed call_pure_packed
        call_py_func call_tir call_tir_inplace call_tir_with_grad dist.call_tir_local_view
        invoke_closure invoke_pure_closure make_closure print vm.call_tir_dyn
    """,
    "convolution": """
        nn.conv1d nn.conv1d_transpose nn.conv2d nn.conv2d_transpose nn.conv3d
        nn.conv3d_transpose
    """,
    "creation": """
        arange eye eye_like full full_like hamming_window null_value ones ones_like shape_of
        shape_to_tensor size tensor_to_shape zeros zeros_like
    """,
    "device": """
        builtin.stop_lift_params ccl.allgather ccl.allreduce ccl.broadcast_from_worker0
        ccl.scatter_from_worker0 device dist.annotate_sharding dist.redistribute
        dist.redistribute_replica_to_shard grad.end_checkpoint grad.no_grad
        grad.start_checkpoint hint_on_device to_vdevice
    """,
    "elementwise": """
        abs acos acosh add asin asinh astype atan atan2 atanh bitwise_and bitwise_not bitwise_or
        bitwise_xor ceil clip cos cosh divide equal erf ewise_fma exp floor floor_divide
        floor_mod greater greater_equal isfinite isinf isnan left_shift less less_equal log
        log_add_exp logical_and logical_not logical_or logical_xor maximum minimum mod multiply
        negative nn.dropout nn.gelu nn.gelu_tanh nn.leakyrelu nn.relu nn.selu nn.silu
        nn.softplus not_equal power right_shift round rsqrt sigmoid sign sin sinh sqrt square
        subtract tan tanh tril triu trunc where wrap_param
    """,
    "image": "image.affine_grid image.grid_sample image.resize2d image.resize3d",
    "index_map": "layout_transform",
    "indexing": """
        bucketize gather_elements gather_nd index_put index_tensor nonzero one_hot
        scatter_elements scatter_nd take unique
    """,
    "joining": "concat meshgrid split stack",
    "linear_algebra": "einsum matmul outer",
    "loss": "grad.nll_loss_backward grad.take_backward nn.cross_entropy_with_logits nn.nll_loss",
    "memory": """
        builtin.alloc_tensor inspect.tensor_byte_offset inspect.tensor_dtype_bits
        inspect.tensor_dtype_code inspect.tensor_dtype_lanes inspect.tensor_elem_offset
        inspect.tensor_ndim inspect.tensor_shape_i inspect.tensor_stride_i memory.alloc_storage
        memory.alloc_tensor memory.ensure_zero_offset memory.kill_storage memory.kill_tensor
        memory.view vm.alloc_storage vm.alloc_tensor vm.kill_object
    """,
    "movement": """
        broadcast_to collapse_sum_like collapse_sum_to expand_dims flatten flip nn.batch_flatten
        nn.pixel_shuffle permute_dims repeat reshape reverse_sequence squeeze tile
    """,
    "normalization": """
        nn.batch_norm nn.group_norm nn.instance_norm nn.layer_norm nn.log_softmax nn.prelu
        nn.rms_norm nn.softmax
    """,
    "padding": "nn.pad",
    "pooling": """
        grad.avg_pool2d_backward grad.max_pool2d_backward nn.adaptive_avg_pool1d
        nn.adaptive_avg_pool2d nn.adaptive_avg_pool3d nn.avg_pool1d nn.avg_pool2d nn.avg_pool3d
        nn.max_pool1d nn.max_pool2d nn.max_pool3d
    """,
    "quantization": "dequantize quantize",
    "reduction": "argmax argmin cumprod cumsum max mean median min prod std sum variance",
    "slicing": "dynamic_strided_slice slice_scatter strided_slice",
    "sorting": "argsort multinomial_from_uniform sort topk",
    "vision": """
        vision.all_class_non_max_suppression vision.get_valid_counts
        vision.multibox_transform_loc vision.non_max_suppression vision.roi_align
        vision.roi_pool
    """,
}
"""The operators (without the leading ``relax.``) by the module that declares them."""
