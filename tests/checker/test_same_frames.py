"""How diagnostics of any form are drawn and written, in each format, stays what it is.

`RLX_UPDATE_SNAPSHOTS=1 pytest tests/checker/test_same_frames.py` writes the digests anew.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from rlx.checker.render import github, human, json, sarif, statistics
from rlx.checker.render.files import FileReport, Obligations
from rlx.checker.render.human import ANSI, PLAIN
from rlx.grammar.diagnostic import Diagnostic, Edit, Label, Source
from rlx.grammar.node import Span
from tests.snapshots import assert_digest

SNAPSHOT = Path(__file__).parent / "snapshots" / "frames.txt"
LINES = (
    "def f(x, y):",
    "",
    "    return x + y  # été",
    "\tz = R.add(x,\ty)",
    "    宽 = R.const(1)  # 🙂\x1b[0m",
    "    " + "long_name = R.add(a_value, another_value), " * 5,
    "x",
    "    y: R.Tensor((n, m), dtype='float32') = R.match_cast(x, R.Tensor((n, m)))",
)
WORDS = (
    "",
    "",
    "here",
    "an argument of Tensor((n,), float32)",
    "defined\x07 here",
    "a 'b' % 100,\nand more",
)
CODES = ("D14-arity", "PARSE", "OBL-broadcast", "WF02-undefined", "NEW-code")


class Maker:
    """A random file with diagnostics."""

    def __init__(self, seed: str) -> None:
        self.pick = random.Random(seed)
        lines = self.pick.choices(LINES, k=self.pick.randint(1, 14))
        self.text = self.pick.choice(["\n", "\n", "\n", "\r\n"]).join(lines)

    def span(self) -> Span:
        """A stretch of the text, mostly a short one."""
        start = self.pick.randint(0, len(self.text))
        longest = self.pick.choice([0, 1, 3, 8, 20, len(self.text)])
        return start, min(len(self.text), start + self.pick.randint(0, longest))

    def near(self, span: Span) -> Span:
        """One that starts close to another, or anywhere."""
        if self.pick.random() < 0.4:
            return self.span()
        start = min(len(self.text), max(0, span[0] + self.pick.randint(-12, 12)))
        return start, min(len(self.text), start + self.pick.randint(0, 5))

    def diagnostic(self, source: Source) -> Diagnostic:
        pick = self.pick
        span = None if pick.random() < 0.05 else self.span()
        count = pick.choice([0, 0, 1, 2, 3]) if span else 0
        related = tuple(Label(self.near(span or (0, 0)), pick.choice(WORDS)) for _ in range(count))
        edit = (
            Edit(self.span(), pick.choice(["", "y", "a\nb", "R.add"]))
            if pick.random() < 0.3
            else None
        )
        return Diagnostic(
            pick.choice(CODES),
            pick.choice(["error", "warning", "note"]),
            f"message {pick.choice(WORDS)}",
            span,
            pick.choice(WORDS),
            related,
            tuple(filter(None, pick.choices(WORDS, k=pick.choice([0, 0, 1, 2])))),
            pick.choice([None, *WORDS[2:]]),
            edit,
            pick.choice([None, {}, {"n": 1}, {"n": 0, "m": 1 << 40}]),
            source,
        )

    def report(self) -> FileReport:
        pick = self.pick
        source = Source(self.text, pick.choice(["a.rlx", "a dir/ü.rlx", "-"]))
        found = tuple(self.diagnostic(source) for _ in range(pick.randint(0, 3)))
        held = Obligations(pick.randint(0, 2), pick.randint(0, 1), pick.randint(0, 1))
        outcome = pick.choice(["checked"] * 6 + ["unreadable", "crashed"])
        if outcome == "checked":
            return FileReport(source.path, source, found, held, outcome)
        found = tuple(Diagnostic("IO", "error", d.message, None) for d in found)
        return FileReport(source.path, None, found, Obligations(), outcome)


@pytest.mark.parametrize("part", range(10))
def test_drawn_and_written(part: int) -> None:
    lines: list[str] = []
    for at in range(25):
        maker = Maker(f"{part} {at}")
        files = [maker.report() for _ in range(maker.pick.choice([1, 1, 2]))]
        width = maker.pick.choice([120, 80, 60, 40])
        lines.append(human.render(files, maker.pick.choice([PLAIN, ANSI]), width))
        lines += [json.render(files), github.render(files), statistics.render(files)]
        lines.append(
            sarif.render(files, lambda rule: None, "1.0", maker.pick.choice([None, "https://a/b"]))
        )
    assert_digest(SNAPSHOT, f"part {part}", "\n".join(lines))
