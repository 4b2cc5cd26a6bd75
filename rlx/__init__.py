"""rlx: formal semantics and verification for Relax, the tensor-program IR of Apache TVM.

>>> import rlx
>>> rlx.prove("(n + 3)//4*4 >= n").status
'proved'

Whatever is given to :func:`check`, :func:`load`, :func:`run`, :func:`fmt`, :func:`show` and :func:`why` is a path, a text, a module of
:func:`parse`, or a ``tvm.IRModule``. Each name is imported when it is first asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rlx import tvm
    from rlx.api import check, fmt, load, parse, run, show, why
    from rlx.checker.check import Report
    from rlx.checker.why.place import PlaceError
    from rlx.grammar.ast import IRModule
    from rlx.grammar.diagnostic import Diagnostic
    from rlx.grammar.parser import ParseError
    from rlx.operators.external import operator
    from rlx.semantics.outcome import Outcome
    from rlx.solver.api import prove
    from rlx.solver.verdict import Verdict
    from rlx.subject import IllFormedError, SubjectError

    __version__: str

_HOMES = {
    "Diagnostic": "rlx.grammar.diagnostic",
    "IRModule": "rlx.grammar.ast",
    "IllFormedError": "rlx.subject",
    "Outcome": "rlx.semantics.outcome",
    "ParseError": "rlx.grammar.parser",
    "PlaceError": "rlx.checker.why.place",
    "Report": "rlx.checker.check",
    "SubjectError": "rlx.subject",
    "Verdict": "rlx.solver.verdict",
    "check": "rlx.api",
    "fmt": "rlx.api",
    "load": "rlx.api",
    "operator": "rlx.operators.external",
    "parse": "rlx.api",
    "prove": "rlx.solver.api",
    "run": "rlx.api",
    "show": "rlx.api",
    "why": "rlx.api",
}
_ROOMS = (
    "checker",
    "generate",
    "grammar",
    "operators",
    "semantics",
    "solver",
    "spec",
    "transform",
    "tvm",
)

__all__ = [
    "Diagnostic",
    "IRModule",
    "IllFormedError",
    "Outcome",
    "ParseError",
    "PlaceError",
    "Report",
    "SubjectError",
    "Verdict",
    "__version__",
    "check",
    "fmt",
    "load",
    "operator",
    "parse",
    "prove",
    "run",
    "show",
    "tvm",
    "why",
]


def __getattr__(name: str) -> object:
    """What is imported only when it is asked for."""
    from importlib import import_module

    if name in _ROOMS:
        return import_module(f"rlx.{name}")
    if name == "__version__":
        from importlib.metadata import version

        value: object = version("rlx")
    elif name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    else:
        raise AttributeError(
            f"module 'rlx' has no attribute {name!r}; it has: {', '.join(__all__)}"
        )
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *_ROOMS})
