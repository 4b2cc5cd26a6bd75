"""`rlx memory`: how much memory a program needs, as a formula over its sizes."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from rlx.commands.compiling import made_or_status
from rlx.commands.outputs import refused
from rlx.commands.project import UNABLE, add_options, loaded
from rlx.grammar.command_line import CommandParser
from rlx.grammar.streams import json_text, say, write_data
from rlx.semantics.run.options import UsageError

if TYPE_CHECKING:
    from rlx.grammar.diagnostic import Source
    from rlx.grammar.nodes.ast import IRModule
    from rlx.grammar.nodes.node import Span
    from rlx.grammar.nodes.tir import PrimExpr
    from rlx.transform.memory_use import MemoryUse

BARS = 16
"""The points of a chart in the terminal."""
POINTS = 64
"""The points of a chart in a page."""
WIDTH = 48


class Plan(NamedTuple):
    """What a plan of the memory needs; without a use, why there is none."""

    by: str
    use: MemoryUse | None
    why_not: str = ""


class Answer(NamedTuple):
    """What is known of a function: what it needs, and what plans of its memory take."""

    need: MemoryUse
    plans: tuple[Plan, ...]


class Axis(NamedTuple):
    """The sizes over which a chart goes: a shape variable from its first to its last value."""

    name: str
    first: int
    last: int

    def values(self, count: int) -> list[int]:
        """At most so many values, at even distances."""
        span = self.last - self.first
        steps = min(count - 1, span)
        return [self.first + span * k // steps for k in range(steps + 1)] if steps else [self.first]


def main(argv: Sequence[str], prog: str = "rlx memory") -> int:
    """Run the command.

    Returns
    -------
    int
        The exit status.
    """
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
    parser.add_argument("file", metavar="FILE", help="the program; - for standard input")
    parser.add_argument("--module", metavar="NAME", help="the module, if the file has several")
    parser.add_argument(
        "--entry", metavar="NAME", help="the function (default: every public function)"
    )
    parser.add_argument(
        "--at",
        action="append",
        default=[],
        metavar="n=128,m=1",
        help="sizes of shape variables, for which numbers are printed, too; repeatable",
    )
    parser.add_argument(
        "--chart",
        metavar="n=1:4096",
        help="bars of the bytes over the values of a shape variable; --at gives the others",
    )
    parser.add_argument(
        "--html", metavar="FILE", help="write the answer and the chart as a page, without scripts"
    )
    parser.add_argument(
        "--tvm", action="store_true", help="what TVM's plan takes, too; this needs the extra tvm"
    )
    parser.add_argument(
        "--format",
        choices=("human", "json"),
        default="human",
        help="the format of the answer (default: human)",
    )
    add_options(parser)
    return parser


def _said(options: argparse.Namespace) -> str:
    from rlx.semantics.run.options import checked_report

    sizes = _sizes(options.at)
    axis = None if options.chart is None else _axis(options.chart)
    if options.html is not None and (said := refused(options.html, options.file)) is not None:
        raise UsageError(f"--html {said}")
    report, module = checked_report(options.file, options.module)
    answers = [_answer(module, name, options.tvm) for name in _entries(module, options.entry)]
    for option, names in (("--at", sizes), ("--chart", [axis.name] if axis else [])):
        for name in names:
            _exists(option, name, answers)
    if axis is not None:
        for answer in answers:
            _all_given(answer.need, {*sizes, axis.name})
    if options.html is not None:
        from rlx.commands.memory_page import page
        from rlx.writing import write

        write(options.html, page(answers, sizes, axis, report.source))
    if options.format == "json":
        return json_text(_record(options.file, answers, sizes, axis, report.source)) + "\n"
    return "".join(f"{line}\n" for line in _lines(answers, sizes, axis, report.source))


# ------------------------------------------------------------ what is asked


def _sizes(given: Sequence[str]) -> dict[str, int]:
    """The sizes of `--at`."""
    found: dict[str, int] = {}
    for part in ",".join(given).split(",") if given else ():
        name, equals, value = (word.strip() for word in part.partition("="))
        if not (equals and name and value.isdecimal() and value.isascii()):
            raise UsageError(f"--at: expected sizes such as n=128,m=1, found {part!r}")
        found[name] = _size(value, "--at")
    return found


def _axis(given: str) -> Axis:
    """The values of `--chart`."""
    name, _, span = (word.strip() for word in given.partition("="))
    first, _, last = (word.strip() for word in span.partition(":"))
    if not (name and all(word.isdecimal() and word.isascii() for word in (first, last))):
        raise UsageError(f"--chart: expected values such as n=1:4096, found {given!r}")
    axis = Axis(name, _size(first, "--chart"), _size(last, "--chart"))
    if axis.first > axis.last:
        raise UsageError(f"--chart: the first value, {first}, is larger than the last, {last}")
    return axis


def _size(value: str, option: str) -> int:
    """A size, which is a number of 64 bits."""
    if len(value.lstrip("0")) > 19 or int(value) >= 1 << 63:
        raise UsageError(f"{option}: a size is at most 2**63 - 1, found {value[:30]}")
    return int(value)


def _entries(module: IRModule, entry: str | None) -> list[str]:
    from rlx.grammar.nodes import ast
    from rlx.grammar.suggest import closest, did_you_mean

    functions = {
        gv.name_hint: f for gv, f in module.functions.items() if isinstance(f, ast.Function)
    }
    if entry is None:
        public = [name for name, f in functions.items() if not f.attrs.get("private")]
        if public or functions:
            return public or list(functions)
        raise UsageError("the module has no Relax function")
    if entry not in functions:
        meant = did_you_mean(closest(entry, functions))
        words = f"--entry: there is no Relax function {entry!r}"
        raise UsageError(f"{words}; {meant}" if meant else words)
    return [entry]


def _exists(option: str, name: str, answers: Sequence[Answer]) -> None:
    from rlx.grammar.suggest import closest, did_you_mean

    known = [size for answer in answers for size in answer.need.sizes]
    if name not in known:
        words = f"{option}: the answer does not depend on {name!r}"
        meant = did_you_mean(closest(name, known))
        listed = ", ".join(dict.fromkeys(known)) or "no size"
        raise UsageError(f"{words}; {meant}" if meant else f"{words}, but on {listed}")


def _all_given(need: MemoryUse, names: set[str]) -> None:
    missing = [name for name in need.sizes if name not in names]
    if missing:
        example = ",".join(f"{name}=128" for name in missing)
        raise UsageError(
            f"{need.entry}: {', '.join(missing)} {'has' if len(missing) == 1 else 'have'} no value:"
            f" add --at {example}"
        )


# ------------------------------------------------------------ the answer


def _answer(module: IRModule, entry: str, tvm: bool) -> Answer:
    from rlx.transform.lowering.local_functions import LambdaLift
    from rlx.transform.lowering.structure import Normalize
    from rlx.transform.memory_use import memory_use

    need = memory_use(LambdaLift()(Normalize()(module)), entry)
    plans = [_our_plan(module, entry)]
    if tvm:
        plans.append(_tvm_plan(module, entry))
    return Answer(need, tuple(plans))


def _our_plan(module: IRModule, entry: str) -> Plan:
    from rlx.transform.legalization import legalize
    from rlx.transform.lowering.memory import StaticPlanBlockMemory
    from rlx.transform.lowering.passes import PassError
    from rlx.transform.memory_use import memory_use
    from rlx.vm.compilation import STAGES

    try:
        planned = legalize(module)
        for stage in STAGES[: STAGES.index(StaticPlanBlockMemory) + 1]:
            planned = stage()(planned)
    except PassError as error:
        return Plan("rlx", None, str(error))
    return Plan("rlx", memory_use(planned, entry))


def _tvm_plan(module: IRModule, entry: str) -> Plan:
    from rlx import api
    from rlx.grammar.read.parser import parse
    from rlx.subject import SubjectError
    from rlx.transform.lowering.structure import Normalize
    from rlx.transform.memory_use import memory_use
    from rlx.tvm.plan import NoPlanError, planned_by_tvm

    try:
        text = planned_by_tvm(api.fmt(module, "0.27"))
    except (NoPlanError, SubjectError) as error:
        return Plan("TVM", None, str(error))
    read = parse(text)
    errors = [d.message for d in read.diagnostics if d.severity == "error"]
    if errors or len(read.modules) != 1:
        return Plan("TVM", None, f"its text is not read: {'; '.join(errors[:1])}")
    return Plan("TVM", memory_use(Normalize()(read.modules[0]), entry))


# ------------------------------------------------------------ for people


def _lines(
    answers: Sequence[Answer], sizes: Mapping[str, int], axis: Axis | None, source: Source
) -> Iterator[str]:
    for place, answer in enumerate(answers):
        if place:
            yield ""
        yield from of_function(answer, sizes, source)
        if axis is not None:
            yield ""
            yield from _bars(answer, sizes, axis)


def of_function(answer: Answer, sizes: Mapping[str, int], source: Source) -> Iterator[str]:
    """What is known of a function, in lines for people."""
    need = answer.need
    at = sizes if all(name in sizes for name in need.sizes) else {}
    shown = bool(at) or not need.sizes
    yield need.entry + (
        f" at {', '.join(f'{name}={at[name]}' for name in need.sizes)}" if at else ""
    )
    rows: list[tuple[str, PrimExpr | int, str]] = [
        ("arguments", need.arguments, ""),
        ("constants", need.constants, ""),
        ("alive at once", need.peak, ""),
        *(
            (f"plan of {plan.by}", plan.use.peak if plan.use else 0, plan.why_not)
            for plan in answer.plans
        ),
    ]
    for title, size, why in rows:
        said = f"none: {why}" if why else with_number(size, at, shown)
        yield f"  {title:<14} {said}"
    if need.bounds:
        declared = ", ".join(f"{name} <= {most}" for name, most in need.bounds.items())
        said = f"declared: {declared}"
        if all(name in need.bounds for name in need.sizes):
            said += f"; alive at once there: {bytes_text(need.highest(need.bounds)[0])}"
        yield f"  {'upper bounds':<14} {said}"
    peaks = [need.highest(at)[1]] if shown else need.peaks
    for peak in peaks:
        if not peak.living:
            continue
        yield ""
        yield f"  alive together, {with_number(peak.size, at, shown)}:"
        width = max(len(each.name) for each in peak.living)
        for each in peak.living:
            place = f"line {line(each.span, source)}" if each.span else ""
            inside = "" if each.function == need.entry else f" of {each.function}"
            where = ", ".join(filter(None, [place + inside]))
            yield f"    {each.name:<{width}}  {with_number(each.size, at, shown)}  {where}".rstrip()
    if need.unknown:
        yield ""
        yield "  not counted:"
        for name, span, why in need.unknown:
            place = f" (line {line(span, source)})" if span else ""
            yield f"    {name}{place}: {why}"


def _bars(answer: Answer, sizes: Mapping[str, int], axis: Axis) -> Iterator[str]:
    rows = curves(answer, sizes, axis, BARS)
    largest = max((value for _, values in rows for value in values.values()), default=0) or 1
    titles = list(rows[0][1])
    width = max(len(str(value)) for value, _ in rows)
    yield f"  {axis.name:>{width}}"
    for value, values in rows:
        for place, title in enumerate(titles):
            filled = round(values[title] * WIDTH / largest)
            head = f"{value:>{width}}" if not place else " " * width
            yield f"  {head}  {'█' * filled:<{WIDTH}} {bytes_text(values[title])} {title}"


def curves(
    answer: Answer, sizes: Mapping[str, int], axis: Axis, count: int
) -> list[tuple[int, dict[str, int]]]:
    """The bytes of each curve of a chart, by its title, at each value of the axis."""
    rows = []
    for value in axis.values(count):
        at = {**sizes, axis.name: value}
        found = {"alive at once": answer.need.highest(at)[0]}
        for plan in answer.plans:
            if plan.use is not None:
                found[f"plan of {plan.by}"] = plan.use.highest(at)[0]
        rows.append((value, found))
    return rows


def line(span: Span, source: Source) -> int:
    """The line of a place, from 1."""
    return source.position(span[0])[0]


def with_number(size: PrimExpr | int, at: Mapping[str, int], shown: bool) -> str:
    """A formula, and its value where the sizes are given."""
    from rlx.transform.memory_use import number

    if isinstance(size, int):
        return bytes_text(size)
    if not shown:
        return f"{size} bytes"
    value = bytes_text(number(size, at))
    return value if value == f"{size} bytes" else f"{size} = {value}" if at else value


def bytes_text(count: int) -> str:
    """A number of bytes, as people read it."""
    for unit, each in (("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= each:
            return f"{count / each:.1f} {unit}"
    return f"{count} bytes"


# ------------------------------------------------------------ for machines


def _record(
    path: str,
    answers: Sequence[Answer],
    sizes: Mapping[str, int],
    axis: Axis | None,
    source: Source,
) -> dict[str, Any]:
    return {
        "version": 1,
        "path": path,
        "sizes": dict(sizes),
        "functions": [_function(answer, sizes, axis, source) for answer in answers],
    }


def _function(
    answer: Answer, sizes: Mapping[str, int], axis: Axis | None, source: Source
) -> dict[str, Any]:
    need = answer.need
    known = all(name in sizes for name in need.sizes)

    def size(formula: PrimExpr) -> dict[str, Any]:
        from rlx.transform.memory_use import number

        return {"formula": str(formula), "bytes": number(formula, sizes) if known else None}

    return {
        "entry": need.entry,
        "arguments": size(need.arguments),
        "constants": need.constants,
        "alive": size(need.peak),
        "peaks": [
            {
                **size(peak.size),
                "values": [
                    {
                        "name": each.name,
                        "function": each.function,
                        "line": line(each.span, source) if each.span else None,
                        **size(each.size),
                    }
                    for each in peak.living
                ],
            }
            for peak in need.peaks
        ],
        "plans": [
            {"by": plan.by, "reason": plan.why_not or None}
            | (size(plan.use.peak) if plan.use else {"formula": None, "bytes": None})
            for plan in answer.plans
        ],
        "bounds": dict(need.bounds),
        "not_counted": [
            {"name": name, "line": line(span, source) if span else None, "reason": why}
            for name, span, why in need.unknown
        ],
        "chart": None
        if axis is None
        else [
            {axis.name: value, "bytes": values}
            for value, values in curves(answer, sizes, axis, POINTS)
        ],
    }
