"""Recognition of texts of 2022, and the operators that have other names in them."""

from __future__ import annotations

import re
from functools import lru_cache

from rlx.grammar.read.outline import without_weights

PROTOTYPE_OPERATORS = {"dot": "matmul", "ewise_add": "add", "nn.matmul": "matmul"}
"""Operators with other names in 2022."""

OPERATORS_OF_2022 = frozenset(
    [
        *(
            "add",
            "subtract",
            "multiply",
            "divide",
            "floor_divide",
            "exp",
            "negative",
            "sum",
            "mean",
        ),
        *("dot", "ewise_add", "ewise_fma", "unique", "nonzero", "print", "shape_of", "reshape"),
        *("transpose", "expand_dims", "squeeze", "flatten", "assert_op"),
        *(f"nn.{name}" for name in ("relu", "gelu", "silu", "softmax", "matmul", "dense")),
        *(f"nn.{name}" for name in ("conv2d", "flatten", "batch_norm", "layer_norm", "dropout")),
        *("nn.max_pool2d", "nn.adaptive_avg_pool2d"),
    ]
)
"""Operators that texts of 2022 may write without a prefix."""

_OF_2022 = re.compile(r"\bTensor\[")


@lru_cache(maxsize=4)
def is_prototype(text: str) -> bool:
    """Whether a text is of 2022: its annotations have brackets, its operators no prefix, and a
    tuple of numbers is a shape.
    """
    text = without_weights(text)
    return "Tensor[" in text and _OF_2022.search(text) is not None
