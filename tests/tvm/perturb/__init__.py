"""Perturbed calls of operators: what TVM's inference says of each, beside what ours does.

From calls that both accept, every argument is changed: its kind, rank, shape, element type, each attribute.
``python -m tests.tvm.perturb`` asks both about all of them and lists where they disagree; ``README.md`` says more.
"""
