"""The law of the conversions: a program comes back from the words of 2022 as it was, or the first way says what it
loses. What came back does so again.

python -m tests.old.there_and_back 1000 1
"""

from __future__ import annotations

from collections import Counter

from rlx.grammar import first_difference, parse
from rlx.old.conversion import convert_text
from tests.long_run import long_run
from tests.old.agreement import source_of


def wrong(seed: int, kinds: Counter[str]) -> str:
    """The change of a program by a way there and back; empty if there is none, or if it is reported."""
    text = source_of(seed)
    there = convert_text(text, "p.rlx", "2022")
    if there.text is None:
        kinds["refused"] += 1
        return "" if there.complaints else "refused without a word"
    back = convert_text(there.text, "p.rlx", "0.27")
    if back.text is None:
        return f"no way back: {back.complaints}\n{there.text}"
    again = convert_text(back.text, "p.rlx", "2022")
    if again.text is None:
        return f"not there again: {again.complaints}\n{back.text}"
    kinds["reported" if there.complaints or back.complaints else "the same"] += 1
    if not there.complaints and (found := _difference(text, back.text)):
        return f"{found}\n{there.text}\n{back.text}"
    if again.complaints:
        return ""
    last = convert_text(again.text, "p.rlx", "0.27")
    found = "no way back" if last.text is None else _difference(back.text, last.text)
    return f"{found}\n{back.text}\n{again.text}" if found else ""


def _difference(one: str, other: str) -> str:
    first, second = parse(one).modules, parse(other).modules
    found = [first_difference(a, b, True) for a, b in zip(first, second, strict=True)]
    return next((str(each) for each in found if each), "")


if __name__ == "__main__":
    long_run(wrong)
