"""Words of scripts with a meaning, and suggestions for other words."""

from __future__ import annotations

import pytest

from rlx.grammar.read.script_vocabulary import is_known, meant_by

KNOWN = """axis axis. axis.S axis.R axis.spatial axis.reduce axis.scan axis.opaque axis.remap block block.x
grid serial int32 int32x4 u8 i64 float8_e4m3 f16 bf16 bool int64x4 handle dtype void _x Buffer ptx.cp"""
UNKNOWN = {
    "axis.nope": [],
    "axis.spatal": ["axis.spatial"],
    "axes.S": ["axis.S"],
    "bloc": ["block"],
    "block_x": ["block"],
    "int3": ["int32", "int4", "int8"],
    "handlex2": ["handle"],
    "flot32": ["float32"],
    "match_bufer": ["match_buffer"],
    "zzz": [],
}


@pytest.mark.parametrize("word", KNOWN.split())
def test_words_that_mean_something(word: str) -> None:
    assert is_known(word)


@pytest.mark.parametrize("word", UNKNOWN)
def test_words_that_mean_nothing(word: str) -> None:
    assert not is_known(word)
    assert meant_by(word) == UNKNOWN[word]
