"""`rlx fmt` keeps the program and its comments in any layout, and writes it one way."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from rlx.generate.programs import Options, random_module
from rlx.grammar.nodes.equal import first_difference
from rlx.grammar.print.formatting import format_text
from rlx.grammar.print.printer import print_module
from rlx.grammar.read.parser import parse
from tests.grammar.noise import noisy

EXAMPLES = sorted((Path(__file__).parents[3] / "examples").rglob("*.rlx"))


def comments(text: str) -> list[str]:
    """The comments of a text, apart from the header of printed modules."""
    found = [line[line.index("#") :].strip() for line in text.splitlines() if "#" in line]
    return sorted(each for each in found if not each.startswith(("# from ", "# with T.")))


def keeps(text: str, seed: int) -> None:
    """Format a text with lines put in, and compare."""
    other = noisy(text, random.Random(seed))
    before, after = parse(text).modules, parse(other).modules
    for one, same in zip(before, after, strict=True):
        assert first_difference(one, same, map_free_vars=True) is None, other
    # 0.27 has no annotation of a scalar with its value
    version = "0.25" if "R.Prim(value=" in text else "0.27"
    outcome = format_text(other, version=version)
    assert outcome.text is not None, (outcome.complaints, other)
    assert comments(outcome.text) == comments(other), other
    assert format_text(outcome.text, version=version).text == outcome.text, other


@pytest.mark.parametrize("seed", range(15))
def test_generated_programs(seed: int) -> None:
    keeps(print_module(random_module(random.Random(seed), Options(8))), seed)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples(path: Path) -> None:
    text = path.read_text("utf-8")
    if not any(d.is_error for d in parse(text).diagnostics):
        keeps(text, 0)


def width(line: str) -> int:
    return len(line) - len(line.lstrip())


def stays(lines: list[str], at: int) -> bool:
    """Whether a comment above a line is printed there: the heads of definitions, declarations and
    what a branch or a block yields have theirs elsewhere.
    """
    ends = at + 1 == len(lines) or width(lines[at + 1]) < width(lines[at])
    return not ELSEWHERE.match(lines[at]) and not (ends and RESULT.match(lines[at]))


ELSEWHERE = re.compile(
    r"\s*(?:def |class |# |cls = |else:|R\.output|T\.(?:reads|writes)|[RT]\.func_attr|with T\.init|[\w, ]+ = T\.axis"
    r"|\w+ = (?:TypeVar|T\.match_buffer|T\.sblock_alloc_buffer|T\.\w+\(\)))"
)
RESULT = re.compile(r"\s*(?:R\.|\w+(?:: R\..*)? = (?!T\.))")


KERNELS = """
@T.prim_func
def first(a: T.handle, B: T.Buffer((8, 16), "float32"), C: T.Buffer((16,), "int32"), v: T.float32):
    n = T.int32()
    A = T.match_buffer(a, (n, 8), "float32")
    t: T.float32 = v * 2.0
    D = T.decl_buffer((8,), "float32")
    for i, j in T.grid(8, 16):
        B[i, j] = t
        if i > 0:
            B[i, j] = v
        else:
            B[i, j] = 1.0
            t = t + 1.0
    while C[0] > 0:
        C[0] = C[0] - 1
    assert n > 0, "words"
    T.evaluate(T.call_extern("int32", "f", n))
    for i in range(n):
        with T.block("B"):
            k = T.axis.spatial(n, i)
            D[k] = A[k, 0]
    T.evaluate(0)
"""


@pytest.mark.parametrize(
    "path", [*EXAMPLES, None], ids=lambda path: path.stem if path else "kernels"
)
def test_a_comment_stays_above_its_line(path: Path | None) -> None:
    given = path.read_text("utf-8") if path else KERNELS
    if any(d.is_error for d in parse(given).diagnostics):
        return
    lines = (format_text(given).text or "").splitlines()
    places = [at for at, line in enumerate(lines) if line.strip() and stays(lines, at)]
    assert places
    made = list(lines)
    for at in reversed(places):
        made.insert(at, f"{' ' * width(lines[at])}# above {at}")
    assert format_text("\n".join(made) + "\n").text == "\n".join(made) + "\n"


def test_comments_of_every_place() -> None:
    text = '''\
# 0
n = TypeVar("n")  # 1

# 2
@I.ir_module  # 3
# 4
class M:  # 5
    """words"""  # 6

    # 7
    @T.prim_func  # 8
    # 9
    def k(  # 10
        a: T.Buffer((4,), "float32"),  # 11
        b: T.Buffer((4,), "float32"),
    ):  # 12
        # 13
        for i in range(4):  # 14
            # 15
            b[i] = (  # 16
                a[i]  # 17
            )  # 18
            # 19
        # 20

    # 21

    # 22
    @R.function
    def main(x: R.Tensor((n,), "float32"), c: R.Tensor((), "bool")):  # 23
        # 24
        with R.dataflow():  # 25
        # 26
            # 27
            y = R.add(  # 28
                x,  # 29
            # 30
                x,
            )  # 31
            R.output(y)  # 32
        # 33
        if c:  # 34
            # 35
            z = y  # 36
        else:  # 37
            z = x
            # 38
        # 39
        return z  # 40
    # 41
# 42
'''
    outcome = format_text(text)
    assert outcome.text is not None, outcome.complaints
    numbers = [int(c) for c in re.findall(r"# (\d+)", outcome.text)]
    assert numbers == list(range(43)), outcome.text
    assert format_text(outcome.text).text == outcome.text


def test_comments_in_and_around_what_is_kept_as_text() -> None:
    """Each is printed once, whether its line is understood or not."""
    text = """\
@T.prim_func
def k(a: T.Buffer((4,), "float32"), b: T.Buffer((4,), "float32")):
    # 0
    with T.unheard_of(3):  # 1
        # 2
        b[0] = a[0]  # 3
        # 4
    # 5
    for i in range(4):  # 6
        # 7
        with T.unheard_of(i):  # 8
            # 9
            b[i] = a[i]  # 10
            # 11
        # 12
        b[i] = b[i] + 1.0  # 13
    # 14
    x = [3]  # 15
    # 16
"""
    outcome = format_text(text)
    assert outcome.text is not None, outcome.complaints
    numbers = [int(c[1:]) for c in comments(outcome.text)]
    assert sorted(numbers) == list(range(17)), outcome.text
    assert format_text(outcome.text).text == outcome.text
    kept = text[text.index("with T.unheard_of(i)") : text.index("        # 12")]
    assert kept in outcome.text
