"""Runs pytest with the tree in ``RLX_TREE`` in place of the installed one: `python -m tests.mutants.inside ARGUMENT…`."""

from __future__ import annotations

import os
import sys

import pytest


def main() -> int:
    """Run."""
    # An editable install is found by a hook that comes before the path.
    sys.meta_path[:] = [
        f
        for f in sys.meta_path
        if "editable" not in type(f).__name__.lower() and "editable" not in repr(f).lower()
    ]
    sys.path.insert(0, os.environ["RLX_TREE"])
    import rlx

    assert str(rlx.__file__).startswith(os.environ["RLX_TREE"]), rlx.__file__
    return int(pytest.main(sys.argv[1:]))


if __name__ == "__main__":
    sys.exit(main())
