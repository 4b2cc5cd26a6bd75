"""Calls on constants, which passes replace by their results."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from rlx.checker.normalize import normalize_function
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import DataType, dtype
from rlx.grammar.nodes.node import replace
from rlx.refine import terms
from rlx.refine.definitions import Definitions, Unopened
from rlx.refine.execute import CALL_TIR
from rlx.refine.terms import (
    ApplicationTerm,
    ConstantTerm,
    NumberTerm,
    ResultTerm,
    ShapeTerm,
    TensorTerm,
    Term,
    TupleTerm,
    WordTerm,
)
from rlx.semantics.outcome import Returned
from rlx.semantics.values import Tensor, TupleValue

LARGEST = 1 << 16
"""Constants with more elements are not computed."""
FUEL = 1 << 18
"""The most iterations of a PrimFunc."""


def same_constants(
    calls: FoldedCalls, before: Sequence[TensorTerm], after: Sequence[TensorTerm]
) -> dict[TensorTerm, TensorTerm]:
    """Tensors that both programs compute from constants alone, or have as constants: those of
    AFTER, each with an equal one of BEFORE. Of several equal tensors of BEFORE, the first
    represents the others.
    """
    known = set(before)
    new = {each: made for each in after if each not in known and (made := calls.constant(each))}
    types = {(each.shape, each.dtype) for each in new}
    first: dict[TensorTerm, TensorTerm] = {}
    found: dict[TensorTerm, TensorTerm] = {}
    for tensor in sorted(before, key=lambda each: not isinstance(each, ConstantTerm)):
        if (tensor.shape, tensor.dtype) in types and (made := calls.constant(tensor)):
            found[tensor] = first.setdefault(made, tensor)
    found |= {each: first[made] for each, made in new.items() if made in first}
    return {one: other for one, other in found.items() if one is not other}


class FoldedCalls:
    """The results of calls on constants, computed by the machine where the specification fixes the bits:
    nothing is rounded, one operation is, or the loops of a PrimFunc say the order.
    """

    def __init__(self, definitions: Definitions) -> None:
        self._definitions = definitions
        self._computed: dict[ApplicationTerm, dict[tuple[int, ...], ConstantTerm]] = {}

    def constant(self, term: Term) -> ConstantTerm | None:
        """A tensor as a constant; None if it is not made of constants alone, or too large."""
        match term:
            case ConstantTerm():
                return term
            case ResultTerm(of=application, path=path):
                if application not in self._computed:
                    self._computed[application] = self._run(application)
                return self._computed[application].get(path)
        return None

    def returns(self, application: ApplicationTerm) -> bool:
        """Whether a call on constants was computed, and did not fail."""
        return bool(self._computed.get(application))

    def _run(self, application: ApplicationTerm) -> dict[tuple[int, ...], ConstantTerm]:
        from rlx.semantics.machine import load

        arguments = [self._expression(each) for each in application.arguments]
        known = [each for each in arguments if each is not None]
        call = self._call(application, known) if len(known) == len(arguments) else None
        if call is None:
            return {}
        body, kernels = call
        head = normalize_function(ast.Function((), body, attrs={"global_symbol": "folded"}))
        module = ast.IRModule({**kernels, ast.GlobalVar("folded"): head})
        found = load(module, backend="steps", iterations=FUEL).run("folded", [], fuel=1000)
        if not isinstance(found, Returned):
            return {}
        whole = found.value
        fields = whole.fields if isinstance(whole, TupleValue) else (whole,)
        several = isinstance(whole, TupleValue) or application.name == CALL_TIR
        return {
            (k,) if several else (): terms.literal(
                field.shape, dtype(field.dtype), field.data.tobytes()
            )
            for k, field in enumerate(fields)
            if isinstance(field, Tensor)
        }

    def _expression(self, term: Term) -> ast.Expr | None:
        match term:
            case TensorTerm():
                found = self.constant(term)
                if found is None:
                    return None
                shape = tuple([dim.value for dim in found.shape if isinstance(dim, tir.IntImm)])
                return ast.Constant(ast.Literal(None, found.dtype, shape, None, found.content))
            case TupleTerm(fields=fields):
                made = [self._expression(each) for each in fields]
                known = tuple([each for each in made if each is not None])
                return ast.Tuple(known) if len(known) == len(made) else None
            case NumberTerm(value=tir.IntImm() | tir.FloatImm()) | WordTerm():
                return self._definitions.expression(term)
            case ShapeTerm(values=values) if all(isinstance(v, tir.IntImm) for v in values):
                return self._definitions.expression(term)
        return None

    def _call(
        self, application: ApplicationTerm, arguments: Sequence[ast.Expr]
    ) -> tuple[ast.Expr, dict[ast.GlobalVar, tir.PrimFunc]] | None:
        """The call, and the PrimFunc that it calls; None if its result is not fixed, or too large."""
        if application.name == CALL_TIR:
            attributes: Any = application.attributes
            function, outlines, first = attributes
            infos = [_info(each) for each in outlines]
            if first != len(arguments) or not all(map(_is_small, infos)):
                return None
            known = tuple([info for info in infos if info is not None])
            kernel = ast.GlobalVar("kernel")
            result = known[0] if len(known) == 1 else ast.TupleStructInfo(known)
            made = ast.Call(
                ast.op(CALL_TIR), (kernel, ast.Tuple(tuple(arguments))), sinfo_args=(result,)
            )
            return made, {kernel: function}
        call = self._definitions.call_of(application)
        try:
            if call is None or not _is_small(call.info):
                return None
            if not (self._definitions.exact(application) or _counts(call.call, arguments)):
                return None
        except Unopened:
            return None
        return replace(call.call, args=tuple(arguments)), {}


def _counts(call: ast.Call, operands: Sequence[ast.Expr]) -> bool:
    """Whether a call sums whole numbers that are so few and small that no order of them rounds."""
    import numpy as np

    if call.op_name not in ("relax.sum", "relax.cumsum") or call.attrs.get("dtype") is not None:
        return False
    match operands:
        case [ast.Constant(data=ast.Literal(dtype=kind, content=bytes() as content)), *_]:
            if kind.code != "float" or kind.bits not in _COUNTED:
                return False
            numbers = np.frombuffer(content, f"<f{kind.bits // 8}").astype(np.float64)
            whole = bool((np.floor(numbers) == numbers).all() and not np.signbit(numbers).any())
            return whole and float(numbers.sum()) < 2.0 ** _COUNTED[kind.bits]
    return False


_COUNTED = {16: 11, 32: 24, 64: 53}
"""The bits of the significand, by the width of the float."""


def _info(outline: object) -> ast.StructInfo | None:
    match outline:
        case ("tensor", tuple() as dims, DataType() as kind):
            return ast.TensorStructInfo(ast.ShapeExpr(dims), kind, len(dims))
    return None


def _is_small(info: ast.StructInfo | None) -> bool:
    match info:
        case ast.TensorStructInfo(shape=ast.ShapeExpr(values=dims)):
            known = [dim.value for dim in dims if isinstance(dim, tir.IntImm)]
            return len(known) == len(dims) and prod(known) <= LARGEST
        case ast.TupleStructInfo(fields=fields):
            return all(map(_is_small, fields))
    return False
