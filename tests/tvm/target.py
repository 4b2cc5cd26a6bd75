"""The target for which tests compile: LLVM without its optimisations, which take most of the time and change no value."""

import tvm

QUICK = tvm.target.Target({"kind": "llvm", "opt-level": 0})
