"""PrimFuncs that are called by themselves: by a function that has their name, and their buffers as
tensors.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from itertools import count

from rlx.checker.well_formed.functions import is_private
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.node import replace
from rlx.semantics.machine.program import callable_functions


class UnknownWrites(Exception):
    """It is not known what a PrimFunc writes; the message says why."""


def entries(
    modules: Sequence[ast.IRModule], name: str | None
) -> dict[str, tuple[ast.IRModule, ast.Function]]:
    """The functions that can be called from outside, by name, each with its module; those that call
    PrimFuncs only where there are no others, or none of the name.
    """
    found = callable_functions(modules)
    if found and (name is None or name in found):
        return found
    return kernel_entries(modules) | found


def kernel_entries(
    modules: Sequence[ast.IRModule],
) -> dict[str, tuple[ast.IRModule, ast.Function]]:
    """For each PrimFunc that is not private and has no parameters but buffers and their sizes: a function
    of its name that calls it, and returns what it leaves in the buffers that it writes. Each is in a
    module with the PrimFuncs alone.
    """
    found: dict[str, tuple[ast.IRModule, ast.Function]] = {}
    for module in modules:
        kernels = replace(module, functions=dict(module.prim_funcs))
        for gv, kernel in module.prim_funcs.items():
            name = gv.name_hint
            inner = ast.GlobalVar(
                unused(f"{name}_loops", {gv.name_hint for gv in kernels.functions})
            )
            with suppress(UnknownWrites):
                outer = caller(inner, kernel, written_parameters(kernel))
                if outer is not None and not is_private(kernel):
                    made = put_caller(kernels, name, inner, outer)
                    entry = made[name]
                    assert isinstance(entry, ast.Function)
                    found.setdefault(name, (made, entry))
    return found


def why_not(modules: Sequence[ast.IRModule], name: str, known: Collection[str]) -> str:
    """The reason why a function cannot be called, and which ones can."""
    if any(gv.name_hint == name for module in modules for gv in module.prim_funcs):
        why = f"a PrimFunc such as {name!r} is called by a function with R.call_tir; by itself only if"
        why += (
            " it is not private, has only buffers and their sizes, and it is known what it writes"
        )
    else:
        why = f"no function {name!r}"
    return f"{why}; functions that can be called: {', '.join(known) or 'none'}"


def unused(name: str, taken: Collection[str]) -> str:
    """A name, or the name with the first number that makes it another one than those that are taken."""
    return next(x for k in count() if (x := f"{name}{k or ''}") not in taken)


def written_parameters(function: tir.PrimFunc) -> list[int]:
    """The positions of the parameters whose memory a PrimFunc may write. Raises UnknownWrites if it
    is not known which.
    """
    slots = {b: k for k, p in enumerate(function.params) if (b := function.buffer_map.get(p))}
    found: set[int] = set()
    regions: dict[tir.Buffer, tir.Buffer] = {}
    stack: list[tir.Stmt] = [function.body]
    while stack:
        stmt = stack.pop()
        match stmt:
            case tir.BufferStore(buffer=buffer):
                while buffer in regions:
                    buffer = regions[buffer]
                if buffer in slots:
                    found.add(slots[buffer])
            case tir.MatchBuffer(buffer=buffer, source=source):
                regions[buffer] = source.buffer
            case tir.SeqStmt(stmts=stmts):
                stack += stmts[::-1]
            case tir.Block(init=init, body=body):
                stack += [body] if init is None else [body, init]
            case tir.IfThenElse(then_case=then, else_case=other):
                stack += [then] if other is None else [other, then]
            case tir.For(body=body) | tir.While(body=body) | tir.With(body=body):
                stack.append(body)
            case tir.Evaluate(value=tir.Call(op=op)) if op not in _WITHOUT_WRITES:
                raise UnknownWrites(f"a PrimFunc calls T.{op}")
            case tir.LetStmt() | tir.AllocBuffer() | tir.Assert() | tir.Evaluate():
                pass
            case _:
                raise UnknownWrites("a statement of a PrimFunc is not known")
    return sorted(found)


_WITHOUT_WRITES = frozenset(["tvm_storage_sync", "assume", "evaluate", "static_assert", "attr"])


def put_caller(
    module: ast.IRModule, name: str, inner: ast.GlobalVar, outer: ast.Function
) -> ast.IRModule:
    """A module with a function that has the name of the PrimFunc which it calls."""
    functions: dict[ast.GlobalVar, ast.Function | tir.PrimFunc] = {}
    for gv, function in module.functions.items():
        if gv.name_hint == name:
            attrs = {k: v for k, v in function.attrs.items() if k != "global_symbol"}
            functions[inner] = replace(function, attrs=attrs)
            function = replace(outer, attrs={"global_symbol": name})
        functions[gv] = function
    return replace(module, functions=functions)


def caller(
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
