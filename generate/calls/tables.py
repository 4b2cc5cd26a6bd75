"""The patterns of operators whose arguments do not follow from their signature, family by family.

A line is a pattern, the plainest first; which of its alternatives go together the operator's own rule decides.
"""

from __future__ import annotations

from rlx.generate.calls.table_nn import NN
from rlx.generate.calls.table_runtime import RUNTIME

_REDUCED = """
t(a, b), axis=None | 0 | -1 | [0, 1], keepdims=None | True
f(a, 3, b), axis=None | 1 | [0, 2] | [-1], keepdims=None | True
"""
_POSITION = "t(a, b), axis=None | 0 | -1, keepdims=None | True\nf(a, 3, b), axis=1 | None"
_SCAN = "t(a, b), axis=None | 0 | -1, dtype=None | 'float32' | 'int64', exclusive=None | True\nf(a)"

_BITS = "i(a, b), i(a, b) | i(b) | i() | i(1, b)\ni(), i(a)\nint8(a), int8(a)"

TENSORS: dict[str, str] = {
    **dict.fromkeys(("max", "mean", "median", "min", "prod", "std", "sum", "variance"), _REDUCED),
    **dict.fromkeys(("argmax", "argmin"), _POSITION),
    **dict.fromkeys(("cumsum", "cumprod"), _SCAN),
    "astype": "x(a, b), dtype='float32' | 'int32' | 'bool' | 'float16' | 'int8'\nx(a), dtype='int64'",
    "clip": "t(a, b), prim(0), prim(6)\nt(a), prim(0), prim(1)",
    "tril": "x(a, b), prim(0) | prim(1) | prim(-1)\nx(3, a, b)",
    "triu": "x(a, b), prim(0) | prim(1) | prim(-1)\nx(3, a, b)",
    "wrap_param": "x(a, b), dtype='float32' | 'float16'",
    "nn.leakyrelu": "f(a, b), alpha=None | 0.25\nf(a)",
    "nn.softplus": "f(a, b), beta=None | 2.0, threshold=None | 10.0",
    "nn.dropout": "f(a, b), rate=0.5 | 0.0",
    # creation
    "zeros": "shape(a, b) | shape(a) | shape(2, 3), dtype='float32' | 'int64' | 'bool' | 'float16'",
    "ones": "shape(a, b) | shape(a) | shape(2, 3), dtype='float32' | 'int32' | 'bool' | 'float16'",
    "full": """
shape(a, b) | shape(a) | shape(2, 3), const(2.0, 'float32'), dtype=None | 'float32' | 'float16'
shape(a, b), t(), dtype=None
""",
    "full_like": "x(a, b), const(1.0, 'float32') | const(2, 'int32') | t(), dtype=None | 'float16'",
    "zeros_like": "x(a, b) | x(a) | x(), dtype=None | 'int64' | 'float32'",
    "ones_like": "x(a, b) | x(a) | x(), dtype=None | 'int64' | 'float32'",
    "eye": "prim(3) | prim(a), prim(4) | prim(b), prim(0) | prim(1), dtype='float32' | 'int64'",
    "eye_like": "x(a, b), prim(0) | prim(1), dtype=None | 'float32'",
    "arange": """
prim(5) | prim(a), dtype=None | 'float32'
prim(1), prim(9), prim(2), dtype=None | 'int64'
prim(0), prim(a), prim(1) | prim(2), dtype='int64'
""",
    "hamming_window": "prim(10) | prim(a), prim(True) | prim(False), prim(0.5), prim(0.4), dtype='float32'",
    # movement
    "reshape": """
x(a, 4), shape(a * 4) | shape(a, 2, 2) | shape(4, a) | shape(2, a, 2)
x(a, b), shape(a * b) | shape(b, a) | shape(a, 1, b)
x(a, 4), shape(a, -1) | shape(-1, 4) | shape(-1)
x(6), shape(2, 3) | shape(3, -1)
x(a, 3, b), shape(a * 3, b) | shape(a, b * 3) | shape(0, 3, -1)
""",
    "permute_dims": "x(a, b) | x(a, 3, b), axes=None\nx(a, b), axes=[1, 0]\nx(a, 3, b), axes=[0, 2, 1] | [-1, 0, 1]",
    "expand_dims": "x(a, b) | x(a) | x(), axis=0 | -1 | [0, 1]\nx(a, b), axis=[1, 3]",
    "squeeze": "x(a, 1, b), axis=1 | [1] | [-2]\nx(1, 4), axis=None | [0]\nx(1, 1, a), axis=[0, 1]",
    "flatten": "x(a, b) | x(a) | x() | x(a, 3, b)",
    "nn.batch_flatten": "x(a, b) | x(a, 3, b)",
    "flip": "x(a, b), axis=0 | 1 | -1\nx(a), axis=0",
    "tile": "x(a, b), repeats=[2] | [1, 2] | [2, 1, 3]\nx(a), repeats=[2]",
    "repeat": "x(a, b), repeats=2 | 1, axis=None | 0 | -1",
    "reverse_sequence": "x(a, b), j(a), seq_axis=1, batch_axis=0\nx(a, b), j(b), seq_axis=0, batch_axis=1",
    "nn.pixel_shuffle": "f(a, 8, 3, b), upscale_factor=2\nf(a, 4, b, c), upscale_factor=2",
    "broadcast_to": "x(a) | x(1, a) | x(b, 1) | x(), shape(b, a)\nx(a, 1), shape(3, a, b)",
    "collapse_sum_to": "t(a, b), shape(b) | shape(1, b) | shape(a, 1) | shape(a, b)",
    "collapse_sum_like": "t(a, b), t(b) | t(1, b) | t(a, 1) | t(a, b)",
    "layout_transform": "x(a, b), index_map=index_map('lambda i, j: (j, i)'), pad_value=None",
    # joining
    "concat": "[x(a, b), x(c, b)], axis=0 | None\n[x(a, b), x(a, 3)], axis=1 | -1\n[x(a), x(b), x(4)]",
    "stack": "[x(a, b), x(a, b)], axis=None | 0 | 1 | -1\n[x(a), x(a), x(a)], axis=0 | 1",
    "split": """
x(a, 12), indices_or_sections=3 | 2 | [3, 7] | [4], axis=1 | -1
x(a * 2, b), indices_or_sections=2, axis=0
x(10), indices_or_sections=[3, 5] | 5 | 2
""",
    "meshgrid": "[x(a), x(b)], indexing=None | 'ij'\n[x(a), x(b), x(3)]",
    # slicing
    "strided_slice": """
x(a, 8), axes=[1], begin=[1] | [0] | [-3], end=[5] | [8] | [20], strides=None | [2]
x(a, b), axes=[0], begin=[0], end=[2] | [-1], strides=None | [1]
x(10), axes=[0], begin=[8], end=[2], strides=[-2]
x(a, 8), axes=[1], begin=[2], end=[6], strides=[2], assume_inbound=None | True
""",
    "dynamic_strided_slice": "x(a, b), int64(2), int64(2), int64(2)\nx(a), int64(1), int64(1), int64(1)",
    "slice_scatter": "x(a, 4), x(a, 2), prim(1), prim(3), prim(1), axis=1\nx(8), x(4), prim(0), prim(8), prim(2)",
    # indexing
    "take": """
x(a, b), i(c) | i(c, 3) | i(), axis=0 | 1 | -1, mode=None | 'clip' | 'wrap'
x(a), i(c) | i(c, 3), axis=None | 0
""",
    "gather_elements": "x(a, 4), i(a, 2) | i(a, 4), axis=1\nx(10, 4), i(3, 4), axis=0",
    "gather_nd": "x(a, b, 5), int64(c, 2) | int64(c, 1) | int64(3, c, 3)\nx(a, b, 5), int64(a, 2), batch_dims=1",
    "scatter_elements": """
t(8, 4), i(3, 4), t(3, 4), axis=None | 0, reduction=None | 'add' | 'max'
t(a, 4), i(a, 2), t(a, 2), axis=-1 | 1, reduction=None | 'add'
""",
    "scatter_nd": "t(a, 4), int64(c, 1), t(c, 4), reduction=None | 'add'\nt(a, 4), int64(c, 2), t(c)",
    "index_tensor": "x(a, b, 5), [i(c)]\nx(a, b, 5), [i(c), i(c)]\nx(a, b, 5), [i(2, 1), i(1, 3)]",
    "index_put": "x(a, b), [i(c), i(c)], x(c), accumulate=None | True\nx(a), [i(c)], x(c)",
    "one_hot": "i(a) | i(a, b), prim(1), prim(0), depth=4, axis=None | 0 | -1",
    "where": "bool(a, b), x(a, b) | x(b) | x() | x(1, b), x(a, b) | x(a, 1) | x()\nbool(), x(a), x(a)",
    "nonzero": "x(a, b) | x(a)",
    "bucketize": "f(a, b) | f(a), f(5), out_int32=None | True, right=None | True",
    "unique": """
x(a), sorted=None | True, return_index=None | True, return_inverse=None | True, return_counts=None | True
x(a, b), axis=0 | None
""",
    "topk": """
f(a, 8), k=2 | 1 | 8 | -1, axis=-1 | 1, ret_type=None | 'values' | 'indices', largest=None | False, dtype=None | 'int64'
f(8), k=3 | 0, axis=None
""",
    "sort": "t(a, b) | t(a), axis=None | 0 | -1, descending=None | True",
    "argsort": "t(a, b) | t(a), axis=None | 0 | -1, descending=None | True, dtype=None | 'int64'",
    "multinomial_from_uniform": "float32(a, b), float32(c, 1), int64(c, 1), dtype=None | 'int32'",
    # linear algebra
    "matmul": """
f(a, b), f(b, c) | f(b), out_dtype=None | 'float32'
f(b), f(b) | f(b, a)
t(a, 3, b), t(b, c)
f(2, 1, a, b), f(3, b, c)
int8(a, b), int8(b, c), out_dtype='int32'
""",
    "outer": "t(a), t(b)",
    "einsum": """
[f(a, b), f(b, c)], subscripts='ij,jk->ik' | 'ij,jk'
[f(a, a)], subscripts='ii->i' | 'ii'
[f(a, b)], subscripts='ij->ji' | 'ij->i'
[f(a, b, 4), f(a, 4, 5)], subscripts='bij,bjk->bik'
""",
    "ewise_fma": "t(a, b), t(a, b), t(a, b)\nt(a), t(a), t(a)",
    "bitwise_not": "i(a, b) | bool(a)",
    **dict.fromkeys(("bitwise_and", "bitwise_or", "bitwise_xor"), _BITS + "\nbool(a, b), bool(b)"),
    **dict.fromkeys(("left_shift", "right_shift"), _BITS),
    **dict.fromkeys(("negative", "sign"), "t(a, b) | t(a) | t() | t(a, 3, b)"),
    # shapes
    "shape_of": "x(a, b) | x(a) | x() | x(a, 3, b)",
    "size": "x(a, b) | x(a) | x()",
    "tensor_to_shape": "int64(3) | int64(2) | int64(1)",
    "shape_to_tensor": "shape(a, b) | shape(a) | shape(2, 3)",
    "null_value": " ",
}

PATTERNS: dict[str, str] = {**TENSORS, **NN, **RUNTIME}
"""By the operator's name without the leading ``relax.``."""
