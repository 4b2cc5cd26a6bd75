"""Random pairs of annotations as JSON, and how they are read.

An annotation is a list: `["tensor", dims, dtype, ndim, device]`, `["shape", dims, ndim]`, `["prim", dtype, value]`,
`["tuple", …]`, `["func", binders, params, ret, pure]`, `["packed", derive, ret, pure]`, `["object"]`. Dimensions are texts of
`rlx.solver`, or the name of a variable that holds a shape.
"""

from __future__ import annotations

import json
from random import Random
from typing import Any

from rlx.grammar import tir
from rlx.grammar.ast import StructInfo, TensorStructInfo, Var, VDevice
from rlx.grammar.dtype import dtype
from rlx.solver.question_parser import parse
from tests.solver.order.build import func, obj, packed, prim, shape, tup

Json = Any

DIMS = [
    "n",
    "n",
    "m",
    "m",
    "k",
    "1",
    "2",
    "0",
    "3",
    "-1",
    "n + n",
    "2*n",
    "n*2",
    "n + 1",
    "1 + n",
    "n - 1",
    "m//m",
    "n//n",
    "n//m*m",
    "n//2*2",
    "n % 3",
    "max(n, 1)",
    "min(n, m)",
    "select(n == 0, 1, m//n)",
    "n*m",
    "m*n",
    "4",
    "if_then_else(n == 0, 1, m//n)",
    "n*n*n",
    "2*m*m*m",
    "100",
    "n + m",
    "a",
    "b",
    "n*m - 4",
    "n*4611686018427387904",
    "n - -4611686018427387904",
]
PARTNERS = {
    "n*n*n": "2*m*m*m",
    "2*m*m*m": "n*n*n",
    "1": "m//m",
    "m//m": "1",
    "n//n": "1",
    "n": "n//m*m",
    "n//m*m": "n",
    "2*n": "n + n",
    "n + n": "n*2",
    "n*m": "m*n",
    "n + 1": "1 + n",
    "select(n == 0, 1, m//n)": "if_then_else(n == 0, 1, m//n)",
    "if_then_else(n == 0, 1, m//n)": "select(n == 0, 1, m//n)",
}
"""What is equal, wherever it is defined, or of which the prover does not know whether it is."""

NAMES = ("n", "m", "k", "a", "b")
TYPES = ("float32", "float32", "float32", "float16", "int8", "void", "int64", "bool")
DEVICES = (None, None, None, "llvm", "cuda", "cuda:1", "cuda:1:global", "cuda:0:global")
HELD = ("s", "t", "u")
"""Variables that hold a shape of known dimensions, of known rank, and any value."""


def dims(random: Random) -> list[str]:
    return [random.choice(DIMS) for _ in range(random.choice((0, 1, 1, 1, 2, 2, 3)))]


def made(random: Random, depth: int) -> Json:
    """An annotation."""
    match random.randrange(14):
        case 0:
            return ["object"]
        case 1 | 2:
            values = dims(random) if random.random() < 0.7 else None
            return ["shape", values, len(values) if values is not None else random.randint(-1, 3)]
        case 3 | 4:
            value = random.choice(DIMS) if random.random() < 0.7 else None
            if random.random() < 0.15:
                return ["prim", "float32", random.choice((1.5, -2.5, "nan", 1.5))]
            return ["prim", random.choice(("int64", "int64", "int64", "int32", "bool")), value]
        case 5 | 6 if depth > 0:
            return ["tuple", *(made(random, depth - 1) for _ in range(random.choice((0, 1, 2, 2))))]
        case 7 | 8 | 9 if depth > 0:
            return _function(random, depth)
        case 10 if depth > 0:
            derive = random.choice(("default", "empty", "other.derive", None, None))
            ret = made(random, depth - 1) if derive is None else ["object"]
            return ["packed", derive, ret, random.random() < 0.5]
    return _tensor(random)


def _tensor(random: Random) -> Json:
    on, of = random.choice(DEVICES), random.choice(TYPES)
    if random.random() < 0.15:
        return ["tensor", random.choice(HELD), of, random.choice((2, 2, -1, 1)), on]
    values = dims(random) if random.random() < 0.75 else None
    return ["tensor", values, of, len(values) if values is not None else random.randint(-1, 3), on]


def _held(random: Random) -> Json:
    return ["tensor", random.choice(HELD), "float32", 2, None]


def _function(random: Random, depth: int) -> Json:
    binders = random.choice(([], [], ["a"], ["b"], ["a", "b"], ["n"]))
    params = [made(random, depth - 1) for _ in range(random.choice((0, 1, 1, 2)))]
    if binders and random.random() < 0.8:
        params.append(["tensor", [*binders], "float32", len(binders), None])
    if binders and random.random() < 0.3:
        params.append(
            random.choice((["shape", [*binders], len(binders)], ["prim", "int64", binders[0]]))
        )
    return ["func", binders, params, made(random, depth - 1), random.random() < 0.7]


def changed(random: Random, info: Json, depth: int) -> Json:
    """The annotation with another part here and there."""
    draw = random.random()
    if draw < 0.06:
        return made(random, depth)
    match info:
        case "tensor", values, of, ndim, on:
            if isinstance(values, list):
                values, ndim = _changed_dims(random, values, ndim)
            elif draw < 0.3:
                ndim = random.randint(-1, 3)
            of = random.choice(TYPES) if random.random() < 0.15 else of
            on = random.choice(DEVICES) if random.random() < 0.2 else on
            return ["tensor", values, of, ndim, on]
        case "shape", list(values), ndim:
            return ["shape", *_changed_dims(random, values, ndim)]
        case "prim", "float32", float():
            return ["prim", "float32", random.choice((1.5, -2.5, "nan", None))]
        case "prim", of, str():
            return ["prim", of, random.choice((None, random.choice(DIMS), info[2]))]
        case "tuple", *fields:
            found = [changed(random, field, depth - 1) for field in fields]
            return ["tuple", *(found[:-1] if draw < 0.12 else found)]
        case "func", binders, params, ret, pure:
            given = [changed(random, param, depth - 1) for param in params]
            if draw < 0.12:
                given = given[1:]
            pure = not pure if random.random() < 0.15 else pure
            return ["func", binders, given, changed(random, ret, depth - 1), pure]
        case "packed", derive, ret, pure:
            new = changed(random, ret, depth - 1) if derive is None else ret
            derive = random.choice(("default", "empty", derive)) if draw < 0.3 else derive
            return ["packed", derive, new, pure if draw < 0.8 else not pure]
    return info


def _other(random: Random, value: str) -> str:
    return PARTNERS.get(value, value) if random.random() < 0.6 else random.choice(DIMS)


def _changed_dims(random: Random, values: list[str], ndim: int) -> tuple[list[str] | None, int]:
    draw = random.random()
    if draw < 0.15:
        return None, random.choice((ndim, ndim, -1))
    new = [_other(random, value) if random.random() < 0.4 else value for value in values]
    if draw < 0.25:
        new = new[:-1] if draw < 0.2 else [*new, "1"]
    return new, len(new)


def pair(random: Random) -> str:
    """Two annotations, facts, names in scope, and images of variables."""
    given = made(random, random.choice((0, 1, 2, 2)))
    wanted = changed(random, given, 2) if random.random() < 0.8 else made(random, 2)
    if random.random() < 0.1:
        given = ["tuple", *([_held(random)] * 2)]
        wanted = ["tuple", _tensor(random), changed(random, _tensor(random), 0)]
    if random.random() < 0.5:
        given, wanted = wanted, given
    asked: dict[str, Json] = {"given": given, "wanted": wanted}
    if random.random() < 0.25:
        facts = ("n % 2 == 0", "n >= 1", "m >= 1", "n == m", "n == 2", "n < m", "n % m == 0")
        asked["facts"] = random.sample(facts, random.randint(1, 2))
    asked["scope"] = random.sample((*NAMES, *HELD), random.randint(0, 5))
    images: dict[str, Json] = {}
    for name in random.sample(NAMES, random.randint(0, 3)):
        images[name] = random.choice(DIMS)
    if random.random() < 0.3:
        images[random.choice(HELD)] = random.choice((dims(random), random.choice(HELD)))
    asked["images"] = images
    return json.dumps(asked)


class Reader:
    """Reads the annotations of a pair: a name is one variable, but for what a function binds."""

    def __init__(self) -> None:
        self.names: dict[str, tir.Var] = {name: tir.Var(name) for name in NAMES}
        known = shape((self.names["n"], parse("2", {})))
        self.devices: dict[str, VDevice] = {}
        self.held = {"s": Var("s", known), "t": Var("t", shape(ndim=2)), "u": Var("u", obj())}

    def dims(self, values: list[str], names: dict[str, tir.Var]) -> tuple[tir.PrimExpr, ...]:
        return tuple(parse(value, names) for value in values)

    def read(self, info: Json, names: dict[str, tir.Var] | None = None) -> StructInfo:
        names = self.names if names is None else names
        match info:
            case "tensor", values, of, ndim, on:
                return self._tensor(values, of, ndim, on, names)
            case "shape", values, ndim:
                return shape(None if values is None else self.dims(values, names), ndim)
            case "prim", of, value:
                return self._prim(of, value, names)
            case "tuple", *fields:
                return tup(*(self.read(field, names) for field in fields))
            case "func", binders, params, ret, pure:
                own = {name: tir.Var(name) for name in binders}
                inner = names | own
                given = tuple(self.read(param, inner) for param in params)
                return func(given, self.read(ret, inner), *own.values(), pure=pure)
            case "packed", derive, ret, pure:
                return packed(derive, self.read(ret, names), pure)
        return obj()

    def _prim(self, of: str, value: Json, names: dict[str, tir.Var]) -> StructInfo:
        if isinstance(value, float) or value == "nan":
            return prim(of, tir.FloatImm(float(value), dtype(of)))
        return prim(of, None if value is None else parse(value, names))

    def _tensor(
        self, values: Json, of: str, ndim: int, on: str | None, names: dict[str, tir.Var]
    ) -> StructInfo:
        from rlx.grammar.ast import Expr, ShapeExpr

        said: Expr | None = None
        if isinstance(values, str):
            said = self.held[values]
        elif values is not None:
            said = ShapeExpr(self.dims(values, names))
        device = None
        if on is not None:
            target, *place = on.split(":")
            index, scope = (*place, *("0", "global")[len(place) :])
            device = VDevice(target, int(index), scope)
            if not place:
                device = self.devices.setdefault(target, device)
        return TensorStructInfo(said, dtype(of), ndim, device)
