"""Every form in which a check is told stays what it is, of programs that were picked because each notices a change of the
code: trees that answer why, at places and whole; frames, JSON, SARIF, commands of GitHub; edits; lists of run-time checks.

`RLX_UPDATE_SNAPSHOTS=1 pytest tests/checker/why/test_same_picked.py` writes the digests anew, and
`python -m tests.mutants.sharpen tests.checker.why.test_same_picked 2000 300 --room checker` adds other programs.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from rlx.checker.check import Report, check_alone, check_text
from rlx.checker.dynamic_checks.listing import counts, listed
from rlx.checker.dynamic_checks.report import judged
from rlx.checker.explain import described
from rlx.checker.fixing import mended
from rlx.checker.ignores import ignores
from rlx.checker.normal_form import normal_form
from rlx.checker.render import dynamic_checks, github, human, sarif, statistics
from rlx.checker.render import json as as_object
from rlx.checker.render.files import FileReport
from rlx.checker.why.explain import everything, why
from rlx.checker.why.json import as_json
from rlx.checker.why.place import PlaceError
from rlx.checker.why.tree_text import encodable, inferences, render
from tests.checker import test_same_picked as whole
from tests.grammar.spoiled import spoiled
from tests.hostile.damage import tokens
from tests.old.agreement import damaged as exchanged
from tests.operators.spoiled import prim_call
from tests.operators.spoiled import spoiled as of_operators
from tests.snapshots import assert_picked

PARTS = 40
MARKS = {
    role: f"<{role}>"
    for role in ("error", "warning", "note", "strong", "faint", "related", "gutter", "help")
}
COMMENT = "# rlx: ignore"

ROOT = Path(__file__).parents[3]


def pool(random: Random) -> str:
    """A program, mostly with something wrong; sometimes with comments that silence what is said."""
    match random.randrange(6):
        case 0:
            text = spoiled(random)
        case 1:
            text = of_operators(random)
        case 2:
            text = prim_call(random)
        case _:
            text = whole.pool(random)
    if random.random() < 0.2 and tokens(text):
        text = exchanged(text, random)
    if random.random() < 0.1:
        lines = text.splitlines()
        codes = random.choice(
            ["", "[D14]", "[D14-argument, WF02]", "[WF02-undefined]", "[]", "[D14"]
        )
        at = random.randrange(len(lines) or 1)
        lines[at : at + 1] = [f"{line}  {COMMENT}{codes}" for line in lines[at : at + 1]]
        text = "\n".join(lines)
    return text


def answers(text: str) -> str:
    """All forms in which a program's check is told."""
    return "\n".join(_answers(text))


def _answers(text: str) -> Iterator[str]:
    chance = Random(zlib.crc32(text.encode("utf-8", "surrogatepass")))
    path = chance.choice(["a.rlx", "f/ü b.py", "x%.rlx"])
    report = check_text(text, path)
    yield from _rendered(report, path, chance)
    yield from map(str, ignores(report.source))
    for module in report.modules:
        yield f"{check_alone(module)} {[*map(str, normal_form(module))]}"
        if report.ok:
            yield str(judged(module, chance.random() < 0.5, chance.random() < 0.5))
    fixed = mended(text, path)
    yield f"{fixed.text} {[*map(str, fixed.applied)]} {fixed.report.obligations}"
    yield from _why(text, path, chance)


def _rendered(report: Report, path: str, chance: Random) -> Iterator[str]:
    checks = listed(report.modules, report.source) if report.ok else None
    file = FileReport(
        path, report.source, report.diagnostics, report.obligations, "checked", checks
    )
    yield human.render([file], MARKS, chance.choice([60, 80, 120]))
    yield f"{as_object.render([file])} {github.render([file])} {statistics.codes([file])}"
    # What the specification says of a rule is not the subject here.
    known = described if chance.random() < 0.1 else lambda rule: None
    base = chance.choice([None, "https://example.org"])
    yield sarif.render([file], known, "1.0", base).replace(ROOT.as_uri(), "file:///rlx")
    yield f"{dynamic_checks.render([file], MARKS)} {counts(checks or ())}"


def _why(text: str, path: str, chance: Random) -> Iterator[str]:
    """The trees of the whole text, and of some of its places."""
    report, trees = everything(text, path)
    depth = chance.choice([None, 0, 1, 3])
    limit = chance.choice([None, 3, 30])
    lines = [*render(trees.roots, report.source, MARKS, depth, limit)]
    lines += inferences(trees.roots) if depth == 0 else []
    yield "\n".join(encodable(line, chance.choice(["ascii", "utf-8", None])) for line in lines)
    yield json.dumps(as_json(trees.roots, report.source, depth), ensure_ascii=False)
    rows = text.splitlines() or [""]
    for _ in range(4):
        line = chance.randint(1, len(rows))
        column = chance.choice([None, chance.randint(1, len(rows[line - 1]) + 1)])
        try:
            found = why(text, path, line, column)
        except PlaceError as error:
            yield f"{line}:{column} {error}"
        else:
            yield f"{line}:{column} {found} {found.has_error}"


@pytest.mark.parametrize("part", range(PARTS))
def test_picked_programs(part: int) -> None:
    assert_picked(Path(__file__).parent, part, PARTS, answers)
