"""What the generators make of seeds, what is left of programs when they are reduced, and what the oracles of campaigns say
of them, stays what it is.

`RLX_UPDATE_SNAPSHOTS=1 pytest tests/generate/test_same_picked.py` writes the digests anew, and
`python -m tests.mutants.sharpen tests.generate.test_same_picked 4000 300 --room generate` adds inputs: each is JSON.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rlx.checker.check import check_text
from rlx.generate.campaign.draft import draft
from rlx.generate.campaign.finding import cause_of, family, from_record, part, with_operators
from rlx.generate.campaign.finding_file import EntryError, parse_entry, show
from rlx.generate.campaign.index import page
from rlx.generate.campaign.known_causes import explanation
from rlx.generate.campaign.message_matching import says
from rlx.generate.campaign.numpy_text import ExpressionError, argument, call_of, evaluate
from rlx.generate.campaign.oracles import ORACLES
from rlx.generate.campaign.oracles.case import Case
from rlx.generate.campaign.peer import version
from rlx.generate.campaign.programs import program
from rlx.generate.campaign.state import CampaignState, ChunkResult
from rlx.generate.casts.law import examine
from rlx.generate.casts.programs import program as of_casts
from rlx.generate.elements import RandomElements
from rlx.generate.inputs import value
from rlx.generate.near import CODES, near_miss
from rlx.generate.programs import FEATURES, Options, random_module
from rlx.generate.reduce.search import reduce, reduce_text
from rlx.generate.strategies import prim_func_of
from rlx.grammar import ast, tir
from rlx.grammar.parser import ParseError, parse_struct_info
from rlx.grammar.printer import print_module
from rlx.grammar.visit import walk
from rlx.operators.registry import every_name, lookup
from rlx.solver.evaluate import UndefinedError
from tests.generate.campaign.test_oracles import Peer, _Machine, edited
from tests.hostile.damage import damaged, tokens
from tests.snapshots import assert_picked

PARTS = 60
FINDINGS = Path(__file__).parents[2] / "findings"


@cache
def _entries() -> list[tuple[str, str, str]]:
    return [(p.parent.name, p.stem, p.read_text("utf-8")) for p in sorted(FINDINGS.glob("*/*.rlx"))]


@cache
def _operators() -> list[str]:
    return [name for name in sorted(every_name()) if lookup(f"relax.{name}")]


def pool(pick: random.Random) -> str:
    """A seed for one of the generators with odd options, a program to reduce, one before an oracle, a damaged finding."""
    seed = pick.randrange(1 << 30)
    size = pick.choice([1, 2, 3, 5, 5, 8, 12])
    match pick.randrange(18):
        case 12:
            return json.dumps(["near", seed, pick.choice([*CODES])])
        case 13:
            return json.dumps(["law", seed])
        case 14:
            return json.dumps(["numpy", _expression(pick, 3)])
        case 15:
            words = _altered(pick.choice(WORDS), pick)
            return json.dumps(["says", words, _altered(pick.choice([words, *WORDS]), pick)])
        case 16:
            known = sorted(
                {"/".join(pick.choice(_entries())[:2]) for _ in range(pick.randint(1, 4))}
            )
            return json.dumps(
                ["campaign", known, [_met(known, pick) for _ in range(pick.randint(1, 3))]]
            )
        case 17:
            return json.dumps(["value", seed, _annotation(pick, 2), pick.randrange(2)])
        case 0 | 1:
            some = pick.sample(sorted(FEATURES), pick.randrange(len(FEATURES) + 1))
            return json.dumps(
                ["module", seed, size, some if pick.randrange(2) else sorted(FEATURES), []]
            )
        case 2 | 3:
            return json.dumps(["module", seed, size, sorted(FEATURES), [pick.choice(_operators())]])
        case 4:
            return json.dumps(["near", seed, pick.choice([*CODES])])
        case 5:
            return json.dumps([pick.choice(["casts", "inputs"]), seed])
        case 6:
            return json.dumps(["prim", seed, pick.choice([20, 60, 400]), pick.randrange(2)])
        case 7:
            return json.dumps(["reduced", seed, pick.choice([2, 3]), pick.randrange(1 << 16)])
        case 8 | 9:
            return json.dumps(["oracle", seed, pick.choice([*ORACLES]), pick.choice([*_peers()])])
        case 10:
            kind, name, text = pick.choice(_entries())
            for _ in range(pick.randrange(3)):
                text = damaged(text, tokens(text) or [(0, len(text))], pick)
            return json.dumps(["finding", kind, name, text])
        case _:
            return json.dumps(["program", seed, pick.choice([*ORACLES]), pick.choice(["", "tvm"])])


WORDS = (
    "expected … but got …",
    "expected …1, found …1 and …2",
    "InternalError: Check failed: (a == b) is false: …",
    "ValueError: R.add expects 2 operands",
    "a [b] (c)  d",
    "…",
    "the sum of …1 and …2 is …1",
)
PARTS_OF_EXPRESSIONS = (
    "x",
    "y",
    "1",
    "2.5",
    "-1",
    "np.arange(4)",
    "shape(2, 3)",
    "np.float32(2)",
    "None",
    "True",
    "'a'",
    "z",
    "np.inf",
)
ANNOTATIONS = ("R.Tensor(({dims}), {kind!r})", "R.Tensor(dtype={kind!r}, ndim={rank})", "R.Tensor(ndim={rank})", "R.Tensor", "R.Shape([{dims}])",
               "R.Shape(ndim={rank})", "R.Shape", "R.Prim({kind!r})", "R.Prim(value={dim})", "R.Object")  # fmt: skip
KINDS = (
    "float32",
    "float16",
    "float64",
    "bfloat16",
    "int8",
    "uint8",
    "int64",
    "bool",
    "float8_e4m3fn",
    "int32",
    "uint64",
    "int4",
)


def _expression(pick: random.Random, depth: int) -> str:
    """A text that is an expression of NumPy, mostly."""

    def inner() -> str:
        return _expression(pick, depth - 1)

    if not depth:
        return pick.choice(PARTS_OF_EXPRESSIONS)
    match pick.randrange(9):
        case 0:
            return f"({inner()} {pick.choice(['+', '-', '*', '/', '//', '%', '@', '**', '^', '&', '|', '<'])} {inner()})"
        case 1:
            return f"{pick.choice(['-', '~', 'not '])}{inner()}"
        case 2:
            return f"{inner()}.{pick.choice(['shape', 'sum()', '_a', 'astype(np.int8)', 'T', 'dtype', 'sum(axis=0)'])}"
        case 3:
            return f"{inner()}[{pick.choice(['0', '1:', ':2', '::2', '-1', '1:3', '...', 'x', '0, 1'])}]"
        case 4:
            return f"np.{pick.choice(['add', 'maximum', 'stack'])}({inner()}, {inner()})"
        case 5:
            return f"{pick.choice('[(')}{inner()}, {inner()}{pick.choice('])')}"
        case 6:
            return f"main(x={inner()}, y={inner()})"
        case 7:
            return f"np.sum({inner()}, axis={pick.choice(['0', 'None', '-1'])})"
    return inner()


def _altered(text: str, pick: random.Random) -> str:
    """A text with a part replaced, doubled or left out."""
    words = text.split(" ")
    for _ in range(pick.randrange(3)):
        at = pick.randrange(len(words))
        words[at : at + 1] = pick.choice(
            [[], ["…"], ["…1"], ["12"], [words[at], words[at]], [" ", words[at]], ["a b"], ["(x]"]]
        ) or ["q"]
    return " ".join(words)


def _annotation(pick: random.Random, depth: int) -> str:
    if depth and pick.random() < 0.3:
        return (
            f"R.Tuple({', '.join(_annotation(pick, depth - 1) for _ in range(pick.randrange(3)))})"
        )
    dims = [
        pick.choice(["0", "1", "3", "n", "m", "n + 1", "n * m", "n - m", "n // 2"])
        for _ in range(pick.randrange(4))
    ]
    written = "".join(f"{dim}, " for dim in dims)
    return pick.choice(ANNOTATIONS).format(
        dims=written, dim=[*dims, "4"][0], kind=pick.choice(KINDS), rank=pick.randrange(-1, 4)
    )


def _met(known: list[str], pick: random.Random) -> dict[str, Any]:
    """What a campaign could meet: like a finding that is known, or not quite."""
    own = [parse_entry(*each) for each in _entries() if "/".join(each[:2]) in known]
    entry, other = pick.choice(own), parse_entry(*pick.choice(_entries()))
    some = pick.choice([entry, entry, other]), pick.choice([entry, entry, other])
    said = pick.choice([entry.error.replace("…", "something"), entry.also, entry.happens, "signal SIGSEGV", "another value", "ValueError: a thing that is not there",
                        "ill-formed: Var lv is not defined", "Fault", "InternalError: (a) is false", f"TVM rejects: {entry.error}"])  # fmt: skip
    cause = pick.choice(
        [
            cause_of(said),
            "signal SIGSEGV",
            "another value",
            "another type",
            "Fault",
            "ill-formed: a variable",
            "backends differ",
        ]
    )
    if pick.random() < 0.3:
        cause = f"{cause} with {some[0].operator}"
    prefix = pick.choice(["", "", "InternalError: ", "x: ValueError: "])
    stage = pick.choice(
        [
            some[1].stage,
            f"{some[1].stage}, run",
            "virtual machine",
            "LegalizeOps",
            "TVM's parser",
            "we read what TVM printed",
        ]
    )
    return {"kind": some[1].kind, "oracle": pick.choice(["run", "check", "passes"]), "stage": stage, "cause": cause, "sentence": prefix + said,
            "rule": some[1].rule, "text": some[0].program, "seed": pick.randrange(99), "trait": pick.choice([entry.trait, "", "NaN", "element type, empty"])}  # fmt: skip


def answers(text: str) -> str:
    """What an input gives, as text."""
    what, *rest = json.loads(text)
    return "\n".join(_ANSWERS[what](*rest))


def _module(seed: int, size: int, features: list[str], operators: list[str]) -> Iterator[str]:
    options = Options(size, frozenset(features), tuple(operators))
    yield print_module(random_module(random.Random(seed), options))


def _near(seed: int, code: str) -> Iterator[str]:
    yield print_module(near_miss(code, random.Random(seed)))


def _casts(seed: int) -> Iterator[str]:
    yield of_casts(random.Random(seed))


def _prim(seed: int, length: int, rare: int) -> Iterator[str]:
    yield str(prim_func_of(random.Random(seed).randbytes(length), rare=bool(rare)))


def _program(seed: int, oracle: str, against: str) -> Iterator[str]:
    text, used = program(seed, oracle, against)
    yield f"{text}\n{sorted(used)}"


def _inputs(seed: int) -> Iterator[str]:
    rng = np.random.default_rng(seed)
    for name, function in random_module(random.Random(seed)).functions.items():
        if isinstance(function, ast.Function):
            sizes = {var: int(rng.integers(0, 5)) for var in function.shape_vars}
            for param in function.params:
                for odd in (False, True):
                    with suppress(ValueError, UndefinedError), np.errstate(over="ignore"):
                        info = param.struct_info_annotation
                        yield f"{name.name_hint} {value(info, sizes, RandomElements(rng), odd)!r}"


def _reduced(seed: int, size: int, of: int) -> Iterator[str]:
    """What is left while an operator stays called, and while a line stays."""
    module = random_module(random.Random(seed), Options(size))
    called = sorted(_called(module))
    if called:
        kept = called[of % len(called)]
        yield print_module(reduce(module, lambda smaller: kept in _called(smaller)))
    text = print_module(module)
    lines = text.splitlines()
    yield reduce_text(text, lambda smaller: lines[of % len(lines)] in smaller)


def _called(module: ast.IRModule) -> set[str]:
    return {
        each.op_name
        for f in module.functions.values()
        if isinstance(f, ast.Function)
        for each in walk(f)
        if isinstance(each, ast.Op)
    }


@cache
def _peers() -> dict[str, Callable[[], Any]]:
    """Compilers that agree with us, or go wrong in one way."""

    def changed(change: Callable[[Any], Any]) -> Callable[[], Peer]:
        return lambda: Peer(compiled=lambda module, without=(): _Machine(module, change))

    def wrong(error: Exception, *names: str) -> Callable[[], Peer]:
        def fail(*_: Any, **__: Any) -> Any:
            raise error

        return lambda: Peer(**{name: fail for name in names})

    def changing(old: str, new: str) -> Callable[[], Peer]:
        return lambda: Peer(passes=lambda: [("Other", edited(old, new))])

    return {
        "none": lambda: None,
        "same": Peer,
        "more": changed(lambda data: data + 1 if data.dtype != bool else ~data),
        "shape": changed(lambda data: data[None]),
        "type": changed(lambda data: data.astype("float64")),
        "last": changed(lambda data: np.roll(data, 1)),
        "almost": changed(lambda data: data * (1 + 1e-6) if data.dtype.kind == "f" else data),
        "reads not": wrong(ValueError("no 'word' 12"), "read"),
        "compiles not": wrong(
            RuntimeError("InternalError: Check failed: (a) is false: b"), "compiled"
        ),
        "supports not": wrong(
            NotImplementedError("this is not yet supported"), "compiled", "passes"
        ),
        "prints not": wrong(TypeError("R.add: [1, 2] but got 3"), "print"),
        "refuses": lambda: Peer(why_ill_formed=lambda module: "Var lv1 is not defined"),
        "different": lambda: Peer(difference=lambda one, other: "at 'x': 1 vs 2"),
        "adds": changing("R.add(", "R.subtract("),
        "float16": changing("float32", "float16"),
        "breaks": changing("R.output(", "R.outputs("),
    }


def _oracle(seed: int, oracle: str, peer: str) -> Iterator[str]:
    text = program(seed, oracle, "tvm")[0]
    stages: list[str] = []
    case = Case(text, seed, "", stages.append)
    case.peer = _peers()[peer]()
    for found in ORACLES[oracle](case):
        named = with_operators(found)
        yield f"{found.record()} {found.key} {named.key} {cause_of(found.sentence)} {found.same(named)} {found.like(named)}"
    yield str(stages)


def _finding(kind: str, name: str, text: str) -> Iterator[str]:
    try:
        entry = parse_entry(kind, name, text)
    except EntryError as error:
        yield str(error)
        return
    yield f"{show(entry)} {entry.path} {entry.operators} {check_text(entry.program)}"


def _law(seed: int) -> Iterator[str]:
    choose = random.Random(seed)
    text = of_casts(choose)
    yield f"{text}\n{examine(text, choose, 3)}"


def _numpy(text: str) -> Iterator[str]:
    names = {"x": np.arange(3.0), "y": np.ones((2, 3))}
    with np.errstate(all="ignore"):
        try:
            yield repr(evaluate(text, names))
        except Exception as error:  # noqa: BLE001 - of NumPy's or of ours
            yield (
                f"{type(error).__name__}: {error}"
                if isinstance(error, ExpressionError)
                else type(error).__name__
            )
        try:
            name, words = call_of(text)
            yield f"{name} {sorted(words)} {[repr(argument(each)) for each in words.values()]}"
        except Exception as error:  # noqa: BLE001 - of NumPy's or of ours
            yield (
                f"{type(error).__name__}: {error}"
                if isinstance(error, ExpressionError)
                else type(error).__name__
            )


def _says(words: str, text: str) -> Iterator[str]:
    yield str(says(words, text))


def _campaign(names: list[str], records: list[dict[str, Any]]) -> Iterator[str]:
    """What becomes of findings, with the table of those that are known and without."""
    found = [with_operators(from_record(record)) for record in records]
    entries = {f"{kind}/{name}": (kind, name, text) for kind, name, text in _entries()}
    table = [parse_entry(*entries[name]) for name in names]
    yield page(table)
    for known in ([], table):
        state = CampaignState(None, known)
        for each in found:
            cause = explanation(each, known, minimal=True)
            yield f"{state.add(each)} {cause and cause.path} {each.key} {part(each.stage)} {family(each.stage)}"
        yield f"{dict(state.seen)} {[*state.findings]}"
        chunk = ChunkResult(len(found))
        chunk.findings = found
        yield f"{[each.key for each in state.merge(chunk)]} {state.merge(chunk)} {state.programs}"
    for each in found:
        if each.kind != "by-choice":  # that is what a person decides
            yield show(draft(each)).replace(version(), "VERSION")
        yield str([(each.same(other), each.like(other)) for other in found])


def _value(seed: int, annotation: str, special: int) -> Iterator[str]:
    scope: dict[str, tir.Var] = {}
    try:
        info = parse_struct_info(annotation, scope)
    except ParseError as error:
        yield str(error)
        return
    rng = np.random.default_rng(seed)
    for size in range(3):
        sizes = {var: size + at for at, var in enumerate(scope.values())}
        try:
            with np.errstate(over="ignore"):
                yield repr(value(info, sizes, RandomElements(rng), bool(special)))
        except (ValueError, UndefinedError) as error:
            yield repr(error)


_ANSWERS: dict[str, Callable[..., Iterator[str]]] = {
    "module": _module,
    "near": _near,
    "casts": _casts,
    "prim": _prim,
    "program": _program,
    "inputs": _inputs,
    "reduced": _reduced,
    "oracle": _oracle,
    "finding": _finding,
    "law": _law,
    "numpy": _numpy,
    "says": _says,
    "campaign": _campaign,
    "value": _value,
}


@pytest.mark.parametrize("part", range(PARTS))
def test_picked_inputs(part: int) -> None:
    assert_picked(Path(__file__).parent, part, PARTS, answers)
