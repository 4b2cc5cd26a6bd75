"""The report on a pass that did something wrong, ready to be pasted into an issue."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

from rlx.bisect.blame import Blame, Fine, Pipeline
from rlx.grammar.streams import code_span, fenced, harmless, inline_markdown, json_text, visible

VERSION = 1


def markdown(blame: Blame, pipeline: Pipeline, program: str, lines: int) -> str:
    """The report as Markdown.

    Parameters
    ----------
    program
        The program, as small as it was made.
    lines
        How many lines it had before.
    """
    small = len(program.splitlines())
    size = f"{small} lines" if small >= lines else f"{small} lines, reduced from {lines}"
    parts = [
        f"# {inline_markdown(blame.title)}",
        _setting(blame, pipeline),
        _block(blame.message, "text"),
    ]
    parts += [f"## The program ({size})", _block(program, "python")]
    if blame.before.strip() not in ("", program.strip()):
        parts += [f"## Before {blame.pass_name}", _block(blame.before, "python")]
    if blame.after:
        parts += [f"## After {blame.pass_name}", _block(blame.after, "python")]
    parts += ["## How to see it", _block(_script(pipeline), "python")]
    return "\n\n".join(parts) + "\n"


def nothing(fine: Fine, pipeline: Pipeline, path: str) -> str:
    """What is said if no pass is to blame, with what was not compared."""
    lines = [f"{visible(path)}: no pass of {visible(pipeline.expression)} did anything wrong"]
    if pipeline.sizes:
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
            "program": program,
            "before": found.before,
            "after": found.after,
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


def _script(pipeline: Pipeline) -> str:
    wanted = pipeline.expression
    if wanted == "default":
        wanted = "relax.get_default_pipeline(target)"
    elif wanted.isidentifier():
        wanted = f"relax.get_pipeline({wanted!r})"
    elif wanted.startswith("lambda"):
        wanted = f"({wanted})"
    then = "module.show()"
    if pipeline.build:
        then = "relax.build(module, target, relax_pipeline=tvm.transform.Sequential([]))"
    return f"""\
import tvm
from tvm import relax

# PROGRAM is the text of the program above.
module = tvm.script.from_source(PROGRAM, check_well_formed=False)
target = tvm.target.Target({pipeline.target!r})
with target, tvm.transform.PassContext(opt_level=3):
    module = {wanted}(module)
{then}"""
