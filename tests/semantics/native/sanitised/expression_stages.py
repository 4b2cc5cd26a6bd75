"""Random tensor expressions of several stages, as TVM's own users write them."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from .expressions import INTEGERS, KINDS
from .sizes import extents

Stage = Callable[["Stages"], Any]


class Stages:
    """A chain of stages: each takes what the one before made."""

    def __init__(self, rng: random.Random) -> None:
        from tvm import te, tirx, topi

        self.rng, self.pick, self.te, self.tir, self.topi = rng, rng.choice, te, tirx, topi
        self.kind = self.pick([kind for kind in KINDS if kind != "bool"])
        self.inputs: list[Any] = []
        sizes = extents(rng, rng.choice((1, 2, 2, 3)), 1200)
        width = self.pick(("int32", "int64"))
        dims: list[Any] = [tirx.const(size, width) for size in sizes]
        if rng.random() < 0.25:
            dims[rng.randrange(len(dims))] = te.var("n", width)
        self.now = self.placeholder(dims)

    def placeholder(self, dims: list[Any], kind: str | None = None) -> Any:
        self.inputs.append(self.te.placeholder(dims, kind or self.kind, f"x{len(self.inputs)}"))
        return self.inputs[-1]

    def constant(self, value: int) -> Any:
        return self.tir.const(value, self.kind)

    def elementwise(self) -> Any:
        """One value from one or two."""
        x, tir = self.now, self.tir
        y = self.placeholder(list(x.shape)) if self.rng.random() < 0.4 else x
        forms = [
            lambda *i: x(*i) + y(*i),
            lambda *i: x(*i) * y(*i) - self.constant(3),
            lambda *i: tir.max(x(*i), self.constant(0)),
            lambda *i: tir.Select(x(*i) > y(*i), x(*i), self.constant(1)),
        ]
        if self.kind in INTEGERS:
            forms += [lambda *i: tir.floormod(x(*i), self.constant(7))]
            forms += [lambda *i: tir.truncdiv(x(*i), self.constant(3))]
            forms += [lambda *i: x(*i) >> self.constant(1)]
        return self.te.compute(x.shape, self.pick(forms), "map")

    def cast(self) -> Any:
        """Cast an expression to another type."""
        x = self.now
        floats = "float" in self.kind
        kinds = [k for k in KINDS if k != "bool" and (not floats or "float" in k)]
        self.kind = self.pick(kinds)
        return self.te.compute(x.shape, lambda *i: x(*i).astype(self.kind), "cast")

    def reduction(self) -> Any:
        """Over the last axis."""
        x, te = self.now, self.te
        if not len(x.shape):
            return x
        axis = te.reduce_axis((0, x.shape[-1]), "r")
        combine = self.pick((te.sum, te.max, te.min))
        return te.compute(x.shape[:-1], lambda *i: combine(x(*i, axis), axis=axis), "reduced")

    def product(self) -> Any:
        """A matrix product with a new operand."""
        x, te = self.now, self.te
        if len(x.shape) < 1:
            return x
        columns = extents(self.rng, 1, 40)[0]
        y = self.placeholder([x.shape[-1], columns])
        axis = te.reduce_axis((0, x.shape[-1]), "k")
        return te.compute(
            (*x.shape[:-1], columns),
            lambda *i: te.sum(x(*i[:-1], axis) * y(axis, i[-1]), axis=axis),
            "product",
        )

    def padded(self) -> Any:
        """With a margin around the last axis."""
        x, tir = self.now, self.tir
        if not len(x.shape):
            return x
        before, behind = self.rng.randint(0, 3), self.rng.randint(0, 3)
        size = x.shape[-1]

        def value(*i: Any) -> Any:
            inside = tir.all(i[-1] >= before, i[-1] < size + before)
            return tir.if_then_else(inside, x(*i[:-1], i[-1] - before), self.constant(0))

        return self.te.compute((*x.shape[:-1], size + before + behind), value, "padded")

    def window(self) -> Any:
        """Sums or extrema of neighbours."""
        x, te = self.now, self.te
        if not len(x.shape):
            return x
        size, step = self.rng.randint(1, 3), self.rng.randint(1, 2)
        axis = te.reduce_axis((0, size), "w")
        combine = self.pick((te.sum, te.max))
        return te.compute(
            (*x.shape[:-1], (x.shape[-1] - size) // step + 1),
            lambda *i: combine(x(*i[:-1], i[-1] * step + axis), axis=axis),
            "window",
        )

    def moved(self) -> Any:
        """Turned, reversed, repeated, broadcast."""
        x, topi = self.now, self.topi
        rank = len(x.shape)
        if not rank:
            return x
        forms: list[Callable[[], Any]] = [
            lambda: topi.transpose(x),
            lambda: topi.flip(x, self.rng.randrange(rank)),
            lambda: topi.repeat(x, 2, self.rng.randrange(rank)),
            lambda: topi.expand_dims(x, self.rng.randrange(rank + 1)),
            lambda: topi.concatenate([x, x], self.rng.randrange(rank)),
            lambda: topi.strided_slice(
                x, [0] * rank, list(x.shape), [self.rng.randint(1, 3)] * rank
            ),
            lambda: topi.cumsum(x, self.rng.randrange(rank)),
        ]
        return self.pick(forms)()

    def place_of_extremum(self) -> Any:
        """The index of the largest or smallest element."""
        x = self.now
        if not len(x.shape):
            return x
        self.kind = "int32"
        word = self.pick(("argmax", "argmin"))
        return getattr(self.topi, word)(x, axis=self.rng.randrange(len(x.shape)))


_STAGES: tuple[Stage, ...] = (
    *(Stages.elementwise, Stages.elementwise, Stages.cast, Stages.reduction, Stages.product),
    *(Stages.padded, Stages.window, Stages.moved, Stages.place_of_extremum),
)


def tensor_expression(rng: random.Random) -> list[Any]:
    """One function of a chain of stages."""
    stages = Stages(rng)
    for _ in range(rng.randint(1, 4)):
        stages.now = rng.choice(_STAGES)(stages)
    func = stages.te.create_prim_func([*stages.inputs, stages.now])
    return [func.with_attr("global_symbol", "main")]
