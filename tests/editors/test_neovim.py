"""The snippet for Neovim, in a Neovim without a screen, with the server that it starts."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SNIPPET = Path(__file__).parents[2] / "editors" / "neovim" / "rlx.lua"
PROGRAM = """\
@R.function
def main(x: R.Tensor(("n", 4), "float32")):
    y = R.add(x, absent)
    return y
"""
SCRIPT = """
local told = vim.wait(60000, function() return #vim.diagnostic.get(0) > 0 end, 50)
local params = vim.lsp.util.make_position_params(0, "utf-16")
params.position = { line = 1, character = 9 }
local answers = vim.lsp.buf_request_sync(0, "textDocument/hover", params, 60000)
local hover = ""
for _, answer in pairs(answers or {}) do
  hover = answer.result and answer.result.contents.value or hover
end
local found = vim.diagnostic.get(0)[1] or {}
local lines = { vim.fn.json_encode({
  told = told, code = found.code, line = found.lnum, hover = hover,
  filetype = vim.bo.filetype, comment = vim.bo.commentstring,
  commands = vim.lsp.commands["rlx.run"] ~= nil,
}) }
vim.fn.writefile(lines, vim.env.RLX_ANSWER)
vim.cmd("qall!")
"""


@pytest.mark.skipif(shutil.which("nvim") is None, reason="Neovim is not installed")
def test_an_editor_shows_what_is_wrong(tmp_path: Path) -> None:
    program, script, answer = (tmp_path / name for name in ("a.rlx", "ask.lua", "answer.json"))
    program.write_text(PROGRAM, encoding="utf-8")
    script.write_text(SCRIPT, encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text("", encoding="utf-8")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    homes = {f"XDG_{name}_HOME": str(tmp_path) for name in ("CONFIG", "DATA", "STATE", "CACHE")}
    done = subprocess.run(
        [
            *("nvim", "--headless", "--clean", "--cmd", f"luafile {SNIPPET}"),
            *(str(program), "-c", f"luafile {script}"),
        ],
        env={**os.environ, **homes, "PATH": path, "RLX_ANSWER": str(answer)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert answer.exists(), done.stderr
    found = json.loads(answer.read_text(encoding="utf-8"))
    assert (found["told"], found["code"], found["line"]) == (True, "WF02-undefined", 2)
    assert 'x: R.Tensor((n, 4), dtype="float32")' in found["hover"]
    assert (found["filetype"], found["comment"]) == ("relax", "# %s")
    assert found["commands"]
