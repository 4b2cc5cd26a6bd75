"""Statements of Relax functions: bindings, casts, declarations, dataflow blocks."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import DataType, dtype
from rlx.grammar.nodes.node import Span, replace
from rlx.grammar.nodes.visit import expressions
from rlx.grammar.read import misspelt
from rlx.grammar.read.coerce import is_shape
from rlx.grammar.read.entries import Entry, Rejected, Token
from rlx.grammar.read.forms_info import without_unknown
from rlx.grammar.read.forms_value import Cast, constant
from rlx.grammar.read.function_bodies import AFTER_RETURN, add_attributes, relax_function
from rlx.grammar.read.lexer import VALUES, no_name, words_of
from rlx.grammar.read.lost_names import lose
from rlx.grammar.read.partial_nodes import (
    NONE,
    BuiltInName,
    Form,
    Name,
    Open,
    Output,
    Return,
    Sequence,
    Signature,
    describe,
    flatten,
    open_scope,
)
from rlx.grammar.read.prim_buffers import declares_size
from rlx.grammar.read.python_syntax import free_names
from rlx.grammar.read.relax_branches import BranchReader
from rlx.grammar.read.reports import ReadContext
from rlx.grammar.read.scope import Frame, export
from rlx.grammar.read.script_vocabulary import is_known
from rlx.grammar.suggest import closest, did_you_mean

NO_CLASS = "expected the name of the class after `cls =`"
_WORD = re.compile(r"\w+")
_NO_LOOPS = "Relax has no loops: use a recursive function or an operator"


class RelaxStatements(BranchReader):
    """Reads the statements of a Relax function, a branch or a dataflow block."""

    def __init__(self, context: ReadContext) -> None:
        self.context = context
        self._declared: list[Entry] = []
        self.scope = context.scope
        self.reports = context.reports
        self.coerce = context.coerce

    # ------------------------------------------------------------ functions

    def parameter(self, name: Entry, annotation: Entry | None) -> ast.Var:
        if annotation is None:
            var = ast.Var(name.value, None, None, name.span)
            self.scope.bind_parameter(var, False)
            return var
        var = ast.Var(name.value, self.context.info(annotation), annotation.span, name.span)
        unquoted = (
            self.scope.shapes.get(name.value) in self.coerce.implicit
        )  # older texts quote dimensions
        is_scalar = isinstance(var.struct_info_annotation, ast.PrimStructInfo)
        of_0_26 = self.context.text.startswith("T.", annotation.start)
        self.scope.bind_parameter(var, of_0_26 or (is_scalar and unquoted))
        return var

    def unknown_parameter(self, name: Entry) -> ast.Var:
        info = ast.ObjectStructInfo(name.span)
        self.coerce.captured.add(info)
        var = ast.Var(name.value, info, name.span, name.span)
        self.scope.bind_parameter(var, False)
        return var

    def function(
        self, signature: Signature, comments: tuple[str, ...], frame: Frame, body: Entry, span: Span
    ) -> ast.Function:
        self._tell_unused(span)
        return relax_function(self.context, signature, comments, frame, body.value, span)

    def _tell_unused(self, span: Span) -> None:
        """Report shape variables that a function declares and does not use: the program keeps no
        trace of them.
        """
        declared = [name for name in self._declared if span[0] <= name.start < span[1]]
        if not declared:
            return
        self._declared = [name for name in self._declared if name.start < span[0]]
        uses = Counter(_WORD.findall(self.context.text_of(span)))
        for name in declared:
            if uses[name.value] == 1:
                words = f"the declaration of {name.value!r} has no effect: nothing uses it"
                self.reports.note(words, name.span, "PARSE-unused")

    def lost(self, given_up: list[Entry], span: Span) -> list[ast.Binding]:
        if self.scope.frame.kind == "dataflow" and _is_output(given_up):
            for var in self.scope.frame.own:  # the names cannot be read: it may be any variable
                export(var)
        return lose(self.context, span, bool(given_up))

    # ------------------------------------------------------------ bindings

    def assign(self, name: Entry, annotation: Entry | None, value: Entry, span: Span) -> Any:
        if annotation is None:
            if self._is_declaration(name, value.value):
                return None
            if name.value == "cls" and "cls" in self.scope.modules:
                raise Rejected(NO_CLASS, *value.span)
            around = self.context.around
            if around is not None and isinstance(value.value, BuiltInName | None):
                around.used.setdefault("", value.span)
                self.scope.bind(name.value, value.value or NONE)
                return None
            return self._bind(name, None, None, value, (name.start, value.end))
        info = without_unknown(self.context.info(annotation), self.scope.unknown)
        return self._bind(name, info, annotation.span, value, span)

    def declare(self, name: Entry, annotation: Entry, span: Span) -> None:
        """`x: R.Tensor`: TVM prints an unbound variable like this before its first use, and refuses
        to read it.
        """
        words = f"this annotation binds no value to {name.value!r}"
        self.reports.error(words, span, help=f"write `{name.value}: … = value`, or remove it")
        if name.value in self.scope.names:
            return
        self.coerce.info(annotation)
        self.scope.bind(name.value, ast.ErrorExpr(False, name.span))

    def _is_declaration(self, name: Entry, value: Any) -> bool:
        """`n = T.int64()`, `cls = Module`: a name is declared, nothing is bound."""
        match value:
            case Form(head=head) if head[:2] == "T." and is_known(head[2:]) and not value.args:
                try:
                    declared = dtype(head[2:])
                except ValueError:
                    return False
                size = declares_size(value)
                known = self.scope.names.get(name.value)
                if isinstance(known, ast.Var) and self.scope.scalar_type(known) is None:
                    words = f"{name.value!r} is a variable: give the dimension another name"
                    self.reports.error(words, name.span, related=known.span)
                self.scope.declare_shape_var(name.value, name.span, declared, size)
                self._declared.append(name)
                return True
            case Form(head="I.meta_var" | "T.meta_var", args=[given], keywords={}):
                self.scope.bind(name.value, given.value)  # a name of the text alone
                return True
            case Form(head="T.var" | "T.Var" | "T.SizeVar"):
                found = self.scope.shape_var(name.value, name.span)
                self.scope.declare_shape_var(
                    name.value, name.span, found.dtype, declares_size(value)
                )
                self._declared.append(name)
                return True
            case Form(head="TypeVar"):
                return True
            case Name(text=text) if text in self.scope.modules:
                self.scope.modules.add(name.value)
                return True
            case Name(text=text) if name.value == "cls":
                self._unknown_module(text, name.end)
                return True
        return False

    def _unknown_module(self, text: str, behind: int) -> None:
        """Report an unknown module after `cls =`."""
        known = sorted(self.scope.modules - {"cls", "self"})
        given = [word for word in known if word != "Module"]
        self.scope.modules.add(text)
        if "" in known:
            return  # the head of the class could not be read
        if self.scope.found_missing():
            return
        at = self.context.text.rfind(text, 0, self.context.text.find("\n", behind))
        help = did_you_mean(closest(text, known) or given[:1])
        self.reports.error(f"{text!r} is not defined", (at, at + len(text)), help)

    def _bind(
        self,
        name: Entry,
        info: ast.StructInfo | None,
        info_span: Span | None,
        value: Entry,
        span: Span,
    ) -> ast.Binding:
        found = value.value
        var = self.scope.new_var(name.value, info, info_span, name.span)
        if info is not None and _is_plain(found):
            self.scope.bind(name.value, var)
            return ast.VarBinding(var, found, value.span, span)
        binding: ast.VarBinding | ast.MatchCast
        if isinstance(found, Cast):
            binding = self._cast(var, found, found.under(info), span)
        else:
            expr = self._value(info, value)
            if is_shape(expr) or expr in self.scope.shape_holders:
                self.scope.shape_holders.add(var)
            if isinstance(expr, ast.Tuple):
                self.scope.tuples[var] = expr
            binding = ast.VarBinding(var, expr, value.span, span)
        if isinstance(binding, ast.MatchCast):
            self.scope.types[var] = binding.struct_info
        elif isinstance(binding.value, ast.Call) and len(binding.value.sinfo_args) == 1:
            self.scope.types[var] = binding.value.sinfo_args[0]
        kind = self._scalar_type(binding)
        if kind is not None:
            self.scope.scalars[var] = kind
        elif info is None and self.scope.may_be_scalar(binding.value):
            self.scope.may_be_scalars.add(var)
        self.scope.bind(name.value, var)
        return binding

    def _cast(
        self, var: ast.Var | None, cast: Cast, target: ast.StructInfo, span: Span
    ) -> ast.MatchCast:
        """The binding of a cast, which binds the shape variables of its target."""
        bound = self.scope.bind_shapes([target])
        written = self.context.text_of(cast.info_span)
        of_2022 = cast.shape_only or written.startswith(("R.Tensor[", "Tensor["))
        if not of_2022:  # `match_shape(x, (n,))` and `R.Tensor[(n,), …]` declare what they bind
            implicit = self.coerce.implicit
            self.coerce.cast_to |= {
                of: implicit[of]
                for of in bound
                if of in implicit and of.name not in self.scope.names
            }
        return ast.MatchCast(
            *(var, cast.value, target, bound, cast.value_span, cast.info_span, span),
            by_shape=cast.shape_only,
        )

    def _scalar_type(self, binding: ast.VarBinding | ast.MatchCast) -> DataType | None:
        """The data type of a bound value, if the text says that it is a scalar."""
        if isinstance(binding, ast.MatchCast):
            info: object = binding.struct_info
            return info.dtype if isinstance(info, ast.PrimStructInfo) else None
        return self._scalar_type_of(binding.value)

    def _scalar_type_of(self, value: ast.Expr) -> DataType | None:
        match value:
            case ast.PrimValue(value=expr):
                return tir.type_of(expr)
            case ast.Var() as other:
                return self.scope.scalar_type(other)
            case ast.TupleGetItem(tuple_value=ast.Var() as of, index=at) if of in self.scope.tuples:
                known = self.scope.tuples[of].fields
                return self._scalar_type_of(known[at]) if 0 <= at < len(known) else None
            case ast.TupleGetItem(tuple_value=ast.Var(struct_info_annotation=info), index=at):
                fields = info.fields if isinstance(info, ast.TupleStructInfo) else ()
                field = fields[at] if 0 <= at < len(fields) else None
                return field.dtype if isinstance(field, ast.PrimStructInfo) else None
        return None

    def _value(self, info: ast.StructInfo | None, value: Entry) -> ast.Expr:
        """A bound value; if it can be read in several ways, its annotation decides."""
        found, span = value.value, value.span
        match info, found:
            case ast.ShapeStructInfo(), Sequence(items=items):
                return ast.ShapeExpr(tuple(self.coerce.prim(item) for item in items), span)
            case ast.PrimStructInfo(dtype=data_type), bool() | int() | float():
                plain = not isinstance(found, bool)
                scalar = self.coerce.prim(value, data_type) if plain else self.coerce.prim(value)
                return ast.PrimValue(scalar, span)
            case _, bool() | int() | float():  # TVM makes a tensor of a bare number
                return constant(self.context, value, None, span)
            case ast.TensorStructInfo(dtype=data_type), ast.Call(
                op=ast.Op(op_name="relax.call_tir" | "relax.call_dps_packed"),
                sinfo_args=(ast.TensorStructInfo(dtype=out) as out_info,),
            ) if out.is_void and not data_type.is_void:
                return replace(found, sinfo_args=(replace(out_info, dtype=data_type),))
        return self.coerce.value(value)

    # ------------------------------------------------------------ several names

    def unpack(self, names: list[Entry], value: Entry, span: Span) -> Any:
        if isinstance(value.value, Sequence) and len(value.value.items) == len(names):
            return [
                self._bind(name, None, None, item, (name.start, item.end))
                for name, item in zip(names, value.value.items, strict=True)
                if not self._is_declaration(name, item.value)
            ]
        cast = value.value
        wanted = cast.info if isinstance(cast, Cast) else None
        if isinstance(wanted, ast.ShapeStructInfo) and wanted.values is None:
            # `n, m = R.match_shape(x.shape)`: the names are shape variables, bound here.
            values = tuple(self.scope.new_shape_var(n.value, n.span) for n in names)
            info = ast.ShapeStructInfo(values, len(values))
            bound = self.scope.bind_shapes([info])
            return ast.MatchCast(
                *(None, cast.value, info, bound, cast.value_span, None, span), by_shape=True
            )
        return self._unpack_variable(names, value)

    def _unpack_variable(self, names: list[Entry], value: Entry) -> list[ast.Binding]:
        """`a, b = t`: the fields of the tuple, in order."""
        found = value.value
        if not isinstance(found, ast.Var):
            shown = ", ".join(name.value for name in names)
            raise Rejected(
                f"cannot unpack this into {len(names)} names",
                *value.span,
                help=f"bind the tuple first: `t = …`, then `{shown} = t`",
            )
        fields = [
            Entry(ast.TupleGetItem(found, at, value.span), *value.span) for at in range(len(names))
        ]
        return [
            self._bind(name, None, None, field, (name.start, value.end))
            for name, field in zip(names, fields, strict=True)
        ]

    # ------------------------------------------------------------ other statements

    def store(self, target: Entry, value: Entry, span: Span) -> Any:
        words = [*words_of(self.context.text, target.span)]
        for word in words:
            if word.value in VALUES:
                raise Rejected(no_name(word.value), word.start, word.end)
        names = _in_brackets(words)
        if names:
            return self.unpack(names, value, span)
        raise Rejected("expected a variable on the left of =", *target.span)

    def augmented(self, target: Entry, operator: str, value: Entry, span: Span) -> Any:
        help = "bind the result to another name: `y = R.add(x, …)`"
        raise Rejected("a Relax variable is bound only once, with =", *span, help=help)

    def expression(self, value: Entry) -> Any:
        found, span = value.value, value.span
        match found:
            case Form(head="R.func_attr"):
                self._func_attr(found, span)
                return None
            case Form(head="R.output" | "R.outputs"):
                return self._output(found, span)
            case str():
                help = "write it as a comment"
                raise Rejected("a string is not a Relax statement", *span, help=help)
            case Cast():
                return self._cast(None, found, found.info, span)
        if not isinstance(found, ast.Expr) or isinstance(found, ast.Var):
            instead = misspelt.call_of_python(found.head) if isinstance(found, Form) else None
            raise Rejected(f"expected a statement, found {describe(found)}", *span, help=instead)
        var = self.scope.new_var("_", None, None, (span[0], span[0]))
        return ast.VarBinding(var, found, span, span)

    def _func_attr(self, form: Form, span: Span) -> None:
        if len(form.args) != 1 or not isinstance(form.args[0].value, dict):
            raise Rejected("R.func_attr takes a dictionary", *span)
        self._refuse_unknown_names(span)
        add_attributes(self.context, "R.func_attr", form.args[0].value, span)

    def _refuse_unknown_names(self, span: Span) -> None:
        """Refuse a statement about a function or a module with a name that nothing binds."""
        known = {*"RTI", "metadata", *self.scope.modules, *self.scope.names, *self.scope.shapes}
        for name, where in free_names(self.context.text, span):
            if name not in known and not self.context.is_around(name):
                raise Rejected(f"{name!r} is not defined", *where, certain=True)

    def returned(self, value: Entry, span: Span) -> Any:
        found = self.coerce.value(value)
        if self.scope.frame.kind == "dataflow":  # as TVM reads it: behind the block
            for var in self.scope.frame.own.intersection(expressions(found)):
                export(var)
        return Return(found, value.span)

    def asserted(self, condition: Entry, message: Entry | None, span: Span) -> Any:
        raise Rejected("Relax has no assert statement: use R.assert_op(…)", *span)

    def open_for(self, names: Entry, loops: Entry, span: Span) -> Open:
        raise Rejected(_NO_LOOPS, *span)

    def close_for(self, head: Open, body: list[Any], span: Span) -> Any:
        raise Rejected(_NO_LOOPS, *span)

    def open_while(self, condition: Entry, span: Span) -> Open:
        raise Rejected(_NO_LOOPS, *span)

    def close_while(self, head: Open, body: list[Any], span: Span) -> Any:
        raise Rejected(_NO_LOOPS, *span)

    # ------------------------------------------------------------ dataflow blocks

    def open_with(self, frame: Entry, names: Entry | None, span: Span) -> Open:
        value = frame.value
        if isinstance(value, ast.ErrorExpr):
            pass  # reported
        elif not isinstance(value, Form) or value.head != "R.dataflow":
            self.reports.error("expected `with R.dataflow():`", frame.span)
        elif value.args or value.keywords:
            self.reports.error("R.dataflow takes no arguments", frame.span)
        elif names is not None:
            self.reports.error("a dataflow block takes no name", names.span)
        return open_scope(self.scope, value, "dataflow", span)

    def close_with(self, head: Open, body: list[Any], span: Span) -> Any:
        """The block made from statements; `R.output`, if present, is the last one, but for a
        `return`, which is moved behind the block.
        """
        own = self.scope.frame.own
        self.scope.keep()
        if self.scope.frame.kind == "dataflow":
            self.reports.error("a dataflow block cannot contain another dataflow block", span)
            self.scope.frame.own |= own  # so that the block around it may export them
            return [item for item in flatten(body) if isinstance(item, ast.Binding)]
        items = flatten(body)
        returned = items.pop() if items and isinstance(items[-1], Return) else None
        output: Output | None = None
        for item in items:
            if output is not None and not is_error(item):
                what = "a second R.output" if isinstance(item, Output) else "a binding"
                if not self.reports.has_errors_in(output.span):  # it may name this binding
                    self.reports.error(
                        f"{what} after the R.output of a dataflow block",
                        item.span,
                        help="end the block with one R.output that lists all variables to export",
                    )
                self.scope.doubtful = item.span
                break
            if isinstance(item, Output):
                output = item
            if isinstance(item, Return):
                self.reports.error(AFTER_RETURN, item.span, layout=True)
        block = ast.DataflowBlock(tuple(i for i in items if isinstance(i, ast.Binding)), span)
        return block if returned is None else [block, returned]

    def _output(self, form: Form, span: Span) -> Output:
        """`R.output(a, b)`: from here on, these are variables of the function."""
        if self.scope.frame.kind != "dataflow":
            help = "make it the last statement of a block under `with R.dataflow():`"
            words = "R.output is used outside a dataflow block"
            raise Rejected(words, *span, help=help, layout=True)
        for name, value in form.keywords.items():
            raise Rejected(f"R.output has no argument {name!r}", *value.span)
        for entry in form.args:
            self._export(entry)
        return Output(span)

    def _export(self, entry: Entry) -> None:
        value, span = entry.value, entry.span
        if isinstance(value, ast.Var) and value in self.scope.frame.own:
            export(value)
        elif isinstance(value, Name):
            own = {var.name_hint: var for var in self.scope.frame.own}
            meant = closest(value.text, reversed(own))
            help = did_you_mean(meant)
            if not self.scope.found_missing():
                self.reports.error(f"{value.text!r} is not defined", span, help)
            for name in meant:
                export(own[name])
            self.scope.missing += not meant  # another one was meant to be exported
            self.scope.bind(value.text, ast.ErrorExpr(False, span))
        elif isinstance(value, ast.ErrorExpr):
            pass
        elif isinstance(value, ast.Var | tir.PrimExpr):
            if value not in self.scope.lost:
                shown = self.context.text_of(span)
                names = sorted({var.name_hint for var in self.scope.frame.own})
                listed = f"its variables are {', '.join(names)}" if 0 < len(names) < 6 else None
                self.reports.error(f"{shown!r} is not bound in this dataflow block", span, listed)
                for var in self.scope.frame.own:  # any of them was meant to be exported
                    export(var)
        else:
            self.reports.error(f"R.output takes variables, not {describe(value)}", span)


def is_error(item: object) -> bool:
    """Whether a statement is one that could not be read."""
    return isinstance(item, ast.VarBinding) and type(item.value) is ast.ErrorExpr


def _is_output(given_up: list[Entry]) -> bool:
    """Whether a lost statement begins as `R.output(…)` does."""
    match given_up[0].value if given_up else None:
        case "R.output(" | "R.outputs(" | Form(head="R.output" | "R.outputs"):
            return True
        case Name(text="R.output" | "R.outputs"):
            return True
    return False


def _is_plain(value: Any) -> bool:
    """Whether a value is a call whose struct info only derivation can tell, as of most operators."""
    return (
        type(value) is ast.Call
        and type(value.op) is ast.Op
        and not value.sinfo_args
        and value.op.op_name != "relax.shape_of"
    )


def _in_brackets(words: list[Token]) -> list[Entry] | None:
    """The names of a target `(a, b)` or `[a, b]`; None if there is anything else."""
    kinds = [word.type for word in words]
    if (kinds[0], kinds[-1]) not in (("LPAR", "RPAR"), ("LSQB", "RSQB")):
        return None
    inside = kinds[1:-1]
    commas = inside[1::2]
    if not commas or {*inside[::2]} != {"NAME"} or {*commas} != {"COMMA"}:
        return None
    return [Entry(word.value, word.start, word.end) for word in words[1:-1:2]]
