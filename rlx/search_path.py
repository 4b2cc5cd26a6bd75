"""The module search path of the program `rlx`, which never contains the current folder.

`python -m rlx` puts that folder first on ``sys.path``, and so does an empty or relative part of
``PYTHONPATH``. This module runs before any other is imported. It imports only ``os`` and ``sys``,
which every interpreter has loaded by then; even ``__future__`` would come from the folder.
"""

import os
import sys

SCRIPTS = ("rlx", "relax-check")


def leave_folder() -> None:
    """Take the current folder off the search path, if this process is one of our commands.

    A program that imports rlx keeps its path.
    """
    as_module = sys.argv[:1] == ["-m"] and _module().partition(".")[0] == "rlx"
    if as_module and not sys.flags.safe_path:
        del sys.path[0]
    if as_module or os.path.basename(sys.argv[0]) in SCRIPTS:
        named = os.environ.get("PYTHONPATH", "").split(os.pathsep)
        folders = {os.path.abspath(part) for part in named if not os.path.isabs(part)}
        kept = {part for part in named if os.path.isabs(part)}
        if any(named):
            sys.path[:] = [part for part in sys.path if part in kept or part not in folders]


def _module() -> str:
    """The module that `python -m` was asked for, while Python is still looking for it."""
    word = sys.orig_argv[-len(sys.argv)]
    return word.partition("m")[2] if word.startswith("-") else word
