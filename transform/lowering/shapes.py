"""VMShapeLower: symbolic shapes become numbers in a heap, annotations become checks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rlx.checker.normalize import normalize
from rlx.grammar import ast, tir
from rlx.grammar.ast import IRModule
from rlx.grammar.dtype import INT64, DataType, dtype
from rlx.grammar.node import replace
from rlx.grammar.printer import print_node
from rlx.grammar.struct_infos import OBJECT, with_children
from rlx.solver.order.erase import erase
from rlx.transform.dynamic_checks import CheckPlan, plan
from rlx.transform.lowering.emitter import Emitter, number, operator_name, packed
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
from rlx.transform.lowering.passes import ModulePass
from rlx.transform.lowering.structure import dataflow_blocks, local_functions

_HEAP = ast.TensorStructInfo(None, dtype("int64"), 1)


class VMShapeLower(ModulePass):
    """Symbolic shapes are computed in a heap of integers; parameters, casts and results are checked by calls of the run time.

    Parameters
    ----------
    keep_redundant
        Whether checks that are proved to hold are emitted all the same.
    """

    def __init__(self, *, keep_redundant: bool = False) -> None:
        self.keep_redundant = keep_redundant

    def apply(self, module: IRModule) -> IRModule:
        """The module without shape variables.

        Raises
        ------
        PassError
            If a function has dataflow blocks or local functions, or an expression is not one of integers.
        """
        module = normalize(module)
        for name, function in module.functions.items():
            if isinstance(function, ast.Function):
                if dataflow_blocks(function):
                    raise self.refuse(
                        name.name_hint, "a dataflow block", "ToNonDataflow comes before"
                    )
                if local_functions(function):
                    raise self.refuse(name.name_hint, "a local function", "LambdaLift comes before")
        proved = CheckPlan(frozenset(), {}, frozenset()) if self.keep_redundant else plan(module)
        names = {gv.name_hint for gv in module.functions}
        functions: dict[ast.GlobalVar, ast.Function | tir.PrimFunc] = {}
        for gv, function in module.functions.items():
            if isinstance(function, ast.Function):
                lowering = _ShapeLowering(self, gv.name_hint, function, proved, names)
                functions[gv] = lowering.function(function)
                functions.update(lowering.made)
            else:
                functions[gv] = function
        return replace(module, functions=functions)


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
        function: ast.Function,
        proved: CheckPlan,
        names: set[str],
    ) -> None:
        super().__init__(function)
        self._owner, self._name, self._plan, self._globals = owner, name, proved, names
        self._heap = Heap()
        self._new_heap = ast.Var(self.fresh("shape_heap"), _HEAP)
        self._heap_used = False
        self._root = function
        self._depth = 0
        self._computed: list[set[int]] = []
        self._shapes: list[dict[object, ast.Var]] = []
        self._unsized: list[tuple[ast.GlobalVar, list[tuple[int, tir.PrimExpr]]]] = []
        self._renamed: dict[ast.Var, ast.Var] = {}
        self.made: dict[ast.GlobalVar, tir.PrimFunc] = {}

    @property
    def _heap_var(self) -> ast.Var:
        """The heap; asked for where it is used, and only then allocated."""
        self._heap_used = True
        return self._new_heap

    # ------------------------------------------------------------ the function

    def function(self, function: ast.Function) -> ast.Function:
        params = tuple(self._erased(param) for param in function.params)
        made = super().function(function)
        body = made.body
        assert isinstance(body, ast.SeqExpr)
        if self._heap_used:
            body = self._with_heap(body)
        for gv, computed in self._unsized:
            self.made[gv] = shape_function("H", self._heap.size, computed, self._heap)
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

    def _with_heap(self, body: ast.SeqExpr) -> ast.SeqExpr:
        size = ast.Tuple((number(self._heap.size),))
        made = ast.Call(
            ast.op("relax.call_builtin_with_ctx"),
            (ast.ExternFunc("vm.builtin.alloc_shape_heap"), size),
            (_HEAP,),
        )
        first = ast.VarBinding(self._new_heap, made)
        rest = body.blocks[0].bindings if body.blocks else ()
        return replace(body, blocks=(ast.BindingBlock((first, *rest)), *body.blocks[1:]))

    def _erased(self, var: ast.Var) -> ast.Var:
        """The variable with an annotation that names no shape variable."""
        info = var.struct_info_annotation
        made = replace(
            var,
            struct_info_annotation=None if info is None else _without_variables(info),
            shape_var=None,
        )
        self._renamed[var] = made
        return made

    def enter(self) -> None:
        self._computed.append(set(self._computed[-1]) if self._computed else set())
        self._shapes.append(dict(self._shapes[-1]) if self._shapes else {})
        self._depth += 1
        if self._depth == 1:
            self._entry()

    def leave(self) -> None:
        self._computed.pop()
        self._shapes.pop()
        self._depth -= 1

    def _entry(self) -> None:
        """The checks of the parameters, all together: first kinds and what binds, then the rest."""
        skipped = self._plan.entries.get(self._root, frozenset())
        later: list[_Later] = []
        for k, param in enumerate(self._root.params):
            info = param.struct_info_annotation or OBJECT
            place = f"{self._name}: parameter {k}, {param.name_hint}: {print_node(info)}"
            # Comparisons that are proved are left out; what gives a variable its number is not.
            self._check(self._renamed[param], info, place, later, k in skipped)
        self._finish(later)
        for param in self._root.params:
            if param.shape_var is not None:
                self._store(param.shape_var, self._renamed[param])

    def result(self, body: ast.Expr) -> ast.Expr:
        value = self._operand(body)
        ret = self._root.ret_struct_info
        if self._depth == 1 and ret is not None and self._root not in self._plan.returns:
            if not isinstance(value, ast.Var):
                value = self.emit(value, "gv")
            place = f"{self._name}: the result: {print_node(ret)}"
            later: list[_Later] = []
            self._check(value, ret, place, later, False)
            self._finish(later)
        return value

    # ------------------------------------------------------------ bindings

    def binding(self, binding: ast.Binding) -> None:
        if isinstance(binding, ast.MatchCast):
            self._cast(binding)
        else:
            super().binding(binding)

    def _cast(self, binding: ast.MatchCast) -> None:
        value = self._operand(binding.value)
        if not isinstance(value, ast.Var):
            value = self.emit(value, "lv")
        place = f"{self._name}: the cast to {print_node(binding.struct_info)}"
        later: list[_Later] = []
        info, proved = binding.struct_info, binding in self._plan.casts
        if binding.by_shape:  # the value may be a shape, or a tensor that has it
            self._dims(value, _dims_of(info), place, later, proved)
        else:
            self._check(value, info, place, later, proved)
        self._finish(later)
        if binding.var is not None:
            self.put(ast.VarBinding(self._erased(binding.var), value, span=binding.span))

    def var_binding(self, binding: ast.VarBinding) -> None:
        value, var = binding.value, binding.var
        if isinstance(value, ast.If):
            value = replace(value, cond=self._operand(value.cond))
            made: ast.Expr = self.branches(value)
        else:
            made = self._value(value)
        self.put(replace(binding, var=self._erased(var), value=made))
        declared = _declared(value)
        if declared is not None:
            place = f"{self._name}: the value of {var.name_hint}: {print_node(declared)}"
            later: list[_Later] = []
            self._check(self._renamed[var], declared, place, later, False)
            self._finish(later)
        if var.shape_var is not None:
            self._store(var.shape_var, self._renamed[var])

    def _value(self, value: ast.Expr) -> ast.Expr:
        match value:
            case ast.Call():
                return self._call(value)
            case ast.Tuple(fields=fields):
                return replace(value, fields=tuple(self._operand(field) for field in fields))
            case ast.TupleGetItem(tuple_value=whole):
                return replace(value, tuple_value=self._operand(whole))
            case ast.ShapeExpr() | ast.PrimValue():
                return self._number(value)
        return self._operand(value)

    def _call(self, call: ast.Call) -> ast.Call:
        name = operator_name(call)
        args = tuple(
            self._attribute_shape(arg)
            if name in _SAY_MORE and _abbreviated(arg)
            else self._operand(arg)
            for arg in call.args
        )
        attrs = {key: self._attribute(value) for key, value in call.attrs.items()}
        types = tuple(_without_variables(info) for info in call.sinfo_args)
        op = call.op
        if isinstance(op, ast.ExternFunc) and op.struct_info is not None:
            op = replace(op, struct_info=_without_variables(op.struct_info))
        elif not isinstance(op, ast.Op):
            op = self._operand(op)
        return replace(call, op=op, args=args, attrs=attrs, sinfo_args=types)

    def _attribute(self, value: Any) -> Any:
        match value:
            case ast.Expr():
                return self._operand(value)
            case tir.PrimExpr() if tir.free_vars(value):
                # An attribute is no value; a scalar of the name of the variable says what it is.
                for var in tir.free_vars(value):
                    self._named(var)
                return value
            case tuple():
                return tuple(self._attribute(item) for item in value)
            case list():
                return [self._attribute(item) for item in value]
        return value

    def _attribute_shape(self, shape: ast.Expr) -> ast.Expr:
        """A shape that stays in the text, where -1 and 0 are no numbers; its variables become scalars."""
        assert isinstance(shape, ast.ShapeExpr)
        for var in dict.fromkeys(var for value in shape.values for var in tir.free_vars(value)):
            self._named(var)
        return shape

    def _named(self, var: tir.Var) -> None:
        """A scalar that is the shape variable."""
        load = packed(
            "vm.builtin.make_prim_value",
            self._heap_var,
            number(FROM_HEAP),
            number(self._heap.place(var)),
            info=ast.PrimStructInfo(INT64),
        )
        scalar = ast.Var(self.fresh(var.name), ast.PrimStructInfo(INT64), shape_var=var)
        self.put(ast.VarBinding(scalar, load))

    # ------------------------------------------------------------ operands

    def _operand(self, expr: ast.Expr) -> ast.Expr:
        match expr:
            case ast.Var():
                return self._renamed.get(expr, expr)
            case ast.Tuple(fields=fields):
                return replace(expr, fields=tuple(self._operand(field) for field in fields))
            case ast.ShapeExpr(values=values) if any(map(tir.free_vars, values)):
                return self._shape(expr)
            case ast.PrimValue(value=value) if tir.free_vars(value):
                return self.emit(self._number(expr), "pv", ast.PrimStructInfo(tir.type_of(value)))
        return expr

    def _shape(self, expr: ast.ShapeExpr) -> ast.Var:
        """A variable that holds a shape; one that was made before serves again."""
        key = tuple(
            value.value if isinstance(value, tir.IntImm) else (self._heap.place(value),)
            for value in expr.values
        )
        found = self._shapes[-1].get(key)
        if found is None:
            found = self._shapes[-1][key] = self.emit(self._number(expr), "sh", _rank(expr))
        return found

    def _number(self, expr: ast.Expr) -> ast.Expr:
        """A shape or a scalar, from the heap where it has variables."""
        match expr:
            case ast.ShapeExpr(values=values) if any(map(tir.free_vars, values)):
                self._compute(values)
                steps: list[ast.Expr] = [number(len(values))]
                for value in values:
                    steps += self._found(value)
                return packed("vm.builtin.make_shape", self._heap_var, *steps, info=_rank(expr))
            case ast.PrimValue(value=value) if tir.free_vars(value):
                kind = tir.type_of(value)
                self._compute([value])
                extra = () if kind == INT64 else (ast.DataTypeImm(kind),)
                info = ast.PrimStructInfo(kind)
                name = "vm.builtin.make_prim_value"
                return packed(name, self._heap_var, *self._found(value), *extra, info=info)
        return expr

    def _found(self, value: tir.PrimExpr) -> list[ast.Expr]:
        if isinstance(value, tir.IntImm):
            return [number(IMMEDIATE), number(value.value)]
        return [number(FROM_HEAP), number(self._heap.place(value))]

    def _compute(self, values: Sequence[tir.PrimExpr]) -> None:
        """See to it that the numbers of expressions lie in the heap."""
        missing: list[tuple[int, tir.PrimExpr]] = []
        for value in values:
            if isinstance(value, tir.IntImm):
                continue
            self._integer(value)
            place = self._heap.place(value)
            if place not in self._computed[-1]:
                self._computed[-1].add(place)
                if not isinstance(value, tir.Var):
                    missing.append((place, value))
        if missing:
            name = self._global(f"{self._name}_shape_func")
            target = ast.GlobalVar(name)
            self._unsized.append((target, missing))
            self.effect(ast.Call(target, (self._heap_var,)))

    def _integer(self, value: tir.PrimExpr) -> None:
        for node in (value, *tir.free_vars(value)):
            kind: DataType = tir.type_of(node)
            if kind.is_float:
                raise self._owner.refuse(
                    self._name,
                    f"the expression {print_node(value)} of {kind}",
                    "the shape heap holds integers",
                )

    def _global(self, wanted: str) -> str:
        name, count = wanted, 0
        while name in self._globals:
            count += 1
            name = f"{wanted}{count}"
        self._globals.add(name)
        return name

    def _store(self, var: tir.Var, scalar: ast.Var) -> None:
        """Keep the number of a scalar that is a shape variable."""
        place = self._heap.place(var)
        self._computed[-1].add(place)
        self.effect(
            packed(
                "vm.builtin.match_prim_value", scalar, self._heap_var, number(STORE), number(place)
            )
        )

    # ------------------------------------------------------------ checks

    def _check(
        self,
        value: ast.Expr,
        info: ast.StructInfo,
        place: str,
        later: list[_Later],
        proved: bool,
    ) -> None:
        """Compare a value with an annotation: what can be compared at once is, the rest goes to ``later``."""
        words = ast.StringImm(place)
        match info:
            case ast.TensorStructInfo():
                self._tensor(value, info, place, later, proved)
            case ast.ShapeStructInfo(values=dims):
                if not proved:
                    rank = info.ndim if dims is None else len(dims)
                    self.effect(packed("vm.builtin.check_shape_info", value, number(rank), words))
                self._dims(value, dims or (), place, later, proved)
            case ast.PrimStructInfo(dtype=kind, value=found):
                if not proved:
                    name = "vm.builtin.check_prim_value_info"
                    self.effect(packed(name, value, ast.DataTypeImm(kind), words))
                if found is not None:
                    self._prim(value, found, place, later, proved)
            case ast.TupleStructInfo(fields=infos):
                if not proved:
                    count = number(len(infos))
                    self.effect(packed("vm.builtin.check_tuple_info", value, count, words))
                for k, field in enumerate(infos):
                    if not _says_nothing(field):
                        part = self.emit(ast.TupleGetItem(value, k), "field")
                        self._check(part, field, f"{place}, field {k}", later, proved)
            case ast.FuncStructInfo() if not proved:
                self.effect(packed("vm.builtin.check_func_info", value, words))

    def _tensor(
        self,
        value: ast.Expr,
        info: ast.TensorStructInfo,
        place: str,
        later: list[_Later],
        proved: bool,
    ) -> None:
        words = ast.StringImm(place)
        shape = info.shape
        dims = shape.values if isinstance(shape, ast.ShapeExpr) else ()
        if not proved:
            rank = len(dims) if isinstance(shape, ast.ShapeExpr) else info.ndim
            kind = ast.DataTypeImm(info.dtype)
            name = "vm.builtin.check_tensor_info"
            self.effect(packed(name, value, number(rank), kind, words))
            if info.vdevice is not None:
                target = ast.StringImm(info.vdevice.target)
                index = number(info.vdevice.index)
                self.effect(packed("relax.run.check_device", value, target, index, words))
            if isinstance(shape, ast.Var):
                held = self._renamed.get(shape, shape)
                self.effect(packed("relax.run.check_held_shape", value, held, words))
        self._dims(value, dims, place, later, proved)

    def _dims(
        self,
        value: ast.Expr,
        dims: Sequence[tir.PrimExpr],
        place: str,
        later: list[_Later],
        proved: bool,
    ) -> None:
        now: list[tuple[int, int]] = []
        rest: list[tuple[int, tir.PrimExpr]] = []
        for axis, dim in enumerate(dims):
            step = (NOTHING, 0)
            if isinstance(dim, tir.IntImm):
                step = (EQUAL_NUMBER, dim.value)
            elif isinstance(dim, tir.Var) and not self._stored(dim):
                step = (STORE, self._heap.place(dim))
                self._computed[-1].add(step[1])
            else:
                rest.append((axis, dim))
            now.append(step if not proved or step[0] == STORE else (NOTHING, 0))
        if any(step[0] != NOTHING for step in now):
            self._match(value, now, place)
        if rest and not proved:
            later.append(_Later(value, len(dims), rest, place))

    def _prim(
        self,
        value: ast.Expr,
        found: tir.PrimExpr,
        place: str,
        later: list[_Later],
        proved: bool,
    ) -> None:
        if isinstance(found, tir.Var) and not self._stored(found):
            slot = self._heap.place(found)
            self._computed[-1].add(slot)
            self._match_prim(value, (STORE, slot), place)
        elif not proved:
            later.append(_Later(value, -1, [(0, found)], place))

    def _stored(self, var: tir.Var) -> bool:
        return self._heap.known(var) and self._heap.place(var) in self._computed[-1]

    def _finish(self, later: list[_Later]) -> None:
        """Emit the comparisons that need numbers which the first ones gave."""
        for each in later:
            self._compute([value for _, value in each.parts])
            steps = {
                axis: (EQUAL_NUMBER, value.value)
                if isinstance(value, tir.IntImm)
                else (EQUAL_HEAP, self._heap.place(value))
                for axis, value in each.parts
            }
            if each.rank < 0:
                self._match_prim(each.value, steps[0], each.place)
            else:
                program = [steps.get(axis, (NOTHING, 0)) for axis in range(each.rank)]
                self._match(each.value, program, each.place)

    def _match(self, value: ast.Expr, program: Sequence[tuple[int, int]], place: str) -> None:
        steps = [number(item) for step in program for item in step]
        name = "vm.builtin.match_shape"
        count = number(len(program))
        words = ast.StringImm(place)
        self.effect(packed(name, value, self._heap_var, count, *steps, words))

    def _match_prim(self, value: ast.Expr, step: tuple[int, int], place: str) -> None:
        words = ast.StringImm(place)
        name = "vm.builtin.match_prim_value"
        self.effect(packed(name, value, self._heap_var, *map(number, step), words))


class _Later:
    """Comparisons that wait for numbers: of a shape of ``rank`` dimensions, or of a scalar (-1)."""

    def __init__(
        self, value: ast.Expr, rank: int, parts: list[tuple[int, tir.PrimExpr]], place: str
    ) -> None:
        self.value, self.rank, self.parts, self.place = value, rank, parts, place


def _rank(shape: ast.ShapeExpr) -> ast.ShapeStructInfo:
    return ast.ShapeStructInfo(None, len(shape.values))


def _without_variables(info: ast.StructInfo) -> ast.StructInfo:
    """The annotation without dimensions that are not numbers, and with any function for a function.

    What is known of closures changes with their annotations, so a type of functions would ask for too much.
    """
    return erase(_any_function(info), frozenset(), frozenset())


def _any_function(info: ast.StructInfo) -> ast.StructInfo:
    if isinstance(info, ast.FuncStructInfo):
        return ast.FuncStructInfo(None, OBJECT, False, "default")
    return with_children(info, _any_function)


def _says_nothing(info: ast.StructInfo) -> bool:
    return isinstance(info, ast.ObjectStructInfo)


def _dims_of(info: ast.StructInfo) -> Sequence[tir.PrimExpr]:
    match info:
        case ast.TensorStructInfo(shape=ast.ShapeExpr(values=values)):
            return values
        case ast.ShapeStructInfo(values=tuple() as values):
            return values
    return ()


_SAY_MORE = frozenset({"relax.reshape"})
"""Operators to which a written -1 is what is left, and a written 0 the dimension that was there."""


def _abbreviated(expr: ast.Expr) -> bool:
    """Whether a shape has variables, and a -1 or a 0 beside them."""
    if not isinstance(expr, ast.ShapeExpr) or not any(map(tir.free_vars, expr.values)):
        return False
    return any(isinstance(v, tir.IntImm) and v.value in (-1, 0) for v in expr.values)


def _declared(value: ast.Expr) -> ast.StructInfo | None:
    """What a call of a function from outside declares of its value, if that is more than its kind."""
    if not isinstance(value, ast.Call) or not value.sinfo_args:
        return None
    if isinstance(value.op, ast.Op) and operator_name(value) not in _RECEIVE:
        return None
    types = value.sinfo_args
    info = types[0] if len(types) == 1 else ast.TupleStructInfo(types)
    if isinstance(info, ast.TupleStructInfo) and not info.fields:
        return None
    return None if _says_nothing(info) else info


_RECEIVE = frozenset({"relax.call_builtin_with_ctx", "relax.invoke_closure", "relax.call_py_func"})
