"""The built site in Chromium: `python -m tests.docs.site`, after `make playground site`.

It measures every page at 400 pixels, follows every link inside the site, asks the search, and opens a
program of the documentation in the playground. Pictures of a few pages at two widths are written beside it.
"""

from __future__ import annotations

import re
import sys
import tempfile
import threading
import time
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote

from tests.browser import Page

SITE = Path(__file__).parents[2] / "build" / "site"
WIDTH = 400
ASKED = {
    "match_cast": (
        *("operators/index.html#rmatch_cast", "specification/derivation.html#d11"),
        "tutorial/check.html#check-it-at-run-time",
    ),
    "--fix": ("commands/check.html#-fix", "tutorial/check.html#fix-it"),
    "D14": ("specification/derivation.html#d14", "codes/derivation.html#d14"),
    "OBL-reshape-count": ("obl-reshape-count",),
    "WF05": ("specification/well_formedness.html#wf05",),
}
"""What is asked of the search, and what addresses of the first results have."""

_ALONE = ("404.html", "playground/index.html")
"""Pages without a place of their own, and with a program of their own to look at them."""

SEEN = ("index.html", "how-to/compare.html", "reference/specification/derivation.html")


class _Anchors(HTMLParser):
    def __init__(self, page: Path) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.feed(page.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.ids |= {value for name in ("id", "name") if (value := given.get(name))}
        if tag == "a" and (address := given.get("href")):
            self.links.append(address)


def broken_links(site: Path) -> list[str]:
    """Links to pages and places of the site that are not there."""
    pages = {path: _Anchors(path) for path in site.rglob("*.html") if path.name != "404.html"}
    found = []
    for path, page in pages.items():
        for address in page.links:
            if re.match(r"\w+:|//", address):
                continue
            file, _, anchor = address.partition("#")
            target = (path.parent / unquote(file)).resolve() if file else path
            where = f"{path.relative_to(site)}: {address[:80]}"
            if not target.exists():
                found.append(where)
            elif anchor and target in pages and target.parent.name != "playground":
                found += [where] if unquote(anchor) not in pages[target].ids else []
    return found


def main() -> int:
    """Print what is wrong; the exit status is 1 if something is."""
    wrong = [f"no such place: {each}" for each in broken_links(SITE)]
    handler = partial(_Quiet, directory=str(SITE))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    home = f"http://127.0.0.1:{server.server_port}"
    page = Page(f"{home}/index.html", Path(tempfile.mkdtemp()), (WIDTH, 900))
    try:
        files = sorted(
            file
            for path in SITE.rglob("*.html")
            if (file := path.relative_to(SITE).as_posix()) not in _ALONE
        )
        for file in files:
            print(file, file=sys.stderr)
            _open(page, f"{home}/{file}")
            wide = page.value("document.documentElement.scrollWidth")
            if wide > WIDTH:
                wrong.append(f"{file}: {wide} pixels wide at {WIDTH}: {page.value(_WIDEST)}")
        for file in SEEN:
            for width in (1280, WIDTH):
                page.resize(width, 900)
                _open(page, f"{home}/{file}")
                page.picture(SITE.parent / f"{file.replace('/', '-')[:-5]}-{width}.png")
        for words, expected in ASKED.items():
            found = _search(page, home, words)
            print(f"{words}: {', '.join(found[:5])}")
            missing = [part for part in expected if not any(part in each for each in found[:40])]
            if missing:
                wrong.append(f"the search for {words} finds {found[:40]}, but not {missing}")
        _open(page, f"{home}/tutorial/check.html")
        address = page.value("document.querySelector('p.playground a')?.href ?? ''")
        if (SITE / "playground").exists():
            _open(page, address)
            page.until("document.documentElement.dataset.first", 120)
            print("opened:", page.value("document.querySelector('.cm-content').innerText")[:60])
        print(f"{len(files)} pages")
    finally:
        page.close()
        server.shutdown()
    print("\n".join(wrong))
    return int(bool(wrong))


_WIDEST = f"""[...document.querySelectorAll('body *')].filter(e => {{
  const right = e.getBoundingClientRect().right
  if (right <= {WIDTH}) return false
  for (let p = e.parentElement; p; p = p.parentElement)
    if (getComputedStyle(p).overflowX !== 'visible') return false
  return true
}}).slice(0, 3).map(e => `${{e.tagName}}.${{e.className}} ${{e.textContent.slice(0, 40)}}`).join(' | ')"""


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing."""


def _open(page: Page, address: str) -> None:
    page.value("window.leftBehind = true")
    page.call("Page.navigate", url=address)
    page.until("!window.leftBehind && document.readyState === 'complete'")


def _search(page: Page, home: str, words: str) -> list[str]:
    """The addresses of what the search finds, the best first."""
    page.resize(1280, 900)
    _open(page, f"{home}/index.html")
    page.value("document.querySelector('[data-md-component=search-query]').focus()")
    page.call("Input.insertText", text=words)
    page.until("document.querySelector('.md-search-result__meta').textContent.includes('match')")
    time.sleep(1)  # more may come
    return [
        str(each).removeprefix(home + "/")
        for each in page.value(
            "[...document.querySelectorAll('a.md-search-result__link')].map(a => a.href)"
        )
    ]


if __name__ == "__main__":
    sys.exit(main())
