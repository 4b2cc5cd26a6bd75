"""The pages of codes, made from the specification: a bad program, its diagnostics, a good program."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from rlx.checker.check import check_text
from rlx.checker.explain import OUTSIDE
from rlx.checker.fixing import mended
from rlx.spec import rules
from rlx.spec.reader import Example, Rule

HEAD = """# {title}

The codes of [this chapter of the specification](../specification/{page}). A code is the id of a rule and a word for the premise
that fails. `rlx explain CODE` says the same in a terminal.
"""

INDEX = """# Codes

A diagnostic has a code: the id of a rule, and a word for the premise that failed. `relax-check --explain CODE` explains one. Each page
below shows for every code a program that has it, what rlx says of that program, and the program mended. Codes do not change their meaning: see
[what is stable](../stable.md).

| chapter | codes |
|---|---|
{chapters}
Every code leads to its section, whose address stays:

| code | what it asks |
|---|---|
{codes}"""

KINDS = {
    "relax": "A program with this mistake",
    "tree": "A tree with this mistake",
    "run": "A run that ends so (the first line gives the inputs)",
    "tir": "A PrimFunc whose run ends so (the first line gives the arguments)",
    "order": "Judgements that fail",
    "checks": "A program with such a check",
}
GOOD = {
    "tree": "A tree that keeps the rule",
    "run": "The nearest run that returns",
    "tir": "The nearest PrimFunc that returns",
    "order": "Judgements that hold",
    "checks": "The nearest program without it",
}


def pages() -> dict[str, str]:
    """The pages by their addresses."""
    chapters: dict[str, list[str]] = {}
    for rule in rules().values():
        for code, sentence in rule.premises.items():
            chapters.setdefault(rule.page, []).append(_section(rule, code, sentence))
    found = {"reference/codes/outside.md": _outside()}
    listed = rows = ""
    for stem, sections in sorted(chapters.items()):
        title = stem.replace("_", " ").replace("old-", "older system: ").capitalize()
        page = HEAD.format(title=f"Codes: {title.lower()}", page=f"{stem}.md")
        found[f"reference/codes/{stem}.md"] = "\n".join([page, *sections])
        listed += f"| [{title}]({stem}.md) | {len(sections)} |\n"
    listed += f"| [Outside of the rules](outside.md) | {len(OUTSIDE)} |\n"
    for code, (title, _) in OUTSIDE.items():
        rows += f"| [{code}](outside.md#{code.lower()}) | {title} |\n"
    for rule in rules().values():
        for code, sentence in rule.premises.items():
            asked = sentence.replace("|", r"\|")
            rows += f"| [{code}]({rule.page}.md#{code.lower()}) | {asked} |\n"
    found["reference/codes/index.md"] = INDEX.format(chapters=listed, codes=rows)
    return found


def _outside() -> str:
    rows = [f"## {code}\n\n**{title}.** {said}\n" for code, (title, said) in OUTSIDE.items()]
    return "# Codes outside of the rules\n\n" + "\n".join(rows)


def _section(rule: Rule, code: str, sentence: str) -> str:
    page = f"../specification/{rule.page}.md"
    parts = [
        f"## {code}",
        f"[{rule.identifier} {rule.title}]({page}#{rule.identifier}): {sentence}",
    ]
    bad = next((e for e in rule.examples if not e.good and code in e.codes), None)
    if bad is None:
        parts.append("No program shows this one: it is about the machine that runs it.")
        return "\n\n".join(parts) + "\n"
    language = 'python title="program.rlx"' if bad.kind == "relax" else "python"
    parts += [f"{KINDS.get(bad.kind, 'A program that ends so')}:", _fenced(language, bad.text)]
    said = _said(bad, code)
    if said:
        parts += ["What rlx says:", _fenced("text", said)]
    fixed, good = _fixed(bad), _nearest(rule, bad)
    if fixed is not None:
        parts += ["Mended, as `--fix` does it:", _fenced("python", fixed)]
    elif good is not None:
        told = GOOD.get(bad.kind, "The nearest program that keeps the rule")
        parts += [f"{told}:", _fenced("python", good)]
    return "\n\n".join(parts) + "\n"


def _fenced(language: str, text: str) -> str:
    return f"```{language}\n{text.strip()}\n```"


def _said(example: Example, code: str) -> str:
    """The diagnostics of a program, or how its run ends."""
    if example.kind == "relax":
        return str(check_text(example.text, "program.rlx")).strip()
    if example.kind == "run":
        return _outcome(example)
    return code if example.kind == "tir" else ""


def _outcome(example: Example) -> str:
    """The line that `rlx run` ends with."""
    from rlx.semantics.run.value_text import outcome_line
    from tests.spec.examples import outcome_of

    return outcome_line(outcome_of(example))


def _fixed(bad: Example) -> str | None:
    """The program with the edits that rlx proposes, if these mend all of it."""
    if bad.kind != "relax":
        return None
    fixed = mended(bad.text)
    return fixed.text if fixed.text != bad.text and not check_text(fixed.text).diagnostics else None


def _nearest(rule: Rule, bad: Example) -> str | None:
    """The program beside the rule that keeps it and is most like the bad one."""
    good = [e.text for e in rule.examples if e.good and e.kind == bad.kind]
    good = good or [e.text for e in rule.examples if e.good]
    return max(good, key=lambda text: _likeness(text, bad.text), default=None)


def _likeness(one: str, other: str) -> float:
    return difflib.SequenceMatcher(None, one, other, autojunk=False).ratio()


def every_code() -> Iterator[str]:
    """All codes that a page has a section for."""
    yield from OUTSIDE
    for rule in rules().values():
        yield from rule.premises
