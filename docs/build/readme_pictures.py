"""The pictures of the README, drawn from what the checker and the prover say: ``make pictures``."""

from __future__ import annotations

from html import escape
from pathlib import Path

import rlx
from docs.build.pictures import INK, MONO, ROOT, SOFT, box, svg, text_at
from rlx.writing import write

ROW, COLUMN, SIZE = 20, 7.8, 13
RED = "#d1242f"
BEFORE = """\
@R.function
def main(x: R.Tensor(("n", 4), "float32")):
    y = R.nn.relu(R.negative(R.negative(x)))
    return y
"""
AFTER = """\
@R.function
def main(x: R.Tensor(("n", 4), "float32")):
    y = R.negative(R.nn.relu(R.negative(x)))
    return y
"""


def _code(x: float, y: float, text: str, fill: str = INK) -> list[str]:
    """Lines of code from a place on."""
    return [
        f'<text x="{x:g}" y="{y + ROW * row:g}" {MONO} font-size="{SIZE}" fill="{fill}"'
        f' xml:space="preserve">{escape(line)}</text>'
        for row, line in enumerate(text.split("\n"))
    ]


def editor() -> str:
    """An error as an editor shows it: `examples/broken/reshape.rlx`."""
    report = rlx.check(ROOT / "examples" / "broken" / "reshape.rlx")
    (found,) = report.errors
    assert found.span is not None
    lines = report.source.text.rstrip().split("\n")
    line, column = report.source.position(found.span[0])
    top, left = 40, 52.0
    parts = [box(8, 8, 784, 30 + ROW * (len(lines) + 4))]
    for number, text in enumerate(lines, 1):
        y = top + ROW * (number - 1 + (3 if number > line else 0))
        parts.append(text_at(36, y, str(number), size=12, fill=SOFT, anchor="end", font=MONO))
        parts += _code(left, y, text)
    y = top + ROW * (line - 1) + 4
    start, end = (left + COLUMN * (column - 1 + n) for n in (0, found.span[1] - found.span[0]))
    waves = " ".join("q 2 -4 4 0 t 4 0" for _ in range(int((end - start) / 8)))
    parts.append(f'<path d="M {start:g} {y + 2:g} {waves}" fill="none" stroke="{RED}"/>')
    parts.append(box(left, y + 8, 724, ROW * 2 + 8, "#fff5f5"))
    words = found.message.split(": n * 256")
    shown = [f"{found.code}  {words[0]}", f"n * 256{words[1]}" if words[1:] else ""]
    parts += _code(left + 10, y + 26, "\n".join(shown), RED)
    return svg(800, 46 + ROW * (len(lines) + 4), "An error in an editor", parts)


def refuted() -> str:
    """A pass that is wrong, as `rlx refines` answers: the minus was taken out of a relu."""
    answer = rlx.refines(BEFORE, AFTER)
    assert answer.refuted
    said = str(answer).split("\n")
    parts = [box(8, 8, 784, 152), box(8, 168, 784, 28 + ROW * len(said), "#fff5f5")]
    parts += _pair("before the pass", BEFORE, 30) + _pair("after it", AFTER, 106)
    parts += _code(24, 196, "\n".join(line[:96] for line in said), RED)
    return svg(800, 204 + ROW * len(said), "A pass that is refuted", parts)


def _pair(title: str, program: str, y: float) -> list[str]:
    (line,) = [line.strip() for line in program.split("\n") if " = " in line]
    return [
        text_at(24, y, title, size=12, fill=SOFT),
        *_code(24, y + ROW, f"{program.splitlines()[1]}\n    {line}"),
    ]


def main() -> None:
    """Write the pictures."""
    for name, picture in (("editor", editor()), ("refuted", refuted())):
        write(Path(ROOT, "docs", "assets", f"{name}.svg"), picture)


if __name__ == "__main__":
    main()
