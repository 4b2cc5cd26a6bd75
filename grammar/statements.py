"""The actions of simple statements; those of PrimFuncs are in :mod:`rlx.grammar.prim_statements`."""

from __future__ import annotations

from typing import Any

from rlx.grammar import ast, tir
from rlx.grammar.dtype import DataType, dtype
from rlx.grammar.forms_info import without_unknown
from rlx.grammar.forms_value import Cast, constant, is_shape
from rlx.grammar.lalr import Entry, Rejected
from rlx.grammar.node import Span, replace
from rlx.grammar.partial_nodes import ModuleStatement, Output, Return, flatten
from rlx.grammar.prim_statements import PrimStatements
from rlx.grammar.scope import Scope
from rlx.grammar.suggest import closest, did_you_mean
from rlx.grammar.unresolved import Form, Name, Sequence, describe


class Statements(PrimStatements):
    """Statements of one line, and the blocks they form."""

    def __init__(self, text: str, scope: Scope) -> None:
        super().__init__(text, scope)
        self._inner: list[ast.Var] = []
        self._layout_is_broken = False

    # ------------------------------------------------------------ blocks

    def do_indented(self, c: list[Entry]) -> list[Any]:
        statements: list[Any] = c[2][0]
        return statements

    def do_inline(self, c: list[Entry]) -> list[Any]:
        return flatten([c[0][0]])

    def do_statements(self, c: list[Entry]) -> list[Any]:
        if len(c) == 1:
            return [c[0][0]]
        items: list[Any] = c[0][0]
        items.append(c[1][0])
        return items

    def do_several(self, c: list[Entry]) -> list[Any]:
        return flatten([value for value, _, _ in (c[0], *c[2:])])

    def do_line(self, c: list[Entry]) -> Any:
        return c[0][0]

    # ------------------------------------------------------------ simple statements

    def do_assign(self, c: list[Entry]) -> Any:
        name, start, _ = c[0]
        value = c[1]
        where = (start, start + len(name))
        kind = self.scope.frames[-1].kind
        if kind == "module":
            raise _outside(c[0], c[-1])
        if kind in ("prim_func", "block"):
            return self.prim_assign(name, where, None, value, (c[0][1], c[-1][2]))
        if self._is_declaration(name, where, value[0]):
            return None
        return self._bind(name, where, None, None, value, (start, value[2]))

    def do_annotated(self, c: list[Entry]) -> Any:
        return self._annotated(c[0], c[2], c[4], (c[0][1], c[-1][2]))

    def do_annotated_by_name(self, c: list[Entry]) -> Any:
        text, start, _ = c[2]
        annotation = (Name(text), start, start + len(text))
        return self._annotated(c[0], annotation, c[3], (c[0][1], c[-1][2]))

    def _annotated(self, name: Entry, annotation: Entry, value: Entry, span: Span) -> Any:
        where = (name[1], name[2])
        kind = self.scope.frames[-1].kind
        if kind == "module":
            raise _outside(name, value)
        if kind in ("prim_func", "block"):
            return self.prim_assign(name[0], where, annotation, value, span)
        info = without_unknown(self.coerce.info(annotation), self.scope.unknown)
        return self._bind(name[0], where, info, (annotation[1], annotation[2]), value, span)

    def do_declare(self, c: list[Entry]) -> Any:
        if self.scope.frame.kind in ("prim_func", "block"):
            return self.prim_declare(c[0], c[2], (c[0][1], c[-1][2]))
        # TVM prints a variable that nothing binds like this in front of its first use.
        name, start, end = c[0]
        info = self.coerce.info(c[2])
        self.scope.bind(name, self._new_var(name, info, (c[2][1], c[2][2]), (start, end)))
        return None

    def _is_declaration(self, name: str, where: Span, value: Any) -> bool:
        """`n = T.int64()`, `cls = Module`: a name is declared, nothing is bound."""
        match value:
            case Form(head=head) if head.startswith("T.") and not value.args:
                try:
                    declared = dtype(head[2:])
                except ValueError:
                    return False
                self.scope.declare_shape_var(name, where, declared)
                return True
            case Form(head="T.var" | "T.Var"):
                self.scope.shape_var(name, where)
                return True
            case Form(head="TypeVar"):
                return True
            case Name(text=text) if text in self.scope.modules:
                self.scope.modules.add(name)
                return True
            case Name(text=text) if name == "cls":
                known = sorted(self.scope.modules - {"cls", "self"})
                self.scope.modules.add(text)
                at = self.text.rfind(text, 0, self.text.find("\n", where[1]))
                given = [word for word in known if word != "Module"]
                help = did_you_mean(closest(text, known) or given[:1])
                self.error(f"{text!r} is not defined", (at, at + len(text)), help)
                return True
        return False

    def _new_var(
        self, name: str, info: ast.StructInfo | None, info_span: Span | None, where: Span
    ) -> ast.Var:
        frame = self.scope.frame
        if frame.kind != "dataflow":
            return ast.Var(name, info, info_span, where)
        var = ast.DataflowVar(name, info, info_span, where)
        frame.own.add(var)
        self._inner.append(var)
        if self._layout_is_broken:
            self.excuse_dataflow()
        return var

    def begin_dataflow(self) -> None:
        """A function begins: nothing is known yet of its dataflow variables."""
        self._inner = []
        self._layout_is_broken = False

    def excuse_dataflow(self) -> None:
        """Where the layout is broken, nobody knows which variables are used outside of their block."""
        self._layout_is_broken = True
        for var in self._inner:
            object.__setattr__(var, "__class__", ast.Var)
        self._inner.clear()

    def _bind(
        self,
        name: str,
        where: Span,
        info: ast.StructInfo | None,
        info_span: Span | None,
        value: Entry,
        span: Span,
    ) -> ast.Binding:
        found = value[0]
        var = self._new_var(name, info, info_span, where)
        if info is not None and _is_plain(found):
            self.scope.bind(name, var)
            return ast.VarBinding(var, found, (value[1], value[2]), span)
        binding: ast.VarBinding | ast.MatchCast
        if isinstance(found, Cast):
            target = found.under(info)
            bound = self.scope.bind_shapes([target])
            binding = ast.MatchCast(
                *(var, found.value, target, bound, found.value_span, found.info_span, span),
                by_shape=found.shape_only,
            )
        else:
            expr = self._value(info, value)
            if is_shape(expr) or expr in self.scope.shape_holders:
                self.scope.shape_holders.add(var)
            if isinstance(expr, ast.Tuple):
                self.scope.tuples[var] = expr
            binding = ast.VarBinding(var, expr, (value[1], value[2]), span)
        kind = self._scalar_type(binding)
        if kind is not None:
            self.scope.scalars[var] = kind
        elif info is None and self.scope.may_be_scalar(binding.value):
            self.scope.may_be_scalars.add(var)
        self.scope.bind(name, var)
        return binding

    def _scalar_type(self, binding: ast.VarBinding | ast.MatchCast) -> DataType | None:
        """The data type of what is bound, if the text says that it is a scalar."""
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
        """A bound value; where the text is short, its annotation says what it is."""
        found, start, end = value
        match info, found:
            case ast.ShapeStructInfo(), Sequence(items=items):
                return ast.ShapeExpr(tuple(self.coerce.prim(item) for item in items), (start, end))
            case ast.PrimStructInfo(dtype=data_type), bool() | int() | float():
                plain = not isinstance(found, bool)
                scalar = self.coerce.prim(value, data_type) if plain else self.coerce.prim(value)
                return ast.PrimValue(scalar, (start, end))
            case _, bool() | int() | float():  # TVM makes a tensor of a bare number
                return constant(self, value, None, (start, end))
            case ast.TensorStructInfo(dtype=data_type), ast.Call(
                op=ast.Op(op_name="relax.call_tir" | "relax.call_dps_packed"),
                sinfo_args=(ast.TensorStructInfo(dtype=out) as out_info,),
            ) if out.is_void and not data_type.is_void:
                return replace(found, sinfo_args=(replace(out_info, dtype=data_type),))
        return self.coerce.expr(value)

    def do_targets(self, c: list[Entry]) -> list[Entry]:
        return [c[0]] if len(c) == 2 else [*c[0][0], c[1]]

    def do_unpack(self, c: list[Entry]) -> Any:
        name, start, _ = c[1]
        names = [*c[0][0], (name, start, start + len(name))]
        value, span = c[2], (c[0][1], c[-1][2])
        if self.scope.frame.kind in ("prim_func", "block"):
            return self.prim_unpack(names, value, span)
        if isinstance(value[0], Sequence) and len(value[0].items) == len(names):
            return [
                binding
                for (text, at, stop), item in zip(names, value[0].items, strict=True)
                if not self._is_declaration(text, (at, stop), item[0])
                and (binding := self._bind(text, (at, stop), None, None, item, (at, item[2])))
            ]
        match value[0]:
            case Cast(info=ast.ShapeStructInfo(values=None)) as cast:
                # `n, m = R.match_shape(x.shape)`: the names are shape variables, bound here.
                values = tuple(self.scope.new_shape_var(t, (at, end)) for t, at, end in names)
                info = ast.ShapeStructInfo(values, len(values))
                bound = self.scope.bind_shapes([info])
                return ast.MatchCast(
                    *(None, cast.value, info, bound, cast.value_span, None, span), by_shape=True
                )
        return self._unpack_variable(names, value, span)

    def _unpack_variable(self, names: list[Entry], value: Entry, span: Span) -> list[ast.Binding]:
        """`a, b = t`: the fields of the tuple, in order."""
        found, start, end = value
        if not isinstance(found, ast.Var):
            shown = ", ".join(text for text, _, _ in names)
            raise Rejected(
                f"cannot unpack this into {len(names)} names",
                *span,
                help=f"bind the tuple first: `t = …`, then `{shown} = t`",
            )
        fields = [
            (ast.TupleGetItem(found, at, (start, end)), start, end) for at in range(len(names))
        ]
        return [
            self._bind(text, (at, stop), None, None, field, (at, end))
            for (text, at, stop), field in zip(names, fields, strict=True)
        ]

    def do_unpack_annotated(self, c: list[Entry]) -> Any:
        raise Rejected("expected one annotation for one name", c[0][1], c[-1][2])

    def do_store(self, c: list[Entry]) -> Any:
        if self.scope.frame.kind in ("prim_func", "block"):
            return self.prim_store(c)
        raise Rejected("expected a variable on the left of =", c[0][1], c[0][2])

    def do_augmented_store(self, c: list[Entry]) -> Any:
        if self.scope.frame.kind in ("prim_func", "block"):
            return self.prim_augmented(c)
        raise Rejected("a variable of Relax is bound once, with =", c[0][1], c[-1][2])

    def do_expression(self, c: list[Entry]) -> Any:
        value, start, end = c[0]
        if self.scope.frame.kind in ("prim_func", "block"):
            return self.prim_expression(c[0])
        match value:
            case Form(head="R.func_attr"):
                self._func_attr(value, start, end)
                return None
            case Form(head="R.output" | "R.outputs"):
                return self._output(value, start, end)
            case Form(head="I.module_attrs" | "I.module_global_infos"):
                if self.scope.frame.kind == "module":
                    return ModuleStatement(value, (start, end))
            case str() if self.scope.frame.kind == "module":
                return None
            case str():
                raise Rejected(
                    "a string is no statement of Relax", start, end, help="write it as a comment"
                )
            case Cast():
                bound = self.scope.bind_shapes([value.info])
                return ast.MatchCast(
                    None,
                    value.value,
                    value.info,
                    bound,
                    value.value_span,
                    value.info_span,
                    (start, end),
                    value.shape_only,
                )
        if self.scope.frame.kind == "module":
            raise Rejected("expected a decorated function in the module", start, end, layout=True)
        if not isinstance(value, ast.Expr) or isinstance(value, ast.Var):
            raise Rejected(f"expected a statement, found {describe(value)}", start, end)
        var = self._new_var("_", None, None, (start, start))
        return ast.VarBinding(var, value, (start, end), (start, end))

    def _output(self, form: Form, start: int, end: int) -> Output:
        """`R.output(a, b)`: from here on, these are variables of the function."""
        if self.scope.frame.kind != "dataflow":
            for value, _, _ in form.args:  # a mistake of indentation is one mistake
                if isinstance(value, ast.DataflowVar):
                    object.__setattr__(value, "__class__", ast.Var)
            raise Rejected(
                "R.output stands outside of a dataflow block",
                start,
                end,
                help="it is the last statement of a block under `with R.dataflow():`",
                layout=True,
            )
        for name, value in form.keywords.items():
            raise Rejected(f"R.output has no argument {name!r}", value[1], value[2])
        for value in form.args:
            self._export(value)
        return Output((start, end))

    def _export(self, entry: Entry) -> None:
        value, start, end = entry
        if isinstance(value, ast.Var) and value in self.scope.frame.own:
            # Which variables a block exports, its last statement says: their kind is settled only there.
            object.__setattr__(value, "__class__", ast.Var)
        elif isinstance(value, Name):
            own = {var.name_hint: var for var in self.scope.frame.own}
            meant = closest(value.text, reversed(own))
            self.error(f"{value.text!r} is not defined", (start, end), did_you_mean(meant))
            for name in meant:
                object.__setattr__(own[name], "__class__", ast.Var)
            self.scope.bind(value.text, self.hole(value.text, (start, end)))
        elif isinstance(value, ast.Var | tir.PrimExpr):
            if value not in self.holes:
                shown = self.text_between(start, end)
                self.error(f"{shown!r} is not bound in this dataflow block", (start, end))
        else:
            self.error(f"R.output takes variables, not {describe(value)}", (start, end))

    def export_all(self) -> None:
        """What the `R.output` of the open dataflow block says can't be read: it may be any variable."""
        for var in self.scope.frame.own:
            object.__setattr__(var, "__class__", ast.Var)

    def _func_attr(self, form: Form, start: int, end: int) -> None:
        if len(form.args) != 1 or not isinstance(form.args[0][0], dict):
            raise Rejected("R.func_attr takes a dictionary", start, end)
        self.scope.function_frame().attrs.update(form.args[0][0])

    def do_return_(self, c: list[Entry]) -> Any:
        if self.scope.frame.kind in ("prim_func", "block"):
            return self.prim_return(c[1], (c[0][1], c[-1][2]))
        if self.scope.frame.kind == "dataflow":
            raise Rejected("a dataflow block can't return", c[0][1], c[-1][2], layout=True)
        return Return(self.coerce.expr(c[1]), (c[1][1], c[1][2]))

    def do_return_nothing(self, c: list[Entry]) -> Any:
        raise Rejected("expected a value to return", c[0][1], c[0][2], certain=True)

    def do_pass_(self, c: list[Entry]) -> None:
        return None

    def do_assert_(self, c: list[Entry]) -> Any:
        if self.scope.frame.kind in ("prim_func", "block"):
            return self.prim_assert(c[1], c[3] if len(c) > 3 else None, (c[0][1], c[-1][2]))
        raise Rejected("expected R.assert_op(…): Relax has no assert", c[0][1], c[-1][2])


def _is_plain(value: Any) -> bool:
    """Whether a value is a call of an operator of which only derivation says what it is: most are."""
    return (
        type(value) is ast.Call
        and type(value.op) is ast.Op
        and not value.sinfo_args
        and value.op.op_name != "relax.shape_of"
    )


def _outside(first: Entry, last: Entry) -> Rejected:
    """The refusal of a binding on the outer level of a module."""
    words = "expected a decorated function in the module"
    return Rejected(words, first[1], last[2], layout=True)
