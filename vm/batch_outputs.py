"""The outputs of a batch, made by a Python function that is generated for its plan."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from rlx.semantics.store import Blank
from rlx.semantics.values import Scalar, ShapeValue, Storage, Tensor, TupleValue, Value
from rlx.vm.batch_plans import (
    BatchPlan,
    ConstantResult,
    HeapResult,
    InputResult,
    MemoryResult,
    Result,
    TensorResult,
    TupleResult,
)

Give = Callable[[Sequence[Value], Sequence[int], Sequence[Any], dict[int, Blank]], Sequence[Value]]
"""Makes the outputs from the inputs, the numbers of this run, the pieces of memory, and the
unwritten tensors; it adds to the last.
"""


def giving(plan: BatchPlan, values: Sequence[Value]) -> Give:
    """The function that makes the outputs of a plan for such inputs."""
    scope: dict[str, Any] = {
        "Blank": Blank,
        "Scalar": Scalar,
        "ShapeValue": ShapeValue,
        "Storage": Storage,
        "Tensor": Tensor,
        "TupleValue": TupleValue,
        "array": np.array,
        "int64": np.int64,
        "ndarray": np.ndarray,
    }
    lines: list[str] = []
    for piece in sorted(set(_escaping(plan))):
        scope[f"w{piece}"] = plan.pieces[piece].device
        lines.append(f"p{piece} = Storage(pieces[{piece}], w{piece})")
    sized = {} if plan.formulas is None else plan.formulas.results
    for k, result in enumerate(plan.results):
        numbers = [f"o[{place}]" for place in sized.get(k, ())]
        lines.append(f"r{k} = {_made(k, result, numbers, values, scope)}")
        if isinstance(result, TensorResult) and result.blank and 0 not in result.shape:
            lines.append(f"blank[id(r{k})] = Blank(r{k})")
    lines.append(f"return [{', '.join(f'r{number}' for number in plan.outputs)}]")
    text = "def give(v, o, pieces, blank):" + "".join(f"\n {line}" for line in lines)
    # The text is made of numbers and of names that the scope was given here.
    exec(compile(text, "<outputs of a batch>", "exec"), scope)  # noqa: S102
    made: Give = scope["give"]
    return made


def _escaping(plan: BatchPlan) -> Iterator[int]:
    for result in plan.results:
        if isinstance(result, TensorResult | MemoryResult) and result.piece is not None:
            yield result.piece


def _made(
    k: int, result: Result, numbers: list[str], values: Sequence[Value], scope: dict[str, Any]
) -> str:
    """The expression of a result; the numbers are those that differ from run to run, if any."""
    match result:
        case TensorResult():
            return _tensor(k, result, numbers, values, scope)
        case InputResult(position=position):
            return f"v[{position}]"
        case ConstantResult(value=Scalar()) if numbers:
            return f"Scalar({numbers[0]})"
        case ConstantResult() if numbers:
            return f"ShapeValue({_tuple(numbers)})"
        case ConstantResult(value=value):
            scope[f"c{k}"] = value
            return f"c{k}"
        case HeapResult(content=content):
            return f"Tensor(array({_tuple(numbers or map(str, content.tolist()))}, int64))"
        case MemoryResult(piece=piece):
            return f"p{piece}"
        case TupleResult(parts=parts):
            return f"TupleValue({_tuple(f'r{part}' for part in parts)})"


def _tensor(
    k: int, made: TensorResult, numbers: list[str], values: Sequence[Value], scope: dict[str, Any]
) -> str:
    """A tensor in a piece of memory, or in an input, or a view of one."""
    *sizes, begin = numbers or [*map(str, made.shape), str(made.offset)]
    if made.piece is None and isinstance(values[made.base], Tensor):
        whole = f"v[{made.base}]"
        return f"Tensor({whole}.data.reshape({_tuple(sizes)}), {whole}.device, {whole}.storage)"
    storage = f"v[{made.base}]" if made.piece is None else f"p{made.piece}"
    scope[f"d{k}"], scope[f"e{k}"] = made.dtype, made.device
    return f"Tensor(ndarray({_tuple(sizes)}, d{k}, {storage}.data, {begin}), e{k}, {storage})"


def _tuple(parts: Any) -> str:
    return f"({''.join(f'{part}, ' for part in parts)})"
