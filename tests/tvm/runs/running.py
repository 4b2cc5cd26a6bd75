"""A program in TVM and in rlx: what each says, and whether it is the same."""

from __future__ import annotations

import io
from contextlib import redirect_stderr, redirect_stdout
from typing import Any

import numpy as np
import tvm
from tvm import relax

from rlx import vm
from rlx.checker.check import check_text
from rlx.grammar.nodes.dtype import dtype
from rlx.semantics.machine import load
from rlx.semantics.machine.numpy_conversion import to_plain, to_value
from rlx.semantics.values import Null, Scalar, ShapeValue, Tensor, TupleValue, Value

from .programs import Program, Sizes

ENGINES = ("steps", "native", "vm")
TOLERANCE = {"float64": 1e-6, "float32": 2e-4, "float16": 4e-3, "bfloat16": 2e-2}
"""Relative, and of a tenth of the largest element; other types are compared exactly."""


class Refused(Exception):
    """A run without a value: an error of the checker, or a run that ends without one."""


def to_tvm(value: Any) -> Any:
    match value:
        case np.ndarray():
            return tvm.runtime.tensor(value)
        case Sizes():
            return tvm.runtime.ShapeTuple(list(value))
        case tuple():
            return [to_tvm(field) for field in value]
    return value


def to_rlx(value: Any) -> Value:
    match value:
        case np.ndarray():
            return Tensor(value.copy())
        case Sizes():
            return ShapeValue(tuple(value))
        case tuple():
            return TupleValue(tuple(map(to_rlx, value)))
        case float():
            return Scalar(value, dtype("float32"))
    return to_value(value)


def by_tvm(program: Program, module: Any) -> Any:
    """The result of TVM's virtual machine; it raises many kinds of errors."""
    executable = tvm.compile(module, "llvm")
    machine = relax.VirtualMachine(executable, tvm.cpu())
    return machine[program.entry](*map(to_tvm, program.args))


def by_rlx(program: Program, text: str, engine: str) -> Value:
    """The result of a text by rlx.

    Raises
    ------
    Refused
        If there is no value.
    """
    report = check_text(text, program.name)
    if not report.ok:
        raise Refused(str(report.errors[0]))
    module, args = report.modules[0], list(map(to_rlx, program.args))
    if engine != "vm":
        end = load(module, backend=engine, output=lambda _: None).run(program.entry, args)
        if not end.ok:
            raise Refused(str(end))
        return end.value  # type: ignore[attr-defined, no-any-return]
    try:
        machine = vm.VirtualMachine(vm.build(module), output=lambda _: None)
        return machine.invoke(program.entry, args)
    except (vm.RunError, vm.PassError) as error:
        raise Refused(str(error)) from None


def difference(ours: Value, theirs: Any) -> str:
    """The place where two values differ; empty if they agree."""
    if isinstance(ours, Tensor) and hasattr(theirs, "numpy"):
        return _tensors(ours.data, theirs.numpy(), str(theirs.dtype))
    if isinstance(ours, ShapeValue):
        return "" if tuple(ours.values) == tuple(theirs) else f"{ours.values} and {theirs}"
    if isinstance(ours, TupleValue):
        if len(ours.fields) != (0 if theirs is None else len(theirs)):
            return f"{len(ours.fields)} fields and {theirs}"
        pairs = zip(ours.fields, theirs or (), strict=True)
        return next((found for found in (difference(a, b) for a, b in pairs) if found), "")
    if isinstance(ours, Null):
        return "" if theirs is None else f"null and {theirs}"
    if isinstance(ours, Scalar):
        return "" if float(ours.value) == float(theirs) else f"{ours.value} and {theirs}"
    plain = to_plain(ours)
    return "" if str(plain) == str(theirs) else f"{plain} and {theirs}"


def _tensors(a: Any, b: Any, kind: str) -> str:
    if str(a.dtype) != kind or a.shape != b.shape:
        return f"{a.dtype}{a.shape} and {kind}{b.shape}"
    if kind not in TOLERANCE:
        return "" if a.tobytes() == b.tobytes() else f"{a.ravel()[:6]} and {b.ravel()[:6]}"
    left, right = a.astype(np.float64), b.astype(np.float64)
    largest = float(np.max(np.abs(right[np.isfinite(right)]), initial=1.0))
    close = np.allclose(left, right, TOLERANCE[kind], TOLERANCE[kind] * largest / 10, True)
    return "" if close else f"{left.ravel()[:6]} and {right.ravel()[:6]}"


def verdict(program: Program) -> tuple[str, str]:
    """Whether all engines agree with TVM: ``same``, ``both refuse``, ``tvm refuses``, ``rlx refuses`` or
    ``differ``, with the reason.
    """
    texts = {} if program.text is None else {"as written": program.text}
    theirs, error = None, ""
    with redirect_stderr(io.StringIO()), redirect_stdout(io.StringIO()):
        try:
            module = program.build()
            texts["as TVM prints it"] = module.script(show_meta=True)
            theirs = by_tvm(program, module)
        except Exception as raised:  # noqa: BLE001 - whatever TVM raises
            error = f"{type(raised).__name__}: {raised}"
    if not texts:
        return "tvm refuses", error
    runs = [(which, "native") for which in texts]
    runs += [
        ("as TVM prints it", engine)
        for engine in ("steps", "vm")
        if len(texts) > 1 or program.text is None
    ]
    return _judged(program, texts, runs, theirs, error)


def _judged(
    program: Program, texts: dict[str, str], runs: list[tuple[str, str]], theirs: Any, error: str
) -> tuple[str, str]:
    refused = ""
    for which, engine in runs:
        try:
            ours = by_rlx(program, texts[which], engine)
        except Refused as reason:
            refused = refused or f"{which}, {engine}: {reason}"
            continue
        if error:
            return "tvm refuses", error
        found = difference(ours, theirs)
        if found:
            return "differ", f"{which}, {engine}: {found}"
    if error:
        return "both refuse", error
    return ("rlx refuses", refused) if refused else ("same", "")
