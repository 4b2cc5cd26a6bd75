"""A function that is not read because of its decorator is reported; plain Python is not."""

from __future__ import annotations

import pytest

from rlx.checker.check import check_text

R = "from tvm.script import relax as R\n"
T = "from tvm.script import tirx as T\n"
BODY = "def f(x: R.Tensor((4,), 'float32')):\n    y = R.add(x, x)\n    return y\n"
BARE = "def f(x):\n    y = R.add(x, x)\n    return y\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{R}@R.functon\n{BODY}", "unknown decorator '@R.functon'"),
        (f"{R}@R.fn\n{BODY}", "unknown decorator '@R.fn'"),
        (
            f"{R}import tvm\n@tvm.script.function\n{BODY}",
            "unknown decorator '@tvm.script.function'",
        ),
        (f"{R}@relax.function\n{BODY}", "'relax' is not defined"),
        (f"import tvm\n@R.function\n{BODY}", "'R' is not defined"),
        (f"{R}@T.prim_func\ndef f(n: T.int64):\n    T.evaluate(n)\n", "'T' is not defined"),
        (f"{R}@R.function\n@R.function\n{BODY}", "the decorator @R.function is given twice"),
        (
            f"{R}@jit\n{BODY}",
            "'@jit' is not a decorator of Relax, so rlx does not read 'f'",
        ),
        (f"{R}{BODY}", "the function 'f' has no decorator, so rlx does not read it"),
        (f"{R}{BARE}", "the function 'f' has no decorator, so rlx does not read it"),
        (
            f"{T}def f(A: T.Buffer((4,), 'float32')):\n    A[0] = T.float32(0)\n",
            "the function 'f' has no decorator, so rlx does not read it",
        ),
        (
            f"{R}from tvm.script import ir as I\n@I.ir_module\nclass M:\n    def f(x): return x\n",
            "the function 'f' has no decorator",
        ),
    ],
)
def test_what_is_not_read_is_told(text: str, message: str) -> None:
    (found,) = check_text(text, "file.py").diagnostics
    assert (found.message, found.severity != "note") == (message, True)


@pytest.mark.parametrize(
    "text",
    [
        "def f(x):\n    return x\n",
        "@cache\ndef f(x):\n    return x\n",
        "class A:\n    @property\n    def T(self): return 1\n    @T.setter\n    def T(self, v): pass\n",
        f"{R}from tvm.script.ir_builder import IRBuilder\ndef f(x):\n    return R.emit(R.add(x, x))\n",
        f"{T}@T.macro\ndef f(x):\n    x[0] = T.float32(1)\n",
        f"from tvm import relax as R\n{BARE}",
        f"{R}def f(x):\n    def g(y):\n        return R.exp(y)\n    return g\n",
        f"{T}def f(A: T.Buffer, n: int):\n    return A[n].astype('float32')\n",
        f"{T}class A:\n    pass\n\ndef __init__(self, A: T.Buffer((4,), 'float32')):\n    pass\n",
    ],
)
def test_plain_python_stays_silent(text: str) -> None:
    assert [d.code for d in check_text(text, "file.py").diagnostics] == ["PARSE-nothing"]


@pytest.mark.parametrize("path", ["file.py", "file.rlx"])
@pytest.mark.parametrize("word", ["import", "None", "try", "class", "lambda", "yield"])
def test_no_name_is_a_keyword_of_python(word: str, path: str) -> None:
    texts = (
        BODY.replace("(x", f"({word}").replace(", x", f", {word}"),
        BODY.replace("y", word),
        BODY.replace("f(", f"{word}("),
    )
    for text in texts:
        found = check_text(f"{R}@R.function\n{text}", path).diagnostics
        assert any(d.is_error for d in found), text
