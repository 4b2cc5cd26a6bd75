"""The programs beside the rules do what their fences say."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from rlx.spec.reader import chapters

ROOT = Path(__file__).parents[2]


def test_the_examples_do_what_they_say(pytestconfig: pytest.Config) -> None:
    """In a process of its own, in which the rules are traced from their registration on."""
    assert pytestconfig.cache is not None
    kernels = pytestconfig.cache.mkdir("native")
    kernels.chmod(0o700)
    done = subprocess.run(
        [sys.executable, "-m", "tests.spec.examples"],
        cwd=ROOT,
        env={**os.environ, "RLX_CACHE": str(kernels)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", chapters(), ids=lambda path: path.stem)
def test_every_link_has_a_target(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    outside = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    targets = set(re.findall(r"^\[([\w-]+)\]: ", outside, re.MULTILINE))
    assert set(re.findall(r"\]\[([\w-]+)\]", outside)) == targets
    for file, anchor in re.findall(r"\]\((?!https?:)([\w.]+)(?:#([\w-]+))?\)", outside):
        assert (path.parent / file).exists(), file
        if anchor:
            assert anchor in _anchors(path.parent / file), f"{file}#{anchor}"


@pytest.mark.parametrize("path", chapters(), ids=lambda path: path.stem)
def test_sources_are_linked_and_no_field_is_empty(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for source in re.findall(r"^Source: (.+)$", text, re.MULTILINE):
        assert "](" in source or "][" in source or "decision of the project" in source, source
    assert not re.findall(r"^(?:Ledger|TVM|Why): *(?:none|-)?\.?$", text, re.MULTILINE)


def _anchors(path: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}
