"""What processes that tests start take over: the mistake that is examined, or the probes of a run that notes.

A folder tells them (`bequeath`): it holds the mistake, or takes the names of the blocks that they reach.
"""

from __future__ import annotations

import builtins
import json
import os
from collections.abc import Iterable
from pathlib import Path

from . import hook
from .blocks import PROBE, WANTED, Probes

SITE = Path(__file__).with_name("site")
MISTAKE = "mistake.json"


def bequeath(folder: Path, mistake: tuple[str, str] | None, wanted: Iterable[str] | None) -> None:
    """Let processes that are started from now on take over a mistake (a file and its new text), or else probes."""
    folder.mkdir(parents=True, exist_ok=True)
    if mistake is not None:
        (folder / MISTAKE).write_text(json.dumps(mistake), "utf-8")
    elif wanted is not None:
        (folder / WANTED).write_text(json.dumps(sorted(wanted)), "utf-8")
    os.environ["RLX_INHERITED"] = str(folder)
    others = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    kept = [path for path in others if path and path != str(SITE)]
    os.environ["PYTHONPATH"] = os.pathsep.join([str(SITE), *kept])


def begin(place: str) -> None:
    """Take over, before any part of `rlx` is loaded."""
    folder = Path(place)
    if (folder / MISTAKE).exists():
        file, text = json.loads((folder / MISTAKE).read_text("utf-8"))
        hook.install(lambda path, _: hook.compiled(text, path) if path.as_posix() == file else None)
        return
    wanted = folder / WANTED
    names = set(json.loads(wanted.read_text("utf-8"))) if wanted.exists() else None
    write_to(folder)
    hook.install(Probes(names))


def write_to(folder: Path) -> None:
    """Let the probes of this process write the names of blocks, each once, at once: it may be killed."""
    seen = set[str]()
    out: list[int] = []

    def reached(name: str) -> None:
        if name in seen:
            return
        seen.add(name)
        try:
            if not out:
                flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
                out.append(os.open(folder / f"reached-{os.getpid()}", flags))
            os.write(out[0], f"{name}\n".encode())
        except OSError:  # there is no space, or the process has closed all that was open
            pass

    setattr(builtins, PROBE, reached)


def collected(folder: Path) -> set[str]:
    """What such processes have reached since the last time."""
    names = set[str]()
    for path in folder.glob("reached-*"):
        names.update(path.read_text("utf-8").splitlines())
        path.unlink()
    return names
