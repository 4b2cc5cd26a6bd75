"""Certificates: proofs of the prover as steps that a small checker checks.

:mod:`rlx.solver.proofs.checker` checks a certificate, and imports nothing of rlx.
"""
