"""The law of legalisation: the PrimFunc of a call gives what the operator's evaluation does, or both stop.

Run as a command it asks it of every legal call that the generator knows, over many sizes::

    python -m tests.transform.legalization.law --rounds 5
    python -m tests.transform.legalization.law --only matmul --backend native
"""

from __future__ import annotations

import argparse
import random
import sys
import time
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np

import rlx
from rlx.generate.calls.pattern import GROUPS, PrimSlot, ShapeSlot, TensorSlot, TupleSlot
from rlx.generate.calls.template import Family, Template, symbolic
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import ShapeStructInfo, TensorStructInfo
from rlx.grammar.nodes.dtype import DataType, dtype, numpy_type
from rlx.grammar.nodes.node import Record, replace
from rlx.operators import lookup
from rlx.operators.registry import every_name
from rlx.semantics.machine import load
from rlx.semantics.machine.numpy_conversion import to_value
from rlx.semantics.outcome import Outcome, Returned
from rlx.solver.evaluate import evaluate
from rlx.te.check import written_once
from rlx.transform.legalization import legalized

FUEL = {"native": 20_000_000, "steps": 20_000_000}
DEFINED = [name for name in every_name() if (o := lookup(f"relax.{name}")) and o.definition]
"""The operators with a definition."""
SIZES = (0, 1, 2, 3, 4)


class Case(Record):
    """A call as a program, over letters for dimensions."""

    name: str
    module: ast.IRModule
    params: tuple[ast.Var, ...]
    letters: tuple[tir.Var, ...]


def templates(name: str, limit: int, pick: random.Random) -> list[Template]:
    """Legal calls of an operator: all choices of its patterns, or a sample of them."""
    operator = lookup(f"relax.{name}")
    assert operator is not None
    family = Family(operator)
    found: dict[int, Template] = {}
    for number, pattern in enumerate(family.patterns):
        choices = list(product(*(range(n) for n in pattern.choices)))
        if len(choices) > limit:
            choices = pick.sample(choices, limit)
        for chosen in choices:
            template = family.template_of(number, chosen)
            if template is not None:
                found[id(template)] = template
    return list(found.values())


TYPES = (
    *("float32", "float64", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "bool"),
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "int4", "uint4"),
)


def retyped(template: Template, pick: random.Random, count: int) -> list[Template]:
    """A template with other element types; which of them are legal the operator's rule says."""
    found = [template]
    groups = [group for group in template.kinds if group in GROUPS]
    for _ in range(count if groups else 0):
        kinds = {group: dtype(pick.choice(TYPES)) for group in groups}
        found.append(replace(template, kinds={**template.kinds, **kinds}))
    return found


def case(name: str, template: Template) -> Case:
    """A program that calls a template's operator on its parameters."""
    params: list[ast.Var] = []
    letters: dict[tir.Var, None] = {}

    def value(slot: Any) -> ast.Expr:
        match slot:
            case TensorSlot(group=group, dims=dims):
                kind = template.kinds.get(group) or dtype(group)
                info = TensorStructInfo(ast.ShapeExpr(dims), kind, len(dims))
                letters.update(dict.fromkeys(v for d in dims for v in tir.free_vars(d)))
                params.append(ast.Var(f"x{len(params)}", info))
                return params[-1]
            case TupleSlot(fields=fields):
                return ast.Tuple(tuple(map(value, fields)))
            case ShapeSlot(dims=dims):
                letters.update(dict.fromkeys(v for d in dims for v in tir.free_vars(d)))
            case PrimSlot(value=inner):
                letters.update(dict.fromkeys(tir.free_vars(inner)))
        return symbolic(slot, template.kinds)

    args = tuple(map(value, template.args))
    attrs = {
        key: slot.value
        if hasattr(slot, "value") and not isinstance(slot, PrimSlot)
        else value(slot)
        for key, slot in template.attrs
    }
    named = tuple(letters)
    if named:
        params.append(ast.Var("sizes", ShapeStructInfo(named, len(named))))
    call = ast.Call(ast.op(f"relax.{name}"), args, attrs)
    bound = ast.Var("y")
    body = ast.SeqExpr((ast.BindingBlock((ast.VarBinding(bound, call),)),), bound)
    function = ast.Function(tuple(params), body, None, None, {"global_symbol": "main"}, named)
    return Case(name, ast.IRModule({ast.GlobalVar("main"): function}), tuple(params), named)


INDEX_RANGE = {
    *("take", "gather_elements", "gather_nd", "scatter_elements", "scatter_nd", "index_tensor"),
    *("index_put", "one_hot", "nn.nll_loss"),
    "grad.nll_loss_backward",
    "grad.take_backward",
}


def array(
    name: str, shape: Sequence[int], kind: DataType, rng: np.random.Generator, at: int
) -> Any:
    """The values of a tensor: small numbers, some of them special."""
    found = numpy_type(kind)
    assert found is not None
    if kind.code == "bool":
        return rng.integers(0, 2, shape).astype(found)
    if kind.is_integer:
        low, high = (0, 3) if kind.code == "uint" else (-3, 4)
        if name in INDEX_RANGE and at > 0:
            low, high = (0, 2) if rng.random() < 0.8 else (-3, 4)
        elif name in ("left_shift", "right_shift", "power") and at > 0:
            low, high = (0, 4) if rng.random() < 0.8 else (-2, 70)
        elif rng.random() < 0.3:
            low, high = (0, 100) if kind.code == "uint" else (-100, 100)
        elif name in ("divide", "floor_divide", "floor_mod", "mod") and rng.random() < 0.8:
            low, high = 1, 5
        return rng.integers(low, high, shape).astype(found)
    values = rng.normal(0, 2, shape)
    if name in ("acosh", "log", "sqrt", "rsqrt", "power") and rng.random() < 0.7:
        values = np.abs(values) + 1
    if rng.random() < 0.25:
        special = np.array([0.0, -0.0, np.nan, np.inf, -np.inf, 1.0, -1.0, 0.5, 1e30])
        values = np.where(rng.random(shape) < 0.3, rng.choice(special, shape), values)
    elif rng.random() < 0.3:
        values = np.round(values)
    if name == "bucketize" and at == 1:
        values = np.sort(values)
    with np.errstate(all="ignore"):
        return np.asarray(values).astype(found)


def point(case: Case, rng: np.random.Generator, sizes: Sequence[int] = SIZES) -> dict[tir.Var, int]:
    """Sizes for the letters."""
    return {letter: int(rng.choice(sizes)) for letter in case.letters}


def inputs(case: Case, at: dict[tir.Var, int], rng: np.random.Generator) -> list[Any]:
    """A value for each parameter."""
    found: list[Any] = []
    for number, param in enumerate(case.params):
        info = param.struct_info_annotation
        if isinstance(info, ShapeStructInfo):
            found.append(tuple(at[v] for v in case.letters))
        else:
            assert isinstance(info, TensorStructInfo) and isinstance(info.shape, ast.ShapeExpr)
            shape = [int(evaluate(d, at)) for d in info.shape.values]
            found.append(array(case.name, shape, info.dtype, rng, number))
    return found


def run(module: ast.IRModule, values: Sequence[Any], backend: str) -> Outcome:
    """The result of a program."""
    program = load(module, backend=backend, iterations=FUEL)
    return program.run("main", [_value(v) for v in values], fuel=100_000)


def _value(plain: Any) -> Any:
    return to_value(plain)


TOLERANCE = {"float64": 1e-9, "float32": 2e-4, "float16": 6e-3, "bfloat16": 5e-2}


def difference(a: Any, b: Any, scale: float = 1.0) -> str | None:
    """The difference between two values; None if they agree."""
    if isinstance(a, tuple):
        if not isinstance(b, tuple) or len(a) != len(b):
            return f"{a!r} and {b!r}"
        return next(
            (d for x, y in zip(a, b, strict=True) if (d := difference(x, y)) is not None), None
        )
    if not isinstance(a, np.ndarray):
        return None if type(a) is type(b) else f"{a!r} and {b!r}"
    if a.shape != b.shape or a.dtype != b.dtype:
        return f"{a.dtype}{a.shape} and {b.dtype}{b.shape}"
    if a.dtype.kind in "biu" or "int" in a.dtype.name:
        same = bool(np.array_equal(a, b))
    else:
        tolerance = TOLERANCE.get(a.dtype.name, 0.3)
        x, y = a.astype(np.float64), b.astype(np.float64)
        with np.errstate(all="ignore"):
            size = np.max(np.abs(x[np.isfinite(x)]), initial=1.0)
            same = bool(
                np.allclose(x, y, rtol=tolerance, atol=tolerance * min(size, 1e6), equal_nan=True)
            )
    return None if same else f"{a.tolist()} and {b.tolist()}"


def disagreement(a: Outcome, b: Outcome) -> str | None:
    """The difference between two runs: both stop, or both give the same value."""
    if isinstance(a, Returned) and isinstance(b, Returned):
        return difference(a.numpy(), b.numpy())
    if isinstance(b, Returned) and _is_empty(b.numpy()):
        return None  # of a result without elements a PrimFunc computes nothing, and never stops
    if isinstance(a, Returned) or isinstance(b, Returned):
        return f"{_ended(a)} and {_ended(b)}"
    return None


def _is_empty(value: Any) -> bool:
    parts = value if isinstance(value, tuple) else (value,)
    return all(isinstance(part, np.ndarray) and part.size == 0 for part in parts)


def _ended(outcome: Outcome) -> str:
    return f"{outcome.numpy()!r}" if isinstance(outcome, Returned) else str(outcome)[:200]


def check(
    name: str, template: Template, seed: int, backend: str, tries: int, tally: Counter[str]
) -> Iterator[str]:
    """The disagreements of a call, and how often it was legalised."""
    made = case(name, template)
    try:
        found = legalized(made.module)
    except ValueError:
        tally["illegal"] += 1
        return
    if found.left:
        tally[f"left: {found.left[0].reason}"] += 1
        return
    tally["legalised"] += 1
    if not rlx.check(found.module).ok:
        yield f"{name}: not legal\n{found.module}"
    for function in found.module.prim_funcs.values():
        if not written_once(function):
            yield f"{name}: an element is not written once\n{found.module}"
    rng = np.random.default_rng(seed)
    for number in range(tries):
        at = point(made, rng, (0, 1, 2, 3, 4) if number else (1, 2, 3))
        values = inputs(made, at, rng)
        wanted, got = run(made.module, values, "steps"), run(found.module, values, backend)
        tally["runs"] += 1
        tally["faults"] += not isinstance(wanted, Returned)
        wrong = disagreement(wanted, got)
        if wrong is not None:
            yield f"{name} {dict(template.attrs)} at { ({v.name: n for v, n in at.items()}) }: {wrong}\n{made.module}\n{values}"
            return


def main(argv: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="operators, separated by commas")
    parser.add_argument("--rounds", type=int, default=3, help="inputs for each call")
    parser.add_argument("--limit", type=int, default=24, help="calls for each pattern")
    parser.add_argument("--types", type=int, default=0, help="other element types for each call")
    parser.add_argument("--backend", default="steps", choices=["steps", "native"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args(argv)
    asked = [name.removeprefix("relax.") for name in options.only.split(",") if name]
    if unknown := [name for name in asked if name not in DEFINED]:
        parser.error(f"no operator with a definition is called {', '.join(unknown)}")
    names = asked or DEFINED
    wrong = runs = calls = 0
    whole: list[str] = []
    for name in names:
        begin, tally = time.time(), Counter[str]()
        try:
            bad: list[str] = []
            pick = random.Random(options.seed)
            seed = zlib.crc32(f"{name} {options.seed}".encode())
            for each in templates(name, options.limit, pick):
                for template in retyped(each, pick, options.types):
                    bad += check(name, template, seed, options.backend, options.rounds, tally)
        except Exception as error:
            if options.verbose:
                raise
            bad = [f"{name}: {type(error).__name__}: {error}"]
        wrong += bool(bad)
        runs += tally["runs"]
        calls += tally["legalised"]
        if tally["legalised"] and not bad:
            whole.append(name)
        left = {k: n for k, n in tally.items() if k.startswith("left")}
        print(
            f"{name:32} {tally['legalised']:4} legalised {tally['runs']:5} runs {tally['faults']:4} faults {time.time() - begin:5.1f}s {left or ''}"
        )
        for text in bad[: 3 if options.verbose else 1]:
            print("  WRONG", text[: 3000 if options.verbose else 400])
        sys.stdout.flush()
    print(
        f"{len(whole)} of {len(names)} operators agree; {wrong} do not; {calls} calls, {runs} runs"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
