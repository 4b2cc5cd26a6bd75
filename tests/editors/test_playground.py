"""The answers of the playground's panes, without a browser; `python -m tests.editors.playground` looks at the page."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from docs.build.playground import linked
from editors.playground import panes
from editors.playground.build import examples, link
from rlx import check
from rlx.solver.smt import loaded_z3

WIDE = """\
@R.function(pure=True)
def f(x: R.Tensor(("n", 4), "float32")):
    # \U0001d4b3 takes two units in JavaScript
    y = R.exp(x); z = R.add(y, w)
    return z
"""
FRAGMENT = Path(panes.__file__).parent / "src" / "fragment.js"


def ask(pane: str, code: str = "", **more: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        panes.answer(json.dumps({"pane": pane, "code": code, **more}))
    )
    assert not found.get("failed"), found["text"]
    return found


def units(text: str, start: int, end: int) -> str:
    """A part of a text, by JavaScript's offsets."""
    return text.encode("utf-16-le")[2 * start : 2 * end].decode("utf-16-le")


def test_diagnostics_have_the_places_of_a_browser() -> None:
    (found,) = [each for each in ask("check", WIDE)["diagnostics"] if each["severity"] == "error"]
    assert found["code"] == "WF02-undefined"
    assert units(WIDE, found["from"], found["to"]) == "w"
    at = len(WIDE[: WIDE.index("exp")].encode("utf-16-le")) // 2
    known = ask("hover", WIDE, at=at)
    assert "R.exp" in known["text"] and "exp" in units(WIDE, known["from"], known["to"])


@pytest.mark.parametrize("example", examples(), ids=lambda example: str(example["name"]))
def test_each_example_says_what_rlx_says_and_its_fixes_are_legal(example: dict[str, Any]) -> None:
    code = example["code"]
    found = ask("check", code)
    report = check(code)
    assert (found["errors"], found["warnings"]) == (len(report.errors), len(report.warnings))
    for each in found["diagnostics"]:
        if edit := each.get("edit"):
            mended = (
                units(code, 0, edit["from"]) + edit["text"] + units(code, edit["to"], len(code))
            )
            assert len(check(mended).errors) < found["errors"]
    assert not ask("check", code).get("needs")


def test_the_other_panes_are_the_commands() -> None:
    code = str(examples()[0]["code"])
    assert ask("prove", goal="(n + 15) // 16 * 16 >= n", assume="n >= 1\n\n")["status"] == 0
    refuted = ask("prove", goal="n // 2 * 2 == n")
    assert refuted["status"] == 1 and "n = 1" in refuted["text"]
    assert "reshape" in ask("why", code, line=9)["text"]
    neat = str(ask("fmt", code)["read"])
    assert ask("fmt", neat)["read"] == neat
    assert "OBL-reshape-count" in ask("explain", "OBL-reshape-count")["text"]
    stepped = ask("step", "@R.function\ndef f(k: R.Prim('int64')):\n    return k\n", inputs="k=3")
    assert "<html" in stepped["page"]


QUESTIONS = (
    "(declare-const a Int) (assert (> (* a a) 50)) (assert (< a 0)) (assert (> a -9))",
    "(declare-const a Int) (assert (> a 3)) (assert (< a 4))",
    "(declare-const a (_ BitVec 8)) (assert (= (bvadd a #x01) #x80))",
    "(declare-const a Real) (assert (= (* 3 a) -2))",
    "(declare-const a Int) (assert (= a",
)


@pytest.mark.parametrize("text", QUESTIONS)
def test_z3_in_another_python_answers_as_z3_does(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = import_module("editors.playground.browser.served")
    monkeypatch.setitem(sys.modules, "z3_beside", SimpleNamespace(ask=served.answer))
    beside = import_module("editors.playground.browser.z3")

    def asked(z3: Any) -> tuple[object, ...]:
        solver = z3.SimpleSolver(ctx=z3.Context())
        solver.set("rlimit", 100_000)
        try:
            solver.from_string(text)
            status = str(solver.check())
        except z3.Z3Exception:
            return ("error",)
        if status != "sat":
            return (status,)
        model = solver.model()
        (value,) = [model[each] for each in model.decls()]
        if isinstance(value, z3.IntNumRef):
            return status, "int", value.as_long()
        if isinstance(value, z3.BitVecNumRef):
            return status, "bits", value.as_signed_long()
        return status, value.numerator_as_long(), value.denominator_as_long()

    assert asked(beside) == asked(loaded_z3())


def test_a_link_opens_what_it_was_made_from() -> None:
    """Python writes links on pages of the documentation, JavaScript reads them."""
    if (node := shutil.which("node")) is None:
        pytest.skip("no Node")
    fragment = link(WIDE, pane="prove")
    script = (
        f"import({json.dumps(FRAGMENT.as_uri())}).then(async (m) => console.log(JSON.stringify("
    )
    script += f"await m.read({json.dumps(fragment)}))))"
    done = subprocess.run([node, "-e", script], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == {"pane": "prove", "code": WIDE}


def test_programs_of_a_page_have_links_and_other_code_has_none() -> None:
    page = f"```python\n{WIDE}```\n\n```python\nimport rlx\n\n@R.function\ndef f(): ...\n```\n"
    page += "```text\n@R.function\n```\n"
    assert linked(page, "playground/index.html").count("Open in the playground") == 1
