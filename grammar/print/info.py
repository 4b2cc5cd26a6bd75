"""Struct info as text, in the spelling of a dialect or in the short form of messages."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rlx.grammar.dialects import Dialect
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import StructInfo
from rlx.grammar.nodes.dtype import INT64, VOID
from rlx.grammar.nodes.node import tuple_text
from rlx.grammar.print.prim import Names, PrimPrinter, in_shape, quoted, value_text

LONGEST = 1 << 20
"""Characters of the text of a type. Fields that stand for each other's fields double it each time."""


class TooLongError(ValueError):
    """A type is too long to be written."""


def fields_text(texts: list[str]) -> str:
    """The fields of a tuple, separated by commas.

    Raises
    ------
    TooLongError
        If that is longer than any type may be.
    """
    if sum(map(len, texts)) > LONGEST:
        raise TooLongError(f"a tuple type is too long to print: more than {LONGEST:,} characters")
    return ", ".join(texts)


class InfoPrinter:
    """Prints the annotations of one function.

    Parameters
    ----------
    names
        The names of the variables of the function.
    dialect
        The spelling.
    expr
        Prints a shape that is a Relax expression.
    """

    def __init__(self, names: Names, dialect: Dialect, expr: Callable[[ast.Expr], str]) -> None:
        self.names = names
        self.dialect = dialect
        self.expr = expr
        self.prim: PrimPrinter = in_shape(names)
        self._body: dict[StructInfo, str] = {}
        self._signature: dict[StructInfo, str] = {}

    def body(self, info: StructInfo) -> str:
        """An annotation inside a function, where shape variables are in scope by name."""
        text = self._body.get(info)
        if text is None:
            text = self._body[info] = self._text(info, self.prim.text)
        return text

    def signature(self, info: StructInfo) -> str:
        """An annotation of a parameter or result, with quoted dimensions if the dialect requires
        it.
        """
        text = self._signature.get(info)
        if text is None:
            text = self._signature[info] = self._text(info, self.quoted_dim)
        return text

    def parameter(self, var: ast.Var) -> str:
        """The annotation of a parameter; if it is a shape variable, only its type."""
        info = var.struct_info_annotation
        assert info is not None
        if self.dialect.prim_types and isinstance(info, ast.PrimStructInfo):
            info = info if info.value is not var.shape_var else ast.PrimStructInfo(info.dtype)
        return self.signature(info)

    def part(self, info: StructInfo) -> str | None:
        """A scalar as a part of another annotation or of a list; None for any other annotation."""
        if isinstance(info, ast.PrimStructInfo) and info.value is None:
            return self._text(info, self.prim.text, inside=True)
        return None

    def quoted_dim(self, dim: tir.PrimExpr) -> str:
        """A dimension of a signature."""
        if self.dialect.prototype:
            return self.prim.text(dim)
        if type(dim) is tir.IntImm or (
            type(dim) is tir.Var and self.dialect.type_vars and dim.dtype == INT64
        ):
            return self.prim.text(dim)
        return quoted(self.prim.text(dim))

    def _text(
        self, info: StructInfo, dim: Callable[[tir.PrimExpr], str], inside: bool = False
    ) -> str:
        """An annotation; ``inside`` another one, TVM does not read ``T.int64``."""
        match info:
            case ast.TensorStructInfo():
                return self._tensor(info, dim)
            case ast.ShapeStructInfo(values=None, ndim=-1) if self.dialect.prototype:
                return "R.Shape"
            case ast.ShapeStructInfo(values=None, ndim=ndim):
                return f"R.Shape(ndim={ndim})"
            case ast.ShapeStructInfo(values=values):
                return f"R.Shape([{', '.join([dim(v) for v in values or ()])}])"
            case ast.ObjectStructInfo():
                return self.dialect.object_info
            case ast.PrimStructInfo(dtype=dtype, value=None):
                if inside or not self.dialect.prim_types:
                    return f'R.Prim("{dtype}")'
                return f"T.{dtype}"
            case ast.PrimStructInfo(value=value) if value is not None:
                return f"R.Prim(value={dim(value)})"
            case ast.TupleStructInfo(fields=()):
                return "R.Tuple"
            case ast.TupleStructInfo(fields=fields):
                each = self.body if dim == self.prim.text else self.signature
                shown = [self.part(field) or each(field) for field in fields]
                return f"R.Tuple({fields_text(shown)})"
            case ast.FuncStructInfo():
                return self._callable(info, dim)
        raise TypeError(f"not struct info: {type(info).__name__}")

    def _tensor(self, info: ast.TensorStructInfo, dim: Callable[[tir.PrimExpr], str]) -> str:
        plain = info.vdevice is None and info.distribution is None
        if self.dialect.prototype and plain and info.ndim in (-1, _rank_said(info.shape)):
            element = "_" if info.dtype.is_void else f'"{info.dtype}"'
            return f"R.Tensor[{self._shape(info.shape, dim)}, {element}]"
        parts = []
        match info.shape:
            case ast.ShapeExpr(values=values):
                parts.append(self.pattern(values, dim))
            case ast.Expr() as shape:
                parts.append(self.expr(shape))
        if info.dtype is not VOID and not info.dtype.is_void:
            parts.append(f'dtype="{info.dtype}"')
        if info.ndim >= 0 and info.ndim != _rank_said(info.shape):
            parts.append(f"ndim={info.ndim}")
        if info.vdevice is not None:
            parts.append(f"vdevice={quoted(device_text(info.vdevice))}")
        if info.distribution is not None:
            for name, value in zip(("device_mesh", "placement"), info.distribution, strict=True):
                if value is not None:
                    parts.append(f"{name}={value_text(value, self.prim.text)}")
            return f"R.DTensor({', '.join(parts)})"
        return f"R.Tensor({', '.join(parts)})" if parts else "R.Tensor"

    def _shape(self, shape: ast.Expr | None, dim: Callable[[tir.PrimExpr], str]) -> str:
        """The shape of a tensor between brackets."""
        match shape:
            case None:
                return "_"
            case ast.ShapeExpr():
                return self.pattern(shape.values, dim)
        return self.expr(shape)

    def pattern(
        self, values: Sequence[tir.PrimExpr], dim: Callable[[tir.PrimExpr], str] | None = None
    ) -> str:
        """Dimensions as a tuple."""
        return tuple_text([(dim or self.prim.text)(value) for value in values])

    def _callable(self, info: ast.FuncStructInfo, dim: Callable[[tir.PrimExpr], str]) -> str:
        ret = self._text(info.ret, dim, inside=True)
        if info.params is not None:
            shown = tuple_text([self._text(p, dim, inside=True) for p in info.params])
            return f"R.Callable({shown}, {ret}, {info.purity})"
        # TVM takes a result or a function that derives it, not both; Object is what there is
        # without either.
        bare = info.derive_func is not None and isinstance(info.ret, ast.ObjectStructInfo)
        parts = [] if bare else [f"ret={ret}"]
        if info.purity:
            parts.append("purity=True")
        if info.derive_func == "default":
            parts.append('derive_func="default"')
        return f"R.Callable({', '.join(parts)})" if parts else "R.Callable"


def _rank_said(shape: ast.Expr | None) -> int:
    """The rank that a shape says by itself: of a literal, or of a variable that is annotated."""
    match shape:
        case ast.ShapeExpr(values=values):
            return len(values)
        case ast.Var(struct_info_annotation=ast.ShapeStructInfo(ndim=ndim)):
            return ndim
    return -1


def device_text(device: ast.VDevice) -> str:
    """A virtual device in the annotation of a tensor: ``cuda:0:global``."""
    return f"{device.target}:{device.index}:{device.memory_scope}"
