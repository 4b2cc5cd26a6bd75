"""What an editor is told at each place of the examples stays what it is.

`RLX_UPDATE_SNAPSHOTS=1 pytest tests/lsp/test_same_answers.py` writes it anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rlx.lsp.document import Document, RenameError
from tests.snapshots import assert_digest

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.rlx"))
SNAPSHOT = Path(__file__).parent / "snapshots" / "answers.txt"
STEP = 13


def answers(document: Document) -> Iterator[object]:
    text = document.source.text
    yield document.hints()
    for at in range(0, len(text), STEP):
        yield at, document.hover(at), document.definition(at)
        yield document.references(at), document.references(at, definitions=False)
    for at in range(0, len(text), 4 * STEP):
        found = document.completions(at)
        yield at, len(found), found[:3], found[-3:]
    for opened in ("R.add(", "R.nn.relu(", "R.reshape("):
        for at in (text.find(opened) + len(opened), text.find(opened) + 3):
            yield opened, document.completions(at)[:12]


def renamed(document: Document) -> Iterator[object]:
    for occurrence in document.occurrences[:: max(1, len(document.occurrences) // 3)]:
        try:
            yield document.rename(occurrence.span[0], "another")
        except RenameError as error:
            yield str(error)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_answers_are_as_they_were(path: Path) -> None:
    document = Document(path.read_text("utf-8"), path.name)
    told = [*answers(document), *renamed(document)]
    assert_digest(SNAPSHOT, path.stem, "\n".join(map(repr, told)))
