"""VMShapeLower: symbolic shapes become numbers in a heap, annotations become checks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple
from weakref import proxy

from rlx.checker.normalize import normalize
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import IRModule
from rlx.grammar.nodes.dtype import INT64, dtype
from rlx.grammar.nodes.node import changed, replace, same
from rlx.grammar.nodes.struct_infos import OBJECT, numbers, with_children
from rlx.grammar.print.pieces import struct_info_printer
from rlx.grammar.print.printer import print_node
from rlx.grammar.print.show import show
from rlx.semantics.struct_info_of import SIGNATURE
from rlx.solver.order import free_shape_vars
from rlx.solver.order.demands import FEW, repeats_too_much
from rlx.solver.order.erase import erase
from rlx.solver.order.subtype import says_nothing
from rlx.transform.dynamic_checks import CheckPlan, plan
from rlx.transform.lowering.emitter import COPY, Emitter, number, operator_name, packed
from rlx.transform.lowering.heap import (
    EQUAL_HEAP,
    EQUAL_NUMBER,
    FROM_HEAP,
    IMMEDIATE,
    NOTHING,
    STORE,
    Heap,
    shape_function,
)
from rlx.transform.lowering.passes import ModulePass, PassError
from rlx.transform.lowering.signatures import function_type, kept_signature
from rlx.transform.lowering.structure import dataflow_blocks, local_functions

# Shapes and scalars that a function makes from the numbers of its shape heap.


_HEAP = ast.TensorStructInfo(None, dtype("int64"), 1)


class HeapValues:
    """The shape heap of one function, and the calls that read and write it.

    Parameters
    ----------
    owner
        The pass, which raises the errors.
    emitter
        The emitter of the calls.
    name
        The function's name.
    globals
        The names of the module; new names are added.
    """

    def __init__(self, owner: ModulePass, emitter: Emitter, name: str, globals: set[str]) -> None:
        self._owner, self._emitter, self._name, self._globals = owner, emitter, name, globals
        self._heap = Heap()
        self._var = ast.Var(emitter.fresh("shape_heap"), _HEAP)
        self._used = False
        self._computed: set[int] = set()
        self._made: dict[object, ast.Var] = {}
        self._outside: list[tuple[set[int], dict[object, ast.Var]]] = []
        self._functions: list[tuple[ast.GlobalVar, list[tuple[int, tir.PrimExpr]]]] = []

    @property
    def var(self) -> ast.Var:
        """The variable of the heap. An unused heap is not allocated."""
        self._used = True
        return self._var

    def enter(self) -> None:
        """Begin a body or a branch; numbers computed in it are not available after it."""
        self._outside.append((self._computed, self._made))
        self._computed, self._made = set(self._computed), dict(self._made)

    def leave(self) -> None:
        """End the body or branch."""
        self._computed, self._made = self._outside.pop()

    def allocated(self, body: ast.SeqExpr) -> ast.SeqExpr:
        """The function's body with the allocation of the heap before it, if the heap is used."""
        if not self._used:
            return body
        size = ast.Tuple((number(self._heap.size),))
        made = ast.Call(
            ast.op("relax.call_builtin_with_ctx"),
            (ast.ExternFunc("vm.builtin.alloc_shape_heap"), size),
            (_HEAP,),
        )
        first = ast.VarBinding(self._var, made)
        rest = (binding for block in body.blocks for binding in block.bindings)
        return replace(body, blocks=(ast.BindingBlock((first, *rest)),))

    def shape_functions(self) -> dict[ast.GlobalVar, tir.PrimFunc]:
        """The PrimFuncs that compute numbers of the heap."""
        heap = self._heap
        return {gv: shape_function("H", heap.size, made, heap) for gv, made in self._functions}

    # ------------------------------------------------------------ values

    def value(self, expr: ast.Expr) -> ast.Expr:
        """A shape or a scalar; if it has variables, it is loaded from the heap."""
        match expr:
            case ast.ShapeExpr(values=values) if symbolic(values):
                self.compute(values)
                steps: list[ast.Expr] = [number(len(values))]
                for value in values:
                    steps += self._operands(value)
                return packed("vm.builtin.make_shape", self.var, *steps, info=_rank(expr))
            case ast.PrimValue(value=value) if tir.free_vars(value):
                kind = tir.type_of(value)
                self.compute([value])
                extra = () if kind == INT64 else (ast.DataTypeImm(kind),)
                info = ast.PrimStructInfo(kind)
                name = "vm.builtin.make_prim_value"
                return packed(name, self.var, *self._operands(value), *extra, info=info)
        return expr

    def shape(self, expr: ast.ShapeExpr) -> ast.Var:
        """A variable that holds a shape; an existing variable is reused."""
        key = tuple(
            value.value if isinstance(value, tir.IntImm) else (self._heap.place(value),)
            for value in expr.values
        )
        found = self._made.get(key)
        if found is None:
            found = self._made[key] = self._emitter.emit(self.value(expr), "sh", _rank(expr))
        return found

    def boxed(self, expr: ast.PrimValue) -> ast.Var:
        """A variable that holds a scalar; an existing variable is reused."""
        kind = tir.type_of(expr.value)
        key = (kind, self._heap.place(expr.value))
        found = self._made.get(key)
        if found is None:
            made = self._emitter.emit(self.value(expr), "pv", ast.PrimStructInfo(kind))
            found = self._made[key] = made
        return found

    def scalar(self, var: tir.Var) -> None:
        """Emit a scalar with the value of the shape variable, for expressions that name it."""
        info = ast.PrimStructInfo(INT64)
        place = (number(FROM_HEAP), number(self._heap.place(var)))
        load = packed("vm.builtin.make_prim_value", self.var, *place, info=info)
        scalar = ast.Var(self._emitter.fresh(var.name), info, shape_var=var)
        self._emitter.put(ast.VarBinding(scalar, load))

    def _operands(self, value: tir.PrimExpr) -> list[ast.Expr]:
        if isinstance(value, tir.IntImm):
            return [number(IMMEDIATE), number(value.value)]
        return [number(FROM_HEAP), number(self._heap.place(value))]

    # ------------------------------------------------------------ numbers

    def place(self, expr: tir.PrimExpr) -> int:
        """The slot of the number of an expression."""
        return self._heap.place(expr)

    def stored(self, var: tir.Var) -> bool:
        """Whether the number of a variable is in the heap at this point."""
        return self._heap.known(var) and self._heap.place(var) in self._computed

    def define(self, var: tir.Var) -> int:
        """The slot of the number of a variable; the caller stores the number."""
        place = self._heap.place(var)
        self._computed.add(place)
        return place

    def store(self, var: tir.Var, scalar: ast.Var) -> None:
        """Store the number of a scalar that is a shape variable."""
        step = (number(STORE), number(self.define(var)))
        self._emitter.effect(packed("vm.builtin.match_prim_value", scalar, self.var, *step))

    def compute(self, values: Sequence[tir.PrimExpr]) -> None:
        """Ensure that the numbers of expressions are in the heap.

        Raises
        ------
        PassError
            If one is a float.
        """
        missing: list[tuple[int, tir.PrimExpr]] = []
        for value in [each for each in values if not isinstance(each, tir.IntImm)]:
            for node in (value, *tir.free_vars(value)):
                kind = tir.type_of(node)
                if kind.is_float:
                    raise self._owner.refuse(
                        self._name,
                        f"the expression {print_node(value)} of {kind}",
                        "the shape heap holds integers",
                    )
            place = self._heap.place(value)
            if place not in self._computed:
                self._computed.add(place)
                if not isinstance(value, tir.Var):
                    missing.append((place, value))
        if missing:
            target = ast.GlobalVar(self._global(f"{self._name}_shape_func"))
            self._functions.append((target, missing))
            self._emitter.effect(ast.Call(target, (self.var,)))

    def _global(self, wanted: str) -> str:
        name, count = wanted, len(self._functions)
        if count:
            name = f"{wanted}{count}"
        while name in self._globals:
            count += 1
            name = f"{wanted}{count}"
        self._globals.add(name)
        return name


def symbolic(values: Sequence[tir.PrimExpr]) -> bool:
    """Whether dimensions have variables."""
    for value in values:  # a loop, since it is asked of every dimension of a function
        if type(value) is not tir.IntImm and tir.free_vars(value):
            return True
    return False


def _rank(shape: ast.ShapeExpr) -> ast.ShapeStructInfo:
    return ast.ShapeStructInfo(None, len(shape.values))


# Checks of annotations as calls of run-time functions.


_PLACE = 100
"""Characters that a refusal gives to the value and its annotation."""


class _Waiting(NamedTuple):
    """Comparisons of a shape of ``rank`` dimensions that wait for numbers."""

    value: ast.Expr
    rank: int
    dims: Sequence[tuple[int, tir.PrimExpr]]
    where: str


class _WaitingScalar(NamedTuple):
    """A comparison of a scalar that waits for a number."""

    value: ast.Expr
    found: tir.PrimExpr
    where: str


_Step = tuple[int, int]
_PASS: _Step = (NOTHING, 0)
"""The step of a dimension that is not compared."""


class ShapeChecks:
    """Emits the checks of one function.

    Checks that read no number from the heap, or store one, are emitted immediately; the others are
    emitted by :meth:`finish`.

    Parameters
    ----------
    emitter
        The emitter of the calls.
    heap
        The heap with the numbers.
    renamed
        The emitted variables for the variables of the function.
    module
        The module, which defines the devices in types.

    Attributes
    ----------
    types_functions
        Whether a check against a function type was emitted.
    """

    def __init__(
        self,
        emitter: Emitter,
        heap: HeapValues,
        renamed: Mapping[ast.Var, ast.Var],
        module: ast.IRModule,
    ) -> None:
        self._emitter, self._heap, self._renamed = emitter, heap, renamed
        self._module = module
        self._waiting: list[_Waiting | _WaitingScalar] = []
        self._functions: list[tuple[ast.Expr, ast.FuncStructInfo, str]] = []
        self.types_functions = False

    def check(
        self,
        value: ast.Expr,
        info: ast.StructInfo,
        where: str,
        proved: bool,
        *,
        typed: bool = True,
    ) -> None:
        """Compare a value with an annotation.

        Parameters
        ----------
        where
            The description of the value in the message of a failing check.
        proved
            Whether the check is proved: then only the numbers of shape variables are stored.
        typed
            Whether the type of the value says which tuples are in it.

        Raises
        ------
        PassError
            If the annotation repeats the tuples in it so often that its checks would be far more
            than its parts.
        """
        if repeats_too_much(info):
            place = where if len(where) <= _PLACE else f"{where[:_PLACE]} …"
            raise PassError(
                f"VMShapeLower: {place}: its tuples stand for each other's fields so often that the"
                f" checks would be more than {FEW:,}; pass fewer fields, or cast to R.Object"
            )
        self._compare(value, info, where, proved, typed)

    def _compare(
        self, value: ast.Expr, info: ast.StructInfo, where: str, proved: bool, typed: bool
    ) -> None:
        match info:
            case ast.TensorStructInfo():
                self._tensor(value, info, where, proved)
            case ast.ShapeStructInfo(values=dims):
                if not proved:
                    rank = info.ndim if dims is None else len(dims)
                    self._call("vm.builtin.check_shape_info", value, number(rank), where=where)
                self.dims(value, dims or (), where, proved)
            case ast.PrimStructInfo(dtype=kind, value=found):
                if not proved:
                    name = "vm.builtin.check_prim_value_info"
                    self._call(name, value, ast.DataTypeImm(kind), where=where)
                if found is not None:
                    self._scalar(value, found, where, proved)
            case ast.TupleStructInfo(fields=infos):
                if not proved:
                    count = number(len(infos))
                    self._call("vm.builtin.check_tuple_info", value, count, where=where)
                further = [
                    k for k, f in enumerate(infos) if not isinstance(f, ast.ObjectStructInfo)
                ]
                if further and not typed:
                    objects = ast.TupleStructInfo((OBJECT,) * len(infos))
                    value = self._emitter.emit(packed(COPY, value, info=objects), "fields")
                for k in further:
                    part = self._emitter.emit(ast.TupleGetItem(value, k), "field")
                    self._compare(part, infos[k], f"{where}, field {k}", proved, typed)
            case ast.FuncStructInfo() if not proved:
                self._call("vm.builtin.check_func_info", value, where=where)
                if not says_nothing(info):
                    self._functions.append((value, info, where))

    def _call(self, name: str, *args: ast.Expr, where: str) -> None:
        self._emitter.effect(packed(name, *args, ast.StringImm(where)))

    def _tensor(
        self, value: ast.Expr, info: ast.TensorStructInfo, where: str, proved: bool
    ) -> None:
        shape = info.shape
        dims = shape.values if isinstance(shape, ast.ShapeExpr) else ()
        if not proved:
            rank = len(dims) if isinstance(shape, ast.ShapeExpr) else info.ndim
            kind = ast.DataTypeImm(info.dtype)
            self._call("vm.builtin.check_tensor_info", value, number(rank), kind, where=where)
            if info.vdevice is not None:
                device = (ast.StringImm(info.vdevice.target), number(info.vdevice.index))
                self._call("relax.run.check_device", value, *device, where=where)
            if isinstance(shape, ast.Var):
                held = self._renamed.get(shape, shape)
                self._call("relax.run.check_held_shape", value, held, where=where)
        self.dims(value, dims, where, proved)

    def dims(self, value: ast.Expr, dims: Sequence[tir.PrimExpr], where: str, proved: bool) -> None:
        """Compare the dimensions of a tensor or a shape; the parameters are those of
        :meth:`check`.
        """
        now: list[_Step] = []
        rest: list[tuple[int, tir.PrimExpr]] = []
        for axis, dim in enumerate(dims):
            step = _PASS
            if isinstance(dim, tir.Var) and not self._heap.stored(dim):
                step = (STORE, self._heap.define(dim))
            elif isinstance(dim, tir.IntImm) and not proved:
                step = (EQUAL_NUMBER, dim.value)
            elif not isinstance(dim, tir.IntImm) and not proved:
                rest.append((axis, dim))
            now.append(step)
        if set(now) - {_PASS}:
            self._match_shape(value, now, where)
        if rest:
            self._waiting.append(_Waiting(value, len(dims), rest, where))

    def _scalar(self, value: ast.Expr, found: tir.PrimExpr, where: str, proved: bool) -> None:
        if isinstance(found, tir.Var) and not self._heap.stored(found):
            self._match_scalar(value, (STORE, self._heap.define(found)), where)
        elif not proved:
            self._waiting.append(_WaitingScalar(value, found, where))

    def finish(self) -> None:
        """Emit the remaining comparisons, which need numbers from the heap."""
        for waiting in self._waiting:
            match waiting:
                case _WaitingScalar(value, found, where):
                    self._heap.compute([found])
                    self._match_scalar(value, self._equal(found), where)
                case _Waiting(value, rank, dims, where):
                    self._heap.compute([dim for _, dim in dims])
                    steps = {axis: self._equal(dim) for axis, dim in dims}
                    program = [steps.get(axis, _PASS) for axis in range(rank)]
                    self._match_shape(value, program, where)
        self._waiting.clear()
        for value, info, where in self._functions:
            sizes = tuple(free_shape_vars(info))
            held = self._heap.shape(ast.ShapeExpr(sizes)) if sizes else ast.ShapeExpr(())
            text = ast.StringImm(function_type(info, sizes, self._module))
            self._call("relax.run.check_function", value, text, held, where=where)
            self.types_functions = True
        self._functions.clear()

    def _equal(self, dim: tir.PrimExpr) -> _Step:
        """The step that compares with a number, which is known or in the heap."""
        if isinstance(dim, tir.IntImm):
            return EQUAL_NUMBER, dim.value
        return EQUAL_HEAP, self._heap.place(dim)

    def _match_shape(self, value: ast.Expr, program: Sequence[_Step], where: str) -> None:
        steps = [number(item) for step in program for item in step]
        count = number(len(program))
        self._call("vm.builtin.match_shape", value, self._heap.var, count, *steps, where=where)

    def _match_scalar(self, value: ast.Expr, step: _Step, where: str) -> None:
        steps = map(number, step)
        self._call("vm.builtin.match_prim_value", value, self._heap.var, *steps, where=where)


class VMShapeLower(ModulePass):
    """Symbolic shapes are computed in a heap of integers; run-time calls check annotations.

    Parameters
    ----------
    keep_redundant
        Whether to emit checks even if they are proved.
    """

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
        for name, function in module.functions.items():
            if isinstance(function, ast.Function):
                if dataflow_blocks(function):
                    raise self.refuse(name.name_hint, "a dataflow block", "run ToNonDataflow first")
                if local_functions(function):
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
    """What messages of checks call annotations: each check of a field repeats that of the whole, so
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
    from rlx.checker.derive import derive

    relax = {gv: f for gv, f in module.functions.items() if isinstance(f, ast.Function)}
    open_ = any(f.ret_struct_info is None and SIGNATURE not in f.attrs for f in relax.values())
    known = derive(module).info if open_ else {}
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
