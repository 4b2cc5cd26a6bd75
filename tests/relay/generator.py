"""Random programs of Relay in graph form: shared nodes, branches, closures, lets, effects,
failures.

A node may use every node that is known where it is made, so that nodes of outer scopes come to be
used in branches and closures alone. `trace.tick` is an operator that no table has: it writes down
that it ran.
"""

from __future__ import annotations

from random import Random
from struct import pack

from rlx.grammar.nodes.ast import Literal
from rlx.grammar.nodes.dtype import BOOL, FLOAT32, INT32
from rlx.relay.nodes import (
    RelayCall,
    RelayConstant,
    RelayExpr,
    RelayFunction,
    RelayGlobalVar,
    RelayIf,
    RelayLet,
    RelayModule,
    RelayOp,
    RelayProjection,
    RelayTensorType,
    RelayTuple,
    RelayTupleType,
    RelayType,
    RelayVar,
)

UNARY = ("tanh", "negative", "nn.relu", "abs", "sigmoid", "copy")
BINARY = ("add", "multiply", "subtract", "maximum")
WHOLE = ("add", "subtract", "multiply", "floor_divide")
KINDS = ("tensor", "tensor", "tensor", "number", "number", "truth", "pair", "function")
TYPES: dict[str, RelayType] = {
    "tensor": RelayTensorType(("n", 3), FLOAT32),
    "open": RelayTensorType((None, 3), FLOAT32),
    "number": RelayTensorType((), INT32),
    "truth": RelayTensorType((), BOOL),
}
PAIR = RelayTupleType((TYPES["open"], TYPES["number"]))
STORED = tuple(
    Literal(None, FLOAT32, (3,), None, pack("<3f", *numbers))
    for numbers in ((0.5, -1.0, 2.0), (1.0, 0.0, -0.25))
)
"""Constants that a text keeps in its metadata."""

Pool = dict[str, list[RelayExpr]]


def program(seed: int) -> RelayModule:
    """A module with the function ``@main(%x: Tensor[(n, 3), float32], %k: int32, %p: (Tensor[(?, 3),
    float32], int32))`` and a recursive one beside it.
    """
    return _Generator(Random(seed)).module()


class _Generator:
    def __init__(self, random: Random) -> None:
        self.random = random
        self.countdown = RelayGlobalVar("countdown")
        self.ticks = 0

    def module(self) -> RelayModule:
        random = self.random
        functions = {}
        kind = TYPES["open" if random.random() < 0.3 else "tensor"]
        x, k, p = RelayVar("x", kind), RelayVar("k", TYPES["number"]), RelayVar("p", PAIR)
        pool: Pool = {"tensor": [x], "number": [k], "truth": [], "pair": [p], "function": []}
        # Where the type leaves the first dimension open, the binary operators of closures may not
        # know that it is the same.
        body = self.block(pool, random.randint(6, 16), 2, final=True)
        functions[RelayGlobalVar("main")] = RelayFunction((x, k, p), body)
        functions[self.countdown] = self.recursive()
        return RelayModule(functions)

    def recursive(self) -> RelayFunction:
        """A function that doubles a tensor k times."""
        k, y = RelayVar("k", TYPES["number"]), RelayVar("y", TYPES["tensor"])
        less = self.call("subtract", k, self.number(1))
        again = RelayCall(self.countdown, (less, self.tick(self.call("add", y, y))))
        done = self.call("less", k, self.number(1))
        body = RelayIf(done, y, again)
        return RelayFunction((k, y), body, TYPES["tensor"])

    def loop(self, pool: Pool, depth: int) -> RelayExpr:
        """A closure that calls itself, and a call of it."""
        again, k = RelayVar("loop"), RelayVar("k", TYPES["number"])
        y = RelayVar("y", TYPES["tensor"])
        inner = {kind: list(nodes) for kind, nodes in pool.items()}
        inner["tensor"].append(y)
        step = self.block(inner, self.random.randint(0, 2), depth - 1)
        less = self.call("subtract", k, self.number(1))
        more = RelayCall(again, (less, step))
        body = RelayIf(self.call("greater", k, self.number(0)), more, y)
        function = RelayFunction((k, y), body, TYPES["tensor"])
        times = self.number(self.random.randint(0, 2))
        return RelayLet(again, function, RelayCall(again, (times, self.pick(pool, "tensor"))))

    # ------------------------------------------------------------ blocks

    def block(self, outer: Pool, size: int, depth: int, final: bool = False) -> RelayExpr:
        """Nodes over what is known, and an expression that uses some of them."""
        pool = {kind: list(nodes) for kind, nodes in outer.items()}
        lets: list[tuple[RelayVar, RelayExpr]] = []
        for number in range(size):
            kind = self.random.choice(KINDS)
            made = self.node(kind, pool, depth)
            if self.random.random() < 0.25:
                var = RelayVar(f"l{number}")
                lets.append((var, made))
                made = var
            pool[kind].append(made)
        result = self.result(pool) if final else self.pick(pool, "tensor")
        for var, value in reversed(lets):
            result = RelayLet(var, value, result)
        return result

    def result(self, pool: Pool) -> RelayExpr:
        parts = [self.pick(pool, "tensor") for _ in range(self.random.randint(2, 4))]
        return RelayTuple((*parts, self.pick(pool, "number")))

    def pick(self, pool: Pool, kind: str) -> RelayExpr:
        """A node of a kind, often a late one."""
        nodes = pool[kind]
        if not nodes:
            return self.node(kind, pool, 0)
        return nodes[-1] if self.random.random() < 0.4 else self.random.choice(nodes)

    # ------------------------------------------------------------ nodes

    def node(self, kind: str, pool: Pool, depth: int) -> RelayExpr:
        made: RelayExpr = getattr(self, f"a_{kind}")(pool, depth)
        return made

    def call(self, name: str, *args: RelayExpr, **attrs: object) -> RelayCall:
        return RelayCall(RelayOp(name), args, attrs)

    def tick(self, value: RelayExpr) -> RelayExpr:
        self.ticks += 1
        return self.call("trace.tick", value, number=self.ticks)

    def number(self, value: int) -> RelayConstant:
        return RelayConstant(Literal(value, INT32, ()))

    def a_tensor(self, pool: Pool, depth: int) -> RelayExpr:
        random = self.random
        ways = ["unary", "binary", "binary", "scale", "factor"]
        ways += ["if", "if", "countdown", "loop"] if depth else []
        ways += ["stored"]
        ways += ["field"] if pool["pair"] else []
        ways += ["apply", "apply"] if pool["function"] else []
        match random.choice(ways):
            case "unary":
                return self.call(random.choice(UNARY), self.pick(pool, "tensor"))
            case "scale":
                half = RelayConstant(Literal(random.choice((0.5, -1.0, 2.0)), FLOAT32, ()))
                return self.call("multiply", self.pick(pool, "tensor"), half)
            case "factor":
                factor = self.call("cast", self.pick(pool, "number"), dtype="float32")
                return self.call("multiply", self.pick(pool, "tensor"), factor)
            case "if":
                cond = self.pick(pool, "truth")
                size = random.randint(0, 3)
                yes, no = (self.block(pool, size, depth - 1) for _ in range(2))
                return RelayIf(cond, yes, no)
            case "countdown":
                times = self.number(random.randint(0, 3))
                return RelayCall(self.countdown, (times, self.pick(pool, "tensor")))
            case "stored":
                stored = RelayConstant(random.choice(STORED))
                return self.call(random.choice(BINARY), self.pick(pool, "tensor"), stored)
            case "loop":
                return self.loop(pool, depth)
            case "field":
                return RelayProjection(self.pick(pool, "pair"), 0)
            case "apply":
                return RelayCall(self.pick(pool, "function"), (self.pick(pool, "tensor"),))
        return self.call(
            random.choice(BINARY), self.pick(pool, "tensor"), self.pick(pool, "tensor")
        )

    def a_number(self, pool: Pool, depth: int) -> RelayExpr:
        random = self.random
        if random.random() < 0.2:
            return self.number(random.randint(-2, 3))
        if pool["pair"] and random.random() < 0.2:
            return RelayProjection(self.pick(pool, "pair"), 1)
        made = self.call(
            random.choice(WHOLE), self.pick(pool, "number"), self.number(random.randint(0, 4))
        )
        return self.ticked(made, "number") if random.random() < 0.4 else made

    def ticked(self, value: RelayExpr, kind: str) -> RelayExpr:
        """A value through an operator whose result has no known type: a let says it."""
        var = RelayVar("t", TYPES[kind])
        return RelayLet(var, self.tick(value), var)

    def a_truth(self, pool: Pool, depth: int) -> RelayExpr:
        name = self.random.choice(("less", "equal", "greater"))
        return self.call(name, self.pick(pool, "number"), self.number(self.random.randint(0, 2)))

    def a_pair(self, pool: Pool, depth: int) -> RelayExpr:
        made = RelayTuple((self.pick(pool, "tensor"), self.pick(pool, "number")))
        if self.random.random() < 0.7:
            return made
        var = RelayVar("p", PAIR)  # a let that forgets a dimension
        return RelayLet(var, made, var)

    def a_function(self, pool: Pool, depth: int) -> RelayExpr:
        param = RelayVar("y", TYPES["tensor"])
        inner = {kind: list(nodes) for kind, nodes in pool.items()}
        inner["tensor"].append(param)
        body = self.block(inner, self.random.randint(1, 3), max(depth - 1, 0))
        return RelayFunction((param,), body)
