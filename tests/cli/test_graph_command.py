"""`rlx graph`: what a graph holds, how a long function is folded, and two programs beside each other."""

from __future__ import annotations

import cProfile
import json
import xml.etree.ElementTree as xml
from itertools import pairwise
from pathlib import Path

import pytest

import rlx
from rlx.commands.graph import main
from rlx.graphs.layers import Box, layout
from rlx.graphs.views import MOST, Fold, all_views, view_of
from tests.browser import dom_after

EXAMPLES = Path(__file__).parents[2] / "examples"
ATTENTION = str(EXAMPLES / "attention.rlx")


def test_items_of_a_program(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([ATTENTION, "--format", "json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["version"] == 1
    function = record["functions"][0]
    named = {item["name"]: item for item in function["items"]}
    mixed = [function["items"][key]["name"] for key in named["mixed"]["uses"]]
    assert mixed == ["gv1", "v"]
    assert named["q"]["kind"] == "call" and named["q"]["callees"] == ["heads"]
    assert named["x"]["binds"] == ["n"]
    assert function["items"][function["shape_vars"]["n"]]["name"] == "x"


def test_a_cast_binds_a_shape_variable() -> None:
    module = rlx.parse(
        """\
@R.function
def main(x: R.Tensor("float32", ndim=1)):
    k = T.int64()
    y = R.match_cast(x, R.Tensor((k,), "float32"))
    z = R.exp(y)
    return z
"""
    )
    (function,) = module.graph().functions
    (key,) = function.bound_at.values()
    assert function.items[key].name == "y" and function.items[key].kind == "cast"


def _long(count: int) -> rlx.IRModule:
    lines = [f"    v{k + 1} = R.add(v{k}, v0)" for k in range(count)]
    head = '@R.function\ndef main(v0: R.Tensor(("n",), "float32")):\n'
    return rlx.parse(head + "\n".join(lines) + f"\n    return v{count}\n")


def test_tuples_that_double_cost_what_they_share() -> None:
    def calls(count: int) -> int:
        lines = [f"    t{k + 1} = (t{k}, t{k})" for k in range(count)]
        head = '@R.function\ndef main(t0: R.Tensor(("n",), "float32")):\n'
        module = rlx.parse(head + "\n".join(lines) + f"\n    return t{count}\n")
        profile = cProfile.Profile()
        profile.runcall(module.graph)
        return sum(each.callcount for each in profile.getstats())

    calls(10)  # loads what is loaded once
    assert calls(600) < 2.3 * calls(300)


def test_a_thousand_bindings_are_folded_without_loss() -> None:
    (function,) = _long(1000).graph().functions
    views = list(all_views(view_of(function, "v")))
    assert all(len(view.boxes) <= MOST for view in views)
    shown = [box.key for view in views for box in view.boxes if not isinstance(box, Fold)]
    assert sorted(shown) == [item.key for item in function.items]


def test_what_is_found_is_opened_and_stays_in_the_middle(tmp_path: Path) -> None:
    script = """{
    const y = () => Math.round(document.querySelector(".found").getBoundingClientRect().y);
    const field = document.getElementById("search"), press = id => document.getElementById(id).click();
    field.value = "v77 ="; field.dispatchEvent(new Event("input")); press("next");
    const [before, wide] = [y(), document.querySelector(".found").getBoundingClientRect().width];
    press("in");
    const larger = document.querySelector(".found").getBoundingClientRect().width / wide;
    document.title = JSON.stringify([document.getElementById("said").textContent,
      document.querySelectorAll("details[open]").length, larger.toFixed(2), Math.abs(y() - before) < 40]);
    }"""
    found = dom_after(_long(200).graph().html(), script, tmp_path)
    title = found.partition("<title>")[2].partition("</title>")[0]
    assert json.loads(title) == ["1 of 1", 1, "1.25", True]


def test_folds_of_two_programs_open_and_close_together(tmp_path: Path) -> None:
    path = tmp_path / "long.rlx"
    path.write_text(str(_long(200)))
    assert main([str(path), str(path), "--out", str(tmp_path / "two.html")]) == 0
    page = (tmp_path / "two.html").read_text()
    script = """(async () => {
    const folds = [...document.querySelectorAll("details")], half = folds.length / 2;
    const open = () => folds.map((fold, at) => fold.open ? at % half : -1).filter(at => at >= 0);
    const turned = () => new Promise(done => setTimeout(done, 50)), states = [];
    for (const at of [1, half + 2, half + 1, 2]) {
      folds[at].querySelector("summary").click(); await turned(); states.push(open());
    }
    document.title = JSON.stringify(states);
    })();"""
    title = dom_after(page, script, tmp_path).partition("<title>")[2].partition("</title>")[0]
    assert json.loads(title) == [[1, 1], [1, 2, 1, 2], [2, 2], []]


def test_boxes_do_not_overlap_and_edges_go_down() -> None:
    edges = [(0, 2), (1, 2), (0, 3), (2, 4), (3, 4), (0, 4), (1, 5), (4, 5)]
    boxes = {key: Box(40.0 + 30 * (key % 3), 30.0, 0) for key in range(6)}
    found = layout(boxes, edges)
    for start, end in edges:
        assert found.places[start][1] + 30.0 < found.places[end][1]
    rows: dict[float, list[tuple[float, float]]] = {}
    for key, (x, y) in found.places.items():
        rows.setdefault(y, []).append((x - boxes[key].width / 2, x + boxes[key].width / 2))
    for row in rows.values():
        assert all(a[1] < b[0] for a, b in pairwise(sorted(row)))


def test_what_two_programs_do_not_share(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "b.rlx"
    text = Path(EXAMPLES / "mlp.rlx").read_text("utf-8")
    assert "nn.relu" in text
    other.write_text(text.replace("nn.relu", "nn.silu"), "utf-8")
    assert main([str(EXAMPLES / "mlp.rlx"), str(other), "--format", "json"]) == 0
    record = json.loads(capsys.readouterr().out)
    changed = [
        [item["name"] for f in functions for item in f["items"] if item["change"]]
        for functions in (record["functions"], record["other"])
    ]
    assert changed[0] and changed[0] == changed[1]
    relus = [i for f in record["functions"] for i in f["items"] if "relu" in i["value"]]
    assert all(item["change"] == "removed" for item in relus)
    carried = [i["value"] for f in record["other"] for i in f["items"] if i["change"] == "carried"]
    assert carried and not any("silu" in value for value in carried)


def test_pages_and_pictures_load_nothing(tmp_path: Path) -> None:
    for ending in ("html", "svg", "dot"):
        out = tmp_path / f"graph.{ending}"
        assert main([ATTENTION, "-o", str(out)]) == 0
        text = out.read_text("utf-8").replace("http://www.w3.org/2000/svg", "")
        assert "http" not in text and "src=" not in text
        if ending == "svg":
            assert xml.parse(out).getroot().tag.endswith("svg")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([ATTENTION, "-o", "graph.pdf"], "expected a name that ends in .html, .svg, .dot or .json"),
        ([ATTENTION, "-o", "a.svg", "--format", "json"], "--out a.svg says another one"),
        (["-", "-"], "only one of the programs can be standard input"),
        ([ATTENTION, "-o", ATTENTION, "--format", "dot"], "this would overwrite the program"),
    ],
)
def test_what_cannot_be_drawn(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    assert said in capsys.readouterr().err
