"""``python -m benchmarks.builder [COUNT]``: writing passes, ours beside TVM's.

Both sides do the same work in turns, the best of three; time of the process. No two calls are alike:
constants differ, and shapes change along the chain. Each line says what both sides do.

emission
    Ten operators with symbolic shapes in one dataflow block; each call is checked and annotated.
kernels
    `emit_te` of kernels that differ in a constant, one for each 100 bindings.
PrimFuncs
    `create_prim_func` of the same kernels.
mutator
    A mutator that overrides the method for calls and changes nothing.
no match, matches
    `rewrite_call` with a pattern that matches nowhere, and at every tenth binding.
dead code
    Elimination of a block in which half of the bindings are unused.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import rlx
from rlx.grammar.nodes.ast import Call, Expr
from rlx.transform import dead_code, is_op, rewrite_call, wildcard

REPEATS = 3
PER_KERNEL = 100


def chain(bb: Any, op: Any, const: Callable[[float], Any], x: Any, w: Any, count: int) -> Any:
    """Emit bindings of ten operators; half of them are used by nothing."""
    last = x
    for k in range(0, count, 10):
        a = bb.emit(op.add(last, const(float(k))))
        bb.emit(op.multiply(a, const(k + 0.5)))
        b = bb.emit(op.matmul(a, w))
        bb.emit(op.exp(b))
        c = bb.emit(op.permute_dims(b, [1, 0]))
        bb.emit(op.sum(c, axis=[0]))
        d = bb.emit(op.concat([c, c], axis=0))
        bb.emit(op.negative(d))
        e = bb.emit(op.permute_dims(op.strided_slice(d, [0], [0], [16]), [1, 0]))
        bb.emit(op.nn.softmax(e, axis=-1))
        last = bb.emit(op.nn.relu(e))
    return last


def ours(count: int) -> Any:
    """A function of so many bindings, by our builder."""
    bb = rlx.BlockBuilder()
    x = rlx.Var("x", 'R.Tensor(("n", 16), "float32")')
    w = rlx.Var("w", 'R.Tensor((16, 16), "float32")')
    with bb.function("main", [x, w]):
        with bb.dataflow():
            last = chain(bb, rlx.op, lambda c: rlx.const(c, "float32"), x, w, count)
            last = bb.emit_output(last)
        bb.emit_func_output(last)
    return bb.get()


def theirs(count: int) -> Any:
    """The same by TVM's."""
    from tvm import relax, tirx

    bb = relax.BlockBuilder()
    n = tirx.Var("n", "int64")
    x = relax.Var("x", relax.TensorType((n, 16), "float32"))
    w = relax.Var("w", relax.TensorType((16, 16), "float32"))
    with bb.function("main", [x, w]):
        with bb.dataflow():
            last = chain(bb, relax.op, lambda c: relax.const(c, "float32"), x, w, count)
            last = bb.emit_output(last)
        bb.emit_func_output(last)
    return bb.get()


def scaled(te: Any, by: float) -> Callable[[Any], Any]:
    """A kernel: a tensor plus a number, by our tensor expressions or TVM's."""
    return lambda x: te.compute(x.shape, lambda i, j: x[i, j] + by, name="scaled")


def our_kernels(count: int) -> Any:
    """A chain of calls of kernels that differ, by our builder."""
    from rlx import te

    bb = rlx.BlockBuilder()
    x = rlx.Var("x", 'R.Tensor(("n", 16), "float32")')
    with bb.function("main", [x]):
        last = x
        for k in range(count // PER_KERNEL):
            last = bb.emit_te(scaled(te, float(k)), last, primfunc_name_hint="scaled")
        bb.emit_func_output(last)
    return bb.get()


def their_kernels(count: int) -> Any:
    """The same by TVM's."""
    from tvm import relax, te, tirx

    bb = relax.BlockBuilder()
    x = relax.Var("x", relax.TensorType((tirx.Var("n", "int64"), 16), "float32"))
    with bb.function("main", [x]):
        last: Any = x
        for k in range(count // PER_KERNEL):
            last = bb.emit_te(scaled(te, float(k)), last, primfunc_name_hint="scaled")
        bb.emit_func_output(last)
    return bb.get()


def our_prim_funcs(count: int) -> None:
    """PrimFuncs of such kernels, by our tensor expressions."""
    from rlx import te

    for k in range(count // PER_KERNEL):
        x = te.placeholder((te.var("n", "int64"), 16), name="x")
        te.create_prim_func([x, scaled(te, float(k))(x)], "int64")


def their_prim_funcs(count: int) -> None:
    """The same by TVM's."""
    from tvm import te

    for k in range(count // PER_KERNEL):
        x = te.placeholder((te.var("n", "int64"), 16), name="x")
        te.create_prim_func([x, scaled(te, float(k))(x)], "int64")


class _Same(rlx.ExprMutator):
    """Changes nothing."""

    def visit_call(self, call: Call) -> Expr:
        return super().visit_call(call)


def _their_mutator(module: Any) -> Callable[[], object]:
    from tvm import relax

    @relax.expr_functor.mutator
    class Same(relax.PyExprMutator):  # type: ignore[misc, name-defined, unused-ignore]
        def visit_call_(self, call: Any) -> Any:
            return self.visit_expr_post_order(call)

    return lambda: Same(module).visit_expr(module["main"])


def _pattern(library: Any, name: str) -> tuple[Any, Any]:
    transposed = library.is_op("relax.permute_dims")(library.wildcard())
    return library.is_op(f"relax.{name}")(transposed), transposed


def _our_rewrite(module: Any, name: str) -> Callable[[], object]:
    pattern, inner = _pattern(_Ours, name)
    return lambda: rewrite_call(pattern, lambda old, match: rlx.op.abs(match[inner]), module)


class _Ours:
    wildcard, is_op = staticmethod(wildcard), staticmethod(is_op)


def _their_rewrite(module: Any, name: str) -> Callable[[], object]:
    from tvm import relax
    from tvm.relax import dpl

    pattern, inner = _pattern(dpl, name)
    function = module["main"]
    return lambda: dpl.rewrite_call(
        pattern, lambda old, match: relax.op.abs(match[inner]), function
    )


def _their_dead_code(module: Any) -> Callable[[], object]:
    from tvm import relax

    return lambda: relax.transform.DeadCodeElimination()(module)


def seconds(*works: Callable[[], object]) -> list[float]:
    """The time of the process that each work takes, in turns, the best of some repeats."""
    best = [float("inf")] * len(works)
    for _ in range(REPEATS):
        for at, work in enumerate(works):
            start = time.process_time()
            work()
            best[at] = min(best[at], time.process_time() - start)
    return best


def main() -> None:
    """Print the table."""
    most = int(sys.argv[1]) if len(sys.argv) > 1 else 40_000
    print("| work | bindings | ours, µs each | TVM, µs each | TVM / ours |\n|---|---|---|---|---|")
    for count in (most // 4, most):
        mine, other = ours(count), theirs(count)
        pairs: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
            "emission": (lambda: ours(count), lambda: theirs(count)),  # noqa: B023 - used at once
            "kernels": (lambda: our_kernels(count), lambda: their_kernels(count)),  # noqa: B023
            "PrimFuncs": (lambda: our_prim_funcs(count), lambda: their_prim_funcs(count)),  # noqa: B023
            "mutator": (lambda: _Same()(mine), _their_mutator(other)),  # noqa: B023
            "no match": (_our_rewrite(mine, "abs"), _their_rewrite(other, "abs")),
            "matches": (_our_rewrite(mine, "nn.relu"), _their_rewrite(other, "nn.relu")),
            "dead code": (lambda: dead_code(mine), _their_dead_code(other)),  # noqa: B023
        }
        for name, works in pairs.items():
            here, there = seconds(*works)
            each = f"{here / count * 1e6:.1f} | {there / count * 1e6:.1f}"
            print(f"| {name} | {count:,} | {each} | {there / here:.2f} |", flush=True)


if __name__ == "__main__":
    main()
