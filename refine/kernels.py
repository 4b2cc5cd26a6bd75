"""PrimFuncs that are compared by themselves: as functions of the same names that call them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from itertools import count

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.node import replace
from rlx.refine.lowered import Unreadable, written_parameters


def with_callers(
    before: ast.IRModule, after: ast.IRModule, names: Sequence[str]
) -> tuple[ast.IRModule, ast.IRModule]:
    """Both modules, with a function in place of each PrimFunc of a name that has buffers, and sizes of
    them, as parameters. It returns what the PrimFuncs leave in the buffers that one of them writes.
    """
    for name in names:
        kernels = [f for m in (before, after) if isinstance(f := m[name], tir.PrimFunc)]
        written = set[int]()
        with suppress(Unreadable):
            written.update(*map(written_parameters, kernels))
        taken = {gv.name_hint for m in (before, after) for gv in m.functions}
        inner = next(x for k in count() if (x := f"{name}_loops{k or ''}") not in taken)
        hidden = [ast.GlobalVar(inner) for _ in kernels]
        callers = [_caller(*each, sorted(written)) for each in zip(hidden, kernels, strict=True)]
        match hidden, callers:
            case (gv, other_gv), (ast.Function() as one, ast.Function() as other):
                before, after = _with(before, name, gv, one), _with(after, name, other_gv, other)
    return before, after


def _with(
    module: ast.IRModule, name: str, inner: ast.GlobalVar, caller: ast.Function
) -> ast.IRModule:
    """A module with a function that has the name of the PrimFunc which it calls."""
    functions: dict[ast.GlobalVar, ast.Function | tir.PrimFunc] = {}
    for gv, function in module.functions.items():
        if gv.name_hint == name:
            attrs = {k: v for k, v in function.attrs.items() if k != "global_symbol"}
            functions[inner] = replace(function, attrs=attrs)
            function = replace(caller, attrs={"global_symbol": name})
        functions[gv] = function
    return replace(module, functions=functions)


def _caller(
    inner: ast.GlobalVar, kernel: tir.PrimFunc, written: Sequence[int]
) -> ast.Function | None:
    """A function that calls a PrimFunc; None if it has parameters other than buffers and their sizes
    behind these, or no buffer that is written.
    """
    buffers = [kernel.buffer_map[p] for p in kernel.params if p in kernel.buffer_map]
    numbers = kernel.params[len(buffers) :]
    dims = [dim for buffer in buffers for dim in buffer.shape]
    sizes = {dim: tir.Var(dim.name, dim.dtype) for dim in dims if isinstance(dim, tir.Var)}
    used = {*numbers, *(var for dim in dims for var in tir.free_vars(dim))}
    written = [k for k in written if k < len(buffers)]  # the other PrimFunc may have more
    if not written or used - {*sizes} or any(p in kernel.buffer_map for p in numbers):
        return None
    params, infos = [], []
    for buffer in buffers:
        shape = ast.ShapeExpr(tuple(tir.substitute(dim, sizes) for dim in buffer.shape))
        infos.append(ast.TensorStructInfo(shape, buffer.dtype, len(buffer.shape)))
        params.append(ast.Var(buffer.name, infos[-1]))
    call = ast.Call(
        ast.op("relax.call_tir_inplace"),
        (
            *(inner, ast.Tuple(tuple(params))),
            *([ast.ShapeExpr(tuple(sizes[p] for p in numbers))] if numbers else []),
        ),
        {"inplace_indices": tuple(written)},
        tuple(infos[k] for k in written),
    )
    # an explanation calls what is in the one buffer by its name
    result = ast.Var(params[written[0]].name_hint if len(written) == 1 else "written", None)
    block = ast.BindingBlock((ast.VarBinding(result, call),))
    body = ast.SeqExpr((block,), result)
    return ast.Function(tuple(params), body, shape_vars=tuple(sizes.values()))
