"""A process that answers for TVM: a JSON text in each line of stdin, why it is refused (or null) in each of stdout."""

from __future__ import annotations

import contextlib
import io
import json
import sys

import tvm
from tvm import s_tir


def refusal(text: str) -> str | None:
    """The error of TVM's parser, or of its check of well-formed functions, for a text."""
    written = io.StringIO()
    try:
        with contextlib.redirect_stderr(written), contextlib.redirect_stdout(written):
            s_tir.analysis.verify_well_formed(tvm.script.from_source(text))
    except Exception as error:  # noqa: BLE001 - whatever TVM raises is its answer
        lines = f"{error}\n{written.getvalue()}".splitlines()
        told = [
            line.strip() for line in lines if "rror" in line or "heck" in line or "formed" in line
        ]
        return " | ".join(told[:3]) or type(error).__name__
    return None


for line in sys.stdin:
    sys.stdout.write(json.dumps(refusal(json.loads(line))) + "\n")
    sys.stdout.flush()
