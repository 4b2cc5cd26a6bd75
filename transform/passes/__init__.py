"""Small passes, which also serve as examples of user-defined passes."""

from __future__ import annotations

from rlx.transform.passes.common_subexpressions import common_subexpressions
from rlx.transform.passes.dead_code import dead_code
from rlx.transform.passes.fold_shapes import fold_shapes
from rlx.transform.passes.fuse_matmul_add import fuse_matmul_add

__all__ = [
    "common_subexpressions",
    "dead_code",
    "fold_shapes",
    "fuse_matmul_add",
]
