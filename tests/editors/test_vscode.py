"""The extension for VS Code: it builds, it starts the server, and it colours what the parser reads.

Node and npm are needed, and once the packages that the lock file names.
"""

from __future__ import annotations

import fcntl
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tokenize
import zipfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "editors" / "vscode"
MANIFEST = json.loads((SOURCE / "package.json").read_text(encoding="utf-8"))
OFFLINE = re.compile(r"ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENOTCACHED")

COLOURED = """\
# rlx: ignore[D14-arity] # and "no string"
@R.function(pure=False)
def main(x: R.Tensor(("n # no comment", 4), "float32")) -> R.Tensor:
    lv = R.nn.conv2d(x, b"a\\"b", axis=-1, eps=1e-5)  # 'none'
    s = '''of
# lines, "quoted" '''
    return cls.f(lv, s, r'\\d', 0x1F)
"""
SCOPES = {
    "rlx: ignore": "keyword.other.directive.relax",
    "[D14-arity]": "constant.other.code.relax",
    "R.function": "entity.name.function.decorator.relax",
    "main": "entity.name.function.relax",
    "Tensor": "support.type.relax",
    "nn.conv2d": "support.function.relax",
    "lv": "variable.other.assignment.relax",
    "axis": "variable.other.assignment.relax",
    '\\"': "constant.character.escape.relax",
    "1e-5": "constant.numeric.relax",
    "0x1F": "constant.numeric.relax",
    "->": "keyword.operator.relax",
    "return": "keyword.control.relax",
    "cls": "variable.language.relax",
    "f": "entity.name.function.call.relax",
}


def test_the_manifest_names_files_that_are_there() -> None:
    contributed = MANIFEST["contributes"]
    named = [each["configuration"] for each in contributed["languages"]]
    named += [each["path"] for each in contributed["grammars"]]
    for name in named:
        json.loads((SOURCE / name).read_text(encoding="utf-8"))
    assert (SOURCE / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


def test_the_lock_file_names_no_host() -> None:
    lock = json.loads((SOURCE / "package-lock.json").read_text(encoding="utf-8"))
    packages = {name: package for name, package in lock["packages"].items() if name}
    assert all("integrity" in each and "resolved" not in each for each in packages.values())
    assert lock["version"] == MANIFEST["version"]


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the extension, built; once for all processes of pytest."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "vscode"
    folder.mkdir(exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "dist").exists():
            _build(folder)
    return folder


def _build(folder: Path) -> None:
    leave = shutil.ignore_patterns("node_modules", "dist", "*.vsix")
    shutil.copytree(SOURCE, folder, ignore=leave, dirs_exist_ok=True)
    quiet = ["--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund", "--fetch-retries=0"]
    done = run(["npm", "ci", *quiet], folder)
    if done.returncode and OFFLINE.search(done.stderr):
        pytest.skip("npm cannot reach its registry")
    assert done.returncode == 0, done.stderr
    done = run(["npm", "run", "build"], folder)
    assert done.returncode == 0, done.stderr


def run(command: list[str], folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=folder,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_the_package_holds_what_it_needs_and_no_more(built: Path) -> None:
    (packed,) = json.loads(run(["npm", "pack", "--dry-run", "--json"], built).stdout)
    assert sorted(file["path"] for file in packed["files"]) == [
        "LICENSE",
        "README.md",
        "dist/extension.js",
        "language-configuration.json",
        "package.json",
        "syntaxes/relax.tmLanguage.json",
    ]


def test_the_vsix_is_a_zip_with_what_vs_code_installs(built: Path, tmp_path: Path) -> None:
    out = tmp_path / "relax.vsix"
    done = run([sys.executable, "pack.py", str(out)], built)
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(out) as package:
        names = set(package.namelist())
        manifest = ElementTree.fromstring(package.read("extension.vsixmanifest"))
        types = package.read("[Content_Types].xml").decode()
    assert {"extension/package.json", "extension/dist/extension.js"} <= names
    (identity,) = [e for e in manifest.iter() if e.tag.endswith("Identity")]
    assert (identity.get("Id"), identity.get("Version")) == (MANIFEST["name"], MANIFEST["version"])
    assets = {e.get("Path") for e in manifest.iter() if e.tag.endswith("Asset")}
    assert assets <= names and "extension/package.json" in assets
    assert {Path(name).suffix for name in names} <= set(re.findall(r'Extension="(.*?)"', types)) | {
        ".xml"
    }


def test_the_built_extension_and_the_server_that_it_starts(built: Path) -> None:
    command = str(Path(sys.executable).with_name("rlx"))
    done = run(["npm", "test"], built, RLX=command)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "# fail 0\n# cancelled 0\n# skipped 0\n" in done.stdout


def coloured(built: Path, *paths: Path) -> list[Any]:
    done = run(["node", "test/regions.mjs", *map(str, paths)], built)
    assert done.returncode == 0, done.stderr
    found: list[Any] = json.loads(done.stdout)
    return found


def test_words_have_the_scopes_that_themes_colour(built: Path, tmp_path: Path) -> None:
    path = tmp_path / "one.rlx"
    path.write_text(COLOURED, encoding="utf-8")
    (found,) = coloured(built, path)
    lines = COLOURED.split("\n")
    scopes: dict[str, set[str]] = {}
    for line, start, end, names in found["tokens"]:
        scopes.setdefault(lines[line][start:end], set()).update(names)
    assert {
        word: scope for word, scope in SCOPES.items() if scope not in scopes.get(word, ())
    } == {}


def test_comments_and_strings_are_those_of_the_programs(built: Path) -> None:
    """In every example, a character is in a comment or a string if and only if Python's tokens say so."""
    paths = sorted((ROOT / "examples").rglob("*.rlx"))
    readable = [path for path in paths if _regions(path.read_text(encoding="utf-8")) is not None]
    assert len(readable) > 20
    for path, found in zip(readable, coloured(built, *readable), strict=True):
        marked = {
            (kind, line, column)
            for line, start, end, names in found["tokens"]
            for kind in ("comment", "string")
            if any(name.startswith(kind) for name in names)
            for column in range(start, end)
        }
        assert marked == _regions(path.read_text(encoding="utf-8")), path
        assert found["open"] == 0, path


def _regions(text: str) -> set[tuple[str, int, int]] | None:
    """The characters inside of comments and strings; None of a text that Python cannot cut into tokens."""
    kinds = {tokenize.COMMENT: "comment", tokenize.STRING: "string"}
    lines = text.split("\n")
    found = set()
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type in kinds:
                for line in range(token.start[0], token.end[0] + 1):
                    first = token.start[1] if line == token.start[0] else 0
                    last = token.end[1] if line == token.end[0] else len(lines[line - 1])
                    found |= {(kinds[token.type], line - 1, at) for at in range(first, last)}
    except (tokenize.TokenError, IndentationError):
        return None
    return found
