"""`rlx.tvm` and `rlx bisect`: what is wrong after a pass is found, and what is right is left alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

tvm = pytest.importorskip("tvm")

from tvm import relax
from tvm.ir.instrument import pass_instrument

import rlx
from rlx.tvm import Instrument
from rlx.tvm.instrument import Texts

from .models import MODELS

ROOT = Path(__file__).parents[2]
TEXT = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 4), "float32"), y: R.Tensor(("n", 4), "float32")) -> R.Tensor(("n", 4), "float32"):
        with R.dataflow():
            a = R.multiply(x, y)
            b = R.add(a, y)
            c = R.nn.relu(b)
            R.output(c)
        return c
"""


def edited(old: str, new: str, name: str = "Edit") -> str:
    """A pass that changes a module's text."""
    made = f"tvm.script.from_source(m.script(show_meta=True).replace({old!r}, {new!r}), check_well_formed=False)"
    return f"tvm.transform.module_pass(lambda m, c: {made}, opt_level=0, name={name!r})"


def pipeline(*passes: str) -> str:
    return f"tvm.transform.Sequential([{', '.join(passes)}])"


def bisect(
    tmp_path: Path, text: str, *options: str, python: str = ""
) -> subprocess.CompletedProcess[str]:
    file = tmp_path / "module.rlx"
    file.write_text(text, "utf-8")
    return subprocess.run(
        [sys.executable, "-m", "rlx", "bisect", str(file), *options],
        check=False,
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": python},
    )


IMPURE = 'R.call_packed("f", b, sinfo_args=R.Tensor((n, 4), "float32"))'
NORMAL = "relax.transform.Normalize()"
BROKEN: dict[str, tuple[str, str, str]] = {
    "illegal": (edited("R.nn.relu(b)", IMPURE), "illegal", "D14-impure"),
    "meaning": (edited("R.add", "R.subtract"), "meaning", "meaning"),
    "raises": (
        "tvm.transform.module_pass(lambda m, c: [][0], opt_level=0, name='Edit')",
        "raises",
        "IndexError",
    ),
    "crash": (
        "tvm.transform.module_pass(lambda m, c: __import__('os').abort(), opt_level=0, name='Edit')",
        "crash",
        "SIGABRT",
    ),
    "hang": (
        "tvm.transform.module_pass(lambda m, c: __import__('time').sleep(60), opt_level=0, name='Edit')",
        "hang",
        "no answer within 5 s",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_the_pass_to_blame_is_named(case: str, tmp_path: Path) -> None:
    broken, kind, cause = BROKEN[case]
    options = (
        ["--no-reduce", "--patience", "5"]
        if kind == "hang"
        else ["--no-reduce"] * (kind == "crash")
    )
    given = pipeline(NORMAL, broken, NORMAL)
    done = bisect(tmp_path, TEXT, "--pipeline", given, "--format", "json", *options)
    assert done.returncode == 1, done.stderr
    found = json.loads(done.stdout)["blame"]
    assert (found["pass"], found["kind"]) == ("Edit", kind) and found["cause"].startswith(cause)
    assert found["done"] == ["Normalize"]
    if kind == "raises":  # any program at all shows it
        assert len(found["program"].splitlines()) < len(TEXT.splitlines())
    if kind == "meaning":
        assert "R.add" in found["program"] and "R.multiply" not in found["program"]
        assert "R.add" in found["before"] and "R.subtract" in found["after"]


def test_what_cannot_be_done_is_said(tmp_path: Path) -> None:
    wrong = {
        "relax.transform.Nope()": "has no attribute 'Nope'",
        "3": "expected a pass, found int",
    }
    for given, why in wrong.items():
        done = bisect(tmp_path, TEXT, "--pipeline", given)
        assert done.returncode == 2 and why in done.stderr and "Traceback" not in done.stderr
    done = bisect(tmp_path, TEXT.replace("R.add(", "R.add(("))
    assert done.returncode == 2 and "error[PARSE]" in done.stderr
    done = bisect(tmp_path, TEXT.replace("R.add(a, y)", "R.add(a, z)"))
    assert done.returncode == 1 and "wrong before the first pass" in done.stderr
    assert "error[WF02-undefined]" in done.stderr and done.stdout == ""


def test_real_modules_stay_legal_through_every_pass() -> None:
    module = MODELS["experts"]()
    assert rlx.tvm.check(module).ok
    instrument: Any = Instrument()
    with tvm.target.Target("llvm"), tvm.transform.PassContext(instruments=[instrument]):
        relax.get_pipeline("default_build")(module)
    assert len(instrument.seen) > 15 and instrument.problems == []


def test_an_instrument_stops_at_the_first_problem() -> None:
    module = tvm.script.from_source(rlx.show(TEXT))
    namespace = {"tvm": tvm, "relax": relax}
    broken = eval(BROKEN["meaning"][0], namespace)
    again = eval(edited("R.subtract", "R.add", "Back"), namespace)
    both = tvm.transform.Sequential([broken, again])
    instrument: Any = Instrument(run=True, stop=False)
    with tvm.transform.PassContext(instruments=[instrument]):
        both(module)
    assert [(p.pass_name, p.kind) for p in instrument.problems] == [
        ("Edit", "meaning"),
        ("Back", "meaning"),
    ]
    with (
        pytest.raises(RuntimeError, match="Edit: main with size 3"),
        tvm.transform.PassContext(instruments=[Instrument(run=True)]),
    ):
        both(module)


def test_what_is_no_module_is_refused() -> None:
    with pytest.raises(TypeError, match=r"expected a tvm\.IRModule, found str"):
        rlx.tvm.check(TEXT)
    report = rlx.check(tvm.script.from_source(rlx.show(TEXT)))
    assert report.ok and report.source.path == "<tvm module>"


def test_a_module_is_printed_where_a_pass_changed_it(monkeypatch: pytest.MonkeyPatch) -> None:
    texts, module = Texts(), tvm.script.from_source(TEXT)
    printed: list[object] = []
    script = tvm.IRModule.script

    class Look:
        def run_after_pass(self, module: Any, info: Any) -> None:
            found = texts.of(module)
            assert found in (None, script(module, show_meta=True)), info.name

    def counted(*args: Any, **more: Any) -> str:
        printed.append(args)
        return str(script(*args, **more))

    monkeypatch.setattr(tvm.IRModule, "script", counted)
    same = tvm.transform.module_pass(lambda m, c: m, opt_level=0, name="Same")
    other = tvm.script.from_source(TEXT.replace("R.add", "R.subtract"))["main"]

    def put(module: Any, context: Any) -> Any:
        module["main"] = other  # in place
        return module

    passes = [same, same, tvm.transform.module_pass(put, opt_level=0, name="Put"), same]
    with tvm.transform.PassContext(instruments=[pass_instrument(Look)()]):
        for each in passes:
            each(module)
    assert len(printed) == 2
