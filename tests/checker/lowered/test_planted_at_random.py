"""Mistakes planted at random into lowered programs: each is found, and the programs alone have none.

``python -m tests.checker.lowered.test_planted_at_random COUNT SEED`` plants that many.
"""

from __future__ import annotations

import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple

from rlx.checker.check import check_text
from rlx.generate.campaign.programs import is_legal, program
from rlx.grammar.print.printer import print_module
from rlx.grammar.read.parser import parse
from rlx.transform.legalization import legalize
from rlx.transform.lowering.passes import PassError
from rlx.vm.compilation import STAGES

LAST = ("StaticPlanBlockMemory", "VMMemoryLower", "VMShapeLower")
"""The stages after which a program handles memory by itself."""


class Planted(NamedTuple):
    """A program with a mistake, and the codes of which one tells of it."""

    kind: str
    lines: list[str]
    codes: frozenset[str]
    where: int


ALIVE, ONCE = "MEM-alive-used", "MEM-kill-once"
APART, FITS, ALIASED = "MEM-apart-overlap", "MEM-fits-end", "USE-aliased-apart"
WRITTEN, STORED, PLACE = "MEM-written-before", "MEM-heap-stored", "MEM-heap-place"


@lru_cache(maxsize=8)
def lowered(seed: int, stage: str) -> str | None:
    """A generated program after a stage; None where it has no such text."""
    if not is_legal(seed):
        return None
    text, _ = program(seed)
    try:
        module = legalize(parse(text).modules[0])
        for each in STAGES:
            module = each()(module)
            if each.__name__ == stage:
                break
    except PassError:
        return None
    return print_module(module)


class Lines:
    """The lines of a program, and what happens in those of one function."""

    def __init__(self, lines: list[str], begin: int, end: int) -> None:
        self.lines, self.begin, self.end = lines, begin, end
        self.kills = self._all(r"R\.\w+\.kill_(?:object|tensor|storage)\((\w+)\)")
        self.tensors = self._all(
            r"^\s+(\w+)(?:: .*)? = R\.(?:vm|memory)\.alloc_tensor\((\w+), (.+?), (?:R\.shape\(|\w+, R\.dtype)"
        )
        self.storages = self._all(r"^\s+(\w+)(?:: .*)? = R\.(?:vm|memory)\.alloc_storage\((.*)")
        self.kernels = self._all(r"= cls\.(\w+)\((.*)\)$")
        self.aliases: dict[str, str] = {}
        for _, (name, other) in self._all(r"^\s+(\w+)(?:: .*)? = (\w+)$"):
            self.aliases[name] = self.aliases.get(other, other)

    def _all(self, pattern: str) -> list[tuple[int, tuple[str, ...]]]:
        mine = range(self.begin, self.end)
        found = ((k, re.search(pattern, self.lines[k])) for k in mine)
        return [(k, match.groups()) for k, match in found if match]

    def mine(self) -> Iterator[tuple[int, str]]:
        """The lines of the function."""
        yield from list(enumerate(self.lines))[self.begin : self.end]

    def stores(self, heap: str, slot: int) -> int:
        """The number of calls that match a number and keep it in a slot."""
        found = 0
        for _, line in self.mine():
            match = re.search(rf'match_shape", \w+, {heap}, \d+, ([\d, ]+)', line)
            numbers = [int(n) for n in re.findall(r"\d+", match[1])] if match else []
            found += (1, slot) in zip(numbers[::2], numbers[1::2], strict=False)
        return found

    def escapes(self, tensor: str, begin: int, end: int) -> bool:
        """Whether a tensor is passed between two lines to something that may write it later."""
        return any(
            {self.tensor(name) for name in re.findall(r"\w+", line)} >= {tensor}
            for line in self.lines[begin + 1 : end]
            if re.search("make_closure|call_packed|invoke_closure|inplace", line)
        )

    def tensor(self, name: str) -> str:
        """The tensor that a name stands for."""
        return self.aliases.get(name, name)

    def one_sequence(self, *numbers: int) -> bool:
        """Whether lines stand in one sequence: with one indentation, and none with less between."""
        depths = [_depth(self.lines[k]) for k in numbers]
        between = self.lines[min(numbers) : max(numbers)]
        return len(set(depths)) == 1 and all(_depth(line) >= depths[0] for line in between)

    def write_of(self, tensor: str) -> int | None:
        """The line of the only kernel that writes a tensor, as its last argument."""
        found = [
            k
            for k, (name, args) in self.kernels
            if not name.startswith("main_shape") and self.tensor(_last(args)) == tensor
        ]
        return found[0] if len(found) == 1 else None

    def reads_of(self, tensor: str) -> list[int]:
        """The lines of kernels that surely read a tensor."""
        return [
            k
            for k, (name, args) in self.kernels
            if tensor in {self.tensor(arg) for arg in _names(args)[:-1]}
            and self.reads(name, _names(args), tensor)
        ]

    def apart(self, kernel: str) -> bool:
        """Whether a kernel declares that it writes what it does not read."""
        head = re.search(rf"def {kernel}\(.*\n(.*)", "\n".join(self.lines))
        return head is not None and "noalias" in head[1]

    def reads(self, kernel: str, args: list[str], tensor: str) -> bool:
        """Whether a kernel mentions the buffer of an argument in an expression outside of conditions."""
        text = "\n".join(self.lines)
        head = re.search(rf"def {kernel}\((.*)\):\n((?:\s{{8}}.*\n|\n)*)", text + "\n")
        if head is None:
            return False
        params = re.findall(r"(\w+): T\.(?:Buffer|handle|int64)", head[1])
        body = head[2]
        if len(params) != len(args) or re.search(
            r"Select|if_then_else|T\.where|if |while |decl_buffer", body
        ):
            return False
        wanted = [p for p, arg in zip(params, args, strict=True) if self.tensor(arg) == tensor]
        return any(re.search(rf"= .*\b{name}\[", body) for name in wanted)


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _names(args: str) -> list[str]:
    return [arg.strip() for arg in args.split(",")]


def _last(args: str) -> str:
    return _names(args)[-1]


ERRORS = frozenset({ALIVE, ONCE, APART, FITS, WRITTEN, STORED, PLACE})
"""What no program may be told that nobody damaged."""

Plant = Callable[[Lines], Iterator[tuple[list[str], set[str], int]]]


def _without(lines: list[str], k: int) -> list[str]:
    return [*lines[:k], *lines[k + 1 :]]


def killed_twice(code: Lines) -> Iterator[tuple[list[str], set[str], int]]:
    """A kill stands twice."""
    for k, _ in code.kills:
        yield [*code.lines[: k + 1], code.lines[k], *code.lines[k + 1 :]], {ONCE}, k


def killed_early(code: Lines) -> Iterator[tuple[list[str], set[str], int]]:
    """A kill comes before the last use."""
    for k, (name,) in code.kills:
        for at in range(k - 1, code.begin, -1):
            line = code.lines[at]
            if re.search(rf"[(, ]{name}\b(?!:)", line.split(" = ", 1)[-1]):
                if code.one_sequence(at, k):
                    yield (
                        [*code.lines[:at], code.lines[k], *code.lines[at:k], *code.lines[k + 1 :]],
                        {ALIVE},
                        at,
                    )
                break


def never_written(code: Lines) -> Iterator[tuple[list[str], set[str], int]]:
    """The kernel that writes a tensor is left out."""
    for _, (tensor, *_) in code.tensors:
        at = code.write_of(tensor)
        reads = [k for k in code.reads_of(tensor) if at is not None and k > at]
        if at is not None and reads and not code.escapes(tensor, at, reads[-1]):
            yield _without(code.lines, at), {WRITTEN}, at


def read_before(code: Lines) -> Iterator[tuple[list[str], set[str], int]]:
    """The kernel that reads a tensor comes before the one that writes it."""
    for _, (tensor, *_) in code.tensors:
        at = code.write_of(tensor)
        for k in code.reads_of(tensor)[:1]:
            names = set(_names(dict(code.kernels)[k][1]))
            if at is None or k <= at or not code.one_sequence(at, k):
                continue
            if any(re.search(rf"^\s+{n}(:| =)", line) for n in names for line in code.lines[at:k]):
                continue
            yield (
                [*code.lines[:at], code.lines[k], *code.lines[at:k], *code.lines[k + 1 :]],
                {WRITTEN},
                at,
            )


def overlapping(code: Lines) -> Iterator[tuple[list[str], set[str], int]]:
    """A tensor begins where another one of the same piece lies that is read later."""
    for _, (first, home, offset) in code.tensors:
        written, reads = code.write_of(first), code.reads_of(first)
        for at, (second, other_home, other) in code.tensors:
            by = code.write_of(second)
            if home != other_home or offset == other or written is None or by is None or not reads:
                continue
            if by == reads[-1] and not code.apart(dict(code.kernels)[by][0]):
                continue
            if written < by <= reads[-1] and code.one_sequence(written, by, reads[-1], at):
                line = code.lines[at].replace(f"({home}, {other},", f"({home}, {offset},")
                if (
                    re.fullmatch(r"\w+", offset)
                    and not offset.isdigit()
                    and not any(re.search(rf"^\s+{offset}(:| =)", text) for text in code.lines[:at])
                ):
                    continue
                yield [*code.lines[:at], line, *code.lines[at + 1 :]], {APART, FITS}, at


def other_storage(code: Lines) -> Iterator[tuple[list[str], set[str], int]]:
    """A tensor is laid over one in another piece that is read later."""
    for _, (first, home, offset) in code.tensors:
        written, reads = code.write_of(first), code.reads_of(first)
        for at, (second, other_home, other) in code.tensors:
            by = code.write_of(second)
            if home == other_home or written is None or by is None or not reads or offset != other:
                continue
            if by == reads[-1] and not code.apart(dict(code.kernels)[by][0]):
                continue
            if written < by <= reads[-1] and code.one_sequence(written, by, reads[-1], at):
                line = code.lines[at].replace(f"({other_home},", f"({home},")
                yield [*code.lines[:at], line, *code.lines[at + 1 :]], {APART, FITS}, at


def too_small(code: Lines) -> Iterator[tuple[list[str], set[str], int]]:
    """A piece of memory has one byte."""
    for at, (name, rest) in code.storages:
        mine = [k for k, (_, home, _) in code.tensors if home == name]
        kind = re.search(r'"(u?int8|bool)"', rest)
        wide = [k for k in mine if not re.search(r'"(u?int8|bool)"', code.lines[k])]
        if kind and wide and re.match(r"R\.shape\(\[.+?\]\)|\w+", rest):
            new = re.sub(r"^(R\.shape\(\[.+?\]\)|\w+)", "R.shape([1])", rest)
            line = code.lines[at].replace(rest, new)
            if new != rest and _nonempty(code, wide):
                yield [*code.lines[:at], line, *code.lines[at + 1 :]], {FITS}, at


def _nonempty(code: Lines, tensors: list[int]) -> bool:
    return any(
        not re.search(r"[\[, ]0[\], ]", code.lines[k].split("R.shape", 1)[-1]) for k in tensors
    )


def not_stored(code: Lines) -> Iterator[tuple[list[str], set[str], int]]:
    """Leave out the statement that stores numbers into a heap."""
    for at, line in code.mine():
        if re.search(r"= cls\.\w*shape_func\w*\(\w*heap\w*\)", line):
            yield _without(code.lines, at), {STORED}, at


def not_matched(code: Lines) -> Iterator[tuple[list[str], set[str], int]]:
    """A match stores nothing, of which a number is read later."""
    for at, line in code.mine():
        match = re.search(r'match_shape", \w+, (\w+), (\d+), ([\d, ]+)', line)
        if match is None:
            continue
        numbers = [int(n) for n in re.findall(r"\d+", match[3])]
        pairs = list(zip(numbers[::2], numbers[1::2], strict=False))
        for k, (step, slot) in enumerate(pairs):
            if (
                step == 1
                and code.stores(match[1], slot) == 1
                and _slot_read(code.lines[at + 1 : code.end], match[1], slot)
            ):
                numbers[2 * k : 2 * k + 2] = [2, 0]
                new = line.replace(
                    match[3], ", ".join(map(str, numbers)) + ", " * match[3].endswith(" ")
                )
                yield [*code.lines[:at], new, *code.lines[at + 1 :]], {STORED}, at
                break


def _slot_read(lines: list[str], heap: str, slot: int) -> bool:
    for line in lines:
        made = re.search(rf'make_shape", {heap}, \d+, ([\d, ]+)', line)
        if made:
            numbers = [int(n) for n in re.findall(r"\d+", made[1])]
            if (1, slot) in zip(numbers[::2], numbers[1::2], strict=False):
                return True
    return False


def no_such_slot(code: Lines) -> Iterator[tuple[list[str], set[str], int]]:
    """A shape is made of a slot behind the heap."""
    for at, line in code.mine():
        match = re.search(r'(make_shape", \w+, \d+, 1, )\d+', line)
        if match:
            new = line.replace(match[0], f"{match[1]}9999")
            yield [*code.lines[:at], new, *code.lines[at + 1 :]], {PLACE}, at


def written_over_itself(code: Lines) -> Iterator[tuple[list[str], set[str], int]]:
    """A kernel writes one of the tensors that it reads."""
    for at, (name, args) in code.kernels:
        names = _names(args)
        tensors = {tensor for _, (tensor, *_) in code.tensors}
        for arg in names[:-1]:
            tensor = code.tensor(arg)
            if not code.apart(name) or names[-1] == arg:
                continue
            if tensor in tensors and code.reads(name, names, tensor):
                new = code.lines[at].replace(f"{names[-1]})", f"{arg})")
                yield [*code.lines[:at], new, *code.lines[at + 1 :]], {ALIASED, WRITTEN}, at
                break


KINDS: tuple[Plant, ...] = (
    killed_twice,
    killed_early,
    never_written,
    read_before,
    overlapping,
    other_storage,
    too_small,
    not_stored,
    not_matched,
    no_such_slot,
    written_over_itself,
)


def plants(text: str, choose: random.Random) -> Iterator[Planted]:
    """One mistake of each kind that the program has room for, at random."""
    lines = text.splitlines()
    begins = [k for k, line in enumerate(lines) if line.lstrip().startswith("def ")]
    functions = [
        Lines(lines, begin, end)
        for begin, end in zip(begins, [*begins[1:], len(lines)], strict=True)
        if "R.function" in lines[begin - 1]
    ]
    for kind in KINDS:
        found = [each for code in functions for each in kind(code)]
        if found:
            new, codes, where = choose.choice(found)
            yield Planted(kind.__name__, new, frozenset(codes), where)


def memory_codes(text: str) -> set[str]:
    """The errors and warnings about memory."""
    found = check_text(text).diagnostics
    return {d.code for d in found if d.code.startswith(("MEM-", ALIASED)) and d.severity != "note"}


def run(count: int, seed: int) -> tuple[Counter[str], list[str]]:
    """Plant mistakes; how many of each kind, and what went wrong."""
    kinds: Counter[str] = Counter()
    wrong: list[str] = []
    at = seed
    while kinds.total() < count:
        choose = random.Random(at)
        text = lowered(at, choose.choice(LAST))
        at += 1
        if text is None:
            continue
        false = memory_codes(text)
        if false & ERRORS:
            wrong.append(f"seed {at - 1}: without a mistake, {', '.join(sorted(false))}")
        if false:
            continue
        for planted in plants(text, choose):
            kinds[planted.kind] += 1
            if not planted.codes & memory_codes("\n".join(planted.lines) + "\n"):
                line = planted.lines[min(planted.where, len(planted.lines) - 1)].strip()
                wrong.append(f"seed {at - 1}: silent, {planted.kind}: {line}")
    return kinds, wrong


def test_planted_mistakes_are_found() -> None:
    kinds, wrong = run(15, 800000)  # the command takes any other seed
    assert not wrong, "\n".join(wrong)
    assert len(kinds) >= 6


if __name__ == "__main__":
    asked, missed = run(int(sys.argv[1]), int(sys.argv[2]))
    print("\n".join(missed))
    for kind, times in asked.most_common():
        print(f"{times:6} {kind}")
    print(f"{asked.total()} mistakes, {len(missed)} not found")
    sys.exit(bool(missed))
