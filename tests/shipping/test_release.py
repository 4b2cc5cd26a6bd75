"""Texts about a release: its metadata, the changelog, the image."""

from __future__ import annotations

import re
import tomllib
from datetime import date
from pathlib import Path

import trove_classifiers

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
METADATA = PROJECT["project"]
CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
IGNORED = (ROOT / ".dockerignore").read_text(encoding="utf-8").split("\n")


def test_classifiers_are_those_of_package_indexes() -> None:
    named = METADATA["classifiers"]
    assert named == sorted(set(named))
    assert set(named) <= trove_classifiers.classifiers
    assert not set(named) & set(trove_classifiers.deprecated_classifiers)
    assert METADATA["keywords"] == sorted(set(METADATA["keywords"]))
    oldest = METADATA["requires-python"].removeprefix(">=")
    assert f"Programming Language :: Python :: {oldest}" in named
    assert not any(name.startswith("License ::") for name in named), "`license` says it"


def test_the_changelog_has_a_section_for_each_release() -> None:
    """The changelog begins with the next version, then lists the releases with their days, this version first."""
    first, *released = re.findall(r"^## (.*)$", CHANGELOG, re.MULTILINE)
    assert first == "Unreleased"
    found = [re.fullmatch(r"(\d+\.\d+\.\d+) - (\d{4}-\d\d-\d\d)", title) for title in released]
    pairs = [(each[1], date.fromisoformat(each[2])) for each in found if each is not None]
    assert len(pairs) == len(released)
    assert pairs[0][0] == METADATA["version"]
    assert [day for _, day in pairs] == sorted((day for _, day in pairs), reverse=True)


def test_the_image_is_built_from_what_is_there() -> None:
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ").split("\n")
    steps = [line.split(maxsplit=1) for line in lines if line and not line.startswith("#")]
    assert steps[0] == ["FROM", "python:3.11-slim"]
    assert {name for name, _ in steps} <= {"FROM", "RUN", "COPY", "USER", "WORKDIR", "CMD"}
    assert ["COPY", ". /src"] in steps
    wanted = {"README.md", "LICENSE", "pyproject.toml", "setup.py"}
    wanted |= {path.split("/")[0] for path in PROJECT["tool"]["setuptools"]["package-dir"].values()}
    assert IGNORED[0] == "**"
    assert {line.removeprefix("!") for line in IGNORED if line.startswith("!")} == wanted
    assert all((ROOT / name).exists() for name in wanted)
