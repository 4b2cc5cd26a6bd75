"""The programs beside the rules do what their fences say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rlx.spec.reader import Rule, chapters, rules
from rlx.spec.registry import register_all
from tests.spec.examples import problems_of


@pytest.fixture(autouse=True)
def kernels(pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled PrimFuncs are kept from one run of the tests to the next."""
    assert pytestconfig.cache is not None
    folder = pytestconfig.cache.mkdir("native")
    folder.chmod(0o700)
    monkeypatch.setenv("RLX_CACHE", str(folder))


@pytest.mark.parametrize("name", list(rules()))
def test_the_examples_do_what_they_say(name: str) -> None:
    assert problems_of(rules()[name]) == []


FIELDS = """\
What holds.
```rule
D12-tuple: G; S |- e : TupleStructInfo(I0, ..., Ik)
D12-index: 0 <= i <= k
----
G; S |- TupleGetItem(e, i) : Ii
```
Premises:
- `D12-tuple`: what is indexed is a tuple.
- `D12-index`: the tuple has a field of that index.
```relax good
@R.function
def main(x: R.Tuple(R.Object)):
    y = x[0]
    return y
```
```relax bad D12-index
@R.function
def main(x: R.Tuple(R.Object)):
    y = x[1]
    return y
```
```relax bad D12-tuple
@R.function
def main(x: R.Tensor):
    y = x[0]
    return y
```
"""


@pytest.mark.parametrize(
    ("old", "new", "wrong"),
    [
        ("", "", ""),
        (
            "`D12-index`",
            "`D12-other`",
            "",
        ),  # the lists of premises and labels are compared elsewhere
        ("D12-index: 0", "D12-other: 0", "no example makes the code call D12-other"),
        ("x[0]", "x", "D12, relax bad D12-tuple: got nothing"),
        ("bad D12-tuple", "bad D12-index", "D12, relax bad D12-index: got D12-tuple"),
        (
            "y = x[0]\n    return y\n```\n```relax bad D12-index",
            "?\n```\n```relax bad D12-index",
            "PARSE",
        ),
    ],
)
def test_a_clause_that_its_code_does_not_follow(old: str, new: str, wrong: str) -> None:
    register_all()
    found = problems_of(
        Rule("D12", "Fields", "derivation.md", FIELDS.replace(old, new).splitlines())
    )
    assert any(wrong in problem for problem in found) if wrong else not found, found


@pytest.mark.parametrize("path", chapters(), ids=lambda path: path.stem)
def test_every_link_has_a_target(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    outside = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    targets = set(re.findall(r"^\[([\w-]+)\]: ", outside, re.MULTILINE))
    assert set(re.findall(r"\]\[([\w-]+)\]", outside)) == targets
    for file, anchor in re.findall(r"\]\((?!https?:)([\w.]+)(?:#([\w-]+))?\)", outside):
        assert (path.parent / file).exists(), file
        if anchor:
            assert anchor in _anchors(path.parent / file), f"{file}#{anchor}"


@pytest.mark.parametrize("path", chapters(), ids=lambda path: path.stem)
def test_sources_are_linked_and_no_field_is_empty(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for source in re.findall(r"^Source: (.+)$", text, re.MULTILINE):
        assert "](" in source or "][" in source or "decision of the project" in source, source
    assert not re.findall(r"^(?:Ledger|TVM|Why): *(?:none|-)?\.?$", text, re.MULTILINE)


def _anchors(path: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}
