"""Chromium for the tests of pages: `python -m tests.browser` installs Debian's where there is none.

Without a browser these tests are skipped, and say why; where the variable CI is set, they fail instead.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

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
        import pytest  # here: the browser is installed before there is any package

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


class Page:
    """A page in a browser of its own, which the protocol of the developer tools drives through pipes.

    Parameters
    ----------
    address
        What to open.
    size
        The width and the height of the window in pixels.
    """

    def __init__(self, address: str, folder: Path, size: tuple[int, int] = (1280, 900)) -> None:
        browser = find()
        assert browser is not None, "no Chromium: `python -m tests.browser` installs one"
        asked, self._asks = os.pipe()
        self._answers, answered = os.pipe()
        command = [browser, *FLAGS, f"--user-data-dir={folder}", "--remote-debugging-pipe"]
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (asked, answered)]
        script = f'exec "$@" 3<&{ends[0]} 4>&{ends[1]} {ends[0]}<&- {ends[1]}>&-'
        self.process = subprocess.Popen(
            ["bash", "-c", script, "bash", *command], pass_fds=ends, stderr=subprocess.DEVNULL
        )
        for end in (asked, answered, *ends):
            os.close(end)
        self._rest = b""
        self._count = 0
        self.events: list[dict[str, Any]] = []
        self._session: str | None = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.resize(*size)
        self.call("Page.navigate", url=address)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call a method of the protocol; what happens meanwhile is kept in `events`."""
        self._count += 1
        asked = {"id": self._count, "method": method, "params": parameters}
        if self._session is not None:
            asked["sessionId"] = self._session
        os.write(self._asks, json.dumps(asked).encode() + b"\0")
        while True:
            answer = self._message()
            if answer.get("id") == self._count:
                assert "error" not in answer, (method, answer["error"])
                found: dict[str, Any] = answer["result"]
                return found
            self.events.append(answer)

    def _message(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            data = os.read(self._answers, 1 << 20)
            assert data, "the browser has ended"
            self._rest += data
        first, _, self._rest = self._rest.partition(b"\0")
        found: dict[str, Any] = json.loads(first)
        return found

    def resize(self, width: int, height: int) -> None:
        """Give the page another size."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )

    def value(self, script: str) -> Any:
        """The value of an expression of JavaScript, awaited.

        Raises
        ------
        AssertionError
            If it throws.
        """
        done = self.call(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in done, done["exceptionDetails"]
        return done["result"].get("value")

    def until(self, script: str, seconds: float = 60) -> Any:
        """The first true value of an expression.

        Raises
        ------
        AssertionError
            If there is none in time.
        """
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if found := self.value(script):
                return found
            time.sleep(0.05)
        raise AssertionError(f"not within {seconds} s: {script}")

    def picture(self, path: Path) -> None:
        """Write what the window shows as a PNG."""
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))

    def close(self) -> None:
        """End the browser."""
        self.process.terminate()
        self.process.wait()
        os.close(self._asks)
        os.close(self._answers)


def install() -> None:
    """Install Debian's Chromium, unless there is a browser; another process that does so is awaited."""
    with open(__file__, "rb") as own:
        fcntl.flock(own, fcntl.LOCK_EX)
        if find() is not None:
            return
        root = [] if os.geteuid() == 0 else ["sudo"]
        for what in (["update"], ["install", "--no-install-recommends", "chromium"]):
            subprocess.run([*root, "apt-get", "-qq", "-y", *what], check=True, stdout=sys.stderr)


if __name__ == "__main__":
    install()
