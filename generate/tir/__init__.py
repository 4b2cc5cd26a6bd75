"""Random PrimFuncs: loop nests over buffers, and the expressions in them."""
