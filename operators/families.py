"""The file that declares each operator; generated from the declarations by `make operators`."""

FAMILIES = {
    "attention": "nn.attention nn.attention_bias nn.attention_var_len",
    "binary": """
        add atan2 bitwise_and bitwise_or bitwise_xor divide equal floor_divide floor_mod greater
        greater_equal left_shift less less_equal log_add_exp logical_and logical_or logical_xor
        maximum minimum mod multiply not_equal power right_shift subtract
    """,
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
        arange eye eye_like full full_like hamming_window ones ones_like zeros zeros_like
    """,
    "device": """
        builtin.stop_lift_params ccl.allgather ccl.allreduce ccl.broadcast_from_worker0
        ccl.scatter_from_worker0 device dist.annotate_sharding dist.redistribute
        dist.redistribute_replica_to_shard grad.end_checkpoint grad.no_grad
        grad.start_checkpoint hint_on_device to_vdevice
    """,
    "expansion": "broadcast_to collapse_sum_like collapse_sum_to",
    "image": "image.affine_grid image.grid_sample image.resize2d image.resize3d",
    "index_map": "layout_transform",
    "indexing": """
        gather_elements gather_nd index_put index_tensor one_hot scatter_elements scatter_nd
        take
    """,
    "inspection": """
        inspect.tensor_byte_offset inspect.tensor_dtype_bits inspect.tensor_dtype_code
        inspect.tensor_dtype_lanes inspect.tensor_elem_offset inspect.tensor_ndim
        inspect.tensor_shape_i inspect.tensor_stride_i
    """,
    "joining": "concat meshgrid split stack",
    "linear_algebra": "einsum matmul outer",
    "loss": "grad.nll_loss_backward grad.take_backward nn.cross_entropy_with_logits nn.nll_loss",
    "memory": """
        builtin.alloc_tensor memory.alloc_storage memory.alloc_tensor memory.ensure_zero_offset
        memory.kill_storage memory.kill_tensor memory.view vm.alloc_storage vm.alloc_tensor
        vm.kill_object
    """,
    "movement": """
        expand_dims flatten flip nn.batch_flatten nn.pixel_shuffle permute_dims repeat
        reverse_sequence squeeze tile
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
    "reshaping": "reshape",
    "searching": "bucketize nonzero unique where",
    "shapes": "null_value shape_of shape_to_tensor size tensor_to_shape",
    "slicing": "dynamic_strided_slice slice_scatter strided_slice",
    "sorting": "argsort multinomial_from_uniform sort topk",
    "unary": """
        abs acos acosh asin asinh astype atan atanh bitwise_not ceil clip cos cosh erf ewise_fma
        exp floor isfinite isinf isnan log logical_not negative nn.dropout nn.gelu nn.gelu_tanh
        nn.leakyrelu nn.relu nn.selu nn.silu nn.softplus round rsqrt sigmoid sign sin sinh sqrt
        square tan tanh tril triu trunc wrap_param
    """,
    "vision": """
        vision.all_class_non_max_suppression vision.get_valid_counts
        vision.multibox_transform_loc vision.non_max_suppression vision.roi_align
        vision.roi_pool
    """,
}
"""The operators (without the leading ``relax.``) by the module that declares them."""
