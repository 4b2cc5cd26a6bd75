"""Takes programs through a pipeline in a process of its own: `python -m rlx.bisect.worker PIPELINE
TARGET SIZES SEED`.

Tasks come on standard input, each a text as a line of JSON. The answers are lines of JSON on what
standard output was at the start. What is under way is said before it is begun, so that a process
that dies has named its pass.
"""

from __future__ import annotations

import argparse
import json
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

from rlx.comparison.follow import NOT_OURS
from rlx.comparison.kept import Kept
from rlx.comparison.weights import Weights, shared
from rlx.generate.campaign.child import answers, end_with_parent
from rlx.grammar.command_line import CommandParser, natural
from rlx.grammar.nodes.encoded import files_in
from rlx.semantics.live_memory import limited
from rlx.semantics.outcome import Ended, Returned, Unsupported
from rlx.tvm.instrument import Texts
from rlx.tvm.known import by_choice
from rlx.tvm.watch import ILLEGAL, Problem, Watch

Say = Callable[..., None]

ENOUGH = 20
"""A message of fewer letters does not say what went wrong."""

PARSER, OURS, BUILD = "TVM's parser", "relax-check", "the build"
CODE, RUN = "the code generation of the virtual machine", "the run of the virtual machine"
"""The work besides passes."""


def main(argv: Sequence[str]) -> int:
    """Serve until the input ends."""
    options = _parser().parse_args(argv)
    end_with_parent()
    say = answers()
    asked = f"--target {options.target}"
    try:
        scope = _target(options.target)
        asked = f"--pipeline {options.pipeline}"
        weights = None if options.weights is None else Weights(Path(options.weights))
        take = _taker(options.pipeline, scope, options.build, weights)
        table = [] if options.known is None else by_choice(Path(options.known))
        kept = _kept(options)
    except ModuleNotFoundError as error:
        missing = error.name == "tvm"
        say(unusable="this needs TVM: install the extra `tvm`" if missing else f"{error}")
        return 0
    except Exception as error:  # noqa: BLE001 - a pipeline is any expression, so any error may come of it
        say(unusable=f"{asked}: {type(error).__name__}: {error}")
        return 0
    say(ready=options.pipeline)
    folders = nullcontext() if weights is None else files_in(options.weights)
    with limited(options.memory), folders:
        for line in sys.stdin:
            watch = Watch(options.sizes, options.seed, table, options.refine, kept)
            _examine(json.loads(line), take, Telling(say, watch, weights))
    return 0


def _parser() -> CommandParser:
    parser = CommandParser(
        prog="python -m rlx.bisect.worker",
        description="Take programs through a pipeline, for `rlx bisect`.",
    )
    add = parser.add_argument
    add("pipeline", metavar="PIPELINE")
    add("target", metavar="TARGET")
    add("sizes", metavar="SIZES", type=_sizes)
    add("seed", metavar="SEED", type=natural)
    add("--weights", metavar="DIR")
    add("--memory", metavar="MEMORY", type=natural)
    add("--known", metavar="DIR")
    add("--build", action="store_true")
    add("--refine", action="store_true")
    add("--inputs", metavar="FILE")
    add("--entry", metavar="NAME")
    return parser


def _kept(options: argparse.Namespace) -> Kept | None:
    """The inputs of the run that is watched."""
    if options.inputs is None:
        return None
    from rlx.semantics.run.npz import arrays_of

    return Kept(arrays_of(options.inputs), options.entry, options.seed)


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(map(natural, text.split(","))) if text else ()


def _target(text: str) -> Any:
    import tvm

    return tvm.target.Target(text)


def _taker(
    expression: str, scope: Any, build: bool, weights: Weights | None
) -> Callable[[str, Telling], None]:
    """The function that takes a text through the pipeline, and builds the result if asked, watched
    by an instrument.
    """
    import tvm
    from tvm import relax
    from tvm.ir.instrument import pass_instrument

    if expression == "default" and expression not in relax.pipeline.PIPELINE_MAP:
        pipeline = relax.get_default_pipeline(scope)
    elif expression.isidentifier():
        pipeline = relax.get_pipeline(expression)
    else:
        names = {"tvm": tvm, "relax": relax, "tirx": getattr(tvm, "tirx", None), "target": scope}
        pipeline = eval(expression, names)
    if not callable(pipeline):
        raise TypeError(f"expected a pass, found {type(pipeline).__name__}")

    def take(text: str, told: Telling) -> None:
        told.say(begin=PARSER)
        parse = partial(tvm.script.from_source, check_well_formed=False)
        module = parse(text) if weights is None else weights.read(text, parse)
        instrument = pass_instrument(_Instrument)(told)
        with scope, tvm.transform.PassContext(opt_level=3, instruments=[instrument]):
            made = pipeline(module)
        if not isinstance(made, tvm.IRModule):
            told.say(begin="the pipeline")
            raise TypeError(f"expected a module from the pipeline, found {type(made).__name__}")
        if build:
            told.say(begin=BUILD)
            with tvm.transform.PassContext(opt_level=3):
                executable = build_in_stages(made, scope, told.say)
            told.say(end=BUILD)
            told.run(executable, made)

    return take


def build_in_stages(module: Any, target: Any, say: Say) -> Any:
    """The executable of a lowered module: the code of the virtual machine, then the PrimFuncs."""
    import tvm
    from tvm import relax
    from tvm.relax import vm_build

    attrs = dict(module.attrs) if module.attrs else {}
    builder = relax.ExecBuilder()
    say(begin=CODE)
    rest = vm_build._vmcodegen(builder, module)
    say(end=CODE)
    kernels = vm_build._filter_tir(rest)
    try:
        return vm_build._vmlink(
            builder=builder,
            target=target,
            tir_mod=kernels,
            ext_libs=attrs.get("external_mods", []),
            params=dict(attrs.get("const_name_to_constant", {})),
        )
    except Exception:
        for var, kernel in () if kernels is None else kernels.functions_items():
            say(begin=f"the build of {var.name_hint}")
            tvm.tirx.build(tvm.IRModule({var: kernel}), target=target)
            say(end=f"the build of {var.name_hint}")
        raise


class Telling:
    """Says what is under way, and what is wrong."""

    def __init__(self, say: Say, watch: Watch, weights: Weights | None) -> None:
        self.say = say
        self.watch = watch
        self.texts = Texts(weights)
        self.text = ""

    def before(self, text: str) -> None:
        """The text that a pass is given."""
        if text != self.text:
            self.text = text
            self.say(text=text)
        self.say(begin=OURS)
        self._stop_at(self.watch.before(text))

    def after(self, name: str, text: str) -> None:
        """The text that a pass has made."""
        self.say(begin=OURS)
        self._stop_at(self.watch.after(name, text))

    def run(self, executable: Any, module: Any) -> None:
        """Run what was built on the inputs that were given."""
        last = self.watch.last
        if last is None:
            return
        outcome = last.outcome
        unknown = isinstance(outcome, Ended) and outcome.code in NOT_OURS
        if not unknown and not isinstance(outcome, Returned | Unsupported):
            return  # it has to fail
        import tvm
        from tvm import relax

        from rlx.comparison.kept import different
        from rlx.generate.campaign.oracles.run import from_peer, to_peer
        from rlx.generate.campaign.peer import Peer

        self.say(begin=RUN)
        peer = Peer()
        machine = relax.VirtualMachine(executable, tvm.cpu())
        args = [to_peer(peer, arg, shared) for arg in last.run.args]
        returned = machine[last.run.entry](*args)
        self.say(end=RUN)
        self.say(begin=OURS)
        if not isinstance(outcome, Returned):
            return
        found = from_peer(peer, returned)
        said = "" if found is None else different(last, outcome.value, found)
        if said:
            self.say(
                problem=RUN,
                kind="meaning",
                cause="meaning",
                message=said,
                before=self.texts.of(module) or "",
                after="",
            )
            self.watch.stopped = True
            raise RuntimeError(said)
        self.watch.compared += 1

    def _stop_at(self, problem: Problem | None) -> None:
        if problem is None:
            return
        self.say(
            problem=problem.pass_name,
            kind=problem.kind,
            cause=problem.report.errors[0].code if problem.kind == ILLEGAL else problem.kind,
            message=str(problem.report).strip() if problem.kind == ILLEGAL else problem.message,
            before=problem.before,
            after=problem.after,
        )
        raise RuntimeError(str(problem))


class _Instrument:
    """The instrument that TVM calls."""

    def __init__(self, told: Telling) -> None:
        self.told = told

    def run_before_pass(self, module: Any, info: Any) -> None:
        """TVM is about to run a pass."""
        text = self.told.texts.of(module)
        if text is not None:
            self.told.before(text)
        self.told.say(begin=str(info.name))

    def run_after_pass(self, module: Any, info: Any) -> None:
        """TVM has run a pass."""
        text = self.told.texts.of(module)
        if text is not None:
            self.told.after(str(info.name), text)
        self.told.say(end=str(info.name))


def _examine(text: str, take: Callable[[str, Telling], None], told: Telling) -> None:
    try:
        take(text, told)
    except Exception as error:  # noqa: BLE001 - whatever a pass raises is what is looked for
        if not told.watch.problems and not told.watch.stopped:
            told.say(raised=cause(error), message=words(error))
    else:
        watch = told.watch
        told.say(
            fine=watch.compared,
            not_compared=watch.not_compared,
            known=watch.known,
            refined=[(each.pass_name, each.status, each.said) for each in watch.refined],
        )


def cause(error: Exception) -> str:
    """The part of an error that stays while its program is reduced: its type, the shape of its
    message, and the function that raised it.
    """
    from rlx.generate.campaign.finding import cause_of

    places = traceback.extract_tb(error.__traceback__)
    raised_by = f" in {places[-1].name}" if places else ""
    return f"{type(error).__name__}: {cause_of(str(error))}{raised_by}"


def words(error: Exception) -> str:
    """The message of an error, and where it was raised if it says too little, such as an assertion."""
    said = str(error).strip()[-2000:]
    if len(said) > ENOUGH and not isinstance(error, AssertionError):
        return said
    frames = traceback.extract_tb(error.__traceback__)
    said = f"{type(error).__name__}: {said}" if said else type(error).__name__
    if not frames:
        return said
    last = frames[-1]
    path = last.filename.rpartition("site-packages/")[2]
    return f"{said}\n  {path}:{last.lineno}, in {last.name}\n    {last.line}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
