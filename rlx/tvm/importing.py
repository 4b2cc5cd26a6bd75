"""Models in other formats as TVM imports them: `python -m rlx.tvm.importing PATH FOLDER` in a process
of its own, as TVM may end it.

A model may be a stranger's: no pickle and no library in it is loaded, and no file outside its folder
is read.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

from rlx.grammar.streams import complain_line, write_data
from rlx.tvm.apart import answer

PATIENCE = 600.0
"""Seconds that an import may take."""


class NoImportError(ValueError):
    """A file cannot be imported; the message says why, and what to install."""


def is_imported(path: str) -> bool:
    """Whether a file is imported by TVM, by its suffix."""
    return Path(path).suffix in _IMPORTERS


def imported(path: str, folder: Path) -> str:
    """The text of a model as TVM prints it, with its constants; the large ones are in files of a
    :func:`rlx.writing.scratch` folder. Raises NoImportError if the file cannot be read or imported.
    """
    try:
        Path(path).open("rb").close()
    except OSError as error:
        raise NoImportError(f"{path}: {error.strerror or error}") from None
    return answer(
        *("rlx.tvm.importing", path, str(folder)),
        seconds=PATIENCE,
        fails=lambda why: NoImportError(f"{path}: {why}"),
    )


Printing = Callable[[Any], str]
"""Makes the text of a module of TVM."""


def _json(path: str, printed: Printing) -> str:
    import tvm

    made = tvm.ir.load_json(Path(path).read_text("utf-8"))
    if not isinstance(made, tvm.IRModule):
        raise TypeError(f"expected a module in TVM's JSON, found {type(made).__name__}")
    return printed(made)


def onnx_model(path: str) -> Any:
    """An ONNX model with its data, which must be in files of its folder.

    Raises
    ------
    ValueError
        If they are elsewhere.
    """
    import onnx

    model, folder = onnx.load(path, load_external_data=False), Path(path).resolve().parent
    for name in _files_of(model):
        file = (folder / name).resolve()
        if not file.is_relative_to(folder) or not file.is_file():
            raise ValueError(f"the model's data {name!r} is not a file in the folder of the model")
    onnx.load_external_data_for_model(model, str(folder))
    return model


def _onnx(path: str, printed: Printing) -> str:
    model = onnx_model(path)
    from rlx.tvm.onnx_names import imported_text

    return imported_text(model, printed)


def _files_of(message: Any) -> Iterator[str]:
    """The files that hold data of an ONNX model, as it names them."""
    for field, value in message.ListFields():
        if field.name == "external_data":
            yield from (entry.value for entry in value if entry.key == "location")
        elif field.message_type is not None:
            for part in [value] if hasattr(value, "ListFields") else value:
                yield from _files_of(part)


_NATIVE = "data/aotinductor/"
"""The folder of libraries in the archive of a `.pt2` file, which PyTorch would load."""


def _torch(path: str, printed: Printing) -> str:
    try:
        with ZipFile(path) as archive:
            names = archive.namelist()
    except BadZipFile:
        raise ValueError("this is no archive, as torch.export.save writes one") from None
    if any(_NATIVE in name for name in names):
        raise ValueError("the archive has native code, which is not loaded")
    if any(name.endswith("/data.pkl") and name.count("/") == 1 for name in names):
        raise ValueError("torch.save wrote this archive: save the program by torch.export.save")
    os.environ.pop("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", None)
    os.environ["TORCH_FORCE_WEIGHTS_ONLY_LOAD"] = "1"  # no pickle but of tensors
    import torch
    from tvm.relax.frontend.torch import from_exported_program

    return printed(from_exported_program(torch.export.load(path)))


_IMPORTERS: dict[str, Callable[[str, Printing], str]] = {
    ".json": _json,
    ".onnx": _onnx,
    ".pt2": _torch,
}


def main(argv: Sequence[str]) -> int:
    """Print the module of a file."""
    path, folder = argv
    try:
        from rlx.comparison.weights import Weights

        printed = Weights(Path(folder)).text
        write_data(_IMPORTERS[Path(path).suffix](path, printed) + "\n")
    except ModuleNotFoundError as error:
        extras = {"tvm": "the extra `tvm`", "onnx": "the extra `onnx`"}
        name = extras.get(error.name or "", f"the package `{error.name}`")
        complain_line(f"a {Path(path).suffix} file needs {name}: install it")
        return 1
    except Exception as error:  # noqa: BLE001 - whatever an importer raises is the reason
        said = str(error).strip().splitlines()
        complain_line(f"{type(error).__name__}: {said[-1] if said else ''}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
