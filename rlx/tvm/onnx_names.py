"""The names of ONNX values as names of bindings: in the text that TVM's importer makes, and for values of the model."""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Mapping
from typing import Any

from rlx.grammar.nodes.unused_names import Names

_WORD = re.compile(r"[^\W\d]\w*")
_TAKEN = {*keyword.kwlist, "I", "R", "T", "Module", "main", "metadata", "tvm"}


def identifiers(graph: Any) -> dict[str, str]:
    """A name that a binding can have for each value that a node of the graph computes. `graph`: an
    ``onnx.GraphProto``.
    """
    names = Names({*_TAKEN, *(_identifier(value.name) for value in graph.input)}, "_")
    given = (name for node in graph.node for name in node.output if name)
    return {name: names.new(_identifier(name)) for name in given}


def _identifier(name: str) -> str:
    plain = re.sub(r"\W", "_", name, flags=re.ASCII).strip("_") or "value"
    return f"v_{plain}" if plain[0].isdigit() else plain


def imported_text(model: Any, printed: Callable[[Any], str]) -> str:
    """The text of a model as TVM imports it, in which a binding that computes a value of the model
    has its name.

    Parameters
    ----------
    model
        An ``onnx.ModelProto``.
    printed
        Makes the text of a module of TVM.
    """
    from tvm.relax.frontend.onnx import onnx_frontend

    importers = []

    class Importer(onnx_frontend.ONNXGraphImporter):  # type: ignore[misc]
        """Stays there after the import: it knows the expression of each value."""

        def __init__(self, *args: Any, **named: Any) -> None:
            super().__init__(*args, **named)
            importers.append(self)

    # `from_onnx` looks its importer up by this name; nothing else runs in this process
    onnx_frontend.ONNXGraphImporter = Importer
    module = onnx_frontend.from_onnx(model)
    (importer,) = importers
    return renamed(module, printed(module), importer._nodes, identifiers(model.graph))


def renamed(
    module: Any, text: str, expressions: Mapping[str, Any], names: Mapping[str, str]
) -> str:
    """The text of TVM's module with other names of variables in `main`.

    Parameters
    ----------
    text
        The text with its own names.
    expressions
        What computes each value: a variable, or what is bound to one.
    names
        The names of values.
    """
    from tvm import relax

    main = module["main"]
    bindings = [binding for block in main.body.blocks for binding in block.bindings]
    by_value = {binding.value: binding.var for binding in bindings if hasattr(binding, "value")}
    hints: dict[str, str] = {}
    for value, name in names.items():
        expression = expressions.get(value)
        var = by_value.get(expression, expression)
        if isinstance(var, relax.Var) and var not in [*main.params]:
            hints.setdefault(var.name, name)
    if not hints:
        return text
    end = text.rfind('"""') + 1  # of the constants, which come first
    words = {*_WORD.findall(text, end)} - hints.keys()
    for hint, name in hints.items():
        while name in words:
            name = hints[hint] = f"{name}_"
    pattern = re.compile(rf"(?<![\w.\"'])(?:{'|'.join(map(re.escape, hints))})(?!\w)")
    return text[:end] + pattern.sub(lambda found: hints[found[0]], text[end:])
