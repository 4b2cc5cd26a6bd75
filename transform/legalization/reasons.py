"""Operators that are not legalised, with the reasons."""

from __future__ import annotations

from rlx.operators.registry import Operator

_GROUPS: dict[str, str] = {
    "it calls a function that exists already": """
        call_builtin_with_ctx call_dps_packed call_inplace_packed call_pure_packed call_py_func call_tir
        call_tir_inplace call_tir_with_grad dist.call_tir_local_view invoke_closure
        invoke_pure_closure make_closure vm.call_tir_dyn
    """,
    "it is a hint for the compiler and returns its operand": """
        builtin.stop_lift_params grad.end_checkpoint grad.no_grad grad.start_checkpoint
        memory.ensure_zero_offset
    """,
    "it moves data between devices": """
        ccl.allgather ccl.allreduce ccl.broadcast_from_worker0 ccl.scatter_from_worker0
        device dist.annotate_sharding dist.redistribute dist.redistribute_replica_to_shard
        hint_on_device to_vdevice
    """,
    "it works on memory, not on elements": """
        builtin.alloc_tensor memory.alloc_storage memory.alloc_tensor memory.kill_storage
        memory.kill_tensor memory.view vm.alloc_storage vm.alloc_tensor vm.kill_object
    """,
    "its result is not a tensor": """
        inspect.tensor_byte_offset inspect.tensor_dtype_bits inspect.tensor_dtype_code
        inspect.tensor_dtype_lanes inspect.tensor_elem_offset inspect.tensor_ndim
        inspect.tensor_shape_i inspect.tensor_stride_i null_value shape_of tensor_to_shape
    """,
    "the shape of its result depends on data": "dynamic_strided_slice nonzero unique",
    "its loop bounds depend on data": """
        nn.attention_var_len vision.all_class_non_max_suppression vision.get_valid_counts
        vision.non_max_suppression vision.roi_align vision.roi_pool
    """,
    "it has requirements that a tensor expression cannot check": "multinomial_from_uniform",
    "its index map is a text, which legalization does not parse": "layout_transform",
}

KEPT: dict[str, str] = {name: reason for reason, names in _GROUPS.items() for name in names.split()}
"""The reasons by the operator's name without the leading ``relax.``, if they do not follow from the
declaration.
"""


def reason_of(operator: Operator) -> str:
    """The reason why calls of an operator without a tensor expression definition are kept."""
    known = KEPT.get(operator.name.removeprefix("relax."))
    if known is not None:
        return known
    return "it has no definition as a tensor expression" if operator.pure else "it has an effect"
