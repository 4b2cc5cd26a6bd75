"""Each premise of the rules about run-time checks fails in a program of its own."""

from __future__ import annotations

import pytest

from rlx.checker.dynamic_checks import analyse
from rlx.checker.normalize import normalize
from rlx.grammar.read.parser import parse
from rlx.spec.coverage import RuleCounts
from rlx.spec.registry import observing
from rlx.transform.dynamic_checks import eliminate

HEAD = 'def main(x: R.Tensor(("n", 4), "float32"), s: R.Shape(["n"]), f: R.Object, q: R.Tensor(ndim=1)):\n    n = T.int64()\n'


def main(*lines: str) -> str:
    """A function of these lines."""
    return f"@R.function\n{HEAD}" + "".join(f"    {line}\n" for line in lines)


OTHERS = """\
@I.ir_module
class Module:
    @R.function(private=True)
    def inner(y: R.Tensor(("m",), "float32")) -> R.Tensor(("m",), "float32"):
        return y

    @R.function
    def main(x: R.Tensor(ndim=1, dtype="float32"), c: R.Prim("bool")) -> R.Tensor(ndim=1):
        cls = Module
        a = cls.inner(x)
        return a

    @R.function
    def other(x: R.Object) -> R.Object:
        cls = Module
        a = cls.inner(x)
        return a
"""

PROGRAMS: dict[str, str] = {
    "CHECK-plain-known": main('y = R.match_cast(f, R.Tensor(ndim=2, dtype="float32"))', "return y"),
    "CHECK-plain-same": main('y = R.match_cast(x, R.Tensor(ndim=3, dtype="float32"))', "return y"),
    "CHECK-number-known": main("y = R.match_cast(q, R.Tensor((3,)))", "return y"),
    "CHECK-number-equal": main('y = R.match_cast(x, R.Tensor((n + 1, 4), "float32"))', "return y"),
    "CHECK-number-defined": main(
        'y = R.match_cast(x, R.Tensor((n, 4 // n * n // 4 + 4 - 4 // n * n // 4), "float32"))',
        "return y",
    ),
    "CHECK-function-same": main(
        "g = R.match_cast(f, R.Callable((R.Tensor,), R.Tensor))", "return g"
    ),
    "CHECK-annotation-proved": main(
        'y: R.Tensor((n,), "float32") = R.call_pure_packed("f", x, sinfo_args=R.Object)',
        'z = R.match_cast(y, R.Tensor((n,), "float32"))',
        "return z",
    ),
    "CHECK-call-made": main(
        'y = R.call_pure_packed("f", x, sinfo_args=R.Tensor((n,), "float32"))',
        'z = R.match_cast(y, R.Tensor((n,), "float32"))',
        "return z",
    ),
    "CHECK-call-certain": main(
        "y = R.reshape(x, R.shape([4]))", "z = R.match_cast(y, R.Tensor((4,)))", "return z"
    ),
    "CHECK-call-own": main(
        'g = R.match_cast(f, R.Callable((R.Tensor,), R.Tensor((n,), "float32")))',
        "y = g(x)",
        'z = R.match_cast(y, R.Tensor((n,), "float32"))',
        "return z",
    ),
    "CHECK-entry-seen": OTHERS,
    "CHECK-entry-calls": OTHERS,
    "CHECK-variable-known": main(
        "k = T.int64()",
        "y = R.match_cast(q, R.Tensor((k,)))",
        "z = R.zeros(R.shape([k]), 'float32')",
        "return z",
    ),
    "CHECK-variable-scope": main(
        "u = R.unique(q, sorted=True)",
        "k = T.int64()",
        "y = R.match_cast(u, R.Tensor((k,)))",
        "z = R.zeros(R.shape([k]), 'float32')",
        "return z",
    ),
    "CHECK-variable-type": main(
        "k = T.int32()",
        'y = R.match_cast(x, R.Tensor((k, 4), "float32"))',
        "z = R.shape([k])",
        "return z",
    ),
    "CHECK-variable-defined": main(
        "t = R.zeros(R.shape([12 // n]), 'float32')",
        "k = T.int64()",
        "y = R.match_cast(t, R.Tensor((k,), 'float32'))",
        "z = R.zeros(R.shape([k]), 'float32')",
        "return z",
    ),
}


@pytest.mark.parametrize("code", PROGRAMS)
def test_the_premise_fails(code: str) -> None:
    counts = RuleCounts()
    (module,) = parse(PROGRAMS[code]).modules  # a dimension of another type is an error (WF05)
    module = normalize(module)
    with observing(counts):
        analyse(module)
        eliminate(module)
    assert counts.failed[code], counts.failed
