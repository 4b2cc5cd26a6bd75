"""`rlx step` on the virtual machine: as text, as JSON, as a page; of programs and of executables."""

from __future__ import annotations

import json
import os
import random
import re
from pathlib import Path
from typing import Any

import pytest

from rlx.commands.step import main
from rlx.generate.campaign.programs import is_legal, program
from rlx.grammar.read.parser import parse
from rlx.semantics.outcome import Returned
from rlx.semantics.run.inputs import inputs
from rlx.semantics.run.trace import LIMIT
from rlx.semantics.values import Scalar, Value
from rlx.spec.reader import rules
from rlx.vm import RunError, VirtualMachine, build
from rlx.vm.trace import followed
from tests.values import alike

from .programs import PACKED, by_hand

EXAMPLES = Path(__file__).parents[2] / "examples"
CALL_TIR = str(EXAMPLES / "call_tir.rlx")
SIZES = ["--input", "n=2", "--input", "m=3"]


def stepped(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str]:
    status = main(list(argv))
    return status, capsys.readouterr().out


def test_text(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    status, out = stepped(capsys, CALL_TIR, "--backend", "vm", *SIZES)
    assert status == 0
    lines = out.splitlines()
    assert "enters main; %0 = #1 float32(2, 64); %1 = #2" in lines[0]
    assert re.match(
        r" +3  E-builtin-match +call vm.builtin.match_shape in: %0, .*#3 becomes", lines[3]
    )
    assert any("V-alloc-storage" in line and "storage of 24 bytes" in line for line in lines)
    assert lines[-1].startswith("returned float32(2, 3)")
    path = str(tmp_path / "a.rlxexe")
    build(parse(Path(CALL_TIR).read_text()).modules[0]).save(path)
    assert stepped(capsys, path, *SIZES) == (0, out)


def test_calls_and_returns(capsys: pytest.CaptureFixture[str]) -> None:
    recursion = str(EXAMPLES / "recursion.rlx")
    given = ["--backend", "vm", "--entry", "even", "--input", "k=3"]
    _, out = stepped(capsys, recursion, *given)
    assert out.count("V-call-function") == 3 and out.count("enters odd; %0 = #") == 2
    assert out.count("leaves; %") == 3
    _, chosen = stepped(capsys, recursion, *given, "--rule", "V-if")
    assert len(chosen.splitlines()) == 4 + 1
    status, cut = stepped(capsys, recursion, *given, "--limit", "5")
    assert status == 3 and cut.splitlines()[-1] == "recording ended after 5 steps"
    assert main([recursion, "--entry", "even", "--input", "k=3", "--rule", "V-if"]) == 2
    assert "no evaluation rule has this name" in capsys.readouterr().err


def test_a_check_that_fails_is_the_last_step(capsys: pytest.CaptureFixture[str]) -> None:
    status, out = stepped(capsys, CALL_TIR, "--backend", "vm", "--input", "a=3")
    assert status == 1
    assert "E-builtin-check" in out.splitlines()[-2] and "call vm.builtin.check_tensor_info" in out
    assert out.splitlines()[-1].startswith(
        "check failed[E-builtin-check-rank]: main: parameter 0, a"
    )


def test_a_page_shows_the_listing_and_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "run.html"
    assert main([CALL_TIR, "--backend", "vm", *SIZES, "--html", str(page)]) == 0
    found = re.search(
        r'<script type="application/json" id="trace">(.*?)</script>', page.read_text(), re.DOTALL
    )
    assert found is not None
    trace: dict[str, Any] = json.loads(found[1])
    assert trace["source"].startswith("@main:  # 2 inputs (a, b)")
    told = {rule["id"]: rule for rule in trace["rules"]}
    assert "V-alloc-tensor" in told and told["V-alloc-tensor"]["why"] and told["V-ret"]["inference"]
    number, start, end, _ = trace["steps"][6]
    assert trace["rules"][number]["id"] == "V-alloc-storage"
    assert trace["source"][start:end].startswith("call  vm.builtin.alloc_storage ")


def test_every_rule_is_one_of_the_specification() -> None:
    from rlx.vm import trace

    known = rules()
    assert {*trace.RULES_OF_CALLS.values(), *trace.RULES_OF_INSTRUCTIONS.values()} <= known.keys()


def test_names_that_are_no_identifiers_have_places() -> None:
    machine = VirtualMachine(by_hand(), PACKED, backend="steps")
    trace = followed(machine, "a.rlxexe", "fib", [Scalar(3)])
    assert isinstance(trace.outcome, Returned)
    texts = [trace.source.text[start:end] for _, start, end, _ in trace.recorder.steps]
    assert texts[0].startswith("call  less") and texts[-1].startswith("ret   ret %")
    assert any(text.startswith('call  "a name: with, %1 in: it"') for text in texts)
    closures = followed(machine, "a.rlxexe", "a function", [])
    assert any("closure fib" in str(step) for step in closures.recorder.steps)


@pytest.mark.parametrize("place", range(8))
def test_a_trace_ends_as_the_run_does(place: int) -> None:
    """LAW: of a generated program the trace shows the run's end, and frames that balance."""
    seed = (0 if os.environ.get("CI") else random.SystemRandom().randrange(2**16)) + place
    if not is_legal(seed):
        return
    module = parse(program(seed)[0]).modules[0]
    machine = VirtualMachine(build(module), backend="steps", output=lambda _: None, fuel=LIMIT)
    for gv, function in module.relax_functions.items():
        if function.attrs.get("private"):
            continue
        try:
            args: list[Value] = list(inputs(function, {}, seed).values)
        except ValueError:
            continue
        trace = followed(machine, "a.rlxexe", gv.name_hint, args)
        try:
            value = machine.invoke(gv.name_hint, list(inputs(function, {}, seed).values))
        except RunError as error:
            assert trace.outcome is None or type(trace.outcome) is error.outcome, seed
            continue
        if trace.outcome is not None:
            assert isinstance(trace.outcome, Returned) and alike(trace.outcome.value, value), seed
            kinds = [change[0] for step in trace.recorder.steps for change in step[3]]
            assert kinds.count(">") == kinds.count("<"), seed
