"""The set-up of other editors in editors/."""

from __future__ import annotations

import re
import resource
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

EDITORS = Path(__file__).parents[2] / "editors"
README = (EDITORS / "README.md").read_text(encoding="utf-8")

STUB = """
calls = {}
local function note(name) return function(...) table.insert(calls, {name, ...}) end end
vim = {
  g = { rlx_python = PYTHON },
  bo = {},
  fn = { fnamemodify = function() return "/work" end },
  loop = { fs_stat = function() return true end },
  tbl_extend = function(_, a, b) for k, v in pairs(b) do a[k] = v end return a end,
  env = { VIMRUNTIME = "/usr/share/nvim/runtime" },
  filetype = { add = note("filetype") },
  api = { nvim_create_autocmd = note("autocmd") },
  lsp = { commands = {}, start = note("start"), enable = note("enable") },
}
if MODERN then vim.lsp.config = note("config") end
"""


def _neovim(modern: bool, python: bool) -> list[list[Any]]:
    """The calls that the snippet makes after a file of Relax was opened."""
    lupa = pytest.importorskip("lupa.luajit21", reason="lupa, of the extra `dev`, runs the snippet")
    lua = lupa.LuaRuntime()
    stub = STUB.replace("MODERN", str(modern).lower()).replace("PYTHON", str(python).lower())
    lua.execute(stub)
    lua.execute((EDITORS / "neovim" / "rlx.lua").read_text(encoding="utf-8"))
    lua.execute(
        "for _, call in ipairs({unpack(calls)}) do"
        ' if call[1] == "autocmd" then call[3].callback({file = "/work/a.rlx"}) end end'
    )
    return [list(call.values()) for call in lua.globals().calls.values()]


@pytest.mark.parametrize("python", [False, True])
@pytest.mark.parametrize("modern", [False, True])
def test_neovim_starts_the_server(modern: bool, python: bool) -> None:
    calls = _neovim(modern, python)
    (added,) = [call for call in calls if call[0] == "filetype"]
    assert dict(added[1].extension) == {"rlx": "relax"}
    config = next(call[-1] for call in calls if call[0] in ("config", "start"))
    assert list(config.cmd.values()) == ["rlx", "lsp"]
    assert config.cmd_cwd == "/usr/share/nvim/runtime"
    assert dict(config.cmd_env) == {"PYTHONSAFEPATH": "1"}
    assert list(config.filetypes.values()) == (["relax", "python"] if python else ["relax"])
    assert [call[1] for call in calls if call[0] == "enable"] == (["rlx"] if modern else [])
    assert modern or config.root_dir == "/work"


def test_helix_reads_its_configuration() -> None:
    found = re.search(r"```toml\n(.*?)```", README, re.DOTALL)
    assert found is not None
    read = tomllib.loads(found[1])
    (language,) = read["language"]
    server = read["language-server"][language["language-servers"][0]]
    assert (server["command"], server["args"]) == ("rlx", ["lsp"])
    assert language["file-types"] == ["rlx"]


def test_emacs_lisp_is_balanced() -> None:
    found = re.search(r"```elisp\n(.*?)```", README, re.DOTALL)
    assert found is not None
    text = re.sub(r'"(?:\\.|[^"\\])*"', '""', found[1])
    assert text.count("(") == text.count(")")
    assert all(not line or line[0] in "( " for line in text.splitlines())


def test_the_extension_has_the_settings_that_are_told() -> None:
    import json

    manifest = json.loads((EDITORS / "vscode" / "package.json").read_text(encoding="utf-8"))
    told = re.findall(r"^\| `(rlx\.[\w.]+)` ", README, re.MULTILINE)
    assert len(told) == 3
    assert set(told) <= set(manifest["contributes"]["configuration"]["properties"])
    assert f"relax-{manifest['version']}.vsix" in README


def test_a_package_that_does_not_fit_leaves_the_old_one(tmp_path: Path) -> None:
    shutil.copytree(
        EDITORS / "vscode", tmp_path / "it", ignore=shutil.ignore_patterns("node_modules")
    )
    (tmp_path / "it" / "dist").mkdir(exist_ok=True)
    (tmp_path / "it" / "dist" / "extension.js").write_text("")
    old = tmp_path / "relax.vsix"
    old.write_text("old")
    words = [sys.executable, str(tmp_path / "it" / "pack.py"), str(old)]
    done = subprocess.run(words, capture_output=True, check=False, preexec_fn=_limit)
    assert done.returncode != 0
    assert old.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["it", "relax.vsix"]
    subprocess.run(words, check=True)
    assert zipfile.is_zipfile(old)


def _limit() -> None:
    """No file is larger than a KiB."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 10, 1 << 10))
