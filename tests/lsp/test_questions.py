"""Every question of the protocol about one program with a module, a PrimFunc and shape variables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from rlx.lsp.capabilities import MODIFIERS, TYPES

from .wire import Wire

TEXT = """\
@I.ir_module
class Module:
    @T.prim_func
    def kernel(var_a: T.handle, b: T.Buffer((T.int64(4),), "float32")):
        m = T.int64()
        a = T.match_buffer(var_a, (m,))
        for i in range(4):
            with T.block("copy"):
                vi = T.axis.spatial(4, i)
                b[vi] = a[vi]
        for i in range(4):
            b[i] = b[i] + T.float32(1)

    @R.function
    def twice(x: R.Tensor(("k", 4), "float32")) -> R.Tensor(("k", 4), "float32"):
        k = T.int64()
        y: R.Tensor((k, 4), "float32") = R.add(x, x)
        return y

    @R.function
    def main(x: R.Tensor(("n", 4), "float32")):
        cls = Module
        a = cls.twice(x)
        b = R.sum(a, axis=[1])
        return b
"""
URI = "file:///work/a.rlx"


@pytest.fixture(scope="module")
def wire() -> Iterator[Wire]:
    made = Wire()
    made.start()
    made.open(URI, TEXT)
    made.told(URI, 1)
    yield made
    made.close()


def at(words: str, shift: int = 0) -> dict[str, int]:
    """The place of some words, `shift` characters further on."""
    offset = TEXT.index(words) + shift
    return {
        "line": TEXT.count("\n", 0, offset),
        "character": offset - TEXT.rfind("\n", 0, offset) - 1,
    }


def asked(wire: Wire, method: str, **params: Any) -> Any:
    params = {"textDocument": {"uri": URI}, **params}
    return wire.answer(wire.ask(method, params))["result"]


def words(found: list[Any]) -> list[tuple[int, str]]:
    """The lines of ranges, from 1, with what stands there."""
    shown = []
    for each in found:
        place = each.get("range", each)
        line, end = place["start"]["line"], place["end"]["character"]
        written = TEXT.split("\n")[line][place["start"]["character"] : end]
        shown.append((line + 1, written))
    return shown


def test_the_places_of_a_name(wire: Wire) -> None:
    """A loop's variable is another one in the next loop; a shape variable is one in its function."""
    for words_, shift, places in (
        ("for i in", 4, [7, 9]),
        ("b[vi]", 2, [9, 10, 10]),
        ('"k"', 1, [15, 15, 16, 17]),
        ("m = T", 0, [5, 6]),
        ("twice(x:", 0, [15, 23]),
    ):
        found = asked(wire, "textDocument/documentHighlight", position=at(words_, shift))
        assert [line for line, _ in words(found)] == places, words_
        assert found[0]["kind"] == 3
        place = asked(wire, "textDocument/definition", position=at(words_, shift))
        assert place["range"] == found[0]["range"]
    linked = asked(wire, "textDocument/linkedEditingRange", position=at('"k"', 1))
    assert [word for _, word in words(linked["ranges"])] == ["k"] * 4
    assert asked(wire, "textDocument/linkedEditingRange", position=at("b[vi]", 2)) is None


def test_where_a_type_is_written(wire: Wire) -> None:
    found = asked(wire, "textDocument/typeDefinition", position=at("return y", 7))
    assert words(found) == [(17, 'R.Tensor((k, 4), "float32")'), (15, "k")]
    called = asked(wire, "textDocument/typeDefinition", position=at("a = cls"))
    assert words(called) == [(15, "twice"), (21, "n")]


def test_the_outline(wire: Wire) -> None:
    (module,) = asked(wire, "textDocument/documentSymbol")
    assert module["name"] == "Module"
    assert [each["name"] for each in module["children"]] == ["kernel", "twice", "main"]
    assert module["children"][2]["detail"] == '(x: R.Tensor(("n", 4), "float32"))'
    found = asked(wire, "workspace/symbol", query="twi")
    assert [(each["name"], each["location"]["uri"]) for each in found] == [("twice", URI)]
    folds = {
        (f["startLine"] + 1, f["endLine"] + 1) for f in asked(wire, "textDocument/foldingRange")
    }
    assert {(2, 25), (4, 12), (7, 10), (8, 10), (21, 25)} <= folds


def test_what_surrounds_a_place(wire: Wire) -> None:
    (found,) = asked(wire, "textDocument/selectionRange", positions=[at("b[vi]", 2)])
    lines = []
    while found is not None:
        lines.append((found["range"]["start"]["line"] + 1, found["range"]["end"]["line"] + 1))
        found = found.get("parent")
    assert lines[:2] == [(10, 10), (10, 10)] and (8, 10) in lines and (7, 10) in lines
    assert lines[-1] == (1, 26)


def test_signatures_and_what_completes(wire: Wire) -> None:
    found = asked(wire, "textDocument/signatureHelp", position=at("axis=[1]", 5))
    assert found["signatures"][0]["label"].startswith("R.sum(x: tensor, axis: ints")
    assert found["activeParameter"] == 1
    own = asked(wire, "textDocument/signatureHelp", position=at("twice(x)", 6))
    assert 'x: R.Tensor(("k", 4), "float32")' in own["signatures"][0]["label"]

    def labels(words: str, shift: int) -> list[str]:
        found = asked(wire, "textDocument/completion", position=at(words, shift))
        return [each["label"] for each in found["items"]]

    assert {"R.Tensor", "R.function", "R.add"} <= set(labels("R.sum(a", 2))
    assert {"float32", "bool"} <= set(labels('"float32") = R.add', 3))
    assert labels('"n", 4', 1) == ["n"]
    assert {"axis=", "keepdims=", "a", "x", "cls.twice"} <= set(labels("a, axis", 3))
    item = {"label": "R.sum", "data": {"word": "R.sum"}}
    resolved = asked(wire, "completionItem/resolve", **item)
    said = resolved["documentation"]["value"]
    assert "OBL-axis-range" in said and "A legal call" in said


def test_calls(wire: Wire) -> None:
    (twice,) = asked(wire, "textDocument/prepareCallHierarchy", position=at("twice(x:"))
    (call,) = asked(wire, "callHierarchy/incomingCalls", item=twice)
    assert call["from"]["name"] == "main" and words([{"range": call["fromRanges"][0]}]) == [
        (23, "twice")
    ]
    (main,) = asked(wire, "textDocument/prepareCallHierarchy", position=at("main("))
    (called,) = asked(wire, "callHierarchy/outgoingCalls", item=main)
    assert called["to"]["name"] == "twice"


def test_the_kinds_of_words(wire: Wire) -> None:
    data = asked(wire, "textDocument/semanticTokens/full")["data"]
    kinds: dict[str, set[str]] = {}
    line = column = 0
    for k in range(0, len(data), 5):
        line, column = line + data[k], data[k + 1] + (0 if data[k] else column)
        written = TEXT.split("\n")[line][column : column + data[k + 2]]
        kinds.setdefault(written, set()).add(TYPES[data[k + 3]])
        assert data[k + 4] < 2 ** len(MODIFIERS)
    assert kinds["k"] == kinds["m"] == {"typeParameter"} and kinds["twice"] == {"function"}
    assert (
        kinds["vi"] == {"variable"} and kinds["x"] == {"parameter"} and kinds["def"] == {"keyword"}
    )
    span = {"start": {"line": 13, "character": 0}, "end": {"line": 25, "character": 0}}
    part = asked(wire, "textDocument/semanticTokens/range", range=span)["data"]
    assert part[2:] == data[-len(part) + 2 :]


def test_the_kinds_of_words_that_an_edit_changes(wire: Wire) -> None:
    """The old text with the changes applied is the new text."""
    uri = "file:///work/edited.rlx"
    wire.open(uri, TEXT, 1)
    full = asked(wire, "textDocument/semanticTokens/full", textDocument={"uri": uri})
    data, number = full["data"], full["resultId"]
    for version, text in enumerate((TEXT.replace("vi", "other"), f"\n{TEXT}", TEXT, TEXT), start=2):
        wire.change(uri, text, version)
        about = {"textDocument": {"uri": uri}, "previousResultId": number}
        made = asked(wire, "textDocument/semanticTokens/full/delta", **about)
        for edit in made["edits"]:
            data[edit["start"] : edit["start"] + edit["deleteCount"]] = edit["data"]
        number = made["resultId"]
        now = asked(wire, "textDocument/semanticTokens/full", textDocument={"uri": uri})
        assert (now["data"], now["resultId"]) == (data, number)
    about = {"textDocument": {"uri": uri}, "previousResultId": "another"}
    assert asked(wire, "textDocument/semanticTokens/full/delta", **about)["data"] == data
    wire.notify("textDocument/didClose", {"textDocument": {"uri": uri}})


def test_lenses_run_commands(wire: Wire) -> None:
    found = asked(wire, "textDocument/codeLens")
    commands = [(f["range"]["start"]["line"] + 1, f["command"]["arguments"][0][1]) for f in found]
    assert [name for line, name in commands if line == 21] == ["run", "step", "why", "refines"]


def test_diagnostics_are_pulled_once(wire: Wire) -> None:
    report = asked(wire, "textDocument/diagnostic")
    assert report["kind"] == "full"
    again = asked(wire, "textDocument/diagnostic", previousResultId=report["resultId"])
    assert again["kind"] == "unchanged"
    (of_text,) = asked(wire, "workspace/diagnostic", previousResultIds=[])["items"]
    assert (of_text["uri"], of_text["items"]) == (URI, report["items"])
