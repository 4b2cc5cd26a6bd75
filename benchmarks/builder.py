"""``python -m benchmarks.builder [COUNT]``: emission of bindings, ours beside TVM's BlockBuilder;
mutators and patterns on long functions.

Both sides emit a chain of additions in one dataflow block, in turns, the best of three; time of the
process.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import rlx
from rlx.grammar.nodes.ast import Call, Expr, IRModule
from rlx.transform import dead_code, is_op, rewrite, wildcard

REPEATS = 3


def ours(count: int) -> IRModule:
    """A function of so many bindings, by our builder."""
    bb = rlx.BlockBuilder()
    info = 'R.Tensor(("n", 4), "float32")'
    x, y = rlx.Var("x", info), rlx.Var("y", info)
    with bb.function("main", [x, y]):
        with bb.dataflow():
            last = x
            for _ in range(count):
                last = bb.emit(rlx.op.add(last, y))
            last = bb.emit_output(last)
        bb.emit_func_output(last)
    return bb.get()


def theirs(count: int) -> Any:
    """The same by TVM's."""
    from tvm import relax, tirx

    bb = relax.BlockBuilder()
    n = tirx.Var("n", "int64")
    x, y = (relax.Var(name, relax.TensorType((n, 4), "float32")) for name in "xy")
    with bb.function("main", [x, y]):
        with bb.dataflow():
            last = x
            for _ in range(count):
                last = bb.emit(relax.op.add(last, y))
            last = bb.emit_output(last)
        bb.emit_func_output(last)
    return bb.get()


class _Same(rlx.ExprMutator):
    """Changes nothing."""


class _Count(rlx.ExprVisitor):
    count = 0

    def visit_call(self, call: Call) -> None:
        self.count += 1


def _negated(module: IRModule) -> IRModule:
    x, y = wildcard(), wildcard()

    def subtracted(match: Any) -> Expr:
        return rlx.op.subtract(match[x], match[y])

    return rewrite(module, is_op("add")(x, y), subtracted)


def seconds(work: Callable[[], object]) -> float:
    """The time of the process that some work takes, the best of some repeats."""
    best = float("inf")
    for _ in range(REPEATS):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def main() -> None:
    """Print the table."""
    most = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    print("bindings | ours, µs each | TVM, µs each | TVM / ours")
    for count in (most // 100, most // 10, most):
        mine, other = seconds(partial(ours, count)), seconds(partial(theirs, count))
        shown = f"{mine / count * 1e6:.2f} | {other / count * 1e6:.2f} | {other / mine:.2f}"
        print(f"{count:,} | {shown}")
    module = ours(most)
    walks: dict[str, Callable[[], object]] = {
        "visitor": lambda: _Count().visit(module),
        "mutator that changes nothing": lambda: _Same()(module),
        "pattern that matches every binding": lambda: _negated(module),
        "dead code": lambda: dead_code(module),
    }
    for name, work in walks.items():
        start = time.process_time()
        work()
        print(f"{name}, {most:,} bindings: {time.process_time() - start:.2f} s")


if __name__ == "__main__":
    main()
