"""Modules of TVM in memory: what :mod:`rlx` says of them. TVM is imported only by who has it already."""
