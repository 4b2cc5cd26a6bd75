"""The actions of statements inside a PrimFunc. What is not understood is kept as text, with a note."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rlx.grammar import tir
from rlx.grammar.actions import Expressions
from rlx.grammar.dialects import ALLOC_WORDS, BLOCK_ATTR_WORDS, BLOCK_WORDS
from rlx.grammar.dtype import FLOAT32, HANDLE, INT32, INT64, DataType, dtype
from rlx.grammar.lalr import Entry, Rejected
from rlx.grammar.node import Span, replace
from rlx.grammar.partial_nodes import Open, Signature, flatten
from rlx.grammar.prim_scalars import (
    LOCAL,
    SCALARS,
    assignable,
    assigns_lets,
    let_annotation,
    scalar_buffer,
    scalar_type,
    scalar_value,
    stored,
)
from rlx.grammar.unresolved import Form, Name, Sequence, describe

if TYPE_CHECKING:
    from rlx.grammar.ast import Var
    from rlx.grammar.forms import Arguments

NOT_UNDERSTOOD = "this part of a PrimFunc is not understood; it is kept as text"
LOOPS = {
    "range": "serial",
    "T.serial": "serial",
    "T.parallel": "parallel",
    "T.vectorized": "vectorized",
    "T.unroll": "unroll",
    "T.thread_binding": "thread_binding",
}
NO_VALUES = {*LOOPS, "T.grid", "T.reads", "T.writes", "T.where", "T.func_attr", "T.evaluate"}
ENTERED = {"T.attr", "T.launch_thread"}
DECLARATIONS = {"T.decl_buffer", "T.Buffer", "T.alloc_local", "T.alloc_shared", *ALLOC_WORDS}
NO_FRAMES = {"T.reads", "T.writes", "T.where", "T.evaluate", "T.Select", "T.min", "T.max"}
PARTS = {"axis": "T.axis", "attrs": BLOCK_ATTR_WORDS[-1]}
AXES = {
    "T.axis.S": "S",
    "T.axis.R": "R",
    "T.axis.spatial": "S",
    "T.axis.reduce": "R",
    "T.axis.scan": "scan",
    "T.axis.opaque": "opaque",
}


class Part:
    """A statement that describes the block it stands in: an axis, a region, a predicate."""

    __slots__ = ("kind", "span", "value")

    def __init__(self, kind: str, value: Any, span: Span) -> None:
        self.kind = kind
        self.value = value
        self.span = span


class Entered:
    """The head of a `with` that stands around statements, or around those that follow it."""

    __slots__ = ("call", "var")

    def __init__(self, call: tir.Call, var: tir.Var | None) -> None:
        self.call = call
        self.var = var


class PrimStatements(Expressions):
    """Statement actions of PrimFuncs; the parser supplies the reporting."""

    holes: set[Var]

    def error(
        self,
        message: str,
        span: Span,
        help: str | None = None,
        related: Span | None = None,
        layout: bool = False,
    ) -> None:
        """Report a syntax error."""
        raise NotImplementedError

    def note(self, message: str, span: Span, code: str = "PARSE-opaque") -> None:
        """Report something worth knowing."""
        raise NotImplementedError

    def has_errors_in(self, span: Span) -> bool:
        """Whether an error was reported inside a stretch of text."""
        raise NotImplementedError

    def lose(self, start: int, end: int) -> None:
        """Let the names that a lost statement would have bound stand for something."""
        raise NotImplementedError

    def hole(self, name: str, span: Span | None) -> Var:
        """A variable that stands for what could not be read."""
        raise NotImplementedError

    # ------------------------------------------------------------ signatures

    def prim_parameter(self, c: list[Entry]) -> tir.Var:
        name, start, end = c[0]
        span = (start, end)
        value = c[2][0]
        if isinstance(value, Form) and value.head == "T.Buffer":
            buffer = self.buffer(name, value, span)
            handle = tir.Var(name, HANDLE, span)
            self._buffer_map()[handle] = buffer
            self.scope.frame.attrs[" direct"] = True
            self.scope.bind(name, buffer)
            return handle
        data_type = self._annotated_type(c[2])
        var = tir.Var(name, data_type, span)
        self.scope.bind(name, var)
        self.scope.bound.add(var)
        self.scope.frame.bound.append(var)
        # A dimension written before its parameter (`T.Buffer((n,))`, then `n: T.int64`) is that parameter.
        known = self.scope.shapes.get(name)
        if known is not None:
            self.scope.bind(name, self.scope.declare_shape_var(name, span, data_type))
            return known
        return var

    def prim_bare_parameter(self, entry: Entry) -> tir.Var:
        name, start, end = entry
        var = tir.Var(name, HANDLE, (start, end))
        self.scope.bind(name, var)
        return var

    def _annotated_type(self, entry: Entry) -> DataType:
        value, start, end = entry
        if isinstance(value, Form) and value.head.startswith("T."):
            if value.head in ("T.handle", "T.Ptr", "T.let"):
                inner = value.args[0] if value.head == "T.let" and value.args else None
                return HANDLE if inner is None else self._annotated_type(inner)
            return self.coerce.data_type((value.head[2:], start, end))
        if isinstance(value, (Name, str)):
            return self.coerce.data_type(entry)
        raise Rejected(
            f'expected the type of a parameter, such as T.Buffer((n,), "float32"), '
            f"found {describe(value)}",
            start,
            end,
        )

    def _buffer_map(self) -> dict[tir.Var, tir.Buffer]:
        found: Any = self.scope.function_frame().attrs.setdefault(" buffers", {})
        return found  # type: ignore[no-any-return]

    def buffer(self, name: str, form: Form, span: Span, skip: int = 0) -> tir.Buffer:
        """The buffer that a form describes: its shape, its type, and the rest as attributes."""
        args = form.args[skip:]
        keywords = dict(form.keywords)
        shape = keywords.pop("shape", None) or (args[0] if args else None)
        data_type = keywords.pop("dtype", None) or (args[1] if len(args) > 1 else None)
        items: list[Entry] = []
        if shape is not None:
            items = shape[0].items if isinstance(shape[0], Sequence) else [shape]
        attrs = {key: self._buffer_attr(value) for key, value in keywords.items()}
        if len(args) > 2:
            attrs["scope"] = self._buffer_attr(args[2])
        return tir.Buffer(
            name,
            tuple(self.coerce.prim(item, INT32) for item in items),
            FLOAT32 if data_type is None else self.coerce.data_type(data_type),
            attrs,
            span,
        )

    def _buffer_attr(self, entry: Entry) -> object:
        value, start, end = entry
        if isinstance(value, Name) and "." in value.text:
            return tir.OpaqueExpr(value.text, (start, end))
        if isinstance(value, Sequence):
            return tuple(self.coerce.prim(item, INT32) for item in value.items)
        if isinstance(value, (str, bool)) or value is None:
            return value
        return self.coerce.prim(entry, INT32)

    def prim_func(
        self,
        signature: Signature,
        comments: tuple[str, ...],
        attrs: dict[str, object],
        statements: list[Any],
        span: Span,
    ) -> tir.PrimFunc:
        """A PrimFunc from its head and its statements."""
        buffers: Any = attrs.pop(" buffers", {})
        direct = bool(attrs.pop(" direct", False))
        attrs.pop(" unknown", None)
        flags = self._decorator_flags(signature)
        if not flags.get("private") and signature.var is None:
            attrs.setdefault("global_symbol", signature.name)
        return tir.PrimFunc(
            tuple(signature.params),
            self.prim_body(statements),
            signature.ret,
            buffers,
            {**attrs, **flags},
            direct,
            signature.name_span,
            comments,
            span,
        )

    def _decorator_flags(self, signature: Signature) -> dict[str, object]:
        flags: dict[str, object] = {}
        for value, _, _ in signature.decorations:
            if isinstance(value, Form) and value.head.startswith("T."):
                flags.update({k: self.coerce.attr(v) for k, v in value.keywords.items()})
        return {key: value for key, value in flags.items() if value is not False}

    # ------------------------------------------------------------ statements

    def opaque(self, start: int, end: int) -> tir.OpaqueStmt:
        """Lines kept as they stand."""
        line = self.text.rfind("\n", 0, start) + 1
        lead = self.text[line:start]
        width = len(lead.expandtabs(8))
        first, *rest = self.text[start:end].rstrip().split("\n")
        # The first line decides where the statement stands; inside brackets others may be left of it.
        moved = [line.expandtabs(8) for line in rest]
        moved = [line[min(width, len(line) - len(line.lstrip())) :].rstrip() for line in moved]
        text = "\n".join([first.rstrip(), *moved])
        if not self.has_errors_in((start, end)):
            self.note(NOT_UNDERSTOOD, (start, end))
        return tir.OpaqueStmt(text, (start, end))

    def prim_call_by_name(self, arguments: Arguments) -> tir.PrimExpr:
        """A call of a function without `T.` is kept as text."""
        self.note(NOT_UNDERSTOOD, arguments.span)
        return super().prim_call_by_name(arguments)

    def prim_body(self, statements: list[Any], in_block: bool = False) -> tir.Stmt:
        """Statements as one; what describes a block is dropped outside of one."""
        found: list[tir.Stmt] = []
        around: list[tuple[Entered, list[tir.Stmt]]] = []
        for item in statements:
            for part in item if isinstance(item, list) else [item]:
                if isinstance(part, tir.Stmt):
                    found.append(part)
                    if isinstance(part, tir.MatchBuffer) and not in_block:
                        words = "T.match_buffer of a region describes a block, and stands in none"
                        self.error(words, part.span or (0, 0), layout=True)
                elif isinstance(part, Part) and part.kind == "alloc" and not in_block:
                    found.append(part.value)
                elif isinstance(part, Part) and not in_block:
                    word = PARTS.get(part.kind, f"T.{part.kind}")
                    words = f"{word} describes a block, and stands in none"
                    self.error(words, part.span, layout=True)
                elif isinstance(part, Entered):
                    around.append((part, found))
                    found = []
        body = _joined(found)
        while around:
            entered, found = around.pop()
            body = _joined([*found, tir.With(entered.call, entered.var, body, entered.call.span)])
        return body

    def prim_assign(
        self, name: str, where: Span, annotation: Entry | None, value: Entry, span: Span
    ) -> Any:
        found = value[0]
        if isinstance(found, Form):
            if found.head == "T.match_buffer":
                return self._match_buffer(name, found, where, span)
            if found.head in NO_VALUES:
                raise Rejected(f"{found.head} gives no value", value[1], value[2], certain=True)
            if found.head == "T.launch_thread":
                return self.prim_enter(value, [(name, *where)])
            if found.head[2:] in SCALARS:
                return self._declare_scalar(name, found, where, span)
            if found.head == "T.bind" and annotation is None and len(found.args) == 1:
                return self._let(name, where, None, found.args[0], span)
            if found.head in DECLARATIONS:
                return self._declare_buffer(name, found, where, span)
            if found.head == "T.axis.remap" and len(found.args) == 2:
                return self._remap([(name, *where)], found, span)
            if found.head in AXES:
                if len(found.args) != 2:
                    words = f"{found.head} takes an extent and a binding"
                    raise Rejected(words, value[1], value[2], certain=True)
                return self._axis(name, where, AXES[found.head], found.args, span)
            bare = not found.args or found.head == "T.var"
            if found.head.startswith("T.") and bare and annotation is None:
                return self._declare_variable(name, where, found, span)
            if found.head == "TypeVar":
                return None
        if isinstance(found, tir.BufferLoad) and any(
            isinstance(i, (tir.Slice, tir.OpaqueExpr)) for i in found.indices
        ):
            self.scope.bind(name, tir.Var(name, span=where))
            return self.opaque(*span)
        if isinstance(found, str):
            raise Rejected("a scalar is a number, not a text", *value[1:], certain=True)
        known = self.scope.names.get(name)
        if annotation is None:
            buffer = assignable(known)
            if buffer is not None:
                return stored(buffer, self.coerce.prim(value, buffer.dtype), where, span)
            if isinstance(found, tir.Buffer):  # another name for it
                self.scope.bind(name, found)
                return None
            if not assigns_lets(self.text):
                return self._scalar(name, where, self.coerce.prim(value, INT32), span)
            return self._let(name, where, None, value, span)
        form = annotation[0]
        if isinstance(form, (bool, int, float, str)):
            words = f"expected the type of a scalar, such as T.float32, found {describe(form)}"
            raise Rejected(words, annotation[1], annotation[2], certain=True)
        if isinstance(form, Form | Name) and let_annotation(form):
            inner = form.args[0] if isinstance(form, Form) and form.args else None
            return self._let(name, where, inner, value, span)
        if assigns_lets(self.text):
            return self._let(name, where, annotation, value, span)
        data_type = self._annotated_type(annotation)
        if data_type == HANDLE:
            words, help = "a handle cannot be assigned to", "write T.let[T.handle] for it"
            raise Rejected(words, *span, help=help, certain=True)
        buffer = scalar_buffer(name, data_type, where)
        prim = self.coerce.prim(value, data_type)
        self.scope.bind(name, scalar_value(buffer, where))
        if isinstance(prim, tir.OpaqueExpr):
            return self.opaque(*span)
        return [tir.AllocBuffer(buffer, LOCAL, span), stored(buffer, prim, where, span)]

    def _scalar(self, name: str, where: Span, value: tir.PrimExpr, span: Span) -> Any:
        """`t = value`: a scalar that can be assigned to again."""
        data_type = None if isinstance(value, tir.OpaqueExpr) else scalar_type(value)
        if data_type is None:
            self.scope.bind(name, tir.Var(name, span=where))
            return self.opaque(*span)
        buffer = scalar_buffer(name, data_type, where)
        self.scope.bind(name, scalar_value(buffer, where))
        return [tir.AllocBuffer(buffer, LOCAL, span), stored(buffer, value, where, span)]

    def _let(
        self, name: str, where: Span, annotation: Entry | None, value: Entry, span: Span
    ) -> tir.Stmt:
        """A variable that keeps its value; without an annotation it has the type of that."""
        data_type = None if annotation is None else self._annotated_type(annotation)
        prim = self.coerce.prim(value, INT32)
        data_type = scalar_type(prim) if data_type is None else data_type
        if data_type is None or isinstance(prim, tir.OpaqueExpr):
            self.scope.bind(name, tir.Var(name, span=where))
            return self.opaque(*span)
        var = tir.Var(name, data_type, where)
        self.scope.bind(name, var)
        return tir.LetStmt(var, prim, span)

    def prim_declare(self, name: Entry, annotation: Entry, span: Span) -> tir.Stmt:
        """`t: T.float32`: a scalar without a value; `t: T.float32[4]`: a local buffer."""
        text, start, end = name
        form = annotation[0]
        if not isinstance(form, Form | Name) or let_annotation(form):
            return self.opaque(*span)
        items = form.args if isinstance(form, Form) else []
        word = form.head if isinstance(form, Form) else form.text
        data_type = self._annotated_type((Name(word), annotation[1], annotation[2]))
        if data_type == HANDLE:
            return self.opaque(*span)
        if items:
            shape = tuple(self.coerce.prim(item, INT32) for item in items)
            buffer = tir.Buffer(text, shape, data_type, {}, (start, end))
            self.scope.bind(text, buffer)
            return tir.AllocBuffer(buffer, "alloc_local", span)
        buffer = scalar_buffer(text, data_type, (start, end))
        self.scope.bind(text, scalar_value(buffer, (start, end)))
        return tir.AllocBuffer(buffer, LOCAL, span)

    def _declare_variable(self, name: str, where: Span, form: Form, span: Span) -> Any:
        try:  # 2022's T.var says no type: it is a dimension's
            data_type = INT64 if form.head == "T.var" else dtype(form.head[2:])
        except ValueError:
            self.scope.bind(name, tir.Var(name, span=where))
            return self.opaque(*span)
        self.scope.declare_shape_var(name, where, data_type)
        return None

    def _match_buffer(self, name: str, form: Form, where: Span, span: Span) -> Any:
        buffer = self.buffer(name, form, where, skip=1)
        source = form.args[0][0] if form.args else None
        self.scope.bind(name, buffer)
        if isinstance(source, tir.Var):
            first = self._buffer_map().setdefault(source, buffer)
            if first is not buffer:
                words = f"{source.name!r} is matched to {first.name!r} already"
                self.error(f"{words}: a parameter has one buffer, so {name!r} needs another", span)
            return None
        if isinstance(source, tir.BufferLoad):
            return tir.MatchBuffer(buffer, source, where)
        return self.opaque(*span)

    def _declare_buffer(self, name: str, form: Form, where: Span, span: Span) -> Any:
        buffer = self.buffer(name, form, where)
        self.scope.bind(name, buffer)
        if form.head in ALLOC_WORDS and self.scope.frame.kind == "block":
            return Part("alloc", tir.AllocBuffer(buffer, form.head[2:], span), span)
        return tir.AllocBuffer(buffer, form.head[2:], span)

    def _declare_scalar(self, name: str, form: Form, where: Span, span: Span) -> tir.AllocBuffer:
        """`t = T.local_scalar("int32")`: a scalar without a value."""
        given = form.args[0] if form.args else form.keywords.get("dtype")
        memory = form.args[1] if len(form.args) > 1 else form.keywords.get("scope")
        data_type = FLOAT32 if given is None else self.coerce.data_type(given)
        attrs = {} if memory is None else {"scope": self.coerce.text(memory)}
        buffer = replace(scalar_buffer(name, data_type, where), attrs=attrs)
        self.scope.bind(name, scalar_value(buffer, where))
        return tir.AllocBuffer(buffer, form.head[2:], span)

    def _axis(self, name: str, where: Span, kind: str, args: list[Entry], span: Span) -> Part:
        domain = args[0][0]
        binding = self.coerce.prim(args[1], INT32)
        if isinstance(domain, Sequence) and len(domain.items) == 2:
            low, high = (self.coerce.prim(item, INT32) for item in domain.items)
        else:
            high = self.coerce.prim(args[0], INT32)
            low = tir.IntImm(0, _type_or(high, INT32))
        var = tir.Var(name, _type_or(binding, _type_or(high, INT32)), where)
        self.scope.bind(name, var)
        return Part("axis", [tir.IterVar(var, kind, (low, high), binding, span)], span)

    def prim_unpack(self, names: list[Entry], value: Entry, span: Span) -> Any:
        found = value[0]
        if isinstance(found, Form) and found.head == "T.axis.remap" and len(found.args) == 2:
            return self._remap(names, found, span)
        items = found.items if isinstance(found, Sequence) else []
        if len(items) == len(names) and all(_declares(item[0]) for item in items):
            for (name, start, end), item in zip(names, items, strict=True):
                self._declare_variable(name, (start, end), item[0], span)
            return None
        if len(items) == len(names):
            self._all_new(names)
            return flatten(
                [
                    self.prim_assign(name, (start, end), None, item, span)
                    for (name, start, end), item in zip(names, items, strict=True)
                ]
            )
        for name, start, end in names:
            self.scope.bind(name, tir.Var(name, span=(start, end)))
        return self.opaque(*span)

    def _all_new(self, names: list[Entry]) -> None:
        """A tuple of names on the left of `=` binds all of them; none can be assigned to again."""
        for name, start, end in names:
            if assignable(self.scope.names.get(name)) and not assigns_lets(self.text):
                words = f"{name!r} is bound already, and a tuple of names binds all of them"
                raise Rejected(words, start, end, help="assign to one name at a time", certain=True)

    def _remap(self, names: list[Entry], form: Form, span: Span) -> Part:
        kinds = self.coerce.text(form.args[0])
        bindings = form.args[1][0]
        if not isinstance(bindings, Sequence):
            raise Rejected("T.axis.remap of a list that is not written out", *span)
        if not len(kinds) == len(bindings.items) == len(names):
            self.error("T.axis.remap needs a kind and a loop for each axis", span)
            for name, start, end in names:
                self.scope.bind(name, tir.Var(name, INT32, (start, end)))
            return Part("axis", [], span)
        axes: list[tir.IterVar] = []
        for (name, start, end), kind, item in zip(names, kinds, bindings.items, strict=True):
            binding = self.coerce.prim(item, INT32)
            var = tir.Var(name, _type_or(binding, INT32), (start, end))
            self.scope.bind(name, var)
            axes.append(tir.IterVar(var, kind, None, binding, (start, end)))
        return Part("axis", axes, span)

    def prim_store(self, c: list[Entry]) -> Any:
        target = c[0][0]
        span = (c[0][1], c[-1][2])
        if isinstance(target, tir.BufferLoad):
            literal = target.buffer.dtype
            value = c[2][0]
            if isinstance(value, str):
                raise Rejected("a stored value must be a number, not a text", *span, certain=True)
            if isinstance(value, Sequence) or value is None:
                return self.opaque(*span)
            prim = self.coerce.prim(c[2], literal)
            return tir.BufferStore(target.buffer, target.indices, prim, span)
        return self.opaque(*span)

    def prim_augmented(self, c: list[Entry]) -> Any:
        from rlx.grammar import arithmetic

        target, span = c[0][0], (c[0][1], c[-1][2])
        if not isinstance(target, tir.BufferLoad):
            return self.opaque(*span)
        value = arithmetic.binary(self.coerce, c[1][0][:-1], c[0], c[2])
        return tir.BufferStore(target.buffer, target.indices, value, span)

    def prim_expression(self, entry: Entry) -> Any:
        value, start, end = entry
        span = (start, end)
        if isinstance(value, Form):
            match value.head:
                case "T.reads" | "T.writes":
                    return Part(value.head[2:], self._regions(value), span)
                case "T.where":
                    return Part("where", self._operand(value, span), span)
                case head if head in BLOCK_ATTR_WORDS:
                    return Part("attrs", value.args[0][0] if value.args else {}, span)
                case "T.func_attr":
                    self._prim_func_attr(value, span)
                    return None
                case "T.evaluate":
                    return tir.Evaluate(self._operand(value, span), span)
                case "T.match_buffer":
                    return self.opaque(*span)
            return tir.Evaluate(self.coerce.tir_form(value, span), span)
        if isinstance(value, str):
            return None
        if isinstance(value, tir.PrimExpr) and not isinstance(value, tir.OpaqueExpr):
            return tir.Evaluate(value, span)
        return self.opaque(*span)

    def _operand(self, form: Form, span: Span) -> tir.PrimExpr:
        """The one argument of a form."""
        if len(form.args) != 1:
            given = f"{len(form.args)} are given"
            raise Rejected(f"{form.head} takes one argument, {given}", *span, certain=True)
        return self.coerce.prim(form.args[0], INT32)

    def _prim_func_attr(self, form: Form, span: Span) -> None:
        if len(form.args) != 1 or not isinstance(form.args[0][0], dict):
            raise Rejected("T.func_attr takes a dictionary", *span)
        self.scope.function_frame().attrs.update(form.args[0][0])

    def _regions(self, form: Form) -> tuple[tir.PrimExpr, ...]:
        items = form.args
        if len(items) == 1 and isinstance(items[0][0], Sequence):
            items = items[0][0].items
        for value, start, end in items:
            if isinstance(value, (dict, str)):
                raise Rejected(f"{form.head} takes regions of buffers", start, end, certain=True)
        return tuple(self.coerce.prim(item, INT32) for item in items)

    def prim_assert(self, condition: Entry, message: Entry | None, span: Span) -> tir.Stmt:
        """`assert c`, `assert c, "text"`, `assert c, ("RuntimeError", ["part", …])`."""
        found = self.coerce.prim(condition, INT32)
        match None if message is None else message[0]:
            case None:
                return tir.Assert(found, (), None, span)
            case str(text):
                return tir.Assert(found, (text,), None, span)
            case Sequence(items=[(str(kind), _, _), (Sequence(items=parts), _, _)]):
                texts = tuple(part[0] for part in parts)
                if all(isinstance(text, str) for text in texts):
                    return tir.Assert(found, texts, kind, span)
        return self.opaque(*span)

    def prim_return(self, value: Entry, span: Span) -> tir.Stmt:
        """`return e` is `T.ret(e)` of versions before 0.27."""
        return tir.Evaluate(
            tir.Call("ret", (self.coerce.prim(value, INT32),), None, {}, span), span
        )

    def prim_enter(self, head: Entry, names: list[Entry]) -> Any:
        """The head of a `with`, its names bound; one that is not known stays as it is."""
        value, start, end = head
        if isinstance(value, Form) and value.head in ENTERED and len(names) <= 1:
            call = self.coerce.tir_form(value, (start, end))
            assert isinstance(call, tir.Call)
            var = None
            for name, first, last in names:
                data_type = _type_or(call.args[-1], INT32) if call.args else INT32
                var = tir.Var(name, data_type, (first, last))
                self.scope.bind(name, var)
            return Entered(call, var)
        for name, first, last in names:
            self.scope.bind(name, tir.Var(name, span=(first, last)))
        return value

    def prim_if(
        self, condition: Any, then: list[Any], otherwise: list[Any] | None, span: Span
    ) -> tir.Stmt:
        return tir.IfThenElse(
            condition,
            self.prim_body(then),
            None if otherwise is None else self.prim_body(otherwise),
            span,
        )

    def prim_with(self, value: Any, statements: list[Any], span: Span) -> Any:
        if isinstance(value, tuple):
            return self.prim_for(value, statements, span)
        if isinstance(value, Entered):
            return tir.With(value.call, value.var, self.prim_body(statements), span)
        if isinstance(value, Form):
            if value.head in BLOCK_WORDS:
                return self._block(value, statements, span)
            if _is_number(value):
                self.error(f"{value.head} is nothing that statements can stand in", span)
            if value.head == "T.init":
                return Part("init", self.prim_body(statements), span)
        if isinstance(value, tir.PrimExpr):
            self.error("a number is nothing that statements can stand in", span)
        return self.opaque(*span)

    def _block(self, form: Form, statements: list[Any], span: Span) -> tir.Block:
        name = form.args[0][0] if form.args and isinstance(form.args[0][0], str) else ""
        found: dict[str, Any] = {}
        axes: list[tir.IterVar] = []
        buffers: list[tir.Buffer] = []
        attrs: dict[str, object] = {}
        for item in flatten(statements):
            if not isinstance(item, Part):
                continue
            match item.kind:
                case "axis":
                    axes.extend(item.value)
                case "alloc":
                    buffers.append(item.value.buffer)
                case "attrs" if isinstance(item.value, dict):
                    attrs.update(item.value)
                case _:
                    if item.kind in found:
                        self.error(f"T.{item.kind} stands twice in one block", item.span)
                    found[item.kind] = item.value
        return tir.Block(
            name,
            tuple(axes),
            found.get("reads"),
            found.get("writes"),
            found.get("where"),
            tuple(buffers),
            found.get("init"),
            self.prim_body(statements, in_block=True),
            attrs,
            span,
        )

    def prim_for_head(self, c: list[Entry]) -> Open:

        form, span = c[3][0], (c[0][1], c[-1][2])
        names: list[Entry] = c[1][0]
        depth = len(self.scope.frames) + 1
        loops: list[Any] | None = None
        if isinstance(form, tir.Buffer | tir.PrimExpr) or _is_number(form):
            self.error("expected a loop such as T.grid or range", (c[3][1], c[3][2]))
        if isinstance(form, Form):
            loops = self._loops(names, form, (c[1][1], c[3][2]))
        self.scope.open("block")
        for at, (name, start, end) in enumerate(names):
            low, high = loops[at] if loops is not None else (None, None)
            data_type = _type_or(high, INT32) if high is not None else INT32
            if low is not None and not isinstance(low, tir.IntImm):
                data_type = _type_or(low, data_type)
            var = tir.Var(name, data_type, (start, end))
            self.scope.bind(name, var)
            if loops is not None:
                loops[at] = (var, low, high)
        return Open((form, loops), depth, span)

    def _loops(self, names: list[Entry], form: Form, span: Span) -> list[Any] | None:
        """Start and extent for each loop variable, or None for a form that is not known."""
        prim = self.coerce.prim
        count = len(form.args) if form.head == "T.grid" else 1 if form.head in LOOPS else len(names)
        if count != len(names) and (len(names) > 1 or form.head != "T.grid"):
            given = (
                f"{count} loop{'s' * (count != 1)} for {len(names)} name{'s' * (len(names) != 1)}"
            )
            self.error(f"{form.head} makes {given}", span)
            return None
        if form.head == "T.grid" and len(form.args) == len(names):
            highs = [prim(entry, INT32) for entry in form.args]
            return [(tir.IntImm(0, _type_or(high, INT32)), high) for high in highs]
        args = form.args
        if form.head == "T.thread_binding" and len(args) > 1 and isinstance(args[-1][0], str):
            form.keywords["thread"] = args.pop()
        if form.head in LOOPS and not 1 <= len(args) <= 2 + (form.head == "range"):
            self.error(f"{form.head} takes a start and a stop, or a stop alone", span)
            return None
        thread = form.keywords.get("thread", (None, 0, 0))
        if form.head in LOOPS and form.head.endswith("binding") and not isinstance(thread[0], str):
            self.error('T.thread_binding needs a thread, such as thread="threadIdx.x"', span)
        if form.head in LOOPS and len(names) == 1 and 1 <= len(form.args) <= 2:
            if len(form.args) == 1:
                high = prim(form.args[0], INT32)
                return [(tir.IntImm(0, _type_or(high, INT32)), high)]
            low, stop = (prim(entry, INT32) for entry in form.args)
            return [(low, _extent(low, stop))]
        return None

    def prim_for(self, head: Any, statements: list[Any], span: Span) -> Any:
        form, loops = head
        if loops is None:
            return self.opaque(*span)
        body = self.prim_body(statements)
        kind = LOOPS.get(form.head, "serial")
        attrs = {key: self.coerce.attr(value) for key, value in form.keywords.items()}
        for var, low, high in reversed(loops):
            body = tir.For(var, low, high, kind, body, attrs, span)
        return body


def _is_number(value: Any) -> bool:
    """Whether a form is a function of scalars, or describes something: neither a loop nor a frame."""
    return isinstance(value, Form) and (value.head[2:] in tir.AS_OPERAND or value.head in NO_FRAMES)


def _joined(statements: list[tir.Stmt]) -> tir.Stmt:
    return statements[0] if len(statements) == 1 else tir.SeqStmt(tuple(statements))


def _declares(value: Any) -> bool:
    """Whether a value on the right says no more than a type: `T.int32()`, `T.var("int64")`."""
    return isinstance(value, Form) and (not value.args or value.head == "T.var")


def _type_or(value: tir.PrimExpr, default: DataType) -> DataType:
    if isinstance(value, (tir.OpaqueExpr, tir.StringImm)):
        return default
    if isinstance(value, tir.Call) and value.dtype is None:
        return default
    return tir.type_of(value)


def _extent(low: tir.PrimExpr, stop: tir.PrimExpr) -> tir.PrimExpr:
    """How many steps lead from ``low`` to ``stop``."""
    if isinstance(low, tir.IntImm) and isinstance(stop, tir.IntImm):
        return tir.IntImm(stop.value - low.value, stop.dtype, stop.span)
    if isinstance(low, tir.IntImm) and low.value == 0:
        return stop
    return tir.Sub(stop, low, getattr(stop, "span", None))
