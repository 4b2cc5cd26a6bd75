"""PrimFuncs as text: statements."""

from __future__ import annotations

from itertools import takewhile

from rlx.grammar.dialects import ALLOC_WORDS, BLOCK_ATTR_WORDS
from rlx.grammar.nodes import tir
from rlx.grammar.nodes.dtype import INT32
from rlx.grammar.nodes.equal import structural_equal
from rlx.grammar.nodes.node import Span, replace
from rlx.grammar.nodes.tir import PrimExpr, Stmt
from rlx.grammar.print.prim import quoted
from rlx.grammar.print.tir_head import FLAGS, PrimHeadPrinter, type_text
from rlx.grammar.read.comments import attach, put
from rlx.grammar.read.prim_scalars import LOCAL, SCALARS, memory_scope

_INDENT = "    "
_ONE_LINE = (
    tir.BufferStore,
    tir.LetStmt,
    tir.AllocBuffer,
    tir.Assert,
    tir.MatchBuffer,
    tir.Evaluate,
)
"""Statements that are printed on one line each."""
_HEADED = (tir.For, tir.Block, tir.IfThenElse, tir.While, tir.With)
"""Statements with a body."""


class PrimFuncPrinter(PrimHeadPrinter):
    """Prints one PrimFunc."""

    _heading: str | None = None
    """The comment behind the head of the statement that is printed next."""

    def print(self, name: str, pad: str) -> list[str]:
        """The lines of the function, each prefixed with ``pad``."""
        function = self.function
        (above, behind), definition = self.remarks.heads("def ", function.span)
        self._remarks(function.span, pad)
        self.lines += [f"{pad}{line}" for line in (*above, *function.comments)]
        put(self.lines, f"@T.prim_func{self._flags()}", pad, ([], behind))
        params = ", ".join([self._param(p) for p in function.params])
        ret = " -> None" if function.returns_none else ""
        if function.ret_type is not None:
            ret = f" -> T.{function.ret_type}"
        put(self.lines, f"def {name}({params}){ret}:", pad, definition)
        inner = pad + _INDENT
        attrs = {
            k: v
            for k, v in function.attrs.items()
            if k not in FLAGS and not (k == "global_symbol" and v == name)
        }
        if attrs:
            shown = f"T.func_attr({self.prim.value(attrs)})"
            put(self.lines, shown, inner, self.remarks.named("T.func_attr", function.span))
        self._declare(inner)
        root = isinstance(function.body, tir.Block) and function.body.name == "root"
        if self.scope.has_blocks and not root:
            self.lines.append(f'{inner}# with {self.dialect.block}("root"):')
        self._body(function.body, inner)
        return self.lines

    # ------------------------------------------------------------------ statements

    def _body(self, stmt: Stmt, pad: str) -> None:
        before = len(self.lines)
        self._stmt(stmt, pad)
        if len(self.lines) == before:
            self.lines.append(f"{pad}pass")

    def _stmt(self, stmt: Stmt, pad: str) -> None:
        span = stmt.span  # type: ignore[attr-defined]
        comment = None
        if span is not None and self.remarks.left:
            if isinstance(stmt, tir.OpaqueStmt):
                self.remarks.drop(span)
            if isinstance(stmt, _ONE_LINE):
                comment = self.remarks.behind(span)
            elif isinstance(stmt, _HEADED):
                self._heading = self.remarks.line(span[0])
            self._remarks(span, pad)
        at = len(self.lines)
        self._statement(stmt, pad)
        attach(self.lines, at, comment, pad)

    def _statement(self, stmt: Stmt, pad: str) -> None:
        text = self.prim.text
        match stmt:
            case tir.SeqStmt(stmts=stmts):
                self._sequence(stmts, pad)
            case tir.BufferStore(buffer=buffer, indices=indices, value=value):
                target = text(tir.BufferLoad(buffer, indices))
                self.lines.append(f"{pad}{target} = {self.prim.alone(value, buffer.dtype)}")
            case tir.For():
                self._for(stmt, pad)
            case tir.Block():
                self._block(stmt, pad)
            case tir.IfThenElse():
                self._if(stmt, pad)
            case tir.While(condition=condition, body=body):
                self._head(f"while {self.prim.alone(condition)}:", pad)
                self._body(body, pad + _INDENT)
            case tir.LetStmt(var=var, value=value):
                dtype = type_text(var)
                if self.dialect.mutable_scalars:
                    dtype = f"T.let[{dtype}]"
                name = self._name(var)
                self.lines.append(f"{pad}{name}: {dtype} = {self.prim.alone(value, INT32)}")
            case tir.AllocBuffer():
                self._allocate(stmt, pad)
            case tir.Assert():
                self._assert(stmt, pad)
            case tir.With(call=call, var=var, body=body):
                name = "" if var is None else f" as {self._name(var)}"
                self._head(f"with {text(call)}{name}:", pad)
                self._body(body, pad + _INDENT)
            case tir.MatchBuffer(buffer=buffer, source=source):
                name = self._name(buffer)
                head = f"{name} = T.match_buffer({text(source)}, "
                self.lines.append(f"{pad}{head}{self._buffer(buffer)})")
            case tir.Evaluate(value=value):
                self._evaluate(value, pad)
            case tir.OpaqueStmt(text=lines):
                self.lines += [pad + line if line else "" for line in lines.split("\n")]

    def _evaluate(self, value: tir.PrimExpr, pad: str) -> None:
        match value:
            case tir.Call(op="ret", args=(given,)) if self.dialect.type_vars:
                self.lines.append(f"{pad}return {self.prim.text(given)}")
                return
        shown = self.prim.text(value)
        is_call = isinstance(value, tir.Call) and shown.startswith(f"T.{value.op}(")
        self.lines.append(pad + (shown if is_call else f"T.evaluate({shown})"))

    def _sequence(self, stmts: tuple[Stmt, ...], pad: str) -> None:
        """Statements one after the other; a scalar and its first value are one line."""
        at = 0
        while at < len(stmts):
            match stmts[at : at + 2]:
                case (
                    tir.AllocBuffer(buffer=buffer, op=op),
                    tir.BufferStore(buffer=target) as first,
                ) if (
                    target is buffer
                    and op == LOCAL
                    and buffer in self.prim.scalars
                    and not _mentions(first.value, buffer)
                ):
                    comment = self.remarks.behind(first.span)
                    self._remarks(first.span, pad)
                    value = self.prim.alone(first.value, buffer.dtype)
                    self.lines.append(f"{pad}{self._scalar(buffer)} = {value}")
                    attach(self.lines, len(self.lines) - 1, comment, pad)
                    at += 2
                case _:
                    self._stmt(stmts[at], pad)
                    at += 1

    def _remarks(self, span: Span | None, pad: str) -> None:
        if span is not None:
            self.lines += [pad + remark for remark in self.remarks.before(span[0])]

    def _head(self, line: str, pad: str) -> None:
        """The head of a block, with the comment behind it."""
        put(self.lines, line, pad, ([], self._heading))
        self._heading = None

    def _scalar(self, buffer: tir.Buffer) -> str:
        return f"{self._name(buffer)}: T.{buffer.dtype}"

    def _assert(self, stmt: tir.Assert, pad: str) -> None:
        parts = [quoted(part) for part in stmt.message]
        message = "".join(f", {part}" for part in parts)
        if stmt.kind is not None:
            message = f", ({quoted(stmt.kind)}, [{', '.join(parts)}])"
        self.lines.append(f"{pad}assert {self.prim.alone(stmt.condition)}{message}")

    def _if(self, stmt: tir.IfThenElse, pad: str) -> None:
        word, branch = "if", stmt
        self._head(f"if {self.prim.alone(branch.condition)}:", pad)
        while True:
            if word == "elif":
                line = f"elif {self.prim.alone(branch.condition)}:"
                put(self.lines, line, pad, self.remarks.named("elif", stmt.span))
            self._body(branch.then_case, pad + _INDENT)
            match branch.else_case:
                case None:
                    return
                case tir.IfThenElse() as chained:
                    word, branch = "elif", chained
                case otherwise:
                    put(self.lines, "else:", pad, self.remarks.named("else", stmt.span))
                    self._body(otherwise, pad + _INDENT)
                    return

    def _allocate(self, stmt: tir.AllocBuffer, pad: str) -> None:
        op, buffer = stmt.op, stmt.buffer
        name = self._name(buffer)
        if buffer in self.prim.scalars:
            made = f"{name} = T.{op}({self._scalar_arguments(buffer)})"
            self.lines.append(pad + (self._scalar(buffer) if op == LOCAL else made))
            return
        scope = memory_scope(stmt)
        if op in SCALARS or (scope is not None and not self.dialect.mutable_scalars):
            attrs = buffer.attrs if scope is None else {**buffer.attrs, "scope": scope}
            op, buffer = "alloc_buffer", replace(buffer, attrs=attrs)
        arguments = self._buffer(buffer, always=False)
        self.lines.append(f"{pad}{name} = {self._alloc_word(op)}({arguments})")

    def _scalar_arguments(self, buffer: tir.Buffer) -> str:
        scope = [self.prim.value(value) for value in buffer.attrs.values()]
        return ", ".join([quoted(str(buffer.dtype)), *scope])

    def _alloc_word(self, op: str) -> str:
        """Before 0.24 one word allocates everywhere, since then blocks have their own."""
        block_word = self.dialect.alloc_buffer
        if op == ALLOC_WORDS[-1].removeprefix("T."):
            return block_word
        old = (
            op == "alloc_buffer" and self.scope.has_blocks and not self.function.attrs.get("s_tir")
        )
        return block_word if old else f"T.{op}"

    # ------------------------------------------------------------------ loops and blocks

    def _for(self, stmt: tir.For, pad: str) -> None:
        loops = self._grid(stmt)
        self.loops.update((loop.loop_var, loop) for loop in loops)
        if len(loops) > 1:
            names = ", ".join([self._name(v.loop_var) for v in loops])
            extents = self.prim.texts(tuple(v.extent for v in loops))
            self._head(f"for {names} in T.grid({extents}):", pad)
        else:
            name = self._name(stmt.loop_var)
            self._head(f"for {name} in {self._range(stmt)}:", pad)
        self._body(loops[-1].body, pad + _INDENT)

    def _grid(self, stmt: tir.For) -> list[tir.For]:
        """The loops that one ``T.grid`` can stand for:
        plain, from zero, of independent extents and names.
        """
        loops = [stmt]
        if not _is_plain(stmt):
            return loops
        names = {self._name(stmt.loop_var)}
        while isinstance(inner := loops[-1].body, tir.For) and _is_plain(inner):
            outer = {loop.loop_var for loop in loops}
            if any(v in outer for v in tir.free_vars(inner.extent)):
                break
            if self._name(inner.loop_var) in names:
                break
            names.add(self._name(inner.loop_var))
            loops.append(inner)
        return loops

    def _range(self, loop: tir.For) -> str:
        word = "range" if loop.kind == "serial" and not loop.attrs else f"T.{loop.kind}"
        bounds: list[str] = [self.prim.text(loop.extent)]
        if not tir.is_zero(loop.min) or loop.step is not None:
            bounds = [self.prim.text(loop.min), self.prim.text(_stop(loop.min, loop.extent))]
        named = [f"{key}={self._attr(value)}" for key, value in loop.attrs.items()]
        if loop.step is not None:
            step = self.prim.text(loop.step)
            bounds.append(step if word == "range" else f"step={step}")
        return f"{word}({', '.join(bounds + named)})"

    def _attr(self, value: object) -> str:
        return self.prim.text(value) if isinstance(value, PrimExpr) else self.prim.value(value)

    def _block(self, block: tir.Block, pad: str) -> None:
        self._head(f"with {self.dialect.block}({quoted(block.name)}):", pad)
        named = self.remarks.named
        inner, text = pad + _INDENT, self.prim.text
        before = len(self.lines)
        self._axes(block.iter_vars, inner)
        body, early = block.body, _declared_early(block)
        for stmt in early:
            self._stmt(stmt, inner)
        if early and isinstance(body, tir.SeqStmt):
            body = replace(body, stmts=body.stmts[len(early) :])
        if block.predicate is not None:
            shown = f"T.where({text(block.predicate)})"
            put(self.lines, shown, inner, named("T.where", block.span))
        for word, regions in (("reads", block.reads), ("writes", block.writes)):
            if regions is not None:
                span = regions[-1].span if regions else None  # type: ignore[attr-defined]
                comment = self.remarks.behind(span, whole=False)
                self._remarks(span, inner)
                self.lines.append(f"{inner}T.{word}({self.prim.texts(regions)})")
                attach(self.lines, len(self.lines) - 1, comment, inner)
        if block.attrs:
            attrs = self.prim.value(dict(block.attrs))
            shown = f"{self.dialect.block_attr}({attrs})"
            put(self.lines, shown, inner, named(BLOCK_ATTR_WORDS, block.span))
        for buffer in block.alloc_buffers:
            name = self._name(buffer)
            arguments = self._buffer(buffer, always=False)
            shown = f"{name} = {self.dialect.alloc_buffer}({arguments})"
            put(self.lines, shown, inner, named(f"{buffer.name} = T.", block.span))
        if block.init is not None:
            put(self.lines, "with T.init():", inner, named("with T.init", block.span))
            self._body(block.init, inner + _INDENT)
        self._stmt(body, inner)
        if len(self.lines) == before:
            self.lines.append(f"{inner}pass")

    def _axes(self, axes: tuple[tir.IterVar, ...], pad: str) -> None:
        at = 0
        while at < len(axes):
            run = at
            while run < len(axes) and axes[run].dom is None and axes[run].kind in _AXIS:
                run += 1
            if run > at + 1:
                group = axes[at:run]
                comment = self.remarks.behind(group[-1].span, whole=False)
                self._remarks(group[0].span, pad)
                names = ", ".join([self._name(a.var) for a in group])
                kinds = "".join([a.kind for a in group])
                bound = self.prim.texts(tuple(a.binding for a in group))
                self.lines.append(f'{pad}{names} = T.axis.remap("{kinds}", [{bound}])')
                attach(self.lines, len(self.lines) - 1, comment, pad)
                at = run
            else:
                comment = self.remarks.behind(axes[at].span)
                self._remarks(axes[at].span, pad)
                axis = axes[at]
                name = self._name(axis.var)
                kind = _AXIS.get(axis.kind, axis.kind)
                start, stop = axis.dom or self._loop_range(axis.binding)
                dom = (
                    self.prim.text(stop) if tir.is_zero(start) else self.prim.tupled((start, stop))
                )
                self.lines.append(
                    f"{pad}{name} = T.axis.{kind}({dom}, {self.prim.text(axis.binding)})"
                )
                attach(self.lines, len(self.lines) - 1, comment, pad)
                at += 1

    def _loop_range(self, binding: PrimExpr) -> tuple[PrimExpr, PrimExpr]:
        """The range of an axis that leaves it to its loop;
        ``T.axis.remap`` needs two axes at least.
        """
        loop = self.loops.get(binding)
        if loop is None:
            return binding, binding
        return loop.min, loop.extent if tir.is_zero(loop.min) else _stop(loop.min, loop.extent)


def _declared_early(block: tir.Block) -> tuple[tir.Stmt, ...]:
    """The first statements of a block as far as they declare buffers that it says it reads or
    writes.
    """
    said = {
        load.buffer
        for region in (*(block.reads or ()), *(block.writes or ()))
        for load in tir.postorder(region)
        if isinstance(load, tir.BufferLoad)
    }
    stmts = block.body.stmts if isinstance(block.body, tir.SeqStmt) else ()
    return tuple(takewhile(lambda s: isinstance(s, tir.AllocBuffer) and s.buffer in said, stmts))


_AXIS = {"S": "spatial", "R": "reduce"}


def _mentions(expr: PrimExpr, buffer: tir.Buffer) -> bool:
    return any(isinstance(e, tir.BufferLoad) and e.buffer is buffer for e in tir.postorder(expr))


def _stop(start: PrimExpr, extent: PrimExpr) -> PrimExpr:
    """The end of a loop; an extent that was read as ``stop - start`` gives it."""
    if isinstance(extent, tir.Sub) and structural_equal(extent.b, start):
        return extent.a
    if isinstance(start, tir.IntImm) and isinstance(extent, tir.IntImm):
        return tir.IntImm(start.value + extent.value, extent.dtype)
    return tir.Add(start, extent)


def _is_plain(loop: tir.For) -> bool:
    plain = loop.kind == "serial" and not loop.attrs and loop.step is None
    return plain and tir.is_zero(loop.min)
