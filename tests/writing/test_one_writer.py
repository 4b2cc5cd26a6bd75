"""Only `rlx/writing.py` opens files for writing, makes folders, renames and removes; of each kind, one more way fails
here."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WRITER = ROOT / "rlx" / "writing.py"

OF_ANYTHING = {
    *(
        *("write_text", "write_bytes", "mkdir", "makedirs", "mkdtemp", "mkstemp", "mkfifo"),
        *("mknod", "touch"),
    ),
    *(
        *("unlink", "rmdir", "removedirs", "rmtree", "symlink", "symlink_to", "hardlink_to"),
        *("truncate", "ftruncate"),
    ),
    *(
        "TemporaryDirectory",
        "NamedTemporaryFile",
        "TemporaryFile",
        "SpooledTemporaryFile",
        "memmap",
        "tofile",
    ),
    *(
        *("chmod", "fchmod", "chown", "fchown", "lchown", "setxattr", "copyfile", "copytree"),
        *("copy2", "FileHandler"),
    ),
    *(
        "savez",
        "savez_compressed",
        "savetxt",
        "export_library",
        "renames",
        "sendfile",
        "copyfileobj",
    ),
}
"""Names of functions and methods that write, whatever they are called on."""
OF_MODULES = {
    ("os", "replace"),
    ("os", "rename"),
    ("os", "remove"),
    ("os", "link"),
    ("np", "save"),
    ("numpy", "save"),
    ("shutil", "move"),
    ("shutil", "copy"),
    ("sqlite3", "connect"),
    ("shelve", "open"),
    ("dbm", "open"),
}
OF_PATHS = {"replace", "rename"}
"""Methods of paths that texts have, too, with two arguments."""


def writes(node: ast.Call) -> bool:
    """Whether a call may write to the file system."""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    on = node.func.value if isinstance(node.func, ast.Attribute) else None
    module = on.id if isinstance(on, ast.Name) else ""
    if name in OF_ANYTHING or (module, name) in OF_MODULES:
        return True
    if name in OF_PATHS and on is not None and len(node.args) == 1 and not node.keywords:
        return True
    if name != "open":
        return False
    if module == "os":
        return not only_reads(node)
    modes = [word.value for word in node.keywords if word.arg == "mode"]
    modes += (
        node.args[1:2] if on is None or module in ("io", "gzip", "bz2", "lzma") else node.args[:1]
    )
    return any(writing(mode, on is None) for mode in modes)


def only_reads(node: ast.Call) -> bool:
    """Whether `os.open` opens for reading, or what is no file."""
    if ast.unparse(node.args[0]) == "os.devnull":
        return True
    flags = ast.unparse(node.args[1])
    return not any(word in flags for word in ("WRONLY", "RDWR", "CREAT", "TRUNC", "APPEND"))


def writing(mode: ast.expr, sure: bool) -> bool:
    """Whether a mode of `open` is, or may be, one for writing; other things have a method `open`."""
    if isinstance(mode, ast.Constant) and isinstance(mode.value, str):
        return set(mode.value) <= set("rwaxbt+") and bool(set(mode.value) & set("wax+"))
    return sure


def calls(text: str) -> Iterator[ast.Call]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and writes(node):
            yield node


def product() -> list[Path]:
    """The files of all packages that are distributed."""
    tool = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    folders = [ROOT.joinpath(*name.split(".")) for name in tool["packages"]]
    found = [path.resolve() for folder in folders for path in folder.glob("*.py")]
    return sorted(set(found) - {WRITER})


def test_no_other_file_writes() -> None:
    files = product()
    assert len(files) > 500
    found = []
    for path in files:
        for node in calls(path.read_text(encoding="utf-8")):
            if ast.unparse(node).startswith("open(os.devnull,"):  # a stream that was closed
                continue
            found.append(f"{path.relative_to(ROOT)}:{node.lineno}: {ast.unparse(node)}")
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "text",
    [
        "open(path, 'w')",
        "open(path, mode='r+b')",
        "open(path, how)",
        "io.open(path, 'xb')",
        "path.open('a')",
        "Path(path).write_text(text)",
        "os.open(path, os.O_RDWR)",
        "os.replace(a, b)",
        "path.replace(target)",
        "tempfile.mkstemp()",
        "np.save(path, array)",
        "shutil.rmtree(path)",
        "path.mkdir()",
    ],
)
def test_what_writes_is_seen(text: str) -> None:
    assert list(calls(text))


@pytest.mark.parametrize(
    "text",
    ["open(path)", "open(path, 'rb')", "path.open()", "scope.open(kind)", "text.replace('a', 'b')",
     "blocks.open('dataflow')", "os.open(path, os.O_RDONLY)", "os.open(os.devnull, os.O_WRONLY)"],
)  # fmt: skip
def test_what_reads_is_not_reported(text: str) -> None:
    assert not list(calls(text))
