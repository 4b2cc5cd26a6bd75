"""Texts with mistakes that nobody planned: each is reported, or means the same in all its forms.

``python -m tests.relay.damage COUNT SEED`` changes attributes, operands, types and words of texts: of a call of each
operator, of the examples and of the introduction.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import rlx
from rlx import relay
from rlx.grammar.print.printer import print_module
from rlx.relay.evaluation import Evaluator
from rlx.relay.lexer import lex
from rlx.relay.parser import read
from rlx.relay.translation import translate
from rlx.semantics.machine import load
from rlx.semantics.outcome import Ended, Outcome
from rlx.semantics.run.inputs import InputError, inputs
from rlx.semantics.values import Value
from tests.long_run import long_run
from tests.relay import documents
from tests.relay.law import same
from tests.relay.operator_calls import CALLS, PARAMETERS

EXAMPLES = Path(__file__).parents[2] / "examples" / "relay"
WHOLE = (*documents.ALL, *(path.read_text("utf-8") for path in sorted(EXAMPLES.glob("*.relay"))))
WORDS = ("%9", "}", "=", "fn", "-1", "0", "3", "7", "[", "]", "None", '"NHWC"', "True", "%p", "%x")
FUEL = 20_000
VALUES = (
    *("-1", "0", "1", "3", "-3", "100", "9999999999i64", "1f", "-2.5f", "inff", "nanf"),
    *("[]", "[1]", "[0, 1]", "[-1]", "[1, 1, 1]", "[[1, 1], [1, 1]]", "[1f]", "[100000, 100000]"),
    *("None", "True", "False", '"a"', '"NCHW"', '"float32"', '"int8"', "meta[a][0]"),
)
NAMES = (
    *("axis", "keepdims", "dtype", "out_dtype", "strides", "padding", "layout", "groups", "shape"),
    *("newshape", "axes", "exclude", "mode", "begin", "dilation", "batch_dims", "transpose_a"),
    *("allowzero", "slice_mode", "k", "ret_type"),
)
TYPES = ("0", "1", "2", "5", "?", "n", "float32", "int8", "bool", "float16", "int64")
CHECKS = {"RL-check-type": "E-cast-kind", "RL-check-dimension": "E-cast-dimension"}
"""What the checks of Relay are called in Relax; a wrong element type or rank is another kind there, too."""


def with_another_token(text: str, random: Random) -> str:
    """The text with a token replaced by one of its kind or by any, dropped, or doubled."""
    tokens = lex(text).tokens[:-1]
    token = random.choice(tokens)
    alike = [other.text for other in tokens if other.kind == token.kind]
    new = random.choice([random.choice(alike), random.choice(alike), random.choice(WORDS), ""])
    if random.random() < 0.1:
        new = f"{token.text} {token.text}"
    return text[: token.start] + new + text[token.end :]


def text_of(call: str) -> str:
    """A program of one call."""
    used = [name for name in PARAMETERS if f"%{name}," in call or f"%{name})" in call]
    params = ", ".join(f"%{name}: {PARAMETERS[name]}" for name in used)
    return f"def @main({params}) {{\n  {call}\n}}\n"


def exchanged(
    pattern: str, choices: Callable[[list[str]], list[str]], text: str, random: Random
) -> str:
    """The text with a match of a pattern in another's place, or in that of a choice."""
    places = list(re.finditer(pattern, text))
    if not places:
        return text
    place = random.choice(places)
    new = random.choice(choices([each[0] for each in places]))
    return text[: place.start()] + new + text[place.end() :]


def added(text: str, random: Random) -> str:
    """The text with an attribute more."""
    places = list(re.finditer(r"(?<!@main)\([^()=]*(?=\))", text))
    at = random.choice(places).end() if places else 0
    attribute = f", {random.choice(NAMES)}={random.choice(VALUES)}"
    return text[:at] + attribute + text[at:]


WAYS: tuple[Callable[[str, Random], str], ...] = (
    partial(exchanged, r"(?<==)(\[[^\]]*\]+|\"[^\"]*\"|[-\w.]+)", lambda found: [*VALUES]),
    partial(exchanged, r"%[\w.]+", lambda found: found),
    partial(exchanged, r"\b\d+\b|float32|int32|bool", lambda found: [*TYPES]),
    partial(
        exchanged, r"[%@]?[\w.]+|\"[^\"]*\"|->|[^\w\s]", lambda found: [*found, "", "%9 =", "}"]
    ),
    added,
)


WEIGHTS = (4, 2, 2, 1, 3)


def damaged(seed: int) -> str:
    """Text number seed."""
    random = Random(seed)
    text = random.choice(WHOLE) if seed % 3 == 0 else text_of(random.choice(CALLS))
    for _ in range(random.randint(1, 3)):
        (way,) = random.choices(WAYS, WEIGHTS)
        text = way(text, random)
    return text


def wrong(seed: int, kinds: Counter[str]) -> str:
    """Disagreements between the forms of a text; empty if there are none."""
    text = damaged(seed)
    found = read(text)
    if found.module is None:
        kinds["unreadable"] += 1
        return "" if found.diagnostics else "refused without a word"
    module, errors = found.module, relay.check(text).errors
    if not relay.structural_equal(relay.parse(str(module)), module):
        return "the text reads back as another program"
    made = translate(module)
    if any(d.is_error for d in made.diagnostics):
        kinds["no translation"] += 1
        return "" if errors else "the check finds nothing, and there is no translation"
    if bool(rlx.check(print_module(made.module)).errors) != bool(errors):
        return "the text of the translation checks in another way"
    (name, var), *_ = made.names.items()
    try:
        args = inputs(made.module.functions[var], {}, seed).values  # type: ignore[arg-type]
    except InputError:
        kinds["no arguments"] += 1
        return ""
    forms = {
        "graph": module,
        "A-normal form": relay.to_anf(module),
        "graph again": relay.to_graph(module),
    }
    ends = {key: end(Evaluator(form).run(name.name, args, FUEL)) for key, form in forms.items()}
    ends["Relax"] = end(load(made.module, backend="steps").run(var.name_hint, args, fuel=10 * FUEL))
    first = ends["graph"]
    kinds[first[0]] += 1
    if first[0] in ("OutOfFuel", "Unsupported"):
        return ""
    return next(
        (f"{key}: {e}, graph: {first}" for key, e in ends.items() if not alike(e, first, errors)),
        "",
    )


def end(outcome: Outcome) -> tuple[str, Any]:
    """The end of a run: its value, or the code of its failure."""
    kind = type(outcome).__name__
    return kind, CHECKS.get(outcome.code, outcome.code) if isinstance(
        outcome, Ended
    ) else outcome.numpy()


def alike(one: tuple[str, Any], other: tuple[str, Any], errors: tuple[object, ...]) -> bool:
    """Whether two runs end alike; of a program with errors it is enough that both fail."""
    if errors and one[0] != "Returned" and other[0] != "Returned":
        return True
    if one[0] == other[0] == "CheckFailed":
        return True
    return one[0] == other[0] and equal(one[1], other[1])


def equal(one: Any, other: Any) -> bool:
    """Whether two values are equal; functions are not compared."""
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(equal, one, other))
    if isinstance(one, Value) or isinstance(other, Value):
        return isinstance(one, Value) and isinstance(other, Value)
    return same(one, other)


if __name__ == "__main__":
    long_run(wrong)
