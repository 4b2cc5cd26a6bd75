"""Lifetimes of the tensors of a block: their uses, and which of them escape."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rlx.grammar.nodes import ast
from rlx.grammar.nodes.visit import expressions
from rlx.transform.lowering.emitter import operator_name

ALLOCATIONS = frozenset({"relax.builtin.alloc_tensor"})
KILLS: frozenset[str | None] = frozenset(
    {"relax.memory.kill_tensor", "relax.memory.kill_storage", "relax.vm.kill_object"}
)
READERS = frozenset(
    {
        "vm.builtin.match_shape",
        "vm.builtin.check_tensor_info",
        "vm.builtin.shape_of",
        "vm.builtin.tensor_to_shape",
        "vm.builtin.read_if_cond",
        "vm.builtin.attention_kv_cache_create",
        "vm.builtin.attention_kv_cache_append",
    }
)
"""Run-time functions that read a tensor but do not store a reference to it."""


class Lives:
    """The lifetimes of the tensors that a sequence of bindings allocates.

    Attributes
    ----------
    last
        For each allocated variable, the position of the last binding that uses its memory.
    escaping
        The variables whose memory may be used after the block or by unknown code.
    """

    def __init__(
        self,
        bindings: Sequence[ast.Binding],
        result: ast.Expr,
        prim_funcs: Mapping[ast.GlobalVar, object],
    ) -> None:
        self.last: dict[ast.Var, int] = {}
        self.escaping: set[ast.Var] = set()
        self._roots: dict[ast.Var, frozenset[ast.Var]] = {}
        self._prim_funcs = prim_funcs
        for at, binding in enumerate(bindings):
            self._binding(at, binding)
        self.escaping.update(self._of(result))

    def _binding(self, at: int, binding: ast.Binding) -> None:
        value = binding.value
        var = binding.var
        held = frozenset(self._of(value))
        for root in held:
            self.last[root] = at
        if operator_name(value) in ALLOCATIONS and var is not None:
            self._roots[var] = frozenset({var})
            self.last[var] = at
            return
        if not held:
            return
        if isinstance(value, ast.Call) and self._only_reads(value):
            return
        if var is not None and _hands_on(value):
            self._roots[var] = held  # the same memory under another name
        else:
            self.escaping |= held

    def _only_reads(self, call: ast.Call) -> bool:
        """Whether a call looks at its arguments and keeps none of them, nor gives one back."""
        match call.op:
            case ast.GlobalVar():
                return call.op in self._prim_funcs
            case ast.ExternFunc(global_symbol=name):
                return name in READERS or (_gives_nothing(call) and not name.startswith("vm."))
            case ast.Op(op_name=name):
                return name == "relax.vm.call_tir_dyn" or name in KILLS
        return False

    def _of(self, expr: ast.Expr) -> Iterator[ast.Var]:
        """The allocated variables whose memory an expression mentions, however deep."""
        parts: tuple[object, ...] = (expr,)
        if isinstance(expr, ast.Call):
            parts = (expr.op, *expr.args, *expr.attrs.values())
        for part in parts:
            if type(part) is ast.Var:
                yield from self._roots.get(part, ())
            elif type(part) not in _LEAVES and isinstance(part, ast.Expr):
                for node in expressions(part):
                    if isinstance(node, ast.Var):
                        yield from self._roots.get(node, ())


_LEAVES = frozenset(
    {ast.Constant, ast.DataTypeImm, ast.ExternFunc, ast.GlobalVar}
    | {ast.Op, ast.PrimValue, ast.ShapeExpr, ast.StringImm}
)
"""Operands in which no variable stands."""


def _hands_on(value: ast.Expr) -> bool:
    """Whether a value may share memory with its operands: a name, a tuple, or a view."""
    if isinstance(value, ast.Call) and isinstance(value.op, ast.Op):
        return value.op.op_name not in _KEEPING
    return isinstance(value, ast.Var | ast.Tuple | ast.TupleGetItem)


_KEEPING = frozenset({"relax.make_closure", "relax.invoke_closure", "relax.call_builtin_with_ctx"})
"""Operators that may store references to their arguments."""


def _gives_nothing(call: ast.Call) -> bool:
    """Whether the call says that its result is the empty tuple."""
    [info] = call.sinfo_args if len(call.sinfo_args) == 1 else (None,)
    return isinstance(info, ast.TupleStructInfo) and not info.fields
