"""Values of the variables of a lowered program: numbers, shapes and other constants."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import INT64, VOID, DataType, dtype
from rlx.grammar.nodes.node import Node
from rlx.operators.dim_arithmetic import const, product, same
from rlx.solver.context import Context
from rlx.solver.order import subtype
from rlx.solver.prover import Prover
from rlx.solver.verdict import Relation


class ShownState(NamedTuple):
    """The facts that the checks of a program have shown at one point: conditions, and the numbers
    that stand for dimensions.
    """

    facts: tuple[tir.PrimExpr, ...]
    fresh: Mapping[tuple[ast.Expr, int], tir.PrimExpr]


PIECE = "a piece of memory"


class KnownValues:
    """The values of one function, as far as they follow from its text.

    A variable is bound once, so that what is known of it holds wherever it is in scope.
    """

    def __init__(self, infos: Mapping[Node, ast.StructInfo] | None = None) -> None:
        self._infos = infos or {}
        self._wider: set[ast.Expr] = set()
        self._pieces: set[ast.Expr] = set()
        self._facts: tuple[tir.PrimExpr, ...] = ()
        self._bound: dict[ast.Var, ast.Expr] = {}
        self._fields: dict[tuple[ast.Expr, int], ast.Expr] = {}
        self._shapes: dict[ast.Var, ast.Expr] = {}
        self._open: set[tir.PrimExpr] = set()
        self._fresh: dict[tuple[ast.Expr, int], tir.PrimExpr] = {}

    def bind(self, var: ast.Var, value: ast.Expr) -> None:
        """A variable is another name of a value; of a field, that of the variable which named it
        first.
        """
        hides = value in self._wider
        if isinstance(value, ast.TupleGetItem):
            whole = self.leaf(value.tuple_value)
            value = self._fields.setdefault((whole, value.index), var)
        if value is not var:
            leaf = self._bound[var] = self.leaf(value)
            said, known = var.struct_info, self.info(leaf)
            if said is not None and known is not None:
                hides = not subtype(said, known, Prover()).proved
            if hides:
                self._wider.add(var)

    def is_said(self, value: ast.Expr) -> bool:
        """Whether the program says what is known of a value: no annotation of the name that it has
        here is wider than its type.
        """
        return value not in self._wider

    def lay(self, var: ast.Var, shape: ast.Expr) -> None:
        """A variable is a tensor of this shape."""
        self._shapes[var] = self.leaf(shape)

    def leaf(self, value: ast.Expr) -> ast.Expr:
        """The variable that another one is a name of, or the expression itself."""
        return self._bound.get(value, value) if isinstance(value, ast.Var) else value

    def integer(self, value: ast.Expr) -> int | None:
        """The integer that an expression is; None where it is none, or not known."""
        number = self.number(value)
        return number.value if isinstance(number, tir.IntImm) else None

    def number(self, value: ast.Expr) -> tir.PrimExpr | None:
        """The number that an expression stands for; None where it is not known."""
        leaf = self.leaf(value)
        if isinstance(leaf, ast.PrimValue):
            return leaf.value
        info = self.info(leaf)
        return info.value if isinstance(info, ast.PrimStructInfo) else None

    def info(self, value: ast.Expr) -> ast.StructInfo | None:
        """The known type of an expression: its annotation, or the derived one."""
        leaf = self.leaf(value)
        annotation = leaf.struct_info if isinstance(leaf, ast.Var) else None
        return annotation or self._infos.get(leaf)

    def hold(self, var: ast.Var) -> None:
        """A variable is a piece of memory, into which tensors are laid."""
        self._pieces.add(var)

    def kind(self, value: ast.Expr) -> str | None:
        """The kind of value of an expression, in words; None if it is not known."""
        leaf = self.leaf(value)
        if leaf in self._pieces:
            return PIECE
        match leaf, self.info(leaf):
            case (ast.ShapeExpr(), _) | (_, ast.ShapeStructInfo()):
                return "a shape"
            case (ast.PrimValue(), _) | (_, ast.PrimStructInfo()):
                return "a scalar"
            case (ast.Tuple(), _) | (_, ast.TupleStructInfo()):
                return "a tuple"
            case _, ast.TensorStructInfo():
                return "a tensor"
        return None

    def is_typed(self, value: ast.Expr) -> bool:
        """Whether the type of a tensor says its shape."""
        info = self.info(value)
        return isinstance(info, ast.TensorStructInfo) and self._of_type(info) is not None

    def rank(self, value: ast.Expr) -> int | None:
        """The rank of a tensor or shape; None where it is not known."""
        leaf = self.leaf(value)
        dims = self.dimensions(leaf)
        if dims is None and isinstance(leaf, ast.Var):
            dims = self._of_tensor(leaf)
        if dims is not None:
            return len(dims)
        info = self.info(leaf)
        if isinstance(info, (ast.TensorStructInfo, ast.ShapeStructInfo)) and info.ndim >= 0:
            return info.ndim
        return None

    def keep(self, number: tir.PrimExpr) -> None:
        """A number is stored, so that the program computes with it."""
        self._open.discard(number)

    def is_open(self, number: tir.PrimExpr) -> bool:
        """Whether a number depends on a dimension of which the program says nothing."""
        return not self._open.isdisjoint(tir.free_vars(number))

    # What checks have shown

    def relation(self, one: tir.PrimExpr, other: tir.PrimExpr) -> Relation:
        """The relation of two numbers, given the checks that have passed."""
        if same(one, other):
            return Relation("always")
        context = Context()
        for fact in self._facts:
            context.assume(fact)
        return Prover(context).relate(one, other)

    def learn(self, value: ast.Expr, axis: int, number: tir.PrimExpr) -> None:
        """A dimension is equal to a number."""
        known = self.axis(value, axis)
        if same(known, number):
            return
        leaf = self.leaf(value)
        if self._fresh.get((leaf, axis)) is known:
            self._fresh[leaf, axis] = number
        self._facts = (*self._facts, tir.EQ(known, number))

    def state(self) -> ShownState:
        """The facts that checks have shown so far."""
        return ShownState(self._facts, dict(self._fresh))

    def restore(self, state: ShownState) -> None:
        """Go back to what was known."""
        self._facts, self._fresh = state.facts, dict(state.fresh)

    def some_number(self, value: ast.Expr) -> tir.PrimExpr:
        """The number of a scalar: what is known, or a variable that stands for it."""
        known = self.number(value)
        return self._variable(self.leaf(value), -1) if known is None else known

    def dimensions(self, shape: ast.Expr) -> tuple[tir.PrimExpr, ...] | None:
        """The dimensions of a shape; None where they are not known."""
        leaf = self.leaf(shape)
        if isinstance(leaf, ast.ShapeExpr):
            return tuple(leaf.values)
        info = self.info(leaf)
        if isinstance(info, ast.ShapeStructInfo) and info.values is not None:
            return tuple(info.values)
        return None

    def axis(self, value: ast.Expr, k: int) -> tir.PrimExpr:
        """A dimension of a tensor or a shape: what is known, or a variable that stands for it."""
        leaf = self.leaf(value)
        dims = self.dimensions(leaf)
        if dims is None and isinstance(leaf, ast.Var):
            dims = self._of_tensor(leaf)
        if dims is not None and k in range(len(dims)):
            return dims[k]
        return self._variable(leaf, k)

    def _of_tensor(self, var: ast.Var) -> tuple[tir.PrimExpr, ...] | None:
        if var in self._shapes:
            return self.dimensions(self._shapes[var])
        info = self.info(var)
        return self._of_type(info) if isinstance(info, ast.TensorStructInfo) else None

    def _of_type(self, info: ast.TensorStructInfo) -> tuple[tir.PrimExpr, ...] | None:
        if info.shape is not None:
            return self.dimensions(info.shape)
        return () if info.ndim == 0 else None

    def _variable(self, leaf: ast.Expr, k: int) -> tir.PrimExpr:
        if (leaf, k) not in self._fresh:
            name = leaf.name_hint if isinstance(leaf, ast.Var) else "value"
            made = tir.Var(name if k < 0 else f"{name}_shape_{k}", INT64)
            self._open.add(made)
            self._fresh[leaf, k] = made
        return self._fresh[leaf, k]

    def size(self, shape: ast.Expr, kind: DataType) -> tir.PrimExpr | None:
        """The bytes of a tensor; None where its shape or element type is not known."""
        dims, bits = self.dimensions(shape), kind.bits * kind.lanes
        if dims is None or not bits:
            return None
        return product((*dims, const((bits + 7) // 8)))

    def data_type(self, value: ast.Expr) -> DataType:
        """The data type that an argument names; Void where it names none."""
        match self.leaf(value):
            case ast.DataTypeImm(value=kind):
                return kind
            case ast.StringImm(value=name):
                try:
                    return dtype(name)
                except ValueError:
                    return VOID
        return VOID
