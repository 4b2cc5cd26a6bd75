"""Arguments at which a rule takes another way."""

from __future__ import annotations

import itertools

from tests.operators.cases import Case, X, case, ints, unknown
from tests.operators.context import constant, k, m, n, shape, tensor, variable

S, K = variable(shape((k, 2)), "s"), tensor((k, 2, m))

CORNERS: list[Case] = [
    case("gather_nd", K, ints((k, m, 2)), batch_dims=1),
    case("gather_nd", K, ints((k, m, 3)), batch_dims=1),
    case("gather_nd", unknown(3), ints((k, m, 2)), batch_dims=1),
    case("gather_nd", K, ints(ndim=2), batch_dims=1),
    *(
        case("strided_slice", X, axes=[0], begin=[a], end=[b], strides=[step], assume_inbound=True)
        for a, b, step in itertools.product((-1, 0, n, m), (-1, 0, n), (1, -1, -2))
    ),
    *(
        case("strided_slice", X, axes=[0], begin=[a], end=[b], strides=[k])
        for a, b in itertools.product((-1, 0, n, m), (-2, n, k))
    ),
    case("strided_slice", X, axes=variable(shape(ndim=1), "s"), begin=[0], end=[1]),
    case("take", X, ints((m,)), axis=0, mode="clip"),
    *(
        case("take", tensor((4, 2)), constant((1, 7), "int64"), axis=0, mode=mode)
        for mode in ("fast", "clip", "wrap", "nan")
    ),
    case("unique", K, return_inverse=True, axis=1),
    case("unique", unknown(2), return_index=True, return_inverse=True, axis=-1),
    case("reshape", K, S),
    case("broadcast_to", tensor((1, 2)), S),
    case("memory.view", X, (n, 4), None, 0),
    case("nn.group_norm", X, tensor((4,)), tensor((4,)), num_groups=2, channel_axis=1, axes=[1]),
    case("nn.group_norm", X, tensor((4,)), tensor((4,)), num_groups=3, channel_axis=-1, axes=[]),
]
"""Arguments at which a rule takes another way."""
