"""`rlx step`: the trace as text, as JSON, and as a page that Chromium opens."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from rlx.commands.step import main
from tests.browser import dom_after

EXAMPLES = Path(__file__).parents[3] / "examples"
RECURSION = str(EXAMPLES / "recursion.rlx")


def step(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str]:
    status = main(list(argv))
    return status, capsys.readouterr().out


def test_text(capsys: pytest.CaptureFixture[str]) -> None:
    status, out = step(capsys, RECURSION, "--entry", "even", "--input", "k=1")
    assert status == 0
    lines = out.splitlines()
    assert re.match(r" +1  E-constant +27:\d+  enters even; k = #1 int64\(\) \[1\]", lines[0])
    assert any("E-if" in line and "enters branch in even" in line for line in lines)
    assert any("enters odd; k = #" in line for line in lines)
    assert lines[-1] == "returned bool() [false]"


def test_one_rule(capsys: pytest.CaptureFixture[str]) -> None:
    _, out = step(capsys, RECURSION, "--entry", "even", "--input", "k=4", "--rule", "E-if")
    assert len(out.splitlines()) == 5 + 1 and all("E-if" in x for x in out.splitlines()[:-1])


def test_a_limit(capsys: pytest.CaptureFixture[str]) -> None:
    status, out = step(capsys, RECURSION, "--entry", "even", "--input", "k=9", "--limit", "5")
    assert status == 3 and len(out.splitlines()) == 6
    assert out.splitlines()[-1] == "recording ended after 5 steps"


def test_a_page_of_a_part_of_the_run_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = str(tmp_path / "trace.html")
    argv = [RECURSION, "--entry", "even", "--input", "k=9", "--html", page]
    assert main([*argv, "--limit", "1"]) == 3
    said = capsys.readouterr().err
    assert said == f"{page}: 1 step, where recording ended and the run did not\n"
    assert main(argv) == 0
    assert "recording ended" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--rule", "E-iff"], "did you mean E-if"),
        (["--rule", "E-call-arity"], "that is a premise of the rule E-call"),
        (["--rule", "WF05"], "programs are evaluated by no such rule; `rlx explain` lists"),
        (["--rule", "E-if", "--format", "json"], "--rule chooses lines of the text"),
        (["--rule", "E-if", "--html", "x.html"], "--rule chooses lines of the text"),
    ],
)
def test_rules_that_there_are_not(
    options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([RECURSION, "--entry", "even", "--input", "k=1", *options]) == 2
    found = capsys.readouterr()
    assert message in found.err and found.out == ""


def record(capsys: pytest.CaptureFixture[str], *argv: str) -> dict[str, Any]:
    _, out = step(capsys, *argv, "--format", "json")
    made: dict[str, Any] = json.loads(out)
    return made


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    trace = record(capsys, RECURSION, "--entry", "even", "--input", "k=2")
    assert trace["version"] == 1 and trace["entry"] == "even"
    assert trace["source"] == Path(RECURSION).read_text("utf-8")
    assert trace["outcome"] == {"kind": "returned", "text": "returned bool() [true]"}
    for rule in trace["rules"]:
        assert rule["title"] and rule["clause"] and "](" not in rule["clause"]
    pushed = sum(c[0] == ">" for s in trace["steps"] for c in (s[3] if len(s) > 3 else []))
    popped = sum(c[0] == "<" for s in trace["steps"] for c in (s[3] if len(s) > 3 else []))
    assert pushed == popped + 1


def test_mutation_is_seen_in_the_store(capsys: pytest.CaptureFixture[str]) -> None:
    trace = record(capsys, str(EXAMPLES / "in_place.rlx"))
    changes = [c for s in trace["steps"] for c in (s[3] if len(s) > 3 else [])]
    assert any(c[0] == "~" for c in changes)


def test_what_ends_badly_is_the_last_step(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "cast.rlx"
    path.write_text(
        "@R.function\ndef main(x: R.Tensor(ndim=1)):\n    y = R.match_cast(x, R.Tensor((3,)))\n    return y\n",
        encoding="utf-8",
    )
    status, out = step(capsys, str(path), "--input", "x=[1.0]")
    assert status == 1
    assert out.splitlines()[-1].startswith("check failed[E-cast-dimension]")


WALK = """{
const all = [];
const note = () => all.push(document.getElementById("frames").innerText + "|" + document.getElementById("store").innerText);
go(0); note();
while (state.at < trace.steps.length) { document.getElementById("forward").click(); note(); }
const last = all[all.length - 1];
const back = [last];
while (state.at > 0) { document.getElementById("back").click();
  back.push(document.getElementById("frames").innerText + "|" + document.getElementById("store").innerText); }
back.reverse();
const problems = all.map((text, at) => text === back[at] ? "" : at).filter(at => at !== "");
document.getElementById("search").value = "E-if";
document.getElementById("search").oninput();
document.dispatchEvent(new KeyboardEvent("keydown", { key: "n" }));
const found = trace.rules[trace.steps[state.at - 1][0]].id;
const marked = document.querySelector("mark").textContent;
document.dispatchEvent(new KeyboardEvent("keydown", { key: "End" }));
const end = state.at;
document.getElementById("at").value = 3;
document.getElementById("at").onchange({ target: document.getElementById("at") });
const result = document.createElement("pre");
result.id = "result";
result.textContent = JSON.stringify({ problems, steps: all.length, found, marked, end, at: state.at,
  count: document.getElementById("found").textContent, rule: document.getElementById("rule").innerText });
document.body.append(result);
}"""


def test_the_page_plays_forward_and_back_in_chromium(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "trace.html"
    status, out = step(capsys, RECURSION, "--entry", "even", "--input", "k=3", "--html", str(page))
    assert status == 0 and out == ""
    text = page.read_text("utf-8")
    assert not re.search(
        r"(?:src|href)\s*=|https?:|@import|url\(", text.partition("<script type")[0]
    )
    dom = dom_after(text, WALK, tmp_path)
    found = re.search(r'<pre id="result">(.*?)</pre>', dom, re.DOTALL)
    assert found is not None, dom[-2000:]
    result = json.loads(found[1].replace("&gt;", ">").replace("&lt;", "<").replace("&amp;", "&"))
    assert result["problems"] == [] and result["steps"] > 15
    assert result["found"] == "E-if" and "zero" in result["marked"]
    assert result["end"] == result["steps"] - 1 and result["at"] == 3
    assert result["count"] == "4 steps" and "E-" in result["rule"]


def test_hostile_names_do_not_leave_the_data(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "hostile.rlx"
    path.write_text(
        '# </script><script>document.title = "owned"</script><!-- \U0001d518\n'
        '@R.function\ndef main(x: R.Tensor((1,), "float32")):\n    y = R.exp(x)\n    return y\n',
        encoding="utf-8",
    )
    page = tmp_path / "trace.html"
    step(capsys, str(path), "--html", str(page))
    dom = dom_after(page.read_text("utf-8"), "go(1);", tmp_path)
    assert "<title>owned" not in dom and "<mark>R.exp(x)</mark>" in dom


def test_ten_thousand_steps_stay_small(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "trace.html"
    status, _ = step(capsys, RECURSION, "--entry", "even", "--input", "k=5000", "--html", str(page))
    assert status == 3
    assert page.stat().st_size < 2_000_000
