"""Chromium for the tests of pages: `python -m tests.browser` installs Debian's where there is none.

Without a browser these tests are skipped, and say why; where the variable CI is set, they fail instead.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")

FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-sync", "--disable-background-networking", "--disable-component-update"),
    "--disable-dev-shm-usage",
]


def find() -> str | None:
    """The browser's path, None if there is none."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def dom_after(page: str, script: str, folder: Path) -> str:
    """Open a page, run a script in it, and return the document as it then is.

    Raises
    ------
    AssertionError
        If the browser fails; in CI, too, if there is none.
    """
    browser = find()
    if browser is None:
        why = "no Chromium: `python -m tests.browser` installs one by the system's package manager"
        assert not os.environ.get("CI"), why
        pytest.skip(why)
    path = folder / "page.html"
    head, end, tail = page.rpartition("</body>")
    path.write_text(f"{head}<script>{script}</script>{end}{tail}", encoding="utf-8")
    profile = f"--user-data-dir={folder / 'profile'}"
    done = subprocess.run(
        [browser, *FLAGS, profile, "--virtual-time-budget=20000", "--dump-dom", path.as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def install() -> None:
    """Install Debian's Chromium, unless there is a browser."""
    if find() is not None:
        return
    root = [] if os.geteuid() == 0 else ["sudo"]
    for what in (["update"], ["install", "--no-install-recommends", "chromium"]):
        subprocess.run([*root, "apt-get", "-qq", "-y", *what], check=True, stdout=sys.stderr)


if __name__ == "__main__":
    install()
