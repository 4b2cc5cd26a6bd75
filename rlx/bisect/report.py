"""The report on a pass that did something wrong, ready to be pasted into an issue."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

from rlx.bisect.blame import Blame, Pipeline
from rlx.grammar.streams import code_span, fenced, harmless, inline_markdown, json_text

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


def record(blame: Blame | None, pipeline: Pipeline, path: str, program: str) -> str:
    """The same as JSON."""
    found: dict[str, object] = {
        "version": VERSION,
        "path": path,
        "pipeline": pipeline.expression,
        "target": pipeline.target,
        "blame": None,
    }
    if blame is not None:
        found["blame"] = {
            "pass": blame.pass_name,
            "kind": blame.kind,
            "cause": blame.cause,
            "message": blame.message,
            "done": list(blame.done),
            "program": program,
            "before": blame.before,
            "after": blame.after,
        }
    return json_text(found) + "\n"


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
    return f"""\
import tvm
from tvm import relax

# PROGRAM is the text of the program above.
module = tvm.script.from_source(PROGRAM, check_well_formed=False)
target = tvm.target.Target({pipeline.target!r})
with target, tvm.transform.PassContext(opt_level=3):
    module = {wanted}(module)
module.show()"""
