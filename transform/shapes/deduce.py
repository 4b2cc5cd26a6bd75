"""Backward shape inference: from results to operands."""

from __future__ import annotations

from collections.abc import Mapping

from rlx.checker.derive import known_infos
from rlx.checker.normalize import normalize
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import Expr, GlobalVar, IRModule, StructInfo, TensorStructInfo
from rlx.grammar.nodes.dtype import VOID, DataType
from rlx.grammar.nodes.equal import structural_equal
from rlx.grammar.nodes.node import Node, all_same, replace
from rlx.grammar.nodes.python_places import flag
from rlx.grammar.nodes.struct_infos import OBJECT
from rlx.operators.elementwise import ANY, ARITHMETIC, COMPARISON, FLOAT, FLOAT_NN, TEST
from rlx.solver.order import free_shape_vars
from rlx.solver.order.substitute import dimensions
from rlx.transform.arguments import operands
from rlx.transform.shapes.propagate import Stronger
from rlx.transform.shapes.specialise import is_open, says_more

_KEEPS_TYPE = frozenset([*FLOAT.split(), *ANY.split(), *FLOAT_NN.split(), "relax.nn.relu"])
_KEEPS_SHAPE = _KEEPS_TYPE | {*TEST.split(), "relax.astype"}
_AGREE = frozenset(ARITHMETIC.split())
_COMPARE = frozenset(COMPARISON.split())
Known = dict[ast.Var, TensorStructInfo]


class _Deduced(Stronger):
    """Gives parameters the annotations that were deduced, and casts what stays open."""

    def __init__(self, module: IRModule, broadcast: bool) -> None:
        self.info = known_infos(module)
        self.broadcast = broadcast
        self.deduced: Known = {}
        self.parameters: tuple[ast.Var, ...] = ()

    def visit_global_function(self, gv: GlobalVar, function: ast.Function) -> None:
        self.deduced = _Backwards(function, self.info, self.broadcast).deduced()
        self.parameters = function.params
        super().visit_global_function(gv, function)

    def visit_var_def(self, var: ast.Var) -> ast.Var:
        found = self.deduced.get(var)
        if found is None or var not in self.parameters:
            return super().visit_var_def(var)
        made = replace(var, struct_info_annotation=found)
        self.replace_var(var, made)
        return made

    def visit_var_binding(self, binding: ast.VarBinding) -> None:
        super().visit_var_binding(binding)
        found, var = self.deduced.get(binding.var), self.visit_expr(binding.var)
        if found is None or not isinstance(var, ast.Var):
            return
        in_scope = self.builder.shape_vars.values()
        more = says_more(self.builder, found, self.builder.struct_info(var))
        if more and all(v in in_scope for v in free_shape_vars(found)):
            frame = self.builder.frame
            output = frame.block is not None and type(var) is ast.Var
            self.replace_var(binding.var, frame.cast(var, found, var.name_hint, self.place, output))


class _Backwards:
    """Deduces what the values of a function must be for all of its bindings to succeed.

    Only bindings that every run reaches say something: those of branches and local functions do
    not.
    """

    def __init__(
        self, function: ast.Function, info: Mapping[Node, StructInfo], broadcast: bool
    ) -> None:
        self.function, self.info, self.broadcast = function, info, broadcast
        self.wanted: Known = {}
        self.cast: dict[Expr, StructInfo] = {}

    def deduced(self) -> Known:
        """The struct info of each value for which it is more precise than the derived one."""
        body = self.function.body
        assert isinstance(body, ast.SeqExpr)
        if isinstance(self.function.ret_struct_info, TensorStructInfo):
            self.want(body.body, self.function.ret_struct_info)
        for block in reversed(body.blocks):
            for binding in reversed(block.bindings):
                self.binding(binding)
        bound = set(self.function.shape_vars)
        return {
            var: info
            for var, info in ((var, self.best(var)) for var in self.wanted)
            if info is not None
            and is_open(self.info.get(var, OBJECT))
            and not (var in self.cast and structural_equal(self.cast[var], info))
            and (var not in self.function.params or bound.issuperset(free_shape_vars(info)))
        }

    def binding(self, binding: ast.Binding) -> None:
        """Learn from a binding about the operands of its value."""
        if isinstance(binding, ast.MatchCast):
            if not binding.shape_vars and isinstance(binding.struct_info, TensorStructInfo):
                self.want(binding.value, binding.struct_info)
                if binding.value not in self.function.params:
                    self.cast[binding.value] = binding.struct_info
            return
        assert isinstance(binding, ast.VarBinding)
        result, value = self.best(binding.var), binding.value
        if result is None:
            return
        if isinstance(value, ast.Var):
            self.want(value, result)
        elif isinstance(value, ast.Call):
            if value.op_name in _KEEPS_SHAPE:
                kept = result if value.op_name in _KEEPS_TYPE else _typed(result, VOID)
                first, *_ = operands(value)
                self.want(first, kept)
            elif value.op_name == "relax.ewise_fma":
                for arg in operands(value):
                    self.want(arg, result)
            elif value.op_name in _AGREE | _COMPARE:
                self.pair(value, result)

    def pair(self, call: ast.Call, result: TensorStructInfo) -> None:
        """Learn about one operand from the other one and the result, if it is known to be a
        tensor.
        """
        given = operands(call)
        for arg, other in zip(given, reversed(given), strict=True):
            beside = self.best(other)
            if beside is not None and isinstance(self.info.get(arg), TensorStructInfo):
                kind = beside.dtype if beside.dtype.is_float else VOID
                known, others = dimensions(result), dimensions(beside)
                alike = known is not None and others is not None and all_same(known, others)
                if alike and not self.broadcast:
                    self.want(arg, _typed(result, kind))
                else:
                    self.want(arg, TensorStructInfo(dtype=kind))

    def best(self, expr: Expr) -> TensorStructInfo | None:
        """All that is known of a value."""
        found = self.info.get(expr)
        more = self.wanted.get(expr) if isinstance(expr, ast.Var) else None
        if not isinstance(found, TensorStructInfo):
            return more
        return found if more is None else _joined(found, more)

    def want(self, expr: Expr, info: TensorStructInfo) -> None:
        """Note what a value must be."""
        if isinstance(expr, ast.Var) and (info.ndim >= 0 or not info.dtype.is_void):
            before = self.wanted.get(expr)
            self.wanted[expr] = info if before is None else _joined(before, info)


def _joined(first: TensorStructInfo, second: TensorStructInfo) -> TensorStructInfo:
    """Two struct infos of one value, joined; the first counts before the second."""
    with_shape = first if dimensions(first) is not None or second.ndim < 0 else second
    kind = second.dtype if first.dtype.is_void else first.dtype
    return TensorStructInfo(with_shape.shape, kind, with_shape.ndim, first.vdevice)


def _typed(info: TensorStructInfo, kind: DataType) -> TensorStructInfo:
    return TensorStructInfo(info.shape, kind, info.ndim, None)


def deduce_shapes(module: IRModule, *, broadcast: bool = False) -> IRModule:
    """Deduce the shapes of operands from the shapes of results.

    Parameters get annotations, which calls check; other values are cast if the shape is not yet
    known.

    Parameters
    ----------
    broadcast
        Whether an operand may be broadcast to the result. If not, both operands of a binary
        elementwise operator are assumed to have the shape of the result if one of them has it, and
        a program that violates this fails.

    Raises
    ------
    BuildError
        If the module has errors.
    """
    flag(broadcast, "broadcast")
    normal = normalize(module)
    found = _Deduced(normal, broadcast)(normal)
    return module if found is normal else found
