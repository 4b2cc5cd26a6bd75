"""Whether TVM reads what ``rlx fmt --dialect 0.27`` writes, as the program that it read before.

``python -m tests.tvm.dialect_law PATH…`` formats each ``.py`` and ``.rlx`` file of the paths, whatever version it is from, and
has TVM 0.27 read each definition of the result. It prints what TVM refuses, where the definition differs from
what TVM reads of the file as it was, and the sentences with which files are not formatted.
"""

from __future__ import annotations

import ast
import faulthandler
import os
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import tvm
import tvm_ffi

from rlx.grammar.print.formatting import format_text

from .test_printer import read

DECORATORS = ("ir_module", "function", "prim_func", "func")


def definitions(text: str) -> Iterator[tuple[str, str]]:
    """The names and texts of the outermost definitions of a file, each with the shape variables declared in front of it."""
    tree = ast.parse(text)
    lines = text.splitlines(keepends=True)
    kept = (node for node in tree.body if _target(node) == "metadata")
    metadata = "".join("".join(lines[node.lineno - 1 : node.end_lineno]) for node in kept)

    def within(body: list[ast.stmt], declared: tuple[str, ...]) -> Iterator[tuple[str, str]]:
        for node in body:
            if _is_type_var(node):
                declared = (*declared, ast.unparse(node) + "\n")
            elif isinstance(node, ast.ClassDef | ast.FunctionDef) and _decorated(node):
                first = min(each.lineno for each in node.decorator_list) - 1
                whole = lines[first : node.end_lineno]
                pad = len(whole[0]) - len(whole[0].lstrip())
                own = "".join(line[pad:] if line.strip() else "\n" for line in whole)
                yield node.name, metadata + "".join(declared) + own
            else:
                for field in ("body", "orelse", "finalbody"):
                    yield from within(
                        getattr(node, field, []) if hasattr(node, field) else [], declared
                    )

    yield from within(tree.body, ())


def _target(node: ast.stmt) -> str | None:
    first = node.targets[0] if isinstance(node, ast.Assign) else None
    return first.id if isinstance(first, ast.Name) else None


def _is_type_var(node: ast.stmt) -> bool:
    value = node.value if isinstance(node, ast.Assign) else None
    return isinstance(value, ast.Call) and ast.unparse(value.func) == "TypeVar"


def _decorated(node: ast.ClassDef | ast.FunctionDef) -> bool:
    for each in node.decorator_list:
        name = each.func if isinstance(each, ast.Call) else each
        if isinstance(name, ast.Attribute) and name.attr in DECORATORS:
            return True
    return False


def attempt(text: str) -> tuple[Any, str]:
    """TVM's module of a text, or the last line of its error."""
    try:
        return read(text), ""
    except BaseException as error:  # noqa: BLE001 - TVM raises many kinds
        said = [line for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
        return None, next((line for line in said if line.startswith("error")), said[-1])[:200]


def judged(text: str, path: str) -> Iterator[tuple[str, str]]:
    """For each definition of a file: a word for what happened, and the details."""
    outcome = format_text(text, path)
    if outcome.text is None:
        yield "refused by rlx", "; ".join(outcome.complaints)
        return
    before = list(definitions(text))
    after = list(definitions(outcome.text))
    if [name for name, _ in before] != [name for name, _ in after]:
        yield "other definitions", f"{[n for n, _ in before]} {[n for n, _ in after]}"
        return
    for (name, old), (_, new) in zip(before, after, strict=True):
        word, details = survived(compared, old, new) or (
            ("read now", "ends TVM's process")
            if survived(compared, new, new)
            else ("refused by TVM", "its process ends")
        )
        yield word, f"{name}: {details}"


def compared(old: str, new: str) -> tuple[str, str]:
    """A word for how TVM reads a definition before and after, and the details."""
    was, reason = attempt(old)
    now, complaint = attempt(new)
    if now is None:
        same = was is None and (
            reason == complaint or "not defined" in complaint or "Undefined" in complaint
        )
        return "both refused" if same else "refused by TVM", f"{complaint} [before: {reason}]"
    if was is None:
        return "read now", reason
    again = attempt(old)[0]
    if tvm_ffi.structural_equal(was, now) or not tvm_ffi.structural_equal(was, again):
        return "equal", ""
    try:
        tvm.ir.assert_structural_equal(was, now)
    except ValueError as error:
        return "different", str(error)[:600]
    return "equal", ""


def survived(
    question: Callable[[str, str], tuple[str, str]], *texts: str
) -> tuple[str, str] | None:
    """The answer of a process of its own; None where a text ends it, or takes it a minute."""
    answers, said = os.pipe()
    process = os.fork()
    if not process:
        try:
            faulthandler.disable()
            signal.alarm(60)
            os.write(said, repr(question(*texts)).encode())
        finally:
            os._exit(0)
    os.close(said)
    with open(answers, "rb") as stream:
        answer = stream.read()
    os.waitpid(process, 0)
    return ast.literal_eval(answer.decode()) if answer else None


def main(paths: list[str]) -> int:
    counts: Counter[str] = Counter()
    for root in map(Path, paths):
        files = (
            sorted(root.rglob("*.py")) + sorted(root.rglob("*.rlx")) if root.is_dir() else [root]
        )
        for path in files:
            text = path.read_text(encoding="utf-8")
            if not any(f".{word}" in text for word in DECORATORS):
                continue
            try:
                if not any(definitions(text)):
                    continue
            except (SyntaxError, ValueError):
                counts["no Python"] += 1
                continue
            for word, details in judged(text, str(path)):
                counts[word] += 1
                if word not in ("equal", "read now"):
                    print(f"{path}: {word}: {details}", flush=True)
    print(dict(counts))
    return 1 if counts["refused by TVM"] + counts["different"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
