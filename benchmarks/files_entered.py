"""Length of three paths through the code: files and functions entered, and turns back.

``python -m benchmarks.files_entered`` walks from a text to its diagnostic, from ``R.add`` and a
PrimFunc to numbers, and from a goal of the prover to its verdict. A room is a top-level folder; a
turn back is a call into a room that a way has left before. ``python -m benchmarks.files_entered
--files`` lists the files, in the order in which they are entered.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from types import FrameType

ROOT = Path(__file__).resolve().parents[1]

BROADCAST = ROOT / "examples" / "broken" / "broadcast.rlx"
GOAL = "n // 4 * 4 == n"
NUMBERS = """
@I.ir_module
class Numbers:
    @T.prim_func
    def double(X: T.Buffer((4,), "float32"), Y: T.Buffer((4,), "float32")):
        for i in range(4):
            Y[i] = X[i] + X[i]

    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Numbers
        y = R.add(x, x)
        z = R.call_tir(cls.double, (y,), out_sinfo=R.Tensor((4,), "float32"))
        return z
"""


class Way:
    """The files and functions that a walk enters.

    Attributes
    ----------
    files
        The files, in the order in which they were entered.
    functions
        How many different functions were entered.
    turns
        How often a room was entered that had been left.
    """

    def __init__(self) -> None:
        self.files: dict[str, None] = {}
        self.turns = 0
        self.functions = 0
        self._seen: set[object] = set()
        self._left: set[str] = set()
        self._room = ""

    def note(self, frame: FrameType, event: str, _: object) -> None:
        """A function is entered."""
        code = frame.f_code
        if event != "call" or code in self._seen:
            return
        self._seen.add(code)
        if code.co_name.startswith("<") or code.co_filename.startswith("<"):
            return
        path = Path(code.co_filename).resolve()
        if not path.is_relative_to(ROOT) or ".venv" in path.parts or path == Path(__file__):
            return
        name = str(path.relative_to(ROOT))
        self.functions += 1
        self.files[name] = None
        room = name.split("/")[0]
        if room != self._room:
            self.turns += room in self._left
            self._left.add(self._room)
            self._room = room


def walked(walk: Callable[[], object]) -> Way:
    """The files and functions that a second walk enters: the first one imports modules and fills
    caches.
    """
    way = Way()
    with redirect_stdout(StringIO()):
        walk()
        sys.setprofile(way.note)
        try:
            walk()
        finally:
            sys.setprofile(None)
    return way


def text_to_diagnostic() -> object:
    """`relax-check` on a program whose shapes do not fit."""
    from rlx.checker.driver.check_files import check_one
    from rlx.checker.render import human

    # not by the command, which checks in a process of its own, where nobody notes what is entered
    return human.render([check_one(str(BROADCAST))])


def call_to_number() -> object:
    """`rlx run` of an operator and a PrimFunc."""
    import rlx

    return rlx.run(NUMBERS, inputs=[[1.0, 2.0, 3.0, 4.0]])


def goal_to_verdict() -> object:
    """`rlx prove` of a condition that does not hold."""
    from rlx.commands.prove import main

    return main([GOAL])


WAYS = (text_to_diagnostic, call_to_number, goal_to_verdict)


def main(argv: Sequence[str]) -> None:
    """Walk all ways, and say how far each is."""
    rows = [f"{'way':<20}{'files':>7}{'functions':>11}{'turns back':>12}"]
    for walk in WAYS:
        way = walked(walk)
        rows.append(f"{walk.__name__:<20}{len(way.files):>7}{way.functions:>11}{way.turns:>12}")
        if "--files" in argv:
            rows += [f"    {name}" for name in way.files]
    print("\n".join(rows))


if __name__ == "__main__":
    main(sys.argv[1:])
