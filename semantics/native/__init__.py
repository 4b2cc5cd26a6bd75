"""PrimFuncs as C, compiled at first use."""
