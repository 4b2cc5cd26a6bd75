"""The files that :mod:`tests.hostile.every_command` damages: of every kind that a command reads, as real tools write them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from rlx.checker.check import check_text
from rlx.grammar.print.printer import print_module
from rlx.transform.lowering.passes import PassError
from rlx.vm.code_generation import generate
from rlx.vm.compilation import STAGES
from rlx.vm.saving import to_bytes

from . import sources
from .corpus import EXAMPLES

ROOT = EXAMPLES.parent
LONG = 30_000
"""Longer files take a second each, and have nothing that the others do not have."""


class Original(NamedTuple):
    """A file that is in order.

    Attributes
    ----------
    name, suffix
        Where it comes from, and how its name ends.
    data
        What is in it.
    """

    name: str
    suffix: str
    data: bytes

    @property
    def text(self) -> str:
        """Its text; of an executable, one that shows its bytes."""
        return self.data.decode("utf-8", "replace")


def originals(tvm: bool = True) -> list[Original]:
    """All of them; without those that need TVM, if that is not to be had."""
    found = [*_of_the_repository(), *_relay(), *_lowered()]
    found += [_relax(name, text) for name, text in sources.generated(40, 9000)]
    if tvm:
        found += [_relax(name, text) for name, text in sources.printed_by_tvm()]
        found += [*_wheel(), *_whole_models()]
    return [each for each in found if 0 < len(each.data) <= LONG]


def _relax(name: str, text: str) -> Original:
    return Original(name, ".rlx", text.encode("utf-8", "surrogatepass"))


def _of_the_repository() -> Iterator[Original]:
    folders = (EXAMPLES, ROOT / "findings", ROOT / "tests" / "grammar", ROOT / "tests" / "cli")
    for folder in folders:
        for path in sorted(folder.rglob("*.rlx")):
            yield _relax(path.stem, path.read_text("utf-8"))
    for path in sorted((ROOT / "tests" / "tvm" / "texts").glob("*.txt")):
        yield _relax(path.stem, path.read_text("utf-8"))
    kernels = (ROOT / "tests" / "tvm" / "prim_by_hand.txt").read_text("utf-8").split("----\n")
    for number, text in enumerate(kernels):
        yield _relax(f"kernel-{number}", text)
    yield _relax("constant", (Path(__file__).with_name("constant.txt")).read_text("utf-8"))
    for path in (*sorted(EXAMPLES.rglob("*.py")), *sorted((ROOT / "docs").rglob("*.py"))):
        yield Original(path.stem, ".py", path.read_bytes())


def _relay() -> Iterator[Original]:
    from tests.relay import documents

    for folder in (EXAMPLES, ROOT / "tests" / "relay"):
        for path in sorted(folder.rglob("*.relay")):
            yield Original(path.stem, ".relay", path.read_bytes())
    for number, text in enumerate(documents.ALL):
        yield Original(f"introduction-{number}", ".relay", text.encode())


def _lowered() -> Iterator[Original]:
    """Programs after each stage on their way to the virtual machine, and the executables."""
    from tests.vm.programs import by_hand, compiled

    yield Original("compiled", ".rlxexe", to_bytes(compiled()))
    yield Original("by hand", ".rlxexe", to_bytes(by_hand()))
    for path in sorted(EXAMPLES.glob("*.rlx")):
        report = check_text(path.read_text("utf-8"), str(path))
        if not report.ok or len(report.modules) != 1:
            continue
        (now,) = report.modules
        try:
            for stage in STAGES:
                now = stage()(now)
                yield _relax(f"{path.stem}-{stage.__name__}", print_module(now))
            yield Original(path.stem, ".rlxexe", to_bytes(generate(now)))
        except PassError:
            continue


def _wheel() -> Iterator[Original]:
    """The files of TVM's wheel with Relax or kernels in them."""
    import tvm

    from rlx.checker.driver.sources import find

    for path in find([str(Path(tvm.__file__).parent)])[0]:
        yield Original(Path(path).stem, ".py", Path(path).read_bytes())


def _whole_models() -> Iterator[Original]:
    """Networks in their stages, not cut into functions."""
    from tests.tvm import models

    for model in ("convnet", "diffusion", "experts"):
        for stage, module in models.stages(model):
            yield _relax(f"{model}-{stage}-whole", module.script(show_meta=True))
