"""Relax expressions that stand on one line: calls, literals, tuples."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rlx.grammar import ast, tir
from rlx.grammar.ast import Expr
from rlx.grammar.dialects import CONSTANT_KEYS, OUT_OPERATORS, Dialect, split_key
from rlx.grammar.dtype import BOOL, DataType
from rlx.grammar.printer_info import InfoPrinter
from rlx.grammar.printer_prim import Names, PrimPrinter, quoted, scalar, value_text


class ExprPrinter:
    """Prints the expressions of one function.

    Parameters
    ----------
    names
        The names of the variables of the function.
    dialect
        The spelling.
    module_alias
        What global functions are reached through: ``"cls."``, or nothing where no class is around.
    """

    def __init__(self, names: Names, dialect: Dialect, module_alias: str = "cls.") -> None:
        self.names = names
        self.dialect = dialect
        self.module_alias = module_alias
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
            ast.Op: lambda e: "R." + e.op_name.removeprefix("relax."),
        }

    def text(self, expr: Expr) -> str:
        """An expression as text.

        Raises
        ------
        TypeError
            For a function, branch or sequence: these have no text on one line. The printer of
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
        return f"({self.texts(node.fields)}{',' if len(node.fields) == 1 else ''})"

    def _shape(self, node: ast.ShapeExpr) -> str:
        return f"R.shape([{self.prim.texts(node.values)}])"

    def _item(self, node: ast.TupleGetItem) -> str:
        value = node.tuple_value
        if isinstance(value, ast.Tuple):  # `(x, y)[0]` is x
            return f"R.tuple({self.texts(value.fields)})[{node.index}]"
        return f"{self.text(value)}[{node.index}]"

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
        return f'R.const({_array(data.value)}, "{data.dtype}")'

    def _extern(self, node: ast.ExternFunc) -> str:
        if node.struct_info is None:
            return f"R.ExternFunc({quoted(node.global_symbol)})"
        return f"R.ExternFunc({quoted(node.global_symbol)}, {self.info.body(node.struct_info)})"

    def _call(self, call: ast.Call) -> str:
        op, args = call.op, call.args
        match op:
            case ast.Op(op_name=name):
                head = "R." + name.removeprefix("relax.")
                special = _SHAPES.get(name)
                if special is not None:
                    return f"{head}({', '.join(special(self, call) + self._keywords(call))})"
            case ast.ExternFunc(global_symbol=symbol, struct_info=None):
                parts = [quoted(symbol), *map(self.text, args), *self._keywords(call)]
                return f"R.call_packed({', '.join(parts)})"
            case _:
                head = self.text(op)
        if not call.attrs and not call.sinfo_args:
            return f"{head}({self.texts(args)})"
        return f"{head}({', '.join([*map(self.text, args), *self._keywords(call)])})"

    def _keywords(self, call: ast.Call) -> list[str]:
        """Attributes as they were written, and the type arguments where TVM prints them."""
        keywords = [f"{key}={self.value(value)}" for key, value in call.attrs.items()]
        infos = call.sinfo_args
        if not infos:
            return [*self._shape_vars(call), *keywords]
        if isinstance(call.op, ast.Op) and call.op.op_name in OUT_OPERATORS and len(infos) == 1:
            name = call.op.op_name
            out = f"{self.dialect.out_info}={self._out(infos[0], name)}"
            return [out, *self._shape_vars(call), *keywords]
        shown = [self.info.body(info) for info in infos]
        listed = f"({shown[0]},)" if len(shown) == 1 else f"({', '.join(shown)})"
        return [*keywords, f"{self.dialect.info_args}={listed}"]

    def _shape_vars(self, call: ast.Call) -> list[str]:
        if isinstance(call.op, ast.Op) and call.op.op_name in _CALL_TIR:
            return [f"tir_vars={self.text(e)}" for e in call.args[2:]]
        return []

    def _out(self, info: ast.StructInfo, op: str) -> str:
        # Several results are a list; one alone is no tuple, so a tuple of one is spelled out.
        if isinstance(info, ast.TupleStructInfo) and len(info.fields) > 1 and op in _SHAPES:
            return f"[{', '.join([self.info.body(f) for f in info.fields])}]"
        return self.info.body(info)

    def with_name(self, call: ast.Call) -> list[str]:
        """The arguments of a call whose first names a packed function."""
        return [self.name_of(call.args[0]), *map(self.text, call.args[1:])] if call.args else []

    def with_shape_vars(self, call: ast.Call) -> list[str]:
        """The arguments of a call of a PrimFunc; what stands behind the tuple has a keyword."""
        return list(map(self.text, call.args[:2]))

    def with_plain_strings(self, call: ast.Call) -> list[str]:
        """The arguments of an operator that takes Python strings, not strings of Relax."""
        return [
            quoted(e.value) if isinstance(e, ast.StringImm) else self.text(e) for e in call.args
        ]

    def name_of(self, callee: Expr) -> str:
        """A packed function as calling operators take it: by its name alone."""
        if isinstance(callee, ast.ExternFunc) and callee.struct_info is None:
            return quoted(callee.global_symbol)
        return self.text(callee)


_CALL_TIR = ("relax.call_tir", "relax.call_tir_inplace", "relax.call_tir_with_grad")
_SHAPES: dict[str, Callable[[ExprPrinter, ast.Call], list[str]]] = {
    **dict.fromkeys(_CALL_TIR, ExprPrinter.with_shape_vars),
    "relax.call_dps_packed": ExprPrinter.with_name,
    "relax.call_pure_packed": ExprPrinter.with_name,
    "relax.call_inplace_packed": ExprPrinter.with_name,
    "relax.call_builtin_with_ctx": ExprPrinter.with_name,
    "relax.hint_on_device": ExprPrinter.with_plain_strings,
}


def reference(key: str | None, dialect: Dialect) -> str:
    """A constant whose data stands outside the text: its number, under the word of the dialect."""
    word, number = split_key(key or "")
    word = dialect.constant_key if word in CONSTANT_KEYS or not word else word
    return f'metadata["{word}"][{number or 0}]'


def _array(value: object) -> str:
    if isinstance(value, tuple | list):
        return f"[{', '.join([_array(v) for v in value])}]"
    return scalar(value)
