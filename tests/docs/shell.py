"""Executes the commands of pages: `python -m tests.docs.shell FOLDER` answers commands on standard input, one of JSON a line.

A command of rlx runs in a fork of this process, which has imported it already; anything else is for bash.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

PLAIN = re.compile(r"(rlx|relax-check)(\s|$)[^|&;<>`$*?]*$")


def main(folder: str) -> None:
    """Answer until the input ends."""
    import rlx.checker.check
    import rlx.cli  # noqa: F401 - forks have it

    os.chdir(folder)
    os.environ["COLUMNS"] = "100"
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    for line in sys.stdin:
        command = json.loads(line)
        said = _own(command) if PLAIN.match(command) else _bash(command)
        print(json.dumps(said), flush=True)


def _own(command: str) -> str:
    from rlx import cli

    with tempfile.TemporaryFile() as file:
        child = os.fork()
        if child == 0:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
            sys.argv = shlex.split(command)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            status = 101
            try:
                status = cli.relax_check() if sys.argv[0] == "relax-check" else cli.main()
            except SystemExit as ended:
                status = ended.code if isinstance(ended.code, int) else 1
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(status)
        os.waitpid(child, 0)
        file.seek(0)
        return file.read().decode()


def _bash(command: str) -> str:
    done = subprocess.run(
        ["bash", "-c", command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        timeout=600,
        check=False,
    )
    return done.stdout


if __name__ == "__main__":
    main(sys.argv[1])
