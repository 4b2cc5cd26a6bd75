"""A register killed on one way is checked where the ways meet: a run that took it ends there."""

from __future__ import annotations

import numpy as np
import pytest

import rlx
from rlx.vm import RunError

PROGRAM = """
@I.ir_module
class M:
    @R.function(pure=False)
    def main(x: R.Tensor((2,), "float32"), c: R.Tensor((), "bool")) -> R.Object:
        s = R.memory.alloc_storage(R.shape([8]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
        y = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([2]), R.dtype("float32"))
        if c:
            k = R.vm.kill_object({killed})
            z = R.prim_value(1)
        else:
            z = R.prim_value(2)
        return {used}
"""


@pytest.mark.parametrize(
    ("killed", "used", "checked"), [("y", "y", True), ("x", "x", True), ("y", "x", False)]
)
def test_what_is_killed_on_some_way(killed: str, used: str, checked: bool) -> None:
    executable = rlx.vm.build(rlx.parse(PROGRAM.format(killed=killed, used=used)))
    assert ("relax.run.check_alive" in str(executable)) == checked
    if used != "x":  # y was never written
        return
    main, x = rlx.vm.VirtualMachine(executable)["main"], np.ones(2, np.float32)
    main(x, np.array(False))
    if checked:
        with pytest.raises(RunError):
            main(x, np.array(True))
    else:
        main(x, np.array(True))
