"""The programs beside the rules of `spec/relay.md`, executed."""

from __future__ import annotations

from rlx import relay
from rlx.relay.evaluation import Evaluator
from rlx.relay.translation import translate
from rlx.semantics.outcome import Ended, Returned
from rlx.semantics.run.inputs import inputs
from rlx.semantics.run.value_text import line
from rlx.spec.reader import Example, Rule


def checked(example: Example, rule: Rule) -> list[str]:
    """The errors and warnings of a program, and the notes that are premises of the rule."""
    found = relay.check(example.text).diagnostics
    return [d.code for d in found if d.severity != "note" or d.code in rule.premises]


def executed(example: Example) -> list[str]:
    """The end of the run of `@main`: a code, or another result than the first line says."""
    head, _, text = example.text.partition("\n")
    given, _, wanted = head.removeprefix("//").partition("=>")
    said = dict(part.strip().split("=", 1) for part in given.split(";") if part.strip())
    module = relay.parse(text)
    made = translate(module)
    (function,) = made.module.functions.values()
    values = inputs(function, said).values  # type: ignore[arg-type]
    found = Evaluator(module).run("main", values, fuel=1000)
    for form in (relay.to_anf(module), relay.to_graph(module)):
        other = Evaluator(form).run("main", values, fuel=1000)
        assert type(other) is type(found) and getattr(other, "code", 0) == getattr(found, "code", 0)
    if isinstance(found, Ended):
        return [found.code]
    assert isinstance(found, Returned)
    got = line(found.value)
    return [] if got == wanted.strip() else [f"returned {got}"]
