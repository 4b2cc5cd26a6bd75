"""The module as TVM's default build has planned its memory, and ends each value: `python -m rlx.tvm.plan` in a process
of its own, as TVM may end it.
"""

from __future__ import annotations

import sys

from rlx.grammar.streams import complain_line, write_data
from rlx.tvm.apart import answer

PATIENCE = 300.0
"""Seconds that TVM may take."""


class NoPlanError(ValueError):
    """TVM has no plan for a program; the message says why."""


def planned_by_tvm(text: str) -> str:
    """The text that TVM prints for a module after the passes of its default build up to
    `KillAfterLastUse`. `text`: a module in the dialect of TVM 0.27. Raises NoPlanError if TVM is
    not installed, or a pass fails.
    """
    return answer("rlx.tvm.plan", given=text, seconds=PATIENCE, fails=NoPlanError)


def main() -> int:
    """Plan the memory of the module on standard input."""
    try:
        import tvm
        from tvm import relax
    except ModuleNotFoundError as error:
        if error.name != "tvm":
            raise
        complain_line("this needs TVM: install the extra `tvm`")
        return 1
    text = sys.stdin.read()
    passes = tvm.transform.Sequential(
        [
            relax.backend.DispatchSampling(),
            relax.backend.DispatchSortScan(),
            relax.transform.LegalizeOps(),
            relax.transform.RewriteDataflowReshape(),
            relax.transform.ToNonDataflow(),
            relax.transform.RemovePurityChecking(),
            relax.transform.CallTIRRewrite(),
            relax.transform.StaticPlanBlockMemory(),
            relax.transform.LowerAllocTensor(),
            relax.transform.KillAfterLastUse(),
        ]
    )
    try:
        with tvm.target.Target("llvm"), tvm.transform.PassContext(opt_level=3):
            made = passes(tvm.script.from_source(text, check_well_formed=False))
            write_data(made.script(show_meta=True))
    except Exception as error:  # noqa: BLE001 - whatever a pass raises is the reason
        said = str(error).strip().splitlines()
        complain_line(f"{type(error).__name__}: {said[-1] if said else ''}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
