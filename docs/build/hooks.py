"""The hooks of MkDocs that add the reference, made from the code and the specification."""

from __future__ import annotations

import posixpath
import re
import shutil
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
if str(ROOT) not in sys.path:  # `mkdocs` does not look for modules where it runs
    sys.path.insert(0, str(ROOT))

from mkdocs.structure.files import File, Files

from docs.build import (
    code_map,
    codes,
    commands,
    operators,
    pictures,
    playground,
    python_api,
    specification,
    tvm_differs,
)

_ROLE = re.compile(r":(?:func|class|mod|meth|attr|data|exc):(?=<code>)")


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Programs can be opened in the playground, if it is built."""
    if not playground.is_built():
        return markdown
    home = posixpath.relpath("playground/index.html", posixpath.dirname(page.file.dest_uri) or ".")
    return playground.linked(markdown, home)


def on_post_build(config: Any, **_: Any) -> None:
    """The playground is a folder of the site, if it is built."""
    if playground.is_built():
        there = Path(config.site_dir) / "playground"
        shutil.copytree(playground.FOLDER, there, dirs_exist_ok=True)


def on_page_content(html: str, **_: Any) -> str:
    """Docstrings name functions by the roles of another tool: they are code here."""
    return _ROLE.sub("", html)


def on_files(files: Files, config: Any) -> Files:
    """Add what is made."""
    for make in (
        code_map,
        codes,
        commands,
        operators,
        pictures,
        python_api,
        specification,
        tvm_differs,
    ):
        for address, content in make.pages().items():
            files.append(File.generated(config, address, content=content))
    return files
