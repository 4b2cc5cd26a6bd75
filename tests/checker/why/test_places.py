"""The meaning of a place, and the message where nothing stands there."""

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from rlx.checker.check import check_text
from rlx.checker.why.applied import Applied
from rlx.checker.why.build import StepBuilder
from rlx.checker.why.explain import at_place, why
from rlx.checker.why.place import PlaceError
from rlx.checker.why.recorder import RuleApplication, recording
from rlx.checker.why.step import Step, every
from rlx.checker.why.tree_text import render
from rlx.grammar.diagnostic import Source
from tests.hostile.damage import damaged, tokens

EXAMPLES = sorted((Path(__file__).parents[3] / "examples").glob("*.rlx"))

PROGRAM = """\
@I.ir_module
class Module:
    @R.function
    def main(
        x: R.Tensor(("n", 4), "float32"), c: R.Tensor((), "bool")
    ) -> R.Tensor(("n", 4), "float32"):
        # twice
        @R.function
        def twice(y: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            z = R.add(y, y)
            return z

        with R.dataflow():
            a = R.nn.relu(R.exp(x))
            b = R.concat(
                [a, a],
                axis=0,
            )
            R.output(b)
        if c:
            r = R.nn.relu(b)
        else:
            r = b
        s = R.negative(r); u = R.negative(s)
        return u

    @T.prim_func
    def kernel(A: T.Buffer((4,), "float32")):
        for i in range(4):
            A[i] = T.float32(1)
"""


def texts(line: int, column: int | None = None) -> list[str]:
    """The conclusions of the trees at a place of the program."""
    return [step.text for step in why(PROGRAM, "p.rlx", line, column).roots]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (3, ["main"]),
        (4, ["main"]),
        (8, ["twice"]),
        (5, ["x", "c"]),
        (9, ["twice"]),
        (10, ["z"]),
        (11, ["what twice returns"]),
        (14, ["a"]),
        (15, ["b"]),
        (16, ["b"]),
        (18, ["b"]),
        (20, ["r"]),
        (21, ["the branch taken if it is true"]),
        (22, ["r"]),
        (23, ["the branch taken if it is false"]),
        (25, ["what main returns"]),
        (28, ["kernel"]),
        (30, ["kernel"]),
    ],
)
def test_a_line_means_its_statements(line: int, found: list[str]) -> None:
    assert [text.split(" : ")[0] for text in texts(line)] == found


def test_a_line_of_several_statements() -> None:
    names = [text.split(" : ")[0] for text in texts(24)]
    assert names == ["s", "u"]


@pytest.mark.parametrize(
    ("line", "column", "found"),
    [
        (14, 13, "a"),
        (14, 17, "R.nn.relu(R.exp(x))"),
        (14, 27, "R.exp(x)"),
        (14, 33, "x"),
        (16, 18, "a"),
        (16, 17, "[a, a]"),
        (20, 12, "c"),
        (20, 9, "if c"),
        (5, 12, "x"),
        (5, 20, "x"),
        (25, 16, "u"),
    ],
)
def test_a_column_means_the_innermost_expression(line: int, column: int, found: str) -> None:
    assert texts(line, column)[0].split(" : ")[0] == found


@pytest.mark.parametrize(
    ("line", "column", "said"),
    [
        (7, None, "line 7 of p.rlx is a comment; the nearest is the binding of 'twice', at 9:9"),
        (12, None, "line 12 of p.rlx is blank; the nearest is the result of a function, at 11:20"),
        (99, None, "p.rlx has 30 lines: there is no line 99"),
        (0, None, "p.rlx has 30 lines: there is no line 0"),
        (11, 40, "line 11 of p.rlx has 20 columns: there is no column 40"),
        (
            1,
            1,
            "no struct info belongs to column 1 of line 1 of p.rlx; the nearest is",
        ),
        (13, None, "nothing on line 13 of p.rlx has struct info; the nearest is"),
    ],
)
def test_nothing_there(line: int, column: int | None, said: str) -> None:
    with pytest.raises(PlaceError) as caught:
        why(PROGRAM, "p.rlx", line, column)
    assert str(caught.value).startswith(said)


def test_every_place_has_an_answer() -> None:
    """The tool does not fail for any place of the text or beside it."""
    with recording() as recorder:
        report = check_text(PROGRAM, "p.rlx")
    builder = StepBuilder(report, recorder)
    for line, text in enumerate(PROGRAM.splitlines(), 1):
        for column in (None, *range(len(text) + 3)):
            try:
                assert at_place(builder, report, line, column).roots
            except PlaceError as nothing:
                assert str(nothing)


def wrong_texts() -> Iterator[tuple[str, str]]:
    """Names and texts: examples with a changed token, and texts without a program."""
    for path in EXAMPLES:
        text = path.read_text("utf-8")
        yield path.stem, damaged(text, tokens(text), Random(path.stem))
    yield from (("nothing", ""), ("a comment", "# x\n"), ("a statement", "\n\nx = 1\n"))


WRONG = dict(wrong_texts())


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_shown_where_the_check_shows_it(name: str) -> None:
    """Without a place it belongs to the first line."""
    with recording() as recorder:
        report = check_text(WRONG[name], "p.rlx")
    builder = StepBuilder(report, recorder)
    for found in report.diagnostics:
        line, column = report.source.position(found.span[0] if found.span else 0)
        for at in (None, column):
            shown = every(at_place(builder, report, line, at).roots)
            assert (found.code, found.message) in {(s.code, s.text) for s in shown}


def test_a_text_that_does_not_parse() -> None:
    broken = PROGRAM.replace("R.exp(x)", "R.exp(x")
    found = why(broken, "p.rlx", 14)
    assert "PARSE" in {step.code for step in every(found.roots)}
    assert found.has_error
    assert why(broken, "p.rlx", 10).roots[0].text.startswith("z : ")


def test_what_could_not_be_read_is_named() -> None:
    with pytest.raises(PlaceError, match="the text does not parse at 3:"):
        why("@R.function\ndef f(x: R.Tensor((4,), 'float32')):\n    y = = x\n", "p.rlx", 2, 80)


def test_a_recursive_function_rests_on_itself_once() -> None:
    text = """\
@I.ir_module
class Module:
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        y = Module.f(x)
        return y
"""
    found = why(text, "p.rlx", 5)
    kinds = [step.kind for step in every(found.roots)]
    assert kinds.count("reference") == 2  # the function, and its own binding


def chain(count: int) -> str:
    """A function whose bindings use each other, from line 3 on."""
    lines = [f"    x{i + 1} = R.nn.relu(x{i})" for i in range(count)]
    head = '@R.function\ndef f(x0: R.Tensor(("n",), "float32")):'
    return "\n".join([head, *lines, f"    return x{count}\n"])


def test_chains_longer_than_python_recurses() -> None:
    text = chain(1200)
    roots = why(text, "p.rlx", 1202).roots
    assert sum(step.code == "D14" for step in every(roots)) == 1200
    assert shown_lines(list(roots), text) > 3600


def test_after_a_thousand_lines_the_rest_is_counted() -> None:
    found = why(chain(300), "p.rlx", 302)
    shown = list(render(found.roots, found.source, {}, None, 100))
    assert 100 < len(shown) < 200
    assert "derivations of " in shown[-1] and "--format json" in shown[-1]


def test_only_what_is_shown_is_looked_into(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[RuleApplication] = []
    add = Applied.add

    def counted(self: Applied, step: Step, record: RuleApplication) -> None:
        looked.append(record)
        add(self, step, record)

    monkeypatch.setattr(Applied, "add", counted)
    found = why(chain(300), "p.rlx", 302)
    shown = list(found.lines({}, None, 100))
    assert len(looked) < len(shown)
    assert list(every(found.roots)) and len(looked) > 300


def shown_lines(roots: list[Step], text: str) -> int:
    """The number of lines of the trees; no line is wider than nesting to a fixed depth makes it."""
    lines = list(render(roots, Source(text), {}))
    assert max(map(len, lines)) < 300
    return len(lines)
