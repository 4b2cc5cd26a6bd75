"""VMShapeLower: symbolic shapes become numbers in a heap, annotations become checks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import proxy

from rlx.checker.normalize import normalize
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import IRModule
from rlx.grammar.nodes.node import changed, replace, same
from rlx.grammar.nodes.python_places import spelt
from rlx.grammar.nodes.struct_infos import OBJECT, numbers, with_children
from rlx.grammar.print.pieces import struct_info_printer
from rlx.grammar.print.show import show
from rlx.semantics.struct_info_of import SIGNATURE
from rlx.solver.order.erase import erase
from rlx.transform.dynamic_checks import CheckPlan, plan
from rlx.transform.lowering.emitter import COPY, Emitter, operator_name, packed
from rlx.transform.lowering.heap_values import HeapValues, symbolic
from rlx.transform.lowering.passes import ModulePass
from rlx.transform.lowering.shape_checks import ShapeChecks
from rlx.transform.lowering.signatures import kept_signature
from rlx.transform.lowering.structure import dataflow_blocks, local_functions


class VMShapeLower(ModulePass):
    """Symbolic shapes are computed in a heap of integers; run-time calls check annotations.

    Parameters
    ----------
    keep_redundant
        Whether to emit checks even if they are proved.
    """

    @spelt
    def __init__(self, *, keep_redundant: bool = False) -> None:
        self.keep_redundant = keep_redundant

    def apply(self, module: IRModule) -> IRModule:
        """The module without shape variables.

        Raises
        ------
        PassError
            If a function has dataflow blocks or local functions, or an expression is not one of
            integers.
        """
        module = normalize(module)
        for name, relax in module.relax_functions.items():
            if dataflow_blocks(relax):
                raise self.refuse(name.name_hint, "a dataflow block", "run ToNonDataflow first")
            if local_functions(relax):
                raise self.refuse(name.name_hint, "a local function", "run LambdaLift first")
        proved = CheckPlan(frozenset(), {}, frozenset()) if self.keep_redundant else plan(module)
        names = {gv.name_hint for gv in module.functions}
        shown = _descriptions()
        functions: dict[ast.GlobalVar, ast.Function | tir.PrimFunc] = {}
        typed = False
        for gv, function in module.functions.items():
            if isinstance(function, ast.Function):
                lowering = _ShapeLowering(
                    self, gv.name_hint, module, function, proved, names, shown
                )
                functions[gv] = lowering.function(function)
                functions.update(lowering.made)
                typed = typed or lowering.types_functions
            else:
                functions[gv] = function
        if typed:
            _keep_signatures(functions, module)
        return replace(module, functions=functions)


def _descriptions() -> Callable[[ast.StructInfo], str]:
    """The names of annotations in messages of checks: each check of a field repeats that of the whole, so
    long ones are cut.
    """
    full = struct_info_printer()

    def described(info: ast.StructInfo) -> str:
        if isinstance(info, ast.TensorStructInfo):
            return full(info)
        short = show(info)
        return short if "…" in short else full(info)

    return described


def _keep_signatures(
    functions: dict[ast.GlobalVar, ast.Function | tir.PrimFunc], module: IRModule
) -> None:
    """Have each function keep its signature: types of functions are compared with it."""
    from rlx.checker.derive import known_infos

    relax = module.relax_functions
    open_ = any(f.ret_struct_info is None and SIGNATURE not in f.attrs for f in relax.values())
    known = known_infos(module) if open_ else {}
    for gv, function in relax.items():
        lowered = functions[gv]
        assert isinstance(lowered, ast.Function)
        kept = kept_signature(gv, function, module, known.get(function)).attrs[SIGNATURE]
        functions[gv] = replace(lowered, attrs={**lowered.attrs, SIGNATURE: kept})


class _ShapeLowering(Emitter):
    """One function.

    Attributes
    ----------
    made
        The PrimFuncs that compute its shapes.
    """

    def __init__(
        self,
        owner: VMShapeLower,
        name: str,
        module: IRModule,
        function: ast.Function,
        proved: CheckPlan,
        names: set[str],
        shown: Callable[[ast.StructInfo], str],
    ) -> None:
        super().__init__(function)
        self._name, self._plan, self._shown = name, proved, shown
        self._renamed: dict[ast.Var, ast.Var] = {}
        # They live no longer than this, which is gone as soon as nobody holds it.
        emitter = proxy(self)
        self._heap = HeapValues(owner, emitter, name, names)
        self._checks = ShapeChecks(emitter, self._heap, self._renamed, module)
        self._root = function
        self._depth = 0
        self.made: dict[ast.GlobalVar, tir.PrimFunc] = {}

    @property
    def types_functions(self) -> bool:
        """Whether a function was compared with a type of functions."""
        return self._checks.types_functions

    # ------------------------------------------------------------ the function

    def function(self, function: ast.Function) -> ast.Function:
        params = tuple(self._erased(param) for param in function.params)
        made = super().function(function)
        body = made.body
        assert isinstance(body, ast.SeqExpr)
        body = self._heap.allocated(body)
        self.made = self._heap.shape_functions()
        ret = function.ret_struct_info
        attrs = dict(function.attrs)
        if function.is_pure is not False:
            attrs["relax.force_pure"] = True
        return replace(
            made,
            params=params,
            body=body,
            ret_struct_info=None if ret is None else _without_variables(ret),
            shape_vars=(),
            attrs=attrs,
        )

    def _erased(self, var: ast.Var) -> ast.Var:
        """The variable with an annotation that names no shape variable."""
        info = var.struct_info_annotation
        erased = None if info is None else _without_variables(info)
        if erased is info and var.shape_var is None:
            return var
        made = replace(var, struct_info_annotation=erased, shape_var=None)
        self._renamed[var] = made
        return made

    def _now(self, var: ast.Var) -> ast.Var:
        """A variable as it is emitted."""
        return self._renamed.get(var, var)

    def enter(self) -> None:
        self._heap.enter()
        self._depth += 1
        if self._depth == 1:
            self._entry()

    def leave(self) -> None:
        self._heap.leave()
        self._depth -= 1

    def _entry(self) -> None:
        """The checks of the parameters, all together: first kinds and what binds, then the rest."""
        skipped = self._plan.entries.get(self._root, frozenset())
        for k, param in enumerate(self._root.params):
            info = param.struct_info_annotation or OBJECT
            where = f"{self._name}: parameter {k}, {param.name_hint}: {self._shown(info)}"
            # Comparisons that are proved are left out; what gives a variable its number is not.
            self._checks.check(self._now(param), info, where, k in skipped)
        self._checks.finish()
        for param in self._root.params:
            if param.shape_var is not None:
                self._heap.store(param.shape_var, self._now(param))

    def result(self, body: ast.Expr) -> ast.Expr:
        value = self._operand(body)
        ret = self._root.ret_struct_info
        if self._depth == 1 and ret is not None and self._root not in self._plan.returns:
            if not isinstance(value, ast.Var):
                value = self.emit(value, "gv")
            where = f"{self._name}: the result: {self._shown(ret)}"
            self._checks.check(value, ret, where, False, typed=False)
            self._checks.finish()
        return value

    # ------------------------------------------------------------ bindings

    def binding(self, binding: ast.Binding) -> None:
        if type(binding) is ast.VarBinding:
            self.var_binding(binding)
        else:
            assert isinstance(binding, ast.MatchCast)
            self._cast(binding)

    def _cast(self, binding: ast.MatchCast) -> None:
        value = self._operand(binding.value)
        if not isinstance(value, ast.Var):
            value = self.emit(value, "lv")
        where = f"{self._name}: the cast to {self._shown(binding.struct_info)}"
        info, proved = binding.struct_info, binding in self._plan.casts
        if binding.by_shape:  # the value may be a shape, or a tensor that has it
            self._checks.dims(value, numbers(info), where, proved)
        else:
            self._checks.check(value, info, where, proved, typed=proved)
        self._checks.finish()
        if binding.var is not None:
            if isinstance(info, ast.TupleStructInfo | ast.FuncStructInfo) and not proved:
                # Only what is known to be one can be indexed, or called.
                value = packed(COPY, value, info=_without_variables(info))
            self.put(ast.VarBinding(self._erased(binding.var), value, span=binding.span))

    def var_binding(self, binding: ast.VarBinding) -> None:
        value, var = binding.value, binding.var
        if isinstance(value, ast.If):
            value = replace(value, cond=self._operand(value.cond))
            made: ast.Expr = self.branches(value)
        else:
            made = self._value(value)
        self.out.append(changed(binding, var=self._erased(var), value=made))
        declared = _declared(value)
        if declared is not None:
            where = f"{self._name}: the value of {var.name_hint}: {self._shown(declared)}"
            self._checks.check(self._now(var), declared, where, False)
            self._checks.finish()
        if var.shape_var is not None:
            self._heap.store(var.shape_var, self._now(var))

    def _value(self, value: ast.Expr) -> ast.Expr:
        if type(value) is ast.Call:
            return self._call(value)
        match value:
            case ast.TupleGetItem(tuple_value=whole):
                return changed(value, tuple_value=self._operand(whole))
            case ast.ShapeExpr() | ast.PrimValue():
                return self._heap.value(value)
        return self._operand(value)

    def _call(self, call: ast.Call) -> ast.Call:
        op, attrs = call.op, call.attrs
        if type(op) is ast.Op and op.op_name in _SAY_MORE:
            args = tuple(map(self._written, call.args))
        else:
            args = same(call.args, map(self._operand, call.args))
        if attrs:
            attrs = {key: self._attribute(value) for key, value in attrs.items()}
        if isinstance(op, ast.ExternFunc):
            if op.struct_info is not None:
                op = replace(op, struct_info=_without_variables(op.struct_info))
        elif type(op) is not ast.Op:
            op = self._operand(op)
        types = call.sinfo_args
        if types:
            types = same(types, map(_without_variables, types))
        elif args is call.args and op is call.op and attrs is call.attrs:
            return call
        return changed(call, op=op, args=args, attrs=attrs, sinfo_args=types)

    def _attribute(self, value: Any) -> Any:
        match value:
            case ast.Expr():
                return self._operand(value)
            case tir.PrimExpr() if tir.free_vars(value):
                # An attribute is no value; a scalar of the name of the variable says what it is.
                for var in tir.free_vars(value):
                    self._heap.scalar(var)
                return value
            case tuple():
                return tuple(self._attribute(item) for item in value)
            case list():
                return [self._attribute(item) for item in value]
        return value

    def _written(self, arg: ast.Expr) -> ast.Expr:
        """An argument; a shape in which -1 and 0 have a meaning stays, and gets scalars to name."""
        if not isinstance(arg, ast.ShapeExpr) or not _abbreviated(arg):
            return self._operand(arg)
        for var in dict.fromkeys(var for value in arg.values for var in tir.free_vars(value)):
            self._heap.scalar(var)
        return arg

    # ------------------------------------------------------------ operands

    def _operand(self, expr: ast.Expr) -> ast.Expr:
        if isinstance(expr, ast.Var):
            return self._renamed.get(expr, expr)
        if type(expr) in _CONSTANT:
            return expr
        match expr:
            case ast.Tuple(fields=fields):
                return changed(expr, fields=same(fields, map(self._operand, fields)))
            case ast.ShapeExpr(values=values) if symbolic(values):
                return self._heap.shape(expr)
            case ast.PrimValue(value=value) if symbolic((value,)):
                return self._heap.boxed(expr)
        return expr


_CONSTANT = frozenset({ast.Constant, ast.DataTypeImm, ast.GlobalVar, ast.StringImm})


def _without_variables(info: ast.StructInfo) -> ast.StructInfo:
    """The annotation without dimensions that are not numbers, and with any function for a function.

    What is known of closures changes with their annotations, so a type of functions would ask for
    too much.
    """
    kind = type(info)
    if kind is ast.TupleStructInfo and not info.fields:  # type: ignore[attr-defined]
        return info
    if kind is ast.TensorStructInfo:
        assert isinstance(info, ast.TensorStructInfo)
        shape = info.shape
        if type(shape) is ast.ShapeExpr and all(type(v) is tir.IntImm for v in shape.values):
            return info
    return erase(_any_function(info, {}), frozenset(), frozenset())


def _any_function(info: ast.StructInfo, done: dict[int, ast.StructInfo]) -> ast.StructInfo:
    """With any function for a function; ``done`` are the parts already rebuilt."""
    if isinstance(info, ast.FuncStructInfo):
        return ast.FuncStructInfo(None, OBJECT, False, "default")
    if id(info) not in done:
        done[id(info)] = with_children(info, lambda part: _any_function(part, done))
    return done[id(info)]


_SAY_MORE = frozenset({"relax.reshape"})
"""Operators for which a literal -1 is an inferred dimension and a literal 0 copies the old
dimension.
"""


def _abbreviated(shape: ast.ShapeExpr) -> bool:
    """Whether a shape has variables, and a -1 or a 0 beside them."""
    return symbolic(shape.values) and any(
        isinstance(v, tir.IntImm) and v.value in (-1, 0) for v in shape.values
    )


def _declared(value: ast.Expr) -> ast.StructInfo | None:
    """The struct info that a call of an external function declares; None if it says nothing."""
    match value:
        case ast.Call(sinfo_args=() | (ast.TupleStructInfo(fields=()) | ast.ObjectStructInfo(),)):
            return None
        case ast.Call(op=ast.Op()) if operator_name(value) not in _RECEIVE:
            return None
        case ast.Call(sinfo_args=(info,)):
            return info
        case ast.Call(sinfo_args=types):
            return ast.TupleStructInfo(types)
    return None


_RECEIVE = frozenset({"relax.call_builtin_with_ctx", "relax.invoke_closure", "relax.call_py_func"})
