"""Whether `rlx compare` accuses what is right, and finds what is wrong: `python -m tests.tvm.false_alarms COUNT SEED`.

Modules on which both sides should agree within rounding (generated programs, legal calls of operators, the
examples) are compared with TVM; each accusation is printed, to be judged by hand. Then one element of one
binding is changed by a thousandth in the values of a run, and that binding has to be named.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import chain

import numpy as np

from rlx.checker.check import check_text
from rlx.comparison.compare import Run, against_named, against_tvm, recorded
from rlx.comparison.peer import TvmError, TvmProcess
from rlx.semantics.machine.entries import callable_functions, default_entry
from rlx.semantics.run.inputs import inputs
from rlx.semantics.values import Tensor

from .will_build import Sample, calls, examples, generated


def run_of(sample: Sample, seed: int) -> Run | None:
    """The sample's entry with generated arguments; None if it cannot be called."""
    report = check_text(sample.text)
    if not report.ok or len(report.modules) != 1:
        return None
    functions = callable_functions(report.modules)
    try:
        entry = default_entry(functions)
        values = inputs(functions[entry][1], {}, seed).values
        made = Run(report.modules[0], report.source, entry, values)
        made.accepted()
    except (KeyError, ValueError):
        return None
    return made


def injected(run: Run, random_: random.Random) -> tuple[str, str] | None:
    """Change one element of one binding: the binding, and the one that is named."""
    values, _ = recorded(run)
    choices = [
        (name, found[0])
        for name, found in values.items()
        if len(found) == 1
        and isinstance(found[0], Tensor)
        and found[0].data.dtype == np.float32
        and np.abs(found[0].data[np.isfinite(found[0].data)]).max(initial=0) > 0
    ]
    if not choices:
        return None
    name, value = random_.choice(choices)
    data = value.data.copy()
    finite = np.where(np.isfinite(data), np.abs(data), 0)
    data.flat[int(np.argmax(finite))] *= np.float32(1.001)
    said = against_named(run, {**values, name: [Tensor(data)]}, "the changed run")
    return name, said.difference.spot.name if said.difference is not None else "nothing"


def main(count: int, seed: int) -> None:
    """Print what is accused of `count` modules, and what is not found."""
    samples: Iterator[Sample] = chain(
        examples(), generated(count // 3, seed), calls(2 * count, seed)
    )
    seen: Counter[str] = Counter()
    random_ = random.Random(seed)
    with TvmProcess() as tvm:
        for sample in samples:
            run = run_of(sample, seed)
            if run is None:
                continue
            try:
                found = against_tvm(run, tvm)
            except TvmError as error:
                seen["not compared"] += 1
                print(f"{sample.name}: not compared: {str(error)[:100]}")
                continue
            kind = found.difference.kind if found.difference is not None else "agrees"
            seen[kind] += 1
            if found.difference is not None:
                print(f"{sample.name}: {found.difference.spot.name}: {found.difference.said[:200]}")
            again = run_of(sample, seed) if kind == "agrees" else None
            if again is not None and (pair := injected(again, random_)) is not None:
                seen["found" if pair[0] == pair[1] else "MISSED"] += 1
                if pair[0] != pair[1]:
                    print(f"{sample.name}: changed {pair[0]}, named {pair[1]}")
            if sum(seen[each] for each in ("agrees", "differs", "joined", "nan")) >= count:
                break
    print(", ".join(f"{kind}: {number}" for kind, number in seen.most_common()))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
