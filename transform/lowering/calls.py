"""CallTIRRewrite: calls that allocate their results become allocations and calls that write into
them.
"""

from __future__ import annotations

from collections.abc import Sequence

from rlx.checker.normalize import normalize
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import IRModule
from rlx.grammar.nodes.node import replace
from rlx.grammar.nodes.visit import evaluated
from rlx.transform.lowering.emitter import UNIT, Emitter, number, operator_name
from rlx.transform.lowering.passes import ModulePass, PassError
from rlx.transform.lowering.structure import dataflow_blocks

_REWRITTEN = frozenset(
    {
        "relax.call_tir",
        "relax.call_tir_with_grad",
        "relax.call_tir_inplace",
        "relax.call_dps_packed",
    }
)


_GLOBAL = ast.StringImm("global")


class CallTIRRewrite(ModulePass):
    """Replace ``call_tir`` and related calls by allocations and calls that write into them.

    Scalars in ``tir_vars`` are passed by ``R.vm.call_tir_dyn``.
    """

    def apply(self, module: IRModule) -> IRModule:
        """The module without calls that allocate.

        Raises
        ------
        PassError
            If a function has dataflow blocks, or a call declares no tensors of known shape and
            element type.
        """

        def lowered(gv: ast.GlobalVar, function: ast.Function) -> ast.Function:
            if dataflow_blocks(function):
                raise self.refuse(gv.name_hint, "a dataflow block", "run ToNonDataflow first")
            if not any(operator_name(e) in _REWRITTEN for e in evaluated(function, ast.Call)):
                return function
            return _CallRewriter(gv.name_hint, function).function(function)

        return normalize(module).map_relax_functions(lowered)


class _CallRewriter(Emitter):
    def __init__(self, name: str, function: ast.Function) -> None:
        super().__init__(function)
        self._owner = name

    def var_binding(self, binding: ast.VarBinding) -> None:
        value = binding.value
        if operator_name(value) not in _REWRITTEN:
            super().var_binding(binding)
            return
        assert isinstance(value, ast.Call)
        made = self._results(value)
        self.put(replace(binding, value=made))

    def _results(self, call: ast.Call) -> ast.Expr:
        callee, given, *rest = call.args
        assert isinstance(given, ast.Tuple)  # NF5
        args = given.fields
        single, infos = self._declared(call)
        reused: Sequence[ast.Expr | None] = [None] * len(infos)
        if "inplace_indices" in call.attrs:
            reused = [args[k] if k >= 0 else None for k in _inplace(call)]
        new: list[ast.Expr] = []
        made: list[ast.Expr] = []
        for info, kept in zip(infos, reused, strict=False):
            if kept is None:
                assert info.shape is not None
                value = ast.Call(
                    ast.op("relax.builtin.alloc_tensor"),
                    (info.shape, ast.DataTypeImm(info.dtype), number(0), _GLOBAL),
                )
                kept = self.emit(value, "alloc", info)
                new.append(kept)
            made.append(kept)
        (numbers,) = rest or (call.attrs.get("tir_vars"),)
        if numbers is not None:
            assert isinstance(numbers, ast.Expr)
            everything = ast.Tuple((*args, *new, numbers))
            self.effect(
                ast.Call(ast.op("relax.vm.call_tir_dyn"), (callee, everything), sinfo_args=(UNIT,))
            )
        elif isinstance(callee, ast.ExternFunc):
            self.effect(ast.Call(callee, (*args, *new), sinfo_args=(UNIT,)))
        else:
            self.effect(ast.Call(callee, (*args, *new)))
        if single:
            (alone,) = made
            return alone
        return ast.Tuple(tuple(made))

    def _declared(self, call: ast.Call) -> tuple[bool, Sequence[ast.TensorStructInfo]]:
        fields: Sequence[ast.StructInfo] = call.sinfo_args
        single = False
        match fields:
            case (ast.TupleStructInfo(fields=parts),):
                fields = parts
            case (_,):
                single = True
        found: list[ast.TensorStructInfo] = []
        for info in fields:
            if (
                not isinstance(info, ast.TensorStructInfo)
                or info.shape is None
                or info.dtype.is_void
            ):
                raise PassError(
                    f"CallTIRRewrite: {self._owner} calls with the result {info}; expected "
                    "tensors of known shape and element type, as they are before VMShapeLower"
                )
            found.append(info)
        return single, found


def _inplace(call: ast.Call) -> tuple[int, ...]:
    given = call.attrs["inplace_indices"]
    items = given if isinstance(given, tuple | list) else (given,)
    return tuple(_integer(item) for item in items)


def _integer(item: object) -> int:
    if isinstance(item, ast.PrimValue):
        item = item.value
    value = item.value if isinstance(item, tir.IntImm) else item
    assert isinstance(value, int)
    return value
