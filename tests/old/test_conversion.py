"""Programs in both systems' words: what is translated, what is lost, what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rlx.checker.check import check_text as check_today
from rlx.commands import check, fmt
from rlx.old import check_text
from rlx.old.conversion import convert_text
from tests.long_run import tried
from tests.old import there_and_back
from tests.old.agreement import differences, disagreement, source_of

TODAY = """# what a shape says
@R.function
def main(s: R.Shape([n, m]), x: R.Tensor((n,), dtype="float32"), o: R.Object) -> R.Tensor((n, m), dtype="float32"):
    k = T.int64()
    y = R.match_cast(x, R.Tensor((k,), dtype="float32"))  # the same element type
    z = R.match_cast(o, R.Tensor((k,), dtype="float32"))
    p = R.call_pure_packed("same", y, sinfo_args=R.Tensor(dtype="float32"))
    with R.dataflow():
        w = R.exp(z)
        R.output(w)
    return R.ones(R.shape([n, m]), "float32")
"""

OLD = """# from tvm.script import relax as R

# what a shape says
@R.function
def main(
    s: R.Shape,
    x: R.Tensor[(n,), "float32"],
    o: R.Object,
) -> R.Tensor(dtype="float32", ndim=2):
    R.match_shape(s, (n, m))
    y = R.match_shape(x, (k,))  # the same element type
    z = R.match_cast(o, R.Tensor[(k,), "float32"])
    p = R.call_packed("same", y, pure=True, type_args=(R.Tensor[_, "float32"],))
    with R.dataflow():
        w = R.exp(z)
        R.outputs(w)
    return R.ones(R.shape([n, m]), "float32")
"""


def test_todays_words_in_those_of_2022() -> None:
    made = convert_text(TODAY, "p.rlx", "2022")
    assert made.text == OLD
    assert [line.partition(" not expressible in 2022: ")[2] for line in made.complaints] == [
        "dimensions of a result that only a shape among the parameters gives",
        "the dimensions of a shape: `R.Shape` has none",
    ]
    assert made.complaints[1].startswith("p.rlx:3:13: note[LOST]")


def test_words_of_2022_in_todays() -> None:
    text = OLD.replace("pure=True, ", "")
    made = convert_text(text, "p.rlx", "0.27")
    assert made.text is not None and made.status == 0
    assert "@R.function(pure=False)" in made.text
    assert "R.match_cast(s, R.Shape([n, m]))" in made.text
    assert 'y = R.match_cast(x, R.Tensor((k,), dtype="float32"))' in made.text
    pure = convert_text(OLD, "p.rlx", "0.27").text
    assert pure is not None and "pure=False" not in pure and "R.call_pure_packed(" in pure
    assert check_today(pure).ok and check_text(OLD).ok
    assert convert_text(pure, "p.rlx", "0.27").text == pure


CASTS = """\
# from tvm.script import relax as R

@R.function
def main(o: R.Object, x: R.Tensor[(n,), "float32"]):
    y = R.cast(o, type_args=R.Tensor(ndim=1))
    z = R.match_cast(o, R.Tensor[(n,), "float32"])
    _ = R.cast(o, type_args=R.Callable((R.Tensor[_, _],), R.Object, True))
    return (y, z)
"""


def test_casts_of_types_alone_have_a_word_of_their_own() -> None:
    text = CASTS
    assert convert_text(text, "p.rlx", "2022").text == text
    assert check_text(text).ok
    today = convert_text(text, "p.rlx", "0.27").text
    assert today is not None and "y = R.match_cast(o, R.Tensor(ndim=1))" in today


def test_a_cast_takes_a_type() -> None:
    (found,) = check_text(CASTS.replace("type_args=R.Tensor(ndim=1)", '"float16"')).errors[:1]
    assert found.message == "R.cast takes a value and a type: `R.cast(x, R.Tensor)`"
    assert found.help is not None and "R.astype" in found.help


KERNEL = """\
@I.ir_module
class M:
    @T.prim_func
    def copy(a: T.handle, b: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n,))
        B = T.match_buffer(b, (n,))
        for i in range(n):
            B[i] = A[i]
    @R.function
    def main(x: R.Tensor[(n,), "float32"]) -> R.Tensor:
        y = R.call_tir(copy, (x,), (n,), dtype="float32")
        z = R.call_dps_packed("two", (x, y), [(n,), (n, 2)], dtype=["float32", "int8"])
        w: R.Tensor[(n, 2), "int8"] = z[1]
        v = R.match_shape(y, (n,))
        return v
"""


def test_the_end_of_2022_says_shape_and_element_type_of_a_call() -> None:
    assert check_text(KERNEL).ok
    wrong = check_text(KERNEL.replace('["float32", "int8"]', '["float32", "int8", "bool"]'))
    (found,) = wrong.errors
    assert found.code == "PARSE" and found.span is not None
    other = check_text(KERNEL.replace('"int8"] = z', '"int16"] = z'))
    assert [d.code for d in other.errors] == ["OT-bind-type"]


def test_a_cast_inside_of_an_expression() -> None:
    text = CASTS.replace("(y, z)", "R.cast(y, R.Tensor)")
    (found,) = check_text(text).errors
    assert found.code == "PARSE" and found.span is not None
    assert text[found.span[0] :].startswith("R.cast(y")


def test_a_match_of_what_is_wrong_says_nothing_more() -> None:
    text = KERNEL.replace("(x,), (n,), dtype", "(x,), dtype")
    assert [d.code for d in check_text(text).errors] == ["PARSE"]


def test_forced_purity_and_a_match_of_an_object() -> None:
    text = (
        "@R.function\ndef main(o: R.Object):\n    R.func_attr({'force_pure': True})\n"
        "    R.print(o)\n    x = R.match_shape(o, (n, 2))\n    return x\n"
    )
    made = convert_text(text, "p.rlx", "0.27")
    assert made.text is not None and '"relax.force_pure": True' in made.text
    (complaint,) = made.complaints
    assert complaint.startswith("p.rlx:5:5: ") and "a tensor or a shape" in complaint


@pytest.mark.parametrize(
    ("annotation", "words", "instead"),
    [
        ("R.Shape(ndim=2)", "the rank of a shape", "R.Shape"),
        ('R.Tensor((4,), vdevice="cuda:0")', "a virtual device", "R.Tensor[(4,), _]"),
        ("R.Callable", "without parameters' types", "R.Object"),
        (
            "R.Callable((R.Tensor((4,)),), R.Tuple(R.Tensor((4,))), True)",
            "dimensions in the type of a function",
            "R.Callable((R.Tensor(ndim=1),), R.Tuple(R.Tensor(ndim=1)), True)",
        ),
    ],
)
def test_what_an_annotation_loses(annotation: str, words: str, instead: str) -> None:
    text = f"@R.function\ndef main(x: {annotation}):\n    return x\n"
    made = convert_text(text, "p.rlx", "2022")
    assert made.text is not None and f"def main(x: {instead}):" in made.text
    (complaint,) = made.complaints
    assert words in complaint and complaint.startswith("p.rlx:2:13")


def test_what_has_no_translation(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "p.rlx"
    text = "@R.function\ndef main(x: R.Tensor((n,)), k: R.Prim('int64')):\n    y = R.prim_value(n)\n    return x\n"
    path.write_text(text)
    assert fmt.main(["--to", "2022", str(path)]) == 1
    said = capsys.readouterr().err
    assert "OMIX-annotation-word" in said and "OMIX-value-kind" in said and f"{path}:3:" in said
    assert path.read_text() == text


def test_the_command_writes_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "p.rlx"
    path.write_text(TODAY)
    assert fmt.main(["--to", "2022", str(path)]) == 0
    assert path.read_text() == OLD and "note[LOST]" in capsys.readouterr().err
    path.write_text("@R.function\ndef main(x:\n")
    assert fmt.main(["--to", "0.27", str(path)]) == 1
    assert "PARSE" in capsys.readouterr().err
    python = tmp_path / "p.py"
    function = "@R.function\ndef main(x: R.Object):\n    return x\n"
    python.write_text(f"from tvm.script import relax as R\nprint(R)\n{function}")
    assert fmt.main(["--to", "2022", str(python)]) == 2
    assert "outside the Relax definitions" in capsys.readouterr().err


def test_both_views(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "p.rlx"
    path.write_text(TODAY.replace("o: R.Object", "o: R.Object, i: R.Prim('int64')"))
    assert check.main(["--types", str(path)]) == 0
    said = capsys.readouterr().out
    assert "5 |     y = R.match_cast(x" in said.replace(" 5 |", "5 |")
    assert 'y: R.Tensor((k,), dtype="float32")\n' in said
    assert 'checked_type_ Tensor(ndim=1, dtype="float32"), shape_ (k,)' in said
    assert "s: R.Shape([n, m])" in said and "checked_type_ Shape, shape_ RuntimeDepShape()" in said
    assert "not expressible in 2022" in said
    assert check.main(["--types", "--format", "json", str(path)]) == 0
    (file,) = json.loads(capsys.readouterr().out)["files"]
    found = {each["name"]: each for each in file["bindings"]}
    assert list(found) == ["s", "x", "o", "i", "y", "z", "p", "w"]
    assert found["w"]["shape"] == "(k,)" and found["w"]["line"] == 9
    assert found["i"]["checked_type"] is None and found["i"]["shape"] is None
    assert found["p"]["checked_type"] == 'Tensor(dtype="float32")'


def test_views_of_files_with_errors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "p.rlx"
    path.write_text("@R.function\ndef main(x: R.Tensor((4,))):\n    y = q\n    return x\n")
    assert check.main(["--types", str(path)]) == 1
    both = capsys.readouterr()
    assert "x: R.Tensor((4,))" in both.out and "WF02-undefined" in both.err
    assert check.main(["--types", str(tmp_path / "none.rlx")]) == 2
    assert check.main(["--types", "--format", "sarif", str(path)]) == 2
    path.write_bytes(b"\xff\xfe")
    assert check.main(["--types", str(path)]) == 1
    for options in (["--fix"], ["--spec", "2022"]):
        with pytest.raises(SystemExit):
            check.main(["--types", *options, str(path)])


def test_the_systems_agree(capsys: pytest.CaptureFixture[str]) -> None:
    """Today's rules accept every program that the older ones accept; values and failed checks are the same."""
    assert tried(disagreement, 60, 5000) == 0, capsys.readouterr().out
    said = capsys.readouterr().out
    assert int(said.partition(" accepted by 2022")[0].rpartition(" ")[2]) > 5


def test_a_difference_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "@R.function\ndef main(x: R.Tensor[(n,), 'float32']):\n    R.print(x)\n    return x\n"
    accepted = ["kind:accepted by 2022", "kind:explained by entry 79"]
    assert list(differences(text, 1)) == accepted
    monkeypatch.setattr("tests.old.agreement.REASONS", {})
    assert list(differences(text, 1))[1:] == ["2022 accepts, today refuses: D14-impure"]


def test_programs_come_back_as_they_were(capsys: pytest.CaptureFixture[str]) -> None:
    assert tried(there_and_back.wrong, 25, 7000) == 0, capsys.readouterr().out
    said = capsys.readouterr().out
    assert "the same" in said and int(said.split("; ")[1].partition(" refused")[0]) < 5


SHAPED = """\
@R.function
def main(s: R.Shape([n, m]), x: R.Tensor(("n * 2", k), dtype="float32"), y: R.Tensor((k,))):
    return x

@R.function
def loop(x: R.Tensor((n,), dtype="float32")) -> R.Tensor((n,), dtype="float32"):
    z = loop(x)
    return z
"""


def test_parameters_that_need_a_shape_are_matched_where_the_body_begins() -> None:
    made = convert_text(SHAPED, "p.rlx", "2022")
    assert made.text is not None
    assert (
        'def main(s: R.Shape, x: R.Tensor(dtype="float32", ndim=2), y: R.Tensor[(k,), _]):'
        in made.text
    )
    assert "    R.match_shape(s, (n, m))\n    R.match_shape(x, (n * 2, k))\n" in made.text
    assert 'R.func_attr({"pure": True})' in made.text.replace("'", '"')
    assert check_text(made.text).ok
    assert "dimensions of a parameter that only a shape among them gives" in made.complaints[0]


def test_damaged_programs_give_diagnostics() -> None:
    for k in range(2, 122, 3):
        report = check_text(source_of(k))
        assert all(d.message and d.severity for d in report.diagnostics)


def test_nesting_and_length_are_no_limit() -> None:
    lines = "\n".join(f"    x{k + 1} = R.exp(x{k})" for k in range(3000))
    text = f"@R.function\ndef main(x0: R.Tensor[(n,), 'float32']):\n{lines}\n    return x3000\n"
    assert check_text(text).ok
    depth = 150
    branches = "".join(f"{'    ' * (d + 1)}if c:\n" for d in range(depth))
    assert check_text(f"@R.function\ndef main(c: R.Tensor[(), 'bool']):\n{branches}").diagnostics
    fields = "(" * 300 + "x" + ",)" * 300
    nested = (
        f"@R.function\ndef main(x: R.Tensor[(n,), 'float32']):\n    y = {fields}\n    return y\n"
    )
    assert check_text(nested).ok
