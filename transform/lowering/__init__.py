"""Lowering of Relax for a virtual machine, as passes over modules."""
