"""`rlx step`: the trace as text, as JSON, and as a page that Chromium opens."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rlx.commands.step import main
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import dtype
from rlx.grammar.read.parser import parse
from rlx.semantics.machine import load
from rlx.semantics.machine.configuration import Configuration
from rlx.semantics.run.trace import TraceRecorder
from rlx.semantics.values import Tensor, TupleValue
from tests.browser import dom_after

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "examples"
RECURSION = str(EXAMPLES / "recursion.rlx")


def step(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str]:
    status = main(list(argv))
    return status, capsys.readouterr().out


def test_text(capsys: pytest.CaptureFixture[str]) -> None:
    status, out = step(capsys, RECURSION, "--entry", "even", "--input", "k=1")
    assert status == 0
    lines = out.splitlines()
    assert re.match(r" +0 +enters even; k = #1 int64\(\) \[1\]", lines[0])
    assert re.match(r" +1  E-constant +27:\d+  ⇒ #2 int64\(\) \[0\]", lines[1])
    assert any("E-if" in line and "enters branch in even" in line for line in lines)
    assert any("enters odd; k = #" in line for line in lines)
    assert lines[-1] == "returned bool() [false]"


def test_one_rule(capsys: pytest.CaptureFixture[str]) -> None:
    _, out = step(capsys, RECURSION, "--entry", "even", "--input", "k=4", "--rule", "E-if")
    assert len(out.splitlines()) == 5 + 1 and all("E-if" in x for x in out.splitlines()[:-1])


def test_a_limit(capsys: pytest.CaptureFixture[str]) -> None:
    status, out = step(capsys, RECURSION, "--entry", "even", "--input", "k=9", "--limit", "5")
    assert status == 3 and len(out.splitlines()) == 7
    assert out.splitlines()[-1] == "recording ended after 5 steps"


def test_a_page_of_a_part_of_the_run_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = str(tmp_path / "trace.html")
    argv = [RECURSION, "--entry", "even", "--input", "k=9", "--html", page]
    assert main([*argv, "--limit", "1"]) == 3
    said = capsys.readouterr().err
    assert said == f"{page}: 1 step; the run did not end within --limit\n"
    assert main(argv) == 0
    assert "recording ended" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--rule", "E-iff"], "did you mean E-if"),
        (["--rule", "E-call-arity"], "expected a rule, found a premise of rule E-call"),
        (["--rule", "WF05"], "no evaluation rule has this name; `rlx explain` lists"),
        (["--rule", "E-if", "--format", "json"], "--rule works with text output only"),
        (["--rule", "E-if", "--html", "x.html"], "--rule works with text output only"),
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
    assert trace["version"] == 2 and trace["entry"] == "even"
    assert trace["source"] == Path(RECURSION).read_text("utf-8")
    assert trace["outcome"] == {"kind": "returned", "text": "returned bool() [true]"}
    for rule in trace["rules"]:
        assert rule["title"] and rule["clause"] and "](" not in rule["clause"]
    pushed = sum(c[0] == ">" for c in changes_of(trace))
    popped = sum(c[0] == "<" for c in changes_of(trace))
    assert pushed == popped
    assert trace["start"] == [
        [">", "even"],
        ["+", 1, "int64() [2]", 1, None],
        ["=", "k", "#1 int64() [2]", [["", 1]]],
    ]


def test_json_beside_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page, words = tmp_path / "trace.html", [RECURSION, "--entry", "even", "--input", "k=3"]
    assert record(capsys, *words, "--html", str(page)) == record(capsys, *words)
    assert page.exists()


def changes_of(trace: dict[str, Any]) -> list[list[Any]]:
    """All that the steps of a trace change."""
    return [c for s in trace["steps"] for c in (s[3] if len(s) > 3 else [])]


def test_rules_are_typeset(capsys: pytest.CaptureFixture[str]) -> None:
    """Each rule has its inference in the signs of the literature, and in words for those who hear it."""
    trace = record(capsys, RECURSION, "--entry", "even", "--input", "k=1")
    call = next(rule for rule in trace["rules"] if rule["id"] == "E-call")
    assert "Closure" in call["spoken"] and "<" not in call["spoken"].partition(" then ")[0]
    conclusion = call["inference"]["conclusion"]
    assert "&#10216;" in conclusion and "→" in conclusion and "->" not in conclusion
    labels = [label for label, _ in call["inference"]["premises"]]
    assert "E-call-callee" in labels


def test_a_step_yields_only_what_it_made(capsys: pytest.CaptureFixture[str]) -> None:
    """A branch and a call are entered: they have no value yet."""
    trace = record(capsys, RECURSION, "--entry", "even", "--input", "k=3")
    for rule, _, _, *changes in trace["steps"]:
        if trace["rules"][rule]["id"] in ("E-if", "E-call"):
            assert not any(c[0] == "." for c in changes[0])


def test_a_variable_is_read_where_it_is_used(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not where it is bound: the step of `t = x` stands at the `x` of that line."""
    program = tmp_path / "names.rlx"
    program.write_text(
        "@I.ir_module\nclass M:\n    @R.function\n"
        '    def main(x: R.Tensor((2,), "int8")) -> R.Tensor((2,), "int8"):\n'
        "        t = x\n        f = M.twin\n        return f(t)\n\n"
        '    @R.function\n    def twin(x: R.Tensor((2,), "int8")) -> R.Tensor((2,), "int8"):\n'
        "        return x\n",
        "utf-8",
    )
    status, out = step(capsys, str(program), "--input", "x=[1, 2]")
    assert status == 0
    assert [line.split()[1:3] for line in out.splitlines() if "E-var" in line] == [
        ["E-var", "5:13"],
        ["E-var", "6:13"],
    ]


def test_tensors_are_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "tables.rlx"
    path.write_text(
        "@R.function\ndef main(a: R.Tensor((2, 3, 2), 'int64'), b: R.Tensor((9, 20), 'float32'), "
        "c: R.Tensor((3,), 'bool'), d: R.Tensor((0, 4), 'int8'), e: R.Tensor((5, 2, 1, 1), 'int8')):\n    return a\n",
        encoding="utf-8",
    )
    argv = [f"{name}=iota" for name in "abde"] + ["c=[true, false, true]"]
    trace = record(capsys, str(path), *(word for one in argv for word in ("--input", one)))
    a, b, c, d, e = (change[4] for change in trace["start"] if change[0] == "+")
    assert a == {
        "rank": 3,
        "slices": [
            ["[0, :, :]", [["0", "1"], ["2", "3"], ["4", "5"]]],
            ["[1, :, :]", [["6", "7"], ["8", "9"], ["10", "11"]]],
        ],
        "left": [0, 0, 0],
    }
    assert len(b["slices"][0][1]) == 8 and b["slices"][0][1][0][-1] == "7"
    assert b["left"] == [1, 12, 0] and d is None
    assert c == {"rank": 1, "slices": [["", [["true", "false", "true"]]]], "left": [0, 0, 0]}
    assert [label for label, _ in e["slices"]] == [
        *("[0, 0, :, :]", "[0, 1, :, :]", "[1, 0, :, :]", "[1, 1, :, :]")
    ]
    assert e["left"] == [0, 0, 6]


def test_aliases_share_their_memory(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One object under two names, two views of one piece of storage, and an object in a tuple."""
    path = tmp_path / "alias.rlx"
    path.write_text(
        "@R.function\ndef main(x: R.Tensor((2, 2), 'float32')):\n    y = x\n    t = (x, y)\n    z = R.add(x, y)\n    return z\n",
        encoding="utf-8",
    )
    trace = record(capsys, str(path))
    names = {c[1]: c[3] for c in [*trace["start"], *changes_of(trace)] if c[0] == "="}
    assert names["x"] == names["y"] == [["", 1]]
    assert names["t"] == [["[0]", 1], ["[1]", 1]] and names["z"] == [["", 2]]
    memories = [c[3] for c in [*trace["start"], *changes_of(trace)] if c[0] == "+"]
    assert memories == [1, 2]
    assert memory_of_views() == [1, 1, 1, 4]


def test_what_was_never_written_is_not_shown_as_a_number(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "blank.rlx"
    path.write_text(
        "@I.ir_module\nclass M:\n    @T.prim_func(private=True, s_tir=True)\n"
        "    def fill(x: T.Buffer((2,), 'float32'), y: T.Buffer((2,), 'float32')):\n"
        "        for i in range(2):\n            y[i] = x[i]\n\n"
        "    @R.function(pure=False)\n    def main(x: R.Tensor((2,), 'float32')):\n"
        "        y = R.builtin.alloc_tensor(R.shape([2]), dtype='float32', runtime_device_index=0)\n"
        "        _ = M.fill(x, y)\n        return y\n",
        encoding="utf-8",
    )
    trace = record(capsys, str(path), "--input", "x=[3.0, 4.0]")
    shown = next(c[4] for c in changes_of(trace) if c[0] == "+")
    assert shown["slices"] == [["", [["·", "·"]]]]
    filled = [c[3] for c in changes_of(trace) if c[0] == "~"]
    assert filled[-1]["slices"] == [["", [["3", "4"]]]]


def memory_of_views() -> list[int]:
    """An array, a view of it, a view of a part of that, and another array."""
    whole = np.zeros((4, 4), np.float32)
    arrays = (whole, whole.T, whole.reshape(16)[3:5], np.zeros(2, np.float32))
    (module,) = parse("@R.function\ndef main(x: R.Object):\n    return x\n").modules
    recorder = TraceRecorder()
    at = load(module).start("main", [TupleValue(tuple(map(Tensor, arrays)))])
    assert isinstance(at, Configuration)
    recorder.start(at)
    return [change[3] for change in recorder.beginning if change[0] == "+"]


def test_mutation_is_seen_in_the_store(capsys: pytest.CaptureFixture[str]) -> None:
    trace = record(capsys, str(EXAMPLES / "in_place.rlx"))
    assert any(c[0] == "~" for c in changes_of(trace))


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
const shown = () => ["said", "changed", "frames", "store", "clause"].map(id => document.getElementById(id).innerHTML).join("|");
go(0); all.push(shown());
while (state.at < trace.steps.length) { document.getElementById("forward").click(); all.push(shown()); }
const back = [shown()];
while (state.at > 0) { document.getElementById("back").click(); back.push(shown()); }
back.reverse();
const problems = all.map((text, at) => text === back[at] ? "" : at).filter(at => at !== "");
const jumps = [3, 1, trace.steps.length, 0, 2].filter(at => { go(at); return shown() !== all[at]; });
document.getElementById("search").value = "E-if";
document.getElementById("search").oninput();
press("n");
const found = trace.rules[trace.steps[state.at - 1][0]].id;
const marked = document.querySelector("mark").textContent;
press("End");
const end = state.at;
document.getElementById("at").value = 3;
document.getElementById("at").onchange({ target: document.getElementById("at") });
tell({ problems, jumps, steps: all.length, found, marked, end, at: state.at,
  count: document.getElementById("found").textContent, rule: document.getElementById("clause").innerText });
}"""

HELPERS = """
const press = key => document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
const tell = found => {
  const result = document.createElement("pre");
  result.id = "result";
  result.textContent = JSON.stringify(found);
  document.body.append(result);
};
const text = id => document.getElementById(id).innerText;
"""


def told(script: str, page: str, folder: Path) -> Any:
    """The facts about a page that a script prints."""
    dom = dom_after(page, f"{HELPERS}{{{script}}}", folder)
    found = re.search(r'<pre id="result">(.*?)</pre>', dom, re.DOTALL)
    assert found is not None, dom[-2000:]
    return json.loads(unescape(found[1]))


def made(tmp_path: Path, *argv: str) -> str:
    """The page of a run."""
    page = tmp_path / "trace.html"
    main([*argv, "--html", str(page)])
    return page.read_text("utf-8")


def test_the_page_plays_forward_and_back_in_chromium(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = made(tmp_path, RECURSION, "--entry", "even", "--input", "k=3")
    assert capsys.readouterr().out == ""
    result = told(WALK, page, tmp_path)
    assert result["problems"] == [] and result["jumps"] == [] and result["steps"] > 15
    assert result["found"] == "E-if" and "zero" in result["marked"]
    assert result["end"] == result["steps"] - 1 and result["at"] == 3
    assert result["count"] == "4 steps" and "E-" in result["rule"]


def test_the_page_asks_for_nothing(tmp_path: Path) -> None:
    """A page uses no network, and no addresses except those of its own steps."""
    page = made(tmp_path, RECURSION, "--entry", "even", "--input", "k=1")
    code = re.sub(r'<script type="application/json".*?</script>', "", page, flags=re.DOTALL)
    assert set(re.findall(r"(?:src|href)\s*=\s*[\"'`]?([^\"'`\s>]+)", code)) == {
        "#state",
        "#step=${state.at}",
    }
    assert not re.search(r"https?:|@import|url\(|fetch\(|XMLHttpRequest|__[A-Z]+__", code)
    assert "default-src 'none'" in page


BEGINNING = """
go(0);
const begins = { environment: text("frames"), store: text("store"), said: text("said") };
go(trace.steps.findIndex(step => trace.rules[step[0]].id === "E-if") + 1);
tell({ ...begins, results: document.querySelectorAll("#changed .result").length, changed: text("changed") });
"""


def test_the_environment_before_the_first_step(tmp_path: Path) -> None:
    """And a branch that is entered shows no value of an earlier step."""
    found = told(
        BEGINNING, made(tmp_path, RECURSION, "--entry", "even", "--input", "k=3"), tmp_path
    )
    assert found["environment"].split() == [
        "even",
        *["variables", "of", "even"],
        "k",
        "#1",
        "int64()",
        "[3]",
    ]
    assert "#1" in found["store"] and "k in even" in found["store"]
    assert found["said"] == "Before the first step"
    assert found["results"] == 0 and found["changed"] == "enters branch in even"


IN_PLACE = """
go(trace.steps.findIndex(step => trace.rules[step[0]].id === "E-call-tir-inplace") + 1);
const box = [...document.querySelectorAll(".box")].find(box => box.innerText.includes("total"));
const cell = box.querySelector("td.changed");
tell({ names: [...box.querySelectorAll(".name")].map(name => name.innerText), tag: box.querySelector(".tag").innerText,
  was: cell.querySelector("del").innerText, is: cell.querySelector("ins").innerText,
  changed: box.querySelectorAll("td.changed").length, rows: box.querySelectorAll("tbody tr").length,
  more: box.innerText.includes("8 more columns"), fresh: box.className,
  others: document.querySelectorAll(".box.fresh").length,
  heads: [...box.querySelectorAll("th")].every(head => head.scope || !head.innerText),
  caption: box.querySelector("caption").textContent, bar: document.querySelectorAll(".inference .below").length });
"""


def test_what_a_step_changes_in_the_store(tmp_path: Path) -> None:
    """One box with both names; the cells that changed say what they were; nothing else is marked."""
    found = told(IN_PLACE, made(tmp_path, str(EXAMPLES / "in_place.rlx")), tmp_path)
    assert found["names"] == ["total in main", "once in main"] and found["tag"] == "changed"
    assert found["was"] == "0" and found["is"] == "0.12573"
    assert found["changed"] == 16 and found["rows"] == 2 and found["more"]
    assert found["fresh"] == "box fresh" and found["others"] == 1
    assert found["heads"] and found["caption"] == "#3" and found["bar"] == 1


PLAYING = """
go(0);
document.getElementById("speed").value = "20";
press(" ");
const label = document.getElementById("play").innerText;
setTimeout(() => {
  const moved = state.at, quiet = document.getElementById("said").getAttribute("aria-live");
  setTimeout(() => {
    const end = state.at, after = document.getElementById("play").innerText;
    press(" ");  // from the beginning again
    press("ArrowRight");  // which stops it
    const stopped = document.getElementById("play").innerText, at = state.at;
    tell({ label, moved, quiet, end, after, stopped, at, steps: trace.steps.length,
      live: document.getElementById("said").getAttribute("aria-live") });
  }, 9000);
}, 320);
"""


def test_it_plays_by_itself(tmp_path: Path) -> None:
    page = made(tmp_path, RECURSION, "--entry", "even", "--input", "k=3")
    found = told(PLAYING, page, tmp_path)
    assert found["label"] == "Stop" and 1 <= found["moved"] < found["steps"]
    assert found["end"] == found["steps"] and found["after"] == "Play"
    assert found["stopped"] == "Play" and found["at"] == 1
    assert (found["quiet"], found["live"]) == ("off", "polite")


LINKS = """
go(5);
const href = document.getElementById("link").getAttribute("href");
setTimeout(() => {
  const kept = location.hash;
  location.hash = "#step=2";
  setTimeout(() => {
    const came = state.at;
    location.hash = "#step=99999";
    setTimeout(() => tell({ href, kept, came, last: state.at === trace.steps.length }), 50);
  }, 50);
}, 400);
"""


def test_a_link_leads_to_a_step(tmp_path: Path) -> None:
    page = made(tmp_path, RECURSION, "--entry", "even", "--input", "k=3")
    found = told(LINKS, page, tmp_path)
    assert found == {"href": "#step=5", "kept": "#step=5", "came": 2, "last": True}


HEARD = """
go(4);
const named = element => element.getAttribute("aria-label") || element.innerText.trim() || element.placeholder;
const controls = [...document.querySelectorAll("button, input, select, summary, a, [tabindex='0']")];
const title = document.getElementById("slider").getAttribute("aria-valuetext");
const before = state.at;
document.getElementById("search").focus();
document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "n", bubbles: true }));
const typed = state.at;
document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
const left = document.activeElement.tagName;
press("?");
tell({ nameless: controls.filter(control => !named(control)).map(control => control.outerHTML), title,
  said: text("said"), live: document.getElementById("said").getAttribute("role"),
  current: document.querySelector("[aria-current]").dataset.line, spoken: document.querySelector(".inference")?.getAttribute("aria-label"),
  regions: [...document.querySelectorAll("[role=region]")].map(named), before, typed, left, help: document.getElementById("help").open,
  labelled: [...document.querySelectorAll("section")].every(section => document.getElementById(section.getAttribute("aria-labelledby"))),
  language: document.documentElement.lang, noFocusTrap: controls.every(control => control.tabIndex <= 0),
  coloured: [...new Set([...document.querySelectorAll("#source span")].map(span => span.className))].sort() });
"""


def test_the_page_for_keyboards_and_screen_readers(tmp_path: Path) -> None:
    page = made(tmp_path, RECURSION, "--entry", "even", "--input", "k=3")
    found = told(HEARD, page, tmp_path)
    assert found["nameless"] == [] and found["labelled"] and found["noFocusTrap"]
    assert (
        found["title"].startswith("step 4 of ") and found["said"] == "Step 4: E-constant, line 31"
    )
    assert found["live"] == "status" and found["current"] == "31"
    assert found["regions"] == ["Source", "State"] and found["language"] == "en"
    assert found["before"] == found["typed"] and found["left"] == "BODY" and found["help"]
    assert found["coloured"] == ["builtin", "comment", "decorator", "keyword", "number", "string"]


def test_colours_can_be_read() -> None:
    """Text against what it may stand on: at least 4.5 to 1, in the light and in the dark scheme."""
    style = (ROOT / "semantics" / "run" / "viewer.css").read_text("utf-8")
    schemes = re.findall(r":root \{(.*?)\}", style, re.DOTALL)
    assert len(schemes) == 2
    for scheme in schemes:
        colour = dict(re.findall(r"--([a-z]+): (#[0-9a-f]{6})", scheme))
        for ground in ("ground", "panel"):
            for ink in ("ink", "soft", "accent", "bad", "good"):
                assert contrast(colour[ink], colour[ground]) >= 4.5, (ink, ground)
        for token in ("comment", "string", "keyword", "builtin", "number", "ink"):
            assert contrast(colour[token], colour["panel"]) >= 4.5, token
            assert contrast(colour[token], colour["active"]) >= 4.5, token
        assert contrast(colour["ink"], colour["fresh"]) >= 4.5


def contrast(one: str, other: str) -> float:
    """The ratio of contrast of the accessibility guidelines (WCAG 2)."""
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def luminance(colour: str) -> float:
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


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
    found = told(
        "go(1); tell([document.title, document.querySelector('mark').innerText]);",
        page.read_text("utf-8"),
        tmp_path,
    )
    assert "owned" not in found[0] and found[1] == "R.exp(x)"


def test_ten_thousand_steps_stay_small(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "trace.html"
    status, _ = step(capsys, RECURSION, "--entry", "even", "--input", "k=5000", "--html", str(page))
    assert status == 3
    assert page.stat().st_size < 2_000_000


def test_a_step_of_a_program_without_a_text_stands_nowhere() -> None:
    x = ast.Var("x", ast.TensorStructInfo(ast.ShapeExpr((tir.IntImm(2),)), dtype("float32")))
    body = ast.Call(ast.Op("relax.exp"), (x,))
    running = load(ast.IRModule({ast.GlobalVar("main"): ast.Function((x,), body)}))
    at = running.start("main", [Tensor(np.ones(2, np.float32))])
    recorder = TraceRecorder()
    assert isinstance(at, Configuration)
    recorder.start(at)
    while isinstance(at, Configuration):
        following = running.step(at)
        recorder.step(at, following)
        at = following
    assert recorder.steps
    assert {tuple(step[1:3]) for step in recorder.steps} == {(-1, -1)}


@pytest.mark.parametrize("backend", ["steps", "vm"])
def test_tuples_that_share_their_fields(
    backend: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A value with 2**64 paths to one tensor; the trace has the first of them."""
    lines = ["v0 = (x, x)", *(f"v{i} = (v{i - 1}, v{i - 1})" for i in range(1, 64))]
    body = "".join(f"    {line}\n" for line in lines)
    head = '@R.function\ndef main(x: R.Tensor((2,), "float32")):\n'
    (tmp_path / "doubled.rlx").write_text(f"{head}{body}    return v63\n", "utf-8")
    argv = [str(tmp_path / "doubled.rlx"), "--input", "x=[1,2]", "--backend", backend]
    status, out = step(capsys, *argv)
    assert status == 0
    assert out.splitlines()[-1].startswith("returned ((((")
    assert len(out.splitlines()) < 100 and max(map(len, out.splitlines())) < 1000
    status, _ = step(capsys, *argv, "--html", str(tmp_path / "page.html"))
    assert status == 0 and (tmp_path / "page.html").stat().st_size < 5_000_000
