"""Law: the programs of Relay's introduction in other words follow their meaning.

Names, numbers of nodes, order, shapes and types are changed, and each program is wrapped in a function that calls it
twice. NumPy says the values; a call with another shape than is declared is an error.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

import numpy as np
import pytest

from rlx import relay
from rlx.semantics.machine import load
from rlx.semantics.outcome import Returned
from rlx.semantics.values import Tensor
from tests.relay import documents

SHAPES = ((), (3,), (2, 3), (2, 1, 4))
FLOATS, INTEGERS = ("float32", "float64"), ("int32", "int64")


class Document(NamedTuple):
    """A program: the function that is called, the types of all parameters (``T`` is the type that varies and ``K`` its
    scalar), how a wrapper uses it, and what NumPy says.
    """

    text: str
    entry: str
    types: dict[str, str]
    kinds: tuple[str, ...]
    use: str
    value: Callable[[Any], Any]
    shapes: tuple[tuple[int, ...], ...] = SHAPES


ONE = "@{0}({1})"
DOCUMENTS = {
    "shared": Document(documents.SHARED, "", {"x": "T"}, FLOATS, ONE, lambda x: 2 * np.log(x)),
    "lets": Document(documents.LETS, "", {"x": "T"}, FLOATS, ONE, lambda x: 2 * np.log(x)),
    "calls": Document(
        *(documents.CALLS, "myfunc", {"x": "T", "y": "K", "z": "K"}, INTEGERS, ONE),
        lambda x: (x + 2) * 2 + 3,
    ),
    "recursion": Document(
        *(documents.RECURSION, "myfunc", {"x": "T"}, INTEGERS, ONE),
        lambda x: 2 ** (x - 1),
        ((),),
    ),
    "scope, one": Document(
        *(documents.SCOPE, "", {"x": "T", "c": "bool"}, FLOATS, "@{0}({1}, True)"),
        lambda x: 2 * np.log(x),
    ),
    "scope, other": Document(
        *(documents.SCOPE, "", {"x": "T", "c": "bool"}, FLOATS, "@{0}({1}, False)"),
        lambda x: np.log(x) ** 2,
    ),
    "closure": Document(
        *(documents.CLOSURE, "", {"x": "T", "y": "T"}, FLOATS, "@{0}({1})({1})"),
        lambda x: x + np.log(x),
    ),
}


class Variant(NamedTuple):
    """A program made of a document's: its text, the type of its operands, and one where a call has another shape."""

    text: str
    kind: str
    shape: tuple[int, ...]
    broken: str


def tensor(shape: tuple[int, ...], kind: str) -> str:
    """A type as Relay writes it."""
    return f"Tensor[({', '.join(map(str, shape))}{',' * (len(shape) == 1)}), {kind}]"


def variant(document: Document, random: Random) -> Variant:
    """A program whose ``@main`` returns two calls of the document's."""
    kind, shape = random.choice(document.kinds), random.choice(document.shapes)
    types = {"T": tensor(shape, kind), "K": kind, "bool": "bool"}
    text = re.sub(r"^\s*fn\b", "def @graph", document.text)
    if kind == "int64":
        text = re.sub(r"(?<=, )\d+\b", r"\g<0>i64", text)
    typed = {name: types[said] for name, said in document.types.items()}

    def params(found: re.Match[str]) -> str:
        return re.sub(r"%(\w+)", lambda each: f"%{each[1]}: {typed[each[1]]}", found[0])

    if (
        not document.text.lstrip().startswith("def")
        or document.shapes == ((),)
        or random.random() < 0.5
    ):
        text = re.sub(r"(@\w+|\bfn) ?\([^()]*\)(?= \{)", params, text)
    if document.shapes == ((),):  # without it nothing is known of what it returns
        text = re.sub(r"\)(?= \{)", f") -> {types['T']}", text, count=1)
    shift = random.randrange(50)
    new: dict[str, str] = {}
    text = re.sub(r"%(\d+)", lambda found: f"%{int(found[1]) + shift}", text)

    def renamed(found: re.Match[str]) -> str:
        return new.setdefault(found[0], f"{found[0][0]}{random.choice('abcxyz')}_{len(new)}")

    text = re.sub(r"[%@][A-Za-z_]\w*", renamed, text)
    name = new[f"@{document.entry or 'graph'}"][1:]
    lines = [
        f"  {random.choice(('let %first', '%7'))} = {document.use.format(name, '%p')};\n",
        f"  {random.choice(('let %second', '%8'))} = {document.use.format(name, '%q')};\n",
    ]
    one, two = (line.split(" =")[0].split()[-1] for line in lines)
    random.shuffle(lines)
    body = f"{''.join(lines)}  ({one}, {two})\n"
    head = f"def @main(%p: {types['T']}, %q: {{}}) {{{{\n{body}}}}}\n"
    parts = random.sample([text, head.format(types["T"])], 2)
    other = head.format(tensor((*shape, 5), kind))
    return Variant("\n".join(parts), kind, shape, f"{text}\n{other}")


@pytest.mark.parametrize("name", DOCUMENTS)
def test_variants_follow(name: str) -> None:
    document, errors = DOCUMENTS[name], 0
    for seed in range(12):
        made = variant(document, Random(f"{name} {seed}"))
        report = relay.check(made.text)
        assert report.ok, f"{made.text}\n{report.errors[0]}"
        values = np.random.default_rng(seed).integers(1, 9, (2, *made.shape))
        args = [np.asarray(value, made.kind) for value in values]
        wanted = [document.value(arg).astype(made.kind) for arg in args]
        module = relay.parse(made.text)
        ends = [
            relay.run(form, *args)
            for form in (module, relay.to_anf(module), relay.to_graph(relay.to_anf(module)))
        ]
        ends.append(load(relay.to_relax(module)).run("main", list(map(Tensor, args))))
        for end in ends:
            assert isinstance(end, Returned), f"{made.text}\n{end}"
            for found, value in zip(end.numpy(), wanted, strict=True):
                assert found.dtype == made.kind and found.shape == made.shape
                np.testing.assert_allclose(found, value, rtol=1e-6)
        if ": Tensor" in made.broken.split("def @main")[0]:
            assert not relay.check(made.broken).ok, made.broken
            errors += 1
    assert errors
