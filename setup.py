"""The part of the build that `pyproject.toml` cannot describe: it writes the signatures of
operators.
"""

import os
import subprocess
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithSignatures(build_py):
    """Writes `rlx/transform/op.pyi` beside the modules: in the built tree, or here if that is what is installed."""

    def run(self) -> None:
        super().run()
        root = Path(__file__).parent if self.editable_mode else Path(self.build_lib)
        environment = os.environ | {"PYTHONPATH": str(root.resolve())}
        command = [sys.executable, "-m", "rlx.transform.builder.stub"]
        subprocess.run(command, check=True, cwd=root, env=environment)


setup(cmdclass={"build_py": BuildWithSignatures})
