"""The function that a run calls."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from rlx.checker.well_formed.functions import is_private
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import INT64
from rlx.grammar.nodes.node import replace
from rlx.grammar.nodes.struct_infos import OBJECT
from rlx.grammar.nodes.unused_names import Names
from rlx.grammar.suggest import misspelt
from rlx.semantics.machine.prim_funcs import writes


class EntryPoint(NamedTuple):
    """A function that is called from outside.

    Attributes
    ----------
    module
        The module that runs; for a PrimFunc with a Relax function of its name that calls it.
    parameters
        The names of the parameters in the order in which they are given.
    """

    module: ast.IRModule
    name: str
    function: ast.Function
    parameters: tuple[str, ...]


class NoEntryError(LookupError):
    """There is no function that can be called; the message says which there are."""


def find_entry(modules: Sequence[ast.IRModule], name: str | None = None) -> EntryPoint:
    """The function of a name; without one ``main``, or the only Relax function, or the only PrimFunc
    that is not private, or of all.

    A PrimFunc is called by a Relax function with its buffers and numbers as parameters, which returns
    the buffers that it may write. Raises NoEntryError if there is no such function, or it is a PrimFunc
    that cannot be called so.
    """
    functions = callable_functions(modules)
    kernels = {
        var.name_hint: (module, function)
        for module in reversed(modules)
        for var, function in module.functions.items()
        if isinstance(function, tir.PrimFunc)
    }
    public = {each: found for each, found in kernels.items() if not is_private(found[1])}
    chosen = default_entry(functions or public or kernels) if name is None else name
    if chosen in functions:
        module, function = functions[chosen]
        return EntryPoint(module, chosen, function, tuple(p.name_hint for p in function.params))
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


def _kernel_entry(module: ast.IRModule, kernel: tir.PrimFunc, name: str) -> EntryPoint:
    taken = [gv.name_hint for gv in module.functions]
    inner = ast.GlobalVar(Names(taken).new(f"{name}_kernel"))
    dims = [dim for buffer in kernel.buffer_map.values() for dim in buffer.shape]
    caller = caller_of(inner, kernel, sorted(writes(kernel)), tir.free_vars(*dims))
    if caller is None:
        raise NoEntryError(
            f"the PrimFunc {name!r} cannot be called by itself: it writes no buffer, takes a handle"
            " that is no buffer, or has sizes that are computed of other numbers than its parameters"
        )
    kernels = replace(module, functions=dict(module.prim_funcs))  # other functions call this one
    changed, function = with_caller(kernels, name, inner, caller)
    return EntryPoint(changed, name, function, tuple(_names(kernel).values()))


def _names(kernel: tir.PrimFunc) -> dict[tir.Var, str]:
    """The names of parameters: those of the buffers, which may be alike."""
    names, buffers = Names(separator="_"), kernel.buffer_map
    return {p: names.new((buffers.get(p) or p).name) for p in kernel.params}


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


def caller_of(
    inner: ast.GlobalVar,
    kernel: tir.PrimFunc,
    written: Sequence[int],
    first: Collection[tir.Var],
) -> ast.Function | None:
    """A function that calls a PrimFunc in place and returns the written parameters. None if no buffer
    is written, if a parameter is a handle and no buffer, or if a dimension has a variable that is
    neither a parameter nor a dimension alone.

    Parameters
    ----------
    first
        The numbers that come first among its own parameters, as sizes of others have to.
    """
    buffers = kernel.buffer_map
    slots = [k for k, param in enumerate(kernel.params) if param in buffers]
    written = [k for k in written if k in slots]  # another PrimFunc may have more
    sizes = {p: tir.Var(p.name, p.dtype) for p in kernel.params if p.dtype.is_integer}
    dims = [dim for buffer in buffers.values() for dim in buffer.shape]
    plain = [dim for dim in dims if isinstance(dim, tir.Var) and dim not in sizes]
    sizes |= {dim: tir.Var(dim.name, INT64) for dim in plain}
    if not written or not sizes.keys() >= {*tir.free_vars(*dims)}:
        return None
    names, given = _names(kernel), dict[tir.Var, ast.Var]()
    for param in sorted(kernel.params, key=lambda each: each not in first):
        buffer = buffers.get(param)
        if buffer is not None:
            shape = [tir.converted(tir.substitute(d, sizes), INT64, None) for d in buffer.shape]
            info = ast.TensorStructInfo(ast.ShapeExpr(tuple(shape)), buffer.dtype, len(shape))
            given[param] = ast.Var(names[param], info)
        elif param.dtype.code == "handle":
            return None
        else:
            var = sizes.get(param)
            given[param] = ast.Var(
                names[param], ast.PrimStructInfo(param.dtype, var), shape_var=var
            )
    args = [given[param] for param in kernel.params]
    call = ast.Call(
        ast.op("relax.call_tir_inplace"),
        (inner, ast.Tuple(tuple(args))),
        {"inplace_indices": tuple(written)},
        tuple(args[k].struct_info_annotation or OBJECT for k in written),
    )
    # an explanation calls what is in the one buffer by its name
    result = ast.Var(args[written[0]].name_hint if len(written) == 1 else "written", None)
    body = ast.SeqExpr((ast.BindingBlock((ast.VarBinding(result, call),)),), result)
    return ast.Function(tuple(given.values()), body, shape_vars=tuple(sizes.values()))
