"""`rlx why` as a person types it, and the derivations in the JSON of `relax-check`."""

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rlx.commands.check import main as relax_check
from rlx.commands.why import main

ROOT = Path(__file__).parents[2]
BROKEN = ROOT / "examples" / "broken"

STEP: dict[str, type | tuple[type, ...]] = {
    "kind": str,
    "rule": (str, type(None)),
    "premise": (str, type(None)),
    "title": str,
    "formula": (str, type(None)),
    "text": str,
    "struct_info": (str, type(None)),
    "status": str,
    "beneath": str,
    "line": (int, type(None)),
    "column": (int, type(None)),
    "end_line": (int, type(None)),
    "end_column": (int, type(None)),
    "values": list,
    "held": list,
    "details": list,
    "steps": list,
    "more": int,
}


@pytest.mark.parametrize(
    ("place", "status"),
    [
        ("broken/broadcast.rlx:12", 0),  # a warning is no error
        ("broken/reshape.rlx:9", 1),
        ("broken/reshape.rlx:9:65", 1),
        ("broken/reshape.rlx:8", 1),
        ("broken/unbound.rlx:8:57", 1),
        ("mlp.rlx:21", 0),
        ("mlp.rlx:2", 2),
        ("mlp.rlx:2000", 2),
        ("nothing.rlx:1", 2),
        ("broken:1", 2),
    ],
)
def test_exit_status(place: str, status: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(ROOT / "examples" / place)]) == status
    out, err = capsys.readouterr()
    assert bool(out) == (status != 2)
    assert err.count("\n") == (status == 2)


@pytest.mark.parametrize(
    "argv", [[], ["x.rlx"], ["x.rlx:0x1"], ["x.rlx:1", "--depth", "-1"], [":1"]]
)
def test_wrong_usage(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(argv)
    assert stopped.value.code == 2
    assert "rlx why: error: " in capsys.readouterr().err


def test_standard_input(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (BROKEN / "broadcast.rlx").read_bytes()
    for place in ("-:12:26", "-:12"):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
        assert main([place]) == 0
        assert "OBL-broadcast-dims" in capsys.readouterr().out


def test_a_python_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (ROOT / "examples" / "mlp.rlx").read_text(encoding="utf-8")
    path = tmp_path / "a:b.py"
    path.write_text(f"import tvm\n\n{text}\n\nprint(1)\n", encoding="utf-8")
    assert main([f"{path}:23"]) == 0
    assert capsys.readouterr().out.startswith("logits : Tensor((n, 10), float32) [D11 Bindings")


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    path = str(BROKEN / "kernel.rlx")
    assert main([f"{path}:28:13", "--format", "json"]) == 1
    found = json.loads(capsys.readouterr().out)
    head = {key: found[key] for key in ("path", "line", "column", "version", "roots")}
    assert head == {"path": path, "line": 28, "column": 13, "version": 1, "roots": [0]}
    assert_steps(found["steps"])
    assert found["steps"][0]["rule"] == "D14"


@pytest.mark.parametrize("depth", [0, 1])
def test_json_down_to_a_depth(depth: int, capsys: pytest.CaptureFixture[str]) -> None:
    place = f"{BROKEN / 'kernel.rlx'}:28:13"
    assert main([place, "--format", "json", "--depth", str(depth)]) == 1
    steps = json.loads(capsys.readouterr().out)["steps"]
    assert_steps(steps)
    assert steps[0]["more"] == (0 if depth else 13) and any(step["more"] for step in steps)
    if not depth:
        assert len(steps) == 1


def assert_steps(steps: list[dict[str, object]]) -> None:
    """The steps have the documented keys and refer to each other, not in circles."""
    for step in steps:
        assert list(step) == list(STEP)
        assert all(isinstance(step[key], kind) for key, kind in STEP.items())
        below: Any = step["steps"]
        assert all(set(each) == {"as", "step"} for each in below)
    seen: set[int] = set()

    def visit(number: int, path: tuple[int, ...]) -> None:
        assert number not in path
        if number not in seen:
            seen.add(number)
            below: Any = steps[number]["steps"]
            for each in below:
                visit(each["step"], (*path, number))

    visit(0, ())


def test_the_rules_of_the_tree_are_written_out(capsys: pytest.CaptureFixture[str]) -> None:
    place = f"{ROOT / 'examples' / 'mlp.rlx'}:21"
    main([place])
    tree = capsys.readouterr().out
    main([place, "--rules"])
    out = capsys.readouterr().out
    assert out.startswith(tree)
    written = re.findall(
        r"^([A-Z][\w-]+) .*\n(?:  .*\n)*?  -+\n  .*$", out[len(tree) :], re.MULTILINE
    )
    assert set(written) == set(re.findall(r"\[([A-Z][\w-]+) ", tree))


def test_derivations_of_a_check(capsys: pytest.CaptureFixture[str]) -> None:
    paths = [str(BROKEN / "kernel.rlx"), str(BROKEN / "syntax.rlx")]
    assert relax_check(["--format", "json", "--derivations", *paths]) == 1
    derived = json.loads(capsys.readouterr().out)
    assert relax_check(["--format", "json", *paths]) == 1
    plain = json.loads(capsys.readouterr().out)
    assert derived["version"] == plain["version"] == 1
    for file in derived["files"]:
        found = file.pop("derivations")
        assert found["version"] == 1
        failed = {step["premise"] for step in found["steps"]}
        assert {d["code"] for d in file["diagnostics"]} <= failed
        assert_steps(found["steps"])
    assert derived == plain


def test_derivations_are_for_json(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        relax_check(["--derivations", str(BROKEN / "kernel.rlx")])
    assert stopped.value.code == 2
    assert "--format json" in capsys.readouterr().err


def test_a_check_that_nobody_records_loads_no_recorder() -> None:
    script = (
        "import sys; from rlx.commands.check import main; "
        f"main(['--format', 'json', {str(BROKEN / 'kernel.rlx')!r}]); "
        "assert not [m for m in sys.modules if m.startswith('rlx.checker.why')]"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_stream_without_the_signs_gets_others() -> None:
    argv = [sys.executable, "-m", "rlx", "why", str(BROKEN / "reshape.rlx") + ":9"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(argv, capture_output=True, env=environment, check=False)
    assert done.returncode == 1 and done.stdout.isascii()
    assert b"`- x OBL-reshape-count: " in done.stdout
    assert b"\\u" not in done.stdout


def test_the_lines_are_limited_unless_a_depth_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Deeply nested parts have trees of their own, which the limit leaves out."""
    steps = "".join(f"    v{k + 1} = R.exp(v{k})\n" for k in range(40))
    head = '@R.function\ndef main(v0: R.Tensor((4,), "float32")):\n'
    (tmp_path / "f.rlx").write_text(f"{head}{steps}    return v40\n")
    place = f"{tmp_path / 'f.rlx'}:42"
    main([place])
    whole = capsys.readouterr().out
    monkeypatch.setattr("rlx.commands.why.LINES", 5)
    main([place])
    short = capsys.readouterr().out
    kept, _, left = short.rpartition("\n\n")
    assert whole.startswith(kept) and left.startswith("… and the derivations of ")
    main([place, "--depth", "99"])
    assert "… and the derivations of" not in whole + capsys.readouterr().out
