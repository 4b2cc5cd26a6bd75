"""Strings and comments do not change the meaning of the program."""

from __future__ import annotations

import pytest

from rlx.grammar.print.formatting import format_text
from rlx.grammar.read.comments import comments
from rlx.grammar.read.outline import metadata_span, metadata_statement
from rlx.grammar.read.parser import parse
from rlx.grammar.read.prim_scalars import assigns_lets

MAIN = """
@R.function
def main(x: R.Object) -> R.Object:
    return x
"""

SAID = [
    "from tvm.script import relx as R",
    "@I.pyfunc",
    "    @I.pyfunc",
    "metadata = tvm.ir.load_json('''{]''')",
    "def main(x: R.Object):",
    "@T.prim_func",
]
"""Lines that would mean something outside of a string."""


@pytest.mark.parametrize("line", SAID)
def test_in_a_string(line: str) -> None:
    text = f'from tvm.script import relax as R\n\n"""\n{line}\n"""\n{MAIN}'
    for path in ("text.rlx", "text.py"):
        found = parse(text, path)
        assert found.diagnostics == ()
        (module,) = found.modules
        assert [name.name_hint for name in module.functions] == ["main"]


def test_a_word_of_an_older_version_in_a_comment_or_string() -> None:
    for said in ("# as T.block was", 'text = "T.block(1)"', "# tvm.script has no tir any more"):
        assert not assigns_lets(f"# from tvm.script import tirx as T\n{said}\n{MAIN}")
    for said in ("# from tvm.script import tir as T", "from tvm.script.parser import ir, tir"):
        assert assigns_lets(f"{said}\n{MAIN}")
    assert assigns_lets('with T.block("root"):')
    assert assigns_lets("@tvm.script.tir.prim_func\ndef f(): pass")


def test_metadata_is_a_statement() -> None:
    found = metadata_statement(f'{MAIN}\nmetadata = a.load_json("""[1]""")\n')
    assert found is not None and found.callee == "a.load_json"
    text = r'metadata = a.load_json("""[\"b\"]""")'
    assert text[slice(*(metadata_span(text) or ()))] == r"[\"b\"]"
    for other in ('if 1:\n    metadata = load_json("""[]""")', 'metadata = load_json("[]")'):
        assert metadata_statement(other) is None


def test_the_formatter_keeps_strings_with_words_of_what_it_cannot_keep() -> None:
    text = """# check_well_formed=False is no longer needed
@R.function
def main(x: R.Object) -> R.Object:
    y = R.call_pure_packed("check_well_formed=", x, ty_args=(R.Object,))
    return y
"""
    assert format_text(text).text is not None
    module = "@I.ir_module(check_well_formed=False)\nclass M:\n    pass\n"
    reason = "not formatted: rlx reads check_well_formed, but does not keep its arguments"
    assert format_text(module).complaints == (f"<text>:1: {reason}",)


def test_a_string_is_documentation_only_under_a_head() -> None:
    text = '''@I.ir_module
class Module:
    """What it is."""

    @T.prim_func
    def f(
        n: T.int64,
    ) -> T.int64:
        """What it does."""
        return n
'''
    formatted = format_text(text).text
    assert formatted is not None
    assert '"""What it is."""' in formatted and '"""What it does."""' in formatted


def test_a_declaration_in_a_comment_declares_nothing() -> None:
    text = f'n = TypeVar("n")  # or: m = TypeVar("m")\n{MAIN}'
    (module,) = parse(text).modules
    assert module.type_vars == ("n",)


def test_what_continues_a_line_is_none() -> None:
    text = f'n, m = (\nTypeVar("n"),\nTypeVar("m"),\n)\n{MAIN}\nr"""said"""\n'
    found = parse(text)
    assert found.diagnostics == () and found.modules[0].type_vars == ("n", "m")


FENCED = '"""How it is used:\n\n```python\ny = 2\n```\n"""\nx = 3\n'


def test_a_fence_in_a_string_is_no_fence_around_the_program() -> None:
    (found,) = parse(FENCED).diagnostics
    assert "fences" not in found.message
    (found,) = parse(FENCED.replace('"""', "")).diagnostics
    assert "fences" in found.message


def test_comments_are_those_between_tokens() -> None:
    text = (
        "x = 'a # b'  # one\ny = R.f(  # two\n    R.Tensor((  # three)\n    n,)))\nz = \"a # b\n#\n"
    )
    assert [said for _, said in comments(text)] == ["# one", "# two", "# three)", "#"]
    assert all(text.startswith(said, at) for at, said in comments(text))


def test_the_name_of_a_class_that_was_not_read_is_not_said_to_be_unknown() -> None:
    text = """@I.i
class M:
    @R.function
    def f(x: R.Object):
        cls = M
        return x

    @R.function
    def g(x: R.Object):
        cls = M
        return cls.f(x)
"""
    (found,) = parse(text).diagnostics
    assert found.span == (0, 4) and "expected a decorated class" in found.message
