"""The search for a module that the command line names."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from rlx.operators.external import imported

NAME = "rlx_test_chosen"


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """The current directory, and another folder where Python looks first."""
    here, installed = tmp_path / "here", tmp_path / "installed"
    for folder in (here, installed):
        folder.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setattr(sys, "path", [str(installed), *filter(None, sys.path)])
    monkeypatch.delitem(sys.modules, NAME, raising=False)
    return here, installed


def test_the_current_directory_comes_before_what_is_installed(folders: tuple[Path, Path]) -> None:
    for folder in folders:
        (folder / f"{NAME}.py").write_text(f"PLACE = {folder.name!r}")
    before = list(sys.path)
    try:
        assert imported(NAME).PLACE == "here"
    finally:
        del sys.modules[NAME]
    assert sys.path == before


def test_what_is_installed_comes_first_for_other_modules(folders: tuple[Path, Path]) -> None:
    """One module of a folder is named; another one there replaces nothing, but can be imported."""
    other, beside = f"{NAME}_other", f"{NAME}_beside"
    for folder in folders:
        (folder / f"{other}.py").write_text(f"PLACE = {folder.name!r}")
    (folders[0] / f"{beside}.py").write_text("PLACE = 'beside'")
    (folders[0] / f"{NAME}.py").write_text(
        f"from {other} import PLACE\nfrom {beside} import PLACE as NEXT\n"
    )
    try:
        module = imported(NAME)
        assert (module.PLACE, module.NEXT) == ("installed", "beside")
    finally:
        for name in (NAME, other, beside):
            sys.modules.pop(name, None)


def test_the_folder_of_a_named_module_is_not_searched_later(folders: tuple[Path, Path]) -> None:
    later = f"{NAME}_later"
    (folders[0] / f"{NAME}.py").write_text(f"def late(): import {later}\n")
    (folders[0] / f"{later}.py").write_text("")
    try:
        with pytest.raises(ModuleNotFoundError, match=later):
            imported(NAME).late()
    finally:
        del sys.modules[NAME]


def test_what_is_installed_is_found(folders: tuple[Path, Path]) -> None:
    (folders[1] / f"{NAME}.py").write_text("PLACE = 'installed'")
    try:
        assert imported(NAME).PLACE == "installed"
    finally:
        del sys.modules[NAME]


def test_a_file_is_a_module_whose_parts_know_its_name(folders: tuple[Path, Path]) -> None:
    """Data classes and pickles look their module up by its name."""
    path = folders[1] / "own.py"
    path.write_text(
        "from dataclasses import dataclass\n\n@dataclass\nclass Pair:\n    a: 'int' = 1\n"
    )
    try:
        module = imported(str(path))
        assert sys.modules[module.Pair.__module__] is module
    finally:
        sys.modules.pop("rlx_user_own", None)
