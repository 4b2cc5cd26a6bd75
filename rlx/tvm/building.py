"""Whether TVM builds a module for a processor: what of it no pass of `tvm.compile` lowers, call by call.

`built_0_27.json` has what TVM said of a call of each operator and of each intrinsic, with arguments of many types;
`python -m tests.tvm.build_table` asks it. Nothing here needs TVM.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from rlx.checker.check import Report, check_text
from rlx.grammar.diagnostic import Diagnostic
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import StructInfo
from rlx.grammar.nodes.node import Node, Span, replace, walk
from rlx.grammar.nodes.struct_infos import fields_or_itself
from rlx.grammar.nodes.tir_exprs import type_of
from rlx.grammar.nodes.visit import bindings, evaluated
from rlx.operators import lookup

VERSION = "0.27"
_PACKED = ("relax.call_pure_packed", "relax.call_dps_packed", "relax.call_inplace_packed")
NEVER = {
    "call_tir_with_grad": "it is for relax.transform.Gradient; use R.call_tir where nothing is derived",
}
"""Operators for other pipelines than that of `tvm.compile`."""
BUILT_ANYWAY = ("WF07-recursion",)
"""What TVM builds although a rule forbids it: a warning."""
_OF_TENSORS = ("shape_of", "size")
"""Operators without a definition whose argument TVM demands to be a tensor."""
_OF_GPUS = ("ptx_", "tvm_warp_", "mma_", "cuda_", "tvm_load_matrix_sync", "tvm_mma_sync")
"""How the intrinsics begin that only code for GPUs has."""


def check_for_tvm(text: str, path: str = "<text>") -> Report:
    """Check a text, and whether TVM builds what it defines.

    Parameters
    ----------
    text, path
        What :func:`rlx.checker.check.check_text` takes; the text is read as TVM 0.27 reads it.

    Returns
    -------
    Report
        With an error for each place that TVM does not build, and a note for each function that must
        be registered before a run. Of a text with errors only these are said.
    """
    report = check_text(text, path, VERSION)
    judged = tuple(
        replace(d, severity="warning") if d.code in BUILT_ANYWAY else d for d in report.diagnostics
    )
    report = replace(report, diagnostics=judged)
    if not report.ok:
        return report
    found = [
        replace(d, source=report.source)
        for module in report.modules
        for d in hindrances(module, report.info)
    ]
    if not found:
        return report
    said = sorted((*report.diagnostics, *found), key=lambda d: d.span or (0, 0))
    return replace(report, diagnostics=tuple(said))


def hindrances(module: ast.IRModule, info: Mapping[Node, StructInfo]) -> Iterator[Diagnostic]:
    """What keeps TVM from building a module, and what it needs at run time.

    Parameters
    ----------
    module
        In normal form and without errors.
    info
        The struct info of its expressions.
    """
    for variable, function in module.functions.items():
        name = variable.name_hint
        if not name.isidentifier():
            yield _error(
                "TVM-text",
                f"TVM's parser does not read the name {name!r}",
                function.span,
                "give the function a name that Python reads",
            )
        if isinstance(function, ast.Function):
            yield from _function(function, info)
        else:
            yield from _prim_func(function)


# ------------------------------------------------------------ Relax functions


def _function(function: ast.Function, info: Mapping[Node, StructInfo]) -> Iterator[Diagnostic]:
    declared: dict[Node, StructInfo] = {}
    for binding in bindings(function):
        if binding.var is not None and isinstance(binding, ast.VarBinding):
            declared[binding.value] = info.get(binding.var, ast.ObjectStructInfo())
        if isinstance(binding.value, ast.Function):
            name = "" if binding.var is None else f" {binding.var.name_hint!r}"
            yield _error(
                "TVM-closure",
                f"TVM's default build does not lower the local function{name}",
                binding.value.span or binding.span,
                "apply relax.transform.LambdaLift() before tvm.compile, or make it a function of the"
                " module",
            )
    for call in evaluated(function.body, ast.Call):
        span = call.op_span or call.span
        if isinstance(call.op, ast.ExternFunc):
            yield from _registered(call.op.global_symbol, span)
        elif isinstance(call.op, ast.Op):
            name = call.op.op_name
            if name in _PACKED and call.args and isinstance(call.args[0], ast.ExternFunc):
                yield from _registered(call.args[0].global_symbol, span)
            yield from _operator(name.removeprefix("relax."), call, info, declared.get(call))


def _operator(
    name: str,
    call: ast.Call,
    info: Mapping[Node, StructInfo],
    declared: StructInfo | None,
) -> Iterator[Diagnostic]:
    span = call.op_span or call.span
    if name in NEVER:
        yield _error("TVM-operator", f"no pass of TVM's build lowers R.{name}", span, NEVER[name])
        return
    unread = _unread(name, call, info)
    if unread is not None:
        said, help = unread
        yield _error("TVM-text", f"TVM's parser does not read this R.{name}: {said}", span, help)
        return
    known = table()["operators"].get(name, {})
    form, types = signature(call, info)
    if isinstance(declared, ast.TensorStructInfo):  # TVM keeps to an annotation that says less
        form = max(form, _form(declared), key=_FORMS.index)
    sure = [key for key in known if _known(_form_of(key)) == _known(form)]
    reason = None
    if sure:
        reason = _reason(known, min(sure, key=lambda key: _unlike(key, form, types)))
    elif not _known(form) and _computes(call):
        reason = ("refuses", "CodeGenVM cannot emit this Relax operator directly")
    reason = reason or _of_attributes(name, call, info)
    if reason is None:
        return
    how, words = reason
    if how == "read":
        if all(known.values()) and "has no attribute" in words:
            said = f"TVM's parser does not read R.{name}: {words}"
            yield _error("TVM-text", said, span, "build the call in Python")
    elif not _known(form) and any(_known(_form_of(key)) and not known[key] for key in known):
        yield _error(
            "TVM-shape",
            f"no pass of TVM lowers R.{name} where a shape is not known: {words}",
            span,
            'give its arguments shapes: R.match_cast(x, R.Tensor(("n", …), …))',
        )
    else:
        built = {_types(key).partition(" ")[0] for key, number in known.items() if not number}
        right = sorted(built - {"", "?", *types.split(" ")})
        of = f" of {types.replace(' ', ', ')}" if types else ""
        yield _error(
            "TVM-operator",
            f"TVM does not build R.{name}{of}: {words}",
            span,
            f"it builds for {', '.join(right[:8])}: R.astype converts"
            if right
            else "replace it by other operators, or by R.call_tir of a PrimFunc",
        )


def _unread(name: str, call: ast.Call, info: Mapping[Node, StructInfo]) -> tuple[str, str] | None:
    """Why TVM's parser refuses a call that it has a spelling for, and what to do."""
    if name in _OF_TENSORS or _computes(call):
        for arg in call.args:
            if isinstance(arg, ast.Var) and type(info.get(arg)) is ast.ObjectStructInfo:
                cast = 'R.match_cast(x, R.Tensor(("n", …), …))'
                return "an argument is R.Any, not a tensor", f"give it a type: {cast}"
    if name == "hint_on_device":
        return "it takes a device, and a text is none", "use R.to_vdevice"
    if name == "builtin.alloc_tensor" and call.sinfo_args:
        return "it takes no ty_args", "remove ty_args"
    if name == "dist.call_tir_local_view":
        return "its out_ty must be an R.DTensor", "build the call in Python"
    return None


def _computes(call: ast.Call) -> bool:
    """Whether the operator has a definition as a tensor expression, which needs shapes."""
    assert isinstance(call.op, ast.Op)
    operator = lookup(call.op.op_name)
    return operator is not None and operator.definition is not None


def _of_attributes(
    name: str, call: ast.Call, info: Mapping[Node, StructInfo]
) -> tuple[str, str] | None:
    """What TVM's rules refuse for a keyword argument."""
    attrs = {key: str(value).strip("\"'") for key, value in call.attrs.items()}
    given, kernel = (
        attrs.get("data_layout", attrs.get("layout", "")),
        attrs.get("kernel_layout", ""),
    )
    out = attrs.get("out_layout", given)
    if out not in ("", "None", given):
        return "refuses", f"the layout of the result, {out}, is another one than {given}"
    if "conv" in name and any(letter.isdigit() for letter in given + kernel):
        return "refuses", "layouts with blocks of channels are not legalised"
    if name == "concat" and attrs.get("axis") == "None":
        return "refuses", "Cannot convert from type `None` to `int`"
    if name in ("left_shift", "right_shift") and _shifts_too_far(call.args[-1], info):
        return "refuses", "Shift amount must be non-negative and less than the bits of the type"
    if name == "nn.attention" and attrs.get("window_size", "None") != "None":
        return "refuses", "Legalization for sliding-window attention is not supported yet."
    return None


def _shifts_too_far(amount: ast.Expr, info: Mapping[Node, StructInfo]) -> bool:
    """Whether it is a constant that no number of its type can be shifted by: TVM writes scalars of
    these types as numbers into a PrimFunc.
    """
    value = amount.data.value if isinstance(amount, ast.Constant) else None
    of = info.get(amount)
    if not isinstance(value, int) or not isinstance(of, ast.TensorStructInfo):
        return False
    return str(of.dtype) in ("int32", "int64") and not 0 <= value < of.dtype.bits


def signature(call: ast.Call, info: Mapping[Node, StructInfo]) -> tuple[str, str]:
    """What is known of the shapes of a call's arguments and result (``"static"``, ``"symbolic"``,
    ``"rank"`` or ``"unknown"``, the least that is known of one), and the arguments' element types.
    """
    forms, types = ["static"], []
    for arg in call.args:
        for field in fields_or_itself(info.get(arg, ast.ObjectStructInfo())):
            if isinstance(field, ast.TensorStructInfo):
                forms.append(_form(field))
                types.append("?" if field.dtype.is_void else str(field.dtype))
    for field in fields_or_itself(info.get(call, ast.ObjectStructInfo())):
        if isinstance(field, ast.TensorStructInfo):
            forms.append(_form(field))
    return max(forms, key=_FORMS.index), " ".join(types)


_FORMS = ("static", "symbolic", "rank", "unknown")


def _form(tensor: ast.TensorStructInfo) -> str:
    if isinstance(tensor.shape, ast.ShapeExpr):
        numbers = all(isinstance(size, tir.IntImm) for size in tensor.shape.values)
        return "static" if numbers else "symbolic"
    return "unknown" if tensor.ndim < 0 else "rank"


def _form_of(key: str) -> str:
    return key.partition(":")[0]


def _types(key: str) -> str:
    return key.partition(":")[2]


def _known(form: str) -> bool:
    return form in ("static", "symbolic")


def _unlike(key: str, form: str, types: str) -> tuple[int, int, int, int]:
    """How far a call that TVM was asked about is from another one."""
    given, other = types.split(" "), _types(key).split(" ")
    pairs = list(zip(given, other, strict=False))
    kinds = sum(_kind(a) != _kind(b) for a, b in pairs)
    distance = abs(_FORMS.index(form) - _FORMS.index(_form_of(key)))
    return kinds, sum(a != b for a, b in pairs), abs(len(given) - len(other)), distance


def _kind(type_: str) -> str:
    """What types that TVM mostly treats alike have in common."""
    return next(
        (k for k in ("float8", "float", "bfloat", "int4", "bool") if type_.startswith(k)), "int"
    )


def _reason(known: Mapping[str, int], key: str) -> tuple[str, str] | None:
    """How TVM fails on a call, and its words; None if it builds it."""
    if not known[key]:
        return None
    how, words = table()["reasons"][known[key] - 1]
    return how, words


def _registered(name: str, span: Span | None) -> Iterator[Diagnostic]:
    if name not in table()["registered"]:
        yield Diagnostic(
            "TVM-packed",
            "note",
            f"{name!r} must be registered before a run: TVM's wheel has no function of this name",
            span,
            help=f'@tvm.register_global_func("{name}"), or load the library that has it',
        )


# ------------------------------------------------------------ PrimFuncs


def _prim_func(function: tir.PrimFunc) -> Iterator[Diagnostic]:
    for node in walk(function):
        bound = isinstance(node, tir.For) and node.kind == "thread_binding"
        if bound or (isinstance(node, tir.With) and node.call.op == "launch_thread"):
            assert isinstance(node, tir.For | tir.With)
            yield _thread(node.span)
        elif isinstance(node, tir.Let):
            yield _error(
                "TVM-text",
                "TVM's parser does not read T.Let",
                node.span,
                "write the value in place of the variable, or bind it by a T.let statement before",
            )
        elif isinstance(node, tir.Call):
            yield from _intrinsic(node)


def _thread(span: Span | None) -> Diagnostic:
    return _error(
        "TVM-target",
        "this loop is bound to a thread of a GPU; TVM does not build it for a processor",
        span,
        'build it for a GPU (target="cuda"), or make the loop serial or parallel',
    )


def _intrinsic(call: tir.Call) -> Iterator[Diagnostic]:
    name = call.op
    if name.startswith(_OF_GPUS):
        yield _error(
            "TVM-target",
            f"T.{name} exists on GPUs only; TVM does not build it for a processor",
            call.span,
            "build the function for a GPU",
        )
    elif name in ("call_extern", "call_pure_extern") and call.args:
        yield Diagnostic(
            "TVM-packed",
            "note",
            f"T.{name} needs the symbol {call.args[0]} where the module is loaded",
            call.span,
        )
    elif known := table()["intrinsics"].get(name):
        kind = str(type_of(call.args[0])) if call.args else ""
        number = known.get(kind, 0)
        if number:
            right = [other for other, found in known.items() if not found]
            yield _error(
                "TVM-intrinsic",
                f"TVM does not build T.{name} of {kind} for a processor: {table()['reasons'][number - 1][1]}",
                call.span,
                f"it builds for {', '.join(right)}" if right else "write it with other intrinsics",
            )


def _error(code: str, message: str, span: Span | None, help: str) -> Diagnostic:
    return Diagnostic(code, "error", message, span, help=help)


@cache
def table() -> dict[str, Any]:
    """What TVM said: for each operator, and for each intrinsic, the number of the reason for which
    it does not build a call; 0 if it does.
    """
    text = files("rlx.tvm").joinpath("built_0_27.json").read_text("utf-8")
    found: dict[str, Any] = json.loads(text)
    found["registered"] = frozenset(found["registered"])
    return found
