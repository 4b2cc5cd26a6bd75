"""The files of a folder that git ignores, by the `.gitignore` files in it and around it.

Strangers write these files, so the time of a match must not grow exponentially. `pathspec` makes
one regular expression of a line: `**/a/**/a/…/b` with eight `a` takes it 18 s on one path of 40
folders, and two more take about 20 times as long.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from functools import cache
from itertools import pairwise

from rlx.grammar.nodes.node import Record

NAME = ".gitignore"
LARGEST, LONGEST = 1 << 16, 512
"""Bytes of a `.gitignore` file that is read, and characters of a pattern for one name that may match;
no person writes more. `fnmatch` reads a pattern to its end for each bracket that is not closed.
"""


class IgnorePattern(Record):
    """One line of a `.gitignore` file.

    Attributes
    ----------
    parts
        Patterns for the names of a path, from the file's folder on; ``**`` stands for any number of
        names.
    again
        Whether the line begins with ``!``: what it matches is not ignored.
    folders
        Whether it ends with ``/``: it matches folders alone.
    """

    parts: tuple[str, ...]
    again: bool
    folders: bool

    def matches(self, names: Sequence[str], is_folder: bool) -> bool:
        """Whether a path, as the names in it, matches."""
        return (is_folder or not self.folders) and _match(self.parts, names)


class Ignored(Record):
    """The patterns in the `.gitignore` files of a folder and of the folders around it.

    Attributes
    ----------
    lines
        Folders with the patterns of their files, the outermost first.
    """

    lines: tuple[tuple[str, tuple[IgnorePattern, ...]], ...] = ()

    def below(self, folder: str) -> Ignored:
        """The same for a folder inside, whose own file comes last."""
        own = _patterns(folder)
        return Ignored((*self.lines, (os.path.abspath(folder), own))) if own else self

    def holds(self, path: str, is_folder: bool) -> bool:
        """Whether git ignores a path, if it does not ignore the folder that the path is in."""
        full = os.path.abspath(path)
        for folder, patterns in reversed(self.lines):
            names = os.path.relpath(full, folder).split(os.sep)
            for pattern in reversed(patterns):
                if pattern.matches(names, is_folder):
                    return not pattern.again
        return False


def around(folder: str) -> Ignored:
    """The patterns of the repository around a folder that apply to its files; none if they ignore
    the folder, since its user then wants it all the same.
    """
    full = os.path.abspath(folder)
    outer: list[str] = []
    at = full
    while not os.path.exists(os.path.join(at, ".git")):
        parent = os.path.dirname(at)
        if parent == at:
            return Ignored()  # in no repository
        at = parent
        outer.insert(0, at)
    found = Ignored()
    for each, inner in pairwise([*outer, full]):
        found = found.below(each)
        if found.holds(inner, is_folder=True):
            return Ignored()
    return found


def _patterns(folder: str) -> tuple[IgnorePattern, ...]:
    path = os.path.join(folder, NAME)
    try:
        if not os.path.isfile(path) or os.path.getsize(path) > LARGEST:
            return ()
        with open(path, "rb") as file:
            text = file.read().decode("utf-8-sig", "surrogateescape")
    except OSError:
        return ()
    return tuple(p for p in map(_pattern, text.splitlines()) if p is not None)


def _pattern(line: str) -> IgnorePattern | None:
    """The pattern of a line; None for a comment or an empty line."""
    text = re.sub(r"(?<!\\) +$", "", line)
    again = text.startswith("!")
    text = text.removeprefix("!")
    if not text.strip("/") or line.startswith("#"):
        return None
    folders = text.endswith("/")
    text = text.rstrip("/")
    if "/" not in text:
        text = f"**/{text}"  # a name alone matches at any depth
    return IgnorePattern(tuple(text.strip("/").split("/")), again, folders)


def _match(parts: Sequence[str], names: Sequence[str]) -> bool:
    """Whether patterns match names; the time grows with the product of the two lengths."""
    reached = {0}  # how many names the patterns so far may have matched
    for at, part in enumerate(parts):
        if part == "**":
            first = min(reached, default=len(names) + 1)
            # at the end it stands for something inside
            reached = set(range(first + (at == len(parts) - 1), len(names) + 1))
        else:
            matches = _regex(part).match
            reached = {n + 1 for n in reached if n < len(names) and matches(names[n])}
    return len(names) in reached


@cache
def _regex(part: str) -> re.Pattern[str]:
    """The pattern of one name, which takes no more time on long ones (`fnmatch` sees to it)."""
    from fnmatch import translate

    if len(part) > LONGEST:
        return re.compile(r"(?!)")
    plain = re.sub(r"\\(.)", lambda found: f"[{found[1]}]" if found[1] in "*?[" else found[1], part)
    return re.compile(translate(plain), re.DOTALL)
