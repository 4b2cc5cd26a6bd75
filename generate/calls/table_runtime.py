"""Patterns of operators that speak of memory, devices and the parts of a cluster."""

from __future__ import annotations

RUNTIME: dict[str, str] = {
    "memory.view": """
x(a, 4), shape(a, 2, 2) | shape(a * 4) | shape(4, a)
float32(a, 4), dtype='int32'
""",
    "memory.alloc_storage": "shape(4096), prim(0), string('global'), dtype('uint8')",
    "vm.alloc_storage": "shape(4096), prim(0), dtype('uint8')",
    "memory.alloc_tensor": "made('memory.alloc_storage'), prim(0), shape(a, b) | shape(4), dtype('float32')",
    "vm.alloc_tensor": "made('vm.alloc_storage'), prim(0), shape(a, b) | shape(4), dtype('float32')",
    "memory.kill_storage": "made('memory.alloc_storage')",
    "memory.kill_tensor": "made('builtin.alloc_tensor')",
    "vm.kill_object": "made('vm.alloc_storage')",
    "assert_op": "bool() | prim(True), format='no'",
    "print": "x(a, b), format='{}'\nx(a), prim(a), format='{} {}'",
    "device": "string('llvm'), prim(0)",
    "hint_on_device": "x(a, b), dst_vdevice='llvm:0'",
    "to_vdevice": "x(a, b) | x(a), dst_vdevice='llvm:0'",
    "dist.annotate_sharding": "x(a, b), device_mesh='mesh[0]', placement='S[0]' | 'R'",
    "dist.redistribute": "x(a, b), device_mesh='mesh[0]', placement='S[0]' | 'R'",
    "builtin.alloc_tensor": "shape(a, b) | shape(4), dtype('float32') | dtype('int64'), prim(0)",
    "ccl.allgather": "x(a, b), num_workers=2 | 4",
    "ccl.scatter_from_worker0": "x(a * 2, b), num_workers=2\nx(a, 4), num_workers=2, axis=1",
    "ccl.allreduce": "x(a, b), op_type='sum' | 'max' | 'min'",
    "ccl.broadcast_from_worker0": "x(a, b)",
    "dist.redistribute_replica_to_shard": "x(a, 4), num_workers=2, axis=1",
    "inspect.tensor_shape_i": "x(a, b), prim(0) | prim(1)\nx(a), prim(0)",
    "inspect.tensor_stride_i": "x(a, b), prim(0) | prim(1)\nx(a), prim(0)",
}
