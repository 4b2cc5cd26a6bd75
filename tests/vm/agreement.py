"""The machine on the source against the machine after each stage and against the virtual machine; each stage is legal.

``python -m tests.vm.agreement COUNT SEED`` compares that many generated programs, each with inputs that fit and inputs that
do not. ``--corpus`` compares the programs of the examples, the networks of ``tests/tvm`` with their stages, and the programs
in the files of TVM's wheel instead, of which each stage runs as native code.
"""

from __future__ import annotations

import random
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from rlx.checker import check_text
from rlx.generate.campaign.programs import is_legal, program
from rlx.grammar.nodes import ast
from rlx.grammar.read.parser import parse
from rlx.semantics.machine import load
from rlx.semantics.outcome import Ended, Outcome, OutOfFuel, Returned
from rlx.semantics.run.inputs import inputs
from rlx.semantics.values import Scalar, ShapeValue, Tensor, TupleValue, Value
from rlx.transform.lowering.passes import PassError
from rlx.vm import Executable, VirtualMachine, faults, linking
from rlx.vm.code_generation import generate
from rlx.vm.compilation import STAGES, pipeline
from tests.long_run import long_run
from tests.values import alike

FUEL = 20_000


class End(NamedTuple):
    """The end of a run: its kind, its value, its printed lines."""

    kind: str
    value: Value | None
    printed: tuple[str, ...]
    words: str = ""


def on_machine(
    module: ast.IRModule, entry: str, args: tuple[Value, ...], packed: Mapping[str, Any] = {}
) -> End:
    """A run by small steps."""
    printed: list[str] = []
    program = load(module, packed=packed, output=printed.append, iterations=1000 * FUEL)
    ended: Outcome = program.run(entry, copies(args), fuel=FUEL)
    value = ended.value if isinstance(ended, Returned) else None
    words = f"{ended.code}: {ended.message}" if isinstance(ended, Ended) else ""
    return End(type(ended).__name__, value, tuple(printed), words)


def batching(executable: Executable, printed: list[str]) -> VirtualMachine:
    """A machine that runs rows of instructions at once, and prints to a list."""
    return at_once(executable, output=printed.append, fuel=FUEL)


def at_once(executable: Executable, *args: Any, **options: Any) -> VirtualMachine:
    """A machine that runs rows of instructions at once, as without the guards of tests."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(linking, "GUARDED", False)
        return VirtualMachine(executable, *args, **options)


def on_vm(machine: VirtualMachine, printed: list[str], entry: str, args: tuple[Value, ...]) -> End:
    """A run on the virtual machine."""
    printed.clear()
    try:
        value = machine.invoke(entry, copies(args))
    except faults.RunError as error:
        return End(error.outcome.__name__, None, tuple(printed), f"{error.code}: {error.message}")
    return End("Returned", value, tuple(printed))


def copies(args: Sequence[Value]) -> list[Value]:
    return [_copy(arg) for arg in args]


def _copy(value: Value) -> Value:
    match value:
        case Tensor(data=data, device=device):
            return Tensor(data.copy(), device)
        case TupleValue(fields=fields):
            return TupleValue(tuple(_copy(field) for field in fields))
    return value


def differ(one: End, other: End) -> str | None:
    """The difference between two ends that a program could notice; None if there is none."""
    if OutOfFuel.__name__ in (one.kind, other.kind):
        return None
    if one.kind != other.kind:
        return f"{one.kind} {one.words} / {other.kind} {other.words}"
    if [_nameless(line) for line in one.printed] != [_nameless(line) for line in other.printed]:
        return f"printed {one.printed} / {other.printed}"
    if one.value is not None and not alike(one.value, other.value):
        return f"value {one.value} / {other.value}"
    return None


def _nameless(line: str) -> str:
    """The printed lines without the names of closures: lifting gives a function another name."""
    return re.sub(r"closure [\w.]+?(?=closure |[^\w.]|$)", "closure", line)


def perturbed(args: tuple[Value, ...], choose: random.Random) -> tuple[Value, ...]:
    """Arguments of which one no longer fits, perhaps."""
    if not args:
        return args
    at = choose.randrange(len(args))
    return (*args[:at], _perturbed(args[at], choose), *args[at + 1 :])


def _perturbed(value: Value, choose: random.Random) -> Value:
    import numpy as np

    match value:
        case Tensor(data=data):
            way = choose.randrange(4)
            if way == 0:
                return Tensor(np.zeros((*data.shape, 1), data.dtype))
            if way == 1 and data.ndim:
                sizes = list(data.shape)
                sizes[choose.randrange(len(sizes))] += 1
                return Tensor(np.ones(sizes).astype(data.dtype))
            if way == 2:
                return Tensor(data.astype("int16"))
            return ShapeValue(tuple(map(int, data.shape)))
        case ShapeValue(values=values) if values:
            return ShapeValue((*values[:-1], values[-1] + 1))
        case Scalar(value=number, dtype=kind) if kind.is_integer:
            return Scalar(number + 1, kind)
        case TupleValue(fields=fields) if fields:
            return TupleValue((*fields[:-1], _perturbed(fields[-1], choose)))
    return value


def differences(text: str, seed: int, stages: bool = True) -> Iterator[str]:
    """The differences between the ways to run a program."""
    module = parse(text).modules[0]
    entries = [
        gv.name_hint for gv, f in module.relax_functions.items() if not f.attrs.get("private")
    ]
    lowered = list(lowerings(module)) if stages else []
    for name, each in lowered:
        for error in check_text(str(each)).errors:
            yield f"{name} is not legal: {error.code}: {error.message}"
    now = lowered[-1][1] if lowered else pipeline()(module)
    executable = generate(now)
    printed: list[str] = []
    machines = {
        "vm": VirtualMachine(executable, output=printed.append, fuel=FUEL),
        "vm in batches": batching(executable, printed),
    }
    choose = random.Random(seed)
    for entry in entries:
        function = module[entry]
        assert isinstance(function, ast.Function)
        try:
            fitting = tuple(inputs(function, {}, seed).values)
        except ValueError:
            continue
        for args in (fitting, perturbed(fitting, choose)):
            want = on_machine(module, entry, args)
            ways = [(name, on_machine(each, entry, args)) for name, each in lowered]
            ways += [(name, on_vm(m, printed, entry, args)) for name, m in machines.items()]
            again = on_vm(machines["vm in batches"], printed, entry, args)
            ways.append(("vm in batches, again", again))
            for name, found in ways:
                difference = differ(want, found)
                if difference is not None:
                    yield f"{name}, {entry}: {difference}"
                    break


def lowerings(module: ast.IRModule) -> Iterator[tuple[str, ast.IRModule]]:
    """The module after each stage."""
    for stage in STAGES:
        module = stage()(module)
        yield stage.__name__, module


def corpus() -> Iterator[tuple[str, ast.IRModule]]:
    """Legal programs that people wrote or exported, with their places."""
    import tvm

    from tests.tvm.models import MODELS
    from tests.tvm.test_run_models import texts

    root = Path(__file__).parents[2]
    wheel = Path(tvm.__file__).parent
    files = (*(root / "examples").rglob("*.rlx"), *wheel.rglob("*.py"))
    written = ((str(path), path.read_text("utf-8")) for path in sorted(files))
    exported = (
        (f"{model}, {stage}", text)
        for model in MODELS
        for stage, text in texts(model).items()
        if stage != "lowered"
    )
    for place, text in (*written, *exported):
        if "R.function" in text or place.endswith(".rlx"):
            report = check_text(text, place)
            if report.ok:
                yield from ((place, module) for module in report.modules)


def stages_differ(module: ast.IRModule, counted: Counter[str]) -> Iterator[str]:
    """The differences in runs of the stages of a program, by native code."""
    from tests.tvm.test_run_models import EXTERNAL

    given: dict[str, tuple[Value, ...]] = {}
    for gv, function in module.relax_functions.items():
        if not function.attrs.get("private"):
            try:
                given[gv.name_hint] = tuple(inputs(function, {}, 1).values)
            except ValueError:
                counted["entries without inputs"] += 1

    wanted = {entry: on_machine(module, entry, args, EXTERNAL) for entry, args in given.items()}
    counted.update(f"{end.kind} before" for end in wanted.values())
    for stage, each in lowerings(module):
        report = check_text(str(each))
        if not report.ok:
            yield f"{stage} is not legal: {report.errors[0].code}: {report.errors[0].message}"
            return
        for entry, want in wanted.items():
            difference = differ(want, on_machine(each, entry, given[entry], EXTERNAL))
            if difference is not None:
                yield f"{stage}, {entry}: {difference}"
                return


def on_corpus() -> int:
    """Compare the programs of the corpus; how many differ."""
    wrong, programs = 0, 0
    counted: Counter[str] = Counter()
    for place, module in corpus():
        programs += 1
        try:
            found = next(stages_differ(module, counted), None)
        except PassError as error:
            counted[f"refused: {str(error)[:100]}"] += 1
            continue
        if found is not None:
            wrong += 1
            print(f"{place}: {found}", flush=True)
    print(f"{programs} programs: {wrong} differ; {dict(counted)}")
    return wrong


def disagreement(seed: int, kinds: Counter[str]) -> str:
    """The differences of a generated program, one a line; empty if it is not legal."""
    if not is_legal(seed):
        return ""
    try:
        return "\n".join(differences(program(seed)[0], seed))
    except PassError as error:
        kinds[f"PassError: {str(error)[:100]}"] += 1
        return ""


if __name__ == "__main__":
    sys.exit(on_corpus() > 0) if sys.argv[1:] == ["--corpus"] else long_run(disagreement)
