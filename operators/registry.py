"""Finds an operator's declaration by its name, importing only the family that it stands in."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from rlx.grammar.suggest import LIMIT

if TYPE_CHECKING:
    from rlx.operators.declare import Operator

FAMILIES = {
    "attention": "nn.attention nn.attention_bias nn.attention_var_len",
    "binary": """
        add atan2 bitwise_and bitwise_or bitwise_xor divide equal floor_divide floor_mod greater
        greater_equal left_shift less less_equal log_add_exp logical_and logical_or logical_xor maximum
        minimum mod multiply not_equal power right_shift subtract
    """,
    "call": """
        assert_op call_builtin_with_ctx call_dps_packed call_inplace_packed call_pure_packed
        call_py_func call_tir call_tir_inplace call_tir_with_grad dist.call_tir_local_view
        invoke_closure invoke_pure_closure make_closure print vm.call_tir_dyn
    """,
    "convolution": """
        nn.conv1d nn.conv1d_transpose nn.conv2d nn.conv2d_transpose nn.conv3d nn.conv3d_transpose
    """,
    "creation": """
        arange eye eye_like full full_like hamming_window ones ones_like zeros zeros_like
    """,
    "device": """
        builtin.stop_lift_params ccl.allgather ccl.allreduce ccl.broadcast_from_worker0
        ccl.scatter_from_worker0 device dist.annotate_sharding dist.redistribute
        dist.redistribute_replica_to_shard grad.end_checkpoint grad.no_grad grad.start_checkpoint
        hint_on_device to_vdevice
    """,
    "expansion": "broadcast_to collapse_sum_like collapse_sum_to",
    "image": "image.affine_grid image.grid_sample image.resize2d image.resize3d",
    "index_map": "layout_transform",
    "indexing": """
        gather_elements gather_nd index_put index_tensor one_hot scatter_elements scatter_nd take
    """,
    "inspection": """
        inspect.tensor_byte_offset inspect.tensor_dtype_bits inspect.tensor_dtype_code
        inspect.tensor_dtype_lanes inspect.tensor_elem_offset inspect.tensor_ndim inspect.tensor_shape_i
        inspect.tensor_stride_i
    """,
    "joining": "concat meshgrid split stack",
    "linear_algebra": "einsum matmul outer",
    "loss": """
        grad.nll_loss_backward grad.take_backward nn.cross_entropy_with_logits nn.nll_loss
    """,
    "memory": """
        builtin.alloc_tensor memory.alloc_storage memory.alloc_tensor memory.ensure_zero_offset
        memory.kill_storage memory.kill_tensor memory.view vm.alloc_storage vm.alloc_tensor
        vm.kill_object
    """,
    "movement": """
        expand_dims flatten flip nn.batch_flatten nn.pixel_shuffle permute_dims repeat reshape
        reverse_sequence squeeze tile
    """,
    "normalization": """
        nn.batch_norm nn.group_norm nn.instance_norm nn.layer_norm nn.log_softmax nn.prelu nn.rms_norm
        nn.softmax
    """,
    "padding": "nn.pad",
    "pooling": """
        grad.avg_pool2d_backward grad.max_pool2d_backward nn.adaptive_avg_pool1d nn.adaptive_avg_pool2d
        nn.adaptive_avg_pool3d nn.avg_pool1d nn.avg_pool2d nn.avg_pool3d nn.max_pool1d nn.max_pool2d
        nn.max_pool3d
    """,
    "quantization": "dequantize quantize",
    "reduction": "argmax argmin cumprod cumsum max mean median min prod std sum variance",
    "searching": "bucketize nonzero unique where",
    "shapes": "null_value shape_of shape_to_tensor size tensor_to_shape",
    "slicing": "dynamic_strided_slice slice_scatter strided_slice",
    "sorting": "argsort multinomial_from_uniform sort topk",
    "unary": """
        abs acos acosh asin asinh astype atan atanh bitwise_not ceil clip cos cosh erf ewise_fma exp
        floor isfinite isinf isnan log logical_not negative nn.dropout nn.gelu nn.gelu_tanh nn.leakyrelu
        nn.relu nn.selu nn.silu nn.softplus round rsqrt sigmoid sign sin sinh sqrt square tan tanh tril
        triu trunc wrap_param
    """,
    "vision": """
        vision.all_class_non_max_suppression vision.get_valid_counts vision.multibox_transform_loc
        vision.non_max_suppression vision.roi_align vision.roi_pool
    """,
}
"""The module of each family, and the operators declared there (without the leading ``relax.``)."""

_HOME = {f"relax.{name}": family for family, names in FAMILIES.items() for name in names.split()}
_found: dict[str, Operator | None] = {}
_allowed: list[str] = []
_BUILDER = """
    emit emit_te emit_match_cast emit_var_binding emit_with_sinfo emit_with_ty emit_with_type arg func_name
    func_ret_struct_info func_ret_ty func_ret_type func_ret_value If Then Else SeqExpr TupleGetItem rewriter
    dist.call_tir dist.const dist.device_mesh cpu cuda rocm metal opencl vulkan vpi hexagon webgpu ext_dev
"""
_SCRIPT_FUNCTIONS = frozenset(_BUILDER.split())
"""Functions of the script's own builder, which a text may call and which are no operators."""


def lookup(name: str) -> Operator | None:
    """The operator of that full name (``relax.nn.relu``), None if there is no such operator."""
    try:
        return _found[name]
    except KeyError:
        found = _found[name] = _import(name)
        return found


def _import(name: str) -> Operator | None:
    from rlx.operators.declare import declared

    family = _HOME.get(name)
    if family is not None:
        import_module(f"rlx.operators.{family}")
    return declared.get(name)


def is_known(name: str) -> bool:
    """Whether calls of an operator that has no declaration are legal: the parser's own functions, and what is allowed."""
    from fnmatch import fnmatchcase

    short = name.removeprefix("relax.")
    return short in _SCRIPT_FUNCTIONS or any(fnmatchcase(short, each) for each in _allowed)


def is_built_in(name: str) -> bool:
    """Whether Relax has an operator of that full name."""
    return name in _HOME


def forget(name: str) -> None:
    """Look an operator up anew: a declaration of it comes."""
    _found.pop(name, None)


def allow(pattern: str) -> None:
    """Let calls of undeclared operators pass whose name (without ``relax.``) a pattern such as ``my.*`` describes."""
    short = pattern.removeprefix("relax.").removeprefix("R.")
    if short not in _allowed:
        _allowed.append(short)


def similar(name: str) -> list[str]:
    """The words, as texts write them, that an unknown operator's name may have been meant for; best first."""
    from rlx.grammar.suggest import closest, distance
    from rlx.grammar.words import FORMS, PROTOTYPE_OPERATORS
    from rlx.operators.foreign_names import own_name

    short = name.removeprefix("relax.")
    from rlx.operators.declare import declared

    words = dict.fromkeys(head.removeprefix("relax.") for head in (*_HOME, *declared))
    words |= dict.fromkeys(
        head[2:] for head in FORMS if head.startswith("R.") and head[2].islower()
    )
    words |= dict.fromkeys(PROTOTYPE_OPERATORS)
    foreign = own_name(short)
    if foreign is not None:
        near = [word for word in closest(short, words) if word != foreign]
        return [f"R.{foreign}", *(f"R.{word}" for word in near if distance(short, word, 1) <= 1)]
    last = short.rpartition(".")[2]
    elsewhere = [word for word in words if word.rpartition(".")[2] == last]
    if elsewhere:
        return [f"R.{word}" for word in elsewhere[:LIMIT]]
    found = closest(short, words)
    if not found:
        alone: dict[str, list[str]] = {}
        for word in words:
            alone.setdefault(word.rpartition(".")[2], []).append(word)
        found = [word for near in closest(last, alone) for word in alone[near]]
    return [f"R.{word}" for word in found[:LIMIT]]
