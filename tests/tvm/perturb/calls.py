"""Calls as texts: arguments that are parameters of a function, and arguments that stand in the call."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import ShapeExpr, StructInfo, TensorStructInfo
from rlx.grammar.print.printer import show

DIMENSIONS = ("n", "m", "k")
"""The shape variables that every function binds."""


@dataclass(frozen=True)
class TensorArg:
    """A parameter that is a tensor; without ``dims`` only its rank is known (-1: not even that).

    ``device`` names a virtual device of the module. ``by`` annotates a variable that holds the shape.
    """

    dims: tuple[str, ...] | None
    dtype: str
    ndim: int = -1
    device: str = ""
    by: str = ""

    @property
    def annotation(self) -> str:
        """As a text writes it."""
        return self.held_by(None)

    def held_by(self, shape: str | None) -> str:
        """The annotation where a variable of that name holds the shape."""
        kind = f'"{self.dtype}"' if self.dtype else ""
        last = [f'vdevice="{self.device}"'] if self.device else []
        if shape is None and self.dims is not None:
            inner = f"({', '.join(self.dims)}{',' if len(self.dims) == 1 else ''})"
            return f"R.Tensor({', '.join([inner, *([kind] if kind else []), *last])})"
        parts = [shape] if shape else []
        parts += [f"dtype={kind}"] if kind else []
        parts += [f"ndim={self.ndim}"] if self.ndim >= 0 and not shape else []
        return f"R.Tensor({', '.join(parts + last)})"


@dataclass(frozen=True)
class OtherArg:
    """A parameter of another type."""

    annotation: str


@dataclass(frozen=True)
class Text:
    """An argument that stands in the call as it is."""

    text: str


@dataclass(frozen=True)
class Group:
    """A tuple of arguments."""

    fields: tuple[Argument, ...]


Argument = TensorArg | OtherArg | Text | Group


@dataclass(frozen=True)
class OneCall:
    """A call of an operator, and how it came about."""

    operator: str
    args: tuple[Argument, ...]
    attrs: tuple[tuple[str, Argument], ...] = ()
    label: str = ""

    def with_argument(self, at: int | str, value: Argument, label: str) -> OneCall:
        """The call with another argument, by position or by keyword."""
        if isinstance(at, int):
            args = (*self.args[:at], value, *self.args[at + 1 :])
            return replace(self, args=args, label=f"{self.label}[{at}] {label}")
        attrs = tuple((name, value if name == at else old) for name, old in self.attrs)
        return replace(self, attrs=attrs, label=f"{self.label}[{at}] {label}")

    def places(self) -> Iterator[tuple[int | str, Argument]]:
        """Every argument with its position or keyword."""
        yield from enumerate(self.args)
        yield from self.attrs


_WITH_DEVICES = """@I.ir_module
class Module:
    I.module_global_infos({"vdevice": [I.vdevice("llvm", 0), I.vdevice("cuda", 0)]})
"""


@dataclass(frozen=True)
class ReadCall(OneCall):
    """A call that a text gives, as verdicts show it."""

    text: str = ""


@dataclass(frozen=True)
class Written:
    """A call as the text of a function: its parameters in order, and the expression."""

    params: tuple[tuple[str, str], ...]
    expr: str

    @property
    def module(self) -> str:
        """A whole text, whose function binds ``y`` to the call."""
        given = "".join(f", {name}: {kind}" for name, kind in self.params)
        names = ", ".join(f'"{name}"' for name in DIMENSIONS)
        lines = [f"    {name} = T.int64()" for name in DIMENSIONS]
        head = f"@R.function(pure=False)\ndef main(sizes: R.Shape([{names}]){given}):\n"
        function = head + "\n".join(lines) + f"\n    y = {self.expr}\n    return y\n"
        if "vdevice=" not in given:
            return function
        return _WITH_DEVICES + "".join(f"    {line}\n" for line in function.split("\n"))


def write(call: OneCall) -> Written:
    """The text of a call."""
    if isinstance(call, ReadCall):
        return read(call.text)
    params: list[tuple[str, str]] = []

    def shown(argument: Argument) -> str:
        match argument:
            case Text(text=text):
                return text
            case Group(fields=fields):
                inner = [shown(field) for field in fields]
                return f"({', '.join(inner)}{',' if len(inner) == 1 else ''})"
        if isinstance(argument, TensorArg) and argument.by:
            params.append((f"x{len(params)}", argument.by))
            params.append((f"x{len(params)}", argument.held_by(params[-1][0])))
        else:
            params.append((f"x{len(params)}", argument.annotation))
        return params[-1][0]

    inner = [shown(argument) for argument in call.args]
    inner += [f"{name}={shown(argument)}" for name, argument in call.attrs]
    return Written(tuple(params), f"R.{call.operator}({', '.join(inner)})")


def read(text: str) -> Written:
    """The call of a verdict's text: its parameters, ``|-`` and the expression."""
    head, _, expr = text.partition("|- ")
    given = [part.partition(": ") for part in re.split(r",? *(?=x\d+: )", head) if part.strip()]
    return Written(tuple((name, kind.strip()) for name, _, kind in given), expr)


def argument(value: object) -> Argument:
    """An argument of a case of ``tests.operators.cases``.

    Raises
    ------
    ValueError
        If it has no text.
    """
    match value:
        case TensorStructInfo(shape=ast.Var()):
            raise ValueError("held by a variable")
        case TensorStructInfo(shape=ShapeExpr(values=values), dtype=kind):
            return TensorArg(tuple(map(show, values)), "" if kind.is_void else str(kind))
        case TensorStructInfo(dtype=kind, ndim=ndim):
            return TensorArg(None, "" if kind.is_void else str(kind), ndim)
        case ast.ObjectStructInfo():
            return OtherArg("R.Any")
        case StructInfo():
            return OtherArg(_shape(value))
        case ast.Var(struct_info_annotation=StructInfo() as info):
            return OtherArg(_shape(info))
        case tuple() if any(isinstance(item, StructInfo) for item in value):
            return Group(tuple(map(argument, value)))
    return Text(_literal(value))


def _shape(info: StructInfo) -> str:
    match info:
        case ast.ShapeStructInfo(values=None, ndim=ndim):
            return f"R.Shape(ndim={ndim})"
        case ast.ShapeStructInfo(values=tuple(values)):
            return f"R.Shape([{', '.join(map(show, values))}])"
    raise ValueError(f"no text for {info!r}")


def _literal(value: object) -> str:
    match value:
        case bool() | int() | float() | None:
            return repr(value)
        case str():
            return f'"{value}"'
        case tir.PrimExpr():
            return show(value)
        case ShapeExpr(values=values):
            return f"R.shape([{', '.join(map(show, values))}])"
        case ast.Constant(data=data):
            return f'R.const({data.value!r}, "{data.dtype}")'
        case ast.StringImm(value=text):
            return f'"{text}"'
        case ast.DataTypeImm(value=kind):
            return f'"{kind}"'
        case ast.PrimValue(value=prim):
            return show(prim)
        case tuple():
            return f"({', '.join(map(_literal, value))}{',' if len(value) == 1 else ''})"
        case list():
            return f"[{', '.join(map(_literal, value))}]"
    raise ValueError(f"no text for {value!r}")


def from_case(name: str, args: Sequence[object], attrs: dict[str, object]) -> OneCall:
    """A case as a call."""
    return OneCall(
        name,
        tuple(map(argument, args)),
        tuple((key, argument(value)) for key, value in attrs.items()),
    )
