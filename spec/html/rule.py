"""A rule as HTML: what it says, its inference, why it is so, and the programs beside it."""

from __future__ import annotations

from html import escape

from rlx.spec.html.chapter import Section
from rlx.spec.html.highlight import highlighted, typeset
from rlx.spec.html.links import Links
from rlx.spec.html.markdown import Markdown
from rlx.spec.reader import Example, Inference, Rule, ledger, rules


def rule_html(rule: Rule, section: Section, markdown: Markdown) -> str:
    """The whole of a rule."""
    links = markdown.links
    heading = f'<a class="id" href="#{rule.identifier}">{rule.identifier}</a> {escape(rule.title)}'
    body = [
        f'<article class="rule" id="{rule.identifier}"><span id="{section.slug}"></span>',
        f"<h3>{heading}</h3>",
        markdown.block(section.parts.get("", "")),
        "" if rule.block is None else inference_html(rule.identifier, rule.block, links),
        _premises(rule, markdown),
        _labelled("Why", section.parts.get("Why", ""), markdown),
        _labelled("TVM differs", section.parts.get("TVM", ""), markdown),
        _ledger(rule, links),
        "".join(_example(example, links) for example in rule.examples),
        _labelled("Source", section.parts.get("Source", ""), markdown, "source"),
        "</article>",
    ]
    return "\n".join(part for part in body if part)


def inference_html(name: str, block: Inference, links: Links) -> str:
    """Premises over a bar, the conclusion under it."""
    above = "".join(
        f'<div class="premise">{_label(label, links)}<span>{typeset(text, links.of)}</span></div>'
        for label, text in block.premises
    )
    kind = "above labelled" if block.labels else "above"
    judgement = escape(block.judgement)
    return (
        f'<figure class="inference" aria-label="{name}"><div class="frac">'
        f'<div class="{kind}">{above or "&nbsp;"}</div>'
        f'<div class="below">{typeset(block.conclusion, links.of)}</div></div>'
        f'<figcaption><b>{name}</b><a href="index.html#judgements">{judgement}</a></figcaption>'
        "</figure>"
    )


def _label(label: str, links: Links) -> str:
    if not label:
        return '<span class="label"></span>'
    return f'<span class="label"><a href="{links.of(label) or "#"}">{label}</a></span>'


def _premises(rule: Rule, markdown: Markdown) -> str:
    if not rule.premises:
        return ""
    rows = "".join(
        f"<dt{_anchor(code)}><code>{code}</code></dt><dd>{markdown.inline(text)}</dd>"
        for code, text in rule.premises.items()
    )
    return f'<dl class="premises">{rows}</dl>'


def _anchor(code: str) -> str:
    """The anchor of a premise; a code that is the name of a rule leads to that."""
    return "" if code in rules() else f' id="{code}"'


def _labelled(label: str, text: str, markdown: Markdown, kind: str = "why") -> str:
    if not text:
        return ""
    return f'<p class="{kind}"><b>{label}:</b> {markdown.inline(text)}</p>'


def _ledger(rule: Rule, links: Links) -> str:
    if not rule.ledger:
        return ""
    entries = ", ".join(
        f'<a href="{links.of(f"ledger {n}")}">{n}</a> {escape(ledger()[n].title)}'
        for n in rule.ledger
    )
    return f'<p class="why"><b>Ledger:</b> {entries}</p>'


_TOLD = {
    ("tree", True): "a tree that keeps the rule",
    ("tree", False): "a tree that breaks the rule:",
    ("order", True): "judgements that hold",
    ("order", False): "judgements that fail:",
    ("checks", True): "a program without checks that a run needs",
    ("checks", False): "a program with checks that a run needs:",
    ("run", True): "a run that returns",
    ("run", False): "a run that ends at",
}


def _example(example: Example, links: Links) -> str:
    """A program that is shown on demand, under what is said of it."""
    codes = " ".join(links.code(code) for code in dict.fromkeys(example.codes))
    plain = "a program that keeps the rule" if example.good else "a program that breaks the rule:"
    told = _TOLD.get((example.kind, example.good), plain)
    kind = "good" if example.good else "bad"
    return (
        f'<details class="{kind}"><summary>{told} {codes}</summary>'
        f'<pre class="code">{highlighted(example.text)}</pre></details>'
    )
