"""Each oracle before a peer of our own, which agrees or goes wrong in one way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from rlx.generate.campaign.finding import Finding
from rlx.generate.campaign.oracles import ORACLES, examine
from rlx.generate.campaign.oracles.case import Case, kind_of, raised
from rlx.generate.campaign.oracles.meaning import SIZES, arguments
from rlx.generate.campaign.oracles.rerun import Rerun
from rlx.generate.campaign.oracles.run import larger_difference
from rlx.grammar.nodes import ast
from rlx.grammar.print.printer import print_module
from rlx.grammar.read.parser import parse
from rlx.semantics.machine import load
from rlx.semantics.outcome import Returned
from rlx.semantics.values import Tensor, TupleValue, Value

PROGRAM = """\
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 4), "float32"), y: R.Tensor(("n", 4), "float32")) -> R.Tuple(R.Tensor(("n", 4), "float32"), R.Tensor((4, "n"), "float32")):
        with R.dataflow():
            a = R.add(x, y)
            b = R.permute_dims(a)
            R.output(a, b)
        return (a, b)
"""
ILLEGAL = PROGRAM.replace("R.add(x, y)", "R.add(x, z)")
LEGAL_SEED, NEAR_MISS_SEED = 4, 3


class Array:
    """The function that the peer computes with."""

    def __init__(self, data: Any) -> None:
        self.data = data

    def numpy(self) -> Any:
        return self.data


class Sizes(tuple[int, ...]):
    """A shape of the peer's."""


class Peer:
    """Reads, prints and runs as we do, unless a part of it is replaced."""

    def __init__(self, **parts: Any) -> None:
        self.tvm = SimpleNamespace(runtime=SimpleNamespace(tensor=Array, ShapeTuple=Sizes))
        self.ffi = SimpleNamespace(Array=list)
        for name, part in parts.items():
            setattr(self, name, part)

    def read(self, text: str) -> ast.IRModule:
        (module,) = parse(text).modules
        return module

    def why_ill_formed(self, module: ast.IRModule) -> str:
        return ""

    def well_formed(self, module: ast.IRModule) -> bool:
        return not self.why_ill_formed(module)

    def print(self, module: ast.IRModule) -> str:
        return print_module(module)

    def difference(self, one: ast.IRModule, other: ast.IRModule) -> str:
        return ""

    def passes(self) -> list[tuple[str, Callable[[Any], Any]]]:
        return [("Identity", lambda module: module)]

    def compiled(self, module: ast.IRModule, *, without: Sequence[str] = ()) -> Any:
        return _Machine(module, lambda data: data)


class _Machine:
    def __init__(self, module: ast.IRModule, change: Callable[[Any], Any]) -> None:
        self.machine, self.change = load(module), change

    def __getitem__(self, entry: str) -> Callable[..., Any]:
        def run(*args: Array) -> Any:
            outcome = self.machine.run(entry, [Tensor(a.data.copy()) for a in args])
            assert isinstance(outcome, Returned)
            return self.returned(outcome.value)

        return run

    def returned(self, value: Value) -> Any:
        if isinstance(value, TupleValue):
            return tuple(map(self.returned, value.fields))
        assert isinstance(value, Tensor)
        return Array(self.change(value.data))


def raising(error: Exception) -> Callable[..., Any]:
    def fail(*_: Any) -> Any:
        raise error

    return fail


def edited(old: str, new: str) -> Callable[[ast.IRModule], Any]:
    """A pass that replaces words of the program."""
    return lambda module: parse(print_module(module).replace(old, new)).modules[0]


def put(
    oracle: str, peer: Peer, text: str = PROGRAM, seed: int = LEGAL_SEED
) -> list[tuple[str, str, str, str]]:
    """A finding of an oracle: kind, stage, cause, and the sentence."""
    case = Case(text, seed, "", lambda _: None)
    case.peer = peer  # type: ignore[assignment]
    found: list[Finding] = ORACLES[oracle](case)
    assert all(f.oracle == oracle and f.text == text and f.seed == seed for f in found)
    return [(f.kind, f.stage, f.cause, f.sentence) for f in found]


@pytest.mark.parametrize("oracle", ORACLES)
def test_nothing_is_found_where_all_is_right(oracle: str) -> None:
    assert put(oracle, Peer()) == []
    assert examine(oracle, PROGRAM, seed=LEGAL_SEED) == []
    if oracle != "check":
        broken = Peer(read=raising(ValueError("no")))
        assert put(oracle, broken) == [] or oracle == "derive"


def test_what_cannot_be_printed_is_asked_by_one_oracle() -> None:
    mute = Peer(print=raising(ValueError("no words for it")))
    assert put("passes", mute) == []
    [(kind, stage, _, _)] = put("roundtrip", mute)
    assert (kind, stage) == ("prints-wrong", "TVM's printer")


def test_who_refuses_a_legal_program() -> None:
    failing = Peer(read=raising(ValueError("no word 'dataflow'")))
    assert put("check", failing) == [
        ("refuses-legal", "TVM's parser", "ValueError: no word Q", "ValueError: no word 'dataflow'")
    ]
    refusing = Peer(why_ill_formed=lambda module: "a variable is bound twice")
    [(kind, stage, _, sentence)] = put("check", refusing)
    assert (kind, stage, sentence) == (
        "refuses-legal",
        "TVM's well_formed",
        "a variable is bound twice",
    )
    [(kind, stage, cause, _)] = put("check", refusing, ILLEGAL)
    assert (kind, stage, cause) == ("refuses-legal", "relax-check", "WF02-undefined")
    assert put("check", failing, seed=NEAR_MISS_SEED) == []


def test_who_accepts_an_illegal_program() -> None:
    [(kind, stage, cause, sentence)] = put("check", Peer(), ILLEGAL, NEAR_MISS_SEED)
    assert (kind, stage, cause) == ("accepts-illegal", "TVM's well_formed", "WF02-undefined")
    assert sentence.startswith("TVM's parser and well_formed accept it: WF02-undefined: ")
    failing = Peer(read=raising(ValueError("no")))
    assert put("check", failing, ILLEGAL, NEAR_MISS_SEED) == []


def test_types_that_the_peer_derives() -> None:
    wrong = Peer(print=lambda module: PROGRAM.replace("a = ", 'a: R.Tensor((3,), "float32") = '))
    [(kind, stage, cause, _)] = put("derive", wrong)
    assert (kind, stage, cause.split()[0]) == (
        "wrong-type",
        "comparison of types",
        "D11-annotation",
    )
    failing = Peer(read=raising(ValueError("no type")))
    assert put("derive", failing)[0][:2] == ("refuses-legal", "TVM's derivation")


def test_what_reads_back_otherwise() -> None:
    elsewhere = Peer(difference=lambda one, other: "<root>.functions[0].bindings[1].value.args[0]")
    [(kind, stage, cause, sentence)] = put("roundtrip", elsewhere)
    assert (kind, stage, cause) == (
        "prints-wrong",
        "TVM reads what TVM printed",
        "another argument",
    )
    assert sentence.endswith(
        "not structurally equal, at <root>.functions[0].bindings[1].value.args[0]"
    )
    unknown = Peer(difference=lambda one, other: "<root>.attrs")
    assert put("roundtrip", unknown)[0][2] == "not structurally equal"
    typed = Peer(print=lambda module: PROGRAM.replace("a = ", 'a: R.Tensor((3,), "float32") = '))
    assert [f[:3] for f in put("roundtrip", typed)] == [
        ("wrong-type", "we read what TVM printed", "D11-annotation")
    ]


def test_what_a_pass_does_wrong() -> None:
    def only(apply: Callable[[Any], Any]) -> Peer:
        return Peer(passes=lambda: [("Pass", apply), ("Again", apply)])

    assert [f[:2] for f in put("passes", only(raising(RuntimeError("died"))))] == [
        ("crash", "Pass")
    ]
    unsupported = only(raising(RuntimeError("this is not supported")))
    assert [f[:2] for f in put("passes", unsupported)] == [("not-supported", "Pass")]
    [(kind, stage, _, sentence)] = put("passes", only(edited("R.add(x, y)", "R.subtract(x, y)")))
    assert (kind, stage) == ("wrong-code", "Pass, run")
    assert sentence.startswith("Pass changes what the program means: ")
    [(kind, stage, cause, sentence)] = put("passes", only(edited("R.add(x, y)", "R.add(x, z)")))
    assert (kind, stage, cause) == ("wrong-code", "Pass", "WF02-undefined")
    assert sentence.startswith("Pass makes an illegal module: WF02-undefined")
    broken = edited(
        "R.add(x, y)", 'R.add(x, z)\n            c: R.Tensor((3,), "float32") = R.exp(x)'
    )
    [(_, _, cause, sentence)] = put("passes", only(broken))
    assert sentence.startswith(f"Pass makes an illegal module: {cause}: ")
    made: list[Any] = []

    def judged(module: Any) -> str:
        made.append(module)
        return "bound twice" if len(made) > 1 else ""

    [(kind, stage, cause, sentence)] = put("passes", Peer(why_ill_formed=judged))
    assert (kind, stage, cause) == ("wrong-code", "Identity", "ill-formed: bound twice")


def test_what_a_machine_returns() -> None:
    failing = Peer(compiled=raising(RuntimeError("no code")))
    assert [f[:2] for f in put("run", failing)] == [("crash", "TVM's build")]
    stopping = Peer(compiled=lambda module: {"main": raising(ValueError("a bad argument"))})
    [(kind, stage, _, sentence)] = put("run", stopping)
    assert (kind, stage) == ("refuses-legal", "TVM's virtual machine")
    assert sentence.startswith("main: ")
    for change in (lambda data: data + 1, lambda data: data.astype(np.float64)):
        other = Peer(compiled=lambda module, without=(), change=change: _Machine(module, change))
        [(kind, stage, _, sentence)] = put("run", other)
        assert (kind, stage) == ("wrong-code", "TVM's virtual machine")
        assert "the rules and TVM give different values" in sentence


@pytest.mark.parametrize("plan", ["right", "wrong", "needed"])
def test_a_value_that_is_wrong_by_the_plan_of_memory(plan: str) -> None:
    """If TVM cannot build a program without the plan, it is unknown whether the plan is to blame."""

    def compiled(module: ast.IRModule, without: Sequence[str] = ()) -> Any:
        if plan == "needed" and without:
            raise RuntimeError("no plan")
        right = plan == "wrong" and "StaticPlanBlockMemory" in without
        return _Machine(module, lambda data: data if right else data + 1)

    case = Case(PROGRAM, LEGAL_SEED, "", lambda _: None)
    case.peer = Peer(compiled=compiled)  # type: ignore[assignment]
    [found] = ORACLES["run"](case)
    assert found.trait == ("float32, memory plan" if plan == "wrong" else "float32")


BRANCHES = """\
@R.function
def main(x: R.Tensor(("n",), "float32"), c: R.Tensor((), "bool")) -> R.Tensor((3,), "float32"):
    if c:
        y = R.ones(R.shape([3]), "float32")
    else:
        y = R.zeros(R.shape([3]), "float32")
    return y
"""


def test_a_branch_that_only_the_run_without_elements_takes() -> None:
    """A value that is wrong in one branch for every size, and right in the other."""

    function = parse(BRANCHES).modules[0]["main"]
    assert isinstance(function, ast.Function)

    def taken(seed: int) -> list[bool]:
        drawn = [arguments(function, size, seed) for size in SIZES]
        conditions = [given[1] for given in drawn if given is not None]
        return [isinstance(c, Tensor) and bool(c.data) for c in conditions]

    seed = next(seed for seed in range(1000) if taken(seed) == [False, False, True])
    case = Case(BRANCHES, seed, "", lambda _: None)
    case.peer = Peer(  # type: ignore[assignment]
        compiled=lambda module, without=(): _Machine(module, lambda data: 2 * data)
    )
    [found] = ORACLES["run"](case)
    assert found.sentence.startswith("main with size 0")
    assert found.trait == "float32"


def test_a_nan_on_the_way_to_an_index() -> None:
    """`sqrt` of a negative number is NaN; its place is not seen in the result of `argmax`."""
    text = """\
@R.function
def main(x: R.Tensor((3,), "float32")) -> R.Tensor((), "int64"):
    y = R.%s(R.negative(R.abs(x)))
    return R.argmax(y)
"""
    for operator, special in (("sqrt", "NaN, integers"), ("exp", "integers")):
        case = Case(text % operator, LEGAL_SEED, "", lambda _: None)
        case.peer = Peer(  # type: ignore[assignment]
            compiled=lambda module, without=(): _Machine(module, lambda data: data + 1)
        )
        [found] = ORACLES["run"](case)
        assert found.trait == special


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ValueError("int4 is not supported"), "not-supported"),
        (ValueError("Not yet supported: int4"), "not-supported"),
        (RuntimeError("Unsupported layout"), "not-supported"),
        (TypeError("it only supports float32"), "not-supported"),
        (AssertionError("this only applies to matrices"), "not-supported"),
        (NotImplementedError("not implemented"), "not-supported"),
        (RuntimeError("resize requires static shapes"), "not-supported"),
        (NotImplementedError("for another reason"), "refuses-legal"),
        (ValueError("the shapes differ"), "refuses-legal"),
        (TypeError("the shapes differ"), "crash"),
        (KeyError("shape"), "crash"),
        (AssertionError(), "crash"),
    ],
)
def test_what_an_exception_says(error: Exception, kind: str) -> None:
    assert kind_of(error) == kind


@pytest.mark.parametrize("place", ["Error in pass: Pass\n", "Location (TVMScript):\n"])
def test_what_is_wrong_stands_before_the_place(place: str) -> None:
    text = f"Argument 0 type mismatch\n\n{place}{'a line of the module ' * 100}"
    assert raised(ValueError(text)) == "ValueError: Argument 0 type mismatch"


@pytest.mark.parametrize(
    ("line", "caret", "said"),
    [
        ("  z = R.add(R.mul(x, y), y)", 6, "Error: wrong shape at R.add"),
        ("  z = R.add(R.mul(x, y), y)", 12, "Error: wrong shape at R.mul"),
        ("  z = R.nn.relu(x)", 0, "Error: wrong shape at R.nn.relu"),
        ("  z = R.add(x, y)", 12, "Error: wrong shape"),
    ],
)
def test_a_diagnosis_names_the_operator_at_its_mark(line: str, caret: int, said: str) -> None:
    text = f"error: wrong\n  shape\n --> f.py:3:9\n  |\n3 |{line}\n  |{' ' * caret}^^^^\n"
    assert raised(type("Error", (Exception,), {})(text)) == said


def test_a_difference_is_explained_by_larger_sizes_of_its_own_function() -> None:
    one = '@R.function\ndef main(x: R.Tensor(("n",), "float32")):\n    return R.exp(x)\n'
    text = one + one.replace("main", "other")
    case = Case(text, LEGAL_SEED, "", lambda _: None)
    case.peer = Peer()  # type: ignore[assignment]
    doubling = _Machine(parse(text).modules[0], lambda data: 2 * data)
    runs: list[tuple[str, int, list[Value], Any]] = [
        (entry, size, [Tensor(np.ones(size, np.float32))], None)
        for entry in ("other", "main")
        for size in (2, 1, 0)
    ]
    again = Rerun(text, "main", runs[-1][2])
    for count, size in ((3, None), (5, 2), (6, 2)):
        found = larger_difference(case, doubling, again, runs[:count])
        assert (found and found.size) == size
    assert larger_difference(case, doubling, again, [runs[-1]]) is None


@pytest.mark.parametrize("count", [1, 999, 1000, 1001, 5000])
def test_of_a_long_message_the_end_is_kept(count: int) -> None:
    text = ("abcdefg" * count)[:count]
    assert raised(ValueError(f"  {text}\n")) == f"ValueError: {text[max(0, count - 1000) :]}"
