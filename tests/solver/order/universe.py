"""A set of annotations over which laws are tested exhaustively, all pairs and all triples."""

from __future__ import annotations

from rlx.grammar.nodes.ast import ShapeExpr, StructInfo, Var
from tests.solver.order.build import (
    Shape,
    add,
    func,
    mul,
    obj,
    packed,
    prim,
    shape,
    tensor,
    tup,
    var,
)

N, M = var("n"), var("m")
HELD = Var("s", shape((N, 2)))
"""A variable that holds a shape."""

DIMENSIONS: tuple[Shape, ...] = (
    (),
    (2,),
    (N,),
    (M,),
    (mul(2, N),),
    (add(N, N),),
    (add(N, 1),),
    (N, M),
    (N, N),
    (2, 3),
    (N, 2),
)


def tensors() -> list[StructInfo]:
    """Tensors in every combination of what may be left open."""
    types = ("float32", "int8", "void")
    found: list[StructInfo] = [tensor(dims, of) for dims in DIMENSIONS for of in types]
    found += [tensor(ndim=r, of=of) for r in (-1, 0, 1, 2) for of in types]
    for device in ("llvm", "cuda"):
        for of in ("float32", "void"):
            found += [tensor(dims, of, on=device) for dims in ((N,), (2,), (N, M))]
            found += [tensor(of=of, ndim=r, on=device) for r in (-1, 0, 1)]
    found += [tensor(HELD, ndim=2), tensor(HELD, ndim=2, of="void")]
    return found


def others() -> list[StructInfo]:
    """Shapes, scalars and tuples."""
    return [
        obj(),
        *(shape(dims) for dims in DIMENSIONS),
        *(shape(ndim=r) for r in (-1, 0, 1, 2)),
        prim(),
        prim("float32"),
        *(prim(value=v) for v in (2, N, add(N, N), mul(2, N), add(N, 1))),
        tup(),
        tup(obj()),
        tup(tensor((N,))),
        tup(tensor((N,)), tensor((mul(2, N),))),
        tup(tensor((N,)), tensor((add(N, N),))),
        tup(tensor((2,)), tensor((N,))),
        tup(tensor((N,)), tensor((N,))),
        tup(tensor(ndim=1), tensor(ndim=1)),
        tup(tensor(), obj()),
    ]


def functions() -> list[StructInfo]:
    """Closures of one and two parameters, generic ones too, and opaque functions."""
    a, b, c, d, e, f, g, h, i, j = (var(x) for x in "abcdefghij")
    vector, free = tensor(ndim=1), tensor((N,))
    return [
        func((), tup()),
        func((), obj()),
        func((obj(),), obj()),
        func((obj(),), obj(), pure=False),
        func((tensor(),), tensor()),
        func((tensor(),), tensor(), pure=False),
        func((vector,), vector),
        func((vector,), tensor((2,))),
        func((free,), free),
        func((free,), vector),
        func((tensor((2,)),), tensor((2,))),
        func((tensor((2,)),), vector),
        func((tensor((a,)),), tensor((a,)), a),
        func((tensor((b,)),), tensor((b,)), b),
        func((tensor((b,)),), tensor((b,)), b, pure=False),
        func((tensor((c,)),), tensor((mul(2, c),)), c),
        func((tensor((c,)),), tensor((add(c, c),)), c),
        func((tensor((c,)),), vector, c),
        func((tensor((d, d)),), tensor((d,)), d),
        func((tensor((e, f)),), tensor((e,)), e, f),
        func((tensor(ndim=2),), vector),
        func((tensor((g,)), tensor((g,))), tensor((g,)), g),
        func((tensor((h,)), tensor((i,))), tensor((i,)), h, i),
        func((tensor((j,)), tensor((2,))), tensor((j,)), j),
        func((vector, vector), vector),
        func((tensor(), tensor()), tensor()),
        func((shape((a,)),), tensor((a,)), a),
        func((prim(value=a),), tensor((a,)), a),
        func((prim(),), vector),
        tup(func((tensor(),), tensor())),
        packed(),
        packed(pure=True),
        packed("empty"),
        packed("empty", pure=True),
        packed(None, vector),
        packed(None, tensor((N,)), pure=True),
        packed(None, tensor(), pure=True),
        packed(None, obj()),
    ]


UNIVERSE: tuple[StructInfo, ...] = (*tensors(), *others(), *functions())

CORE: tuple[StructInfo, ...] = (
    obj(),
    tensor(),
    tensor(of="void"),
    tensor((N,)),
    tensor((M,)),
    tensor((add(N, N),)),
    tensor((mul(2, N),), "void"),
    tensor(ndim=1, of="int8"),
    tensor((N,), on="cuda"),
    tensor(()),
    tensor(ndim=0),
    tensor(ShapeExpr((N, N))),
    shape((N,)),
    shape(ndim=1),
    shape(),
    prim(),
    prim(value=N),
    tup(tensor((N,)), tensor((M,))),
    tup(tensor((N,)), tensor(of="int8")),
    tup(obj()),
    *functions()[:27],
    packed(),
    packed("empty", pure=True),
    packed(None, tensor((N,)), pure=True),
)
"""A smaller set, for laws of three operands."""
