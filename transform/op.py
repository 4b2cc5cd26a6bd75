"""``rlx.op``: a function for each operator, ``rlx.op.add(x, y)``, ``rlx.op.nn.relu(x)``.

A call of one makes an expression; :meth:`rlx.BlockBuilder.emit` binds and checks it. Numbers, lists
and tuples of Python stand for what they mean: ``rlx.op.reshape(x, (n, 4))``. `op.pyi` says the same
to editors and type checkers; ``make operators`` writes it.
"""

from __future__ import annotations

from typing import Any

from rlx.transform.builder.operators import member, members


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return members("")
    if name.startswith("__"):
        raise AttributeError(name)
    found = globals()[name] = member("", name)
    return found


def __dir__() -> list[str]:
    return members("")
