"""Modules of TVM whose large constants are in files, which texts name instead of holding them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from rlx.comparison.cut import constant
from rlx.grammar.dialects import DEFAULT, dialect
from rlx.grammar.nodes import ast
from rlx.grammar.nodes.dtype import dtype
from rlx.grammar.nodes.encoded import FileBytes
from rlx.grammar.print.weights import LARGE, metadata_of, put
from rlx.grammar.read.metadata import read_metadata
from rlx.grammar.read.outline import metadata_statement
from rlx.semantics.values import Tensor
from rlx.writing import erase

WEIGHTS = "rlx.weights"
"""The packed function that gives TVM's parser the constants of a text by their kind."""

_PIECE = 1 << 20
_ALIGNED = 64
"""The multiple of bytes at which TVM's code expects tensors to begin."""
_REFERENCE = re.compile(r'metadata\["([^"\n]+)"\]\[(\d+)\]')
_FUNCTION = re.compile(r"^    def (\w+)\(", re.MULTILINE)
_OMITTED = "\n# Metadata omitted."


class Weights:
    """The files of one process, in a :func:`rlx.writing.scratch` folder.

    Parameters
    ----------
    folder
        The folder; other processes may have files in it, too.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._files: dict[int, tuple[Any, FileBytes]] = {}  # with the tensor that has the address

    def read(self, text: str, parse: Callable[[str], Any]) -> Any:
        """The module that a parser of TVM makes of a text. Constants share the memory of their
        files.
        """
        import tvm

        found = metadata_statement(text)
        if found is None:
            return parse(text)
        kinds = read_metadata(text, found.json) or {}
        literals = list(chain.from_iterable(kinds.values()))
        if not any(each and isinstance(each.content, FileBytes) for each in literals):
            return parse(text)
        made = {kind: [*map(self._constant, held)] for kind, held in kinds.items()}
        tvm.register_global_func(WEIGHTS, lambda: made, override=True)
        start, end = found.span
        called = f"metadata = tvm.get_global_func({WEIGHTS!r})()"
        try:
            return parse(f"{text[:start]}{called}{text[end:]}")
        finally:
            tvm.register_global_func(WEIGHTS, dict, override=True)

    def _constant(self, literal: ast.Literal | None) -> Any:
        import tvm
        from tvm import relax

        value = None if literal is None else constant(literal)
        if literal is None or not isinstance(value, Tensor):
            raise ValueError("the data of a constant is missing")
        if not isinstance(literal.content, FileBytes):
            return relax.const(tvm.runtime.tensor(value.data))
        made = relax.const(shared(value.data))
        self._files[hash(made.value)] = made.value, literal.content
        return made

    def text(self, module: Any) -> str:
        """The text of a module, which names files where its constants are large."""
        found = {
            var.name_hint: [*_tensors(function)]
            for var, function in module.functions.items()
            if type(function).__module__.startswith("tvm.relax")
        }
        whole = dict.fromkeys(chain.from_iterable(found.values()))
        if sum(map(_size, whole)) >= LARGE:
            text, omitted, _ = str(module.script()).rpartition(_OMITTED)
            named = chain.from_iterable(found.get(name, ()) for name in _FUNCTION.findall(text))
            order = [*dict.fromkeys(tensor for tensor in named if tensor.shape)]
            if omitted and _numbers(text) == [*range(len(order))]:
                return f"{metadata_of([*map(self._literal, order)])}{text}"
        return str(module.script(show_meta=True))

    def _literal(self, tensor: Any) -> ast.Literal:
        content: bytes | FileBytes
        if _size(tensor) < LARGE:
            content = _array(tensor).tobytes()
        else:
            if hash(tensor) not in self._files:
                self._files[hash(tensor)] = tensor, put(_pieces(_array(tensor)), self.folder)
            _, content = self._files[hash(tensor)]
        return ast.Literal(None, dtype(str(tensor.dtype)), tuple(tensor.shape), None, content)

    def keep(self, texts: Iterable[str]) -> None:
        """Remove the files of this process that none of some texts names."""
        for key, (_, file) in [*self._files.items()]:
            name = os.path.basename(file.path)
            if not any(name in text for text in texts):
                del self._files[key]
                if name.startswith(f"{os.getpid()}."):
                    erase(file.path)


def shared(array: np.ndarray[Any, Any]) -> Any:
    """The tensor of TVM with the memory of an array, or with a copy where NumPy does not share its
    type.
    """
    import tvm
    import tvm_ffi

    if not array.ctypes.data % _ALIGNED:
        try:
            return tvm_ffi.from_dlpack(array)
        except BufferError:
            pass
    return tvm.runtime.tensor(array)


def _tensors(function: Any) -> Iterator[Any]:
    """The tensors of the constants of a function, in the order in which they are printed."""
    import tvm_ffi
    from tvm import relax

    seen: list[Any] = []
    relax.analysis.post_order_visit(
        function, lambda each: seen.append(getattr(each, "value", None))
    )
    return (value for value in seen if isinstance(value, tvm_ffi.Tensor))


def _numbers(text: str) -> list[int] | None:
    """The numbers of the constants of a text, in its order; None if it refers to anything else."""
    found = dict.fromkeys(_REFERENCE.findall(text))
    if {kind for kind, _ in found} != {dialect(DEFAULT).constant_key}:
        return None
    return [int(number) for _, number in found]


def _size(tensor: Any) -> int:
    return prod(map(int, tensor.shape)) * (dtype(str(tensor.dtype)).bits // 8 or 1)


def _array(tensor: Any) -> np.ndarray[Any, Any]:
    """The elements of a tensor, in its own memory if NumPy knows their type."""
    try:
        return np.from_dlpack(tensor)
    except RuntimeError:
        found: np.ndarray[Any, Any] = tensor.numpy()
        return found


def _pieces(array: np.ndarray[Any, Any]) -> Iterator[bytes]:
    flat = array.reshape(-1).view(np.uint8)
    return (flat[at : at + _PIECE].tobytes() for at in range(0, flat.size, _PIECE))
