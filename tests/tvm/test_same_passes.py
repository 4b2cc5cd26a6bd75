"""Our passes make what TVM's of the same name make, on the programs of `same_passes.md`; ``python -m tests.tvm.same_passes`` takes generated ones."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from textwrap import indent

import pytest

pytest.importorskip("tvm")

from tvm.relax import transform as theirs
from tvm_ffi import structural_equal

import rlx
from rlx import transform as ours

from .same_passes import in_tvm

TEXT = Path(__file__).with_suffix(".md").with_name("same_passes.md").read_text("utf-8")
CASE = re.compile(
    r"^### ([\w ]+)(?:: `\((.*?)\)`)?\n\n(differs: [^\n]*\n\n)?```rlx\n(.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
CASES = [
    pytest.param(part.split("\n", 1)[0], *case, id=f"{part.split(chr(10), 1)[0]}-{case[0]}")
    for part in TEXT.split("\n## ")[1:]
    for case in CASE.findall(part)
]


@pytest.mark.filterwarnings("ignore::rlx.BuildWarning")
@pytest.mark.parametrize(("name", "title", "args", "differs", "text"), CASES)
def test_a_pass_makes_what_that_of_tvm_makes(
    name: str, title: str, args: str, differs: str, text: str
) -> None:
    alone = "class " not in text
    module = rlx.parse(f"@I.ir_module\nclass Module:\n{indent(text, '    ')}" if alone else text)
    given = ast.literal_eval(f"({args},)") if args else ()
    made = getattr(ours, name)(*given)(module)
    assert rlx.check(made).ok
    wanted = getattr(theirs, name)(*given)(in_tvm(module))
    assert structural_equal(in_tvm(made), wanted, map_free_vars=True) is not bool(differs)
