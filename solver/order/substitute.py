"""Variables of StructInfo: free variables, substitution, renaming; and parts of a StructInfo."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import (
    FuncStructInfo,
    PrimStructInfo,
    ShapeExpr,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
    Var,
    VDevice,
)
from rlx.grammar.nodes.dtype import DataType
from rlx.grammar.nodes.node import Node, replace, same
from rlx.grammar.nodes.struct_infos import children, held_shape, mentioned, numbers, with_children
from rlx.grammar.nodes.tir import PrimExpr
from rlx.grammar.nodes.visit import expressions, struct_infos
from rlx.spec.registry import rule

Key = tir.Var | ast.Var
Image = PrimExpr | ast.Expr
Mapped = Mapping[Any, Image]
"""Shape variables to prim expressions, and variables that hold a shape to shape expressions.

The keys are :data:`Key`; a mapping type is invariant in its keys, and callers have only shape
variables.
"""

_INT64 = range(-(1 << 63), 1 << 63)
_FOLDED: dict[type[PrimExpr], Callable[[int, int], int]] = {
    tir.Add: lambda a, b: a + b,
    tir.Sub: lambda a, b: a - b,
    tir.Mul: lambda a, b: a * b,
}


def substitute(info: StructInfo, mapping: Mapped) -> StructInfo:
    """``info`` with variables replaced simultaneously; ``info`` itself if none occurs.

    Parameters
    ----------
    mapping
        Shape variables to prim expressions. A Relax variable in ``shape=`` may be mapped to another
        one or to a shape literal.

    Notes
    -----
    SUBST-function: variables bound by a function type are not replaced, and are renamed if an image
    mentions them. Sums, differences and products of numbers are computed.
    """
    return _substitute(info, _Images(mapping)) if mapping else info


class _Images(dict[Any, Image]):
    """The images of a substitution, and the tuples that it was applied to: a tuple that occurs
    several times in an annotation is rebuilt once.
    """

    __slots__ = ("done",)

    def __init__(self, images: Mapped) -> None:
        super().__init__(images)
        self.done: dict[int, tuple[StructInfo, StructInfo]] = {}


def substitute_prim(expr: PrimExpr, mapping: Mapped, in_place: bool = False) -> PrimExpr:
    """One expression with its shape variables replaced simultaneously; with ``in_place``, it keeps
    its span.
    """
    kind = type(expr)
    if kind is tir.IntImm:
        return expr
    if kind is tir.Var:
        return _image(expr, mapping) or expr

    def change(node: PrimExpr) -> PrimExpr | None:
        return _image(node, mapping) if type(node) is tir.Var else _fold(node)

    if not any(v in mapping for v in tir.free_vars(expr)):
        return expr
    return tir.transform((expr,), change, in_place)[0]


def _image(var: PrimExpr, mapping: Mapped) -> PrimExpr | None:
    """The prim expression that stands for a shape variable."""
    image = mapping.get(var)
    assert image is None or isinstance(image, PrimExpr)
    return image


def _fold(node: PrimExpr) -> PrimExpr | None:
    """The number that an operation on two numbers yields, if 64 bits hold it."""
    compute = _FOLDED.get(type(node))
    if compute is None:
        return None
    a, b = tir.children(node)
    if type(a) is tir.IntImm and type(b) is tir.IntImm and a.dtype == b.dtype:
        value = compute(a.value, b.value)
        if value in _INT64:
            return tir.IntImm(value, a.dtype)
    return None


def _all(values: tuple[PrimExpr, ...], mapping: Mapped) -> tuple[PrimExpr, ...]:
    return same(values, [substitute_prim(v, mapping) for v in values])


def _substitute(info: StructInfo, mapping: _Images) -> StructInfo:
    action = _ACTIONS.get(type(info))
    return info if action is None else action(info, mapping)


@rule("SUBST-tensor", "substitution")
def _tensor(info: TensorStructInfo, mapping: Mapped) -> StructInfo:
    shape = info.shape
    if type(shape) is ShapeExpr:
        values = _all(shape.values, mapping)
        if values is shape.values:
            return info
        return TensorStructInfo(ShapeExpr(values), info.dtype, info.ndim, info.vdevice)
    if isinstance(shape, ast.Var) and shape in mapping:
        image = mapping[shape]
        assert isinstance(image, ast.Expr)
        ndim = len(image.values) if isinstance(image, ShapeExpr) else info.ndim
        return TensorStructInfo(image, info.dtype, ndim, info.vdevice)
    return info


@rule("SUBST-shape", "substitution")
def _shape(info: ShapeStructInfo, mapping: Mapped) -> StructInfo:
    if info.values is None:
        return info
    values = _all(info.values, mapping)
    return info if values is info.values else ShapeStructInfo(values, info.ndim)


@rule("SUBST-prim", "substitution")
def _prim(info: PrimStructInfo, mapping: Mapped) -> StructInfo:
    if info.value is None:
        return info
    value = substitute_prim(info.value, mapping)
    return info if value is info.value else PrimStructInfo(info.dtype, value)


@rule("SUBST-tuple", "substitution")
def _tuple(info: TupleStructInfo, mapping: _Images) -> StructInfo:
    known = mapping.done.get(id(info))
    if known is None:
        new = with_children(info, lambda field: _substitute(field, mapping))
        known = mapping.done[id(info)] = info, new
    return known[1]


@rule("SUBST-function", "substitution")
def _function(info: FuncStructInfo, mapping: _Images) -> StructInfo:
    if info.binders:
        mapping = _Images({k: v for k, v in mapping.items() if k not in info.binders})
        if any(v in info.binders for v in _variables_of_images(mapping.values())):
            info = rename_apart(info)
    return with_children(info, lambda part: _substitute(part, mapping))


_ACTIONS: dict[type[StructInfo], Callable[..., StructInfo]] = {
    TensorStructInfo: _tensor,
    ShapeStructInfo: _shape,
    PrimStructInfo: _prim,
    TupleStructInfo: _tuple,
    FuncStructInfo: _function,
}


def _variables_of_images(images: Iterable[Image]) -> tuple[tir.Var, ...]:
    roots: list[PrimExpr] = []
    for image in images:
        if isinstance(image, PrimExpr):
            roots.append(image)
        elif type(image) is ShapeExpr:
            roots.extend(image.values)
    return tir.free_vars(*roots)


def rename_apart(info: FuncStructInfo) -> FuncStructInfo:
    """The same function type with fresh binders.

    Assumptions about a variable in the current scope do not apply to a binder, even if both are the
    same object in a recursive function (ledger 26).
    """
    if not info.binders:
        return info
    binders = tuple(tir.Var(v.name, v.dtype) for v in info.binders)
    mapping: dict[Key, Image] = dict(zip(info.binders, binders, strict=True))
    images = _Images(mapping)
    renamed = with_children(info, lambda part: _substitute(part, images))
    return replace(renamed, binders=binders)  # type: ignore[return-value]


def free_shape_vars(info: StructInfo) -> tuple[tir.Var, ...]:
    """The shape variables that ``info`` mentions and does not bind itself, in order of
    appearance.
    """
    if not children(info):
        return tir.free_vars(*numbers(info))
    found: dict[tir.Var, None] = {}
    if mentioned(info):
        _collect(info, frozenset(), found, {}, set())
    return tuple(found)


def shape_vars_in(root: Node) -> dict[tir.Var, None]:
    """The shape variables that the annotations and the scalars in a node mention, in order."""
    found = dict.fromkeys(v for info in struct_infos(root) for v in free_shape_vars(info))
    for node in expressions(root):
        scalars = [child for child in node.children() if isinstance(child, PrimExpr)]
        found.update(dict.fromkeys(tir.free_vars(*scalars)))
    return found


def free_vars(info: StructInfo) -> tuple[ast.Var, ...]:
    """The Relax variables that ``info`` mentions (those that hold a shape), in order of
    appearance.
    """
    if not children(info):
        shape = held_shape(info)
        return () if shape is None else (shape,)
    found: dict[ast.Var, None] = {}
    if mentioned(info):
        _collect(info, frozenset(), {}, found, set())
    return tuple(found)


def _collect(
    info: StructInfo,
    bound: frozenset[tir.Var],
    shapes: dict[tir.Var, None],
    variables: dict[ast.Var, None],
    seen: set[tuple[int, frozenset[tir.Var]]],
) -> None:
    parts = children(info)
    if parts:
        if (id(info), bound) in seen:
            return
        seen.add((id(info), bound))
        if type(info) is FuncStructInfo:
            bound = bound.union(info.binders)
        for part in parts:
            _collect(part, bound, shapes, variables, seen)
    held = held_shape(info)
    if held is not None:
        variables[held] = None
    values = numbers(info)
    for v in tir.free_vars(*values) if values else ():
        if v not in bound:
            shapes[v] = None


Dimensions = tuple[PrimExpr, ...]


def dimensions(info: TensorStructInfo | ShapeStructInfo) -> Dimensions | None:
    """The dimensions, if they are given separately; otherwise None.

    Rank 0 means that there are none, with or without a shape (ledger 27). A shape that is a
    variable has the dimensions of the variable's annotation.
    """
    if type(info) is ShapeStructInfo:
        return () if info.ndim == 0 else info.values
    assert type(info) is TensorStructInfo
    shape = info.shape
    if type(shape) is ShapeExpr:
        return shape.values
    if isinstance(shape, Var) and type(shape.struct_info_annotation) is ShapeStructInfo:
        return dimensions(shape.struct_info_annotation)
    return () if info.ndim == 0 else None


def rank(info: TensorStructInfo | ShapeStructInfo) -> int:
    """The number of dimensions, -1 where unknown."""
    if info.ndim >= 0:
        return info.ndim
    said = dimensions(info)
    if said is not None:
        return len(said)
    shape = info.shape if type(info) is TensorStructInfo else None
    if isinstance(shape, Var) and type(shape.struct_info_annotation) is ShapeStructInfo:
        return shape.struct_info_annotation.ndim
    return -1


def same_type(a: DataType, b: DataType) -> bool:
    """Whether two data types are equal; equal types are nearly always the same object."""
    return a is b or a == b


def unknown_type(dtype: DataType) -> bool:
    """Whether this is Void, the unknown data type."""
    return dtype.is_void


def same_device(a: VDevice | None, b: VDevice | None) -> bool:
    """Whether two annotations name the same virtual device, or both none."""
    if a is b:
        return True
    return (
        a is not None
        and b is not None
        and (a.target, a.index, a.memory_scope) == (b.target, b.index, b.memory_scope)
    )


def identical(a: PrimExpr, b: PrimExpr) -> bool:
    """Whether two dimensions are trivially equal: the same object, or the same number."""
    if a is b:
        return True
    kind = type(a)
    if kind is tir.IntImm:
        return type(b) is tir.IntImm and a.value == b.value  # type: ignore[attr-defined]
    return kind is tir.FloatImm and type(b) is tir.FloatImm and not apart(a, b)


def apart(a: PrimExpr, b: PrimExpr) -> bool:
    """Whether these are two different floating-point numbers, which the prover does not compare."""
    if type(a) is tir.FloatImm and type(b) is tir.FloatImm:
        return a.value != b.value and not (a.value != a.value and b.value != b.value)
    return False


def same_text(a: PrimExpr, b: PrimExpr) -> bool:
    """Whether two expressions have the same text, as the last resort if the prover cannot
    decide.
    """
    from rlx.grammar.nodes.equal import structural_equal

    return structural_equal(a, b)
