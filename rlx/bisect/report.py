"""The report on a faulty pass, ready to be pasted into an issue."""

from __future__ import annotations

from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from rlx.bisect.blame import Blame, Fine, Pipeline
from rlx.grammar.dialects import DEFAULT, dialect
from rlx.grammar.print.weights import without_files
from rlx.grammar.streams import code_span, fenced, harmless, inline_markdown, json_text, visible
from rlx.semantics.values import Scalar, ShapeValue, Tensor, TupleValue, Value

VERSION = 1

WEIGHTS = "weights.npz"
"""The name that a report without a file of its own gives the file of the large constants."""


def markdown(
    blame: Blame,
    pipeline: Pipeline,
    program: str,
    lines: int,
    whole: str | None = None,
    weights: str = WEIGHTS,
) -> str:
    """The report as Markdown.

    Parameters
    ----------
    program
        The program, as small as it was made.
    lines
        How many lines it had before.
    whole
        What is wrong in the program before it was reduced; None if it was not.
    weights
        The `.npz` file with the large constants of the program, by their numbers.
    """
    small = len(program.splitlines())
    size = f"{small} lines" if small >= lines else f"{small} lines, reduced from {lines}"
    parts = [
        f"# {inline_markdown(blame.title)}",
        _setting(blame, pipeline),
        _block(blame.message, "text"),
    ]
    if whole is not None and whole != blame.message:
        parts += ["In the program before it was reduced:", _block(whole, "text")]
    parts += [f"## The program ({size})", _block(without_files(program), "python")]
    if blame.before.strip() not in ("", program.strip()):
        parts += [f"## Before {blame.pass_name}", _block(without_files(blame.before), "python")]
    if blame.after:
        parts += [f"## After {blame.pass_name}", _block(without_files(blame.after), "python")]
    parts += ["## How to see it", _block(_script(blame, pipeline, program, weights), "python")]
    return "\n\n".join(parts) + "\n"


def nothing(fine: Fine, pipeline: Pipeline, path: str) -> str:
    """The report if no pass is to blame, with the parts that were not compared."""
    lines = [f"{visible(path)}: no pass of {visible(pipeline.expression)} did anything wrong"]
    if pipeline.sizes or pipeline.inputs is not None:
        if not fine.compared:
            lines[0] += ", as far as the checks show: no run was compared"
        lines += [f"  not compared: {visible(why)}" for why in dict.fromkeys(fine.not_compared)]
    lines += [f"  {name}: {status} ({visible(said)})" for name, status, said in fine.refined]
    lines += [f"  different by choice: {visible(path)}" for path in dict.fromkeys(fine.known)]
    return "\n".join(lines) + "\n"


def record(found: Blame | Fine, pipeline: Pipeline, path: str, program: str) -> str:
    """The same as JSON."""
    made: dict[str, object] = {
        "version": VERSION,
        "path": path,
        "pipeline": pipeline.expression,
        "target": pipeline.target,
        "blame": None,
    }
    if isinstance(found, Blame):
        made["blame"] = {
            "pass": found.pass_name,
            "kind": found.kind,
            "cause": found.cause,
            "message": found.message,
            "done": list(found.done),
            "program": without_files(program),
            "before": without_files(found.before),
            "after": without_files(found.after),
        }
    else:
        made |= {
            "compared": found.compared,
            "not_compared": list(found.not_compared),
            "known": list(found.known),
            "refined": [
                {"pass": name, "status": status, "said": said}
                for name, status, said in found.refined
            ],
        }
    return json_text(made) + "\n"


def _setting(blame: Blame, pipeline: Pipeline) -> str:
    done = inline_markdown(", ".join(blame.done)) or "none"
    return (
        f"- pipeline: {code_span(pipeline.expression)}, target {code_span(pipeline.target)}\n"
        f"- passes before it: {done}\n"
        f"- TVM {_version('apache-tvm')}, rlx {_version('rlx')}"
    )


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "of unknown version"


def _block(text: str, language: str) -> str:
    return fenced(language, harmless(text.rstrip()))


def _script(blame: Blame, pipeline: Pipeline, program: str, weights: str) -> str:
    """Python that does what went wrong, and needs nothing but TVM and NumPy, and the files of the
    inputs and of the constants where they are large.
    """
    wanted = pipeline.expression
    if wanted == "default":
        wanted = "relax.get_default_pipeline(target)"
    elif wanted.isidentifier():
        wanted = f"relax.get_pipeline({wanted!r})"
    elif wanted.startswith("lambda"):
        wanted = f"({wanted})"
    given, shown, watched, then = "", "", "", ""
    of_a_pass = bool(blame.after)
    if of_a_pass:
        shown = f"""
@tvm.instrument.pass_instrument
class Shown:
    def run_after_pass(self, module, info):
        if info.name == {blame.pass_name!r}:
            print(module, flush=True)  # this module is wrong

"""
        watched = ", instruments=[Shown()]"
    runs = pipeline.inputs is not None and blame.kind != "illegal"
    if runs:
        given = _arguments(pipeline, program)
    entry = f"machine[{pipeline.entry or 'main'!r}](*arguments)"
    if pipeline.build and blame.kind != "illegal":
        then = "built = relax.build(module, target, relax_pipeline=tvm.transform.Sequential([]))"
        if runs:
            then += f"\nmachine = relax.VirtualMachine(built, tvm.cpu())\nprint({entry})"
    elif runs:
        then = f"""\
for each in (before, module):
    machine = relax.VirtualMachine(relax.build(each, target), tvm.cpu())
    print({entry})"""
    elif not of_a_pass:
        then = "module.show()"
    from rlx.api import parse
    from rlx.grammar.nodes.node import replace
    from rlx.grammar.print.weights import print_with_weights

    module = parse(program)
    printed = print_with_weights(replace(module, name=module.name or "Module", bare=False))
    readable = without_files(printed, 'metadata = tvm.get_global_func("weights")()')
    if readable != printed:
        given = f"{_weights(program, weights)}{given}"
    text = readable.rstrip().replace("\\", "\\\\").replace('"""', r"\"\"\"")
    return f"""\
import tvm
from tvm import relax

PROGRAM = \"""
{text}
\"""
{given}{shown}
module = tvm.script.from_source(PROGRAM, check_well_formed=False)
target = tvm.target.Target({pipeline.target!r})
with target, tvm.transform.PassContext(opt_level=3{watched}):
    before, module = module, {wanted}(module)
{then}"""


def _weights(program: str, file: str) -> str:
    """Python that gives TVM's parser the large constants."""
    from rlx.api import parse
    from rlx.grammar.print.weights import constants
    from rlx.semantics.arrays import numpy_type

    each = [
        f"    tvm.runtime.tensor(held['{number}']{_as(numpy_type(literal.dtype))}),"
        for number, literal in enumerate(constants(parse(program)))
    ]
    listed = "\n".join(["constants = [", *each, "]"])
    return f"""\
import ml_dtypes, numpy
held = numpy.load({file!r})
{listed}
metadata = {{{dialect(DEFAULT).constant_key!r}: [*map(relax.const, constants)]}}
tvm.register_global_func("weights", lambda: metadata)
"""


def _as(kind: Any) -> str:
    """The Python code that views an array from a file as a type that files do not have."""
    return f".view(ml_dtypes.{kind})" if kind.isbuiltin == 2 else ""


def arrays(program: str) -> dict[str, Value]:
    """The constants of a program, by their numbers."""
    from rlx.api import parse
    from rlx.comparison.cut import constant
    from rlx.grammar.print.weights import constants

    found = ((str(at), constant(each)) for at, each in enumerate(constants(parse(program))))
    return {name: value for name, value in found if value is not None}


def _arguments(pipeline: Pipeline, program: str) -> str:
    """The arguments of the program as Python."""
    from rlx.api import parse
    from rlx.comparison.kept import Kept, arguments
    from rlx.semantics.machine.entries import NoEntryError, find_entry
    from rlx.semantics.run.npz import arrays_of

    assert pipeline.inputs is not None
    arrays = arrays_of(pipeline.inputs)
    made = []
    with suppress(NoEntryError):
        function = find_entry([parse(program)], pipeline.entry).function
        values = arguments(function, Kept(arrays, pipeline.entry, pipeline.seed))
        for param, value in zip(function.params, values, strict=True):
            known = param.name_hint in arrays
            file = f"load({pipeline.inputs!r})[{param.name_hint!r}]" if known else ""
            made.append(f"    {_value(value, file)},  # {param.name_hint}")
    return "\n".join(["from numpy import array, inf, load, nan", "arguments = [", *made, "]", ""])


def _value(value: Value, file: str) -> str:
    """A value as Python; `file` is how it is read from the inputs, if they have it."""
    import numpy as np

    match value:
        case TupleValue(fields=fields):
            return f"[{', '.join(_value(field, '') for field in fields)}]"
        case ShapeValue(values=sizes):
            return f"tvm.runtime.ShapeTuple({list(sizes)})"
        case Scalar(value=number):
            return repr(number)
        case Tensor(data=array) if array.size <= _SMALL and array.dtype.kind in "biuf":
            small = np.array2string(
                array, separator=", ", threshold=_SMALL, floatmode="unique"
            ).replace("\n", "")
            return f"tvm.runtime.tensor(array({small}, {str(array.dtype)!r}))"
    return f"tvm.runtime.tensor({file})" if file else f"... # {harmless(str(value))}"


_SMALL = 64
"""Arrays of at most so many elements are written out."""
