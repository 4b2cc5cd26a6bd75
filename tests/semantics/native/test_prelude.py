"""What a kernel needs of the prelude is what it gets: all that is mentioned, and the widest vectors where they help."""

from __future__ import annotations

import re

import pytest

from rlx.semantics.native import compiler, prelude

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


@pytest.mark.parametrize("name", NAMES)
def test_vectors_are_narrower_where_the_widest_do_not_help(name: str) -> None:
    """The flag is there for what mentions no tile and no half."""
    kernel = f"x = {name}(y);"
    text = f"{prelude.text(kernel, apart=False)}\n{kernel}"
    wide = {"RLX_LANES", "RLX_ROWS", "rlx_to_f16"} & {*OURS.findall(text), name}
    flags = compiler.flags_for(text, (compiler.NARROWER,))
    assert flags == (() if wide else (compiler.NARROWER,))
