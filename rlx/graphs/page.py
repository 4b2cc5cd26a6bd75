"""A graph as a page with zoom and search, without external files."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from rlx.grammar.streams import visible
from rlx.graphs.items import FunctionItems, ModuleItems
from rlx.graphs.svg import STYLE, colours_of, picture
from rlx.graphs.views import View, view_of

_STYLE = """\
:root { color-scheme: light }
* { box-sizing: border-box }
body { font: 15px/1.45 system-ui, sans-serif; margin: 0; color: #23211d; background: #fbfaf7 }
header { position: sticky; top: 0; z-index: 1; display: flex; flex-wrap: wrap; gap: .4rem .8rem;
  align-items: center; padding: .5rem 1rem; background: #fff; border-bottom: 1px solid #d9d4c8 }
h1 { font-size: 1rem; margin: 0; overflow-wrap: anywhere }
h2 { font-size: 1rem; margin: 0 0 .3rem }
h3 { font-size: .9rem; margin: 0 }
input, button { font: inherit; min-height: 2rem; border: 1px solid #8d867a; border-radius: 5px;
  background: #fff; color: inherit; padding: .1rem .6rem }
input { width: 14rem }
:focus-visible { outline: 3px solid #1d5fbf; outline-offset: 1px }
main { display: grid; grid-template-columns: repeat(var(--columns), minmax(0, 1fr)); gap: 0 1rem;
  padding: 1rem }
@media (max-width: 700px) { main { grid-template-columns: minmax(0, 1fr); padding: .6rem }
  header label { flex-basis: 100% } input { width: calc(100% - 4rem) } }
section, details { margin-bottom: 1rem; min-width: 0; scroll-margin-top: 7rem }
details { margin-left: .8rem }
summary { cursor: pointer; padding: .25rem 0 }
.frame { overflow: auto; max-height: 85vh; border: 1px solid #d9d4c8; border-radius: 6px;
  background: #fff }
.frame svg { display: block }
.legend { display: flex; flex-wrap: wrap; gap: .1rem .9rem; margin: 0 0 .4rem; padding: 0;
  list-style: none; font-size: .9rem }
.legend b { font-family: ui-monospace, Menlo, Consolas, monospace }
.status { font-weight: 400; color: #5f5a51 }
table { border-collapse: collapse; font: 13px ui-monospace, Menlo, Consolas, monospace }
td { padding: .1rem .8rem .1rem 0; vertical-align: top; overflow-wrap: anywhere }
"""

_SCRIPT = """\
"use strict";
const pictures = [...document.querySelectorAll(".frame > svg")];
let factor = 1;
function fit(svg) {
  const wide = svg.viewBox.baseVal.width, room = svg.parentElement.clientWidth;
  const least = Math.min(1, Math.max(room / wide, 0.6));
  svg.setAttribute("width", wide * least * factor);
  svg.setAttribute("height", svg.viewBox.baseVal.height * least * factor);
}
function zoom(by) {  // what is in the middle of a frame stays there
  const frames = pictures.map(svg => svg.parentElement);
  const middles = frames.map(f => [(f.scrollLeft + f.clientWidth / 2) / f.scrollWidth,
    (f.scrollTop + f.clientHeight / 2) / f.scrollHeight]);
  factor = Math.min(8, Math.max(0.1, factor * by));
  pictures.forEach(fit);
  frames.forEach((f, at) => f.scrollTo(middles[at][0] * f.scrollWidth - f.clientWidth / 2,
    middles[at][1] * f.scrollHeight - f.clientHeight / 2));
}
document.getElementById("in").onclick = () => zoom(1.25);
document.getElementById("out").onclick = () => zoom(0.8);
addEventListener("resize", () => pictures.forEach(fit));
const paired = document.querySelector("section[id^=b]") !== null;
function partner(details) {
  const section = details.closest("section");
  const other = section.id[0] === "a" ? section.nextElementSibling : section.previousElementSibling;
  const [own, theirs] = [section, other].map(s => [...s.querySelectorAll("details")]);
  const title = each => each.querySelector("summary").textContent;
  return own.length === theirs.length ? theirs[own.indexOf(details)]
    : theirs.find(each => title(each) === title(details));
}
for (const details of document.querySelectorAll("details"))
  details.addEventListener("toggle", () => {
    details.querySelectorAll("svg").forEach(fit);
    const other = paired ? partner(details) : null;
    if (other) other.open = details.open;
  });
for (const frame of document.querySelectorAll(".frame"))
  frame.addEventListener("wheel", event => {
    if (event.ctrlKey) { event.preventDefault(); zoom(event.deltaY < 0 ? 1.1 : 0.9); }
  }, {passive: false});
function open_to(element) {
  for (let at = element; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
}
function follow() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target) { open_to(target); target.scrollIntoView({block: "start"}); }
}
addEventListener("hashchange", follow);
document.addEventListener("click", event => {
  const link = event.target.closest("a");
  if (link && link.getAttribute("href") === location.hash) follow();
});
const field = document.getElementById("search"), said = document.getElementById("said");
let hits = [], at = -1;
function search() {
  document.querySelectorAll(".found").forEach(box => box.classList.remove("found"));
  const words = field.value.trim().toLowerCase();
  const boxes = words ? [...document.querySelectorAll(".box:not(.outside):not(.fold)")] : [];
  hits = boxes.filter(box =>
    (box.textContent).toLowerCase().includes(words));
  hits.forEach(box => box.classList.add("found"));
  at = -1;
  said.textContent = words ? `${hits.length} found` : "";
}
function next() {
  if (!hits.length) return;
  at = (at + 1) % hits.length;
  open_to(hits[at]);
  hits[at].scrollIntoView({block: "center", inline: "center"});
  said.textContent = `${at + 1} of ${hits.length}`;
}
field.addEventListener("input", search);
field.addEventListener("keydown", event => { if (event.key === "Enter") next(); });
document.getElementById("next").onclick = next;
pictures.forEach(fit);
follow();
"""


def page(graph: ModuleItems) -> str:
    """The page, complete in itself."""
    columns = [graph] if graph.other is None else [graph, graph.other]
    names = [visible(column.name) for column in columns]
    title = f"Graph of {' and '.join(names)}"
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(title)}</title><style>{_STYLE}{STYLE}</style></head><body>",
        f"<header><h1>{escape(title)}</h1>",
        '<label>Search <input id="search" type="search" placeholder="name, operator, shape"></label>',
        '<button id="next">Next</button>',
        '<button id="out" aria-label="Smaller">&minus;</button>',
        '<button id="in" aria-label="Larger">+</button>',
        '<output id="said"></output></header>',
        f'<main style="--columns: {len(columns)}">',
    ]
    if graph.other is None:
        for number, function in enumerate(graph.functions):
            parts += _function(function, f"a{number}", function.name)
        parts += _prim_funcs(graph, "")
    else:
        parts += _pairs(graph, graph.other)
        parts += [*_prim_funcs(graph, "A: "), *_prim_funcs(graph.other, "B: ")]
    return "\n".join([*parts, f"</main><script>{_SCRIPT}</script></body></html>\n"])


def _pairs(one: ModuleItems, other: ModuleItems) -> Iterator[str]:
    """The functions of A and of B of one name beside each other."""
    sides = [{f.name: (k, f) for k, f in enumerate(g.functions)} for g in (one, other)]
    for name in dict.fromkeys([*sides[0], *sides[1]]):
        for letter, functions in zip("AB", sides, strict=True):
            if name not in functions:
                yield f"<section><h2>{letter}: no function {escape(visible(name))}</h2></section>"
                continue
            number, function = functions[name]
            yield from _function(function, f"{letter.lower()}{number}", f"{letter}: {name}")


def _function(function: FunctionItems, id: str, title: str) -> Iterator[str]:
    words = {"same": "the same in both", "calls": "only functions that it calls changed"}
    status = words.get(function.status, function.status)
    said = f' <span class="status">{escape(status)}</span>' if status else ""
    yield f'<section id="{id}"><h2>{escape(visible(title))}{said}</h2>'
    colours = colours_of(function)
    yield '<ul class="legend">'
    for name, key in function.bound_at.items():
        item = function.items[key]
        kind = "parameter" if item.kind == "parameter" else "match_cast"
        place = "" if item.line is None else f", line {item.line}"
        yield (
            f'<li><b style="color:{colours[name]}">{escape(visible(name))}</b> is bound by {kind}'
            f" {escape(visible(item.name))}{place}</li>"
        )
    yield "</ul>"
    yield from _pictures(view_of(function, f"{id}.v"), colours)
    yield "</section>"


def _pictures(view: View, colours: dict[str, str]) -> Iterator[str]:
    yield f'<div class="frame" tabindex="0">{picture(view, colours, links=True)}</div>'
    if view.more_outside:
        yield f"<p>{view.more_outside} more values from outside are used here.</p>"
    for fold in view.folds:
        yield f'<details id="{fold.id}"><summary>{escape(visible(fold.title))}</summary>'
        yield from _pictures(fold, colours)
        yield "</details>"


def _prim_funcs(graph: ModuleItems, title: str) -> Iterator[str]:
    if not graph.prim_funcs:
        if title:
            yield "<section></section>"
        return
    callers: dict[str, list[str]] = {name: [] for name in graph.prim_funcs}
    for function in graph.functions:
        for item in function.items:
            for callee in item.callees:
                if callee in callers:
                    callers[callee].append(f"{function.name}: {item.name}")
    yield f"<section><h2>{title}PrimFuncs</h2><table>"
    for name, signature in graph.prim_funcs.items():
        used = ", ".join(callers[name][:12]) or "nobody"
        yield (
            f"<tr><td><b>{escape(visible(name))}</b></td><td>{escape(visible(signature))}</td>"
            f"<td>called for {escape(visible(used))}</td></tr>"
        )
    yield "</table></section>"
