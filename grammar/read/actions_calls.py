"""The actions of calls and subscripts."""

from __future__ import annotations

import math
from contextlib import suppress
from functools import reduce
from typing import Any

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import INT32, VOID
from rlx.grammar.nodes.node import Span
from rlx.grammar.read import misspelt, script_signatures
from rlx.grammar.read.actions_atoms import ExpressionActions, is_element, owned, refuse_attribute
from rlx.grammar.read.coerce import Coerce
from rlx.grammar.read.entries import Entry, Rejected
from rlx.grammar.read.forms import ALIASES, FORMS, METHODS, Arguments
from rlx.grammar.read.partial_nodes import (
    CapturedName,
    Form,
    Keyword,
    Name,
    Sequence,
    Slice,
    describe,
    unfolded,
)
from rlx.grammar.read.prim_scalars import index_type, is_pointer
from rlx.grammar.read.prototype import OPERATORS_OF_2022, PROTOTYPE_OPERATORS, is_prototype
from rlx.grammar.read.reports import NOT_UNDERSTOOD
from rlx.grammar.read.source_tokens import on_one_line
from rlx.grammar.suggest import closest, did_you_mean
from rlx.grammar.wording import counted

_MASKS = {"r": 1, "w": 2, "rw": 3, "wr": 3}


def pointer(
    coerce: Coerce, buffer: tir.Buffer, method: str, arguments: Arguments
) -> tir.Call | None:
    """The intrinsic that a method stands for; None for other methods and other arguments."""
    match method, arguments.positional, arguments.keywords:
        case "ptr_to", [Entry(value=int()) as index], _:
            raise Rejected("ptr_to takes a list of indices", *index.span, certain=True)
        case (("ptr_to" | "vload"), [Entry(value=Sequence(items=items)) as found, *_], _) if (
            buffer.shape and len(items) != len(buffer.shape)
        ):
            words = (
                f"{buffer.name!r} has rank {len(buffer.shape)}, but {len(items)} indices are given"
            )
            raise Rejected(words, *found.span, certain=True)
        case "ptr_to", [indices], {} if isinstance(indices.value, Sequence):
            places = tuple(coerce.prim(item, INT32) for item in indices.value.items)
            load = tir.BufferLoad(buffer, places, indices.span)
            return tir.Call("address_of", (load,), None, {}, arguments.span)
        case "access_ptr", [mask], keywords if keywords.keys() <= {"offset", "extent"}:
            if isinstance(mask.value, str) and set(mask.value) - set("rw"):
                words = f'access_ptr takes "r", "w" or "rw", found "{mask.value}"'
                raise Rejected(words, *mask.span, certain=True)
            kind = _MASKS.get(mask.value) if isinstance(mask.value, str) else None
            counted = index_type(buffer) or INT32
            given = {word: coerce.prim(value, counted) for word, value in keywords.items()}
            given.setdefault("offset", tir.IntImm(0, counted, arguments.span))
            return None if kind is None else _access(buffer, kind, given, arguments)
    return None


def _access(
    buffer: tir.Buffer, mask: int, given: dict[str, tir.PrimExpr], arguments: Arguments
) -> tir.Call:
    span = arguments.span
    offset = given["offset"]
    extent = given.get("extent") or _minus(_extent(buffer, span), offset)
    if buffer.attrs.get("elem_offset") is not None or buffer.attrs.get("offset_factor"):
        start = tir.OpaqueExpr(f"{buffer.name}.elem_offset", span)
        offset = start if tir.is_zero(offset) else tir.Add(start, offset, span)
    kind = tir.Call("type_annotation", (tir.StringImm(str(buffer.dtype), span),), None, {}, span)
    data = tir.OpaqueExpr(f"{buffer.name}.data", span)
    operands = (kind, data, offset, extent, tir.IntImm(mask, INT32, span))
    return tir.Call("tvm_access_ptr", operands, None, {}, span)


def _extent(buffer: tir.Buffer, span: Span) -> tir.PrimExpr:
    """How many elements the memory of a buffer has."""
    factors = list(buffer.shape)
    strides = buffer.attrs.get("strides")
    if isinstance(strides, tuple) and strides:
        stride = strides[0]
        known = isinstance(stride, tir.IntImm)
        factors = [stride if known else tir.OpaqueExpr(f"{buffer.name}.strides[0]", span)]
        factors += buffer.shape[:1]
    sizes = [each for each in factors if not isinstance(each, tir.IntImm)]
    number = math.prod(each.value for each in factors if isinstance(each, tir.IntImm))
    if number != 1 or not sizes:
        sizes.append(tir.IntImm(number, INT32, span))
    return reduce(lambda a, b: tir.Mul(a, b, span), sizes)


def _minus(extent: tir.PrimExpr, offset: tir.PrimExpr) -> tir.PrimExpr:
    if isinstance(extent, tir.IntImm) and isinstance(offset, tir.IntImm):
        return tir.IntImm(extent.value - offset.value, INT32)
    return extent if tir.is_zero(offset) else tir.Sub(extent, offset)


_BUILTINS = ("float", "range", "TypeVar", "len", "print", "int", "bool")

_BARE = frozenset(["Callable", "Shape", "Tensor", "Tuple"])
"""Annotations that texts of 2022 write without the prefix."""

_BY_PLACE = {
    "relax.assert_op": ("condition",),
    "relax.make_closure": ("func", "args"),
    "relax.invoke_closure": ("closure", "args"),
    "relax.invoke_pure_closure": ("closure", "args"),
    "relax.call_builtin_with_ctx": ("func", "args"),
    "relax.vm.call_tir_dyn": ("func", "args"),
    "relax.vm.alloc_storage": ("shape", "runtime_device_index", "dtype", "storage_scope"),
    "relax.vm.alloc_tensor": ("storage", "offset", "shape", "dtype", "runtime_device_ind"),
    "relax.memory.alloc_storage": ("size", "virtual_device_index", "storage_scope", "dtype"),
    "relax.memory.alloc_tensor": ("storage", "offset", "shape", "dtype", "runtime_device_ind"),
    "relax.hint_on_device": ("data",),
    "relax.to_vdevice": ("data",),
    "relax.builtin.alloc_tensor": ("shape", "dtype", "runtime_device_index", "storage_scope"),
    "relax.memory.kill_storage": ("storage",),
    "relax.memory.kill_tensor": ("tensor",),
    "relax.vm.kill_object": ("obj",),
}
"""Operands with their own rules, which refer to them by position."""


class CallActions(ExpressionActions):
    """Actions of constructs with arguments in parentheses."""

    def do_call(self, span: Span, head: Entry, arguments: Entry | None) -> Any:
        return self._call_named(head.value[:-1], (head.start, head.end - 1), arguments, span)

    def _call_named(self, word: str, where: Span, arguments: Entry | None, span: Span) -> Any:
        if word.startswith("R.") and self.scope.in_prim_func():
            words = f"{word} belongs to Relax and has no meaning in a PrimFunc"
            raise Rejected(words, *where, certain=True)
        form = FORMS.get(word)
        given = self._arguments(word, arguments, span)
        if word[1:2] == ".":
            self._bind(given)
        if form is not None:
            return form(self.context, given)
        if "." not in word:
            return self._call_by_name(given, where)
        return self._call_dotted(word, given)

    def _bind(self, given: Arguments) -> None:
        quoted = not self.scope.in_prim_body() or self.scope.in_head
        script_signatures.bind(self.context, given, quoted)

    def _call_dotted(self, head: str, given: Arguments) -> Any:
        """A call of `a.b…` that is no form under this name."""
        word, _, rest = head.partition(".")
        start = given.start
        head_span = (start, start + len(head))
        value = self.scope.owner_named(word)
        if value is not None:
            return self._call_method(Entry(value, start, start + len(word)), rest, given)
        if self.around.holds(word):
            values = [*given.positional, *given.keywords.values()]
            library = self.around.library(word)
            if library and any(isinstance(each.value, ast.Expr) for each in values):
                words = f"`{head}` is a function of {library}, which does not take Relax values"
                raise Rejected(words, *head_span, "use an operator, `R.…`", settled=True)
            return self.around.captured(word, head + "(…)", given.span)
        if word in ALIASES:
            if word == "relax":  # `relax.op.add` is what `R.add` calls
                rest = rest.removeprefix("op.")
            head = given.head = ALIASES[word] + "." + rest
            word = ALIASES[word]
            if word == "T":
                self._bind(given)
            form = FORMS.get(head)
            if form is not None:
                return form(self.context, given)
        if word == "R":
            meant = misspelt.form(head)
            if meant and not self.scope.in_prim_func():
                self.context.misspelt(meant, head_span)
                given.head = meant[0]
                return FORMS[meant[0]](self.context, given)
            return self._operator("relax." + PROTOTYPE_OPERATORS.get(rest, rest), given)
        if word in self.scope.modules and "." not in rest:
            return self._call_expr(self.scope.global_var(rest, head_span), given)
        if word in ("T", "I", "tvm"):
            return Form(head, given.positional, given.keywords)
        if rest in self.scope.global_names:
            self.around.unknown_module(word, start)
            return self._call_expr(self.scope.global_var(rest, head_span), given)
        if self._is_operator_of_2022(head):
            return self._operator("relax." + PROTOTYPE_OPERATORS.get(head, head), given)
        words = f"unknown name {head!r}: expected R.…, T.…, I.… or cls.…"
        raise Rejected(
            words,
            *head_span,
            certain=self.around.not_imported(word),
            help=misspelt.call_of_python(head, self.scope.in_prim_func()),
        )

    def _arguments(self, head: str, listed: Entry | None, span: Span) -> Arguments:
        positional: list[Entry] = []
        keywords: dict[str, Entry] = {}
        named: dict[str, tuple[Span, Span]] = {}
        for item in () if listed is None else listed.value:
            value = item.value
            if type(value) is Keyword:
                name, given = value.name, value.value
                if name in keywords:
                    raise Rejected(f"{name!r} is given twice", *item.span)
                keywords[name] = given
                named[name] = (item.start, item.start + len(name)), given.span
            elif keywords:
                raise Rejected("a positional argument follows a keyword argument", *item.span)
            else:
                positional.append(item)
        found = Arguments(head, positional, keywords, *span)
        found.named = named
        if not self.context.text.startswith(head, span[0]):  # imported under another name
            found.head_end = self.context.text.index("(", *span)
        return found

    def _operator(self, name: str, arguments: Arguments) -> Any:
        coerce = self.coerce
        positional = arguments.positional
        if positional and isinstance(positional[0].value, ast.StructInfo):
            meant = closest(arguments.head, misspelt.ANNOTATIONS)
            if meant:
                self.context.misspelt(meant, arguments.head_span)
                arguments.head = meant[0]
                return FORMS[meant[0]](self.context, arguments)
        names = _BY_PLACE.get(name, ())
        arguments.place(names)
        boxed: dict[int | str, str] = {}
        at = names.index("dtype") if "dtype" in names else len(positional)
        if at < len(positional) and isinstance(positional[at].value, ast.StringImm):
            text, *where = positional[at]
            kind = coerce.data_type(Entry(text.value, *where))
            positional[at] = Entry(ast.DataTypeImm(kind, text.span), *where)
            boxed[at] = "R.str"  # which TVM does not take
        if name == "relax.assert_op":
            if len(positional) == 3 and isinstance(positional[2].value, str):
                arguments.keywords.setdefault("format", positional.pop())
            arguments.unfold(1, "format_args")
        for at, (value, *where) in enumerate(positional):
            if name == "relax.layout_transform" and isinstance(value, tir.OpaqueExpr):
                positional[at] = Entry(ast.PrimValue(value, value.span), *where)  # an index map
        infos, spans = arguments.type_arguments(coerce)
        attrs = {name: coerce.attr(value) for name, value in arguments.keywords.items()}
        return ast.Call(
            ast.op(name),
            tuple(coerce.expr(entry) for entry in positional),
            attrs,
            infos,
            tuple(entry.span for entry in positional),
            spans,
            arguments.span,
            arguments.attribute_spans() if attrs else {},
            arguments.head_span,
            arguments.spelled() | boxed,
        )

    def _call_by_name(self, arguments: Arguments, span: Span) -> Any:
        head = arguments.head
        found = self.scope.look_up(head)
        if found is not None:
            if not isinstance(found, ast.Expr):
                said = describe(found)
                what = said if repr(head) in said else f"{head!r} is {said}, which"
                certain = isinstance(found, tir.Buffer | tir.PrimExpr)
                raise Rejected(f"{what} cannot be called", *span, certain=certain)
            return self._call_expr(found, arguments)
        if head in _OF_PYTHON and not self.scope.in_prim_func():
            self._takes_relax(head, arguments, span)
        if head in _OF_NUMBERS and not self.scope.in_prim_func():
            self._takes_dimensions(head, arguments, span)
        literal = head == "float" and all(
            isinstance(e.value, (str, int, float)) for e in arguments.positional
        )
        if not literal and head != "range" and self.around.holds(head):
            return self.around.captured(head, head + "(…)", arguments.span)
        if head in _OF_SCALARS and self.scope.in_prim_func():
            for given in arguments.positional:
                scalar = isinstance(given.value, tir.BufferLoad | tir.Var | tir.Binary)
                if scalar or isinstance(given.value, tir.Buffer):
                    words = f"Python's `{head}` does not take values of a PrimFunc"
                    raise Rejected(words, *span, f"write {_OF_SCALARS[head]}", settled=True)
        if head in _BUILTINS:
            return _builtin(head, arguments)
        if head in _BARE and not self.scope.in_prim_func():
            arguments.head = f"R.{head}"
            return FORMS[arguments.head](self.context, arguments)
        if self.scope.in_prim_func():  # a function without `T.` is kept as text
            self.context.reports.note(NOT_UNDERSTOOD, arguments.span)
            return tir.OpaqueExpr(on_one_line(self.context.text, arguments.span), arguments.span)
        if self._is_operator_of_2022(head):
            return self._operator("relax." + PROTOTYPE_OPERATORS.get(head, head), arguments)
        return self._call_expr(self.scope.undefined(head, span), arguments)

    def _takes_relax(self, head: str, arguments: Arguments, span: Span) -> None:
        """Reject a function of Python that computes with Relax values."""
        around = self.context.around
        if around is not None and head in around.names():
            return
        given = [entry.value for entry in arguments.positional]
        given += [
            each.value
            for value in given
            if isinstance(value, Sequence) and head != "len"
            for each in value.items
        ]
        if any(isinstance(value, ast.Expr) for value in given):
            several = len(arguments.positional) > 1
            help = f"write {_OF_PYTHON[head][several]}"
            words = f"Python's `{head}` does not take Relax values"
            raise Rejected(words, *span, help, settled=True)

    def _takes_dimensions(self, head: str, arguments: Arguments, span: Span) -> None:
        """Reject a function of Python that computes with dimensions, which only a run knows."""
        around = self.context.around
        if around is not None and head in around.names():
            return
        given = [each.value for each in arguments.positional]
        if any(isinstance(each, tir.Var | tir.Binary) for each in given):
            words = f"Python's `{head}` does not take dimensions that only a run knows"
            raise Rejected(words, *span, f"write {_OF_NUMBERS[head]}", settled=True)

    def _is_operator_of_2022(self, name: str) -> bool:
        """Whether a name that nothing binds is an operator, as the texts of 2022 write them."""
        return name in OPERATORS_OF_2022 and is_prototype(self.context.text)

    def _call_expr(self, callee: ast.Expr, arguments: Arguments) -> ast.Call:
        coerce = self.coerce
        infos, spans = arguments.type_arguments(coerce)
        for name, value in arguments.keywords.items():
            words = f"a call of a function takes no keyword arguments, but {name!r} is given"
            raise Rejected(words, *value.span)
        positional = arguments.positional
        return ast.Call(
            callee,
            tuple(coerce.expr(entry) for entry in positional),
            {},
            infos,
            tuple(entry.span for entry in positional),
            spans,
            arguments.span,
        )

    def _call_method(self, owner: Entry, method: str, arguments: Arguments) -> Any:
        value = owner.value
        name = METHODS.get(method)
        if name is not None and isinstance(value, ast.Expr):
            arguments.positional.insert(0, owner)
            return self._operator(name, arguments)
        if isinstance(value, (tir.Buffer, tir.PrimExpr)):
            match value, method, arguments.positional:
                case tir.Buffer(), _, _:
                    made = pointer(self.coerce, value, method, arguments)
                    if made is not None:
                        return made
                case tir.OpaqueExpr(), _, _:
                    pass
                case _, "astype", [given] if not arguments.keywords:
                    return tir.converted(value, self.coerce.data_type(given), arguments.span)
            refuse_attribute(value, method, arguments.span)
            return tir.OpaqueExpr(on_one_line(self.context.text, arguments.span), arguments.span)
        where = (self.context.text.find(method, owner.end), arguments.head_end)
        meant = did_you_mean(closest(method, METHODS))
        help = meant or misspelt.method(method)
        if self.coerce.text_of(owner.span) == "self" and method in self.scope.global_names:
            help = "remove the parameter 'self': the functions of a module have none"
        raise Rejected(f"a Relax value has no method {method!r}", *where, help=help)

    def do_call_value(self, span: Span, callee: Entry, arguments: Entry | None) -> Any:
        value = callee.value
        if isinstance(value, Name) and value.text in FORMS:  # in brackets: `(T.max)(a, b)`
            return self._call_named(value.text, callee.span, arguments, span)
        given = self._arguments("", arguments, span)
        if isinstance(value, CapturedName):
            return CapturedName(value.text + "(…)")
        if isinstance(value, (ast.Expr, Name)):
            return self._call_expr(self.coerce.expr(callee), given)
        python = self.scope.in_prim_func() and isinstance(value, tir.OpaqueExpr)
        raise Rejected(f"{describe(value)} cannot be called", *callee.span, kept=python)

    def do_method(self, span: Span, owner: Entry, head: Entry, arguments: Entry | None) -> Any:
        name = head.value[:-1]
        if (known := self.around.part_of(owner, f"{name}(…)")) is not None:
            return known
        given = self._arguments(name, arguments, span)
        given.head_end = head.end - 1
        return self._call_method(Entry(owned(self.context, owner), *owner.span), name, given)


_IN_KERNELS = frozenset(["ir.StringImm", "tirx.BufferType"])
"""Parts of PrimFuncs that TVM prints into the metadata: they are no constants of Relax."""

_CAST = ('`R.astype(x, "…")`',) * 2
_OF_PYTHON = {
    **{name: (f"`R.{name}(x)`",) * 2 for name in ("abs", "round")},
    **{name: (f"`R.{name}(x)`", f"`R.{name}imum(x, y)`") for name in ("max", "min")},
    **dict.fromkeys(("float", "int", "bool"), _CAST),
    "sum": ("`R.sum(x)`, or `+`",) * 2,
    "pow": ("`R.power(x, y)`",) * 2,
    "sorted": ("`R.sort(x)`",) * 2,
    "any": ("`R.max(x)`, or `R.logical_or(x, y)`",) * 2,
    "len": ("the dimension, as the annotation names it",) * 2,
    "all": ("`R.min(x)`, or `R.logical_and(x, y)`",) * 2,
}
"""Functions of Python that fail on Relax values, and what computes the same: of one, of several."""


_OF_NUMBERS = {
    **{name: f"`T.{name}(…)`" for name in ("max", "min")},
    **dict.fromkeys(("int", "round", "abs"), "the dimension itself: it is a whole number"),
    **dict.fromkeys(("pow", "divmod", "float", "bool", "str"), "arithmetic: `+ - * // %`"),
}
"""Functions of Python that fail on dimensions, and what to write."""

_OF_SCALARS = {
    **{name: f"`T.{name}(…)`" for name in ("abs", "round", "max", "min", "pow")},
    **dict.fromkeys(("float", "int", "bool"), '`T.Cast("…", x)`'),
    **dict.fromkeys(("sum", "any", "all", "sorted"), "a loop over the elements"),
    "len": "the extent of the axis, such as `A.shape[0]`",
    "enumerate": "`for i in range(n)`",
}
"""Functions of Python that fail on scalars and buffers of a PrimFunc, and what computes the same."""


def _builtin(head: str, arguments: Arguments) -> Any:
    if head == "float" and len(arguments.positional) == 1:
        value = arguments.positional[0].value
        with suppress(ValueError, OverflowError):
            if isinstance(value, (str, int, float)):
                return float(value)
        raise Rejected("float(…) takes a number", *arguments.span)
    return Form(head, arguments.positional, arguments.keywords)


_FULL_NAMES = {"Tensor": "R.Tensor", "Shape": "R.Shape", "Tuple": "R.Tuple"}
"""Annotations that texts of 2022 write without the prefix."""


class SubscriptActions(ExpressionActions):
    """Actions of constructs with arguments in square brackets."""

    def do_subscript(self, span: Span, owner: Entry, subscripts: Entry) -> Any:
        value = owner.value
        items: list[Entry] = subscripts.value
        match value:
            case tir.Buffer():
                # `x[()]` and `x[i, j]` may be written as a tuple
                return tir.BufferLoad(value, self._indices(unfolded(items)), span)
            case Name(text="metadata"):
                return ("metadata", self.coerce.text(items[0]))
            case Name(text="meta"):  # of 2022: `meta[relay.Constant][0]`
                return ("metadata", self.context.text_of(items[0].span))
            case CapturedName() if not self.scope.in_prim_func():
                return CapturedName(self.context.text_of(span))
            case Name():
                return self._subscripted_name(owner, items, span)
            case tuple() if value[0] == "metadata":
                return self._constant(value[1], items[0], span)
            case ast.Expr() if value in self.scope.lost:  # a dictionary of Python, or reported
                return ast.ErrorExpr(False, span)
            case ast.Expr():
                return _get_item(value, items, span)
            case Sequence(items=parts) if len(items) == 1 and all(
                isinstance(part.value, int | float | str) for part in parts
            ):
                return self._item(value, items[0], span)  # of Python's own numbers and texts
            case str() if len(items) == 1:
                return self._item(value, items[0], span)
            case Sequence() if len(items) == 1 and isinstance(items[0].value, Slice):
                return self._item(value, items[0], span)
            case Sequence() if not self.scope.in_prim_func():
                return _get_item(self.coerce.expr(owner), items, span)
        if type(value) is tir.BufferLoad and self.context.text_of(owner.span) == value.buffer.name:
            help = f"write `{value.buffer.name}`"
            words = f"{value.buffer.name!r} is a scalar, not a buffer: it cannot be indexed"
            raise Rejected(words, *span, help, certain=True)
        if type(value) is tir.BufferLoad and is_element(value):
            words = f"an element of {value.buffer.name!r} is a number, which has no elements"
            raise Rejected(words, *span, certain=True)
        if isinstance(value, tir.OpaqueExpr) and is_pointer(value, self.scope.names):
            words, help = "a pointer cannot be indexed", "index the buffer"
            raise Rejected(words, *span, help, certain=True)
        if isinstance(value, tir.PrimExpr):
            return tir.OpaqueExpr(on_one_line(self.context.text, span), span)
        if isinstance(value, Sequence) and len(items) == 1:
            return self._item(value, items[0], span)
        python = isinstance(value, dict | Sequence | str)  # it is computed before TVM sees it
        raise Rejected(f"{describe(value)} cannot be indexed", *span, kept=python)

    def _item(self, value: Sequence | str, at: Entry, span: Span) -> Any:
        """An item of a tuple, a list or a text of Python, or some of them, which Python takes."""
        items = value if isinstance(value, str) else value.items
        match at.value:
            case int(index) if -len(items) <= index < len(items):
                found = items[index]
                return found if isinstance(found, str) else found.value
            case int(index):
                kind = "text" if isinstance(value, str) else "tuple"
                words = f"this {kind} has {counted(len(items), 'item')}, but the index is {index}"
                raise Rejected(words, *span, certain=True)
            case Slice(start=start, stop=stop, step=step):
                ends = [None if end is None else end.value for end in (start, stop, step)]
                if ends[2] == 0:
                    raise Rejected("the step of a slice cannot be zero", *at.span, certain=True)
                if all(end is None or isinstance(end, int) for end in ends):
                    some = items[slice(*ends)]
                    return some if isinstance(some, str) else type(value)(some)
        raise Rejected(f"{describe(value)} cannot be indexed", *span, kept=True)

    def _subscripted_name(self, name: Entry, items: list[Entry], span: Span) -> Any:
        text = self._as_meant(name)
        if text.startswith("T.") and self.scope.in_prim_func():
            return Form(text, items, {})
        form = FORMS.get(text)
        if form is not None:
            return form(self.context, Arguments(text, items, {}, *span))
        if text.startswith("T."):
            return Form(text, items, {})
        if self.scope.in_prim_func():
            if "." in text:
                return tir.OpaqueExpr(on_one_line(self.context.text, span), span)
            unknown = self._unknown_buffer(text, name.span)
            return tir.BufferLoad(unknown, self._indices(items), span)
        return _get_item(self.coerce.expr(name), items, span)

    def _as_meant(self, name: Entry) -> str:
        """The word in front of the brackets,
        as the annotation that it is meant for if it is misspelt.
        """
        text: str = _FULL_NAMES.get(name.value.text, name.value.text)
        if text in FORMS or not self.around.means_nothing(text):
            return text
        meant = closest(text, misspelt.ANNOTATIONS if text.startswith("R.") else _FULL_NAMES)
        if not meant:
            return text
        self.context.misspelt(meant, name.span)
        return _FULL_NAMES.get(meant[0], meant[0])

    def _unknown_buffer(self, name: str, span: Span) -> tir.Buffer:
        """The buffer that a PrimFunc subscripts and nothing declares; one a name and function."""
        unknown = self.scope.function_frame().unknown_buffers
        return unknown.setdefault(name, tir.Buffer(name, (), VOID, {}, span))

    def _indices(self, items: list[Entry]) -> tuple[tir.PrimExpr, ...]:
        found: list[tir.PrimExpr] = []
        for item in items:
            value = item.value
            if not isinstance(value, Slice):
                found.append(self.coerce.prim(item, INT32))
            elif value.start.value is None or value.stop.value is None:
                if value.step is not None:
                    words = "a slice with a step needs its start and its stop"
                    raise Rejected(words, *item.span, certain=True)
                found.append(tir.OpaqueExpr(on_one_line(self.context.text, item.span), item.span))
            else:
                start, stop = (self.coerce.prim(end, INT32) for end in (value.start, value.stop))
                step = None if value.step is None else self.coerce.prim(value.step, INT32)
                found.append(tir.Slice(start, stop, step, item.span))
        return tuple(found)

    def _constant(self, kind: str, item: Entry, span: Span) -> ast.Expr | tir.OpaqueExpr:
        """`metadata["ir.…"][0]`"""
        index = item.value
        known = self.context.metadata.get(kind)
        key = self.context.text_of(span)
        if not isinstance(index, int) or index < 0:
            raise Rejected("expected the number of a constant", *item.span)
        if kind in _IN_KERNELS:
            return tir.OpaqueExpr(key, span)
        if known is None:
            return ast.Constant(ast.Literal(None, VOID, None, key), span)
        if index >= len(known):
            raise Rejected(f"the metadata contains {len(known)} of {kind!r}", *span)
        data = known[index]
        if data is None:
            raise Rejected(f"the metadata of {key} is damaged", *span)
        return ast.Constant(ast.Literal(None, data.dtype, data.shape, key, data.content), span)


def _get_item(value: ast.Expr, items: list[Entry], span: Span) -> Any:
    match items:
        case [Entry(value=bool())]:
            pass
        case [Entry(value=int() as index)] | [Entry(value=tir.IntImm(value=index))]:
            if isinstance(value, ast.Tuple) and -len(value.fields) <= index < 0:
                index += len(value.fields)  # of a tuple that is written out, as in Python
            return ast.TupleGetItem(value, index, span)
    where = (items[0].start, items[-1].end)
    if len(items) > 1 or isinstance(items[0].value, Slice):
        words = "Relax has no slices of tensors in brackets"
        raise Rejected(words, *where, help=f"write `{_strided_slice(value, items)}`")
    words = "the index of a tuple must be an integer literal"
    raise Rejected(words, *where, help="a tensor is indexed by `R.take(x, index, axis=0)`")


def _strided_slice(value: ast.Expr, items: list[Entry]) -> str:
    """The operator for what is sliced in brackets, as far as its bounds are numbers."""
    axes, begin, end = [], [], []
    for axis, item in enumerate(items):
        found = item.value
        first, last = (
            (found.start.value, found.stop.value) if isinstance(found, Slice) else (found, found)
        )
        if isinstance(found, int):
            last = found + 1
        elif first is None and last is None:
            continue
        axes.append(str(axis))
        begin.append(str(first) if isinstance(first, int) else "0" if first is None else "…")
        end.append(str(last) if isinstance(last, int) else "…")
    name = value.name_hint if isinstance(value, ast.Var) else "x"
    bounds = f"begin=[{', '.join(begin)}], end=[{', '.join(end)}]"
    return f"R.strided_slice({name}, axes=[{', '.join(axes)}], {bounds})"
