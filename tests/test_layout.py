"""The package list, the symlinks and the folders agree (pyproject.toml says why)."""

import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SETUPTOOLS = PROJECT["tool"]["setuptools"]
FOLDERS = {k.removeprefix("rlx."): v for k, v in SETUPTOOLS["package-dir"].items() if k != "rlx"}


def test_every_package_is_listed() -> None:
    """A folder with code, at any depth, is a package of the distribution."""
    own = (init.parent for init in (ROOT / "rlx").glob("*/__init__.py"))
    found = {"rlx", *(f"rlx.{folder.name}" for folder in own if not folder.is_symlink())}
    for name, folder in FOLDERS.items():
        for init in (ROOT / folder).rglob("__init__.py"):
            rel = init.parent.relative_to(ROOT / folder)
            found.add(".".join(["rlx", name, *rel.parts]))
    assert sorted(found) == sorted(SETUPTOOLS["packages"])


@pytest.mark.parametrize("name", FOLDERS)
def test_every_folder_with_code_is_a_package(name: str) -> None:
    for module in (ROOT / FOLDERS[name]).rglob("*.py"):
        assert (module.parent / "__init__.py").exists(), module


@pytest.mark.parametrize("name", FOLDERS)
def test_symlink_points_home(name: str) -> None:
    link = ROOT / "rlx" / name
    assert link.is_symlink()
    assert not link.readlink().is_absolute()
    assert link.resolve() == ROOT / FOLDERS[name]


def test_no_other_links() -> None:
    links = {path.name for path in (ROOT / "rlx").iterdir() if path.is_symlink()}
    assert links == set(FOLDERS)


@pytest.mark.parametrize("name", FOLDERS)
def test_tools_know_the_folder(name: str) -> None:
    """ruff formats it once, under its own name, and refuses `import <room>` for `import rlx.<room>`."""
    ruff = PROJECT["tool"]["ruff"]
    assert f"rlx/{name}" in ruff["extend-exclude"]
    banned = ruff["lint"]["flake8-tidy-imports"]["banned-api"]
    assert banned[name]["msg"] == f"Import rlx.{name}."


@pytest.mark.parametrize("name", FOLDERS)
def test_the_dependency_rule_names_the_room(name: str) -> None:
    (contract,) = PROJECT["tool"]["importlinter"]["contracts"]
    assert contract["type"] == "layers"
    assert f"rlx.{name}" in contract["layers"]


def test_data_files_are_shipped() -> None:
    """Every file that is not Python, in a room, is matched by package-data; a README is for who reads the sources."""
    patterns = SETUPTOOLS["package-data"]
    for name, folder in FOLDERS.items():
        for path in (ROOT / folder).rglob("*"):
            if path.is_dir() or path.suffix in (".py", ".pyc") or path.name == "README.md":
                continue
            package = path.parent
            while not (package / "__init__.py").exists():
                package = package.parent
            dotted = ".".join(["rlx", name, *package.relative_to(ROOT / folder).parts])
            matched = [g for g in patterns.get(dotted, ()) if path in set(package.glob(g))]
            assert matched, f"{path.relative_to(ROOT)} is not in package-data of {dotted}"
