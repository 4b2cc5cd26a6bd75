"""``rlx.op``: a function for each operator, ``rlx.op.add(x, y)``, ``rlx.op.nn.relu(x)``.

Each function returns an expression, which :meth:`rlx.BlockBuilder.emit` binds and checks. Python
numbers, lists and tuples are converted: ``rlx.op.reshape(x, (n, 4))``. `op.pyi` has the signatures
for editors and type checkers; ``make operators`` generates it.
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
