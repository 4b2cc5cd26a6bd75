"""A finding as one text file: what is written is read again, and what `findings/` keeps is in order."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.checker.check import check_text
from rlx.generate.campaign.draft import draft
from rlx.generate.campaign.finding import Finding
from rlx.generate.campaign.finding_file import (
    FIELDS,
    TELLS,
    EntryError,
    FindingFile,
    parse_entry,
    read_entries,
    show,
    unused,
    write_entry,
)
from rlx.generate.campaign.index import main, page
from rlx.generate.campaign.known_causes import explanation
from rlx.generate.campaign.oracles.case import kind_of
from rlx.grammar.nodes.node import replace
from rlx.spec.reader import premise_rule, rules

FOLDER = Path(__file__).parents[3] / "findings"
ENTRIES = read_entries(FOLDER)

TEXT = """\
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32")):
        v = R.nn.relu(x)
        return v
"""

HEADER = {name: f"the {name}" for name in (*TELLS, "error")}


def entry(**fields: str) -> FindingFile:
    return FindingFile("crash", "a-name", TEXT, **{**HEADER, **fields})


words = st.text("abz09#:;`…|()-_é", min_size=1)
sentences = st.lists(words, min_size=1, max_size=60).map(" ".join)


@given(st.dictionaries(st.sampled_from(FIELDS), sentences))
def test_what_is_written_is_read_again(fields: dict[str, str]) -> None:
    made = entry(**fields)
    again = parse_entry("crash", "a-name", show(made))
    assert [getattr(again, name) for name in FIELDS] == [getattr(made, name) for name in FIELDS]
    assert again.program == made.program


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (show(entry()).replace("# rule:", "# ruling:"), "found '# ruling: the rule'"),
        (show(entry()).replace("# rule: the rule\n", ""), "rule is missing"),
        (show(entry()).replace("# error: the error\n", ""), "one of error, signal"),
        (show(entry()).partition("\n\n")[0], "the program is missing"),
        (show(entry()).replace("# stage", "# rule: twice\n# stage"), "found '# rule: twice'"),
        (TEXT, "expected a field of a finding"),
    ],
)
def test_what_is_no_finding(text: str, said: str) -> None:
    with pytest.raises(EntryError, match=re.escape(said)):
        parse_entry("crash", "a-name", text)
    with pytest.raises(EntryError, match="unknown kind"):
        parse_entry("bug", "a-name", show(entry()))


def test_the_page_is_current(tmp_path: Path) -> None:
    """`python -m rlx.generate.campaign.index findings` writes it."""
    assert (FOLDER / "README.md").read_text("utf-8") == page(ENTRIES)
    write_entry(entry(), tmp_path)
    assert main([str(tmp_path)]) == 0
    assert "[the happens](crash/a-name.rlx)" in (tmp_path / "README.md").read_text("utf-8")


def test_a_name_is_used_once(tmp_path: Path) -> None:
    for _ in range(2):
        write_entry(unused(entry(), tmp_path), tmp_path)
    assert [found.name for found in read_entries(tmp_path)] == ["a-name", "a-name-2"]


KEPT = pytest.mark.parametrize("kept", ENTRIES, ids=lambda kept: kept.path)
ACCEPTED = ("accepts-illegal", "by-choice", "wrong-type")


@KEPT
def test_it_is_in_order(kept: FindingFile) -> None:
    assert kept.rule in rules() or premise_rule(kept.rule) is not None
    assert not kept.judge, "undecided: no opinion but ours"
    assert (FOLDER / kept.path).read_text("utf-8") == show(kept)
    found = check_text(kept.program).diagnostics
    if kept.kind == "accepts-illegal":
        assert kept.rule in {d.code for d in found if d.severity != "note"}
    elif kept.kind not in ACCEPTED:
        assert not [d for d in found if d.is_error]


@KEPT
def test_an_error_that_says_it_is_not_supported_is_of_that_kind(kept: FindingFile) -> None:
    """Errors of known crashes and refusals do not say that something is not supported."""
    if kept.kind in ("crash", "refuses-legal"):
        assert kind_of(TypeError(kept.error)) == "crash"


SEEN = (
    Finding("crash", "passes", "FuseOps", "signal SIGSEGV with R.nn.relu", "It.", "", TEXT, 7),
    Finding("crash", "run", "TVM's build", "ValueError: N", "ValueError: no variable lv3 can be found here", "", TEXT, 7),
    Finding("accepts-illegal", "check", "TVM's well_formed", "WF01", "WF01: x", "WF01", TEXT, 7),
    Finding("wrong-code", "passes", "FuseOps", "ill-formed: Var N", "FuseOps returns a module that TVM's well_formed rejects: Variable v3 is not defined", "", TEXT, 7),
    Finding("wrong-code", "run", "TVM's virtual machine", "another value", "1 became 2", "E-evaluate", TEXT, 7, "NaN"),
    Finding("prints-wrong", "roundtrip", "TVM reads what TVM printed", "types differ", "x", "", TEXT, 7),
)  # fmt: skip


@pytest.mark.parametrize("finding", SEEN, ids=lambda finding: finding.key)
def test_what_a_campaign_meets_is_kept_in_the_same_form(finding: Finding, tmp_path: Path) -> None:
    path = write_entry(draft(finding), tmp_path)
    (kept,) = read_entries(tmp_path)
    assert path.read_text("utf-8") == show(kept)
    assert re.fullmatch(r"[\w-]+", kept.name) and kept.operator == "R.nn.relu"
    assert kept.error or kept.judge == f"rlx {finding.oracle} 7 {finding.stage}"
    # The file explains what it was made of, and nothing that only looks like it.
    assert explanation(finding, [kept]) is kept
    other = replace(finding, cause="another thing", sentence="No.", rule="D01", trait="empty")
    assert explanation(other, [kept]) is None


@pytest.mark.parametrize(
    ("finding", "also"),
    [
        (Finding("crash", "passes", "FuseOps", "signal SIGSEGV with R.nn.relu", "It.", "", TEXT, 7), ""),
        (Finding("crash", "run", "TVM's build", "ValueError: N", "ValueError: no variable lv3 can be found here", "", TEXT, 7), ""),
        (Finding("wrong-code", "run", "TVM's virtual machine", "another value", "1 became 2", "E-evaluate", TEXT, 7, "NaN"), "another value"),
    ],
)  # fmt: skip
def test_a_cause_that_no_words_tell_stands_by_itself(finding: Finding, also: str) -> None:
    """The words of an exception, and the name of a signal, are the cause already."""
    assert draft(finding).also in ("", also)
    assert bool(draft(finding).also) == (bool(also) and not finding.says_little)
