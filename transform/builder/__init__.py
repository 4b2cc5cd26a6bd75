"""Building programs by Python: :class:`BlockBuilder` emits bindings, and each is checked when it is
emitted.

Where extensions hook in: :meth:`BlockBuilder.emit` takes any expression; whatever makes several
bindings, or functions of its own, is a function ``extension(builder, …)`` in a file of its own that
calls ``emit``, ``add_func`` and :meth:`BlockBuilder.struct_info`, and a method of one line on the
builder that imports it.
"""

from __future__ import annotations

from rlx.transform.builder.builder import BlockBuilder
from rlx.transform.builder.errors import BuildError, BuildWarning
from rlx.transform.builder.values import Var, const, dim, struct_info

__all__ = ["BlockBuilder", "BuildError", "BuildWarning", "Var", "const", "dim", "struct_info"]
