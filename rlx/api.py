"""The calls of the facade: each takes a path, a text, a module, or a module of TVM."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from rlx.grammar.stack import roomy
from rlx.subject import (
    Subject,
    SubjectError,
    entry_of,
    flag,
    functions_by_name,
    legal_module,
    module_of,
    name_or_none,
    shown,
    source_of,
    whole_number,
)

if TYPE_CHECKING:
    from rlx.checker.check import Report
    from rlx.checker.why.explain import Derivations
    from rlx.grammar.nodes.ast import IRModule
    from rlx.refine.answer import Refinement
    from rlx.semantics.outcome import Outcome
    from rlx.transform.memory_use import MemoryUse

DIALECT = "0.27"
"""The dialect that is written where none is asked for."""


@roomy
def check(subject: Subject) -> Report:
    """Check a program, and report all its errors at once.

    Parameters
    ----------
    subject
        A path, a text of any dialect, a module of :func:`parse`, or a ``tvm.IRModule``.

    Returns
    -------
    Report
        With ``ok``, ``errors``, ``warnings`` and ``diagnostics``; ``str`` of it is what
        `relax-check` prints.

    Raises
    ------
    TypeError
        If `subject` is of another type.
    OSError
        If it is a path that cannot be read.
    """
    from rlx.checker.check import check_text

    source = source_of(subject)
    return check_text(source.text, source.path)


@roomy
def why(subject: Subject, line: int, column: int | None = None) -> Derivations:
    """The derivation of the type at a place: a tree of rules with their values.

    Parameters
    ----------
    subject
        A path, a text of any dialect, a module of :func:`parse`, or a ``tvm.IRModule``; for a
        module, the place is in its text, as :func:`show` prints it.
    line, column
        From 1, in characters. With a column: the innermost expression at that place; without one:
        the statements of the line.

    Returns
    -------
    Derivations
        ``str`` of it is what `rlx why` prints.

    Raises
    ------
    PlaceError
        If no node with struct info is there; the message names nearby nodes.
    TypeError, OSError
        As :func:`check`.
    """
    from rlx.checker.why.explain import why as explained

    whole_number("line", line)
    if column is not None:
        whole_number("column", column)
    source = source_of(subject)
    return explained(source.text, source.path, line, column)


@roomy
def parse(text: str, *, name: str | None = None) -> IRModule:
    """The module of a text.

    Parameters
    ----------
    text
        A text of any dialect; functions without a class form a module, too.
    name
        The name of the module, if the text contains several.

    Raises
    ------
    TypeError
        If it is not a text; :func:`load` takes paths and modules of TVM.
    ParseError
        If it has syntax errors: ``diagnostics`` has all of them.
    SubjectError
        If it contains no module, or several and `name` is None.
    """
    if not isinstance(text, str):
        raise TypeError(
            f"expected a text, found {type(text).__name__}: rlx.load takes paths and modules"
        )
    from rlx.grammar.diagnostic import Source

    return module_of(Source(text), name)


@roomy
def load(subject: Subject, *, name: str | None = None) -> IRModule:
    """The module of a file, of a text, or of a ``tvm.IRModule``.

    Raises
    ------
    ParseError, SubjectError
        As :func:`parse` does.
    TypeError, OSError
        As :func:`check` does.
    """
    return module_of(subject, name)


@roomy
def show(subject: Subject, dialect: str = DIALECT) -> str:
    """Print a program, or a part of one, as TVMScript.

    Parameters
    ----------
    subject
        What :func:`check` takes, or a node: a function, an expression, a struct info, a dimension.
        A function that calls no other function of its module is a whole text, with what it needs.
    dialect
        The version of TVM whose spelling to write: ``"0.16"`` to ``"0.27"``.

    Raises
    ------
    ValueError
        If there is no such dialect.
    ParseError, SubjectError
        As :func:`parse` does.
    """
    from rlx.grammar.dialects import dialect as known
    from rlx.grammar.nodes import ast, tir
    from rlx.grammar.nodes.node import Node
    from rlx.grammar.nodes.visit import called_globals
    from rlx.grammar.print.printer import print_module, print_node
    from rlx.grammar.print.translate import InexpressibleError, expressible

    known(dialect)
    if isinstance(subject, ast.Function | tir.PrimFunc) and not called_globals(subject):
        name = str(subject.attrs.get("global_symbol", "main"))
        module = ast.IRModule({ast.GlobalVar(name): subject}, bare=True)
    elif isinstance(subject, Node) and not isinstance(subject, ast.IRModule):
        return print_node(subject, dialect)
    else:
        module = module_of(subject)
    with suppress(InexpressibleError):
        module = expressible(module, known(dialect))
    return print_module(module, dialect)


@roomy
def fmt(subject: Subject, dialect: str = DIALECT) -> str:
    """Format a program, with its comments; no file is changed.

    Raises
    ------
    SubjectError
        If the text has syntax errors, or contains code that printing would lose; the message names
        the place.
    ValueError
        If there is no such dialect.
    """
    from rlx.grammar.dialects import dialect as known
    from rlx.grammar.nodes import ast
    from rlx.grammar.print.formatting import format_text
    from rlx.grammar.print.weights import print_with_weights

    known(dialect)
    if isinstance(subject, ast.IRModule):
        subject = print_with_weights(subject)  # in front, where TVM reads the data
    source = source_of(subject)
    outcome = format_text(source.text, source.path, dialect)
    if outcome.text is None:
        raise SubjectError("\n".join(outcome.complaints))
    return outcome.text


@roomy
def run(
    subject: Subject,
    entry: str | None = None,
    inputs: Mapping[str, object] | Sequence[object] | None = None,
    *,
    packed: Mapping[str, Callable[..., object]] | None = None,
    seed: int = 0,
    fuel: int | None = None,
    memory: int | None = None,
    backend: str = "native",
    output: Callable[[str], None] = print,
    overwrite: bool = False,
) -> Outcome:
    """Run a function of a program by the rules of the specification.

    Parameters
    ----------
    subject
        What :func:`check` takes.
    entry
        The function to call; None for ``main``, or the only one. A PrimFunc takes its buffers and
        numbers, and its result is what it leaves in the buffers that it may write.
    inputs
        Arguments by parameter, or in order: NumPy arrays, numbers, nested lists, tuples, values of
        an earlier run; sizes of shape variables by their names. A text is parsed as on the command
        line: ``"zeros"``, ``"x.npy"``. A parameter that is a function takes one, or the name of a
        function of the module or of a packed one. Missing inputs are inferred from the others, or
        generated at random.
    packed
        The external functions that the program may call, by name. No other code is ever called.
    seed
        The seed of randomly generated inputs.
    fuel
        How many steps to take; None for 500,000.
    memory
        The largest number of bytes of all tensors that are alive; None for most of what the machine
        has.
    backend
        How PrimFuncs run: ``"native"``, as machine code; ``"steps"``, by the reference evaluator.
    output
        Called with each line that the program prints.
    overwrite
        Whether the program may write into the arrays in `inputs`; otherwise it gets copies.

    Returns
    -------
    Outcome
        ``ok`` tells whether there is a ``value``; ``numpy()`` converts it to arrays and numbers.
        Otherwise ``code`` and ``message`` tell which rule ended the run, and why.

    Raises
    ------
    IllFormedError
        If the checker finds errors; its ``report`` has them.
    SubjectError
        If there is no such entry, or the text contains several modules.
    ValueError
        If an input does not fit, a number is negative, or there is no such backend.
    TypeError
        If an argument is of another kind.
    """
    from rlx.checker.check import check_alone
    from rlx.grammar.nodes.ast import IRModule
    from rlx.semantics.live_memory import limited
    from rlx.semantics.machine import program as machine
    from rlx.semantics.run.inputs import inputs as arguments
    from rlx.semantics.run.options import FUEL, ITERATIONS, known_functions

    name_or_none("entry", entry, hint="; write arguments as inputs=[…]")
    functions_by_name("packed", packed)
    whole_number("seed", seed, 0)
    flag("overwrite", overwrite)
    if fuel is not None:
        whole_number("fuel", fuel, 0)
    if memory is not None:
        whole_number("memory", memory, 0)
    if not callable(output):
        raise TypeError(f"output: expected a function that takes a line, found {shown(output)}")
    if not isinstance(backend, str) or backend not in ITERATIONS:
        raise ValueError(
            f"backend: expected {' or '.join(map(repr, ITERATIONS))}, found {backend!r}"
        )
    module = legal_module(check_alone(subject) if isinstance(subject, IRModule) else check(subject))
    module, name, function, parameters = entry_of(module, entry)
    given = _by_name(inputs, parameters)
    with limited(memory):
        external, given = _own_functions(packed or {}, given)
        callees = [*known_functions(module), *external]
        values = arguments(function, given, seed, callees, overwrite=overwrite).values
        steps = FUEL if fuel is None else fuel
        program = machine.load(
            module,
            packed=external,
            backend=backend,
            output=output,
            iterations={way: steps * each for way, each in ITERATIONS.items()},
        )
        return program.run(name, values, fuel=steps)


def _own_functions(
    packed: Mapping[str, Callable[..., object]], given: Mapping[str, object]
) -> tuple[dict[str, Callable[..., object]], dict[str, object]]:
    """The packed functions with those of Python among the arguments, which their names replace."""
    from rlx.semantics.values import Value

    functions = {
        name: value
        for name, value in given.items()
        if callable(value) and not isinstance(value, Value) and not hasattr(value, "__array__")
    }
    names = {name: f"inputs[{name!r}]" for name in functions}  # no other function has such a name
    return (
        {**packed, **{names[name]: value for name, value in functions.items()}},
        {**given, **names},
    )


def _by_name(
    inputs: Mapping[str, object] | Sequence[object] | None, names: Sequence[str]
) -> Mapping[str, object]:
    """Arguments by parameter; those in order get the names of the parameters."""
    if inputs is None:
        return {}
    if isinstance(inputs, Mapping):
        return inputs
    if isinstance(inputs, str | bytes) or not isinstance(inputs, Sequence):
        raise TypeError(
            f"inputs: expected a mapping by name or a list, found {type(inputs).__name__}"
        )
    if len(inputs) > len(names):
        raise ValueError(
            f"inputs: expected at most {len(names)}, one for each parameter; found {len(inputs)}"
        )
    return dict(zip(names, inputs, strict=False))


@roomy
def memory(subject: Subject, entry: str | None = None) -> MemoryUse:
    """The number of bytes that a function needs, as a formula over its sizes.

    Parameters
    ----------
    subject
        What :func:`check` takes.
    entry
        The function; None for ``main``, or the only one.

    Returns
    -------
    MemoryUse
        With ``peak``, ``arguments``, ``constants``, and ``highest(sizes)`` for numbers; ``peaks``
        tells which values are alive where most is needed.

    Raises
    ------
    IllFormedError
        If the checker finds errors; its ``report`` has them.
    SubjectError
        If there is no such function, or the text contains several modules.
    TypeError, OSError
        As :func:`check`.
    """
    from rlx.grammar.suggest import misspelt
    from rlx.semantics.machine.entries import default_entry
    from rlx.transform.memory_use import memory_use

    name_or_none("entry", entry)
    module = legal_module(check(subject))
    functions = {gv.name_hint: f for gv, f in module.relax_functions.items()}
    name = default_entry(functions) if entry is None else entry
    if name not in functions:
        raise SubjectError(misspelt(f"there is no Relax function {name!r}", name, functions))
    return memory_use(module, name)


@roomy
def refines(
    before: Subject,
    after: Subject,
    entry: str | None = None,
    floats: str = "bitwise",
    faults: str = "may vanish",
    assume: Sequence[str] = (),
    contract: str | None = None,
) -> Refinement:
    """Whether a program means the same as another one, for all sizes and inputs.

    AFTER refines BEFORE if, wherever BEFORE returns a value, AFTER returns the same value with the
    same calls of packed functions.

    Parameters
    ----------
    before, after
        What :func:`check` takes.
    entry
        The function to compare; None for all public functions of BEFORE: those of Relax, and
        PrimFuncs only if there are no others.
    floats
        ``"bitwise"``: floats have the same bits. ``"real"``: they are equal as exact real numbers;
        the answer has the strongest level that holds.
    faults
        ``"may vanish"``: where BEFORE fails, AFTER may do anything. ``"kept"``: it fails, too.
    assume
        Conditions on the shape variables of BEFORE, such as ``"n % 4 == 0"``.
    contract
        How the interface changed: one of :data:`rlx.refine.contracts.CONTRACTS`, or the name of a
        pass of TVM that has one; None if it did not.

    Returns
    -------
    Refinement
        ``proved``, ``refuted`` or ``unknown``; with ``level``, or ``counterexample``, or
        ``reason``.

    Raises
    ------
    IllFormedError
        If the checker finds errors in one of them; its ``report`` has them.
    InterfaceError
        If they have other functions or parameters, and no contract says why.
    ValueError
        If an option has no such value, or a text contains no module or several.
    TypeError, OSError
        As :func:`check`.
    """
    from rlx.refine.question import compare, known_options

    name_or_none("entry", entry)
    conditions = known_options(floats, faults, assume, contract)
    one, other = map(legal_module, (check(before), check(after)))
    return compare(one, other, entry, floats, faults, conditions, contract)
