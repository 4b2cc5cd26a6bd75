"""The programs beside the rules of `spec/`, executed: `python -m tests.spec.examples [RULE…]`.

`spec/README.md` says what each kind of fence demands. While the programs run, the judgements are observed: a program must
apply the rule that it stands beside, a good one must show it holding, a bad one must make the code call its premises by
their labels. The command prints what is wrong, and nothing if all is right.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rlx.checker.check import check_text
from rlx.checker.dynamic_checks import DynamicCheck, analyse
from rlx.checker.normal_form import normal_form
from rlx.checker.well_formed import well_formed
from rlx.grammar.nodes import ast, tir
from rlx.grammar.nodes.dtype import dtype
from rlx.grammar.read.parser import parse
from rlx.refine.question import compare
from rlx.semantics import native
from rlx.semantics.faults import Stop
from rlx.semantics.machine import load
from rlx.semantics.outcome import Ended, Outcome, Returned
from rlx.semantics.run.inputs import inputs
from rlx.semantics.run.literals import literal
from rlx.semantics.run.value_text import line
from rlx.semantics.tir import evaluate
from rlx.semantics.tir.memory import numpy_type
from rlx.semantics.tir.values import vector_element
from rlx.semantics.values import Value
from rlx.solver.proofs.checker import RefusedError
from rlx.solver.proofs.checker import read as read_proof
from rlx.solver.proofs.rules import checked
from rlx.spec import premise_rule, rules
from rlx.spec.blocks import SHOWN_BY_TESTS
from rlx.spec.coverage import RuleCounts
from rlx.spec.reader import Example, Rule
from rlx.spec.registry import observing, refusals, register_all
from rlx.vm import Executable, RunError, VirtualMachine
from tests.old.examples import older, olderrun, procedures
from tests.relay import examples as relay_examples
from tests.spec.order_lines import judged


def relax(example: Example, rule: Rule) -> list[str]:
    """The errors and warnings of a program, and the notes that are premises of the rule, in the order of the text."""
    found = check_text(example.text).diagnostics
    return [d.code for d in found if d.severity != "note" or d.code in rule.premises]


def tree(example: Example, rule: Rule) -> list[str]:
    """Violations of well-formedness and normal form in a tree: of a parsed text, or of nodes that Python builds."""
    if example.text.startswith("main("):
        modules: tuple[ast.IRModule, ...] = (
            eval(example.text, {**vars(tir), **vars(ast), **_NODES}),
        )
    else:
        parsed = parse(example.text)
        assert not parsed.diagnostics, parsed.diagnostics
        modules = parsed.modules
    return [d.code for m in modules for d in (*well_formed(m), *normal_form(m))]


X = ast.Var("x")
_NODES: dict[str, Any] = {
    "x": X,
    "y": ast.Var("y"),
    "one": ast.Constant(ast.Literal(1, dtype("int32"), ())),
    "main": lambda body: ast.IRModule(
        {ast.GlobalVar("main"): ast.Function((X,), body, attrs={"global_symbol": "main"})}
    ),
    "dtype": dtype,
    "block": lambda *bindings: ast.BindingBlock(bindings),
}


def header(example: Example) -> tuple[dict[str, str], str, str]:
    """The options of the first line, the result that it expects, and the program below it."""
    head, _, text = example.text.partition("\n")
    said, _, result = head.removeprefix("#").partition("=>")
    options = dict(word.strip().split("=", 1) for word in said.split(";") if word.strip())
    return options, result.strip(), text


def run(example: Example, rule: Rule) -> list[str]:
    """The end of a run: the code of the premise that failed, or the result in the first line."""
    _, result, _ = header(example)
    printed: list[str] = []
    outcome = outcome_of(example, printed)
    if isinstance(outcome, Returned):
        got = "; ".join([line(outcome.value), *printed])
        return [] if not result or result == got else [f"returned {got}"]
    assert isinstance(outcome, Ended), outcome
    return [outcome.code]


def outcome_of(example: Example, printed: list[str] | None = None) -> Outcome:
    """Run a program; the lines that it prints are added to the list."""
    printed = [] if printed is None else printed
    options, _, text = header(example)
    fuel = int(options.pop("fuel", 10_000))
    backend = options.pop("backend", "steps")
    loops = options.pop("iterations", None)
    report = check_text(text)
    (module,) = report.modules
    main = module["main"]
    assert isinstance(main, ast.Function)
    ready = load(
        module,
        packed=PACKED,
        backend=backend,
        output=printed.append,
        iterations=None if loops is None else int(loops),
    )
    return ready.run("main", inputs(main, options).values, fuel=fuel)


def prim_func(example: Example, rule: Rule) -> list[str]:
    """The end of the run of a PrimFunc: a code, its value, or the content of its first buffer then."""
    options, result, text = header(example)
    (function,) = (f for m in parse(text).modules for f in m.functions.values())
    assert isinstance(function, tir.PrimFunc)
    compiled = options.pop("backend", "") == "native"
    fuel = int(options.pop("fuel", 1000))
    args: list[Any] = []
    for param, said in zip(function.params, options.values(), strict=False):
        buffer = function.buffer_map.get(param)
        value = literal(said) if said != "?" else 0
        element = None if buffer is None else numpy_type(vector_element(buffer.dtype))
        args.append(value if buffer is None else _array(value, element, buffer))
    unwritten = [at for at, said in enumerate(options.values()) if said == "?"]
    try:
        if compiled:
            found = native.compile(function)(args, fuel, unwritten)
        else:
            found = evaluate(function, args, fuel=fuel, unwritten=unwritten, call=PACKED)
    except Stop as stop:
        return [stop.code]
    got = str(next((a.tolist() for a in args if isinstance(a, np.ndarray)), None))
    got = got if found is None else str(found)
    return [] if not result or result == got else [f"got {got}"]


def _array(value: Any, element: Any, buffer: tir.Buffer) -> Any:
    """A value as an array: a number is every element of the buffer's shape."""
    if isinstance(value, list):
        return np.array(value, element)
    return np.full([getattr(dim, "value", 1) for dim in buffer.shape], value, element)


def checks(example: Example, rule: Rule) -> list[str]:
    """The premises of the rule that fail where the dynamic checks of a program are judged."""
    (module,) = check_text(example.text).modules
    counts = RuleCounts()
    with observing(counts):
        judged = analyse(module)
    if example.good:
        kept = (c for c in judged if c.status != "redundant" and not _entered(c))
        return [f"{c.subject}: {c.reason}" for c in kept]
    return [code for code in example.codes if counts.failed[code]]


def refines(example: Example, rule: Rule) -> list[str]:
    """The premises of the rule that fail where the module `After` is compared with the module `Before`."""
    floats = "real" if example.text.startswith("# floats=real") else "bitwise"
    before, after = (
        next(m for m in check_text(example.text).modules if m.name == name)
        for name in ("Before", "After")
    )
    counts = RuleCounts()
    with observing(counts):
        found = compare(before, after, floats=floats)
        if found.refuted:
            _ = found.suggestion  # what a proof lacks is known where one is tried
    if example.good or found.proved:
        return [] if found.proved else [found.reason]
    return [code for code in example.codes if counts.failed[code]]


def _entered(check: DynamicCheck) -> bool:
    """Whether anyone may enter a function by a check: of a public function that needs no reason."""
    return check.kind == "entry" and "global_symbol" in check.owner.attrs


def _raise(*_: Any) -> None:
    raise ValueError("the packed function fails")


def _overwrite(given: Any, *_: Any) -> Any:
    given[...] = 0
    return given


def _copy(given: Any, out: Any) -> None:
    out[...] = given


PACKED: dict[str, Callable[..., Any]] = {
    "same": lambda given, *_: given,
    "copy": _copy,
    "leave": lambda *_: None,
    "overwrite": _overwrite,
    "fail": _raise,
}
"""The packed functions that runs may call."""


def order(example: Example, rule: Rule) -> list[str]:
    """The codes of the lines that fail; of a line that has none to say, ``"false"``."""
    found = [judged(text) for text in example.text.splitlines() if text.strip()]
    return [code for code in found if code]


def vm(example: Example, rule: Rule) -> list[str]:
    """The end of the run of an executable: the code of the premise that failed, or the result in the first line."""
    options, result, text = header(example)
    fuel = int(options.pop("fuel", 1000))
    printed: list[str] = []
    machine = VirtualMachine(Executable.from_text(text), PACKED, output=printed.append)
    args = [literal(said) for said in options.values()]
    try:
        *_, value = machine.steps("main", *map(_as_array, args), fuel=fuel)
    except RunError as error:
        return [error.code]
    assert isinstance(value, Value)
    got = "; ".join((line(value), *printed))
    return [] if not result or result == got else [f"returned {got}"]


def _as_array(given: Any) -> Any:
    return np.array(given, np.float32) if isinstance(given, list) else given


def proof(example: Example, rule: Rule) -> list[str]:
    """The code of the premise for which a certificate is refused."""
    try:
        checked(read_proof(example.text))
    except RefusedError as error:
        return [error.args[0]]
    return []


KINDS: dict[str, Callable[[Example, Rule], list[str]]] = {
    "relax": relax,
    "tree": tree,
    "run": run,
    "order": order,
    "checks": checks,
    "proof": proof,
    "refines": refines,
    "tir": prim_func,
    "vm": vm,
    "relay": relay_examples.checked,
    "relayrun": lambda example, rule: relay_examples.executed(example),
    "older": lambda example, rule: older(example, rule, _NODES),
    "olderrun": lambda example, rule: olderrun(example, _NODES, PACKED),
    "procedure": lambda example, rule: procedures(example),
}


class Labels(RuleCounts):
    """The labels that the code called while programs ran.

    Attributes
    ----------
    asked
        How often each premise held.
    """

    def __init__(self) -> None:
        super().__init__()
        self.asked: Counter[str] = Counter()

    def holds(self, label: str) -> None:
        self.asked[label] += 1


def problems(wanted: Sequence[str] = ()) -> list[str]:
    """The problems with the examples of all rules, or of some."""
    register_all()
    found: list[str] = []
    for rule in rules().values():
        if rule.examples and (not wanted or rule.identifier in wanted or rule.file in wanted):
            found += problems_of(rule)
    return found


def problems_of(rule: Rule) -> list[str]:
    """The problems with the examples of one rule; and whether its labels are those that its code calls."""
    name, seen = rule.identifier, Labels()
    with observing(seen):
        found = [problem for example in rule.examples for problem in _problem(rule, example)]
    if not seen.applied[name]:
        found.append(f"{name}: no example applies the rule")
    elif not seen.held[name] and name not in refusals:
        found.append(f"{name}: in no example does the rule hold")
    labels = () if rule.block is None else rule.block.labels
    silent = [c for c in labels if not seen.failed[c] and c not in SHOWN_BY_TESTS]
    found += [f"{name}: no example makes the code call {c}" for c in silent]
    called = dict.fromkeys((*seen.asked, *seen.failed))
    return found + [
        f"{name}: the code calls a premise {code}, and no clause has it"
        for code in called
        # What is reported of a text that is no program belongs to no rule.
        if not code.startswith("PARSE") and premise_rule(code) is None
    ]


def _problem(rule: Rule, example: Example) -> list[str]:
    verdict = "good" if example.good else "bad"
    where = f"{rule.identifier}, {example.kind} {verdict} {' '.join(example.codes)}".rstrip()
    try:
        got = KINDS[example.kind](example, rule)
    except Exception as error:  # noqa: BLE001 - a program that cannot be read is a problem to be named
        return [f"{where}: {type(error).__name__}: {error}"]
    expected = list(example.codes)
    if not example.good and not expected:
        return [f"{where}: a bad program says its codes"]
    return [] if got == expected else [f"{where}: got {' '.join(got) or 'nothing'}"]


def main(argv: Sequence[str]) -> int:
    """Print what is wrong; 1 if anything is."""
    found = problems(argv)
    for problem in found:
        print(problem)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
