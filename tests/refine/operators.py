"""``python -m tests.refine.operators [--tvm] [--write] [NAME…]``: operators against the loops that legalisation makes of them.

For each operator that has a definition: legal calls of it, each compared with its PrimFunc for all sizes. ``--tvm`` takes the
PrimFuncs of TVM's LegalizeOps instead of ours. A question that takes more than ``--seconds`` of processor time is unknown.
What was answered is kept in a file, from which a run that was stopped goes on, and ``--write`` makes the page of the
documentation of it.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import rlx
from rlx.grammar.nodes import ast
from rlx.refine.answer import Refinement
from rlx.transform.legalization import legalize
from tests.transform.legalization import law

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "operators_and_loops.md"
ANSWERS = ROOT / ".rlx" / "operators"
FROM_ONE = ", sizes >= 1"
"""What is added to the level where TVM reduces over nothing in another way."""

Answers = dict[str, list[tuple[str, str]]]
"""The calls of each operator: the level of the proof or another status, and the reason for no proof."""


class OutOfTime(BaseException):
    """The time of a question is over. No ``except Exception`` may stop it."""


def within(seconds: float, ask: Callable[[], Refinement]) -> Refinement | None:
    """An answer; None where it takes more processor time."""

    def over(*_: object) -> None:
        raise OutOfTime

    before = signal.signal(signal.SIGVTALRM, over)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        return ask()
    except OutOfTime:
        return None
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def tvms(module: ast.IRModule) -> ast.IRModule:
    """The result of TVM's LegalizeOps for a module.

    Raises
    ------
    ValueError
        If TVM refuses it.
    """
    import tvm

    try:
        given = tvm.script.from_source(str(module), check_well_formed=False)
        made = tvm.relax.transform.LegalizeOps()(given).script(show_meta=True)
    except Exception as error:
        raise ValueError(f"TVM: {type(error).__name__}") from error
    return rlx.parse(made)


def answers(name: str, options: argparse.Namespace) -> Iterator[tuple[str, str]]:
    """The answers for calls of an operator."""
    for template in law.templates(name, options.calls, random.Random(0)):
        module = law.case(name, template).module
        try:
            made = tvms(module) if options.tvm else legalize(module)
        except ValueError:
            continue
        if made.prim_funcs:
            found = answer(module, made, options.seconds)
            yield found
            if options.show and not proved(found[0]):
                print(made)


def proved(status: str) -> bool:
    """Whether a status is the level of a proof."""
    return status.startswith(("bitwise", "real"))


def answer(module: ast.IRModule, made: ast.IRModule, seconds: float) -> tuple[str, str]:
    """The level at which a call and its loops are equal, or the status and its reason."""
    try:
        found = within(seconds, lambda: rlx.refines(module, made, floats="real"))
        if found is None:
            return "unknown", f"not answered in {seconds:g} s"
        if found.level is not None:
            return found.level, ""
        (entry,) = module.relax_functions.values()
        some = [f"{var.name} >= 1" for var in entry.shape_vars]
        if some:
            again = within(seconds, lambda: rlx.refines(module, made, floats="real", assume=some))
            if again is not None and again.level is not None:
                return again.level + FROM_ONE, ""
        if found.unknown:  # NaN, infinities and rounding show what real numbers do not
            bits = within(seconds, lambda: rlx.refines(module, made))
            if bits is not None and bits.refuted:
                return bits.status, bits.reason
    except Exception as error:  # noqa: BLE001 - a fault of one operator is a line of the list
        return "error", f"{type(error).__name__}: {error}"
    return found.status, found.reason


def summary(found: Mapping[str, Any]) -> tuple[Counter[str], Counter[str]]:
    """The number of operators, and of calls, by answer."""
    operators: Counter[str] = Counter()
    for calls in found.values():
        if calls:
            operators["all calls proved" if all(proved(s) for s, _ in calls) else "open"] += 1
        else:
            operators["no loops"] += 1
    return operators, Counter(status for calls in found.values() for status, _ in calls)


HEAD = """\
# Operators and their loops

For each operator that has a definition, legal calls of it were compared with the PrimFunc that legalisation makes of them: ours,
and that of TVM's `LegalizeOps`. The question is that of [proved passes](../explanation/proved-passes.md), for all sizes and all inputs. *bitwise* says that
the bits are equal, *real* that the exact real numbers are, and *sizes >= 1* that no axis is empty. `python -m tests.refine.operators --write`
writes this page.
"""


def page(kinds: Mapping[str, Mapping[str, Any]]) -> str:
    """The page of the documentation."""
    lines = [HEAD]
    for title, found in kinds.items():
        operators, calls = summary(found)
        counts = ", ".join(f"{word}: {count}" for word, count in sorted(operators.items()))
        levels = ", ".join(f"{word}: {count}" for word, count in sorted(calls.items()))
        asked = f"{len(found)} of {len(law.DEFINED)} operators were asked"
        lines += [f"## {title}", "", f"{asked}: {counts}. Calls: {levels}.", ""]
        lines += ["| operator | calls | why not proved |", "|---|---|---|"]
        for name, answered in sorted(found.items()):
            if answered:
                each = ", ".join(f"{n} {s}" for s, n in Counter(s for s, _ in answered).items())
                why = "; ".join(dict.fromkeys(reason for _, reason in answered if reason))
                shown = why.replace("|", "\\|").replace("<", "&lt;")[:300]
                lines.append(f"| `{name}` | {each} | {shown} |")
        lines.append("")
    return "\n".join(lines)


def main() -> None:
    """Print a line for each operator that is not proved for all its calls, and how many there are."""
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m tests.refine.operators")
    parser.add_argument("names", nargs="*", default=law.DEFINED)
    parser.add_argument("--tvm", action="store_true")
    parser.add_argument("--calls", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument(
        "--again", action="store_true", help="forget the answers of these operators"
    )
    parser.add_argument("--show", action="store_true", help="print the PrimFuncs that differ")
    parser.add_argument("--write", action="store_true", help="write the page of all answers")
    options = parser.parse_args()
    ANSWERS.mkdir(parents=True, exist_ok=True)
    kept = ANSWERS / ("tvm.json" if options.tvm else "ours.json")
    found: Answers = json.loads(kept.read_text()) if kept.exists() else {}
    for name in options.names:
        if name not in found or options.again or options.show:
            found[name] = list(answers(name, options))
            kept.write_text(json.dumps(found))
        for status, reason in dict.fromkeys(map(tuple, found[name])):
            if not proved(status):
                print(f"{name:28} {status}: {reason}"[:420], flush=True)
    operators, calls = summary({name: found[name] for name in options.names})
    print(f"operators: {dict(operators)}; calls: {dict(calls)}")
    if options.write:
        files = {"Our loops": ANSWERS / "ours.json", "TVM's loops": ANSWERS / "tvm.json"}
        kinds = {title: json.loads(f.read_text()) for title, f in files.items() if f.exists()}
        PAGE.write_text(page(kinds))


if __name__ == "__main__":
    main()
