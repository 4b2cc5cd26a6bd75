"""Refinement: each pass keeps the meaning of a program for all sizes and inputs; runs of TVM agree
exactly where sums of floats are exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

import numpy as np

from rlx.generate.campaign.finding import Finding
from rlx.generate.campaign.oracles.case import Case, kind_of, raised
from rlx.generate.campaign.oracles.meaning import FUEL, ITERATIONS, SIZES, arguments
from rlx.generate.campaign.oracles.run import from_peer, to_peer
from rlx.generate.campaign.peer import PACKED
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.visit import evaluated
from rlx.refine import InterfaceError, compare
from rlx.semantics.outcome import Returned
from rlx.semantics.values import Tensor, TupleValue, Value

SUMS = frozenset(
    f"relax.{name}"
    for name in (
        *("add", "subtract", "negative", "abs", "maximum", "minimum", "nn.relu", "where", "sum"),
        *("max", "min", "cumsum", "reshape", "permute_dims", "concat", "split", "expand_dims"),
        *("squeeze", "flatten", "broadcast_to", "strided_slice", "flip", "repeat", "tile", "take"),
        *("zeros", "ones", "zeros_like", "ones_like", "stack", "nn.pad", "collapse_sum_to"),
    )
)
"""Operators whose results on small whole numbers are whole numbers, and not much larger."""
PRODUCTS = frozenset(["relax.multiply", "relax.matmul", "relax.linear", "relax.nn.conv2d"])
"""Operators whose results are whole numbers, too, and larger."""
MOST_PRODUCTS = 3
"""With more of them a float32 may be rounded."""
_BY_DESIGN = ("FastMathTransform",)
"""Passes that compute other numbers on purpose."""
_RUN = "TVM's virtual machine"


def refine(case: Case) -> list[Finding]:
    """No pass is refuted, of ours or of TVM's; and on small whole numbers TVM returns exactly what
    the rules say.
    """
    case.begin("relax-check")
    if case.error(case.text):
        return []
    if case.peer is None:
        return list(_ours(case))
    module = case.read_by_peer()
    if module is None:
        return []
    printed = case.peer.print(module)
    if case.error(printed):
        return []
    found = [] if case.only == _RUN else list(_theirs(case, module, printed))
    return found + (list(_exactly(case, module)) if case.only in ("", _RUN) else [])


def _ours(case: Case) -> Iterator[Finding]:
    from rlx.grammar.print.printer import print_module
    from rlx.transform import common_subexpressions, dead_code, fold_shapes, legalize

    passes: list[Callable[[Any], Any]] = [dead_code, common_subexpressions, fold_shapes, legalize]
    before = _checked(case.text)
    for each in passes:
        if case.only in ("", each.__name__):
            case.begin(each.__name__)
            yield from _compared(case, before, print_module(each(before)))


def _theirs(case: Case, module: Any, printed: str) -> Iterator[Finding]:
    assert case.peer is not None
    before = _checked(printed)
    for name, apply in case.peer.passes():
        if case.only not in ("", name) or name in _BY_DESIGN:
            continue
        case.begin(name)
        try:
            text = case.peer.print(apply(module))
        except Exception:  # noqa: BLE001, S112 - the oracle of passes reports it
            continue
        if text != printed:
            yield from _compared(case, before, text)


def _compared(case: Case, before: ast.IRModule, text: str) -> Iterator[Finding]:
    if case.error(text):
        return  # the oracle of passes reports it
    try:
        answer = compare(before, _checked(text), floats="real")
    except InterfaceError:
        return
    if answer.refuted:
        message = f"{case.stage} changes what the program means: {answer}"
        yield case.found("wrong-code", "refine", message, cause="refuted", rule="E-evaluate")


def _checked(text: str) -> ast.IRModule:
    from rlx.checker.check import check_text

    return check_text(text).modules[0]


def is_exact(module: ast.IRModule) -> bool:
    """Whether no float is rounded in runs of a program on small whole numbers."""
    used = [call.op_name for call in evaluated(module, ast.Call) if isinstance(call.op, ast.Op)]
    products = [name for name in used if name in PRODUCTS]
    known = all(name in SUMS or name in PRODUCTS for name in used)
    constants = all(
        isinstance(c.data.value, int) or float(c.data.value or 0).is_integer()
        if isinstance(c.data.value, int | float | None)
        else False
        for c in evaluated(module, ast.Constant)
    )
    return known and constants and len(products) <= MOST_PRODUCTS


def _exactly(case: Case, module: Any) -> Iterator[Finding]:
    from rlx.semantics.machine import load

    assert case.peer is not None
    program = _checked(case.text)
    if not is_exact(program):
        return
    machine = load(program, packed=PACKED, backend="steps", iterations=ITERATIONS)
    case.begin(_RUN)
    try:
        theirs = case.peer.compiled(module)
    except Exception:  # noqa: BLE001 - the oracle of runs reports it
        return
    for name, function in program.relax_functions.items():
        if "global_symbol" not in function.attrs:
            continue
        for size in SIZES:
            given = arguments(function, size, case.seed)
            if given is None or not all(_made_whole(value, case.seed) for value in given):
                continue
            expected = machine.run(name.name_hint, deepcopy(given), fuel=FUEL)
            if not isinstance(expected, Returned):
                continue
            try:
                returned = from_peer(
                    case.peer, theirs[name.name_hint](*[to_peer(case.peer, v) for v in given])
                )
            except Exception as error:  # noqa: BLE001 - whatever the peer raises is what is looked for
                yield case.found(kind_of(error), "refine", raised(error))
                return
            if returned is not None and not _same(expected.value, returned):
                said = f"{name.name_hint} with size {size}: sums of whole numbers differ"
                yield case.found("wrong-code", "refine", said, cause="exact", rule="E-evaluate")
                return


def _made_whole(value: Value, seed: int) -> bool:
    """Put small whole numbers into an argument; False where it has floats that are too short."""
    if isinstance(value, TupleValue):
        return all(_made_whole(field, seed) for field in value.fields)
    if isinstance(value, Tensor) and value.data.dtype.kind not in "biu":
        if str(value.dtype) not in ("float32", "float64"):
            return False
        value.data[...] = np.random.default_rng(seed).integers(-4, 5, value.data.shape)
    return True


def _same(one: Value, other: Value) -> bool:
    match one, other:
        case TupleValue(fields=a), TupleValue(fields=b):
            return len(a) == len(b) and all(map(_same, a, b))
        case Tensor(data=a), Tensor(data=b):
            return a.shape == b.shape and a.dtype == b.dtype and bool(np.array_equal(a, b))
    return True
