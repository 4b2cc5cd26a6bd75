"""Pictures made from the code: the rooms, the lattice of struct info, the trace of a run."""

from __future__ import annotations

import re
import tomllib
from contextlib import redirect_stdout
from html import escape
from importlib import import_module
from io import StringIO
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

INK, SOFT, LINE, FILL, MARK = "#2b2723", "#6a6256", "#b9b0a0", "#fdfbf6", "#ffe9a8"
FONT = 'font-family="system-ui, sans-serif"'
MONO = 'font-family="ui-monospace, Menlo, Consolas, monospace"'

Point = tuple[float, float]


def pages() -> dict[str, str]:
    """The pictures by their addresses."""
    return {
        "assets/house.svg": house(),
        "assets/lattice.svg": lattice(),
        "assets/run.svg": run(),
        "assets/rlx.svg": icon(),
    }


def svg(width: int, height: int, title: str, parts: list[str]) -> str:
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}"'
        f' role="img" aria-label="{escape(title)}">\n<title>{escape(title)}</title>\n<rect'
        f' width="{width}" height="{height}" rx="10" fill="{FILL}"/>\n{body}\n</svg>\n'
    )


def text_at(
    x: float,
    y: float,
    text: str,
    *,
    size: int = 14,
    fill: str = INK,
    anchor: str = "start",
    font: str = FONT,
) -> str:
    return (
        f'<text x="{x:g}" y="{y:g}" {font} font-size="{size}" fill="{fill}"'
        f' text-anchor="{anchor}">{escape(text)}</text>'
    )


def box(x: float, y: float, width: float, height: float, fill: str = "white") -> str:
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="6" fill="{fill}"'
        f' stroke="{LINE}"/>'
    )


def layers() -> list[str]:
    """The rooms from the top to the bottom, as `lint-imports` holds them apart."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    listed = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    return [name.removeprefix("rlx.") for name in listed]


def purpose(room: str) -> str:
    """The purpose of a room: its docstring, up to the first stop or colon."""
    said = (import_module(f"rlx.{room}").__doc__ or "").strip()
    return re.split(r"[:.;\n]|, and", said)[0][:70]


def house() -> str:
    """The rooms, each standing on those that it may import."""
    named = [room for room in layers() if (ROOT / room).is_dir()]
    others = [room for room in layers() if room not in named and not room.startswith("__")]
    width, left, step = 640, 60, 46
    parts = [
        (
            f'<path d="M {left - 25} 92 L {width / 2:g} 18 L {width - left + 25} 92 Z" fill="{MARK}"'
            f' stroke="{LINE}"/>'
        )
    ]
    parts.append(text_at(width / 2, 66, "rlx: facade and commands", anchor="middle"))
    parts.append(
        text_at(
            width / 2,
            84,
            ", ".join(others),
            size=10,
            fill=SOFT,
            anchor="middle",
        )
    )
    y = 98
    for room in named:
        parts.append(box(left, y, width - 2 * left, step - 8))
        parts.append(text_at(left + 14, y + 24, room, font=MONO))
        parts.append(text_at(left + 130, y + 24, purpose(room), fill=SOFT))
        y += step
    parts.append(
        f'<path d="M {left - 22} 104 V {y - 14} m -5 -8 l 5 8 l 5 -8" fill="none" stroke="{SOFT}"/>'
    )
    parts.append(
        f'<text {FONT} font-size="11" fill="{SOFT}" transform="translate({left - 32} 300)'
        ' rotate(-90)" text-anchor="middle">imports</text>'
    )
    return svg(width, y + 10, "The rooms of rlx; each imports only those below it", parts)


INFOS: dict[str, Point] = {
    "Object": (470, 40),
    "Tuple(Object, Object)": (115, 120),
    "Tensor": (335, 120),
    "Shape": (560, 120),
    "Prim(int64)": (690, 120),
    "Callable": (815, 120),
    "Tensor(ndim=2)": (270, 200),
    "Tensor(float32)": (410, 200),
    "Shape(ndim=2)": (560, 200),
    "Prim(int64, n)": (700, 200),
    "Tuple(Tensor, Shape)": (115, 280),
    "Tensor(float32, ndim=2)": (340, 280),
    "Shape((n, m))": (560, 280),
    "Callable((Object) -> Tensor)": (790, 280),
    "Tensor((n, m), float32)": (340, 360),
}
TEXTS = {
    "Object": "R.Object",
    "Tensor": "R.Tensor",
    "Shape": "R.Shape",
    "Prim(int64)": 'R.Prim("int64")',
    "Callable": "R.Callable",
    "Tuple(Object, Object)": "R.Tuple(R.Object, R.Object)",
    "Tensor(ndim=2)": "R.Tensor(ndim=2)",
    "Tensor(float32)": 'R.Tensor("float32")',
    "Shape(ndim=2)": "R.Shape(ndim=2)",
    "Prim(int64, n)": "R.Prim(value=n)",
    "Callable((Object) -> Tensor)": "R.Callable((R.Object,), R.Tensor, True)",
    "Tensor(float32, ndim=2)": 'R.Tensor("float32", ndim=2)',
    "Shape((n, m))": "R.Shape((n, m))",
    "Tuple(Tensor, Shape)": "R.Tuple(R.Tensor, R.Shape)",
    "Tensor((n, m), float32)": 'R.Tensor((n, m), "float32")',
}


def edges() -> list[tuple[str, str]]:
    """Which of the infos stand directly above which, by the rules SUB-…: the prover is asked about
    each pair.
    """
    from rlx.grammar import parse_struct_info
    from rlx.grammar.nodes import tir
    from rlx.solver import Proved, Prover
    from rlx.solver.order import subtype

    scope = {"n": tir.Var("n"), "m": tir.Var("m")}
    infos = {name: parse_struct_info(text, scope) for name, text in TEXTS.items()}
    prover = Prover()
    below = {
        (a, b)
        for a in infos
        for b in infos
        if a != b and isinstance(subtype(infos[a], infos[b], prover), Proved)
    }
    return [(a, b) for a, b in below if not any((a, c) in below and (c, b) in below for c in infos)]


def lattice() -> str:
    """The order of struct info: what stands higher says less."""
    parts = []
    for low, high in sorted(edges()):
        (x1, y1), (x2, y2) = INFOS[low], INFOS[high]
        parts.append(
            f'<line x1="{x1:g}" y1="{y1 - 13:g}" x2="{x2:g}" y2="{y2 + 13:g}" stroke="{LINE}"'
            ' stroke-width="1.5"/>'
        )
    for name, (x, y) in INFOS.items():
        width = 8 * len(name) + 16
        parts.append(box(x - width / 2, y - 14, width, 28, MARK if name == "Object" else "white"))
        parts.append(text_at(x, y + 5, name, size=13, anchor="middle", font=MONO))
    return svg(920, 400, "The order of struct info: what stands higher says less", parts)


_STEP = re.compile(
    r" *(?P<number>\d+)  (?P<rule>\S*) +(?P<place>\d+:\d+)?  (?P<indent> *)(?P<did>.*)"
)


def run() -> str:
    """A run of `even` in examples/recursion.rlx, as `rlx step` prints it: frames stand to the right
    of those that entered them.
    """
    from rlx.commands.step import main

    with redirect_stdout(StringIO()) as printed:
        main([str(ROOT / "examples/recursion.rlx"), "--entry", "even", "--input", "k=1"])
    width, y, parts = 760, 20.0, []
    for line in printed.getvalue().splitlines():
        step = _STEP.match(line)
        x = 50 + (23 * len(step["indent"]) if step else 0)
        if step is None or not step["rule"]:
            said = line if step is None else step["did"]
            parts.append(text_at(50, y + 14, said, size=12, fill=SOFT, font=MONO))
        else:
            fill = MARK if step["rule"] in ("E-if", "E-call") else "white"
            parts.append(text_at(18, y + 14, step["number"], size=11, fill=SOFT))
            parts.append(box(x, y, 106, 20, fill))
            parts.append(text_at(x + 8, y + 14, step["rule"], size=12, font=MONO))
            parts.append(text_at(x + 116, y + 14, step["did"], size=12, fill=SOFT, font=MONO))
        y += 25
    return svg(width, int(y) + 8, "A run of even(1), step by step", parts)


def icon() -> str:
    """The sign of the site: a judgement."""
    mark = (
        f'<path d="M 8 5 V 27 M 8 16 H 26" fill="none" stroke="{INK}" stroke-width="4"'
        ' stroke-linecap="round"/>'
    )
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32"'
        f' rx="7" fill="{MARK}"/>{mark}</svg>\n'
    )
