"""Two mistakes that have nothing to do with each other are both reported, and nothing else is."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rlx.checker.check import check_text
from rlx.grammar.diagnostic import Diagnostic
from rlx.grammar.read.lexer import TOKEN
from tests.hostile.damage import tokens

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.rlx"))
PROTOTYPES = sorted((Path(__file__).parents[2] / "examples/prototype").glob("*.rlx"))
UNKNOWN = "zz_unknown"
TRIES = 3
Place = tuple[int, int]

SECOND: dict[str, Callable[[str], str]] = {
    "an unknown name": lambda _: "zz_other",
    "a name given twice": lambda name: f"{name} {name}",
    "a sign that is none": lambda name: f"{name} $",
    "a word of Python": lambda name: f"{name} class",
    "no name": lambda _: ",",
    "a bracket that is not closed": lambda name: f"({name}",
    "a bracket that is not opened": lambda name: f"{name})",
    "another bracket": lambda name: f"[{name})",
}


def uses(text: str) -> Iterator[Place]:
    """Names of values, as arguments of operators in bindings of one line."""
    at = 0
    for line in text.splitlines(keepends=True):
        start = line.find(" = R.")
        balanced = line.count("(") == line.count(")")
        if start >= 0 and balanced and line.startswith("    ") and "#" not in line:
            while found := TOKEN.match(line, start):
                name = found[found.lastgroup or 0]
                if found.end() == start or found.lastgroup == "newline":
                    break
                inside = line[: found.end() - len(name)].endswith(("(", ", "))
                start = found.end()
                if found.lastgroup == "NAME" and inside and line[start] in ",)":
                    yield at + start - len(name), at + start
        at += len(line)


def errors(text: str) -> list[Diagnostic]:
    return [d for d in check_text(text).diagnostics if d.is_error]


def changed(text: str, changes: dict[Place, str]) -> str:
    for (start, end), made in sorted(changes.items(), reverse=True):
        text = text[:start] + made + text[end:]
    return text


@pytest.mark.parametrize("second", list(SECOND))
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_both_mistakes_are_reported(path: Path, second: str) -> None:
    text = path.read_text()
    chance = random.Random(f"{path.stem} {second}")
    places = list(uses(text))
    lines = {place: text.count("\n", 0, place[0]) for place in places}
    for _ in range(TRIES):
        if len(set(lines.values())) < 2:
            return
        one = chance.choice(places)
        other = chance.choice([place for place in places if lines[place] != lines[one]])
        mistake = SECOND[second](text[other[0] : other[1]])
        made = changed(text, {one: UNKNOWN, other: mistake})
        found = errors(made)
        said = {made.count("\n", 0, d.span[0]) for d in found if d.span}
        shown = made.splitlines()
        assert {lines[one], lines[other]} <= said, (shown[lines[one]], shown[lines[other]], said)


TODAY = {
    "an unknown data type": ('"float32"', '"flot32"'),
    "an unknown keyword": ('dtype="', 'dtpe="'),
    "an unknown word": ("R.Tensor(", "R.Tensr("),
    "another keyword": ("R.Tensor((", "R.Tensor(rank=2, shape=("),
}
OF_2022 = {
    "an unknown data type": ('"f32"]', '"flt32"]'),
    "an unknown keyword": (', "f32"]', ', dtpe="f32"]'),
    "an unknown word": ("R.Tensor[", "R.Tensr["),
    "a comma too few": (', "f32"]', ' "f32"]'),
    "a form of no version": ("R.Tensor[", "R.Tensor[1, 2, 3, "),
}
ANNOTATIONS = [(path, name, *pair) for path in EXAMPLES for name, pair in TODAY.items()] + [
    (path, name, *pair) for path in PROTOTYPES for name, pair in OF_2022.items()
]


@pytest.mark.parametrize(
    ("path", "mistake", "right", "wrong"),
    ANNOTATIONS,
    ids=[f"{path.stem} {mistake}" for path, mistake, _, _ in ANNOTATIONS],
)
def test_an_annotation_with_a_mistake_hides_none_behind_it(
    path: Path, mistake: str, right: str, wrong: str
) -> None:
    text = path.read_text()
    chance = random.Random(f"{path.stem} {mistake}")
    places = list(uses(text))
    for use in chance.sample(places, min(TRIES, len(places))):
        before = text.rfind(right, 0, use[0])
        line = text[text.rfind("\n", 0, before) + 1 : before]
        if before < 0 or "#" in line or "const(" in line:
            continue
        if [d.code for d in errors(changed(text, {use: UNKNOWN}))] != ["WF02-undefined"]:
            continue  # the annotation might have bound a dimension of this name
        made = changed(text, {use: UNKNOWN, (before, before + len(right)): wrong})
        assert len(errors(made)) == 2, made[before : before + 80]


HEADED = """@I.ir_module
class M:
    @R.function
    def f(x: R.Tensor((n, 4), "float32"), y: R.Tensor((n, 4), "float32")) -> R.Tensor((n, 4), "float32"):
        a = R.add(x, y)
        b = R.add(a, unknown)
        return b

    @R.function
    def g(u: R.Tensor((3, 4), "float32")) -> R.Tensor((3, 4), "float32"):
        v = cls.f(u, u)
        w: R.Tensor((3, 4), "float32") = R.exp(v)
        return other
"""


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("), y:", ") y:"),
        ("), y:", ", y:"),
        ("), y:", ")), y:"),
        (", y:", ", *y:"),
        (", y:", ",, y:"),
        (", y:", ", y"),
        (", y:", ", y: :"),
        (", y:", ", y ="),
        ("f(", "f "),
        ("f(", "f: ("),
        ("f(", "f(("),
        ("x: R.Tensor((n, 4),", "x: R.Tensor((n, 4),,"),
        ("x: R.Tensor((n, 4),", "x: R.Tensor(n, 4),"),
        ("x: R.Tensor((n, 4),", "x: (n, 4),"),
        (") ->", " ->"),
        (") ->", ")) ->"),
        (") ->", ") -"),
        (") ->", ")"),
        (') -> R.Tensor((n, 4), "float32"):', ") -> :"),
        ('"float32"):\n        a', '"float32")\n        a'),
        ('"float32"):\n        a', '"float32")):\n        a'),
    ],
)
@pytest.mark.parametrize("broken_line", [False, True])
def test_a_mistake_in_a_head_hides_none_in_the_body(
    right: str, wrong: str, broken_line: bool
) -> None:
    """The function keeps its parameters, and calls of it say nothing."""
    text = HEADED
    if broken_line:
        text = text.replace("f(x", "f(\n        x").replace(")) ->", ")\n    ) ->", 1)
    text = text.replace(right, wrong, 1)
    found = sorted(errors(text), key=lambda d: d.span or (0, 0))
    assert [d.code for d in found] == ["PARSE", "WF02-undefined", "WF02-undefined"], found


def test_a_head_without_its_bracket_hides_no_mistake() -> None:
    """The reader cannot know which letters of `fx` are the name, so a call of `f` is not an error."""
    found = errors(HEADED.replace("f(x:", "fx:", 1))
    assert [d.code for d in found] == ["PARSE", "WF02-undefined", "WF02-undefined"], found


KERNEL = """@T.prim_func(s_tir=True)
def k(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.sblock("b"):
            vi = T.axis.spatial(8, i)
            T.reads(A[vi])
            T.writes(B[vi])
            B[vi] = A[vi] + unknown[vi]
"""


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ('"float32"), B', '"flot32"), B'),
        ('"float32"), B', '"float32") B'),
        ('(8,), "float32"), B', '(8,) "float32"), B'),
        ("T.Buffer", "T.Bufer"),
        ("k(A", "k: (A"),
        ("A: T", "A T"),
        ('"float32")):', '"float32"):'),
        ('"float32")):', '"float32"))'),
        ("T.reads(A[vi])", "T.reads(A[vi] A)"),
        ("T.reads(A[vi])", "T.reads(A[0:8:2])"),
        ("T.writes(B[vi])", "T.writes B[vi]"),
        ("range(8)", "range(8 8)"),
        ("range(8)", "range(8) if"),
        ('T.sblock("b")', 'T.sblock("b" "c", 3 3)'),
        ("T.axis.spatial(8, i)", "T.axis.spatial(8, i i)"),
        ("T.axis.spatial(8, i)", "T.axis.spatial(\n                8, i i)"),
        ("    for", '    C = T.alloc_buffer((8,) "float32")\n    for'),
        ("    for", "    x: T.float32 = A[0] 3\n    for"),
        ("= A[vi]", "= np.exp(A[vi])"),
    ],
)
def test_a_mistake_in_a_prim_func_hides_no_unknown_name(right: str, wrong: str) -> None:
    assert [d.code for d in errors(KERNEL)] == ["TIR01-undefined"]
    found = [d.code for d in errors(KERNEL.replace(right, wrong, 1))]
    assert sorted(found) == ["PARSE", "TIR01-undefined"]


def test_each_condition_that_is_missing_is_an_error() -> None:
    body = "@T.prim_func\ndef k(B: T.Buffer((8,), 'int32')):\n    for i in range(8):\n"
    branches = "".join(
        f"        {word}:\n            B[i] = {word}_name[i]\n" for word in ("if", "elif")
    )
    found = [d.code for d in errors(body + branches)]
    assert sorted(found) == ["PARSE", "PARSE", "TIR01-undefined", "TIR01-undefined"]


def test_two_lines_of_a_prim_func_that_are_no_python_are_two_errors() -> None:
    wrong = "    x = T.float32(3 3)\n    y = T.float32(4 4)\n    for"
    found = [d.code for d in errors(KERNEL.replace("    for", wrong, 1))]
    assert sorted(found) == ["PARSE", "PARSE", "TIR01-undefined"]


def test_each_annotation_of_a_signature_is_read() -> None:
    found = errors("""
@R.function
def f(x: R.Tensor((4,), "flot32"), y: "float32", k: int, z: R.Tensor((4,), dim=1)) -> R.Tenso:
    w: R.Tensor((n,), "float32", nim=2) = R.add(x, unknown)
    return w
""")
    said = [d.message for d in sorted(found, key=lambda d: d.span or (0, 0))]
    wanted = ["'flot32'", "'float32'", "'int'", "'dim'", "`R.Tenso`", "'nim'", "'unknown'"]
    assert [word in message for word, message in zip(wanted, said, strict=True)] == [True] * 7


@pytest.mark.parametrize(
    ("annotation", "wanted"),
    [
        ('R.Tensor((4, None), "flot32", nim=2, dtpe=1)', ["None", "'flot32'", "'nim'", "'dtpe'"]),
        ("R.Tensor((4,), \u2018float32\u2019)", ["no quote of Python"]),
        ('R.Tensor("float32", (4,))', ["the shape of a tensor"]),
    ],
)
def test_each_part_of_an_annotation_is_read(annotation: str, wanted: list[str]) -> None:
    text = f"@R.function\ndef f(x: {annotation}):\n    return unknown\n"
    found = sorted(errors(text), key=lambda d: d.span or (0, 0))
    said = zip([*wanted, "'unknown'"], [d.message for d in found], strict=True)
    assert [(word, message) for word, message in said if word not in message] == []


def test_a_function_of_python_that_waits_is_read() -> None:
    found = errors(HEADED.replace("    def f(", "    async def f(", 1))
    assert sorted(d.code for d in found) == ["PARSE", "WF02-undefined", "WF02-undefined"]


FUNCTION = """    @R.function
    def NAME(x: R.Tensor((n, 4), "float32"), c: R.Tensor((), "bool")) -> R.Tensor((n, 8), "float32"):
        with R.dataflow():
            a = R.concat((x, x), axis=1)
            b: R.Tensor((n, 8), "float32") = R.exp(a)
            R.output(b)
        k = T.int64()
        y = R.match_cast(x, R.Tensor((k, 4), "float32"))
        if c:
            z: R.Tensor((n, 8), "float32") = R.negative(b)
        else:
            z: R.Tensor((n, 8), "float32") = b
        t = (z, y)
        return t[0]

"""
MODULE = (
    'n = TypeVar("n")\n\n@I.ir_module\nclass M:\n' + FUNCTION + FUNCTION.replace("NAME", "other")
)
PAIRS = 60


def damages(text: str) -> list[tuple[Place, str]]:
    """One token lost, doubled, or exchanged."""
    found = []
    for start, end in tokens(text):
        token = text[start:end]
        if token.strip():
            found += [((start, end), made) for made in ("", f"{token} {token}", UNKNOWN)]
    return found


def told(text: str) -> list[tuple[str, int]]:
    return sorted((d.code, text.count("\n", 0, (d.span or (0, 0))[0])) for d in errors(text))


def test_mistakes_in_two_functions_are_told_as_each_alone() -> None:
    """The diagnostics of a function do not depend on another one that it does not call."""
    assert not errors(MODULE)
    chance = random.Random(5)
    # A mistake of layout reaches to the next decorator, so these stay.
    begin, half, rest = MODULE.index("    def"), MODULE.rindex("    @"), MODULE.rindex("    def")
    one = [damage for damage in damages(MODULE) if begin <= damage[0][0] < half]
    other = [
        (place, made.replace(UNKNOWN, "zz_other"))
        for place, made in damages(MODULE)
        if place[0] >= rest
    ]
    tried = 0
    for first, second in ((chance.choice(one), chance.choice(other)) for _ in range(PAIRS)):
        alone = [told(changed(MODULE, dict([each]))) for each in (first, second)]
        if all(alone):
            together = told(changed(MODULE, dict([first, second])))
            assert together == sorted(alone[0] + alone[1]), (first, second)
            tried += 1
    assert tried > PAIRS / 2


ESCAPE = """@R.function
def main(x: R.Tensor((4,), "float32")):
    with R.dataflow():
        a = R.exp(x)
        b = R.exp(a)
        OUTPUT
    c = R.add(a, b)
    RETURN
"""


def codes(output: str, returned: str) -> list[str]:
    text = ESCAPE.replace("OUTPUT", output).replace("RETURN", returned)
    return sorted(d.code for d in errors(text))


@pytest.mark.parametrize(
    "returned", ["", "return c)", "return c,,", "d = R.add(c,, x)\n    return d"]
)
def test_a_mistake_behind_an_escape_does_not_hide_it(returned: str) -> None:
    assert codes("R.output(b)", returned) == ["PARSE", "WF01-escape"]


@pytest.mark.parametrize("output", ["R.ou", "R.output(a b)", "R.output(a, $)", "R.output(a, b"])
def test_an_output_that_was_not_read_may_export_everything(output: str) -> None:
    assert codes(output, "return c") == ["PARSE"]


STATEMENTS = """@R.function
def f(c: R.Tensor((), "bool"), x: R.Tensor((4, 8), "float32")):
    with R.dataflow():
        a = R.exp(x)
        R.output(a)
    if c:
        b = R.exp(a)
    else:
        b = R.negative(one)
    d = R.add(b, two)
    return d
"""


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("@R.function", "@R.function(True)"),
        ("@R.function", "@R.function(private=)"),
        ("@R.function", "@R.function(private=True"),
        ("@R.function", "@R.function(pure=Fals)"),
        ("if c:", "if c"),
        ("else:", "else"),
        ("if c:", "if:"),
        ("    else:", "    elif:\n        b = R.exp(a)\n    else:"),
        ("R.dataflow():", "R.dataflow()"),
        ("R.dataflow():", "R.dataflow:"),
        ("R.dataflow():", "R.dataflow(1):"),
        ("R.dataflow():", "R.dataflow() as y:"),
        ("    d =", "      d ="),
        ("    d =", "   d ="),
        ("    d =", "    del x\n    d ="),
        ("    d =", "    assert x\n    d ="),
        ("    d =", "    p = R.add(x, R.exp(x)\n    d ="),
        ("    d =", "    import os\n    d ="),
        ("    d =", "    def g(p):\n        return p\n    d ="),
        ("(c: R.Tensor((), ", "(c: R.Tensor(("),
        ("    d =", "    'words'\n    d ="),
        ("    d =", "    f'{x}'\n    d ="),
        ("    d =", "    for i in range(4):\n        p = R.exp(x)\n    d ="),
        ("    d =", "    try:\n        p = x\n    except ValueError:\n        p = a\n    d ="),
        ("    d = R.add(b, two)\n    return d", "    b += two\n    return b"),
        ("    d = R.add(b, two)", "    d = e = R.add(b, two)"),
        ("    d = R.add(b, two)", "    d, *e = R.add(b, two)"),
        ("    d = R.add(b, two)", "    d, (e, g) = R.add(b, two)"),
        ("    d = R.add(b, two)", "    d == R.add(b, two)"),
        ("    d =", "    k == T.int64()\n    d ="),
        ("    d =", "    x[0] = a\n    d ="),
        ("    d =", "    e = F.relu(x)\n    d ="),
        ("x: R.Tensor((4, 8)", "m=None, x: R.Tensor((4, 8)"),
        ('(4, 8), "float32"', "(4, 8), torch.float32"),
        (
            "        a = R.exp(x)\n",
            "        with R.dataflow():\n            a = R.exp(x)\n            R.output(a)\n",
        ),
        ('c: R.Tensor((), "bool")', "c: R.Tensor((), bool)"),
        ("    d = R.add(b, two)", "    while c:\n        d = R.add(b, two)"),
        ("        b = R.negative(one)", "        e = R.negative(one)"),
        ("    else:\n        b = R.negative(one)\n", "    b = R.negative(one)\n"),
    ],
)
def test_a_mistake_hides_no_unknown_name(right: str, wrong: str) -> None:
    assert [d.code for d in errors(STATEMENTS)] == ["WF02-undefined"] * 2
    found = [d.code for d in errors(STATEMENTS.replace(right, wrong))]
    assert sorted(found) == ["PARSE", "WF02-undefined", "WF02-undefined"]


@pytest.mark.parametrize("between", ["", "    z = R.exp(x)\n"])
def test_two_branches_without_an_else_are_two_errors(between: str) -> None:
    head = '@R.function\ndef f(c: R.Tensor((), "bool"), x: R.Tensor((4,), "float32")):\n'
    one, two = (f"    if c:\n        {name} = R.exp(x)\n" for name in "ab")
    found = errors(f"{head}{one}{between}{two}    return x\n")
    assert [d.code for d in found] == ["PARSE", "PARSE"]


@pytest.mark.parametrize("lines", [("x = 3", "y = 4"), ("print(1)", "z: int = 2")])
def test_two_lines_of_a_class_are_two_errors(lines: tuple[str, str]) -> None:
    first, second = (f"    {line}\n" for line in lines)
    text = HEADED.replace("unknown", "a").replace("other", "w")
    assert not errors(text)
    begin, end = text.split("class M:\n")
    assert len(errors(f"{begin}class M:\n{first}{end}{second}")) == 2


@pytest.mark.parametrize(
    ("lines", "codes"),
    [
        (["t = (x, unknown)", "return t[2]"], ["WF02-undefined", "D12-index"]),
        (["t = (x, unknown)", "s = t", "return s[2]"], ["WF02-undefined", "D12-index"]),
        (["t = (x, unknown)", "return t[1]"], ["WF02-undefined"]),
        (["t: R.Tuple(R.Tensor((4,)), R.Tensor((4,))) = (x,)", "return t[1]"], ["D11-annotation"]),
    ],
)
def test_a_field_with_an_error_is_a_field(lines: list[str], codes: list[str]) -> None:
    """So the number of fields is known, unless an annotation says another."""
    body = "".join(f"    {line}\n" for line in lines)
    found = errors(f'@R.function\ndef f(x: R.Tensor((4,), "float32")):\n{body}')
    assert [d.code for d in found] == codes


def test_an_annotation_of_what_is_wrong_is_told_at_the_annotation() -> None:
    """Its value says nothing of it, but what the function returns does."""
    text = """@R.function
def f(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
    a: R.Tensor((5,), "float32") = R.add(x, unknown)
    b = a
    return b
"""
    assert sorted(told(text)) == [("D15-result", 2), ("WF02-undefined", 2)]
