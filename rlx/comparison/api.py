"""`rlx.compare`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rlx.grammar.stack import roomy
from rlx.subject import (
    Subject,
    entry_of,
    flag,
    legal_module,
    name_or_none,
    whole_number,
)

if TYPE_CHECKING:
    from rlx.comparison.compare import Run, RunComparison


@roomy
def compare(
    subject: Subject,
    other: Subject | Mapping[str, object] | None = None,
    entry: str | None = None,
    inputs: Mapping[str, object] | None = None,
    *,
    seed: int = 0,
    exact: bool = False,
) -> RunComparison:
    """Find the first binding at which two runs of a model differ.

    Parameters
    ----------
    subject
        What :func:`rlx.check` takes.
    other
        None for TVM's virtual machine; another program, run by the rules; or a mapping from names
        of bindings to reference values (arrays).
    entry
        The function to call; None for ``main``, or the only one.
    inputs
        Arguments by parameter, as :func:`rlx.run` takes them. Missing ones are generated.
    seed
        The seed of generated inputs.
    exact
        Whether generated inputs are small whole numbers, and whole numbers have to be equal.

    Returns
    -------
    RunComparison
        ``agrees``; ``difference`` and ``not_finite`` tell the binding, by how much it is off, and
        its inputs.

    Raises
    ------
    IllFormedError
        If the checker finds errors; its ``report`` has them.
    SubjectError
        If there is no such entry, or a text contains several modules.
    ValueError
        If an input does not fit, or no name of the reference is that of a binding.
    rlx.comparison.peer.TvmError
        If TVM is needed and not installed.
    TypeError, OSError
        As :func:`rlx.check`.
    """
    from rlx.comparison.compare import against_named, against_tvm, recorded
    from rlx.comparison.peer import TvmProcess
    from rlx.grammar.nodes.ast import ObjectStructInfo
    from rlx.semantics.outcome import Returned
    from rlx.semantics.run.literals import from_python

    name_or_none("entry", entry)
    whole_number("seed", seed, 0)
    flag("exact", exact)
    run = _run(subject, entry, inputs or {}, seed, exact)
    if other is None:
        with TvmProcess() as tvm:
            return against_tvm(run, tvm)
    if isinstance(other, Mapping):
        values = {
            name: [from_python(name, value, ObjectStructInfo())] for name, value in other.items()
        }
        return against_named(run, values, "the reference")
    given = dict(zip(run.parameters, run.args, strict=True))
    second = _run(other, entry, given, seed, exact)
    found, outcome = recorded(second)
    if not outcome.ok:
        raise ValueError(f"the other program ends without a value: {outcome}")
    assert isinstance(outcome, Returned)
    return against_named(run, found, "the other program", outcome.value)


def _run(
    subject: Subject, entry: str | None, given: Mapping[str, object], seed: int, exact: bool
) -> Run:
    """A program with its arguments."""
    from rlx.api import check
    from rlx.comparison.compare import Run
    from rlx.semantics.run.inputs import inputs as arguments

    report = check(subject)
    module = legal_module(report)
    module, name, function, _ = entry_of(module, entry)
    values = arguments(function, given, seed, whole=exact).values
    run = Run(module, report.source, name, values, exact=exact)
    run.accepted()
    return run
