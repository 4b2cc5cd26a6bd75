"""TVM in a process of its own, which it may end."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable

from rlx.grammar.processes import environment, from_outside, python

_LOGGED = re.compile(r"\[\d\d:\d\d:\d\d\] ")
"""How lines of TVM's log begin, which may come behind what a module says at its end."""


def answer(*words: str, given: str = "", seconds: float, fails: Callable[[str], Exception]) -> str:
    """The output of a module of rlx that loads TVM, run by the words behind ``python -m``.

    Parameters
    ----------
    given
        Its standard input.
    fails
        Makes the exception, of the reason, if it takes longer than so many seconds or ends with
        an error.
    """
    try:
        done = subprocess.run(
            python("-m", *words),
            input=given,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="backslashreplace",  # names in TVM's last words may be any bytes
            timeout=seconds,
            env=environment(),
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise fails(f"TVM takes longer than {seconds:.0f} s") from None
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        said = [line for line in lines if not _LOGGED.match(line)]
        how = from_outside(done.returncode) or (said[-1] if said else "TVM ends without a word")
        raise fails(how)
    return done.stdout
