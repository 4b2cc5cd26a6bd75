"""Parameters with strides and offsets: TVM reads what rlx prints as the program that it reads itself."""

from __future__ import annotations

import pytest
import tvm

import rlx

FRAME = """
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main({head}):
{body}
        T.evaluate(T.call_extern("f", A.access_ptr("r"), A.access_ptr("w", offset=2), dtype="int32"))
"""
TEXTS = {
    "a stride of 32 bits": (
        "a: T.handle",
        """
        s = T.int32()
        A = T.match_buffer(a, (16, 16), "float32", strides=[s, 1], offset_factor=16)
        T.evaluate(s)
        """,
    ),
    "a stride and a dimension of 32 bits": (
        "a: T.handle",
        """
        n = T.int32()
        s = T.int32()
        A = T.match_buffer(a, (n, 16), "float32", strides=[s, 1])
        T.evaluate(n + s)
        """,
    ),
    "a stride of 32 bits and a dimension of 64": (
        "a: T.handle",
        """
        n = T.int64()
        s = T.int32()
        A = T.match_buffer(a, (n, T.int64(16)), "float32", strides=[s, 1])
        """,
    ),
    "a stride without a declaration": ('A: T.Buffer((16, 16), "float32", strides=("s", 1))', ""),
    "strides that are known": ('A: T.Buffer((16, 16), "float32", strides=(32, 2))', ""),
    "an offset": ('A: T.Buffer((16, 16), "float32", offset_factor=4)', ""),
}


@pytest.mark.parametrize("name", TEXTS)
def test_tvm_reads_what_is_printed(name: str) -> None:
    head, body = TEXTS[name]
    text = FRAME.format(head=head, body=body.rstrip())
    printed = rlx.show(rlx.parse(text), "0.27")
    assert tvm.script.from_source(printed).script() == tvm.script.from_source(text).script()
