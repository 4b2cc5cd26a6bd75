"""The page of a folder of findings: a table of all of them, and the campaigns that made them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from rlx.generate.campaign.finding import KINDS, Finding
from rlx.generate.campaign.state import State

HEAD = """\
# Findings

Divergences between TVM and the rules, found by `rlx fuzz --against tvm`; each folder has the reduced program
(`program.rlx`, `program.py`), a test that is an expected failure until TVM is mended, and then fails (`test_finding.py`), and what was seen.
"""

CAMPAIGNS = """
## Campaigns

| oracle | against | seed | seconds | programs | rules | operators | findings before reduction |
|---|---|---|---|---|---|---|---|
"""


def page(findings: Iterable[Finding], campaigns: Iterable[Path] = ()) -> str:
    """The page, in Markdown.

    Parameters
    ----------
    campaigns
        The files in which campaigns keep their state.
    """
    kept = sorted(findings, key=lambda f: (KINDS.index(f.kind), f.key))
    parts = [HEAD]
    for kind in KINDS:
        rows = [_row(finding) for finding in kept if finding.kind == kind]
        if rows:
            parts.append(f"\n## {kind.capitalize()} ({len(rows)})\n")
            parts += ["", "| finding | oracle, stage | rule |", "|---|---|---|", *rows]
    lines = [_campaign(path) for path in sorted(campaigns)]
    return "\n".join(parts) + "\n" + (CAMPAIGNS + "\n".join(lines) + "\n" if lines else "")


def _row(finding: Finding) -> str:
    said = finding.sentence.replace("|", "\\|").replace("`", "'")[:140]
    rule = f"`{finding.rule}`" if finding.rule else ""
    return f"| [{said}]({finding.slug}/README.md) | {finding.oracle}, {finding.stage} | {rule} |"


def _campaign(path: Path) -> str:
    _, oracle, against, seed = path.stem.split("-", 3)
    state = State(path)
    figures = (
        f"{state.seconds:.0f}",
        state.programs,
        len(state.rules) or "-",
        len(state.operators),
        len(state.findings),
    )
    return "| " + " | ".join(map(str, (oracle, against, seed, *figures))) + " |"
