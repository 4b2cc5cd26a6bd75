"""A law about `rlx bisect` and `rlx.tvm.Instrument`: the pass that is planted is the one to blame.

`python -m tests.tvm.blame 200 SEED` draws programs and pipelines: somewhere in a pipeline of passes that do no harm stands one that breaks legality, changes
the meaning, raises, or ends the process. It prints where another pass is blamed; long runs are for the command, `test_blame.py` makes a few.
"""

from __future__ import annotations

import random
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import rlx
from rlx.bisect.blame import Blame, Fine, Pipeline
from rlx.bisect.process import Process
from rlx.generate.programs import Options, random_module
from rlx.grammar.nodes.ast import Function
from rlx.grammar.nodes.node import Record
from rlx.grammar.print.printer import print_module
from rlx.semantics import Tensor

ILLEGAL, MEANING, RAISES, CRASH = KINDS = ("illegal", "meaning", "raises", "crash")
HARMLESS = ("Normalize", "CanonicalizeBindings", "identity", "RemoveUnusedOutputs", "identity")
FEATURES = frozenset({"symbolic", "tuples", "dataflow", "call_tir"})

PLANTED = '''
"""The passes of a law: each stands at its place in the pipeline, and the one that the program names breaks it."""
import os
import re

import tvm
from tvm import relax

HARMLESS = {harmless!r}


def broken(text, kind):
    if kind == "raises":
        raise IndexError("planted")
    if kind == "crash":
        os.abort()
    if kind == "illegal":
        return re.sub(r"(def main\\(.*:\\n)", r'\\1        planted = R.call_packed("f", sinfo_args=R.Tensor((1,), "float32"))\\n', text, count=1)
    head, name = re.search(r"(?s)(.*\\n        )return (\\w+)\\s*\\Z", text).groups()
    return f'{{head}}planted = R.add({{name}}, R.const(1, "float32"))\\n        return planted\\n'


def step(place):
    name = HARMLESS[place % len(HARMLESS)]
    harmless = getattr(relax.transform, name, lambda: lambda module: module)()

    def run(module, context):
        wanted = str(module["main"].attrs.get("planted", ""))
        if wanted.partition(":")[0] != str(place):
            return harmless(module)
        text = broken(module.script(show_meta=True), wanted.partition(":")[2])
        return tvm.script.from_source(text, check_well_formed=False)

    return tvm.transform.module_pass(run, opt_level=0, name=f"pass_{{place}}")


def pipeline(length):
    return tvm.transform.Sequential([step(place) for place in range(length)])
'''


class Case(Record):
    """A program, and what is planted where."""

    seed: int
    text: str
    place: int
    kind: str


def write(folder: Path) -> None:
    """The module that the process imports."""
    (folder / "rlx_planted.py").write_text(PLANTED.format(harmless=HARMLESS), "utf-8")


def cases(seed: int, length: int, kinds: Sequence[str] = KINDS) -> Iterator[Case]:
    """Programs whose `main` returns a tensor of floats with elements, each with a planted pass."""
    while True:
        seed += 1
        rng = random.Random(seed)
        module = random_module(rng, Options(4, FEATURES))
        main = module["main"]
        assert isinstance(main, Function)
        try:
            ran = rlx.run(module, inputs={var.name: 3 for var in main.shape_vars})
        except ValueError:  # no arguments can be made up of these sizes
            continue
        value = getattr(ran, "value", None)
        if not isinstance(value, Tensor) or value.dtype != "float32" or value.data.size == 0:
            continue
        text = print_module(module)
        if not re.search(r"\n        return \w+\s*\Z", text):
            continue
        place, kind = rng.randrange(length), rng.choice(kinds)
        attribute = f'        R.func_attr({{"planted": "{place}:{kind}"}})\n'
        yield Case(
            seed,
            re.sub(r"(\n    def main\(.*:\n)", rf"\g<1>{attribute}", text, count=1),
            place,
            kind,
        )


def wrong(case: Case, blame: Blame | Fine | None) -> str | None:
    """The problem with a blame; None if there is none."""
    found = f"{blame.pass_name} ({blame.kind})" if isinstance(blame, Blame) else "nobody"
    expected = f"pass_{case.place} ({case.kind})"
    return None if found == expected else f"seed {case.seed}: expected {expected}, found {found}"


def by_bisect(chosen: Sequence[Case], length: int, folder: Path) -> list[str]:
    """The problems with the blames of `rlx bisect`."""
    write(folder)
    sys_path = f"__import__('sys').path.insert(0, {str(folder)!r})"
    expression = f"({sys_path}, __import__('rlx_planted').pipeline({length}))[1]"
    with Process(Pipeline(expression)) as process:
        said = [wrong(case, process.examine(case.text)) for case in chosen]
    return [each for each in said if each]


def by_instrument(chosen: Sequence[Case], length: int, folder: Path) -> list[str]:
    """The problems with the first problems that an instrument sees."""
    import tvm

    write(folder)
    sys.path.insert(0, str(folder))
    import rlx_planted  # type: ignore[import-not-found]

    sys.path.remove(str(folder))
    found = []
    for case in chosen:
        instrument: Any = rlx.tvm.Instrument(run=True, stop=False)
        module = tvm.script.from_source(case.text, check_well_formed=False)
        with tvm.target.Target("llvm"), tvm.transform.PassContext(instruments=[instrument]):
            rlx_planted.pipeline(length)(module)
        first = instrument.problems[0] if instrument.problems else None
        blame = None if first is None else Blame(first.pass_name, first.kind, "", first.message)
        found.append(wrong(case, blame))
    return [each for each in found if each]


def main(argv: Sequence[str]) -> int:
    """Print what is wrong; 1 if anything is."""
    count, seed = int(argv[0]), int(argv[1]) if len(argv) > 1 else 0
    rng = random.Random(seed)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for start in range(0, count, 20):
            length = rng.randrange(1, 9)
            source = cases(seed * 1_000_000 + start * 100, length)
            chosen = [next(source) for _ in range(min(20, count - start))]
            for said in by_bisect(chosen, length, Path(folder)):
                print(f"{said} in a pipeline of {length}")
                failed += 1
    print(f"{count} planted passes, {failed} not blamed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
