"""Whether TVM builds a module, and what rlx says: `python -m tests.tvm.will_build COUNT SEED FOLDER`.

The modules are generated programs, legal calls of every operator and the same with other types and ranks, the examples, the
programs of `runs/`, what TVM's passes make of networks, and the modules in TVM's own wheel. What TVM says of a text is kept in
FOLDER, as one line of JSON for each, so that a second run asks it only about new texts. What rlx and TVM do not agree on is
listed with what each says.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import random
import resource
import signal
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import tvm

from rlx.checker.check import check_text
from rlx.generate.programs import random_module
from rlx.grammar.nodes.node import replace as record
from rlx.grammar.print.printer import print_module
from rlx.tvm.building import check_for_tvm

from . import constructs, passes
from .perturb.bases import bases
from .perturb.calls import Argument, Group, OneCall, TensorArg, write
from .perturb.changes import ELEMENTS
from .perturb.harness import combined
from .runs import built, programs
from .target import QUICK

ROOT = Path(__file__).parents[2]
MEMORY, SECONDS = 8 << 30, 60


class Sample(NamedTuple):
    """A module for TVM: where it comes from, and its text, which begins with its imports."""

    source: str
    name: str
    text: str


# ------------------------------------------------------------ the modules


def generated(count: int, seed: int) -> Iterator[Sample]:
    """Random programs."""
    for number in range(seed, seed + count):
        text = print_module(random_module(random.Random(number)), "0.27")
        yield Sample("generated", str(number), text)


def calls(count: int, seed: int) -> Iterator[Sample]:
    """Legal calls of operators, one to a module, with tensors of one type each, and such with other arguments."""
    rng = random.Random(seed)
    legal = [retyped(base, kind) for base in bases(3) for kind in ("", *ELEMENTS[1:])]
    for call in [*rng.sample(legal, min(count, len(legal))), *combined(seed, count // 2, 3)]:
        written = write(call)
        yield from of_text("calls", f"{written.params} |- {written.expr}", written.module)


def retyped(call: OneCall, kind: str) -> OneCall:
    """The call with all tensors of a type; as it is without one."""

    def changed(argument: Argument) -> Argument:
        if isinstance(argument, Group):
            return Group(tuple(map(changed, argument.fields)))
        return replace(argument, dtype=kind) if isinstance(argument, TensorArg) else argument

    if not kind:
        return call
    attrs = tuple((name, changed(value)) for name, value in call.attrs)
    return replace(call, args=tuple(map(changed, call.args)), attrs=attrs)


def examples() -> Iterator[Sample]:
    for path in sorted((ROOT / "examples").glob("*.rlx")):
        yield from of_text("examples", path.stem, path.read_text("utf-8"))


def texts() -> Iterator[Sample]:
    """The programs whose runs are compared, as they are written, or as TVM prints what it builds."""
    for kind in programs.TEXTS:
        for name, program in programs.of_texts(kind).items():
            assert program.text is not None
            yield from of_text("texts", name, program.text)
    for kind in ("expressions", "pipelines"):
        for name, program in built.of_kind(kind).items():
            with suppress(Exception):
                yield Sample(kind, name, program.build().script(show_meta=True))


def of_passes() -> Iterator[Sample]:
    for name in constructs.NAMES:
        yield Sample("constructs", name, constructs.build(name).script(show_meta=True))
    for name in passes.PASSES:
        yield Sample("passes", name, passes.apply(name).script(show_meta=True))


def wheel() -> Iterator[Sample]:
    """The modules that stand as texts in TVM's own files."""
    from rlx.checker.driver.sources import find

    for path in find([str(Path(tvm.__file__).parent)])[0]:
        yield from of_text("wheel", Path(path).stem, Path(path).read_text("utf-8"), path)


def of_text(source: str, name: str, text: str, path: str = "") -> Iterator[Sample]:
    report = check_text(text, path or f"{name}.rlx")
    if report.ok:
        for number, module in enumerate(report.modules):
            whole = record(module, bare=False)
            yield Sample(source, f"{name}/{number}", print_module(whole, "0.27"))


# ------------------------------------------------------------ what TVM says


def built_by_tvm(texts: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Whether TVM ``builds``, ``refuses`` or ``dies`` of each text, or cannot ``read`` it; and its words.

    A child builds them one after the other; where it dies, the next one goes on behind.
    """
    start = 0
    while start < len(texts):
        read_end, write_end = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(read_end)
            with os.fdopen(write_end, "w", encoding="utf-8") as out:
                _build(texts[start:], out)
            os._exit(0)
        os.close(write_end)
        with os.fdopen(read_end, encoding="utf-8") as said:
            for line in said:
                start += 1
                how, words = json.loads(line)
                yield how, words
        _, status = os.waitpid(child, 0)
        if status:
            start += 1
            yield "dies", f"signal {os.WTERMSIG(status)}"


def _build(texts: Sequence[str], out: TextIO) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    for text in texts:
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        print(json.dumps(_asked(text)), file=out, flush=True)


def _asked(text: str) -> tuple[str, str]:
    step = "read"
    with redirect_stderr(io.StringIO()), redirect_stdout(io.StringIO()):
        try:
            module: Any = tvm.script.from_source(text, check_well_formed=False)
            step = "refuses"
            tvm.compile(module, target=QUICK)
        except Exception as error:  # noqa: BLE001 - whatever TVM raises
            return step, f"{type(error).__name__}: {error}"[-1500:]
    return "builds", ""


def answers(samples: Sequence[Sample], kept: Path) -> Iterator[tuple[Sample, str, str]]:
    """Each module with what TVM says of it, which is kept in a file."""
    lines = kept.read_text("utf-8").splitlines() if kept.exists() else []
    known = {key: (how, said) for key, how, said in map(json.loads, lines)}
    keys = [hashlib.sha256(sample.text.encode()).hexdigest() for sample in samples]
    new = {key: s.text for key, s in zip(keys, samples, strict=True) if key not in known}
    with kept.open("a", encoding="utf-8") as out:
        for key, answer in zip(new, built_by_tvm([*new.values()]), strict=True):
            known[key] = answer
            out.write(json.dumps([key, *answer]) + "\n")
            out.flush()
    for key, sample in zip(keys, samples, strict=True):
        yield sample, *known[key]


def corpus(count: int, seed: int) -> Iterator[Sample]:
    """The modules: so many generated ones and so many calls, and all others."""
    yield from generated(count, seed)
    yield from calls(count, seed)
    for found in (examples, texts, of_passes, wheel):
        yield from found()


def said_by_rlx(text: str) -> list[str]:
    """The codes for which rlx says that TVM does not build a text."""
    return [d.code for d in check_for_tvm(text).errors]


def disagreements(
    answered: Iterable[tuple[Sample, str, str]], counts: Counter[tuple[str, str]]
) -> Iterator[str]:
    """Disagreements of rlx and TVM; all answers are counted by what rlx and TVM say.

    A text that TVM's parser does not read never comes to `tvm.compile`: it is counted apart, and shown if rlx
    says that TVM builds it.
    """
    for sample, how, said in answered:
        codes = said_by_rlx(sample.text)
        ours = "refuses" if codes else "builds"
        theirs = "refuses" if how == "dies" else how
        counts[ours, theirs] += 1
        if theirs != ours and (theirs, ours) != ("read", "refuses"):
            lines = said.strip().splitlines() or [""]
            last = next((line for line in lines if "error: " in line), lines[-1])
            yield f"{sample.source} {sample.name}: rlx {ours} {codes[:2]}, TVM {how} {last[:150]}"


def main(count: int, seed: int, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    counts: Counter[tuple[str, str]] = Counter()
    answered = answers(list(corpus(count, seed)), folder / "tvm.jsonl")
    for line in disagreements(answered, counts):
        print(line)
    report(counts)


def report(counts: Counter[tuple[str, str]]) -> None:
    """Print the table of what rlx and TVM say."""
    for ours in ("builds", "refuses"):
        row = [f"TVM {theirs} {counts[ours, theirs]}" for theirs in ("builds", "refuses", "read")]
        print(f"rlx {ours}: {', '.join(row)}".replace("TVM read", "not read by TVM"))
    judged = sum(n for (_, theirs), n in counts.items() if theirs != "read")
    agreed = counts["builds", "builds"] + counts["refuses", "refuses"]
    print(f"{agreed} of {judged} agree")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
