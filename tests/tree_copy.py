"""A copy of the tree, to change something in it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]


def copied(folder: Path) -> None:
    """Copy the files that git knows or would add; what was in the folder goes."""
    shutil.rmtree(folder, ignore_errors=True)
    command = ["git", "ls-files", "-co", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    for name in listed.stdout.splitlines():
        if (source := ROOT / name).exists() or source.is_symlink():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, folder / name, follow_symlinks=False)
