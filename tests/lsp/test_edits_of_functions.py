"""A function added, lost, renamed, moved or changed: what is said of all others is what a check of the whole text says.

The functions know each other in every way: by calls, by results that are not annotated, by names that are misspelt, by
unknown operators, by what is private.
"""

from __future__ import annotations

import random
import re

import pytest

from rlx.checker.check import check_text
from rlx.grammar.diagnostic import Edit
from rlx.grammar.print.formatting import format_text
from rlx.lsp import document, incremental
from rlx.lsp.document import Document
from rlx.lsp.incremental import Checker
from rlx.lsp.layout import in_range
from tests.lsp.law import said

TENSOR = 'R.Tensor((4,), "float32")'
BODIES: dict[str, list[str]] = {
    "double": ["y = R.add(x, x)", "y = R.concat((x, x))", "y = R.exp(x"],
    "called": ["y = cls.double(x)", "y = cls.doubel(x)", "y = R.add(x, doubel)"],
    "twice": ["y = cls.called(cls.called(x))", "y = cls.twcie(x)", "y = cls.called(z)"],
    "unknown": ["y = R.frobnicate(x)", "y = R.frobnicate(cls.double(x))"],
    "other": ["y = R.frobnicate(x)", "y = R.frobnicatf(x)", "y = R.negative(x)"],
    "circle": ["y = cls.ring(x)", "y = cls.ring(cls.double(x))"],
    "ring": ["y = cls.circle(x)", "y = R.add(x, R.const(1))"],
    "noted": ["y = R.exp(x)  # rlx: ignore[D14]", "y = R.exp(q)  # rlx: ignore[WF02]"],
    "left": ["y = R.add(x, x)\n  z = y", "y = R.permute_dims(x, (1,))", "y = R.reshape(x, (2, 2))"],
}
RESULTS = ["", f" -> {TENSOR}", ' -> R.Tensor((8,), "float32")']
HEADS = ["@R.function", "@R.function(private=True)", "@R.function(pure=False)"]

Made = tuple[str, str, str, str]
"""A function: its head, name, result and statement."""


def function(name: str, rng: random.Random) -> Made:
    weights = (3, 2, 1)
    (head,) = rng.choices(HEADS, weights)
    (result,) = rng.choices(RESULTS, weights)
    return head, name, result, rng.choice(BODIES[name])


def edited(made: list[Made], rng: random.Random) -> list[Made]:
    """The functions after an edit."""
    at = rng.randrange(len(made))
    head, name, result, body = made[at]
    match rng.randrange(6):
        case 0 if len(made) > 2:
            return made[:at] + made[at + 1 :]
        case 1:
            added = function(rng.choice([*BODIES]), rng)
            return [*made[:at], added, *made[at:]]
        case 2:
            renamed = rng.choice([f"{name}s", name[:-1], rng.choice([*BODIES])])
            return [*made[:at], (head, renamed, result, body), *made[at + 1 :]]
        case 3:
            rest = made[:at] + made[at + 1 :]
            to = rng.randrange(len(rest) + 1)
            return [*rest[:to], made[at], *rest[to:]]
    other = function(name if name in BODIES else "double", rng)
    return [*made[:at], (other[0], name, *other[2:]), *made[at + 1 :]]


def text_of(made: list[Made]) -> str:
    lines = ["@I.ir_module", "class M:"]
    for head, name, result, body in made:
        lines += [f"    {head}", f"    def {name}(x: {TENSOR}){result}:", "        cls = M"]
        lines += [f"        {body}", "        return y", ""]
    return "\n".join(lines)


@pytest.mark.parametrize("seed", range(6))
def test_edits(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(incremental, "SMALL", 0)
    monkeypatch.setattr(incremental, "PART", 2.0)
    rng = random.Random(seed)
    made = [function(name, rng) for name in rng.sample([*BODIES], 6)]
    checker = Checker("a.rlx")
    for _ in range(24):
        text = text_of(made)
        assert said(checker.check(text)) == said(check_text(text, "a.rlx").diagnostics), text
        made = edited(made, rng)


@pytest.mark.parametrize("body", ["y = R.add(x, doubel)", "y = cls.doubel(x)", "y = doubel(x)"])
@pytest.mark.parametrize(("first", "then"), [("double", "zzz"), ("zzz", "double")])
def test_the_right_spelling_comes_and_goes(
    body: str, first: str, then: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(incremental, "SMALL", 0)
    monkeypatch.setattr(incremental, "PART", 2.0)
    checker = Checker("a.rlx")
    for name in (first, then):
        made = [(name, "y = R.add(x, x)"), ("caller", body), ("other", "y = R.exp(x)")]
        text = text_of([("@R.function", called, "", line) for called, line in made])
        assert said(checker.check(text)) == said(check_text(text, "a.rlx").diagnostics)
    assert checker.full == 1


def long_function(declared: str) -> str:
    """A function of many statements and as many parameters."""
    weights = ", ".join(f'w{k}: R.Tensor((8, 8), "float32")' for k in range(80))
    values = [f"R.matmul(R.exp(v{k}), w{k})" for k in range(80)]
    values[3::4] = [f"R.reshape(v{k}, R.shape([n, 8]))" for k in range(3, 80, 4)]
    lines = [f"            v{k + 1} = {value}\n" for k, value in enumerate(values)]
    head = f'    @R.function\n    def main(v0: R.Tensor(("n", 8), "float32"), {weights}):\n'
    body = "".join(lines)
    block = f"        with R.dataflow():\n{body}            R.output(v80)\n        return v80\n"
    return f"{declared}@I.ir_module\nclass M:\n{head}{block}"


@pytest.mark.parametrize("declared", ["", 'm = TypeVar("m")\n\n'])
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("R.exp(v40), w40", "R.abs(v40), w40"),
        ("R.exp(v40), w40", "R.exp(v4o), w40"),
        ("R.exp(v40), w40", "R.exp(v40), w4o"),
        ("R.exp(v40), w40", "R.permute_dims(v40), w40"),
        ("v41 = R.matmul(R.exp(v40), w40)", "v41 = R.reshape(v40, R.shape([8, n]))"),
        ("w40: R.Tensor((8, 8)", "w40: R.Tensor((7, 8)"),
        ('w40: R.Tensor((8, 8), "float32")', 'w40: R.Tensor((8, 8), "float16")'),
    ],
)
def test_a_statement_of_a_long_function_is_checked_with_what_it_concerns(
    declared: str, old: str, new: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(incremental, "SMALL", 0)
    text = long_function(declared)
    checker = Checker("a.rlx")
    checker.check(text)
    for each in (text.replace(old, new), text):
        assert said(checker.check(each)) == said(check_text(each, "a.rlx").diagnostics)
    assert checker.full == 1


def test_a_range_of_a_long_function_is_formatted_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document, "SMALL", 0)
    text = format_text(long_function("")).text
    assert text is not None
    untidy = re.sub(r"v(3\d) = R.matmul\(", r"v\1=R.matmul( ", text)
    made = Document(untidy, "a.rlx")
    first, last = untidy.index("v33=R"), untidy.index("v34=R")
    edits = in_range(made, first, last)
    assert [untidy[slice(*e.span)].split("=")[0].strip() for e in edits] == ["v33", "v34"]
    for edit in sorted(in_range(made, 0, len(untidy)), reverse=True, key=span_of):
        untidy = f"{untidy[: edit.span[0]]}{edit.text}{untidy[edit.span[1] :]}"
    assert untidy == text


def span_of(edit: Edit) -> tuple[int, int]:
    return edit.span


def test_hints_in_a_long_function_are_those_of_a_check(monkeypatch: pytest.MonkeyPatch) -> None:
    """Statements are checked again if something is wrong, or a name is bound twice."""
    monkeypatch.setattr(incremental, "SMALL", 0)
    legal = long_function("")
    wrong = legal.replace("R.exp(v40), w40", "R.permute_dims(v40), w40")
    for text in (legal, wrong.replace("v71 = ", "v70 = ").replace("(v71)", "(v70)")):
        checker = Checker("a.rlx")
        checker.check(text)
        assert checker.cut is not None
        (known,), (piece,) = checker.bodies.values(), checker.cut.pieces
        assert known.body is not None
        body = piece.span[0] + len(piece.head)
        hints = [(each.offset - body, each.text) for each in Document(text, "a.rlx").hints()]
        unsure = 0
        for place, _ in hints:
            found = known.body.hints(place - 4, place)
            if found is None:
                unsure += 1
            else:
                assert [(at, f": {info}") for at, info in found] == [
                    each for each in hints if each[0] == place
                ]
        assert unsure == 0 if text is legal else 0 < unsure < len(hints)
