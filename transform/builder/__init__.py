"""Building programs in Python: :class:`BlockBuilder` emits bindings and checks each one when it is
emitted.

Extensions: :meth:`BlockBuilder.emit` takes any expression. An extension that makes several bindings
or new functions is a function ``extension(builder, …)`` in its own file. It calls ``emit``,
``add_func`` and :meth:`BlockBuilder.struct_info`, and a one-line method on the builder imports it.
"""

from __future__ import annotations

from rlx.transform.builder.builder import BlockBuilder
from rlx.transform.builder.errors import BuildError, BuildWarning
from rlx.transform.builder.values import Var, const, dim, struct_info

__all__ = ["BlockBuilder", "BuildError", "BuildWarning", "Var", "const", "dim", "struct_info"]
