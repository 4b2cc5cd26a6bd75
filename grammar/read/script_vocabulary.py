"""The names that may follow `T.` in a PrimFunc, in all versions of TVM with a dialect."""

from __future__ import annotations

import re

from rlx.grammar.nodes.dtype import SCALAR_NAMES
from rlx.grammar.read.misspelt import DATA_TYPES
from rlx.grammar.suggest import closest

_WORDS = """
abs acos acosh Add add_to_parent address_of alloc_block_buffer alloc_buffer alloc_cast_frag
alloc_local alloc_scalar alloc_shared alloc_tcgen05_ldst_frag allocate allocate_const And
anylist_getitem anylist_resetitem anylist_setitem_call_cpacked anylist_setitem_call_packed arg
asin asinh Assert assume atan atan2 atanh attr axis bind Bind bitwise_and bitwise_not bitwise_or
bitwise_xor BitwiseAnd BitwiseNot BitwiseOr BitwiseXor block block_attr
block_name_suffix_context boolean Break break_loop broadcast Broadcast Buffer buffer buffer_decl
buffer_proxy buffer_realize buffer_store buffer_var BufferLoad Call call_cpacked
call_cpacked_lowered call_extern call_ffi_kernel call_intrin call_kernel call_llvm_intrin
call_llvm_pure_intrin call_packed call_packed_lowered call_pure_extern call_pure_intrin
CallEffectKind cast Cast ceil ceildiv cluster cluster_id clz comm_reducer CommReducer
ComposeLayout constexpr Continue continue_loop cooperative_tensor_fill cooperative_tensor_load
cooperative_tensor_multiply_accumulate cooperative_tensor_store copy copy_async copysign cos
cosh create_barriers cta cta_id cta_id_in_cluster cta_id_in_pair cuda decl_buffer decl_scalar
device_entry Div dma_copy dma_end_group dma_start_group dma_wait dot dp4a DtypeConstructor
e4m3_float8 e5m2_float8 Else end_profile_intrinsic entry env_thread EQ erf evaluate ExecScope
exp exp10 exp2 external_kernel fabs filter FloatImm floor FloorDiv floordiv FloorMod floormod
fma fmod frame frame_scope func_attr func_name func_ret GE get_active_lane_mask grid GT Handle
handle_add_byte_offset hint hypot If if_then_else ignore_loop_partition index_map indexdiv
indexmod infinity init inline IntImm isfinite isinf isnan isnullptr Iter iter_var IterVar jit
lane_id launch_thread Layout ldexp LE Let let LetAnnotation LetStmt likely
llvm_lookup_intrinsic_id load local_scalar LocalVectorAnnotation log log10 log1p log2
lookup_param LShift LT macro make_filled_simdgroup_matrix masked_load masked_store match_buffer
Max max max_value meta_class meta_var metal min Min min_value mma_fill mma_store Mod Mul NE
nearbyint nextafter nki Not nvshmem Optional Or parallel popcount pow power preflattened_buffer
prim_func print_buffer ptr Ptr ptr_byte_offset ptx ptx_arrive_barrier
ptx_arrive_barrier_expect_tx ptx_commit_group ptx_cp_async ptx_cp_async_barrier
ptx_cp_async_bulk ptx_fence ptx_init_barrier_thread_count ptx_ldmatrix ptx_ldmatrix_legacy
ptx_legacy ptx_mma ptx_mma_sp ptx_wait_barrier ptx_wait_barrier_legacy ptx_wait_group
q_multiply_shift q_multiply_shift_per_axis R Ramp ramp Range reads realize Reduce reinterpret
ret Return round RShift rsqrt S sblock sblock_alloc_buffer sblock_attr scalar_wrapper scope_id
ScopeIdDef Select selector seq_scope serial shared_scalar shift_left shift_right Shuffle sigmoid
simdgroup_load simdgroup_multiply_accumulate simdgroup_store sin sinh SizeVar smem SMEMPool sqrt
start_profile_intrinsic static_assert store Sub tan tanh Target target TensorMap
tensormap_encode_tiled texture2d_load texture2d_store tgamma Then thread thread_binding
thread_id thread_id_in_wg thread_return tile TileLayout tmem TMEMPool trunc truncdiv truncmod
Tuple tvm_access_ptr tvm_bmma_sync tvm_call_cpacked tvm_call_cpacked_lowered tvm_call_packed
tvm_call_packed_lowered tvm_fill_fragment tvm_global_barrier_kinit tvm_kernel_replace_point
tvm_load_matrix_sync tvm_mma_sync tvm_stack_alloca tvm_stack_make_array tvm_stack_make_shape
tvm_storage_sync tvm_store_matrix_sync tvm_struct_get tvm_struct_set tvm_thread_allreduce
tvm_thread_context tvm_thread_invariant tvm_throw_last_error tvm_tuple tvm_warp_activemask
tvm_warp_shuffle tvm_warp_shuffle_down tvm_warp_shuffle_up tvm_warp_shuffle_xor
TVMBackendAllocWorkspace TVMBackendFreeWorkspace type_annotation undef unroll var Var
vectorcombine vectorhigh vectorized vectorlow vscale warp warp_id warp_id_in_wg warpgroup
warpgroup_id webgpu wg wg_reg_tile where While writes
"""

KNOWN = frozenset(_WORDS.split())
"""The names; for a dotted one (`T.ptx.mma`), the first part."""

_NARROW_FLOATS = "|".join(word for word in SCALAR_NAMES if "_" in word)
_FLOATS_OF_8_BITS = "float8_(?:e3m4|e4m3b11fnuz|e4m3fnuz|e5m2fnuz)"
_TYPES = re.compile(
    rf"(?:u?int(?:8|16|32|64)|float(?:8|16|32|64)|{_NARROW_FLOATS}|{_FLOATS_OF_8_BITS})"
    r"(?:x(?:4|8|16|32|64))?\Z"
    r"|u?int[14]\Z"  # as TVM prints them, whose own parser has no word for them
    r"|[iu](?:8|16|32|64)\Z|f(?:16|32|64)\Z|(?:bfloat|bf)16\Z|(?:bool|handle|void|dtype)\Z"
)
"""The numbers of lanes of vector types; `bfloat16` has none."""


_AXES = frozenset(["spatial", "reduce", "scan", "opaque", "S", "R", "remap"])


def is_known(word: str) -> bool:
    """Whether `T.word` exists in some version of TVM."""
    first, _, rest = word.partition(".")
    if first == "axis" and rest:
        return rest in _AXES
    return first in KNOWN or first.startswith("_") or _TYPES.match(first) is not None


def meant_by(word: str) -> list[str]:
    """The names after `T.` that are similar to an unknown one."""
    first, dot, rest = word.partition(".")
    if first == "axis" and dot:
        return [f"axis.{axis}" for axis in closest(rest, _AXES)]
    found = closest(first, (*KNOWN, *DATA_TYPES))
    return [other + dot + rest for other in found]


_ONE_OPERAND = """
abs fabs acos acosh asin asinh atan atanh ceil cos cosh erf exp exp10 exp2 floor isfinite isinf
isnan likely log log10 log1p log2 nearbyint popcount clz round rsqrt sigmoid sin sinh sqrt tan tanh
trunc bitwise_not
"""
_TWO_OPERANDS = """
atan2 bitwise_and bitwise_or bitwise_xor copysign floordiv floormod fmod hypot ldexp max min
nextafter pow power shift_left shift_right truncdiv truncmod ceildiv
"""
ARITY = {
    **dict.fromkeys(_ONE_OPERAND.split(), 1),
    **dict.fromkeys(_TWO_OPERANDS.split(), 2),
    "fma": 3,
    "if_then_else": 3,
    "q_multiply_shift": 4,
    "q_multiply_shift_per_axis": 7,
}
"""The number of operands of intrinsics that take and return scalars."""

INTEGERS = frozenset(
    ["bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not", "shift_left", "shift_right"]
)
"""The intrinsics whose operands are integers."""

FLOATS = frozenset(["cos", "sin", "tan", "pow", "power"])
"""The intrinsics with an operand that is a float."""

NO_BOOLEANS = frozenset(
    ["abs", "fabs", "isfinite", "isinf", "isnan", "shift_left", "shift_right"],
)
"""The intrinsics of numbers that Booleans are not converted to."""

_OF_BUFFERS = """
access_ptr allocated_addr astype axis_separators buffer_type byte_offset byte_offset_of chunk data
data_alignment dtype elem_offset elem_offset_of equal expr_ty get_flattened_buffer handle id_ is_
is_scalar layout local name offset_factor offset_of partition permute ptr_to rearrange same_as scope
script shape show source span storage strides sub tile ty type_annotation view vload vstore
with_allocated_addr with_dtype
"""
OF_BUFFERS = frozenset(_OF_BUFFERS.split())
"""The attributes and methods of buffers, in any version."""

_OF_NUMBERS = """
asobject astype attrs checked_type dtype equal expr_ty handle id_ is_ legacy_repr op same_as script
show span ty
"""
OF_NUMBERS = frozenset(_OF_NUMBERS.split())
"""The attributes and methods of all numbers in PrimFuncs, in any version."""

OF_ELEMENTS = OF_NUMBERS | {"buffer", "indices", "predicate", "source"}
"""The attributes and methods of the elements of buffers."""

OF_VARIABLES = OF_NUMBERS | OF_BUFFERS
"""The attributes and methods of variables, some of which are buffers in TVM 0.27."""
