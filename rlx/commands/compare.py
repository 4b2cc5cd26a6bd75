"""`rlx compare`: the first binding at which two runs of a model differ."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rlx.checker.driver.time_limit import lift
from rlx.commands.compiling import made_or_status
from rlx.commands.os_errors import words_of
from rlx.commands.outputs import add_format
from rlx.commands.project import add_options, loaded
from rlx.grammar.command_line import CommandParser
from rlx.grammar.nodes.encoded import files_in
from rlx.grammar.processes import UNABLE
from rlx.grammar.stack import roomy
from rlx.grammar.streams import complain_line, say, visible, write_data
from rlx.semantics.run.options import UsageError, add_inputs, add_memory
from rlx.writing import make_folder, write

if TYPE_CHECKING:
    from rlx.comparison.compare import Discovery, Run, RunComparison
    from rlx.comparison.peer import TvmProcess
    from rlx.comparison.report import WrittenBinding
    from rlx.semantics.run.options import Prepared
    from rlx.semantics.values import Value

AGREES, DIFFERS = 0, 1

EPILOG = """\
OTHER is another program (.rlx, .py), run by the rules; a reference with values by the names of bindings (.npz); or an
ONNX model (.onnx), run by onnxruntime, whose nodes are compared by the names of their outputs. Without it the other
side is TVM's virtual machine. These need the extras onnx and tvm.

Each binding is computed by the rules from the operands that the other side has, so what differs at a binding is made
there. A value may be off by rounding as far as the binding, computed in float64 on the same inputs with moved
operations, shows. Then TVM also runs the program as it builds it by default.

exit status: 0 all values agree and are finite; 1 a binding differs, or makes a NaN or an infinity; 2 wrong usage, an
unreadable file, errors in a program, or no TVM."""


@roomy
def main(argv: Sequence[str], prog: str = "rlx compare") -> int:
    """Run the command, and return the exit status."""
    options = _parser(prog).parse_args(argv)
    if not loaded(options, prog):
        return UNABLE
    from rlx.semantics.live_memory import limited

    with limited(options.memory):
        done = made_or_status(prog, lambda: [_compared(options, prog)])
    if isinstance(done, int):
        return UNABLE
    (agrees,) = done
    return AGREES if agrees else DIFFERS


def _parser(prog: str) -> CommandParser:
    parser = CommandParser(
        prog=prog,
        description="Run a model on two sides, and name the first binding at which they differ.",
        epilog=EPILOG,
    )
    add = parser.add_argument
    add("file", metavar="FILE", help="the model (.rlx, .py, .json, .onnx, .pt2); - for stdin")
    add("other", metavar="OTHER", nargs="?", help="what to compare with (default: TVM)")
    add_inputs(parser)
    add(
        "--exact",
        action="store_true",
        help="draw missing inputs as small whole numbers, and allow no rounding of whole numbers",
    )
    add(
        "--out", metavar="DIR", help="write the binding as a program with its inputs to this folder"
    )
    add_format(parser)
    add_memory(parser, " in a run")
    add_options(parser)
    return parser


def _compared(options: argparse.Namespace, prog: str) -> bool:
    from rlx.comparison.compare import InputsError, NoNameError, Run
    from rlx.comparison.peer import TvmError, TvmProcess
    from rlx.comparison.report import record, text
    from rlx.semantics.run.options import prepare

    if options.file == options.other == "-":
        raise UsageError("only one of the programs can be standard input")
    if options.out is not None:
        path = Path(options.out)
        if path.exists() and not path.is_dir():
            raise UsageError(f"--out {options.out}: this is not a directory")
    with TvmProcess() as tvm, files_in(str(tvm.folder)):
        model = _imported(options.file, tvm.folder)
        prepared = prepare(options, whole=options.exact, text=model)
        against = _against(options, prepared, tvm.folder)
        lift()  # the runs have their own limits
        run = Run(
            tvm.stored(prepared.module),
            prepared.source,
            prepared.entry,
            prepared.inputs.values,
            exact=options.exact,
        )
        try:
            run.accepted()
            made = against(run, tvm)
        except (TvmError, NoNameError) as error:
            raise UsageError(str(error)) from None
        except InputsError as error:
            option = f"--inputs {options.inputs}" if options.inputs else "--input"
            raise UsageError(f"{option}: {error}") from None
        found = made.difference or made.not_finite
        written = []
        if options.out is not None and found is not None and found.cut is not None:
            written.append(_written(Path(options.out), found, options, tvm))
    inputs = prepared.inputs
    if options.format == "json":
        given = {"sizes": inputs.sizes, "generated": list(inputs.made_up), "seed": options.seed}
        write_data(record(made, options.file, given, written))
        return made.agrees
    if inputs.made_up:
        names = ", ".join(
            f"{name} = {inputs.sizes[name]}" if name in inputs.sizes else name
            for name in inputs.made_up
        )
        complain_line(f"{prog}: generated with --seed {options.seed}: {visible(names)}")
    say(text(made, options.file, prepared.source.line, written))
    return made.agrees


Comparing = Callable[["Run", "TvmProcess"], "RunComparison"]


def _against(options: argparse.Namespace, prepared: Prepared, folder: Path) -> Comparing:
    """Read OTHER: what compares a run with it."""
    from rlx.comparison.compare import against_named, against_tvm

    if options.other is None:
        return against_tvm
    if options.other.endswith(".npz"):
        from rlx.semantics.run.files import FileError
        from rlx.semantics.run.npz import arrays_of, named_values

        try:
            values = named_values(arrays_of(options.other))
        except FileError as error:
            raise UsageError(str(error)) from None
        return lambda run, _: against_named(run, values, options.other)
    if options.other.endswith(".onnx"):
        return _against_onnx(options.other)
    return _against_program(options, prepared, folder)


def _against_onnx(path: str) -> Comparing:
    from rlx.comparison.compare import against_named
    from rlx.tvm.onnx_values import OnnxError, values_of

    def against(run: Run, _: TvmProcess) -> RunComparison:
        try:
            values = values_of(path, run.args)
        except OnnxError as error:
            raise UsageError(str(error)) from None
        return against_named(run, values, "onnxruntime")

    return against


def _imported(path: str, folder: Path) -> str | None:
    """The text of a model in another format, with its large constants in a folder; None of one that
    is a text itself.
    """
    from rlx.tvm.importing import NoImportError, imported, is_imported

    try:
        return imported(path, folder) if is_imported(path) else None
    except NoImportError as error:
        raise UsageError(str(error)) from None


def _against_program(options: argparse.Namespace, prepared: Prepared, folder: Path) -> Comparing:
    from rlx.comparison.compare import Run, against_named, recorded
    from rlx.semantics.outcome import Returned
    from rlx.semantics.run.options import checked_entry

    report, module, entry, function = checked_entry(
        options.other, options.entry or prepared.entry, _imported(options.other, folder)
    )
    args = _arguments(prepared, function.params, options.other)

    def against(run: Run, _: TvmProcess) -> RunComparison:
        values, outcome = recorded(Run(module, report.source, entry, args))
        if not isinstance(outcome, Returned):
            raise UsageError(f"{options.other}: the run ends without a value: {outcome}")
        return against_named(run, values, options.other, outcome.value)

    return against


def _arguments(prepared: Prepared, params: Sequence[object], path: str) -> list[Value]:
    """The arguments of the other program: by the names of its parameters, or else in order."""
    from rlx.grammar.nodes.ast import Var

    given = {
        param.name_hint: value
        for param, value in zip(prepared.function.params, prepared.inputs.values, strict=True)
    }
    names = [param.name_hint for param in params if isinstance(param, Var)]
    if sorted(names) == sorted(given):
        return [given[name] for name in names]
    if len(names) == len(given):
        return list(given.values())
    raise UsageError(
        f"{path}: {prepared.entry} takes {len(names)} arguments ({', '.join(names)}), and"
        f" {len(given)} in the first program ({', '.join(given)})"
    )


def _written(
    folder: Path, found: Discovery, options: argparse.Namespace, tvm: TvmProcess
) -> WrittenBinding:
    """Write the binding, and run it again."""
    from rlx.comparison.report import WrittenBinding, program
    from rlx.semantics.run.npz import save

    assert found.cut is not None
    name = "".join(c if c.isalnum() or c == "_" else "_" for c in found.spot.name)
    try:
        make_folder(folder)
        text = program(found)
        code, inputs = folder / f"{name}.rlx", folder / f"{name}.npz"
        write(code, text, within=[folder])
        save(inputs, found.cut.inputs)
    except OSError as error:
        raise UsageError(f"--out {words_of(error)}") from None
    return WrittenBinding(code, inputs, _reproduces(text, found, options, tvm))


def _reproduces(
    text: str, found: Discovery, options: argparse.Namespace, tvm: TvmProcess
) -> bool | None:
    """Whether the binding alone shows the same; None where the other side cannot run it alone."""
    from rlx.checker.check import check_text
    from rlx.comparison.compare import Run, against_tvm
    from rlx.comparison.peer import TvmError

    assert found.cut is not None
    if options.other is not None and found.kind == "differs":
        return None
    report = check_text(text)
    if not report.ok:
        return False
    run = Run(
        report.modules[0],
        report.source,
        found.cut.entry,
        list(found.cut.inputs.values()),
        exact=options.exact,
    )
    try:
        again = against_tvm(run, tvm)
    except TvmError:
        return None
    same = again.not_finite if found.kind in ("nan", "infinite") else again.difference
    return same is not None and same.kind == found.kind
