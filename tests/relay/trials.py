"""Tries a law on many numbers, each of which makes a program or text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable


def tried(
    numbers: Iterable[int],
    law: Callable[[int, Counter[str]], str],
    shown: Callable[[int], str] = lambda number: "",
) -> tuple[int, str]:
    """How many break a law, each of which is printed; and how the runs ended, in words.

    Parameters
    ----------
    law
        What is wrong with what a number makes, nothing if it holds; it counts how the runs end.
    shown
        More that is printed of a number that breaks it.
    """
    ends: Counter[str] = Counter()
    bad = 0
    for number in numbers:
        try:
            said = law(number, ends)
        except Exception as error:  # noqa: BLE001 - another one may tell more
            said = f"{type(error).__name__}: {error}"
        if said:
            bad += 1
            print(f"{number}: {said}\n{shown(number)}".rstrip("\n"), flush=True)
    return bad, ", ".join(f"{count} {kind}" for kind, count in sorted(ends.items()))
