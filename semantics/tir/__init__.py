"""The reference evaluator of PrimFuncs."""
