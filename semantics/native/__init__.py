"""PrimFuncs as machine code: C generated from them, compiled at first use with the system's
compiler.

Results agree with the reference evaluator (:mod:`rlx.semantics.tir`): exactly on integers and on
elementwise floats, within the tolerance stated in ``spec/evaluation_native.md`` where sums are
reordered or libm is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlx import lazy

if TYPE_CHECKING:
    from rlx.semantics.native.compiler import NoCompiler, UntrustedCache, has_compiler
    from rlx.semantics.native.kernel import Kernel, compile, compile_all

__all__ = ["Kernel", "NoCompiler", "UntrustedCache", "compile", "compile_all", "has_compiler"]


def __getattr__(name: str) -> object:
    return lazy.public_name(__name__, name)


def __dir__() -> list[str]:
    return __all__
