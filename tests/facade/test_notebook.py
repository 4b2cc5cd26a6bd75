"""Cells of notebooks that are programs."""

from __future__ import annotations

from typing import Any

import pytest

import rlx

GOOD = """\
@R.function
def main(x: R.Tensor(("n", 4), "float32")):
    y = R.add(x, x)
    return y
"""


class Shell:
    """The part of a notebook's shell that an extension uses."""

    def __init__(self) -> None:
        self.magics: dict[tuple[str, str], Any] = {}
        self.names: dict[str, object] = {}

    def register_magic_function(self, function: Any, magic_kind: str, magic_name: str) -> None:
        self.magics[magic_kind, magic_name] = function

    def push(self, names: dict[str, object]) -> None:
        self.names.update(names)


@pytest.fixture
def shell() -> Shell:
    made = Shell()
    rlx.load_ipython_extension(made)  # the function of the module that IPython asks for
    return made


def test_a_mistake_is_underlined_where_it_stands(shell: Shell) -> None:
    bad = GOOD.replace("R.add(x, x)", "R.add(x, absent)")
    found = shell.magics["cell", "relax"]("", bad)
    shown = found._repr_html_()
    before, _, mark = shown.partition("underline wavy")
    assert mark.partition(">")[2].startswith("absent</span>)")
    assert before.count("\n") == 2 and "WF02-undefined" in mark.partition(">")[0]
    assert repr(found) == str(found.report) and not found.report.ok


def test_a_program_gets_the_name_that_follows(shell: Shell) -> None:
    found = shell.magics["cell", "relax"](" model ", GOOD)
    assert shell.names["model"] is found.module is not None
    assert "wavy" not in found._repr_html_() and "no problems" in found._repr_html_()
    with pytest.raises(ValueError, match="takes the name of a variable, not '1 2'"):
        shell.magics["cell", "relax"]("1 2", GOOD)


def test_hidden_characters_and_tags_stay_text(shell: Shell) -> None:
    text = GOOD.replace("R.add(x, x)", 'R.call_packed("<script>", x, y)')
    assert "<script>" not in shell.magics["cell", "relax"]("", text)._repr_html_()


def test_refinements_show_their_proof() -> None:
    shown = rlx.refines(GOOD, GOOD)._repr_html_()
    assert shown.startswith("<pre") and "proved" in shown


def test_a_node_is_shown_by_the_method_of_its_class() -> None:
    """As IPython asks for it."""
    module = rlx.load(GOOD)
    printed: list[str] = []
    printer = type("Printer", (), {"text": staticmethod(printed.append)})
    type(module)._repr_pretty_(module, printer, False)
    assert printed == [str(module).rstrip()]
