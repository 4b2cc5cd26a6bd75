"""Checks of the rules' blocks, their index, and the generated parts of `spec/README.md`."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache

from rlx.spec import judgements
from rlx.spec.reader import FOLDER, Inference, Rule, rules
from rlx.spec.registry import Registration, implementations

README = FOLDER / "README.md"

_NAME = re.compile(r"\b[A-Z]\w+\b")

SHOWN_BY_TESTS = {
    "V-call-outside-value": (
        "only a packed function written against the values of the machine can break it"
    ),
    "E-packed-value": (
        "only a packed function written against the values of the machine can break it"
    ),
    "E-result-memory-there": "it depends on the memory of the computer",
    "PF01-work": "only a long proof needs so much work",
    "E-native-compiler": "it depends on the compiler of the computer",
    "E-native-cache-private": "it depends on the file system of the computer",
}
"""Premises that no program can make fail by itself, with the reason."""

PHASES = {
    "validity": ("well_formedness.md", "normal_form.md", "prim_funcs.md", "lowered.md"),
    "derivation": ("derivation.md", "operators.md"),
    "order": ("order.md", "proofs.md"),
    "dynamic checks": ("dynamic_checks.md",),
    "refinement": ("refinement.md",),
    "evaluation": (
        "evaluation.md",
        "evaluation_operators.md",
        "evaluation_nn.md",
        "evaluation_tir.md",
        "evaluation_native.md",
        "virtual_machine.md",
    ),
    "Relay": ("relay.md",),
    "older system": (
        "old/well_formedness.md",
        "old/types.md",
        "old/shapes.md",
        "old/evaluation.md",
    ),
}
"""The columns of the index, with the chapters that each takes its rules from."""

TIR_CHAPTERS = frozenset(["prim_funcs.md", "evaluation_tir.md", "evaluation_native.md"])
"""The chapters in which a name that Relax and TIR share means TIR's."""


def problems() -> list[str]:
    """The mistakes in the blocks; empty if each fits its rule and its code.

    The rules must have been registered (:func:`rlx.spec.registry.register_all`).
    """
    found = [problem for rule in rules().values() for problem in problems_of(rule)]
    if README.read_text(encoding="utf-8") != readme():
        found.append("README.md: the tables are old; `python -m rlx.spec --write` makes them")
    return found


def problems_of(rule: Rule) -> list[str]:
    """The mistakes in the block of a rule."""
    name, block = rule.identifier, rule.block
    if block is None:
        return [f"{name}: there is no block"]
    found = []
    labels = block.labels
    found += [f"{name}: the block lacks the premise {c}" for c in rule.premises if c not in labels]
    found += [
        f"{name}: {c} labels no premise of the rule" for c in labels if c not in rule.premises
    ]
    twice = Counter(labels) - Counter(set(labels))
    found += [f"{name}: {c} stands twice in the block" for c in twice]
    if not block.judgement:
        found.append(f"{name}: the conclusion has the form of no judgement: {block.conclusion}")
    for registered in implementations.get(name, []):
        found += _misfits(rule, block, registered)
    said = {*_NAME.findall(" ".join((*(text for _, text in block.premises), block.conclusion)))}
    found += [
        f"{name}: the block lacks {c} of the heading" for c in rule.constructs if c not in said
    ]
    kinds = {"good" if example.good else "bad" for example in rule.examples}
    found += [
        f"{name}: there is no {kind} program" for kind in ("good", "bad") if kind not in kinds
    ]
    shown = {code for example in rule.examples if not example.good for code in example.codes}
    unseen = [c for c in rule.premises if c not in shown and c not in SHOWN_BY_TESTS]
    found += [f"{name}: no bad program makes {c} fail" for c in unseen]
    return found


# ---------------------------------------------------------------- the block and the function


def _misfits(rule: Rule, block: Inference, registered: Registration) -> list[str]:
    """The differences between a rule's block and the function that is registered for the rule."""
    name, module = rule.identifier, registered.function.__module__
    found = []
    if block.judgement:
        if registered.judgement != block.judgement:
            found.append(
                f"{name}: {module} registers it for the judgement {registered.judgement!r}, "
                f"its block concludes {block.judgement!r}"
            )
        if not judgements.decided_in(block.judgement, module):
            found.append(f"{name}: {module} does not decide {block.judgement!r}")
    return found


# ---------------------------------------------------------------- the index


@cache
def constructs() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of the abstract syntax, of Relax and of TIR, in the order of the grammar in
    `spec/README.md`.
    """
    _, _, chapter = README.read_text(encoding="utf-8").partition("# Abstract syntax")
    _, grammar, *_ = chapter.split("```")
    relax: dict[str, None] = {}
    tir: dict[str, None] = {}
    known = relax
    for line in grammar.splitlines():
        head, _, alternatives = line.partition("::=")
        if head.strip() == "PrimExpr":
            known = tir
        parts = (alternatives or line).split("|")
        names = (re.match(r"\s*([A-Z]\w+)", part) for part in parts)
        known.update((match.group(1), None) for match in names if match)
    return tuple(relax), tuple(tir)


def constructs_of(rule: Rule) -> list[str]:
    """The constructs that the heading or the conclusion of a rule names; ``tir.Call`` where Relax
    has the same name.
    """
    if rule.block is None:
        return []
    relax, tir = constructs()
    of_tir = rule.file in TIR_CHAPTERS
    words = dict.fromkeys((*rule.constructs, *_NAME.findall(rule.block.conclusion)))
    return [
        _named(w, w in tir and (of_tir or w not in relax)) for w in words if w in (*relax, *tir)
    ]


def _named(name: str, of_tir: bool) -> str:
    relax, _ = constructs()
    shared = {*relax} - {"PrimFunc"}
    return f"tir.{name}" if of_tir and name in shared else name


def index() -> list[str]:
    """The index: a row for each construct, a column for each phase, links to the rules."""
    relax, tir = constructs()
    named = dict.fromkeys((*relax, *(_named(name, True) for name in tir)))
    cells: dict[tuple[str, str], list[str]] = {}
    for rule in rules().values():
        phase = next(phase for phase, files in PHASES.items() if rule.file in files)
        for construct in constructs_of(rule):
            cells.setdefault((construct, phase), []).append(link(rule))
    heads = ("construct", *PHASES)
    rows = [f"| {' | '.join(heads)} |", f"{'|---' * len(heads)}|"]
    for name in named:
        row = [", ".join(cells.get((name, phase), ["-"])) for phase in PHASES]
        rows.append(f"| `{name}` | {' | '.join(row)} |")
    return rows


def link(rule: Rule) -> str:
    """A Markdown link to the heading of a rule."""
    heading = " ".join((rule.identifier, rule.title, *rule.constructs)).lower()
    anchor = re.sub(r"[^\w\- ]", "", heading).replace(" ", "-")
    return f"[{rule.identifier}]({rule.file}#{anchor})"


def readme() -> str:
    """`spec/README.md` with the tables as they should be."""
    text = README.read_text(encoding="utf-8")
    for name, rows in (("judgements", judgements.table()), ("index", index())):
        mark = f"<!-- {name} -->\n"
        before, after = text.split(mark)
        rest = re.sub(r"\A(\n?\|.*\n)*", "", after)
        table = "".join(f"{row}\n" for row in rows)
        text = f"{before}{mark}\n{table}{rest}"
    return text
