"""A kernel gets the parts of the prelude that it mentions, and the widest vectors that help."""

from __future__ import annotations

import re

import pytest

from rlx.semantics.native import prelude

NAMES = sorted(prelude.providers(False))
OURS = re.compile(r"\b(?:rlx|RLX)_\w+")
ATTRIBUTE = re.compile(r"\s*__attribute__\(\((?:[^()]|\([^()]*\))*\)\)")


def defined(text: str) -> set[str]:
    """Names of macros, types, functions and tables, by C's rules for where they stand."""
    text = ATTRIBUTE.sub("", text)
    return {
        *re.findall(r"^#define (\w+)", text, re.MULTILINE),
        *re.findall(r"^typedef .*?(\w+);$", text, re.MULTILINE),
        *re.findall(r"^[A-Za-z][^#=;]*?\b(\w+)(?:\(|\[\d+\] =)", text, re.MULTILINE),
    }


@pytest.mark.parametrize("name", NAMES)
def test_what_is_mentioned_is_defined(name: str) -> None:
    text = prelude.text(f"x = {name}(y);", apart=False)
    known = defined(text)
    assert name in known
    missing = {word for word in OURS.findall(text) if word in NAMES and word not in known}
    assert not missing
