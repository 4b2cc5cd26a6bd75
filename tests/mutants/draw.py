"""Mutants at random places of all rooms, made by the mutation operators of cosmic-ray."""

from __future__ import annotations

import ast
import difflib
import random
import re
import tomllib
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import parso
from cosmic_ray.ast import ast_nodes
from cosmic_ray.plugins import get_operator, operator_names

ROOT = Path(__file__).parents[2]
ROOMS = (
    *("grammar", "solver", "operators", "checker", "semantics", "transform", "generate", "vm"),
    *("old", "relay", "rlx", "spec"),
)
EQUIVALENT = Path(__file__).with_name("equivalent.toml")

LEFT_OUT = re.compile(
    r"core/(Variable(Replacer|Inserter)|ReplaceComparisonOperator_(Eq_Is|NotEq_IsNot|Is_Eq|IsNot_NotEq))"
)
"""Operators that want arguments, and exchanges of `==` and `is`, which most values do not tell apart."""

LIMIT = re.compile(
    r"(_?[A-Z][A-Z0-9_]*) = (\d[\d_.]+|\d+ << \d+)|@(lru_)?cache\(maxsize=\d+\)|\w+(\.\w+)*\.spend\(\d+\)"
)
"""A limit of work or size with a name of its own, or of a cache, or what a step counts for such a limit: that it is 3999 and not 4000, nobody can tell.
Neither can anybody tell `> NODES` from `>= NODES`."""

LAYOUT = re.compile(r"\b(FIRST_SLOT|ALIGNMENT|NUMBER_BITS)\b")
"""Numbers that are no limits: they say where something stands."""

TYPES_ONLY = re.compile(r"if (not )?TYPE_CHECKING:")
"""What is imported for type checkers: a run that imports it, too, does the same."""

CACHE = re.compile(r"@(functools\.)?(cache|lru_cache)\b.*")
"""Without it the same is done twice."""

STRICT = re.compile(r"(\bzip\(.*\bstrict=)True")
"""What is zipped has one length: that it would be told if it had not shows only where another mistake is made."""

ARROW = " ==> "
"""Between what stood and what stands."""


class Place(NamedTuple):
    """Where an operator can change a file: its name, and how often it could before."""

    operator: str
    occurrence: int
    position: tuple[Any, Any]


class Drawn(NamedTuple):
    """A mutant: its file, line, operator and new text, and the lines that differ."""

    file: str
    line: int
    operator: str
    text: str
    diff: str

    @property
    def room(self) -> str:
        return self.file.partition("/")[0]


def files(room: str) -> list[Path]:
    """The sources of a room: the links in `rlx` to the other rooms are not followed."""
    return sorted((ROOT / room).rglob("*.py"))


def places(tree: Any) -> list[list[Place]]:
    """What can be changed in a file, grouped by the token that changes."""
    nodes = list(ast_nodes(tree))
    found: dict[Any, list[Place]] = {}
    for name in sorted(operator_names()):
        if LEFT_OUT.match(name):
            continue
        operator, count = get_operator(name)(), 0
        for node in nodes:
            for position in operator.mutation_positions(node):
                found.setdefault(position, []).append(Place(name, count, position))
                count += 1
    return [found[position] for position in sorted(found)]


def mutated(text: str, place: Place) -> str | None:
    """The file's text with the change; nothing where the operator fails: it expects names, not `module.Name`, behind `except`."""
    from cosmic_ray.mutating import mutate_code

    try:
        return mutate_code(text, get_operator(place.operator)(), place.occurrence)  # type: ignore[no-any-return]
    except AttributeError:
        return None


EMPTY = {(ast.Eq, 0), (ast.LtE, 0), (ast.Lt, 1)}
FILLED = {(ast.NotEq, 0), (ast.Gt, 0), (ast.GtE, 1)}
NEXT = {ast.LtE: ast.Lt, ast.GtE: ast.Gt}


class _Bare(ast.NodeTransformer):
    """Takes out what says nothing to the interpreter: annotations, and what stands there for type checkers.

    What is asked of a length, which is never negative, and of a named limit is written in one way.
    """

    def __init__(self, limits: Collection[str]) -> None:
        self.limits = limits

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        match node:
            case ast.Compare(ast.Call(ast.Name("len")), [op], [ast.Constant(int(number))]):
                if (type(op), number) in EMPTY:
                    return ast.Compare(node.left, [ast.Eq()], [ast.Constant(0)])
                if (type(op), number) in FILLED:
                    return ast.Compare(node.left, [ast.NotEq()], [ast.Constant(0)])
            case ast.Compare(left, [op], [right]) if {ast.LtE, ast.GtE} & {type(op)}:
                names = {side.id for side in (left, right) if isinstance(side, ast.Name)}
                if names & set(self.limits):
                    return ast.Compare(left, [NEXT[type(op)]()], [right])
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        node.annotation = ast.Constant(None)
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_If(self, node: ast.If) -> ast.AST:
        if ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = []
        return self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)


def bare(text: str) -> str:
    """What of a text a run can show."""
    limits = {
        found[1]
        for line in text.splitlines()
        if (found := LIMIT.fullmatch(line)) and found[1] and not LAYOUT.search(line)
    }
    return ast.dump(_Bare(limits).visit(ast.parse(text)))


def set_aside() -> list[dict[str, str]]:
    """The mutants that no test can notice: file, old text, new text, reason."""
    entries: list[dict[str, str]] = tomllib.loads(EQUIVALENT.read_text("utf-8"))["mutant"]
    return entries


def is_set_aside(mutant: Drawn, entries: list[dict[str, str]]) -> bool:
    """Whether an entry makes the same change of the same line."""
    before, after = mutant.diff.split(ARROW)
    return any(
        entry["file"] == mutant.file and before.replace(entry["old"], entry["new"], 1) == after
        for entry in entries
    )


def lines(old: str, new: str) -> tuple[int, str, str]:
    """Where two texts differ first, and the lines that differ."""
    a, b = old.splitlines(), new.splitlines()
    matcher = difflib.SequenceMatcher(None, a, b, autojunk=False)
    for tag, i, j, k, m in matcher.get_opcodes():
        if tag != "equal":
            while i + 1 < j and not a[i].strip():
                i += 1
            return i + 1, "\n".join(a[i:j]).strip(), "\n".join(b[k:m]).strip()
    raise ValueError("the texts are equal")


def make(file: str, text: str, place: Place) -> Drawn | None:
    """A mutant, unless no run can show the difference or no Python remains."""
    new = mutated(text, place)
    try:
        if new is None or bare(new) == bare(text):
            return None
    except SyntaxError:
        return None
    line, before, after = lines(text, new)
    if (
        LIMIT.fullmatch(before)
        and not LAYOUT.search(before)
        and place.operator == "core/NumberReplacer"
    ):
        return None
    if TYPES_ONLY.fullmatch(before) and TYPES_ONLY.fullmatch(after):
        return None
    if CACHE.fullmatch(before) and place.operator == "core/RemoveDecorator":
        return None
    if re.sub(STRICT, r"\1False", before) == after:
        return None
    return Drawn(file, line, place.operator.removeprefix("core/"), new, f"{before}{ARROW}{after}")


def draw(seed: int, rooms: tuple[str, ...] = ROOMS) -> Iterator[Drawn]:
    """Mutants without end: a file of the rooms by its length, a token in it, a change of the token."""
    chance = random.Random(seed)
    sources = [path for room in rooms for path in files(room)]
    texts = {path: path.read_text("utf-8") for path in sources}
    weights = [len(texts[path]) for path in sources]
    equivalent, seen = set_aside(), set[tuple[str, str]]()
    trees: dict[Path, list[list[Place]]] = {}
    while True:
        path = chance.choices(sources, weights)[0]
        if path not in trees:
            trees[path] = places(parso.parse(texts[path]))  # type: ignore[no-untyped-call]
        if not trees[path]:
            continue
        place = chance.choice(chance.choice(trees[path]))
        file = path.relative_to(ROOT).as_posix()
        mutant = make(file, texts[path], place)
        if mutant is None or (file, mutant.text) in seen:
            continue
        seen.add((file, mutant.text))
        if not is_set_aside(mutant, equivalent):
            yield mutant
