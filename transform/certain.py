"""Values that can be computed for all inputs without failure."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import cached_property

from rlx.checker.derive.module import begin
from rlx.checker.prim_funcs.check import prim_funcs
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Expr, IRModule, StructInfo, TensorStructInfo
from rlx.grammar.nodes.dtype import BOOL
from rlx.grammar.nodes.node import Node
from rlx.grammar.nodes.struct_infos import mentioned, numbers, of_the_value
from rlx.grammar.nodes.visit import LEAVES, bindings, bindings_in, evaluated
from rlx.grammar.stack import recursion_room
from rlx.operators.registry import lookup
from rlx.solver.order.substitute import dimensions
from rlx.transform.arguments import argument, operands
from rlx.transform.builder import states

_ON_FLOATS = frozenset(
    [
        "acos",
        "acosh",
        "asin",
        "asinh",
        "atan",
        "atanh",
        "cos",
        "cosh",
        "divide",
        "erf",
        "exp",
        "log",
        "mean",
        "power",
        "rsqrt",
        "sigmoid",
        "sin",
        "sinh",
        "sqrt",
        "std",
        "tan",
        "tanh",
        "variance",
        "nn.attention",
        "nn.batch_norm",
        "nn.gelu",
        "nn.gelu_tanh",
        "nn.group_norm",
        "nn.layer_norm",
        "nn.leakyrelu",
        "nn.log_softmax",
        "nn.prelu",
        "nn.rms_norm",
        "nn.selu",
        "nn.silu",
        "nn.softmax",
        "nn.softplus",
    ]
)
"""Operators that are defined for all floats; on integers they may fail."""
_ON_NUMBERS = frozenset(
    [
        "abs",
        "add",
        "argsort",
        "astype",
        "atan2",
        "broadcast_to",
        "ceil",
        "clip",
        "collapse_sum_like",
        "collapse_sum_to",
        "concat",
        "cumprod",
        "cumsum",
        "einsum",
        "equal",
        "ewise_fma",
        "expand_dims",
        "eye_like",
        "flatten",
        "flip",
        "floor",
        "full_like",
        "greater",
        "greater_equal",
        "isfinite",
        "isinf",
        "isnan",
        "less",
        "less_equal",
        "linear",
        "log_add_exp",
        "logical_and",
        "logical_not",
        "logical_or",
        "logical_xor",
        "matmul",
        "maximum",
        "meshgrid",
        "minimum",
        "multiply",
        "negative",
        "nonzero",
        "not_equal",
        "one_hot",
        "ones_like",
        "outer",
        "permute_dims",
        "prod",
        "repeat",
        "reshape",
        "round",
        "shape_of",
        "sign",
        "size",
        "sort",
        "split",
        "square",
        "squeeze",
        "stack",
        "strided_slice",
        "subtract",
        "sum",
        "tile",
        "topk",
        "tril",
        "triu",
        "trunc",
        "unique",
        "where",
        "zeros_like",
        "nn.avg_pool1d",
        "nn.avg_pool2d",
        "nn.avg_pool3d",
        "nn.batch_flatten",
        "nn.conv1d",
        "nn.conv1d_transpose",
        "nn.conv2d",
        "nn.conv2d_transpose",
        "nn.conv3d",
        "nn.conv3d_transpose",
        "nn.dropout",
        "nn.max_pool1d",
        "nn.max_pool2d",
        "nn.max_pool3d",
        "nn.pad",
        "nn.pixel_shuffle",
        "nn.relu",
        "nn.relu6",
    ]
)
"""Operators that are defined for all numbers, if their obligations are proved."""
_ON_INTEGERS = frozenset(["bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor"])
_ON_ELEMENTS = frozenset(["argmax", "argmin", "max", "mean", "median", "min", "image.resize2d"])
"""Operators that are defined for all numbers, if the tensor has elements."""
_NOT_ON_BOOL = frozenset(
    ["negative", "sign", "subtract", "nn.avg_pool1d", "nn.avg_pool2d", "nn.avg_pool3d"]
)
_MADE = frozenset(["arange", "eye", "full", "ones", "zeros"])
_TOTAL_OPERATORS = _ON_FLOATS | _ON_NUMBERS | _ON_INTEGERS | _ON_ELEMENTS | _MADE
_LEAVES = (
    ast.Constant,
    ast.StringImm,
    ast.DataTypeImm,
    ast.GlobalVar,
    ast.ExternFunc,
    ast.Function,
)
FREES = ("relax.memory.kill_", "relax.vm.kill_")


class Certainty:
    """Decides for values of a function whether computing them can fail.

    Parameters
    ----------
    function
        The function, in normal form.
    around
        The signatures of the module around it, which all functions share, so that a chain of
        functions without annotated results is derived once.
    """

    def __init__(self, function: ast.Function, around: states.Signatures) -> None:
        self._function, self._around, self._module = function, around, around.module
        self._values = {b.var: b.value for b in bindings(function) if type(b) is ast.VarBinding}
        self._written: dict[ast.Var, bool] = {}
        self._filling: dict[ast.GlobalVar, bool] = {}

    @cached_property
    def _state(self) -> states.Growing:
        """All that is known in the function."""
        state = self._derivation()
        with recursion_room():
            state.info(self._function)
        return state

    @cached_property
    def _signature(self) -> states.Growing:
        """The knowledge from the signature, and the annotations that calls were asked with."""
        state = self._derivation()
        begin(state, self._function)
        return state

    def _derivation(self) -> states.Growing:
        return states.derivation(self._around, self._values)

    @cached_property
    def _frees(self) -> bool:
        """Whether some value may be gone before it is read."""
        return any(c.op_name.startswith(FREES) for c in evaluated(self._function, ast.Call))

    def cannot_fail(self, value: Expr) -> bool:
        """Whether computing a value has no effect and never ends a run.

        True only where that is plain: leaves, tuples and their fields, operators on numbers whose
        obligations are proved, PrimFuncs whose accesses are proved, and branches of all these.
        """
        if isinstance(value, _LEAVES):
            return True
        match value:
            case ast.ShapeExpr(values=dims):
                return all(isinstance(dim, tir.Var | tir.IntImm) for dim in dims)
            case ast.PrimValue(value=number):
                return isinstance(number, tir.Var | tir.IntImm | tir.FloatImm)
            case _ if self._frees:
                return False
            case ast.Var():
                return True
            case ast.Tuple(fields=fields):
                return all(map(self.cannot_fail, fields))
            case ast.TupleGetItem(tuple_value=whole):
                return isinstance(self._info(whole), ast.TupleStructInfo)
            case ast.If(cond=cond, true_branch=one, false_branch=other):
                return self._is_written(cond) and self.cannot_fail(one) and self.cannot_fail(other)
            case ast.SeqExpr(body=body):
                return self.cannot_fail(body) and all(
                    isinstance(b, ast.VarBinding) and self.cannot_fail(b.value)
                    for b in bindings_in(value)
                )
            case ast.Call():
                return self._call(value)
        return False

    def is_pure(self, value: Expr) -> bool:
        """Whether computing a value has no effect, though it may end the run."""
        stack: list[Node] = [value]
        while stack:
            node = stack.pop()
            if isinstance(node, ast.MatchCast):
                return False
            if isinstance(node, ast.Call):
                operator = lookup(node.op_name)
                if operator is None:
                    info = self._info(node.op)
                    if not isinstance(info, ast.FuncStructInfo) or not info.purity:
                        return False
                elif not operator.pure or node.op_name.startswith(FREES):
                    return False
            if not isinstance(node, ast.Function):  # what is in it is computed by its calls
                stack += [part for part in node.children() if type(part) not in LEAVES]
        return True

    def _info(self, expr: Expr) -> StructInfo | None:
        found = self._signature.info_of.get(expr)
        return self._state.info_of.get(expr) if found is None else found

    def _is_written(self, expr: Expr) -> bool:
        """Whether all elements of a value are certainly written: memory may be left as it was
        only by what another function writes.
        """
        stack, seen = [expr], set()
        while stack:
            each = stack.pop()
            match each:
                case ast.Tuple(fields=fields):
                    stack.extend(fields)
                case ast.TupleGetItem(tuple_value=whole):
                    stack.append(whole)
                case ast.Var():
                    value = self._values.get(each)
                    if value is not None and each not in seen:
                        seen.add(each)
                        stack.append(value)
                case ast.Call() if not self._writes_all(each):
                    return False
                case ast.If() | ast.SeqExpr():
                    return False
        return True

    def _writes_all(self, call: ast.Call) -> bool:
        """Whether a call writes each element of its result."""
        name = call.op_name
        if name == "relax.call_tir":
            return self._fills(call)
        operator = lookup(name)
        plain = operator is not None and operator.pure and "." not in name[6:]
        plain = plain or name.startswith(("relax.nn.", "relax.image."))
        return plain and "call_" not in name

    def _call(self, call: ast.Call) -> bool:
        name = call.op_name.removeprefix("relax.")
        if name == "call_tir":
            return self._fills(call)
        if name not in _TOTAL_OPERATORS:
            return False
        if name == "nn.pad" and argument(call, "pad_mode") != "constant":
            return False  # what is repeated may be too short
        if not self._is_proved(call):
            return False
        return all(self._operand(name, operand) for operand in operands(call))

    def _is_proved(self, call: ast.Call) -> bool:
        """Whether the obligations of a call hold: by the annotations of its operands alone, if
        these say all, so that nobody needs to derive the function; or by all that is known.
        """
        state, bound = self._signature, set(self._function.shape_vars)
        for var in evaluated(call, ast.Var):
            info = state.info_of.get(var, var.struct_info_annotation)
            if not isinstance(info, TensorStructInfo) or not bound.issuperset(mentioned(info)):
                break
            if dimensions(info) is None or info.dtype.is_void:
                break
            state.info_of[var] = info
        else:
            state.info(call)
            if call not in state.unproved and not state.poisoned(call):
                return True
        return call not in self._state.unproved and not self._state.poisoned(call)

    def _operand(self, name: str, operand: Expr) -> bool:
        if isinstance(operand, ast.Tuple):
            return all(self._operand(name, field) for field in operand.fields)
        info = self._info(operand)
        if isinstance(info, ast.ShapeStructInfo):
            return (
                info.values is not None
                and self.cannot_fail(operand)
                and self._are_lengths(info.values)
            )
        if isinstance(operand, ast.PrimValue):
            return self.cannot_fail(operand)
        fields = info.fields if isinstance(info, ast.TupleStructInfo) else (info,)
        return all(_takes(name, field) for field in fields) and self._is_written(operand)

    def _are_lengths(
        self, dims: Iterable[tir.PrimExpr], known: Collection[tir.PrimExpr] = ()
    ) -> bool:
        """Whether no dimension of a new tensor is negative, as a scalar or a difference may be.
        `known`: lengths of tensors.
        """
        return all(
            tir.interned(dim) in known
            or isinstance(dim, tir.IntImm)
            or all(map(self._is_natural, tir.postorder(dim)))
            for dim in dims
        )

    def _is_natural(self, part: tir.PrimExpr) -> bool:
        if isinstance(part, tir.Var):
            own = part in self._function.shape_vars
            return part not in (self._signature if own else self._state).signed
        if isinstance(part, tir.IntImm):
            return part.value >= 0
        return isinstance(part, tir.Add | tir.Mul | tir.Min | tir.Max)

    def _fills(self, call: ast.Call) -> bool:
        """Whether a PrimFunc is called that certainly writes its whole result and stops nowhere."""
        callee, *rest = call.args
        function = self._module.functions.get(callee) if isinstance(callee, ast.GlobalVar) else None
        if not isinstance(function, tir.PrimFunc) or call in self._state.unproved:
            return False
        assert isinstance(callee, ast.GlobalVar)
        known = self._filling.get(callee)
        if known is None:
            known = self._filling[callee] = writes_everything(callee, function)
        infos = [self._info(arg) for arg in rest]
        given = [part for info in infos if info is not None for part in of_the_value(info)]
        (result,) = call.sinfo_args
        if not (known and isinstance(result, TensorStructInfo) and None not in infos):
            return False
        if not (all(map(_is_known, given)) and all(map(self._is_written, rest))):
            return False
        lengths = {
            tir.interned(dim)
            for part in given
            if isinstance(part, TensorStructInfo)
            for dim in numbers(part)
        }
        return self._are_lengths(numbers(result), lengths)


def _is_known(info: StructInfo) -> bool:
    """Whether all is known of an argument that a PrimFunc checks."""
    if isinstance(info, TensorStructInfo):
        return dimensions(info) is not None and not info.dtype.is_void
    return not isinstance(info, ast.ObjectStructInfo | ast.FuncStructInfo)


def _takes(name: str, info: StructInfo | None) -> bool:
    """Whether an operator is defined for all tensors like this one."""
    dims = dimensions(info) if isinstance(info, TensorStructInfo) else None
    if dims is None or not isinstance(info, TensorStructInfo):
        return False
    kind = info.dtype
    if name in _ON_INTEGERS:
        return kind.is_integer or kind == BOOL
    if name in _ON_ELEMENTS and not all(isinstance(d, tir.IntImm) and d.value > 0 for d in dims):
        return name == "mean" and kind.is_computable_float
    if kind == BOOL:
        return name not in _ON_FLOATS and name not in _NOT_ON_BOOL
    return kind.is_computable_float or (name not in _ON_FLOATS and kind.is_integer)


def writes_everything(gv: ast.GlobalVar, function: tir.PrimFunc) -> bool:
    """Whether a PrimFunc certainly writes each element of its last buffer, and cannot fail: loops
    around blocks that store once at their axes, which cover the buffer, from floats and integers
    without division, with no other reads than of parameters.
    """
    if not function.buffer_map or prim_funcs(IRModule({gv: function})):
        return False
    *given, result = function.buffer_map.values()
    loops: list[tir.PrimExpr] = []
    axes: list[tir.Var] = []
    store = function.body
    while isinstance(store, tir.For):
        if not (isinstance(store.min, tir.IntImm) and store.min.value == 0):
            return False
        loops.append(store.extent)
        axes.append(store.loop_var)
        store = store.body
    if isinstance(store, tir.Block):
        if store.init is not None or len(store.iter_vars) != len(loops):
            return False
        axes = [axis.var for axis in store.iter_vars]
        store = store.body
    if not isinstance(store, tir.BufferStore) or store.buffer is not result:
        return False
    if len(store.indices) != len(axes) or any(
        a is not b for a, b in zip(store.indices, axes, strict=True)
    ):
        return False
    same = (
        a is b or (isinstance(a, tir.IntImm) and isinstance(b, tir.IntImm) and a.value == b.value)
        for a, b in zip(loops, result.shape, strict=True)
    )
    return all(same) and all(_is_total(e, given) for e in tir.postorder(store.value))


def _is_total(expr: tir.PrimExpr, buffers: list[tir.Buffer]) -> bool:
    if isinstance(expr, tir.BufferLoad):
        return expr.buffer in buffers
    if isinstance(expr, tir.Call):
        return tir.type_of(expr).is_float
    return isinstance(expr, _TOTAL)


_TOTAL = (
    tir.Var,
    tir.IntImm,
    tir.FloatImm,
    tir.Add,
    tir.Sub,
    tir.Mul,
    tir.Min,
    tir.Max,
    tir.Comparison,
    tir.And,
    tir.Or,
    tir.Not,
    tir.Select,
)
