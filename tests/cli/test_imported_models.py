"""A stranger's model in another format: nothing in it runs, and no file outside its folder is read.

Stand-ins for the packages `torch` and `onnx` say what they were asked.
"""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

import pytest

from rlx.tvm.importing import NoImportError, imported

TORCH = """\
import os
raise ValueError("only weights: " + os.environ["TORCH_FORCE_WEIGHTS_ONLY_LOAD"])
"""
ONNX = """\
class Field:
    def __init__(self, name, is_message):
        self.name, self.message_type = name, is_message or None

class Message:
    def __init__(self, **fields):
        self.fields = fields

    def ListFields(self):
        return [(Field(name, not isinstance(value, str)), value) for name, value in self.fields.items()]

class Entry:
    def __init__(self, key, value):
        self.key, self.value = key, value

def load(path, load_external_data):
    assert not load_external_data
    tensor = Message(name="w", external_data=[Entry("offset", "/etc"), Entry("location", open(path).read())])
    return Message(graph=Message(node=[Message(attribute=[Message(t=tensor)])]))

def load_external_data_for_model(model, folder):
    raise ValueError("reads " + folder)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a model."""
    packages, made = tmp_path / "packages", tmp_path / "made"
    packages.mkdir()
    made.mkdir()
    (packages / "torch.py").write_text(TORCH)
    (packages / "onnx.py").write_text(ONNX)
    (made / "inside.bin").write_bytes(bytes(8))
    (tmp_path / "outside.bin").write_bytes(bytes(8))
    (made / "link.bin").symlink_to(tmp_path / "outside.bin")
    os.mkfifo(made / "pipe.bin")
    monkeypatch.setenv("PYTHONPATH", str(packages))
    monkeypatch.setenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "1")
    return made


@pytest.mark.parametrize(
    ("member", "words"),
    [
        ("models/model.json", "only weights: 1"),
        ("m/data/aotinductor/model/x.so", "native code, which is not loaded"),
        ("m/data.pkl", r"torch\.save wrote this archive: save the program by torch\.export\.save"),
        ("", "this is no archive"),
    ],
)
def test_a_program_of_torch_export(member: str, words: str, folder: Path) -> None:
    with zipfile.ZipFile(folder / "model.pt2", "w") as archive:
        archive.writestr(member or "any", "content")
    if not member:
        (folder / "model.pt2").write_bytes((folder / "model.pt2").read_bytes()[:20])
    with pytest.raises(NoImportError, match=words):
        imported(str(folder / "model.pt2"), folder)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("inside.bin", "reads .*made"),
        ("../outside.bin", "is not a file in the folder of the model"),
        ("/etc/hostname", "is not a file in the folder of the model"),
        ("link.bin", "is not a file in the folder of the model"),
        ("pipe.bin", "is not a file in the folder of the model"),
    ],
)
def test_the_data_of_an_onnx_model(name: str, words: str, folder: Path) -> None:
    (folder / "model.onnx").write_text(name)
    with pytest.raises(NoImportError, match=words):
        imported(str(folder / "model.onnx"), folder)
