"""What is said of texts of Relay, legal and damaged, and what they become, stays what it is.

`RLX_UPDATE_SNAPSHOTS=1 pytest tests/relay/test_same_answers.py` writes the digests anew.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from rlx import relay
from rlx.grammar.printer import print_module
from rlx.relay.lexer import lex
from rlx.semantics.outcome import Returned
from tests.relay import documents
from tests.relay.generator import program
from tests.relay.law import arguments, forms
from tests.relay.operator_calls import CALLS, PARAMETERS
from tests.relay.test_operators import value
from tests.relay.test_parser import FULL
from tests.snapshots import assert_digest
from tests.values import brief

SNAPSHOT = Path(__file__).parent / "snapshots" / "answers.txt"
EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "relay").glob("*.relay"))
TEXTS = (*documents.ALL, FULL, *(path.read_text("utf-8") for path in EXAMPLES))
WORDS = ("%9", "}", "=", "fn", "-1", "0", "3", "7", "[", "]", "None", '"NHWC"', "True", "%p", "%x")
PARTS = 8


def damaged(text: str, random: Random) -> str:
    """The text with a token replaced by one of its kind or by any, dropped, or doubled."""
    tokens = lex(text).tokens[:-1]
    token = random.choice(tokens)
    alike = [other.text for other in tokens if other.kind == token.kind]
    new = random.choice([random.choice(alike), random.choice(alike), random.choice(WORDS), ""])
    if random.random() < 0.1:
        new = f"{token.text} {token.text}"
    return text[: token.start] + new + text[token.end :]


def answers(text: str) -> Iterator[str]:
    """What the check says of a text, its types, and the forms that it is translated to."""
    report = relay.check(text)
    yield f"{text}\n{report.obligations}"
    yield from map(str, report.diagnostics)
    yield str({name: str(info) for name, info in report.types.items()})
    if report.module is not None:
        yield f"{report.module}\n{relay.to_anf(report.module)}"
        if report.ok:
            yield print_module(relay.to_relax(report.module))


def ends(text: str, args: list[object]) -> Iterator[str]:
    """How the function runs."""
    report = relay.check(text)
    if report.ok and report.module is not None:
        found = relay.run(report.module, *args, fuel=5_000)
        yield brief(found.value) if isinstance(found, Returned) else str(found)


@pytest.mark.parametrize("part", range(PARTS))
def test_texts(part: int) -> None:
    lines: list[str] = []
    for at, text in enumerate(TEXTS):
        for again in range(part, 16, PARTS):
            random = Random(f"{at} {again}")
            made = text
            for _ in range(random.randint(1, 2)):
                made = damaged(made, random)
            lines += answers(made)
    for seed in range(part, 32, PARTS):
        module, random = program(seed), Random(seed)
        lines += [*answers(str(module)), brief([*forms(module).values()])]
        made = damaged(str(module), random)
        lines += [*answers(made), *ends(made, list(arguments()))]
    assert_digest(SNAPSHOT, f"texts {part}", "\n".join(lines))


@pytest.mark.parametrize("part", range(PARTS))
def test_calls(part: int) -> None:
    for call in CALLS[part::PARTS]:
        lines: list[str] = []
        for again in range(4):
            made = damaged(call, Random(f"{call} {again}")) if again else call
            used = list(dict.fromkeys(re.findall(r"%(\w+)", made)))
            if set(used) <= PARAMETERS.keys():
                params = ", ".join(f"%{name}: {PARAMETERS[name]}" for name in used)
                text = f"fn ({params}) {{ {made} }}"
                lines += [*answers(text), *ends(text, [value(name) for name in used])]
        assert_digest(SNAPSHOT, call, "\n".join(lines))
