"""TVM 0.27 reads modules printed for 0.27 as the same module, structurally equal by its own judgement."""

from __future__ import annotations

import ast
import re
from typing import Any

import pytest
import tvm
import tvm_ffi
from tvm.script.parser.core.entry import _default_globals

from rlx.grammar.print.printer import print_module
from rlx.grammar.read.parser import parse

from .constructs import TEXTS
from .models import MODELS, STAGES


def printed(text: str) -> str:
    """The text as read and printed here."""
    parsed = parse(text)
    assert not [d.message for d in parsed.diagnostics if d.is_error]
    (module,) = parsed.modules
    return print_module(module, "0.27")


def read(text: str, constants: Any = None) -> Any:
    """The text as TVM reads it, with the constants that stand outside it."""
    names = {**_default_globals(), "metadata": constants}
    return tvm.script.from_source(text, names, check_well_formed=False)


def constants_of(module: Any) -> Any:
    """The data of the constants, which TVM prints apart from the text of a module."""
    text = module.script(show_meta=True)
    found = re.search(
        r"^metadata = tvm\.ir\.load_json\((.*?\"\"\")\)", text, re.MULTILINE | re.DOTALL
    )
    return None if found is None else tvm.ir.load_json(ast.literal_eval(found[1]))


def plain(text: str) -> list[str]:
    """The lines of a text without comments, with numbers as Python writes them."""
    lines = [line for line in text.splitlines() if line.strip() and line.strip()[0] != "#"]
    lines = [line for line in lines if " = TypeVar(" not in line]  # in another order
    # TVM quotes a dimension only where the first buffer mentions it.
    lines = [line.replace('"', "") if "T.Buffer(" in line else line for line in lines]
    lines = [re.sub(r"( = |return )\((.*)\)$", r"\1\2", line) for line in lines]  # a bare tuple
    # TVM prints, but does not read, a bare `R.Any` among type arguments, and `T.int64` inside other types.
    lines = [line.replace("ty_args=(R.Any(),)", "ty_args=(R.Any,)") for line in lines]
    lines = [re.sub(r'R\.Prim\("(\w+)"\)', r"T.\1", line) for line in lines]
    return [re.sub(r"\d+\.\d+(e[-+]\d+)?", lambda m: repr(float(m[0])), line) for line in lines]


def agrees(module: Any) -> None:
    """TVM reads our printing of a module as the module, or at least as it reads its own printing."""
    text, constants = module.script(), constants_of(module)
    ours = printed(text)
    try:
        theirs = read(text, constants)
    except tvm.error.DiagnosticError:  # TVM does not read all that it prints
        assert plain(ours) == plain(text)
        return
    again = read(ours, constants)
    if not tvm_ffi.structural_equal(again, module):
        tvm.ir.assert_structural_equal(again, theirs)


@pytest.mark.parametrize(
    ("model", "stage"),
    [("convnet", "imported"), ("experts", "lowered")],
)
def test_networks(model: str, stage: str) -> None:
    agrees(STAGES[stage](MODELS[model]()))


@pytest.mark.parametrize("name", sorted(TEXTS))
def test_unusual_constructs(name: str) -> None:
    agrees(read(TEXTS[name].read_text()))
