"""The PrimFuncs that TVM's LegalizeOps makes of random calls of operators."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import count

from rlx.generate.calls.pattern import (
    LETTERS,
    Given,
    PrimSlot,
    ShapeSlot,
    Slot,
    TensorSlot,
    TupleSlot,
    element,
)
from rlx.generate.calls.template import Template, literal
from rlx.generate.campaign.peer import Peer
from rlx.generate.programs.dims import place
from rlx.generate.programs.operators import family, of_templates
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import Expr
from rlx.grammar.nodes.dtype import dtype
from rlx.grammar.print.printer import print_module
from rlx.grammar.read.parser import parse
from rlx.operators.registry import families

from .batch import Case
from .sizes import extents
from .sources import cases, chosen_sizes

TOGETHER = 8
"""Calls in a module."""
_KINDS = (
    *("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "bool"),
    *("float16", "bfloat16", "float32", "float64", "float8_e4m3fn"),
)


@cache
def names() -> tuple[str, ...]:
    """Operators that a template calls and that compute something."""
    every = [name for words in families().values() for name in words if of_templates(name)]
    return tuple(name for name in every if family(name).first.pure)


class Call:
    """One call, as a function with parameters of its own."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.params: list[ast.Var] = []
        self.name = rng.choice(names())
        found = family(self.name)
        template = found.choose(rng.randrange(256), [rng.randrange(256) for _ in range(5)])
        self.kinds = dict(template.kinds)
        if rng.random() < 0.5:  # types beyond those of the templates: TVM says whether they go
            self.kinds = {group: dtype(rng.choice(_KINDS)) for group in self.kinds}
        self.symbols: list[tir.Var] = []
        self.chosen = self._dimensions(template)
        args = tuple(self.argument(slot) for slot in template.args)
        attrs = {
            name: slot.value if isinstance(slot, Given) else self.argument(slot)
            for name, slot in template.attrs
        }
        self.call = ast.Call(template.operator, args, attrs)

    def _dimensions(self, template: Template) -> dict[tir.PrimExpr, tir.PrimExpr]:
        """Values for the letters that occur: numbers, small enough together, or variables."""
        slots = (*template.args, *(slot for _, slot in template.attrs))
        dims = [dim for slot in slots for dim in _dims(slot)]
        letters = list(dict.fromkeys(v for dim in dims for v in tir.free_vars(dim) if v in LETTERS))
        chosen: dict[tir.PrimExpr, tir.PrimExpr] = {}
        for var, value in zip(letters, extents(self.rng, len(letters), 1500), strict=True):
            chosen[var] = tir.IntImm(value)
            if self.rng.random() < 0.2:
                self.symbols.append(tir.Var(f"n{len(self.symbols)}"))
                chosen[var] = self.symbols[-1]
        return chosen

    def function(self, number: int) -> ast.Function:
        """A function that returns what the call gives."""
        var = ast.Var("result")
        body = ast.SeqExpr((ast.BindingBlock((ast.VarBinding(var, self.call),)),), var)
        attrs = {"global_symbol": f"f{number}"}
        return ast.Function(tuple(self.params), body, None, None, attrs, tuple(self.symbols))

    def argument(self, slot: Slot) -> Expr:
        """An argument over the chosen dimensions."""
        match slot:
            case TensorSlot(group=group, dims=dims):
                shape = tuple(self.place(d) for d in dims)
                info = ast.TensorStructInfo(
                    ast.ShapeExpr(shape), element(group, self.kinds), len(shape)
                )
                self.params.append(ast.Var(f"x{len(self.params)}", info))
                return self.params[-1]
            case TupleSlot(fields=fields):
                return ast.Tuple(tuple(self.argument(field) for field in fields))
            case ShapeSlot(dims=dims):
                return ast.ShapeExpr(tuple(self.place(d) for d in dims))
            case PrimSlot(value=value):
                return ast.PrimValue(self.place(value))
            case Given(value=value):
                return literal(value)
        raise ValueError("an argument that another call makes")

    def place(self, dim: tir.PrimExpr) -> tir.PrimExpr:
        """A dimension with its letters replaced."""
        return place(dim, self.chosen)


def _dims(slot: Slot) -> Sequence[tir.PrimExpr]:
    match slot:
        case TensorSlot(dims=dims) | ShapeSlot(dims=dims):
            return dims
        case TupleSlot(fields=fields):
            return [dim for field in fields for dim in _dims(field)]
        case PrimSlot(value=value):
            return [value]
    return ()


def legalised(seed: int) -> Iterator[Case]:
    """The results of LegalizeOps for random calls."""
    peer = Peer()
    for number in count(seed << 32, TOGETHER):
        rng = random.Random(number)
        made = list(_calls(rng))
        found = _lowered(peer, made)
        if found is None:  # one of them is too much for TVM: one by one
            found = [func for call in made for func in _lowered(peer, [call]) or ()]
        for at, (name, func) in enumerate(found):
            label = f"legalised {number + at} {name}"
            yield from cases(func, chosen_sizes(func, rng), rng, label)


def _calls(rng: random.Random) -> Iterator[Call]:
    while True:
        made = 0
        while made < TOGETHER:
            try:
                yield Call(rng)
            except (ValueError, TypeError, KeyError):
                continue
            made += 1
        return


def _lowered(peer: Peer, calls: Sequence[Call]) -> list[tuple[str, tir.PrimFunc]] | None:
    """The PrimFuncs of some calls; None where TVM does not get through."""
    functions: dict[ast.GlobalVar, object] = {
        ast.GlobalVar(f"f{at}"): call.function(at) for at, call in enumerate(calls)
    }
    text = print_module(ast.IRModule(functions), "0.27")  # type: ignore[arg-type]
    try:
        module = peer.relax.transform.LegalizeOps()(peer.read(text))
        kept = {
            var: func for var, func in module.functions.items() if "PrimFunc" in type(func).__name__
        }
        text = peer.tvm.IRModule(kept).script()
    except Exception:  # noqa: BLE001 - whatever TVM raises: these tests are not about it
        return None
    result = parse(text)
    return [
        (var.name_hint, func)
        for module in result.modules
        for var, func in module.prim_funcs.items()
    ]
