"""The oracles: each examines one program and returns the mistakes of rlx or of TVM."""

from __future__ import annotations

from collections.abc import Callable

from rlx.generate.campaign.finding import Finding
from rlx.generate.campaign.oracles.case import Case
from rlx.generate.campaign.oracles.check import check
from rlx.generate.campaign.oracles.derive import derive
from rlx.generate.campaign.oracles.passes import passes
from rlx.generate.campaign.oracles.refine import refine
from rlx.generate.campaign.oracles.roundtrip import roundtrip
from rlx.generate.campaign.oracles.run import run

Oracle = Callable[[Case], list[Finding]]

ORACLES: dict[str, Oracle] = {
    "check": check,
    "derive": derive,
    "run": run,
    "passes": passes,
    "roundtrip": roundtrip,
    "refine": refine,
}
"""The oracles by the names that `rlx fuzz --oracle` takes."""


def named(name: str) -> Oracle:
    """The oracle of a name: one of :data:`ORACLES`, or ``my_module:function``. Raises
    rlx.generate.campaign.oracles.own.OwnOracleError if there is no such function.
    """
    if ":" not in name:
        return ORACLES[name]
    from rlx.generate.campaign.oracles.own import own

    return own(name)


def examine(oracle: str, text: str, seed: int, against: str = "", only: str = "") -> list[Finding]:
    """Put one program before an oracle, in this process.

    Parameters
    ----------
    oracle
        What :func:`named` takes.
    text
        The program.
    seed
        The seed of its inputs.
    against
        ``"tvm"``, or nothing to examine this tool alone.
    only
        The stage that is asked for; all of them if empty.
    """
    return named(oracle)(Case(text, seed, against, lambda _: None, only))
