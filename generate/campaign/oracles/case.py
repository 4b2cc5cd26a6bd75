"""One program before an oracle."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from rlx.generate.campaign.finding import Finding, cause_of
from rlx.generate.campaign.peer import Peer
from rlx.generate.campaign.programs import is_legal

if TYPE_CHECKING:
    from rlx.generate.campaign.oracles.meaning import Meaning


class TimeIsUp(BaseException):
    """The campaign is over; no ``except Exception`` of an oracle may stop this."""


ENOUGH = 2
"""The stages that a program goes through even if the time is up."""

_peer = cache(Peer)
"""TVM is imported once, where it is asked for."""


class Case:
    """One program before an oracle.

    Attributes
    ----------
    text, seed
        The program.
    peer
        TVM, or None.
    legal
        Whether it is legal by construction; a near miss is not.
    only
        The stage that is asked for; all of them if empty.
    findings
        What was found so far.
    """

    def __init__(
        self,
        text: str,
        seed: int,
        against: str,
        stage: Callable[[str], None],
        only: str = "",
        deadline: float = math.inf,
    ) -> None:
        self.findings: list[Finding] = []
        self._deadline, self._begun = deadline, 0
        self.text, self.seed = text, seed
        self.legal = is_legal(seed)
        self._enter = stage
        self.only = only
        self.stage = ""
        self._errors: dict[str, str] = {}
        self._meanings: dict[str, list[Meaning]] = {}
        self.peer: Peer | None = _peer() if against == "tvm" else None

    def begin(self, stage: str) -> None:
        """Say what is done next: should the process die, this is where. Raises TimeIsUp if the time is
        up and something was done.
        """
        self._begun += 1
        if self._begun > ENOUGH and time.monotonic() > self._deadline:
            raise TimeIsUp
        self.stage = stage
        self._enter(stage)

    def read_by_peer(self) -> Any:
        """The program as TVM reads it; None where it refuses it, which the oracle of legality
        reports.
        """
        assert self.peer is not None
        self.begin("TVM's parser")
        try:
            module = self.peer.read(self.text)
            return module if self.peer.well_formed(module) else None
        except Exception:  # noqa: BLE001 - whatever the peer raises is a refusal
            return None

    def error(self, text: str) -> str:
        """The first error that our checker reports of a program, as ``CODE: message``; empty if it
        is legal.

        Most passes leave a program as it is, so what was said of a text is remembered.
        """
        from rlx.checker.check import check_text

        if text not in self._errors:
            found = check_text(text).diagnostics
            said = (f"{d.code}: {d.message}" for d in found if d.is_error)
            self._errors[text] = next(said, "")
        return self._errors[text]

    def meanings(self, text: str, earlier: Sequence[Meaning] = ()) -> list[Meaning]:
        """The results of the entries of a program, see
        :func:`rlx.generate.campaign.oracles.meaning.meanings`; remembered.
        """
        from rlx.generate.campaign.oracles.meaning import meanings

        if text not in self._meanings:
            self._meanings[text] = meanings(text, self.seed, earlier)
        return self._meanings[text]

    def found(
        self,
        kind: str,
        oracle: str,
        message: str,
        *,
        cause: str | None = None,
        rule: str = "",
        trait: str = "",
    ) -> Finding:
        """A finding at the present stage."""
        self.findings.append(self._finding(kind, oracle, message, cause, rule, trait))
        return self.findings[-1]

    def _finding(
        self, kind: str, oracle: str, message: str, cause: str | None, rule: str, trait: str
    ) -> Finding:
        return Finding(
            kind,
            oracle,
            self.stage,
            cause_of(message) if cause is None else cause,
            " ".join(message.split())[:1000],
            rule,
            self.text,
            self.seed,
            trait,
        )


REFUSALS = (NotImplementedError, ValueError)
"""Exceptions by which a compiler says that it does not take a program; others are its own mistakes.
"""


_UNSUPPORTED = re.compile(
    r"not (?:yet )?support|unsupported|only supports?\b|only applies|not implemented|requires"
    r" static|cannot emit this",
    re.IGNORECASE,
)


def kind_of(error: Exception) -> str:
    """The kind of finding that an exception over a legal program is: what says that it is not
    supported is no crash.
    """
    if _UNSUPPORTED.search(raised(error)):
        return "not-supported"
    return "refuses-legal" if isinstance(error, REFUSALS) else "crash"


def raised(error: Exception) -> str:
    """The words of an exception: its type and the end of its message, without the traceback of the
    other side.
    """
    text = _PLACE.split(str(error), maxsplit=1)[0]
    diagnosis = _DIAGNOSIS.search(text)
    if diagnosis is not None:
        marked = _OPERATOR.search(diagnosis["line"], max(0, len(diagnosis["caret"]) - 1))
        where = f" at {marked[0]}" if marked else ""
        return f"{type(error).__name__}: {' '.join(diagnosis['said'].split())}{where}"
    marker = "InternalError: "
    if marker in text:
        text = marker + text.rsplit(marker, 1)[1]
    return f"{type(error).__name__}: {text.strip()[-1000:]}"


_PLACE = re.compile(r"\n+(?=Error in pass: |Location \(TVMScript\):)")
"""How TVM begins to tell the pass and the place, behind what is wrong."""

_DIAGNOSIS = re.compile(
    r"error: (?P<said>.*?)\n\s*-->[^\n]*\n[^\n]*\|[^\n]*\n\s*\d+"
    r" \|(?P<line>[^\n]*)\n[^\n|]*\|(?P<caret> *)",
    re.DOTALL,
)
_OPERATOR = re.compile(r"R\.[\w.]+")
