"""Relax expressions on one line: calls, literals, tuples."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from rlx.grammar.dialects import CONSTANT_KEYS, OUT_OPERATORS, STRING_OPERATORS, Dialect, split_key
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Expr
from rlx.grammar.nodes.dtype import BOOL, DataType
from rlx.grammar.nodes.node import tuple_text
from rlx.grammar.print.info import InfoPrinter
from rlx.grammar.print.prim import Names, PrimPrinter, quoted, scalar, value_text


class ExprPrinter:
    """Prints the expressions of one function.

    Parameters
    ----------
    names
        The names of the variables of the function.
    dialect
        The spelling.
    module_alias
        The prefix of global functions: ``"cls."``, or empty outside a class.
    source
        The text that the nodes were parsed from, if available.
    """

    def __init__(
        self, names: Names, dialect: Dialect, module_alias: str = "cls.", source: str = ""
    ) -> None:
        self.names = names
        self.dialect = dialect
        self.module_alias = module_alias
        self.source = source
        self.info = InfoPrinter(names, dialect, self.text)
        self.prim: PrimPrinter = self.info.prim
        self._known: dict[type, Callable[..., str]] = {
            ast.Var: self._var,
            ast.DataflowVar: self._var,
            ast.Call: self._call,
            ast.Tuple: self._tuple,
            ast.ShapeExpr: self._shape,
            ast.Constant: self._constant,
            ast.PrimValue: self._prim_value,
            ast.TupleGetItem: self._item,
            ast.GlobalVar: self._global,
            ast.StringImm: lambda e: f"R.str({quoted(e.value)})",
            ast.DataTypeImm: lambda e: f'R.dtype("{e.value}")',
            ast.ExternFunc: self._extern,
            ast.ErrorExpr: lambda e: "...",
            ast.Op: lambda e: "R." + e.op_name.removeprefix("relax."),
        }

    def text(self, expr: Expr) -> str:
        """An expression as text.

        Raises
        ------
        TypeError
            For a function, branch or sequence, which cannot be written on one line. The printer of
            functions binds them to a variable first.
        """
        printer = self._known.get(type(expr))
        if printer is None:
            raise TypeError(f"{type(expr).__name__} has no text inside an expression")
        return printer(expr)

    def texts(self, exprs: tuple[Expr, ...]) -> str:
        """Several expressions, with commas between them."""
        return ", ".join([self._known[type(e)](e) for e in exprs])

    def value(self, value: object) -> str:
        """The value of a keyword argument or of an attribute."""
        match value:
            case bool() | int() | float() | str() | None:
                return scalar(value)
            case Expr():
                return self.text(value)
            case ast.StructInfo():
                return self.info.body(value)
            case DataType():
                return f'R.dtype("{value}")'
            case tuple() | list():
                return "[" + ", ".join([self.value(v) for v in value]) + "]"
            case Mapping():
                items = [f"{scalar(k)}: {self.value(v)}" for k, v in value.items()]
                return "{" + ", ".join(items) + "}"
        return value_text(value, self.prim.text)

    def _var(self, var: ast.Var) -> str:
        return self.names.get(var) or var.name_hint

    def _global(self, var: ast.GlobalVar) -> str:
        return f"{self.module_alias}{var.name_hint}"

    def _tuple(self, node: ast.Tuple) -> str:
        if not node.fields:
            return "R.tuple()"
        return tuple_text([self.text(field) for field in node.fields])

    def _shape(self, node: ast.ShapeExpr) -> str:
        return f"R.shape([{self.prim.texts(node.values)}])"

    def _item(self, node: ast.TupleGetItem) -> str:
        value = node.tuple_value
        if isinstance(value, ast.Tuple) and not self._is_literal(value):
            return f"{self.made_tuple(value.fields)}[{node.index}]"
        return f"{self.text(value)}[{node.index}]"

    def made_tuple(self, fields: Sequence[Expr]) -> str:
        """A tuple made by `R.tuple`, with no Python tuple among its fields."""
        shown = [
            self.made_tuple(f.fields) if isinstance(f, ast.Tuple) else self.text(f) for f in fields
        ]
        return f"R.tuple({', '.join(shown)})"

    def _is_literal(self, node: ast.Tuple) -> bool:
        """Whether the source has brackets.

        TVM evaluates `(x, y)[0]` to `x`, but not `R.tuple(x, y)[0]`.
        """
        return self._begins(node, "(", "[")

    def _begins(self, node: Expr, *words: str) -> bool:
        """Whether the source of a node begins with one of some words."""
        span = getattr(node, "span", None)
        return bool(self.source) and span is not None and self.source.startswith(words, span[0])

    def _prim_value(self, node: ast.PrimValue) -> str:
        value = node.value
        if isinstance(value, tir.IntImm) and value.dtype == BOOL:
            shown = str(bool(value.value))
        else:
            shown = self.prim.text(value)
        return shown if self.dialect.prim_value else f"R.prim_value({shown})"

    def _constant(self, node: ast.Constant) -> str:
        data = node.data
        if data.value is None:
            return reference(data.key, self.dialect)
        if node.distribution is not None:
            shape = ast.ShapeExpr(tuple(map(tir.IntImm, data.shape or ())))
            info = ast.TensorStructInfo(shape, data.dtype, distribution=node.distribution)
            return f"R.dist.const({_array(data.value)}, {self.info.body(info)})"
        return f'R.const({_array(data.value)}, "{data.dtype}")'

    def _extern(self, node: ast.ExternFunc) -> str:
        if node.struct_info is None:
            return f"R.ExternFunc({quoted(node.global_symbol)})"
        return f"R.ExternFunc({quoted(node.global_symbol)}, {self._made(node.struct_info)})"

    def _call(self, call: ast.Call) -> str:
        op, args = call.op, call.args
        match op:
            case ast.Op(op_name=name):
                head = "R." + name.removeprefix("relax.")
                special = _SHAPES.get(name)
                if special is not None:
                    return f"{head}({', '.join(special(self, call) + self._keywords(call))})"
            case ast.ExternFunc(global_symbol=symbol, struct_info=None):
                shown = map(self.value_or_string, args)
                parts = [quoted(symbol), *shown, *self._keywords(call)]
                return f"R.call_packed({', '.join(parts)})"
            case _:
                head = self.text(op)
        if self._begins(call, "R.emit_with_") and isinstance(op, ast.Op):
            word = self.dialect.out_info.removeprefix("out_")
            types = tuple_text([self._made(info) for info in call.sinfo_args])
            boxes = map(self._is_bare_number, args)
            fields = zip(map(self.text, args), boxes, strict=True)
            given = tuple_text([f"R.prim_value({t})" if box else t for t, box in fields])
            return f"R.emit_with_{word}({quoted(op.op_name)}, {given}, {types})"
        plain = isinstance(op, ast.Op) and not op.op_name.startswith(STRING_OPERATORS)
        texts = list(map(self.plain if plain else self.value_or_string, args))
        for at, argument in enumerate(args if call.spelled else ()):
            how, number = call.spelled.get(at), getattr(argument, "value", None)
            if isinstance(number, tir.IntImm | tir.FloatImm) and how == "number":
                texts[at] = scalar(number.value)  # TVM gives it a type
            elif isinstance(number, tir.IntImm) and how == "typed" and self.dialect.prim_value:
                texts[at] = f"T.{number.dtype}({number.value})"
        if isinstance(op, ast.GlobalVar) and args and self._is_bare_number(args[0]):
            # TVM looks at the first argument to tell a call of Relax from one of TIR.
            texts[0] = f"R.prim_value({texts[0]})"
        if isinstance(op, ast.Var):  # and there a number of Python is an int32
            boxed = map(self._is_bare_number, args)
            texts = [f"R.prim_value({t})" if b else t for t, b in zip(texts, boxed, strict=True)]
        return f"{head}({', '.join([*texts, *self._keywords(call)])})"

    def _is_bare_number(self, node: Expr) -> bool:
        """Whether a scalar is printed as a number of Python."""
        return (
            self.dialect.prim_value
            and isinstance(node, ast.PrimValue)
            and isinstance(node.value, tir.IntImm | tir.FloatImm)
        )

    def _keywords(self, call: ast.Call) -> list[str]:
        """Attributes as they were written, and the type arguments where TVM prints them."""
        keywords = [f"{key}={self.value(value)}" for key, value in call.attrs.items()]
        infos = call.sinfo_args
        if not infos:
            return [*self._shape_vars(call), *keywords]
        if isinstance(call.op, ast.Op) and call.op.op_name in OUT_OPERATORS and len(infos) == 1:
            out = f"{self.dialect.out_info}={self._out(infos[0], call.op.op_name)}"
            return [out, *self._shape_vars(call), *keywords]
        makes = isinstance(call.op, ast.Op) and call.op.op_name in _MADE_TYPES
        write = self._made if makes else self._listed
        listed = tuple_text([write(info) for info in infos])
        return [*keywords, f"{self.dialect.info_args}={listed}"]

    def _listed(self, info: ast.StructInfo) -> str:
        return self.info.part(info) or self.info.body(info)

    def _made(self, info: ast.StructInfo) -> str:
        """A type for a function that does not turn a bare `R.Any` into one."""
        text = self._listed(info)
        return text if text.endswith(")") else f"{text}()"

    def _shape_vars(self, call: ast.Call) -> list[str]:
        if isinstance(call.op, ast.Op) and call.op.op_name in _CALL_TIR:
            return [f"tir_vars={self.text(e)}" for e in call.args[2:]]
        return []

    def _out(self, info: ast.StructInfo, op: str) -> str:
        # Several results, or none, are a list; one alone is no tuple, so a tuple of one is spelled
        # out.
        if isinstance(info, ast.TupleStructInfo) and len(info.fields) != 1 and op in _SHAPES:
            return f"[{', '.join([self.info.body(f) for f in info.fields])}]"
        return self.info.body(info)

    def with_name(self, call: ast.Call) -> list[str]:
        """The arguments of a call whose first argument is the name of a packed function."""
        rest = map(self.value_or_string, call.args[1:])
        return [self.name_of(call.args[0]), *rest] if call.args else []

    def with_shape_vars(self, call: ast.Call) -> list[str]:
        """The arguments of a call of a PrimFunc; arguments after the tuple are written with a
        keyword.
        """
        return list(map(self.text, call.args[:2]))

    def asserted(self, call: ast.Call) -> list[str]:
        """The arguments of an assertion: the values of its message are a list unless one variable
        is all.
        """
        given = list(map(self.plain, call.args))
        if len(given) < 2 or (len(given) == 2 and isinstance(call.args[1], ast.Var)):
            return given
        return [given[0], f"[{', '.join(given[1:])}]"]

    def plain(self, argument: Expr) -> str:
        """An argument of an operator; a Python literal is kept, because TVM distinguishes it from a
        value.
        """
        match argument:
            case ast.StringImm(value=text) if not self._begins(argument, "R."):
                return quoted(text)
            case ast.Tuple(fields=()):
                return "()"  # an empty list of axes; `R.tuple()` is a value
            case ast.Tuple(fields=fields) if self._is_literal(argument):
                return tuple_text([self.plain(field) for field in fields])
            case ast.PrimValue(value=tir.IntImm() | tir.FloatImm() as literal):
                if self._begins(argument, *"0123456789.+-TF") and not self._begins(argument, "T."):
                    return scalar(bool(literal.value) if literal.dtype == BOOL else literal.value)
        return self.value_or_string(argument)

    def value_or_string(self, argument: Expr) -> str:
        """An argument of another callee; strings and None are kept as written."""
        if type(argument) is ast.StringImm and self._begins(argument, '"', "'"):
            return quoted(argument.value)
        if type(argument) is ast.Call and self._begins(argument, "None"):
            return "None"
        return self._known[type(argument)](argument)

    def name_of(self, callee: Expr) -> str:
        """A packed function as an argument of a calling operator: only its name."""
        if isinstance(callee, ast.ExternFunc) and callee.struct_info is None:
            return quoted(callee.global_symbol)
        return self.text(callee)


_CALL_TIR = ("relax.call_tir", "relax.call_tir_inplace", "relax.call_tir_with_grad")
_MADE_TYPES = ("relax.call_inplace_packed", "relax.invoke_pure_closure")
"""Operators for which TVM does not turn a bare `R.Any` among the type arguments into a type."""
_SHAPES: dict[str, Callable[[ExprPrinter, ast.Call], list[str]]] = {
    "relax.assert_op": ExprPrinter.asserted,
    **dict.fromkeys(_CALL_TIR, ExprPrinter.with_shape_vars),
    "relax.call_dps_packed": ExprPrinter.with_name,
    "relax.call_pure_packed": ExprPrinter.with_name,
    "relax.call_inplace_packed": ExprPrinter.with_name,
    "relax.call_builtin_with_ctx": ExprPrinter.with_name,
}


def reference(key: str | None, dialect: Dialect) -> str:
    """A reference to a constant outside the text: its number, with the word of the dialect."""
    word, number = split_key(key or "")
    word = dialect.constant_key if word in CONSTANT_KEYS or not word else word
    return f'metadata["{word}"][{number or 0}]'


def _array(value: object) -> str:
    if isinstance(value, tuple | list):
        return f"[{', '.join([_array(v) for v in value])}]"
    return scalar(value)
