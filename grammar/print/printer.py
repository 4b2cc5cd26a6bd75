"""The printer: from nodes to text, in any dialect.

The printed text parses to a structurally equal module, and printing this module gives the same
text. Five properties cannot be kept, because no text expresses them: adjacent binding blocks are
printed as one, a branch or function inside an expression is bound to a variable first, the data of
a constant outside the text stays outside, names are changed if they would be captured, and the
annotation of the variable of an `if` is printed in both branches, as TVM does, so it is read as
that of the last variable of each branch.
"""

from __future__ import annotations

import re
from ast import Import, ImportFrom
from ast import parse as parse_python
from collections.abc import Iterable, Mapping

from rlx.grammar import dialects
from rlx.grammar.dialects import DEFAULT, Dialect
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.node import Node
from rlx.grammar.print.calls import ExprPrinter
from rlx.grammar.print.pieces import (
    Printer,
    function_printer,
    print_expr,
    print_function,
    print_prim_expr,
    print_struct_info,
)
from rlx.grammar.print.prim import scalar
from rlx.grammar.print.relax import FunctionPrinter
from rlx.grammar.print.show import show
from rlx.grammar.print.tir import PrimFuncPrinter
from rlx.grammar.read.comments import BLANK, Remarks, put
from rlx.grammar.stack import roomy

__all__ = [
    "print_expr",
    "print_function",
    "print_module",
    "print_node",
    "print_prim_expr",
    "print_struct_info",
    "show",
]

_INDENT = "    "


@roomy
def print_module(
    module: ast.IRModule, dialect: str = DEFAULT, remarks: Remarks | None = None
) -> str:
    """A module as printed by this version of TVM, with comments above definitions.

    Parameters
    ----------
    module
        The module.
    dialect
        ``"0.16"`` … ``"0.27"``.
    remarks
        Comments of the source that are not above definitions; each is printed before the same
        statement as in the source.

    Raises
    ------
    ValueError
        If there is no such dialect.
    """
    if not isinstance(module, ast.IRModule):
        raise TypeError(f"expected a module, found {type(module).__name__}")
    return _ModulePrinter(module, dialects.dialect(dialect), remarks or Remarks()).print()


def print_node(node: Node, dialect: str = DEFAULT) -> str:
    """Print any node with a text: a module, a function, a block, a binding, an expression, struct
    info, a dimension.

    Raises
    ------
    TypeError
        If nodes of this kind have no text of their own.
    """
    match node:
        case ast.IRModule():
            return print_module(node, dialect)
        case ast.Function() | tir.PrimFunc():
            name = node.attrs.get("global_symbol", "main")
            return print_function(node, str(name), dialect)
        case ast.StructInfo():
            return print_struct_info(node, dialect)
        case tir.PrimExpr():
            return print_prim_expr(node)
        case ast.Expr():
            return print_expr(node, dialect)
        case ast.BindingBlock():
            *lines, _ = print_expr(ast.SeqExpr((node,), ast.Tuple(())), dialect).splitlines()
            return "\n".join(lines)
        case ast.Binding():
            return print_node(ast.BindingBlock((node,)), dialect)
        case ast.VDevice(target=target, index=index):
            return f"{target}:{index}"
    raise TypeError(f"expected a module or a part of one, found {type(node).__name__}")


class _ModulePrinter:
    def __init__(self, module: ast.IRModule, spelling: Dialect, remarks: Remarks) -> None:
        self.module = module
        self.remarks = remarks
        self.dialect = spelling
        self.bare = module.bare and not (module.attrs or module.global_infos or module.externs)
        global_names = [gv.name_hint for gv in module.functions] if self.bare else []
        around = None if self.bare else module.name
        self.functions: list[tuple[str, Printer]] = [
            (gv.name_hint, function_printer(f, spelling, around, global_names, remarks))
            for gv, f in module.functions.items()
        ]
        outside = set(self._type_vars())
        for _, printer in self.functions:
            printer.rename_declared(outside)

    def print(self) -> str:
        # A text from hand-made nodes has no spans, and no remarks either.
        heads = self.remarks.heads("class ", None if self.bare else self.module.span)
        lines = self._top(self.module.span[0] if self.module.span else 0)
        pad = "" if self.bare else _INDENT
        above, decorated = heads[0]
        lines += [*above, *self.module.comments]
        if not self.bare:
            bases = f"({self.module.bases})" if self.module.bases else ""
            head = f"class {self.module.name}{bases}:"
            put(lines, f"@I.ir_module{self._flag()}", "", ([], decorated))
            put(lines, head, "", heads[1])
            lines += self._attributes()
        before = len(lines)
        for name, printer in self.functions:
            if len(lines) > before:
                lines.append("")
            lines += printer.print(name, pad)
        if lines and lines[-1].startswith("class "):
            lines.append(f"{pad}pass")
        if self.module.span is not None:
            inside = (
                self.functions[-1][1].function.span if self.functions and not self.bare else None
            )
            end = self.module.span[1]
            left = self.remarks.inside(end, inside[0]) if inside else self.remarks.before(end)
            lines += [pad + text for text in left]
        return "\n".join(lines) + "\n"

    def _top(self, start: int) -> list[str]:
        """The lines above the module: comments and imports of the source, the header, and the shape
        variables.
        """
        declared: list[str] = []
        for name in self._type_vars():
            words = (f"{name} =", f"{name}=")
            put(declared, f'{name} = TypeVar("{name}")', "", self.remarks.named(words, (0, start)))
        above = self.remarks.before(start)
        gap = [above.pop()] if above and above[-1].startswith(BLANK) else []
        known = set(self.remarks.imports)
        header = self._header(known)
        if known:
            above = [self._import(each) if each in known else each for each in above]
            lines = [*above, *header, *(gap or [""])]
            return [*lines, *declared, *([""] if declared and gap else [])]
        lines = [*above, "", *header] if above else header
        return [*lines, "", *declared, *(gap if declared else [])]

    def _import(self, text: str) -> str:
        """An import of the source, with the name that this version has for TIR."""
        if not text.startswith("from tvm.script"):
            return text
        return _TIR_AS.sub(self.dialect.tir_module, text)

    def _header(self, imports: Iterable[str]) -> list[str]:
        """The imports that the program needs, as comments if the source has no imports."""
        type_vars = self._type_vars()
        has_tir = any(
            isinstance(p, PrimFuncPrinter) or bool(p.body_vars()) for _, p in self.functions
        )
        has_relax = any(isinstance(p, FunctionPrinter) for _, p in self.functions)
        lines = ["# from typing import TypeVar"] if type_vars else []
        if not self.bare:
            lines.append("# from tvm.script import ir as I")
        if has_tir:
            lines.append(f"# from tvm.script import {self.dialect.tir_module} as T")
            if self.dialect.type_vars:
                lines.append("# from tvm.tirx.layout import Axis")
        if has_relax:
            lines.append("# from tvm.script import relax as R")
        if not imports:
            return lines
        needed = [line.removeprefix("# ") for line in lines if not line.endswith("Axis")]
        known = {name for each in imports for name in _names(each)}
        return [line for line in needed if not _names(line) <= known]

    def _type_vars(self) -> list[str]:
        """The names to declare above the class: bound in a function, or declared and mentioned."""
        if not self.dialect.type_vars:
            return []
        names = {name for _, printer in self.functions for name in printer.type_vars()}
        for _, printer in self.functions:
            if isinstance(printer, FunctionPrinter):
                free = {v.name for v in printer.scope.free_shape_vars}
                names |= free & set(self.module.type_vars)
        return sorted(names)

    def _flag(self) -> str:
        marked = any(
            isinstance(p, PrimFuncPrinter) and p.is_schedulable() for _, p in self.functions
        )
        return "(s_tir=True)" if self.dialect.module_flag and marked else ""

    def _attributes(self) -> list[str]:
        values = ExprPrinter({}, self.dialect)
        written: dict[str, str] = {}
        if self.module.attrs:
            written["I.module_attrs"] = f"({values.value(self.module.attrs)})"
        if self.module.global_infos:
            written["I.module_global_infos"] = (
                f"({_global_infos(self.module.global_infos, values)})"
            )
        for name, extern in self.module.externs.items():
            written[name] = f" = {values.text(extern)}"
        lines: list[str] = []
        for word, rest in written.items():
            beside = self.remarks.named(word, self.module.span, first=True)
            put(lines, word + rest, _INDENT, beside)
        return lines


_TIR_AS = re.compile(r"\btirx?(?=\s+as\b)")


def _names(line: str) -> set[str]:
    """The names that an import binds."""
    return {
        alias.asname or alias.name
        for statement in parse_python(line).body
        if isinstance(statement, Import | ImportFrom)
        for alias in statement.names
    }


def _global_infos(infos: Mapping[str, tuple[object, ...]], values: ExprPrinter) -> str:
    listed = []
    for key, entries in infos.items():
        shown = [_global_info(entry, values) for entry in entries]
        listed.append(f"{scalar(key)}: [{', '.join(shown)}]")
    return "{" + ", ".join(listed) + "}"


def _global_info(entry: object, values: ExprPrinter) -> str:
    """A device, or another call: a text reads as its head followed by its arguments."""
    match entry:
        case ast.VDevice(target=target, index=index, memory_scope=scope):
            shown = target if target.startswith("{") else scalar(target)
            return f"I.vdevice({shown}, {index}, {scalar(scope)})"
        case (str(head), *arguments) if head.startswith(("I.", "R.")):
            return f"{head}({', '.join([_argument(a, values) for a in arguments])})"
    return values.value(entry)


def _argument(entry: object, values: ExprPrinter) -> str:
    match entry:
        case (str(name), value) if name.isidentifier():
            return f"{name}={_global_info(value, values)}"
    return _global_info(entry, values)
