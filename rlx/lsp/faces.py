"""The check of a whole text, with the interface of each function to the others."""

from __future__ import annotations

from collections.abc import Mapping

from rlx.checker.check import Report, check_text
from rlx.grammar.diagnostic import Diagnostic
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.node import Record, replace
from rlx.grammar.stack import recursion_room


class Checked(Record):
    """The result of a check, in a form that goes from one process to another.

    Attributes
    ----------
    diagnostics
        In order of position.
    faces
        What each function is to those that mention it, by the offset of its name. Where it is the
        same after an edit, what is said of the others is the same.
    """

    diagnostics: tuple[Diagnostic, ...]
    faces: Mapping[int, str]


def checked(text: str, path: str, target: str | None = None) -> Checked:
    """Check a text, for a version of TVM if there is a target."""
    return of_report(report_on(text, path, target))


def report_on(text: str, path: str, target: str | None = None) -> Report:
    """The report on a text, however deeply it is nested."""
    with recursion_room():
        return check_text(text, path, target)


def of_report(report: Report) -> Checked:
    """Make the result of a check from its report."""
    with recursion_room():
        return Checked(report.diagnostics, _faces(report))


def _faces(report: Report) -> dict[int, str]:
    found: dict[int, str] = {}
    for module in report.modules:
        for name, function in module.functions.items():
            if function.name_span is None:
                continue
            at = function.name_span[0]
            if isinstance(function, tir.PrimFunc):
                found[at] = _face_of_prim_func(function)
            elif function.ret_struct_info is None:
                info = report.info.get(name)
                if isinstance(info, ast.FuncStructInfo):  # its parameters are in its head
                    found[at] = f"{info.ret} {info.purity} {_attrs(function)}"
                else:
                    found[at] = f"{info} {_attrs(function)}"
            else:
                found[at] = _attrs(function)
    return found


def _attrs(function: ast.Function | tir.PrimFunc) -> str:
    return " ".join(sorted(f"{key}={value}" for key, value in function.attrs.items()))


def _face_of_prim_func(function: tir.PrimFunc) -> str:
    """Its parameters, those that it stores to, and of a straight one what it reads and stores."""
    from rlx.grammar.print.printer import print_node
    from rlx.operators.prim_call import stored

    body = function.body
    straight = body.stmts if isinstance(body, tir.SeqStmt) else (body,)
    if not all(isinstance(each, tir.BufferStore) for each in straight):
        own = function.buffer_map.values()
        stores = sorted(str(buffer.name) for buffer in stored(function) if buffer in own)
        return f"{print_node(replace(function, body=tir.SeqStmt(())))} {stores}"
    return print_node(function)
