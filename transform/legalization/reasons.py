"""Operators that legalisation leaves, and why."""

from __future__ import annotations

from rlx.operators.registry import Operator

_GROUPS: dict[str, str] = {
    "it calls what is a function already": """
        call_builtin_with_ctx call_dps_packed call_inplace_packed call_pure_packed call_py_func call_tir
        call_tir_inplace call_tir_with_grad dist.call_tir_local_view invoke_closure
        invoke_pure_closure make_closure vm.call_tir_dyn
    """,
    "it is a mark for the compiler, and its value that of its operand": """
        builtin.stop_lift_params grad.end_checkpoint grad.no_grad grad.start_checkpoint
        memory.ensure_zero_offset
    """,
    "it moves data between devices": """
        ccl.allgather ccl.allreduce ccl.broadcast_from_worker0 ccl.scatter_from_worker0
        device dist.annotate_sharding dist.redistribute dist.redistribute_replica_to_shard
        hint_on_device to_vdevice
    """,
    "it is about memory, not about elements": """
        builtin.alloc_tensor memory.alloc_storage memory.alloc_tensor memory.kill_storage
        memory.kill_tensor memory.view vm.alloc_storage vm.alloc_tensor vm.kill_object
    """,
    "its result is no tensor": """
        inspect.tensor_byte_offset inspect.tensor_dtype_bits inspect.tensor_dtype_code
        inspect.tensor_dtype_lanes inspect.tensor_elem_offset inspect.tensor_ndim
        inspect.tensor_shape_i inspect.tensor_stride_i null_value shape_of tensor_to_shape
    """,
    "data decide on the shape of its result": "dynamic_strided_slice nonzero unique",
    "data decide on how far its loops go": """
        nn.attention_var_len vision.all_class_non_max_suppression vision.get_valid_counts
        vision.non_max_suppression vision.roi_align vision.roi_pool
    """,
    "it asks of its operands what a tensor expression cannot refuse": "multinomial_from_uniform",
    "its index map is a text that is not read here": "layout_transform",
}

KEPT: dict[str, str] = {name: reason for reason, names in _GROUPS.items() for name in names.split()}
"""The reason by the operator's name without the leading ``relax.``, where the declaration of the
operator does not say it.
"""


def reason_of(operator: Operator) -> str:
    """Why the calls of an operator without a definition as a tensor expression stay."""
    known = KEPT.get(operator.name.removeprefix("relax."))
    if known is not None:
        return known
    return "it has no definition as a tensor expression" if operator.pure else "it has an effect"
