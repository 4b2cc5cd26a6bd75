"""What is said of texts of Relay, and what they become, that were picked because each shows another way through the
code, or a mistake in it, stays what it is.

`RLX_UPDATE_SNAPSHOTS=1 pytest tests/relay/test_same_picked.py` writes the digests anew,
`python -m tests.mutants.pick tests.relay.test_same_picked 6000` picks other texts, and
`python -m tests.mutants.sharpen tests.relay.test_same_picked 2000 300 --room relay` adds some.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from rlx import relay
from rlx.grammar.parser import ParseError
from rlx.grammar.printer import print_module, print_node
from rlx.grammar.stack import recursion_room
from rlx.relay.evaluation import Evaluator
from rlx.relay.nodes import RelayModule
from rlx.relay.parser import read
from rlx.relay.translation import translate
from rlx.relay.type_text import relay_type
from rlx.semantics.outcome import Ended, Outcome, Returned
from tests.grammar.parse.test_trees import Dump
from tests.relay import damage, odd_calls, odd_texts, test_same_answers
from tests.relay.generator import program
from tests.relay.law import value
from tests.snapshots import assert_picked
from tests.values import brief

PARTS = 100
PACKED = {"trace.tick": lambda first, *rest: first}


def pool(random: Random) -> str:
    """A text: generated, a call, a whole one; mostly with damages of two kinds."""
    match random.randrange(8):
        case 0:
            text = str(program(random.randrange(1 << 30)))
            for _ in range(random.randrange(3)):
                text = test_same_answers.damaged(text, random)
        case 1:
            text = damage.damaged(random.randrange(1 << 30))
        case 2:
            text = random.choice(test_same_answers.TEXTS)
            for _ in range(random.randint(0, 2)):
                text = test_same_answers.damaged(text, random)
        case 3 | 4:
            text = odd_texts.text(random)
        case _:
            text = odd_calls.call(random)
    return text


def answers(text: str) -> str:
    """What is said of a text, what it becomes, and how it runs."""
    return "\n".join(_answers(text))


def _answers(text: str) -> Iterator[str]:
    report = relay.check(text, "a.relay")
    yield f"{report.source.path} {report.ok} {report.obligations} {len(report.errors)}"
    for each in (*report.diagnostics, *read(text).diagnostics):
        yield f"{each} {each.span} {each.help} {each.related} {each.edit}"
    yield str({name: print_node(info) for name, info in report.types.items()})
    yield str({name: relay_type(info) for name, info in report.types.items()})
    if report.module is not None:
        with recursion_room(100_000):
            yield from _of_module(report.module, text)


def _of_module(module: RelayModule, text: str) -> Iterator[str]:
    yield from Dump(text).lines("module", module, 0)
    normal, graph = relay.to_anf(module), relay.to_graph(module)
    for form in (module, normal, graph):
        yield f"{form}\n{_reads_back(form)}"
        yield from Dump(text).lines("form", form, 0)
    yield f"{[relay.structural_equal(a, b) for a in (module, normal) for b in (normal, graph)]}"
    yield from _compared(module, text)
    made = translate(module, "a.relay")
    yield from Dump(text).lines("translation", made.module, 0)
    for each in (*made.diagnostics, *made.losses):
        yield f"{each} {each.span} {each.help}"
    yield str([print_node(info) for info in made.signatures.values()])
    try:
        yield print_module(relay.to_relax(module))
    except ParseError as error:
        yield f"{error}"
    for entry in module.functions:
        args = odd_calls.arguments(module[entry.name])
        yield end(relay.run(module, *args, entry=entry.name, packed=PACKED, fuel=5_000))
        for form, fuel in ((graph, 5_000), (normal, 3)):
            ran: list[str] = []
            runner = Evaluator(form, PACKED, ran.append)
            for unknown in (2, 2, 3):
                again = map(value, odd_calls.arguments(module[entry.name], unknown))
                yield f"{entry.name}: {end(runner.run(entry.name, [*again], fuel))} {ran}"


def _reads_back(form: RelayModule) -> object:
    """Whether the text of a form says the same; that of a program with errors may not be legal."""
    found = read(str(form))
    if found.module is None:
        return [*map(str, found.diagnostics)]
    return relay.structural_equal(found.module, form)


def _compared(module: RelayModule, text: str) -> Iterator[str]:
    """Whether texts with a change say the same."""
    random = Random(text)
    for _ in range(6):
        other = read(test_same_answers.damaged(text, random)).module
        if other is not None:
            yield f"{relay.structural_equal(module, other)} {relay.structural_equal(other, module)}"


def end(found: Outcome) -> str:
    """How a run ends."""
    if isinstance(found, Ended):
        return f"{found} {found.span} {found.rule}"
    return brief(found.value) if isinstance(found, Returned) else str(found)


@pytest.mark.parametrize("part", range(PARTS))
def test_picked_texts(part: int) -> None:
    assert_picked(Path(__file__).parent, part, PARTS, answers)
