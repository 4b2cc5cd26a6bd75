"""``python -m tests.transform.passes COUNT SEED [PASS…]``: what the passes make of random programs is legal, and means the same.

Programs get what the passes look for: calls that are made twice, products with a bias, shapes of what is known. The machine is the judge: the same
value, the same effects in the same order, the same fault, for several sizes of the inputs.

``python -m tests.transform.passes PLACE… [--share S --seed N] [--seconds N] [--from N] [--pass NAME]`` takes legal modules, all or a random share of them,
and also asks that a second run of a pass changes nothing. A place is a file or folder (`.rlx`, `.txt`, `.md`, `.py`), `wheel` for the files of TVM's wheel,
`networks` for the modules of `tests/tvm` as TVM prints them, or `generated:COUNT`. Where no run judges, `rlx.refines` does; what nothing judges is counted.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np

import rlx
from rlx.checker.check import check_text
from rlx.generate.campaign.oracles.meaning import arguments, arrays_differ, compare
from rlx.generate.campaign.peer import PACKED
from rlx.generate.programs import random_module
from rlx.generate.programs.plan import DEFAULT
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.ast import Expr, IRModule
from rlx.grammar.nodes.node import replace
from rlx.grammar.nodes.visit import called_globals
from rlx.refine import InterfaceError
from rlx.semantics.machine import load
from rlx.semantics.outcome import Ended, Outcome, OutOfFuel, Returned, Unsupported
from rlx.solver.order.substitute import dimensions
from rlx.transform import (
    CallTIRRewrite,
    CanonicalizeBindings,
    ComputePrimValue,
    ConvertToDataflow,
    DeadCodeElimination,
    EliminateCommonSubexpr,
    ExpandTupleArguments,
    FoldConstant,
    InlinePrivateFunctions,
    Normalize,
    PassError,
    RemovePurityChecking,
    RemoveUnusedOutputs,
    RemoveUnusedParameters,
    Sequential,
    ToNonDataflow,
    TopologicalSort,
    lambda_lifting,
    legalize,
    passes,
)
from rlx.transform.passes.common_subexpressions import key
from rlx.transform.shapes.deduce import deduce_shapes
from rlx.transform.shapes.propagate import propagate_shapes

Pass = Callable[[IRModule], IRModule]
SHELF = (
    DeadCodeElimination(),
    FoldConstant(),
    EliminateCommonSubexpr(),
    CanonicalizeBindings(),
    ConvertToDataflow(),
    InlinePrivateFunctions(),
    RemoveUnusedParameters(),
    RemoveUnusedOutputs(),
    ExpandTupleArguments(),
    ComputePrimValue(),
    TopologicalSort(),
)
PASSES: dict[str, Pass] = {
    "dead_code": passes.dead_code,
    "common_subexpressions": passes.common_subexpressions,
    "fold_shapes": passes.fold_shapes,
    "fuse_matmul_add": passes.fuse_matmul_add,
    "lambda_lifting": lambda_lifting,
    "propagate_shapes": propagate_shapes,
    "deduce_shapes": lambda module: deduce_shapes(module, broadcast=True),
    **{str(each).removesuffix("()"): each for each in SHELF},
}
LOWERING = (
    Normalize(),
    ToNonDataflow(),
    RemovePurityChecking(),
    Sequential([ToNonDataflow(), RemovePurityChecking(), CallTIRRewrite()]),
)
ITSELF = {str(each).removesuffix("()") for each in SHELF}
"""Passes that return the module itself where they change nothing: what is repeated until nothing changes ends by this."""
ON_FILES: dict[str, Pass] = {
    **PASSES,
    **{str(each).removesuffix("()"): each for each in LOWERING},
    "legalize": legalize,
}
"""What is asked of the modules of files."""
SIZES = (3, 1, 0)
FAULTS = {"deduce_shapes": (), "legalize": (3, 1)}
"""Passes after which a run may end sooner, or later: a PrimFunc computes no element of nothing."""
STEPWISE = ("RemoveUnusedParameters", "RemoveUnusedOutputs")
"""Passes that look at all callers before they change one: a second run may find more."""
FUEL = 50_000
OPTIONS = replace(DEFAULT, size=8)


class _Seasoned(rlx.ExprMutator):
    """Adds to the dataflow blocks of entry functions what passes look for; results go out beside the function's own."""

    def __init__(self, rng: random.Random, called: set[ast.GlobalVar]) -> None:
        self.rng, self.called = rng, called
        self.extras: list[Expr] | None = None
        self.depth = 0

    def visit_global_function(self, gv: ast.GlobalVar, function: ast.Function) -> None:
        entry = gv not in self.called and function.ret_struct_info is not None
        self.extras, self.depth = ([] if entry else None), 0
        super().visit_global_function(gv, function)

    def visit_dataflow_block(self, block: ast.DataflowBlock) -> None:
        super().visit_dataflow_block(block)
        if self.extras is None or self.depth != 1:
            return
        made = [b for b in self.builder.frame.bindings() if type(b) is ast.VarBinding]
        for binding in made:
            if isinstance(binding.value, ast.Call) and self.rng.random() < 0.5:
                self.season(binding)

    def season(self, binding: ast.VarBinding) -> None:
        """Compute the value again, multiply it by itself, ask for its shape."""
        assert self.extras is not None and isinstance(binding.value, ast.Call)
        emit, out = self.builder.emit, self.builder.emit_output
        if key(binding.value) is None:
            return
        again = emit(binding.value)
        self.extras.append(out(again))
        info = self.builder.struct_info(binding.var)
        known = dimensions(info) if isinstance(info, ast.TensorStructInfo) else None
        if not isinstance(info, ast.TensorStructInfo) or known is None:
            return
        self.extras.append(out(rlx.op.shape_of(binding.var)))
        if len(known) == 2 and str(info.dtype) in ("float32", "float16", "float64"):
            product = emit(rlx.op.matmul(binding.var, rlx.op.permute_dims(again)))
            self.extras.append(out(rlx.op.add(product, rlx.const(1.0, info.dtype))))
            self.extras.append(
                out(rlx.op.add(product, product)) if self.rng.random() < 0.2 else product
            )
            if isinstance(self.extras[-1], ast.DataflowVar):
                self.extras.pop()

    def _sequence(self, seq: ast.SeqExpr) -> Expr:
        self.depth += 1
        result = super()._sequence(seq)
        self.depth -= 1
        if self.depth == 0 and self.extras:
            return ast.Tuple((result, *self.extras))
        return result


def program(seed: int) -> IRModule:
    """A random program with what the passes look for."""
    rng = random.Random(seed)
    module = random_module(rng, OPTIONS)
    functions = module.relax_functions.values()
    called = {gv for function in functions for gv in called_globals(function)}
    return _Seasoned(rng, called)(module)


class Run:
    """The run of a function: how it ended, and its effects in order."""

    def __init__(self, outcome: Outcome, effects: Sequence[object], given: Sequence[Any]) -> None:
        self.outcome, self.effects, self.given = outcome, effects, given
        self.arguments: Sequence[Any] = ()


def run(module: IRModule, name: str, given: Sequence[Any]) -> Run:
    """Run a function on copies of these arguments."""
    effects: list[object] = []

    def recorded(word: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            shown = [str(getattr(a, "shape", getattr(a, "name", a))) for a in args]
            effects.append((word, shown))
            return function(*args)

        return call

    packed = {word: recorded(word, function) for word, function in PACKED.items()}
    loaded = load(module, packed=packed, backend="steps", output=effects.append, iterations=10_000)
    copies = deepcopy(given)
    return Run(loaded.run(name, copies, fuel=FUEL), effects, copies)


class Judge:
    """A program as it was, with what its functions do."""

    def __init__(self, before: IRModule, seed: int) -> None:
        self.before, self.seed = before, seed
        self.module = rlx.check(before).modules[0]
        self._runs: dict[tuple[str, int], Run | None] = {}

    def run(self, gv: ast.GlobalVar, function: ast.Function, size: int) -> Run | None:
        """The run of a function before the pass; None if no arguments can be made up."""
        key = gv.name_hint, size
        if key not in self._runs:
            given = arguments(function, size, self.seed)
            made = None if given is None else run(self.module, gv.name_hint, given)
            if made is not None and given is not None:
                made.arguments = given
            self._runs[key] = made
        return self._runs[key]

    def judged(self, after: IRModule, faults: Sequence[int] = SIZES) -> str | None:
        """The problem with what a pass made; empty if there is none, None if no run ended with a value.

        Parameters
        ----------
        faults
            The sizes at which a run that ends without a value must end in the same way.
        """
        report = rlx.check(after)
        if not report.ok:
            return f"not legal: {report.errors[0]}"
        new = report.modules[0]
        judged = False
        names = {gv.name_hint for gv in new.functions}
        for gv, function in self.module.relax_functions.items():
            if "global_symbol" not in function.attrs:
                continue
            if gv.name_hint not in names:
                return f"{gv.name_hint} is gone"
            for size in SIZES:
                one = self.run(gv, function, size)
                if one is None or not (isinstance(one.outcome, Returned) or size in faults):
                    continue
                found = differ(one, run(new, gv.name_hint, one.arguments))
                if found:
                    return f"{gv.name_hint} with size {size}: {found}"
                judged = judged or isinstance(one.outcome, Returned)
        return "" if judged else None

    def proved(self, after: IRModule) -> str | None:
        """The difference that :func:`rlx.refines` finds; empty if it proves, None if it does not know."""
        try:
            answer = rlx.refines(self.before, after)
        except (InterfaceError, RecursionError):
            return None
        return f"{answer}" if answer.refuted else "" if answer.status == "proved" else None


def differ(one: Run, other: Run) -> str:
    """The differences between two runs."""
    a, b = one.outcome, other.outcome
    if isinstance(a, OutOfFuel | Unsupported) or isinstance(b, OutOfFuel | Unsupported):
        return ""
    if isinstance(a, Returned) and isinstance(b, Returned):
        found = compare(a.value, b.value)
        for left, right in zip(one.given, other.given, strict=True):
            found = found or compare(left, right)
        if found:
            return found
    elif isinstance(a, Ended) and isinstance(b, Ended):
        if type(a) is not type(b):
            return f"{type(a).__name__} {a.code} became {type(b).__name__} {b.code}: {b.message}"
    else:
        return f"{_shown(a)} became {_shown(b)}"
    same = _alike(one.effects, other.effects)
    return "" if same else f"effects {one.effects} became {other.effects}"


def _alike(one: Sequence[object], other: Sequence[object]) -> bool:
    """Whether effects are the same, if numbers that were printed may differ as results may."""
    if one == other:
        return True
    texts = [_NUMBER.sub("0", str(effects)).replace(" ", "") for effects in (one, other)]
    left, right = (np.array(_NUMBER.findall(str(e)), np.float32) for e in (one, other))
    return texts[0] == texts[1] and not arrays_differ(left, right)


_NUMBER = re.compile(r"-?\d+\.\d*(?:e[-+]\d+)?")


def _shown(outcome: Outcome) -> str:
    if isinstance(outcome, Ended):
        return f"{type(outcome).__name__} {outcome.code}: {outcome.message}"
    return "a value"


def failures(
    count: int, seed: int, changed: Counter[str], names: Sequence[str] = tuple(PASSES)
) -> list[str]:
    """The problems with passes on so many programs; ``changed`` counts what they changed."""
    found: list[str] = []
    for number in range(seed, seed + count):
        judge = Judge(program(number), number)
        for name in names:
            after = PASSES[name](judge.before)
            if after is not judge.before:
                changed[name] += 1
                wrong = judge.judged(after, FAULTS.get(name, SIZES))
                if wrong:
                    found.append(f"{name}, program {number}: {wrong}")
    return found


def _texts(path: Path) -> Iterator[tuple[str, str]]:
    """The programs of a file, or of the files in a folder, each with a name for its place."""
    kinds = {".rlx", ".txt", ".md", ".py"}
    if path.is_dir():
        files = [file for file in sorted(path.rglob("*")) if file.suffix in kinds]
    else:
        files = [path]
    fence = re.compile(r"^```(?:\w*rlx|\w+ good|relax\b.*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    for file in files:
        text = file.read_text("utf-8")
        if file.suffix == ".md":
            for number, match in enumerate(fence.finditer(text)):
                yield f"{file}:{number}.rlx", match.group(1)
        else:
            yield (str(file) if file.suffix == ".py" else f"{file}.rlx"), text


def _networks() -> Iterator[tuple[str, str]]:
    """TVM's texts of networks at each stage, of the constructs, and of what single passes leave."""
    from tests.tvm import constructs, models
    from tests.tvm import passes as stages

    for model in models.MODELS:
        for stage, module in models.stages(model):
            yield f"{model}-{stage}", str(module.script(show_meta=True))
    for name in constructs.NAMES:
        yield name, str(constructs.build(name).script(show_meta=True))
    for name in stages.PASSES:
        yield name, str(stages.apply(name).script(show_meta=True))


def _places(place: str) -> Iterator[tuple[str, str]]:
    """The texts of a place, as the command takes it."""
    if place == "networks":
        yield from _networks()
    elif place == "wheel":
        import tvm

        yield from _texts(Path(tvm.__file__).parent)
    elif place.startswith("generated:"):
        for number in range(int(place.partition(":")[2])):
            made = random_module(random.Random(number), replace(DEFAULT, size=3 + number % 10))
            yield f"program {number}", rlx.show(made)
    else:
        yield from _texts(Path(place))


def modules(
    places: Sequence[str], share: float = 1, seed: int = 0
) -> Iterator[tuple[str, IRModule]]:
    """The legal modules of places, each once; a share of the texts, which the seed chooses."""
    seen: set[str] = set()
    for place in places:
        for name, text in _places(place):
            if random.Random(f"{seed} {name}").random() >= share:
                continue
            report = check_text(text, name)
            for number, module in enumerate(report.modules if report.ok else ()):
                shown = rlx.show(module)
                if shown not in seen and module.functions and rlx.check(module).ok:
                    seen.add(shown)
                    yield f"{name}#{number}", module


def on_modules(
    given: Sequence[tuple[str, IRModule]],
    changed: Counter[str],
    names: Sequence[str] = tuple(ON_FILES),
) -> Iterator[str]:
    """The problems with passes on these modules; ``changed`` counts what they changed."""
    for place, module in given:
        judge = Judge(module, 0)
        for name in names:
            try:
                after = ON_FILES[name](module)
                if after is module:
                    continue
                changed[name] += 1
                wrong = judge.judged(after, FAULTS.get(name, SIZES))
                if wrong is None:
                    wrong = judge.proved(after)
                if wrong is None:
                    changed["no judge"] += 1
                again = after if wrong or name in STEPWISE else ON_FILES[name](after)
                if rlx.show(again) != rlx.show(after):
                    wrong = "the second run changes something"
                elif again is not after and name in ITSELF:
                    wrong = "the second run copies the module"
            except PassError:
                changed[f"{name} refuses"] += 1
                continue
            except Exception as error:  # noqa: BLE001 - whatever a pass raises is a finding
                wrong = f"{type(error).__name__}: {error}"
            if wrong:
                yield f"{name}, {place}: {wrong}"


def _files(options: argparse.Namespace) -> None:
    changed: Counter[str] = Counter()
    count = failed = 0
    for each in modules(options.places, options.share, options.seed):
        count += 1
        if count <= options.first:
            continue
        for wrong in on_modules([each], changed, options.names or tuple(ON_FILES)):
            failed += 1
            print(wrong.replace("\n", " ")[:400], flush=True)
        if time.process_time() > options.seconds:
            print("the time is up: go on with --from", count)
            break
    print(f"{count - options.first} modules, {failed} failures; changed: {dict(changed)}")
    sys.exit(bool(failed))


def main() -> None:
    """Judge the passes, and say how often each changed a program."""
    warnings.simplefilter("ignore", rlx.BuildWarning)
    if not sys.argv[1].isdigit():
        parser = argparse.ArgumentParser()
        parser.add_argument("places", nargs="+")
        parser.add_argument("--share", type=float, default=1)
        parser.add_argument("--seed", type=int, default=0)
        parser.add_argument("--seconds", type=float, default=600)
        parser.add_argument("--from", type=int, default=0, dest="first")
        parser.add_argument("--pass", action="append", dest="names", choices=tuple(ON_FILES))
        _files(parser.parse_args())
    count, seed = int(sys.argv[1]), int(sys.argv[2])
    changed: Counter[str] = Counter()
    found = failures(count, seed, changed, sys.argv[3:] or tuple(PASSES))
    print("\n".join(found[:20]))
    print(f"{count} programs, {len(found)} failures; changed: {dict(changed)}")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
