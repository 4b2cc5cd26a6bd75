"""Calls of the operators of the table at odd values: of each attribute that a row reads, and of operands of which less, or
something else, is known."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from random import Random
from typing import Any

import numpy as np

from rlx import relay
from rlx.grammar.node import replace
from rlx.operators.element_types import numpy_type
from rlx.relay.nodes import (
    RelayCall,
    RelayFunction,
    RelayGlobalVar,
    RelayModule,
    RelayTensorType,
    RelayTupleType,
    RelayType,
)
from tests.relay.operator_calls import CALLS, PARAMETERS

LAYOUTS = (
    *(
        "NCHW",
        "NHWC",
        "NCW",
        "NWC",
        "NCDHW",
        "NDHWC",
        "OIHW",
        "HWIO",
        "OIW",
        "WIO",
        "OIDHW",
        "IOHW",
    ),
    *(
        "IOW",
        "IODHW",
        "NCHW4c",
        "NCHW2c",
        "NCHW8c",
        "NHWC4c",
        "OIHW4i4o",
        "CNHW",
        "HW",
        "N4c",
        "NN",
        "",
    ),
    *("NCHW4c2c", "NCHW4c4c", "NCHW0c", "CN", "4c", "NCHW2h2w", "WHCN"),
)
WORDS = (
    *(
        "update",
        "add",
        "mul",
        "min",
        "max",
        "end",
        "size",
        "clip",
        "wrap",
        "fast",
        "constant",
        "edge",
    ),
    *(
        "reflect",
        "both",
        "values",
        "indices",
        "nearest_neighbor",
        "linear",
        "cubic",
        "bilinear",
        "ij",
    ),
    *(
        "bicubic",
        "xy",
        "align_corners",
        "asymmetric",
        "half_pixel",
        "round",
        "floor",
        "",
        "ij,kj->ik",
    ),
    *("ij,ij->ij", "ij->"),
)
TYPES = (
    *("float32", "float16", "float64", "int8", "uint8", "int32", "int64", "bool", "bfloat16"),
    *("float8_e4m3fn", "int4", "void", "", "float", "handle"),
)
NUMBERS = ("0", "1", "2", "3", "-1", "-2", "-3", "4", "1i64", "100", "9999999999i64")
FLOATS = ("0f", "1f", "-1f", "0.5f", "2.5f", "1.5f64", "inff", "-inff", "nanf")
OPERANDS = ("1", "2f", "-1", "0i64", "nanf", "True", "(%x, %x)", "()", "negative(%x)", "meta[c][0]")
SIZE = 1 << 12
"""Elements of an argument; a larger one is not made."""


class _Listening(dict[str, object]):
    """Attributes that know which of them were asked for."""

    def __init__(self, attrs: Any, asked: set[str]) -> None:
        super().__init__(attrs)
        self.asked = asked

    def get(self, name: str, default: Any = None) -> Any:
        self.asked.add(name)
        return super().get(name, default)


def text_of(call: str, types: dict[str, str] = PARAMETERS, ret: str = "") -> str:
    """A program of one call, with parameters of these types; one that is empty is left out."""
    used = [name for name in PARAMETERS if f"%{name}," in call or f"%{name})" in call]
    params = [f"%{name}: {types[name]}" if types[name] else f"%{name}" for name in used]
    return f"def @main({', '.join(params)}){ret} {{\n  {call}\n}}\n"


@cache
def attributes() -> dict[str, list[str]]:
    """The attributes that the row of each operator asks for, as its legal calls show them."""
    asked: dict[str, set[str]] = {}
    for call in CALLS:
        function = relay.parse(text_of(call))["main"]
        body = function.body
        assert isinstance(body, RelayCall)
        found = asked.setdefault(call.partition("(")[0], set(body.attrs))
        made = replace(function, body=replace(body, attrs=_Listening(body.attrs, found)))
        module = RelayModule({RelayGlobalVar("main"): made})
        assert relay.run(module, *arguments(made)).ok, call
    return {name: sorted(each) for name, each in asked.items()}


def value_of(attribute: str, random: Random) -> str:
    """A value of an attribute, mostly of its kind."""
    match attribute:
        case _ if random.random() < 0.05:
            return random.choice(
                ["None", "True", '"a"', "[]", "[1f]", "[[1, 2]]", "meta[a][0]", "1"]
            )
        case _ if attribute.endswith("layout"):
            return f'"{random.choice(LAYOUTS)}"'
        case _ if attribute.endswith("dtype"):
            return f'"{random.choice(TYPES)}"'
        case "pad_width":
            return f"[{', '.join(_list(random, 2, 3) for _ in range(random.choice([1, 2, 2, 3])))}]"
        case _ if attribute.endswith(
            ("mode", "method", "type", "indexing", "equation", "reduction")
        ):
            return f'"{random.choice(WORDS)}"'
        case (
            "exclude"
            | "keepdims"
            | "exclusive"
            | "unbiased"
            | "is_ascend"
            | "upper"
            | "center"
            | "scale"
        ):
            return random.choice(["True", "False", "0", "1", "2", "None", "1f"])
    return random.choice(
        [
            random.choice(NUMBERS),
            random.choice(NUMBERS),
            _list(random, 0, 3),
            _list(random, random.randrange(7), 4),
            random.choice(FLOATS),
            random.choice(["True", "False", "None"]),
        ]
    )


def _list(random: Random, length: int, most: int) -> str:
    length = length or random.randint(1, 3)
    return f"[{', '.join(str(random.randint(-1, most)) for _ in range(length))}]"


def typed(kind: str, random: Random) -> str:
    """The type of a parameter, or one of which less is known, or another."""
    shape, _, element = kind.removeprefix("Tensor[(").rstrip("]").rpartition("), ")
    dims = shape.rstrip(",").split(", ")
    match random.randrange(6):
        case 0:
            return ""
        case 1:
            dims = [random.choice(["?", "?", dim]) for dim in dims]
        case 2:
            dims[random.randrange(len(dims))] = random.choice(
                ["n", "m", "?", "0", "1", "2", "5", "8"]
            )
        case 3:
            element = random.choice(TYPES[:10])
        case 4:
            dims = dims[1:] or ["2", "2"]
        case _:
            dims.append(random.choice(["1", "2", "4", "n"]))
    return f"Tensor[({', '.join(dims)},), {element}]"


def call(random: Random) -> str:
    """A program of a call, with odd attributes, and sometimes odd operands."""
    weights = [0.3 + len(attributes()[each.partition("(")[0]]) for each in CALLS]
    name, _, rest = random.choices(CALLS, weights)[0].partition("(")
    inner, said = _parts(rest[:-1])
    attrs = dict(said)
    if names := attributes()[name]:
        for _ in range(random.choice([0, 1, 1, 2, 3])):
            attribute = random.choice(names)
            attrs[attribute] = value_of(attribute, random)
        if random.random() < 0.2:
            attrs.pop(random.choice(names), None)
    if random.random() < 0.03:
        attrs[random.choice(["axis", "other", "span"])] = random.choice(NUMBERS)
    if random.random() < 0.25:
        inner = _other(inner, random)
    types = {
        each: typed(kind, random) if random.random() < 0.25 else kind
        for each, kind in PARAMETERS.items()
    }
    made = f"{name}({', '.join([*inner, *(f'{key}={value}' for key, value in attrs.items())])})"
    if random.random() < 0.1:
        made = f"%0 = {made}\n  " + random.choice(
            ["(%0, %0)", "%0.0", "%0.1", "abs(%0)", "negative(%0.0)"]
        )
    return text_of(made, types, random.choice([""] * 6 + [" -> Tensor[(?, 3), float32]"]))


def _parts(text: str) -> tuple[list[str], list[tuple[str, str]]]:
    """The operands and the attributes of a call."""
    depth, start, found = 0, 0, list[str]()
    for at, letter in enumerate(f"{text},"):
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and not depth and text[start:at].strip():
            found.append(text[start:at].strip())
            start = at + 1
    operands = [each for each in found if "=" not in each]
    return operands, [
        (key, value) for key, _, value in (each.partition("=") for each in found if "=" in each)
    ]


def _other(operands: list[str], random: Random) -> list[str]:
    """Operands of which one is another, is missing, or stands twice."""
    at = random.randrange(len(operands) + 1)
    new = random.choice([f"%{random.choice([*PARAMETERS])}", random.choice(OPERANDS)])
    match random.randrange(5):
        case 0:
            return operands[:at] + operands[at + 1 :]
        case 1:
            return [*operands[:at], new, *operands[at:]]
    return [*operands[:at], new, *operands[at + 1 :]]


def arguments(function: RelayFunction, unknown: int = 2) -> list[object]:
    """An argument for each parameter.

    Parameters
    ----------
    unknown
        What a dimension is that the text leaves open.
    """
    random, dims = np.random.default_rng(1), {"": unknown}
    return [_argument(param.annotation, random, dims) for param in function.params]


def _argument(kind: RelayType | None, random: Any, dims: dict[str, int]) -> object:
    match kind:
        case RelayTensorType(shape=shape, dtype=element):
            sizes = [*_sizes(shape, dims)]
            if np.prod(sizes, dtype=float) > SIZE:
                sizes = [1] * len(sizes)
            name = numpy_type(element)
            if element.is_float:
                return random.uniform(-0.9, 0.9, sizes).astype(name)
            return random.integers(0, 2, sizes).astype(name)
        case RelayTupleType(fields=fields):
            return tuple(_argument(field, random, dims) for field in fields)
    return random.uniform(-1, 1, (2, 3)).astype(np.float32)


def _sizes(shape: tuple[int | str | None, ...], dims: dict[str, int]) -> Iterator[int]:
    for dim in shape:
        if isinstance(dim, int):
            yield max(dim, 0)
        else:
            yield dims[""] if dim is None else dims.setdefault(dim, dims[""] + len(dims))
