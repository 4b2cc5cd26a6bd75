"""The answer of TVM's inference about a call: the type it derives, or why it refuses the call."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace
from typing import Any

import tvm
import tvm.relax.op.vm
from tvm import relax, tirx
from tvm.relax.script.parser.parser import _normalize_ty
from tvm.relax.utils import convert_to_expr
from tvm.script import relax as script
from tvm.script import tirx as script_tir

from .calls import DIMENSIONS, Written


class Refused(Exception):
    """TVM refuses a call; the text is the first line of what it says."""


class _Inspect:
    """The operators that texts do not name are called as TVM's passes make them."""

    def __getattr__(self, name: str) -> Any:
        def call(*args: Any, **named: Any) -> Any:
            given = [*args, *(named.pop(k) for k in ("tensor", "axis") if k in named)]
            operator = tvm.ir.Op.get(f"relax.inspect.{name}")
            if named or len(given) != operator.num_inputs:
                raise TypeError(f"{name} takes {operator.num_inputs} arguments")
            return relax.Call(operator, [convert_to_expr(a) for a in given])

        return call


@cache
def _device(text: str) -> Any:
    """A device of a module, which all of its tensors share."""
    kind, _, index = text.partition(":")
    return relax.VDevice(kind, int(index))


class _Names(SimpleNamespace):
    """``R`` as texts see it."""

    inspect = _Inspect()

    def __getattr__(self, name: str) -> Any:
        return getattr(script, name)

    @staticmethod
    def Tensor(*args: Any, vdevice: str | None = None, **named: Any) -> Any:
        """An annotation; texts look the device up in their module, so that there is none to ask here."""
        found = script.Tensor(*args, **named)
        if vdevice is not None:
            found.vdevice = _device(vdevice)
        return found


class Peer:
    """Asks TVM about calls; ``dims`` are its variables for the shape variables of texts."""

    def __init__(self) -> None:
        self.dims = {name: tirx.Var(name, "int64") for name in DIMENSIONS}
        self.names: dict[str, Any] = {"R": _Names(), "T": script_tir, **self.dims}

    def derive(self, call: Written) -> Any:
        """The type of a call.

        Raises
        ------
        Refused
            If TVM does not accept it.
        """
        try:
            return self._derive(call)
        except Exception as error:  # noqa: BLE001 - TVM raises many kinds
            kind = type(error).__name__
            lines = [line for line in str(error).strip().split("\n") if line.strip()]
            raise Refused(f"{kind}: {lines[-1] if lines else ''}"[:300]) from None

    def _derive(self, call: Written) -> Any:
        names = dict(self.names)
        sizes = relax.Var("sizes", relax.ShapeType(list(self.dims.values())))
        params: list[Any] = [sizes]
        for name, annotation in call.params:
            found = _normalize_ty(eval(annotation, names), {})
            prim = isinstance(found, tvm.ir.PrimType)
            var = tirx.Var(name, found) if prim else relax.Var(name, found)
            names[name] = var
            params.append(var)
        value = convert_to_expr(eval(call.expr, names))
        builder = relax.BlockBuilder()
        with builder.function("f", params):
            result = builder.emit(value)
            builder.emit_func_output(result)
        return result.ty
