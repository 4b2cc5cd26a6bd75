"""Comparison of PrimFuncs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlx.grammar.nodes import tir
from rlx.grammar.nodes.comparison import Path, Special, TreeComparison, require
from rlx.grammar.nodes.node import replace
from rlx.grammar.nodes.visit import shape_vars_of
from rlx.grammar.read.prim_scalars import SCALARS, memory_scope


def _prim_var(run: TreeComparison, a: tir.Var, b: tir.Var, path: Path) -> None:
    require(a.dtype == b.dtype, path, a.dtype, b.dtype)
    run.same(a, b, path)


def counted(attrs: Mapping[str, object], name: str) -> dict[str, object]:
    """The attributes of a function that are compared: those that every spelling writes."""
    implied = {"global_symbol": name}
    return {k: v for k, v in attrs.items() if k != "s_tir" and implied.get(k) != v}


def prim_func(
    run: TreeComparison, a: tir.PrimFunc, b: tir.PrimFunc, path: Path, name: str = ""
) -> None:
    require(len(a.params) == len(b.params), path, f"{len(a.params)}", f"{len(b.params)} parameters")
    run.enter(_implicit(a), _implicit(b), (path, "buffer_map"))
    pairs = list(zip(a.params, b.params, strict=True))
    for i, (x, y) in enumerate(pairs):
        require(x.dtype == y.dtype, ((path, "params"), i), x.dtype, y.dtype)
        require(x.pointee == y.pointee, ((path, "params"), i), x.pointee, y.pointee)
        run.bind(x, y)
    buffers = [
        (a.buffer_map.get(x), b.buffer_map.get(y), ((path, "params"), i))
        for i, (x, y) in enumerate(pairs)
    ]
    run.then(
        lambda: _declare_all(run, buffers),
        (a.ret_type, b.ret_type, (path, "ret_type")),
        (counted(a.attrs, name), counted(b.attrs, name), (path, "attrs")),
        (a.body, b.body, (path, "body")),
    )


def _implicit(function: tir.PrimFunc) -> tuple[tir.Var, ...]:
    """The shape variables that the buffers of the parameters bind."""
    params = set(function.params)
    found = (v for buffer in function.buffer_map.values() for v in shape_vars_of(buffer))
    return tuple(dict.fromkeys(v for v in found if v not in params))


def _declare_all(run: TreeComparison, buffers: list[tuple[Any, Any, Path]]) -> None:
    for a, b, path in buffers:
        if a is None or b is None:
            require(a is b, path, a, b)
        else:
            run.bind(a, b)
    run.then(*(item for a, b, path in buffers if a is not None for item in _contents(a, b, path)))


def _contents(a: tir.Buffer, b: tir.Buffer, path: Path) -> list[tuple[Any, Any, Path]]:
    return [
        (a.shape, b.shape, (path, "shape")),
        (a.dtype, b.dtype, (path, "dtype")),
        (a.attrs, b.attrs, (path, "attrs")),
    ]


def _buffer(run: TreeComparison, a: tir.Buffer, b: tir.Buffer, path: Path) -> None:
    run.same(a, b, path)


def _for(run: TreeComparison, a: tir.For, b: tir.For, path: Path) -> None:
    run.loops[a.loop_var], run.loops[b.loop_var] = a, b
    run.then(
        (a.min, b.min, (path, "min")),
        (a.extent, b.extent, (path, "extent")),
        (a.step, b.step, (path, "step")),
        (a.kind, b.kind, (path, "kind")),
        (a.attrs, b.attrs, (path, "attrs")),
        lambda: run.bind(a.loop_var, b.loop_var),
        (a.body, b.body, (path, "body")),
    )


def _iter_var(run: TreeComparison, a: tir.IterVar, b: tir.IterVar, path: Path) -> None:
    require(a.var.dtype == b.var.dtype, path, a.var.dtype, b.var.dtype)
    doms: tuple[object, object] = (a.dom, b.dom)
    if (a.dom is None) != (b.dom is None):
        doms = (_dom(run, a), _dom(run, b))
    run.then(
        (a.kind, b.kind, (path, "kind")),
        (*doms, (path, "dom")),
        (a.binding, b.binding, (path, "binding")),
        lambda: run.bind(a.var, b.var),
    )


def _dom(run: TreeComparison, axis: tir.IterVar) -> object:
    """The range of an axis, its loop's where it does not say; from zero, only where it ends."""
    if axis.dom is None:
        loop = run.loops.get(axis.binding)
        return None if loop is None or not _is_zero(loop.min) else loop.extent
    return axis.dom[1] if _is_zero(axis.dom[0]) else axis.dom


def _is_zero(expr: tir.PrimExpr) -> bool:
    return isinstance(expr, tir.IntImm) and expr.value == 0


def _block(run: TreeComparison, a: tir.Block, b: tir.Block, path: Path) -> None:
    require(len(a.alloc_buffers) == len(b.alloc_buffers), (path, "alloc_buffers"), a.name, b.name)
    buffers = [
        (x, y, ((path, "alloc_buffers"), i))
        for i, (x, y) in enumerate(zip(a.alloc_buffers, b.alloc_buffers, strict=True))
    ]
    run.then(
        (a.name, b.name, (path, "name")),
        (a.iter_vars, b.iter_vars, (path, "iter_vars")),
        lambda: _declare_all(run, buffers),
        *(
            (getattr(a, f), getattr(b, f), (path, f))
            for f in ("predicate", "reads", "writes", "attrs", "init", "body")
        ),
    )


def _let(run: TreeComparison, a: tir.LetStmt, b: tir.LetStmt, path: Path) -> None:
    require(a.var.dtype == b.var.dtype, path, a.var.dtype, b.var.dtype)
    require(a.var.pointee == b.var.pointee, path, a.var.pointee, b.var.pointee)
    run.then((a.value, b.value, (path, "value")), lambda: run.bind(a.var, b.var))


def _alloc(run: TreeComparison, a: tir.AllocBuffer, b: tir.AllocBuffer, path: Path) -> None:
    (word, left), (other, right) = _memory(a), _memory(b)
    require(word == other, (path, "op"), a.op, b.op)
    run.then(*_contents(left, right, path), lambda: run.bind(a.buffer, b.buffer))


def _memory(stmt: tir.AllocBuffer) -> tuple[str, tir.Buffer]:
    """How a buffer is allocated, in one of the spellings that say the same."""
    scope = memory_scope(stmt)
    if scope is not None:
        return "alloc_buffer", replace(stmt.buffer, attrs={**stmt.buffer.attrs, "scope": scope})
    word = stmt.op.removeprefix("sblock_")  # one word before 0.24
    return "alloc_buffer" if word in SCALARS else word, stmt.buffer


def _with(run: TreeComparison, a: tir.With, b: tir.With, path: Path) -> None:
    left, right = a.var, b.var
    work: list[Any] = [(a.call, b.call, (path, "call"))]
    if left is None or right is None:
        require(left is right, path, left, right)
    else:
        require(left.dtype == right.dtype, path, left.dtype, right.dtype)
        work.append(lambda: run.bind(left, right))
    run.then(*work, (a.body, b.body, (path, "body")))


def _let_expr(run: TreeComparison, a: tir.Let, b: tir.Let, path: Path) -> None:
    require(a.var.dtype == b.var.dtype, path, a.var.dtype, b.var.dtype)
    run.then(
        (a.value, b.value, (path, "value")),
        lambda: run.bind(a.var, b.var),
        (a.body, b.body, (path, "body")),
    )


def _match(run: TreeComparison, a: tir.MatchBuffer, b: tir.MatchBuffer, path: Path) -> None:
    run.then(
        (a.source, b.source, (path, "source")),
        *_contents(a.buffer, b.buffer, path),
        lambda: run.bind(a.buffer, b.buffer),
    )


def _seq(run: TreeComparison, a: tir.SeqStmt, b: tir.SeqStmt, path: Path) -> None:
    run.statements(a, b, path)


SPECIAL: dict[type, Special] = {
    tir.Var: _prim_var,
    tir.Buffer: _buffer,
    tir.PrimFunc: prim_func,
    tir.For: _for,
    tir.IterVar: _iter_var,
    tir.Block: _block,
    tir.LetStmt: _let,
    tir.AllocBuffer: _alloc,
    tir.SeqStmt: _seq,
    tir.With: _with,
    tir.Let: _let_expr,
    tir.MatchBuffer: _match,
}
