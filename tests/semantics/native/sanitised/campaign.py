"""Batches of kernels from all sources, for all widths of vectors, compared with the evaluator."""

from __future__ import annotations

import random
import shutil
import subprocess
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from rlx.semantics.faults import UnsupportedStop
from rlx.semantics.native.program import generate

from .batch import BUILDS, ODD, VECTORS, Answer, Build, Case, processors, run
from .compare import difference, wanted


class Report:
    """The results of a campaign so far."""

    def __init__(self) -> None:
        self.functions: Counter[str] = Counter()
        self.kernels: Counter[str] = Counter()
        self.builds: Counter[str] = Counter()
        self.endings: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.failures: list[str] = []

    def lines(self) -> Iterator[str]:
        """The report."""
        for name, counted in (
            ("functions", self.functions),
            ("kernels, by the bytes of vectors", self.kernels),
            ("kernels, by the flags", self.builds),
            ("endings", self.endings),
            ("refused", self.refused),
        ):
            words = ", ".join(f"{word} {count}" for word, count in sorted(counted.items()))
            yield f"{name}: {counted.total()} ({words})"
        yield f"failures: {len(self.failures)}"


class Campaign:
    """Takes functions from sources in turn; each is a kernel for every width of vectors.

    Parameters
    ----------
    sources
        Endless kernels, by name.
    folder
        Where a batch is compiled; failures are kept beside it.
    size
        How many functions are compiled together.
    builds
        The ways to compile them; one is drawn for each batch.
    """

    def __init__(
        self,
        sources: Mapping[str, Iterator[Case]],
        folder: Path,
        size: int = 16,
        seed: int = 0,
        builds: Sequence[Build] = BUILDS,
    ) -> None:
        self.sources, self.folder, self.size = dict(sources), folder, size
        self.report = Report()
        self.rng = random.Random(seed)
        self.builds = builds
        self.turn = 0

    def batch(self) -> None:
        """Run one batch of one source."""
        name = list(self.sources)[self.turn % len(self.sources)]
        self.turn += 1
        cases: list[tuple[Case, Answer]] = []
        while len(cases) < self.size:
            case = next(self.sources[name])
            expected = self._expected(case)
            if expected is not None:
                cases.append((case, expected))
        self.report.functions[name] += len(cases)
        self._check(cases)

    def _expected(self, case: Case) -> Answer | None:
        """The evaluator's result; None if the program has no native code or takes too long."""
        try:
            generate(case.func, bounds=True, disjoint=True)
            expected = wanted(case)
        except UnsupportedStop as reason:
            self.report.refused[f"{reason.code} {reason.message[:60]}"] += 1
            return None
        except Exception as error:  # noqa: BLE001 - neither has any other end
            self._fail(f"{case.label}: {type(error).__name__}: {error}")
            return None
        if expected.ending == "E-tir-fuel":
            return None
        return expected

    def _check(self, cases: list[tuple[Case, Answer]]) -> None:
        repeated = [pair for pair in cases for _ in (*VECTORS, "odd")]
        vectors = [vector for _ in cases for vector in (*VECTORS, self.rng.choice(ODD))]
        self.report.kernels.update(map(str, vectors))
        processor = self.rng.choice(processors())
        [build] = self.rng.choices(self.builds, [build.share for build in self.builds])
        self.report.builds[build.name] += len(vectors)
        try:
            only = [case for case, _ in repeated]
            answers = run(only, self.folder, vectors, build, processor)
        except subprocess.CalledProcessError as error:
            self._fail(f"the compiler refuses: {error.stderr[-1500:]}")
            return
        failed = False
        for (case, expected), found, vector in zip(repeated, answers, vectors, strict=True):
            self.report.endings[expected.ending] += 1
            wrong = difference(case, found, expected)
            if wrong is not None:
                failed = True
                self._fail(
                    f"{case.label}, {vector} bytes, {build.name}, {' '.join(processor)}: {wrong}"
                )
        if failed:
            kept = self.folder.parent / f"failed-{len(self.report.failures)}"
            shutil.copytree(self.folder, kept, dirs_exist_ok=True)

    def _fail(self, text: str) -> None:
        self.report.failures.append(text)


def campaign(
    sources: Mapping[str, Iterator[Case]], folder: Path, count: int, seconds: float, seed: int = 0
) -> Iterator[Report]:
    """Run batches until there are enough kernels or the time is over; the report behind each batch."""
    running = Campaign(sources, folder, seed=seed)
    until = time.monotonic() + seconds
    while running.report.kernels.total() < count and time.monotonic() < until:
        running.batch()
        yield running.report
