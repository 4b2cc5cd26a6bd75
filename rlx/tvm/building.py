"""Prediction of whether TVM builds a module for a processor: the calls that no pass of
`tvm.compile` lowers.

`built_0_27.json` has TVM's answers for a call of each operator and of each intrinsic, with arguments of many types;
`python -m tests.tvm.build_table` asks it. Nothing here needs TVM.
"""

from __future__ import annotations

import json
import re
from collections import ChainMap
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from functools import cache
from importlib.resources import files
from itertools import zip_longest
from typing import Any, cast

from rlx.checker.check import Report, check_text
from rlx.grammar.diagnostic import Diagnostic
from rlx.grammar.lines import line_start
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
"""Diagnostics that become warnings: TVM builds the program all the same."""
_OF_TENSORS = ("shape_of", "size")
"""Operators without a definition whose argument TVM demands to be a tensor."""
_CREATES = ("full", "arange", "eye")
"""Operators whose shape is an argument, of which TVM needs the rank only."""
_AS_DECLARED = ("dist.redistribute_replica_to_shard",)
"""Operators without a definition that TVM lowers, if their result is not declared as anything."""
_BY_SHAPES = ("image.affine_grid", "index_put")
"""Operators for which TVM refuses shapes with variables whatever their types are, but not all."""
_SHAPED = ("reshape", "broadcast_to", "collapse_sum_to")
"""Operators for whose shape TVM looks at what its variable is bound to."""
_TRANSPOSED = {
    "nn.conv1d_transpose": ("NCW", "IOW"),
    "nn.conv2d_transpose": ("NCHW", "IOHW"),
    "nn.conv3d_transpose": ("NCDHW", "IODHW"),
}
"""The only layouts for which TVM legalises transposed convolutions."""
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
    if any(d.severity == "error" and not d.code.startswith("VERSION") for d in report.diagnostics):
        return report
    found = [
        replace(d, source=report.source)
        for module in report.modules
        for d in (
            *_declared_twice(module, text),
            *_bare_types(module, text),
            *hindrances(module, report.info),
        )
    ]
    if not found:
        return report
    said = sorted((*report.diagnostics, *found), key=lambda d: d.span or (0, 0))
    return replace(report, diagnostics=tuple(said))


_ABOVE = " = TypeVar("
_INSIDE = re.compile(r"^[ \t]+((\w+) = T\.int64\(\))", re.MULTILINE)


def _declared_twice(module: ast.IRModule, text: str) -> Iterator[Diagnostic]:
    """Shape variables that a function declares inside, of names above the module: TVM prints them so,
    but reads them only where the signature has them, too.
    """
    above = set(_names_above(text))
    for function in module.functions.values() if above else ():
        if not isinstance(function, ast.Function) or function.span is None:
            continue
        other = above.difference(var.name for var in function.shape_vars)
        for found in _INSIDE.finditer(text, *function.span):
            if found[2] in other:
                yield _error(
                    "TVM-text",
                    f"TVM's parser does not read this variable: {found[2]} is a TypeVar above, too",
                    found.span(1),
                    "give one of the two another name; `rlx fmt` does",
                )


def _names_above(text: str) -> Iterator[str]:
    """The names that lines of a text declare; weights, which may be most of it, are passed over."""
    at = text.find(_ABOVE)
    while at >= 0:
        yield text[line_start(text, at) : at]
        at = text.find(_ABOVE, at + 1)


_BARE = re.compile(r"(R\.\w+)\s*,?\s*\)$")


def _bare_types(module: ast.IRModule, text: str) -> Iterator[Diagnostic]:
    """Types of packed functions that are written as the name of a class."""
    for node in walk(module):
        if isinstance(node, ast.ExternFunc) and node.struct_info is not None and node.span:
            found = _BARE.search(text[slice(*node.span)])
            if found is not None:
                yield _error(
                    "TVM-text",
                    f"TVM's parser does not read {found[1]} as the type of a packed function",
                    node.span,
                    f"write {found[1]}(); `rlx fmt` does",
                )


def hindrances(module: ast.IRModule, info: Mapping[Node, StructInfo]) -> Iterator[Diagnostic]:
    """The reasons why TVM does not build a module, and the libraries that it needs at run time.

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
    if any(isinstance(i, ast.TensorStructInfo) and i.distribution for i in walk(function)):
        yield _error(
            "TVM-distributed",
            "TVM's default build does not lower R.DTensor",
            function.span,
            "apply the passes of relax.distributed.transform before tvm.compile",
        )
    for param in function.params:
        of = param.struct_info_annotation
        if isinstance(of, ast.TensorStructInfo) and isinstance(of.shape, ast.Var):
            yield _error(
                "TVM-text",
                f"TVM's parser does not know {of.shape.name_hint!r} in the signature",
                param.span or function.span,
                "write the sizes: R.Tensor((n, m))",
            )
    declared: dict[Node, StructInfo] = {}
    bound: dict[ast.Expr, ast.Expr] = {}
    less: dict[Node, StructInfo] = {}
    info = ChainMap(less, cast("dict[Node, StructInfo]", info))  # what TVM knows
    sizes = {each for each in walk(function) if isinstance(each, tir.Var)}
    for binding in bindings(function):
        if binding.var is not None:
            bound[binding.var] = binding.value
            made = info.get(binding.var)
            if isinstance(made, ast.TensorStructInfo) and _has_size_of_data(made, sizes):
                less[binding.var] = replace(made, shape=None)
        if binding.var is not None and isinstance(binding, ast.VarBinding):
            of = info.get(binding.var)
            if isinstance(of, ast.TensorStructInfo) or binding.var.struct_info_annotation:
                declared[binding.value] = of or ast.ObjectStructInfo()
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
            yield from _operator(name.removeprefix("relax."), call, info, declared.get(call), bound)


def _operator(
    name: str,
    call: ast.Call,
    info: Mapping[Node, StructInfo],
    declared: StructInfo | None,
    bound: Mapping[ast.Expr, ast.Expr],
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
    lowered = (_computes(call) and name != "reshape") or name in _AS_DECLARED
    if lowered and type(declared) is ast.ObjectStructInfo:
        said = f"no pass of TVM lowers R.{name} where its result is declared as R.Any"
        yield _error("TVM-shape", said, span, "leave the annotation of the variable away")
        return
    known = table()["operators"].get(name, {})
    form, types = signature(call, info)
    if isinstance(declared, ast.TensorStructInfo) and not _creates(call):
        # TVM keeps to an annotation that says less
        form = max(form, _form(declared), key=_FORMS.index)
    if _computes(call) and not name.endswith("_like") and "?" in types.split(" "):
        said = "the element type of an argument is not known"
        yield _error("TVM-operator", f"TVM does not build this R.{name}: {said}", span, _DTYPE)
        return
    sure = [key for key in known if _known(_form_of(key)) == _known(form)]
    if name in _BY_SHAPES:
        sure = [key for key in sure if _form_of(key) != "symbolic"]
    reason = None
    if sure:
        reason = _reason(known, min(sure, key=lambda key: _unlike(key, form, types)))
    elif not _known(form) and _computes(call):
        reason = ("refuses", "CodeGenVM cannot emit this Relax operator directly")
    if reason is None:
        refused = _of_layouts(name, call) or _of_values(name, call, info, bound)
        if refused is not None:
            said, help = refused
            yield _error("TVM-operator", f"TVM does not build this R.{name}: {said}", span, help)
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
            f"it builds for {', '.join(right[:8])}: R.astype converts" if right else _REPLACE,
        )


_DTYPE = 'give its arguments types: R.match_cast(x, R.Tensor((n, …), "float32"))'
_FLOAT = 'convert it: R.astype(x, "float32")'
_REPLACE = "replace it by other operators, or by R.call_tir of a PrimFunc"


def _unread(name: str, call: ast.Call, info: Mapping[Node, StructInfo]) -> tuple[str, str] | None:
    """Why TVM's parser refuses a call that it has a spelling for, and what to do."""
    if name in _OF_TENSORS or _computes(call):
        for arg in call.args:
            if isinstance(arg, ast.Var) and type(info.get(arg)) is ast.ObjectStructInfo:
                cast = 'R.match_cast(x, R.Tensor(("n", …), …))'
                return "an argument is R.Any, not a tensor", f"give it a type: {cast}"
    if name == "hint_on_device":
        return "it takes a device, and a text is none", "use R.to_vdevice"
    if name == "device":
        return "a device is no value of a program", "use R.to_vdevice"
    if name in ("dist.annotate_sharding", "dist.redistribute"):
        return "the module has no such mesh of devices", "build the module in Python"
    for at, arg in enumerate(call.args):
        if isinstance(arg, ast.DataTypeImm) and call.spelled.get(at) == "R.str":
            return "R.str is no element type", f'write R.dtype("{arg.value}"); `rlx fmt` does'
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


def _of_layouts(name: str, call: ast.Call) -> tuple[str, str] | None:
    attrs = {key: str(value).strip("\"'") for key, value in call.attrs.items()}
    given, kernel = (
        attrs.get("data_layout", attrs.get("layout", "")),
        attrs.get("kernel_layout", ""),
    )
    out = attrs.get("out_layout", given)
    if out not in ("", "None", given):
        said = f"the layout of the result, {out}, is another one than {given}"
        return said, "leave out_layout away, and add R.permute_dims"
    if "conv" in name and any(letter.isdigit() for letter in given + kernel):
        said = "layouts with blocks of channels are not legalised"
        return said, "use R.layout_transform, and a layout without blocks"
    if name in _TRANSPOSED:
        for one, only in zip((given, kernel), _TRANSPOSED[name], strict=True):
            if one not in ("", "None", only):
                said = f"it is legalised for the layout {only} only, and this is {one}"
                return said, "use R.permute_dims, and this layout"
    return None


def _of_values(
    name: str,
    call: ast.Call,
    info: Mapping[Node, StructInfo],
    bound: Mapping[ast.Expr, ast.Expr],
) -> tuple[str, str] | None:
    attrs = call.attrs
    if name == "concat" and str(attrs.get("axis", 0)) == "None":
        return "it has no axis", "flatten the tensors, and give axis=0"
    if name in ("left_shift", "right_shift") and _shifts_too_far(call.args[-1], info):
        return "no value of this type can be shifted so far", "shift by less than the type has bits"
    if name in ("nn.attention", "nn.attention_bias"):
        if str(attrs.get("window_size")) != "None":
            return "attention with a window is not legalised", "give a mask to R.nn.attention_bias"
        if _is_sum(_size(_argument(call, 2), 1, info)) or _is_sum(
            _size(_argument(call, 0), 3, info)
        ):
            said = "the number of keys, or the size of a head, is neither a number nor a variable"
            return said, "give it a variable of its own by R.match_cast"
    if name in _SHAPED:
        shape = _argument(call, 1)
        known = info.get(shape) if isinstance(shape, ast.Var) else None
        # R.reshape is lowered in another way if the sizes are not known.
        sized = isinstance(known, ast.ShapeStructInfo) and known.values is not None
        if isinstance(shape, ast.Var) and sized and not _is_literal(bound.get(shape)):
            said = f"its shape {shape.name_hint} is not bound to R.shape(…)"
            return said, "write the sizes into the call; R.match_cast gives them names"
    if name == "nn.adaptive_avg_pool1d" and str(attrs.get("output_size")) == "None":
        return "it has no output_size", "give it the size, which is that of the last axis"
    if name == "split" and _unsorted(call):
        return "its indices do not grow from 0", "count them from the start, and sort them"
    if name == "nn.batch_norm" and _negative(attrs.get("axis")):
        return "its axis is negative", "count the axis from the front"
    if name.endswith("pool2d_backward") and any(step != 1 for step in _numbers(attrs, "dilation")):
        return "the derivative of a pooling with a dilation is not legalised", _REPLACE
    if name == "nn.prelu" and not isinstance(_size(_argument(call, 1), 0, info), tir.IntImm):
        return "the number of slopes is not known", "give it a number"
    grid = _argument(call, 1) if name == "image.affine_grid" else None
    if isinstance(grid, ast.ShapeExpr) and not all(
        isinstance(size, tir.IntImm) for size in grid.values
    ):
        return "its shape has a variable", "give it numbers"
    if name in _BY_SHAPES and call.args:
        return _of_shapes(name, info.get(call.args[0]), _argument(call, 1), info)
    return None


def _of_shapes(
    name: str, data: StructInfo | None, at: ast.Expr | None, info: Mapping[Node, StructInfo]
) -> tuple[str, str] | None:
    """The reason why TVM rejects the tensors of an affine grid, or those that R.index_put writes to
    and at.
    """
    kind = str(data.dtype) if isinstance(data, ast.TensorStructInfo) else ""
    if name == "image.affine_grid":
        return ("it needs the number -1, which no bool is", _FLOAT) if kind == "bool" else None
    if isinstance(data, ast.TensorStructInfo) and kind == "int4" and _form(data) == "symbolic":
        return "a size of a tensor of int4 is no number", "give it numbers, or convert it: R.astype"
    shapes = [
        each.shape.values[::-1]
        for each in fields_or_itself((info.get(at) if at else None) or ast.ObjectStructInfo())
        if isinstance(each, ast.TensorStructInfo) and isinstance(each.shape, ast.ShapeExpr)
    ]
    for sizes in zip_longest(*shapes):
        more = [s for s in sizes if s is not None and getattr(s, "value", None) != 1]
        if len(more) > 1 and not all(isinstance(size, tir.IntImm) for size in more):
            said = "the indices have a size that is no number, which TVM does not compare"
            return said, "give them numbers: R.match_cast(i, R.Tensor((4,), …))"
    return None


def _has_size_of_data(made: ast.TensorStructInfo, sizes: AbstractSet[tir.Var]) -> bool:
    """Whether a size has no name in the text, as that of R.nonzero: TVM infers no shape then."""
    return made.shape is not None and any(
        isinstance(each, tir.Var) and each not in sizes for each in walk(made.shape)
    )


def _is_literal(shape: ast.Expr | None) -> bool:
    """Whether TVM sees sizes: also in what it makes of R.tensor_to_shape before it legalises."""
    made = isinstance(shape, ast.Call) and str(shape.op) == "R.tensor_to_shape"
    return made or isinstance(shape, ast.ShapeExpr)


def _argument(call: ast.Call, place: int) -> ast.Expr | None:
    return call.args[place] if place < len(call.args) else None


def _size(arg: ast.Expr | None, axis: int, info: Mapping[Node, StructInfo]) -> object:
    """A dimension of an argument; None if it is not known."""
    of = None if arg is None else info.get(arg)
    if isinstance(of, ast.TensorStructInfo) and isinstance(of.shape, ast.ShapeExpr):
        return of.shape.values[axis] if axis < len(of.shape.values) else None
    return None


def _is_sum(size: object) -> bool:
    """Whether a dimension is computed of others."""
    return size is not None and not isinstance(size, tir.IntImm | tir.Var)


def _unsorted(call: ast.Call) -> bool:
    """Whether the indices of a split, where they are numbers, do not grow from 0."""
    found = _numbers(call.attrs, "indices_or_sections")
    if len(call.args) > 1 and isinstance(call.args[1], ast.Tuple):
        found = [
            field.value.value
            for field in call.args[1].fields
            if isinstance(field, ast.PrimValue) and isinstance(field.value, tir.IntImm)
        ]
    return any(after <= before for before, after in zip([0, *found], found, strict=False))


def _numbers(attrs: Mapping[str, Any], name: str) -> list[int]:
    value = attrs.get(name, ())
    return [each for each in value if isinstance(each, int)] if isinstance(value, tuple) else []


def _negative(value: object) -> bool:
    return isinstance(value, int) and value < 0


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
    """The knowledge of the shapes of a call's arguments and result (``"static"``, ``"symbolic"``,
    ``"rank"`` or ``"unknown"``, the least that is known of one), and the arguments' element types.
    """
    forms, types = ["static"], []
    for arg in call.args:
        for field in fields_or_itself(info.get(arg, ast.ObjectStructInfo())):
            if isinstance(field, ast.TensorStructInfo):
                forms.append(_form(field))
                types.append("?" if field.dtype.is_void else str(field.dtype))
            elif isinstance(field, ast.ShapeStructInfo) and field.ndim < 0:
                forms.append("unknown")
    if not _creates(call):
        for field in fields_or_itself(info.get(call, ast.ObjectStructInfo())):
            if isinstance(field, ast.TensorStructInfo):
                forms.append(_form(field))
    return max(forms, key=_FORMS.index), " ".join(types)


def _creates(call: ast.Call) -> bool:
    """Whether its result is made from sizes: TVM then does not need to know its shape before."""
    return isinstance(call.op, ast.Op) and call.op.op_name.removeprefix("relax.") in _CREATES


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


def _unlike(key: str, form: str, types: str) -> tuple[int, int, int]:
    """The distance of a call that TVM was asked about from another one."""
    given, other = types.split(" "), _types(key).split(" ")
    apart = sum(map(_apart, given, other))
    distance = abs(_FORMS.index(form) - _FORMS.index(_form_of(key)))
    return apart, abs(len(given) - len(other)), distance


def _apart(one: str, other: str) -> int:
    """The distance of two element types in TVM's treatment of them."""
    if one == other:
        return 0
    if {one, other} == {"bfloat16", "float32"}:  # it computes the one in the other
        return 1
    return 2 if _kind(one) == _kind(other) else 100


def _kind(type_: str) -> str:
    """The kind of element types that TVM mostly treats alike."""
    return next((k for k in ("float8", "float", "int4", "bool") if type_.startswith(k)), "int")


def _reason(known: Mapping[str, int], key: str) -> tuple[str, str] | None:
    """TVM's failure on a call, and its words; None if it builds it."""
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
    for buffer in dict.fromkeys(
        node.buffer
        for node in walk(function)
        if isinstance(node, tir.BufferLoad | tir.BufferStore) and node.buffer.dtype.is_void
    ):
        yield _error(
            "TVM-type",
            f"the buffer {buffer.name} has no element type; it is a template, which is not built",
            function.span,
            'give the buffer an element type, such as "float32"',
        )


def _thread(span: Span | None) -> Diagnostic:
    return _error(
        "TVM-target",
        "this loop is bound to a thread of a GPU; TVM does not build it for a processor",
        span,
        'build it for a GPU (target="cuda"), or make the loop serial or parallel',
    )


def _intrinsic(call: tir.Call) -> Iterator[Diagnostic]:
    name = call.op
    if name in ("Ramp", "Broadcast") and getattr(call.args[-1], "value", 0) == 1:
        yield _error(
            "TVM-text",
            f"TVM's parser reads no T.{name} of one element",
            call.span,
            "write the element",
        )
    elif name.startswith(_OF_GPUS):
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
    """TVM's answers: for each operator, and for each intrinsic, the number of the reason for which
    it does not build a call; 0 if it does.
    """
    text = files("rlx.tvm").joinpath("built_0_27.json").read_text("utf-8")
    found: dict[str, Any] = json.loads(text)
    found["registered"] = frozenset(found["registered"])
    return found
