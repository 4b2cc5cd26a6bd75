"""The playground in Chromium, with times: `python -m tests.editors.playground`, after `make playground`."""

from __future__ import annotations

import tempfile
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tests.browser import Page

ASKED: tuple[tuple[str, dict[str, str]], ...] = (
    ("prove", {}),
    ("prove", {"goal": "n <= 10", "assume": "n * n <= 100"}),  # which Z3 decides
    ("step", {}),
    ("why", {}),
    ("fmt", {}),
    ("refines", {}),
)
"""Panes, and what is written into their fields."""

BUTTONS = {"step": "run", "refines": "copy"}

FOLDER = Path(__file__).parents[2] / "build" / "playground"


def main() -> None:
    """Print how long the first verdict and edits take, and what the panes say; write pictures at two widths."""
    handler = partial(SimpleHTTPRequestHandler, directory=str(FOLDER))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/index.html"
    page = Page(address, Path(tempfile.mkdtemp()))
    try:
        print("first verdict, ms:", page.until("document.documentElement?.dataset.first", 120))
        page.value("document.querySelector('.cm-content').focus()")
        page.call("Input.dispatchKeyEvent", type="keyDown", key="End", windowsVirtualKeyCode=35)
        for _ in range(5):
            page.value("delete document.documentElement.dataset.edit")
            page.call("Input.insertText", text=" ")
            print("edit, ms:", page.until("document.documentElement.dataset.edit"))
        for pane, words in ASKED:
            for name, word in words.items():
                page.value(f"document.getElementById('{name}').value = {word!r}")
            page.value(f"document.getElementById('{pane}-out').textContent = ''")
            page.value(f"document.querySelector('[data-pane={pane}]').click()")
            page.value(f"document.getElementById('{BUTTONS.get(pane, 'tabs')}').click()")
            said = page.until(f"document.getElementById('{pane}-out').textContent.trim()", 120)
            print(f"{pane}: {said.splitlines()[0]} … {said.splitlines()[-1]}"[:200])
        for example in page.value(
            "[...document.getElementById('example').options].map(o => o.value).join(' ')"
        ).split():
            page.value("delete document.documentElement.dataset.edit")
            page.value(f"location.hash = '#example={example}'")
            page.until("document.documentElement.dataset.edit")
            pane = "refines" if example.startswith("refines") else "step"
            page.value(f"document.getElementById('{pane}-out').textContent = ''")
            page.value(f"document.querySelector('[data-pane={pane}]').click()")
            said = page.until(f"document.getElementById('{pane}-out').textContent.trim()")
            print(f"{example}, {pane}: {said.splitlines()[0][:120]}")
        page.value("document.querySelector('[data-pane=check]').click()")
        for width in (1280, 400):
            page.resize(width, 900)
            page.picture(FOLDER.parent / f"playground-{width}.png")
            assert page.value("document.documentElement.scrollWidth") <= width
    finally:
        page.close()
        server.shutdown()


if __name__ == "__main__":
    main()
