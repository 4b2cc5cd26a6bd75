"""PrimFuncs as machine code: C generated from them, compiled at first use with the system's
compiler.

Results agree with the reference evaluator (:mod:`rlx.semantics.tir`): exactly on integers and on
elementwise floats, within the tolerance stated in ``spec/evaluation_native.md`` where sums are
reordered or libm is used.
"""

from __future__ import annotations

from rlx.semantics.native.compiler import NoCompiler, UntrustedCache, has_compiler
from rlx.semantics.native.kernel import Kernel, compile, compile_all

__all__ = ["Kernel", "NoCompiler", "UntrustedCache", "compile", "compile_all", "has_compiler"]
