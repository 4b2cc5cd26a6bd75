"""After every edit the diagnostics are those of a check of the whole text."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import pytest

from rlx.checker.check import check_text
from rlx.lsp import body, incremental
from rlx.lsp.cut import cut, recut
from rlx.lsp.incremental import Checker
from rlx.lsp.statements import split
from tests.lsp import law


def module(functions: int, bindings: int = 4) -> str:
    lines = ["@I.ir_module", "class Module:"]
    for k in range(functions):
        lines += [
            "    @R.function",
            (
                f'    def f{k}(x: R.Tensor(("n", 4), "float32"), y: R.Tensor(("n", 4), "float32")) '
                '-> R.Tensor(("n", 4), "float32"):'
            ),
            "        cls = Module",
            *(f"        v{i} = R.add({f'v{i - 1}' if i else 'x'}, y)" for i in range(bindings)),
            f"        w = {f'cls.f{k - 1}(v0, y)' if k else 'R.exp(v0)'}",
            "        return w",
            "",
        ]
    return "\n".join(lines) + "\n"


def test_functions_are_found() -> None:
    text = module(3)
    found = cut(text).pieces
    assert len(found) == 3
    assert [text[slice(*p.span)].count("def ") for p in found] == [1, 1, 1]
    assert all(text[slice(*p.span)].startswith("    @R.function\n") for p in found)


@pytest.mark.parametrize("path", law.texts(), ids=lambda path: path.stem)
def test_an_edit_gives_what_a_check_of_all_gives(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(incremental, "SMALL", 0)
    monkeypatch.setattr(incremental, "PART", 2.0)
    monkeypatch.setattr(body, "FEW", 0)
    monkeypatch.setattr(body, "MOST", 2.0)
    assert len(list(law.session(path, 5, 0))) >= 5


@pytest.mark.parametrize("path", law.texts(), ids=lambda path: path.stem)
def test_what_an_edit_leaves_is_where_a_new_reader_finds_it(path: Path) -> None:
    """The functions of a text, and the statements of their bodies, read again around an edit."""
    rng = random.Random(0)
    old = path.read_text("utf-8")
    for edit in [*law.EDITS] * 4:
        new = edit(old, rng)
        again = recut(cut(old), new)
        assert [str(piece) for piece in again.pieces] == [str(p) for p in cut(new).pieces]
        for was, now in itertools.product((old, new), repeat=2):
            known = split(was)
            known.binders, known.users  # noqa: B018 - what is known of the statements before
            made, wanted = known.after(now), split(now)
            assert [each.text for each in made] == [each.text for each in wanted]
            assert (made.binders, made.users) == (wanted.binders, wanted.users)
        old = new if rng.random() < 0.5 else old


def test_an_edit_of_a_kernel_or_without_annotations_is_no_check_of_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Others are checked again only if the function means something else to them."""
    monkeypatch.setattr(incremental, "SMALL", 0)
    monkeypatch.setattr(incremental, "PART", 2.0)
    text = (law.TEXTS / "mixed.rlx").read_text("utf-8")
    checker = Checker("a.rlx")
    checker.check(text)
    for old, new in (
        ("T.float32(2)", "T.float32(3)"),  # a kernel computes something else
        ("y: T.Buffer((n, 4)", "y: T.Buffer((n, 5)"),  # it has another signature
        ("y = R.call_tir(cls.scale, (x,)", "y = R.nn.relu(x"),  # a function is inferred anew
        ("    def shown(", "    def shown2("),
        ("        return b\n", "        return (b, b)\n"),
        ("        cls = Mixed\n        a = cls.inferred(x)\n", ""),
        ("k: R.Tensor((), ", "k: R.Tensor(("),
    ):
        edited = text.replace(old, new, 1)
        assert edited != text
        for each in (edited, text):
            wanted, twin = check_text(each, "a.rlx").diagnostics, checker.twin()
            assert law.said(checker.check(each)) == law.said(wanted)
            assert law.said(twin.check(each)) == law.said(wanted) and not twin.full
    assert checker.full == 1


def test_an_edit_in_a_long_file_costs_what_its_function_costs() -> None:
    text = module(300, 20)
    assert len(text.splitlines()) > 7000
    checker = Checker("a.rlx")
    checker.check(text)
    at = text.index("def f150")
    edited = text[:at] + text[at:].replace("R.add(x, y)", "R.add(x, q)", 1)
    found = checker.check(edited)
    assert [d.code for d in found] == ["WF02-undefined"] and checker.full == 1


@pytest.mark.parametrize("line", ["        v1 = R.add(v0, y)\n", "\n"])
def test_a_line_that_breaks_the_indentation_is_of_one_function(line: str) -> None:
    """A line left of everything, in a function or between two, while the block around it goes on."""
    text = module(80)
    at = text.index(line, text.index("def f40("))
    checker = Checker("a.rlx")
    checker.check(text)
    for edited in (f"{text[:at]}v1 = 1\n{text[at + len(line) :]}", text):
        assert law.said(checker.check(edited)) == law.said(check_text(edited, "a.rlx").diagnostics)
    assert checker.full == 1


def kernels(count: int) -> str:
    """A function that calls so many PrimFuncs."""
    lines = [
        "from tvm.script import ir as I, relax as R, tirx as T",
        "",
        "@I.ir_module",
        "class M:",
    ]
    for k in range(count):
        lines += [
            "    @T.prim_func(s_tir=True, private=True)",
            f'    def f{k}(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32")):',
            f'        T.func_attr({{"tirx.noalias": True, "number": {k}}})',
            '        C = T.alloc_buffer((16, 16), "float32")',
            "        for i, j in T.grid(16, 16):",
            f"            C[i, j] = A[i, j] + T.float32({k})",
            "        for i, j in T.grid(16, 16):",
            "            B[i, j] = C[i, j] * C[i, j] + A[i, j] * T.float32(0.5) - T.float32(0.25)",
            "",
        ]
    lines += [
        "    @R.function",
        '    def main(x: R.Tensor((16, 16), "float32")):',
        "        cls = M",
    ]
    for k in range(count):
        out = 'out_ty=R.Tensor((16, 16), "float32")'
        lines.append(f"        y{k} = R.call_tir(cls.f{k}, ({f'y{k - 1}' if k else 'x'},), {out})")
    return "\n".join([*lines, f"        return y{count - 1}", ""])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("        y7 = R.call_tir(", "y7 = R.call_tir("),
        ("        y7 = R.call_tir(cls.f7, (y6,)", "        y7 = R.call_tir(cls.f7, (y6, y6)"),
        ("        cls = M\n", "        if x:\n        cls = M\n"),
    ],
)
def test_an_edit_of_what_calls_kernels_reads_none_of_them(old: str, new: str) -> None:
    """When the whole function must be checked, equal kernels stand in for the real ones."""
    text = kernels(40)
    checker = Checker("a.rlx")
    checker.check(text)
    for edited in (text.replace(old, new), text):
        assert law.said(checker.check(edited)) == law.said(check_text(edited, "a.rlx").diagnostics)
    assert checker.full == 1


def test_a_lost_line_counts_though_another_class_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(incremental, "SMALL", 0)
    monkeypatch.setattr(incremental, "PART", 2.0)
    first, second, third = (module(2).replace("Module", name) for name in ("A", "B", "C"))
    text = f"{first}\n{second}\n{third}"
    checker = Checker("a.rlx")
    checker.check(text)
    edited = text.replace("@I.ir_module\nclass B", "class B")
    assert law.said(checker.check(edited)) == law.said(check_text(edited, "a.rlx").diagnostics)


def test_a_bracket_that_is_still_open_is_of_one_function() -> None:
    """A usual edit: a call that is not closed yet is checked without the other functions."""
    text = module(80)
    at = text.index("v1 = R.add(v0, y)", text.index("def f40("))
    checker = Checker("a.rlx")
    checker.check(text)
    for edited in (text[: at + 15] + text[at + 17 :], text):
        assert law.said(checker.check(edited)) == law.said(check_text(edited, "a.rlx").diagnostics)
    assert checker.full == 1


def test_words_in_comments_are_no_decorators_and_no_heads() -> None:
    text = module(90)
    for k in range(90):
        head = f"    @R.function\n    def f{k}("
        text = text.replace(head, head.replace("\n", f"  # def f{k}: no @T.prim_func\n", 1))
    at = text.index("def f20")
    checker = Checker("a.rlx")
    checker.check(text)
    for old, new in (("cls.f19", "cls.f199"), ("R.add(x, y)", "R.add(x, q)"), ("cls.f19", "f19")):
        edited = text[:at] + text[at:].replace(old, new, 1)
        for each in (edited, text):
            wanted = check_text(each, "a.rlx").diagnostics
            assert law.said(checker.check(each)) == law.said(wanted)
    assert checker.full == 1
