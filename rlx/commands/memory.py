"""`rlx memory`: the memory that a program needs, as a formula over its sizes; as text and as a page."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

from rlx.commands.compiling import made_or_status
from rlx.commands.memory_report import (
    POINTS,
    FunctionMemory,
    SizeRange,
    bytes_text,
    curves,
    of_function,
)
from rlx.commands.outputs import add_format, refused
from rlx.commands.project import add_options, loaded
from rlx.grammar.command_line import CommandParser
from rlx.grammar.diagnostic import Source
from rlx.grammar.processes import UNABLE
from rlx.grammar.stack import roomy
from rlx.grammar.streams import json_text, say, visible, write_data
from rlx.semantics.run.options import UsageError

if TYPE_CHECKING:
    from rlx.commands.memory_report import FunctionMemory, SizeRange
    from rlx.grammar.nodes.ast import IRModule


@roomy
def main(argv: Sequence[str], prog: str = "rlx memory") -> int:
    """Run the command, and return the exit status."""
    options = _parser(prog).parse_args(argv)
    if not loaded(options, prog):
        return UNABLE
    made = made_or_status(prog, lambda: _said(options))
    if isinstance(made, int):
        return made
    if options.format == "json":
        write_data(made)
    else:
        say(made)
    return 0


def _parser(prog: str) -> CommandParser:
    parser = CommandParser(
        prog=prog,
        description=(
            "Print how many bytes a program needs, as a formula over its shape variables: what is"
            " alive at once,\nand what the plan of its memory takes."
        ),
        epilog=(
            "What happens inside of PrimFuncs and packed functions is not counted.\n\n"
            "exit status: 0 printed; 1 the checker found errors; 2 wrong usage or an unreadable"
            " file."
        ),
    )
    add = parser.add_argument
    add("file", metavar="FILE", help="the program; - for standard input")
    add("--module", metavar="NAME", help="the module, if the file has several")
    add("--entry", metavar="NAME", help="the function (default: every public function)")
    add(
        "--at",
        action="append",
        default=[],
        metavar="n=128,m=1",
        help="sizes of shape variables, for which numbers are printed, too; repeatable",
    )
    add(
        "--chart",
        metavar="n=1:4096",
        help="bars of the bytes over the values of a shape variable; --at gives the others",
    )
    add("--html", metavar="FILE", help="write the answer and the chart as a page, without scripts")
    add("--tvm", action="store_true", help="what TVM's plan takes, too; this needs the extra tvm")
    add_format(parser)
    add_options(parser)
    return parser


def _said(options: argparse.Namespace) -> str:
    from rlx.commands.memory_report import lines, record
    from rlx.semantics.run.options import checked_report
    from rlx.writing import write

    sizes = _sizes(options.at)
    axis = None if options.chart is None else _axis(options.chart)
    if options.html is not None and (said := refused(options.html, options.file)) is not None:
        raise UsageError(f"--html {said}")
    report, module = checked_report(options.file, options.module)
    answers = _answers(module, _entries(module, options.entry), options.tvm)
    for option, names in (("--at", sizes), ("--chart", [axis.name] if axis else [])):
        for name in names:
            _exists(option, name, answers)
    if axis is not None:
        for answer in answers:
            _all_given(answer, {*sizes, axis.name})
    try:
        if options.html is not None:
            write(options.html, page(answers, sizes, axis, report.source))
        if options.format == "json":
            return json_text(record(options.file, answers, sizes, axis, report.source)) + "\n"
        return "".join(f"{line}\n" for line in lines(answers, sizes, axis, report.source))
    except ValueError as error:  # a formula has no value for these sizes
        raise UsageError(f"{options.file}: {error}") from None


# ------------------------------------------------------------ what is asked


def _sizes(given: Sequence[str]) -> dict[str, int]:
    """The sizes of `--at`."""
    found: dict[str, int] = {}
    for part in ",".join(given).split(",") if given else ():
        name, equals, value = (word.strip() for word in part.partition("="))
        if not (equals and name and value.isdecimal() and value.isascii()):
            raise UsageError(f"--at: expected sizes such as n=128,m=1, found {part!r}")
        if name in found:
            raise UsageError(f"--at: {name} is given twice")
        found[name] = _size(value, "--at")
    return found


def _axis(given: str) -> SizeRange:
    """The values of `--chart`."""
    from rlx.commands.memory_report import SizeRange

    name, _, span = (word.strip() for word in given.partition("="))
    first, _, last = (word.strip() for word in span.partition(":"))
    if not (name and all(word.isdecimal() and word.isascii() for word in (first, last))):
        raise UsageError(f"--chart: expected values such as n=1:4096, found {given!r}")
    axis = SizeRange(name, _size(first, "--chart"), _size(last, "--chart"))
    if axis.first > axis.last:
        raise UsageError(f"--chart: the first value, {first}, is larger than the last, {last}")
    return axis


def _size(value: str, option: str) -> int:
    """A size, which is a number of 64 bits."""
    if len(value.lstrip("0")) > 19 or int(value) >= 1 << 63:
        raise UsageError(f"{option}: a size is at most 2**63 - 1, found {value[:30]}")
    return int(value)


def _entries(module: IRModule, entry: str | None) -> list[str]:
    from rlx.grammar.suggest import misspelt

    functions = {gv.name_hint: f for gv, f in module.relax_functions.items()}
    if entry is None:
        public = [name for name, f in functions.items() if not f.attrs.get("private")]
        if public or functions:
            return public or list(functions)
        raise UsageError("the module has no Relax function")
    if entry not in functions:
        words = f"--entry: there is no Relax function {entry!r}"
        raise UsageError(misspelt(words, entry, functions))
    return [entry]


def _exists(option: str, name: str, answers: Sequence[FunctionMemory]) -> None:
    from rlx.grammar.suggest import closest, did_you_mean

    known = [size for answer in answers for size in answer.sizes]
    if name not in known:
        words = f"{option}: the answer does not depend on {name!r}"
        meant = did_you_mean(closest(name, known))
        listed = ", ".join(dict.fromkeys(known)) or "no size"
        raise UsageError(f"{words}; {meant}" if meant else f"{words}, but on {listed}")


def _all_given(answer: FunctionMemory, names: set[str]) -> None:
    missing = [name for name in answer.sizes if name not in names]
    if missing:
        example = ",".join(f"{name}=128" for name in missing)
        raise UsageError(
            f"{answer.need.entry}: {', '.join(missing)} {'has' if len(missing) == 1 else 'have'} no value:"
            f" add --at {example}"
        )


# ------------------------------------------------------------ the answer


def _answers(module: IRModule, entries: Sequence[str], tvm: bool) -> list[FunctionMemory]:
    """The memory that each function needs; the module is planned once for all of them."""
    from rlx.commands.memory_report import FunctionMemory, Plan
    from rlx.transform.memory_use import memory_uses

    planned = [("rlx", *_our_plan(module)), *([("TVM", *_tvm_plan(module))] if tvm else [])]
    plans = [
        [
            Plan(by, made, why)
            for made in (
                memory_uses(plan, entries, killed=by == "TVM") if plan else [None] * len(entries)
            )
        ]
        for by, plan, why in planned
    ]
    used = memory_uses(module, entries)
    return [FunctionMemory(use, tuple(each)) for use, *each in zip(used, *plans, strict=True)]


def _our_plan(module: IRModule) -> tuple[IRModule | None, str]:
    """The module with its memory planned; without it, why there is none."""
    from rlx.transform.legalization import legalize
    from rlx.transform.lowering.memory import StaticPlanBlockMemory
    from rlx.transform.lowering.passes import PassError
    from rlx.vm.compilation import STAGES

    try:
        planned = legalize(module)
        for stage in STAGES[: STAGES.index(StaticPlanBlockMemory) + 1]:
            planned = stage()(planned)
    except PassError as error:
        return None, str(error)
    return planned, ""


def _tvm_plan(module: IRModule) -> tuple[IRModule | None, str]:
    """The module as TVM has planned its memory; without it, why there is none."""
    from rlx import api
    from rlx.grammar.nodes.node import replace
    from rlx.grammar.read.parser import parse
    from rlx.subject import SubjectError
    from rlx.tvm.plan import NoPlanError, planned_by_tvm

    try:
        whole = replace(module, name=module.name or "Module", bare=False)  # TVM plans modules
        text = planned_by_tvm(api.fmt(whole, "0.27"))
    except (NoPlanError, SubjectError) as error:
        return None, str(error)
    read = parse(text)
    errors = [d.message for d in read.diagnostics if d.severity == "error"]
    if errors or len(read.modules) != 1:
        return None, f"its text is not read: {'; '.join(errors[:1])}"
    return read.modules[0], ""


WIDTH, HEIGHT, LEFT, BOTTOM = 720, 320, 90, 40
COLOURS = ("#2563eb", "#d97706", "#059669")

_STYLE = """\
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 800px; padding: 0 1rem;
  color: #1f2937; background: #fff }
h1 { overflow-wrap: anywhere }
pre { overflow-x: auto; background: #f3f4f6; padding: 1rem; border-radius: 6px }
svg { width: 100%; height: auto }
text { font: 13px system-ui, sans-serif; fill: currentColor }
@media (prefers-color-scheme: dark) {
  body { color: #e5e7eb; background: #111827 }
  pre { background: #1f2937 }
}
"""


def page(
    answers: Sequence[FunctionMemory],
    sizes: Mapping[str, int],
    axis: SizeRange | None,
    source: Source,
) -> str:
    """The page, complete in itself."""
    title = f"Memory of {_shown(source.path)}"
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{title}</title><style>{_STYLE}</style></head><body><h1>{title}</h1>",
    ]
    for answer in answers:
        parts.append(f"<h2>{_shown(answer.need.entry)}</h2>")
        if axis is not None:
            parts += _chart(answer, sizes, axis)
        text = "\n".join(map(_shown, of_function(answer, sizes, source)))
        parts.append(f"<pre>{text}</pre>")
    return "\n".join([*parts, "</body></html>\n"])


def _shown(text: str) -> str:
    """A text of the program in one line of the page."""
    return escape(visible(text))


def _chart(answer: FunctionMemory, sizes: Mapping[str, int], axis: SizeRange) -> Iterator[str]:
    rows = curves(answer, sizes, axis, POINTS)
    largest = max(value for _, values in rows for value in values.values()) or 1
    span = max(axis.last - axis.first, 1)
    across, up = WIDTH - LEFT - 20, HEIGHT - BOTTOM - 20

    def place(value: int, count: int) -> str:
        x = LEFT + across * (value - axis.first) / span
        return f"{x:.1f},{20 + up * (1 - count / largest):.1f}"

    said = f"Bytes over {axis.name}, at most {bytes_text(largest)}"
    yield f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{_shown(said)}">'
    for part in range(5):
        y = 20 + up * (1 - part / 4)
        yield (
            f'<line x1="{LEFT}" x2="{WIDTH - 20}" y1="{y}" y2="{y}" stroke="currentColor"'
            ' stroke-opacity="0.2"/>'
        )
        yield f'<text x="{LEFT - 8}" y="{y + 4}" text-anchor="end">{bytes_text(largest * part // 4)}</text>'
    for value, anchor in ((axis.first, "start"), (axis.last, "end")):
        x = place(value, 0).split(",")[0]
        words = f"{_shown(axis.name)} = {value}"
        yield f'<text x="{x}" y="{HEIGHT - 16}" text-anchor="{anchor}">{words}</text>'
    for number, title in enumerate(rows[0][1]):
        colour = COLOURS[number % len(COLOURS)]
        points = " ".join(place(value, values[title]) for value, values in rows)
        # Curves that lie on each other are both seen.
        dashes = f' stroke-dasharray="8 {4 * number}"' if number else ""
        yield f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2.5"{dashes}/>'
        yield (
            f'<text x="{LEFT + 12}" y="{36 + 18 * number}" style="fill: {colour}">'
            f"{_shown(title)}</text>"
        )
    yield "</svg>"
