"""Contents of the playground's panes: `answer` takes a request and returns its answer.

Requests and answers are JSON. This file runs in a browser, and needs nothing of one.
"""

from __future__ import annotations

import importlib
import io
import json
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from functools import lru_cache
from typing import Any, ClassVar

PROGRAM, AFTER = "program.rlx", "after.rlx"
"""The names of the two texts in messages."""

Request = dict[str, Any]
Answer = dict[str, Any]


def answer(text: str) -> str:
    """The answer to a request: its `pane` names a function below, its `code` is the program.

    The answer always has `text`; a mistake of rlx is an answer, too.
    """
    request: Request = json.loads(text)
    try:
        made = PANES[request["pane"]](request)
    except ModuleNeeded as needed:
        made = {"needs": str(needed), "text": ""}
    except Exception as error:  # noqa: BLE001 - the page goes on
        made = {"text": f"this is a bug in rlx: {type(error).__name__}: {error}", "failed": True}
    return json.dumps(made)


# ---------------------------------------------------------------- the program


def check(request: Request) -> Answer:
    """The output of `relax-check`; the diagnostics with places and fixes; the functions of the program."""
    from rlx.checker.edits import with_edits

    report = _document(request["code"]).report
    units = Units(report.source.text)
    fixable = with_edits(report.diagnostics, report.source, report.modules)
    functions = [
        {"name": var.name_hint, "params": [param.name_hint for param in function.params]}
        for module in report.modules
        for var, function in module.relax_functions.items()
    ]
    return {
        "text": str(report),
        "diagnostics": [_diagnostic(found, units) for found in fixable],
        "functions": functions,
        "errors": len(report.errors),
        "warnings": len(report.warnings),
    }


@lru_cache(1)
def _document(code: str) -> Any:
    """The program with what the checker knows of it."""
    from rlx.lsp.document import Document

    return Document(code, PROGRAM)


class Units:
    """Offsets as JavaScript counts them: a character beyond U+FFFF counts twice."""

    def __init__(self, text: str) -> None:
        self._wide = [at for at, letter in enumerate(text) if ord(letter) > 0xFFFF]

    def out(self, offset: int) -> int:
        """An offset of Python in JavaScript."""
        return offset + sum(at < offset for at in self._wide)

    def into(self, offset: int) -> int:
        """An offset of JavaScript in Python."""
        for at in self._wide:
            if at < offset:
                offset -= 1
        return offset


def _diagnostic(found: Any, units: Units) -> Answer:
    start, end = found.span or (0, 0)
    notes = [*found.notes, *([f"help: {found.help}"] if found.help else ())]
    made = {
        "from": units.out(start),
        "to": units.out(max(start, end)),
        "severity": found.severity,
        "code": found.code,
        "message": "\n".join([found.message, *notes]),
    }
    if found.edit is not None:
        begin, stop = found.edit.span
        made["edit"] = {
            "from": units.out(begin),
            "to": units.out(stop),
            "text": found.edit.text,
            "title": found.help or "fix it",
        }
    return made


def fmt(request: Request) -> Answer:
    """The program as `rlx fmt` writes it."""
    return run(["fmt", PROGRAM], {PROGRAM: request["code"]}, read=PROGRAM)


def hover(request: Request) -> Answer:
    """The documentation of the word at an offset, as Markdown; empty if there is none."""
    from rlx.lsp.hover import hover as known
    from rlx.lsp.window import Window

    document = _document(request["code"])
    units = Units(document.source.text)
    whole = Window(frozenset(), document, None)
    found = known(document, whole, units.into(request["at"]), lambda: whole)
    if found is None:
        return {"text": ""}
    words, (start, end) = found
    return {"text": words, "from": units.out(start), "to": units.out(end)}


# ---------------------------------------------------------------- commands


def why(request: Request) -> Answer:
    """The output of `rlx why` for the statements of a line."""
    return run(["why", f"{PROGRAM}:{request['line']}"], {PROGRAM: request["code"]})


def prove(request: Request) -> Answer:
    """The output of `rlx prove --explain` for a condition under assumptions, one a line."""
    assumed = [line.strip() for line in request.get("assume", "").splitlines() if line.strip()]
    options = [word for condition in assumed for word in ("--assume", condition)]
    return run(["prove", "--explain", *options, "--", request["goal"]])


def refines(request: Request) -> Answer:
    """The output of `rlx refines --explain` for the program and another one."""
    texts = {PROGRAM: request["code"], AFTER: request.get("after", "")}
    return run(["refines", "--explain", PROGRAM, AFTER], texts)


def step(request: Request) -> Answer:
    """The page of `rlx step`, and what the command says."""
    page = "step.html"
    options = ["--backend", "steps", "--html", page, "--limit", "2000"]
    if request.get("entry"):
        options += ["--entry", request["entry"]]
    try:
        inputs = shlex.split(request.get("inputs", ""))
    except ValueError as error:
        return {"text": f"inputs: {error}", "page": None}
    options += [word for each in inputs for word in ("--input", each)]
    made = run(["step", PROGRAM, *options], {PROGRAM: request["code"]}, read=page)
    return {"text": made["text"], "page": made["read"]}


def explain(request: Request) -> Answer:
    """The output of `rlx explain` for a code, a rule or an operator."""
    return run(["explain", request["code"]])


LATER = (
    *("rlx.grammar.print.printer", "rlx.lsp.window", "inspect", "argparse", "rlx.spec.reader"),
    *("rlx.generate.calls.written", "rlx.lsp.hover", "rlx.cli", "rlx.commands.why", "difflib"),
    *("rlx.checker.why.explain", "rlx.grammar.print.formatting", "rlx.commands.fmt"),
    *("rlx.solver.tactics", "rlx.solver.session", "rlx.commands.prove"),
)
"""Imported in this order while nothing is asked: each takes less time than anybody notices."""

PANES: dict[str, Callable[[Request], Answer]] = {
    each.__name__: each for each in (check, prove, step, why, fmt, refines, hover, explain)
}


def run(arguments: Sequence[str], texts: dict[str, str] | None = None, read: str = "") -> Answer:
    """Run a command of rlx in a folder with texts: what it prints, its status, and a file that it wrote.

    The folder's name is in nothing that it prints, since it runs there.
    """
    from rlx.cli import COMMANDS, guarded

    name, *rest = arguments
    out = io.StringIO()
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder, redirect_stdout(out), redirect_stderr(out):
        os.chdir(folder)
        try:
            for path, text in (texts or {}).items():
                with open(path, "w", encoding="utf-8", newline="") as file:
                    file.write(text)
            status = guarded(importlib.import_module(COMMANDS[name][0]).main, rest, f"rlx {name}")
            written = ""
            if read and os.path.exists(read):
                with open(read, encoding="utf-8") as file:
                    written = file.read()
        except SystemExit as stop:
            status, written = stop.code if isinstance(stop.code, int) else 2, ""
        finally:
            os.chdir(before)
    said = re.sub(r"\x1b\[[0-9;]*m", "", out.getvalue())
    return {"text": said, "status": status, "read": written or None}


# ---------------------------------------------------------------- the browser


class ModuleNeeded(BaseException):
    """A module that the page has to load first; not an Exception, so that nothing else catches it."""


class LateFinder:
    """Stops a question that needs NumPy or Z3: the page loads it, and asks again."""

    needed: ClassVar = {"numpy": "numpy", "z3_beside": "z3"}

    @classmethod
    def find_spec(cls, name: str, *_: object) -> None:
        """The last one that is asked for a module."""
        if name in cls.needed:
            raise ModuleNeeded(cls.needed[name])


def begin() -> None:
    """Make this Python ready for questions."""
    sys.meta_path.append(LateFinder)


def arrived(name: str) -> None:
    """The page has loaded a module."""
    importlib.invalidate_caches()


def warm() -> bool:
    """Make one more part of what the panes need ready, so that their first answers come at once; False after the last."""
    return next(_parts, False)


def _warmed() -> Iterator[bool]:
    for name in LATER:
        importlib.import_module(name)
        yield True
    code = "@R.function\ndef f(x: R.Tensor((2,), 'float32')):\n    y = R.exp(x)\n    return y\n"
    for pane in ("fmt", "prove"):  # the rules, which `why` reads, take longer than an edit may wait
        PANES[pane]({"code": code, "goal": "n >= 0"})
        yield True


_parts = _warmed()
