"""rlx: formal semantics and verification for Relax, the tensor-program IR of Apache TVM.

>>> import rlx
>>> rlx.prove("(n + 3)//4*4 >= n").status
'proved'

Whatever is given to :func:`check`, :func:`load`, :func:`run`, :func:`fmt`, :func:`show` and
:func:`why` is a path, a text, a module of
:func:`parse`, or a ``tvm.IRModule``. Each name is imported when it is first asked for.
"""

# Before any other import, and without `from __future__`, which is one.
from rlx.search_path import leave_folder

leave_folder()

import sys
from types import ModuleType
from typing import TYPE_CHECKING

from rlx import lazy

if TYPE_CHECKING:
    from rlx import relay, te, tvm, vm
    from rlx.api import check, fmt, load, memory, parse, refines, run, show, why
    from rlx.checker.check import IllFormedError, Report
    from rlx.checker.why.place import PlaceError
    from rlx.comparison.api import compare
    from rlx.grammar.diagnostic import Diagnostic
    from rlx.grammar.nodes.ast import IRModule
    from rlx.grammar.nodes.python_places import MisuseError
    from rlx.grammar.read.parser import ParseError
    from rlx.notebook import load_ipython_extension as load_ipython_extension
    from rlx.operators.external import operator
    from rlx.semantics.outcome import Outcome
    from rlx.solver.api import prove
    from rlx.solver.verdict import Verdict
    from rlx.subject import SubjectError
    from rlx.transform import op
    from rlx.transform.builder.builder import BlockBuilder
    from rlx.transform.builder.errors import BuildError, BuildWarning
    from rlx.transform.builder.values import Var, const, dim
    from rlx.transform.visitors.dataflow import DataflowMutator
    from rlx.transform.visitors.mutator import ExprMutator
    from rlx.transform.visitors.visitor import ExprVisitor

    __version__: str

ROOMS = (
    "checker",
    "generate",
    "grammar",
    "old",
    "operators",
    "refine",
    "relay",
    "semantics",
    "solver",
    "spec",
    "te",
    "transform",
    "tvm",
    "vm",
)

__all__ = [
    "BlockBuilder",
    "BuildError",
    "BuildWarning",
    "DataflowMutator",
    "Diagnostic",
    "ExprMutator",
    "ExprVisitor",
    "IRModule",
    "IllFormedError",
    "MisuseError",
    "Outcome",
    "ParseError",
    "PlaceError",
    "Report",
    "SubjectError",
    "Var",
    "Verdict",
    "__version__",
    "check",
    "compare",
    "const",
    "dim",
    "fmt",
    "load",
    "memory",
    "op",
    "operator",
    "parse",
    "prove",
    "refines",
    "relay",
    "run",
    "show",
    "te",
    "tvm",
    "vm",
    "why",
]


def __getattr__(name: str) -> object:
    """Import a public name when it is first used."""
    if name in ROOMS:
        from importlib import import_module

        return import_module(f"rlx.{name}")
    if name == "__version__":
        from importlib.metadata import version

        value: str = version("rlx")
        globals()[name] = value
        return value
    if name == "load_ipython_extension":  # what `%load_ext rlx` asks for; nobody else does
        from rlx import notebook

        return notebook.load_ipython_extension
    return lazy.public_name(__name__, name)


def __dir__() -> list[str]:
    return sorted({*__all__, *ROOMS})


class _Operators(ModuleType):
    """The module that ``import rlx.op`` finds, before the first operator is used."""

    def __getattr__(self, name: str) -> object:
        from rlx.transform import op

        return getattr(op, name)


sys.modules["rlx.op"] = _Operators("rlx.op")
