"""Random questions about values, as JSON: calls of the run time, casts, literals, objects of Python and files as arguments.

A value is a list: `["tensor", dtype, shape, numbers, device]`, `["shape", …]`, `["scalar", number, dtype]`, `["tuple", …]`,
`["string", text]`, `["dtype", name]`, `["null"]`, `["storage", bytes]`, `["opaque"]`, `["packed"]`. Annotations are those
of `tests.solver.order.random_pairs`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

from rlx.grammar.dtype import dtype
from rlx.semantics import values as v
from rlx.semantics.arrays import numpy_type
from rlx.semantics.machine.builtins import BUILTINS
from tests.solver.order.random_pairs import made as annotation

Json = Any

KINDS = (
    "float32",
    "int64",
    "int32",
    "float16",
    "bool",
    "int8",
    "uint8",
    "bfloat16",
    "int4",
    "float64",
)
SCALARS = (*KINDS, "handle", "uint64", "float8_e4m3fn", "void")
NUMBERS = (
    *(
        0,
        1,
        2,
        3,
        -1,
        4,
        7,
        8,
        255,
        256,
        -128,
        -129,
        127,
        1 << 31,
        (1 << 63) - 1,
        1 << 63,
        -(1 << 63),
    ),
    *(2.5, 0.5, -0.5, 1e39, 65520.0, "inf", "-inf", "nan", True, False, 16777217, 1 << 70),
)
NAMES = (
    "vm.builtin.shape_of",
    "main",
    "float32",
    "",
    "a.rlx:3:4",
    "llvm",
    "cuda",
    "handle",
    "nothing",
)


def tensor(random: Random, kinds: tuple[str, ...] = KINDS) -> Json:
    shape = [random.choice((0, 1, 2, 2, 3, 4)) for _ in range(random.choice((0, 1, 1, 2, 2, 3)))]
    numbers = [random.choice((0, 1, 2, 3, 2, 1, -1, 5)) for _ in range(6)]
    device = random.choice((None, None, None, ["llvm", 0], ["cuda", 1]))
    return ["tensor", random.choice(kinds), shape, numbers, device]


def value(random: Random, depth: int = 1) -> Json:
    """A value of any kind."""
    match random.randrange(16):
        case 0 | 1 | 2 | 3:
            return tensor(random)
        case 4 | 5:
            return [
                "shape",
                *(random.choice((0, 1, 2, 3, 4, -1)) for _ in range(random.randrange(4))),
            ]
        case 6 | 7 | 8:
            return ["scalar", random.choice(NUMBERS), random.choice(SCALARS)]
        case 9 | 10 if depth > 0:
            return [
                "tuple",
                *(value(random, depth - 1) for _ in range(random.choice((0, 1, 2, 3)))),
            ]
        case 11 | 12:
            return ["string", random.choice(NAMES)]
        case 13:
            return ["dtype", random.choice(KINDS)]
        case 14:
            return [random.choice(("null", "storage", "opaque", "packed"))]
    return ["scalar", random.choice((0, 1, 2, 3, 4)), "int64"]


def _integer(random: Random, *most: int) -> Json:
    return ["scalar", random.choice(most), "int64"]


def _heap(random: Random) -> Json:
    return ["tensor", "int64", [random.choice((2, 4))], [3, 2, 4, 1], None]


def _place(random: Random) -> list[Json]:
    return [["string", "a.rlx:3:4"]] if random.random() < 0.5 else []


def _shaped(random: Random) -> Json:
    few = [random.choice((2, 3, 4)) for _ in range(random.choice((1, 2)))]
    return random.choice((["shape", *few], ["tensor", "float32", few, [1], None]))


def _codes(random: Random, count: int, most: int) -> list[Json]:
    return [_integer(random, *range(most)) for _ in range(2 * count)]


_HEADS = (
    '@R.function\ndef f(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"): ...\n',
    "@R.function(pure=False)\ndef f(x: R.Object) -> R.Object: ...\n",
    "nothing",
)

_FITTING: dict[str, Callable[[Random], list[Json]]] = {
    "store_shape": lambda r: [_shaped(r), _heap(r), _integer(r, 0, 1), _integer(r, 1, 2, 9, -1)],
    "load_shape": lambda r: [
        _heap(r),
        *(_integer(r, 0, 1, 2, 5, -1) for _ in range(r.choice((1, 2)))),
    ],
    "match_shape": lambda r: [
        _shaped(r),
        _heap(r),
        _integer(r, 1, 2),
        *_codes(r, r.choice((1, 2)), 5),
        *_place(r),
    ],
    "make_shape": lambda r: [_heap(r), _integer(r, 1, 2), *_codes(r, r.choice((1, 2)), 4)],
    "match_prim_value": lambda r: [_integer(r, 2, 3), _heap(r), *_codes(r, 1, 5), *_place(r)],
    "make_prim_value": lambda r: [
        _heap(r),
        *_codes(r, 1, 4),
        *([["dtype", r.choice(KINDS)]] if r.random() < 0.5 else []),
    ],
    "check_tensor_info": lambda r: [
        value(r),
        _integer(r, -1, 0, 1, 2),
        ["dtype", r.choice(SCALARS)],
        *_place(r),
    ],
    "check_shape_info": lambda r: [value(r), _integer(r, -1, 1, 2), *_place(r)],
    "check_tuple_info": lambda r: [value(r), _integer(r, 0, 1, 2), *_place(r)],
    "check_prim_value_info": lambda r: [value(r), ["dtype", r.choice(KINDS)], *_place(r)],
    "check_func_info": lambda r: [value(r), *_place(r)],
    "check_string_info": lambda r: [value(r), *_place(r)],
    "reshape": lambda r: [tensor(r), ["shape", r.choice((0, 1, 2, 4)), r.choice((1, 2, -1))]],
    "to_device": lambda r: [tensor(r), _integer(r, 1, 2, 4, 99), _integer(r, 0, 1, -1)],
    "tuple_getitem": lambda r: [value(r, 2), _integer(r, 0, 1, 2, -1)],
    "read_if_cond": lambda r: [
        ["tensor", r.choice(("bool", "int32")), r.choice(([], [1])), [1], None]
    ],
    "tensor_to_shape": lambda r: [tensor(r, ("int64", "int32", "float32"))],
    "multinomial_from_uniform": lambda r: [
        [
            "tensor",
            r.choice(("float32", "float64")),
            [2, 3],
            [0.25, 0.5, 0.25, 0.1, 0.2, 0.7],
            None,
        ],
        ["tensor", "float32", r.choice(([2, 1], [2], [3, 1])), [0.3, 0.9, 0.5], None],
        *(
            [["tensor", "int64", [2, 1], r.choice(([0, 1], [0, 5])), None]]
            if r.random() < 0.7
            else []
        ),
    ],
    "unique": lambda r: [
        tensor(r),
        *(["scalar", r.choice((0, 1)), "bool"] for _ in range(r.choice((0, 2, 4, 4)))),
        *([_integer(r, 0, 1, -1)] if r.random() < 0.5 else []),
    ],
    "nonzero": lambda r: [tensor(r)],
    "check_device": lambda r: [
        tensor(r),
        ["string", r.choice(("llvm", "cuda"))],
        _integer(r, 0, 1, -1),
        *_place(r),
    ],
    "check_held_shape": lambda r: [tensor(r), ["shape", 2, r.choice((2, 3))], *_place(r)],
    "check_function": lambda r: [
        r.choice((["packed"], value(r))),
        ["string", r.choice(_HEADS)],
        ["shape", *([2] * r.choice((0, 1)))],
        *_place(r),
    ],
    "shape_to_tensor": lambda r: [r.choice((["shape", 1, 2], value(r)))],
}
"""Arguments that mostly fit, by the last part of the name."""
TEXTS = (
    *(
        "5",
        "0",
        "-1",
        "2.5",
        "true",
        "inf",
        "-inf",
        "nan",
        "[]",
        "()",
        "(1,)",
        "[1, 2]",
        "[[1, 2], [3, 4]]",
    ),
    *(
        "[[1], [2, 3]]",
        "(1, 2)",
        "([1], 2)",
        "((1, 2), [3.5])",
        "'text'",
        '"float32"',
        "1e400",
        "-1e400",
    ),
    *(
        "99999999999999999999",
        "x",
        "[1, 'a']",
        "1 +",
        "300",
        "-129",
        "[true, false]",
        "None",
        "[inf, nan]",
    ),
    *(
        "[1, true]",
        "[1.5, 2]",
        "[[]]",
        "[[], [1]]",
        "-true",
        "- 5",
        "[1, [2]]",
        "{}",
        "f(1)",
        "(5)",
        "False",
    ),
)
PYTHON: tuple[Any, ...] = (
    *(5, 0, -1, 2.5, True, None, "x", [], [1, 2], [1.5, 2], [[1, 2], [3, 4]], [[1], [2, 3]], ["a"]),
    *([True, False], [True, 2], 300, 1 << 63, [1 << 63], [[1, 2], [3.5]], [[], []], {"a": 1}),
)
FILES = (
    "plain",
    "complex",
    "bytes",
    "text",
    "header",
    "empty",
    "missing",
    "object",
    "big",
    "pair",
    "one",
    "cut",
)


def asked(random: Random) -> str:
    """A question about values."""
    draw = random.random()
    question: dict[str, Json]
    if draw < 0.45:
        name = random.choice(sorted(BUILTINS))
        fitting = _FITTING.get(name.rpartition(".")[2])
        args = [value(random) for _ in range(random.choice((0, 1, 1, 2, 3, 14)))]
        if fitting is not None and random.random() < 0.85:
            args = fitting(random)
            if random.random() < 0.2:
                args[random.randrange(len(args))] = value(random)
            if random.random() < 0.1:
                del args[random.randrange(len(args))]
        question = {"call": name, "args": args}
    elif draw < 0.65:
        infos = [annotation(random, 1) for _ in range(random.choice((1, 1, 2)))]
        question = {"cast": [_like(random, info) for info in infos], "infos": infos}
    elif draw < 0.8:
        info = annotation(random, 1)
        question = {"literal": random.choice(TEXTS), "info": info}
        if random.random() < 0.5:
            question = {"python": random.choice(PYTHON), "info": info}
        if random.random() < 0.3:
            question = {"array": tensor(random), "info": info}
    elif draw < 0.9:
        question = {
            "file": random.choice(FILES),
            "of": tensor(random),
            "info": annotation(random, 1),
        }
    elif draw < 0.95:
        question = {"fitted": random.choice(NUMBERS), "kind": random.choice(SCALARS)}
    else:
        question = {
            "options": [
                f"{random.choice(('x', 'n', ' y', ''))}{random.choice(('=', '', '=='))}{random.choice(TEXTS)}"
                for _ in range(2)
            ]
        }
    return json.dumps(question)


def _like(random: Random, info: Json) -> Json:
    """A value that perhaps has an annotation."""
    if random.random() < 0.2:
        return value(random)
    match info:
        case "tensor", list(dims), of, _, on:
            sizes = [random.choice((int(dim) if dim.isdigit() else 2, 2, 3)) for dim in dims]
            device = None if on is None else [on.partition(":")[0], random.choice((0, 1))]
            return ["tensor", "float32" if of == "void" else of, sizes, [1, 2], device]
        case "tensor", _, of, ndim, _:
            return ["tensor", "float32" if of == "void" else of, [2] * max(ndim, 0), [1], None]
        case "shape", list(dims), _:
            return [
                "shape",
                *(random.choice((int(dim) if dim.isdigit() else 2, 2, 3)) for dim in dims),
            ]
        case "shape", _, ndim:
            return ["shape", *([2] * max(ndim, 0))]
        case "prim", of, dim:
            fits = isinstance(dim, str) and dim.isdigit()
            return ["scalar", int(dim) if fits else random.choice((2, 3, 1.5)), of]
        case "tuple", *fields:
            return ["tuple", *(_like(random, field) for field in fields)]
        case (("func" | "packed"), *_):
            return ["packed"]
    return value(random)


def read(made: Json) -> v.Value:
    """The value of a list."""
    match made:
        case "tensor", kind, shape, numbers, device:
            count = int(np.prod(shape)) if shape else 1
            filled = [numbers[at % len(numbers)] for at in range(count)]
            with np.errstate(all="ignore"):
                array = np.array(filled, "float64").reshape(shape).astype(numpy_type(dtype(kind)))
            return v.Tensor(array, None if device is None else tuple(device))
        case "shape", *sizes:
            return v.ShapeValue(tuple(sizes))
        case "scalar", number, kind:
            return v.Scalar(plain(number), dtype(kind))
        case "tuple", *fields:
            return v.TupleValue(tuple(map(read, fields)))
        case "string", text:
            return v.StringValue(text)
        case "dtype", name:
            return v.DataTypeValue(dtype(name))
        case ["storage"]:
            return v.Storage(np.zeros(16, np.uint8))
        case ["opaque"]:
            return v.Opaque({1})
        case ["packed"]:
            return v.Packed(lambda *args: v.NULL, "given")
    return v.NULL


def plain(number: Json) -> Any:
    return float(number) if isinstance(number, str) else number
