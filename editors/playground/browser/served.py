"""Z3, for rlx in another Python: `answer` takes a question and returns its answer, both JSON."""

from __future__ import annotations

import json
from typing import Any

import z3  # type: ignore[import-untyped]


def answer(text: str) -> str:
    """Ask Z3 `text` of SMT-LIB with `settings`: its `status`, with a `reason` or a `model`, or an `error`."""
    question = json.loads(text)
    solver = z3.SimpleSolver(ctx=z3.Context())
    for name, value in question["settings"].items():
        solver.set(name, value)
    try:
        solver.from_string(question["text"])
        status = str(solver.check())
        made: dict[str, Any] = {"status": status, "reason": "", "model": {}}
        if status == "unknown":
            made["reason"] = solver.reason_unknown()
        if status == "sat":
            model = solver.model()
            found = {str(each): _number(model[each]) for each in model.decls()}
            made["model"] = {name: number for name, number in found.items() if number}
    except (
        z3.Z3Exception,
        ValueError,
    ) as error:  # Python does not read numbers of over 4,300 digits
        made = {"error": str(error)}
    return json.dumps(made)


def _number(value: object) -> tuple[str, str] | None:
    match value:
        case z3.IntNumRef():
            return "int", str(value.as_long())
        case z3.BitVecNumRef():
            return "bits", str(value.as_signed_long())
        case z3.RatNumRef():
            return "real", f"{value.numerator_as_long()}/{value.denominator_as_long()}"
    return None
