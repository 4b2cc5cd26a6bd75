"""Shapes and scalars that a function makes from the numbers of its shape heap."""

from __future__ import annotations

from collections.abc import Sequence

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import INT64, dtype
from rlx.grammar.nodes.node import replace
from rlx.grammar.print.printer import print_node
from rlx.transform.lowering.emitter import Emitter, number, packed
from rlx.transform.lowering.heap import FROM_HEAP, IMMEDIATE, STORE, Heap, shape_function
from rlx.transform.lowering.passes import ModulePass

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
            sinfo_args=(_HEAP,),
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
        """Ensure that the numbers of expressions are in the heap. Raises PassError if one is a
        float.
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
