"""Each spelling of a version stands once: the printer writes it from there, the parser reads it from there."""

from __future__ import annotations

import ast as python
from functools import cache
from pathlib import Path

import pytest

from rlx.grammar import dialects
from rlx.grammar.dialects import DIALECTS
from rlx.grammar.nodes.node import fields

FOLDER = Path(dialects.__file__).parent
WORDS = {
    value
    for dialect in DIALECTS.values()
    for name, value in fields(dialect)
    if isinstance(value, str) and name != "version"
}
FIELDS_OF_NODES = {"sinfo_args", "alloc_buffer"}
"""Words that are also names of our own."""


@cache
def spelled() -> dict[str, set[str]]:
    """The strings in each file but the table."""
    return {
        path.name: {
            node.value
            for node in python.walk(python.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, python.Constant) and isinstance(node.value, str)
        }
        for path in FOLDER.rglob("*.py")
        if path.name not in ("dialects.py", "__init__.py")  # one of our modules is called so, too
    }


@pytest.mark.parametrize("word", sorted(WORDS - FIELDS_OF_NODES))
def test_no_file_but_the_table_spells_a_word_of_a_dialect(word: str) -> None:
    assert [file for file, words in spelled().items() if word in words] == []


def test_every_table_is_read_by_someone() -> None:
    readers_of = [
        *FOLDER.rglob("*.py"),
        *(FOLDER.resolve().parent / "rlx" / "commands").glob("*.py"),
    ]
    texts = [path.read_text(encoding="utf-8") for path in readers_of]
    for table in [name for name in vars(dialects) if name.isupper() and not name.startswith("_")]:
        readers = [text for text in texts if table in text and "def dialect(" not in text]
        assert readers, table
