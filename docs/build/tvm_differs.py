"""The page of differences to TVM, made from the rules and the findings."""

from __future__ import annotations

from pathlib import Path

from rlx.generate.campaign.finding_file import KINDS, read_entries
from rlx.spec import rules

ROOT = Path(__file__).resolve().parents[2]

HEAD = """# What TVM does otherwise

rlx follows the written specification, and where it contradicts itself, the [ledger](../reference/specification/ledger.md). TVM 0.27 is one
implementation of Relax. Where the two part, one of three things is so.

1. **TVM can defend it.** The specification leaves a choice, or TVM chose something else on purpose. The table below has the rules that say so.
2. **TVM has a bug.** `findings/` in the repository has one text file for each cause, with a program to see it again.
3. **rlx has a bug.** Please report it with the program.

A pass of TVM can rely on what TVM does, and a program can be legal for rlx and refused by TVM. So rlx never says that TVM would take a program:
it says that the program keeps the rules.

## What was found in TVM 0.27

| kind | findings | |
|---|---|---|
{findings}

Each was seen with `apache-tvm==0.27.0.post1`, and decided by a third opinion: NumPy in float64, another path of TVM, or the document.
[How to fuzz TVM](../how-to/fuzz-tvm.md) shows how to find more.

## Rules on which TVM differs

| rule | what TVM does |
|---|---|
{rules}
"""


def pages() -> dict[str, str]:
    """The page by its address."""
    entries = read_entries(ROOT / "findings")
    counts = {kind: sum(entry.kind == kind for entry in entries) for kind in KINDS}
    found = [f"| {kind} | {count} | {KINDS[kind]} |" for kind, count in counts.items() if count]
    differs = [
        f"| [{name}](../reference/specification/{rule.page}.md#{name})"
        f" {rule.title} | {_cell(rule.tvm)} |"
        for name, rule in rules().items()
        if rule.tvm
    ]
    text = HEAD.format(findings="\n".join(found), rules="\n".join(differs))
    return {"explanation/tvm-differs.md": text}


def _cell(text: str) -> str:
    """A paragraph as a cell of a table, without its links by name."""
    import re

    plain = re.sub(r"\[([^]]+)\](?:\[[^]]*\]|\([^)]*\))", r"\1", text)
    return plain.replace("|", "\\|").replace("\n", " ")
