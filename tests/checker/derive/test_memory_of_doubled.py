"""The memory of tuples that double: few parts, but more fields than anything could list."""

from __future__ import annotations

from itertools import pairwise

import pytest

from rlx.api import parse
from rlx.checker.check import check_text
from rlx.transform.memory_use import memory_use

DOUBLINGS = 60
HEAD = """\
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def kernel(a: T.Buffer((2,), "float32"), b: T.Buffer((2,), "float32")):
        b[0] = a[0]

    @R.function(pure=False)
    def main(c: R.Tensor((), "bool"), x: R.Tensor((2,), "float32"), y: R.Tensor((2,), "float32")):
        z = R.add(x, y)
"""
IN_PLACE = """\
        w = R.call_tir_inplace(Module.kernel, (z, y), [0], R.Tensor((2,), "float32"))
"""
OTHER = """
    @R.function
    def other(z: R.Object) -> R.Object:
        v = z
        return v
"""


def doubled(name: str, first: str) -> str:
    names = [first, *(f"{name}{k}" for k in range(DOUBLINGS))]
    return "".join(f"        {b} = ({a}, {a})\n" for a, b in pairwise(names))


LAST = f"v{DOUBLINGS - 1}"
PROGRAMS = {
    "returned": f"{doubled('v', 'z')}        return {LAST}\n",
    "of two branches": f"{doubled('v', 'z')}{doubled('u', 'y')}        if c:\n            r = {LAST}\n"
    f"        else:\n            r = u{DOUBLINGS - 1}\n        return r\n",
    "passed on": f"{doubled('v', 'z')}        r = Module.other({LAST})\n        return r\n{OTHER}",
}


@pytest.mark.parametrize("kind", PROGRAMS)
def test_what_is_overwritten_is_found(kind: str) -> None:
    """The tensor that all fields are is overwritten before they are used."""
    text = HEAD + PROGRAMS[kind].replace("        return", f"{IN_PLACE}        return", 1)
    found = [d.code for d in check_text(text).diagnostics]
    assert "USE-overwritten-after" in found


@pytest.mark.parametrize("kind", PROGRAMS)
def test_its_bytes_are_counted_once(kind: str) -> None:
    """A branch that chooses between what is there takes no memory either."""
    use = memory_use(parse(HEAD + PROGRAMS[kind]), "main")
    assert use.highest({})[0] == 2 * 4
