"""``python -m tests.tvm.te_indices SEED COUNT``: indices of tensor expressions are simplified as by TVM.

A random index of two axes and a dimension is written for both, and the PrimFuncs are compared.
"""

from __future__ import annotations

import random
import sys
from typing import Any

import tvm
from tvm import te as theirs
from tvm_ffi import structural_equal

import rlx
from rlx import te as ours
from rlx.grammar.nodes.ast import GlobalVar, IRModule

NUMBERS = (2, 3, 4, 6, 8, 12)


def index(rng: random.Random, depth: int) -> str:
    """A sum of products, quotients and remainders of ``i``, ``j`` and ``n``."""
    if depth == 0:
        return rng.choice("iijjn") if rng.random() < 0.7 else str(rng.choice(NUMBERS))
    operation = rng.choice(["+", "+", "-", "*", "//", "//", "%", "%"])
    left = index(rng, depth - 1)
    right = index(rng, rng.randrange(depth)) if operation in "+-" else str(rng.choice(NUMBERS))
    return f"({left} {operation} {right})"


def kernel(te: Any, text: str, **options: bool) -> Any:
    """The PrimFunc that reads a tensor at that index."""
    n = te.var("n", "int64")
    x = te.placeholder((n * 100,), name="X")
    read = eval(f"lambda i, j: x[{text}]", {"x": x, "n": n})
    made = te.compute((n, n), read, name="O")
    return te.create_prim_func([x, n, made], "int64", **options)


def same(text: str) -> bool:
    """Whether both make the same PrimFunc."""
    made = IRModule({GlobalVar("main"): kernel(ours, text, check=False)})
    read = tvm.script.from_source(rlx.show(made, "0.27"))["main"]
    wanted = kernel(theirs, text).with_attr("global_symbol", "main")
    return bool(structural_equal(read, wanted))


def differences(seed: int, count: int) -> list[str]:
    """The indices that both write differently. TVM has no form of its own for differences inside of
    remainders, and uses a negative divisor.
    """
    rng = random.Random(seed)
    texts = [index(rng, rng.choice([1, 2, 2, 3])) for _ in range(count)]
    return [text for text in texts if set(text) & set("ij") and not same(text)]


if __name__ == "__main__":
    found = differences(int(sys.argv[1]), int(sys.argv[2]))
    print("\n".join(found))
    print(f"{sys.argv[2]} indices, {len(found)} differences")
