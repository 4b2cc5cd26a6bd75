"""The law of reading loops on many PrimFuncs::

python -m tests.refine.loops
python -m tests.refine.loops ours tvm --only conv
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rlx import parse as load_module
from rlx.generate.programs.choices import Choices
from rlx.generate.tir.function import prim_func
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.ast import ShapeExpr, TensorStructInfo
from rlx.grammar.nodes.dtype import dtype
from rlx.refine.loops import Unread, read_loops
from rlx.semantics.faults import Stop
from rlx.transform.legalization import legalized
from tests.transform.legalization import law

from .prim_func_law import disagreement

Named = tuple[str, tir.PrimFunc]


def of_module(name: str, module: ast.IRModule) -> Iterator[Named]:
    """The PrimFuncs of a module."""
    for variable, function in module.prim_funcs.items():
        yield f"{name}:{variable.name_hint}", function


def ours(only: str) -> Iterator[Named]:
    """PrimFuncs of the operators' definitions."""
    pick = random.Random(0)
    for name in law.DEFINED:
        if only in name:
            for template in law.templates(name, 3, pick):
                made = legalized(law.case(name, template).module)
                yield from of_module(name, made.module)


def tvms(only: str, scheduled: bool = False) -> Iterator[Named]:
    """PrimFuncs that TVM's LegalizeOps makes of calls of the operators; with its schedules for a GPU, if asked."""
    import tvm

    pick = random.Random(0)
    schedules = _schedules() if scheduled else None
    for name in law.DEFINED:
        if only not in name:
            continue
        for template in law.templates(name, 2, pick):
            text = str(law.case(name, template).module)
            try:
                module = tvm.script.from_source(text, check_well_formed=False)
                module = tvm.relax.transform.LegalizeOps()(module)
                if schedules is not None:
                    with tvm.target.Target({"kind": "cuda", "max_threads_per_block": 1024}):
                        module = schedules(module)
                made = module.script()
            except Exception as error:  # noqa: BLE001 - what TVM refuses is not the subject
                yield f"{name}: TVM {type(error).__name__}", None  # type: ignore[misc]
                continue
            yield from of_module(name, load_module(made))


def _schedules() -> Any:
    """TVM's schedules for a GPU."""
    from tvm.s_tir import dlight

    gpu = dlight.gpu
    return dlight.ApplyDefaultSchedule(
        gpu.Matmul(), gpu.GEMV(), gpu.Reduction(), gpu.GeneralReduction(), gpu.Fallback()
    )


def of_files(folder: Path, only: str) -> Iterator[Named]:
    """PrimFuncs of programs in files."""
    for path in sorted(folder.glob("*.rlx")):
        if only in path.name:
            yield from of_module(path.stem, load_module(path.read_text("utf-8")))


def generated(only: str) -> Iterator[Named]:
    """Random ones."""
    n, m = tir.Var("n"), tir.Var("m")
    shapes = [(n,), (n, m), (tir.IntImm(3), n), (m, tir.IntImm(2), n), ()]
    for seed in range(300):
        rng = random.Random(seed)

        def info(rng: random.Random = rng) -> TensorStructInfo:
            shape = rng.choice(shapes)
            kind = dtype(rng.choice(["float32", "int32", "int64", "float32"]))
            return TensorStructInfo(ShapeExpr(shape), kind, len(shape))

        inputs = [info() for _ in range(rng.randint(1, 3))]
        outputs = [info() for _ in range(rng.randint(0, 2))]
        choices = Choices(rng.randbytes(2000))
        yield f"seed {seed}", prim_func(choices, inputs, outputs, seed % 2 == 0)


KINDS = {
    "ours": ours,
    "tvm": tvms,
    "scheduled": lambda only: tvms(only, scheduled=True),
    "examples": lambda only: of_files(Path("examples"), only),
    "pairs": lambda only: of_files(Path("/work/shared/pairs"), only),
    "generated": generated,
}


def main(argv: list[str]) -> int:
    """Read the PrimFuncs of some kinds; compare each reading with runs."""
    parser = argparse.ArgumentParser()
    parser.add_argument("kinds", nargs="*", default=list(KINDS))
    parser.add_argument("--only", default="")
    parser.add_argument("--runs", type=int, default=4)
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args(argv)
    wrong = 0
    for kind in options.kinds:
        counts: Counter[str] = Counter()
        reasons: Counter[str] = Counter()
        slowest = (0.0, "")
        begun = time.process_time()
        for name, function in KINDS[kind](options.only):
            if function is None:
                counts["refused by TVM"] += 1
                continue
            start = time.process_time()
            try:
                holes = read_loops(function)
            except Unread as error:
                counts["unread"] += 1
                reasons[error.reason] += 1
                if options.show:
                    print(f"unread {name}: {error.reason}")
                continue
            except Exception as error:  # noqa: BLE001 - a crash is reported
                print(f"CRASH {name}: {type(error).__name__} {error}")
                wrong += 1
                continue
            finally:
                slowest = max(slowest, (time.process_time() - start, name))
            counts["read"] += 1
            if holes.needs:
                counts["with needs"] += 1
                if options.show:
                    for need in holes.needs:
                        print(f"need {name}: {need.condition} {need.why}")
            for seed in range(options.runs):
                try:
                    found = disagreement(function, (1, 2, 3, 4, 5, 17, 0), seed, holes)
                except Stop as stop:
                    counts["not evaluated"] += 1
                    if options.show:
                        print(f"not evaluated {name}: {stop.message}")
                    break
                if found is not None:
                    print(f"WRONG {name}: {found[:300]}")
                    wrong += 1
                    break
        spent = time.process_time() - begun
        print(f"{kind}: {dict(counts)}, {spent:.0f} s, slowest {slowest[1]} {slowest[0]:.1f} s")
        for reason, count in reasons.most_common():
            print(f"   {count:4} {reason}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
