"""The C of PrimFuncs inside executables: it is what their text gives, and a file's own C is never compiled."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import rlx
from rlx import vm
from rlx.commands import disasm, run
from rlx.grammar.nodes.node import replace
from rlx.vm import ExecBuilder, Executable, LoadError, VirtualMachine
from rlx.vm.linking import known
from rlx.vm.saving import from_bytes, to_bytes
from rlx.vm.shipped_code import differing, generated

from .programs import compiled
from .random_code import KERNEL

X = np.array([1, 2, 3], np.float32)


@pytest.fixture
def loaded(tmp_path: Path) -> Executable:
    compiled().save(tmp_path / "a.rlxexe")
    return Executable.load(tmp_path / "a.rlxexe")


def test_a_file_has_the_c_of_its_prim_funcs(loaded: Executable) -> None:
    assert loaded.shipped.keys() == loaded.kernels.keys() != set()
    assert loaded.shipped == generated(loaded) and not differing(loaded, list(loaded.kernels))
    assert "int32_t rlx_kernel(int64_t *v, void **p) {" in loaded.shipped["double"]
    assert "#include" not in loaded.shipped["double"]  # what it needs of the prelude is added
    machine = VirtualMachine(loaded)
    assert machine["main"](X, True).tolist() == [4, 8, 12] and machine.notes == ()


def test_the_c_of_what_legalisation_made_is_that_of_its_text(tmp_path: Path) -> None:
    """Such PrimFuncs may be read back in another form: the text of a maximum that keeps NaN says
    which operand is taken when. The file is loaded in the process that built it.
    """
    text = '@R.function\ndef main(x: R.Tensor(("n",), "float32")):\n    return R.nn.relu(x)\n'
    made = vm.build(rlx.parse(text), legalize=True)
    made.save(tmp_path / "a.rlxexe")
    found = Executable.load(tmp_path / "a.rlxexe")
    for each in (made, found):
        machine = VirtualMachine(each)
        assert machine["main"](X).tolist() == [1, 2, 3] and machine.notes == ()
    code = "import sys; from rlx.commands import run; sys.exit(run.main(sys.argv[1:]))"
    command = [sys.executable, "-c", code, str(tmp_path / "a.rlxexe")]
    ended = subprocess.run(command, check=True, capture_output=True, text=True)
    assert not ended.stderr  # in another process, too


def test_the_c_can_be_compiled_alone(loaded: Executable, tmp_path: Path) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    parts = loaded.as_c().split("/* PrimFunc ")
    assert len(parts) == 1 + len(loaded.kernels)
    source = tmp_path / "double.c"
    source.write_text("/* PrimFunc " + parts[1])
    flags = ["-std=gnu11", "-shared", "-fPIC", "-w", "-o", str(tmp_path / "double.so")]
    subprocess.run([compiler, *flags, str(source), "-lm"], check=True)


def test_c_from_elsewhere_is_never_compiled(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file whose checksum is right, and whose C would leave a mark where it is compiled or loaded."""
    monkeypatch.setenv("RLX_CACHE", str(tmp_path / "cache"))
    mark = tmp_path / "mark"
    hostile = (
        f'#include <stdio.h>\n__attribute__((constructor)) void f(void) {{ fopen("{mark}", "w"); }}\n'
        "#error this was compiled\n"
    )
    honest = compiled()
    made = replace(
        honest, shipped={name: hostile + code for name, code in generated(honest).items()}
    )
    path = tmp_path / "hostile.rlxexe"
    path.write_bytes(to_bytes(made))
    machine = VirtualMachine(Executable.load(path))
    assert machine["main"](X, True).tolist() == [4, 8, 12]
    assert machine.notes == (
        "double: the C in the file differs from that of its PrimFunc and was not used",
    )
    assert run.main([str(path), "--input", "x=[1, 2]", "--input", "c=true"]) == 0
    assert "double: the C in the file differs from that of its PrimFunc" in capsys.readouterr().err
    assert not mark.exists()


def test_c_of_nothing_is_refused() -> None:
    with pytest.raises(LoadError, match="the file has C for 'other', but no PrimFunc of that name"):
        from_bytes(to_bytes(replace(compiled(), shipped={"other": "int x;"})))


def test_a_prim_func_without_c_runs_by_the_evaluator(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    ib = ExecBuilder()
    ib.add_kernel("double", KERNEL)
    ib.add_kernel("broken", "@T.prim_func\ndef broken(")
    with ib.function("main", num_inputs=2):
        ib.emit_call("double", [ib.r(0), ib.r(1)])
        ib.emit_ret(ib.r(1))
    ib.get().save(tmp_path / "a.rlxexe")
    found = Executable.load(tmp_path / "a.rlxexe")
    assert found.shipped.keys() == {"double"}
    assert VirtualMachine(found)["main"](X, np.zeros(3, np.float32)).tolist() == [2, 4, 6]
    assert disasm.main(["--c", str(tmp_path / "a.rlxexe")]) == 0
    shown = capsys.readouterr().out
    assert "rlx_kernel" in shown
    assert "/* PrimFunc broken: no C; the reference evaluator runs it */" in shown


def test_no_text_of_a_large_executable_is_read_again() -> None:
    """The PrimFuncs that the texts were printed from are known when linking."""
    lines = "".join(f"    y{i} = R.clip(x, 0, {i})\n" for i in range(1, 601))
    module = rlx.parse(
        f'@R.function\ndef main(x: R.Tensor((2,), "float32")):\n{lines}    return y1\n'
    )
    made = vm.build(module, legalize=True)
    assert len(made.kernels) == 600
    assert all(known(name, text) for name, text in made.kernels.items())
