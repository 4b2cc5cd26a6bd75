"""Refinement: whether a program means the same as another one, for all sizes and inputs.

:mod:`rlx.refine.terms` has the language in which both programs are compared.
"""
