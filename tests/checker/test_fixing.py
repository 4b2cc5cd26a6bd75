"""Edits: each mends what it is for, and no program gets worse by them."""

from __future__ import annotations

import pickle
import random
from pathlib import Path

import pytest

from rlx.checker.check import check_text
from rlx.checker.edits import EDITS
from rlx.checker.fixing import mended
from rlx.grammar.nodes.node import replace
from tests.hostile.damage import damaged, tokens

EXAMPLES = Path(__file__).parents[2] / "examples"

HEAD = '(x: R.Tensor(("n", 4), "float32")) -> R.Tensor(("n", 4), "float32"):'
CASES: dict[str, tuple[str, str]] = {
    "an operator": (
        f"@R.function\ndef main{HEAD}\n    y = R.ad(x, x)\n    return y\n",
        f"@R.function\ndef main{HEAD}\n    y = R.add(x, x)\n    return y\n",
    ),
    "a variable": (
        f"@R.function\ndef main{HEAD}\n    total = R.add(x, x)\n    return totl\n",
        f"@R.function\ndef main{HEAD}\n    total = R.add(x, x)\n    return total\n",
    ),
    "a keyword": (
        "@R.function\ndef main(x: R.Tensor((2, 3))):\n    y = R.sum(x, axis=1, keepdim=True)\n    return y\n",
        "@R.function\ndef main(x: R.Tensor((2, 3))):\n    y = R.sum(x, axis=1, keepdims=True)\n    return y\n",
    ),
    "an element type": (
        '@R.function\ndef main(x: R.Tensor((2,), "flaot32")):\n    return x\n',
        '@R.function\ndef main(x: R.Tensor((2,), "float32")):\n    return x\n',
    ),
    "purity": (
        f'@R.function\ndef main{HEAD}\n    y = R.print(x, format="")\n    return x\n',
        f'@R.function(pure=False)\ndef main{HEAD}\n    y = R.print(x, format="")\n    return x\n',
    ),
    "an output": (
        f"@R.function\ndef main{HEAD}\n    with R.dataflow():\n        y = R.add(x, x)\n        R.output()\n    return y\n",
        f"@R.function\ndef main{HEAD}\n    with R.dataflow():\n        y = R.add(x, x)\n        R.output(y)\n    return y\n",
    ),
    "no output": (
        f"@R.function\ndef main{HEAD}\n    with R.dataflow():\n        y = R.add(x, x)\n        z = y\n    return z\n",
        (
            f"@R.function\ndef main{HEAD}\n    with R.dataflow():\n        y = R.add(x, x)\n        z = y\n"
            "        R.output(z)\n    return z\n"
        ),
    ),
    "an entry": (
        f"@I.ir_module\nclass M:\n    @R.function(private=True)\n    def main{HEAD}\n        return x\n",
        f"@I.ir_module\nclass M:\n    @R.function\n    def main{HEAD}\n        return x\n",
    ),
    "a symbol": (
        f'@I.ir_module\nclass M:\n    @R.function\n    def main{HEAD}\n        R.func_attr({{"global_symbol": "mian"}})\n        return x\n',
        f'@I.ir_module\nclass M:\n    @R.function\n    def main{HEAD}\n        R.func_attr({{"global_symbol": "main"}})\n        return x\n',
    ),
    "a result of unknown shape": (
        '@R.function\ndef main(x: R.Tensor(ndim=2)) -> R.Tensor(("n", 4)):\n    return x\n'.replace(
            '("n", 4)', "(2, 4)"
        ),
        (
            "@R.function\ndef main(x: R.Tensor(ndim=2)) -> R.Tensor((2, 4)):\n"
            "    x_checked = R.match_cast(x, R.Tensor((2, 4)))\n    return x_checked\n"
        ),
    ),
    "purity, with other words of a decorator around": (
        f'@R.function(\n    private=True,  # pure=False\n)\n# @R.function\ndef main{HEAD}\n    y = R.print(x, format="")\n    return x\n',
        f'@R.function(\n    private=True, pure=False,  # pure=False\n)\n# @R.function\ndef main{HEAD}\n    y = R.print(x, format="")\n    return x\n',
    ),
    "an output, with others in texts": (
        f"@R.function\ndef main{HEAD}\n    with R.dataflow():\n        y = R.add(x, x)\n        z = R.add(  # R.output(y)\n            y, x\n        )\n        R.output(z)\n    return R.add(y, z)\n",
        f"@R.function\ndef main{HEAD}\n    with R.dataflow():\n        y = R.add(x, x)\n        z = R.add(  # R.output(y)\n            y, x\n        )\n        R.output(z, y)\n    return R.add(y, z)\n",
    ),
    "an entry among keywords": (
        f"@I.ir_module\nclass M:\n    @R.function(private=True, pure=True)\n    def main{HEAD}\n        return x\n",
        f"@I.ir_module\nclass M:\n    @R.function(pure=True)\n    def main{HEAD}\n        return x\n",
    ),
    "an entry behind a keyword": (
        f"@I.ir_module\nclass M:\n    @R.function(pure=True, private=True)\n    def main{HEAD}\n        return x\n",
        f"@I.ir_module\nclass M:\n    @R.function(pure=True)\n    def main{HEAD}\n        return x\n",
    ),
    "a recursive result": (
        '@I.ir_module\nclass M:\n    @R.function\n    def f(x: R.Tensor(("n",), "int8")):\n        return M.f(x)\n',
        (
            '@I.ir_module\nclass M:\n    @R.function\n    def f(x: R.Tensor(("n",), "int8")) -> R.Tensor(("n",), "int8"):\n'
            "        return M.f(x)\n"
        ),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_an_edit_mends(case: str) -> None:
    wrong, right = CASES[case]
    before = check_text(wrong)
    assert before.errors or before.warnings
    done = mended(wrong)
    assert done.text == right and done.applied
    assert done.report.diagnostics == (), str(done.report)


def test_every_code_with_an_edit_is_shown_mended() -> None:
    shown = {d.code for wrong, _ in CASES.values() for d in mended(wrong).applied}
    assert set(EDITS) <= shown


def test_a_suggestion_keeps_its_words() -> None:
    (found,) = check_text(CASES["a variable"][0]).errors
    assert found.meant == ("total",)
    assert pickle.loads(pickle.dumps(found)).meant == ("total",)
    plain = replace(found, help=f"{found.help}")
    assert plain.help == found.help and plain.meant == ()


def test_what_does_no_good_is_left() -> None:
    guess = "@R.function\ndef main(x: R.Tensor((2, 3)), y: R.Tensor((5,))):\n    z = R.ad(x, y)\n    return z\n"
    done = mended(guess)  # with the operator that is meant the shapes do not fit: as many errors
    assert done.text == guess and done.applied == () and not done.report.ok


def test_a_name_of_one_letter_is_no_other_one_misspelt() -> None:
    """Another name that would pass the check is not suggested: `q` stays undefined."""
    text = "@R.function\ndef main(x: R.Tensor((2,), 'int8')):\n    y = R.add(x, q)\n    return y\n"
    done = mended(text)
    assert [d.code for d in done.report.errors] == ["WF02-undefined"]
    assert done.text == text and done.report.errors[0].meant == ()
    unbound = "@R.function\ndef main(a: R.Tensor(('n * 2',), 'int8')):\n    return a\n"
    (found,) = check_text(unbound).errors
    assert found.code == "WF06-unbound" and found.meant == ()
    assert mended(text.replace("(x, q)", "(x, X)")).report.ok


@pytest.mark.parametrize("name", ["mlp.rlx", "tuples.rlx", "closures.rlx", "match_cast.rlx"])
def test_no_program_gets_worse(name: str) -> None:
    text = (EXAMPLES / name).read_text("utf-8")
    assert mended(text).text == text
    for seed in range(20):
        wrong = damaged(text, tokens(text), random.Random(f"{name}/{seed}"))
        before, done = check_text(wrong), mended(wrong)
        if not done.applied:
            assert done.text == wrong
            continue
        counts = [(len(r.errors), len(r.warnings)) for r in (before, done.report)]
        assert counts[1] < counts[0], wrong
        assert mended(done.text).text == done.text
