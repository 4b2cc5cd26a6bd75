"""What the variables of a lowered program stand for: numbers, shapes and other constants."""

from __future__ import annotations

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import INT64, VOID, DataType, dtype
from rlx.operators.dim_arithmetic import const, product


class KnownValues:
    """The values of one function, as far as they follow from its text.

    A variable is bound once, so that what is known of it holds wherever it is in scope.
    """

    def __init__(self) -> None:
        self._bound: dict[ast.Var, ast.Expr] = {}
        self._shapes: dict[ast.Var, ast.Expr] = {}
        self._fresh: dict[tuple[ast.Expr, int], tir.Var] = {}

    def bind(self, var: ast.Var, value: ast.Expr) -> None:
        """A variable is another name of a value."""
        self._bound[var] = self.leaf(value)

    def lay(self, var: ast.Var, shape: ast.Expr) -> None:
        """A variable is a tensor of this shape."""
        self._shapes[var] = self.leaf(shape)

    def leaf(self, value: ast.Expr) -> ast.Expr:
        """What a variable is another name of, or the expression itself."""
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
        if isinstance(leaf, ast.Var):
            info = leaf.struct_info
            if isinstance(info, ast.PrimStructInfo) and info.value is not None:
                return info.value
        return None

    def some_number(self, value: ast.Expr) -> tir.PrimExpr:
        """The number of a scalar: what is known, or a variable that stands for it."""
        match self.number(value):
            case None:
                return self._variable(self.leaf(value), -1)
            case known:
                return known

    def dimensions(self, shape: ast.Expr) -> tuple[tir.PrimExpr, ...] | None:
        """The dimensions of a shape; None where they are not known."""
        leaf = self.leaf(shape)
        if isinstance(leaf, ast.ShapeExpr):
            return tuple(leaf.values)
        info = leaf.struct_info if isinstance(leaf, ast.Var) else None
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
        info = var.struct_info
        if isinstance(info, ast.TensorStructInfo) and info.shape is not None:
            return self.dimensions(info.shape)
        return None

    def _variable(self, leaf: ast.Expr, k: int) -> tir.Var:
        if (leaf, k) not in self._fresh:
            name = leaf.name_hint if isinstance(leaf, ast.Var) else "value"
            self._fresh[leaf, k] = tir.Var(name if k < 0 else f"{name}_shape_{k}", INT64)
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
