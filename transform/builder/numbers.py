"""Conversion of plain numbers beside tensors to constants of the tensor's element type."""

from __future__ import annotations

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Expr
from rlx.grammar.nodes.dtype import BOOL
from rlx.grammar.nodes.node import replace
from rlx.grammar.nodes.overloaded import NUMBER
from rlx.grammar.nodes.python_places import Place
from rlx.transform.builder import states


def settled(call: ast.Call, known: states.Growing) -> ast.Call:
    """A call of Python code in which numbers beside a tensor of known element type are replaced by constants.

    The first tensor determines the type. A Boolean tensor does so only if there is no other,
    because it is usually a condition (``where``). A number that does not fit into the element type
    is kept, and the checker reports it.
    """
    if not call.spelled or NUMBER not in call.spelled.values():
        return call
    if not isinstance(call.span, Place):
        return call  # numbers of texts stay what the text says
    kinds = [
        info.dtype
        for at, arg in enumerate(call.args)
        if call.spelled.get(at) != NUMBER
        and isinstance(info := known.info(arg), ast.TensorStructInfo)
        and not info.dtype.is_void
    ]
    if not kinds:
        return replace(call, spelled={})
    kind = next((kind for kind in kinds if kind != BOOL), BOOL)
    args: list[Expr] = []
    for at, arg in enumerate(call.args):
        value = arg.value if isinstance(arg, ast.PrimValue) else None
        if call.spelled.get(at) != NUMBER or not isinstance(value, tir.IntImm | tir.FloatImm):
            args.append(arg)
        elif kind.is_float or (isinstance(value, tir.IntImm) and kind.is_integer):
            number = float(value.value) if kind.is_float else value.value
            args.append(ast.Constant(ast.Literal(number, kind, ()), call.span))
        else:
            args.append(arg)
    return replace(call, args=tuple(args), spelled={})
