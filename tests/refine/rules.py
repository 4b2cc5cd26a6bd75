"""``python -m tests.refine.rules [--write] [WORD…]``: the rewrites of `rules.toml`, for all sizes.

Each is proved, and refuted where its side condition is dropped; a condition on sizes is found by `rlx.refines` itself. Words select
those rules whose group or name has them. ``--write`` writes the page of the documentation.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

import rlx
from rlx.refine.answer import Refinement

HERE = Path(__file__).parent
TABLE = HERE / "rules.toml"
PAGE = HERE.parents[1] / "docs" / "reference" / "rewrites.md"
HEAD = """# Rewrites that are proved

`rlx.refines` proves each of these for all sizes and inputs, and refutes it with a run if its side condition is dropped. A condition on sizes was
found by `suggestion`. Floats are equal bit for bit, or as exact real numbers (real). The table is `tests/refine/rules.toml`;
`python -m tests.refine.rules --write` proves it again and writes this page.
"""


class Rule(NamedTuple):
    """A rewrite.

    ``takes`` has its tensors with their shapes; ``wrong`` is AFTER where what it ``needs`` is missing, and ``assume`` a condition on
    sizes.
    """

    group: str
    name: str
    takes: str
    before: str
    after: str
    needs: str = ""
    wrong: str = ""
    assume: str = ""
    floats: str = "bitwise"

    def program(self, result: str) -> str:
        """A function of the tensors that returns a result."""
        params, sizes = [], dict[str, None]()
        for each in self.takes.split(", "):
            name, _, words = each.partition(": ")
            *dims, last = words.split()
            dtype = last if re.fullmatch(r"bool|(u?int|float)\d+", last) else "float32"
            dims += [] if last == dtype else [last]
            sizes |= dict.fromkeys(dim for dim in dims if not dim.isdigit())
            shape = ", ".join(dim if dim.isdigit() else f'"{dim}"' for dim in dims)
            params.append(f'{name}: R.Tensor(({shape},), "{dtype}")')
        free = ", ".join(sizes)
        types = ", ".join(["T.int64()"] * len(sizes))
        lines = ["@R.function", f"def main({', '.join(params)}):"]
        lines += [f"    {free} = {types}"] if sizes else []
        return "\n".join([*lines, f"    return {result}", ""])

    def right(self) -> Refinement:
        """The answer for the rewrite with its side condition."""
        return self._compared(self.after, [self.assume] if self.assume else [])

    def dropped(self) -> Refinement:
        """The answer without it."""
        return self._compared(self.wrong or self.after, [])

    def _compared(self, after: str, assume: list[str]) -> Refinement:
        before, other = self.program(self.before), self.program(after)
        return rlx.refines(before, other, floats=self.floats, assume=assume)


def rules() -> list[Rule]:
    """All rules, in order."""
    table = tomllib.loads(TABLE.read_text())
    return [Rule(group, name, **row) for group, rows in table.items() for name, row in rows.items()]


def problem(rule: Rule) -> str:
    """The mistake in a rule; empty if it is proved, refuted without its condition, and a condition
    on sizes was found.
    """
    right, dropped = rule.right(), rule.dropped()
    if not right.proved:
        return f"not proved: {right}"
    if not dropped.refuted:
        return f"not refuted without its condition: {dropped}"
    if rule.assume and dropped.suggestion != rule.assume:
        return f"needs {rule.assume}, and {dropped.suggestion} is suggested"
    return ""


def page() -> str:
    """The page of the documentation."""
    lines, group = [HEAD], ""
    for rule in rules():
        if rule.group != group:
            group = rule.group
            lines += [
                "",
                f"## {group}",
                "",
                "| rewrite | before | after | needs |",
                "|---|---|---|---|",
            ]
        real = " (real)" if rule.floats == "real" else ""
        needs = f"`{rule.assume}`" if rule.assume else rule.needs
        takes = f"{rule.name}{real}: `{rule.takes}`"
        lines.append(f"| {takes} | `{rule.before}` | `{rule.after}` | {needs} |")
    return "\n".join(lines).replace("\n\n\n", "\n\n") + "\n"


def main(words: list[str]) -> int:
    """Print a line for each rule that is not as it should be."""
    wrong = 0
    chosen = [word for word in words if not word.startswith("-")]
    found = [r for r in rules() if not chosen or any(w in f"{r.group} {r.name}" for w in chosen)]
    for rule in found:
        try:
            said = problem(rule)
        except ValueError as error:
            said = f"{type(error).__name__}: {error}"
        wrong += bool(said)
        if said:
            print(f"{rule.group}: {rule.name}: {said}", flush=True)
    print(f"{len(found) - wrong} of {len(found)} rules hold")
    if "--write" in words and not wrong:
        PAGE.write_text(page())
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
