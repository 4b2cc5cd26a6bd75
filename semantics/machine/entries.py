"""The function that a run calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import NamedTuple

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import INT64
from rlx.grammar.nodes.node import replace
from rlx.grammar.nodes.struct_infos import OBJECT
from rlx.grammar.suggest import misspelt
from rlx.semantics.machine.prim_funcs import writes


class Entry(NamedTuple):
    """A function that is called from outside.

    Attributes
    ----------
    module
        The module that runs; for a PrimFunc with a Relax function of its name that calls it.
    """

    module: ast.IRModule
    name: str
    function: ast.Function


class NoEntryError(LookupError):
    """There is no function that can be called; the message says which there are."""


def find_entry(modules: Sequence[ast.IRModule], name: str | None = None) -> Entry:
    """The function of a name; without one ``main``, or the only Relax function, or the only PrimFunc.

    A PrimFunc is called by a Relax function with its buffers and numbers as parameters, which returns
    the buffers that it may write. Raises NoEntryError if there is no such function, or it is a PrimFunc
    with parameters that are neither.
    """
    functions = callable_functions(modules)
    kernels = {
        var.name_hint: (module, function)
        for module in reversed(modules)
        for var, function in module.functions.items()
        if isinstance(function, tir.PrimFunc)
    }
    chosen = default_entry(functions or kernels) if name is None else name
    if chosen in functions:
        module, function = functions[chosen]
        return Entry(module, chosen, function)
    if chosen in kernels:
        return _kernel_entry(*kernels[chosen], chosen)
    known = {**functions, **kernels}
    words = f"no function {chosen!r}; functions that can be called: {', '.join(known) or 'none'}"
    raise NoEntryError(misspelt(words, chosen, known))


def callable_functions(
    modules: Sequence[ast.IRModule],
) -> dict[str, tuple[ast.IRModule, ast.Function]]:
    """The Relax functions that can be called from outside, by name, each with its module."""
    found: dict[str, tuple[ast.IRModule, ast.Function]] = {}
    for module in modules:
        for var, function in module.relax_functions.items():
            if "global_symbol" in function.attrs:
                found.setdefault(var.name_hint, (module, function))
    return found


def default_entry(functions: Mapping[str, object]) -> str:
    """The function that is called by default: ``main``, or the only one."""
    return next(iter(functions)) if len(functions) == 1 else "main"


def _kernel_entry(module: ast.IRModule, kernel: tir.PrimFunc, name: str) -> Entry:
    written = [p for p in sorted(writes(kernel)) if kernel.params[p] in kernel.buffer_map]
    taken = {gv.name_hint for gv in module.functions}
    inner = ast.GlobalVar(next(x for k in count() if (x := f"{name}_kernel{k or ''}") not in taken))
    caller = pure_caller(inner, kernel, written) or _impure_caller(inner, kernel, name, written)
    changed, function = with_caller(module, name, inner, caller)
    return Entry(changed, name, function)


def with_caller(
    module: ast.IRModule, name: str, inner: ast.GlobalVar, caller: ast.Function
) -> tuple[ast.IRModule, ast.Function]:
    """A module with a function that has the name of the PrimFunc which it calls, and the function."""
    caller = replace(caller, attrs={"global_symbol": name})
    functions: dict[ast.GlobalVar, ast.Function | tir.PrimFunc] = {}
    for gv, function in module.functions.items():
        if gv.name_hint == name:
            attrs = {k: v for k, v in function.attrs.items() if k != "global_symbol"}
            functions[inner] = replace(function, attrs=attrs)
            function = caller
        functions[gv] = function
    return replace(module, functions=functions), caller


def pure_caller(
    inner: ast.GlobalVar, kernel: tir.PrimFunc, written: Sequence[int]
) -> ast.Function | None:
    """A function that calls a PrimFunc in place and returns the written parameters; None if this has
    parameters other than buffers and their sizes behind these, or no buffer that is written.
    """
    buffers = [kernel.buffer_map[p] for p in kernel.params if p in kernel.buffer_map]
    numbers = kernel.params[len(buffers) :]
    dims = [dim for buffer in buffers for dim in buffer.shape]
    sizes = {dim: tir.Var(dim.name, INT64) for dim in dims if isinstance(dim, tir.Var)}
    used = {*numbers, *tir.free_vars(*dims)}
    written = [k for k in written if k < len(buffers)]  # another PrimFunc may have more
    if not written or used - {*sizes} or any(p in kernel.buffer_map for p in numbers):
        return None
    params = [_tensor(buffer, sizes) for buffer in buffers]
    infos = [param.struct_info_annotation or OBJECT for param in params]
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
    body = ast.SeqExpr((ast.BindingBlock((ast.VarBinding(result, call),)),), result)
    return ast.Function(tuple(params), body, shape_vars=tuple(sizes.values()))


def _impure_caller(
    inner: ast.GlobalVar, kernel: tir.PrimFunc, name: str, written: Sequence[int]
) -> ast.Function:
    """The same for numbers that are no sizes, and for any order."""
    sizes = dict(_sizes(kernel))
    given: dict[tir.Var, ast.Var] = {}
    for param in sorted(kernel.params, key=kernel.buffer_map.__contains__):  # sizes come first
        buffer = kernel.buffer_map.get(param)
        if buffer is not None:
            given[param] = _tensor(buffer, sizes)
        elif param.dtype.code == "handle":
            raise NoEntryError(f"the parameter {param.name!r} of {name!r} is a handle, no buffer")
        else:
            var = sizes.get(param)
            given[param] = ast.Var(param.name, ast.PrimStructInfo(param.dtype, var), shape_var=var)
    args = tuple(given[param] for param in kernel.params)
    call = ast.VarBinding(ast.Var("_", ast.TupleStructInfo(())), ast.Call(inner, args))
    changed = [args[k] for k in written]
    result = ast.Var("written", None)
    value = changed[0] if len(changed) == 1 else ast.Tuple(tuple(changed))
    body = ast.SeqExpr((ast.BindingBlock((call, ast.VarBinding(result, value))),), result)
    return ast.Function(tuple(given.values()), body, None, False, shape_vars=tuple(sizes.values()))


def _sizes(kernel: tir.PrimFunc) -> Iterator[tuple[tir.Var, tir.Var]]:
    """The numbers among the parameters, and the variables that dimensions are, with the caller's."""
    numbers = [p for p in kernel.params if p not in kernel.buffer_map and p.dtype.is_integer]
    yield from ((p, tir.Var(p.name, p.dtype)) for p in numbers)
    for buffer in kernel.buffer_map.values():
        for dim in buffer.shape:
            if isinstance(dim, tir.Var) and dim not in numbers:
                yield dim, tir.Var(dim.name, INT64)


def _tensor(buffer: tir.Buffer, sizes: Mapping[tir.Var, tir.PrimExpr]) -> ast.Var:
    """A parameter that a buffer is made of; without a shape if this has numbers of nowhere."""
    dims = [tir.converted(tir.substitute(dim, sizes), INT64, None) for dim in buffer.shape]
    known = sizes.keys() >= {*tir.free_vars(*buffer.shape)}
    shape = ast.ShapeExpr(tuple(dims)) if known else None
    return ast.Var(buffer.name, ast.TensorStructInfo(shape, buffer.dtype, len(dims)))
