"""The output of `--statistics`: the number of diagnostics by code, and the prover's questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from heapq import nlargest
from typing import Any, TypeVar

from rlx.checker.questions import SLOWEST, Asked
from rlx.checker.render.files import FileReport, summarise
from rlx.checker.render.human import PLAIN, paint
from rlx.grammar.streams import visible
from rlx.grammar.wording import counted

Key = TypeVar("Key", str, tuple[str, str])


def render(files: Sequence[FileReport], theme: Mapping[str, str] = PLAIN) -> str:
    """Counts of what was read, then of codes, then the questions."""
    parts = (definitions(files), codes(files, theme), questions(files, theme))
    return "\n".join(part for part in parts if part)


def definitions(files: Sequence[FileReport]) -> str:
    """The number of definitions read."""
    if all(file.read is None for file in files):
        return ""
    read = summarise(files).read
    parts = (
        counted(read.modules, "module"),
        counted(read.functions, "Relax function"),
        counted(read.prim_funcs, "PrimFunc"),
    )
    return f"read: {', '.join(parts)}\n"


def codes(files: Sequence[FileReport], theme: Mapping[str, str] = PLAIN) -> str:
    """A line for each code, the most frequent first."""
    counts = Counter((d.code, d.severity) for file in files for d in file.diagnostics)
    if not counts:
        return ""
    size = len(str(max(counts.values())))
    return "".join(
        f"{number:>{size}}  {paint(theme, severity, f'{severity:<7}')}  {code}\n"
        for (code, severity), number in _most_frequent_first(counts)
    )


def questions(files: Sequence[FileReport], theme: Mapping[str, str] = PLAIN) -> str:
    """The number of questions that each means settled, the most frequent first; then the slowest
    with their places.
    """
    means, slowest = _means(files), _slowest(files)
    if not means:
        asked = any(file.questions is not None for file in files)
        return "no questions to the prover\n" if asked else ""
    total = counted(sum(means.values()), "question")
    size = len(str(max(means.values())))
    lines = [f"{total} to the prover, by what answered them"]
    lines += [f"{number:>{size}}  {name}" for name, number in means.items()]
    if slowest:
        lines.append("the slowest")
    lines += [
        f"{asked.seconds * 1e3:6.1f} ms  {paint(theme, 'strong', visible(asked.question))}"
        f"  {visible(path)}:{asked.line}:{asked.column}"
        for path, asked in slowest
    ]
    return "\n".join(lines) + "\n"


def as_json(files: Sequence[FileReport]) -> dict[str, Any]:
    """The same for programs."""
    counts = Counter(d.code for file in files for d in file.diagnostics)
    means = _means(files)
    return {
        "codes": dict(sorted(counts.items())),
        "questions": {
            "asked": sum(means.values()),
            "means": means,
            "slowest": [
                {
                    "seconds": asked.seconds,
                    "question": asked.question,
                    "path": path,
                    "line": asked.line,
                    "column": asked.column,
                }
                for path, asked in _slowest(files)
            ],
        },
    }


def _means(files: Sequence[FileReport]) -> dict[str, int]:
    means: Counter[str] = Counter()
    for file in files:
        if file.questions is not None:
            means.update(file.questions.means)
    return dict(_most_frequent_first(means))


def _most_frequent_first(counts: Counter[Key]) -> list[tuple[Key, int]]:
    """The counted items with their numbers; those of equal number in the order of the keys."""
    return Counter(dict(sorted(counts.items()))).most_common()


def _slowest(files: Sequence[FileReport]) -> list[tuple[str, Asked]]:
    return nlargest(SLOWEST, _asked(files), key=lambda pair: pair[1].seconds)


def _asked(files: Sequence[FileReport]) -> Iterator[tuple[str, Asked]]:
    for file in files:
        if file.questions is not None:
            yield from ((file.path, asked) for asked in file.questions.slowest)
