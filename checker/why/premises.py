"""Which premises of a rule are about what it is applied to."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from rlx.checker.why.recorder import Application
from rlx.grammar.nodes import ast
from rlx.operators import lookup

Applies = Callable[[Application], bool]


def that_apply(record: Application, premises: Iterable[str]) -> tuple[str, ...]:
    """Those of a rule's premises that are about what it was applied to."""
    return tuple(code for code in premises if _WHERE.get(code, _always)(record))


def _always(record: Application) -> bool:
    return True


def _binding(record: Application) -> Any:
    return record.arguments["binding"]


def _is_annotated(record: Application) -> bool:
    var = _binding(record).var
    return var is not None and var.struct_info_annotation is not None


def _is_cast(record: Application) -> bool:
    return isinstance(_binding(record), ast.MatchCast)


def _calls_operator(record: Application) -> bool:
    return isinstance(record.arguments["node"].op, ast.Op)


def _calls_function(record: Application) -> bool:
    return not _calls_operator(record)


def _callee(record: Application) -> ast.StructInfo | None:
    """What is known of the function that a call calls."""
    found: ast.StructInfo | None = record.arguments["state"].info_of.get(
        record.arguments["node"].op
    )
    return found


def _binds_shapes(record: Application) -> bool:
    callee = None if _calls_operator(record) else _callee(record)
    return isinstance(callee, ast.FuncStructInfo) and bool(callee.binders)


def _may_have_effects(record: Application) -> bool:
    op = record.arguments["node"].op
    if isinstance(op, ast.Op):
        operator = lookup(op.op_name)
        return operator is not None and not operator.pure
    callee = _callee(record)
    return isinstance(callee, ast.FuncStructInfo) and not callee.purity


def _promises_result(record: Application) -> bool:
    return record.arguments["node"].ret_struct_info is not None


def _asks(parameter: str, *words: str) -> Applies:
    """That a rule which is told by a word what to ask for is told one of these."""
    return lambda record: record.arguments.get(parameter) in words


_GROUPS = ("float", "integer", "signed", "bool")

_WHERE: dict[str, Applies] = {
    "D11-annotation": lambda record: _is_annotated(record) and not _is_cast(record),
    "D11-cast": _is_cast,
    "D11-cast-annotation": lambda record: _is_annotated(record) and _is_cast(record),
    "D14-operator": _calls_operator,
    "D14-callee": _calls_function,
    "D14-impure": _may_have_effects,
    "D14-binding": _binds_shapes,
    "D15-result": _promises_result,
    "D15-unchecked": lambda record: False,  # a note that counts what is left to run time
    **{f"OBL-element-{group}": _asks("group", group) for group in _GROUPS},
    "OBL-element-type": lambda record: not _asks("group", *_GROUPS)(record),
    **{f"OBL-known-{what}": _asks("what", what) for what in ("rank", "shape", "dtype")},
}
"""Premises that are about some of the places where their rule is applied."""
