"""Every way to change one argument of a call."""

from __future__ import annotations

import ast as python
from collections.abc import Iterator
from dataclasses import replace

from .calls import Argument, Group, OneCall, OtherArg, TensorArg, Text

Change = tuple[Argument, str]

ELEMENTS = (
    *("", "float32", "float16", "float64", "bfloat16", "float8_e4m3fn"),
    *("int8", "int32", "int64", "uint8", "bool"),
)
KINDS: tuple[OtherArg | Text, ...] = (
    OtherArg("R.Any"),
    OtherArg("R.Shape(ndim=2)"),
    OtherArg("R.Shape([n, 4])"),
    OtherArg("R.Tuple(R.Tensor((n, 4), 'float32'))".replace("'", '"')),
    OtherArg('R.Tuple(R.Tensor((n, 4), "float32"), R.Tensor((n, 4), "float32"))'),
    OtherArg("R.Tuple()"),
    OtherArg("T.int64"),
    OtherArg("T.float32"),
    OtherArg("T.bool"),
    OtherArg("R.Callable((R.Tensor((n, 4)),), R.Tensor((n, 4)))"),
    Text("1"),
    Text("0"),
    Text("1.5"),
    Text("True"),
    Text('"float32"'),
    Text('R.dtype("float32")'),
    Text("None"),
    Text("(1, 2)"),
    Text("R.shape([2, 3])"),
    Text("R.null_value()"),
    Text("n"),
    Text('R.const(1.0, "float32")'),
    Text('R.const(1, "int64")'),
    Text('R.const([1, 2], "int64")'),
    Text('R.str("a")'),
    Text("R.prim_value(1)"),
)
NUMBERS = (
    *("-1", "-2", "0", "1", "2", "3", "5", "7", "100", "-100", "4294967296", "1.5", "n", "True"),
)
"""For what stands as a number."""
WORDS = (
    *("", "NCHW", "NHWC", "NCW", "NCDHW", "OIHW", "constant", "sum", "mean", "none", "linear"),
    *("foo", "onnx"),
)
"""For what stands as a word."""


def changes(argument: Argument) -> Iterator[Change]:
    """Other arguments that might stand in the place of this one."""
    match argument:
        case TensorArg():
            yield from _tensors(argument)
        case Group():
            yield from _groups(argument)
        case Text(text=text):
            yield from _texts(text)
    for kind in KINDS:
        if kind != argument:
            yield kind, f"is {kind.annotation if isinstance(kind, OtherArg) else kind.text}"


def _tensors(tensor: TensorArg) -> Iterator[Change]:
    rank = tensor.ndim if tensor.dims is None else len(tensor.dims)
    dims = tensor.dims
    for kind in ELEMENTS:
        if kind != tensor.dtype:
            yield replace(tensor, dtype=kind), f"of {kind or 'unknown elements'}"
    yield TensorArg(None, tensor.dtype), "of unknown rank"
    yield TensorArg(None, ""), "of which nothing is known"
    for other in range(max(rank, 0) + 3):
        yield TensorArg(None, tensor.dtype, other), f"of rank {other}, no shape"
    if dims is None:
        yield TensorArg(("n", "4"), tensor.dtype), "(n, 4)"
        yield TensorArg(("2", "3", "4", "5"), tensor.dtype), "(2, 3, 4, 5)"
        return
    for shape in (dims[1:], dims[:-1], ("1", *dims), (*dims, "1"), ("n", *dims), (*dims, "4"), ()):
        yield replace(tensor, dims=shape), f"({', '.join(shape)})"
    for k, dim in enumerate(dims):
        for new in ("0", "1", "2", "3", "4", "5", "16", "n", "m", "n + 1", "n * 2", f"({dim}) + 1"):
            if new != dim:
                shape = (*dims[:k], new, *dims[k + 1 :])
                yield replace(tensor, dims=shape), f"({', '.join(shape)})"
    yield OtherArg(f"R.Tuple({tensor.annotation})"), "in a tuple"
    yield Group((tensor,)), "in a written tuple"
    yield from _held(tensor, dims)


def _held(tensor: TensorArg, dims: tuple[str, ...]) -> Iterator[Change]:
    """The same tensor where a variable holds its shape, or where it is on a device."""
    for device in ("llvm:0", "cuda:0"):
        yield replace(tensor, device=device), f"on {device}"
    written = f"R.Shape([{', '.join(dims)}])"
    for shape in (written, f"R.Shape(ndim={len(dims)})", f"R.Shape(ndim={len(dims) + 1})"):
        ndim = len(dims) + (shape != written and shape.endswith(f"{len(dims) + 1})"))
        yield TensorArg(None, tensor.dtype, ndim, by=shape), f"by a variable {shape}"


def _groups(group: Group) -> Iterator[Change]:
    fields = group.fields
    yield Group(fields[1:]), "without its first"
    yield Group((*fields, *fields[:1])), "with one more"
    if all(isinstance(f, TensorArg) for f in fields):
        inner = ", ".join(f.annotation for f in fields if isinstance(f, TensorArg))
        yield OtherArg(f"R.Tuple({inner})"), "as a parameter"
    for k, field in enumerate(fields):
        for new, label in changes(field):
            yield Group((*fields[:k], new, *fields[k + 1 :])), f".{k} {label}"


def _texts(text: str) -> Iterator[Change]:
    try:
        value = python.literal_eval(text)
    except (ValueError, SyntaxError):
        value = None
    match value:
        case bool():
            new = ["True", "False", "2", "-1", '"yes"']
        case int() | float():
            new = [*NUMBERS, "[1]", "(1, 2)", '"1"', "18446744073709551616"]
        case str():
            new = [
                f'"{word}"'
                for word in (
                    *WORDS,
                    value + "x",
                    value.upper(),
                    value.lower(),
                    value[::-1],
                    *ELEMENTS,
                )
            ]
        case tuple() | list():
            new = list(
                _lists([repr(item) for item in value], "()" if isinstance(value, tuple) else "[]")
            )
        case _:
            new = list(_others(text))
    for other in new:
        if other != text:
            yield Text(other), f"is {other}"


def _others(text: str) -> Iterator[str]:
    """For what is no literal: a shape, a tuple of dimensions, a constant, a dimension."""
    for head, foot in (("R.shape([", "])"), ("(", ")"), ("[", "]")):
        if text.startswith(head) and text.count("(") <= 1:
            items = [
                item.strip() for item in text[len(head) : -len(foot)].split(",") if item.strip()
            ]
            yield from _lists(items, head, foot)
            return
    if text.startswith("R.const("):
        yield from ('R.const(2, "int32")', 'R.const(-1, "int64")', 'R.const(0.5, "float16")')
        return
    yield from NUMBERS
    yield from ("m", "n + 1", "n * 2", "-n", "k // 2")


def _lists(items: list[str], head: str, foot: str = "") -> Iterator[str]:
    """Lists that differ in one place, in their length or in their order."""
    if not foot:
        head, foot = head[0], head[1]

    def join(parts: list[str]) -> str:
        comma = "," if len(parts) == 1 and head == "(" else ""
        return f"{head}{', '.join(parts)}{comma}{foot}"

    yield from (
        join([]),
        join(items[1:]),
        join(items[:-1]),
        join([*items, "1"]),
        join(["1", *items]),
    )
    yield from (join(items[::-1]), join([*items, *items]))
    for k in range(len(items)):
        for number in (*NUMBERS, "m", "n + 1", '"x"', "None"):
            yield join([*items[:k], number, *items[k + 1 :]])
    if len(items) == 1:
        yield items[0]


EXTRA = ("foo=1", "axis=0", "axes=[0]", 'dtype="float32"', "keepdim=True", "dim=0", "keepdims=True")


ATTRIBUTES = ("0", "1", "-1", "2", "None", '"foo"', "[0]", "(1, 2)", "True", "1.5", '"float32"')
"""For attributes that a call leaves out."""


def calls(base: OneCall, parameters: tuple[str, ...]) -> Iterator[OneCall]:
    """The call itself, and every call that differs from it in one place."""
    yield base
    for at, old in base.places():
        for new, label in changes(old):
            yield base.with_argument(at, new, label)
    yield from _structure(base, parameters)


def _structure(base: OneCall, parameters: tuple[str, ...]) -> Iterator[OneCall]:
    """Arguments left out, added, misspelt, given twice, given by keyword, exchanged."""
    for k in range(len(base.args)):
        yield replace(base, args=base.args[:k] + base.args[k + 1 :], label=f"without [{k}]")
        if k:
            swapped = (*base.args[: k - 1], base.args[k], base.args[k - 1], *base.args[k + 1 :])
            yield replace(base, args=swapped, label=f"[{k}] and the one before it exchanged")
        if k < len(parameters):
            last = (parameters[k], base.args[k])
            yield replace(base, attrs=(*base.attrs, last), label=f"[{k}] twice")
    for k, (name, value) in enumerate(base.attrs):
        rest = base.attrs[:k] + base.attrs[k + 1 :]
        yield replace(base, attrs=rest, label=f"without {name}")
        yield replace(base, attrs=((name + "s", value), *rest), label=f"{name}s for {name}")
        yield replace(base, attrs=((name[:-1], value), *rest), label=f"{name[:-1]} for {name}")
    if len(base.args) <= len(parameters):
        for first in range(len(base.args)):
            named = tuple(zip(parameters[first:], base.args[first:], strict=False))
            yield replace(
                base,
                args=base.args[:first],
                attrs=(*named, *base.attrs),
                label=f"keywords from [{first}]",
            )
    for extra in (Text("0"), Text("1"), TensorArg(("n", "4"), "float32")):
        yield replace(base, args=(*base.args, extra), label="one more argument")
    given = {name for name, _ in base.attrs}
    for written in EXTRA:
        name, _, plain = written.partition("=")
        if name not in given:
            yield replace(base, attrs=(*base.attrs, (name, Text(plain))), label=f"with {written}")
    for name in parameters[len(base.args) :]:
        if name not in given:
            for text in ATTRIBUTES:
                yield replace(
                    base, attrs=(*base.attrs, (name, Text(text))), label=f"with {name}={text}"
                )
