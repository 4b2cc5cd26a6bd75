"""Lowering of Relax for a virtual machine: passes over modules, each of which is one step."""
