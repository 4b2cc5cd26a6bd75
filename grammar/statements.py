"""The actions of simple statements; those of PrimFuncs are in :mod:`rlx.grammar.prim_statements`."""

from __future__ import annotations

from typing import Any

from rlx.grammar import ast
from rlx.grammar.dtype import dtype
from rlx.grammar.lalr import Entry, Rejected
from rlx.grammar.neutral import Form, Name, Sequence, describe
from rlx.grammar.node import Span, replace
from rlx.grammar.pieces import Return
from rlx.grammar.prim_statements import PrimStatements
from rlx.grammar.words_value import Cast


class Statements(PrimStatements):
    """Statements of one line, and the blocks they form."""

    # ------------------------------------------------------------ blocks

    def do_indented(self, c: list[Entry]) -> list[Any]:
        statements: list[Any] = c[2][0]
        return statements

    def do_inline(self, c: list[Entry]) -> list[Any]:
        return [c[0][0]]

    def do_statements(self, c: list[Entry]) -> list[Any]:
        if len(c) == 1:
            return [c[0][0]]
        items: list[Any] = c[0][0]
        items.append(c[1][0])
        return items

    def do_line(self, c: list[Entry]) -> Any:
        return c[0][0]

    # ------------------------------------------------------------ simple statements

    def do_assign(self, c: list[Entry]) -> Any:
        name, start, _ = c[0]
        value = c[1]
        where = (start, start + len(name))
        if self.scope.frame.kind in ("prim_func", "block"):
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
        if self.scope.frame.kind in ("prim_func", "block"):
            return self.prim_assign(name[0], where, annotation, value, span)
        info = self.coerce.info(annotation)
        return self._bind(name[0], where, info, (annotation[1], annotation[2]), value, span)

    def do_declare(self, c: list[Entry]) -> Any:
        if self.scope.frame.kind in ("prim_func", "block"):
            return self.opaque(c[0][1], c[-1][2])
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
        return False

    def _new_var(
        self, name: str, info: ast.StructInfo | None, info_span: Span | None, where: Span
    ) -> ast.Var:
        frame = self.scope.frame
        if frame.kind == "dataflow" and name not in frame.outputs:
            return ast.DataflowVar(name, info, info_span, where)
        return ast.Var(name, info, info_span, where)

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
        binding: ast.Binding
        if isinstance(found, Cast):
            target = found.under(info)
            bound = self.scope.bind_shapes([target])
            binding = ast.MatchCast(
                var, found.value, target, bound, found.value_span, found.info_span, span
            )
        else:
            expr = self._value(info, value)
            binding = ast.VarBinding(var, expr, (value[1], value[2]), span)
        self.scope.bind(name, var)
        return binding

    def _value(self, info: ast.StructInfo | None, value: Entry) -> ast.Expr:
        """A bound value; where the text is short, its annotation says what it is."""
        found, start, end = value
        match info, found:
            case ast.ShapeStructInfo(), Sequence(items=items):
                return ast.ShapeExpr(tuple(self.coerce.prim(item) for item in items), (start, end))
            case ast.PrimStructInfo(dtype=data_type), int() | float() if not isinstance(
                found, bool
            ):
                return ast.PrimValue(self.coerce.prim(value, data_type), (start, end))
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
                return ast.MatchCast(None, cast.value, info, bound, cast.value_span, None, span)
        raise Rejected("several names need as many values", *span)

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
                return None
            case Form() if self.scope.frame.kind == "module":
                return value
            case str():
                return None
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
                )
        if self.scope.frame.kind == "module":
            raise Rejected("expected a decorated function in the module", start, end)
        if not isinstance(value, ast.Expr) or isinstance(value, ast.Var):
            raise Rejected(f"expected a statement, found {describe(value)}", start, end)
        var = self._new_var("_", None, None, (start, start))
        return ast.VarBinding(var, value, (start, end), (start, end))

    def _func_attr(self, form: Form, start: int, end: int) -> None:
        if len(form.args) != 1 or not isinstance(form.args[0][0], dict):
            raise Rejected("R.func_attr takes a dictionary", start, end)
        self.scope.function_frame().attrs.update(form.args[0][0])

    def do_return_(self, c: list[Entry]) -> Any:
        if self.scope.frame.kind in ("prim_func", "block"):
            return self.opaque(c[0][1], c[-1][2])
        if self.scope.frame.kind == "dataflow":
            raise Rejected("a dataflow block can't return", c[0][1], c[-1][2])
        return Return(self.coerce.expr(c[1]), (c[1][1], c[1][2]))

    def do_return_nothing(self, c: list[Entry]) -> Any:
        if self.scope.frame.kind in ("prim_func", "block"):
            return None
        raise Rejected("expected a value to return", c[0][1], c[0][2])

    def do_pass_(self, c: list[Entry]) -> None:
        return None

    def do_assert_(self, c: list[Entry]) -> Any:
        if self.scope.frame.kind in ("prim_func", "block"):
            return self.prim_assert(c[1], c[3] if len(c) > 3 else None, (c[0][1], c[-1][2]))
        raise Rejected("expected R.assert_op(…): Relax has no assert", c[0][1], c[-1][2])
