"""The actions of definitions and statements; those of PrimFuncs are in :mod:`rlx.grammar.prim_statements`."""

from __future__ import annotations

import re
from typing import Any

from rlx.grammar import ast, tir
from rlx.grammar.dtype import DataType, dtype
from rlx.grammar.lalr import Entry, Rejected
from rlx.grammar.neutral import Form, Name, Sequence, describe
from rlx.grammar.node import Span, replace
from rlx.grammar.prim_statements import PrimStatements
from rlx.grammar.scope import bind_callable
from rlx.grammar.words import Cast

_MODULE_WORDS = {"I.ir_module", "tvm.script.ir_module", "ir_module", "script.ir_module"}
_FUNCTION_WORDS = {"R.function", "R.func", "R.macro"}
_PRIM_WORDS = {"T.prim_func", "T.func"}
_OUTPUT = re.compile(r"\n([ \t]*)R\.outputs?\(([^()]*)\)")
_HEADER = re.compile(r"#\s*(from\s+\S+\s+import\b|import\s|Metadata omitted|fmt:|type:)")


class Open:
    """The head of a block that opened a scope: what to remember, and how many scopes are open in it."""

    __slots__ = ("depth", "span", "value")

    def __init__(self, value: Any, depth: int, span: Span) -> None:
        self.value = value
        self.depth = depth
        self.span = span


class Return:
    """A `return` statement."""

    __slots__ = ("span", "value")

    def __init__(self, value: ast.Expr, span: Span) -> None:
        self.value = value
        self.span = span


class Defined:
    """A function definition, before it is known whether it is global or local."""

    __slots__ = ("function", "name", "private", "span", "var")

    def __init__(
        self, name: str, function: ast.Function | tir.PrimFunc, span: Span, var: ast.Var | None
    ) -> None:
        self.name = name
        self.function = function
        self.span = span
        self.var = var


class Signature:
    """What the head of a function says."""

    __slots__ = ("decorations", "kind", "name", "name_span", "params", "ret", "ret_span", "var")

    def __init__(self, name: str, name_span: Span, kind: str, var: ast.Var | None) -> None:
        self.name = name
        self.name_span = name_span
        self.kind = kind
        self.var = var
        self.params: list[Any] = []
        self.ret: Any = None
        self.ret_span: Span | None = None
        self.decorations: list[Entry] = []


class Statements(PrimStatements):
    """Definition and statement actions; the state of a text being read."""

    decorations: list[Entry]
    comments: tuple[str, ...] = ()

    # ------------------------------------------------------------ decorators

    def do_decorator(self, c: list[Entry]) -> Entry:
        value, start, end = c[1]
        if isinstance(value, Form):
            if value.args:
                raise Rejected("a decorator has named arguments only", start, end)
            for given in value.keywords.values():
                self.plain_data(given, self.coerce.attr(given))
        return c[1]

    def do_decorators(self, c: list[Entry]) -> list[Entry]:
        if len(c) == 1:
            found: list[Entry] = [c[0][0]]
        else:
            found = c[0][0]
            found.append(c[1][0])
        self.decorations = found
        self.comments = self._comments_above(c[0][1])
        return found

    def _comments_above(self, at: int) -> tuple[str, ...]:
        """The comment lines directly above a definition, without the printed import header."""
        found: list[str] = []
        text = self.text
        line = text.rfind("\n", 0, at)
        while line > 0:
            before = text.rfind("\n", 0, line)
            shown = text[before + 1 : line].strip()
            if not shown.startswith("#"):
                break
            if not _HEADER.match(shown):
                found.append(shown)
            line = before
        return tuple(reversed(found))

    def _decorated_with(self, words: set[str]) -> Form | None:
        for entry in self.decorations:
            value = entry[0]
            if isinstance(value, Name) and value.text in words:
                return Form(value.text, [], {})
            if isinstance(value, Form) and value.head in words:
                return value
        return None

    # ------------------------------------------------------------ modules

    def do_class_head(self, c: list[Entry]) -> Open:
        name = str(c[1][0]).rstrip("(")
        if self._decorated_with(_MODULE_WORDS) is None:
            raise Rejected("a class is read as a module only under @I.ir_module", c[0][1], c[1][2])
        self.scope.modules.add(name)
        span = (c[1][1], c[1][1] + len(name))
        return Open((name, self.comments), len(self.scope.frames), span)

    def do_class_def(self, c: list[Entry]) -> ast.IRModule:
        name, comments = c[0][0].value
        functions: dict[ast.GlobalVar, ast.Function | tir.PrimFunc] = {}
        attrs: dict[str, object] = {}
        infos: dict[str, tuple[object, ...]] = {}
        for item in c[1][0]:
            match item:
                case Defined():
                    self.add_function(functions, item)
                case Form(head="I.module_attrs", args=[(dict() as given, _, _)]):
                    attrs.update(given)
                case Form(head="I.module_global_infos", args=[(dict() as given, _, _)]):
                    infos.update({key: _as_tuple(value) for key, value in given.items()})
        span = (c[0][1], c[-1][2])
        return ast.IRModule(functions, attrs, infos, name, False, (), comments, span)

    def add_function(
        self, functions: dict[ast.GlobalVar, ast.Function | tir.PrimFunc], item: Defined
    ) -> None:
        """Add a global function to a module under construction."""
        name_span = item.function.name_span
        variable = self.scope.global_var(item.name, name_span)
        if variable in functions:
            assert name_span is not None
            self.error(
                f"the module already has a function {item.name!r}",
                name_span,
                related=functions[variable].name_span,
            )
            return
        functions[variable] = item.function

    def do_decorated(self, c: list[Entry]) -> Any:
        return c[1][0]

    # ------------------------------------------------------------ functions

    def do_def_open(self, c: list[Entry]) -> Open:
        text, start, end = c[0]
        name = text[3:].strip()
        name_span = (end - len(name), end)
        local = self.scope.frame.kind != "module"
        if self._decorated_with(_FUNCTION_WORDS) is not None:
            kind = "function"
        elif self._decorated_with(_PRIM_WORDS) is not None:
            kind = "prim_func"
        else:
            raise Rejected("expected @R.function or @T.prim_func above this function", start, end)
        var = self._new_var(name, None, None, name_span) if local else None
        signature = Signature(name, name_span, kind, var)
        signature.decorations = self.decorations
        if var is not None:
            self.scope.bind(name, var)
        opened = Open((signature, self.comments), len(self.scope.frames) + 1, name_span)
        self.scope.open(kind)
        return opened

    def do_type_parameters(self, c: list[Entry]) -> None:
        return None

    def do_parameter(self, c: list[Entry]) -> Any:
        name, start, end = c[0]
        if self.scope.frame.kind == "prim_func":
            return self.prim_parameter(c)
        info = self.coerce.info(c[2])
        var = ast.Var(name, info, (c[2][1], c[2][2]), (start, end))
        self.scope.bind(name, var)
        return var

    def do_bare_parameter(self, c: list[Entry]) -> Any:
        name, start, end = c[0]
        if self.scope.frame.kind == "prim_func":
            return self.prim_bare_parameter(c[0])
        var = ast.Var(name, None, None, (start, end))
        self.scope.bind(name, var)
        return var

    def do_parameters(self, c: list[Entry]) -> list[Any]:
        if len(c) == 1:
            return [c[0][0]]
        items: list[Any] = c[0][0]
        items.append(c[2][0])
        return items

    def do_def_head(self, c: list[Entry]) -> Open:
        opened: Open = c[0][0]
        signature: Signature = opened.value[0]
        if isinstance(c[1][0], list):
            signature.params = c[1][0]
        if c[-3][0] == "->":
            ret = c[-2]
            signature.ret_span = (ret[1], ret[2])
            signature.ret = (
                self.coerce.info(ret) if signature.kind == "function" else self._prim_ret(ret)
            )
        if signature.kind == "function":
            infos = [p.struct_info_annotation for p in signature.params]
            bound = self.scope.bind_shapes(info for info in infos if info is not None)
            self.scope.frame.attrs["shape_vars"] = bound
            for info in (*infos, signature.ret):
                if info is not None:
                    bind_callable(info, self.scope.bound)
        return opened

    def _prim_ret(self, entry: Entry) -> DataType | None:
        value = entry[0]
        return None if value is None else self.coerce.data_type(entry)

    def do_function_def(self, c: list[Entry]) -> Defined:
        signature, comments = c[0][0].value
        frame = self.scope.close()
        start, end = c[0][1], c[-1][2]
        if signature.kind == "prim_func":
            function: Any = self.prim_func(signature, comments, frame.attrs, c[1][0], (start, end))
        else:
            function = self._function(signature, comments, frame.attrs, c[1][0], (start, end))
        return Defined(signature.name, function, (start, end), signature.var)

    def _function(
        self,
        signature: Signature,
        comments: tuple[str, ...],
        frame_attrs: dict[str, object],
        statements: list[Any],
        span: Span,
    ) -> ast.Function:
        shape_vars: Any = frame_attrs.pop("shape_vars", ())
        attrs = dict(frame_attrs)
        flags = self._flags(signature.decorations, _FUNCTION_WORDS)
        if flags.pop("private", False):
            attrs["private"] = True
        elif signature.var is None:
            attrs.setdefault("global_symbol", signature.name)
        pure = flags.pop("pure", None)
        body = self._body(signature, statements, span)
        return ast.Function(
            tuple(signature.params),
            body,
            signature.ret,
            pure if isinstance(pure, bool) else None,
            attrs,
            shape_vars,
            signature.ret_span,
            signature.name_span,
            comments,
            span,
        )

    def _flags(self, decorations: list[Entry], words: set[str]) -> dict[str, object]:
        """The keyword arguments of a function's decorator."""
        flags: dict[str, object] = {}
        for entry in decorations:
            value = entry[0]
            if isinstance(value, Form) and value.head in words:
                flags.update({k: self.coerce.attr(v) for k, v in value.keywords.items()})
        return flags

    def _body(self, signature: Signature, statements: list[Any], span: Span) -> ast.SeqExpr:
        for at, item in enumerate(statements):
            if isinstance(item, Return):
                for later in statements[at + 1 :]:
                    if later is not None:
                        where = getattr(later, "span", None) or item.span
                        self.error("nothing after a return is reached", where)
                        break
                return _seq(statements[:at], item.value, item.span, span)
        if not self.has_errors_in(span):
            self.error(
                f"the function {signature.name!r} has no return",
                signature.name_span,
                help="end it with `return` and a value",
            )
        hole = self.hole("_", signature.name_span)
        return _seq(statements, hole, signature.name_span, span)

    def do_local_function(self, c: list[Entry]) -> Any:
        value = c[0][0]
        if isinstance(value, ast.IRModule):
            raise Rejected("a module can't stand inside a module", c[0][1], c[0][2])
        if not isinstance(value, Defined) or value.var is None:
            return value
        if isinstance(value.function, tir.PrimFunc):
            raise Rejected("a PrimFunc can't be defined inside a function", *value.span)
        return ast.VarBinding(value.var, value.function, value.span, value.span)

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
            return self.opaque(c[0][1], c[-1][2])
        raise Rejected("expected R.assert_op(…): Relax has no assert", c[0][1], c[-1][2])

    # ------------------------------------------------------------ if

    def do_if_head(self, c: list[Entry]) -> Open:
        if self.scope.frame.kind in ("prim_func", "block"):
            condition: Any = self.coerce.prim(c[1])
            kind = self.scope.frame.kind
        else:
            condition, kind = self.coerce.expr(c[1]), "branch"
        opened = Open(
            (condition, (c[1][1], c[1][2])), len(self.scope.frames) + 1, (c[0][1], c[-1][2])
        )
        self.scope.open(kind)
        return opened

    def do_elif_open(self, c: list[Entry]) -> None:
        self.scope.close()

    do_elif_head = do_if_head

    def do_else_head(self, c: list[Entry]) -> Open:
        kind = self.scope.frame.kind
        self.scope.close()
        opened = Open(None, len(self.scope.frames) + 1, (c[0][1], c[-1][2]))
        self.scope.open(kind)
        return opened

    def do_elif_stmt(self, c: list[Entry]) -> Any:
        return self.do_if_stmt(c)

    def do_if_stmt(self, c: list[Entry]) -> Any:
        if len(c) != 3:
            kind = self.scope.close().kind
        else:
            kind = "block" if isinstance(c[0][0].value[0], tir.PrimExpr) else "branch"
        condition, where = c[0][0].value
        span = (c[0][1], c[-1][2])
        then = c[1][0]
        otherwise = None if len(c) == 2 else ([c[2][0]] if len(c) == 3 else c[3][0])
        if kind in ("prim_func", "block"):
            return self.prim_if(condition, then, otherwise, span)
        if otherwise is None:
            raise Rejected("an if of Relax needs an else", c[0][1], c[0][2])
        return self._if(condition, where, (then, c[1]), (otherwise, c[-1]), span)

    def _if(
        self,
        condition: ast.Expr,
        where: Span,
        then: tuple[list[Any], Entry],
        otherwise: tuple[list[Any], Entry],
        span: Span,
    ) -> Any:
        a = self._branch(*then)
        b = self._branch(*otherwise)
        if a is None or b is None:
            return None
        whole = ast.If(condition, a[1], b[1], where, span)
        if a[0] is None and b[0] is None:
            return Return(whole, span)
        if a[0] is None or b[0] is None or a[0].name_hint != b[0].name_hint:
            raise Rejected(
                "both branches of an if must end by giving the same variable a value",
                span[0],
                where[1],
            )
        info = a[0].struct_info_annotation
        if info is not b[0].struct_info_annotation and not _same_text(self.text, a[0], b[0]):
            info = None
        var = self._new_var(
            a[0].name_hint, info, a[0].annotation_span if info is not None else None, a[0].span
        )
        self.scope.bind(var.name_hint, var)
        return ast.VarBinding(var, whole, span, span)

    def _branch(self, statements: list[Any], entry: Entry) -> tuple[Any, ast.SeqExpr] | None:
        """The variable that a branch ends in (None where it returns) and the branch as an expression."""
        items = _flatten(statements)
        span = (entry[1], entry[2])
        if not items:
            if not self.has_errors_in(span):
                raise Rejected("a branch of an if must give a variable a value", *span)
            return None
        last = items[-1]
        match last:
            case Return():
                return None, _seq(items[:-1], last.value, last.span, span)
            case ast.VarBinding(var=var, value=value):
                return var, _seq(items[:-1], value, last.value_span, span)
            case ast.MatchCast(var=var) if var is not None:
                return var, _seq(items, var, last.span, span)
            case ast.DataflowBlock(bindings=bindings) if bindings:
                for binding in reversed(bindings):
                    found = getattr(binding, "var", None)
                    if found is not None and not isinstance(found, ast.DataflowVar):
                        return found, _seq(items, found, last.span, span)
        if not self.has_errors_in(span):
            raise Rejected("a branch of an if must end by giving a variable a value", *span)
        return None

    # ------------------------------------------------------------ with, for, while

    def do_with_head(self, c: list[Entry]) -> Open:
        value = c[1][0]
        span = (c[0][1], c[-1][2])
        if isinstance(value, Form) and value.head == "R.dataflow":
            opened = Open(value, len(self.scope.frames) + 1, span)
            self.scope.open("dataflow").outputs = self._outputs(c[-1][2])
            return opened
        if self.scope.frame.kind in ("prim_func", "block"):
            if isinstance(value, Form) and value.head in ("T.grid", "T.block") and len(c) > 3:
                # 2022: `with T.grid(n, m) as i, j:` are loops.
                grid = (Form("T.grid", value.args, {}), c[1][1], c[1][2])
                return self.prim_for_head([c[0], c[3], c[2], grid, c[-1]])
            opened = Open(value, len(self.scope.frames) + 1, span)
            self.scope.open("block")
            if len(c) > 3:
                for name, start, end in c[3][0]:
                    self.scope.bind(name, tir.Var(name, span=(start, end)))
            return opened
        raise Rejected("expected `with R.dataflow():`", c[1][1], c[1][2])

    def _outputs(self, at: int) -> frozenset[str]:
        """The names that the dataflow block whose head ends at ``at`` puts out."""
        text = self.text
        line = text.find("\n", at)
        while line >= 0 and text[line + 1 : line + 2] in ("\n", "\r"):
            line = text.find("\n", line + 1)
        start = line + 1
        body = len(text[start : start + 4096]) - len(text[start : start + 4096].lstrip(" \t"))
        for match in _OUTPUT.finditer(text, at):
            if len(match[1]) <= body:
                names = (name.strip() for name in match[2].split(","))
                return (
                    frozenset(name for name in names if name)
                    if len(match[1]) == body
                    else frozenset()
                )
        return frozenset()

    def do_with_stmt(self, c: list[Entry]) -> Any:
        opened: Open = c[0][0]
        span = (c[0][1], c[-1][2])
        if self.scope.frame.kind == "dataflow":
            self.scope.keep()
            bindings = tuple(i for i in _flatten(c[1][0]) if isinstance(i, ast.Binding))
            for item in _flatten(c[1][0]):
                if isinstance(item, ast.DataflowBlock):
                    raise Rejected("a dataflow block can't contain another", *span)
            return ast.DataflowBlock(bindings, span)
        self.scope.close()
        return self.prim_with(opened.value, c[1][0], span)

    def do_loop_names(self, c: list[Entry]) -> list[Entry]:
        return [c[0]] if len(c) == 1 else [*c[0][0], c[2]]

    def do_for_head(self, c: list[Entry]) -> Open:
        if self.scope.frame.kind not in ("prim_func", "block"):
            raise Rejected(
                "Relax has no loops: expected recursion or an operator", c[0][1], c[-1][2]
            )
        return self.prim_for_head(c)

    def do_for_stmt(self, c: list[Entry]) -> Any:
        self.scope.close()
        return self.prim_for(c[0][0].value, c[1][0], (c[0][1], c[-1][2]))

    def do_while_head(self, c: list[Entry]) -> Open:
        if self.scope.frame.kind not in ("prim_func", "block"):
            raise Rejected(
                "Relax has no loops: expected recursion or an operator", c[0][1], c[-1][2]
            )
        opened = Open(self.coerce.prim(c[1]), len(self.scope.frames) + 1, (c[0][1], c[-1][2]))
        self.scope.open("block")
        return opened

    def do_while_stmt(self, c: list[Entry]) -> Any:
        self.scope.close()
        return tir.While(c[0][0].value, self.prim_body(c[1][0]), (c[0][1], c[-1][2]))


def _same_text(text: str, a: ast.Var, b: ast.Var) -> bool:
    """Whether two variables have annotations of the same text."""
    x, y = a.annotation_span, b.annotation_span
    return x is not None and y is not None and text[x[0] : x[1]] == text[y[0] : y[1]]


def _as_tuple(value: object) -> tuple[object, ...]:
    return value if isinstance(value, tuple) else (value,)


def _flatten(statements: list[Any]) -> list[Any]:
    found: list[Any] = []
    for item in statements:
        if isinstance(item, list):
            found.extend(item)
        elif item is not None:
            found.append(item)
    return found


def _seq(statements: list[Any], body: ast.Expr, body_span: Span | None, span: Span) -> ast.SeqExpr:
    """A SeqExpr of statements: runs of bindings become blocks."""
    blocks: list[ast.BindingBlock] = []
    run: list[ast.Binding] = []
    for item in _flatten(statements):
        if isinstance(item, ast.DataflowBlock):
            if run:
                blocks.append(ast.BindingBlock(tuple(run), run[0].span))  # type: ignore[attr-defined]
                run = []
            blocks.append(item)
        elif isinstance(item, ast.Binding):
            run.append(item)
    if run:
        blocks.append(ast.BindingBlock(tuple(run), run[0].span))  # type: ignore[attr-defined]
    return ast.SeqExpr(tuple(blocks), body, body_span, span)
