"""The operators by which a lowered program handles memory and shapes."""

from __future__ import annotations

from rlx.grammar.nodes.dtype import dtype

BYTES = dtype("uint8")

STORAGE = {"relax.memory.alloc_storage": None, "relax.vm.alloc_storage": 2}
"""Those that make a piece of memory, with the position of the type whose elements the size counts;
None where it counts bytes.
"""
TENSOR = frozenset({"relax.memory.alloc_tensor", "relax.vm.alloc_tensor"})
"""Those that lay a tensor into a piece of memory."""
KILLS = frozenset({"relax.memory.kill_storage", "relax.memory.kill_tensor", "relax.vm.kill_object"})
"""Those that end an object."""
LOWERED = (
    frozenset(STORAGE) | TENSOR | KILLS | {"relax.call_builtin_with_ctx", "relax.vm.call_tir_dyn"}
)
"""A program that calls one of these is a lowered one."""
